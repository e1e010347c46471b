/* words_stdin.c - splits each line's one hex field into words; the answer is the words in hex, or "error". */
#include "codec/words.h"

#include "hex_lines.h"

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  while (hex_line_read(&l, stdin)) {
    slp_buf words;
    size_t n = 0;
    const char *why;
    slp_buf_init(&words, mem, 65536);
    if (slp_words_split(l.field[0], &words, &n, &why)) {
      printf("error");
    } else {
      const char *at = words.p;
      for (size_t i = 0; i < n; i++, at += strlen(at) + 1) {
        if (i) putchar(' ');
        hex_put(at, strlen(at));
      }
    }
    putchar('\n');
    slp_buf_free(&words);
  }
  slp_mem_drop(mem);
  return 0;
}

/* xml_stdin.c - a line is a document and a path in hex; the answer is the text in hex, "none" or "error". */
#include "codec/xml.h"

#include "hex_lines.h"

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  while (hex_line_read(&l, stdin)) {
    slp_buf text;
    slp_buf_init(&text, mem, 65536);
    int r = slp_xml_text(l.field[0], l.field[1].p, &text);
    if (r)
      printf(r == SLP_ENOENT ? "none" : "error");
    else
      hex_put(text.p, text.n);
    putchar('\n');
    slp_buf_free(&text);
  }
  slp_mem_drop(mem);
  return 0;
}

/* fuzz_words.c - command lines of any bytes: as many words as were counted, each with its end, and white
 * space around a line changes nothing. contract/vectors/words_shlex.py compares with Python's shlex. */
#include "codec/words.h"

#include "fuzz.h"

static int split(slp_mem *mem, const char *line, size_t n, slp_buf *words, size_t *ret_n) {
  const char *why = NULL;
  slp_buf_init(words, mem, n + n + 16);
  int r = slp_words_split((slp_str){line, n}, words, ret_n, &why);
  REQUIRE(r == 0 || (r == SLP_EBADDATA && why));
  return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *line = fuzz_copy(data, size), *padded = malloc(size + 4);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf words, again;
  size_t n = 0, again_n = 0, ends = 0;
  REQUIRE(padded != NULL);
  int r = split(mem, line, size, &words, &n);
  for (size_t i = 0; i < words.n && !r; i++) ends += words.p[i] == 0;
  if (!r) REQUIRE(ends == n && (n == 0 || words.p[words.n - 1] == 0));
  memcpy(padded, " \t", 2);
  memcpy(padded + 2, line, size);
  memcpy(padded + 2 + size, "\n ", 2);
  int after_backslash = size && line[size - 1] == '\\';
  int padded_r = split(mem, padded, size + 4, &again, &again_n);
  if (!after_backslash) REQUIRE(padded_r == r);
  if (!after_backslash && !r)
    REQUIRE(again_n == n && again.n == words.n && (n == 0 || memcmp(again.p, words.p, n) == 0));
  slp_buf_free(&words);
  slp_buf_free(&again);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(padded);
  free(line);
  return 0;
}

/* fuzz_ini.c - the reader of ~/.aws files on any bytes: every slice lies in the text, lines only grow, a key
 * is never empty, a nested key follows its parent. ini_botocore.py compares values with botocore's. */
#include "codec/ini.h"

#include "fuzz.h"

typedef struct watch {
  const char *from, *end;
  slp_str last_top;
  uint32_t line, keys, stop_at;
} watch;

static void inside(const watch *w, slp_str s) { REQUIRE(s.p >= w->from && s.p + s.n <= w->end); }

static int on_key(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value, uint32_t line) {
  watch *w = arg;
  inside(w, section);
  inside(w, key);
  inside(w, value);
  REQUIRE(key.n > 0 && section.p && value.p && line > w->line);
  REQUIRE(!memchr(key.p, '\n', key.n) && !memchr(section.p, '\n', section.n));
  if (parent.p)
    REQUIRE(parent.p == w->last_top.p && parent.n == w->last_top.n);
  else
    w->last_top = key;
  w->line = line;
  return ++w->keys == w->stop_at ? 77 : 0;
}

static int read_all(const char *text, size_t size, watch *w, uint32_t stop_at, uint32_t *line) {
  *w = (watch){.from = text, .end = text + size, .stop_at = stop_at};
  return slp_ini_read((slp_str){text, size}, on_key, w, line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = fuzz_copy(data, size);
  uint32_t line = 0, lines = 1;
  watch w;
  for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
  int r = read_all(text, size, &w, 0, &line);
  REQUIRE(r == 0 || (r == SLP_EBADDATA && line >= 1 && line <= lines));
  REQUIRE(w.line <= lines);
  uint32_t keys = w.keys;
  if (keys) REQUIRE(read_all(text, size, &w, (keys + 1) / 2, &line) == 77 && w.keys == (keys + 1) / 2);
  free(text);
  return 0;
}

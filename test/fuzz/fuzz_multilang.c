/* fuzz_multilang.c - a child's line and a .properties file of any bytes. Of a line: what is read is repeated by
 * the answer to it as one JSON object that reads the same, and a second reader of JSON agrees on what an object
 * is. Of a file: keys and values end where they should, and settings are made or refused with a reason. */
#include "cli/multilang_properties.h"
#include "cli/multilang_protocol.h"
#include "cli/properties.h"

#if SLP_HAVE_JANSSON
#include <jansson.h>
#endif
#include "fuzz.h"

static void line(slp_mem *mem, const uint8_t *data, size_t size) {
  char *copy = fuzz_copy(data, size);
  slp_ml_message m, again;
  slp_ml_read(copy, size, &m);
#if SLP_HAVE_JANSSON
  json_t *j = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
  if (m.kind == SLP_ML_STATUS || m.kind == SLP_ML_CHECKPOINT) {
    /* jansson knows no number beyond its own, and takes a key twice for the last one, as we do. */
    if (j) REQUIRE(json_is_object(j) && json_object_get(j, "action"));
    if (j && m.kind == SLP_ML_STATUS && m.has_text && json_is_string(json_object_get(j, "responseFor")))
      REQUIRE(json_string_length(json_object_get(j, "responseFor")) == m.text.n);
  }
  json_decref(j);
#endif
  if (m.kind == SLP_ML_CHECKPOINT) {
    slp_buf b;
    slp_buf_init(&b, mem, 1 << 24);
    REQUIRE(slp_ml_put_checkpoint(&b, &m, NULL) == 0);
    REQUIRE(b.n && b.p[b.n - 1] == '\n' && memchr(b.p, '\n', b.n) == b.p + b.n - 1);
    slp_ml_read(b.p, b.n - 1, &again);
    REQUIRE(again.kind == SLP_ML_CHECKPOINT && again.has_text == m.has_text && again.has_sub == m.has_sub);
    REQUIRE(again.sub == m.sub && slp_str_eq(again.text, m.text));
    slp_buf_free(&b);
  }
  free(copy);
}

static void file(slp_mem *mem, const uint8_t *data, size_t size) {
  char *copy = fuzz_copy(data, size);
  char why[SLP_ML_WHY];
  slp_ml_settings s;
  slp_properties p = slp_properties_begin((slp_str){copy, size});
  slp_buf b;
  int r;
  slp_buf_init(&b, mem, 3 * size + 16);
  do {
    slp_buf_clear(&b);
    r = slp_properties_next(&p, &b);
    if (r == 1) REQUIRE(b.n >= 2 && strlen(b.p) + strlen(b.p + strlen(b.p) + 1) + 2 == b.n);
  } while (r == 1);
  REQUIRE(r == 0 || r == SLP_EBADDATA);
  slp_buf_free(&b);
  int made = slp_ml_settings_read(&s, mem, (slp_str){copy, size}, why);
  REQUIRE(made == 0 || (made == SLP_EINVAL && *why));
  slp_ml_settings_free(&s, mem);
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  line(mem, data, size);
  if (size < 20000) file(mem, data, size);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}

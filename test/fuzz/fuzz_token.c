/* fuzz_token.c - a token that is read can be written, and says the same when read again; what is written is
 * JSON to jansson, and what jansson can't read is no token. */
#include "fuzz.h"

#include "core/token.h"
#include <sloop.h>

#include <stdlib.h>

#if SLP_HAVE_JANSSON
#include "beyond_jansson.h"
static int is_json(const char *p, size_t n) {
  json_error_t e;
  json_t *v = json_loadb(p, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
  int ok = v || beyond_jansson(&e);
  json_decref(v);
  return ok;
}
#else
static int is_json(const char *p, size_t n) { return p && n; }
#endif

static void same(const slp_token *a, const slp_token *b) {
  REQUIRE(slp_str_eq(a->stream, b->stream) && a->shards_n == b->shards_n);
  for (size_t i = 0; i < a->shards_n; i++) {
    const slp_token_shard *x = &a->shards[i], *y = &b->shards[i];
    REQUIRE(slp_str_eq(x->id, y->id) && slp_str_eq(x->parent, y->parent) && x->active == y->active);
    REQUIRE(x->from.kind == y->from.kind && x->not_before_ms == y->not_before_ms);
    REQUIRE(slp_str_eq(slp_mark_seq(&x->from.mark), slp_mark_seq(&y->from.mark)) &&
            x->from.mark.sub == y->from.mark.sub);
    REQUIRE(x->from.mark.arrived_ms == y->from.mark.arrived_ms);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char why[160] = "";
  slp_token *t, *again;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  int r = slp_token_read(&t, mem, (slp_str){(const char *)data, size}, why);
  REQUIRE(r == 0 || (r == SLOOP_ETOKEN && why[0] && !t));
  if (r == 0) {
    slp_buf text;
    REQUIRE(is_json((const char *)data, size));
    slp_buf_init(&text, mem, SLP_TOKEN_BYTES_MAX);
    REQUIRE(slp_token_write(&text, t->stream, t->shards, t->shards_n) == 0);
    REQUIRE(is_json(text.p, text.n));
    REQUIRE(slp_token_read(&again, mem, slp_buf_str(&text), why) == 0);
    same(t, again);
    slp_token_free(again);
    slp_buf_free(&text);
  }
  slp_token_free(t);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}

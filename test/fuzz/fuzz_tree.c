/* fuzz_tree.c - request bodies as the sandbox reads them; the first byte chooses JSON or CBOR. Every node is
 * reached once and its texts lie in the tree's own copy; a tree written in the other form reads as the same
 * tree, and so does what is written of that in the first form. */
#include "fuzz_tree.h"

static void inside(const slp_box_tree *t, slp_str s) {
  REQUIRE(s.n == 0 || (s.p >= t->body.p && s.p + s.n <= t->body.p + t->body.n));
}

/* How many nodes are below, itself included. */
static uint32_t reach(const slp_box_tree *t, uint32_t node) {
  const slp_value *v = &t->v[node];
  uint32_t all = 1, children = 0;
  inside(t, v->key);
  inside(t, v->text);
  for (uint32_t i = v->child; i; i = t->v[i].next, children++) {
    REQUIRE(i < t->n && i > node);
    all += reach(t, i);
  }
  REQUIRE(children == v->count);
  REQUIRE(!children || v->kind == SLP_VALUE_MAP || v->kind == SLP_VALUE_LIST);
  return all;
}

/* Bytes are base64 text in JSON, which says not that it is. */
static void same(slp_box_tree *a, uint32_t x, slp_box_tree *b, uint32_t y) {
  slp_value *v = &a->v[x], *w = &b->v[y];
  REQUIRE(slp_str_eq(v->key, w->key) && v->count == w->count);
  if (v->kind == SLP_VALUE_BYTES && w->kind == SLP_VALUE_TEXT) REQUIRE(slp_box_tree_blob(b, w) == 0);
  if (w->kind == SLP_VALUE_BYTES && v->kind == SLP_VALUE_TEXT) REQUIRE(slp_box_tree_blob(a, v) == 0);
  REQUIRE(v->kind == w->kind);
  if (v->kind == SLP_VALUE_TEXT || v->kind == SLP_VALUE_BYTES) REQUIRE(slp_str_eq(v->text, w->text));
  if (v->kind == SLP_VALUE_INT || v->kind == SLP_VALUE_BOOL) REQUIRE(v->i == w->i);
  for (uint32_t i = v->child, k = w->child; i; i = a->v[i].next, k = b->v[k].next) same(a, i, b, k);
}

static void read_back(slp_mem *mem, slp_box_tree *t, slp_wire wire, int definite, slp_box_tree *ret) {
  slp_buf text;
  slp_box_out o;
  slp_buf_init(&text, mem, 1u << 24);
  slp_box_tree_init(ret, mem);
  slp_out_begin(&o, &text, wire, definite);
  fuzz_tree_put(&o, t, 0);
  REQUIRE(slp_out_failed(&o) == 0 && o.depth == 0);
  REQUIRE(slp_box_tree_read(ret, wire, slp_buf_str(&text)) == 0);
  slp_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_wire wire = data[0] & 1 ? SLP_WIRE_CBOR : SLP_WIRE_JSON;
  slp_wire other = wire == SLP_WIRE_JSON ? SLP_WIRE_CBOR : SLP_WIRE_JSON;
  slp_box_tree t, there, back;
  slp_box_tree_init(&t, mem);
  int r = slp_box_tree_read(&t, wire, (slp_str){(const char *)data + 1, size - 1});
  REQUIRE(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
  if (r == 0) {
    REQUIRE(t.v[0].kind == SLP_VALUE_MAP && reach(&t, 0) == t.n);
    if (fuzz_tree_can_be_put(&t, 0, 0)) {
      read_back(mem, &t, other, data[0] & 2, &there);
      read_back(mem, &there, wire, data[0] & 4, &back);
      same(&t, 0, &there, 0);
      same(&t, 0, &back, 0);
      slp_box_tree_free(&there);
      slp_box_tree_free(&back);
    }
  }
  slp_box_tree_free(&t);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}

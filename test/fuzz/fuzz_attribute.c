/* fuzz_attribute.c - DynamoDB's values, by the sandbox's reader and by the stores', which were written apart:
 * an item the sandbox takes, the stores take; what the stores write of it is the same item to the sandbox;
 * and what the sandbox writes of it has one form only. */
#include "sandbox/ddb.h"

#include "attribute_store.h"
#include "fuzz.h"

typedef struct world {
  slp_mem *mem;
  slp_box *box;
  slp_box_call c;
} world;

/* NULL: refused. */
static slp_av *sandbox_reads(world *w, slp_box_tree *t, slp_str text) {
  w->c.error = NULL;
  w->c.in = t;
  slp_box_tree_init(t, w->mem);
  int r = slp_box_tree_read(t, SLP_WIRE_JSON, text);
  REQUIRE(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
  slp_av *item = r ? NULL : slp_ddb_item_read(&w->c, 0);
  REQUIRE(r || (item == NULL) == (w->c.error != NULL));
  return item;
}

static void one_form(world *w, const slp_av *item) {
  slp_buf text, again;
  slp_box_tree t;
  slp_buf_init(&text, w->mem, 1u << 24);
  slp_buf_init(&again, w->mem, 1u << 24);
  REQUIRE(slp_item_put_json(&text, item) == 0);
  slp_av *read = sandbox_reads(w, &t, slp_buf_str(&text));
  REQUIRE(read && slp_av_equal(read, item) && slp_item_size(read) == slp_item_size(item));
  REQUIRE(slp_item_put_json(&again, read) == 0 && slp_str_eq(slp_buf_str(&text), slp_buf_str(&again)));
  slp_box_tree_free(&t);
  slp_buf_free(&text);
  slp_buf_free(&again);
}

/* A null beside the one value is nothing to the service; no answer of it has one, and the stores refuse it.
 */
static int has_null(slp_str text) { return memmem(text.p, text.n, "null", 4) != NULL; }

/* Texts and bytes of the item itself; the sandbox keeps its members sorted. */
static size_t plain_bytes(const slp_av *item) {
  size_t n = 0;
  for (const slp_av *m = item->first; m; m = m->next)
    if (m->kind == SLP_AV_S || m->kind == SLP_AV_B) n += m->text.n;
  return n;
}

static void through_the_store(world *w, const slp_av *item, slp_str text) {
  slp_buf written, plain;
  slp_box_tree t;
  size_t n = 0;
  slp_buf_init(&written, w->mem, 1u << 24);
  slp_buf_init(&plain, w->mem, 1u << 24);
  int r = attribute_store_read(w->mem, text, &written, &plain, &n);
  REQUIRE(r == 1 || (r == SLP_ELIMIT && item->count > 100) || has_null(text));
  if (r == 1) {
    slp_av *read = sandbox_reads(w, &t, slp_buf_str(&written));
    REQUIRE(read && slp_av_equal(read, item) && n == item->count && plain.n == plain_bytes(item));
    slp_box_tree_free(&t);
  }
  slp_buf_free(&written);
  slp_buf_free(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  world w = {.mem = slp_mem_new(NULL, NULL)};
  slp_box_tree t;
  slp_str text = {(const char *)data, size};
  w.box = slp_box_new(w.mem, NULL, 7);
  REQUIRE(w.box != NULL);
  w.c = (slp_box_call){.box = w.box, .service = SLP_BOX_DYNAMODB};
  slp_av *item = sandbox_reads(&w, &t, text);
  if (item) {
    one_form(&w, item);
    through_the_store(&w, item, text);
  }
  slp_box_tree_free(&t);
  slp_box_free(w.box);
  REQUIRE(w.mem->live_blocks == 0);
  slp_mem_drop(w.mem);
  return 0;
}

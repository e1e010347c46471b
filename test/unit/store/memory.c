/* store/memory.c: what the suite of all stores does not ask: who holds the tables, and answers without
 * memory. */
#include "store/memory.h"

#include "aws_fake_host.h"
#include "scarce.h"

static const slp_table_spec table = {"leases", "app", "row"};
static int done;
static void on_done(slp_store_req *rq) {
  CHECK(!rq->impl);
  done++;
}

static slp_class prepare(fake_host *f, slp_store *s) {
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
  done = 0;
  s->ops->prepare(s, &p);
  CHECK_INT(done, 0);
  fake_run(f, 1000);
  CHECK_INT(done, 1);
  return p.rq.fail.class;
}

static slp_store_write write_of(slp_mem *mem, const slp_change *c) {
  slp_store_write w = {
      .rq = {.on_done = on_done}, .key = {SLP_STR("a"), SLP_STR("r")}, .changes = c, .changes_n = 1};
  slp_store_rows_init(&w.image, mem);
  return w;
}

TEST(the_last_store_takes_the_tables_with_it) {
  fake_host f;
  slp_store *a, *b;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  slp_memory *m = slp_memory_new(mem);
  CHECK_INT(slp_memory_store(&a, m, &f.h, &table), 0);
  CHECK_INT(slp_memory_store(&b, m, &f.h, &table), 0);
  slp_memory_drop(m); /* the stores hold it */
  CHECK_INT(prepare(&f, a), SLP_FINE);
  slp_change c = {SLP_STR("n"), SLP_ADD_N, {.kind = SLP_VAL_N, .s = SLP_STR("1")}};
  for (int i = 1; i <= 2; i++) { /* one after the other, through either */
    slp_store *s = i == 1 ? a : b;
    slp_store_write w = write_of(mem, &c);
    s->ops->write(s, &w);
    fake_run(&f, 1000);
    CHECK_INT(w.written, SLP_WRITTEN_YES);
    CHECK_INT(slp_row_int(&w.image.rows[0], SLP_STR("n"), 0), i);
    slp_store_rows_free(&w.image);
    if (i == 1) a->ops->close(a);
  }
  b->ops->close(b);
  fake_end(&f, mem); /* nothing is left */
}

TEST(without_memory_a_write_changes_nothing_and_says_so) {
  static char large[2000];
  slp_change c = {SLP_STR("b"), SLP_SET, {.kind = SLP_VAL_B, .s = {large, sizeof large}}};
  for (int n = 0, fine = 0; !fine; n++) {
    fake_host f;
    slp_store *s;
    scarce memory = {.left = -1};
    slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
    fake_init(&f, mem);
    slp_memory *m = slp_memory_new(mem);
    CHECK_INT(slp_memory_store(&s, m, &f.h, &table), 0);
    CHECK_INT(prepare(&f, s), SLP_FINE);
    slp_store_write w = write_of(mem, &c);
    memory.left = n;
    s->ops->write(s, &w);
    fake_run(&f, 1000);
    memory.left = -1;
    fine = w.rq.fail.class == SLP_FINE;
    CHECK(fine || w.rq.fail.class == SLP_NOMEM);
    CHECK_INT(w.written, fine ? SLP_WRITTEN_YES : SLP_WRITTEN_NOT_SURE);
    CHECK_INT(w.image.n, fine);
    slp_store_rows_free(&w.image);
    slp_store_list l = {.rq = {.on_done = on_done}, .hash = SLP_STR("a"), .prefix = SLP_STR("")};
    slp_store_rows_init(&l.out, mem);
    s->ops->list(s, &l);
    fake_run(&f, 1000);
    CHECK_INT(l.out.n, fine);
    slp_store_rows_free(&l.out);
    s->ops->close(s);
    slp_memory_drop(m);
    fake_end(&f, mem);
    CHECK(n < 50 && (n > 0 || !fine));
  }
}

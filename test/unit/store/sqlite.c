/* store/sqlite.c on a host that does the work at once; threads, processes and damaged files are the
 * integration tests'. */
#include "store/sqlite.h"

#include "aws_fake_host.h"
#include "scarce.h"

static const slp_table_spec table = {"leases", "app", "row"}, other = {"others", "app", NULL};
static int done;
static void on_done(slp_store_req *rq) {
  CHECK(!rq->impl);
  done++;
}

static char path[100];
static void begin(fake_host *f, slp_mem **mem) {
  char dir[] = "/tmp/sloop-sqlite-XXXXXX";
  CHECK(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/l.db", dir);
  *mem = slp_mem_new(NULL, NULL);
  fake_init(f, *mem);
}
static void end(fake_host *f, slp_mem *mem) {
  fake_end(f, mem);
  unlink(path);
  *strrchr(path, '/') = 0;
  CHECK_INT(rmdir(path), 0); /* the log went with the last one who had the file open */
}

static slp_store_prepare prepare(fake_host *f, slp_store *s) {
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
  done = 0;
  s->ops->prepare(s, &p);
  CHECK_INT(done, 0);
  fake_run(f, 1000);
  CHECK_INT(done, 1);
  return p;
}

TEST(tables_share_a_file_and_rows_stay) {
  fake_host f;
  slp_mem *mem;
  begin(&f, &mem);
  for (int again = 0; again < 2; again++) {
    slp_store *a, *b;
    CHECK(slp_sqlite_there());
    CHECK_INT(slp_sqlite_store(&a, &f.h, path, &table), 0);
    CHECK_INT(slp_sqlite_store(&b, &f.h, path, &other), 0);
    slp_store_prepare p = prepare(&f, a);
    CHECK(p.rq.fail.class == SLP_FINE && p.created == !again);
    p = prepare(&f, b);
    CHECK(p.rq.fail.class == SLP_FINE && p.created == !again);
    slp_change c = {SLP_STR("n"), SLP_ADD_N, {.kind = SLP_VAL_N, .s = SLP_STR("1")}};
    slp_store_write w = {
        .rq = {.on_done = on_done}, .key = {SLP_STR("a"), SLP_STR("r")}, .changes = &c, .changes_n = 1};
    slp_store_rows_init(&w.image, mem);
    a->ops->write(a, &w);
    fake_run(&f, 1000);
    CHECK_INT(w.written, SLP_WRITTEN_YES);
    CHECK_INT(slp_row_int(&w.image.rows[0], SLP_STR("n"), 0), again + 1);
    slp_store_rows_free(&w.image);
    CHECK_INT(a->cost.write_calls, 1);
    a->ops->close(a);
    b->ops->close(b);
  }
  end(&f, mem);
}

TEST(what_is_asked_may_change_as_soon_as_it_was_sent) {
  fake_host f;
  slp_mem *mem;
  slp_store *s;
  begin(&f, &mem);
  CHECK_INT(slp_sqlite_store(&s, &f.h, path, &table), 0);
  CHECK_INT(prepare(&f, s).rq.fail.class, SLP_FINE);
  char text[] = "value", name[] = "name", row[] = "row 1";
  slp_change c = {{name, 4}, SLP_SET, {.kind = SLP_VAL_S, .s = {text, 5}}};
  slp_store_write w = {
      .rq = {.on_done = on_done}, .key = {SLP_STR("a"), {row, 5}}, .changes = &c, .changes_n = 1};
  slp_store_rows_init(&w.image, mem);
  s->ops->write(s, &w);
  memset(text, 'x', 5), memset(name, 'x', 4), memset(row, 'x', 5), memset(&c, 0, sizeof c);
  fake_run(&f, 1000);
  CHECK_INT(w.written, SLP_WRITTEN_YES);
  CHECK(slp_str_is(slp_row_text(&w.image.rows[0], SLP_STR("name")), "value"));
  CHECK(slp_str_is(slp_row_text(&w.image.rows[0], SLP_STR("row")), "row 1"));
  slp_store_rows_free(&w.image);
  s->ops->close(s);
  end(&f, mem);
}

TEST(without_memory_there_is_no_store_and_nothing_of_it_is_left) {
  fake_host f;
  scarce memory = {.left = -1, .once = 1};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  int r = SLP_ENOMEM;
  fake_init(&f, mem);
  for (long n = 0; r; n++) {
    slp_store *s = NULL;
    size_t before = mem->live_blocks;
    CHECK(n < 20);
    memory.left = n; /* this one alone fails */
    r = slp_sqlite_store(&s, &f.h, "/nonexistent/leases", &table);
    CHECK_INT(r, s ? 0 : SLP_ENOMEM);
    CHECK(n > 0 || r);
    if (s) s->ops->close(s);
    memory.left = -1;
    fake_run(&f, 1000);
    CHECK_INT(mem->live_blocks, before);
  }
  fake_end(&f, mem);
}

TEST(file_systems_of_other_machines_are_known) {
  CHECK(slp_sqlite_network_fs(0x6969) && slp_sqlite_network_fs(0xff534d42) &&
        slp_sqlite_network_fs(0x01021997));
  /* statfs gives a signed long on some systems */
  CHECK(slp_sqlite_network_fs((uint64_t)(int64_t)(int32_t)0xff534d42));
  CHECK(!slp_sqlite_network_fs(0xef53) && !slp_sqlite_network_fs(0x01021994)); /* ext4, tmpfs */
}

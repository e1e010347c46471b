/* guest/multi_table.c: each request goes to the table that it names; an optional table may be missing. */
#include "guest/multi_table.h"

#include "store/memory.h"

#include "aws_fake_host.h"
#include "scarce.h"

static const slp_table_spec specs[] = {
    {"leases", "leaseKey", NULL}, {"coordinator", "key", NULL, 1}, {"metrics", "wid", NULL, 1}};
static fake_host f;
static slp_mem *mem;
static slp_memory *m;
static int done;

static void on_done(slp_store_req *rq) {
  (void)rq;
  done++;
}

static slp_store *one(size_t i) {
  slp_store *s;
  CHECK_INT(slp_memory_store(&s, m, &f.h, &specs[i]), 0);
  return s;
}

static slp_store *begin(void) {
  slp_store *all, *stores[3];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  m = slp_memory_new(mem);
  for (size_t i = 0; i < 3; i++) stores[i] = one(i);
  CHECK_INT(slp_several_store(&all, mem, &f.h, stores, specs, 3), 0);
  return all;
}

static void end(slp_store *s) {
  s->ops->close(s);
  slp_memory_drop(m);
  fake_end(&f, mem);
}

static slp_store_prepare prepare(slp_store *s, uint8_t create) {
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = create};
  done = 0;
  s->ops->prepare(s, &p);
  fake_run(&f, 1000);
  CHECK_INT(done, 1);
  return p;
}

static void make(size_t i) {
  slp_store *s = one(i);
  CHECK_INT(prepare(s, 1).rq.fail.class, SLP_FINE);
  s->ops->close(s);
}

static slp_store_write put(slp_store *s, uint8_t table, const char *key) {
  slp_change c = {SLP_STR("n"), SLP_SET, {.kind = SLP_VAL_N, .s = SLP_STR("1")}};
  slp_store_write w = {.rq = {.on_done = on_done, .table = table},
                       .key = {slp_str_of(key), {NULL, 0}},
                       .changes = &c,
                       .changes_n = 1};
  slp_store_rows_init(&w.image, mem);
  done = 0;
  s->ops->write(s, &w);
  fake_run(&f, 1000);
  CHECK_INT(done, 1);
  slp_store_rows_free(&w.image);
  return w;
}

static size_t rows_of(slp_store *s, uint8_t table, const char *key) {
  slp_store_list l = {.rq = {.on_done = on_done, .table = table}};
  slp_row_key k = {slp_str_of(key), {NULL, 0}};
  slp_store_get g = {.rq = {.on_done = on_done, .table = table}, .keys = &k, .keys_n = 1};
  slp_store_rows_init(&l.out, mem);
  slp_store_rows_init(&g.out, mem);
  done = 0;
  s->ops->list(s, &l);
  s->ops->get(s, &g);
  fake_run(&f, 1000);
  CHECK_INT(done, 2);
  CHECK_INT(l.rq.fail.class, SLP_FINE);
  CHECK_INT(g.rq.fail.class, SLP_FINE);
  size_t n = l.out.n;
  CHECK_INT(g.out.n, n ? 1 : 0);
  slp_store_rows_free(&l.out);
  slp_store_rows_free(&g.out);
  return n;
}

TEST(a_new_application_has_one_table) {
  slp_store *s = begin();
  slp_store_prepare p = prepare(s, 1);
  CHECK_INT(p.rq.fail.class, SLP_FINE);
  CHECK(p.created);
  CHECK_INT(put(s, 0, "a").written, SLP_WRITTEN_YES);
  CHECK_INT(rows_of(s, 0, "a"), 1);
  for (uint8_t i = 1; i < 3; i++) {
    slp_store_write w = put(s, i, "a");
    CHECK_INT(w.written, SLP_WRITTEN_NOT_SURE);
    CHECK_INT(w.rq.fail.class, SLP_GONE);
    CHECK(strstr(w.rq.fail.message, specs[i].name));
    CHECK_INT(rows_of(s, i, "a"), 0);
  }
  slp_store_cost cost = slp_store_cost_of(s);
  CHECK_INT(cost.write_calls, 1);
  CHECK_INT(cost.read_calls, 2);
  end(s);
}

TEST(requests_go_to_the_table_that_they_name) {
  slp_store *s = begin();
  make(0), make(2);
  slp_store_prepare p = prepare(s, 1);
  CHECK_INT(p.rq.fail.class, SLP_FINE);
  CHECK(!p.created);
  CHECK_INT(put(s, 2, "w").written, SLP_WRITTEN_YES);
  CHECK_INT(rows_of(s, 2, "w"), 1);
  CHECK_INT(rows_of(s, 0, "w"), 0);
  CHECK_INT(rows_of(s, 1, "w"), 0);
  end(s);
}

/* Amazon's KCL 3.0 to 3.4 make theirs when they join, whoever has made the leases. */
TEST(an_optional_table_that_is_made_later_is_found) {
  slp_store *s = begin();
  prepare(s, 1);
  make(2);
  CHECK_INT(rows_of(s, 2, "w"), 0);
  CHECK_INT(put(s, 2, "w").rq.fail.class, SLP_GONE); /* it was looked for just now */
  f.mono_us += 31000000;
  CHECK_INT(rows_of(s, 1, "w") + rows_of(s, 2, "w"), 0);
  CHECK_INT(put(s, 2, "w").written, SLP_WRITTEN_YES);
  CHECK_INT(rows_of(s, 2, "w"), 1);
  CHECK_INT(put(s, 1, "w").rq.fail.class, SLP_GONE);
  f.mono_us += 31000000;
  slp_store_list l = {.rq = {.on_done = on_done, .table = 1}};
  slp_store_rows_init(&l.out, mem);
  s->ops->list(s, &l);
  s->ops->cancel(s, &l.rq);
  end(s); /* while it is looked for */
}

/* Such an application is not a new one: somebody has removed half of it, or will make the rest. */
TEST(a_table_beside_without_leases_has_none_made) {
  slp_store *s = begin();
  make(1);
  slp_store_prepare p = prepare(s, 1);
  CHECK_INT(p.rq.fail.class, SLP_GONE);
  CHECK(strstr(p.rq.fail.message, "\"leases\""));
  end(s);
}

TEST(a_table_beside_with_other_keys_is_refused) {
  slp_store *s = begin(), *other;
  slp_table_spec odd = {"metrics", "other", NULL};
  CHECK_INT(slp_memory_store(&other, m, &f.h, &odd), 0);
  CHECK_INT(prepare(other, 1).rq.fail.class, SLP_FINE);
  other->ops->close(other);
  slp_store_prepare p = prepare(s, 1);
  CHECK_INT(p.rq.fail.class, SLP_REFUSED);
  CHECK(strstr(p.rq.fail.message, "\"metrics\""));
  end(s);
}

TEST(a_cancelled_request_is_silent) {
  slp_store *s = begin();
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
  for (int turns = 0; turns < 3; turns++) {
    done = 0;
    s->ops->prepare(s, &p);
    s->ops->cancel(s, &p.rq);
    fake_run(&f, 1000);
    CHECK_INT(done, 0);
  }
  prepare(s, 1);
  slp_store_list l = {.rq = {.on_done = on_done, .table = 1}};
  slp_store_rows_init(&l.out, mem);
  done = 0;
  s->ops->list(s, &l);
  s->ops->cancel(s, &l.rq);
  fake_run(&f, 1000);
  CHECK_INT(done, 0);
  slp_store_rows_free(&l.out);
  end(s);
}

/* ---- tables that are all needed -------------------------------------------------------------------- */

static const slp_table_spec needed[] = {
    {"app_checkpoints", "Shard", NULL}, {"app_clients", "ID", NULL}, {"app_metadata", "Key", NULL}};

static slp_store *begin_needed(void) {
  slp_store *all, *stores[3];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  m = slp_memory_new(mem);
  for (size_t i = 0; i < 3; i++) CHECK_INT(slp_memory_store(&stores[i], m, &f.h, &needed[i]), 0);
  CHECK_INT(slp_several_store(&all, mem, &f.h, stores, needed, 3), 0);
  return all;
}

static int is_there(size_t i) {
  slp_store *s;
  CHECK_INT(slp_memory_store(&s, m, &f.h, &needed[i]), 0);
  int there = prepare(s, 0).rq.fail.class == SLP_FINE;
  s->ops->close(s);
  return there;
}

static void make_needed(size_t i) {
  slp_store *s;
  CHECK_INT(slp_memory_store(&s, m, &f.h, &needed[i]), 0);
  CHECK_INT(prepare(s, 1).rq.fail.class, SLP_FINE);
  s->ops->close(s);
}

TEST(all_are_made_or_none) {
  slp_store *s = begin_needed();
  slp_store_prepare p = prepare(s, 0);
  CHECK_INT(p.rq.fail.class, SLP_GONE);
  CHECK(strstr(p.rq.fail.message, "app_"));
  for (size_t i = 0; i < 3; i++) CHECK(!is_there(i));
  CHECK_INT(prepare(s, 1).rq.fail.class, SLP_FINE);
  for (size_t i = 0; i < 3; i++) CHECK(is_there(i));
  CHECK_INT(prepare(s, 0).rq.fail.class, SLP_FINE);
  CHECK_INT(put(s, 2, "k").written, SLP_WRITTEN_YES);
  end(s);
}

/* Whatever is missing of them: it is said, after a while in which another worker may make the rest. */
TEST(half_of_them_is_an_error_and_nothing_is_made) {
  for (unsigned bits = 1; bits < 7; bits++) {
    slp_store *s = begin_needed();
    for (size_t i = 0; i < 3; i++)
      if (bits >> i & 1) make_needed(i);
    slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
    done = 0;
    s->ops->prepare(s, &p);
    fake_run(&f, 2000000);
    CHECK_INT(done, 0);
    fake_run(&f, 10000000);
    CHECK_INT(done, 1);
    CHECK_INT(p.rq.fail.class, SLP_REFUSED);
    CHECK(strstr(p.rq.fail.message, "incomplete"));
    for (size_t i = 0; i < 3; i++) {
      CHECK_INT(is_there(i), bits >> i & 1);
    }
    p = prepare(s, 0); /* for a command, at once */
    CHECK_INT(p.rq.fail.class, SLP_REFUSED);
    end(s);
  }
}

TEST(the_rest_that_another_worker_makes_is_waited_for) {
  slp_store *s = begin_needed();
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
  make_needed(1);
  done = 0;
  s->ops->prepare(s, &p);
  fake_run(&f, 1000000);
  CHECK_INT(done, 0);
  make_needed(0), make_needed(2);
  done = 0;
  fake_run(&f, 1000000);
  CHECK_INT(done, 1);
  CHECK_INT(p.rq.fail.class, SLP_FINE);
  end(s);
}

TEST(a_cancelled_wait_is_silent) {
  slp_store *s = begin_needed();
  slp_store_prepare p = {.rq = {.on_done = on_done}, .create = 1};
  make_needed(1);
  done = 0;
  s->ops->prepare(s, &p);
  fake_run(&f, 1000000);
  s->ops->cancel(s, &p.rq);
  fake_run(&f, 20000000);
  CHECK_INT(done, 0);
  end(s);
}

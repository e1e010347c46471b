/* store_suite.c - what every store must do, whatever it is made of.
 * usage: store_suite {memory | sqlite FILE | dynamodb} PREFIX [--slow] [CASE]
 * Tables are named PREFIX and a number. DynamoDB's endpoint and keys come from the environment, as for any
 * program. Prints a line a case; each runs in a process of its own. */
#include "store_suite.h"

#include <sys/wait.h>
#include <unistd.h>

static int lacks(const char *what) {
  const char *all = getenv("SLOOP_TEST_STORE_LACKS");
  return all && strstr(all, what);
}

/* ---- rows that are there or not ---------------------------------------------------------------------- */
static void prepare_makes_a_table_once(suite *u) {
  slp_table_spec t = suite_table(u);
  slp_store *a = suite_store(u, &t), *b = suite_store(u, &t);
  slp_fail f;
  int created = 9;
  CHECK_INT(prepare(u, a, 0, &created, &f), SLP_GONE);
  if (!strstr(f.message, u->kind == KIND_SQLITE ? "lease file" : t.name)) CHECK_FAIL("%s", f.message);
  CHECK_INT(prepare(u, a, 1, &created, &f), SLP_FINE);
  CHECK_INT(created, 1);
  CHECK_INT(prepare(u, a, 1, &created, &f), SLP_FINE);
  CHECK_INT(created, 0);
  CHECK_INT(prepare(u, b, 0, &created, &f), SLP_FINE);
  CHECK_INT(created, 0);
  store_close(a);
  store_close(b);
}

static void two_prepare_at_the_same_time(suite *u) {
  slp_table_spec t = suite_table(u);
  slp_store *s[4];
  struct {
    slp_store_prepare p;
    int done;
  } x[4] = {0};
  int made = 0;
  for (int i = 0; i < 4; i++) {
    s[i] = suite_store(u, &t);
    prepare_begin(s[i], &x[i].p, &x[i].done);
  }
  for (int i = 0; i < 4; i++) {
    suite_run(u, &x[i].done);
    if (x[i].p.rq.fail.class) CHECK_FAIL("%s", x[i].p.rq.fail.message);
    made += x[i].p.created;
    store_close(s[i]);
  }
  CHECK_INT(made, 1);
}

static void other_keys_are_refused_by_name(suite *u) {
  static const char *const keys[][2] = {{"app", NULL}, {"other", "row"}, {"app", "other"}};
  slp_table_spec t = suite_table(u);
  slp_store *s = suite_store(u, &t);
  slp_fail f;
  CHECK_INT(prepare(u, s, 1, NULL, &f), SLP_FINE);
  store_close(s);
  for (size_t i = 0; i < SLP_COUNT(keys); i++) {
    slp_table_spec other = {t.name, keys[i][0], keys[i][1]};
    s = suite_store(u, &other);
    CHECK_INT(prepare(u, s, 1, NULL, &f), SLP_REFUSED);
    if (!strstr(f.message, t.name) || !strstr(f.message, "\"app\" and \"row\"") ||
        !strstr(f.message, keys[i][0]))
      CHECK_FAIL("it says: %s", f.message);
    store_close(s);
  }
}

static void without_its_table_everything_is_gone(suite *u) {
  slp_table_spec t = suite_table(u);
  slp_store *s = suite_store(u, &t);
  reading r;
  writing x;
  memset(&r, 0, sizeof r);
  writing_init(u, &x, APP, "row");
  write_now(u, s, &x);
  CHECK_INT(x.w.rq.fail.class, SLP_GONE);
  CHECK_INT(x.w.written, SLP_WRITTEN_NOT_SURE);
  writing_free(&x);
  read_begin(u, s, &r, "row");
  suite_run(u, &r.done);
  CHECK_INT(r.g.rq.fail.class, SLP_GONE);
  reading_free(&r);
  store_close(s);
}

static void put_update_delete(suite *u) {
  slp_store *s = suite_ready(u);
  reading r = {0};
  const slp_row *row;
  CHECK(!read_row(u, s, &r, "a"));
  put(u, s, "a", (slp_change[]){SET("x", S("1")), SET("y", N("2"))}, 2);
  row = read_row(u, s, &r, "a");
  CHECK(row && row->n == 4);
  CHECK_TEXT(slp_row_text(row, SLP_STR("app")), APP);
  CHECK_TEXT(slp_row_text(row, SLP_STR("row")), "a");
  CHECK_TEXT(slp_row_text(row, SLP_STR("x")), "1");
  put(u, s, "a", (slp_change[]){SET("z", S("3"))}, 1); /* the whole row */
  row = read_row(u, s, &r, "a");
  CHECK(row && row->n == 3 && !slp_row_get(row, SLP_STR("x"))->kind);
  CHECK_INT(update(u, s, "a", NULL, 0, (slp_change[]){SET("w", S("4"))}, 1), SLP_WRITTEN_YES);
  CHECK_INT(update(u, s, "new", NULL, 0, (slp_change[]){SET("w", S("4"))}, 1), SLP_WRITTEN_YES);
  if (!lacks("bare_update")) {
    CHECK_INT(update(u, s, "bare", NULL, 0, NULL, 0), SLP_WRITTEN_YES);
    row = read_row(u, s, &r, "bare");
    CHECK(row && row->n == 2);
  }
  row = read_row(u, s, &r, "a");
  CHECK(row && row->n == 4);
  CHECK(read_row(u, s, &r, "new"));
  writing x;
  for (int i = 0; i < 2; i++) { /* a row that is not there is fine */
    writing_init(u, &x, APP, "a");
    x.w.kind = SLP_WRITE_DELETE;
    CHECK_INT(write_now(u, s, &x), SLP_WRITTEN_YES);
    writing_free(&x);
    CHECK(!read_row(u, s, &r, "a"));
  }
  slp_atom there = {SLP_STR("w"), SLP_TEST_EQ, S("5"), 0};
  writing_init(u, &x, APP, "new");
  x.w.kind = SLP_WRITE_DELETE;
  x.w.when = &there;
  x.w.when_n = 1;
  CHECK_INT(write_now(u, s, &x), SLP_WRITTEN_REFUSED);
  writing_free(&x);
  CHECK(read_row(u, s, &r, "new"));
  slp_atom absent = {SLP_STR("row"), SLP_TEST_ABSENT, {0}, 0};
  for (int i = 0; i < 2; i++) { /* created once */
    slp_change c = SET("w", S("5"));
    writing_init(u, &x, APP, "once");
    x.w.kind = SLP_WRITE_PUT;
    x.w.when = &absent;
    x.w.when_n = 1;
    x.w.changes = &c;
    x.w.changes_n = 1;
    CHECK_INT(write_now(u, s, &x), i ? SLP_WRITTEN_REFUSED : SLP_WRITTEN_YES);
    writing_free(&x);
  }
  reading_free(&r);
  store_close(s);
}

/* ---- conditions -------------------------------------------------------------------------------------- */
static const slp_str words[] = {{"one", 3}, {"two", 3}};
static const slp_str other_words[] = {{"one", 3}, {"zwei", 4}};
#define WORDS ((slp_val){.kind = SLP_VAL_SS, .items = words, .n = 2})
#define OTHER_WORDS ((slp_val){.kind = SLP_VAL_SS, .items = other_words, .n = 2})
#define BIG "18446744073709551617" /* 2^64 + 1 */

static void put_specimen(suite *u, slp_store *s) {
  slp_change all[] = {SET("s", S("mitte")), SET("n", N("10")),
                      SET("big", N(BIG)),   SET("b", B("\x7f\x80")),
                      SET("ss", WORDS),     SET("yes", TRUTH(1)),
                      SET("owner", S("")),  SET("null", ((slp_val){.kind = SLP_VAL_NULL}))};
  put(u, s, "specimen", all, SLP_COUNT(all));
}

static void every_test_on_every_kind(suite *u) {
  slp_store *s = suite_ready(u);
  const struct {
    slp_atom atom;
    int holds, mixed; /* mixed: an order of two kinds */
  } cases[] = {
      {{SLP_STR("s"), SLP_TEST_THERE, {0}, 0}, 1},
      {{SLP_STR("x"), SLP_TEST_THERE, {0}, 0}, 0},
      {{SLP_STR("s"), SLP_TEST_ABSENT, {0}, 0}, 0},
      {{SLP_STR("x"), SLP_TEST_ABSENT, {0}, 0}, 1},
      {{SLP_STR("null"), SLP_TEST_THERE, {0}, 0}, 1},
      {{SLP_STR("owner"), SLP_TEST_THERE, {0}, 0}, 1},
      {{SLP_STR("s"), SLP_TEST_EQ, S("mitte"), 0}, 1},
      {{SLP_STR("s"), SLP_TEST_EQ, S("mitt"), 0}, 0},
      {{SLP_STR("s"), SLP_TEST_NE, S("mitte"), 0}, 0},
      {{SLP_STR("s"), SLP_TEST_NE, S("Mitte"), 0}, 1},
      {{SLP_STR("s"), SLP_TEST_LT, S("mitten"), 0}, 1},
      {{SLP_STR("s"), SLP_TEST_LT, S("mitte"), 0}, 0},
      {{SLP_STR("s"), SLP_TEST_LT, S("\xc3\xa4"), 0}, 1},
      {{SLP_STR("s"), SLP_TEST_GT, S("mitt"), 0}, 1},
      {{SLP_STR("s"), SLP_TEST_LE, S("mitte"), 0}, 1},
      {{SLP_STR("s"), SLP_TEST_LE, S("mit"), 0}, 0},
      {{SLP_STR("s"), SLP_TEST_GE, S("mitte"), 0}, 1},
      {{SLP_STR("s"), SLP_TEST_GE, S("n"), 0}, 0},
      {{SLP_STR("owner"), SLP_TEST_EQ, S(""), 0}, 1},
      {{SLP_STR("owner"), SLP_TEST_LT, S("a"), 0}, 1},
      {{SLP_STR("n"), SLP_TEST_EQ, N("10"), 0}, 1},
      {{SLP_STR("n"), SLP_TEST_EQ, N("10.0"), 0}, 1},
      {{SLP_STR("n"), SLP_TEST_NE, N("1e1"), 0}, 0},
      {{SLP_STR("n"), SLP_TEST_NE, N("11"), 0}, 1},
      {{SLP_STR("n"), SLP_TEST_GT, N("9"), 0}, 1},
      {{SLP_STR("n"), SLP_TEST_LT, N("9"), 0}, 0},
      {{SLP_STR("n"), SLP_TEST_GE, N("-10"), 0}, 1},
      {{SLP_STR("n"), SLP_TEST_LE, N("9.99"), 0}, 0},
      {{SLP_STR("big"), SLP_TEST_EQ, N(BIG), 0}, 1},
      {{SLP_STR("big"), SLP_TEST_EQ, N("18446744073709551616"), 0}, 0},
      {{SLP_STR("big"), SLP_TEST_GT, N("18446744073709551616"), 0}, 1},
      {{SLP_STR("big"), SLP_TEST_LT, N("18446744073709551618"), 0}, 1},
      {{SLP_STR("big"), SLP_TEST_LE, N("18446744073709551616"), 0}, 0},
      {{SLP_STR("b"), SLP_TEST_EQ, B("\x7f\x80"), 0}, 1},
      {{SLP_STR("b"), SLP_TEST_GT, B("\x7f\x7f"), 0}, 1},
      {{SLP_STR("b"), SLP_TEST_LT, B("\x80"), 0}, 1},
      {{SLP_STR("b"), SLP_TEST_NE, B("\x7f"), 0}, 1},
      {{SLP_STR("ss"), SLP_TEST_EQ, WORDS, 0}, 1},
      {{SLP_STR("ss"), SLP_TEST_EQ, OTHER_WORDS, 0}, 0},
      {{SLP_STR("yes"), SLP_TEST_EQ, TRUTH(1), 0}, 1},
      {{SLP_STR("yes"), SLP_TEST_EQ, TRUTH(0), 0}, 0},
      /* an absent attribute, or one of another kind */
      {{SLP_STR("x"), SLP_TEST_EQ, S("x"), 0}, 0},
      {{SLP_STR("x"), SLP_TEST_NE, S("x"), 0}, 1},
      {{SLP_STR("x"), SLP_TEST_LT, S("x"), 0}, 0},
      {{SLP_STR("x"), SLP_TEST_GE, N("0"), 0}, 0},
      {{SLP_STR("n"), SLP_TEST_EQ, S("10"), 0}, 0},
      {{SLP_STR("n"), SLP_TEST_NE, S("10"), 0}, 1},
      {{SLP_STR("n"), SLP_TEST_LT, S("9"), 0}, 0, 1},
      {{SLP_STR("s"), SLP_TEST_GT, N("0"), 0}, 0, 1},
      {{SLP_STR("row"), SLP_TEST_EQ, S("specimen"), 0}, 1},
  };
  put_specimen(u, s);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    slp_change c = {SLP_STR("no such thing"), SLP_REMOVE, {0}};
    if (cases[i].mixed && lacks("mixed_order")) continue;
    slp_written w = update(u, s, "specimen", &cases[i].atom, 1, &c, 1);
    if (w != (cases[i].holds ? SLP_WRITTEN_YES : SLP_WRITTEN_REFUSED))
      CHECK_FAIL("case %zu: test %d on %s: written %d", i, cases[i].atom.test, cases[i].atom.name.p, w);
  }
  slp_atom ne = {SLP_STR("x"), SLP_TEST_NE, S("x"), 0}; /* no row at all */
  slp_change c = {SLP_STR("no such thing"), SLP_REMOVE, {0}};
  CHECK_INT(update(u, s, "nothing", &(slp_atom){SLP_STR("x"), SLP_TEST_THERE, {0}, 0}, 1, &c, 1),
            SLP_WRITTEN_REFUSED);
  CHECK_INT(update(u, s, "nothing", &(slp_atom){SLP_STR("x"), SLP_TEST_LT, S("x"), 0}, 1, &c, 1),
            SLP_WRITTEN_REFUSED);
  CHECK_INT(update(u, s, "nothing", &ne, 1, &c, 1), SLP_WRITTEN_YES);
  store_close(s);
}

static void groups_of_or_are_bound_by_and(suite *u) {
  slp_store *s = suite_ready(u);
  slp_change c = {SLP_STR("nothing"), SLP_REMOVE, {0}};
  put_specimen(u, s);
  for (int bits = 0; bits < 64; bits++) { /* (0 or 1 or 2) and 3 and (4 or 5), each true or false */
    slp_atom when[6];
    static const uint8_t or_next[6] = {1, 1, 0, 0, 1, 0};
    int b[6];
    for (int i = 0; i < 6; i++) {
      b[i] = bits >> i & 1;
      when[i] = (slp_atom){SLP_STR("n"), b[i] ? SLP_TEST_EQ : SLP_TEST_NE, N("10"), or_next[i]};
    }
    int want = (b[0] || b[1] || b[2]) && b[3] && (b[4] || b[5]);
    slp_written w = update(u, s, "specimen", when, 6, &c, 1);
    if (w != (want ? SLP_WRITTEN_YES : SLP_WRITTEN_REFUSED)) CHECK_FAIL("bits %d: written %d", bits, w);
  }
  store_close(s);
}

/* ---- changes ----------------------------------------------------------------------------------------- */
static void every_kind_of_change(suite *u) {
  slp_store *s = suite_ready(u);
  static const slp_str a[] = {{"a", 1}}, ab[] = {{"a", 1}, {"b", 1}}, bc[] = {{"b", 1}, {"c", 1}};
  slp_val set_a = {.kind = SLP_VAL_SS, .items = a, .n = 1},
          set_ab = {.kind = SLP_VAL_SS, .items = ab, .n = 2},
          set_bc = {.kind = SLP_VAL_SS, .items = bc, .n = 2};
  reading r = {0};
  slp_change first[] = {{SLP_STR("n"), SLP_ADD_N, N("5")},
                        {SLP_STR("ss"), SLP_ADD_SS, set_ab},
                        {SLP_STR("s"), SLP_SET_IF_ABSENT, S("first")},
                        {SLP_STR("gone"), SLP_REMOVE, {0}},
                        {SLP_STR("none"), SLP_DROP_SS, set_a},
                        {SLP_STR("b"), SLP_SET, B("x")},
                        {SLP_STR("big"), SLP_SET, N(BIG)},
                        {SLP_STR("keep"), SLP_SET, S("kept")}};
  slp_change second[] = {{SLP_STR("n"), SLP_ADD_N, N("-7")},
                         {SLP_STR("ss"), SLP_ADD_SS, set_bc},
                         {SLP_STR("s"), SLP_SET_IF_ABSENT, S("second")},
                         {SLP_STR("b"), SLP_REMOVE, {0}},
                         {SLP_STR("big"), SLP_ADD_N, N("1")}};
  slp_change third[] = {{SLP_STR("ss"), SLP_DROP_SS, set_bc}};
  slp_change fourth[] = {{SLP_STR("ss"), SLP_DROP_SS, set_a}};
  CHECK_INT(update(u, s, "r", NULL, 0, first, SLP_COUNT(first)), SLP_WRITTEN_YES);
  CHECK_INT(update(u, s, "r", NULL, 0, second, SLP_COUNT(second)), SLP_WRITTEN_YES);
  const slp_row *row = read_row(u, s, &r, "r");
  CHECK(row && row->n == 7);
  CHECK_INT(slp_row_int(row, SLP_STR("n"), 0), -2);
  CHECK_TEXT(slp_row_text(row, SLP_STR("big")), "18446744073709551618");
  CHECK_TEXT(slp_row_text(row, SLP_STR("s")), "first");
  CHECK_TEXT(slp_row_text(row, SLP_STR("keep")), "kept");
  const slp_val *set = slp_row_get(row, SLP_STR("ss"));
  CHECK(set->kind == SLP_VAL_SS && set->n == 3);
  for (size_t i = 0; i < 3; i++) CHECK(set->items[i].n == 1 && set->items[i].p[0] == "abc"[i]);
  CHECK_INT(update(u, s, "r", NULL, 0, third, 1), SLP_WRITTEN_YES);
  row = read_row(u, s, &r, "r");
  set = slp_row_get(row, SLP_STR("ss"));
  CHECK(set->n == 1 && slp_str_is(set->items[0], "a"));
  CHECK_INT(update(u, s, "r", NULL, 0, fourth, 1), SLP_WRITTEN_YES);
  row = read_row(u, s, &r, "r");
  CHECK(row && slp_row_get(row, SLP_STR("ss"))->kind == SLP_VAL_NONE); /* an emptied set goes */
  reading_free(&r);
  store_close(s);
}

static void what_cannot_be_done_changes_nothing(suite *u) {
  slp_store *s = suite_ready(u);
  static char large[420 * 1024];
  memset(large, 'x', sizeof large);
  slp_change bad[][2] = {
      {SET("s", S("new")), {SLP_STR("text"), SLP_ADD_N, N("1")}},
      {SET("s", S("new")), {SLP_STR("text"), SLP_ADD_SS, WORDS}},
      {SET("s", S("new")), {SLP_STR("row"), SLP_SET, S("other")}},
      {SET("s", S("new")), {SLP_STR("large"), SLP_SET, {.kind = SLP_VAL_S, .s = {large, sizeof large}}}}};
  reading r = {0};
  put(u, s, "r", (slp_change[]){SET("s", S("old")), SET("text", S("text"))}, 2);
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    writing x;
    writing_init(u, &x, APP, "r");
    x.w.changes = bad[i];
    x.w.changes_n = 2;
    CHECK_INT(write_now(u, s, &x), SLP_WRITTEN_NOT_SURE);
    if (x.w.rq.fail.class != SLP_REFUSED)
      CHECK_FAIL("case %zu: class %d: %s", i, x.w.rq.fail.class, x.w.rq.fail.message);
    CHECK(x.w.rq.fail.message[0]);
    writing_free(&x);
    if (lacks("half_update")) continue;
    const slp_row *row = read_row(u, s, &r, "r");
    CHECK(row && row->n == 4);
    CHECK_TEXT(slp_row_text(row, SLP_STR("s")), "old");
  }
  reading_free(&r);
  store_close(s);
}

/* ---- images ------------------------------------------------------------------------------------------ */
static void images_show_the_row_after_and_the_row_that_refused(suite *u) {
  slp_store *s = suite_ready(u);
  slp_atom mine = {SLP_STR("owner"), SLP_TEST_EQ, S("me"), 0};
  slp_change c[] = {SET("owner", S("you")), {SLP_STR("epoch"), SLP_ADD_N, N("1")}};
  put(u, s, "r", (slp_change[]){SET("owner", S("me")), SET("info", S("i")), SET("epoch", N("3"))}, 3);
  writing x;
  writing_init(u, &x, APP, "r");
  x.w.when = &mine;
  x.w.when_n = 1;
  x.w.changes = c;
  x.w.changes_n = 2;
  CHECK_INT(write_now(u, s, &x), SLP_WRITTEN_YES);
  CHECK_INT(x.w.image_known, 1);
  CHECK_INT(x.w.image.n, 1);
  CHECK_INT(x.w.image.rows[0].n, 5);
  CHECK_TEXT(slp_row_text(&x.w.image.rows[0], SLP_STR("owner")), "you");
  CHECK_TEXT(slp_row_text(&x.w.image.rows[0], SLP_STR("info")), "i");
  CHECK_INT(slp_row_int(&x.w.image.rows[0], SLP_STR("epoch"), 0), 4);
  /* The same again: refused, and the row shows that the first one was in. */
  CHECK_INT(write_now(u, s, &x), SLP_WRITTEN_REFUSED);
  CHECK_INT(x.w.rq.fail.class, SLP_FINE);
  if (x.w.image_known) {
    CHECK_INT(x.w.image.n, 1);
    CHECK_TEXT(slp_row_text(&x.w.image.rows[0], SLP_STR("owner")), "you");
    CHECK_INT(slp_row_int(&x.w.image.rows[0], SLP_STR("epoch"), 0), 4);
  } else {
    CHECK_INT(x.w.image.n, 0);
  }
  int tells = x.w.image_known;
  writing_free(&x);
  writing_init(u, &x, APP, "nobody");
  x.w.when = &mine;
  x.w.when_n = 1;
  x.w.changes = c;
  x.w.changes_n = 2;
  CHECK_INT(write_now(u, s, &x), SLP_WRITTEN_REFUSED);
  CHECK_INT(x.w.image.n, 0);
  CHECK_INT(x.w.image_known, tells);
  writing_free(&x);
  printf("# images of refused writes: %s\n", tells ? "told" : "not told");
  store_close(s);
}

/* ---- reading ----------------------------------------------------------------------------------------- */
static void list_gives_every_row_of_a_prefix_over_several_pages(suite *u) {
  slp_store *s = suite_ready(u);
  static char blob[50000];
  static const char *const others[] = {"l", "l.", "l0", "m/1", "a/1", "L/00"};
  char name[20];
  slp_store_rows rows;
  memset(blob, 'v', sizeof blob);
  for (int i = 0; i < 45; i++) { /* 2.2 MB: three pages of DynamoDB */
    snprintf(name, sizeof name, "l/%02d", i);
    put(u, s, name, (slp_change[]){SET("blob", ((slp_val){.kind = SLP_VAL_S, .s = {blob, sizeof blob}}))}, 1);
  }
  for (size_t i = 0; i < SLP_COUNT(others); i++) put(u, s, others[i], NULL, 0);
  slp_store_rows_init(&rows, u->mem);
  for (int again = 0; again < 2; again++) { /* into rows that hold an answer */
    list_rows(u, s, APP, "l/", &rows);
    CHECK_INT(rows.n, 45);
    for (int i = 0; i < 45; i++) {
      snprintf(name, sizeof name, "l/%02d", i);
      CHECK_TEXT(slp_row_text(&rows.rows[i], SLP_STR("row")), name);
      CHECK_INT(slp_row_text(&rows.rows[i], SLP_STR("blob")).n, sizeof blob);
    }
  }
  list_rows(u, s, APP, "", &rows);
  CHECK_INT(rows.n, 45 + SLP_COUNT(others));
  list_rows(u, s, APP, "l/4", &rows);
  CHECK_INT(rows.n, 5);
  list_rows(u, s, APP, "zzz", &rows);
  CHECK_INT(rows.n, 0);
  list_rows(u, s, "another app", "l/", &rows);
  CHECK_INT(rows.n, 0);
  slp_store_rows_free(&rows);
  store_close(s);
}

/* Alone, and as one of four that are asked at once. */
static void a_list_keeps_no_more_than_it_may(suite *u) {
  slp_store *s = suite_ready(u);
  slp_val text = {.kind = SLP_VAL_S, .s = {(char[10000]){0}, 10000}};
  memset((char *)(uintptr_t)text.s.p, 'v', text.s.n);
  slp_change c = SET("blob", text);
  for (int i = 0; i < 10; i++) {
    char name[20];
    snprintf(name, sizeof name, "l/%02d", i);
    put(u, s, name, &c, 1);
  }
  slp_store_rows rows;
  slp_store_rows_init(&rows, u->mem);
  for (uint32_t at_once = 0; at_once <= 4; at_once += 4)
    for (int fits = 0; fits < 2; fits++) {
      slp_store_bound bound = {.bytes_max = (at_once ? 4 : 1) * (fits ? 1000000u : 50000u),
                               .at_once = at_once};
      slp_fail f = list_within(u, s, APP, "l/", bound, &rows);
      CHECK_INT(f.class, fits ? SLP_FINE : SLP_REFUSED);
      CHECK_INT(rows.n, fits ? 10 : 0);
      if (!fits && !strstr(f.message, at_once ? "50000 bytes under one of 4 keys" : "50000 bytes"))
        CHECK_FAIL("%s", f.message);
    }
  slp_store_rows_free(&rows);
  store_close(s);
}

static void a_table_without_a_range_key_is_listed_whole(suite *u) {
  slp_table_spec t = {suite_name(u), "shard", NULL};
  slp_store *s = suite_store(u, &t);
  slp_fail f;
  static char blob[60000], seen[40];
  slp_store_rows rows;
  memset(blob, 'v', sizeof blob);
  CHECK_INT(prepare(u, s, 1, NULL, &f), SLP_FINE);
  for (int i = 0; i < 40; i++) {
    char name[20];
    slp_change c = SET("blob", ((slp_val){.kind = SLP_VAL_S, .s = {blob, sizeof blob}}));
    writing x;
    snprintf(name, sizeof name, "shard-%02d", i);
    writing_init(u, &x, name, NULL);
    x.w.kind = SLP_WRITE_PUT;
    x.w.changes = &c;
    x.w.changes_n = 1;
    CHECK_INT(write_now(u, s, &x), SLP_WRITTEN_YES);
    writing_free(&x);
  }
  slp_store_rows_init(&rows, u->mem);
  list_rows(u, s, NULL, NULL, &rows);
  CHECK_INT(rows.n, 40);
  for (size_t i = 0; i < rows.n; i++) {
    slp_str name = slp_row_text(&rows.rows[i], SLP_STR("shard"));
    CHECK(name.n == 8 && rows.rows[i].n == 2);
    int k = (name.p[6] - '0') * 10 + name.p[7] - '0';
    CHECK(k >= 0 && k < 40 && !seen[k]++);
  }
  slp_store_rows_free(&rows);
  store_close(s);
}

static void get_takes_up_to_100_keys(suite *u) {
  slp_store *s = suite_ready(u);
  static char names[100][20];
  slp_row_key keys[100];
  for (int i = 0; i < 100; i++) {
    snprintf(names[i], sizeof names[i], "row %d", i);
    keys[i] = (slp_row_key){SLP_STR(APP), slp_str_of(names[i])};
    if (i % 3)
      put(u, s, names[i], (slp_change[]){SET("i", ((slp_val){.kind = SLP_VAL_S, .s = slp_str_of(names[i])}))},
          1);
  }
  static const size_t counts[] = {100, 1, 2, 4, 0};
  for (size_t k = 0; k < SLP_COUNT(counts); k++) {
    for (int consistent = 0; consistent < 2; consistent++) {
      char seen[100] = {0};
      reading r = {.g = {.keys = keys, .keys_n = counts[k], .consistent = (uint8_t)consistent}};
      get_begin(u, s, &r);
      suite_run(u, &r.done);
      if (r.g.rq.fail.class) CHECK_FAIL("%s", r.g.rq.fail.message);
      size_t want = 0;
      for (size_t i = 0; i < counts[k]; i++) want += i % 3 != 0;
      CHECK_INT(r.g.out.n, want);
      for (size_t i = 0; i < r.g.out.n; i++) {
        slp_str name = slp_row_text(&r.g.out.rows[i], SLP_STR("row"));
        CHECK(slp_str_eq(name, slp_row_text(&r.g.out.rows[i], SLP_STR("i"))));
        int number = atoi(name.p + 4);
        CHECK(number % 3 && !seen[number]++);
      }
      reading_free(&r);
    }
  }
  store_close(s);
}

/* Two children of one parent ask for its row in one call. */
static void get_may_name_a_key_several_times(suite *u) {
  slp_store *s = suite_ready(u);
  static const char *const names[] = {"parent", "parent", "child", "nobody", "parent", "nobody"};
  slp_row_key keys[SLP_COUNT(names)];
  int parents = 0, children = 0;
  for (size_t i = 0; i < SLP_COUNT(names); i++) keys[i] = (slp_row_key){SLP_STR(APP), slp_str_of(names[i])};
  put(u, s, "parent", (slp_change[]){SET("i", ((slp_val){.kind = SLP_VAL_S, .s = SLP_STR("1")}))}, 1);
  put(u, s, "child", (slp_change[]){SET("i", ((slp_val){.kind = SLP_VAL_S, .s = SLP_STR("2")}))}, 1);
  reading r = {.g = {.keys = keys, .keys_n = SLP_COUNT(names), .consistent = 1}};
  get_begin(u, s, &r);
  suite_run(u, &r.done);
  if (r.g.rq.fail.class) CHECK_FAIL("%s", r.g.rq.fail.message);
  for (size_t i = 0; i < r.g.out.n; i++) {
    slp_str name = slp_row_text(&r.g.out.rows[i], SLP_STR("row"));
    parents += slp_str_is(name, "parent");
    children += slp_str_is(name, "child");
  }
  CHECK(parents >= 1 && children >= 1 && (size_t)(parents + children) == r.g.out.n);
  reading_free(&r);
  store_close(s);
}

/* ---- bytes ------------------------------------------------------------------------------------------- */
static void texts_and_names_of_every_kind_come_back(suite *u) {
  slp_store *s = suite_ready(u);
  static const char *const names[] = {
      "status",   "owner",       "size", "a.b", "#x", ":y", "a b", "[0]", "\xc3\xbc\xe2\x82\xac",
      "quote\"d", "back\\slash", "NULL", "0"};
  static const char *const texts[] = {"",
                                      " ",
                                      "\xf0\x9f\x9a\xa2 \xe2\x80\xa8 \xc3\xa4",
                                      "a\"b\\c/d\n\t\r\x01\x7f",
                                      "{\"S\":\"x\"}",
                                      "'; DROP TABLE rows; --",
                                      "\xef\xbf\xbf",
                                      "null"};
  slp_change c[SLP_COUNT(names)];
  reading r = {0};
  for (size_t t = 0; t < SLP_COUNT(texts); t++) {
    char key[100];
    snprintf(key, sizeof key, "%zu %s", t, texts[t]);
    for (size_t i = 0; i < SLP_COUNT(names); i++)
      c[i] = (slp_change){slp_str_of(names[i]), SLP_SET, {.kind = SLP_VAL_S, .s = slp_str_of(texts[t])}};
    CHECK_INT(update(u, s, key, NULL, 0, c, SLP_COUNT(c)), SLP_WRITTEN_YES);
    const slp_row *row = read_row(u, s, &r, key);
    CHECK(row && row->n == SLP_COUNT(names) + 2);
    for (size_t i = 0; i < SLP_COUNT(names); i++) {
      const slp_val *v = slp_row_get(row, slp_str_of(names[i]));
      CHECK(v->kind == SLP_VAL_S && slp_str_is(v->s, texts[t]));
    }
  }
  reading_free(&r);
  store_close(s);
}

static void large_values_come_back(suite *u) {
  slp_store *s = suite_ready(u);
  static char text[300 * 1024], bytes[300 * 1024];
  reading r = {0};
  for (size_t i = 0; i < sizeof text; i++) {
    text[i] = (char)('a' + i * i % 26);
    bytes[i] = (char)(i * 7 + i / 251);
  }
  put(u, s, "t", (slp_change[]){SET("v", ((slp_val){.kind = SLP_VAL_S, .s = {text, sizeof text}}))}, 1);
  CHECK_INT(update(u, s, "b", NULL, 0,
                   (slp_change[]){SET("v", ((slp_val){.kind = SLP_VAL_B, .s = {bytes, sizeof bytes}}))}, 1),
            SLP_WRITTEN_YES);
  const slp_row *row = read_row(u, s, &r, "t");
  const slp_val *v = row ? slp_row_get(row, SLP_STR("v")) : NULL;
  CHECK(v && v->kind == SLP_VAL_S && v->s.n == sizeof text && !memcmp(v->s.p, text, sizeof text));
  row = read_row(u, s, &r, "b");
  v = row ? slp_row_get(row, SLP_STR("v")) : NULL;
  CHECK(v && v->kind == SLP_VAL_B && v->s.n == sizeof bytes && !memcmp(v->s.p, bytes, sizeof bytes));
  reading_free(&r);
  store_close(s);
}

static size_t squeeze(slp_str s, char *to) { /* without white space: servers write JSON as they like */
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] != ' ' && s.p[i] != '\n') to[n++] = s.p[i];
  }
  to[n] = 0;
  return n;
}

static void kinds_we_do_not_know_survive(suite *u) {
  slp_store *s = suite_ready(u);
  slp_change strange[] = {SET("list", OTHER("{\"L\":[{\"S\":\"x\\\"y\"},{\"N\":\"1\"},{\"L\":[]}]}")),
                          SET("map", OTHER("{\"M\":{\"k\":{\"BOOL\":true}}}")),
                          SET("ns", OTHER("{\"NS\":[\"7\"]}")), SET("bs", OTHER("{\"BS\":[\"AAE=\"]}")),
                          SET("n", N("1"))};
  reading r = {0};
  put(u, s, "r", strange, SLP_COUNT(strange));
  for (int i = 0; i < 3; i++)
    CHECK_INT(update(u, s, "r", NULL, 0, (slp_change[]){{SLP_STR("n"), SLP_ADD_N, N("1")}}, 1),
              SLP_WRITTEN_YES);
  const slp_row *row = read_row(u, s, &r, "r");
  CHECK(row && row->n == 7);
  CHECK_INT(slp_row_int(row, SLP_STR("n"), 0), 4);
  for (size_t i = 0; i + 1 < SLP_COUNT(strange); i++) {
    char have[200];
    const slp_val *v = slp_row_get(row, strange[i].name);
    CHECK(v->kind == SLP_VAL_OTHER && v->s.n < sizeof have);
    squeeze(v->s, have);
    if (strcmp(have, strange[i].val.s.p) != 0) CHECK_FAIL("%s is %s", strange[i].name.p, have);
  }
  reading_free(&r);
  store_close(s);
}

/* ---- at once ----------------------------------------------------------------------------------------- */
#define WRITERS 8
#define ROUNDS 20

/* Eight writers, each with a handle of its own: read the counter, write one more if nobody was faster. */
static void no_update_of_racing_writers_is_lost(suite *u) {
  slp_store *first = suite_ready(u), *s[WRITERS];
  slp_table_spec t = {u->last_table, "app", "row"};
  static struct {
    reading r;
    writing x;
    char now[24], next[24];
    slp_atom when;
    slp_change change[2];
    int reads, won, lost, busy;
  } w[WRITERS];
  memset(w, 0, sizeof w);
  put(u, first, "r", (slp_change[]){SET("n", N("0"))}, 1);
  for (int i = 0; i < WRITERS; i++) s[i] = suite_store(u, &t);
  for (int running = 1; running;) {
    running = 0;
    for (int i = 0; i < WRITERS; i++) {
      if (w[i].busy == 2 && w[i].x.done) {
        slp_class class = w[i].x.w.rq.fail.class;
        if (class && class != SLP_THROTTLE) CHECK_FAIL("%s", w[i].x.w.rq.fail.message);
        w[i].won += w[i].x.w.written == SLP_WRITTEN_YES;
        w[i].lost += w[i].x.w.written == SLP_WRITTEN_REFUSED;
        writing_free(&w[i].x);
        w[i].busy = 0;
      }
      if (w[i].won == ROUNDS) continue;
      running = 1;
      if (!w[i].busy) {
        w[i].r.g.consistent = 1;
        read_begin(u, s[i], &w[i].r, "r");
        w[i].busy = 1;
      }
      if (w[i].busy == 1 && w[i].r.done) {
        if (w[i].r.g.rq.fail.class) CHECK_FAIL("%s", w[i].r.g.rq.fail.message);
        long long n = (long long)slp_row_int(&w[i].r.g.out.rows[0], SLP_STR("n"), -1);
        snprintf(w[i].now, sizeof w[i].now, "%lld", n);
        snprintf(w[i].next, sizeof w[i].next, "%lld", n + 1);
        w[i].when = (slp_atom){SLP_STR("n"), SLP_TEST_EQ, {.kind = SLP_VAL_N, .s = slp_str_of(w[i].now)}, 0};
        w[i].change[0] = (slp_change){SLP_STR("n"), SLP_SET, {.kind = SLP_VAL_N, .s = slp_str_of(w[i].next)}};
        w[i].change[1] = (slp_change){SLP_STR("sum"), SLP_ADD_N, N("1")};
        writing_init(u, &w[i].x, APP, "r");
        w[i].x.w.when = &w[i].when;
        w[i].x.w.when_n = 1;
        w[i].x.w.changes = w[i].change;
        w[i].x.w.changes_n = 2;
        w[i].x.w.urgent = i % 2;
        writing_send(s[i], &w[i].x);
        w[i].busy = 2;
      }
    }
    if (running) uv_run(u->loop, UV_RUN_ONCE);
  }
  reading r = {0};
  int lost = 0;
  const slp_row *row = read_row(u, first, &r, "r");
  if (!lacks("races")) {
    CHECK_INT(slp_row_int(row, SLP_STR("n"), 0), WRITERS * ROUNDS);
    CHECK_INT(slp_row_int(row, SLP_STR("sum"), 0), WRITERS * ROUNDS);
  }
  reading_free(&r);
  for (int i = 0; i < WRITERS; i++) {
    lost += w[i].lost;
    reading_free(&w[i].r);
    store_close(s[i]);
  }
  CHECK(lost > 0); /* else nobody raced */
  printf("# %d writes, %d refused on the way\n", WRITERS * ROUNDS, lost);
  store_close(first);
}

/* Cancelled after every number of loop rounds, and the store closed at once or used on. */
static void cancelled_requests_are_silent_in_any_state(suite *u) {
  slp_store *first = suite_ready(u);
  slp_table_spec t = {u->last_table, "app", "row"};
  put(u, first, "r", (slp_change[]){SET("n", N("0"))}, 1);
  for (int what = 0; what < 4; what++) {
    for (int rounds = 0; rounds < 8; rounds++) {
      slp_store *s = suite_store(u, &t);
      slp_store_rows rows;
      writing *x = calloc(1, sizeof *x);
      reading *r = calloc(1, sizeof *r);
      slp_store_list *l = calloc(1, sizeof *l);
      slp_store_prepare *p = calloc(1, sizeof *p);
      int done = 0, *finished = what == 0 ? &x->done : what == 1 ? &r->done : &done;
      slp_change c = {SLP_STR("n"), SLP_ADD_N, N("1")};
      slp_store_req *rq = what == 0 ? &x->w.rq : what == 1 ? &r->g.rq : what == 2 ? &l->rq : &p->rq;
      writing_init(u, x, APP, "r");
      x->w.changes = &c;
      x->w.changes_n = 1;
      if (what == 0) writing_send(s, x);
      if (what == 1) read_begin(u, s, r, "r");
      if (what == 2) list_begin(u, s, l, APP, "", &done);
      if (what == 3) prepare_begin(s, p, &done);
      for (int i = 0; i < rounds && !*finished; i++) uv_run(u->loop, UV_RUN_ONCE);
      if (!*finished) {
        s->ops->cancel(s, rq);
        s->ops->cancel(s, rq);
      }
      writing_free(x);
      reading_free(r);
      if (what == 2) slp_store_rows_free(&l->out);
      memset(x, 0xee, sizeof *x); /* nobody may look at it any more */
      memset(r, 0xee, sizeof *r);
      memset(l, 0xee, sizeof *l);
      memset(p, 0xee, sizeof *p);
      if (rounds % 2) { /* the store works on */
        slp_store_rows_init(&rows, u->mem);
        list_rows(u, s, APP, "", &rows);
        CHECK_INT(rows.n, 1);
        slp_store_rows_free(&rows);
      }
      store_close(s);
      free(x);
      free(r);
      free(l);
      free(p);
    }
  }
  reading r = {0};
  const slp_row *row = read_row(u, first, &r, "r");
  CHECK(slp_row_int(row, SLP_STR("n"), 99) <= 8);
  reading_free(&r);
  store_close(first);
}

/* ---- run by name only, by programs that judge what they print ----------------------------------------- */
static const char *say(slp_written w) {
  return w == SLP_WRITTEN_YES ? "yes" : w == SLP_WRITTEN_REFUSED ? "refused" : "not-sure";
}

/* A write whose answer may be lost, the same again, and what became of the row. */
static void a_write_in_doubt(suite *u) {
  slp_store *s = suite_ready(u);
  slp_atom when = {SLP_STR("op"), SLP_TEST_EQ, S("a"), 0};
  slp_change c[] = {SET("op", S("b")), {SLP_STR("n"), SLP_ADD_N, N("1")}};
  writing x;
  put(u, s, "r", (slp_change[]){SET("op", S("a")), SET("n", N("0"))}, 2);
  writing_init(u, &x, APP, "r");
  x.w.when = &when;
  x.w.when_n = 1;
  x.w.changes = c;
  x.w.changes_n = 2;
  for (int i = 0; i < 2; i++) {
    x.w.rq.ms_max = i ? 0 : 1500;
    write_now(u, s, &x);
    printf("%s %s %s: %s\n", i ? "again" : "first", say(x.w.written), slp_class_name(x.w.rq.fail.class),
           x.w.rq.fail.message);
    if (x.w.written == SLP_WRITTEN_REFUSED && x.w.image_known)
      CHECK_TEXT(slp_row_text(&x.w.image.rows[0], SLP_STR("op")), "b");
  }
  writing_free(&x);
  reading r = {0};
  const slp_row *row = read_row(u, s, &r, "r");
  printf("row %lld\n", (long long)slp_row_int(row, SLP_STR("n"), -1));
  reading_free(&r);
  store_close(s);
}

/* Counts in a row of a table that other processes use too, until it is killed or has done 300. */
static void count_with_others(suite *u) {
  slp_table_spec t = {"shared", "app", "row"};
  slp_store *s = suite_store(u, &t);
  slp_fail f;
  char mine[30];
  snprintf(mine, sizeof mine, "by %d", (int)getppid());
  if (prepare(u, s, 1, NULL, &f)) CHECK_FAIL("%s", f.message);
  for (int i = 1; i <= 300; i++) {
    slp_change c[] = {{SLP_STR("n"), SLP_ADD_N, N("1")}, {slp_str_of(mine), SLP_ADD_N, N("1")}};
    CHECK_INT(update(u, s, "counter", NULL, 0, c, 2), SLP_WRITTEN_YES);
    printf("did %d\n", i);
    fflush(stdout);
  }
  store_close(s);
}

/* Every request once, and what each says: for rights that are missing. */
static void every_request_tells_what_failed(suite *u) {
  slp_table_spec t = {getenv("SLOOP_TEST_STORE_TABLE"), "app", "row"};
  slp_store *s = suite_store(u, &t);
  slp_fail f;
  reading r = {0};
  slp_row_key keys[2] = {{SLP_STR(APP), SLP_STR("r")}, {SLP_STR(APP), SLP_STR("q")}};
  prepare(u, s, 1, NULL, &f);
  printf("prepare %s: %s\n", slp_class_name(f.class), f.message);
  for (size_t n = 1; n <= 2; n++) {
    r.g.keys = keys;
    r.g.keys_n = n;
    get_begin(u, s, &r);
    suite_run(u, &r.done);
    printf("get %s: %s\n", slp_class_name(r.g.rq.fail.class), r.g.rq.fail.message);
  }
  reading_free(&r);
  slp_store_list l;
  int done = 0;
  list_begin(u, s, &l, APP, "r", &done);
  suite_run(u, &done);
  printf("list %s: %s\n", slp_class_name(l.rq.fail.class), l.rq.fail.message);
  slp_store_rows_free(&l.out);
  for (int kind = SLP_WRITE_UPDATE; kind <= SLP_WRITE_DELETE; kind++) {
    writing x;
    slp_change c = SET("s", S("t"));
    writing_init(u, &x, APP, "r");
    x.w.kind = (slp_write_kind)kind;
    x.w.changes = &c;
    x.w.changes_n = kind != SLP_WRITE_DELETE;
    write_now(u, s, &x);
    printf("write %s: %s\n", slp_class_name(x.w.rq.fail.class), x.w.rq.fail.message);
    writing_free(&x);
  }
  store_close(s);
}

/* Another process has the file: the answer comes in time, and the loop goes round meanwhile. */
static void a_locked_file_is_waited_for_so_long(suite *u) {
  slp_table_spec t = {"leases", "app", "row"};
  slp_store *s = suite_store(u, &t);
  writing x;
  int rounds = 0;
  uint64_t began = slp_now_refresh_us(u->h);
  writing_init(u, &x, APP, "r");
  x.w.rq.ms_max = 500;
  writing_send(s, &x);
  for (; !x.done; rounds++) uv_run(u->loop, UV_RUN_ONCE);
  uint64_t took = slp_now_refresh_us(u->h) - began;
  printf("%s after %d ms and %d rounds\n", x.w.rq.fail.message, (int)(took / 1000), rounds);
  CHECK_INT(x.w.rq.fail.class, SLP_TRANSIENT);
  CHECK_INT(x.w.written, SLP_WRITTEN_NOT_SURE);
  CHECK(took >= 490000 && took < 5000000 && rounds > 3); /* were it waited for in SQLite there would be one */
  writing_free(&x);
  store_close(s);
}

static void a_removed_file_is_noticed(suite *u) {
  slp_store *s = suite_ready(u);
  slp_fail f;
  writing x;
  put(u, s, "r", NULL, 0);
  CHECK_INT(unlink(u->file), 0);
  for (int made_again = 0; made_again < 2; made_again++) { /* by another worker, maybe */
    slp_table_spec t = {u->last_table, "app", "row"};
    slp_store *other = suite_store(u, &t);
    if (made_again) CHECK_INT(prepare(u, other, 1, NULL, &f), SLP_FINE);
    store_close(other);
    writing_init(u, &x, APP, "r");
    write_now(u, s, &x);
    CHECK_INT(x.w.rq.fail.class, made_again ? SLP_FINE : SLP_GONE);
    writing_free(&x);
  }
  store_close(s);
}

/* Left behind for others to read. */
static void rows_for_other_readers(suite *u) {
  slp_store *s = suite_ready(u);
  slp_change c[] = {SET("s", S("\xc3\xa4 \"q\"")),
                    SET("n", N("18446744073709551617")),
                    SET("b", B("\x01\xff")),
                    SET("ss", WORDS),
                    SET("yes", TRUTH(1)),
                    SET("no", TRUTH(0)),
                    SET("null", ((slp_val){.kind = SLP_VAL_NULL})),
                    SET("empty", S(""))};
  CHECK_INT(update(u, s, "updated", NULL, 0, c, SLP_COUNT(c)), SLP_WRITTEN_YES);
  put(u, s, "put", c, SLP_COUNT(c));
  printf("table %s\n", u->last_table);
  store_close(s);
}

/* ---- the program ------------------------------------------------------------------------------------- */
#define CASE(name) \
  { #name, name }
static const struct {
  const char *name;
  void (*run)(suite *u);
} cases[] = {
    CASE(prepare_makes_a_table_once),
    CASE(two_prepare_at_the_same_time),
    CASE(other_keys_are_refused_by_name),
    CASE(without_its_table_everything_is_gone),
    CASE(put_update_delete),
    CASE(every_test_on_every_kind),
    CASE(groups_of_or_are_bound_by_and),
    CASE(every_kind_of_change),
    CASE(what_cannot_be_done_changes_nothing),
    CASE(images_show_the_row_after_and_the_row_that_refused),
    CASE(list_gives_every_row_of_a_prefix_over_several_pages),
    CASE(a_list_keeps_no_more_than_it_may),
    CASE(a_table_without_a_range_key_is_listed_whole),
    CASE(get_takes_up_to_100_keys),
    CASE(get_may_name_a_key_several_times),
    CASE(texts_and_names_of_every_kind_come_back),
    CASE(large_values_come_back),
    CASE(kinds_we_do_not_know_survive),
    CASE(no_update_of_racing_writers_is_lost),
    CASE(cancelled_requests_are_silent_in_any_state),
    CASE(a_write_in_doubt),
    CASE(count_with_others),
    CASE(every_request_tells_what_failed),
    CASE(rows_for_other_readers),
    CASE(a_locked_file_is_waited_for_so_long),
    CASE(a_removed_file_is_noticed),
};
#define BY_NAME_ONLY 6 /* the last ones */

int main(int argc, char **argv) {
  store_kind kind = KIND_MEMORY;
  int at = 2, bad = 0;
  const char *file = NULL;
  if (argc > 1 && !strcmp(argv[1], "sqlite") && argc > 2) kind = KIND_SQLITE, file = argv[at++];
  if (argc > 1 && !strcmp(argv[1], "dynamodb")) kind = KIND_DYNAMODB;
  if (argc <= at)
    return fprintf(stderr, "usage: %s {memory | sqlite FILE | dynamodb} PREFIX [CASE]\n", argv[0]), 2;
  const char *prefix = argv[at], *only = argc > at + 1 ? argv[at + 1] : NULL;
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    char name[80];
    if (only ? strcmp(only, cases[i].name) != 0 : i + BY_NAME_ONLY >= SLP_COUNT(cases)) continue;
    snprintf(name, sizeof name, "%s-%zu-", prefix, i);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
      suite u;
      alarm(60);
      suite_open(&u, kind, file, name);
      cases[i].run(&u);
      suite_close(&u);
      exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    int ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %s\n", ok ? "ok  " : "FAIL", cases[i].name);
    if (WIFSIGNALED(status)) printf("     ended by signal %d\n", WTERMSIG(status));
    bad += !ok;
  }
  return bad ? 1 : 0;
}

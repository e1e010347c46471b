/* kcl_main.c - the layout of KCL 2.x over a real store, verb by verb, for a test that is the other worker.
 * Says "ready", then reads lines and answers each by one: yes, refused or not-sure, and what the row says
 * then.
 *
 *   usage: kcl_main TABLE [ACCOUNT:NAME:EPOCH]
 *
 *   create SHARD - COUNTER SPOT FROM TO PARENTS
 *   {take | renew | checkpoint | release | end | remove | reset} SHARD ME COUNTER SPOT OWNER CHILDREN
 *   read SHARD
 *   list
 *
 * "-", or no more words: nothing. SPOT: oldest, latest, time, SEQUENCE/SUB. */
#include "guest/guest_schemas.h"
#include "guest/guest_operations.h"
#include "store_suite.h"

static slp_str word(char **at) {
  char *w = strsep(at, " \n");
  if (!w || !*w || !strcmp(w, "-")) return (slp_str){NULL, 0};
  return slp_str_of(w);
}

static uint64_t number(slp_str s) {
  uint64_t n = 0;
  if (s.n) CHECK_INT(slp_parse_u64(s, &n), 0);
  return n;
}

static slp_position position_of(slp_str s) {
  slp_position position = {.kind = SLP_POSITION_OLDEST};
  const char *slash = s.n ? memchr(s.p, '/', s.n) : NULL;
  if (slp_str_is(s, "latest")) position.kind = SLP_POSITION_LATEST;
  if (slp_str_is(s, "time")) position.kind = SLP_POSITION_TIME;
  if (!slash) return position;
  slp_str seq = {s.p, (size_t)(slash - s.p)}, sub = {slash + 1, s.n - (size_t)(slash - s.p) - 1};
  position.kind = SLP_POSITION_AFTER;
  slp_mark_set(&position.mark, seq, (uint32_t)number(sub), -1);
  return position;
}

static const struct {
  const char *name;
  slp_operation_kind kind;
} operations[] = {{"create", SLP_OPERATION_CREATE}, {"take", SLP_OPERATION_TAKE},
                  {"renew", SLP_GUEST_RENEW},       {"release", SLP_OPERATION_RELEASE},
                  {"end", SLP_OPERATION_END},       {"remove", SLP_OPERATION_REMOVE},
                  {"reset", SLP_OPERATION_RESET},   {"checkpoint", SLP_OPERATION_CHECKPOINT}};

static void say_row(slp_schema *schema, const slp_row *row) {
  slp_parsed_row f;
  schema->read(schema, row, &f);
  static const char *const spots[] = {"none", "oldest", "latest", "time", "at", "after", "end"};
  const slp_lease_row *l = &f.u.lease;
  if (f.kind == SLP_ROW_BAD) printf(" bad: %s", f.why);
  if (f.kind == SLP_ROW_ELSEWHERE) printf(" elsewhere");
  if (f.kind != SLP_ROW_LEASE && f.kind != SLP_ROW_BAD && f.kind != SLP_ROW_ELSEWHERE) printf(" other");
  if (f.kind != SLP_ROW_LEASE) return;
  printf(" %.*s owner=%.*s counter=%llu spot=%s", (int)l->shard.n, l->shard.p, (int)l->owner.n, l->owner.p,
         (unsigned long long)l->epoch, spots[l->position.kind]);
  if (l->position.kind == SLP_POSITION_AFTER)
    printf(":%.*s/%u", (int)l->position.mark.seq_n, l->position.mark.seq, (unsigned)l->position.mark.sub);
  for (int k = 0; k < 2 && l->parents[k].n; k++)
    printf(" parent=%.*s", (int)l->parents[k].n, l->parents[k].p);
  if (l->hash_start.n) printf(" range=%.*s", (int)l->hash_start.n, l->hash_start.p);
}

static size_t split(slp_str list, slp_str *to, size_t max) {
  size_t n = 0;
  while (list.n && n < max) {
    const char *comma = memchr(list.p, ',', list.n);
    size_t k = comma ? (size_t)(comma - list.p) : list.n;
    to[n++] = (slp_str){list.p, k};
    list = comma ? (slp_str){comma + 1, list.n - k - 1} : (slp_str){NULL, 0};
  }
  return n;
}

static void do_write(suite *u, slp_store *s, slp_schema *schema, slp_operation_kind kind, slp_str shard,
                     char **rest) {
  static const char *const outcomes[] = {"not-sure", "yes", "refused"};
  slp_str kids[8];
  slp_operation i = {.kind = kind, .shard = shard, .shards = kids};
  i.me = word(rest);
  i.epoch = number(word(rest));
  i.epoch_first = i.epoch;
  i.position = position_of(word(rest));
  if (kind == SLP_OPERATION_CREATE) {
    i.hash_start = word(rest);
    i.hash_end = word(rest);
    split(word(rest), i.parents, 2);
  } else {
    i.owner = word(rest);
    i.shards_n = split(word(rest), kids, SLP_COUNT(kids));
  }
  writing x;
  slp_row_request d;
  writing_init(u, &x, "", NULL);
  slp_row_request_init(&d, u->mem, &x.w);
  CHECK_INT(schema->write(schema, &d, &i), 0);
  fputs(outcomes[write_now(u, s, &x)], stdout);
  if (x.w.rq.fail.class != SLP_FINE) printf(" %s", x.w.rq.fail.message);
  if (x.w.image.n) say_row(schema, &x.w.image.rows[0]);
  slp_row_request_free(&d);
  writing_free(&x);
}

static void do_read(suite *u, slp_store *s, slp_schema *schema, slp_str shard) {
  slp_store_write none = {.rq = {0}};
  slp_row_request d;
  reading r = {.done = 0};
  slp_row_request_init(&d, u->mem, &none);
  CHECK_INT(
      schema->key(schema, &d, &(slp_operation){.kind = SLP_OPERATION_CHECKPOINT, .shard = shard}, &r.key), 0);
  r.g.keys = &r.key;
  r.g.keys_n = 1;
  r.g.consistent = 1;
  get_begin(u, s, &r);
  suite_run(u, &r.done);
  if (r.g.rq.fail.class != SLP_FINE) CHECK_FAIL("%s", r.g.rq.fail.message);
  fputs(r.g.out.n ? "yes" : "absent", stdout);
  if (r.g.out.n) say_row(schema, &r.g.out.rows[0]);
  reading_free(&r);
  slp_row_request_free(&d);
}

static void do_list(suite *u, slp_store *s, slp_schema *schema) {
  slp_store_list l;
  slp_str hash, prefix;
  int done = 0;
  schema->scope(schema, &hash, &prefix);
  list_begin(u, s, &l, "", "", &done);
  suite_run(u, &done);
  if (l.rq.fail.class != SLP_FINE) CHECK_FAIL("%s", l.rq.fail.message);
  printf("yes %d", (int)l.out.n);
  for (size_t i = 0; i < l.out.n; i++) {
    fputs(" |", stdout);
    say_row(schema, &l.out.rows[i]);
  }
  slp_store_rows_free(&l.out);
}

static void obey(suite *u, slp_store *s, slp_schema *schema, char *line) {
  char *rest = line;
  slp_str what = word(&rest), shard = word(&rest);
  size_t known = 0;
  if (slp_str_is(what, "read")) {
    do_read(u, s, schema, shard);
  } else if (slp_str_is(what, "list")) {
    do_list(u, s, schema);
  } else {
    while (known < SLP_COUNT(operations) && !slp_str_is(what, operations[known].name)) known++;
    CHECK(known < SLP_COUNT(operations));
    do_write(u, s, schema, operations[known].kind, shard, &rest);
  }
  putchar('\n');
  fflush(stdout);
}

int main(int argc, char **argv) {
  suite u;
  slp_fail f;
  slp_table_spec spec;
  char line[4000];
  if (argc < 2) return fprintf(stderr, "usage: %s TABLE [ACCOUNT:NAME:EPOCH]\n", argv[0]), 2;
  suite_open(&u, KIND_DYNAMODB, NULL, "");
  slp_schema *schema = slp_schema_kcl(u.mem, slp_str_of(argc > 2 ? argv[2] : ""), 0);
  schema->table(schema, argv[1], &spec);
  slp_store *s = suite_store(&u, &spec);
  if (prepare(&u, s, 1, NULL, &f)) CHECK_FAIL("%s", f.message);
  puts("ready"); /* the table is there */
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) obey(&u, s, schema, line);
  store_close(s);
  schema->free(schema);
  suite_close(&u);
  return 0;
}

/* read.c - one read of the lease table, from the question to its answer. */
#include "lease/read.h"

#include "lease/fleet_inside.h"
#include "sloop.h"

#define TOOK_LONG_US UINT64_C(5000000)

static const slp_str nothing = {NULL, 0};

void slp_read_init(slp_read *r, slp_fleet *f, const char *of, uint32_t share) {
  memset(r, 0, sizeof *r);
  r->f = f;
  r->of = of;
  r->share = share;
  slp_buf_init(&r->text, f->mem, 1 << 20);
  slp_store_rows_init(&r->get.out, f->mem);
  slp_store_rows_init(&r->list.out, f->mem);
}

static void drop_parts(slp_read *r) {
  for (uint32_t i = 0; i < r->parts_n; i++) slp_store_rows_free(&r->parts[i].list.out);
  slp_free(r->f->mem, r->parts);
  r->parts = NULL;
  r->parts_n = 0;
}

void slp_read_stop(slp_read *r) {
  slp_store *store = r->f->store;
  if (r->busy && (r->rq != &r->list.rq || !r->list_done)) store->ops->cancel(store, r->rq);
  for (uint32_t i = 0; i < r->parts_n; i++)
    if (!r->parts[i].done) store->ops->cancel(store, &r->parts[i].list.rq);
  drop_parts(r);
  r->busy = 0;
}

void slp_read_free(slp_read *r) {
  slp_read_stop(r);
  slp_store_rows_free(&r->get.out);
  slp_store_rows_free(&r->list.out);
  slp_buf_free(&r->text);
}

/* ---- asking ------------------------------------------------------------------------------------ */

static void request(slp_read *r, slp_store_req *rq, void (*answered)(slp_store_req *rq)) {
  r->f->stats.reads++;
  memset(rq, 0, sizeof *rq);
  rq->on_done = answered;
  if (r->share) rq->ms_max = (uint32_t)slp_max_u64(r->f->o.lease_ms / r->share, 20);
}

static void begin(slp_read *r, slp_store_req *rq, slp_store_rows *rows, void (*on_done)(slp_read *r),
                  void (*answered)(slp_store_req *rq)) {
  SLP_CHECK(!r->busy);
  r->busy = 1;
  r->list_done = r->starved = 0;
  r->rq = rq;
  r->rows = rows;
  r->on_done = on_done;
  request(r, rq, answered);
}

static void got(slp_store_req *rq);
static void listed(slp_store_req *rq);

static int make_key(slp_read *r, slp_operation_kind kind, slp_str name) {
  slp_buf_clear(&r->text);
  return slp_fleet_key(r->f, kind, name, &r->text, &r->key);
}

static void get(slp_read *r, const slp_row_key *keys, size_t n, int consistent,
                void (*on_done)(slp_read *r)) {
  begin(r, &r->get.rq, &r->get.out, on_done, got);
  r->get.keys = keys;
  r->get.keys_n = n;
  r->get.consistent = (uint8_t)consistent;
  r->f->store->ops->get(r->f->store, &r->get);
}

static void list_one_of(slp_read *r, uint32_t at_once, uint8_t table, slp_str hash, slp_str prefix,
                        int consistent, void (*on_done)(slp_read *r)) {
  begin(r, &r->list.rq, &r->list.out, on_done, listed);
  r->list.rq.table = table;
  r->list.hash = hash;
  r->list.prefix = prefix;
  r->list.consistent = (uint8_t)consistent;
  r->list.bound = (slp_store_bound){.at_once = at_once};
  r->f->store->ops->list(r->f->store, &r->list);
}

static void list(slp_read *r, uint8_t table, slp_str hash, slp_str prefix, int consistent,
                 void (*on_done)(slp_read *r)) {
  list_one_of(r, 1, table, hash, prefix, consistent, on_done);
}

int slp_read_row(slp_read *r, slp_operation_kind kind, slp_str name, int consistent,
                 void (*on_done)(slp_read *r)) {
  if (make_key(r, kind, name)) return SLP_ENOMEM;
  get(r, &r->key, 1, consistent, on_done);
  return 0;
}

void slp_read_keys(slp_read *r, const slp_row_key *keys, size_t n, void (*on_done)(slp_read *r)) {
  get(r, keys, n, 1, on_done);
}

int slp_read_list(slp_read *r, slp_operation_kind kind, int consistent, void (*on_done)(slp_read *r)) {
  if (make_key(r, kind, (slp_str){"", 0})) return SLP_ENOMEM;
  list(r, 0, r->key.hash, r->key.range, consistent, on_done);
  return 0;
}

static void part_listed(slp_store_req *rq);

/* Under how many keys beside the first one leases lie. */
static uint32_t other_keys(const slp_schema *s) {
  return s->lease_key && slp_is_spread(&s->spread) && !SLP_MUTANT(one_key_is_read) ? s->spread.keys - 1 : 0;
}

static int make_parts(slp_read *r, const slp_row_key *first) {
  slp_schema *schema = r->f->schema;
  uint32_t n = other_keys(schema);
  slp_buf_clear(&r->text);
  /* Reserved once: the keys point into it. */
  if (slp_buf_reserve(&r->text, n * (first->hash.n + first->range.n + 32))) return SLP_ENOMEM;
  r->parts = slp_zalloc_n(r->f->mem, n, sizeof *r->parts);
  if (!r->parts) return SLP_ENOMEM;
  for (uint32_t i = 0; i < n; i++) {
    slp_read_part *p = &r->parts[i];
    slp_row_key key;
    if (schema->lease_key(schema, i + 1, &r->text, &key)) return SLP_ENOMEM;
    p->of = r;
    p->list.hash = key.hash;
    p->list.prefix = key.range;
    slp_store_rows_init(&p->list.out, r->f->mem);
    r->parts_n++;
  }
  return 0;
}

static void list_parts(slp_read *r, const slp_row_key *first, int consistent) {
  if (make_parts(r, first)) {
    drop_parts(r);
    r->starved = 1;
  }
  for (uint32_t i = 0; i < r->parts_n; i++) {
    slp_read_part *p = &r->parts[i];
    request(r, &p->list.rq, part_listed);
    p->list.consistent = (uint8_t)consistent;
    p->list.bound = r->list.bound;
    r->f->store->ops->list(r->f->store, &p->list);
  }
}

void slp_read_all(slp_read *r, int consistent, void (*on_done)(slp_read *r)) {
  slp_row_key first;
  r->f->schema->scope(r->f->schema, &first.hash, &first.range);
  uint32_t others = other_keys(r->f->schema);
  list_one_of(r, others + 1, 0, first.hash, first.range, consistent, on_done);
  if (others) list_parts(r, &first, consistent);
}

void slp_read_scope(slp_read *r, slp_str hash, slp_str prefix, void (*on_done)(slp_read *r)) {
  list(r, 0, hash, prefix, 0, on_done);
}

void slp_read_side(slp_read *r, uint8_t n, void (*on_done)(slp_read *r)) {
  list(r, n, (slp_str){"", 0}, (slp_str){"", 0}, 1, on_done);
}

/* ---- the answer -------------------------------------------------------------------------------- */

/* Pages that bring nothing are waited for ever longer: one such list has lasted as long as four others. */
static int took_long(const slp_read *r, const slp_fail *fail) {
  return fail->code == SLOOP_EPROTO && r->rq && r->rq->done_us >= slp_after_us(r->rq->sent_us, TOOK_LONG_US);
}

int slp_read_count(slp_read *r, const slp_fail *fail) {
  uint8_t table = r->rq ? r->rq->table : 0;
  if (fail->class == SLP_FINE) {
    if (r->rq == r->failing && table == r->failing_table) r->failed = 0;
    return 1;
  }
  r->failing = r->rq;
  r->failing_table = table;
  uint32_t n = ++r->failed;
  if (slp_fleet_ends_without_table(r->f, fail)) return 0;
  if (slp_fleet_tells(r->f, n, fail) || (n == 1 && took_long(r, fail)))
    slp_fleet_tell_fail(r->f, fail, nothing, 0, "reading %s in the lease table failed %u time%s: %s", r->of,
                        n, n > 1 ? "s" : "", fail->message);
  return 0;
}

static void end(slp_read *r) {
  SLP_CHECK(r->rq);
  r->busy = 0;
  r->next = 0;
  r->came = (uint8_t)slp_read_count(r, &r->rq->fail);
  r->on_done(r);
}

static void got(slp_store_req *rq) { end(SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_read, get)); }

/* All parts make one answer, and a part that failed fails it. */
static void join_parts(slp_read *r) {
  slp_fail *fail = &r->list.rq.fail;
  int starved = r->starved;
  for (uint32_t i = 0; i < r->parts_n; i++) {
    slp_store_list *p = &r->parts[i].list;
    if (fail->class == SLP_FINE && p->rq.fail.class != SLP_FINE) *fail = p->rq.fail;
    if (fail->class == SLP_FINE && !starved) starved = slp_store_rows_join(&r->list.out, &p->out) != 0;
  }
  if (starved && fail->class == SLP_FINE)
    slp_fail_set(fail, SLP_NOMEM, SLP_ENOMEM, "no memory for the rows of the fleet");
}

/* Lists are long: their memory goes back as soon as they were read. */
static void whole(slp_read *r) {
  for (uint32_t i = 0; i < r->parts_n; i++)
    if (!r->parts[i].done) return;
  if (!r->list_done) return;
  if (r->parts_n || r->starved) join_parts(r);
  drop_parts(r);
  end(r);
  if (!r->busy) slp_store_rows_free(&r->list.out);
}

static void listed(slp_store_req *rq) {
  slp_read *r = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_read, list);
  r->list_done = 1;
  whole(r);
}

static void part_listed(slp_store_req *rq) {
  slp_read_part *p = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_read_part, list);
  p->done = 1;
  whole(p->of);
}

int slp_read_next(slp_read *r, slp_parsed_row *ret) {
  if (r->next >= r->rows->n) return 0;
  slp_schema_read_row(r->f->schema, &r->rows->rows[r->next++], ret);
  return 1;
}

void slp_read_one(slp_read *r, slp_parsed_row *ret) {
  memset(ret, 0, sizeof *ret);
  ret->kind = SLP_ROW_OTHER;
  if (r->rows->n) slp_schema_read_row(r->f->schema, &r->rows->rows[0], ret);
}

/* read.c - one read of the lease table, from the request to its answer (read.h). */
#include "lease/read.h"

#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/gate.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "lease/write.h"

#include <sloop.h>

/* an answer that makes no sense is reported to the user at once if the read took this long; see
 * took_long() */
#define TOOK_LONG_US UINT64_C(5000000)
/* most bytes of slp_store_get.at and slp_store_list.at, which say where a throttled request continues; the
 * keys of 100 rows take less */
#define PLACE_MAX (1u << 20)

static const slp_str nothing = {NULL, 0};

/* ---- reads that wait for their turn ------------------------------------------------------------ */

/* the table counts as scarce if the gap between two capacity units (gate.h) is at least this long */
#define SCARCE_US 200000

static void run_turns(slp_timer *t);

void slp_reads_init(slp_fleet *f) {
  slp_list_init(&f->reads.waiting);
  slp_fleet_timer_init(&f->reads.timer, run_turns);
}

void slp_reads_stop(slp_fleet *f) { slp_timer_clear(f->h, &f->reads.timer); }

int slp_fleet_throttled(const slp_fleet *f) {
  return !slp_gate_is_open(&f->reads.gate) || slp_writes_gap_us(&f->writes) > 0;
}

int slp_fleet_is_scarce(const slp_fleet *f) {
  return f->reads.gate.gap_us >= SCARCE_US || slp_writes_gap_us(&f->writes) >= SCARCE_US;
}

uint64_t slp_reads_rest_us(const slp_fleet *f, uint64_t us, uint32_t units) {
  return slp_gate_rest_us(&f->reads.gate, us, units);
}

size_t slp_reads_at_once(const slp_fleet *f, size_t most) {
  uint64_t gap_us = f->reads.gate.gap_us, requests_s = gap_us ? slp_max_u64(1000000 / gap_us, 1) : most;
  return (size_t)slp_min_u64(most, requests_s * requests_s);
}

static slp_read_turn *first_turn(slp_fleet *f) {
  slp_list *first = slp_list_first(&f->reads.waiting);
  return first ? SLP_OWNER(first, slp_read_turn, link) : NULL;
}

static void set_read_timer(slp_fleet *f) {
  slp_fleet_timer(f, &f->reads.timer, first_turn(f) ? f->reads.gate.next_us : SLP_NEVER);
}

static int gate_passes(slp_fleet *f) {
  slp_gate *gate = &f->reads.gate;
  return slp_gate_passes(gate, slp_fleet_now(f), slp_gate_is_open(gate) ? 0 : slp_random(f->h));
}

/* Sends the request now if no earlier request waits and the gate (gate.h) lets it pass. Otherwise appends it
 * to the waiting requests. */
static void take_turn(slp_read_turn *turn) {
  slp_fleet *f = turn->of->f;
  if (!first_turn(f) && gate_passes(f)) {
    turn->send(turn);
    return;
  }
  slp_list_add_last(&f->reads.waiting, &turn->link);
  set_read_timer(f);
}

static void run_turns(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, reads.timer);
  for (slp_read_turn *turn; (turn = first_turn(f)) && gate_passes(f);) {
    slp_list_remove(&turn->link);
    turn->send(turn);
  }
  set_read_timer(f);
}

/* Cancels the request, so that no answer comes. */
static void drop_turn(slp_read_turn *turn, slp_store_req *rq) {
  slp_store *store = turn->of->f->store;
  if (slp_list_linked(&turn->link))
    slp_list_remove(&turn->link);
  else
    store->ops->cancel(store, rq);
}

/* Returns 1 if the request was throttled, and is put back to wait for the gate; 0 if it has an answer. */
static int takes_another_turn(slp_read_turn *turn, slp_store_req *rq) {
  slp_fleet *f = turn->of->f;
  uint64_t now = slp_fleet_now(f);
  if (rq->fail.class != SLP_THROTTLE) {
    slp_gate_served(&f->reads.gate);
    set_read_timer(f);
    if (turn->first_us) rq->sent_us = turn->first_us;
    return 0;
  }
  if (!turn->first_us) turn->first_us = rq->sent_us;
  f->stats.throttles++;
  slp_gate_refused(&f->reads.gate, rq->sent_us, now, slp_random(f->h));
  slp_fleet_table_refused(f, 0, &rq->fail);
  take_turn(turn);
  return 1;
}

/* ---- creating and freeing ---------------------------------------------------------------------- */

void slp_read_init(slp_read *r, slp_fleet *f, const char *of, uint32_t share) {
  memset(r, 0, sizeof *r);
  r->f = f;
  r->of = of;
  r->share = share;
  slp_buf_init(&r->text, f->mem, 1 << 20);
  slp_store_rows_init(&r->get.out, f->mem);
  slp_store_rows_init(&r->list.out, f->mem);
  slp_buf_init(&r->get.at, f->mem, PLACE_MAX);
  slp_buf_init(&r->list.at, f->mem, PLACE_MAX);
}

static void free_part(slp_read_part *p) {
  slp_store_rows_free(&p->list.out);
  slp_buf_free(&p->list.at);
}

static void drop_parts(slp_read *r) {
  for (uint32_t i = 0; i < r->parts_n; i++) free_part(&r->parts[i]);
  slp_free(r->f->mem, r->parts);
  r->parts = NULL;
  r->parts_n = 0;
}

void slp_read_stop(slp_read *r) {
  if (r->busy && (r->rq != &r->list.rq || !r->list_done)) drop_turn(&r->turn, r->rq);
  for (uint32_t i = 0; i < r->parts_n; i++)
    if (!r->parts[i].done) drop_turn(&r->parts[i].turn, &r->parts[i].list.rq);
  drop_parts(r);
  r->busy = 0;
}

void slp_read_free(slp_read *r) {
  slp_read_stop(r);
  slp_store_rows_free(&r->get.out);
  slp_store_rows_free(&r->list.out);
  slp_buf_free(&r->get.at);
  slp_buf_free(&r->list.at);
  slp_buf_free(&r->text);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static void prepare_request(slp_read *r, slp_store_req *rq, uint8_t table,
                            void (*answered)(slp_store_req *rq)) {
  r->f->stats.reads++;
  memset(rq, 0, sizeof *rq);
  rq->table = table;
  rq->paced = 1;
  rq->on_done = answered;
  if (r->share) rq->ms_max = (uint32_t)slp_max_u64(r->f->o.lease_ms / r->share, 20);
}

static void start_table_read(slp_read *r, slp_store_req *rq, slp_store_rows *rows, slp_buf *at,
                             void (*on_done)(slp_read *r), void (*send)(slp_read_turn *turn)) {
  SLP_CHECK(!r->busy);
  r->busy = 1;
  r->list_done = r->starved = 0;
  r->rq = rq;
  r->rows = rows;
  r->on_done = on_done;
  slp_buf_clear(at);
  r->turn = (slp_read_turn){.of = r, .send = send};
  take_turn(&r->turn);
}

static void on_rows_got(slp_store_req *rq);
static void on_list_answered(slp_store_req *rq);

static int make_key(slp_read *r, slp_operation_kind kind, slp_str name) {
  slp_buf_clear(&r->text);
  return slp_fleet_key(r->f, kind, name, &r->text, &r->key);
}

static void send_get(slp_read_turn *turn) {
  slp_read *r = turn->of;
  prepare_request(r, &r->get.rq, 0, on_rows_got);
  r->f->store->ops->get(r->f->store, &r->get);
}

static void begin_get_read(slp_read *r, const slp_row_key *keys, size_t n, int consistent,
                           void (*on_done)(slp_read *r)) {
  r->get.keys = keys;
  r->get.keys_n = n;
  r->get.consistent = (uint8_t)consistent;
  start_table_read(r, &r->get.rq, &r->get.out, &r->get.at, on_done, send_get);
}

static void send_list(slp_read_turn *turn) {
  slp_read *r = turn->of;
  prepare_request(r, &r->list.rq, r->table, on_list_answered);
  r->f->store->ops->list(r->f->store, &r->list);
}

static void list_one_of(slp_read *r, uint32_t at_once, uint8_t table, slp_str hash, slp_str prefix,
                        int consistent, void (*on_done)(slp_read *r)) {
  r->table = table;
  r->list.hash = hash;
  r->list.prefix = prefix;
  r->list.consistent = (uint8_t)consistent;
  r->list.bound = (slp_store_bound){.at_once = at_once};
  r->others = at_once - 1;
  start_table_read(r, &r->list.rq, &r->list.out, &r->list.at, on_done, send_list);
}

static void begin_list_read(slp_read *r, uint8_t table, slp_str hash, slp_str prefix, int consistent,
                            void (*on_done)(slp_read *r)) {
  list_one_of(r, 1, table, hash, prefix, consistent, on_done);
}

int slp_read_row(slp_read *r, slp_operation_kind kind, slp_str name, int consistent,
                 void (*on_done)(slp_read *r)) {
  if (make_key(r, kind, name)) return SLP_ENOMEM;
  begin_get_read(r, &r->key, 1, consistent, on_done);
  return 0;
}

void slp_read_keys(slp_read *r, const slp_row_key *keys, size_t n, void (*on_done)(slp_read *r)) {
  begin_get_read(r, keys, n, 1, on_done);
}

int slp_read_list(slp_read *r, slp_operation_kind kind, int consistent, void (*on_done)(slp_read *r)) {
  if (make_key(r, kind, (slp_str){"", 0})) return SLP_ENOMEM;
  begin_list_read(r, 0, r->key.hash, r->key.range, consistent, on_done);
  return 0;
}

static void part_listed(slp_store_req *rq);

/* Returns how many partition keys may have leases, not counting the first key. */
static uint32_t other_keys(const slp_schema *s) {
  return s->lease_key && slp_is_spread(&s->spread) && !SLP_MUTANT(one_key_is_read) ? s->spread.keys - 1 : 0;
}

static int make_part(slp_read *r, uint32_t key) {
  slp_schema *schema = r->f->schema;
  slp_read_part *p = &r->parts[r->parts_n];
  slp_row_key at;
  if (schema->lease_key(schema, key, &r->text, &at)) return SLP_ENOMEM;
  p->turn.of = r;
  p->list.hash = at.hash;
  p->list.prefix = at.range;
  p->list.consistent = r->list.consistent;
  p->list.bound = r->list.bound;
  slp_store_rows_init(&p->list.out, r->f->mem);
  slp_buf_init(&p->list.at, r->f->mem, PLACE_MAX);
  r->parts_n++;
  return 0;
}

static int make_parts(slp_read *r, const uint8_t keys[]) {
  slp_str hash, prefix;
  r->f->schema->scope(r->f->schema, &hash, &prefix);
  slp_buf_clear(&r->text);
  /* The room is reserved at once, because keys point into it, so it must not move. */
  if (slp_buf_reserve(&r->text, r->others * (hash.n + prefix.n + 32))) return SLP_ENOMEM;
  r->parts = slp_zalloc_n(r->f->mem, r->others, sizeof *r->parts);
  if (!r->parts) return SLP_ENOMEM;
  for (uint32_t i = 1; i <= r->others; i++)
    if (keys[i] && make_part(r, i)) return SLP_ENOMEM;
  return 0;
}

static void send_part(slp_read_turn *turn) {
  slp_read_part *p = SLP_OWNER(turn, slp_read_part, turn);
  slp_store *store = turn->of->f->store;
  prepare_request(turn->of, &p->list.rq, 0, part_listed);
  store->ops->list(store, &p->list);
}

/* Called when the rows under the first partition key have come. Begins to list the rows under the other
 * keys. */
static void list_parts(slp_read *r) {
  uint8_t keys[SLP_SPREAD_KEYS_MAX];
  memset(keys, !r->choose, sizeof keys);
  if (r->choose) r->choose(r, keys);
  r->whole = memchr(keys + 1, 0, r->others) == NULL;
  if (make_parts(r, keys)) {
    drop_parts(r);
    r->starved = 1;
  }
  for (uint32_t i = 0, n = r->parts_n; i < n; i++) {
    r->parts[i].turn.send = send_part;
    take_turn(&r->parts[i].turn);
  }
}

void slp_read_chosen(slp_read *r, int consistent, void (*choose)(slp_read *r, uint8_t keys[]),
                     void (*on_done)(slp_read *r)) {
  slp_row_key first;
  r->f->schema->scope(r->f->schema, &first.hash, &first.range);
  r->choose = choose;
  r->whole = 1;
  list_one_of(r, other_keys(r->f->schema) + 1, 0, first.hash, first.range, consistent, on_done);
}

void slp_read_all(slp_read *r, int consistent, void (*on_done)(slp_read *r)) {
  slp_read_chosen(r, consistent, NULL, on_done);
}

void slp_read_scope(slp_read *r, slp_str hash, slp_str prefix, void (*on_done)(slp_read *r)) {
  begin_list_read(r, 0, hash, prefix, 0, on_done);
}

void slp_read_side(slp_read *r, uint8_t n, void (*on_done)(slp_read *r)) {
  begin_list_read(r, n, (slp_str){"", 0}, (slp_str){"", 0}, 1, on_done);
}

/* ---- the answer -------------------------------------------------------------------------------- */

/* Returns 1 if the answer makes no sense and took long. Usually a failure is reported to the user only if it
 * is repeated. But while the pages of a list have no rows, the wait before each next page grows. So one such
 * list takes as long as four failures, and is reported at once. */
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

static void end_read(slp_read *r) {
  SLP_CHECK(r->rq);
  r->busy = 0;
  r->next = 0;
  r->came = (uint8_t)slp_read_count(r, &r->rq->fail);
  r->on_done(r);
}

static void on_rows_got(slp_store_req *rq) {
  slp_read *r = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_read, get);
  if (!takes_another_turn(&r->turn, rq)) end_read(r);
}

/* Joins the rows of all partition keys into one answer. If the list of one key has failed, the whole read has
 * failed. */
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

/* Called when the lists of all partition keys have come. The answer may be large, so its memory is freed
 * after on_done. */
static void all_came(slp_read *r) {
  for (uint32_t i = 0; i < r->parts_n; i++)
    if (!r->parts[i].done) return;
  if (!r->list_done) return;
  if (r->parts_n || r->starved) join_parts(r);
  drop_parts(r);
  end_read(r);
  if (!r->busy) slp_store_rows_free(&r->list.out);
}

static void on_list_answered(slp_store_req *rq) {
  slp_read *r = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_read, list);
  if (takes_another_turn(&r->turn, rq)) return;
  r->list_done = 1;
  if (r->others && rq->fail.class == SLP_FINE) list_parts(r);
  all_came(r);
}

static void part_listed(slp_store_req *rq) {
  slp_read_part *p = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_read_part, list);
  if (takes_another_turn(&p->turn, rq)) return;
  p->done = 1;
  all_came(p->turn.of);
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

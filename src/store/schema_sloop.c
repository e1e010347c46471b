/* schema_sloop.c - the native layout of leases: one table with the hash key `app` and the range key `row`.
 * Below, P stands for the prefix STREAM@GENERATION/ of a range key.
 *
 *   P lead      leadership: its owner, constants of the fleet, and whether an operator holds the application
 *   P w/ID      a worker: its incarnation, its counter, whether it is evicted
 *   P a/ID      the assignment of one worker
 *   P l/SHARD   a lease: owner, epoch, position
 *
 * The leases of an application can be distributed over several hash keys. Those under the n-th key then
 * have the range key P s/SHARD and the hash key APP+n. The letter s instead of l prevents a mix-up: an
 * application whose own name is "APP+n" does not take these rows for its leases.
 *
 * Except for the creation of a row, every write changes only the attributes that it lists. So attributes
 * that a newer version has added survive. The safety of a fleet rests on the conditions of the writes:
 * lease/PROTOCOL.md says what each attribute is and why each condition is there. */
#include "store/schema_sloop.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/num.h"
#include "base/states.h"
#include "core/mark.h"
#include "core/position.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/store.h"

#include <stdio.h>

/* The version of a row's layout. ONE_KEY: all leases are under one hash key. BLOCKS: they are distributed in
 * blocks of neighbouring shards. FORMAT, the newest: they are distributed by hash. A program leaves a row of
 * a newer version as it is. A program that knows only FORMAT_ONE_KEY, for example, would look for distributed
 * leases under the wrong key. */
#define FORMAT_ONE_KEY 1
#define FORMAT_BLOCKS 2
#define FORMAT 3
#define FRESH_KEYS 16u
#define FRESH_BLOCK 512u
#define KEY_MARK '+'
#define KEY_TEXT 12u /* most bytes of KEY_MARK and a number as text */

typedef struct sloop_schema {
  slp_schema base;
  slp_mem *mem; /* the schema holds a reference */
  slp_buf app, prefix;
} sloop_schema;

static sloop_schema *sloop_schema_of(slp_schema *s) { return SLP_OWNER(s, sloop_schema, base); }

static const slp_val none = {SLP_VAL_NONE, {NULL, 0}, NULL, 0};

/* ---- reading ---------------------------------------------------------------------------------------- */

static int cut_prefix(slp_str *s, slp_str with) {
  if (!with.n) return 1; /* s may have no bytes, at NULL */
  if (s->n < with.n || memcmp(s->p, with.p, with.n) != 0) return 0;
  *s = (slp_str){s->p + with.n, s->n - with.n};
  return 1;
}

static uint64_t row_whole_number(const slp_row *row, const char *name, uint64_t otherwise) {
  int64_t n = slp_row_int(row, slp_str_of(name), -1);
  return n < 0 ? otherwise : (uint64_t)n;
}

static slp_str sloop_row_text(const slp_row *row, const char *name) {
  return slp_row_text(row, slp_str_of(name));
}

static void mark_sloop_row_bad(slp_parsed_row *f, const char *why) {
  f->kind = SLP_ROW_BAD;
  f->why = why;
}

/* Returns 1 if the attribute `owner` is a text, or absent. A condition can test only for these two. */
static int owner_is_text(const slp_row *row) {
  slp_val_kind kind = slp_row_get(row, SLP_STR("owner"))->kind;
  return kind == SLP_VAL_S || kind == SLP_VAL_NONE;
}

/* Reads from the row of leadership over how many hash keys the leases are distributed, and how. The result
 * has `keys` 0 if these attributes contradict each other or are out of range. */
static slp_spread read_spread(const slp_row *row) {
  uint64_t keys = row_whole_number(row, "keys", 1), block = row_whole_number(row, "block", 0);
  int by_hash = slp_row_get(row, SLP_STR("block"))->kind == SLP_VAL_NONE;
  if (slp_row_get(row, SLP_STR("keys"))->kind == SLP_VAL_NONE) return (slp_spread){.keys = 1};
  if (keys < 2 || keys > SLP_SPREAD_KEYS_MAX) return (slp_spread){.keys = 0};
  if (by_hash) return (slp_spread){.keys = (uint32_t)keys};
  if (!block || block > UINT32_MAX) return (slp_spread){.keys = 0};
  return (slp_spread){(uint32_t)keys, (uint32_t)block};
}

static uint32_t format_of(const slp_spread *s) {
  if (!slp_is_spread(s)) return FORMAT_ONE_KEY;
  return s->block ? FORMAT_BLOCKS : FORMAT;
}

/* Reads the hold from the row of leadership or from an assignment: whether an operator has ordered that no
 * worker reads (lease/hold.h). The version grows with each change. */
static slp_hold read_hold(const slp_row *row) {
  return (slp_hold){.version = row_whole_number(row, "hv", 0), .on = sloop_row_text(row, "hold").n > 0};
}

/* Returns the version of the hold that the worker obeys. Its row has that version in the attribute
 * `obeys`, as INCARNATION:VERSION. Returns 0 if an earlier incarnation wrote the attribute: a program that
 * does not know holds, and so does not obey them, may have registered over the row. */
static uint64_t obeyed_hold(const slp_row *row, slp_str incarnation) {
  slp_str obeys = sloop_row_text(row, "obeys");
  uint64_t version;
  if (!cut_prefix(&obeys, incarnation) || !cut_prefix(&obeys, SLP_STR(":"))) return 0;
  return slp_parse_u64(obeys, &version) ? 0 : version;
}

static void read_leadership(const slp_row *row, slp_parsed_row *f) {
  slp_leadership_row *l = &f->u.leadership;
  f->kind = SLP_ROW_LEADERSHIP;
  l->owner = sloop_row_text(row, "owner");
  l->epoch = row_whole_number(row, "epoch", UINT64_MAX);
  l->start = slp_pos_read(sloop_row_text(row, "start"));
  l->format = (uint32_t)slp_min_u64(row_whole_number(row, "fmt", 0), UINT32_MAX);
  l->spread = read_spread(row);
  l->hold = read_hold(row);
  l->hold_by = sloop_row_text(row, "hold");
  l->hold_ms = slp_row_int(row, SLP_STR("hold_ts"), -1);
  if (!l->spread.keys) mark_sloop_row_bad(f, "the number of keys of the leases can't be understood");
  if (l->epoch == UINT64_MAX) mark_sloop_row_bad(f, "its epoch is no number");
  if (!owner_is_text(row)) mark_sloop_row_bad(f, "its owner is no text");
  if (l->format > FORMAT) mark_sloop_row_bad(f, "it was written by a newer version");
}

static void read_worker(const sloop_schema *s, const slp_row *row, slp_str id, slp_parsed_row *f) {
  slp_worker_row *w = &f->u.worker;
  f->kind = SLP_ROW_WORKER;
  w->id = id;
  w->incarnation = sloop_row_text(row, "boot");
  w->counter = row_whole_number(row, "ctr", 0);
  w->lease_ms = (uint32_t)slp_min_u64(row_whole_number(row, "lease", 0), UINT32_MAX);
  w->leaving = slp_str_is(sloop_row_text(row, "st"), "leave");
  w->gone = sloop_row_text(row, "gone");
  w->held = (uint32_t)slp_min_u64(row_whole_number(row, "held", 0), UINT32_MAX);
  w->weight = (uint32_t)slp_min_u64(row_whole_number(row, "cap", 1), UINT32_MAX);
  w->changes = row_whole_number(row, "pv", 0);
  w->hold_version = obeyed_hold(row, w->incarnation);
  w->wall_ms = slp_row_int(row, SLP_STR("ts"), -1);
  w->behind_ms = slp_row_int(row, SLP_STR("lag"), -1);
  w->rate_bytes = slp_row_int(row, SLP_STR("rate"), -1);
  w->host = sloop_row_text(row, "host");
  if (!id.n || !w->incarnation.n) mark_sloop_row_bad(f, "it has no boot");
  if (id.n > SLP_WORKER_ID_MAX || w->incarnation.n > SLP_INCARNATION_N)
    mark_sloop_row_bad(f, "its id or boot is too long");
  w->older = row_whole_number(row, "fmt", 0) < format_of(&s->base.spread);
  if (row_whole_number(row, "fmt", 0) > FORMAT) mark_sloop_row_bad(f, "it was written by a newer version");
}

static void read_assignment(const slp_row *row, slp_str id, slp_parsed_row *f) {
  slp_assignment_row *p = &f->u.assignment;
  const slp_val *set = slp_row_get(row, SLP_STR("set")), *plus = slp_row_get(row, SLP_STR("plus"));
  f->kind = SLP_ROW_ASSIGNMENT;
  p->worker = id;
  p->version = row_whole_number(row, "v", 0);
  p->leases = row_whole_number(row, "all", 0);
  p->hold = read_hold(row);
  if (set->kind == SLP_VAL_B) p->set = set->s;
  if (plus->kind == SLP_VAL_SS) {
    p->plus = plus->items;
    p->plus_n = plus->n;
  }
  if (!id.n || id.n > SLP_WORKER_ID_MAX) mark_sloop_row_bad(f, "it names no worker");
}

static void read_lease(const slp_row *row, slp_str shard, slp_parsed_row *f) {
  slp_lease_row *l = &f->u.lease;
  const slp_val *parents = slp_row_get(row, SLP_STR("parents"));
  slp_str range = sloop_row_text(row, "range"), pos = sloop_row_text(row, "pos");
  f->kind = SLP_ROW_LEASE;
  l->shard = shard;
  l->owner = sloop_row_text(row, "owner");
  l->epoch = row_whole_number(row, "epoch", UINT64_MAX);
  l->position = slp_pos_read(pos);
  l->claim = sloop_row_text(row, "claim");
  l->claim_version = row_whole_number(row, "cv", 0);
  for (size_t i = 0; parents->kind == SLP_VAL_SS && i < parents->n && i < 2; i++)
    l->parents[i] = parents->items[i];
  const char *dash = range.n ? memchr(range.p, '-', range.n) : NULL;
  if (dash) {
    l->hash_start = (slp_str){range.p, (size_t)(dash - range.p)};
    l->hash_end = (slp_str){dash + 1, range.n - l->hash_start.n - 1};
  }
  l->avoid = sloop_row_text(row, "avoid");
  l->paused = sloop_row_text(row, "pause").n > 0;
  l->parked = l->paused || sloop_row_text(row, "park").n > 0;
  l->wall_ms = slp_row_int(row, SLP_STR("ts"), -1);
  l->avoid_ms = slp_row_int(row, SLP_STR("avoid_ts"), l->wall_ms);
  l->behind_ms = slp_row_int(row, SLP_STR("lag"), -1);
  l->op = sloop_row_text(row, "op");
  if (!shard.n || shard.n > SLP_SHARD_ID_MAX) mark_sloop_row_bad(f, "it names no shard");
  if (l->parents[0].n > SLP_SHARD_ID_MAX || l->parents[1].n > SLP_SHARD_ID_MAX)
    mark_sloop_row_bad(f, "its parent is no shard");
  if (l->epoch == UINT64_MAX) mark_sloop_row_bad(f, "its epoch is no number");
  if (l->position.kind == SLP_POSITION_NONE) mark_sloop_row_bad(f, "its position can't be understood");
  if (!owner_is_text(row)) mark_sloop_row_bad(f, "its owner is no text");
}

/* ---- which key a lease is under -------------------------------------------------------------------- */

/* Returns the number in a shard id of the form shardId-NUMBER, or shardId-NUMBER-MORE for DynamoDB
 * Streams. */
static uint64_t number_of(slp_str shard) {
  uint64_t n = 0;
  if (!cut_prefix(&shard, SLP_STR("shardId-"))) return 0;
  for (size_t i = 0; i < shard.n && i < 20 && shard.p[i] >= '0' && shard.p[i] <= '9'; i++)
    n = n * 10 + (uint64_t)(shard.p[i] - '0');
  return n;
}

/* Returns the 32-bit FNV-1a hash of s (draft-eastlake-fnv). */
static uint32_t hash_of(slp_str s) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.p[i]) * 16777619u;
  return h;
}

/* Returns the number of the hash key under which the lease of a shard is stored. The number depends only
 * on `spread` and the shard's id, so every program that knows the layout finds the row without a search. */
static uint32_t key_of(const slp_spread *spread, slp_str shard) {
  if (!slp_is_spread(spread)) return 0;
  uint64_t n = spread->block ? number_of(shard) / spread->block : hash_of(shard);
  return (uint32_t)(n % spread->keys);
}

/* Returns 1, and the number n in *ret, if the hash key has the form APP+n. */
static int under_key(const sloop_schema *s, slp_str hash, uint32_t *ret) {
  uint64_t n;
  if (!cut_prefix(&hash, slp_buf_str(&s->app)) || hash.n < 2 || hash.p[0] != KEY_MARK || hash.p[1] == '0')
    return 0;
  if (slp_parse_u64((slp_str){hash.p + 1, hash.n - 1}, &n) || n >= SLP_SPREAD_KEYS_MAX) return 0;
  *ret = (uint32_t)n;
  return 1;
}

static void read_lease_under(const sloop_schema *s, uint32_t n, const slp_row *row, slp_str shard,
                             slp_parsed_row *f) {
  read_lease(row, shard, f);
  if (key_of(&s->base.spread, shard) == n) return;
  mark_sloop_row_bad(f, "it is stored under another key than its name says");
  f->astray = 1;
}

static void read_row(slp_schema *base, const slp_row *row, slp_parsed_row *f) {
  sloop_schema *s = sloop_schema_of(base);
  slp_str name = sloop_row_text(row, "row");
  uint32_t n;
  memset(f, 0, sizeof *f);
  f->key = (slp_row_key){sloop_row_text(row, "app"), name};
  if (!cut_prefix(&name, slp_buf_str(&s->prefix))) return;
  if (!slp_str_eq(f->key.hash, slp_buf_str(&s->app))) {
    if (under_key(s, f->key.hash, &n) && cut_prefix(&name, SLP_STR("s/")))
      read_lease_under(s, n, row, name, f);
  } else if (slp_str_is(name, "lead")) {
    read_leadership(row, f);
  } else if (cut_prefix(&name, SLP_STR("w/"))) {
    read_worker(s, row, name, f);
  } else if (cut_prefix(&name, SLP_STR("a/"))) {
    read_assignment(row, name, f);
  } else if (cut_prefix(&name, SLP_STR("l/"))) {
    read_lease_under(s, 0, row, name, f);
  }
}

/* ---- keys ------------------------------------------------------------------------------------------- */

static int is_lease(slp_operation_kind kind) { return kind >= SLP_OPERATION_CREATE; }

static slp_str partition_key_of(const sloop_schema *s, slp_row_request *d, uint32_t n) {
  if (!n) return slp_buf_str(&s->app);
  slp_str hash = slp_row_request_copy(d, slp_buf_str(&s->app));
  /* this text is written right behind the copy of the name, so together they are one text */
  hash.n += slp_row_request_text(d, "%c%u", KEY_MARK, n).n;
  return hash;
}

static int build_sloop_key(slp_schema *base, slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  sloop_schema *s = sloop_schema_of(base);
  uint32_t n = is_lease(i->kind) ? key_of(&base->spread, i->shard) : 0;
  if (SLP_MUTANT(child_under_first_key) && i->kind == SLP_OPERATION_CREATE && i->parents[0].n) n = 0;
  slp_str hash = partition_key_of(s, d, n), room = slp_row_request_copy(d, slp_buf_str(&s->prefix)), rest;
  if (i->kind == SLP_OPERATION_LEAD || i->kind == SLP_OPERATION_RESIGN || i->kind == SLP_OPERATION_HOLD) {
    rest = slp_row_request_copy(d, SLP_STR("lead"));
  } else if (is_lease(i->kind)) {
    rest = slp_row_request_copy(d, n ? SLP_STR("s/") : SLP_STR("l/"));
    rest.n += slp_row_request_copy(d, i->shard).n;
  } else {
    int assignment = i->kind == SLP_OPERATION_ASSIGN || i->kind == SLP_OPERATION_PROPOSE ||
                     i->kind == SLP_OPERATION_UNASSIGN;
    rest = slp_row_request_copy(d, assignment ? SLP_STR("a/") : SLP_STR("w/"));
    rest.n += slp_row_request_copy(d, i->id).n;
  }
  room.n += rest.n; /* rest is right behind room in memory, so together they are one text */
  *ret = (slp_row_key){hash, room};
  return 0;
}

/* ---- conditions ------------------------------------------------------------------------------------ */

static void when_attr_there(slp_row_request *d, const char *name) {
  slp_row_request_when(d, name, SLP_TEST_THERE, none, 0);
}
static void when_attr_absent(slp_row_request *d, const char *name) {
  slp_row_request_when(d, name, SLP_TEST_ABSENT, none, 0);
}
static void is_text(slp_row_request *d, const char *name, slp_str s) {
  slp_row_request_when(d, name, SLP_TEST_EQ, slp_row_request_s(d, s), 0);
}
static void is_n(slp_row_request *d, const char *name, uint64_t n) {
  slp_row_request_when(d, name, SLP_TEST_EQ, slp_row_request_n(d, n), 0);
}

static slp_val position_value(slp_row_request *d, const slp_position *position) {
  char out[SLP_POS_TEXT];
  return slp_row_request_s(d, (slp_str){out, slp_pos_write(position, out)});
}

/* Adds the condition that this worker owns the row in this epoch. */
static void when_row_is_mine(slp_row_request *d, const slp_operation *i) {
  is_text(d, "owner", i->me);
  is_n(d, "epoch", i->epoch);
}

/* Adds the condition that the row's position is not after i->position. The test compares texts. A number with
 * leading zeros has a longer text, which compares as greater even if the number is smaller. So if the row was
 * read with such a number (i->odd), exactly that text is accepted too. */
static void not_back(slp_row_request *d, const slp_operation *i) {
  slp_position odd = i->odd;
  odd.mark = slp_mark_of_row(&i->odd.mark);
  if (odd.kind) slp_row_request_when(d, "pos", SLP_TEST_EQ, position_value(d, &odd), 1);
  slp_row_request_when(d, "pos", SLP_TEST_LE, position_value(d, &i->position), 0);
}

/* ---- changes --------------------------------------------------------------------------------------- */

static void set_s(slp_row_request *d, const char *name, slp_str s) {
  slp_row_request_change(d, name, SLP_SET, slp_row_request_s(d, s));
}
static void set_n(slp_row_request *d, const char *name, uint64_t n) {
  slp_row_request_change(d, name, SLP_SET, slp_row_request_n(d, n));
}
static void remove_sloop_attr(slp_row_request *d, const char *name) {
  slp_row_request_change(d, name, SLP_REMOVE, none);
}

static void stamp_write(slp_row_request *d, const slp_operation *i) {
  if (i->op.n) set_s(d, "op", i->op);
  if (i->wall_ms > 0) set_n(d, "ts", (uint64_t)i->wall_ms);
}

/* Sets a number that is not known if it is negative. Then removes the old value: together with the new time
 * of the row, it would be taken for what is known now. */
static void set_known(slp_row_request *d, const char *name, int64_t n) {
  if (n >= 0)
    set_n(d, name, (uint64_t)n);
  else
    remove_sloop_attr(d, name);
}

/* Sets the position, and how far the owner is behind the tip of the shard. */
static void move_to(slp_row_request *d, const slp_operation *i) {
  slp_row_request_change(d, "pos", SLP_SET, position_value(d, &i->position));
  set_known(d, "lag", i->behind_ms);
}

static void drop_claim(slp_row_request *d) {
  remove_sloop_attr(d, "claim");
  remove_sloop_attr(d, "cv");
}

static void set_worker_info(slp_row_request *d, const slp_operation *i) {
  set_n(d, "held", i->held);
  set_known(d, "lag", i->behind_ms);
  set_known(d, "rate", i->rate_bytes);
  if (i->wall_ms > 0) set_n(d, "ts", (uint64_t)i->wall_ms);
}

/* ---- workers --------------------------------------------------------------------------------------- */

static void register_worker(const sloop_schema *s, slp_row_request *d, const slp_operation *i) {
  if (i->over_tombstone) {
    /* A registration may replace only the row of an incarnation that is gone, incarnation_before. Otherwise a
     * late copy of an old registration could bring its worker back to life. */
    when_attr_there(d, "gone");
    is_text(d, "boot", i->incarnation_before);
  } else {
    when_attr_absent(d, "boot");
  }
  set_s(d, "boot", i->incarnation);
  set_n(d, "ctr", 1);
  set_n(d, "lease", i->lease_ms);
  set_s(d, "st", SLP_STR("run"));
  set_n(d, "cap", i->weight ? i->weight : 1);
  set_n(d, "fmt", format_of(&s->base.spread));
  if (i->host.n) set_s(d, "host", i->host);
  set_worker_info(d, i);
  remove_sloop_attr(d, "gone");
  remove_sloop_attr(d, "pv");
}

static void build_sloop_heartbeat(const sloop_schema *s, slp_row_request *d, const slp_operation *i) {
  is_text(d, "boot", i->incarnation);
  if (!SLP_MUTANT(evicted_beats_on)) when_attr_absent(d, "gone");
  slp_row_request_when(d, "ctr", SLP_TEST_LT, slp_row_request_n(d, i->counter), 0);
  set_n(d, "ctr", i->counter);
  if (i->tells_format) set_n(d, "fmt", format_of(&s->base.spread));
  if (i->hold.version) {
    slp_str obeys = slp_row_request_copy(d, i->incarnation);
    /* this text is written right behind the copy of the incarnation, so together they are one text */
    obeys.n += slp_row_request_text(d, ":%llu", (unsigned long long)i->hold.version).n;
    slp_row_request_change(d, "obeys", SLP_SET, (slp_val){.kind = SLP_VAL_S, .s = obeys});
  }
  set_worker_info(d, i);
}

static void build_sloop_evict(slp_row_request *d, const slp_operation *i) {
  is_text(d, "boot", i->incarnation);
  when_attr_absent(d, "gone");
  if (i->counter != SLP_ANY_COUNTER) is_n(d, "ctr", i->counter);
  set_s(d, "gone", i->me);
}

static void build_sloop_leave(slp_row_request *d, const slp_operation *i) {
  is_text(d, "boot", i->incarnation);
  when_attr_absent(d, "gone");
  set_s(d, "gone", i->me);
  set_s(d, "st", SLP_STR("leave"));
}

static void build_sloop_notify(slp_row_request *d) {
  when_attr_there(d, "boot");
  when_attr_absent(d, "gone");
  slp_row_request_change(d, "pv", SLP_ADD_N, slp_row_request_n(d, 1));
}

static void build_sloop_reap(slp_row_request *d, const slp_operation *i) {
  d->write->kind = SLP_WRITE_DELETE;
  when_attr_there(d, "gone");
  is_text(d, "boot", i->incarnation);
}

/* ---- leadership and assignments ------------------------------------------------------------------ */

static void build_sloop_lead(slp_row_request *d, const slp_operation *i) {
  if (i->owner.n) {
    is_text(d, "owner", i->owner);
    is_n(d, "epoch", i->epoch);
  } else {
    /* The epoch is tested too: a late copy of an old request may arrive after its sender has resigned. The
     * copy then finds another epoch, and is refused. */
    when_attr_absent(d, "owner");
    if (!i->epoch) slp_row_request_when(d, "epoch", SLP_TEST_ABSENT, none, 1);
    is_n(d, "epoch", i->epoch);
  }
  set_s(d, "owner", i->me);
  set_n(d, "epoch", i->epoch + 1);
  if (i->op.n) set_s(d, "op", i->op);
  slp_row_request_change(d, "start", SLP_SET_IF_ABSENT, position_value(d, &i->start));
  slp_row_request_change(d, "fmt", SLP_SET_IF_ABSENT, slp_row_request_n(d, format_of(&i->spread)));
  if (!slp_is_spread(&i->spread)) return;
  when_attr_absent(
      d, "fmt"); /* if the row has a format already, it says where the leases are, so it must stay */
  set_n(d, "keys", i->spread.keys);
  if (i->spread.block) set_n(d, "block", i->spread.block);
}

static void build_sloop_resign(slp_row_request *d, const slp_operation *i) {
  when_row_is_mine(d, i);
  remove_sloop_attr(d, "owner");
}

/* Switches the hold, an operator's order that no worker reads, on or off (lease/hold.h). The conditions:
 * the row exists, and the hold in it has the version that was read. */
static void build_sloop_hold(slp_row_request *d, const slp_operation *i) {
  when_attr_there(d, "epoch");
  if (i->hold.version)
    is_n(d, "hv", i->hold.version);
  else
    when_attr_absent(d, "hv");
  set_n(d, "hv", i->version);
  if (i->wall_ms > 0) set_n(d, "hold_ts", (uint64_t)i->wall_ms);
  if (i->hold.on)
    set_s(d, "hold", i->me);
  else
    remove_sloop_attr(d, "hold");
}

static void build_sloop_assign(slp_row_request *d, const slp_operation *i) {
  slp_row_request_when(d, "v", SLP_TEST_ABSENT, none, 1);
  slp_row_request_when(d, "v", SLP_TEST_LT, slp_row_request_n(d, i->version), 0);
  set_n(d, "v", i->version);
  if (i->leases) set_n(d, "all", i->leases);
  if (i->hold.version) set_n(d, "hv", i->hold.version);
  if (i->hold.on)
    set_s(d, "hold", i->me);
  else if (i->hold.version)
    remove_sloop_attr(d, "hold");
  slp_row_request_change(d, "set", SLP_SET,
                         (slp_val){.kind = SLP_VAL_B, .s = slp_row_request_copy(d, i->set)});
  if (i->shards_n)
    slp_row_request_change(d, "plus", SLP_DROP_SS, slp_row_request_set(d, i->shards, i->shards_n));
}

static void build_sloop_propose(slp_row_request *d, const slp_operation *i) {
  slp_row_request_change(d, "plus", SLP_ADD_SS, slp_row_request_set(d, i->shards, i->shards_n));
}

/* ---- leases ---------------------------------------------------------------------------------------- */

static void build_sloop_create(slp_row_request *d, const slp_operation *i) {
  slp_str parents[2];
  size_t n = 0;
  d->write->kind = SLP_WRITE_PUT;
  when_attr_absent(d, "row"); /* is refused if the row exists, whatever attributes it has */
  set_n(d, "epoch", i->epoch_first + i->owns);
  if (i->owns) set_s(d, "owner", i->me);
  if (i->owns) stamp_write(d, i);
  slp_row_request_change(d, "pos", SLP_SET, position_value(d, &i->position));
  for (int k = 0; k < 2; k++)
    if (i->parents[k].n) parents[n++] = i->parents[k];
  if (n) slp_row_request_change(d, "parents", SLP_SET, slp_row_request_set(d, parents, n));
  if (i->hash_start.n) { /* the hash keys come from the service, so they may be of any length */
    slp_str range = slp_row_request_copy(d, i->hash_start);
    range.n += slp_row_request_copy(d, SLP_STR("-")).n;
    /* the three copies are next to each other in memory, so together they are one text */
    range.n += slp_row_request_copy(d, i->hash_end).n;
    set_s(d, "range", range);
  }
  if (i->seq_start.n) set_s(d, "first", i->seq_start);
}

/* Takes a lease that has no owner and whose shard has not ended, or a lease whose owner is known to be
 * evicted. */
static void build_sloop_take(slp_row_request *d, const slp_operation *i) {
  if (i->owner.n) {
    is_text(d, "owner", i->owner);
    is_n(d, "epoch", i->epoch);
  } else {
    when_attr_absent(d, "owner");
    if (!SLP_MUTANT(free_take_unseen)) is_n(d, "epoch", i->epoch);
    slp_row_request_when(d, "pos", SLP_TEST_NE, slp_row_request_s(d, SLP_STR("9:end")), 0);
  }
  set_s(d, "owner", i->me);
  set_n(d, "epoch", i->epoch + 1);
  stamp_write(d, i);
  drop_claim(d);
}

static void build_sloop_retake(slp_row_request *d, const slp_operation *i) {
  if (!SLP_MUTANT(retake_doubles)) when_row_is_mine(d, i);
  set_n(d, "epoch", i->epoch + 1);
  stamp_write(d, i);
  drop_claim(d);
}

static void build_sloop_checkpoint(slp_row_request *d, const slp_operation *i) {
  if (!SLP_MUTANT(save_unfenced)) when_row_is_mine(d, i);
  not_back(d, i);
  move_to(d, i);
  stamp_write(d, i);
}

static void build_sloop_claim(slp_row_request *d, const slp_operation *i) {
  is_text(d, "owner", i->owner);
  is_n(d, "epoch", i->epoch);
  slp_row_request_when(d, "claim", SLP_TEST_ABSENT, none, 1);
  slp_row_request_when(d, "cv", SLP_TEST_LT, slp_row_request_n(d, i->version), 0);
  set_s(d, "claim", i->me);
  set_n(d, "cv", i->version);
}

static void build_sloop_transfer(slp_row_request *d, const slp_operation *i) {
  when_row_is_mine(d, i);
  is_text(d, "claim", i->to);
  not_back(d, i);
  set_s(d, "owner", i->to);
  if (!SLP_MUTANT(hand_over_same_epoch)) set_n(d, "epoch", i->epoch + 1);
  move_to(d, i);
  stamp_write(d, i);
  drop_claim(d);
}

/* Marks the row, so that this worker does not get the lease back soon. `avoid_ts` is the time of this
 * mark; the row's time `ts` would not do, because the next owner's writes change it. */
static void mark_to_avoid_me(slp_row_request *d, const slp_operation *i) {
  set_s(d, "avoid", i->me);
  if (i->wall_ms > 0)
    set_n(d, "avoid_ts", (uint64_t)i->wall_ms);
  else
    remove_sloop_attr(d, "avoid_ts");
}

static void build_sloop_release(slp_row_request *d, const slp_operation *i) {
  if (!SLP_MUTANT(release_unfenced)) when_row_is_mine(d, i);
  not_back(d, i);
  move_to(d, i);
  stamp_write(d, i);
  if (i->avoid_me) mark_to_avoid_me(d, i);
  if (i->park) set_s(d, "park", i->me);
  remove_sloop_attr(d, "owner");
  drop_claim(d);
}

static void end_shard(slp_row_request *d, const slp_operation *i) {
  slp_val end = slp_row_request_s(d, SLP_STR("9:end"));
  when_row_is_mine(d, i);
  slp_row_request_when(d, "pos", SLP_TEST_LT, end, 0);
  slp_row_request_change(d, "pos", SLP_SET, end);
  if (i->shards_n) slp_row_request_change(d, "kids", SLP_SET, slp_row_request_set(d, i->shards, i->shards_n));
  stamp_write(d, i);
  remove_sloop_attr(d, "lag");
  remove_sloop_attr(d, "owner");
  drop_claim(d);
}

static void remove_ended(slp_row_request *d) {
  d->write->kind = SLP_WRITE_DELETE;
  slp_row_request_when(d, "pos", SLP_TEST_EQ, slp_row_request_s(d, SLP_STR("9:end")), 0);
  when_attr_absent(d, "owner");
}

/* Adds the condition that the position is still the one that was read, because the operator is told which
 * position the reset has replaced. An evicted owner may save positions until it learns of its eviction. */
static void as_read(slp_row_request *d, const slp_operation *i) {
  slp_operation read = {.position = i->odd};
  if (i->odd.mark.row_n) read.odd = i->odd;
  if (i->odd.kind && !SLP_MUTANT(reset_unfenced)) not_back(d, &read);
}

/* Resets a lease for an operator. If the reset is forced, the owner was evicted just before. If no new
 * position is given, the stored one stays. */
static void build_sloop_reset(slp_row_request *d, const slp_operation *i) {
  if (i->owner.n) {
    is_text(d, "owner", i->owner);
  } else {
    when_attr_absent(d, "owner");
  }
  is_n(d, "epoch", i->epoch);
  as_read(d, i);
  if (i->position.kind != SLP_POSITION_NONE) {
    slp_row_request_change(d, "pos", SLP_SET, position_value(d, &i->position));
    remove_sloop_attr(d, "lag");
  }
  set_n(d, "epoch", i->epoch + 1);
  stamp_write(d, i);
  remove_sloop_attr(d, "owner");
  drop_claim(d);
  remove_sloop_attr(d, "park");
  remove_sloop_attr(d, "pause");
  remove_sloop_attr(d, "avoid");
  remove_sloop_attr(d, "avoid_ts");
}

/* With hold.on 1, marks the lease of a shard as paused, so that no worker reads the shard. Otherwise removes
 * the marks `pause` and `park`. The owner keeps the lease until it has read the row. A free lease gets
 * another epoch, so that no TAKE succeeds that was decided before. */
static void pause_shard(slp_row_request *d, const slp_operation *i) {
  if (i->owner.n)
    is_text(d, "owner", i->owner);
  else
    when_attr_absent(d, "owner");
  is_n(d, "epoch", i->epoch);
  slp_row_request_when(d, "pos", SLP_TEST_NE, slp_row_request_s(d, SLP_STR("9:end")), 0);
  if (i->hold.on) {
    set_s(d, "pause", i->me);
    if (!i->owner.n) set_n(d, "epoch", i->epoch + 1);
  } else {
    remove_sloop_attr(d, "pause");
    remove_sloop_attr(d, "park");
  }
}

/* ---- the table of operations ------------------------------------------------------------------------- */

static size_t text_bytes(const sloop_schema *s, const slp_operation *i) {
  size_t n = 2048 + s->app.n + KEY_TEXT + s->prefix.n + i->set.n;
  const slp_str *all[] = {
      &i->me, &i->id, &i->incarnation, &i->incarnation_before, &i->host,       &i->shard,    &i->owner,
      &i->to, &i->op, &i->parents[0],  &i->parents[1],         &i->hash_start, &i->hash_end, &i->seq_start};
  /* 2 *: each text may be copied twice, into a condition and into a change */
  for (size_t k = 0; k < SLP_COUNT(all); k++) n += 2 * all[k]->n;
  for (size_t k = 0; k < i->shards_n; k++) n += i->shards[k].n;
  return n;
}

static int write_operation(slp_schema *base, slp_row_request *d, const slp_operation *i) {
  sloop_schema *s = sloop_schema_of(base);
  if (slp_row_request_begin(d, SLP_WRITE_UPDATE, text_bytes(s, i), i->shards_n + 2)) return SLP_ENOMEM;
  build_sloop_key(base, d, i, &d->write->key);
  switch (i->kind) {
    case SLP_OPERATION_REGISTER: register_worker(s, d, i); return 0;
    case SLP_OPERATION_HEARTBEAT: build_sloop_heartbeat(s, d, i); return 0;
    case SLP_OPERATION_EVICT: build_sloop_evict(d, i); return 0;
    case SLP_OPERATION_LEAVE: build_sloop_leave(d, i); return 0;
    case SLP_OPERATION_NOTIFY: build_sloop_notify(d); return 0;
    case SLP_OPERATION_REAP: build_sloop_reap(d, i); return 0;
    case SLP_OPERATION_LEAD: build_sloop_lead(d, i); return 0;
    case SLP_OPERATION_RESIGN: build_sloop_resign(d, i); return 0;
    case SLP_OPERATION_HOLD: build_sloop_hold(d, i); return 0;
    case SLP_OPERATION_ASSIGN: build_sloop_assign(d, i); return 0;
    case SLP_OPERATION_PROPOSE: build_sloop_propose(d, i); return 0;
    case SLP_OPERATION_UNASSIGN: d->write->kind = SLP_WRITE_DELETE; return 0;
    case SLP_OPERATION_CREATE: build_sloop_create(d, i); return 0;
    case SLP_OPERATION_TAKE: build_sloop_take(d, i); return 0;
    case SLP_OPERATION_RETAKE: build_sloop_retake(d, i); return 0;
    case SLP_OPERATION_CHECKPOINT: build_sloop_checkpoint(d, i); return 0;
    case SLP_OPERATION_CLAIM: build_sloop_claim(d, i); return 0;
    case SLP_OPERATION_TRANSFER: build_sloop_transfer(d, i); return 0;
    case SLP_OPERATION_RELEASE: build_sloop_release(d, i); return 0;
    case SLP_OPERATION_END: end_shard(d, i); return 0;
    case SLP_OPERATION_REMOVE: remove_ended(d); return 0;
    case SLP_OPERATION_RESET: build_sloop_reset(d, i); return 0;
    case SLP_OPERATION_PAUSE: pause_shard(d, i); return 0;
    case SLP_OPERATIONS: break;
  }
  return SLP_EINVAL;
}

static int row_key(slp_schema *base, slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  if (slp_row_request_begin(d, SLP_WRITE_UPDATE, text_bytes(sloop_schema_of(base), i), 0)) return SLP_ENOMEM;
  return build_sloop_key(base, d, i, ret);
}

/* ---- the schema ------------------------------------------------------------------------------------ */

static void describe_sloop_table(slp_schema *s, const char *name, slp_table_spec *ret) {
  (void)s;
  *ret = (slp_table_spec){name, "app", "row"};
}

static void set_sloop_scope(slp_schema *base, slp_str *ret_hash, slp_str *ret_prefix) {
  *ret_hash = slp_buf_str(&sloop_schema_of(base)->app);
  *ret_prefix = slp_buf_str(&sloop_schema_of(base)->prefix);
}

/* Returns the prefix of range keys up to the @ before the generation, including the @. (No stream's name has
 * an @ in it.) */
static slp_str name_part(const sloop_schema *s) {
  slp_str prefix = slp_buf_str(&s->prefix);
  const char *at = memchr(prefix.p, '@', prefix.n);
  return (slp_str){prefix.p, at ? (size_t)(at + 1 - prefix.p) : prefix.n};
}

static void set_former_scope(slp_schema *base, slp_str *ret_hash, slp_str *ret_prefix) {
  *ret_hash = slp_buf_str(&sloop_schema_of(base)->app);
  *ret_prefix = name_part(sloop_schema_of(base));
}

/* Looks for rows of an earlier stream with the same name, so that the user is told of them. Such rows are
 * never taken for rows of this stream, because range keys have the stream and its generation. */
static void find_former_rows(slp_schema *base, const slp_store_rows *rows, slp_table_form *ret) {
  const sloop_schema *s = sloop_schema_of(base);
  size_t n = 0;
  slp_str first = {NULL, 0};
  ret->refused[0] = ret->passed[0] = 0;
  for (size_t i = 0; i < rows->n; i++) {
    slp_str name = sloop_row_text(&rows->rows[i], "row"), rest = name;
    if (cut_prefix(&rest, slp_buf_str(&s->prefix)) || !cut_prefix(&rest, name_part(s))) continue;
    if (!n++) first = name;
  }
  if (n)
    snprintf(
        ret->passed, sizeof ret->passed,
        "rows of an earlier stream of this name are ignored (%zu, as %.*s): nothing of them is continued", n,
        (int)slp_min_u64(first.n, 90), first.p);
}

static int lease_key(slp_schema *base, uint32_t n, slp_buf *room, slp_row_key *ret) {
  const sloop_schema *s = sloop_schema_of(base);
  size_t at = room->n, hash_n;
  int r = slp_buf_add_str(room, slp_buf_str(&s->app)) || slp_buf_addf(room, "%c%u", KEY_MARK, n);
  hash_n = room->n - at;
  r = r || slp_buf_add_str(room, slp_buf_str(&s->prefix)) || slp_buf_add_str(room, SLP_STR("s/"));
  *ret = (slp_row_key){{room->p + at, hash_n}, {room->p + at + hash_n, room->n - at - hash_n}};
  return r ? SLP_ENOMEM : 0;
}

static uint32_t lease_key_of(const slp_schema *s, slp_str shard) { return key_of(&s->spread, shard); }

static void schema_free(slp_schema *base) {
  sloop_schema *s = sloop_schema_of(base);
  slp_mem *mem = s->mem;
  slp_buf_free(&s->app);
  slp_buf_free(&s->prefix);
  slp_free(mem, s);
  slp_mem_drop(mem);
}

slp_schema *slp_schema_sloop(slp_mem *mem, slp_str app, slp_str stream, slp_str generation) {
  sloop_schema *s = SLP_NEW(mem, sloop_schema);
  if (!s) return NULL;
  s->mem = slp_mem_hold(mem);
  s->base = (slp_schema){
      .name = "sloop",
      .refused = "refused",
      .clear = "clear",
      .idle_places = 1,
      .operations = SLP_BIT(SLP_OPERATIONS) - 1,
      .table = describe_sloop_table,
      .scope = set_sloop_scope,
      .former = set_former_scope,
      .lease_key = lease_key,
      .form = find_former_rows,
      .lease_key_of = lease_key_of,
      .read = read_row,
      .key = row_key,
      .write = write_operation,
      .free = schema_free,
  };
  slp_buf_init(&s->app, mem, 2048);
  slp_buf_init(&s->prefix, mem, 1024);
  int failed = slp_buf_add_str(&s->app, app) || slp_buf_add_str(&s->prefix, stream) ||
               slp_buf_add_char(&s->prefix, '@') || slp_buf_add_str(&s->prefix, generation) ||
               slp_buf_add_char(&s->prefix, '/');
  if (!failed) return &s->base;
  schema_free(&s->base);
  return NULL;
}

void slp_schema_sloop_spreads(slp_schema *s, uint32_t block) {
  s->fresh = (slp_spread){FRESH_KEYS, block ? block : FRESH_BLOCK};
}

void slp_schema_sloop_spreads_by_hash(slp_schema *s) {
  s->fresh = (slp_spread){.keys = FRESH_KEYS};
  s->fresh_before = (slp_spread){FRESH_KEYS, FRESH_BLOCK};
}

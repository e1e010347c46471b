/* schema_motorway.c - the control table of motorway's Kinesis ramp, as motorway's workers read and write it.
 * Each stream has one table, with key shard_id and one row for each shard. A worker is known by the leases
 * that name it.
 *
 *   - A lease belongs to its owner as long as the owner raises the number in `heartbeat`, which is called
 *     the tick here. An owner of motorway begins again with the tick 0.
 *   - The tick is the lease's epoch. When a worker of sloop takes a lease, it writes a tick that is
 *     greater than every tick that it ever wrote. So the condition of a late copy of an old write never
 *     holds again.
 *   - A motorway program needs worker_id, heartbeat and checkpoint in each row, or all its threads end. So
 *     a free lease has the worker_id "nobody".
 *   - A motorway program writes rows back as it read them, including attributes that it does not know. So
 *     attributes that begin with sloop_ survive. They store what motorway's own attributes can't express.
 *   - A motorway program reads the record at the checkpoint again. That record is the oldest one that is
 *     not done, or the last one that is done.
 *   - The checkpoint 0, a number, says that nothing is saved. motorway begins such a lease at the latest
 *     record. So if a shard is to be read from its beginning, its checkpoint is the sequence number with
 *     which the shard starts. */
#include "base/mem.h"
#include "base/num.h"
#include "base/states.h"
#include "core/mark.h"
#include "core/position.h"
#include "guest/attrs.h"
#include "guest/guest_operations.h"
#include "guest/guest_schemas.h"
#include "guest/other_stream.h"
#include "guest/shard_rows.h"
#include "guest/strategies.h"
#include "lease/instance.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/store.h"

/* the attribute that remembers a position that the service refuses (lease/refused.c) */
#define REFUSED "sloop_refused"
#define KEY "shard_id"
#define OWNER "worker_id"
#define TICK "heartbeat"
#define CHECKPOINT "checkpoint"
/* If equal to CHECKPOINT: the record at the checkpoint is done. If ENDED: the shard was read to its end. */
#define DONE "sloop_done"
/* If equal to CHECKPOINT: the checkpoint is the number with which the shard begins, and not that of a
 * record. */
#define OLDEST "sloop_oldest"
#define PARENTS "sloop_parents"
#define TAKEN "sloop_taken" /* the owner's name, until the owner has saved a position */
#define ENDED "SHARD_END"
#define NOBODY "nobody"

typedef struct motorway_schema {
  slp_schema base;
  slp_mem *mem;       /* the schema holds a reference to it */
  slp_position start; /* where reading begins if a row has no saved position */
} motorway_schema;

static motorway_schema *motorway_schema_of(slp_schema *s) { return SLP_OWNER(s, motorway_schema, base); }

/* ---- reading ---------------------------------------------------------------------------------------- */

static slp_position at_record(slp_position_kind kind, slp_str seq) {
  slp_position position = {.kind = SLP_POSITION_NONE};
  if (seq.n > SLP_SEQ_MAX || !slp_num_valid(seq)) return position;
  position.kind = kind;
  slp_mark_set(&position.mark, seq, kind == SLP_POSITION_AFTER ? UINT32_MAX : 0, -1);
  return position;
}

static slp_position read_position(const motorway_schema *s, const slp_row *row, int has_parent) {
  slp_str at = slp_attr_text(row, CHECKPOINT), done = slp_attr_text(row, DONE);
  const slp_val *v = slp_attr_of(row, CHECKPOINT);
  uint64_t number = 0;
  if (slp_str_is(done, ENDED)) return (slp_position){.kind = SLP_POSITION_END};
  if (v->kind == SLP_VAL_N && (slp_parse_u64(v->s, &number) || number))
    return (slp_position){.kind = SLP_POSITION_NONE};
  if (!at.n) return slp_begin_of_row(&s->start, has_parent);
  if (slp_str_eq(at, slp_attr_text(row, OLDEST))) return (slp_position){.kind = SLP_POSITION_OLDEST};
  return at_record(slp_str_eq(at, done) ? SLP_POSITION_AFTER : SLP_POSITION_AT, at);
}

static void read_parents(const slp_row *row, slp_lease_row *l) {
  const slp_val *v = slp_attr_of(row, PARENTS);
  for (size_t k = 0; v->kind == SLP_VAL_SS && k < v->n && k < 2; k++) l->parents[k] = v->items[k];
}

static const char *wrong_type(const slp_row *row) {
  slp_val_kind checkpoint = slp_attr_of(row, CHECKPOINT)->kind, parents = slp_attr_of(row, PARENTS)->kind;
  if (slp_attr_of(row, OWNER)->kind != SLP_VAL_S) return "its " OWNER " is no text";
  if (slp_attr_of(row, TICK)->kind != SLP_VAL_N) return "its " TICK " is no number";
  if (checkpoint != SLP_VAL_S && checkpoint != SLP_VAL_N) return "its " CHECKPOINT " is neither text nor 0";
  if (!slp_attr_may_be_text(row, DONE)) return "its " DONE " is no text";
  if (!slp_attr_may_be_text(row, OLDEST)) return "its " OLDEST " is no text";
  if (!slp_attr_may_be_text(row, TAKEN)) return "its " TAKEN " is no text";
  if (parents != SLP_VAL_SS && parents != SLP_VAL_NONE) return "its " PARENTS " is no set of texts";
  return NULL;
}

static const char *wrong_value(const slp_lease_row *l) {
  if (l->shard.n > SLP_SHARD_ID_MAX) return "it names no shard";
  if (l->owner.n > SLP_NAME_MAX) return "its " OWNER " is too long a name";
  if (l->parents[0].n > SLP_SHARD_ID_MAX || l->parents[1].n > SLP_SHARD_ID_MAX)
    return "its " PARENTS " name no shards";
  if (l->position.kind == SLP_POSITION_NONE) return "its " CHECKPOINT " can't be understood";
  return NULL;
}

static void read_row(slp_schema *base, const slp_row *row, slp_parsed_row *f) {
  slp_lease_row *l = &f->u.lease;
  memset(f, 0, sizeof *f);
  f->key = (slp_row_key){slp_attr_text(row, KEY), {NULL, 0}};
  if (!f->key.hash.n) return;
  l->shard = f->key.hash;
  if (slp_attr_is_absent(row, OWNER) || slp_attr_is_absent(row, TICK) ||
      slp_attr_is_absent(row, CHECKPOINT)) {
    f->kind = SLP_ROW_BAD;
    f->foreign = 1;
    f->why = "it has not all of " OWNER ", " TICK " and " CHECKPOINT ", as each row of motorway's has";
    return;
  }
  l->owner = slp_attr_text(row, OWNER);
  if (!l->owner.n || slp_str_is(l->owner, NOBODY)) l->owner = (slp_str){NULL, 0};
  l->unsaved = l->owner.n && slp_str_eq(l->owner, slp_attr_text(row, TAKEN));
  read_parents(row, l);
  l->position = read_position(motorway_schema_of(base), row, l->parents[0].n > 0);
  l->begin_untold =
      l->position.kind < SLP_POSITION_END && !slp_attr_text(row, CHECKPOINT).n && !l->parents[0].n;
  l->wall_ms = l->behind_ms = l->rate_bytes = -1;
  f->why = wrong_type(row);
  if (!f->why && slp_parse_u64(slp_attr_of(row, TICK)->s, &l->epoch)) f->why = "its " TICK " is no tick";
  if (!f->why) f->why = wrong_value(l);
  f->kind = f->why ? SLP_ROW_BAD : SLP_ROW_LEASE;
}

/* ---- conditions and changes ------------------------------------------------------------------------- */

static void when_owner(slp_row_request *d, slp_str owner, uint64_t tick) {
  if (owner.n) {
    slp_when_text(d, OWNER, owner);
  } else {
    slp_row_request_when(d, OWNER, SLP_TEST_EQ, slp_row_request_s(d, SLP_STR(NOBODY)), 1);
    slp_when_text(d, OWNER, SLP_STR(""));
  }
  slp_when_number(d, TICK, tick);
}

static void when_not_ended(slp_row_request *d) {
  slp_row_request_when(d, DONE, SLP_TEST_NE, slp_row_request_s(d, SLP_STR(ENDED)), 0);
}

static void set_next_tick(slp_row_request *d, const slp_operation *i) {
  slp_set_number(d, TICK, slp_epoch_after(i));
}

static void set_place(slp_row_request *d, slp_str at, slp_str done) {
  slp_set_text(d, CHECKPOINT, at);
  if (done.n)
    slp_set_text(d, DONE, done);
  else
    slp_drop(d, DONE);
  slp_drop(d, OLDEST);
}

static void set_beginning(slp_row_request *d, slp_str seq_start) {
  if (seq_start.n) {
    slp_set_text(d, CHECKPOINT, seq_start);
    slp_set_text(d, OLDEST, seq_start);
  } else {
    slp_set_number(d, CHECKPOINT, 0);
    slp_drop(d, OLDEST);
  }
  slp_drop(d, DONE);
}

static void set_position(slp_row_request *d, const slp_operation *i) {
  const slp_position *p = &i->position;
  slp_str seq = slp_mark_seq(&p->mark), none = {NULL, 0};
  switch (p->kind) {
    case SLP_POSITION_AFTER: set_place(d, seq, seq); break;
    case SLP_POSITION_AT: set_place(d, seq, none); break;
    case SLP_POSITION_END:
      if (i->kind == SLP_OPERATION_CREATE) slp_set_number(d, CHECKPOINT, 0);
      slp_set_text(d, DONE, SLP_STR(ENDED));
      break;
    default: set_beginning(d, p->kind == SLP_POSITION_OLDEST ? i->seq_start : none);
  }
}

/* Returns 1 if a row can hold the position. A start position can be held in two cases: the sequence number
 * with which the shard begins is known; or rows without a saved position begin at that position anyway
 * (s->start). */
static int can_say(const motorway_schema *s, const slp_operation *i) {
  const slp_position *p = &i->position;
  int is_child = i->kind == SLP_OPERATION_CREATE && i->parents[0].n;
  switch (p->kind) {
    case SLP_POSITION_END: return 1;
    case SLP_POSITION_AFTER: return p->mark.sub == UINT32_MAX;
    case SLP_POSITION_AT: return !p->mark.sub;
    case SLP_POSITION_TIME: return s->start.kind == SLP_POSITION_TIME && s->start.at_ms == p->at_ms;
    case SLP_POSITION_OLDEST: return i->seq_start.n || s->start.kind == SLP_POSITION_OLDEST || is_child;
    case SLP_POSITION_LATEST: return s->start.kind == SLP_POSITION_LATEST;
    default: return 0;
  }
}

/* ---- operations -------------------------------------------------------------------------------------- */

/* Creates the row. If reading begins at the latest record, leaves PARENTS out, because a row with parents is
 * read from its oldest record. */
static void build_motorway_create(slp_row_request *d, const slp_operation *i) {
  slp_str parents[2];
  size_t n = 0;
  for (int k = 0; k < 2; k++)
    if (i->parents[k].n) parents[n++] = i->parents[k];
  d->write->kind = SLP_WRITE_PUT;
  slp_when_absent(d, KEY);
  slp_set_text(d, OWNER, SLP_STR(NOBODY));
  slp_set_number(d, TICK, i->epoch_first);
  set_position(d, i);
  if (n && i->position.kind != SLP_POSITION_LATEST)
    slp_row_request_change(d, PARENTS, SLP_SET, slp_row_request_set(d, parents, n));
}

static void build_motorway_take(slp_row_request *d, const slp_operation *i) {
  when_owner(d, i->owner, i->epoch);
  when_not_ended(d);
  slp_set_text(d, OWNER, i->me);
  slp_set_text(d, TAKEN, i->me);
  set_next_tick(d, i);
}

static void build_motorway_renew(slp_row_request *d, const slp_operation *i) {
  when_owner(d, i->me, i->epoch);
  set_next_tick(d, i);
}

static void build_motorway_checkpoint(slp_row_request *d, const slp_operation *i) {
  build_motorway_renew(d, i);
  set_position(d, i);
  slp_drop(d, TAKEN);
}

/* Gives the lease up by setting the owner to "nobody". motorway has no sign for a free lease: it takes a
 * lease whose tick does not change any more. */
static void build_motorway_release(slp_row_request *d, const slp_operation *i) {
  build_motorway_renew(d, i);
  if (i->position.kind == SLP_POSITION_AFTER) set_position(d, i);
  slp_set_text(d, OWNER, SLP_STR(NOBODY));
  slp_drop(d, TAKEN);
}

/* Sets the shard's end, with the last record as the checkpoint. A motorway program will take the lease again,
 * read the record at the checkpoint and what follows, and then end the shard's thread. */
static void build_motorway_end(slp_row_request *d, const slp_operation *i) {
  slp_str last = slp_mark_seq(&i->position.mark);
  build_motorway_renew(d, i);
  if (last.n) slp_set_text(d, CHECKPOINT, last);
  slp_drop(d, OLDEST);
  slp_set_text(d, DONE, SLP_STR(ENDED));
  slp_set_text(d, OWNER, SLP_STR(NOBODY));
  slp_drop(d, TAKEN);
}

static void remove_ended(slp_row_request *d) {
  d->write->kind = SLP_WRITE_DELETE;
  slp_when_text(d, DONE, SLP_STR(ENDED));
}

/* Sets the position for an operator. The former owner's next write is refused, because the row does not have
 * its name any more. */
static void build_motorway_reset(slp_row_request *d, const slp_operation *i) {
  when_owner(d, i->owner, i->epoch);
  if (i->position.kind != SLP_POSITION_NONE) set_position(d, i);
  slp_set_text(d, OWNER, SLP_STR(NOBODY));
  slp_drop(d, TAKEN);
  set_next_tick(d, i);
}

static size_t text_bytes(const slp_operation *i) {
  return 1024 + 2 * i->me.n + i->owner.n + 2 * i->shard.n + i->parents[0].n + i->parents[1].n +
         2 * i->seq_start.n + 2 * SLP_SEQ_MAX;
}

static int row_key(slp_schema *base, slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  (void)base;
  return slp_shard_row_begin(d, i, text_bytes(i), 2, ret);
}

static const slp_set operations =
    SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_TAKE) | SLP_BIT(SLP_OPERATION_RETAKE) |
    SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RELEASE) | SLP_BIT(SLP_OPERATION_END) |
    SLP_BIT(SLP_OPERATION_REMOVE) | SLP_BIT(SLP_OPERATION_RESET) | SLP_BIT(SLP_GUEST_RENEW);
#define PLACES \
  (SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RESET))

/* Returns 1 if the operation writes a position. */
static int says_place(const slp_operation *i) {
  return slp_set_has(PLACES, i->kind) &&
         !(i->kind == SLP_OPERATION_RESET && i->position.kind == SLP_POSITION_NONE);
}

static int write_operation(slp_schema *base, slp_row_request *d, const slp_operation *i) {
  if (!slp_set_has(operations, i->kind) || (says_place(i) && !can_say(motorway_schema_of(base), i)))
    return SLP_EINVAL;
  if (slp_shard_row_begin(d, i, text_bytes(i), 2, &d->write->key)) return SLP_ENOMEM;
  switch ((unsigned)i->kind) {
    case SLP_OPERATION_CREATE: build_motorway_create(d, i); return 0;
    case SLP_OPERATION_TAKE: build_motorway_take(d, i); return 0;
    case SLP_OPERATION_RETAKE:
    case SLP_GUEST_RENEW: build_motorway_renew(d, i); return 0;
    case SLP_OPERATION_CHECKPOINT: build_motorway_checkpoint(d, i); return 0;
    case SLP_OPERATION_RELEASE: build_motorway_release(d, i); return 0;
    case SLP_OPERATION_END: build_motorway_end(d, i); return 0;
    case SLP_OPERATION_REMOVE: remove_ended(d); return 0;
    case SLP_OPERATION_RESET: build_motorway_reset(d, i); return 0;
    default: return SLP_EINVAL;
  }
}

/* ---- the schema ------------------------------------------------------------------------------------- */

static void describe_motorway_table(slp_schema *s, const char *name, slp_table_spec *ret) {
  (void)s;
  *ret = (slp_table_spec){name, KEY, NULL, 0};
}

static void schema_free(slp_schema *base) {
  motorway_schema *s = motorway_schema_of(base);
  slp_mem *mem = s->mem;
  slp_free(mem, s);
  slp_mem_drop(mem);
}

slp_schema *slp_schema_motorway(slp_mem *mem, const slp_position *start) {
  motorway_schema *s = SLP_NEW(mem, motorway_schema);
  if (!s) return NULL;
  s->mem = slp_mem_hold(mem);
  s->start = slp_start_of_rows(start);
  s->base = (slp_schema){
      .name = "motorway",
      .refused = REFUSED,
      .strategy = &slp_strategy_motorway.base,
      .whole_records = 1,
      .operations = operations,
      .table = describe_motorway_table,
      .scope = slp_scope_whole_table,
      .is_other_streams = slp_other_stream_is,
      .read = read_row,
      .key = row_key,
      .write = write_operation,
      .free = schema_free,
  };
  return &s->base;
}

/* schema_kcl_rb.c - the table of kcl-rb (Ruby), as a worker of kcl-rb reads and writes it. The table is of
 * one stream. Its key is shard_id, and it has one row for each shard.
 *
 *   - A worker of kcl-rb can share with no other worker. It takes another worker's lease while the lease's
 *     time has not run out, and ends with an exception when the time has run out. It leaves alone only the
 *     rows with the checkpoint SHARD_END.
 *   - So a worker of sloop parks its lease, which in this file means that it hides the lease from kcl-rb: it
 *     sets CHECKPOINT to SHARD_END, and removes OWNER. The real owner, counter and checkpoint are in
 *     attributes that begin with sloop_.
 *   - When the lease is given up, its row gets the form that kcl-rb writes, and a worker of kcl-rb can
 *     continue from there. kcl-rb writes whole rows, and so erases the attributes that begin with sloop_. A
 *     free lease needs one of them only if reading begins at a place for which kcl-rb has no word.
 *   - The epoch is the counter. While a worker of kcl-rb has the lease, the epoch is the time in seconds
 *     at which the lease runs out. */
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
#include "guest/wall_time.h"
#include "lease/instance.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/store.h"

#include <stdio.h>

/* the attribute that remembers a position that the service refuses (lease/refused.c) */
#define REFUSED "sloop_refused"
#define KEY "shard_id"
#define OWNER "assigned_to"
#define TIMEOUT "lease_timeout"
#define CHECKPOINT "checkpoint"
#define PARENT "parent_shard_id"
#define OURS "sloop_owner"
#define COUNTER "sloop_counter"
#define TAKEN "sloop_taken" /* the owner's name, until the owner has saved a position */
/* in the row of a lease that a worker of sloop owns: the real checkpoint; in the row of a free lease: where
 * reading begins, if not at the oldest record */
#define PLACE "sloop_checkpoint"
#define ENDED "SHARD_END"
#define AT_TIME "AT_TIMESTAMP:"
static const char at_latest[] = "LATEST";

typedef struct rb_schema {
  slp_schema base;
  slp_mem *mem; /* the schema holds a reference to it */
} rb_schema;

static rb_schema *rb_schema_of(slp_schema *s) { return SLP_OWNER(s, rb_schema, base); }

/* ---- reading ---------------------------------------------------------------------------------------- */

static slp_position read_time(slp_str ms) {
  uint64_t at;
  if (slp_parse_u64(ms, &at) || at > INT64_MAX) return (slp_position){.kind = SLP_POSITION_NONE};
  return (slp_position){.kind = SLP_POSITION_TIME, .at_ms = (int64_t)at};
}

/* Reads a checkpoint. An empty one means the oldest record, as in kcl-rb. */
static slp_position read_place(slp_str at) {
  slp_position position = {.kind = SLP_POSITION_NONE};
  size_t word = sizeof AT_TIME - 1;
  if (!at.n) return (slp_position){.kind = SLP_POSITION_OLDEST};
  if (slp_str_is(at, at_latest)) return (slp_position){.kind = SLP_POSITION_LATEST};
  if (at.n > word && memcmp(at.p, AT_TIME, word) == 0) return read_time((slp_str){at.p + word, at.n - word});
  if (at.n > SLP_SEQ_MAX || !slp_num_valid(at)) return position;
  position.kind = SLP_POSITION_AFTER;
  slp_mark_set(&position.mark, at, UINT32_MAX, -1);
  return position;
}

static int is_record(slp_str at) { return at.n <= SLP_SEQ_MAX && slp_num_valid(at); }

static slp_position read_position(const slp_row *row, int is_parked) {
  slp_str at = slp_attr_text(row, CHECKPOINT), place = slp_attr_text(row, PLACE);
  if (is_parked || (!at.n && !is_record(place))) return read_place(place);
  if (slp_str_is(at, ENDED)) return (slp_position){.kind = SLP_POSITION_END};
  return is_record(at) ? read_place(at) : (slp_position){.kind = SLP_POSITION_NONE};
}

static int may_be_nil(const slp_row *row, const char *name) {
  return slp_attr_may_be_text(row, name) || slp_attr_of(row, name)->kind == SLP_VAL_NULL;
}

static const char *wrong_type(const slp_row *row) {
  slp_val_kind counter = slp_attr_of(row, COUNTER)->kind;
  if (!may_be_nil(row, OWNER)) return "its " OWNER " is no text";
  if (!slp_attr_may_be_text(row, TIMEOUT)) return "its " TIMEOUT " is no text";
  if (!may_be_nil(row, CHECKPOINT)) return "its " CHECKPOINT " is no text";
  if (!may_be_nil(row, PARENT)) return "its " PARENT " is no text";
  if (!slp_attr_may_be_text(row, OURS)) return "its " OURS " is no text";
  if (!slp_attr_may_be_text(row, TAKEN)) return "its " TAKEN " is no text";
  if (!slp_attr_may_be_text(row, PLACE)) return "its " PLACE " is no text";
  if (counter != SLP_VAL_N && counter != SLP_VAL_NONE) return "its " COUNTER " is no number";
  return NULL;
}

/* Returns 1 if the owner is a worker of sloop, whose name has the form of an instance, "id.incarnation". */
static int is_ours(slp_str owner) {
  slp_str id, incarnation;
  return slp_instance_split(owner, &id, &incarnation);
}

/* Returns what is wrong with the owners' names in the row; NULL: nothing. A name is wrong if it is empty, if
 * a name of sloop's form is in OWNER, or if a name of another form is in OURS. No condition could match such
 * a name, so the lease could never be taken. */
static const char *wrong_owner(const slp_row *row) {
  const slp_val *ours = slp_attr_of(row, OURS), *theirs = slp_attr_of(row, OWNER);
  if (ours->kind == SLP_VAL_S && !is_ours(ours->s)) return "its " OURS " is no worker of ours";
  if (theirs->kind == SLP_VAL_S && (!theirs->s.n || is_ours(theirs->s)))
    return "its " OWNER " is no name of kcl-rb's";
  return NULL;
}

static const char *wrong_value(const slp_row *row, const slp_lease_row *l) {
  slp_str timeout = slp_attr_text(row, TIMEOUT), ours = slp_attr_text(row, OURS);
  slp_str theirs = slp_attr_text(row, OWNER);
  if (l->shard.n > SLP_SHARD_ID_MAX || l->parents[0].n > SLP_SHARD_ID_MAX) return "it names no shard";
  if (l->owner.n > SLP_NAME_MAX) return "its owner is too long a name";
  if (timeout.n && !slp_ruby_time_read(timeout)) return "its " TIMEOUT " is no time as kcl-rb writes it";
  if (theirs.n && !timeout.n) return "it has " OWNER " and no " TIMEOUT;
  if (ours.n && theirs.n) return "it has both " OURS " and " OWNER;
  if (ours.n && !slp_str_is(slp_attr_text(row, CHECKPOINT), ENDED))
    return "it has " OURS " and is not parked: its " CHECKPOINT " is not " ENDED;
  if (l->position.kind == SLP_POSITION_NONE) return "its " CHECKPOINT " can't be understood";
  return wrong_owner(row);
}

static uint64_t hash_rb_text(uint64_t h, slp_str s) {
  for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
  return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

/* Returns slp_lease_row.stranger: a hash of the attributes that only kcl-rb writes. The checkpoint counts
 * only while kcl-rb has the lease, because otherwise a worker of sloop may have written it. */
static uint64_t sign_of_kcl_rb(const slp_row *row) {
  slp_str timeout = slp_attr_text(row, TIMEOUT), owner = slp_attr_text(row, OWNER);
  if (!timeout.n || slp_attr_text(row, OURS).n) return 0;
  uint64_t h = hash_rb_text(hash_rb_text(UINT64_C(0xcbf29ce484222325), timeout), owner);
  return (owner.n ? hash_rb_text(h, slp_attr_text(row, CHECKPOINT)) : h) | 1;
}

/* A row that kcl-rb has written has at least one of these attributes. A row that sloop has created may have
 * nothing but its key, if the shard is read from its oldest record. */
static const char *const known[] = {OWNER, TIMEOUT, CHECKPOINT, PARENT, OURS, COUNTER, TAKEN, PLACE};

/* Returns a text that says why the row belongs to another system; NULL: it does not. */
static const char *whose(const slp_row *row) {
  if (!slp_attr_is_absent(row, "worker_id") || !slp_attr_is_absent(row, "heartbeat"))
    return "it has a worker_id or a heartbeat: that is motorway's, and not kcl-rb's";
  if (slp_attrs_are_foreign(row, known, SLP_COUNT(known)))
    return "it has none of " OWNER ", " TIMEOUT " and " CHECKPOINT ": it is not kcl-rb's";
  return NULL;
}

static void read_row(slp_schema *base, const slp_row *row, slp_parsed_row *f) {
  slp_lease_row *l = &f->u.lease;
  slp_str ours = slp_attr_text(row, OURS);
  (void)base;
  memset(f, 0, sizeof *f);
  f->key = (slp_row_key){slp_attr_text(row, KEY), {NULL, 0}};
  if (!f->key.hash.n) return;
  l->shard = f->key.hash;
  f->why = whose(row);
  if (f->why) {
    f->kind = SLP_ROW_BAD;
    f->foreign = 1;
    return;
  }
  l->owner = ours.n ? ours : slp_attr_text(row, OWNER);
  l->unsaved = ours.n && slp_str_eq(ours, slp_attr_text(row, TAKEN));
  l->parents[0] = slp_attr_text(row, PARENT);
  l->position = read_position(row, ours.n > 0);
  l->stranger = sign_of_kcl_rb(row);
  l->wall_ms = l->behind_ms = l->rate_bytes = -1;
  f->why = wrong_type(row);
  if (!f->why && slp_attr_text(row, OWNER).n)
    l->epoch = slp_ruby_time_read(slp_attr_text(row, TIMEOUT));
  else if (!f->why && !slp_attr_is_absent(row, COUNTER) &&
           slp_parse_u64(slp_attr_of(row, COUNTER)->s, &l->epoch))
    f->why = "its " COUNTER " is no count";
  if (!f->why) f->why = wrong_value(row, l);
  f->kind = f->why ? SLP_ROW_BAD : SLP_ROW_LEASE;
}

/* ---- conditions ------------------------------------------------------------------------------------- */

static const slp_val nil = {SLP_VAL_NULL, {NULL, 0}, NULL, 0};

/* Adds the condition that the attribute is nil in Ruby: NULL in the table, or absent. */
static void when_nil(slp_row_request *d, const char *name) {
  slp_row_request_when(d, name, SLP_TEST_ABSENT, slp_no_val, 1);
  slp_row_request_when(d, name, SLP_TEST_EQ, nil, 0);
}

static void when_checkpoint(slp_row_request *d, const slp_position *p) {
  if (p->kind == SLP_POSITION_AFTER) {
    slp_mark at = slp_mark_of_row(&p->mark);
    slp_when_text(d, CHECKPOINT, slp_row_request_copy(d, slp_mark_seq(&at)));
  } else {
    slp_row_request_when(d, CHECKPOINT, SLP_TEST_EQ, slp_row_request_s(d, SLP_STR("")), 1);
    when_nil(d, CHECKPOINT);
  }
}

static void when_counter(slp_row_request *d, uint64_t n) {
  slp_row_request_when(d, COUNTER, SLP_TEST_EQ, slp_row_request_n(d, n), !n);
  if (!n) slp_when_absent(d, COUNTER);
}

static void when_ours(slp_row_request *d, slp_str owner, uint64_t counter) {
  slp_when_text(d, OURS, owner);
  when_counter(d, counter);
}

static void when_theirs(slp_row_request *d, const slp_operation *i) {
  char at[SLP_WALL_TEXT];
  slp_when_text(d, OWNER, i->owner);
  slp_when_text(d, TIMEOUT, slp_row_request_copy(d, (slp_str){at, slp_ruby_time_write(i->epoch, at)}));
}

static void when_free(slp_row_request *d, const slp_operation *i) {
  when_nil(d, OWNER);
  slp_when_absent(d, OURS);
  when_counter(d, i->epoch);
}

static void when_as_read(slp_row_request *d, const slp_operation *i) {
  if (!i->owner.n)
    when_free(d, i);
  else if (is_ours(i->owner))
    when_ours(d, i->owner, i->epoch);
  else
    when_theirs(d, i);
}

/* ---- changes ---------------------------------------------------------------------------------------- */

static void raise_rb_counter(slp_row_request *d, const slp_operation *i) {
  slp_set_number(d, COUNTER, slp_epoch_after(i));
}

/* Sets PLACE: the position of a lease that a worker of sloop owns, or a start position that kcl-rb can't
 * express. */
static void set_place(slp_row_request *d, const slp_position *p) {
  switch (p->kind) {
    case SLP_POSITION_AFTER: slp_set_text(d, PLACE, slp_mark_seq(&p->mark)); break;
    case SLP_POSITION_LATEST: slp_set_text(d, PLACE, slp_str_of(at_latest)); break;
    case SLP_POSITION_TIME:
      slp_set_text(d, PLACE, slp_row_request_text(d, AT_TIME "%lld", (long long)p->at_ms));
      break;
    default: slp_drop(d, PLACE);
  }
}

/* Sets the position of a free lease in the form that kcl-rb reads. */
static void set_position(slp_row_request *d, const slp_position *p) {
  switch (p->kind) {
    case SLP_POSITION_NONE: return;
    case SLP_POSITION_END: slp_set_text(d, CHECKPOINT, SLP_STR(ENDED)); break;
    case SLP_POSITION_AFTER: slp_set_text(d, CHECKPOINT, slp_mark_seq(&p->mark)); break;
    default:
      slp_drop(d, CHECKPOINT);
      set_place(d, p);
      return;
  }
  slp_drop(d, PLACE);
}

static int can_say(const slp_position *p) {
  switch (p->kind) {
    case SLP_POSITION_END:
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_LATEST: return 1;
    case SLP_POSITION_TIME: return p->at_ms >= 0;
    case SLP_POSITION_AFTER: return p->mark.sub == UINT32_MAX;
    default: return 0;
  }
}

static void unpark_rb_row(slp_row_request *d) {
  slp_drop(d, OURS);
  slp_drop(d, TAKEN);
}

/* ---- operations -------------------------------------------------------------------------------------- */

static void build_rb_create(slp_row_request *d, const slp_operation *i) {
  d->write->kind = SLP_WRITE_PUT;
  slp_when_absent(d, KEY);
  set_position(d, &i->position);
  if (i->epoch_first) slp_set_number(d, COUNTER, i->epoch_first);
  if (i->parents[0].n) slp_set_text(d, PARENT, i->parents[0]);
}

/* Takes the lease, and hides it from kcl-rb (see the head of this file), unless another worker of sloop has
 * hidden it already. The checkpoint that was read is a condition, and becomes PLACE. */
static void build_rb_take(slp_row_request *d, const slp_operation *i) {
  when_as_read(d, i);
  slp_set_text(d, OURS, i->me);
  slp_set_text(d, TAKEN, i->me);
  raise_rb_counter(d, i);
  if (i->owner.n && is_ours(i->owner)) return;
  when_checkpoint(d, &i->position);
  set_place(d, &i->position);
  slp_set_text(d, CHECKPOINT, SLP_STR(ENDED));
  slp_drop(d, OWNER);
}

static void build_rb_renew(slp_row_request *d, const slp_operation *i) {
  when_ours(d, i->me, i->epoch);
  raise_rb_counter(d, i);
}

static void build_rb_checkpoint(slp_row_request *d, const slp_operation *i) {
  build_rb_renew(d, i);
  set_place(d, &i->position);
  slp_drop(d, TAKEN);
}

/* Gives the lease up. An operator's command may also give up the lease of a worker of kcl-rb. */
static void build_rb_release(slp_row_request *d, const slp_operation *i) {
  if (is_ours(i->me))
    when_ours(d, i->me, i->epoch);
  else
    when_theirs(d, i);
  raise_rb_counter(d, i);
  set_position(d, &i->position);
  unpark_rb_row(d);
  slp_drop(d, OWNER);
}

static void build_rb_end(slp_row_request *d, const slp_operation *i) {
  build_rb_renew(d, i);
  unpark_rb_row(d);
  slp_drop(d, PLACE);
}

static void remove_ended(slp_row_request *d) {
  d->write->kind = SLP_WRITE_DELETE;
  slp_when_text(d, CHECKPOINT, SLP_STR(ENDED));
  slp_when_absent(d, OURS);
}

/* Sets the position for an operator. If the position is to stay, i->position is the one that was read. */
static void build_rb_reset(slp_row_request *d, const slp_operation *i) {
  when_as_read(d, i);
  set_position(d, &i->position);
  unpark_rb_row(d);
  slp_drop(d, OWNER);
  raise_rb_counter(d, i);
}

static size_t text_bytes(const slp_operation *i) {
  return 1024 + 2 * i->me.n + i->owner.n + 2 * i->shard.n + i->parents[0].n + 3 * SLP_SEQ_MAX;
}

static int row_key(slp_schema *base, slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  (void)base;
  return slp_shard_row_begin(d, i, text_bytes(i), 0, ret);
}

static const slp_set operations =
    SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_TAKE) | SLP_BIT(SLP_OPERATION_RETAKE) |
    SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RELEASE) | SLP_BIT(SLP_OPERATION_END) |
    SLP_BIT(SLP_OPERATION_REMOVE) | SLP_BIT(SLP_OPERATION_RESET) | SLP_BIT(SLP_GUEST_RENEW);
/* The operations that write a position. RELEASE is one of them, because a saved position is in CHECKPOINT if
 * the lease is free, and in PLACE if a worker of sloop owns the lease. */
#define PLACES                                                                                          \
  (SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RELEASE) | \
   SLP_BIT(SLP_OPERATION_RESET))

static int write_operation(slp_schema *base, slp_row_request *d, const slp_operation *i) {
  (void)base;
  if (!slp_set_has(operations, i->kind) || (slp_set_has(PLACES, i->kind) && !can_say(&i->position)))
    return SLP_EINVAL;
  if (slp_shard_row_begin(d, i, text_bytes(i), 0, &d->write->key)) return SLP_ENOMEM;
  switch ((unsigned)i->kind) {
    case SLP_OPERATION_CREATE: build_rb_create(d, i); return 0;
    case SLP_OPERATION_TAKE: build_rb_take(d, i); return 0;
    case SLP_OPERATION_RETAKE:
    case SLP_GUEST_RENEW: build_rb_renew(d, i); return 0;
    case SLP_OPERATION_CHECKPOINT: build_rb_checkpoint(d, i); return 0;
    case SLP_OPERATION_RELEASE: build_rb_release(d, i); return 0;
    case SLP_OPERATION_END: build_rb_end(d, i); return 0;
    case SLP_OPERATION_REMOVE: remove_ended(d); return 0;
    case SLP_OPERATION_RESET: build_rb_reset(d, i); return 0;
    default: return SLP_EINVAL;
  }
}

/* ---- the schema ------------------------------------------------------------------------------------- */

static void describe_rb_table(slp_schema *s, const char *name, slp_table_spec *ret) {
  (void)s;
  *ret = (slp_table_spec){name, KEY, NULL, 0};
}

static void schema_free(slp_schema *base) {
  rb_schema *s = rb_schema_of(base);
  slp_mem *mem = s->mem;
  slp_free(mem, s);
  slp_mem_drop(mem);
}

slp_schema *slp_schema_kcl_rb(slp_mem *mem) {
  rb_schema *s = SLP_NEW(mem, rb_schema);
  if (!s) return NULL;
  s->mem = slp_mem_hold(mem);
  s->base = (slp_schema){
      .name = "kcl-rb",
      .refused = REFUSED,
      .strategy = &slp_strategy_kcl_rb.base,
      .whole_records = 1,
      .operations = operations,
      .table = describe_rb_table,
      .scope = slp_scope_whole_table,
      .is_other_streams = slp_other_stream_is,
      .read = read_row,
      .key = row_key,
      .write = write_operation,
      .free = schema_free,
  };
  return &s->base;
}

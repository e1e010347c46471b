/* schema_vmware.c - the lease table of vmware-go-kcl (and -v2), as the Go program's workers read and write
 * it. An application has one table, with key ShardID and one row for each shard. A worker is known by the
 * leases that name it.
 *
 *   - A lease belongs to its owner until the wall-clock time in LeaseTimeout. Each renewal sets this time
 *     again.
 *   - That time, in nanoseconds, is the lease's epoch. Each write of an owner has the last value of that
 *     time as its condition, so the time is also the fencing token.
 *   - A write changes single attributes, so that another worker's claim survives.
 *   - The Go program writes whole rows, and so erases attributes that it does not know. So sloop has no
 *     attributes of its own in a row, except REFUSED.
 *   - All attributes are texts. An attribute of another type makes the Go program panic.
 *   - A checkpoint is the last record that is done completely; it can't be inside an aggregate. If a row
 *     has no checkpoint, each worker begins to read where its own options say. */
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

/* the attribute that remembers a position that the service refuses (lease/refused.c) */
#define REFUSED "SloopRefused"
#define KEY "ShardID"
#define OWNER "AssignedTo"
#define TIMEOUT "LeaseTimeout"
#define CHECKPOINT "Checkpoint"
#define PARENT "ParentShardId"
#define CLAIM "ClaimRequest"
#define ENDED "SHARD_END"

/* The name that is reported as the owner of a row with an empty AssignedTo. A late checkpoint of the Go
 * program leaves such a row after the lease was released. No worker owns the lease, but it counts as owned
 * until its time is over. */
#define NAMELESS "(nameless)"

typedef struct vmware_schema {
  slp_schema base;
  slp_mem *mem;       /* the schema holds a reference to it */
  slp_position start; /* where reading begins if a row has no checkpoint */
} vmware_schema;

static vmware_schema *vmware_schema_of(slp_schema *s) { return SLP_OWNER(s, vmware_schema, base); }

/* ---- reading ---------------------------------------------------------------------------------------- */

static slp_position read_position(const vmware_schema *s, slp_str at, int has_parent) {
  slp_position position = {.kind = SLP_POSITION_NONE};
  if (!at.n) return slp_begin_of_row(&s->start, has_parent);
  if (slp_str_is(at, ENDED)) {
    position.kind = SLP_POSITION_END;
  } else if (at.n <= SLP_SEQ_MAX && slp_num_valid(at)) {
    position.kind = SLP_POSITION_AFTER;
    slp_mark_set(&position.mark, at, UINT32_MAX, -1);
  }
  return position;
}

static const char *wrong_type(const slp_row *row) {
  if (!slp_attr_may_be_text(row, OWNER)) return "its " OWNER " is no text";
  if (!slp_attr_may_be_text(row, TIMEOUT)) return "its " TIMEOUT " is no text";
  if (!slp_attr_may_be_text(row, CHECKPOINT)) return "its " CHECKPOINT " is no text";
  if (!slp_attr_may_be_text(row, PARENT)) return "its " PARENT " is no text";
  if (!slp_attr_may_be_text(row, CLAIM)) return "its " CLAIM " is no text";
  return NULL;
}

static const char *wrong_value(const slp_row *row, const slp_lease_row *l) {
  if (l->shard.n > SLP_SHARD_ID_MAX || l->parents[0].n > SLP_SHARD_ID_MAX) return "it names no shard";
  if (l->owner.n > SLP_NAME_MAX) return "its " OWNER " is too long a name";
  if (l->claim.n > SLP_NAME_MAX) return "its " CLAIM " is too long a name";
  if (slp_attr_of(row, TIMEOUT)->kind == SLP_VAL_S && !l->epoch)
    return "its " TIMEOUT " is no time as Go writes it";
  if (l->position.kind == SLP_POSITION_NONE) return "its " CHECKPOINT " can't be understood";
  return NULL;
}

static const char *const known[] = {OWNER, TIMEOUT, CHECKPOINT, PARENT, CLAIM};

static void read_row(slp_schema *base, const slp_row *row, slp_parsed_row *f) {
  const vmware_schema *s = vmware_schema_of(base);
  slp_lease_row *l = &f->u.lease;
  memset(f, 0, sizeof *f);
  f->key = (slp_row_key){slp_attr_text(row, KEY), {NULL, 0}};
  if (!f->key.hash.n) return;
  l->shard = f->key.hash;
  if (slp_attrs_are_foreign(row, known, SLP_COUNT(known))) {
    f->kind = SLP_ROW_BAD;
    f->foreign = 1;
    f->why = "it has none of " OWNER ", " TIMEOUT " and " CHECKPOINT ": it is not vmware-go-kcl's";
    return;
  }
  l->owner = slp_attr_text(row, OWNER);
  if (slp_attr_of(row, OWNER)->kind == SLP_VAL_S && !l->owner.n) l->owner = SLP_STR(NAMELESS);
  l->epoch = slp_go_time_read(slp_attr_text(row, TIMEOUT));
  l->claim = slp_attr_text(row, CLAIM);
  l->parents[0] = slp_attr_text(row, PARENT);
  l->position = read_position(s, slp_attr_text(row, CHECKPOINT), l->parents[0].n > 0);
  l->begin_untold = !slp_attr_text(row, CHECKPOINT).n && !l->parents[0].n;
  l->wall_ms = l->behind_ms = -1;
  f->why = wrong_type(row);
  if (!f->why) f->why = wrong_value(row, l);
  f->kind = f->why ? SLP_ROW_BAD : SLP_ROW_LEASE;
}

/* ---- conditions and changes ------------------------------------------------------------------------- */

static slp_val time_of(slp_row_request *d, uint64_t ns) {
  char at[SLP_WALL_TEXT];
  return slp_row_request_s(d, (slp_str){at, slp_go_time_write(ns, at)});
}

static void when_owner(slp_row_request *d, slp_str owner) {
  if (!owner.n) {
    slp_when_absent(d, OWNER);
    return;
  }
  /* A worker may really be called NAMELESS, so the condition allows an empty AssignedTo, and this name. */
  if (slp_str_is(owner, NAMELESS))
    slp_row_request_when(d, OWNER, SLP_TEST_EQ, slp_row_request_s(d, SLP_STR("")), 1);
  slp_when_text(d, OWNER, owner);
}

/* Adds the condition that the time is as it was read. wall_time.h writes the same text that was read. */
static void when_time(slp_row_request *d, uint64_t epoch) {
  if (epoch)
    slp_row_request_when(d, TIMEOUT, SLP_TEST_EQ, time_of(d, epoch), 0);
  else
    slp_when_absent(d, TIMEOUT);
}

static void when_unclaimed(slp_row_request *d) {
  slp_row_request_when(d, CLAIM, SLP_TEST_ABSENT, slp_no_val, 1);
  slp_when_text(d, CLAIM, SLP_STR(""));
}

static void when_not_ended(slp_row_request *d) {
  slp_row_request_when(d, CHECKPOINT, SLP_TEST_NE, slp_row_request_s(d, SLP_STR(ENDED)), 0);
}

static void when_mine(slp_row_request *d, const slp_operation *i) {
  when_owner(d, i->me);
  when_time(d, i->epoch);
}

static void set_position(slp_row_request *d, const slp_position *p) {
  slp_set_text(d, CHECKPOINT,
               p->kind == SLP_POSITION_AFTER ? slp_mark_seq(&p->mark)
               : p->kind == SLP_POSITION_END ? SLP_STR(ENDED)
                                             : SLP_STR(""));
}

/* Returns 1 if a row can hold the position. A start position can be held only if rows without a checkpoint
 * begin there anyway (s->start). A child may always begin at its oldest record: if the application begins
 * at a time, the child's records are after that time, because they come after those of its parent. */
static int can_say(const vmware_schema *s, const slp_operation *i) {
  const slp_position *p = &i->position;
  int is_child = i->kind == SLP_OPERATION_CREATE && i->parents[0].n;
  switch (p->kind) {
    case SLP_POSITION_END: return 1;
    case SLP_POSITION_AFTER: return p->mark.sub == UINT32_MAX;
    case SLP_POSITION_TIME: return s->start.kind == SLP_POSITION_TIME && s->start.at_ms == p->at_ms;
    case SLP_POSITION_OLDEST: return s->start.kind == SLP_POSITION_OLDEST || is_child;
    case SLP_POSITION_LATEST: return s->start.kind == SLP_POSITION_LATEST;
    default: return 0;
  }
}

/* ---- operations -------------------------------------------------------------------------------------- */

/* Creates the row. If no position is saved, the checkpoint is an empty text: without that attribute, a Go
 * worker would not wait for this shard as a parent, and would take its lease from a living owner. If reading
 * begins at the latest record, leaves PARENT out, because a row with a parent is read from its oldest
 * record. */
static void build_vmware_create(slp_row_request *d, const slp_operation *i) {
  d->write->kind = SLP_WRITE_PUT;
  slp_when_absent(d, KEY);
  set_position(d, &i->position);
  if (i->parents[0].n && i->position.kind != SLP_POSITION_LATEST) slp_set_text(d, PARENT, i->parents[0]);
}

static void set_lease_timeout(slp_row_request *d, const slp_operation *i) {
  slp_row_request_change(d, TIMEOUT, SLP_SET, time_of(d, slp_epoch_after(i)));
}

static void build_vmware_take(slp_row_request *d, const slp_operation *i) {
  when_owner(d, i->owner);
  when_time(d, i->epoch);
  if (i->claim.n)
    slp_when_text(d, CLAIM, i->claim);
  else
    when_unclaimed(d);
  when_not_ended(d);
  slp_set_text(d, OWNER, i->me);
  set_lease_timeout(d, i);
  slp_row_request_change(d, CHECKPOINT, SLP_SET_IF_ABSENT, slp_row_request_s(d, SLP_STR("")));
  slp_drop(d, CLAIM);
}

static void build_vmware_renew(slp_row_request *d, const slp_operation *i) {
  when_mine(d, i);
  set_lease_timeout(d, i);
}

static void build_vmware_checkpoint(slp_row_request *d, const slp_operation *i) {
  build_vmware_renew(d, i);
  set_position(d, &i->position);
}

/* Gives the lease up as the Go program does: the time stays, and the claim too, so that the claimant can take
 * the lease. */
static void build_vmware_release(slp_row_request *d, const slp_operation *i) {
  when_mine(d, i);
  if (i->position.kind == SLP_POSITION_AFTER) set_position(d, &i->position);
  slp_drop(d, OWNER);
}

static void build_vmware_end(slp_row_request *d, const slp_operation *i) {
  when_mine(d, i);
  slp_set_text(d, CHECKPOINT, SLP_STR(ENDED));
  slp_drop(d, OWNER);
  slp_drop(d, CLAIM);
}

static void build_vmware_claim(slp_row_request *d, const slp_operation *i) {
  when_owner(d, i->owner);
  when_time(d, i->epoch);
  when_unclaimed(d);
  when_not_ended(d);
  slp_set_text(d, CLAIM, i->me);
}

static void build_vmware_unclaim(slp_row_request *d, const slp_operation *i) {
  slp_when_text(d, CLAIM, i->me);
  slp_drop(d, CLAIM);
}

static void remove_ended(slp_row_request *d) {
  d->write->kind = SLP_WRITE_DELETE;
  slp_when_text(d, CHECKPOINT, SLP_STR(ENDED));
}

/* Sets the position for an operator. The former owner's next write is refused, because the row does not have
 * its name any more. */
static void build_vmware_reset(slp_row_request *d, const slp_operation *i) {
  when_owner(d, i->owner);
  when_time(d, i->epoch);
  set_position(d, &i->position);
  slp_drop(d, OWNER);
  slp_drop(d, CLAIM);
}

static size_t text_bytes(const slp_operation *i) {
  return 1024 + 2 * i->me.n + i->owner.n + i->claim.n + i->to.n + 2 * i->shard.n + i->parents[0].n;
}

static int row_key(slp_schema *base, slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  (void)base;
  return slp_shard_row_begin(d, i, text_bytes(i), 0, ret);
}

static const slp_set operations =
    SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_TAKE) | SLP_BIT(SLP_OPERATION_RETAKE) |
    SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_CLAIM) | SLP_BIT(SLP_OPERATION_TRANSFER) |
    SLP_BIT(SLP_OPERATION_RELEASE) | SLP_BIT(SLP_OPERATION_END) | SLP_BIT(SLP_OPERATION_REMOVE) |
    SLP_BIT(SLP_OPERATION_RESET) | SLP_BIT(SLP_GUEST_RENEW) | SLP_BIT(SLP_GUEST_UNCLAIM);
#define PLACES \
  (SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RESET))

static int write_operation(slp_schema *base, slp_row_request *d, const slp_operation *i) {
  if (!slp_set_has(operations, i->kind) ||
      (slp_set_has(PLACES, i->kind) && !can_say(vmware_schema_of(base), i)))
    return SLP_EINVAL;
  if (slp_shard_row_begin(d, i, text_bytes(i), 0, &d->write->key)) return SLP_ENOMEM;
  switch ((unsigned)i->kind) {
    case SLP_OPERATION_CREATE: build_vmware_create(d, i); return 0;
    case SLP_OPERATION_TAKE: build_vmware_take(d, i); return 0;
    case SLP_OPERATION_RETAKE:
    case SLP_GUEST_RENEW: build_vmware_renew(d, i); return 0;
    case SLP_OPERATION_CHECKPOINT: build_vmware_checkpoint(d, i); return 0;
    case SLP_OPERATION_CLAIM: build_vmware_claim(d, i); return 0;
    case SLP_GUEST_UNCLAIM: build_vmware_unclaim(d, i); return 0;
    case SLP_OPERATION_TRANSFER:
      slp_when_text(d, CLAIM, i->to);
      build_vmware_release(d, i);
      return 0;
    case SLP_OPERATION_RELEASE: build_vmware_release(d, i); return 0;
    case SLP_OPERATION_END: build_vmware_end(d, i); return 0;
    case SLP_OPERATION_REMOVE: remove_ended(d); return 0;
    case SLP_OPERATION_RESET: build_vmware_reset(d, i); return 0;
    default: return SLP_EINVAL;
  }
}

/* ---- the schema ------------------------------------------------------------------------------------- */

static void describe_vmware_table(slp_schema *s, const char *name, slp_table_spec *ret) {
  (void)s;
  *ret = (slp_table_spec){name, KEY, NULL, 0};
}

static void schema_free(slp_schema *base) {
  vmware_schema *s = vmware_schema_of(base);
  slp_mem *mem = s->mem;
  slp_free(mem, s);
  slp_mem_drop(mem);
}

slp_schema *slp_schema_vmware(slp_mem *mem, const slp_position *start) {
  vmware_schema *s = SLP_NEW(mem, vmware_schema);
  if (!s) return NULL;
  s->mem = slp_mem_hold(mem);
  s->start = slp_start_of_rows(start);
  s->base = (slp_schema){
      .name = "vmware-go-kcl",
      .refused = REFUSED,
      .strategy = &slp_strategy_vmware.base,
      .whole_records = 1,
      .operations = operations,
      .table = describe_vmware_table,
      .scope = slp_scope_whole_table,
      .is_other_streams = slp_other_stream_is,
      .read = read_row,
      .key = row_key,
      .write = write_operation,
      .free = schema_free,
  };
  return &s->base;
}

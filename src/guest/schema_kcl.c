/* schema_kcl.c - the lease table of Amazon's KCL 2.x, as the KCL's own workers read and write it. An
 * application has one table, with key leaseKey and one row for each shard. Workers of KCL 2 have no rows: a
 * worker is known by the leases that name it, and counts as alive while it raises their counters.
 *
 *   - Each write that takes, keeps or gives up a lease has the counter that was read as its condition, and
 *     adds one to the counter. So the counter is the proof of life, the fencing token and the epoch. Once
 *     another worker has raised it, the former owner's next write fails.
 *   - A write changes single attributes, and only those that the KCL changes itself. So attributes of
 *     other versions of the KCL survive. The KCL leaves alone the attributes that only sloop knows.
 *   - leaseKey is SHARD or ACCOUNT:NAME:EPOCH:SHARD. The rows that are there decide which of the two forms
 *     holds, before this worker creates any (schema_kcl_form.c). Every row that it creates has that form.
 *   - A checkpoint is the last record that is done, so reading continues after it. Its sub-sequence number
 *     counts from 0. A record that is no aggregate is saved with 0.
 *   - While no record comes, the service may give a sequence number that no record has. Then the
 *     checkpoint's sub-sequence number is the time in ms, which is greater than that of any sub-record.
 *     The KCL compares both numbers, so it reads every record after such a checkpoint. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/num.h"
#include "base/states.h"
#include "core/mark.h"
#include "core/position.h"
#include "guest/guest_operations.h"
#include "guest/guest_schemas.h"
#include "guest/schema_kcl_form.h"
#include "guest/kcl3_rows.h"
#include "guest/other_stream.h"
#include "guest/strategies.h"
#include "lease/instance.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/store.h"

/* the attribute that remembers a position that the service refuses (lease/refused.c) */
#define REFUSED "sloopRefused"
#define COUNTER "leaseCounter"
#define OWNER "leaseOwner"
/* KCL 3: the worker that still reads the shard, while leaseOwner has the next owner's name */
#define HAND_OVER "checkpointOwner"
/* the worker of sloop that asks the owner for the lease; the owner is a worker of sloop too */
#define CLAIM "sloopClaim"
#define CHECKPOINT "checkpoint"
#define SUB "checkpointSubSequenceNumber"
#define SWITCHES "ownerSwitchesSinceCheckpoint"
#define RATE "throughputKBps"
#define ENTITY "entityType"
#define RATE_BYTES_MAX (INT64_C(1) << 50)

typedef struct kcl_schema {
  slp_schema base;
  slp_mem *mem; /* the schema holds a reference to it */
  /* The names, each "ACCOUNT:NAME:EPOCH", by which rows may name this stream. An empty text: no such name. */
  slp_buf names[SLP_KCL_NAMES];
  slp_kcl_key key;  /* the form of the keys in this worker's rows: PLAIN, OURS or ALIAS (schema_kcl_form.h) */
  uint8_t several;  /* 1: the application reads several streams, so `key` is never PLAIN */
  slp_buf beside;   /* the names of the two further tables of KCL 3.0 to 3.4, each with a NUL after it */
  size_t metrics;   /* offset in `beside` of the second name; 0: there are no such tables */
  uint8_t tagged;   /* 1: a lease with the attribute ENTITY was read, so new leases get that attribute too */
  int64_t start_ms; /* the time that a row with the position AT_TIMESTAMP stands for, in ms */
} kcl_schema;

static kcl_schema *kcl_schema_of(slp_schema *s) { return SLP_OWNER(s, kcl_schema, base); }

static const slp_val none = {SLP_VAL_NONE, {NULL, 0}, NULL, 0};
static const slp_str none_s = {NULL, 0};

/* ---- reading ---------------------------------------------------------------------------------------- */

static const slp_val *get(const slp_row *row, const char *name) { return slp_row_get(row, slp_str_of(name)); }
static slp_str kcl_row_text(const slp_row *row, const char *name) {
  return slp_row_text(row, slp_str_of(name));
}

/* Returns 1 if the attribute is a text, or absent. */
static int is_text(const slp_row *row, const char *name) {
  slp_val_kind kind = get(row, name)->kind;
  return kind == SLP_VAL_S || kind == SLP_VAL_NONE;
}

/* Returns 1 if the attribute is a name, or absent. An empty text is no name: the KCL never writes one, and no
 * condition here could tell it from an absent attribute. */
static int is_name(const slp_row *row, const char *name) {
  return is_text(row, name) && (get(row, name)->kind == SLP_VAL_NONE || kcl_row_text(row, name).n);
}

/* Returns 1 if the row is a lease. KCL 3 also has rows about its workers, its leader and other things in this
 * table. */
static int is_lease(const slp_row *row) {
  slp_str entity = kcl_row_text(row, "entityType");
  if (!kcl_row_text(row, "leaseKey").n || (entity.n && !slp_str_is(entity, "LEASE"))) return 0;
  return get(row, COUNTER)->kind != SLP_VAL_NONE || get(row, CHECKPOINT)->kind != SLP_VAL_NONE;
}

static slp_kcl_key key_of_row(kcl_schema *s, slp_str key, slp_str *ret_shard) {
  slp_str names[SLP_KCL_NAMES] = {slp_buf_str(&s->names[0]), slp_buf_str(&s->names[1])};
  return slp_kcl_key_of(names, key, ret_shard);
}

static slp_position read_number(slp_str at, int64_t sub) {
  slp_position position = {.kind = SLP_POSITION_NONE};
  if (!at.n || at.n > SLP_SEQ_MAX || !slp_num_valid(at) || sub < 0) return position;
  position.kind = SLP_POSITION_AFTER;
  int idle = sub > (int64_t)UINT32_MAX;
  slp_mark_set(&position.mark, at, idle ? UINT32_MAX : (uint32_t)sub, idle ? sub : -1);
  position.mark.idle = (uint8_t)idle;
  return position;
}

static slp_position read_position(kcl_schema *s, const slp_row *row) {
  const slp_val *at = get(row, CHECKPOINT), *sub = get(row, SUB);
  slp_position position = {.kind = SLP_POSITION_NONE};
  if (at->kind != SLP_VAL_S) return position;
  if (slp_str_is(at->s, "TRIM_HORIZON")) {
    position.kind = SLP_POSITION_OLDEST;
  } else if (slp_str_is(at->s, "LATEST")) {
    position.kind = SLP_POSITION_LATEST;
  } else if (slp_str_is(at->s, "AT_TIMESTAMP")) {
    /* the time is not in the row; each worker has it as an option */
    position.kind = SLP_POSITION_TIME;
    position.at_ms = s->start_ms;
  } else if (slp_str_is(at->s, "SHARD_END")) {
    position.kind = SLP_POSITION_END;
  } else {
    position = read_number(at->s, sub->kind == SLP_VAL_NONE ? 0 : slp_row_int(row, SLP_STR(SUB), -1));
  }
  return position;
}

static void read_parents(const slp_row *row, slp_lease_row *l) {
  const slp_val *parents = get(row, "parentShardId");
  if (parents->kind == SLP_VAL_S)
    l->parents[0] = parents->s; /* KCL 1, which could not read merges, wrote a single parent as a text */
  for (size_t i = 0; parents->kind == SLP_VAL_SS && i < parents->n && i < 2; i++)
    l->parents[i] = parents->items[i];
}

/* Reads a decimal number of KB, of which the first six decimal places count. Returns bytes; -1 if the
 * attribute is absent or no such number. */
static int64_t read_rate(const slp_row *row) {
  slp_str text = slp_row_text(row, SLP_STR(RATE));
  uint64_t whole = 0, part = 0, digit = 1000000;
  size_t i = 0;
  if (get(row, RATE)->kind != SLP_VAL_N) return -1;
  for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
    whole = whole * 10 + (uint64_t)(text.p[i] - '0');
    if (whole > RATE_BYTES_MAX / 1024) return -1;
  }
  if (i < text.n && text.p[i] == '.') {
    for (i++; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
      if ((digit /= 10)) part += digit * (uint64_t)(text.p[i] - '0');
  }
  return i == text.n ? (int64_t)(whole * 1024 + part * 1024 / 1000000) : -1;
}

/* Returns the name of the worker that asks the owner for the lease. Only workers of sloop write this
 * attribute; a value that can't be a worker's name is ignored. */
static slp_str asker_of_row(const slp_row *row) {
  slp_str name = is_text(row, CLAIM) ? kcl_row_text(row, CLAIM) : none_s;
  return name.n <= SLP_NAME_MAX ? name : none_s;
}

static void read_lease(kcl_schema *s, const slp_row *row, slp_str shard, slp_parsed_row *f) {
  slp_lease_row *l = &f->u.lease;
  int64_t counter = slp_row_int(row, SLP_STR(COUNTER), -1);
  slp_str next = kcl_row_text(row, OWNER), last = kcl_row_text(row, HAND_OVER);
  f->kind = SLP_ROW_LEASE;
  l->shard = shard;
  l->owner = last.n ? last : next;
  if (last.n)
    l->claim = next;
  else if ((l->claim = asker_of_row(row)).n)
    l->claim_asks = 1;
  l->epoch = counter < 0 ? 0 : (uint64_t)counter;
  l->position = read_position(s, row);
  l->hash_start = kcl_row_text(row, "startingHashKey");
  l->hash_end = kcl_row_text(row, "endingHashKey");
  l->wall_ms = l->behind_ms = -1;
  l->rate_bytes = read_rate(row);
  l->unsaved = l->position.kind != SLP_POSITION_AFTER || slp_row_int(row, SLP_STR(SWITCHES), 0) > 0;
  read_parents(row, l);
  s->tagged |= kcl_row_text(row, ENTITY).n > 0;
  int names = shard.n <= SLP_SHARD_ID_MAX && l->parents[0].n <= SLP_SHARD_ID_MAX &&
              l->parents[1].n <= SLP_SHARD_ID_MAX;
  int owners = is_name(row, OWNER) && is_name(row, HAND_OVER);
  int fit = next.n <= SLP_NAME_MAX && last.n <= SLP_NAME_MAX;
  if (names && counter >= 0 && l->position.kind != SLP_POSITION_NONE && owners && fit) return;
  f->kind = SLP_ROW_BAD;
  f->why = !names                     ? "it names no shard"
           : counter < 0              ? "its " COUNTER " is no number"
           : !is_name(row, OWNER)     ? "its " OWNER " is no name"
           : !is_name(row, HAND_OVER) ? "its " HAND_OVER " is no name"
           : !fit                     ? "its " OWNER " or " HAND_OVER " is too long"
                                      : "its " CHECKPOINT " can't be understood";
}

static const char *why_not_ours(slp_kcl_key key) {
  if (key == SLP_KCL_KEY_PLAIN) return "it names no stream, and the other leases do";
  if (key == SLP_KCL_KEY_ODD) return "its leaseKey is neither a shard nor ACCOUNT:NAME:EPOCH:SHARD";
  return "it names this stream otherwise than the other leases do";
}

/* Reads a lease whose key has another form than the keys in this worker's rows. */
static void read_lease_elsewhere(kcl_schema *s, const slp_row *row, slp_kcl_key key, slp_parsed_row *f) {
  read_lease(s, row, f->key.hash, f);
  if (key == SLP_KCL_KEY_OTHER || key == SLP_KCL_KEY_FORMER || key == SLP_KCL_KEY_MISNAMED) {
    f->kind = f->kind == SLP_ROW_LEASE ? SLP_ROW_ELSEWHERE : SLP_ROW_OTHER;
  } else {
    f->kind = SLP_ROW_BAD;
    f->why = why_not_ours(key);
  }
}

/* Reads a row that is no lease. The known kinds become SLP_ROW_BESIDE, because only this room knows what
 * rows of KCL 3 mean (kcl3_rows.h). */
static void read_no_lease(const slp_row *row, slp_parsed_row *f) {
  slp_kcl_row k;
  slp_kcl_row_read(row, &k);
  f->key.hash = f->u.name = k.name;
  f->why = k.why;
  f->kind = k.kind == SLP_KCL_ROW_OTHER ? SLP_ROW_OTHER
            : k.kind == SLP_KCL_ROW_BAD ? SLP_ROW_BAD
                                        : SLP_ROW_BESIDE;
}

static void read_hint(slp_schema *base, const slp_row *row, slp_row_hint *ret) {
  slp_kcl_row k = {.kind = SLP_KCL_ROW_OTHER};
  (void)base;
  if (!is_lease(row)) slp_kcl_row_read(row, &k);
  slp_kcl_row_hint(&k, ret);
}

static void read_row(slp_schema *base, const slp_row *row, slp_parsed_row *f) {
  kcl_schema *s = kcl_schema_of(base);
  slp_str shard;
  memset(f, 0, sizeof *f);
  f->key = (slp_row_key){kcl_row_text(row, "leaseKey"), {NULL, 0}};
  if (!is_lease(row)) {
    read_no_lease(row, f);
    return;
  }
  slp_kcl_key key = key_of_row(s, f->key.hash, &shard);
  if (key == s->key)
    read_lease(s, row, shard, f);
  else
    read_lease_elsewhere(s, row, key, f);
}

/* Decides from all rows how leases name their stream. From then on, every row that this worker creates has
 * that form. */
static void decide_form(slp_schema *base, const slp_store_rows *rows, slp_table_form *ret) {
  kcl_schema *s = kcl_schema_of(base);
  slp_str names[SLP_KCL_NAMES] = {slp_buf_str(&s->names[0]), slp_buf_str(&s->names[1])};
  slp_kcl_keys keys = {.n = {0}};
  for (size_t i = 0; i < rows->n; i++)
    if (is_lease(&rows->rows[i])) slp_kcl_keys_count(&keys, names, kcl_row_text(&rows->rows[i], "leaseKey"));
  s->key = slp_kcl_form(&keys, names, s->several, ret);
  if (SLP_MUTANT(named_rows_passed_over) && !s->several) s->key = SLP_KCL_KEY_PLAIN;
  s->base.is_other_streams = s->key == SLP_KCL_KEY_PLAIN ? slp_other_stream_is : NULL;
}

/* ---- conditions and changes ------------------------------------------------------------------------- */

static void set_s(slp_row_request *d, const char *name, slp_str s) {
  slp_row_request_change(d, name, SLP_SET, slp_row_request_s(d, s));
}
static void set_n(slp_row_request *d, const char *name, uint64_t n) {
  slp_row_request_change(d, name, SLP_SET, slp_row_request_n(d, n));
}
static void remove_kcl_attr(slp_row_request *d, const char *name) {
  slp_row_request_change(d, name, SLP_REMOVE, none);
}

/* Adds the condition that the counter is as it was read, and the change that raises the counter by one. */
static void move_on(slp_row_request *d, const slp_operation *i) {
  if (!SLP_MUTANT(takes_without_counter) || i->kind != SLP_OPERATION_TAKE)
    slp_row_request_when(d, COUNTER, SLP_TEST_EQ, slp_row_request_n(d, i->epoch), 0);
  set_n(d, COUNTER, slp_epoch_after(i));
}

static void set_position(slp_row_request *d, const slp_position *position) {
  static const char *const words[] = {"", "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP", "", "", "SHARD_END"};
  int record = position->kind == SLP_POSITION_AFTER || position->kind == SLP_POSITION_AT;
  uint64_t sub = position->kind == SLP_POSITION_AT ? position->mark.sub - 1 : position->mark.sub;
  if (position->mark.idle) sub = slp_max_u64((uint64_t)position->mark.arrived_ms, sub + 1);
  set_s(d, CHECKPOINT, record ? slp_mark_seq(&position->mark) : slp_str_of(words[position->kind]));
  set_n(d, SUB, record ? sub : 0);
}

/* Returns 1 if a row can hold the position. A row can't hold the position AT a whole record: the KCL would
 * write the number of the record before that record, and this number is not known. */
static int can_say(const slp_position *position) {
  return position->kind != SLP_POSITION_NONE &&
         !(position->kind == SLP_POSITION_AT && position->mark.sub == 0);
}

/* Sets the checkpoint, and removes the attributes that the KCL removes with a checkpoint. */
static void set_kcl_checkpoint(slp_row_request *d, const slp_position *position) {
  set_position(d, position);
  set_n(d, SWITCHES, 0);
  remove_kcl_attr(d, "pendingCheckpoint");
  remove_kcl_attr(d, "pendingCheckpointSubSequenceNumber");
  remove_kcl_attr(d, "pendingCheckpointState");
}

/* ---- operations -------------------------------------------------------------------------------------- */

/* Returns the stream's name as this worker's rows have it; empty: they do not name the stream. */
static slp_str name_in_rows(const kcl_schema *s) {
  return s->key == SLP_KCL_KEY_PLAIN ? none_s : slp_buf_str(&s->names[s->key == SLP_KCL_KEY_ALIAS]);
}

static void build_kcl_create(kcl_schema *s, slp_row_request *d, const slp_operation *i) {
  slp_str parents[2];
  size_t n = 0;
  d->write->kind = SLP_WRITE_PUT;
  slp_row_request_when(d, "leaseKey", SLP_TEST_ABSENT, none, 0);
  set_n(d, COUNTER, i->epoch_first);
  set_n(d, SWITCHES, 0);
  set_position(d, &i->position);
  for (int k = 0; k < 2; k++)
    if (i->parents[k].n) parents[n++] = i->parents[k];
  if (n) slp_row_request_change(d, "parentShardId", SLP_SET, slp_row_request_set(d, parents, n));
  if (i->shards_n)
    slp_row_request_change(d, "childShardIds", SLP_SET, slp_row_request_set(d, i->shards, i->shards_n));
  if (i->hash_start.n && i->hash_end.n) {
    set_s(d, "startingHashKey", i->hash_start);
    set_s(d, "endingHashKey", i->hash_end);
  }
  if (s->tagged) set_s(d, ENTITY, SLP_STR("LEASE"));
  if (!name_in_rows(s).n) return;
  set_s(d, "streamName", name_in_rows(s));
  set_s(d, "shardId", i->shard);
}

static void when_s(slp_row_request *d, const char *name, slp_str s) {
  if (s.n)
    slp_row_request_when(d, name, SLP_TEST_EQ, slp_row_request_s(d, s), 0);
  else
    slp_row_request_when(d, name, SLP_TEST_ABSENT, none, 0);
}

/* Adds the condition that the attribute is `s`, or absent. */
static void when_or_absent(slp_row_request *d, const char *name, slp_str s) {
  slp_row_request_when(d, name, SLP_TEST_EQ, slp_row_request_s(d, s), 1);
  slp_row_request_when(d, name, SLP_TEST_ABSENT, none, 0);
}

/* Adds the condition that OWNER and HAND_OVER are as they were read. (A leader of KCL 3 changes both without
 * raising the counter.) A worker of KCL 2 that frees a lease leaves HAND_OVER in the row. So if only one name
 * was read, it may be in either attribute. */
static void when_owners(slp_row_request *d, const slp_operation *i) {
  slp_str next = i->claim_asks ? none_s : i->claim;
  if (next.n || !i->owner.n) {
    when_s(d, OWNER, next);
    when_s(d, HAND_OVER, i->owner);
  } else {
    when_or_absent(d, OWNER, i->owner);
    when_or_absent(d, HAND_OVER, i->owner);
  }
}

/* Writes how many KiB of the shard are handed out a second, on average, for a leader of KCL 3. Like the KCL,
 * it writes six decimal places. */
static void set_rate(slp_row_request *d, const slp_operation *i) {
  if (!slp_extra_of(i).tells_rate || i->rate_bytes < 0) return;
  uint64_t bytes = (uint64_t)slp_min_i64(i->rate_bytes, RATE_BYTES_MAX);
  slp_str text = slp_row_request_text(d, "%llu.%06llu", (unsigned long long)(bytes / 1024),
                                      (unsigned long long)(bytes % 1024 * 1000000 / 1024));
  slp_row_request_change(d, RATE, SLP_SET, (slp_val){.kind = SLP_VAL_N, .s = text});
}

static void build_kcl_take(slp_row_request *d, const slp_operation *i) {
  if (!SLP_MUTANT(takes_without_counter)) when_owners(d, i);
  move_on(d, i);
  set_s(d, OWNER, i->me);
  remove_kcl_attr(d, HAND_OVER);
  remove_kcl_attr(d, CLAIM);
  /* 1: the lease is taken from another owner; the row counts such takes */
  int other = i->owner.n && !slp_str_eq(i->owner, i->me);
  if (other) slp_row_request_change(d, SWITCHES, SLP_ADD_N, slp_row_request_n(d, 1));
}

/* Adds the condition that neither OWNER nor HAND_OVER has the name of another worker. */
static void when_alone(slp_row_request *d, const slp_operation *i) {
  when_or_absent(d, OWNER, i->me);
  when_or_absent(d, HAND_OVER, i->me);
}

/* Renews a lease. While this worker knows of no hand-over, the condition is that the row has no other
 * worker's name. So if a leader of KCL 3 has written the next owner's name, the renewal is refused, and this
 * worker learns of the hand-over. From then on only the counter is the condition, until this worker has
 * handed the lease over. If the next owner's name is gone again, the renewal moves this worker's name from
 * HAND_OVER back to OWNER. */
static void build_kcl_renew(slp_row_request *d, const slp_operation *i) {
  if (!i->claim.n || i->claim_asks) {
    when_alone(d, i);
    set_s(d, OWNER, i->me);
    remove_kcl_attr(d, HAND_OVER);
  }
  move_on(d, i);
  set_rate(d, i);
  if (SLP_MUTANT(renews_without_counting)) set_n(d, COUNTER, i->epoch);
}

static void build_kcl_checkpoint(slp_row_request *d, const slp_operation *i) {
  move_on(d, i);
  set_kcl_checkpoint(d, &i->position);
  set_rate(d, i);
}

/* Gives the lease up as the KCL does, and saves the position, if there is one, in the same write. The write
 * is refused if a leader has written the next owner's name, because that name must stay in the row. */
static void build_kcl_release(slp_row_request *d, const slp_operation *i) {
  when_alone(d, i);
  move_on(d, i);
  if (i->position.kind == SLP_POSITION_AFTER) set_kcl_checkpoint(d, &i->position);
  remove_kcl_attr(d, OWNER);
  remove_kcl_attr(d, HAND_OVER);
  remove_kcl_attr(d, CLAIM);
}

/* Hands the lease over to the worker of sloop that asked for it: writes that worker as the owner. */
static void transfer_to_asker(slp_row_request *d, const slp_operation *i) {
  when_s(d, CLAIM, i->to);
  when_alone(d, i);
  set_s(d, OWNER, i->to);
}

/* Hands the lease over to the next owner: the worker of sloop that asked for it, or the worker whose name a
 * leader of KCL 3 has written into OWNER. After this write the next owner may begin to read. */
static void build_kcl_transfer(slp_row_request *d, const slp_operation *i) {
  if (i->claim_asks) {
    transfer_to_asker(d, i);
  } else {
    when_s(d, OWNER, i->to);
    when_s(d, HAND_OVER, i->me);
  }
  move_on(d, i);
  if (i->position.kind == SLP_POSITION_AFTER) set_kcl_checkpoint(d, &i->position);
  remove_kcl_attr(d, HAND_OVER);
  remove_kcl_attr(d, CLAIM);
}

/* Asks the owner for the lease; the owner is a worker of sloop.
 *   - The claim does not change the counter. So the owner's next write succeeds, and its answer shows the
 *     claim.
 *   - The counter is a condition, so a late copy of a claim that was withdrawn is refused.
 *   - A later claim of another worker replaces an earlier one. */
static void build_kcl_claim(slp_row_request *d, const slp_operation *i) {
  slp_row_request_when(d, COUNTER, SLP_TEST_EQ, slp_row_request_n(d, i->epoch), 0);
  when_s(d, OWNER, i->owner);
  when_s(d, HAND_OVER, none_s);
  set_s(d, CLAIM, i->me);
}

static void build_kcl_unclaim(slp_row_request *d, const slp_operation *i) {
  when_s(d, CLAIM, i->me);
  remove_kcl_attr(d, CLAIM);
}

/* Writes the shard's end. The owner's name stays in the row, as with the KCL. */
static void build_kcl_end(slp_row_request *d, const slp_operation *i) {
  slp_position at = {.kind = SLP_POSITION_END};
  move_on(d, i);
  set_kcl_checkpoint(d, &at);
  set_rate(d, i);
  remove_kcl_attr(d, CLAIM);
  if (i->shards_n)
    slp_row_request_change(d, "childShardIds", SLP_SET, slp_row_request_set(d, i->shards, i->shards_n));
}

static void remove_ended(slp_row_request *d) {
  d->write->kind = SLP_WRITE_DELETE;
  slp_row_request_when(d, CHECKPOINT, SLP_TEST_EQ, slp_row_request_s(d, SLP_STR("SHARD_END")), 0);
}

/* Sets the position for an operator. The former owner's next write is refused, because this write raises the
 * counter. */
static void build_kcl_reset(slp_row_request *d, const slp_operation *i) {
  when_owners(d, i);
  move_on(d, i);
  set_kcl_checkpoint(d, &i->position);
  remove_kcl_attr(d, OWNER);
  remove_kcl_attr(d, HAND_OVER);
  remove_kcl_attr(d, CLAIM);
}

/* Writes this worker's load into a row of its own, whose key is the worker's name. `sts` has averages of the
 * processor's load, the newest last; if it has none, a leader uses the throughput of the leases instead.
 * `opr` has the limit for these averages. `sup` 1: this worker can also write its load into the table of
 * leases. */
static void build_kcl_publish(slp_row_request *d, const slp_operation *i) {
  slp_operation_extra x = slp_extra_of(i);
  slp_str used = slp_row_request_text(d, x.cpu_n ? "{\"M\":{\"C\":{\"L\":[" : "{\"M\":{}}");
  for (size_t k = 0; k < x.cpu_n; k++)
    used.n += slp_row_request_text(d, "%s{\"N\":\"%u.%03u\"}", k ? "," : "", x.cpu_millis[k] / 1000,
                                   x.cpu_millis[k] % 1000)
                  .n;
  /* the pieces follow each other in memory, so together they are one text */
  if (x.cpu_n) used.n += slp_row_request_text(d, "]}}}").n;
  slp_str most =
      slp_row_request_text(d, x.cpu_n ? "{\"M\":{\"C\":{\"L\":[{\"N\":\"100\"}]}}}" : "{\"M\":{}}");
  uint64_t wall_s = (uint64_t)slp_max_i64(i->wall_ms, 0) / 1000;
  d->write->rq.table = x.table;
  d->write->key.hash = slp_row_request_copy(d, i->me);
  set_n(d, "lut", wall_s);
  slp_row_request_change(d, "sts", SLP_SET, (slp_val){.kind = SLP_VAL_OTHER, .s = used});
  slp_row_request_change(d, "opr", SLP_SET, (slp_val){.kind = SLP_VAL_OTHER, .s = most});
  set_n(d, "sup", 1);
  set_n(d, "slu", wall_s);
  set_s(d, ENTITY, SLP_STR("WORKER_METRIC_STATS"));
}

static void build_kcl_withdraw(slp_row_request *d, const slp_operation *i) {
  d->write->kind = SLP_WRITE_DELETE;
  d->write->rq.table = slp_extra_of(i).table;
  d->write->key.hash = slp_row_request_copy(d, i->me);
}

static slp_str key_of(kcl_schema *s, slp_row_request *d, slp_str shard) {
  slp_str key = slp_row_request_copy(d, name_in_rows(s));
  /* the copies follow each other in memory, so together they are one text */
  if (key.n) key.n += slp_row_request_copy(d, SLP_STR(":")).n;
  key.n += slp_row_request_copy(d, shard).n;
  return key;
}

static size_t text_bytes(const kcl_schema *s, const slp_operation *i) {
  size_t n =
      1024 + 2 * name_in_rows(s).n + 3 * i->me.n + i->owner.n + i->claim.n + 2 * i->to.n + 3 * i->shard.n;
  n += slp_extra_of(i).cpu_n * 32;
  n += i->parents[0].n + i->parents[1].n + i->hash_start.n + i->hash_end.n;
  for (size_t k = 0; k < i->shards_n; k++) n += i->shards[k].n;
  return n;
}

static int row_key(slp_schema *base, slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  kcl_schema *s = kcl_schema_of(base);
  slp_str shard = i->kind >= SLP_OPERATION_CREATE ? i->shard : (slp_str){NULL, 0};
  if (slp_row_request_begin(d, SLP_WRITE_UPDATE, text_bytes(s, i), 0)) return SLP_ENOMEM;
  *ret = (slp_row_key){key_of(s, d, shard), {NULL, 0}};
  return 0;
}

static const slp_set operations =
    SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_TAKE) | SLP_BIT(SLP_OPERATION_RETAKE) |
    SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RELEASE) | SLP_BIT(SLP_OPERATION_END) |
    SLP_BIT(SLP_OPERATION_REMOVE) | SLP_BIT(SLP_OPERATION_RESET) | SLP_BIT(SLP_GUEST_RENEW) |
    SLP_BIT(SLP_OPERATION_TRANSFER) | SLP_BIT(SLP_OPERATION_CLAIM) | SLP_BIT(SLP_GUEST_UNCLAIM) |
    SLP_BIT(SLP_GUEST_PUBLISH) | SLP_BIT(SLP_GUEST_WITHDRAW);

static int write_operation(slp_schema *base, slp_row_request *d, const slp_operation *i) {
  kcl_schema *s = kcl_schema_of(base);
  int places = i->kind == SLP_OPERATION_CREATE || i->kind == SLP_OPERATION_CHECKPOINT ||
               i->kind == SLP_OPERATION_RESET;
  if (!slp_set_has(operations, i->kind) || (places && !can_say(&i->position))) return SLP_EINVAL;
  if (slp_row_request_begin(d, SLP_WRITE_UPDATE, text_bytes(s, i), i->shards_n + 2)) return SLP_ENOMEM;
  d->write->key = (slp_row_key){key_of(s, d, i->shard), {NULL, 0}};
  switch ((unsigned)i->kind) {
    case SLP_OPERATION_CREATE: build_kcl_create(s, d, i); return 0;
    case SLP_OPERATION_TAKE:
    case SLP_OPERATION_RETAKE: build_kcl_take(d, i); return 0;
    case SLP_OPERATION_CHECKPOINT: build_kcl_checkpoint(d, i); return 0;
    case SLP_OPERATION_RELEASE: build_kcl_release(d, i); return 0;
    case SLP_OPERATION_END: build_kcl_end(d, i); return 0;
    case SLP_OPERATION_REMOVE: remove_ended(d); return 0;
    case SLP_OPERATION_RESET: build_kcl_reset(d, i); return 0;
    case SLP_GUEST_RENEW: build_kcl_renew(d, i); return 0;
    case SLP_OPERATION_TRANSFER: build_kcl_transfer(d, i); return 0;
    case SLP_OPERATION_CLAIM: build_kcl_claim(d, i); return 0;
    case SLP_GUEST_UNCLAIM: build_kcl_unclaim(d, i); return 0;
    case SLP_GUEST_PUBLISH: build_kcl_publish(d, i); return 0;
    case SLP_GUEST_WITHDRAW: build_kcl_withdraw(d, i); return 0;
    default: return SLP_EINVAL;
  }
}

/* ---- the schema ------------------------------------------------------------------------------------- */

static void describe_kcl_table(slp_schema *s, const char *name, slp_table_spec *ret) {
  (void)s;
  *ret = (slp_table_spec){name, "leaseKey", NULL};
}

/* KCL 3.0 to 3.4 create these two further tables. KCL 3.5 has the same rows in the table of leases. */
static int side_table(slp_schema *base, uint8_t n, slp_table_spec *ret) {
  const kcl_schema *s = kcl_schema_of(base);
  if (!s->metrics || n < 1 || n > 2) return 0;
  *ret = n == 1 ? (slp_table_spec){s->beside.p, "key", NULL, 1}
                : (slp_table_spec){s->beside.p + s->metrics, "wid", NULL, 1};
  return 1;
}

int slp_schema_kcl_beside(slp_schema *base, const char *coordinator, const char *metrics) {
  kcl_schema *s = kcl_schema_of(base);
  int r = slp_buf_add(&s->beside, coordinator, strlen(coordinator) + 1);
  size_t at = s->beside.n;
  if (!r) r = slp_buf_add(&s->beside, metrics, strlen(metrics) + 1);
  if (!r) s->metrics = at;
  return r ? SLP_ENOMEM : 0;
}

/* The scope is the whole table, because the keys of KCL rows have no common beginning. */
static void set_kcl_scope(slp_schema *base, slp_str *ret_hash, slp_str *ret_prefix) {
  (void)base;
  *ret_hash = *ret_prefix = (slp_str){"", 0};
}

static void schema_free(slp_schema *base) {
  kcl_schema *s = kcl_schema_of(base);
  slp_mem *mem = s->mem;
  for (size_t i = 0; i < SLP_KCL_NAMES; i++) slp_buf_free(&s->names[i]);
  slp_buf_free(&s->beside);
  slp_free(mem, s);
  slp_mem_drop(mem);
}

int slp_schema_kcl_named(slp_schema *base, slp_str name, slp_str alias) {
  slp_buf *names = kcl_schema_of(base)->names;
  slp_buf_clear(&names[0]);
  slp_buf_clear(&names[1]);
  return slp_buf_add_str(&names[0], name) || slp_buf_add_str(&names[1], alias) ? SLP_ENOMEM : 0;
}

slp_schema *slp_schema_kcl(slp_mem *mem, slp_str stream, int64_t start_ms) {
  kcl_schema *s = SLP_NEW(mem, kcl_schema);
  if (!s) return NULL;
  s->mem = slp_mem_hold(mem);
  s->start_ms = start_ms;
  s->base = (slp_schema){
      .name = "kcl",
      .refused = REFUSED,
      /* the attribute for clear_ms: until this time, all records after the position are accounted for
       * (lease/clear.h) */
      .clear = "sloopClear",
      .strategy = &slp_strategy_kcl.base,
      .idle_places = 1,
      .operations = operations,
      .table = describe_kcl_table,
      .side_table = side_table,
      .scope = set_kcl_scope,
      .form = decide_form,
      .read = read_row,
      .hint = read_hint,
      .key = row_key,
      .write = write_operation,
      .free = schema_free,
  };
  s->several = stream.n > 0;
  s->key = s->several ? SLP_KCL_KEY_OURS : SLP_KCL_KEY_PLAIN;
  for (size_t i = 0; i < SLP_KCL_NAMES; i++) slp_buf_init(&s->names[i], mem, 1024);
  slp_buf_init(&s->beside, mem, 1024);
  if (slp_buf_add_str(&s->names[0], stream) == 0) return &s->base;
  schema_free(&s->base);
  return NULL;
}

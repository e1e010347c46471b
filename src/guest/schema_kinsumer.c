/* schema_kinsumer.c - the three tables of github.com/twitchscience/kinsumer, as its clients read and write
 * them: APP_checkpoints (key Shard, a row for each shard), APP_clients (key ID, a row for each client) and
 * APP_metadata (key Key, the rows ShardCache and Leader).
 *
 *   - A time is a number, LastUpdate, in nanoseconds since 1970. A second attribute has it as a text,
 *     which no program reads.
 *   - A shard belongs to its owner until LastUpdate is five of the fleet's check periods old. Five check
 *     periods are the lease time here, and the time at which they are over is the epoch. Each write by which
 *     a worker of sloop proves its life sets LastUpdate to the present. Its condition is that LastUpdate is
 *     still as the worker knows it.
 *   - The Go program writes whole rows, which erases attributes of sloop. Sloop changes single attributes,
 *     so what other programs have written into a row stays.
 *   - The Go program writes {"NULL": true} for a value that it does not have, and can't write an empty
 *     text. An attribute of another type makes the Go program's decoder fail, in every client of the
 *     application. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/states.h"
#include "codec/date.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "core/mark.h"
#include "core/position.h"
#include "guest/guest_operations.h"
#include "guest/guest_schemas.h"
#include "guest/other_stream.h"
#include "guest/strategies.h"
#include "lease/instance.h"
#include "lease/schema.h"
#include "lease/shard_set.h"
#include "lease/store.h"

#include <stdio.h>

/* the attribute that remembers a position that the service refuses (lease/refused.c) */
#define REFUSED "SloopRefused"
#define SHARD "Shard"
#define SEQUENCE "SequenceNumber"
#define UPDATED "LastUpdate"
#define UPDATED_TEXT "LastUpdateRFC"
#define OWNER "OwnerID"
#define OWNER_NAME "OwnerName"
#define FINISHED "Finished"
#define FINISHED_TEXT "FinishedRFC"
#define CLIENT "ID"
#define CLIENT_NAME "Name"
#define KEY "Key"
#define SHARDS "ShardIDs"
#define ROW_LEADER "Leader"
#define ROW_SHARDS "ShardCache"
#define LATEST "LATEST"

#define NS_PER_MS UINT64_C(1000000)
/* The numbers of two of the three tables (slp_store_req.table). APP_checkpoints has the number 0. */
#define CLIENTS 1
#define METADATA 2
#define TABLES 3

typedef struct kinsumer_schema {
  slp_schema base;
  slp_mem *mem; /* the schema holds a reference to it */
  uint64_t lease_ns;
  char *names[TABLES]; /* owned */
  /* The list in the ShardCache row that was read last. shards_text has its texts; `shards` is an array that
   * points into them. */
  slp_buf shards_text;
  slp_str *shards; /* owned */
  size_t shards_cap;
} kinsumer_schema;

static kinsumer_schema *kinsumer_schema_of(slp_schema *s) { return SLP_OWNER(s, kinsumer_schema, base); }

static const slp_val none = {SLP_VAL_NONE, {NULL, 0}, NULL, 0};
static const slp_val null = {SLP_VAL_NULL, {NULL, 0}, NULL, 1};

/* ---- reading ---------------------------------------------------------------------------------------- */

static const slp_val *get(const slp_row *row, const char *name) { return slp_row_get(row, slp_str_of(name)); }

static int is_nothing(const slp_val *v) { return v->kind == SLP_VAL_NONE || v->kind == SLP_VAL_NULL; }

static slp_str kinsumer_row_text(const slp_row *row, const char *name) {
  const slp_val *v = get(row, name);
  return v->kind == SLP_VAL_S ? v->s : (slp_str){NULL, 0};
}

/* Returns 1 if the attribute is absent, NULL, or a text that is not empty. (The Go program can't write an
 * empty text.) */
static int is_text(const slp_row *row, const char *name) {
  const slp_val *v = get(row, name);
  return is_nothing(v) || (v->kind == SLP_VAL_S && v->s.n);
}

static int is_time(const slp_row *row, const char *name) {
  return is_nothing(get(row, name)) ||
         (get(row, name)->kind == SLP_VAL_N && slp_row_int(row, slp_str_of(name), -1) >= 0);
}

static uint64_t time_of(const slp_row *row) {
  int64_t ns = slp_row_int(row, SLP_STR(UPDATED), 0);
  return ns > 0 ? (uint64_t)ns : 0;
}

static slp_position read_position(const slp_row *row) {
  slp_position position = {.kind = SLP_POSITION_NONE};
  slp_str at = kinsumer_row_text(row, SEQUENCE);
  if (get(row, FINISHED)->kind == SLP_VAL_N) {
    position.kind = SLP_POSITION_END;
  } else if (is_nothing(get(row, SEQUENCE))) {
    position.kind = SLP_POSITION_OLDEST;
  } else if (slp_str_is(at, LATEST)) {
    position.kind = SLP_POSITION_LATEST;
  } else if (at.n && at.n <= SLP_SEQ_MAX && slp_num_valid(at)) {
    position.kind = SLP_POSITION_AFTER;
    slp_mark_set(&position.mark, at, UINT32_MAX, -1);
  }
  return position;
}

static const char *wrong_lease(const slp_row *row, const slp_lease_row *l) {
  if (!is_time(row, UPDATED)) return "its " UPDATED " is no time in nanoseconds";
  if (!is_time(row, FINISHED)) return "its " FINISHED " is no time in nanoseconds";
  if (!is_text(row, OWNER)) return "its " OWNER " is no text";
  if (!is_text(row, OWNER_NAME)) return "its " OWNER_NAME " is no text";
  if (!is_text(row, UPDATED_TEXT)) return "its " UPDATED_TEXT " is no text";
  if (!is_text(row, FINISHED_TEXT)) return "its " FINISHED_TEXT " is no text";
  if (l->shard.n > SLP_SHARD_ID_MAX) return "it names no shard";
  if (l->owner.n > SLP_NAME_MAX) return "its " OWNER " is too long a name";
  if (l->position.kind == SLP_POSITION_NONE) return "its " SEQUENCE " can't be understood";
  return NULL;
}

/* Returns 1 if the row has attributes besides its key, but no attribute that kinsumer's rows have. */
static int is_foreign(const slp_row *row) {
  static const char *const known[] = {OWNER,    OWNER_NAME, UPDATED,      UPDATED_TEXT,
                                      SEQUENCE, FINISHED,   FINISHED_TEXT};
  for (size_t i = 0; i < SLP_COUNT(known); i++)
    if (get(row, known[i])->kind != SLP_VAL_NONE) return 0;
  return row->n > 1;
}

static void read_lease(const kinsumer_schema *s, const slp_row *row, slp_parsed_row *f) {
  slp_lease_row *l = &f->u.lease;
  f->key.hash = l->shard = kinsumer_row_text(row, SHARD);
  if (is_foreign(row)) {
    f->kind = SLP_ROW_BAD;
    f->foreign = 1;
    f->why = "it has none of " OWNER ", " UPDATED " and " SEQUENCE ": it is not kinsumer's";
    return;
  }
  l->owner = kinsumer_row_text(row, OWNER);
  l->epoch = get(row, UPDATED)->kind == SLP_VAL_N ? time_of(row) + s->lease_ns : 0;
  l->position = read_position(row);
  l->wall_ms = l->owner.n && l->epoch ? (int64_t)(time_of(row) / NS_PER_MS) : -1;
  l->behind_ms = -1;
  f->why = wrong_lease(row, l);
  f->kind = f->why ? SLP_ROW_BAD : SLP_ROW_LEASE;
}

static void read_client(const kinsumer_schema *s, const slp_row *row, slp_parsed_row *f) {
  slp_worker_row *w = &f->u.worker;
  f->key.hash = w->id = kinsumer_row_text(row, CLIENT);
  w->counter = time_of(row);
  w->host = kinsumer_row_text(row, CLIENT_NAME);
  w->wall_ms = (int64_t)(w->counter / NS_PER_MS);
  w->lease_ms = (uint32_t)(s->lease_ns / NS_PER_MS);
  w->weight = 1;
  w->behind_ms = w->rate_bytes = -1;
  if (!is_time(row, UPDATED)) f->why = "its " UPDATED " is no time in nanoseconds";
  if (!is_text(row, CLIENT_NAME)) f->why = "its " CLIENT_NAME " is no text";
  if (!is_text(row, UPDATED_TEXT)) f->why = "its " UPDATED_TEXT " is no text";
  if (w->id.n > SLP_NAME_MAX) f->why = "its " CLIENT " is too long a name";
  f->kind = f->why ? SLP_ROW_BAD : SLP_ROW_WORKER;
}

static void read_leader(const slp_row *row, slp_parsed_row *f) {
  slp_leadership_row *l = &f->u.leadership;
  l->owner = kinsumer_row_text(row, CLIENT);
  l->epoch = time_of(row);
  if (!is_time(row, UPDATED)) f->why = "its " UPDATED " is no time in nanoseconds";
  if (!is_text(row, CLIENT)) f->why = "its " CLIENT " is no text";
  f->kind = f->why ? SLP_ROW_BAD : SLP_ROW_LEADERSHIP;
}

/* Adds a shard to s->shards. Returns 1, SLP_ENOMEM or SLP_EBADDATA. */
static int add_shard(kinsumer_schema *s, size_t *n, slp_str id) {
  size_t at = s->shards_text.n;
  if (!id.n || id.n > SLP_SHARD_ID_MAX) return SLP_EBADDATA;
  if (*n == s->shards_cap) {
    slp_str *more = slp_doubled(s->mem, s->shards, &s->shards_cap, 16, sizeof *more);
    if (!more) return SLP_ENOMEM;
    s->shards = more;
  }
  slp_buf_add_str(&s->shards_text, id); /* can't fail, because read_ids has reserved the memory */
  s->shards[(*n)++] = (slp_str){s->shards_text.p + at, id.n};
  return 1;
}

static int next_token_is(slp_json *j, int token) { return slp_json_next(j) == token; }
static int comes_key(slp_json *j, const char *key) {
  return next_token_is(j, SLP_JSON_KEY) && slp_str_is(j->text, key);
}

/* Reads the next ID of {"L": [{"S": ID}, ...]}. Returns 1 and sets *ret, 0 at the end, or SLP_EBADDATA. */
static int next_shard(slp_json *j, slp_str *ret) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_ARRAY_END) return 0;
  if (token != SLP_JSON_OBJECT || !comes_key(j, "S")) return SLP_EBADDATA;
  if (!next_token_is(j, SLP_JSON_STRING) || j->escaped) return SLP_EBADDATA;
  *ret = j->text;
  return next_token_is(j, SLP_JSON_OBJECT_END) ? 1 : SLP_EBADDATA;
}

static int read_list(kinsumer_schema *s, slp_str json, size_t *n) {
  slp_json j;
  slp_str id;
  slp_json_begin(&j, (char *)(uintptr_t)json.p, json.n);
  j.keep = 1;
  int r = next_token_is(&j, SLP_JSON_OBJECT) && comes_key(&j, "L") && next_token_is(&j, SLP_JSON_ARRAY)
              ? 1
              : SLP_EBADDATA;
  while (r == 1 && (r = next_shard(&j, &id)) == 1) r = add_shard(s, n, id);
  return r;
}

static size_t shards_bytes(const slp_val *v) {
  size_t bytes = v->s.n;
  for (size_t i = 0; v->kind == SLP_VAL_SS && i < v->n; i++) bytes += v->items[i].n;
  return bytes;
}

static int read_ids(kinsumer_schema *s, const slp_val *v, size_t *n) {
  slp_buf_clear(&s->shards_text);
  if (is_nothing(v)) return 0;
  if (slp_buf_reserve(&s->shards_text, shards_bytes(v) + 1)) return SLP_ENOMEM;
  if (v->kind == SLP_VAL_OTHER) return read_list(s, v->s, n);
  if (v->kind != SLP_VAL_SS) return SLP_EBADDATA;
  for (size_t i = 0; i < v->n; i++) {
    int r = add_shard(s, n, v->items[i]);
    if (r != 1) return r;
  }
  return 0;
}

static void read_shards(kinsumer_schema *s, const slp_row *row, slp_parsed_row *f) {
  slp_assignment_row *a = &f->u.assignment;
  a->version = time_of(row);
  int r = read_ids(s, get(row, SHARDS), &a->plus_n);
  a->plus = s->shards;
  if (r == SLP_ENOMEM) f->why = "there is no memory for it";
  if (r == SLP_EBADDATA) f->why = "its " SHARDS " is no list of shards";
  if (!is_time(row, UPDATED)) f->why = "its " UPDATED " is no time in nanoseconds";
  f->kind = f->why ? SLP_ROW_BAD : SLP_ROW_ASSIGNMENT;
}

/* Reads a row of any of the three tables. The name of the row's key attribute shows which table the row is
 * from. */
static void read_row(slp_schema *base, const slp_row *row, slp_parsed_row *f) {
  memset(f, 0, sizeof *f);
  slp_str key = kinsumer_row_text(row, KEY);
  if (kinsumer_row_text(row, SHARD).n) {
    read_lease(kinsumer_schema_of(base), row, f);
  } else if (key.n) {
    f->key.hash = key;
    if (slp_str_is(key, ROW_LEADER)) read_leader(row, f);
    if (slp_str_is(key, ROW_SHARDS)) read_shards(kinsumer_schema_of(base), row, f);
  } else if (kinsumer_row_text(row, CLIENT).n) {
    read_client(kinsumer_schema_of(base), row, f);
  }
}

/* ---- conditions and changes ------------------------------------------------------------------------- */

static void set_kinsumer_text(slp_row_request *d, const char *name, slp_str s) {
  slp_row_request_change(d, name, SLP_SET, s.n ? slp_row_request_s(d, s) : null);
}
static void remove_kinsumer_attr(slp_row_request *d, const char *name) {
  slp_row_request_change(d, name, SLP_REMOVE, none);
}

/* Sets a time twice: as a number, and as a text in the form of Go's RFC1123Z in UTC, such as "Tue, 14 Nov
 * 2023 22:13:20 +0000". */
static void set_time(slp_row_request *d, const char *name, const char *name_text, uint64_t ns) {
  char http[30];
  slp_date_http((int64_t)(ns / NS_PER_MS), http);
  slp_row_request_change(d, name, SLP_SET, slp_row_request_n(d, ns));
  set_kinsumer_text(d, name_text, slp_row_request_text(d, "%.25s +0000", http));
}

static uint64_t wall_ns(const slp_operation *i) {
  return i->wall_ms > 0 ? (uint64_t)i->wall_ms * NS_PER_MS : 1;
}

static void set_now(slp_row_request *d, const slp_operation *i) {
  set_time(d, UPDATED, UPDATED_TEXT, wall_ns(i));
}

static void when_text(slp_row_request *d, const char *name, slp_str s) {
  if (s.n) {
    slp_row_request_when(d, name, SLP_TEST_EQ, slp_row_request_s(d, s), 0);
  } else {
    slp_row_request_when(d, name, SLP_TEST_ABSENT, none, 1);
    slp_row_request_when(d, name, SLP_TEST_EQ, null, 0);
  }
}

static void when_updated(slp_row_request *d, uint64_t ns) {
  if (!ns) {
    slp_row_request_when(d, UPDATED, SLP_TEST_ABSENT, none, 1);
    slp_row_request_when(d, UPDATED, SLP_TEST_EQ, null, 1);
  }
  slp_row_request_when(d, UPDATED, SLP_TEST_EQ, slp_row_request_n(d, ns), 0);
}

static void when_time(const kinsumer_schema *s, slp_row_request *d, uint64_t epoch) {
  when_updated(d, epoch > s->lease_ns ? epoch - s->lease_ns : 0);
}

static void when_not_finished(slp_row_request *d) {
  slp_row_request_when(d, FINISHED, SLP_TEST_ABSENT, none, 1);
  slp_row_request_when(d, FINISHED, SLP_TEST_EQ, null, 0);
}

static void when_mine(const kinsumer_schema *s, slp_row_request *d, const slp_operation *i) {
  when_text(d, OWNER, i->me);
  when_time(s, d, i->epoch);
}

static void set_owned_update_time(const kinsumer_schema *s, slp_row_request *d, const slp_operation *i) {
  uint64_t after = slp_epoch_after(i);
  set_time(d, UPDATED, UPDATED_TEXT, after > s->lease_ns ? after - s->lease_ns : 1);
}

static void remove_kinsumer_owner(slp_row_request *d) {
  remove_kinsumer_attr(d, OWNER);
  remove_kinsumer_attr(d, OWNER_NAME);
}

static slp_str name_of(slp_str instance) {
  slp_str id, incarnation;
  return slp_instance_split(instance, &id, &incarnation) ? id : instance;
}

static void set_sequence(slp_row_request *d, const slp_position *p) {
  slp_str at = {NULL, 0};
  if (p->kind == SLP_POSITION_LATEST) at = SLP_STR(LATEST);
  if (p->kind == SLP_POSITION_AFTER) at = slp_mark_seq(&p->mark);
  set_kinsumer_text(d, SEQUENCE, at);
}

static void set_finished_time(slp_row_request *d, const slp_operation *i) {
  set_time(d, FINISHED, FINISHED_TEXT, wall_ns(i));
}

static void clear_finished_time(slp_row_request *d) {
  slp_row_request_change(d, FINISHED, SLP_SET, null);
  slp_row_request_change(d, FINISHED_TEXT, SLP_SET, null);
}

static int can_say(const slp_position *p) {
  return p->kind == SLP_POSITION_END || p->kind == SLP_POSITION_OLDEST || p->kind == SLP_POSITION_LATEST ||
         (p->kind == SLP_POSITION_AFTER && p->mark.sub == UINT32_MAX);
}

/* ---- operations on shards ---------------------------------------------------------------------------- */

static void build_kinsumer_create(slp_row_request *d, const slp_operation *i) {
  d->write->kind = SLP_WRITE_PUT;
  slp_row_request_when(d, SHARD, SLP_TEST_ABSENT, none, 0);
  set_sequence(d, &i->position);
  set_now(d, i);
  if (i->position.kind == SLP_POSITION_END)
    set_finished_time(d, i);
  else
    clear_finished_time(d);
}

static void build_kinsumer_take(const kinsumer_schema *s, slp_row_request *d, const slp_operation *i) {
  when_text(d, OWNER, i->owner);
  when_time(s, d, i->epoch);
  when_not_finished(d);
  set_kinsumer_text(d, OWNER, i->me);
  set_kinsumer_text(d, OWNER_NAME, name_of(i->me));
  set_owned_update_time(s, d, i);
}

static void build_kinsumer_renew(const kinsumer_schema *s, slp_row_request *d, const slp_operation *i) {
  when_mine(s, d, i);
  set_owned_update_time(s, d, i);
}

static void build_kinsumer_release(const kinsumer_schema *s, slp_row_request *d, const slp_operation *i) {
  when_mine(s, d, i);
  if (i->position.kind == SLP_POSITION_AFTER) set_sequence(d, &i->position);
  remove_kinsumer_owner(d);
}

/* Sets the shard's end, and the number of its last record. A Go client may read a finished shard once more,
 * and then begins at that number. */
static void build_kinsumer_end(const kinsumer_schema *s, slp_row_request *d, const slp_operation *i) {
  slp_str last = slp_mark_seq(&i->position.mark);
  when_mine(s, d, i);
  if (last.n) set_kinsumer_text(d, SEQUENCE, last);
  set_finished_time(d, i);
  remove_kinsumer_owner(d);
}

/* Sets the position for an operator. The former owner's next write is refused, because the row does not have
 * its name any more. */
static void build_kinsumer_reset(const kinsumer_schema *s, slp_row_request *d, const slp_operation *i) {
  when_text(d, OWNER, i->owner);
  when_time(s, d, i->epoch);
  set_sequence(d, &i->position);
  if (i->position.kind == SLP_POSITION_END)
    set_finished_time(d, i);
  else
    clear_finished_time(d);
  remove_kinsumer_owner(d);
}

/* ---- operations on clients, leader and shard cache ----------------------------------------------------- */

static void build_kinsumer_lead(slp_row_request *d, const slp_operation *i) {
  when_text(d, CLIENT, i->owner);
  when_updated(d, i->epoch);
  set_kinsumer_text(d, CLIENT, i->me);
  set_kinsumer_text(d, CLIENT_NAME, name_of(i->me));
  set_now(d, i);
}

static void build_kinsumer_resign(slp_row_request *d, const slp_operation *i) {
  when_text(d, CLIENT, i->me);
  remove_kinsumer_attr(d, CLIENT);
  set_now(d, i);
}

static size_t list_bytes(const slp_operation *i) {
  size_t bytes = 16;
  for (size_t k = 0; k < i->shards_n; k++) bytes += 6 * i->shards[k].n + 16;
  return bytes;
}

static void cache_shards(slp_row_request *d, const slp_operation *i) {
  size_t at = d->texts.n;
  slp_jw w = slp_jw_begin(&d->texts);
  slp_jw_array(&w, "L");
  for (size_t k = 0; k < i->shards_n; k++) {
    slp_jw_object(&w, NULL);
    slp_jw_str(&w, "S", i->shards[k]);
    slp_jw_object_end(&w);
  }
  slp_jw_array_end(&w);
  slp_jw_object_end(&w);
  slp_val list = {.kind = SLP_VAL_OTHER, .s = {d->texts.p + at, d->texts.n - at}};
  when_updated(d, i->version);
  slp_row_request_change(d, SHARDS, SLP_SET, list);
  set_now(d, i);
}

/* ---- requests ---------------------------------------------------------------------------------------- */

static uint8_t table_of(slp_operation_kind kind) {
  switch ((unsigned)kind) {
    case SLP_GUEST_PUBLISH:
    case SLP_GUEST_WITHDRAW:
    case SLP_OPERATION_REAP: return CLIENTS;
    case SLP_OPERATION_LEAD:
    case SLP_OPERATION_RESIGN:
    case SLP_OPERATION_ASSIGN: return METADATA;
    default: return 0;
  }
}

static slp_str name_of_row(const slp_operation *i) {
  switch ((unsigned)i->kind) {
    case SLP_GUEST_PUBLISH:
    case SLP_GUEST_WITHDRAW: return i->me;
    case SLP_OPERATION_REAP: return i->id;
    case SLP_OPERATION_LEAD:
    case SLP_OPERATION_RESIGN: return SLP_STR(ROW_LEADER);
    case SLP_OPERATION_ASSIGN: return SLP_STR(ROW_SHARDS);
    default: return i->kind >= SLP_OPERATION_CREATE ? i->shard : (slp_str){NULL, 0};
  }
}

static int begin_kinsumer_request(slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  slp_str name = name_of_row(i);
  size_t list = i->kind == SLP_OPERATION_ASSIGN ? list_bytes(i) : 0;
  if (slp_row_request_begin(d, SLP_WRITE_UPDATE, 1024 + 3 * i->me.n + i->owner.n + name.n + list, 0))
    return SLP_ENOMEM;
  d->write->rq.table = table_of(i->kind);
  *ret = (slp_row_key){slp_row_request_copy(d, name), {NULL, 0}};
  return 0;
}

static int row_key(slp_schema *base, slp_row_request *d, const slp_operation *i, slp_row_key *ret) {
  (void)base;
  return begin_kinsumer_request(d, i, ret);
}

static const slp_set operations =
    SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_TAKE) | SLP_BIT(SLP_OPERATION_RETAKE) |
    SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RELEASE) | SLP_BIT(SLP_OPERATION_END) |
    SLP_BIT(SLP_OPERATION_RESET) | SLP_BIT(SLP_GUEST_RENEW) | SLP_BIT(SLP_GUEST_PUBLISH) |
    SLP_BIT(SLP_GUEST_WITHDRAW) | SLP_BIT(SLP_OPERATION_REAP) | SLP_BIT(SLP_OPERATION_LEAD) |
    SLP_BIT(SLP_OPERATION_RESIGN) | SLP_BIT(SLP_OPERATION_ASSIGN);
#define PLACES \
  (SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_CHECKPOINT) | SLP_BIT(SLP_OPERATION_RESET))

static int write_operation(slp_schema *base, slp_row_request *d, const slp_operation *i) {
  const kinsumer_schema *s = kinsumer_schema_of(base);
  if (!slp_set_has(operations, i->kind) || (slp_set_has(PLACES, i->kind) && !can_say(&i->position)))
    return SLP_EINVAL;
  if (begin_kinsumer_request(d, i, &d->write->key)) return SLP_ENOMEM;
  switch ((unsigned)i->kind) {
    case SLP_OPERATION_CREATE: build_kinsumer_create(d, i); return 0;
    case SLP_OPERATION_TAKE: build_kinsumer_take(s, d, i); return 0;
    case SLP_OPERATION_RETAKE:
    case SLP_GUEST_RENEW: build_kinsumer_renew(s, d, i); return 0;
    case SLP_OPERATION_CHECKPOINT:
      build_kinsumer_renew(s, d, i);
      set_sequence(d, &i->position);
      return 0;
    case SLP_OPERATION_RELEASE: build_kinsumer_release(s, d, i); return 0;
    case SLP_OPERATION_END: build_kinsumer_end(s, d, i); return 0;
    case SLP_OPERATION_RESET: build_kinsumer_reset(s, d, i); return 0;
    case SLP_GUEST_PUBLISH:
      set_kinsumer_text(d, CLIENT_NAME, name_of(i->me));
      set_now(d, i);
      return 0;
    case SLP_GUEST_WITHDRAW: d->write->kind = SLP_WRITE_DELETE; return 0;
    case SLP_OPERATION_REAP:
      d->write->kind = SLP_WRITE_DELETE;
      when_updated(d, i->counter);
      return 0;
    case SLP_OPERATION_LEAD: build_kinsumer_lead(d, i); return 0;
    case SLP_OPERATION_RESIGN: build_kinsumer_resign(d, i); return 0;
    case SLP_OPERATION_ASSIGN: cache_shards(d, i); return d->texts.failed ? SLP_EINVAL : 0;
    default: return SLP_EINVAL;
  }
}

/* ---- the schema ------------------------------------------------------------------------------------- */

static void describe_kinsumer_table(slp_schema *base, const char *name, slp_table_spec *ret) {
  /* the names of all three tables begin with the application's name, which is part of names[0] */
  name = kinsumer_schema_of(base)->names[0];
  *ret = (slp_table_spec){name, SHARD, NULL, 0};
}

static int side_table(slp_schema *base, uint8_t n, slp_table_spec *ret) {
  if (n != CLIENTS && n != METADATA) return 0;
  *ret = (slp_table_spec){kinsumer_schema_of(base)->names[n], n == CLIENTS ? CLIENT : KEY, NULL, 0};
  return 1;
}

static void set_kinsumer_scope(slp_schema *base, slp_str *ret_hash, slp_str *ret_prefix) {
  (void)base;
  *ret_hash = *ret_prefix = (slp_str){"", 0};
}

static void schema_free(slp_schema *base) {
  kinsumer_schema *s = kinsumer_schema_of(base);
  slp_mem *mem = s->mem;
  for (int i = 0; i < TABLES; i++) slp_free(mem, s->names[i]);
  slp_buf_free(&s->shards_text);
  slp_free(mem, s->shards);
  slp_free(mem, s);
  slp_mem_drop(mem);
}

slp_schema *slp_schema_kinsumer(slp_mem *mem, const char *app, uint32_t lease_ms) {
  static const char *const ends[TABLES] = {"_checkpoints", "_clients", "_metadata"};
  kinsumer_schema *s = SLP_NEW(mem, kinsumer_schema);
  if (!s) return NULL;
  s->mem = slp_mem_hold(mem);
  s->lease_ns = lease_ms * NS_PER_MS;
  slp_buf_init(&s->shards_text, mem, 1 << 20);
  s->base = (slp_schema){
      .name = "kinsumer",
      .refused = REFUSED,
      .strategy = &slp_strategy_kinsumer.base,
      .whole_records = 1,
      .operations = operations,
      .table = describe_kinsumer_table,
      .side_table = side_table,
      .scope = set_kinsumer_scope,
      .is_other_streams = slp_other_stream_is,
      .read = read_row,
      .key = row_key,
      .write = write_operation,
      .free = schema_free,
  };
  int ok = 1;
  for (int i = 0; i < TABLES; i++) {
    size_t n = strlen(app) + strlen(ends[i]) + 1;
    s->names[i] = slp_alloc(mem, n);
    if (s->names[i])
      snprintf(s->names[i], n, "%s%s", app, ends[i]);
    else
      ok = 0;
  }
  if (ok) return &s->base;
  schema_free(&s->base);
  return NULL;
}

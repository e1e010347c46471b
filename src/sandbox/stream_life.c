/* stream_life.c - creates, finds and deletes streams and their shards, and carries out changes that take
 * time. */
#include "sandbox/model.h"

#include <stdio.h>

#define ON_DEMAND_SHARDS 4
#define RETENTION_DEFAULT_MS (24 * SLP_BOX_HOUR_MS)
#define RECORD_KIB_DEFAULT 1024

int slp_box_name_valid(slp_str name) {
  if (name.n < 1 || name.n > 128) return 0;
  for (size_t i = 0; i < name.n; i++) {
    char ch = name.p[i];
    int letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
    if (!letter && !(ch >= '0' && ch <= '9') && ch != '_' && ch != '.' && ch != '-') return 0;
  }
  return 1;
}

const char *slp_box_status_name(slp_box_status status) {
  switch (status) {
    case SLP_BOX_CREATING: return "CREATING";
    case SLP_BOX_ACTIVE: return "ACTIVE";
    case SLP_BOX_UPDATING: return "UPDATING";
    case SLP_BOX_DELETING: return "DELETING";
  }
  return "?";
}

slp_stream *slp_box_find(slp_box *box, slp_str name) {
  SLP_LIST_EACH(&box->streams, it) {
    slp_stream *s = SLP_OWNER(it, slp_stream, link);
    if (slp_str_is(name, s->name)) return s;
  }
  return NULL;
}

/* Returns NAME of arn:aws:kinesis:REGION:ACCOUNT:stream/NAME. {NULL, 0}: the ARN is not of this form. */
static slp_str name_in_arn(slp_str arn) {
  static const char mark[] = ":stream/";
  for (size_t i = 0; i + sizeof mark - 1 < arn.n; i++) {
    if (memcmp(arn.p + i, mark, sizeof mark - 1) != 0) continue;
    size_t skip = i + sizeof mark - 1;
    return (slp_str){arn.p + skip, arn.n - skip};
  }
  return (slp_str){NULL, 0};
}

slp_stream *slp_box_stream_of(slp_box_call *c) {
  slp_str name = slp_box_text(c, "StreamName"), arn = slp_box_text(c, "StreamARN");
  if (arn.p) {
    slp_str from_arn = name_in_arn(arn);
    if (!from_arn.p || (name.p && !slp_str_eq(name, from_arn))) {
      slp_box_fail(c, "InvalidArgumentException", "StreamARN %.*s is not the ARN of a stream of that name.",
                   (int)slp_min_u64(arn.n, 300), arn.p);
      return NULL;
    }
    name = from_arn;
  }
  if (!name.p) {
    slp_box_fail(c, "InvalidArgumentException", "Either StreamName or StreamARN must be specified.");
    return NULL;
  }
  slp_stream *s = slp_box_find(c->box, name);
  if (!s) {
    slp_box_fail(c, "ResourceNotFoundException", "Stream %.*s under account " SLP_BOX_ACCOUNT " not found.",
                 (int)slp_min_u64(name.n, 300), name.p);
    return NULL;
  }
  slp_box_sweep(c->box, s, c->now_ms);
  return s;
}

/* Returns the index in an id, such as 12 for "shardId-000000000012". -1: the id does not have this form. */
static int64_t index_in_id(slp_str id) {
  static const char prefix[] = "shardId-";
  uint64_t v = 0;
  if (id.n != sizeof prefix - 1 + 12 || memcmp(id.p, prefix, sizeof prefix - 1) != 0) return -1;
  for (size_t i = sizeof prefix - 1; i < id.n; i++) {
    if (id.p[i] < '0' || id.p[i] > '9') return -1;
    v = v * 10 + (uint64_t)(id.p[i] - '0');
  }
  return (int64_t)v;
}

slp_box_shard *slp_box_shard_by_id(const slp_stream *s, slp_str id) {
  int64_t index = index_in_id(id);
  if (index < 0 || index >= (int64_t)s->shards_n || s->shards[index]->gone) return NULL;
  return s->shards[index];
}

slp_box_shard *slp_box_shard_for(slp_stream *s, slp_u128 hash) {
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_box_shard *sh = s->shards[i];
    if (slp_box_shard_open(sh) && hash >= sh->hash_start && hash <= sh->hash_end) return sh;
  }
  return NULL;
}

slp_box_shard *slp_box_open_shard(const slp_stream *s, uint32_t n) {
  for (uint32_t i = 0; i < s->shards_n; i++)
    if (slp_box_shard_open(s->shards[i]) && n-- == 0) return s->shards[i];
  SLP_CHECK(!"there are so many");
  return NULL;
}

uint32_t slp_box_open_shards(const slp_stream *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->shards_n; i++) n += (uint32_t)slp_box_shard_open(s->shards[i]);
  return n;
}

void slp_box_shard_start(const slp_box_shard *sh, char out[SLP_BOX_SEQ_TEXT]) {
  slp_box_seq seq = {.create_s = sh->create_s, .shard = sh->index, .arrive_s = sh->create_s};
  slp_box_seq_text(&seq, out);
}

void slp_box_shard_end(const slp_box_shard *sh, char out[SLP_BOX_SEQ_TEXT]) {
  slp_box_seq seq = {.create_s = sh->create_s,
                     .shard = sh->index,
                     .counter = SLP_BOX_SEQ_END,
                     .arrive_s = (uint64_t)(sh->closed_ms / 1000)};
  slp_box_seq_text(&seq, out);
}

/* ---- creating and freeing ------------------------------------------------------------------------ */
int slp_box_stream_new(slp_box *box, int64_t now_ms, slp_str name, slp_stream **ret) {
  slp_stream *s = SLP_NEW(box->mem, slp_stream);
  if (!s) return SLP_ENOMEM;
  s->name = slp_strdup(box->mem, name);
  if (!s->name) {
    slp_free(box->mem, s);
    return SLP_ENOMEM;
  }
  s->uid = ++box->uids;
  slp_list_init(&s->consumers);
  s->status = SLP_BOX_ACTIVE;
  s->created_ms = now_ms;
  s->trimmed_ms = s->swept_ms = INT64_MIN;
  s->retention_ms = RETENTION_DEFAULT_MS;
  s->record_kib_max = RECORD_KIB_DEFAULT;
  slp_list *at = box->streams.next; /* the list is sorted by name, in the order of ListStreams */
  while (at != &box->streams && strcmp(SLP_OWNER(at, slp_stream, link)->name, s->name) < 0) at = at->next;
  slp_list_insert_before(at, &s->link);
  *ret = s;
  return 0;
}

void slp_box_stream_free(slp_box *box, slp_stream *s) {
  slp_consumers_free(box, s);
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_box_records_free(box, s->shards[i]);
    slp_free(box->mem, s->shards[i]);
  }
  if (s->change != SLP_BOX_NOTHING) box->changes--;
  slp_list_remove(&s->link);
  slp_free(box->mem, s->shards);
  slp_free(box->mem, s->name);
  slp_free(box->mem, s);
}

static void forget_shards(slp_box *box, slp_stream *s, uint32_t keep) {
  while (s->shards_n > keep) {
    slp_box_shard *sh = s->shards[--s->shards_n];
    slp_box_records_free(box, sh);
    slp_free(box->mem, sh);
  }
}

int slp_box_shard_add(slp_box *box, slp_stream *s, int64_t now_ms, slp_u128 from, slp_u128 to,
                      const slp_box_shard *parent, const slp_box_shard *adjacent, slp_box_shard **ret) {
  if (s->shards_n == SLP_BOX_SHARDS_MAX) return SLP_ELIMIT;
  if (s->shards_n == s->shards_cap) {
    uint32_t cap = s->shards_cap ? s->shards_cap * 2 : 8;
    slp_box_shard **shards = slp_realloc(box->mem, s->shards, cap * sizeof(void *));
    if (!shards) return SLP_ENOMEM;
    s->shards = shards;
    s->shards_cap = cap;
  }
  slp_box_shard *sh = SLP_NEW(box->mem, slp_box_shard);
  if (!sh) return SLP_ENOMEM;
  sh->stream = s;
  sh->index = s->shards_n;
  snprintf(sh->id, sizeof sh->id, "shardId-%012u", sh->index);
  sh->hash_start = from;
  sh->hash_end = to;
  sh->parent = parent ? (int64_t)parent->index : -1;
  sh->adjacent_parent = adjacent ? (int64_t)adjacent->index : -1;
  sh->created_ms = now_ms;
  sh->closed_ms = INT64_MAX;
  sh->first = sh->next = 1;
  sh->last_arrived_ms = INT64_MIN;
  sh->create_s = (uint64_t)slp_max_i64(now_ms / 1000, 0);
  /* All sequence numbers of a child must be above all numbers of its parents, even if both were created in
   * the same second. */
  if (parent) sh->create_s = slp_max_u64(sh->create_s, parent->create_s + 1);
  if (adjacent) sh->create_s = slp_max_u64(sh->create_s, adjacent->create_s + 1);
  s->shards[s->shards_n++] = sh;
  *ret = sh;
  return 0;
}

/* Creates `shards` shards with equal parts of the hash key range. The last shard also gets the remainder. */
int slp_box_stream_fill(slp_box *box, slp_stream *s, int64_t now_ms, uint32_t shards) {
  const slp_u128 all = ~(slp_u128)0;
  slp_u128 width = all / shards + (all % shards == shards - 1 ? 1 : 0);
  for (uint32_t i = 0; i < shards; i++) {
    slp_box_shard *sh;
    slp_u128 from = width * i, to = i == shards - 1 ? all : from + width - 1;
    int r = slp_box_shard_add(box, s, now_ms, from, to, NULL, NULL, &sh);
    if (r) {
      forget_shards(box, s, 0);
      return r;
    }
  }
  return 0;
}

/* Carries out a change that is due. If there is no memory, the change stays due, and the next request tries
 * again. */
static void carry_out_due(slp_box *box, slp_stream *s, int64_t now_ms) {
  if (s->change == SLP_BOX_NOTHING || s->change_ms > now_ms) return;
  if (s->change == SLP_BOX_DELETE) {
    slp_box_stream_free(box, s);
    return;
  }
  int r = s->change == SLP_BOX_CREATE ? slp_box_stream_fill(box, s, s->change_ms, s->change_a)
                                      : slp_box_carry_out(box, s, s->change_ms);
  if (r) return;
  s->change = SLP_BOX_NOTHING;
  s->status = SLP_BOX_ACTIVE;
  box->changes--;
}

void slp_box_settle(slp_box *box, int64_t now_ms) {
  if (box->changes == 0) return;
  for (slp_list *it = box->streams.next, *next; it != &box->streams; it = next) {
    next = it->next;
    carry_out_due(box, SLP_OWNER(it, slp_stream, link), now_ms);
  }
}

void slp_box_change_begin(slp_box_call *c, slp_stream *s, slp_box_change change, slp_box_status meanwhile) {
  if (s->change == SLP_BOX_NOTHING) c->box->changes++;
  s->change = change;
  s->status = meanwhile;
  s->change_ms = c->now_ms + c->box->o.change_ms;
}

/* ---- CreateStream, DeleteStream ------------------------------------------------------------------ */
static int not_on_demand(slp_box_call *c) {
  return slp_box_fail(c, "InvalidArgumentException",
                      "RecordDistributionStrategy is only supported for streams in ON_DEMAND mode.");
}

int slp_box_op_create(slp_box_call *c) {
  slp_str name = slp_box_text(c, "StreamName"), strategy = slp_box_text(c, "RecordDistributionStrategy");
  slp_stream *s;
  int on_demand = 0;
  slp_value *mode = slp_box_tree_get(c->in, 0, "StreamModeDetails");
  if (mode) {
    mode = slp_box_tree_get(c->in, slp_box_tree_number(c->in, mode), "StreamMode");
    on_demand = mode && slp_str_is(mode->text, "ON_DEMAND");
  }
  int64_t shards = slp_box_int(c, "ShardCount", on_demand ? ON_DEMAND_SHARDS : 0);
  if (shards == 0) {
    return slp_box_fail(c, "InvalidArgumentException", "ShardCount must be given for a PROVISIONED stream.");
  }
  if (on_demand) shards = ON_DEMAND_SHARDS;
  if (strategy.n && !on_demand) return not_on_demand(c);
  if (slp_box_find(c->box, name)) {
    return slp_box_fail(c, "ResourceInUseException",
                        "Stream %.*s under account " SLP_BOX_ACCOUNT " already exists.", (int)name.n, name.p);
  }
  if (shards > SLP_BOX_SHARDS_MAX / 2) {
    return slp_box_fail(
        c, "LimitExceededException",
        "This request would exceed the shard limit for the account " SLP_BOX_ACCOUNT " in %s.", c->region);
  }
  if (slp_box_stream_new(c->box, c->now_ms, name, &s)) return slp_box_no_memory(c);
  s->on_demand = (uint8_t)on_demand;
  s->spreads = slp_str_is(strategy, "AUTO");
  s->record_kib_max = (uint32_t)slp_box_int(c, "MaxRecordSizeInKiB", s->record_kib_max);
  s->change_a = (uint32_t)shards;
  slp_box_change_begin(c, s, SLP_BOX_CREATE, SLP_BOX_CREATING);
  slp_box_settle(c->box, c->now_ms);
  return 0;
}

/* Changes the record distribution strategy at once, for later records. Records that were already put stay in
 * their shards. All facts about the strategy are from botocore 1.44.8, service model kinesis 2013-12-02. */
int slp_box_op_strategy(slp_box_call *c) {
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return -1;
  if (!s->on_demand) return not_on_demand(c);
  if (s->status != SLP_BOX_ACTIVE)
    return slp_box_fail(c, "ResourceInUseException",
                        "Stream %s under account " SLP_BOX_ACCOUNT " is not ACTIVE, it is %s.", s->name,
                        slp_box_status_name(s->status));
  s->spreads = slp_str_is(slp_box_text(c, "RecordDistributionStrategy"), "AUTO");
  return 0;
}

int slp_box_op_delete(slp_box_call *c) {
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return -1;
  const slp_value *enforce = slp_box_tree_get(c->in, 0, "EnforceConsumerDeletion");
  if (!(enforce && enforce->i) && slp_consumers_count(c->box, s, c->now_ms))
    return slp_box_fail(c, "ResourceInUseException",
                        "Stream %s under account " SLP_BOX_ACCOUNT
                        " has registered consumers: deregister them, or set EnforceConsumerDeletion.",
                        s->name);
  slp_box_change_begin(c, s, SLP_BOX_DELETE, SLP_BOX_DELETING);
  slp_box_settle(c->box, c->now_ms);
  return 0;
}

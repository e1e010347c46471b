/* describe.c - describes and lists streams and shards: DescribeStream, DescribeStreamSummary, ListStreams,
 * ListShards, DescribeLimits, DescribeAccountSettings. */
#include "base/list.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

#define DESCRIBE_PAGE 100 /* shards of a page: the default and the maximum */
#define NAMES_PAGE 100

static void put_shard(slp_box_call *c, const slp_box_shard *sh) {
  const slp_stream *s = sh->stream;
  char seq[SLP_BOX_SEQ_TEXT];
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "ShardId", sh->id);
  if (sh->parent >= 0) slp_out_put_z(&c->out, "ParentShardId", s->shards[sh->parent]->id);
  if (sh->adjacent_parent >= 0) {
    slp_out_put_z(&c->out, "AdjacentParentShardId", s->shards[sh->adjacent_parent]->id);
  }
  slp_box_put_hash_range(c, sh);
  slp_out_key(&c->out, "SequenceNumberRange");
  slp_out_map(&c->out);
  slp_box_shard_start(sh, seq);
  slp_out_put_z(&c->out, "StartingSequenceNumber", seq);
  if (!slp_box_shard_open(sh)) {
    slp_box_shard_end(sh, seq);
    slp_out_put_z(&c->out, "EndingSequenceNumber", seq);
  }
  slp_out_end(&c->out);
  slp_out_end(&c->out);
}

static void put_mode(slp_box_call *c, const slp_stream *s) {
  slp_out_key(&c->out, "StreamModeDetails");
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "StreamMode", s->on_demand ? "ON_DEMAND" : "PROVISIONED");
  slp_out_end(&c->out);
}

/* Writes the members that DescribeStream and DescribeStreamSummary have in common. */
static void put_description(slp_box_call *c, const slp_stream *s) {
  slp_out_put_z(&c->out, "StreamName", s->name);
  slp_out_key(&c->out, "StreamARN");
  slp_box_put_arn(c, s);
  slp_out_put_z(&c->out, "StreamStatus", slp_box_status_name(s->status));
  put_mode(c, s);
  slp_out_put_i64(&c->out, "RetentionPeriodHours", s->retention_ms / SLP_BOX_HOUR_MS);
  slp_out_key(&c->out, "StreamCreationTimestamp");
  slp_out_time(&c->out, s->created_ms / 1000 * 1000); /* rounded, because the service gives whole seconds */
  slp_out_key(&c->out, "EnhancedMonitoring");
  slp_out_list(&c->out);
  slp_out_map(&c->out);
  slp_out_key(&c->out, "ShardLevelMetrics");
  slp_out_list(&c->out);
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  slp_out_put_z(&c->out, "EncryptionType", "NONE");
}

/* Returns the index at which a listing continues after `id`. Ids are compared as texts, as in the service. */
static uint32_t first_after(const slp_stream *s, slp_str id) {
  if (!id.p) return 0;
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_str other = slp_str_of(s->shards[i]->id);
    size_t n = id.n < other.n ? id.n : other.n;
    int order = memcmp(other.p, id.p, n);
    if (order > 0 || (order == 0 && other.n > id.n)) return i;
  }
  return s->shards_n;
}

int slp_box_op_describe(slp_box_call *c) {
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return -1;
  int64_t limit = slp_min_i64(slp_box_int(c, "Limit", DESCRIBE_PAGE), DESCRIBE_PAGE);
  uint32_t i = first_after(s, slp_box_text(c, "ExclusiveStartShardId"));
  int more = 0;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "StreamDescription");
  slp_out_map(&c->out);
  put_description(c, s);
  slp_out_key(&c->out, "Shards");
  slp_out_list(&c->out);
  for (; i < s->shards_n; i++) {
    if (s->shards[i]->gone) continue;
    if (limit-- == 0) {
      more = 1;
      break;
    }
    put_shard(c, s->shards[i]);
  }
  slp_out_end(&c->out);
  slp_out_key(&c->out, "HasMoreShards");
  slp_out_bool(&c->out, more);
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}

int slp_box_op_summary(slp_box_call *c) {
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return -1;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "StreamDescriptionSummary");
  slp_out_map(&c->out);
  put_description(c, s);
  slp_out_put_i64(&c->out, "OpenShardCount", slp_box_open_shards(s));
  slp_out_put_i64(&c->out, "ConsumerCount", slp_consumers_count(c->box, s, c->now_ms));
  slp_out_put_i64(&c->out, "MaxRecordSizeInKiB", s->record_kib_max);
  if (s->on_demand)
    slp_out_put_z(&c->out, "RecordDistributionStrategy", s->spreads ? "AUTO" : "USER_PARTITION_KEY");
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}

/* ---- ListStreams ---------------------------------------------------------------------------------- */
static void put_name(slp_box_call *c, const slp_stream *s, int summary) {
  if (!summary) {
    slp_out_text(&c->out, slp_str_of(s->name));
    return;
  }
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "StreamName", s->name);
  slp_out_key(&c->out, "StreamARN");
  slp_box_put_arn(c, s);
  slp_out_put_z(&c->out, "StreamStatus", slp_box_status_name(s->status));
  put_mode(c, s);
  slp_out_key(&c->out, "StreamCreationTimestamp");
  slp_out_time(&c->out, s->created_ms / 1000 * 1000);
  slp_out_end(&c->out);
}

static int name_after(const slp_stream *s, slp_str after) {
  size_t n = strlen(s->name);
  if (!after.p) return 1;
  int order = memcmp(s->name, after.p, n < after.n ? n : after.n);
  return order > 0 || (order == 0 && n > after.n);
}

int slp_box_op_streams(slp_box_call *c) {
  slp_str after = slp_box_text(c, "ExclusiveStartStreamName"), token = slp_box_text(c, "NextToken");
  int64_t limit = slp_min_i64(slp_box_int(c, "Limit", NAMES_PAGE), 10000);
  const slp_stream *last = NULL;
  int more = 0;
  /* the token is the stream's name: names are not secret, and the token never expires */
  if (token.p) after = token;
  slp_out_map(&c->out);
  for (int summary = 0; summary < 2; summary++) {
    int64_t left = limit;
    slp_out_key(&c->out, summary ? "StreamSummaries" : "StreamNames");
    slp_out_list(&c->out);
    SLP_LIST_EACH(&c->box->streams, it) {
      const slp_stream *s = SLP_OWNER(it, slp_stream, link);
      if (!name_after(s, after)) continue;
      if (left-- == 0) {
        more = 1;
        break;
      }
      put_name(c, s, summary);
      last = s;
    }
    slp_out_end(&c->out);
  }
  slp_out_key(&c->out, "HasMoreStreams");
  slp_out_bool(&c->out, more);
  if (more && last) slp_out_put_z(&c->out, "NextToken", last->name);
  slp_out_end(&c->out);
  return 0;
}

/* ---- DescribeLimits, DescribeAccountSettings: as in botocore 1.44.8 ----------------------------------- */
#define ON_DEMAND_STREAMS_MAX 50 /* the service's default; the sandbox has no limit */

int slp_box_op_limits(slp_box_call *c) {
  int64_t open = 0, on_demand = 0;
  SLP_LIST_EACH(&c->box->streams, it) {
    const slp_stream *s = SLP_OWNER(it, slp_stream, link);
    open += slp_box_open_shards(s);
    on_demand += s->on_demand;
  }
  slp_out_map(&c->out);
  slp_out_put_i64(&c->out, "ShardLimit", SLP_BOX_SHARDS_MAX / 2);
  slp_out_put_i64(&c->out, "OpenShardCount", open);
  slp_out_put_i64(&c->out, "OnDemandStreamCount", on_demand);
  slp_out_put_i64(&c->out, "OnDemandStreamCountLimit", ON_DEMAND_STREAMS_MAX);
  slp_out_end(&c->out);
  return 0;
}

int slp_box_op_account(slp_box_call *c) {
  slp_out_map(&c->out);
  slp_out_key(&c->out, "MinimumThroughputBillingCommitment");
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "Status", "DISABLED");
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}

/* ---- ListShards ----------------------------------------------------------------------------------- */
enum { FROM_TRIM_HORIZON, AFTER_SHARD_ID, AT_TRIM_HORIZON, AT_LATEST, AT_TIMESTAMP, FROM_TIMESTAMP, FILTERS };
static const char *const filter_names[FILTERS] = {
    [FROM_TRIM_HORIZON] = "FROM_TRIM_HORIZON", [AFTER_SHARD_ID] = "AFTER_SHARD_ID",
    [AT_TRIM_HORIZON] = "AT_TRIM_HORIZON",     [AT_LATEST] = "AT_LATEST",
    [AT_TIMESTAMP] = "AT_TIMESTAMP",           [FROM_TIMESTAMP] = "FROM_TIMESTAMP",
};

typedef struct listing {
  slp_stream *s;
  uint8_t filter;
  int64_t at_ms; /* time of the filter, for AT_TIMESTAMP and FROM_TIMESTAMP */
  uint32_t from; /* index of the first shard that may be listed */
} listing;

/* Returns when a shard began. The first shards of a stream are created after CreateStream was answered, but
 * count as created with the stream. So a filter with any time since the creation of the stream finds
 * shards. */
static int64_t starts_ms(const slp_box_shard *sh) {
  return sh->parent < 0 ? sh->stream->created_ms : sh->created_ms;
}

static int is_shard_listed(const listing *l, const slp_box_shard *sh, int64_t horizon_ms) {
  if (sh->gone) return 0;
  int64_t at_ms = slp_max_i64(l->at_ms, horizon_ms); /* a time before the horizon is treated as the horizon */
  switch (l->filter) {
    case AT_LATEST: return slp_box_shard_open(sh);
    case AT_TRIM_HORIZON: return starts_ms(sh) <= horizon_ms && sh->closed_ms >= horizon_ms;
    case AT_TIMESTAMP: return starts_ms(sh) <= at_ms && sh->closed_ms >= at_ms;
    case FROM_TIMESTAMP: return sh->closed_ms >= at_ms;
    default: return 1; /* all shards that are kept; `from` has the first index */
  }
}

static int read_filter(slp_box_call *c, listing *l) {
  slp_value *filter = slp_box_tree_get(c->in, 0, "ShardFilter"), *v;
  if (!filter) return 0;
  uint32_t number = slp_box_tree_number(c->in, filter);
  v = slp_box_tree_get(c->in, number, "Type");
  for (uint8_t i = 0; v && i < FILTERS; i++) {
    if (slp_str_is(v->text, filter_names[i])) l->filter = i;
  }
  slp_value *id = slp_box_tree_get(c->in, number, "ShardId");
  slp_value *time = slp_box_tree_get(c->in, number, "Timestamp");
  int wants_time = l->filter == AT_TIMESTAMP || l->filter == FROM_TIMESTAMP;
  if ((l->filter == AFTER_SHARD_ID) != (id != NULL)) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "ShardFilter.ShardId must be given with Type "
                        "AFTER_SHARD_ID and only then.");
  }
  if (wants_time != (time != NULL)) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "ShardFilter.Timestamp must be given with Type AT_TIMESTAMP "
                        "or FROM_TIMESTAMP and only then.");
  }
  if (id) l->from = first_after(l->s, id->text);
  if (time && slp_box_tree_time_ms(c->in, time, &l->at_ms)) {
    return slp_box_fail(c, "SerializationException", "Bad Timestamp");
  }
  if (time && l->at_ms > c->now_ms) {
    return slp_box_fail(c, "InvalidArgumentException", "ShardFilter.Timestamp %lld is in the future.",
                        (long long)l->at_ms);
  }
  return 0;
}

static int resume_listing(slp_box_call *c, slp_str token, listing *l) {
  slp_box_mark m;
  if (slp_box_text(c, "StreamName").p || slp_box_tree_get(c->in, 0, "StreamCreationTimestamp") ||
      slp_box_text(c, "ExclusiveStartShardId").p) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "NextToken and StreamName cannot be provided together.");
  }
  if (slp_box_mark_read(c->box, token, 't', &m) || m.filter >= FILTERS) {
    return slp_box_fail(c, "InvalidArgumentException", "NextToken is not valid.");
  }
  if (c->now_ms - m.issued_ms > c->box->o.next_token_ms) {
    char then[64], now[64];
    slp_box_when(m.issued_ms, then);
    slp_box_when(c->now_ms, now);
    return slp_box_fail(
        c, "ExpiredNextTokenException",
        "NextToken expired. The token was created at time %s while right now it is %s which is "
        "further in the future than the tolerated delay of %u milliseconds.",
        then, now, c->box->o.next_token_ms);
  }
  l->s = slp_box_find_uid(c->box, m.stream_uid);
  if (!l->s)
    return slp_box_fail(c, "ResourceNotFoundException", "The stream of this NextToken does not exist.");
  slp_box_sweep(c->box, l->s, c->now_ms);
  l->filter = m.filter;
  l->at_ms = (int64_t)m.counter;
  l->from = m.shard;
  return 0;
}

static int begin_listing(slp_box_call *c, listing *l) {
  slp_str token = slp_box_text(c, "NextToken");
  if (token.p) return resume_listing(c, token, l);
  l->s = slp_box_stream_of(c);
  if (!l->s) return -1;
  slp_value *made = slp_box_tree_get(c->in, 0, "StreamCreationTimestamp");
  int64_t made_ms = 0;
  if (made && (slp_box_tree_time_ms(c->in, made, &made_ms) || made_ms / 1000 != l->s->created_ms / 1000)) {
    return slp_box_fail(c, "ResourceNotFoundException",
                        "Stream %s under account " SLP_BOX_ACCOUNT " of that creation time not found.",
                        l->s->name);
  }
  slp_str after = slp_box_text(c, "ExclusiveStartShardId");
  if (after.p && slp_box_tree_get(c->in, 0, "ShardFilter")) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "ExclusiveStartShardId and ShardFilter cannot be provided together.");
  }
  if (after.p) l->from = first_after(l->s, after);
  return read_filter(c, l);
}

int slp_box_op_shards(slp_box_call *c) {
  listing l = {.filter = FROM_TRIM_HORIZON, .at_ms = INT64_MIN};
  if (begin_listing(c, &l)) return -1;
  slp_stream *s = l.s;
  SLP_CHECK(s != NULL);
  if (s->status == SLP_BOX_CREATING || s->status == SLP_BOX_DELETING) {
    return slp_box_fail(c, "ResourceInUseException",
                        "Stream %s under account " SLP_BOX_ACCOUNT " not ACTIVE, instead in state %s",
                        s->name, slp_box_status_name(s->status));
  }
  int64_t limit = slp_box_int(c, "MaxResults", 1000);
  limit = slp_min_i64(limit, c->box->o.list_page_max);
  int64_t horizon_ms = slp_box_horizon_ms(s, c->now_ms);
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Shards");
  slp_out_list(&c->out);
  uint32_t i = l.from;
  for (; i < s->shards_n; i++) {
    if (!is_shard_listed(&l, s->shards[i], horizon_ms)) continue;
    if (limit-- == 0) break;
    put_shard(c, s->shards[i]);
  }
  slp_out_end(&c->out);
  if (i < s->shards_n) {
    slp_box_mark m = {.kind = 't',
                      .filter = l.filter,
                      .stream_uid = s->uid,
                      .shard = i,
                      .counter = (uint64_t)l.at_ms,
                      .issued_ms = c->now_ms};
    int r = slp_box_put_mark(c, "NextToken", &m);
    if (r) return r;
  }
  slp_out_end(&c->out);
  return 0;
}

/* reshard_ops.c - the operations that change a stream: SplitShard, MergeShards, UpdateShardCount, and the
 * retention period. */
#include "sandbox/model.h"
#include "sandbox/value.h"

static slp_stream *active_stream(slp_box_call *c) {
  slp_stream *s = slp_box_stream_of(c);
  if (s && s->status != SLP_BOX_ACTIVE) {
    slp_box_fail(c, "ResourceInUseException",
                 "Stream %s under account " SLP_BOX_ACCOUNT " not ACTIVE, instead in state %s", s->name,
                 slp_box_status_name(s->status));
    return NULL;
  }
  return s;
}

static int too_many(slp_box_call *c, const slp_stream *s, uint32_t more) {
  if (s->shards_n + more <= SLP_BOX_SHARDS_MAX) return 0;
  return slp_box_fail(c, "LimitExceededException",
                      "This request would exceed the shard limit for the account " SLP_BOX_ACCOUNT " in %s.",
                      c->region);
}

int slp_box_op_split(slp_box_call *c) {
  slp_box_refusal why;
  slp_box_shard *sh = NULL;
  slp_stream *s = active_stream(c);
  if (!s) return -1;
  slp_box_may_split(s, slp_box_text(c, "ShardToSplit"), slp_box_text(c, "NewStartingHashKey"), &why, &sh,
                    &s->change_hash);
  if (why.code) return slp_box_fail(c, why.code, "%s", why.message);
  if (too_many(c, s, 2)) return -1;
  SLP_CHECK(sh != NULL);
  s->change_a = sh->index;
  slp_box_change_begin(c, s, SLP_BOX_SPLIT, SLP_BOX_UPDATING);
  slp_box_settle(c->box, c->now_ms);
  return 0;
}

int slp_box_op_merge(slp_box_call *c) {
  slp_box_refusal why;
  slp_box_shard *a = NULL, *b = NULL;
  slp_stream *s = active_stream(c);
  if (!s) return -1;
  slp_box_may_merge(s, slp_box_text(c, "ShardToMerge"), slp_box_text(c, "AdjacentShardToMerge"), &why, &a,
                    &b);
  if (why.code) return slp_box_fail(c, why.code, "%s", why.message);
  if (too_many(c, s, 1)) return -1;
  SLP_CHECK(a && b);
  s->change_a = a->index;
  s->change_b = b->index;
  slp_box_change_begin(c, s, SLP_BOX_MERGE, SLP_BOX_UPDATING);
  slp_box_settle(c->box, c->now_ms);
  return 0;
}

int slp_box_op_resize(slp_box_call *c) {
  slp_stream *s = active_stream(c);
  if (!s) return -1;
  uint32_t open = slp_box_open_shards(s);
  int64_t target = slp_box_int(c, "TargetShardCount", 0);
  if (s->on_demand) {
    return slp_box_fail(c, "ValidationException", "UpdateShardCount is not supported for ON_DEMAND streams.");
  }
  if (target > 2 * (int64_t)open) {
    return slp_box_fail(
        c, "LimitExceededException",
        "UpdateShardCount cannot scale up over double your current open shard count. Current open "
        "shard count: %u Target shard count: %lld",
        open, (long long)target);
  }
  if (target * 2 < (int64_t)open) {
    return slp_box_fail(
        c, "LimitExceededException",
        "UpdateShardCount cannot scale down below half your current open shard count. Current open "
        "shard count: %u Target shard count: %lld",
        open, (long long)target);
  }
  if (too_many(c, s, 3 * (open + (uint32_t)target))) return -1;
  s->change_a = (uint32_t)target;
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "StreamName", s->name);
  slp_out_put_i64(&c->out, "CurrentShardCount", open);
  slp_out_put_i64(&c->out, "TargetShardCount", target);
  slp_out_key(&c->out, "StreamARN");
  slp_box_put_arn(c, s);
  slp_out_end(&c->out);
  slp_box_change_begin(c, s, SLP_BOX_RESIZE, SLP_BOX_UPDATING);
  slp_box_settle(c->box, c->now_ms);
  return 0;
}

static int change_retention(slp_box_call *c, int up) {
  slp_stream *s = active_stream(c);
  if (!s) return -1;
  int64_t hours = slp_box_int(c, "RetentionPeriodHours", 0), now = s->retention_ms / SLP_BOX_HOUR_MS;
  if (hours < 24 || hours > 8760) {
    return slp_box_fail(c, "InvalidArgumentException",
                        hours < 24
                            ? "Minimum allowed retention period is 24 hours. Requested retention period "
                              "(%lld hours) is too short."
                            : "Maximum allowed retention period is 8760 hours. Requested retention period "
                              "(%lld hours) is too long.",
                        (long long)hours);
  }
  if (up ? hours < now : hours > now) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "Requested retention period (%lld hours) for stream %s can not be %s than existing "
                        "retention period (%lld hours). Use %sRetentionPeriod API.",
                        (long long)hours, s->name, up ? "shorter" : "longer", (long long)now,
                        up ? "Decrease" : "Increase");
  }
  s->retention_ms = hours * SLP_BOX_HOUR_MS;
  return 0;
}

int slp_box_op_retention_up(slp_box_call *c) { return change_retention(c, 1); }
int slp_box_op_retention_down(slp_box_call *c) { return change_retention(c, 0); }

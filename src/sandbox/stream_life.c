/* stream_life.c - carries out the changes of streams that take time, and begins those of CreateStream and
 * DeleteStream. */
#include "base/list.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#define ON_DEMAND_SHARDS 4

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

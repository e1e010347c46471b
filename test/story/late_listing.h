/* late_listing.h - a stream whose listing lags behind its shards, and whose description says that it is being
 * resharded for as long as a test wants. What the world answers is changed on its way to core. */
#ifndef SLP_TEST_STORY_LATE_LISTING_H
#define SLP_TEST_STORY_LATE_LISTING_H

#include "core/source.h"

static struct {
  const slp_source_ops *plain;
  slp_source_ops ops;
  void (*on_listed)(slp_op *rq), (*on_described)(slp_op *rq), (*on_located)(slp_op *rq);
  size_t hidden_from;         /* shards of this index and later are not listed; SIZE_MAX: all are */
  size_t hidden_to;           /* but for those of this index and later */
  int reshards, hides_places; /* as a test wants it */
  int lists, describes;       /* how often */
} late_listing;

/* The last digits of a shard's id are its index. */
static size_t index_of_shard(slp_str id) {
  size_t index = 0;
  for (size_t i = id.n < 4 ? 0 : id.n - 4; i < id.n; i++) index = index * 10 + (size_t)(id.p[i] - '0');
  return index;
}

static int is_hidden(slp_str id) {
  size_t index = index_of_shard(id);
  return index >= late_listing.hidden_from && index < late_listing.hidden_to;
}

static void listed_late(slp_op *rq) {
  slp_src_list *l = SLP_OWNER(rq, slp_src_list, rq);
  size_t n = 0;
  for (size_t i = 0; i < l->shards_n; i++)
    if (!is_hidden(l->shards[i].id)) l->shards[n++] = l->shards[i];
  l->shards_n = n;
  late_listing.lists++;
  late_listing.on_listed(rq);
}
static void list_late(slp_source *s, slp_src_list *rq) {
  late_listing.on_listed = rq->rq.on_done;
  rq->rq.on_done = listed_late;
  late_listing.plain->list(s, rq);
}

static void described_as_resharding(slp_op *rq) {
  if (late_listing.reshards) SLP_OWNER(rq, slp_src_describe, rq)->reshards = 1;
  late_listing.on_described(rq);
}
static void describe_late(slp_source *s, slp_src_describe *rq) {
  late_listing.describes++;
  late_listing.on_described = rq->rq.on_done;
  rq->rq.on_done = described_as_resharding;
  late_listing.plain->describe(s, rq);
}

static void located_late(slp_op *rq) {
  slp_src_locate *l = SLP_OWNER(rq, slp_src_locate, rq);
  if (late_listing.hides_places && is_hidden(l->shard))
    slp_fail_set(&rq->fail, SLP_GONE, SLOOP_EREMOTE, "no such shard");
  late_listing.on_located(rq);
}
static void locate_late(slp_source *s, slp_src_locate *rq) {
  late_listing.on_located = rq->rq.on_done;
  rq->rq.on_done = located_late;
  late_listing.plain->locate(s, rq);
}

/* From now on shards from hidden_from on are not listed. */
static inline void list_late_from(slp_source *source, size_t hidden_from) {
  late_listing.plain = source->ops;
  late_listing.ops = *source->ops;
  late_listing.ops.list = list_late;
  late_listing.ops.describe = describe_late;
  late_listing.ops.locate = locate_late;
  late_listing.hidden_from = hidden_from;
  late_listing.hidden_to = SIZE_MAX;
  late_listing.reshards = late_listing.hides_places = late_listing.lists = late_listing.describes = 0;
  source->ops = &late_listing.ops;
}

#endif

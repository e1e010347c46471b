/* ended_stream.h - a stream that takes no more records, and by its name may lead to another one: as those of tables
 * are. What the world answers is changed on its way to core. */
#ifndef SLP_TEST_STORY_ENDED_STREAM_H
#define SLP_TEST_STORY_ENDED_STREAM_H

#include "core/source.h"

static struct {
  const slp_source_ops *plain;
  slp_source_ops ops;
  void (*on_listed)(slp_op *rq), (*on_latest)(slp_op *rq);
  int is_open, has_another; /* as a test wants it */
  int latest_asked;         /* how often */
} ended_stream;

static void listed_as_ended(slp_op *rq) {
  SLP_OWNER(rq, slp_src_list, rq)->ended = !ended_stream.is_open;
  ended_stream.on_listed(rq);
}
static void list_as_ended(slp_source *s, slp_src_list *rq) {
  ended_stream.on_listed = rq->rq.on_done;
  rq->rq.on_done = listed_as_ended;
  ended_stream.plain->list(s, rq);
}
static void latest_is_another(slp_op *rq) {
  if (ended_stream.has_another) strcpy(SLP_OWNER(rq, slp_src_describe, rq)->arn, "another");
  ended_stream.on_latest(rq);
}
static void describe_another(slp_source *s, slp_src_describe *rq) {
  if (rq->latest) {
    ended_stream.latest_asked++;
    ended_stream.on_latest = rq->rq.on_done;
    rq->rq.on_done = latest_is_another;
  }
  ended_stream.plain->describe(s, rq);
}

/* From now on it is one, until the test says that it is open. Any number of sources of one kind. */
static inline void end_stream(slp_source *source) {
  ended_stream.plain = source->ops;
  ended_stream.ops = *source->ops;
  ended_stream.ops.list = list_as_ended;
  ended_stream.ops.describe = describe_another;
  ended_stream.is_open = ended_stream.has_another = ended_stream.latest_asked = 0;
  source->ops = &ended_stream.ops;
}

#endif

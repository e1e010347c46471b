/* handle.c - the functions of sloop.h that check their arguments and call core. The functions stop, pause,
 * list and move a consumer, return its statistics and its token, and read and give back batches. */
#include "api/metrics.h"
#include "api/open.h"
#include "aws/aws.h"
#include "core/batch.h"
#include "core/consumer.h"
#include "core/seek.h"
#include "core/tally.h"
#include "host/host.h"

#include <sloop.h>

/* How long a stop waits at most until CloudWatch has taken the last values. */
#define LAST_WORD_MS 2000u

/* Tells the application that the consumer has stopped, by calling stop_cb once. If the consumer is closed
 * while stop_cb is still set, on_close_event calls stop_cb. */
static void tell_stopped(sloop_t *s) {
  sloop_cb cb = s->stop_cb;
  s->stop_cb = NULL;
  if (cb) cb(s, s->stop_status, s->stop_arg);
}

static void on_stop_timer(slp_timer *t) { tell_stopped(SLP_OWNER(t, sloop_t, stop_timer)); }

/* The values since the last round for CloudWatch are sent when a stop begins. If the application closed the
 * consumer before they are taken, they would be lost. */
static void on_stopped(sloop_t *s, int status, void *arg) {
  (void)arg;
  s->stop_status = status;
  s->stop_timer.run = on_stop_timer;
  int waits = s->stop_cb && !s->closing && slp_metrics_are_telling(s);
  if (!waits || slp_timer_set(s->family->host, &s->stop_timer, s->stop_by_us)) tell_stopped(s);
}

int sloop_stop(sloop_t *s, uint64_t limit_ms, sloop_cb cb, void *arg) {
  if (s->closing || !s->started) return SLOOP_ESTATE;
  int r = slp_consumer_stop(s->consumer, limit_ms, on_stopped, NULL);
  if (r) return r;
  s->stop_cb = cb;
  s->stop_arg = arg;
  s->stop_by_us =
      slp_after_us(slp_now_us(s->family->host), slp_min_u64(limit_ms, LAST_WORD_MS) * UINT64_C(1000));
  slp_metrics_last_word(s);
  return 0;
}

int sloop_pause(sloop_t *s, const char *shard) {
  return s->closing ? SLOOP_ESTATE : slp_consumer_pause(s->consumer, shard, 1);
}

int sloop_resume(sloop_t *s, const char *shard) {
  return s->closing ? SLOOP_ESTATE : slp_consumer_pause(s->consumer, shard, 0);
}

int sloop_list(sloop_t *s, sloop_list_cb cb, void *arg) {
  return s->closing ? SLOOP_ESTATE : slp_consumer_list(s->consumer, cb, arg);
}

void slp_family_ref(slp_family *f) { slp_host_ref(f->host, f->unrefs < f->members); }

/* Remembers whether this consumer wants to keep the loop alive. Joined consumers share the host's one
 * reference to the loop. This reference is dropped when no consumer wants to keep the loop alive. */
static void set_ref(sloop_t *s, uint32_t on) {
  if (s->refd == on || s->closing) return;
  s->refd = on;
  if (on) {
    s->family->unrefs--;
  } else {
    s->family->unrefs++;
  }
  slp_family_ref(s->family);
}

void sloop_shard_stats_each(sloop_t *s, void (*each)(const sloop_shard_stats_t *, void *arg), void *arg) {
  if (s->consumer && !s->closing) slp_consumer_each(s->consumer, each, arg);
}

void sloop_ref(sloop_t *s) { set_ref(s, 1); }
void sloop_unref(sloop_t *s) { set_ref(s, 0); }

void *sloop_arg(const sloop_t *s) { return s->o.arg; }

struct uv_loop_s *sloop_loop(const sloop_t *s) {
  return s->loop;
}

void sloop_stats_get(sloop_t *s, sloop_stats_t *out, size_t size) {
  sloop_stats_t st = {0};
  slp_counts n = {0};
  if (s->consumer) slp_consumer_stats(s->consumer, &n);
#define X(name, unit, meaning) st.name = n.name;
  SLOOP_STATS(X)
#undef X
  st.store_write_units += s->admin.cost.write_units;
  st.store_read_units += s->admin.cost.read_units;
  st.store_throttles += s->admin.cost.throttles;
  if (s->family) {
    const slp_aws_stats *a = slp_aws_stats_of(s->family->aws);
    const slp_turn_stats *t = slp_host_turns(s->family->host);
    st.calls = a->calls;
    st.retries = a->retries + n.retries;
    st.calls_failed = a->failed;
    st.throttles = slp_max_u64(a->throttles, n.throttles);
    st.turn_us_p999 = slp_host_turn_us_at(s->family->host, 0.999);
    st.turn_us_max = t->cpu_us_max;
    st.hold_us_max = t->hold_us_max;
  }
  memset(out, 0, size);
  memcpy(out, &st, slp_min_u64(size, sizeof st));
}

/* ---- positions ---------------------------------------------------------------------------------------- */

void sloop_position_init(sloop_position_t *p, sloop_position_kind_t kind) {
  *p = (sloop_position_t){.kind = kind};
}

int sloop_token(sloop_t *s, char *buf, size_t *len) {
  return s->closing || s->o.app ? SLOOP_ESTATE : slp_consumer_save(s->consumer, buf, len);
}

int sloop_seek(sloop_t *s, const sloop_position_t *to, sloop_cb cb, void *arg) {
  if (s->closing) return SLOOP_ESTATE;
  if (!to) return SLOOP_EOPTION;
  return s->o.app ? SLOOP_ESTATE : slp_consumer_seek(s->consumer, to, cb, arg);
}

/* ---- batches ------------------------------------------------------------------------------------------ */

size_t sloop_batch_count(const sloop_batch_t *b) { return b->n; }

const sloop_record_t *sloop_batch_at(const sloop_batch_t *b, size_t index) {
  SLP_CHECK(index < b->n);
  return &b->recs[index];
}

int64_t sloop_batch_behind_ms(const sloop_batch_t *b) { return b->behind_ms; }

int sloop_batch_owned(sloop_batch_t *b, size_t index) { return slp_batch_owned(b, index); }

void sloop_batch_set_data(sloop_batch_t *b, void *data) { b->user = data; }

void *sloop_batch_data(const sloop_batch_t *b) { return b->user; }

void sloop_batch_ack(sloop_batch_t *b, size_t index) { slp_batch_ack(b, index); }

void sloop_batch_done(sloop_batch_t *b, size_t acked) { slp_batch_done(b, acked); }

/* ---- names of earlier versions ------------------------------------------------------------------------- */

/* For programs that were written or compiled for an earlier version. Each line stays until the library's
 * soversion changes. */
int sloop_save(sloop_t *s, char *buf, size_t *len) { return sloop_token(s, buf, len); }
int sloop_rewind(sloop_t *s, const char *shard) { return sloop_seek_checkpoint(s, shard); }
int sloop_hand_over(sloop_t *s, const char *shard) { return sloop_handover(s, shard); }

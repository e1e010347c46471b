/* multilang_shard.c - one shard and its child process; multilang_shard.h has the states. The positions at
 * which a child may checkpoint, and the names of the errors, are those of KCL:
 * software.amazon.kinesis.checkpoint.ShardRecordProcessorCheckpointer and MultiLangProtocol. */
#include "cli/multilang_shard.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/states.h"
#include "cli/given_numbers.h"
#include "cli/multilang_protocol.h"

#include <signal.h>
#include <sloop.h>
#include <stdio.h>

#define NEVER UINT64_MAX
/* how long to wait before a new child is started; doubled after each failure in a row, up to
 * BACKOFF_MOST_US */
#define BACKOFF_US UINT64_C(1000000)
#define BACKOFF_MOST_US UINT64_C(60000000)

static const slp_set allowed[SLP_ML_STATES] = {
    [SLP_ML_WAITS] = SLP_BIT(SLP_ML_ASKED) | SLP_BIT(SLP_ML_WAITS) | SLP_BIT(SLP_ML_OVER),
    [SLP_ML_ASKED] =
        SLP_BIT(SLP_ML_IDLE) | SLP_BIT(SLP_ML_CHECKPOINTS) | SLP_BIT(SLP_ML_CLOSES) | SLP_BIT(SLP_ML_KILLED),
    [SLP_ML_IDLE] = SLP_BIT(SLP_ML_ASKED) | SLP_BIT(SLP_ML_CLOSES) | SLP_BIT(SLP_ML_KILLED),
    [SLP_ML_CHECKPOINTS] = SLP_BIT(SLP_ML_ASKED) | SLP_BIT(SLP_ML_KILLED),
    [SLP_ML_CLOSES] = SLP_BIT(SLP_ML_PUSHED) | SLP_BIT(SLP_ML_WAITS) | SLP_BIT(SLP_ML_OVER),
    [SLP_ML_PUSHED] = SLP_BIT(SLP_ML_WAITS) | SLP_BIT(SLP_ML_OVER),
    [SLP_ML_KILLED] = SLP_BIT(SLP_ML_WAITS) | SLP_BIT(SLP_ML_OVER),
    [SLP_ML_OVER] = 0,
};

static const char *const names[SLP_ML_STATES] = {
    [SLP_ML_WAITS] = "waits for a child", [SLP_ML_ASKED] = "asked",   [SLP_ML_IDLE] = "idle",
    [SLP_ML_CHECKPOINTS] = "checkpoints", [SLP_ML_CLOSES] = "closes", [SLP_ML_PUSHED] = "was sent SIGTERM",
    [SLP_ML_KILLED] = "killed",           [SLP_ML_OVER] = "over",
};

const char *slp_ml_state_name(slp_ml_state s) { return names[s]; }

static void move(slp_ml_shard *h, slp_ml_state to, uint64_t due_us) {
  SLP_MOVE(allowed, h->state, to);
  h->due_us = due_us;
}

static void send_next_action(slp_ml_shard *h, uint64_t now);

/* ---- places ----------------------------------------------------------------------------------- */

static void set_place(slp_ml_place *p, const sloop_position_t *from) {
  memset(p, 0, sizeof *p);
  switch (from->kind) {
    case SLOOP_AFTER_SEQ:
    case SLOOP_AT_SEQ:
      snprintf(p->seq, sizeof p->seq, "%s", from->seq);
      /* UINT32_MAX means that the position has no sub-sequence number */
      p->sub = from->sub == UINT32_MAX ? 0 : from->sub;
      return;
    case SLOOP_LATEST: snprintf(p->word, sizeof p->word, "LATEST"); return;
    case SLOOP_AT_TIME: snprintf(p->word, sizeof p->word, "AT_TIMESTAMP"); return;
    case SLOOP_OLDEST:
    case SLOOP_AT_TOKEN:
    case SLOOP_AT_END: break;
  }
  snprintf(p->word, sizeof p->word, "TRIM_HORIZON");
}

/* Compares two places in the shard; returns <0, 0 or >0. A place with a word, such as TRIM_HORIZON, comes
 * before every record. */
static int compare_places(const slp_ml_place *a, const slp_ml_place *b) {
  if (!*a->seq || !*b->seq) return (*a->seq != 0) - (*b->seq != 0);
  int c = slp_num_cmp(slp_str_of(a->seq), slp_str_of(b->seq));
  if (c) return c;
  return a->sub < b->sub ? -1 : a->sub > b->sub;
}

static void set_record(slp_ml_place *p, const sloop_record_t *r) {
  p->word[0] = 0;
  snprintf(p->seq, sizeof p->seq, "%.*s", (int)r->seq.len, r->seq.base);
  p->sub = r->sub;
}

/* ---- batches ---------------------------------------------------------------------------------- */

static void give_back_all(slp_ml_shard *h) {
  size_t n = h->queue_n;
  h->queue_n = 0;
  for (size_t i = 0; i < n; i++) sloop_batch_done(h->queue[i], 0);
}

static void finish_first(slp_ml_shard *h) {
  sloop_batch_t *b = h->queue[0];
  memmove(h->queue, h->queue + 1, (h->queue_n - 1) * sizeof(sloop_batch_t *));
  h->queue_n--;
  sloop_batch_done(b, sloop_batch_count(b));
}

/* ---- the end of a child ----------------------------------------------------------------------- */

static void say_of_shard(slp_ml_shard *h, const char *what) {
  char line[700];
  snprintf(line, sizeof line, "%s: %s", h->id, what);
  h->ops->say(h, line);
}

static void tell_kept_back(slp_ml_shard *h, slp_ml_told *t, const char *kind) {
  char line[120];
  if (!t->kept_back) return;
  snprintf(line, sizeof line, "%s (and %llu more like it)", kind, (unsigned long long)t->kept_back);
  t->kept_back = 0;
  say_of_shard(h, line);
}

static const char junk[] = "a line of the child's output that is not a message";
static const char too_long[] = "a line of the child's output is too long and was skipped";

/* Prints a line from or about the child. Once SLP_ML_TOLD_MAX lines of the same kind were printed within
 * SLP_ML_TOLD_US, further lines are only counted: a child that prints without end must not fill the log. */
static void tell_some(slp_ml_shard *h, slp_ml_told *t, const char *kind, const char *line, uint64_t now) {
  if (now - t->since_us >= SLP_ML_TOLD_US) {
    tell_kept_back(h, t, kind);
    *t = (slp_ml_told){.since_us = now};
  }
  if (t->n == SLP_ML_TOLD_MAX) {
    t->kept_back++;
    return;
  }
  t->n++;
  say_of_shard(h, line);
}

/* Prints how many lines of each kind were counted and not printed, once SLP_ML_TOLD_US have passed since the
 * counting began; with `all`, in any case. */
static void tell_more(slp_ml_shard *h, int all, uint64_t now) {
  if (all || now - h->junk.since_us >= SLP_ML_TOLD_US) tell_kept_back(h, &h->junk, junk);
  if (all || now - h->too_long.since_us >= SLP_ML_TOLD_US) tell_kept_back(h, &h->too_long, too_long);
}

static void be_over(slp_ml_shard *h) {
  give_back_all(h);
  slp_given_clear(&h->numbers, h->mem);
  move(h, SLP_ML_OVER, NEVER);
  h->ops->over(h);
}

/* Returns 1 if no new child will be started for this shard. */
static int is_done(const slp_ml_shard *h) { return h->lease == SLP_ML_GONE || h->end >= SLP_ML_NAMED; }

/* Called when the child has exited before its work was done. Makes the library read the shard again from the
 * last checkpoint, and waits before a new child is started, longer after each failure. If another worker asks
 * for the lease (LEAVING), gives the lease to that worker and starts no new child. */
static void wait_again(slp_ml_shard *h, uint64_t now) {
  uint64_t wait = BACKOFF_US << (h->failures < 8 ? h->failures : 8);
  h->failures++;
  h->deaths++;
  h->notice = SLP_ML_UNTOLD;
  h->end = SLP_ML_READING;
  h->given = h->saved = h->named;
  slp_given_clear(&h->numbers, h->mem);
  give_back_all(h);
  move(h, SLP_ML_WAITS, now + (wait < BACKOFF_MOST_US ? wait : BACKOFF_MOST_US));
  if (h->lease == SLP_ML_LEAVING) {
    h->ops->hand_over(h);
    h->due_us = NEVER;
    return;
  }
  if (h->stops) h->due_us = NEVER;
  h->stale = 1;
  h->ops->rewind(h);
}

/* Kills the child and reports the reason `why`. */
static void kill_failed_child(slp_ml_shard *h, const char *why) {
  char line[300];
  snprintf(h->why, sizeof h->why, "%s", why);
  snprintf(line, sizeof line, "the child is killed: %s", why);
  say_of_shard(h, line);
  move(h, SLP_ML_KILLED, NEVER);
  h->ops->listen(h, 0);
  h->ops->kill(h, SIGKILL);
}

static void close_child(slp_ml_shard *h, uint64_t now) {
  move(h, SLP_ML_CLOSES, now + h->limits.close_us);
  h->ops->close_input(h);
  /* keep reading the child's output: a child that is blocked on a full pipe could not end */
  h->ops->listen(h, 1);
}

void slp_ml_complained(slp_ml_shard *h, const char *line, size_t n) {
  if (n) snprintf(h->complaint, sizeof h->complaint, "%.*s", (int)slp_min_u64(n, sizeof h->complaint), line);
}

/* Appends the last line of the child's standard error to h->why, because that line often shows the cause. */
static void add_complaint(slp_ml_shard *h) {
  size_t n = strlen(h->why);
  if (h->complaint[0]) snprintf(h->why + n, sizeof h->why - n, "; it said last: %s", h->complaint);
}

void slp_ml_exited(slp_ml_shard *h, int status, int signal, uint64_t now) {
  char line[400], how[60];
  if (signal)
    snprintf(how, sizeof how, "by signal %d", signal);
  else
    snprintf(how, sizeof how, "with status %d", status);
  tell_more(h, 1, now);
  switch (h->state) {
    case SLP_ML_WAITS:
    case SLP_ML_OVER: return;
    case SLP_ML_CLOSES:
    case SLP_ML_PUSHED:
      snprintf(line, sizeof line, "the child has ended %s", how);
      say_of_shard(h, line);
      if (is_done(h))
        be_over(h);
      else
        wait_again(h, now);
      return;
    case SLP_ML_ASKED:
    case SLP_ML_CHECKPOINTS:
      snprintf(h->why, sizeof h->why, "it ended %s without having answered %s", how,
               slp_ml_action_name(h->action));
      add_complaint(h);
      break;
    case SLP_ML_IDLE:
      snprintf(h->why, sizeof h->why, "it ended %s", how);
      add_complaint(h);
      break;
    case SLP_ML_KILLED:
    case SLP_ML_STATES: break;
  }
  if (h->state != SLP_ML_KILLED) {
    snprintf(line, sizeof line, "the child is gone: %s", h->why);
    say_of_shard(h, line);
    if (h->state == SLP_ML_CHECKPOINTS) h->late += h->end != SLP_ML_NAMED;
    h->ops->kill(h, SIGKILL); /* the group of the dead child may still have processes that it started */
    move(h, SLP_ML_KILLED, NEVER);
  }
  if (is_done(h))
    be_over(h);
  else
    wait_again(h, now);
}

/* ---- asking ----------------------------------------------------------------------------------- */

static uint64_t get_answer_deadline(const slp_ml_shard *h, uint64_t now) {
  return h->limits.timeout_us ? now + h->limits.timeout_us : NEVER;
}

#define WARN_EVERY_US UINT64_C(600000000)

/* Starts to count the time without an answer of the child. Also called when the child asks for a checkpoint,
 * because that shows that it is working. */
static void listen_from(slp_ml_shard *h, uint64_t now) {
  h->asked_us = now;
  h->warn_us = h->limits.warn_us ? now + h->limits.warn_us : NEVER;
}

static uint64_t seconds_since(uint64_t us, uint64_t now) { return (now - us) / 1000000; }

/* Reports the child's silence once it has lasted for limits.warn_us. The child may still be working, so it is
 * killed for its silence only if timeoutInSeconds is set. */
static void tell_silence(slp_ml_shard *h, uint64_t now) {
  char line[300], end[80] = "waited for without limit, because timeoutInSeconds is not set";
  size_t records = 0;
  if (h->state != SLP_ML_ASKED || now < h->warn_us) return;
  for (size_t i = 0; i < h->queue_n; i++) records += sloop_batch_count(h->queue[i]);
  if (h->limits.timeout_us)
    snprintf(end, sizeof end, "killed after %llu s of silence: timeoutInSeconds",
             (unsigned long long)(h->limits.timeout_us / 1000000));
  else if (h->stops)
    snprintf(end, sizeof end, "killed when the stop takes too long");
  snprintf(line, sizeof line, "the child has not %s %s for %llu s (%zu of its records wait; it is %s)",
           h->put_whole ? "answered" : "read all of", slp_ml_action_name(h->action),
           (unsigned long long)seconds_since(h->asked_us, now), records, end);
  say_of_shard(h, line);
  h->warned = 1;
  h->warn_us = now + slp_min_u64(now - h->asked_us, WARN_EVERY_US);
}

static void tell_answered(slp_ml_shard *h, uint64_t now) {
  char line[120];
  if (!h->warned) return;
  h->warned = 0;
  snprintf(line, sizeof line, "the child has answered %s after %llu s of silence",
           slp_ml_action_name(h->action), (unsigned long long)seconds_since(h->asked_us, now));
  say_of_shard(h, line);
}

static void send_to_child(slp_ml_shard *h, slp_buf *b) {
  if (slp_buf_failed(b)) {
    slp_buf_free(b);
    kill_failed_child(h, "no memory for the message to it");
    return;
  }
  h->ops->trace(h, 1, slp_buf_str(b));
  h->ops->write(h, b);
}

static void begin_text(slp_ml_shard *h, slp_buf *b) { slp_buf_init(b, h->mem, UINT32_MAX); }

/* Formats and sends the next piece of the processRecords line, about SLP_ML_PIECE bytes. slp_ml_written()
 * sends the piece after it. */
static void put_more(slp_ml_shard *h) {
  const sloop_batch_t *batch = h->queue[0];
  size_t n = sloop_batch_count(batch);
  slp_buf b;
  begin_text(h, &b);
  if (h->put_n == 0) slp_ml_put_records_begin(&b);
  while (h->put_n < n && b.n < SLP_ML_PIECE && !slp_buf_failed(&b)) {
    slp_ml_put_record(&b, sloop_batch_at(batch, h->put_n), h->put_n == 0);
    h->put_n++;
  }
  if (h->put_n == n) {
    slp_ml_put_records_end(&b, sloop_batch_behind_ms(batch));
    h->put_whole = 1;
  }
  send_to_child(h, &b);
}

/* Adds the batch's sequence numbers to h->numbers, the sequence numbers at which this child may
 * checkpoint. */
static void note_numbers(slp_ml_shard *h, const sloop_batch_t *batch) {
  for (size_t i = 0, n = sloop_batch_count(batch); i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(batch, i);
    slp_given_add(&h->numbers, h->mem, (slp_str){r->seq.base, r->seq.len});
  }
}

/* Sends a message with this action to the child. SLP_ML_RECORDS sends the first batch of the queue, or an
 * empty list if the queue is empty. */
static void send_action(slp_ml_shard *h, slp_ml_action action, uint64_t now) {
  slp_buf b;
  move(h, SLP_ML_ASKED, get_answer_deadline(h, now));
  listen_from(h, now);
  h->warned = 0;
  h->action = action;
  h->put_whole = 1;
  h->ops->listen(h, 1);
  if (action == SLP_ML_RECORDS && h->queue_n) {
    sloop_batch_t *batch = h->queue[0];
    h->spoke_us = now;
    h->put_n = 0;
    h->put_whole = 0;
    set_record(&h->given, sloop_batch_at(batch, sloop_batch_count(batch) - 1));
    note_numbers(h, batch);
    put_more(h);
    return;
  }
  begin_text(h, &b);
  if (action == SLP_ML_INITIALIZE) {
    slp_ml_put_initialize(&b, h->id, *h->named.seq ? h->named.seq : h->named.word, h->named.sub);
  } else if (action == SLP_ML_RECORDS) {
    h->spoke_us = now;
    slp_ml_put_records_begin(&b);
    slp_ml_put_records_end(&b, 0);
  } else {
    slp_ml_put_action(&b, action);
  }
  send_to_child(h, &b);
}

void slp_ml_written(slp_ml_shard *h, uint64_t now) {
  (void)now;
  if (h->state != SLP_ML_ASKED) return;
  if (h->put_whole)
    h->ops->listen(h, 1);
  else
    put_more(h);
}

/* In the state IDLE: sends the next action to the child, if any is due. */
static void send_next_action(slp_ml_shard *h, uint64_t now) {
  int goes = h->stops || h->lease == SLP_ML_LEAVING;
  if (h->state != SLP_ML_IDLE) return;
  h->due_us = NEVER;
  if (h->lease == SLP_ML_GONE) {
    send_action(h, SLP_ML_LEASE_LOST, now);
  } else if (goes && h->notice == SLP_ML_UNTOLD) {
    give_back_all(h);
    h->notice = SLP_ML_TOLD;
    send_action(h, SLP_ML_SHUTDOWN_REQUESTED, now);
  } else if (goes) {
    /* nothing to send now: shutdownRequested was sent, and leaseLost follows when the lease is gone */
    return;
  } else if (h->end == SLP_ML_READ_OUT && !h->queue_n) {
    send_action(h, SLP_ML_SHARD_ENDED, now);
  } else if (h->queue_n || (h->limits.empty_us && now >= h->spoke_us + h->limits.empty_us)) {
    send_action(h, SLP_ML_RECORDS, now);
  } else if (h->limits.empty_us) {
    h->due_us = h->spoke_us + h->limits.empty_us;
  }
}

/* ---- checkpoints ------------------------------------------------------------------------------ */

/* Answers the child's request for a checkpoint. error: the name of an error, or NULL for success. */
static void answer_checkpoint(slp_ml_shard *h, const char *error, uint64_t now) {
  slp_buf b;
  begin_text(h, &b);
  slp_ml_put_checkpoint(&b, &h->asked, error);
  if (h->state == SLP_ML_CHECKPOINTS)
    move(h, SLP_ML_ASKED, get_answer_deadline(h, now));
  else
    h->due_us = get_answer_deadline(h, now);
  tell_answered(h, now);
  listen_from(h, now);
  /* Stop reading the child's lines until the answer is written. Otherwise a child that asks for checkpoints
   * without reading the answers would fill the memory. */
  h->ops->listen(h, 0);
  send_to_child(h, &b);
}

/* Finds the place in the shard that the child's request h->asked means. Returns NULL, or the name of an error
 * for the child. Sets *whole to 1 if the request means the end of the shard. */
static const char *place_asked(const slp_ml_shard *h, slp_ml_place *ret, int *whole) {
  const slp_ml_message *m = &h->asked;
  int ended = h->action == SLP_ML_SHARD_ENDED;
  *whole = 0;
  *ret = h->given;
  if (!m->has_text) {
    *whole = ended;
    return NULL;
  }
  if (m->has_sub && (m->sub < 0 || m->sub > UINT32_MAX)) return "IllegalArgumentException";
  if (ended && slp_str_is(m->text, "SHARD_END")) {
    *whole = 1;
    return NULL;
  }
  slp_str seq = slp_num_fit(m->text, sizeof ret->seq - 1);
  if (!seq.n || h->end >= SLP_ML_NAMED) {
    int same = !*h->saved.seq && slp_str_is(m->text, h->saved.word) && h->end < SLP_ML_NAMED;
    *ret = h->saved;
    return same ? NULL : "IllegalArgumentException";
  }
  memset(ret, 0, sizeof *ret);
  memcpy(ret->seq, seq.p, seq.n);
  ret->sub = m->has_sub ? (uint64_t)m->sub : 0;
  if (compare_places(ret, &h->saved) < 0 || compare_places(ret, &h->given) > 0)
    return "IllegalArgumentException";
  if (compare_places(ret, &h->saved) > 0 && !slp_given_has(&h->numbers, seq))
    return "IllegalArgumentException";
  *whole = ended && compare_places(ret, &h->given) == 0;
  return NULL;
}

static void on_checkpoint_asked(slp_ml_shard *h, const slp_ml_message *m, uint64_t now) {
  int whole;
  if (!h->put_whole) { /* the answer would be written into the middle of the processRecords line */
    kill_failed_child(h, "it asked for a checkpoint before it was given all records");
    return;
  }
  h->asked = *m;
  /* A text that is too long for a sequence number is refused later. The refusal repeats as much of the text
   * as fits. */
  size_t n = m->text.n < sizeof h->asked_text ? m->text.n : sizeof h->asked_text;
  if (n) memcpy(h->asked_text, m->text.p, n);
  h->asked.text = (slp_str){h->asked_text, n};
  if (h->action == SLP_ML_INITIALIZE || h->action == SLP_ML_LEASE_LOST) {
    answer_checkpoint(h, "InvalidStateException", now);
    return;
  }
  const char *error = place_asked(h, &h->naming, &whole);
  if (!error && h->lease == SLP_ML_GONE && h->end != SLP_ML_WRITTEN) error = "ShutdownException";
  int known = whole ? h->end >= SLP_ML_NAMED : compare_places(&h->naming, &h->written) == 0;
  if (error || known) {
    answer_checkpoint(h, error, now);
    return;
  }
  int r = h->ops->checkpoint(h, whole ? NULL : &h->naming);
  if (r) {
    answer_checkpoint(h,
                      r == SLOOP_ENOSHARD  ? "ShutdownException"
                      : r == SLOOP_EOPTION ? "IllegalArgumentException"
                                           : "KinesisClientLibDependencyException",
                      now);
    return;
  }
  if (whole)
    h->end = SLP_ML_NAMED;
  else if (compare_places(&h->naming, &h->named) > 0)
    h->named = h->naming;
  h->ops->listen(h, 0);
  move(h, SLP_ML_CHECKPOINTS, whole ? NEVER : now + h->limits.checkpoint_us);
}

void slp_ml_checkpointed(slp_ml_shard *h, int status, uint64_t now) {
  if (h->late) {
    h->late--;
    return;
  }
  if (h->state != SLP_ML_CHECKPOINTS) return;
  /* After success, slp_ml_gone() answers the child later, when the lease table has the end of the shard. */
  if (h->end == SLP_ML_NAMED) {
    if (!status) return;
    h->end = SLP_ML_READ_OUT;
  }
  if (!status) {
    h->saved = h->naming;
    slp_given_forget_before(&h->numbers, slp_str_of(h->saved.seq));
    if (compare_places(&h->naming, &h->written) > 0) h->written = h->naming;
    h->failures = 0;
  }
  answer_checkpoint(h,
                    !status ? NULL
                    : status == SLOOP_ENOSHARD || h->lease == SLP_ML_GONE
                        ? "ShutdownException"
                        : "KinesisClientLibDependencyException",
                    now);
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* Handles the child's message that it has finished the action named `of`. */
static void on_status_message(slp_ml_shard *h, slp_str of, uint64_t now) {
  char line[160];
  if (!slp_str_is(of, slp_ml_action_name(h->action))) {
    snprintf(line, sizeof line, "it answered \"%.*s\" to %s", (int)(of.n < 60 ? of.n : 60), of.n ? of.p : "",
             slp_ml_action_name(h->action));
    kill_failed_child(h, line);
    return;
  }
  if (!h->put_whole) {
    kill_failed_child(h, "it answered processRecords before it was given all records");
    return;
  }
  tell_answered(h, now);
  if (h->action == SLP_ML_LEASE_LOST || h->action == SLP_ML_SHARD_ENDED) {
    if (!is_done(h))
      say_of_shard(
          h,
          "the child did not checkpoint at the end of the shard: a new child starts at the last checkpoint");
    close_child(h, now);
    return;
  }
  if (h->action == SLP_ML_RECORDS) {
    h->failures = 0;
    if (h->put_n && h->queue_n) finish_first(h);
    h->put_n = 0;
  }
  /* like the MultiLangDaemon, reads the child's output only while an answer is due */
  h->ops->listen(h, 0);
  move(h, SLP_ML_IDLE, NEVER);
  if (h->action == SLP_ML_SHUTDOWN_REQUESTED && h->lease == SLP_ML_LEAVING) h->ops->hand_over(h);
  send_next_action(h, now);
}

void slp_ml_line(slp_ml_shard *h, char *line, size_t n, uint64_t now) {
  slp_ml_message m;
  char text[300];
  h->ops->trace(h, 0, (slp_str){line, n});
  if (h->state != SLP_ML_ASKED) return;
  snprintf(text, sizeof text, "%s: %.*s", junk, (int)(n < 200 ? n : 200), line);
  slp_ml_read(line, n, &m);
  switch (m.kind) {
    case SLP_ML_JUNK: tell_some(h, &h->junk, junk, text, now); return;
    case SLP_ML_EMPTY:
    case SLP_ML_OTHER: return;
    case SLP_ML_STATUS: on_status_message(h, m.text, now); return;
    case SLP_ML_CHECKPOINT: on_checkpoint_asked(h, &m, now); return;
  }
}

void slp_ml_broken(slp_ml_shard *h, int input) {
  if (h->state != SLP_ML_ASKED && h->state != SLP_ML_IDLE && h->state != SLP_ML_CHECKPOINTS) return;
  if (h->state == SLP_ML_CHECKPOINTS) h->late += h->end != SLP_ML_NAMED;
  kill_failed_child(h, input ? "it has closed its input" : "it has closed its output");
}

void slp_ml_long_line(slp_ml_shard *h, uint64_t now) { tell_some(h, &h->too_long, too_long, too_long, now); }

/* ---- what happens to the shard ---------------------------------------------------------------- */

void slp_ml_open(slp_ml_shard *h, const slp_ml_ops *ops, const slp_ml_limits *limits, slp_mem *mem,
                 const char *shard, const sloop_position_t *from, uint64_t now) {
  void *user = h->user;
  *h = (slp_ml_shard){.ops = ops, .limits = *limits, .user = user, .mem = mem, .due_us = now};
  snprintf(h->id, sizeof h->id, "%s", shard);
  set_place(&h->saved, from);
  h->given = h->named = h->written = h->saved;
}

void slp_ml_start_now(slp_ml_shard *h, uint64_t now) {
  char line[300];
  SLP_CHECK(h->state == SLP_ML_WAITS);
  int r = h->ops->start(h);
  if (r) {
    snprintf(h->why, sizeof h->why, "%.120s can't be started: %s", h->limits.program, sloop_strerror(r));
    snprintf(line, sizeof line, "the child is missing: %.250s", h->why);
    say_of_shard(h, line);
    uint64_t wait = BACKOFF_US << (h->failures < 6 ? h->failures : 6);
    h->failures++;
    h->due_us = now + (wait < BACKOFF_MOST_US ? wait : BACKOFF_MOST_US);
    return;
  }
  h->starts++;
  h->complaint[0] = 0;
  h->spoke_us = now;
  send_action(h, SLP_ML_INITIALIZE, now);
}

void slp_ml_batch(slp_ml_shard *h, sloop_batch_t *b, uint64_t now) {
  if (h->stale || h->lease != SLP_ML_HELD || h->stops || h->state == SLP_ML_KILLED ||
      h->queue_n == SLP_ML_QUEUE_MAX) {
    sloop_batch_done(b, 0);
    return;
  }
  h->queue[h->queue_n++] = b;
  send_next_action(h, now);
}

void slp_ml_repositioned(slp_ml_shard *h) { h->stale = 0; }

void slp_ml_read_out(slp_ml_shard *h, uint64_t now) {
  if (h->stale || h->end != SLP_ML_READING) return;
  h->end = SLP_ML_READ_OUT;
  send_next_action(h, now);
}

void slp_ml_leaving(slp_ml_shard *h, uint64_t now) {
  if (h->lease != SLP_ML_HELD) return;
  h->lease = SLP_ML_LEAVING;
  if (h->state == SLP_ML_WAITS) {
    give_back_all(h);
    h->due_us = NEVER;
    h->ops->hand_over(h);
  } else if (h->notice == SLP_ML_TOLD && h->state == SLP_ML_IDLE) {
    h->ops->hand_over(h);
  } else {
    send_next_action(h, now);
  }
}

void slp_ml_gone(slp_ml_shard *h, int ended, uint64_t now) {
  if (h->lease == SLP_ML_GONE) return;
  h->lease = SLP_ML_GONE;
  if (ended && h->end == SLP_ML_NAMED) h->end = SLP_ML_WRITTEN;
  if (h->state == SLP_ML_WAITS) {
    be_over(h);
  } else if (h->state == SLP_ML_CHECKPOINTS && h->end >= SLP_ML_NAMED) {
    if (!ended) h->end = SLP_ML_READ_OUT; /* the lease was lost before the end of the shard was written */
    answer_checkpoint(h, ended ? NULL : "ShutdownException", now);
  } else {
    send_next_action(h, now);
  }
}

void slp_ml_stop(slp_ml_shard *h, uint64_t now) {
  h->stops = 1;
  if (h->state == SLP_ML_WAITS) {
    give_back_all(h);
    h->due_us = NEVER;
  }
  send_next_action(h, now);
}

int slp_ml_quiet(const slp_ml_shard *h) {
  return h->state == SLP_ML_WAITS || h->state == SLP_ML_OVER || h->state == SLP_ML_CLOSES ||
         h->state == SLP_ML_PUSHED || (h->state == SLP_ML_IDLE && h->notice == SLP_ML_TOLD);
}

void slp_ml_waited_in_vain(slp_ml_shard *h, uint64_t grace_us) {
  char line[300];
  snprintf(
      line, sizeof line,
      "the child has not answered %s within %llu s of the stop (shutdownGraceMillis): its shard is given up "
      "without a last checkpoint",
      slp_ml_action_name(h->action), (unsigned long long)(grace_us / 1000000));
  if (h->state == SLP_ML_CHECKPOINTS)
    snprintf(
        line, sizeof line,
        "the lease table has not answered a checkpoint within %llu s of the stop (shutdownGraceMillis): the "
        "shard is given up without it",
        (unsigned long long)(grace_us / 1000000));
  /* in KILLED the kill was reported already; in IDLE the child owes no answer */
  if (h->state == SLP_ML_KILLED || h->state == SLP_ML_IDLE) return;
  say_of_shard(h, line);
  h->warn_us = NEVER; /* this silence is not reported a second time */
}

void slp_ml_time(slp_ml_shard *h, uint64_t now) {
  char line[120];
  tell_more(h, 0, now);
  if (now < h->due_us) {
    tell_silence(h, now);
    return;
  }
  switch (h->state) {
    case SLP_ML_WAITS: /* the caller calls slp_ml_start_now() */
    case SLP_ML_KILLED:
    case SLP_ML_OVER:
    case SLP_ML_STATES: return;
    case SLP_ML_ASKED:
      snprintf(line, sizeof line, "it did not answer %s within %llu s (timeoutInSeconds)",
               slp_ml_action_name(h->action), (unsigned long long)(h->limits.timeout_us / 1000000));
      kill_failed_child(h, line);
      return;
    case SLP_ML_CHECKPOINTS:
      h->late++;
      say_of_shard(h, "the lease table has not answered a checkpoint; the child is told so");
      answer_checkpoint(h, "KinesisClientLibDependencyException", now);
      return;
    case SLP_ML_IDLE: send_next_action(h, now); return;
    case SLP_ML_CLOSES:
      say_of_shard(h, "the child does not exit after its input was closed; sending SIGTERM");
      move(h, SLP_ML_PUSHED, now + h->limits.close_us);
      h->ops->kill(h, SIGTERM);
      return;
    case SLP_ML_PUSHED:
      say_of_shard(h, "the child ignores SIGTERM; sending SIGKILL");
      h->due_us = NEVER;
      h->ops->kill(h, SIGKILL);
      return;
  }
}

void slp_ml_abandon(slp_ml_shard *h) {
  give_back_all(h);
  slp_given_clear(&h->numbers, h->mem);
}

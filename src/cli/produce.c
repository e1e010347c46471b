/* produce.c - puts lines into a stream by calls of PutRecords, and reports at the end what became of them.
 *
 * Memory is bounded: no line is read while is_full() returns 1, so a slow stream slows the writer of
 * standard input down. While no call is in flight, waiting records are sent at once, even a single one.
 * While a call is in flight, the next call is sent only when it is full. So calls grow by themselves when
 * lines come faster than calls are answered.
 *
 * What happens to a record that a call did not put:
 *   1. throttled, or a failure of this record alone: it is put again later, before later records of its key;
 *   2. the whole call failed for a reason that may pass: all its records are put again. If the call had no
 *      answer, its records may be in the stream twice;
 *   3. the whole call was refused: its records are put again in smaller calls, until the record that is to
 *      blame is alone;
 *   4. a failure that lasts, such as a deleted stream: the command ends.
 * With --aggregate also:
 *   5. an aggregate was stored in a shard to which not all of its records belong, because the stream was
 *      resharded meanwhile: all its records are put again (produce_aggregate.h). If the listing does not have
 *      that shard yet, the outcome of the call is handled after a new listing;
 *   6. an aggregate was refused: its records are put again in smaller aggregates.
 * No record is dropped silently: each line that was read is counted as put, refused, left or not known. */
#include "cli/produce.h"

#include "api/identity.h"
#include "aws/aws_impl.h"
#include "aws/retry.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/format.h"
#include "cli/people_lines.h"
#include "cli/produce_aggregate.h"
#include "cli/produce_call.h"
#include "cli/produce_line.h"
#include "cli/produce_listing.h"
#include "cli/produce_queue.h"
#include "cli/produce_rejects.h"
#include "cli/produce_shards.h"
#include "cli/split.h"
#include "cli/trouble_lines.h"
#include "host/host.h"
#include "program/input.h"
#include "program/local.h"

#include <sloop.h>
#include <stdio.h>

#define CALLS 8u /* the most calls in flight */
#define QUEUE_BYTES ((size_t)32 << 20)
#define QUEUE_RECORDS 20000u
/* the wait before a record is put again; doubled with each try, up to AGAIN_US_MAX */
#define AGAIN_US 100000u
#define AGAIN_US_MAX 5000000u
#define THROTTLED_US 100000u /* the pause after a call whose records were all throttled; less if only some */
#define RATE_CREDIT_US 100000u /* --rate: a delay of at most this length is made up for */
#define STALLED_MS 5000u       /* after this time without a record put, the user is told why */
#define FAILING_MS 5000u       /* after a failure that lasts: how long to wait for answers to other calls */
/* The command ends when this many records were refused alone and none was ever put. Then the records are not
 * to blame. */
#define REFUSED_ALONE_MAX 20u
/* An answer of PutRecords may name a shard that ListShards does not return yet. After this many listings
 * without the shard, the records of that answer count as put. */
#define LISTINGS_MAX 6u

typedef struct produce {
  slp_app app;
  slp_cli_consumer consumer; /* only provides keys, region and endpoints */
  slp_host *host;
  slp_buf delimiter, key_delimiter, scratch;
  slp_put_rules rules;
  slp_splitter splitter;
  slp_put_queue queue;
  slp_put_call *calls;           /* owned: CALLS of them; initialised while `ready` is set */
  slp_put_aggregates aggregates; /* --aggregate: how aggregates are made; unused without it */
  slp_put_listing listing;
  slp_rejects rejects;
  slp_input *in; /* owned; NULL: no input is being read */
  size_t input;  /* its index */
  /* runs advance_produce() when a record is to be put again, a line may be read, or pause_us is over */
  slp_timer timer;
  slp_buf held;     /* --speed: a line that was read too early, and is to be put at held_us */
  uint64_t held_us; /* 0: no line is held */
  uint8_t held_delimited;
  uint64_t held_number;
  size_t held_input;
  uint64_t next_us;   /* --rate: time before which no further line is read */
  uint64_t began_us;  /* --speed: when the first line with a time was put; it had arrived at began_ts */
  int64_t began_ts;   /* -1: no line with a time was read yet */
  uint64_t pause_us;  /* no call is sent before this time */
  uint32_t fails;     /* how many calls in a row have failed */
  uint32_t calls_max; /* how many calls may be in flight; fewer while shards are throttled */
  uint8_t ready;      /* 1: the consumer is open */
  uint8_t ended;      /* 1: no more input will be read */
  uint8_t concluded;  /* 1: the command has ended, and the closing line was printed */
  uint8_t greedy;     /* 1: after a Ctrl-C: takes all lines in the input's buffer, even into a full queue */
  char why[SLP_TOLD_LINE];     /* the failure that ends the command; "": there is none */
  char trouble[SLP_TOLD_LINE]; /* why a record or call of the last answer was not put; "": all was put */
  uint64_t failing_tick, put_tick, files_failed;
  uint64_t answered, calls_n, put, put_bytes, again, read, refused_alone;
  uint64_t left, unknown; /* lines that were read and not put; that may be put, by a call without an answer */
  uint64_t aggregates_n, inside; /* how many aggregates were put; how many records in them */
} produce;
static void advance_produce(produce *p);
static void conclude(produce *p);
static void open_next(produce *p);
static void on_input_end(void *arg, int error);

static int is_whole_files(const produce *p) { return p->app.args->files_n && !p->app.args->lines; }

static const char *input_path(const produce *p, size_t i) {
  const slp_args *a = p->app.args;
  return a->files_n && strcmp(a->files[i], "-") != 0 ? a->files[i] : NULL;
}
static const char *input_name(const produce *p, size_t i) {
  const char *path = input_path(p, i);
  return path ? path : "standard input";
}

/* ---- the end of the command -------------------------------------------------------------------------- */
/* Begins to end the command because of a failure that lasts. The command still waits for calls in flight. */
static void fail_produce(produce *p, const char *why) {
  if (p->why[0]) return;
  snprintf(p->why, sizeof p->why, "%s", why);
  p->failing_tick = p->app.ticks;
}

static size_t calls_in_flight(const produce *p) {
  size_t n = 0;
  for (size_t i = 0; p->calls && i < CALLS; i++) n += p->calls[i].sent || p->calls[i].unjudged;
  return n;
}

static void conclude_if_done(produce *p) {
  if (p->concluded || !p->ready) return;
  if (p->why[0] ? calls_in_flight(p) == 0 : p->ended && !p->queue.records && !p->held_us) conclude(p);
}

/* ---- lines ------------------------------------------------------------------------------------------- */
/* Returns 1 if reading must stop for now: the queue has no room, or its records fill two calls. More records
 * than that would only push each other out of the CPU's caches. */
static int is_full(const produce *p) {
  const slp_put_queue *q = &p->queue;
  if (q->bytes >= QUEUE_BYTES || q->records >= QUEUE_RECORDS) return 1;
  if (p->app.args->aggregate)
    return q->bytes - q->in_calls_bytes >= 2 * SLP_PUT_AGGREGATED_BYTES && q->ready_keys;
  return q->ready_keys >= 2 * SLP_PUT_BATCH_RECORDS || q->ready_bytes >= 2 * SLP_PUT_BATCH_BYTES;
}

static int may_take_line(const produce *p) {
  const slp_args *a = p->app.args;
  if (p->why[0] || p->ended || p->held_us || (a->count && p->read >= a->count)) return 0;
  if (!p->greedy && is_full(p)) return 0;
  return !a->rate || slp_now_us(p->host) >= p->next_us;
}

typedef struct found { /* a line of an input */
  slp_str text;
  uint64_t number;
  size_t input;
  uint8_t delimited;
} found;

static void refuse_line(produce *p, slp_put_refusal why, const found *f) {
  slp_rejects_add(&p->rejects, f->text, p->splitter.delimiter, f->delimited);
  slp_rejects_count(&p->rejects, why, input_name(p, f->input), f->number, "");
}

/* Returns when a record that arrived in its stream at ts_ms is to be put again (--speed); 0: at once. Records
 * without a time, and records that arrived before the first one, are put at once. */
static uint64_t due_us(produce *p, int64_t ts_ms) {
  const slp_args *a = p->app.args;
  if (!a->speed_milli || ts_ms < 0) return 0;
  if (p->began_ts < 0) {
    p->began_ts = ts_ms;
    p->began_us = slp_now_us(p->host);
  }
  if (ts_ms <= p->began_ts) return 0;
  uint64_t after_ms = slp_min_u64((uint64_t)(ts_ms - p->began_ts), UINT64_C(1000000000000));
  return slp_after_us(p->began_us, after_ms * 1000000u / a->speed_milli);
}

static void hold_line(produce *p, const found *f, uint64_t at_us) {
  slp_buf_clear(&p->held);
  if (slp_buf_add_str(&p->held, f->text)) fail_produce(p, "no memory");
  p->held_us = at_us;
  p->held_number = f->number;
  p->held_input = f->input;
  p->held_delimited = f->delimited;
}

/* Adds the line to the queue as a record. may_hold: 1 if a line to be put later is kept in `held`. */
static void take_line(produce *p, const found *f, int may_hold) {
  slp_put_line l;
  char random[17];
  slp_put_refusal r = slp_put_line_read(&p->rules, f->text, &p->scratch, &l);
  if (r == SLP_PUT_NO_MEMORY) {
    fail_produce(p, "no memory");
    return;
  }
  if (r) {
    refuse_line(p, r, f);
    return;
  }
  uint64_t at_us = may_hold ? due_us(p, l.ts_ms) : 0;
  if (at_us > slp_now_us(p->host)) {
    hold_line(p, f, at_us);
    return;
  }
  slp_put_new n = {.raw = f->text,
                   .key = l.key,
                   .data = l.data,
                   .hash_key = l.hash_key,
                   .number = f->number,
                   .input = f->input,
                   .delimited = f->delimited,
                   .random = l.key.p == NULL};
  if (n.random) {
    snprintf(random, sizeof random, "%016llx", (unsigned long long)slp_random(p->host));
    n.key = (slp_str){random, 16};
  }
  if (slp_put_queue_add(&p->queue, &n)) fail_produce(p, "no memory");
}

/* Takes the line in `held`, because its time has come. */
static void take_held(produce *p) {
  found f = {slp_buf_str(&p->held), p->held_number, p->held_input, p->held_delimited};
  p->held_us = 0;
  take_line(p, &f, 0);
}

/* Handles the record, or the part of a record, that the splitter returned. Skips empty lines and empty files,
 * as kcat does. */
static void take_found(produce *p, int kind) {
  const slp_args *a = p->app.args;
  slp_splitter *s = &p->splitter;
  found f = {s->text, s->number, p->input, s->delimited};
  if (kind < 0) {
    fail_produce(p, "no memory");
  } else if (kind == SLP_SPLIT_LONG_PART) {
    slp_rejects_add(&p->rejects, s->text, SLP_STR(""), 1);
  } else if (kind == SLP_SPLIT_LONG_END) {
    p->read++;
    refuse_line(p, SLP_PUT_TOO_LARGE, &f);
  } else if (s->text.n) {
    p->read++;
    if (a->rate) {
      uint64_t now_us = slp_now_us(p->host), kept_us = now_us > RATE_CREDIT_US ? now_us - RATE_CREDIT_US : 0;
      p->next_us = slp_max_u64(p->next_us, kept_us) + 1000000u / a->rate;
    }
    take_line(p, &f, 1);
  }
}

static void take_lines(produce *p, slp_str *piece) {
  while (may_take_line(p)) {
    int kind = slp_splitter_next(&p->splitter, piece);
    if (kind == SLP_SPLIT_MORE) return;
    take_found(p, kind);
  }
}

static void end_reading(produce *p) {
  slp_input_close(p->in);
  p->in = NULL;
  p->ended = 1;
}

static size_t on_bytes(void *arg, const char *bytes, size_t n) {
  produce *p = arg;
  slp_str piece = {bytes, n};
  slp_now_refresh_us(p->host);
  take_lines(p, &piece);
  if (p->app.args->count && p->read >= p->app.args->count) end_reading(p);
  advance_produce(p);
  return n - piece.n;
}

static void tell_unreadable(produce *p, int error) {
  char why[SLP_LOCAL_WHY];
  const char *path = input_path(p, p->input);
  p->files_failed++;
  if (path)
    slp_local_explain(path, error, 0, why);
  else
    snprintf(why, sizeof why, "%s", slp_local_why(error));
  slp_say("can't read %.200s: %s", input_name(p, p->input), why);
}

/* Opens the next input that can be read. The line numbers of each input begin at 1. */
static void open_next(produce *p) {
  const slp_args *a = p->app.args;
  slp_input_user user = {.on_bytes = on_bytes, .on_end = on_input_end, .arg = p};
  for (; p->input < (a->files_n ? a->files_n : 1); p->input++) {
    slp_splitter_free(&p->splitter);
    slp_splitter_init(&p->splitter, p->app.mem, is_whole_files(p) ? SLP_STR("") : slp_buf_str(&p->delimiter),
                      a->json ? SLP_PUT_JSON_LINE_BYTES : SLP_PUT_RECORD_BYTES);
    int r = slp_input_open(&p->in, p->app.mem, p->app.loop, input_path(p, p->input), &user);
    if (!r) return;
    p->in = NULL;
    if (r == SLP_ENOMEM) {
      fail_produce(p, "no memory");
      return;
    }
    tell_unreadable(p, r);
  }
  p->ended = 1;
}

/* Counts lines that were read and will not be put, and writes them to the file of --rejects. */
static void leave_bytes(produce *p, slp_str piece) {
  slp_splitter *s = &p->splitter;
  for (int kind; (kind = piece.n ? slp_splitter_next(s, &piece) : slp_splitter_end(s)) >= 0;) {
    if (kind == SLP_SPLIT_MORE && !piece.n && !s->held.n && !s->is_long) return;
    if (kind == SLP_SPLIT_MORE) continue;
    slp_rejects_add(&p->rejects, s->text, kind == SLP_SPLIT_LONG_PART ? SLP_STR("") : s->delimiter,
                    kind == SLP_SPLIT_LONG_PART || s->delimited);
    if (kind != SLP_SPLIT_LONG_PART && s->text.n) p->left++;
    if (!piece.n && !s->delimited && kind != SLP_SPLIT_LONG_PART) return;
  }
}

/* The last line needs no delimiter. But where reading has failed, what came last may be only a part of a line
 * or of a file. It is not put. */
static void on_input_end(void *arg, int error) {
  produce *p = arg;
  slp_input_close(p->in);
  p->in = NULL;
  if (error) tell_unreadable(p, error);
  int kind = error ? SLP_SPLIT_MORE : slp_splitter_end(&p->splitter);
  if (kind != SLP_SPLIT_MORE) take_found(p, kind);
  if (error && !is_whole_files(p)) leave_bytes(p, SLP_STR(""));
  p->input++;
  open_next(p);
  advance_produce(p);
}

/* Stops reading. Counts the lines that were read and are not in the queue yet as left. */
static void abandon_input(produce *p) {
  if (p->held_us) {
    slp_rejects_add(&p->rejects, slp_buf_str(&p->held), p->splitter.delimiter, p->held_delimited);
    p->left++;
    p->held_us = 0;
  }
  if (p->in && !is_whole_files(p)) leave_bytes(p, slp_input_unused(p->in));
  end_reading(p);
}

/* ---- calls ------------------------------------------------------------------------------------------- */
static uint64_t again_at_us(produce *p, uint32_t tries) {
  uint64_t wait_us = slp_min_u64((uint64_t)AGAIN_US << slp_min_u64(tries, 10), AGAIN_US_MAX);
  return slp_now_us(p->host) + wait_us / 2 + slp_random_below(p->host, wait_us / 2);
}

/* After a call with throttled records, halves the number of calls that may be in flight, and pauses before
 * the next call. After a call without throttled records, allows one more. */
static void pace_calls(produce *p, size_t throttled, size_t of) {
  if (!throttled) {
    p->calls_max = (uint32_t)slp_min_u64(p->calls_max + 1u, CALLS);
    return;
  }
  p->calls_max = (uint32_t)slp_max_u64(p->calls_max / 2u, 1);
  p->pause_us = slp_after_us(slp_now_us(p->host), THROTTLED_US * throttled / of);
}

/* Gives up a record that the service refuses. */
static void refuse_record(produce *p, slp_put_record *r, const char *why) {
  slp_rejects_add(&p->rejects, r->raw, p->splitter.delimiter, r->delimited);
  slp_rejects_count(&p->rejects, SLP_PUT_BY_SERVICE, input_name(p, r->input), r->number, why);
  slp_put_queue_done(&p->queue, r);
}

/* Queues a record to be put again, because it was stored in an aggregate that readers leave out. */
static void put_stray_again(produce *p, slp_put_record *r) {
  p->again++;
  if (++r->strays >= SLP_PUT_STRAYS_MAX) r->together = 1;
  slp_put_listing_forget(&p->listing);
  slp_put_queue_again(&p->queue, r, 0);
}

/* Queues the records of a refused aggregate to be put again, in smaller aggregates. */
static void split_aggregate(produce *p, slp_put_record *first) {
  uint32_t half = (uint32_t)(slp_put_count(first) / 2);
  for (slp_put_record *r = first, *next; r; r = next) {
    next = r->more;
    r->together = (uint32_t)slp_min_u64(r->together, half);
    p->again++;
    slp_put_queue_again(&p->queue, r, 0);
  }
}

/* Handles what a call did with record r. is_left_out: 1 if r is in an aggregate that readers of its shard
 * leave out. why: why r is refused. */
static void take_outcome(produce *p, slp_put_record *r, slp_class class, int is_left_out, uint64_t again_us,
                         const char *why) {
  if (class == SLP_FINE && is_left_out) {
    put_stray_again(p, r);
  } else if (class == SLP_FINE) {
    p->put++;
    p->put_bytes += r->key.n + r->data.n;
    p->put_tick = p->app.ticks;
    slp_put_queue_done(&p->queue, r);
  } else if (class == SLP_REFUSED) {
    refuse_record(p, r, why);
  } else {
    p->again++;
    r->tries++;
    slp_put_queue_again(&p->queue, r, again_us);
  }
}

static void take_entry(produce *p, slp_put_call *c, size_t i) {
  slp_put_record *first = c->records[i];
  slp_class class = c->outcomes[i];
  char why[SLP_PUT_WHY] = "";
  int is_aggregate = first->more != NULL;
  if (is_aggregate && class == SLP_REFUSED) {
    split_aggregate(p, first);
    return;
  }
  const slp_put_shard *shard = is_aggregate ? slp_put_shards_find(&p->aggregates.shards, c->shards[i]) : NULL;
  int is_left_out = shard && !slp_put_all_belong(first, shard);
  if (class == SLP_REFUSED) slp_put_call_why(c, i, why);
  uint64_t put_before = p->put, again_us = class == SLP_FINE ? 0 : again_at_us(p, first->tries);
  for (slp_put_record *r = first, *next; r; r = next) {
    next = r->more;
    take_outcome(p, r, class, is_left_out, again_us, why);
  }
  p->aggregates_n += is_aggregate && class == SLP_FINE;
  p->inside += is_aggregate ? p->put - put_before : 0;
}

static void take_outcomes(produce *p, slp_put_call *c) {
  size_t throttled = 0;
  int lasts = 0;
  for (size_t i = 0; i < c->n; i++) {
    throttled += c->outcomes[i] == SLP_THROTTLE;
    lasts |= c->outcomes[i] != SLP_REFUSED && slp_class_lasts(c->outcomes[i]);
    take_entry(p, c, i);
  }
  pace_calls(p, throttled, c->n);
  snprintf(p->trouble, sizeof p->trouble, "%s", c->why);
  if (c->why[0] && p->app.args->verbose > 1) slp_say_if_room("%s", c->why);
  if (lasts) fail_produce(p, c->why); /* such as a disabled KMS key */
}

/* Queues all records of a call to be put again, because the whole call failed. together: the most records
 * that a call with one of them may have; 0: no new limit. unsure: 1 if the call may have put them. */
static void put_all_again(produce *p, slp_put_call *c, uint32_t together, int unsure) {
  for (size_t i = 0; i < c->n; i++) {
    for (slp_put_record *r = c->records[i], *next; r; r = next) {
      next = r->more;
      r->unsure |= (uint8_t)unsure;
      if (together) r->together = (uint32_t)slp_min_u64(r->together, together);
      slp_put_queue_again(&p->queue, r, 0);
    }
  }
}

static size_t count_records_of_call(const slp_put_call *c) {
  size_t n = 0;
  for (size_t i = 0; i < c->n; i++) n += slp_put_count(c->records[i]);
  return n;
}

static void error_line(produce *p, const slp_fail *f, char *line, size_t n) {
  sloop_error_t e = slp_error_of_fail(f);
  if (f->class == SLP_ACCESS)
    snprintf(line, n, "%s (%s); -P needs the right kinesis:PutRecords on this stream", f->message,
             sloop_err_name(f->code));
  else
    slp_cli_consumer_error_line(&p->consumer, f->code, &e, line, n);
  /* The name of a stream that has taken records is not misspelt, so no similar names are suggested. */
  if (p->put && p->app.args->ret_missing) *p->app.args->ret_missing = NULL;
}

/* Returns 1 if the call may be repeated. Before the first answer of the service, only an error that is likely
 * to pass is repeated: a wrong name or address must end the command at once. */
static int may_repeat_call(produce *p, const slp_fail *f) {
  sloop_error_t e = slp_error_of_fail(f);
  int keys_may_come = f->class == SLP_AUTH && (f->http_status == 429 || f->http_status >= 500);
  if (slp_class_lasts(f->class) && !keys_may_come) return 0;
  if (f->class == SLP_EXPIRED || f->class == SLP_TRIMMED || f->class == SLP_NOMEM) return 0;
  return p->answered || slp_cli_consumer_asks_again(&p->consumer, &e, p->fails);
}

static void call_failed(produce *p, slp_put_call *c) {
  const slp_fail *f = &c->op.fail;
  char line[SLP_TOLD_LINE];
  error_line(p, f, line, sizeof line);
  /* The service may refuse a call because of one of its records. If no record was ever put, the reason may
   * also be the same for all records. */
  int refused = f->class == SLP_REFUSED && (f->http_status == 400 || f->http_status == 413);
  size_t n = count_records_of_call(c);
  if (refused && (n > 1 || p->put || ++p->refused_alone < REFUSED_ALONE_MAX)) {
    p->answered++;
    if (n > 1)
      put_all_again(p, c, (uint32_t)(n / 2), 0);
    else
      refuse_record(p, c->records[0], f->message);
    return;
  }
  p->fails++;
  put_all_again(p, c, 0, slp_put_call_may_have_put(f));
  if (!p->why[0] && may_repeat_call(p, f)) {
    p->again += n;
    snprintf(p->trouble, sizeof p->trouble, "%s", line);
    p->pause_us = slp_after_us(slp_now_us(p->host),
                               slp_retry_wait_us(f->class, p->fails, slp_random(p->host), f->retry_after_us));
  } else {
    fail_produce(p, line);
  }
}

/* Returns 1 if an aggregate of the call is in a shard that the listing does not have. */
static int names_unknown_shard(const produce *p, const slp_put_call *c) {
  for (size_t i = 0; i < c->n; i++)
    if (c->records[i]->more && c->outcomes[i] == SLP_FINE && c->shards[i].n &&
        !slp_put_shards_find(&p->aggregates.shards, c->shards[i]))
      return 1;
  return 0;
}

/* Called after a listing. Handles the outcomes of calls that have waited for it. If the listing still lacks
 * the shard that an answer names, asks for another listing instead, up to LISTINGS_MAX times. */
static void judge_calls(produce *p) {
  int unknown = 0;
  for (size_t i = 0; i < CALLS && !p->why[0]; i++)
    unknown |= p->calls[i].unjudged && names_unknown_shard(p, &p->calls[i]);
  p->listing.fails = unknown ? p->listing.fails + 1 : 0;
  if (unknown && p->listing.fails < LISTINGS_MAX) {
    slp_put_listing_forget(&p->listing);
    return;
  }
  if (unknown)
    slp_say_if_room(
        "records were put into a shard that the service does not list: readers of aggregates may "
        "leave some of them out");
  for (size_t i = 0; i < CALLS; i++) {
    if (!p->calls[i].unjudged) continue;
    p->calls[i].unjudged = 0;
    take_outcomes(p, &p->calls[i]);
  }
}

static void on_listing(slp_put_listing *l, const char *why) {
  produce *p = l->user;
  if (p->concluded) return;
  if (why) {
    fail_produce(p, why);
  } else if (l->state == SLP_PUT_LISTING_LISTED) {
    p->answered++;
    judge_calls(p);
  }
  advance_produce(p);
}

static void on_call_done(slp_put_call *c) {
  produce *p = c->user;
  p->calls_n++;
  if (c->op.fail.class == SLP_FINE) {
    p->answered++;
    p->fails = 0;
    if (names_unknown_shard(p, c)) {
      c->unjudged = 1;
      slp_put_listing_forget(&p->listing);
    } else {
      take_outcomes(p, c);
    }
  } else {
    call_failed(p, c);
  }
  advance_produce(p);
}

/* Returns 1 if the waiting records would fill a call. */
static int would_fill_call(const produce *p) {
  const slp_put_queue *q = &p->queue;
  if (p->app.args->aggregate) return q->bytes - q->in_calls_bytes >= SLP_PUT_AGGREGATED_BYTES;
  return q->ready_keys >= SLP_PUT_BATCH_RECORDS || q->ready_bytes >= SLP_PUT_BATCH_BYTES;
}

static int may_send_call(const produce *p) {
  size_t in_flight = calls_in_flight(p);
  if (in_flight >= (p->fails ? 1 : p->calls_max)) return 0;
  if (p->app.args->aggregate && p->listing.state != SLP_PUT_LISTING_LISTED) return 0;
  return !in_flight || would_fill_call(p);
}

/* Takes records for the call. Returns 0 or SLP_ENOMEM. */
static int fill_call(produce *p, slp_put_call *c) {
  if (p->app.args->aggregate) return slp_put_aggregates_take(&p->aggregates, &p->queue, c->records, &c->n);
  c->n = slp_put_queue_take(&p->queue, c->records);
  return 0;
}

/* Sends calls while there are records for them. After a failed call, sends only one call at a time. */
static void send_calls(produce *p) {
  if (p->why[0] || p->pause_us > slp_now_us(p->host)) return;
  for (size_t i = 0; i < CALLS; i++) {
    slp_put_call *c = &p->calls[i];
    if (c->sent || c->unjudged) continue;
    if (!may_send_call(p)) return;
    int r = fill_call(p, c);
    if (!r && !c->n) return;
    if (r || slp_put_call_send(c)) {
      put_all_again(p, c, 0, 0);
      fail_produce(p, "no memory");
      return;
    }
  }
}

static void set_timer(produce *p, uint64_t at_us) {
  const slp_args *a = p->app.args;
  if (p->pause_us > slp_now_us(p->host)) at_us = slp_min_u64(at_us, p->pause_us);
  if (p->held_us) at_us = slp_min_u64(at_us, p->held_us);
  if (a->rate && p->in && p->next_us > slp_now_us(p->host)) at_us = slp_min_u64(at_us, p->next_us);
  if (at_us == UINT64_MAX)
    slp_timer_clear(p->host, &p->timer);
  else if (slp_timer_set(p->host, &p->timer, at_us))
    fail_produce(p, "no memory");
}

/* Does everything that can be done now: takes a held line, sends calls, sets the timer, reads on, ends.
 * Called after each event: bytes, an answer, the timer. */
static void advance_produce(produce *p) {
  if (!p->ready || p->concluded) return;
  uint64_t now_us = slp_now_refresh_us(p->host);
  if (p->held_us && p->held_us <= now_us && !is_full(p)) take_held(p);
  uint64_t next_us = slp_put_queue_wake(&p->queue, now_us);
  if (p->app.args->aggregate && p->queue.records && !p->why[0])
    next_us = slp_min_u64(next_us, slp_put_listing_ask(&p->listing));
  if (p->why[0] && p->calls) judge_calls(p); /* no listing is asked for any more */
  send_calls(p);
  set_timer(p, next_us);
  if (p->in && may_take_line(p)) slp_input_resume(p->in);
  conclude_if_done(p);
}

static void on_timer(slp_timer *timer) { advance_produce(SLP_OWNER(timer, produce, timer)); }

/* ---- the report -------------------------------------------------------------------------------------- */
static void leave_record(produce *p, slp_put_record *r) {
  slp_rejects_add(&p->rejects, r->raw, p->splitter.delimiter, r->delimited);
}

/* Cancels the calls, and counts every record that is not known to be put: as unknown if a call with it has no
 * answer, otherwise as left. */
static void leave_records(produce *p) {
  for (size_t i = 0; i < CALLS; i++) {
    slp_put_call *c = &p->calls[i];
    int was_sent = c->sent || c->unjudged;
    slp_put_call_cancel(c);
    for (size_t k = 0; was_sent && k < c->n; k++) {
      for (slp_put_record *r = c->records[k], *next; r; r = next) {
        next = r->more;
        leave_record(p, r);
        slp_put_queue_done(&p->queue, r);
        p->unknown++;
      }
    }
    slp_put_call_free(c);
  }
  for (slp_put_record *r; (r = slp_put_queue_pop(&p->queue));) {
    leave_record(p, r);
    ++*(r->unsure ? &p->unknown : &p->left);
    slp_put_record_free(&p->queue, r);
  }
}

static void add_count(char *to, size_t n, uint64_t count, const char *what) {
  size_t at = strlen(to);
  if (count) snprintf(to + at, n - at, "; %llu %s", (unsigned long long)count, what);
}

static void tell_end(produce *p) {
  char line[1200], reasons[800];
  snprintf(line, sizeof line, "%llu record%s put, %llu bytes in %llu call%s", (unsigned long long)p->put,
           p->put == 1 ? "" : "s", (unsigned long long)p->put_bytes, (unsigned long long)p->calls_n,
           p->calls_n == 1 ? "" : "s");
  if (p->inside) {
    size_t at = strlen(line);
    snprintf(line + at, sizeof line - at, "; %llu of them in %llu aggregate%s", (unsigned long long)p->inside,
             (unsigned long long)p->aggregates_n, p->aggregates_n == 1 ? "" : "s");
  }
  add_count(line, sizeof line, p->again, "put again");
  add_count(line, sizeof line, p->rejects.refused, "refused");
  if (p->rejects.refused) {
    size_t at = strlen(line);
    slp_rejects_reasons(&p->rejects, reasons, sizeof reasons);
    snprintf(line + at, sizeof line - at, " (%s)", reasons);
  }
  add_count(line, sizeof line, p->left, "read and not put");
  add_count(line, sizeof line, p->unknown, "put or not: no answer says");
  add_count(line, sizeof line, p->files_failed, "inputs not read");
  if (!p->app.args->quiet || p->rejects.refused || p->left || p->unknown) slp_say("%s", line);
}

static void conclude(produce *p) {
  p->concluded = 1;
  slp_timer_clear(p->host, &p->timer);
  leave_records(p);
  if (p->in || p->held_us) abandon_input(p);
  if (p->why[0])
    slp_cli_consumer_fail(&p->consumer, SLP_EXIT_FAILED, p->why);
  else if (p->left || p->unknown || p->files_failed)
    p->app.exit_code = SLP_EXIT_FAILED;
  else if (p->rejects.refused)
    p->app.exit_code = SLP_EXIT_REFUSED;
  int r = slp_rejects_close(&p->rejects);
  if (r) {
    char why[SLP_LOCAL_WHY];
    slp_local_explain(p->rejects.path, r, 1, why);
    slp_say("can't write %.200s: %s", p->rejects.path, why);
    p->app.exit_code = SLP_EXIT_FAILED;
  }
  slp_cli_consumer_stop(&p->consumer, 0); /* also prints error lines that were held back */
  tell_end(p);
}

/* ---- the app ----------------------------------------------------------------------------------------- */
static void on_closed(slp_cli_consumer *c) {
  produce *p = c->user;
  slp_app_close(&p->app);
}

/* At the first Ctrl-C: reads no more, and puts what was read. Lines that --rate or --speed would put later
 * are not put. */
static void on_interrupt(slp_app *app) {
  produce *p = app->user;
  if (!p->ready || p->concluded) return;
  if (p->in) {
    slp_str piece = slp_input_unused(p->in);
    p->greedy = 1;
    take_lines(p, &piece);
    if (!is_whole_files(p)) leave_bytes(p, piece);
    end_reading(p);
  }
  if (p->held_us) abandon_input(p);
  advance_produce(p);
}

static void on_overdue(slp_app *app) {
  produce *p = app->user;
  if (p->ready && !p->concluded) conclude(p);
  if (p->consumer.closed) slp_app_close(app);
}

/* Ends the command if nothing could be put for too long (-m, --timeout). */
static void check_silence(produce *p) {
  const slp_args *a = p->app.args;
  uint64_t silent_ms = slp_app_ran_ms(&p->app, p->put_tick);
  char line[SLP_TOLD_LINE];
  if (!p->queue.records) p->put_tick = p->app.ticks; /* nothing waits to be put */
  uint64_t limit_ms = !p->answered && a->contact_ms ? a->contact_ms : a->timeout_ms;
  if (p->queue.records && limit_ms && silent_ms >= limit_ms) {
    snprintf(line, sizeof line, "nothing was put in %llu s%s%.300s", (unsigned long long)(limit_ms / 1000),
             p->trouble[0] ? "; the last error: " : "", p->trouble);
    fail_produce(p, line);
    conclude(p);
  } else if (p->queue.records && !a->quiet && silent_ms && silent_ms % STALLED_MS == 0) {
    slp_say_if_room("nothing was put in %llu s, %zu records wait%s%.300s",
                    (unsigned long long)(silent_ms / 1000), p->queue.records, p->trouble[0] ? ": " : "",
                    p->trouble);
  }
}

static void on_tick(slp_app *app) {
  produce *p = app->user;
  if (!p->ready || p->concluded) return;
  slp_cli_consumer_tick(&p->consumer);
  slp_rejects_flush(&p->rejects);
  if (p->why[0] && slp_app_ran_ms(app, p->failing_tick) >= FAILING_MS) {
    conclude(p);
    return;
  }
  if (app->args->verbose && !app->args->quiet && app->ticks % (1000 / SLP_APP_TICK_MS) == 0)
    slp_say_if_room("%llu put, %zu wait, %llu refused", (unsigned long long)p->put, p->queue.records,
                    (unsigned long long)p->rejects.refused);
  check_silence(p);
}

/* ---- the beginning ----------------------------------------------------------------------------------- */
static void begin_produce(produce *p) {
  const slp_args *a = p->app.args;
  sloop_opts_t o = a->opts;
  p->consumer = (slp_cli_consumer){.user = p, .on_closed = on_closed};
  o.app = o.store = o.schema = o.worker = o.push_consumer = NULL;
  o.retrieval = SLOOP_RETRIEVAL_POLL;
  if (slp_cli_consumer_open_idle(&p->consumer, &p->app, &o) != 0) {
    slp_app_close(&p->app);
    return;
  }
  slp_aws *aws = slp_identity_of(p->consumer.s);
  p->calls = aws ? slp_zalloc_n(p->app.mem, CALLS, sizeof *p->calls) : NULL;
  if (!p->calls) {
    slp_cli_consumer_fail(&p->consumer, SLP_EXIT_FAILED, "no memory");
    return;
  }
  p->host = aws->h;
  p->ready = 1;
  p->next_us = slp_now_refresh_us(p->host);
  p->listing = (slp_put_listing){.host = p->host,
                                 .consumer = &p->consumer,
                                 .shards = &p->aggregates.shards,
                                 .on_answer = on_listing,
                                 .user = p};
  for (size_t i = 0; i < CALLS; i++) {
    slp_put_call_init(&p->calls[i], aws, a->stream);
    p->calls[i].aggregates = a->aggregate ? &p->aggregates : NULL;
    p->calls[i].on_done = on_call_done;
    p->calls[i].user = p;
  }
  open_next(p);
  advance_produce(p);
}

/* Parses -D, -K, -k and --key-from. Returns 0, or an error that was reported. */
static int read_rules(produce *p) {
  const slp_args *a = p->app.args;
  char why[SLP_ARGS_WHY] = "no memory";
  slp_put_line l;
  int r = slp_unescape(&p->delimiter, a->delimiter ? a->delimiter : "\\n", "-D", why);
  if (!r && !p->delimiter.n) r = SLP_EINVAL, snprintf(why, sizeof why, "-D: the delimiter is empty");
  if (!r && a->key_delimiter) r = slp_unescape(&p->key_delimiter, a->key_delimiter, "-K", why);
  if (!r && a->key_delimiter && !p->key_delimiter.n)
    r = SLP_EINVAL, snprintf(why, sizeof why, "-K: the delimiter is empty");
  if (!r && a->key) {
    p->rules.key = slp_str_of(a->key);
    slp_put_refusal bad = slp_put_line_read(&p->rules, SLP_STR(""), &p->scratch, &l);
    if (bad) r = SLP_EINVAL, snprintf(why, sizeof why, "-k: %s", slp_put_refusal_text(bad));
  }
  p->rules.key_delimiter = slp_buf_str(&p->key_delimiter);
  p->rules.json = a->json;
  if (!r && a->key_from && slp_put_path_read(a->key_from, &p->rules))
    r = SLP_EINVAL,
    snprintf(why, sizeof why, "--key-from: \"%.60s\" is no path such as .user.id", a->key_from);
  if (r) slp_say("%s", why);
  return r;
}

/* Opens the file of --rejects. Refuses a file that is also an input, because opening it would empty it.
 * Returns 0, or an error that was reported. */
static int open_rejects(produce *p) {
  const slp_args *a = p->app.args;
  char why[SLP_LOCAL_WHY];
  for (size_t i = 0; a->rejects && i < (a->files_n ? a->files_n : 1); i++) {
    if (!slp_input_is_same_file(input_path(p, i), a->rejects)) continue;
    slp_say("--rejects: %.200s is the input, and would be emptied", a->rejects);
    return SLP_EINVAL;
  }
  int r = slp_rejects_open(&p->rejects, p->app.mem, a->rejects);
  p->rejects.quiet = a->quiet;
  if (!r) return 0;
  slp_local_explain(a->rejects, r, 1, why);
  slp_say("--rejects: can't write %.200s: %s", a->rejects, why);
  return r;
}

int slp_produce_run(slp_mem *mem, const slp_args *args) {
  produce p = {
      .app = {.mem = mem, .args = args}, .began_ts = -1, .calls_max = CALLS, .timer = {.run = on_timer}};
  int code = SLP_EXIT_USAGE;
  p.timer.at_us = UINT64_MAX;
  slp_buf_init(&p.delimiter, mem, 1 << 16);
  slp_buf_init(&p.key_delimiter, mem, 1 << 16);
  slp_buf_init(&p.scratch, mem, UINT32_MAX);
  slp_buf_init(&p.held, mem, UINT32_MAX);
  slp_rejects_open(&p.rejects, mem, NULL);
  slp_put_queue_init(&p.queue, mem);
  p.queue.unordered = args->unordered;
  if (args->aggregate) p.queue.together = UINT32_MAX;
  int no_memory = slp_put_aggregates_init(&p.aggregates, mem);
  slp_splitter_init(&p.splitter, mem, SLP_STR(""), 0);
  if (no_memory) {
    slp_say("no memory");
    code = SLP_EXIT_FAILED;
  } else if (read_rules(&p) == 0 && open_rejects(&p) == 0) {
    p.app.user = &p;
    p.app.on_interrupt = on_interrupt;
    p.app.on_overdue = on_overdue;
    p.app.on_tick = on_tick;
    if (slp_app_open(&p.app, mem, args) == 0) begin_produce(&p);
    code = slp_app_run(&p.app);
  }
  slp_rejects_close(&p.rejects);
  slp_put_queue_free(&p.queue);
  slp_put_aggregates_free(&p.aggregates);
  slp_splitter_free(&p.splitter);
  slp_buf_free(&p.held);
  slp_buf_free(&p.scratch);
  slp_buf_free(&p.key_delimiter);
  slp_buf_free(&p.delimiter);
  slp_free(mem, p.calls);
  return code;
}

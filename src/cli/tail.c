/* tail.c - prints the records of streams. A batch is given back only after its text was written (output.h).
 * So a slow reader of standard output slows the fetching down, and only records that were printed are
 * acknowledged.
 *
 * A shard is at its tip when it is read up to its newest record. A stream or a consumer is at its tip when
 * all of its shards are. */
#include "cli/tail.h"

#include "api/identity.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/colour_choice.h"
#include "cli/consumer_run.h"
#include "cli/decoder_table.h"
#include "cli/exit.h"
#include "cli/fleet_look.h"
#include "cli/follow.h"
#include "cli/last_records.h"
#include "cli/matched_streams.h"
#include "cli/metrics_options.h"
#include "cli/no_answer.h"
#include "cli/output.h"
#include "cli/people_lines.h"
#include "cli/print.h"
#include "cli/printer_report.h"
#include "cli/progress_line.h"
#include "cli/reached_positions.h"
#include "cli/schema_registry.h"
#include "cli/stream_scan.h"
#include "cli/until.h"
#include "cli/whole_fleet.h"
#include "program/process.h"
#include "program/program.h"

#include <sloop.h>
#include <stdio.h>

/* With -p key:TEXT: the most generations of shards that are read (see `reading` below). */
#define FOLLOWED_MAX 1024

/* One consumer, and how far it has read. It reads a whole stream; or, with -p key:TEXT, one generation of
 * shards: those that one call of on_found passed. */
typedef struct reading {
  slp_cli_consumer consumer;
  slp_until until;
  slp_fleet_look look; /* with leases: what the rows of the lease table show about the whole application */
  uint64_t begun_us;   /* when the consumer was opened */
  /* with leases: since when this worker has read all of its shards as far as asked; 0: it has not */
  uint64_t done_us;
  uint64_t last_us; /* when the consumer's last record came */
  uint8_t opened;   /* 1: the consumer was opened without an error */
  /* 1: the consumer has read each of its shards to the newest record, and no batch has come since */
  uint8_t at_tip;
  uint8_t ended; /* 1: the consumer delivers no more records; it is closed when all of its text is written */
  /* 1: the stream, which a pattern found, was deleted or can't be read; the others are read on */
  uint8_t gone;
  uint8_t late; /* 1: a pattern found the stream while the command ran */
} reading;

typedef struct tail {
  slp_app app;
  /* Owned. Without -p key:TEXT: one element for each stream; the consumers join the first one, or that of
   * `scan`. With -p key:TEXT: one element for each generation of shards. */
  reading *each;
  size_t n;                 /* how many elements of `each` are or were in use */
  slp_follow follow;        /* finds the shards of -p key:TEXT; not in use otherwise */
  slp_last_records last;    /* finds where the records of -n and -o -N begin; not in use otherwise */
  slp_args *args;           /* borrowed; gets the names of new streams that match a pattern */
  slp_stream_scan scan;     /* finds new streams that match a pattern; SLP_SCAN_OFF if that is not wanted */
  sloop_stats_t replaced;   /* sums of consumers whose element in `each` has another stream now */
  sloop_metrics_t *metrics; /* owned by the consumer of metrics_of; NULL: there are no metrics */
  reading *metrics_of; /* the metrics end when the consumer of this element is closed; NULL: no metrics */
  slp_places places;
  slp_printer printer;
  slp_printer_reports report; /* what the user was told about records that can't be printed as asked */
  slp_registry registry;      /* asks the Schema Registry for schemas that the printer needs */
  slp_progress progress;
  slp_output output;
  /* the reading whose record can't be printed, so that the command ends; NULL: there is none */
  reading *bad;
  int bad_code;     /* the error that slp_printer_step returned for that record */
  uint64_t printed; /* number of records printed, including output.dropped */
  /* last_record_us: when the last batch came. begun_us: when the command began. */
  uint64_t last_record_us, begun_us;
  int64_t begun_ms; /* when the command began, by the wall clock */
  uint8_t missed; /* 1: a stream that a pattern found is gone, so the command fails at its end (leave_gone) */
  uint8_t reached;    /* 1: with --until: every record before the time was printed */
  uint8_t ending;     /* 1: the command is ending, and takes no more batches */
  uint8_t place_kept; /* 1: with --save: this process has tried to write the file at least once */
  uint8_t place_lost; /* 1: the positions could not be saved, and the user was told so */
  uint8_t overdue;    /* 1: on_overdue was called, so text that is not written yet is never written */
} tail;

/* Returns how many records were printed, for -c. Does not count records that were dropped because another
 * worker has their shard. */
static uint64_t printed_of(const tail *t) { return t->printed - t->output.dropped; }

static size_t number_of(const tail *t, const reading *rd) { return (size_t)(rd - t->each); }

/* Returns 1 unless the stream is gone (reading.gone). */
static int is_read(const reading *rd) { return !rd->gone; }

/* ---- the end --------------------------------------------------------------------------------- */

static void sum_stats(const tail *t, sloop_stats_t *sum) {
  *sum = t->replaced;
  for (size_t i = 0; i < t->n; i++) {
    sloop_stats_t one;
    slp_cli_consumer_stats(&t->each[i].consumer, &one);
    (is_read(&t->each[i]) ? slp_progress_add : slp_progress_add_past)(sum, &one);
  }
}

static void tell_failed(tail *t, int exit_code, const char *why) {
  slp_say("%s", why);
  if (t->app.exit_code == SLP_EXIT_FINE) t->app.exit_code = exit_code;
}

static int exit_code_of_place(int bad) { return bad == SLP_EBUSY ? SLP_EXIT_OWNED : SLP_EXIT_FAILED; }

static int has_leases(const tail *t) { return t->app.args->opts.app != NULL; }

/* Tells the user whether the leases were released. */
static void tell_left(const tail *t) {
  int late = t->overdue, joined = 0;
  for (size_t i = 0; i < t->n; i++) {
    joined |= t->each[i].consumer.joined;
    late |= t->each[i].consumer.joined && t->each[i].consumer.stop_status != 0;
  }
  slp_cli_tell_left(&t->app, joined, late, &t->output.read);
}

/* Closes the app when all consumers are closed and all output is written. */
static void leave_if_done(tail *t) {
  if (!t->app.out || (!t->overdue && !slp_output_empty(&t->output))) return;
  for (size_t i = 0; i < t->n; i++)
    if (t->each[i].opened && !t->each[i].consumer.closed) return;
  if (t->follow.finder.s || t->scan.finder.s || slp_last_records_is_open(&t->last)) return;
  slp_output_give_up(&t->output);
  char why[400];
  /* Saves the positions once more if saving them has failed: a disk that was full may have room by now. */
  int bad = t->app.args->save ? slp_places_write(&t->places, why) : 0;
  if (bad && !t->place_lost) tell_failed(t, exit_code_of_place(bad), why);
  slp_printer_report(&t->report, &t->printer, t->app.args, t->bad != NULL, 1);
  if (has_leases(t))
    tell_left(t);
  else if (t->app.interrupted)
    slp_places_tell_stopped(&t->places, &t->output.read);
  if (t->app.args->token) slp_places_tell_tokens(&t->places);
  sloop_stats_t sum;
  sum_stats(t, &sum);
  slp_progress_end(t->app.args, &sum);
  slp_app_close(&t->app);
}

/* Closes a consumer that has ended, once all of its text is written and acknowledged, or will never be
 * written. Before that, stores the consumer's position. */
static void close_if_written(tail *t, reading *rd) {
  if (!rd->ended || rd->consumer.closing || slp_output_has(&t->output, rd)) return;
  if (!t->app.args->shard_key && slp_places_note(&t->places, number_of(t, rd), rd->consumer.s) != 0)
    tell_failed(t, SLP_EXIT_FAILED, "no memory");
  if (rd->consumer.s) slp_registry_leave(&t->registry, slp_identity_of(rd->consumer.s));
  slp_cli_consumer_close(&rd->consumer);
}

static void close_all_written(tail *t) {
  for (size_t i = 0; i < t->n; i++) close_if_written(t, &t->each[i]);
}

static void stop_all(tail *t) {
  for (size_t i = 0; i < t->n; i++)
    if (t->each[i].opened)
      slp_cli_consumer_stop(&t->each[i].consumer, has_leases(t) ? SLP_APP_LEAVE_MS : SLP_APP_GRACE_MS);
}

/* When the command ends and all text is written, stops the consumers, which releases their leases. Waits for
 * a slow reader of standard output: otherwise the saved positions would be before the text that is still to
 * be written. After a Ctrl-C does not wait, because the output was cut. */
static void stop_if_written(tail *t) {
  if (t->ending && (t->app.interrupted || slp_output_empty(&t->output))) stop_all(t);
}

/* Ends the command: takes no more batches, but still prints the records that are already here. */
static void end_tail(tail *t) {
  if (t->ending) return;
  t->ending = 1;
  for (size_t i = 0; i < t->n && has_leases(t); i++)
    if (t->each[i].opened && t->each[i].consumer.s) (void)sloop_pause(t->each[i].consumer.s, NULL);
  if (has_leases(t))
    stop_if_written(t);
  else
    stop_all(t);
  slp_cli_consumer_close(&t->follow.finder);
  slp_last_records_end(&t->last);
  slp_stream_scan_close(&t->scan);
}

/* Returns 1 if the command continues without this consumer, which has ended. Streams that a pattern found
 * come and go, so the command does not end when one is deleted. An error of a new stream, such as a missing
 * right, must not end the reading of the old streams either. */
static int reads_on_without(const tail *t, const reading *rd) {
  const slp_cli_consumer *c = &rd->consumer;
  if (rd->gone) return 1;
  if (t->ending || !c->by_pattern || !c->failed_by) return 0;
  return c->failed_by == SLOOP_ENOSTREAM || rd->late;
}

/* Ends the command if all streams are gone and no new one will be read. */
static void end_if_all_gone(tail *t) {
  if (t->scan.takes_new) return;
  for (size_t i = 0; i < t->n; i++)
    if (is_read(&t->each[i])) return;
  end_tail(t);
}

/* Continues without a stream that is gone. The command fails at its end if the stream had another error than
 * its deletion, or if -e or --until asks for all of its records. */
static void leave_gone(tail *t, reading *rd) {
  const slp_args *a = t->app.args;
  int deleted = !rd->consumer.failed_by || rd->consumer.failed_by == SLOOP_ENOSTREAM;
  rd->gone = 1;
  t->missed |= !deleted || a->until_tip || a->until_given;
  t->app.exit_code = t->missed ? SLP_EXIT_FAILED : SLP_EXIT_FINE;
}

static void on_ending(slp_cli_consumer *c) {
  tail *t = c->user;
  reading *rd = SLP_OWNER(c, reading, consumer);
  rd->ended = 1;
  if (reads_on_without(t, rd)) {
    if (!rd->gone) {
      leave_gone(t, rd);
      slp_stream_scan_gone(&t->scan, number_of(t, rd), slp_cli_consumer_answered(c));
    }
    end_if_all_gone(t);
  } else {
    end_tail(t); /* one consumer has failed, so the command ends, and with it the other consumers */
  }
  close_if_written(t, rd);
}

static void fail_tail(tail *t, reading *rd, const char *why) {
  slp_cli_consumer_fail(&rd->consumer, SLP_EXIT_FAILED, why);
  end_tail(t);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Returns 1 if the command ends at the first record that arrived after the time of --until. That is so with
 * records in order of time, because all later records arrived after that time too. With leases it is not:
 * this worker may get another shard at any moment, whose records are older. */
static uint8_t ends_everything(const tail *t) {
  return t->app.args->opts.order == SLOOP_ORDER_TIME && !has_leases(t);
}

/* Pauses shards that are past the end of --until. Record r of batch b is past it, so r and the records after
 * it are given back. Looks at the next record of each shard in that part of the batch, and pauses each shard
 * whose record is past the end. Otherwise N shards would cost N batches. */
static void pause_all_past(tail *t, reading *rd, const sloop_batch_t *b, const sloop_record_t *r) {
  size_t n = sloop_batch_count(b), i = 0;
  while (i < n && sloop_batch_at(b, i) != r) i++;
  slp_until_begin_round(&rd->until);
  for (; i < n; i++) {
    const sloop_record_t *next = sloop_batch_at(b, i);
    int passed = slp_until_next(&rd->until, next->shard, next->arrived_at_ms);
    if (passed < 0) fail_tail(t, rd, "no memory");
    /* the shard's later records are past the end too; other shards go on */
    if (passed > 0) sloop_pause(rd->consumer.s, next->shard);
  }
}

/* Returns 1 if the record is past the end of --until. Then all later records of its shard are too. */
static int is_past_the_end(tail *t, reading *rd, const sloop_batch_t *b, const sloop_record_t *r) {
  if (!t->app.args->until_given) return 0;
  int passed = slp_until_passed(&rd->until, r->shard, r->arrived_at_ms);
  if (passed < 0) fail_tail(t, rd, "no memory");
  if (passed > 0 && !ends_everything(t)) pause_all_past(t, rd, b, r);
  return passed != 0;
}

/* Returns 1 if -n was given and its last record was printed. */
static int is_last_over(const tail *t) { return t->app.args->last_ends && slp_last_records_over(&t->last); }

/* For -n and -o -N. Returns 1 if the record is to be printed, 0 if it is older than the last N records. */
static int is_among_last(tail *t, const reading *rd, const sloop_record_t *r) {
  if (rd->late || !t->app.args->last || t->places.start[number_of(t, rd)]) return 1;
  return slp_last_records_has(&t->last, r);
}

/* This is slp_output.make: makes the text of a record, in slices. */
static int make_text(void *arg, const void *owner, const sloop_batch_t *b, const sloop_record_t *r,
                     int begins, slp_buf *text) {
  tail *t = arg;
  reading *rd = &t->each[number_of(t, owner)];
  const slp_args *a = t->app.args;
  int printed = 0;
  if (t->bad || t->reached || (a->count && printed_of(t) >= a->count)) return SLP_MADE_NONE;
  if (begins) {
    if (is_last_over(t)) return SLP_MADE_NONE;
    if (!is_among_last(t, rd, r)) return SLP_MADE;
    if (is_past_the_end(t, rd, b, r)) {
      t->reached = ends_everything(t);
      return SLP_MADE_NONE;
    }
    if (a->shard_key && !slp_follow_prints(&t->follow, r)) return SLP_MADE;
    t->printer.worker = has_leases(t) ? sloop_worker(rd->consumer.s) : NULL;
    t->registry.aws = slp_identity_of(rd->consumer.s);
    slp_printer_begin(&t->printer, r, sloop_batch_behind_ms(b));
  }
  int bad = slp_printer_step(&t->printer, text, &printed);
  if (bad == 1) return SLP_MADE_PART;
  if (bad == SLP_DECODE_WAITS) return SLP_MADE_WAITS;
  if (bad) {
    t->bad = rd;
    t->bad_code = bad;
    return bad;
  }
  t->printed += (uint64_t)printed;
  return SLP_MADE;
}

/* Ends the command because of the record in t->bad, which can't be printed. */
static void fail_bad(tail *t) {
  char line[300];
  slp_printer_failure(&t->printer, t->bad_code, line);
  fail_tail(t, t->bad, line);
}

static void check_until(tail *t);

/* Makes text of waiting records, and writes as much as the reader takes. Then ends the command, or stops or
 * closes consumers, if all text that they wait for is written. */
static void print_some(tail *t) {
  uint64_t count = t->app.args->count;
  slp_output_run(&t->output);
  if (t->bad && t->output.state == SLP_OUTPUT_RUNS) {
    slp_output_drain(&t->output);
    fail_bad(t);
  } else if ((count && printed_of(t) >= count) || t->reached || is_last_over(t)) {
    slp_output_drain(&t->output);
    end_tail(t);
  } else if (t->app.args->until_given) {
    check_until(t);
  }
  stop_if_written(t);
  close_all_written(t);
  leave_if_done(t);
}

/* Collects all positions and writes them to the file of --save. A failure ends the command. */
static void keep_places(tail *t) {
  if (!t->app.args->save || t->ending) return;
  t->places.at_us = slp_program_mono_us();
  t->place_kept = 1;
  char why[400] = "no memory";
  int bad = 0;
  for (size_t i = 0; i < t->n && !bad; i++)
    if (t->each[i].consumer.s) bad = slp_places_note(&t->places, i, t->each[i].consumer.s);
  if (!bad) bad = slp_places_write(&t->places, why);
  if (!bad) return;
  t->place_lost = 1;
  slp_cli_consumer_fail(&t->each[0].consumer, exit_code_of_place(bad), why);
  end_tail(t);
}

static void on_batch(slp_cli_consumer *c, sloop_batch_t *batch) {
  tail *t = c->user;
  reading *rd = SLP_OWNER(c, reading, consumer);
  /* Writes the file of --save before the first record is printed, so that an unwritable file ends the command
   * before that. */
  if (!t->place_kept) keep_places(t);
  if (t->ending || t->app.out_failed) {
    sloop_batch_done(batch, 0);
    return;
  }
  rd->at_tip = 0;
  rd->last_us = t->last_record_us = slp_program_mono_us();
  int first = slp_output_empty(&t->output);
  if (slp_output_add(&t->output, batch, rd) != 0) {
    sloop_batch_done(batch, 0);
    fail_tail(t, rd, "no memory");
  } else if (first) {
    print_some(t); /* prints at once, while the records are still in the CPU's cache */
  }
}

/* ---- other events ---------------------------------------------------------------------------- */

/* Returns 1 if this worker ends by itself when its whole application is done (-e or --until, with leases). */
static int leaves_with_fleet(const tail *t) {
  return has_leases(t) && (t->app.args->until_tip || t->app.args->until_given);
}

/* Returns 1 if the whole application has read what -e or --until asks for. Two things must hold:
 *   1. the last look at the lease table shows it;
 *   2. this worker had read its own shards that far before this look began, and has got no batch since. */
static int fleet_is_done(reading *rd) {
  const slp_fleet_look *k = &rd->look;
  int still_done = rd->done_us && rd->done_us <= k->begun_us && rd->last_us < k->begun_us;
  return k->found >= SLP_WHOLE_BLOCKED && still_done;
}

/* Without leases: returns 1 if every shard of every stream is read to its newest record. With leases: returns
 * 1 if the whole application has read what -e or --until asks for. */
static int all_done(tail *t) {
  if (t->n == 0 || slp_follow_is_looking(&t->follow)) return 0;
  for (size_t i = 0; i < t->n; i++) {
    reading *rd = &t->each[i];
    if (is_read(rd) && (has_leases(t) ? !fleet_is_done(rd) : !rd->at_tip)) return 0;
  }
  return 1;
}

/* Reports why this worker read nothing, or not everything. */
static void tell_no_share(const tail *t) {
  for (size_t i = 0; i < t->n && has_leases(t) && !t->app.args->quiet; i++) {
    const reading *rd = &t->each[i];
    if (!is_read(rd)) continue;
    if (rd->look.found == SLP_WHOLE_BLOCKED)
      slp_say("not everything was read: %s", rd->look.why);
    else if (!rd->look.whole.mine_n && !rd->last_us)
      slp_say("this worker had no shard: other workers of %s read them, or they are read to their end",
              t->app.args->opts.app);
  }
}

/* Ends the command if all is read that -e, -n, or --until with leases asks for. The command fails if shards
 * were given up before their end, or have no reader. */
static void leave_at_tip(tail *t) {
  char line[400];
  const slp_args *a = t->app.args;
  if (!(a->until_tip || a->last_ends || leaves_with_fleet(t)) || t->ending || !all_done(t)) return;
  for (size_t i = 0; i < t->n; i++) {
    reading *rd = &t->each[i];
    if (!is_read(rd)) continue;
    if (rd->look.found == SLP_WHOLE_BLOCKED) {
      snprintf(line, sizeof line, "not everything was read: %s", rd->look.why);
      fail_tail(t, rd, line);
      return;
    }
    if (!rd->consumer.shards_stopped) continue;
    /* the command fails, because not all records were read */
    fail_tail(t, rd, "some shards were given up before their end; see the lines above");
    return;
  }
  if (t->app.args->until_given) tell_no_share(t);
  end_tail(t);
}

static int is_read_until(tail *t, reading *rd);
static int open_metrics(tail *t);

/* With leases: looks at the rows of the whole application, while -e, --until or --timeout needs that. Ends
 * the command when the condition of -e or --until is met. */
static void look_at_fleet(tail *t) {
  const slp_args *a = t->app.args;
  for (size_t i = 0; i < t->n && has_leases(t) && !t->ending; i++) {
    reading *rd = &t->each[i];
    if (!is_read(rd)) continue;
    uint64_t now_us = slp_program_mono_us();
    int by_time = a->until_given && is_read_until(t, rd);
    int mine_done = by_time || (a->until_tip && slp_fleet_look_mine_at_tip(&rd->look));
    if (!mine_done)
      rd->done_us = 0;
    else if (!rd->done_us)
      rd->done_us = now_us;
    int wanted = (leaves_with_fleet(t) && mine_done) || (a->timeout_ms && !rd->look.shared_us);
    if (wanted) slp_fleet_look_tick(&rd->look, by_time);
    if (rd->done_us) slp_fleet_look_tell(&rd->look, a->until_tip ? "-e" : "--until", rd->done_us);
  }
  leave_at_tip(t);
}

static void on_tip(slp_cli_consumer *c) {
  tail *t = c->user;
  reading *rd = SLP_OWNER(c, reading, consumer);
  rd->at_tip = 1;
  look_at_fleet(t);
}
static void on_looked(slp_cli_consumer *c) { leave_at_tip(c->user); }

static void on_shard(slp_cli_consumer *c, const char *shard, sloop_shard_event_kind_t what) {
  tail *t = c->user;
  reading *rd = SLP_OWNER(c, reading, consumer);
  if (what == SLOOP_SHARD_LOST || what == SLOOP_SHARD_RELEASED) slp_output_doubt(&t->output);
  if (t->app.args->until_given && slp_until_shard(&rd->until, shard, what) != 0)
    fail_tail(t, rd, "no memory");
  if (t->app.args->shard_key && what == SLOOP_SHARD_ENDED && !t->ending) slp_follow_ended(&t->follow, shard);
}

static void on_closed(slp_cli_consumer *c) {
  tail *t = c->user;
  /* the metrics ended with this consumer; opens them again for another consumer */
  if (t->metrics_of == SLP_OWNER(c, reading, consumer) && !t->ending && open_metrics(t)) end_tail(t);
  leave_if_done(t);
}

static void on_finder_closed(slp_cli_consumer *c) {
  tail *t = c->user;
  /* the consumer that lists shards for -p key:TEXT was closed, because it failed or the command ends */
  end_tail(t);
  leave_if_done(t);
}

static void on_written(slp_app *app) { print_some(app->user); }

static void on_schema(slp_registry *r) { slp_output_wake(&((tail *)r->user)->output); }

static void on_out_failed(slp_app *app) {
  tail *t = app->user;
  slp_output_give_up(&t->output);
  end_tail(t);
  stop_all(t);
  close_all_written(t);
  leave_if_done(t);
}

static void on_interrupt(slp_app *app) {
  tail *t = app->user;
  slp_output_cut(&t->output);
  end_tail(t);
  stop_all(t);
}

/* Called when writing or stopping takes longer than is allowed after a Ctrl-C. Stops waiting for both. */
static void on_overdue(slp_app *app) {
  tail *t = app->user;
  slp_output_give_up(&t->output);
  t->overdue = 1;
  for (size_t i = 0; i < t->n; i++) {
    if (!t->each[i].opened || t->each[i].consumer.closed) continue;
    t->each[i].ended = 1;
    close_if_written(t, &t->each[i]);
  }
  leave_if_done(t);
}

/* ---- time passes ----------------------------------------------------------------------------- */

/* Returns 1 if all shards of rd are read up to the time of --until. With leases, shards that have passed this
 * time are paused, so the statistics of the tip are about the other shards only. */
static int is_read_until(tail *t, reading *rd) {
  const slp_args *a = t->app.args;
  uint64_t quiet_ms = slp_max_u64(2000, 2 * (uint64_t)a->opts.poll_ms + 1000);
  int at_tip = rd->at_tip || has_leases(t);
  sloop_stats_t now;
  slp_cli_consumer_stats(&rd->consumer, &now);
  /* If the time of --until was over before the command began, no quiet time is needed: one answer at the tip
   * shows that there are no more records of that time. */
  int long_over = at_tip && t->begun_ms > a->until_ms + 2000;
  if (!has_leases(t) && slp_until_all_passed(&rd->until, &now)) return 1;
  return slp_until_quiet(&rd->until, &now, at_tip, slp_program_wall_ms(), slp_program_mono_us(),
                         long_over ? 0 : quiet_ms);
}

/* Without leases: ends the command when everything is read up to the time of --until. With leases,
 * look_at_fleet() does this. */
static void check_until(tail *t) {
  if (!t->app.args->until_given || has_leases(t) || t->ending || t->n == 0) return;
  for (size_t i = 0; i < t->n; i++)
    if (is_read(&t->each[i]) && !is_read_until(t, &t->each[i])) return;
  if (slp_stream_scan_until(&t->scan, t->app.args->until_ms)) end_tail(t);
}

/* Returns the time since which --timeout counts for this stream. Returns 0 while it does not count yet,
 * because the service has not answered or shards have no reader, or if the stream has failed. */
static uint64_t silent_since(tail *t, reading *rd) {
  char line[480];
  if (!slp_cli_consumer_answered(&rd->consumer)) {
    if (slp_is_unanswered(t->app.args, rd->consumer.error, rd->begun_us, line)) fail_tail(t, rd, line);
    return 0;
  }
  if (!has_leases(t) || !t->app.args->timeout_ms) return rd->begun_us;
  if (!rd->look.shared_us && slp_is_without_share(&rd->consumer, &rd->look, rd->begun_us, line))
    fail_tail(t, rd, line);
  return rd->look.shared_us;
}

/* Ends the command if the time of --timeout or -m is over. Does nothing while text is still to be written. */
static void check_timeout(tail *t) {
  const slp_args *a = t->app.args;
  char line[480];
  if (t->ending || !slp_output_empty(&t->output)) return;
  /* the first shards of -p key:TEXT, or the beginning of the last records, were not found yet */
  if (t->n == 0) {
    slp_cli_consumer *finder = a->last ? slp_last_records_unanswered(&t->last) : &t->follow.finder;
    if (finder && slp_is_unanswered(t->app.args, finder->error, t->begun_us, line))
      slp_cli_consumer_fail(finder, SLP_EXIT_FAILED, line);
    return;
  }
  /* the time of --timeout does not run while a stream may still get its first answer */
  uint64_t since_us = t->last_record_us;
  for (size_t i = 0; i < t->n; i++) {
    if (!is_read(&t->each[i])) continue;
    uint64_t one_us = silent_since(t, &t->each[i]);
    if (t->ending) return;
    since_us = one_us ? slp_max_u64(since_us, one_us) : UINT64_MAX;
    if (!one_us) break;
  }
  if (since_us == UINT64_MAX || !a->timeout_ms || slp_program_mono_us() - since_us < a->timeout_ms * 1000u)
    return;
  tell_no_share(t);
  end_tail(t);
}

static void check_places(tail *t) {
  if (slp_program_mono_us() - t->places.at_us >= SLP_PLACES_EVERY_US) keep_places(t);
}

/* Gives up the output SLP_APP_GRACE_MS after a Ctrl-C, if the reader of standard output has stopped reading
 * in the middle of a record. The saved position is then after the last record that was written whole. */
static void check_reader(tail *t) {
  if (t->app.interrupted &&
      slp_program_mono_us() - t->app.interrupted_at_us >= SLP_APP_GRACE_MS * UINT64_C(1000))
    slp_output_give_up(&t->output);
}

/* Returns 1 if all text is written, and the only consumers left are stuck while they close. */
static int is_stuck(const tail *t) {
  int stuck = 0;
  if (t->follow.finder.s || t->scan.finder.s || !slp_output_empty(&t->output)) return 0;
  for (size_t i = 0; i < t->n; i++) {
    if (!t->each[i].opened || t->each[i].consumer.closed) continue;
    if (!slp_cli_consumer_is_stuck(&t->each[i].consumer)) return 0;
    stuck = 1;
  }
  return stuck || slp_last_records_is_stuck(&t->last);
}

static void on_tick(slp_app *app) {
  tail *t = app->user;
  if (is_stuck(t)) slp_app_leave_stuck(app);
  /* Acknowledges single records as they are written, because with a slow reader a whole batch takes long. */
  slp_output_acknowledge(&t->output);
  for (size_t i = 0; i < t->n; i++) slp_cli_consumer_tick(&t->each[i].consumer);
  check_reader(t);
  print_some(t);
  if (!t->app.out) return; /* print_some has ended the command, and standard output is closed */
  if (slp_progress_due(&t->progress, app->args)) {
    sloop_stats_t sum;
    sum_stats(t, &sum);
    for (size_t i = 0; i < t->n; i++) slp_progress_look(&t->progress, t->each[i].consumer.s);
    slp_progress_show(&t->progress, &sum);
  }
  slp_printer_report(&t->report, &t->printer, t->app.args, t->bad != NULL, 0);
  slp_registry_tick(&t->registry);
  if (t->app.args->shard_key) {
    slp_follow_tick(&t->follow);
    /* everything may be read: a listing for -p key:TEXT may have shown that an ended shard has no children */
    leave_at_tip(t);
  }
  slp_last_records_tick(&t->last);
  slp_stream_scan_tick(&t->scan);
  look_at_fleet(t);
  check_places(t);
  check_until(t);
  check_timeout(t);
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Returns how many consumers there may be at a time. */
static size_t consumers_max(const slp_args *args) {
  return args->shard_key ? FOLLOWED_MAX : args->patterns_n ? SLP_ARGS_STREAMS_MAX : args->streams_n;
}

static int prepare_tail(tail *t, const slp_args *args) {
  int terminal = slp_is_terminal(1) || args->color == SLP_COLOR_ALWAYS;
  char why[400] = "";
  int r = slp_printer_open(&t->printer, t->app.mem, args, terminal, slp_wants_colour(args, terminal), why);
  t->output.reads_payloads = (uint8_t)slp_printer_reads_payloads(&t->printer);
  if (!r) r = slp_places_begin(&t->places, why);
  slp_registry_init(&t->registry, t->app.mem, &t->printer.schemas);
  t->registry.quiet = args->quiet;
  t->registry.on_answer = on_schema;
  t->registry.user = t;
  if (!r) t->each = slp_zalloc_n(t->app.mem, consumers_max(args), sizeof *t->each);
  if (!r && t->each) return 0;
  slp_say("%s", *why ? why : "no memory");
  t->app.exit_code = r == SLP_EINVAL ? SLP_EXIT_USAGE : r == SLP_EBUSY ? SLP_EXIT_OWNED : SLP_EXIT_FAILED;
  return SLP_EINVAL;
}

/* Opens `rd`, an unused element of t->each: the consumer of a stream, or of a generation of shards. */
static int open_at(tail *t, reading *rd, const sloop_opts_t *o, const char *name_or_null,
                   const char *token_file_or_null) {
  if (number_of(t, rd) == t->n) t->n++;
  rd->begun_us = slp_program_mono_us();
  slp_cli_consumer *c = &rd->consumer;
  c->user = t;
  c->on_batch = on_batch;
  c->on_tip = on_tip;
  c->on_shard = on_shard;
  c->on_ending = on_ending;
  c->on_closed = on_closed;
  c->name = name_or_null;
  c->token_file = token_file_or_null;
  slp_until_init(&rd->until, t->app.mem, t->app.args->until_ms);
  slp_fleet_look_init(&rd->look, t->app.mem, c, on_looked);
  int r = slp_cli_consumer_open_idle(c, &t->app, o);
  rd->opened = !r;
  return r;
}

/* Opens one set of metrics for all streams, if the user wants metrics. They end when the consumer of
 * t->metrics_of is closed; then on_closed() opens them again for another one. */
static int open_metrics(tail *t) {
  int r = 0;
  t->metrics = NULL;
  t->metrics_of = NULL;
  for (size_t i = 0; i < t->n && !r && slp_args_want_metrics(t->app.args); i++) {
    reading *rd = &t->each[i];
    if (!is_read(rd) || !rd->consumer.s || rd->consumer.closing) continue;
    if (!t->metrics_of) t->metrics_of = rd;
    r = t->metrics ? sloop_metrics_add(t->metrics, rd->consumer.s)
                   : slp_cli_metrics_open(&t->metrics, &t->app, rd->consumer.s);
  }
  return r;
}

/* Opens the consumer of args->streams[i]. late: 1 if a pattern found the stream while the command ran. To
 * have one order by time, all consumers join the scan's consumer, or else the first of them. */
static int open_stream(tail *t, size_t i, int late) {
  const slp_args *args = t->app.args;
  sloop_opts_t o = args->opts;
  o.stream = args->streams[i];
  if (t->places.start[i]) {
    o.start.kind = SLOOP_AT_TOKEN;
    o.start.token = t->places.start[i];
  } else if (args->last && !late) {
    slp_last_records_start(&t->last, &o.start);
  } else if (late || (args->found[i] && slp_places_continues(&t->places))) {
    o.start.kind = SLOOP_OLDEST; /* the stream is new, so all of its records are read */
  }
  o.join = t->scan.finder.s ? t->scan.finder.s : i > 0 ? t->each[0].consumer.s : NULL;
  t->each[i].late = (uint8_t)late;
  t->each[i].consumer.by_pattern = args->found[i] != NULL;
  return open_at(t, &t->each[i], &o, slp_args_several(args) ? args->streams[i] : NULL, t->places.file[i]);
}

/* ---- new streams that match a pattern --------------------------------------------------------- */

/* Begins to read the new stream `name` in the place `at`: a new place at the end, or that of a stream that is
 * gone. */
static int read_new(slp_stream_scan *scan, size_t at, const char *name) {
  tail *t = scan->user;
  reading *rd = &t->each[at];
  if (at < t->n) {
    slp_progress_add_past(&t->replaced, &rd->consumer.last);
    slp_until_free(&rd->until);
    slp_fleet_look_free(&rd->look);
    memset(rd, 0, sizeof *rd);
  }
  slp_places_forget(&t->places, at);
  int r = slp_matched_put(t->args, at, name) ? SLP_ENOMEM : open_stream(t, at, 1);
  if (!r) r = t->metrics ? sloop_metrics_add(t->metrics, rd->consumer.s) : open_metrics(t);
  if (!r) r = slp_cli_consumer_start(&rd->consumer);
  if (r) end_tail(t);
  return r;
}

/* Returns 1 if the stream in the place `at` is gone, its consumer is closed and its output is done. */
static int is_free(slp_stream_scan *scan, size_t at) {
  const tail *t = scan->user;
  const reading *rd = &t->each[at];
  return rd->gone && rd->consumer.closed && !slp_output_has(&t->output, rd);
}

/* Called for a stream that a listing did not have. If the service had reported before that listing that the
 * stream does not exist, stops reading it and returns 1. Otherwise its consumer would ask the service for it
 * forever. */
static int is_gone(slp_stream_scan *scan, size_t at) {
  tail *t = scan->user;
  reading *rd = &t->each[at];
  if (at >= t->n || !rd->consumer.missing_us || rd->consumer.missing_us > scan->begun_us || t->ending)
    return 0;
  leave_gone(t, rd);
  slp_cli_consumer_stop(&rd->consumer, has_leases(t) ? SLP_APP_LEAVE_MS : SLP_APP_GRACE_MS);
  return 1;
}

static int open_scan(tail *t) {
  t->scan.user = t->scan.finder.user = t;
  t->scan.read_new = read_new;
  t->scan.is_free = is_free;
  t->scan.is_gone = is_gone;

  t->scan.finder.on_closed = on_finder_closed;
  return slp_stream_scan_open(&t->scan, &t->app);
}

static int open_streams(tail *t, const slp_args *args) {
  int r = args->patterns_n ? open_scan(t) : 0;
  for (size_t i = 0; i < args->streams_n && !r; i++) r = open_stream(t, i, 0);
  if (!r) r = open_metrics(t);
  for (size_t i = 0; i < t->n && !r; i++) r = slp_cli_consumer_start(&t->each[i].consumer);
  return r;
}

/* For -n and -o -N. Called when it is known where the last records begin. */
static void on_last_found(slp_last_records *l) {
  tail *t = l->user;
  if (t->ending) {
    leave_if_done(t);
    return;
  }
  t->last_record_us = slp_program_mono_us();
  if (is_last_over(t) || open_streams(t, t->app.args) != 0) {
    end_tail(t);
    leave_if_done(t);
  }
}

static void on_last_ended(slp_last_records *l) {
  end_tail(l->user);
  leave_if_done(l->user);
}

/* For -n and -o -N. Searches the last records of the streams that have no token. If all streams have a token,
 * reads them from there at once. */
static int open_last(tail *t, const slp_args *args) {
  slp_last_records *l = &t->last;
  l->user = t;
  l->on_found = on_last_found;
  l->on_ended = on_last_ended;
  for (size_t i = 0; i < args->streams_n; i++)
    if (!t->places.start[i]) l->streams[l->n++] = args->streams[i];
  return l->n ? slp_last_records_open(l, &t->app) : open_streams(t, args);
}

/* For -p key:TEXT. Opens a consumer for the shards that were found, which are the next generation. The first
 * generation begins where -o says; later generations begin at their oldest record. */
static void on_found(slp_follow *f, const char *const *ids, size_t n) {
  tail *t = f->user;
  sloop_opts_t o = t->app.args->opts;
  if (t->ending || t->n == FOLLOWED_MAX) return;
  o.shards = n ? ids : NULL;
  o.shards_n = n;
  if (t->n > 0) o.start.kind = SLOOP_OLDEST;
  int r = open_at(t, &t->each[t->n], &o, NULL, NULL);
  if (!r) r = slp_cli_consumer_start(&t->each[t->n - 1].consumer);
  if (r) end_tail(t);
}

static int open_follow(tail *t, const slp_args *args) {
  slp_follow *f = &t->follow;
  f->user = t;
  f->on_found = on_found;
  f->finder.user = t;
  f->finder.on_closed = on_finder_closed;
  return slp_follow_open(f, &t->app, &args->opts, args->shard_key);
}

int slp_tail_run(slp_mem *mem, slp_args *args) {
  tail t = {.app = {.mem = mem}, .args = args};
  slp_places_init(&t.places, mem, args);
  t.app.user = &t;
  slp_output_init(&t.output, &t.app);
  t.output.leased = args->opts.app != NULL;
  t.output.unbuffered = args->unbuffered;
  t.output.make = make_text;
  t.output.user = &t;
  t.app.on_interrupt = on_interrupt;
  t.app.on_overdue = on_overdue;
  t.app.on_tick = on_tick;
  t.app.on_written = on_written;
  t.app.on_out_failed = on_out_failed;
  /* With leases, stopping takes up to SLP_APP_LEAVE_MS, so on_overdue must come later than that. It abandons
   * consumers that have not stopped by then. */
  if (args->opts.app) t.app.grace_ms = SLP_APP_LEAVE_MS + 500;
  t.begun_us = t.last_record_us = t.places.at_us = slp_program_mono_us();
  t.begun_ms = slp_program_wall_ms();
  int code;
  if (prepare_tail(&t, args) == 0) {
    if (slp_app_open(&t.app, mem, args) == 0 && (args->shard_key ? open_follow(&t, args)
                                                 : args->last    ? open_last(&t, args)
                                                                 : open_streams(&t, args)) != 0) {
      end_tail(&t);
      leave_if_done(&t);
    }
    code = slp_app_run(&t.app);
  } else {
    code = t.app.exit_code;
  }
  for (size_t i = 0; i < t.n && t.each; i++) {
    slp_until_free(&t.each[i].until);
    slp_fleet_look_free(&t.each[i].look);
  }
  slp_free(mem, t.each);
  slp_follow_free(&t.follow);
  slp_last_records_free(&t.last);
  slp_registry_leave(&t.registry, NULL);
  slp_printer_close(&t.printer);
  slp_places_free(&t.places);
  slp_output_free(&t.output);
  return code;
}

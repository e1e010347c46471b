/* command.c - what a command does in each state: the command describes the stream, opens the table, lists
 * the shards and reads the rows. Then the function of the command's task decides from the rows what comes
 * next. No task calls this file: tasks change the state by course.c. */
#include "admin/command.h"

#include "admin/command_inside.h"
#include "admin/positions.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "core/mark.h"
#include "core/pace.h"
#include "core/source.h"
#include "core/svctime.h"
#include "host/host.h"
#include "host/op.h"
#include "lease/absence.h"
#include "lease/schema.h"
#include "lease/snapshot.h"
#include "lease/store.h"

#include <errno.h>
#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIES_MAX 5u
/* a throttled request is tried at most this many times; the waits between the tries add up to about 45
 * seconds */
#define THROTTLED_MAX 9u
#define PLACE_MAX 65536 /* most bytes of rows.at, which says where a throttled list of rows continues */
#define TIMERS 3        /* the timers of a command: `timer`, `absence_timer`, and the one of `writes` */

/* ---- states ------------------------------------------------------------------------------------- */

static void describe_stream(slp_admin *a);
static void prepare_table(slp_admin *a);
static void list_shards(slp_admin *a);
static void read_rows(slp_admin *a);
static void locate_position(slp_admin *a);
static void measure_lags(slp_admin *a);
static void evict_owners(slp_admin *a);
static void write_rows(slp_admin *a);
static void notify_leader(slp_admin *a);
static void post_answer(slp_admin *a);

static void (*const begin[SLP_ADMIN_STATES])(slp_admin *a) = {
    [SLP_ADMIN_DESCRIBING] = describe_stream, [SLP_ADMIN_PREPARING] = prepare_table,
    [SLP_ADMIN_LISTING] = list_shards,        [SLP_ADMIN_READING] = read_rows,
    [SLP_ADMIN_LOCATING] = locate_position,   [SLP_ADMIN_EVICTING] = evict_owners,
    [SLP_ADMIN_MEASURING] = measure_lags,     [SLP_ADMIN_WRITING] = write_rows,
    [SLP_ADMIN_NOTIFYING] = notify_leader,    [SLP_ADMIN_ANSWERED] = post_answer};

static void on_timer(slp_timer *t) {
  slp_admin *a = SLP_OWNER(t, slp_admin, timer);
  begin[a->state](a);
}

/* ---- the end of a command ----------------------------------------------------------------------- */

static void on_done(slp_event *ev) {
  slp_admin *a = SLP_OWNER(ev, slp_admin, done_ev);
  a->o.on_done(a, a->o.arg); /* the last statement, because on_done may free the command */
}

static void post_answer(slp_admin *a) {
  slp_timer_clear(a->o.host, &a->absence_timer);
  if (a->starved) slp_admin_note(a, SLP_ADMIN_NO_MEMORY, SLP_NOMEM, SLP_ENOMEM);
  if (a->fail.class != SLP_FINE) {
    a->answer.leases = NULL;
    a->answer.explanation = NULL;
  }
  if (a->starved) a->answer.result = NULL; /* a result that lacks parts is not reported */
  slp_post(a->o.host, &a->done_ev);
}

/* Ends the command with a failure. The answer has the changes that were made before the failure. */
static void fail_with(slp_admin *a, const slp_fail *f) {
  a->fail = *f;
  if (a->state == SLP_ADMIN_READING && a->edits && a->may_have_changed)
    slp_edits_conclude(a);
  else if (a->state == SLP_ADMIN_READING && a->victim && a->changed)
    slp_admin_tell_eviction(a);
  else
    slp_admin_finish(a);
}

/* Sends the request of the current state again after a wait, or ends the command if its tries are used up. An
 * error of the disk (-EIO) ends the command at once, because the store has already waited for the disk. */
static void retry_or_fail(slp_admin *a, const slp_fail *f) {
  int passes = f->class == SLP_THROTTLE || f->class == SLP_TRANSIENT || f->class == SLP_BUSY;
  if (f->code == -EIO) passes = 0;
  /* 1: the request went to the store, which reports each throttled try, so all tries are counted here. 0: the
   * request went to the source, which repeats throttled requests itself and reports only when it gives up. */
  int one_by_one =
      f->class == SLP_THROTTLE && (a->state == SLP_ADMIN_PREPARING || a->state == SLP_ADMIN_READING);
  if (!passes || ++a->tries >= (one_by_one ? THROTTLED_MAX : TRIES_MAX)) {
    fail_with(a, f);
    return;
  }
  uint32_t random = (uint32_t)slp_random_below(a->o.host, 1000);
  uint64_t us = slp_pace_backoff_us(a->tries, f->class == SLP_THROTTLE, random);
  slp_admin_wait(a, us);
  if (a->o.on_again && f->message[0]) a->o.on_again(a->o.arg, f, a->tries, us);
}

/* ---- DESCRIBING --------------------------------------------------------------------------------- */

static void on_stream_described(slp_op *rq) {
  slp_admin *a = SLP_OWNER(SLP_OWNER(rq, slp_src_describe, rq), slp_admin, describe);
  slp_fail f = rq->fail;
  if (f.class == SLP_FINE && !a->describe.ready) {
    slp_fail_set(&f, SLP_BUSY, SLOOP_ESTREAMBUSY, "%s", "");
    a->why.reason = SLP_ADMIN_STREAM_BUSY;
  } else {
    a->why.reason = SLP_ADMIN_TOLD;
  }
  if (f.class != SLP_FINE) {
    retry_or_fail(a, &f);
  } else if (a->o.open(a->o.ctx, &a->describe, &a->store, &a->schema, &f)) {
    fail_with(a, &f);
  } else {
    slp_admin_writes_open(a);
    slp_admin_move(a, SLP_ADMIN_PREPARING);
  }
}

static void describe_stream(slp_admin *a) {
  memset(&a->describe, 0, sizeof a->describe);
  a->describe.rq.on_done = on_stream_described;
  a->o.source->ops->describe(a->o.source, &a->describe);
}

/* ---- PREPARING ---------------------------------------------------------------------------------- */

static void on_table_prepared(slp_store_req *rq) {
  slp_admin *a = SLP_OWNER(SLP_OWNER(rq, slp_store_prepare, rq), slp_admin, prepare);
  if (rq->fail.class == SLP_GONE && a->o.task == SLP_ADMIN_IMPORT) {
    a->no_table = 1; /* SLP_ADMIN_IMPORT creates the table later, unless its checks fail */
    slp_admin_move(a, SLP_ADMIN_LISTING);
  } else if (rq->fail.class == SLP_GONE) {
    /* a command creates no table, because an empty one would look as if no worker had any lease */
    slp_fail f = rq->fail;
    f.code = SLOOP_ELEASE;
    a->why.reason = SLP_ADMIN_NO_TABLE;
    fail_with(a, &f);
  } else if (rq->fail.class != SLP_FINE) {
    retry_or_fail(a, &rq->fail);
  } else {
    a->no_table = 0;
    /* Usually LEASES and DRAIN need no listing. But in a layout without `former`, rows do not name their
     * stream. Then only a listing of the stream's shards can show whose the rows are. */
    int by_rows = a->o.task == SLP_ADMIN_LEASES || a->o.task == SLP_ADMIN_DRAIN;
    int lists = !by_rows || !a->schema->former;
    slp_admin_move(a, lists && !a->shards ? SLP_ADMIN_LISTING : SLP_ADMIN_READING);
  }
}

static void prepare_table(slp_admin *a) {
  memset(&a->prepare, 0, sizeof a->prepare);
  a->prepare.rq.on_done = on_table_prepared;
  a->prepare.rq.paced = 1;
  a->prepare.create = a->no_table;
  a->store->ops->prepare(a->store, &a->prepare);
}

/* ---- LISTING ------------------------------------------------------------------------------------ */

/* Returns 1 if the command continues although the stream could not be listed. Only LAG does: it still reads
 * the shards that have leases. a->unlisted then says why there is no listing. */
static int goes_on_unlisted(slp_admin *a, const slp_fail *f) {
  if (a->o.task != SLP_ADMIN_LAG || (!slp_class_lasts(f->class) && a->tries + 1 < TRIES_MAX)) return 0;
  char words[SLP_LAGS_WORDS];
  slp_lags_words(f, words);
  a->unlisted = slp_admin_keep(a, slp_str_of(words)).p;
  return a->unlisted != NULL;
}

static void on_shards_listed(slp_op *rq) {
  slp_admin *a = SLP_OWNER(SLP_OWNER(rq, slp_src_list, rq), slp_admin, list);
  if (rq->date_ms >= 0) slp_svctime_learn(&a->service, rq->date_ms, rq->sent_us, rq->done_us);
  if (rq->fail.class != SLP_FINE) {
    slp_fail f = rq->fail;
    if (a->o.task == SLP_ADMIN_LEASES || a->o.task == SLP_ADMIN_DRAIN || goes_on_unlisted(a, &f))
      /* goes on without a listing, so the rows are not compared with the stream's shards */
      slp_admin_move(a, SLP_ADMIN_READING);
    else
      retry_or_fail(a, &f);
  } else if (slp_admin_keep_listing(a)) {
    slp_admin_no_memory(a);
  } else {
    slp_admin_move(a, SLP_ADMIN_READING);
  }
}

static void list_shards(slp_admin *a) {
  memset(&a->list, 0, sizeof a->list);
  a->list.rq.on_done = on_shards_listed;
  a->o.source->ops->list(a->o.source, &a->list);
}

/* ---- READING ------------------------------------------------------------------------------------ */

static void decide_next_step(slp_admin *a) {
  switch (a->o.task) {
    case SLP_ADMIN_LEASES: slp_admin_leases(a); return;
    case SLP_ADMIN_LAG: slp_lags_find(a); return;
    case SLP_ADMIN_EXPLAIN: slp_admin_explain(a); return;
    case SLP_ADMIN_RELEASE: slp_admin_release(a); return;
    case SLP_ADMIN_RESET: slp_admin_reset(a); return;
    case SLP_ADMIN_DRAIN: slp_admin_drain(a); return;
    case SLP_ADMIN_PAUSE: slp_admin_pause(a); return;
    case SLP_ADMIN_SURVEY: slp_admin_survey(a); return;
    case SLP_ADMIN_IMPORT: slp_admin_import(a); return;
  }
}

/* Returns 1 if `row`, from a side table, is added to the rows of the application. Rows of an unknown kind are
 * not added. Damaged rows are added, but not for SURVEY and IMPORT: these need only positions, which side
 * tables do not have. */
static int counts_beside(slp_admin *a, const slp_row *row) {
  slp_parsed_row parsed;
  slp_schema_read_row(a->schema, row, &parsed);
  if (parsed.kind == SLP_ROW_OTHER) return 0;
  return parsed.kind != SLP_ROW_BAD || (a->o.task != SLP_ADMIN_SURVEY && a->o.task != SLP_ADMIN_IMPORT);
}

static void add_row(slp_admin *a, slp_store_rows *to, const slp_row *row) {
  if (slp_store_rows_copy(to, row)) a->starved = 1;
}

static void keep_beside(slp_admin *a) {
  for (size_t i = 0; i < a->rows.out.n; i++)
    if (counts_beside(a, &a->rows.out.rows[i])) add_row(a, &a->beside, &a->rows.out.rows[i]);
}

/* Goes on to the next partition key, if the leases are spread over several keys. The rows under the first key
 * say over how many. Returns 1 if the rows under another key must be read; 0 if rows.out has the rows of all
 * keys now. */
static int next_part(slp_admin *a) {
  if (!a->schema->lease_key) return 0;
  if (!a->part) a->schema->spread = slp_spread_of_rows(a->schema, &a->rows.out);
  if (slp_store_rows_join(&a->parts, &a->rows.out)) a->starved = 1;
  if (slp_is_spread(&a->schema->spread) && a->part + 1 < a->schema->spread.keys && !a->starved) {
    a->part++;
    return 1;
  }
  a->part = 0;
  slp_store_rows_free(&a->rows.out);
  slp_store_rows_move(&a->rows.out, &a->parts);
  return 0;
}

static void rows_done(slp_store_req *rq) {
  slp_admin *a = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_admin, rows);
  if (rq->fail.class != SLP_FINE) {
    a->trouble_us = rq->done_us;
    /* more rows came since the last throttled try, so the tries are counted from 0 again */
    if (a->rows.out.n > a->throttled_n) a->tries = 0;
    a->throttled_n = a->rows.out.n;
    retry_or_fail(a, &rq->fail);
    return;
  }
  slp_admin_see_hints(a, &a->rows.out);
  if (!a->side && next_part(a)) {
    read_rows(a);
    return;
  }
  if (a->side) {
    if (slp_admin_has_clients(a)) keep_beside(a);
    a->side--;
    read_rows(a);
    return;
  }
  a->wall_ms = slp_wall_ms(a->o.host);
  if (slp_admin_decides_form(a)) return;
  for (size_t i = 0; i < a->beside.n; i++) add_row(a, &a->rows.out, &a->beside.rows[i]);
  if (a->starved || slp_snapshot_make(&a->snapshot, a->schema, &a->rows.out))
    slp_admin_no_memory(a);
  else if (!slp_admin_is_other_streams(a))
    decide_next_step(a);
}

/* Sets rows.hash and rows.prefix to the partition key that is read next, number a->part. */
static int part_scope(slp_admin *a) {
  slp_row_key key;
  slp_buf_clear(&a->part_key);
  if (a->schema->lease_key(a->schema, a->part, &a->part_key, &key)) return SLP_ENOMEM;
  a->rows.hash = key.hash;
  a->rows.prefix = key.range;
  return 0;
}

static void read_rows(slp_admin *a) {
  memset(&a->snapshot, 0, sizeof a->snapshot); /* the snapshot points into the rows, which are freed now */
  memset(&a->rows.rq, 0, sizeof a->rows.rq);
  a->rows.rq.on_done = rows_done;
  /* the store reports each throttled try to rows_done(), and a long list continues where it was throttled */
  a->rows.rq.paced = 1;
  a->rows.rq.table = a->side;
  if (a->schema->former && slp_admin_shows(a))
    a->schema->former(a->schema, &a->rows.hash, &a->rows.prefix);
  else
    a->schema->scope(a->schema, &a->rows.hash, &a->rows.prefix);
  if (a->side) a->rows.hash = a->rows.prefix = (slp_str){"", 0};
  if (a->no_table) { /* a table that does not exist has no rows */
    a->schema->spread = a->schema->fresh;
    decide_next_step(a);
    return;
  }
  if (a->part && part_scope(a)) {
    slp_admin_no_memory(a);
    return;
  }
  a->rows.consistent = 1;
  a->rows.bound.before = a->parts.bytes + a->beside.bytes;
  a->store->ops->list(a->store, &a->rows);
}

/* ---- LOCATING ----------------------------------------------------------------------------------- */

static void on_position_located(slp_op *rq) {
  slp_admin *a = SLP_OWNER(SLP_OWNER(rq, slp_src_locate, rq), slp_admin, locate);
  slp_fail f = rq->fail;
  slp_buf_free(&a->locate.cursor);
  if (f.class == SLP_FINE) {
    a->located = 1;
    slp_admin_reset(a);
  } else if ((f.class == SLP_REFUSED && f.aws_code[0]) || f.class == SLP_TRIMMED) {
    f.code = f.class == SLP_TRIMMED ? SLOOP_ETRIMMED : SLOOP_EPOSITION;
    a->why.reason = SLP_ADMIN_REFUSED_POSITION;
    a->why.name = a->locate.shard;
    fail_with(a, &f);
  } else {
    retry_or_fail(a, &f);
  }
}

static void locate_position(slp_admin *a) {
  a->locate.rq = (slp_op){.on_done = on_position_located};
  a->locate.from = a->o.to;
  a->locate.since_us = 0;
  slp_buf_init(&a->locate.cursor, a->mem, 4096);
  a->o.source->ops->locate(a->o.source, &a->locate);
}

/* ---- MEASURING, EVICTING, NOTIFYING ------------------------------------------------------------- */

static void measure_lags(slp_admin *a) { slp_lags_measure(a); }

static void evict_owners(slp_admin *a) {
  if (a->drain)
    slp_drain_evict(a);
  else if (a->pause)
    slp_pause_evict(a);
  else if (a->victim)
    slp_admin_evict_victim(a);
  else
    slp_edits_evict(a);
}

static void write_rows(slp_admin *a) {
  if (a->drain)
    slp_drain_write(a);
  else if (a->pause)
    slp_pause_write(a);
  else if (a->import)
    slp_import_write(a);
  else
    slp_edits_write(a);
}

static void on_leader_notified(slp_admin_slot *slot) { slp_admin_finish(slot->admin); }

/* Notifies the leader that rows have changed. Without that, the leader would see the changes only when it
 * next compares the rows with the stream. */
static void notify_leader(slp_admin *a) {
  slp_str id, incarnation;
  if (a->changed && slp_admin_has(a, SLP_OPERATION_NOTIFY) &&
      slp_instance_split(a->snapshot.leadership.owner, &id, &incarnation)) {
    slp_operation i = {.kind = SLP_OPERATION_NOTIFY, .id = id};
    if (slp_admin_write(a, &i, 0, on_leader_notified) == 0) return;
  }
  slp_admin_finish(a);
}

/* ---- absences ----------------------------------------------------------------------------------- */

/* Called regularly: notes for slp_absence that this process is running. */
static void note_absence(slp_timer *t) {
  slp_admin *a = SLP_OWNER(t, slp_admin, absence_timer);
  uint64_t every_us = slp_absence_every_us((uint64_t)a->o.lease_ms * 1000);
  (void)slp_watch_back_us(a);
  slp_timer_set_reserved(a->o.host, t, slp_after_us(slp_now_us(a->o.host), every_us));
}

/* ---- creating and freeing ----------------------------------------------------------------------- */

int slp_admin_new(slp_admin **ret, slp_mem *mem, const slp_admin_opts *o) {
  slp_admin *a = SLP_NEW(mem, slp_admin);
  char *name = a && o->name.n ? slp_strdup(mem, o->name) : NULL;
  if (!a || (o->name.n && !name) || slp_host_reserve_timers(o->host, TIMERS)) {
    slp_free(mem, name);
    slp_free(mem, a);
    return SLP_ENOMEM;
  }
  a->mem = slp_mem_hold(mem);
  a->o = *o;
  a->name = name;
  a->o.name = (slp_str){name, o->name.n};
  slp_mark_canonical(&a->o.to.mark, o->source->number_digits_min);
  snprintf(a->me, sizeof a->me, "operator.%016llx", (unsigned long long)slp_random(o->host));
  a->signature = slp_str_of(a->me);
  a->begin = begin;
  a->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  a->absence_timer = (slp_timer){.at_us = UINT64_MAX, .run = note_absence};
  a->done_ev.run = on_done;
  slp_store_rows_init(&a->keep, mem);
  slp_store_rows_init(&a->rows.out, mem);
  slp_buf_init(&a->rows.at, mem, PLACE_MAX);
  slp_store_rows_init(&a->beside, mem);
  slp_store_rows_init(&a->parts, mem);
  slp_buf_init(&a->part_key, mem, 4096);
  slp_admin_writes_init(a);
  *ret = a;
  note_absence(&a->absence_timer);
  describe_stream(a);
  return 0;
}

/* Sets the answer of a RELEASE or RESET that was stopped: the changes that were made before the stop. */
static void tell_stopped(slp_admin *a) {
  if (a->o.task != SLP_ADMIN_RELEASE && a->o.task != SLP_ADMIN_RESET) return;
  if (a->answer.result) return;
  if (a->edits) {
    slp_edits_stop(a);
  } else if (a->victim && a->changed) {
    slp_admin_tell_victim(a);
  } else if (!a->may_have_changed && !a->busy_n) {
    /* no write was made and none is under way, so the answer is that nothing was changed */
    sloop_admin_result_t *nothing = slp_admin_room(a, sizeof *nothing);
    if (nothing) nothing->worker = "";
    a->answer.result = nothing;
  }
  if (a->starved) a->answer.result = NULL;
}

void slp_admin_stop(slp_admin *a) {
  if (!a) return;
  tell_stopped(a);
  a->answer.leases = NULL;
  a->answer.explanation = NULL;
  slp_timer_clear(a->o.host, &a->timer);
  slp_timer_clear(a->o.host, &a->absence_timer);
  slp_unpost(&a->done_ev);
  a->o.source->ops->cancel(a->o.source, &a->describe.rq);
  a->o.source->ops->cancel(a->o.source, &a->list.rq);
  a->o.source->ops->cancel(a->o.source, &a->locate.rq);
  slp_lags_free(a);
  if (!a->store) return;
  a->store->ops->cancel(a->store, &a->prepare.rq);
  a->store->ops->cancel(a->store, &a->rows.rq);
  slp_admin_writes_stop(a);
}

slp_store_cost slp_admin_cost(const slp_admin *a) {
  return a->store ? slp_store_cost_of(a->store) : (slp_store_cost){0};
}

void slp_admin_free(slp_admin *a) {
  if (!a) return;
  slp_mem *mem = a->mem;
  slp_admin_stop(a);
  if (a->store) a->store->ops->close(a->store);
  slp_buf_free(&a->locate.cursor);
  slp_admin_writes_free(a);
  if (a->schema) a->schema->free(a->schema);
  slp_host_unreserve_timers(a->o.host, TIMERS);
  slp_store_rows_free(&a->rows.out);
  slp_buf_free(&a->rows.at);
  slp_store_rows_free(&a->beside);
  slp_store_rows_free(&a->parts);
  slp_buf_free(&a->part_key);
  slp_watch_free(a);
  slp_store_rows_free(&a->keep);
  slp_free(mem, a->name);
  slp_free(mem, a);
  slp_mem_drop(mem);
}

const slp_fail *slp_admin_fail(const slp_admin *a) { return &a->fail; }

const slp_placed_list *slp_admin_placed(const slp_admin *a) { return &a->placed; }

slp_admin_why slp_admin_reason_of(const slp_admin *a) {
  slp_admin_why why = a->why;
  why.task = a->o.task;
  if (a->import) slp_import_count(a, &why);
  why.stream = a->describe.name;
  why.schema = a->schema ? a->schema->name : "";
  return why;
}
const slp_admin_answer *slp_admin_answered(const slp_admin *a) { return &a->answer; }

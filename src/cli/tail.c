/* tail.c - prints a stream. A batch goes back only when its bytes have left for good: so a slow
 * reader stops the fetching, and what was acknowledged was printed. */
#include "cli/tail.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "cli/app.h"
#include "cli/consumer.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/show.h"
#include "host/program.h"

/* One batch as text. A batch is about 1 MiB of payload; -J can make six bytes of one, and a format may
 * repeat %s, so only what is surely a mistake is refused. */
#define TEXT_BYTES_MAX (UINT64_C(1) << 31)

typedef struct held { /* a batch whose text is not written yet */
  slp_list link;
  sloop_batch_t *batch;
  size_t accepted;
  uint64_t until; /* given back once this many bytes of the output are written */
} held;

typedef struct tail {
  slp_app app;
  slp_cli_consumer consumer;
  slp_progress progress;
  slp_format *format; /* owned; NULL: JSON or plain */
  slp_list held;
  uint64_t given_bytes; /* to the output, in all */
  uint64_t records;     /* given to the output */
  uint64_t last_record_us;
  uint8_t terminal, colour;
  uint8_t ending;     /* no more records are taken */
  uint8_t tip_wanted; /* -e */
} tail;

static void release_held(tail *t, uint64_t written, int all) {
  for (held *h; !slp_list_empty(&t->held);) {
    h = SLP_OWNER(slp_list_first(&t->held), held, link);
    if (!all && h->until > written) return;
    slp_list_remove(&h->link);
    /* With `all` the text may be lost: then nothing of the batch is acknowledged. */
    sloop_batch_done(h->batch, h->until <= written ? h->accepted : 0);
    slp_free(t->app.mem, h);
  }
}

static uint64_t written_bytes(const tail *t) { return t->given_bytes - slp_app_unwritten(&t->app); }

/* The consumer is gone and the output has what it will get. */
static void leave_if_done(tail *t) {
  if (!t->consumer.closed || !t->app.out) return;
  if (slp_app_unwritten(&t->app) > 0) return;
  release_held(t, t->app.out_failed ? 0 : t->given_bytes, 1);
  slp_progress_end(&t->consumer);
  slp_app_close(&t->app);
}

static void end_tail(tail *t) {
  if (t->ending) return;
  t->ending = 1;
  slp_cli_consumer_stop(&t->consumer, SLP_APP_GRACE_MS);
}

static int add_record(tail *t, slp_buf *b, const sloop_record_t *r, int64_t behind_ms) {
  if (t->format) return slp_format_run(t->format, b, r, behind_ms);
  if (t->app.args->json) return slp_show_json(b, r);
  return t->terminal ? slp_show_terminal(b, r, t->colour) : slp_show_plain(b, r);
}

static void give_back_later(tail *t, sloop_batch_t *batch, size_t accepted) {
  held *h = SLP_NEW(t->app.mem, held);
  if (!h) {
    sloop_batch_done(batch, 0);
    slp_cli_consumer_fail(&t->consumer, SLP_EXIT_FAILED, "no memory");
    return;
  }
  h->batch = batch;
  h->accepted = accepted;
  h->until = t->given_bytes;
  slp_list_add_last(&t->held, &h->link);
}

static void on_batch(slp_cli_consumer *c, sloop_batch_t *batch) {
  tail *t = c->user;
  size_t n = sloop_batch_count(batch), i = 0;
  uint64_t count = t->app.args->count;
  int64_t behind_ms = sloop_batch_behind_ms(batch);
  slp_buf text;
  slp_buf_init(&text, t->app.mem, TEXT_BYTES_MAX);
  int bad = 0;
  if (t->ending || t->app.out_failed) n = 0;
  for (; i < n && (!count || t->records < count); i++) {
    bad = add_record(t, &text, sloop_batch_at(batch, i), behind_ms);
    if (bad) break;
    t->records++;
  }
  if (bad) {
    slp_buf_free(&text);
    sloop_batch_done(batch, 0);
    slp_cli_consumer_fail(&t->consumer, SLP_EXIT_FAILED,
                          bad == SLP_ENOMEM
                              ? "no memory to print a batch; try a smaller -X batch_bytes_max"
                              : "a batch is too large as text; try a smaller -X batch_bytes_max");
    return;
  }
  t->last_record_us = slp_program_mono_us();
  t->given_bytes += text.n;
  slp_app_write(&t->app, &text);
  if (slp_app_unwritten(&t->app) > 0)
    give_back_later(t, batch, i);
  else
    sloop_batch_done(batch, slp_app_out_error(&t->app) ? 0 : i);
  if (count && t->records >= count) end_tail(t);
}

static void on_tip(slp_cli_consumer *c) {
  tail *t = c->user;
  if (!t->tip_wanted || t->ending) return;
  if (c->shards_stopped) {
    /* Nothing more will come, but not all was read: that is no success. */
    slp_cli_consumer_fail(c, SLP_EXIT_FAILED,
                          "some shards were given up before their end; see the lines above");
    return;
  }
  end_tail(t);
}

static void on_closed(slp_cli_consumer *c) { leave_if_done(c->user); }

static void on_written(slp_app *app) {
  tail *t = app->user;
  release_held(t, written_bytes(t), 0);
  leave_if_done(t);
}

static void on_out_failed(slp_app *app) {
  tail *t = app->user;
  release_held(t, 0, 1);
  end_tail(t);
  leave_if_done(t);
}

static void on_interrupt(slp_app *app) {
  tail *t = app->user;
  end_tail(t);
}

/* Somebody holds the output (or the stop) longer than a Ctrl-C may take. */
static void on_overdue(slp_app *app) {
  tail *t = app->user;
  release_held(t, 0, 1);
  if (!t->consumer.closed) return; /* on its way: it stops within the same limit */
  slp_progress_end(&t->consumer);
  slp_app_close(app);
}

static void check_timeout(tail *t) {
  uint64_t timeout_us = t->app.args->timeout_ms * 1000u;
  if (!timeout_us || t->ending || slp_app_unwritten(&t->app) > 0) return;
  if (slp_program_mono_us() - t->last_record_us < timeout_us) return;
  if (slp_cli_consumer_answered(&t->consumer)) {
    end_tail(t);
    return;
  }
  char line[480];
  snprintf(line, sizeof line, "nothing was answered in %llu s%s%s",
           (unsigned long long)(t->app.args->timeout_ms / 1000u),
           *t->consumer.error ? "; the last error: " : "", t->consumer.error);
  t->ending = 1;
  slp_cli_consumer_fail(&t->consumer, SLP_EXIT_FAILED, line);
}

static void on_tick(slp_app *app) {
  tail *t = app->user;
  slp_progress_tick(&t->progress, &t->consumer);
  check_timeout(t);
  /* After an interrupt the wait for a stuck reader is over once the consumer is gone. */
  if (app->interrupted && !app->on_overdue && t->consumer.closed) {
    release_held(t, 0, 1);
    slp_progress_end(&t->consumer);
    slp_app_close(app);
  }
}

static int wants_colour(void) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no_color && *no_color) return 0; /* no-color.org: present and not empty */
  return term && *term && strcmp(term, "dumb") != 0;
}

static int prepare(tail *t, const slp_args *args) {
  t->terminal = (uint8_t)slp_is_terminal(1);
  t->colour = t->terminal && wants_colour();
  t->tip_wanted = args->until_tip;
  if (!args->format) return 0;
  char why[200] = "no memory";
  int r = slp_format_new(t->app.mem, slp_str_of(args->format), &t->format, why);
  if (!r) return 0;
  slp_say("%s", why);
  t->app.exit_code = r == SLP_EINVAL ? SLP_EXIT_USAGE : SLP_EXIT_FAILED;
  return r;
}

int slp_tail_run(slp_mem *mem, const slp_args *args) {
  tail t = {.app = {.mem = mem}};
  slp_list_init(&t.held);
  if (prepare(&t, args) != 0) return t.app.exit_code;
  t.app.user = t.consumer.user = &t;
  t.app.on_interrupt = on_interrupt;
  t.app.on_overdue = on_overdue;
  t.app.on_tick = on_tick;
  t.app.on_written = on_written;
  t.app.on_out_failed = on_out_failed;
  t.consumer.on_batch = on_batch;
  t.consumer.on_tip = on_tip;
  t.consumer.on_closed = on_closed;
  t.last_record_us = slp_program_mono_us();
  if (slp_app_open(&t.app, mem, args) == 0 && slp_cli_consumer_open(&t.consumer, &t.app, &args->opts) != 0)
    slp_app_close(&t.app);
  int code = slp_app_run(&t.app);
  slp_format_free(t.format);
  return code;
}

/* account_list.c - the life that listings of an account share: it begins, is interrupted, takes too long, or
 * ends. */
#include "cli/account_list.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "host/terminal.h"
#include "program/program.h"

#include <sloop.h>
#include <stdio.h>

#define SUGGEST_US UINT64_C(2000000)

static void leave_if_done(slp_account_list *l) {
  if (l->consumer.closed && l->app.out && slp_app_unwritten(&l->app) == 0) slp_app_close(&l->app);
}

void slp_account_list_stop(slp_account_list *l) {
  l->kind->end(l);
  slp_cli_consumer_stop(&l->consumer, 0);
}

void slp_account_list_fail(slp_account_list *l, const char *why) {
  l->kind->end(l);
  slp_cli_consumer_fail(&l->consumer, SLP_EXIT_FAILED, why);
}

void slp_account_list_write(slp_account_list *l, slp_buf *text) {
  if (slp_buf_failed(text)) {
    slp_buf_free(text);
    slp_account_list_fail(l, "no memory");
    return;
  }
  slp_app_write(&l->app, text);
}

void slp_account_list_show(slp_account_list *l) {
  slp_buf text;
  uint32_t width = 0, rows = 0;
  if (l->app.args->json || !l->n) return;
  int terminal = slp_terminal_size(1, &width, &rows) == 0;
  slp_buf_init(&text, l->app.mem, UINT64_C(1) << 30);
  slp_columns_show(&l->table, &text, terminal ? width : 0);
  slp_account_list_write(l, &text);
}

/* Ends the listing early: prints what was found so far, and that some may be missing. */
static void end_listing_early(slp_account_list *l, const char *why) {
  char line[160];
  slp_account_list_show(l);
  snprintf(line, sizeof line, "%s; shown: %zu", why, l->n);
  slp_account_list_fail(l, line);
}

static void on_closed(slp_cli_consumer *c) { leave_if_done(c->user); }
static void on_written(slp_app *app) { leave_if_done(app->user); }

static void on_interrupt(slp_app *app) {
  slp_account_list *l = app->user;
  char why[80];
  snprintf(why, sizeof why, "interrupted before %s", l->kind->all);
  if (l->consumer.stopping || l->missing)
    slp_account_list_stop(l);
  else
    end_listing_early(l, why);
  leave_if_done(l);
}

static void on_out_failed(slp_app *app) {
  slp_account_list *l = app->user;
  slp_account_list_stop(l);
  leave_if_done(l);
}

static void on_overdue(slp_app *app) {
  slp_account_list *l = app->user;
  if (l->consumer.closed) slp_app_close(app);
}

static void on_tick(slp_app *app) {
  slp_account_list *l = app->user;
  char line[120];
  if (l->consumer.stopping) return;
  slp_cli_consumer_tick(&l->consumer);
  if (!l->limit_us || slp_program_mono_us() - l->begun_us < l->limit_us) return;
  if (l->missing) {
    if (l->kind->suggest) l->kind->suggest(l);
    slp_account_list_stop(l);
    return;
  }
  snprintf(line, sizeof line, "%s in %llu s", l->kind->not_all, (unsigned long long)(l->limit_us / 1000000u));
  end_listing_early(l, line);
}

static void begin_listing(slp_account_list *l, const sloop_opts_t *o) {
  l->consumer = (slp_cli_consumer){.user = l, .on_closed = on_closed};
  l->begun_us = slp_program_mono_us();
  if (slp_cli_consumer_open_idle(&l->consumer, &l->app, o) != 0) {
    slp_app_close(&l->app);
    return;
  }
  int r = l->kind->begin(l);
  if (r && l->missing)
    slp_account_list_stop(l); /* it is no failure if nothing can be suggested */
  else if (r == SLP_ENOMEM)
    slp_account_list_fail(l, "no memory");
}

void slp_account_list_opts(sloop_opts_t *o, const char *stream) {
  o->stream = stream;
  o->app = o->store = o->schema = o->worker = o->push_consumer = NULL;
  o->shards = NULL;
  o->shards_n = 0;
  o->start = (sloop_position_t){.kind = SLOOP_LATEST};
  o->retrieval = SLOOP_RETRIEVAL_POLL;
}

int slp_account_list_run(slp_account_list *l, slp_mem *mem, const slp_args *args, const sloop_opts_t *o) {
  uint64_t listing_ms = args->contact_ms ? args->contact_ms : args->timeout_ms;
  l->limit_us = l->missing ? SUGGEST_US : listing_ms * 1000u;
  l->app = (slp_app){.mem = mem,
                     .args = args,
                     .user = l,
                     .on_interrupt = on_interrupt,
                     .on_out_failed = on_out_failed,
                     .on_overdue = on_overdue,
                     .on_tick = on_tick,
                     .on_written = on_written};
  slp_columns_init(&l->table, mem, l->kind->columns, l->kind->columns_n);
  if (slp_app_open(&l->app, mem, args) == 0) begin_listing(l, o);
  int code = slp_app_run(&l->app);
  slp_columns_free(&l->table);
  return code;
}

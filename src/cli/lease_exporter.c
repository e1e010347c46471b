/* lease_exporter.c - reads lease tables again and again, one for each application and stream, and serves the
 * results as metrics to Prometheus. A failed reading never ends the command. The metrics then say that the
 * table can't be read, and the last results grow old. */
#include "cli/lease_exporter.h"

#include "api/metrics_sample.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/lease_page.h"
#include "cli/lease_readings.h"
#include "cli/people_lines.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

/* time between the first reading of one table and the first reading of the next table */
#define STAGGER_US 100000u
/* A reading of a table asks shards for their lags too. It is reported as failed if it takes longer than
 * read_ms() plus OVERDUE_US. */
#define OVERDUE_US UINT64_C(30000000)

typedef struct exporter exporter;
typedef struct place { /* the leases of one application and stream */
  exporter *e;
  slp_cli_consumer consumer;
  slp_lease_readings readings;
  /* asked_us: when the last reading was started. next_us: when the next reading is due */
  uint64_t asked_us, next_us;
  /* asking: 1 while a reading is under way. overdue: 1 if it has taken so long that it was reported as
   * failed */
  uint8_t asking, overdue;
  /* text of the failure that was reported last; "": the last reading succeeded */
  char said[SLP_READINGS_WHY];
} place;

struct exporter {
  slp_app app;
  slp_lease_page *page; /* owned; the HTTP server of the metrics; NULL: not open */
  uint8_t closing;
  place *places; /* owned */
  size_t places_n;
};

/* ---- readings ----------------------------------------------------------------------------------------- */

/* Reports why the readings of a table fail. The same reason is reported only once. */
static void tell_reading_failure(place *p) {
  const slp_args *a = p->e->app.args;
  const char *why = p->readings.why;
  if (!a->quiet && strcmp(p->said, p->readings.why) != 0)
    slp_say_if_room("the leases of %.80s of %.80s could not be read: %s", p->readings.app, p->readings.stream,
                    why);
  memcpy(p->said, p->readings.why, sizeof p->said);
}

static void note_reading_failure(place *p, const char *why) {
  slp_lease_readings_failed(&p->readings, why);
  tell_reading_failure(p);
}

static void note_reading_success(place *p) {
  const slp_args *a = p->e->app.args;
  if (!a->quiet && *p->said)
    slp_say_if_room("the leases of %.80s of %.80s can be read again", p->readings.app, p->readings.stream);
  *p->said = 0;
}

static void on_leases(sloop_admin_t *a, int status, const sloop_leases_t *leases, const sloop_error_t *error,
                      void *arg) {
  place *p = arg;
  char line[SLP_READINGS_WHY] = "";
  (void)a;
  p->asking = p->overdue = 0;
  if (p->consumer.stopping || p->consumer.failed) return;
  if (status) slp_cli_consumer_error_line(&p->consumer, status, error, line, sizeof line);
  if (status)
    note_reading_failure(p, line);
  else if (slp_lease_readings_take(&p->readings, leases, slp_program_mono_us(), slp_program_wall_ms()) == 0)
    note_reading_success(p);
  else
    tell_reading_failure(p);
}

/* Returns how long a reading may ask shards for their lags: half of the time between two readings. */
static uint32_t read_ms(const slp_args *a) { return a->leases_ms / 2; }

static void start_table_reading(place *p, uint64_t now_us) {
  const slp_args *a = p->e->app.args;
  sloop_admin_t *admin = p->consumer.admin;
  p->asked_us = now_us;
  p->next_us = now_us + a->leases_ms * UINT64_C(1000);
  int r =
      a->no_read ? sloop_admin_leases(admin, on_leases, p) : sloop_admin_lag(admin, read_ms(a), on_leases, p);
  p->asking = r == 0;
  if (r) note_reading_failure(p, sloop_strerror(r));
}

static void start_or_check_reading(place *p, uint64_t now_us) {
  if (p->consumer.stopping || p->consumer.failed || now_us < p->next_us) return;
  if (!p->asking) {
    start_table_reading(p, now_us);
  } else if (!p->overdue && now_us - p->asked_us >= read_ms(p->e->app.args) * UINT64_C(1000) + OVERDUE_US) {
    char line[SLP_READINGS_WHY];
    p->overdue = 1;
    snprintf(line, sizeof line, "no answer in %llu s%s%.300s",
             (unsigned long long)((now_us - p->asked_us) / 1000000u),
             *p->consumer.error ? "; the last error: " : "", p->consumer.error);
    note_reading_failure(p, line);
  }
}

/* ---- the page ----------------------------------------------------------------------------------------- */

static int sample_all_places(void *arg, slp_sample *into, int with_shards) {
  const exporter *e = arg;
  int bad = 0;
  for (size_t i = 0; i < e->places_n && !bad; i++)
    bad = slp_lease_readings_sample(&e->places[i].readings, into, slp_program_mono_us(), with_shards);
  return bad;
}

/* ---- the frame ---------------------------------------------------------------------------------------- */

static void leave_if_done(exporter *e) {
  if (!e->closing || e->page) return;
  for (size_t i = 0; i < e->places_n; i++)
    if (!e->places[i].consumer.closed) return;
  slp_app_close(&e->app);
}

static void on_page_closed(void *arg) {
  exporter *e = arg;
  e->page = NULL;
  leave_if_done(e);
}

static void close_all(exporter *e) {
  if (e->closing) return;
  e->closing = 1;
  for (size_t i = 0; i < e->places_n; i++) slp_cli_consumer_close(&e->places[i].consumer);
  if (e->page) slp_lease_page_close(e->page);
  leave_if_done(e);
}

static void on_consumer_closed(slp_cli_consumer *c) {
  exporter *e = ((place *)c->user)->e;
  close_all(e); /* if this consumer failed for good, its reason has already been reported */
  leave_if_done(e);
}

static void on_interrupt(slp_app *app) { close_all(app->user); }

static void on_tick(slp_app *app) {
  exporter *e = app->user;
  uint64_t now_us = slp_program_mono_us();
  for (size_t i = 0; i < e->places_n; i++) {
    slp_cli_consumer_leave_if_stuck(&e->places[i].consumer);
    if (!e->closing) start_or_check_reading(&e->places[i], now_us);
  }
}

static int open_place(exporter *e, place *p, const char *app, const char *stream) {
  const slp_args *a = e->app.args;
  uint64_t now_us = slp_program_mono_us(), number = (uint64_t)(p - e->places);
  sloop_opts_t o = a->opts;
  o.app = app;
  o.stream = stream;
  *p = (place){.e = e, .next_us = now_us + number * STAGGER_US};
  p->consumer = (slp_cli_consumer){.user = p, .on_closed = on_consumer_closed, .muted = 1, .lasting = 1};
  slp_lease_readings_init(&p->readings, e->app.mem, app, stream, a->leases_ms + read_ms(a), now_us);
  e->places_n++;
  int r = slp_cli_consumer_open_admin(&p->consumer, &e->app, &o);
  p->consumer.closed = r != 0;
  return r;
}

static int open_places(exporter *e) {
  const slp_args *a = e->app.args;
  /* without -G there is one application, opts.app, which the file of --multilang gives */
  size_t apps_n = a->apps_n ? a->apps_n : 1;
  e->places = slp_zalloc_n(e->app.mem, apps_n * a->streams_n, sizeof *e->places);
  if (!e->places) return SLP_ENOMEM;
  for (size_t i = 0; i < apps_n; i++)
    for (size_t k = 0; k < a->streams_n; k++)
      if (open_place(e, &e->places[e->places_n], a->apps_n ? a->apps[i] : a->opts.app, a->streams[k]))
        return SLP_EINVAL;
  return 0;
}

static int open_page(exporter *e) {
  const slp_args *a = e->app.args;
  char why[160] = "";
  const slp_lease_page_opts o = {.mem = e->app.mem,
                                 .loop = e->app.loop,
                                 .listen = a->metrics.listen,
                                 .sample = sample_all_places,
                                 .on_closed = on_page_closed,
                                 .arg = e};
  int r = slp_lease_page_open(&e->page, &o, why);
  if (r) {
    slp_say("metrics: %s", *why ? why : sloop_strerror(r));
    e->app.exit_code = r == SLOOP_EOPTION ? SLP_EXIT_USAGE : SLP_EXIT_FAILED;
  } else if (!a->quiet) {
    slp_say("metrics at %s/metrics", slp_lease_page_url(e->page));
  }
  return r;
}

int slp_lease_exporter_run(slp_mem *mem, const slp_args *args) {
  exporter e = {.app = {.mem = mem}};
  e.app.user = &e;
  e.app.on_interrupt = on_interrupt;
  e.app.on_tick = on_tick;
  if (slp_app_open(&e.app, mem, args) == 0) {
    int r = open_places(&e);
    if (r == SLP_ENOMEM) {
      slp_say("no memory");
      e.app.exit_code = SLP_EXIT_FAILED;
    }
    e.app.serves = !r && open_page(&e) == 0;
    if (!e.app.serves) close_all(&e);
  }
  int code = slp_app_run(&e.app);
  for (size_t i = 0; i < e.places_n; i++) slp_lease_readings_free(&e.places[i].readings);
  slp_free(mem, e.places);
  return code;
}

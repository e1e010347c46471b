/* fleet_look.c - one look: reads all rows of the lease table, and then the list of the stream's shards. While
 * the worker is stopping, no look begins. */
#include "cli/fleet_look.h"

#include "base/mem.h"
#include "base/states.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/people_lines.h"
#include "cli/whole_fleet.h"
#include "program/program.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

#define AGAIN_US 2000000u /* longest pause after a look, as long as that of --watch */
/* Pause after the first look, and after the first one since the number of this worker's shards has changed.
 * Each pause is twice as long as the one before. So a job that has little to read need not wait AGAIN_US
 * because it looked before it had taken its leases. */
#define SOON_US 100000u
#define A_LEASE_US 1000u /* added to the pause for each lease, because a look reads all rows */
/* slp_fleet_look_tell prints nothing for the first TELL_AFTER_US of waiting, and then at most one line every
 * TELL_EVERY_US. */
#define TELL_AFTER_US 10000000u
#define TELL_EVERY_US 60000000u

static const slp_set allowed[] = {
    [SLP_LOOK_IDLE] = SLP_BIT(SLP_LOOK_ROWS),
    [SLP_LOOK_ROWS] = SLP_BIT(SLP_LOOK_LISTING) | SLP_BIT(SLP_LOOK_IDLE),
    [SLP_LOOK_LISTING] = SLP_BIT(SLP_LOOK_IDLE),
};

static void move(slp_fleet_look *k, slp_fleet_look_state to) { SLP_MOVE(allowed, k->state, to); }

void slp_fleet_look_init(slp_fleet_look *k, slp_mem *mem, slp_cli_consumer *c,
                         void (*on_looked)(slp_cli_consumer *c)) {
  *k = (slp_fleet_look){.c = c, .on_looked = on_looked, .pause_us = SOON_US};
  slp_whole_init(&k->whole, mem);
}

void slp_fleet_look_free(slp_fleet_look *k) { slp_whole_free(&k->whole); }

static void end_look(slp_fleet_look *k) {
  uint64_t now_us = slp_program_mono_us();
  move(k, SLP_LOOK_IDLE);
  k->tries = 0;
  k->again_us = now_us + k->pause_us + (uint64_t)k->whole.names.n * A_LEASE_US;
  k->pause_us = k->pause_us < AGAIN_US / 2 ? k->pause_us * 2 : AGAIN_US;
  k->found = k->whole.state;
  snprintf(k->why, sizeof k->why, "%s", k->whole.why);
  if (k->found >= SLP_WHOLE_SHARED && !k->shared_us) k->shared_us = now_us;
  k->on_looked(k->c);
}

/* Called when the rows or the list of shards could not be read. If the error may pass, the worker goes on and
 * a new look starts later. Any other error ends the command. */
static void not_answered(slp_fleet_look *k, int status, const sloop_error_t *error) {
  move(k, SLP_LOOK_IDLE);
  k->again_us = slp_program_mono_us() + (AGAIN_US << (k->tries < 4 ? k->tries : 4));
  if (error && slp_cli_consumer_asks_again(k->c, error, ++k->tries)) return;
  char line[480];
  slp_cli_consumer_error_line(k->c, status, error, line, sizeof line);
  slp_cli_consumer_fail(k->c, SLP_EXIT_FAILED, line);
}

static void no_memory(slp_fleet_look *k) {
  if (k->state != SLP_LOOK_IDLE) move(k, SLP_LOOK_IDLE);
  slp_cli_consumer_fail(k->c, SLP_EXIT_FAILED, "no memory");
}

static void on_shards(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *error, void *arg) {
  slp_fleet_look *k = arg;
  (void)s;
  if (k->c->stopping || k->state != SLP_LOOK_LISTING) return;
  if (status)
    not_answered(k, status, error);
  else if (slp_whole_listed(&k->whole, shards, n))
    no_memory(k);
  else
    end_look(k);
}

static void on_rows(sloop_admin_t *a, int status, const sloop_leases_t *rows, const sloop_error_t *error,
                    void *arg) {
  slp_fleet_look *k = arg;
  sloop_t *s = k->c->s;
  (void)a;
  if (k->c->stopping || k->state != SLP_LOOK_ROWS) return;
  if (status) {
    not_answered(k, status, error);
  } else if (slp_whole_rows(&k->whole, rows, sloop_worker(s))) {
    no_memory(k);
  } else if (k->whole.state < SLP_WHOLE_SHARED || (k->whole.state == SLP_WHOLE_SHARED && k->shared_us)) {
    /* the rows alone show that the workers are not done, so the stream is not asked for its shards */
    end_look(k);
  } else {
    move(k, SLP_LOOK_LISTING);
    /* sloop_list fails while another listing is under way; then a new look starts later */
    if (sloop_list(s, on_shards, k)) move(k, SLP_LOOK_IDLE);
  }
}

typedef struct own_shards {
  slp_fleet_look *k;
  int no_memory;
  size_t n, at_tip_n;
} own_shards;

/* Returns 1 if this worker reads the shard. For shards of other workers, the rows of the lease table show how
 * far they are read. */
static int is_mine(const sloop_shard_stats_t *shard) { return shard->state < SLOOP_SHARD_IS_PARKED; }

static void note_mine(const sloop_shard_stats_t *shard, void *arg) {
  own_shards *own = arg;
  if (!is_mine(shard)) return;
  own->no_memory |= slp_whole_mine(&own->k->whole, shard) != 0;
}

static void count_mine(const sloop_shard_stats_t *shard, void *arg) {
  own_shards *own = arg;
  if (!is_mine(shard)) return;
  own->n++;
  own->at_tip_n += shard->at_tip && !shard->unacked;
}

int slp_fleet_look_mine_at_tip(slp_fleet_look *k) {
  own_shards own = {.k = k};
  if (!k->c->s || k->c->closed) return 0;
  sloop_shard_stats_each(k->c->s, count_mine, &own);
  return own.n == own.at_tip_n;
}

/* Lets the next look begin sooner, if the number of this worker's shards has changed since the last one.
 * After a look that failed, the pause stays as long as it is. */
static void look_sooner_if_shards_came(slp_fleet_look *k, uint64_t now_us) {
  if (k->tries) return;
  own_shards own = {.k = k};
  sloop_shard_stats_each(k->c->s, count_mine, &own);
  if (own.n == k->mine_n) return;
  k->mine_n = own.n;
  k->pause_us = SOON_US;
  uint64_t soon_us = now_us + SOON_US + (uint64_t)k->whole.names.n * A_LEASE_US;
  if (soon_us < k->again_us) k->again_us = soon_us;
}

void slp_fleet_look_tick(slp_fleet_look *k, int by_time) {
  uint64_t now_us = slp_program_mono_us();
  if (k->state == SLP_LOOK_IDLE && k->c->joined && k->c->s && !k->c->closed)
    look_sooner_if_shards_came(k, now_us);
  if (k->state != SLP_LOOK_IDLE || now_us < k->again_us || !k->c->joined || k->c->stopping || k->c->failed)
    return;
  own_shards own = {.k = k};
  slp_whole_begin(&k->whole, by_time);
  sloop_shard_stats_each(k->c->s, note_mine, &own);
  if (own.no_memory) {
    no_memory(k);
    return;
  }
  k->begun_us = now_us;
  /* if sloop_admin_leases fails because another call is under way, the next look starts at again_us */
  k->again_us = now_us + AGAIN_US;
  if (sloop_admin_leases(k->c->admin, on_rows, k) == 0) move(k, SLP_LOOK_ROWS);
}

void slp_fleet_look_tell(slp_fleet_look *k, const char *what, uint64_t since_us) {
  uint64_t now_us = slp_program_mono_us();
  if (k->c->app->args->quiet || k->found == SLP_WHOLE_UNKNOWN || now_us - since_us < TELL_AFTER_US) return;
  if (k->told_us && now_us - k->told_us < TELL_EVERY_US) return;
  k->told_us = now_us;
  slp_say_if_room("%s%s%s waits: %s", k->c->name ? k->c->name : "", k->c->name ? ": " : "", what, k->why);
}

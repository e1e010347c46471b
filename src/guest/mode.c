/* mode.c - finds out which rules the workers of a KCL application follow. The rules follow from rows of
 * Amazon's KCL 3 (project amazon-kinesis-client: DynamicMigrationComponentsInitializer,
 * LeaseAssignmentManager, WorkerMetricStatsReporter; project amazon-dynamodb-lock-client). One row has the
 * application's version. One row is the lock that the leader holds. Each worker has a row with its load,
 * which also shows the leader that the worker lives. One read of all these rows is called a pass. */
#include "guest/mode.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/states.h"
#include "guest/common_name.h"
#include "guest/elected.h"
#include "guest/guest.h"
#include "guest/guest_operations.h"
#include "guest/kcl3_rows.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/fleet_opts.h"
#include "lease/instance.h"
#include "lease/lease_types.h"
#include "lease/outcome.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "lease/worker.h"
#include "lease/worker_life.h"
#include "lease/write.h"

#include <stdio.h>

#define RETRY_US 300000 /* after a failed read, the rows are read again after this time */
#define PUBLISH_US (SLP_KCL_LOAD_EVERY_S * UINT64_C(1000000)) /* how often this worker writes its load */
/* if a worker has not written its load for this time, it counts as dead */
#define ALIVE_US (SLP_KCL_LOAD_DEAD_S * UINT64_C(1000000))
/* When a leader is gone, another worker takes the lock within this time, because workers look at it every 30
 * s. */
#define NEXT_LEADER_US ALIVE_US
/* time between two checks whether this fleet must write the load for all fleets of this process */
#define WATCH_US UINT64_C(5000000)

static const slp_str nothing = {NULL, 0};

typedef struct slp_mode_load { /* the load of another worker, as the worker's row shows it */
  char *worker;                /* owned */
  int64_t wall_s;              /* when the other worker last wrote its load, by that worker's clock */
  uint64_t moved_us;           /* when this worker last saw wall_s change; 0: never */
  /* in_pass: 1 if the present pass has found this row. beside: 1 if the row is in one of the further
   * tables of KCL 3.0 to 3.4. cpu: 1 if the row says how busy the processor is. */
  uint8_t in_pass, beside, cpu;
  uint8_t lived; /* 1: by the end of the last pass the other worker was alive */
} slp_mode_load;

/* ---- states ------------------------------------------------------------------------------------------ */

#define ANY                                                                                               \
  (SLP_BIT(SLP_MODE_TAKE) | SLP_BIT(SLP_MODE_UPGRADE) | SLP_BIT(SLP_MODE_LED) | SLP_BIT(SLP_MODE_UNLED) | \
   SLP_BIT(SLP_MODE_STRANGE))
static const slp_set allowed[] = {
    [SLP_MODE_UNKNOWN] = ANY & ~SLP_BIT(SLP_MODE_STRANGE),
    [SLP_MODE_TAKE] = ANY & ~SLP_BIT(SLP_MODE_TAKE),
    [SLP_MODE_UPGRADE] = ANY & ~SLP_BIT(SLP_MODE_UPGRADE),
    [SLP_MODE_LED] = ANY & ~SLP_BIT(SLP_MODE_LED),
    [SLP_MODE_UNLED] = ANY & ~SLP_BIT(SLP_MODE_UNLED),
    [SLP_MODE_STRANGE] = ANY & ~SLP_BIT(SLP_MODE_STRANGE),
};

static void move(slp_fleet *f, slp_mode_kind to) {
  slp_mode *m = &slp_guest_of(f)->mode;
  if (m->kind == to) return;
  SLP_MOVE(allowed, m->kind, to);
  if (slp_mode_publishes(f) && !m->published) m->publish_us = 0; /* the load must be written at once */
}

int slp_mode_is(const slp_fleet *f, slp_mode_kind kind) { return slp_guest_of(f)->mode.kind == kind; }

int slp_mode_publishes(const slp_fleet *f) {
  slp_set publish = SLP_BIT(SLP_MODE_UPGRADE) | SLP_BIT(SLP_MODE_LED) | SLP_BIT(SLP_MODE_UNLED);
  return slp_set_has(publish, slp_guest_of(f)->mode.kind);
}

int slp_mode_is_reading(const slp_fleet *f) { return slp_guest_of(f)->mode.then != NULL; }

int slp_mode_strangers(const slp_fleet *f) { return slp_guest_of(f)->mode.pass.strangers; }

/* ---- what the rows tell ------------------------------------------------------------------------------- */

static void copy_mode_text(char *to, size_t size, slp_str s) {
  snprintf(to, size, "%.*s", (int)s.n, s.n ? s.p : "");
}

static slp_mode_load *load_of(slp_fleet *f, slp_str worker) {
  slp_mode_load *l = slp_map_get(&slp_guest_of(f)->mode.loads, worker);
  if (l) return l;
  l = SLP_NEW(f->mem, slp_mode_load);
  char *name = l ? slp_strdup(f->mem, worker) : NULL;
  if (name && slp_map_put(&slp_guest_of(f)->mode.loads, (slp_str){name, worker.n}, l) == 0) {
    l->worker = name;
    return l;
  }
  slp_free(f->mem, name);
  slp_free(f->mem, l);
  return NULL;
}

static void drop_load(slp_fleet *f, slp_mode_load *l) {
  slp_map_remove(&slp_guest_of(f)->mode.loads, slp_str_of(l->worker));
  slp_free(f->mem, l->worker);
  slp_free(f->mem, l);
}

static void saw_load(slp_fleet *f, int beside, const slp_kcl_load_row *row) {
  if (slp_str_eq(row->worker, slp_instance_str(&f->me))) return;
  slp_mode_load *l = load_of(f, row->worker);
  if (!l) return; /* no memory: the next pass tries again */
  if (l->wall_s && l->wall_s != row->wall_s) l->moved_us = slp_fleet_now(f);
  l->wall_s = row->wall_s;
  l->in_pass = 1;
  l->beside = (uint8_t)beside;
  l->cpu = row->cpu;
}

/* Remembers what one row of KCL 3 that is no lease shows. */
static void saw_row(slp_fleet *f, int beside, const slp_kcl_row *row) {
  slp_mode_pass *pass = &slp_guest_of(f)->mode.pass;
  slp_mode_place *place = &pass->place[beside];
  switch (row->kind) {
    case SLP_KCL_ROW_VERSION:
      place->has_version = 1;
      place->version = row->u.version.is;
      copy_mode_text(place->word, sizeof place->word, row->u.version.word);
      break;
    case SLP_KCL_ROW_PLACES:
      pass->has_places = 1;
      pass->places = row->u.places.is;
      break;
    case SLP_KCL_ROW_LOCK:
      place->has_lock = 1;
      place->lock_free = row->u.lock.released;
      place->lock_lease_us = slp_min_u64(row->u.lock.lease_ms, UINT32_MAX) * 1000;
      copy_mode_text(place->lock, sizeof place->lock, row->u.lock.version);
      break;
    case SLP_KCL_ROW_LOAD: saw_load(f, beside, &row->u.load); break;
    case SLP_KCL_ROW_BAD:
    case SLP_KCL_ROW_OTHER: break;
  }
}

/* Remembers what the rows show. beside 1: they are in one of the further tables of KCL 3.0 to 3.4; 0: they
 * are in the table of leases. */
static void remember_mode_row(slp_fleet *f, int beside, const slp_store_rows *rows) {
  slp_mode_pass *pass = &slp_guest_of(f)->mode.pass;
  for (size_t i = 0; i < rows->n; i++) {
    slp_parsed_row parsed;
    slp_kcl_row row;
    slp_schema_read_row(f->schema, &rows->rows[i], &parsed);
    if (parsed.kind == SLP_ROW_BESIDE) {
      slp_kcl_row_read(&rows->rows[i], &row);
      saw_row(f, beside, &row);
    } else if (parsed.kind == SLP_ROW_BAD && slp_str_is(parsed.key.hash, "Leader")) {
      pass->damaged = parsed.why;
      copy_mode_text(pass->damaged_row, sizeof pass->damaged_row, parsed.key.hash);
    }
  }
}

/* Returns 1 if the worker has written its load within ALIVE_US: by this worker's clock if it has seen the
 * load change, otherwise by the wall clocks of both. If this process was stopped for a while, a worker that
 * was alive before counts as alive for ALIVE_US more, because it may have been stopped too. */
static int load_is_alive(slp_fleet *f, const slp_mode_load *l) {
  uint64_t now = slp_fleet_now(f), back_us = slp_fleet_back_us(f);
  if (l->lived && back_us && now - back_us <= ALIVE_US) return 1;
  int64_t age_s = slp_wall_ms(f->h) / 1000 - l->wall_s;
  if (l->moved_us && now - l->moved_us <= ALIVE_US) return 1;
  return age_s <= (int64_t)(ALIVE_US / 1000000) && age_s >= -(int64_t)(ALIVE_US / 1000000);
}

/* Ends a pass over the rows: counts the other workers that are alive, and forgets the workers whose rows are
 * gone. */
static void count_loads(slp_fleet *f) {
  slp_mode_pass *pass = &slp_guest_of(f)->mode.pass;
  size_t at = 0;
  for (slp_mode_load *l; (l = slp_map_each(&slp_guest_of(f)->mode.loads, &at));) {
    slp_str id, incarnation;
    if (!l->in_pass) {
      drop_load(f, l);
      continue;
    }
    l->in_pass = 0;
    l->lived = (uint8_t)load_is_alive(f, l);
    if (!l->lived) continue;
    pass->place[l->beside].others++;
    pass->cpu |= l->cpu;
    pass->strangers |= !slp_instance_split(slp_str_of(l->worker), &id, &incarnation);
  }
}

/* Returns which rows are valid: 0: those in the table of leases; 1: those in the further tables. The further
 * tables may still exist after their rows were moved into the table of leases. */
static int place_that_counts(const slp_mode_pass *pass) {
  int in_one = pass->has_places && pass->places == SLP_KCL_PLACES_ONE && pass->place[0].has_version;
  return pass->place[1].has_version && !in_one;
}

/* Returns the number of the table into which this worker writes its load. While rows are being moved
 * between tables, that is the table into which the other workers write their loads. */
static uint8_t table_of_loads(const slp_mode_pass *pass) {
  int beside = place_that_counts(pass);
  if (beside && pass->has_places && pass->places == SLP_KCL_PLACES_MOVING && pass->place[0].others)
    beside = 0;
  return beside ? 2 : 0;
}

/* Returns 1 if a leader holds the lock and has shown a sign of life within the lock's duration, by this
 * worker's clock. Also returns 1 if the lock has been free for less than NEXT_LEADER_US and a worker of the
 * KCL is alive, because that worker may soon lead. */
static int leader_lives(slp_fleet *f) {
  slp_mode *m = &slp_guest_of(f)->mode;
  const slp_mode_place *place = &m->pass.place[place_that_counts(&m->pass)];
  uint64_t now = slp_fleet_now(f);
  int held = place->has_lock && !place->lock_free;
  if (held && strcmp(m->lock, place->lock) != 0) {
    copy_mode_text(m->lock, sizeof m->lock, slp_str_of(place->lock));
    m->lock_us = now;
  }
  /* what stopped this worker, or kept it from the table, may have stopped the leader too */
  if (m->lock_us <= slp_fleet_trouble_us(f)) m->lock_us = now;
  if (held) {
    m->leaderless_us = 0;
    return now - m->lock_us <= place->lock_lease_us;
  }
  m->lock[0] = 0;
  if (!m->leaderless_us || m->leaderless_us < slp_fleet_back_us(f)) m->leaderless_us = now;
  return m->pass.strangers && now - m->leaderless_us < NEXT_LEADER_US;
}

static slp_mode_kind decide_mode(slp_fleet *f) {
  const slp_mode_pass *pass = &slp_guest_of(f)->mode.pass;
  const slp_mode_place *place = &pass->place[place_that_counts(pass)];
  int odd = pass->damaged || (pass->has_places && pass->places == SLP_KCL_PLACES_UNKNOWN);
  count_loads(f);
  switch (place->has_version ? place->version : SLP_KCL_VERSION_TAKE) {
    case SLP_KCL_VERSION_TAKE: return SLP_MODE_TAKE;
    case SLP_KCL_VERSION_UPGRADE: return odd ? SLP_MODE_STRANGE : SLP_MODE_UPGRADE;
    case SLP_KCL_VERSION_LED: return odd ? SLP_MODE_STRANGE : leader_lives(f) ? SLP_MODE_LED : SLP_MODE_UNLED;
    case SLP_KCL_VERSION_UNKNOWN: return SLP_MODE_STRANGE;
  }
  return SLP_MODE_STRANGE;
}

/* Writes into `text` which row can't be understood, and why. */
static void explain_strange_mode(slp_fleet *f, char *text, size_t size) {
  slp_table_spec spec;
  const slp_mode_pass *pass = &slp_guest_of(f)->mode.pass;
  int beside = place_that_counts(pass);
  const char *table = beside && f->schema->side_table(f->schema, 1, &spec) ? spec.name : "the lease table";
  const slp_mode_place *place = &pass->place[beside];
  int n = snprintf(
      text, size, "the application belongs to Amazon's KCL 3 (row Migration3.0 in %s: cv is \"%s\"): ", table,
      place->word);
  if (n < 0 || (size_t)n >= size) return;
  text += n;
  size -= (size_t)n;
  if (place->version == SLP_KCL_VERSION_UNKNOWN)
    snprintf(text, size, "this version is not known");
  else if (pass->damaged)
    snprintf(text, size, "row %s: %s", pass->damaged_row, pass->damaged);
  else
    snprintf(text, size, "row TableMigration3.5: its state is not known");
}

/* ---- the load of this worker ------------------------------------------------------------------------- */

/* Measures how busy the thread of the event loop was since the last measurement. There is only one such
 * thread, so at 100 percent this worker can read no more shards. */
static void note_cpu(slp_fleet *f) {
  slp_mode *m = &slp_guest_of(f)->mode;
  uint64_t now = slp_fleet_now(f), cpu_us = f->h->ops->cpu_us(f->h);
  if (m->cpu_at_us && now > m->cpu_at_us) {
    if (m->cpu_n == SLP_MODE_CPU)
      memmove(m->cpu_millis, m->cpu_millis + 1, (--m->cpu_n) * sizeof *m->cpu_millis);
    uint64_t used = cpu_us > m->cpu_us ? cpu_us - m->cpu_us : 0;
    m->cpu_millis[m->cpu_n++] = (uint32_t)slp_min_u64(used * 100000 / (now - m->cpu_at_us), 100000);
  }
  m->cpu_at_us = now;
  m->cpu_us = cpu_us;
}

/* Handles the answer to PUBLISH or WITHDRAW. */
static void on_load_row_written(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  void (*after)(slp_fleet * f) = slp_guest_of(f)->mode.after;
  if (op->end == SLP_OUTCOME_DONE) slp_guest_of(f)->mode.published = 1;
  slp_guest_of(f)->mode.after = NULL;
  if (after) after(f);
}

static void publish_load(slp_fleet *f) {
  slp_mode *m = &slp_guest_of(f)->mode;
  slp_operation *i = &m->publish.i;
  note_cpu(f);
  slp_fleet_operation(f, i, SLP_GUEST_PUBLISH);
  if (m->pass.cpu && !m->cpu_n) m->cpu_millis[m->cpu_n++] = 0;
  m->published_with = (slp_operation_extra){
      .table = table_of_loads(&m->pass), .cpu_millis = m->cpu_millis, .cpu_n = m->pass.cpu ? m->cpu_n : 0};
  i->extra = &m->published_with;
  m->publish.tries_max = m->after ? 0 : 6;
  m->publish_us = slp_fleet_now(f) + PUBLISH_US;
  slp_write_send(&m->publish, on_load_row_written);
}

static void tell_when_due(slp_fleet *f) {
  slp_mode *m = &slp_guest_of(f)->mode;
  uint64_t now = slp_fleet_now(f);
  if (!slp_worker_is(f, SLP_WORKER_RUNS) || !slp_mode_publishes(f)) return;
  if (now >= m->publish_us && slp_common_name_is_first(f) && !m->publish.busy) publish_load(f);
  slp_fleet_timer(f, &m->timer,
                  m->publish_us > now ? slp_min_u64(m->publish_us, now + WATCH_US) : now + WATCH_US);
}

void slp_mode_leave(slp_fleet *f, void (*then)(slp_fleet *f)) {
  slp_mode *m = &slp_guest_of(f)->mode;
  slp_timer_clear(f->h, &m->timer);
  if (m->after) return; /* a write is under way already; its answer calls m->after */
  if (!slp_common_name_is_last(f) || (!m->published && !m->publish.busy)) {
    then(f);
    return;
  }
  slp_write_stop(&m->publish);
  m->after = then;
  slp_fleet_operation(f, &m->publish.i, SLP_GUEST_WITHDRAW);
  m->published_with = (slp_operation_extra){.table = table_of_loads(&m->pass)};
  m->publish.i.extra = &m->published_with;
  m->publish.tries_max = 3;
  slp_write_send(&m->publish, on_load_row_written);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static void pass_begins(slp_fleet *f) {
  slp_table_spec spec;
  slp_guest_of(f)->mode.pass = (slp_mode_pass){.damaged = NULL};
  slp_guest_of(f)->mode.table = 0;
  while (f->schema->side_table &&
         f->schema->side_table(f->schema, (uint8_t)(slp_guest_of(f)->mode.table + 1), &spec))
    slp_guest_of(f)->mode.table++;
}

static void read_beside(slp_fleet *f);

static void beside_read(slp_read *r) {
  slp_fleet *f = r->f;
  if (!r->came) {
    slp_fleet_timer(f, &slp_guest_of(f)->mode.timer, slp_fleet_now(f) + slp_fleet_jitter(f, RETRY_US, 50));
    return;
  }
  remember_mode_row(f, 1, r->rows);
  slp_guest_of(f)->mode.table--;
  read_beside(f);
}

static void read_beside(slp_fleet *f) {
  slp_mode *m = &slp_guest_of(f)->mode;
  if (m->table) {
    slp_read_side(&m->read, m->table, beside_read);
    return;
  }
  void (*then)(slp_fleet * f) = m->then;
  m->then = NULL;
  then(f);
}

void slp_mode_read_beside(slp_fleet *f, void (*then)(slp_fleet *f)) {
  slp_mode *m = &slp_guest_of(f)->mode;
  if (!slp_guest_rules_of(f)->versions) {
    then(f);
    return;
  }
  pass_begins(f);
  m->then = then;
  read_beside(f);
}

void slp_mode_saw(slp_fleet *f, const slp_store_rows *rows) {
  char text[240];
  slp_mode_kind was = slp_guest_of(f)->mode.kind;
  if (!slp_guest_rules_of(f)->versions) return;
  remember_mode_row(f, 0, rows);
  move(f, decide_mode(f));
  if (was != slp_guest_of(f)->mode.kind && slp_mode_is(f, SLP_MODE_STRANGE)) {
    explain_strange_mode(f, text, sizeof text);
    slp_fleet_tell(f, SLP_FLEET_TROUBLE, nothing, 0, "%s; no lease is taken", text);
  }
  int waits = slp_mode_is(f, SLP_MODE_UPGRADE) && slp_elected_saw(f, rows, slp_guest_of(f)->mode.elected);
  slp_guest_of(f)->mode.elected = (uint8_t)waits;
  tell_when_due(f);
}

/* ---- joining ----------------------------------------------------------------------------------------- */

static void begin_running(slp_fleet *f) {
  slp_worker_begins(f);
  tell_when_due(f);
}

static void decide_to_join(slp_fleet *f) {
  char text[240];
  slp_mode_kind to = decide_mode(f);
  if (to == SLP_MODE_STRANGE) {
    explain_strange_mode(f, text, sizeof text);
    slp_life_move(f, SLP_WORKER_OUT);
    slp_common_name_leave(f);
    slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "%s", text);
    return;
  }
  move(f, to);
  if (slp_mode_publishes(f) && slp_common_name_is_first(f)) {
    slp_guest_of(f)->mode.after = begin_running;
    publish_load(f);
  } else {
    begin_running(f);
  }
}

static void leases_read(slp_read *r) {
  slp_fleet *f = r->f;
  if (!r->came) {
    slp_fleet_timer(f, &slp_guest_of(f)->mode.timer, slp_fleet_now(f) + slp_fleet_jitter(f, RETRY_US, 50));
    return;
  }
  remember_mode_row(f, 0, r->rows);
  decide_to_join(f);
}

static void read_leases(slp_fleet *f) { slp_read_all(&slp_guest_of(f)->mode.read, 1, leases_read); }

void slp_mode_begin(slp_fleet *f) {
  if (!slp_guest_rules_of(f)->versions) {
    move(f, SLP_MODE_TAKE);
    slp_worker_begins(f);
    return;
  }
  pass_begins(f);
  slp_guest_of(f)->mode.then = read_leases;
  read_beside(f);
}

/* Runs when mode.timer fires. After a failed read, reads again. Otherwise writes this worker's load if that
 * is due. Sets the timer again, to WATCH_US at the latest. */
static void on_mode_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_guest, mode.timer)->f;
  if (slp_worker_is(f, SLP_WORKER_JOINING)) {
    slp_guest_of(f)->mode.then = NULL;
    slp_mode_begin(f);
  } else {
    if (slp_guest_of(f)->mode.then && !slp_guest_of(f)->mode.read.busy) read_beside(f);
    tell_when_due(f);
  }
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */

void slp_mode_init(slp_fleet *f) {
  slp_read_init(&slp_guest_of(f)->mode.read, f, "the application's version", 0);
  slp_write_init(&slp_guest_of(f)->mode.publish, &f->writes, f);
  slp_map_init(&slp_guest_of(f)->mode.loads, f->mem);
  slp_fleet_timer_init(&slp_guest_of(f)->mode.timer, on_mode_timer);
}

void slp_mode_stop(slp_fleet *f) {
  slp_read_stop(&slp_guest_of(f)->mode.read);
  slp_write_stop(&slp_guest_of(f)->mode.publish);
  slp_timer_clear(f->h, &slp_guest_of(f)->mode.timer);
  slp_guest_of(f)->mode.then = slp_guest_of(f)->mode.after = NULL;
}

void slp_mode_free(slp_fleet *f) {
  size_t at = 0;
  slp_read_free(&slp_guest_of(f)->mode.read);
  slp_write_free(&slp_guest_of(f)->mode.publish);
  for (slp_mode_load *l; (l = slp_map_each(&slp_guest_of(f)->mode.loads, &at));) {
    slp_free(f->mem, l->worker);
    slp_free(f->mem, l);
  }
  slp_map_free(&slp_guest_of(f)->mode.loads);
}

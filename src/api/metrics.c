/* metrics.c - sloop_metrics_*: which consumers the metrics are about, and the two ways to publish them (a
 * page over HTTP, CloudWatch). */
#include "api/metrics.h"

#include "api/metrics_data.h"
#include "api/metrics_push.h"
#include "api/metrics_ready.h"
#include "api/metrics_sample.h"
#include "api/metrics_server.h"
#include "api/metrics_text.h"
#include "api/open.h"
#include "aws/aws.h"
#include "aws/cloudwatch.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "core/consumer_inside.h"
#include "core/life.h"
#include "core/progress.h"
#include "core/report.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

/* the shortest interval at which values may be sent to CloudWatch, in ms */
#define CLOUDWATCH_MS_MIN 1000u

struct sloop_metrics_s {
  slp_list link; /* in family->metrics */
  slp_mem *mem;  /* a reference is held */
  slp_family *family;
  /* the consumer that the metrics were opened for; when it is closed, the metrics are closed too */
  sloop_t *owner;
  /* The consumers that the metrics are about. An element is NULL after its consumer was closed, and not used
   * again, because its index is the consumer's number in samples. */
  sloop_t **members;
  size_t members_n, members_cap;
  slp_metrics_server server;
  slp_metrics_push push;
  char *ns;
  uint8_t serving, closing;
};

void sloop_metrics_opts_init_sized(sloop_metrics_opts_t *o, size_t size) {
  sloop_metrics_opts_t full = {.cloudwatch_ms = 60000};
  if (size < sizeof full.size) return;
  memset(o, 0, size);
  full.size = (size_t)slp_min_u64(size, sizeof full);
  memcpy(o, &full, full.size);
}

/* ---- sampling ------------------------------------------------------------------------------------------ */
static slp_reading reading_of(const sloop_t *s) {
  switch (s->consumer->life) {
    case SLP_LIFE_OPEN: return SLP_READING_NOT_STARTED;
    case SLP_LIFE_DESCRIBING:
    case SLP_LIFE_LISTING: return SLP_READING_FINDING;
    case SLP_LIFE_RUNNING: return SLP_READING_RUNNING;
    case SLP_LIFE_STOPPING: return SLP_READING_STOPPING;
    case SLP_LIFE_FAILED: return SLP_READING_FAILED;
    case SLP_LIFE_STOPPED:
    case SLP_LIFE_CLOSING: break;
  }
  return SLP_READING_STOPPED;
}

typedef struct shard_rows {
  slp_sample *into;
  uint32_t unready_ms;
  int with_shards, r;
  /* The shard whose position the service refused to this worker; NULL: there is none, or add_shard has
   * counted it. */
  const char *refused;
  slp_ready_shards stuck;
} shard_rows;

static void add_shard(const sloop_shard_stats_t *shard, void *arg) {
  shard_rows *rows = arg;
  slp_ready_count(&rows->stuck, shard, rows->unready_ms);
  if (shard->state == SLOOP_SHARD_IS_REFUSED && rows->refused && strcmp(rows->refused, shard->shard) == 0)
    rows->refused = NULL;
  if (rows->with_shards && !rows->r) rows->r = slp_sample_add_shard(rows->into, shard);
}

static int set_stuck(slp_sample *into, const slp_ready_shards *stuck) {
  slp_buf b;
  slp_buf_init(&b, into->mem, (SLP_READY_WHY + 40) * SLP_READY_STATES);
  int r = slp_ready_put(stuck, &b);
  if (!r && b.n) r = slp_sample_set_stuck(into, slp_buf_z(&b));
  slp_buf_free(&b);
  return r;
}

int slp_metrics_sample(sloop_t *s, size_t member, slp_sample *into, int with_shards) {
  sloop_stats_t stats;
  shard_rows rows = {.into = into, .unready_ms = s->o.unready_ms, .with_shards = with_shards};
  sloop_stats_get(s, &stats, sizeof stats);
  const char *worker = s->o.worker ? s->o.worker : sloop_worker(s);
  int r = slp_sample_add(into, s->o.app, s->o.stream, worker, reading_of(s), &stats);
  if (r) return r;
  into->consumers[into->consumers_n - 1].member = member;
  slp_sample_set_failures(into, slp_aws_stats_of(s->family->aws)->failed_as);
  uint64_t ago_ms = 0;
  if (!slp_progress_refused(s->consumer, &rows.refused, &ago_ms)) rows.refused = NULL;
  sloop_shard_stats_each(s, add_shard, &rows);
  if (rows.refused) slp_ready_count_refused(&rows.stuck, rows.refused, ago_ms, rows.unready_ms);
  return rows.r ? rows.r : set_stuck(into, &rows.stuck);
}

static int sample_members(void *arg, slp_sample *into, int with_shards) {
  const sloop_metrics_t *m = arg;
  int r = 0;
  for (size_t i = 0; i < m->members_n && !r; i++) {
    sloop_t *s = m->members[i];
    if (s && !s->closing) r = slp_metrics_sample(s, i, into, with_shards);
  }
  return r;
}

static int sample_all(void *arg, slp_sample *into) { return sample_members(arg, into, 1); }

static void get_push_figures(void *arg, slp_metrics_own *ret) {
  const sloop_metrics_t *m = arg;
  *ret = (slp_metrics_own){m->ns != NULL, m->push.data_told, m->push.failures};
}

/* ---- reports that CloudWatch fails, or works again ---------------------------------------------------- */
static void on_trouble(void *arg, const slp_fail *f) {
  const sloop_metrics_t *m = arg;
  if (m->owner->closing) return;
  slp_report_log(m->owner->consumer, SLOOP_LOG_WARN, "metrics: CloudWatch: %s%s%s; tried again every %u s",
                 f->aws_code, f->aws_code[0] ? ": " : "", f->message, (unsigned)(m->push.every_ms / 1000));
}

static void on_fine(void *arg) {
  const sloop_metrics_t *m = arg;
  if (m->owner->closing) return;
  slp_report_log(m->owner->consumer, SLOOP_LOG_INFO, "metrics: CloudWatch takes them again");
}

/* ---- what CloudWatch has taken ------------------------------------------------------------------------ */

/* The values of a consumer that CloudWatch has taken. The consumer keeps them, because metrics may be closed
 * and opened again for it: what CloudWatch has taken must not be put there twice. */
struct slp_metrics_taken {
  sloop_stats_t stats;
  char ns[]; /* the namespace that has taken them */
};

static void begin_at_taken(void *arg, size_t member, sloop_stats_t *ret) {
  const sloop_metrics_t *m = arg;
  const sloop_t *s = m->members[member];
  if (s && s->taken && strcmp(s->taken->ns, m->ns) == 0) *ret = s->taken->stats;
}

/* If there is no memory, only metrics that are opened again would need the values. */
static void keep_taken(void *arg, size_t member, const sloop_stats_t *stats) {
  const sloop_metrics_t *m = arg;
  sloop_t *s = m->members[member];
  if (!s) return;
  if (!s->taken || strcmp(s->taken->ns, m->ns) != 0) {
    size_t n = strlen(m->ns) + 1;
    slp_free(s->mem, s->taken);
    s->taken = slp_zalloc(s->mem, sizeof *s->taken + n);
    if (s->taken) memcpy(s->taken->ns, m->ns, n);
  }
  if (s->taken) s->taken->stats = *stats;
}

/* Ends the wait of members that have stopped, and whose callback waits until their last values are with
 * CloudWatch, unless other metrics still send values of them: moves the timer of the wait, which can't fail,
 * to the next turn. */
static void wake_stops(void *arg) {
  const sloop_metrics_t *m = arg;
  slp_host *h = m->family->host;
  for (size_t i = 0; i < m->members_n; i++) {
    sloop_t *s = m->members[i];
    if (s && s->stop_timer.at_us != UINT64_MAX && !slp_metrics_are_telling(s))
      (void)slp_timer_set(h, &s->stop_timer, slp_now_us(h));
  }
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */
static void metrics_free(sloop_metrics_t *m) {
  slp_mem *mem = m->mem;
  slp_list_remove(&m->link);
  slp_free(mem, m->members);
  slp_free(mem, m->ns);
  slp_free(mem, m);
  slp_mem_drop(mem);
}

static void on_server_closed(slp_metrics_server *server) {
  sloop_metrics_t *m = SLP_OWNER(server, sloop_metrics_t, server);
  sloop_t *owner = m->owner;
  metrics_free(m);
  if (owner->closing) slp_post(owner->family->host, &owner->close_ev);
}

void sloop_metrics_close(sloop_metrics_t *m) {
  if (!m || m->closing) return;
  m->closing = 1;
  slp_metrics_push_close(&m->push);
  wake_stops(m);
  if (m->serving)
    slp_metrics_server_close(&m->server);
  else
    metrics_free(m);
}

static void forget_member(sloop_metrics_t *m, const sloop_t *s) {
  for (size_t i = 0; i < m->members_n; i++)
    if (m->members[i] == s) m->members[i] = NULL;
}

int slp_metrics_part(sloop_t *s) {
  int waits = 0;
  slp_list *head = &s->family->metrics;
  for (slp_list *it = head->next, *next; it != head; it = next) {
    sloop_metrics_t *m = SLP_OWNER(it, sloop_metrics_t, link);
    next = it->next;
    forget_member(m, s);
    if (m->owner != s) continue;
    waits |= m->serving;
    sloop_metrics_close(m);
  }
  return waits;
}

void slp_metrics_last_word(sloop_t *s) {
  SLP_LIST_EACH(&s->family->metrics, it) {
    sloop_metrics_t *m = SLP_OWNER(it, sloop_metrics_t, link);
    for (size_t i = 0; i < m->members_n; i++)
      if (m->members[i] == s) slp_metrics_push_soon(&m->push);
  }
}

int slp_metrics_are_telling(sloop_t *s) {
  SLP_LIST_EACH(&s->family->metrics, it) {
    const sloop_metrics_t *m = SLP_OWNER(it, sloop_metrics_t, link);
    for (size_t i = 0; i < m->members_n; i++)
      if (m->members[i] == s && slp_metrics_push_is_telling(&m->push)) return 1;
  }
  return 0;
}

static int add_member(sloop_metrics_t *m, sloop_t *s) {
  for (size_t i = 0; i < m->members_n; i++)
    if (m->members[i] == s) return 0;
  if (m->members_n == m->members_cap) {
    void *more = slp_doubled(m->mem, m->members, &m->members_cap, 4, sizeof(void *));
    if (!more) return SLP_ENOMEM;
    m->members = more;
  }
  m->members[m->members_n++] = s;
  return 0;
}

/* Returns the name of the set. A program that was compiled for version 0.1 has set_of_0_1 instead of
 * cloudwatch_set. */
static const char *name_of_set(const sloop_metrics_opts_t *o) {
  if (o->cloudwatch_set) return o->cloudwatch_set;
  return o->set_of_0_1 ? "motorway" : NULL;
}

static int open_push(sloop_metrics_t *m, const char *ns, const slp_metrics_set *set,
                     const sloop_metrics_opts_t *o) {
  m->ns = slp_strdup(m->mem, slp_str_of(ns));
  if (!m->ns) return SLP_ENOMEM;
  m->push = (slp_metrics_push){.sample = sample_all,
                               .on_trouble = on_trouble,
                               .on_fine = on_fine,
                               .begin = begin_at_taken,
                               .on_taken = keep_taken,
                               .on_rest = wake_stops,
                               .arg = m,
                               .ns = m->ns,
                               .set = set,
                               .every_ms = o->cloudwatch_ms};
  return slp_metrics_push_open(&m->push, m->family->host, m->family->aws);
}

static int open_server(sloop_metrics_t *m, const char *listen, char why[160]) {
  m->server.sample = sample_members;
  m->server.own = get_push_figures;
  m->server.on_closed = on_server_closed;
  m->server.arg = m;
  int r = slp_metrics_server_open(&m->server, m->family->host, listen, why);
  m->serving = r == 0;
  return r;
}

static int check_metrics_opts(const sloop_metrics_opts_t *o, const char *ns, char why[160]) {
  char address[SLP_METRICS_ADDRESS_MAX];
  uint16_t port;
  const char *wrong = ns ? slp_cw_namespace_wrong(slp_str_of(ns)) : NULL;
  if (!o->listen && !ns)
    snprintf(why, 160, "neither listen nor cloudwatch is given");
  else if (wrong)
    snprintf(why, 160, "cloudwatch \"%.80s\": no namespace: %s", ns, wrong);
  else if (ns && o->cloudwatch_ms < CLOUDWATCH_MS_MIN)
    snprintf(why, 160, "cloudwatch_ms must be at least %u", CLOUDWATCH_MS_MIN);
  else
    return o->listen ? slp_metrics_address_read(o->listen, address, &port, why) : 0;
  return SLOOP_EOPTION;
}

static int no_such_set(const char *name, char why[160]) {
  int at = snprintf(why, 160, "cloudwatch_set: %.40s is not one of ", name);
  const slp_metrics_set *set;
  for (size_t i = 0; (set = slp_metrics_set_at(i)) && at < 160; i++)
    at += snprintf(why + at, (size_t)(160 - at), "%s%s", i ? ", " : "", set->name);
  return SLOOP_EOPTION;
}

static int open_all(sloop_metrics_t **out, sloop_t *s, const sloop_metrics_opts_t *o, char why[160]) {
  const slp_metrics_set *set = slp_metrics_set_of(name_of_set(o));
  if (!set) return no_such_set(o->cloudwatch_set, why);
  const char *ns = o->cloudwatch ? o->cloudwatch : set->ns;
  int r = check_metrics_opts(o, ns, why);
  if (r) return r;
  sloop_metrics_t *m = SLP_NEW(s->mem, sloop_metrics_t);
  if (!m) return SLP_ENOMEM;
  m->mem = slp_mem_hold(s->mem);
  m->family = s->family;
  m->owner = s;
  r = add_member(m, s);
  if (!r && ns) r = open_push(m, ns, set, o);
  /* the server is opened last, because closing it again takes a turn of the loop */
  if (!r && o->listen) r = open_server(m, o->listen, why);
  if (r) {
    slp_metrics_push_close(&m->push);
    metrics_free(m);
    return r;
  }
  slp_list_add_last(&s->family->metrics, &m->link);
  *out = m;
  return 0;
}

int sloop_metrics_open(sloop_metrics_t **out, sloop_t *s, const sloop_metrics_opts_t *o, char *why,
                       size_t why_size) {
  char text[160] = "";
  int r = SLOOP_EOPTION;
  *out = NULL;
  if (s && s->closing) {
    r = SLOOP_ESTATE;
  } else if (!s || !o || o->size < sizeof o->size) {
    snprintf(text, sizeof text, "%s is missing",
             s ? "options (use sloop_metrics_opts_init)" : "the consumer");
  } else {
    sloop_metrics_opts_t full;
    sloop_metrics_opts_init(&full);
    memcpy(&full, o, slp_min_u64(o->size, sizeof full));
    r = open_all(out, s, &full, text);
  }
  if (r && !text[0]) snprintf(text, sizeof text, "%s", sloop_strerror(r));
  slp_clean_copy(why, why_size, r ? text : "");
  return r;
}

int sloop_metrics_add(sloop_metrics_t *m, sloop_t *joined) {
  if (m->closing || m->owner->closing || joined->closing) return SLOOP_ESTATE;
  return joined->family == m->family ? add_member(m, joined) : SLOOP_EOPTION;
}

const char *sloop_metrics_url(const sloop_metrics_t *m) { return m->server.url; }

/* uv_host.c - implements host.h on one libuv loop: clocks, randomness, when turns run, and the life of the
 * host. */
#include "host/uv_host.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/quota.h"
#include "host/host.h"

#include <time.h>

/* Rooms of lower rank use -errno, and host/ uses libuv's codes. Both are the same on the systems that we
 * build for. */
_Static_assert(UV_ENOMEM == SLP_ENOMEM && UV_ETIMEDOUT == SLP_ETIMEDOUT && UV_ECANCELED == SLP_ECANCELED,
               "libuv's error codes are not -errno here");
_Static_assert(UV_ENOBUFS == SLP_ENOBUFS && UV_EINVAL == SLP_EINVAL && UV_ENOENT == SLP_ENOENT &&
                   UV_E2BIG == SLP_E2BIG,
               "libuv's error codes are not -errno here");

/* ---- clocks and randomness ----------------------------------------------------------------- */
static uint64_t clock_us(clockid_t id) {
  struct timespec ts;
  if (clock_gettime(id, &ts)) return 0;
  return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

/* Time during which the machine is suspended must count, because leases run out meanwhile. On Linux,
 * CLOCK_MONOTONIC stops meanwhile; on other systems it does not. */
#ifdef CLOCK_BOOTTIME
#define CLOCK_OURS CLOCK_BOOTTIME
#else
#define CLOCK_OURS CLOCK_MONOTONIC
#endif

static uint64_t mono_us(slp_host *h) {
  (void)h;
  return clock_us(CLOCK_OURS);
}

static uint64_t cpu_us(slp_host *h) {
  (void)h;
  return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static void get_name_and_pid(slp_host *h, char name[65], uint32_t *pid) {
  char whole[UV_MAXHOSTNAMESIZE];
  size_t n = sizeof whole;
  (void)h;
  *pid = (uint32_t)uv_os_getpid();
  if (uv_os_gethostname(whole, &n)) return;
  if (n > 64) n = 64;
  memcpy(name, whole, n);
  name[n] = 0;
}

/* The quotas of the whole process, whose loops may run on several threads. Their times can be compared,
 * because CLOCK_OURS is the same for all threads. */
static slp_quotas process_quotas;
static uv_mutex_t quotas_lock;
static uv_once_t quotas_once = UV_ONCE_INIT;
/* 1: quotas_lock was made; 0: that failed. Set by make_quotas_lock, which runs once in the process */
static int quotas_ready;

static void make_quotas_lock(void) { quotas_ready = uv_mutex_init(&quotas_lock) == 0; }

static slp_quotas *lock_process_quotas(slp_host *h) {
  (void)h;
  uv_once(&quotas_once, make_quotas_lock);
  if (!quotas_ready) return NULL;
  uv_mutex_lock(&quotas_lock);
  return &process_quotas;
}

static void quotas_back(slp_host *h) {
  (void)h;
  uv_mutex_unlock(&quotas_lock);
}

static int64_t wall_ms(slp_host *h) {
  struct timespec ts;
  (void)h;
  if (clock_gettime(CLOCK_REALTIME, &ts)) return 0;
  return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Returns a random number from the system, which is asked for many numbers at a time. The write ids of
 * workers must differ, but a generator seeded by a clock could return the same numbers in workers that
 * started together. */
static uint64_t random_u64(slp_host *h) {
  slp_uv_host *u = slp_uv_of(h);
  if (u->random_left == 0) {
    SLP_CHECK(uv_random(NULL, NULL, u->random_pool, sizeof u->random_pool, 0, NULL) == 0);
    u->random_left = SLP_COUNT(u->random_pool);
  }
  return u->random_pool[--u->random_left];
}

/* ---- when turns run ------------------------------------------------------------------------ */
/* Does nothing. The idle handle is needed only because the loop's poll does not sleep while it is active.
 * on_prepare and on_check run the turn. */
static void on_idle(uv_idle_t *idle) { (void)idle; }

static void keep_loop_awake(slp_uv_host *u) {
  u->due = 1;
  if (!uv_is_active((uv_handle_t *)&u->idle)) uv_idle_start(&u->idle, on_idle);
}

/* From libuv 1.45 on timers run at the end of a round. Without the idle handle uv_backend_timeout() would
 * tell the loop of another library to sleep, although the turn is still to be run. The turn stops the
 * handle. */
static void on_timer(uv_timer_t *t) { keep_loop_awake(t->data); }

/* Runs a turn if one is due, unless a turn is under way already. That is so if a program calls uv_run()
 * inside one of our callbacks, although libuv forbids it. The rest then runs after that callback has
 * returned. */
static void turn_if_due(slp_uv_host *u) {
  if (u->closing || u->host.in_turn || (!u->due && slp_list_empty(&u->host.ready))) return;
  u->due = 0;
  slp_host_turn(&u->host);
}

static void on_prepare(uv_prepare_t *p) { turn_if_due(p->data); }
static void on_check(uv_check_t *c) { turn_if_due(c->data); }

static void wake_loop_at(slp_host *h, uint64_t at_us) {
  slp_uv_host *u = slp_uv_of(h);
  if (u->closing) return;
  if (at_us == 0) {
    keep_loop_awake(u);
    return;
  }
  if (uv_is_active((uv_handle_t *)&u->idle)) uv_idle_stop(&u->idle);
  if (at_us == UINT64_MAX) {
    if (uv_is_active((uv_handle_t *)&u->timer)) uv_timer_stop(&u->timer);
    return;
  }
  /* libuv adds the delay to uv_now(), its cached value of CLOCK_MONOTONIC. Because uv_now() is subtracted
   * here, the timer's absolute time is right however old the cached value is. The delay is at least 1: libuv
   * 1.44 runs a timer with delay 0 that sets itself again for ever, inside one pass over its timers. */
  uint64_t mono = clock_us(CLOCK_MONOTONIC), asleep_us = clock_us(CLOCK_OURS) - mono;
  at_us = at_us > asleep_us ? at_us - asleep_us : 0;
  uint64_t at_ms = at_us / 1000 + (at_us % 1000 != 0), loop_ms = uv_now(u->loop);
  uv_timer_start(&u->timer, on_timer, at_ms > loop_ms ? at_ms - loop_ms : 1, 0);
}

static void keep_loop_alive(slp_host *h, int on) {
  slp_uv_host *u = slp_uv_of(h);
  if (u->closing) return;
  if (on)
    uv_ref((uv_handle_t *)&u->check);
  else
    uv_unref((uv_handle_t *)&u->check);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle) { slp_uv_drop(handle->data); }

static void close_handle(slp_uv_host *u, uv_handle_t *handle) {
  handle->data = u;
  /* A closing handle keeps the loop alive by itself until its callback has run. */
  uv_close(handle, on_handle_closed);
}

static void close_host(slp_host *h) {
  slp_uv_host *u = slp_uv_of(h);
  u->closing = 1;
  /* Curl is closed first, because its cleanup still calls our socket and timer callbacks. */
  slp_curl_close(u);
  slp_uv_listen_close_all(u);
  slp_uv_file_close_all(u);
  slp_uv_spawn_close_all(u);
  close_handle(u, (uv_handle_t *)&u->idle);
  close_handle(u, (uv_handle_t *)&u->prepare);
  close_handle(u, (uv_handle_t *)&u->check);
  close_handle(u, (uv_handle_t *)&u->timer);
}

static const slp_host_ops uv_ops = {
    .mono_us = mono_us,
    .cpu_us = cpu_us,
    .wall_ms = wall_ms,
    .where = get_name_and_pid,
    .quotas = lock_process_quotas,
    .quotas_back = quotas_back,
    .random = random_u64,
    .wake = wake_loop_at,
    .http_send = slp_curl_send,
    .http_cancel = slp_curl_cancel,
    .http_resume = slp_curl_resume,
    .listen = slp_uv_listen,
    .listen_close = slp_uv_listen_close,
    .serve = slp_uv_serve,
    .serve_begin = slp_uv_serve_begin,
    .serve_more = slp_uv_serve_more,
    .serve_end = slp_uv_serve_end,
    .raw_write = slp_uv_raw_write,
    .raw_read = slp_uv_raw_read,
    .raw_has_room = slp_uv_raw_has_room,
    .raw_close = slp_uv_raw_close,
    .file_read = slp_uv_file_read,
    .file_cancel = slp_uv_file_cancel,
    .work_send = slp_uv_work_send,
    .work_cancel = slp_uv_work_cancel,
    .spawn = slp_uv_spawn,
    .spawn_cancel = slp_uv_spawn_cancel,
    .ref = keep_loop_alive,
    .close = close_host,
};

/* Opens the host's four handles. That can't fail and calls nothing before uv_run, but an open handle can only
 * be closed by the loop. So it is done last, after everything that can fail. */
static void open_handles(slp_uv_host *u) {
  uv_timer_init(u->loop, &u->timer);
  uv_prepare_init(u->loop, &u->prepare);
  uv_check_init(u->loop, &u->check);
  uv_idle_init(u->loop, &u->idle);
  u->timer.data = u->prepare.data = u->check.data = u->idle.data = u;
  u->holds = 4;
  uv_prepare_start(&u->prepare, on_prepare);
  uv_check_start(&u->check, on_check);
  uv_unref((uv_handle_t *)&u->timer);
  uv_unref((uv_handle_t *)&u->prepare);
  uv_unref((uv_handle_t *)&u->idle);
}

int slp_uv_host_new(slp_host **ret, struct uv_loop_s *loop, slp_mem *mem, const slp_uv_options *o) {
  static const slp_uv_options none;
  *ret = NULL;
  slp_uv_host *u = SLP_NEW(mem, slp_uv_host);
  if (!u) return SLP_ENOMEM;
  slp_host_init(&u->host, &uv_ops, mem);
  u->loop = loop;
  u->date_ms = INT64_MIN;
  slp_list_init(&u->listeners);
  slp_list_init(&u->files);
  slp_list_init(&u->pipes);
  slp_list_init(&u->children);
  int r = uv_random(NULL, NULL, u->random_pool, sizeof u->random_pool, 0, NULL);
  if (!r) r = slp_uv_threads_check(o ? o->why : NULL);
  if (!r) r = slp_curl_open(u, o ? o : &none);
  if (r) {
    u->closing = 1;
    u->host.closing = 1;
    slp_curl_close(u);
    slp_uv_release(u);
    return r;
  }
  u->random_left = SLP_COUNT(u->random_pool);
  slp_hash_key *key = &mem->hash_key; /* the first host with this slp_mem sets the key */
  if (!key->k[0] && !key->k[1]) *key = (slp_hash_key){{random_u64(&u->host), random_u64(&u->host)}};
  open_handles(u);
  *ret = &u->host;
  return 0;
}

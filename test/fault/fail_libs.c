/* fail_libs.c - a short life of a consumer while the n-th allocation of libuv, libcurl or OpenSSL fails, through
 * the hooks that these libraries have for it. The service is elsewhere. usage: libs uv|curl|openssl N URL
 * STREAM RECORDS [CA] (N 0: none fails). Prints how many were asked for, and how it ended: 0 worked; 1
 * worked, after errors that were told; 2 said why not; 3 broken: something of ours is wrong; 4 not over in
 * time. On a crash: the functions it was in, one a line, where the libc can name them (musl can't), and the
 * signal. */
#include <curl/curl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>
#ifdef __has_include
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAVE_FRAMES 1
#endif
#endif

#define LIMIT_MS 12000

/* ---- memory of the libraries --------------------------------------------------------------------------- */
typedef enum { LIB_UV, LIB_CURL, LIB_OPENSSL, LIBS } lib;
static const char *const names[LIBS] = {"uv", "curl", "openssl"};
static lib meant;
static long fail_at, asked;
static int armed;

/* Nothing is given back to the system: what is freed twice is seen at once, and does no harm elsewhere. */
typedef struct head {
  uint64_t state;
  size_t size;
} head;
#define LIVE UINT64_C(0x6c69766520626c6b)
#define DEAD UINT64_C(0x6465616420626c6b)

#ifdef HAVE_FRAMES
static void load_frames(void) { /* the first call allocates */
  void *warm[4];
  (void)backtrace(warm, 4);
}

static void tell_frames(int from) {
  void *frames[40];
  int n = backtrace(frames, 40);
  backtrace_symbols_fd(frames + from, n - from, 1);
}
#else
static void load_frames(void) {}
static void tell_frames(int from) { (void)from; }
#endif

static head *head_of(void *p) {
  head *h = (head *)p - 1;
  if (h->state == LIVE) return h;
  static const char line[] = "freed twice, or used after:\n";
  if (write(1, line, sizeof line - 1) > 0) tell_frames(0);
  signal(SIGABRT, SIG_DFL);
  abort();
}

/* The names of hosts are looked up on other threads; here the host is an address, and nobody is asked. */
static int fails(lib which) {
  if (!armed || which != meant) return 0;
  return ++asked == fail_at;
}

static void *fresh(lib which, size_t n) {
  head *h = fails(which) ? NULL : calloc(1, sizeof *h + n);
  if (!h) return NULL;
  h->state = LIVE;
  h->size = n;
  return h + 1;
}

static void take_back(void *p) {
  if (p) head_of(p)->state = DEAD;
}

static void *resized(lib which, void *p, size_t n) {
  size_t was = p ? head_of(p)->size : 0;
  void *moved = fresh(which, n);
  if (moved && p) {
    memcpy(moved, p, was < n ? was : n);
    take_back(p);
  }
  return moved;
}

static void *uv_malloc_(size_t n) { return fresh(LIB_UV, n); }
static void *uv_realloc_(void *p, size_t n) { return resized(LIB_UV, p, n); }
static void *uv_calloc_(size_t n, size_t each) { return fresh(LIB_UV, n * each); }
static void *curl_malloc_(size_t n) { return fresh(LIB_CURL, n); }
static void *curl_realloc_(void *p, size_t n) { return resized(LIB_CURL, p, n); }
static void *curl_calloc_(size_t n, size_t each) { return fresh(LIB_CURL, n * each); }
static char *curl_strdup_(const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = fresh(LIB_CURL, n);
  if (copy) memcpy(copy, s, n);
  return copy;
}
static void *ssl_malloc_(size_t n, const char *file, int line) {
  (void)file, (void)line;
  return n ? fresh(LIB_OPENSSL, n) : NULL;
}
static void *ssl_realloc_(void *p, size_t n, const char *file, int line) {
  (void)file, (void)line;
  if (n) return resized(LIB_OPENSSL, p, n);
  take_back(p);
  return NULL;
}
static void ssl_free_(void *p, const char *file, int line) {
  (void)file, (void)line;
  take_back(p);
}

/* ---- the consumer -------------------------------------------------------------------------------------- */
typedef struct life {
  sloop_t *s;
  uv_timer_t limit;
  long live; /* blocks of the library */
  unsigned long long wanted, records;
  int errors, fatal, stopped, closed, late;
  char said[300];
} life;

static void *counted(void *ctx, void *p, size_t was, size_t want) {
  life *l = ctx;
  (void)was;
  if (want == 0) {
    l->live -= p != NULL;
    free(p);
    return NULL;
  }
  void *got = realloc(p, want);
  if (got && !p) l->live++;
  return got;
}

static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s, (void)status;
  ((life *)arg)->closed = 1;
}
static void on_stopped(sloop_t *s, int status, void *arg) {
  life *l = arg;
  (void)status;
  l->stopped = 1;
  uv_close((uv_handle_t *)&l->limit, NULL);
  sloop_close(s, on_closed, l);
}
static void on_limit(uv_timer_t *t) {
  life *l = t->data;
  l->late = l->errors >= 3 ? 5 : 4; /* the pauses between its tries grow: the last may be long ago */
  uv_close((uv_handle_t *)t, NULL);
  sloop_close(l->s, on_closed, l);
}
static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  life *l = arg;
  l->records += sloop_batch_count(b);
  sloop_batch_done(b, sloop_batch_count(b));
  if (l->records == l->wanted) sloop_stop(s, 1000, on_stopped, l);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  life *l = arg;
  l->errors++;
  snprintf(l->said, sizeof l->said, "%s: %s", sloop_err_name(e->code), e->message);
  if (!e->fatal) return;
  l->fatal = 1;
  uv_close((uv_handle_t *)&l->limit, NULL);
  sloop_close(s, on_closed, l);
}
static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  static const sloop_creds_t keys = {
      .size = sizeof(sloop_creds_t), .access_key = "AKIDTEST", .secret_key = "secret", .expires_at_ms = -1};
  (void)s, (void)arg;
  sloop_creds_done(rq, 0, &keys, NULL);
}

static int judge(const life *l, int loop) {
  if (l->late) return l->live || !l->closed ? 3 : l->late;
  if (l->live || !l->closed || loop || (!l->fatal && (!l->stopped || l->records != l->wanted))) return 3;
  return l->fatal ? 2 : l->errors ? 1 : 0;
}

static int live(const char *url, const char *stream, const char *records, const char *ca) {
  life l = {.wanted = strtoull(records, NULL, 10)};
  uv_loop_t loop;
  char why[160] = "";
  armed = 1;
  if (uv_loop_init(&loop)) return 2; /* nothing of ours yet */
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = stream;
  o.region = "us-east-1";
  o.endpoint = url;
  o.ca_bundle = ca;
  o.start.kind = SLOOP_OLDEST;
  o.alloc = counted;
  o.alloc_ctx = o.arg = &l;
  o.on_batch = on_batch;
  o.on_error = on_error;
  o.creds = creds;
  int r = sloop_open(&l.s, &loop, &o, why, sizeof why);
  if (r == 0) {
    uv_timer_init(&loop, &l.limit);
    l.limit.data = &l;
    uv_timer_start(&l.limit, on_limit, LIMIT_MS, 0);
    r = sloop_start(l.s);
    if (r) uv_close((uv_handle_t *)&l.limit, NULL);
    if (r) sloop_close(l.s, on_closed, &l);
  } else {
    l.closed = 1;
  }
  if (r) {
    l.fatal = 1;
    snprintf(l.said, sizeof l.said, "%s: %s", sloop_err_name(r), why);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  int loop_left = uv_loop_close(&loop);
  armed = 0;
  int end = judge(&l, loop_left);
  printf("%ld asked, %llu records, %d errors, %ld blocks left, loop %s: %s\n", asked, l.records, l.errors,
         l.live, loop_left ? "busy" : "closed", l.said);
  return end;
}

static void on_crash(int number) {
  tell_frames(2);
  signal(number, SIG_DFL);
  raise(number);
}

int main(int argc, char **argv) {
  if (argc < 6) return 64;
  while (meant < LIBS && strcmp(argv[1], names[meant]) != 0) meant++;
  fail_at = atol(argv[2]);
  if (meant == LIBS || !CRYPTO_set_mem_functions(ssl_malloc_, ssl_realloc_, ssl_free_) ||
      uv_replace_allocator(uv_malloc_, uv_realloc_, uv_calloc_, take_back) ||
      curl_global_init_mem(CURL_GLOBAL_DEFAULT, curl_malloc_, take_back, curl_realloc_, curl_strdup_,
                           curl_calloc_))
    return 64;
  load_frames();
  signal(SIGSEGV, on_crash);
  signal(SIGABRT, on_crash);
  signal(SIGBUS, on_crash);
  signal(SIGFPE, on_crash);
  signal(SIGPIPE, SIG_IGN);
  alarm(3 * LIMIT_MS / 1000);
  int end = live(argv[3], argv[4], argv[5], argc > 6 ? argv[6] : NULL);
  curl_global_cleanup();
  return end;
}

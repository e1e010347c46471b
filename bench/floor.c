/* floor.c - the floor: bare libcurl reading pages into memory. Curl multi with socket action on libuv, the
 * socket options of host/curl_http.c, one recycled buffer a transfer; no signing, no parsing, no order. */
#include "bench.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define FLOOR_ITERATOR_MAX 1024
#define FLOOR_BODY_MAX (FLOOR_ITERATOR_MAX + 64)

typedef struct floor_run floor_run;
typedef struct floor_transfer {
  floor_run *run;
  CURL *easy;
  char *body; /* the recycled buffer */
  size_t n, cap;
  char ask[FLOOR_BODY_MAX];
  struct floor_transfer *idle_next;
} floor_transfer;
typedef struct floor_poll {
  uv_poll_t handle;
  floor_run *run;
  curl_socket_t fd;
} floor_poll;
struct floor_run {
  const bench_floor_job *job;
  bench_read *result;
  uv_loop_t loop;
  uv_timer_t timer;
  CURLM *multi;
  struct curl_slist *headers;
  floor_transfer *transfers;
  uint64_t pages_left; /* to be asked for */
  uv_timer_t pace;     /* with per_second: begins the next */
  uint64_t begun, from_ms;
  floor_transfer *idle;
  uint32_t out; /* in flight */
};

/* ---- curl on libuv ---- */
static void drain(floor_run *run);

static void on_poll(uv_poll_t *handle, int status, int events) {
  floor_poll *p = handle->data;
  int flags = 0, running = 0;
  if (status < 0) flags = CURL_CSELECT_ERR;
  if (events & UV_READABLE) flags |= CURL_CSELECT_IN;
  if (events & UV_WRITABLE) flags |= CURL_CSELECT_OUT;
  curl_multi_socket_action(p->run->multi, p->fd, flags, &running);
  drain(p->run);
}

static void on_timer(uv_timer_t *timer) {
  floor_run *run = timer->data;
  int running = 0;
  curl_multi_socket_action(run->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  drain(run);
}

static void on_poll_closed(uv_handle_t *h) { free(h->data); }

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg) {
  floor_run *run = arg;
  floor_poll *p = socket_arg;
  (void)easy;
  if (what == CURL_POLL_REMOVE) {
    if (!p) return 0;
    uv_poll_stop(&p->handle);
    uv_close((uv_handle_t *)&p->handle, on_poll_closed);
    curl_multi_assign(run->multi, fd, NULL);
    return 0;
  }
  if (!p) {
    p = calloc(1, sizeof *p);
    if (!p || uv_poll_init_socket(&run->loop, &p->handle, fd)) bench_die("the floor can't poll a socket");
    p->run = run;
    p->fd = fd;
    p->handle.data = p;
    curl_multi_assign(run->multi, fd, p);
  }
  int events = (what != CURL_POLL_OUT ? UV_READABLE : 0) | (what != CURL_POLL_IN ? UV_WRITABLE : 0);
  uv_poll_start(&p->handle, events, on_poll);
  return 0;
}

static int on_timeout(CURLM *multi, long ms, void *arg) {
  floor_run *run = arg;
  (void)multi;
  if (ms < 0)
    uv_timer_stop(&run->timer);
  else
    uv_timer_start(&run->timer, on_timer, ms ? (uint64_t)ms : 1, 0); /* 0 spins in libuv 1.44 */
  return 0;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg) {
  floor_transfer *t = arg;
  size_t more = size * n;
  if (t->n + more > t->cap) {
    curl_off_t length = -1;
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    size_t want = length > 0 ? (size_t)length : 2 * (t->n + more);
    if (want < t->n + more) want = t->n + more;
    char *grown = realloc(t->body, want);
    if (!grown) return 0;
    t->body = grown;
    t->cap = want;
  }
  memcpy(t->body + t->n, p, more);
  t->n += more;
  return more;
}

static void send_next(floor_transfer *t) {
  floor_run *run = t->run;
  if (!run->pages_left) return;
  run->pages_left--;
  run->out++;
  t->n = 0;
  if (curl_multi_add_handle(run->multi, t->easy)) bench_die("curl_multi_add_handle");
}

/* Begins what is due, and waits for what is due next. */
static void on_pace(uv_timer_t *timer) {
  floor_run *run = timer->data;
  uint64_t per_second = run->job->per_second, now = uv_now(&run->loop) - run->from_ms;
  while (run->idle && run->pages_left && run->begun * 1000 <= now * per_second) {
    floor_transfer *t = run->idle;
    run->idle = t->idle_next;
    run->begun++;
    send_next(t);
  }
  uint64_t due = (run->begun * 1000 + per_second - 1) / per_second;
  if (run->pages_left) uv_timer_start(timer, on_pace, due > now ? due - now : 1, 0);
}

static void over(floor_transfer *t) {
  floor_run *run = t->run;
  if (!run->job->per_second) {
    send_next(t);
    return;
  }
  t->idle_next = run->idle;
  run->idle = t;
}

static void drain(floor_run *run) {
  CURLMsg *m;
  int left;
  while ((m = curl_multi_info_read(run->multi, &left))) {
    if (m->msg != CURLMSG_DONE) continue;
    CURL *easy = m->easy_handle;
    CURLcode code = m->data.result;
    floor_transfer *t = NULL;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (code || status != 200) bench_die("the floor got status %ld, %s", status, curl_easy_strerror(code));
    curl_multi_remove_handle(run->multi, easy);
    run->out--;
    run->result->pages++;
    run->result->bytes += t->n;
    over(t);
  }
  if (!run->out && !run->pages_left) uv_stop(&run->loop);
}

/* ---- what to ask ---- */
static struct curl_slist *headers_for(const char *operation, int cbor) {
  char line[96];
  struct curl_slist *list = NULL;
  snprintf(line, sizeof line, "X-Amz-Target: Kinesis_20131202.%s", operation);
  list = curl_slist_append(list, line);
  snprintf(line, sizeof line, "Content-Type: application/x-amz-%s-1.1", cbor ? "cbor" : "json");
  list = curl_slist_append(list, line);
  list = curl_slist_append(list, "Accept:");
  list = curl_slist_append(list, "Expect:");
  if (!list) bench_die("no memory");
  return list;
}

/* The iterator of a shard's oldest record, by one JSON call on the transfer's own handle. */
static void first_iterator(floor_run *run, floor_transfer *t, uint32_t shard, char out[FLOOR_ITERATOR_MAX]) {
  char ask[256];
  struct curl_slist *headers = headers_for("GetShardIterator", 0);
  snprintf(ask, sizeof ask,
           "{\"StreamName\":\"%s\",\"ShardId\":\"shardId-%012u\",\"ShardIteratorType\":\"TRIM_HORIZON\"}",
           run->job->stream, shard);
  curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(ask));
  curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, ask);
  t->n = 0;
  CURLcode code = curl_easy_perform(t->easy);
  curl_slist_free_all(headers);
  if (code || t->n > 4096) bench_die("the floor got no iterator: %s", curl_easy_strerror(code));
  char text[4097];
  memcpy(text, t->body, t->n);
  text[t->n] = 0;
  static const char key[] = "\"ShardIterator\":\"";
  char *from = strstr(text, key);
  char *end = from ? strchr(from + sizeof key - 1, '"') : NULL;
  if (!end || end - from > FLOOR_ITERATOR_MAX) bench_die("the floor got no iterator: %s", text);
  from += sizeof key - 1;
  memcpy(out, from, (size_t)(end - from));
  out[end - from] = 0;
}

static size_t ask_cbor(char *out, const char *iterator, uint32_t limit) {
  size_t n = strlen(iterator), at = 0;
  static const char head[] = "\xa2\x6dShardIterator\x79";
  memcpy(out, head, sizeof head - 1);
  at += sizeof head - 1;
  out[at++] = (char)(n >> 8);
  out[at++] = (char)(n & 255);
  memcpy(out + at, iterator, n);
  at += n;
  memcpy(out + at, "\x65Limit\x19", 7);
  at += 7;
  out[at++] = (char)(limit >> 8);
  out[at++] = (char)(limit & 255);
  return at;
}

static void prepare(floor_run *run, floor_transfer *t, uint32_t index) {
  char iterator[FLOOR_ITERATOR_MAX];
  t->run = run;
  t->easy = curl_easy_init();
  if (!t->easy) bench_die("no memory");
  CURL *e = t->easy;
  curl_easy_setopt(e, CURLOPT_URL, run->job->url);
  curl_easy_setopt(e, CURLOPT_POST, 1L);
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  /* As host/curl_transfer.c does: no TLS record is larger than 16 KiB, and the CA store is parsed once. In plain
   * text the floor has a buffer four times the library's. */
  curl_easy_setopt(e, CURLOPT_BUFFERSIZE, run->job->ca_file ? 32 * 1024L : 256 * 1024L);
  if (run->job->ca_file) {
    curl_easy_setopt(e, CURLOPT_CAINFO, run->job->ca_file);
    curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
  }
  curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
  curl_easy_setopt(e, CURLOPT_PRIVATE, t);
  first_iterator(run, t, index % run->job->shards, iterator);
  size_t n = run->job->cbor
                 ? ask_cbor(t->ask, iterator, run->job->limit)
                 : (size_t)snprintf(t->ask, sizeof t->ask, "{\"ShardIterator\":\"%s\",\"Limit\":%u}",
                                    iterator, run->job->limit);
  curl_easy_setopt(e, CURLOPT_HTTPHEADER, run->headers);
  curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE, (long)n);
  curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->ask);
}

void bench_floor(const void *job_v, void *result_v) {
  floor_run run = {.job = job_v, .result = result_v};
  const bench_floor_job *job = job_v;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (uv_loop_init(&run.loop)) bench_die("uv_loop_init");
  uv_timer_init(&run.loop, &run.timer);
  run.timer.data = &run;
  uv_timer_init(&run.loop, &run.pace);
  run.pace.data = &run;
  run.multi = curl_multi_init();
  run.transfers = calloc(job->transfers, sizeof *run.transfers);
  if (!run.multi || !run.transfers) bench_die("no memory");
  curl_multi_setopt(run.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(run.multi, CURLMOPT_SOCKETDATA, &run);
  curl_multi_setopt(run.multi, CURLMOPT_TIMERFUNCTION, on_timeout);
  curl_multi_setopt(run.multi, CURLMOPT_TIMERDATA, &run);
  curl_multi_setopt(run.multi, CURLMOPT_MAXCONNECTS, 256L);
  run.headers = headers_for("GetRecords", job->cbor);
  for (uint32_t i = 0; i < job->transfers; i++) prepare(&run, &run.transfers[i], i);
  run.pages_left = job->pages;
  double cpu = bench_cpu_s(), wall = bench_wall_s();
  uv_update_time(&run.loop);
  run.from_ms = uv_now(&run.loop);
  for (uint32_t i = 0; i < job->transfers; i++) over(&run.transfers[i]);
  if (job->per_second) on_pace(&run.pace);
  uv_run(&run.loop, UV_RUN_DEFAULT);
  run.result->cpu_s = bench_cpu_s() - cpu;
  run.result->wall_s = bench_wall_s() - wall;
  run.result->rss_peak = bench_rss_peak_bytes();
  for (uint32_t i = 0; i < job->transfers; i++) {
    curl_easy_cleanup(run.transfers[i].easy);
    free(run.transfers[i].body);
  }
  curl_multi_cleanup(run.multi);
  uv_close((uv_handle_t *)&run.timer, NULL);
  uv_close((uv_handle_t *)&run.pace, NULL);
  uv_run(&run.loop, UV_RUN_DEFAULT);
  curl_slist_free_all(run.headers);
  free(run.transfers);
  curl_global_cleanup();
}

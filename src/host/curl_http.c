/* curl_http.c - HTTP calls on libcurl: one multi handle for each lane, a queue in front of each multi handle,
 * and the life of a transfer from slp_http_send to on_done.
 *
 * libcurl is called only from events, timers and the functions of host.h, never from inside its own callbacks
 * (CURLM_RECURSIVE_API_CALL in libcurl-errors(3)). After each call that may finish a transfer,
 * finish_done_transfers() reads the messages of the multi handle. */
#include "base/list.h"
#include "base/mem.h"
#include "host/ca_file.h"
#include "host/curl_transfer.h"
#include "host/host.h"
#include "host/proxy.h"
#include "host/uv_host.h"

#include <fcntl.h>
#include <sloop.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* The limits of a call that sets no connect_ms_max or total_ms_max. */
#define CONNECT_MS 4000
#define TOTAL_MS 30000
#define PUSH_MAX 4096 /* the most calls of the PUSH lane at a time: one subscription for each shard */
/* While curl handles a timeout, it may ask for the next timeout "now". After KICKS_IN_ROW_MAX such requests
 * in a row, the next timeout comes only after a millisecond. Otherwise curl could keep the loop busy without
 * end. */
#define KICKS_IN_ROW_MAX 8
/* The event `kick` starts all transfers that were added since the last kick, by one call into curl. The call
 * takes 10 to 15 us for each transfer. When this many were added, `kick` moves to the front of the event
 * queue. Otherwise a hundred transfers could be started in one long event. */
#define STARTS_A_KICK_MAX 16

/* ---- curl's timer, and calls into curl ------------------------------------------------------- */
static void transfer_done(slp_transfer *t, CURLcode rc);
static void lane_pump(slp_curl_lane *lane);
static void lane_act(slp_curl_lane *lane, curl_socket_t fd, int events);

static int on_curl_timer(CURLM *multi, long timeout_ms, void *arg) {
  slp_curl_lane *lane = arg;
  slp_host *h = &lane->u->host;
  (void)multi;
  if (lane->u->closing) return 0;
  slp_unpost(&lane->kick);
  if (timeout_ms == 0 && !(lane->kicking && ++lane->kicks_in_row > KICKS_IN_ROW_MAX)) {
    slp_timer_clear(h, &lane->timer);
    slp_post(h, &lane->kick);
    return 0;
  }
  if (timeout_ms != 0) lane->kicks_in_row = 0;
  if (timeout_ms < 0) {
    slp_timer_clear(h, &lane->timer);
    return 0;
  }
  uint64_t us = (uint64_t)(timeout_ms ? timeout_ms : 1) * 1000;
  slp_timer_set_reserved(h, &lane->timer, slp_after_us(h->ops->mono_us(h), us));
  return 0;
}

static void lane_timeout(slp_curl_lane *lane) {
  lane->kicking = 1;
  lane->starts = 0;
  lane_act(lane, CURL_SOCKET_TIMEOUT, 0);
  lane->kicking = 0;
}

static void on_lane_timer(slp_timer *timer) { lane_timeout(SLP_OWNER(timer, slp_curl_lane, timer)); }
static void on_lane_kick(slp_event *ev) { lane_timeout(SLP_OWNER(ev, slp_curl_lane, kick)); }

static void finish_done_transfers(slp_curl_lane *lane) {
  CURLMsg *msg;
  int left;
  while ((msg = curl_multi_info_read(lane->multi, &left))) {
    if (msg->msg != CURLMSG_DONE) continue;
    CURLcode rc = msg->data.result; /* copied, because curl frees msg when the easy handle is removed */
    char *t = NULL;
    curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &t);
    transfer_done((slp_transfer *)(void *)t, rc);
  }
}

/* Calls curl_multi_socket_action, and does everything that must follow it. Must not be called inside curl's
 * callbacks. */
static void lane_act(slp_curl_lane *lane, curl_socket_t fd, int events) {
  int running;
  lane->acts++;
  CURLMcode rc = curl_multi_socket_action(lane->multi, fd, events, &running);
  finish_done_transfers(lane);
  /* CURLM_BAD_SOCKET means that curl has closed the socket meanwhile, which is fine. After any other error
   * (no memory, a multi handle that gave up) the transfers would hang until their deadlines, so they are
   * ended. */
  if (rc != CURLM_OK && rc != CURLM_BAD_SOCKET)
    while (!slp_list_empty(&lane->running)) {
      slp_transfer *t = SLP_OWNER(lane->running.next, slp_http, link)->transfer;
      t->stopped_by = SLP_ENOMEM;
      transfer_done(t, CURLE_OUT_OF_MEMORY);
    }
  lane_pump(lane);
}

/* ---- ending a call --------------------------------------------------------------------------- */
static void on_call_done(slp_event *ev) {
  slp_http *call = SLP_OWNER(ev, slp_http, ev);
  call->on_done(call);
}

static void call_done(slp_uv_host *u, slp_http *call) {
  slp_unpost(&call->more); /* on_done sees the whole body, so on_more need not be called */
  call->done_us = slp_now_refresh_us(&u->host);
  call->ev.run = on_call_done;
  slp_post(&u->host, &call->ev);
}

/* Removes the transfer from curl and from its call, and puts it into the idle list. */
static void transfer_release(slp_transfer *t) {
  slp_curl_lane *lane = t->lane;
  slp_host *h = &lane->u->host;
  curl_multi_remove_handle(lane->multi, t->easy);
  slp_transfer_headers_wipe(t);
  slp_timer_clear(h, &t->total);
  slp_unpost(&t->resume);
  slp_unpost(&t->connected);
  slp_list_remove(&t->call->link);
  t->call->transfer = NULL;
  t->call = NULL;
  slp_list_add_first(&lane->idle, &t->link);
  lane->running_n--;
  h->turns.http_in_flight--;
}

/* Sets the error of a call whose transfer our own callbacks on_header or on_body ended. */
static void explain_stop(const slp_transfer *t) {
  slp_http *call = t->call;
  char place[SLP_WHERE_MAX];
  slp_where(slp_str_of(call->url), &t->proxy, place);
  call->error = t->stopped_by;
  if (t->stopped_by == SLOOP_ETOOBIG)
    snprintf(call->error_text, sizeof call->error_text, "answer is larger than %u bytes",
             (unsigned)call->into->max);
  else if (t->stopped_by == SLOOP_EREMOTE)
    snprintf(call->error_text, sizeof call->error_text, "headers of more than %u bytes from %s",
             SLP_HEADERS_MAX, place);
  else
    snprintf(call->error_text, sizeof call->error_text, "no memory for the answer");
}

static void explain_failure(slp_transfer *t, CURLcode rc) {
  slp_http *call = t->call;
  if (t->stopped_by) {
    explain_stop(t);
    return;
  }
  slp_curl_failure f = {
      .rc = rc,
      .detail = t->detail,
      .ca_file = call->ca_bundle ? call->ca_bundle : t->lane->u->ca_file,
      .https = t->https,
      .proxy = &t->proxy,
      .connect_ms = call->connect_ms_max ? call->connect_ms_max : CONNECT_MS,
      .sent = t->requests > 0,
      .reads_head = t->requests > 0 && !t->head_complete,
      .mem = t->lane->u->host.mem,
  };
  curl_off_t connect_us = 0;
  curl_easy_getinfo(t->easy, CURLINFO_CONNECT_TIME_T, &connect_us);
  /* libcurl 8.14 sets no time of connection before the TLS handshake has ended. */
  f.connected = connect_us > 0 || t->awaited_peer;
  curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &f.os_errno);
  curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &f.connect_code);
  curl_easy_getinfo(t->easy, CURLINFO_PROXYAUTH_AVAIL, &f.proxy_schemes);
  if (f.rc == CURLE_COULDNT_CONNECT && !f.os_errno) f.os_errno = t->lane->socket_error;
  call->error = slp_curl_explain(call->error_text, sizeof call->error_text, slp_str_of(call->url), &f);
}

/* Writes into error_text the host, and the proxy, from which the answer may have come. Without TLS, status
 * 407 always comes from the proxy, so the call then fails with an error of the proxy. */
static void explain_answer(slp_transfer *t) {
  slp_http *call = t->call;
  slp_where(slp_str_of(call->url), &t->proxy, call->error_text);
  if (call->status != 407 || !t->proxy.variable || t->https) return;
  long schemes = 0;
  curl_easy_getinfo(t->easy, CURLINFO_PROXYAUTH_AVAIL, &schemes);
  call->status = 0;
  call->error = slp_refused_by_proxy(call->error_text, sizeof call->error_text, slp_str_of(call->url),
                                     &t->proxy, 407, schemes);
}

static void transfer_done(slp_transfer *t, CURLcode rc) {
  slp_http *call = t->call;
  SLP_CHECK(call);
  slp_uv_host *u = t->lane->u;
  long status = 0, connects = 0;
  curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
  call->status = (int)status;
  call->reused = connects == 0 && t->requests > 0;
  if (rc == CURLE_OK && !t->head_complete) rc = CURLE_PARTIAL_FILE;
  if (rc != CURLE_OK)
    explain_failure(t, rc);
  else if (status != 200 || strncmp(call->content_type, "text/", 5) == 0)
    explain_answer(t);
  if (call->into) {
    size_t usual = t->lane->body_usual;
    t->lane->body_usual = usual - usual / 8 + t->body_n / 8;
  }
  transfer_release(t);
  call_done(u, call);
}

static void on_total(slp_timer *timer) {
  slp_transfer *t = SLP_OWNER(timer, slp_transfer, total);
  slp_curl_lane *lane = t->lane;
  slp_http *call = t->call;
  char place[SLP_WHERE_MAX];
  long status = 0;
  curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
  call->status = (int)status;
  call->error = SLP_ETIMEDOUT;
  slp_where(slp_str_of(call->url), &t->proxy, place);
  snprintf(call->error_text, sizeof call->error_text, "%s %s within %u ms",
           status ? "answer not complete from" : "no answer from", place,
           (unsigned)(call->total_ms_max ? call->total_ms_max : TOTAL_MS));
  transfer_release(t);
  call_done(lane->u, call);
  lane_pump(lane);
}

/* ---- pausing --------------------------------------------------------------------------------- */

static void on_resume(slp_event *ev) {
  slp_transfer *t = SLP_OWNER(ev, slp_transfer, resume);
  slp_curl_lane *lane = t->lane;
  slp_host *h = &lane->u->host;
  if (!t->paused && !t->sliced) return;
  if (t->paused) slp_timer_set_reserved(h, &t->total, slp_after_us(slp_now_refresh_us(h), t->total_left_us));
  t->paused = t->sliced = 0;
  lane->acts++;
  /* curl_easy_pause() passes the bytes that curl kept to the write callback, which may pause again. If the
   * callback fails, only this return value says so: curl 7.88 would continue as if the bytes had been
   * taken. */
  CURLcode rc = curl_easy_pause(t->easy, CURLPAUSE_CONT);
  if (rc != CURLE_OK || t->stopped_by) transfer_done(t, rc != CURLE_OK ? rc : CURLE_WRITE_ERROR);
  lane_act(lane, CURL_SOCKET_TIMEOUT, 0);
}

void slp_curl_resume(slp_host *h, slp_http *call) {
  slp_transfer *t = call->transfer;
  if (t && t->paused) slp_post(h, &t->resume);
}

/* ---- starting -------------------------------------------------------------------------------- */
/* While a connection is being made, curl lets other calls to that server wait, because they might share it
 * (CURLOPT_PIPEWAIT). If the connection turns out to be one of HTTP/1.1, libcurl 8.14 leaves them waiting
 * until some call ends. A subscription may last for minutes. So one call that waits is added to curl anew. It
 * gets a connection of its own, and then curl looks at the next one by itself. */
static void on_connected(slp_event *ev) {
  slp_transfer *made = SLP_OWNER(ev, slp_transfer, connected);
  slp_curl_lane *lane = made->lane;
  SLP_LIST_EACH(&lane->running, it) {
    slp_transfer *t = SLP_OWNER(it, slp_http, link)->transfer;
    if (t->requests > 0 || t->fd != CURL_SOCKET_BAD || strcmp(t->call->url, made->call->url) != 0) continue;
    curl_multi_remove_handle(lane->multi, t->easy);
    if (curl_multi_add_handle(lane->multi, t->easy)) {
      t->stopped_by = SLP_ENOMEM;
      transfer_done(t, CURLE_OUT_OF_MEMORY);
      lane_pump(lane);
    }
    return;
  }
}

static void transfer_free(slp_transfer *t) {
  slp_mem *mem = t->lane->u->host.mem;
  if (t->easy) curl_easy_cleanup(t->easy);
  slp_transfer_headers_free(t);
  slp_free(mem, t);
}

static slp_transfer *transfer_take(slp_curl_lane *lane) {
  slp_list *node = slp_list_pop(&lane->idle);
  if (node) return SLP_OWNER(node, slp_transfer, link);
  slp_transfer *t = SLP_NEW(lane->u->host.mem, slp_transfer);
  if (!t) return NULL;
  t->lane = lane;
  t->total.run = on_total;
  t->resume.run = on_resume;
  t->connected.run = on_connected;
  slp_transfer_headers_init(t);
  t->easy = curl_easy_init();
  if (!t->easy || slp_transfer_easy_options(t) || slp_curl_sockets_easy(lane, t->easy)) {
    transfer_free(t);
    return NULL;
  }
  return t;
}

static void call_failed(slp_uv_host *u, slp_http *call, int error) {
  char place[SLP_PLACE_MAX];
  slp_url_place(slp_str_of(call->url), place, sizeof place);
  call->error = error;
  snprintf(call->error_text, sizeof call->error_text, "call to %s can't be made: %s", place,
           error == SLP_ENOMEM ? "no memory" : "URL, method or a header is not usable");
  call_done(u, call);
}

static void transfer_start(slp_curl_lane *lane, slp_http *call) {
  slp_host *h = &lane->u->host;
  slp_transfer *t = transfer_take(lane);
  if (!t) {
    call_failed(lane->u, call, SLP_ENOMEM);
    return;
  }
  int r = slp_transfer_set_up(t, call);
  if (!r && curl_multi_add_handle(lane->multi, t->easy)) r = SLP_ENOMEM;
  if (r) {
    slp_transfer_headers_wipe(t);
    t->call = NULL;
    slp_list_add_first(&lane->idle, &t->link);
    call_failed(lane->u, call, r);
    return;
  }
  call->transfer = t;
  call->sent_us = slp_now_refresh_us(h);
  slp_list_add_last(&lane->running, &call->link);
  lane->running_n++;
  h->turns.http_in_flight++;
  uint32_t ms = call->total_ms_max ? call->total_ms_max : TOTAL_MS;
  slp_timer_set_reserved(h, &t->total, slp_after_us(call->sent_us, (uint64_t)ms * 1000));
  if (++lane->starts < STARTS_A_KICK_MAX || !slp_list_linked(&lane->kick.link)) return;
  slp_list_remove(&lane->kick.link);
  slp_list_add_first(&h->ready, &lane->kick.link);
}

static void lane_pump(slp_curl_lane *lane) {
  while (lane->running_n < lane->running_max) {
    slp_list *node = slp_list_pop(&lane->waiting);
    if (!node) return;
    lane->u->host.turns.http_queued--;
    transfer_start(lane, SLP_OWNER(node, slp_http, link));
  }
}

static void call_reset(slp_http *call) {
  call->error = 0;
  call->error_text[0] = 0;
  call->status = 0;
  call->date_ms = -1;
  call->sent_us = call->done_us = 0;
  call->reused = call->length_known = call->crc32_given = 0;
  call->content_type[0] = call->error_type[0] = call->request_id[0] = 0;
  call->crc32 = 0;
  call->length = UINT64_MAX;
  call->retry_after_ms = 0;
}

void slp_curl_send(slp_host *h, slp_http *call) {
  slp_uv_host *u = slp_uv_of(h);
  SLP_CHECK(call->lane < SLP_LANES && call->on_done);
  SLP_CHECK(!call->transfer && !slp_list_linked(&call->link) && !slp_list_linked(&call->ev.link));
  if (u->closing) return;
  slp_curl_lane *lane = &u->lanes[call->lane];
  call_reset(call);
  slp_list_add_last(&lane->waiting, &call->link);
  h->turns.http_queued++;
  lane_pump(lane);
}

void slp_curl_cancel(slp_host *h, slp_http *call) {
  slp_uv_host *u = slp_uv_of(h);
  slp_unpost(&call->ev);
  slp_unpost(&call->more);
  if (call->transfer) {
    transfer_release(call->transfer);
    if (!u->closing) lane_pump(&u->lanes[call->lane]);
  } else if (slp_list_linked(&call->link)) {
    slp_list_remove(&call->link);
    h->turns.http_queued--;
  }
}

/* Calls whose answers last minutes may share an HTTP/2 connection only if libcurl has both of these
 * corrections:
 *   - 8.0.0: an answer that was aborted is reported as aborted ("http2: fix handling of RST and GOAWAY to
 *     recognize partial transfers", curl's commit 48cd032623). libcurl 7.88 reports most of them as complete.
 *   - 8.14.0: the stream window of a paused answer is closed, and opened again after the pause ("http2: fix
 *     stream window size after unpausing", 5fbd78eb2d). In some versions before, a paused answer never
 *     continued. */
#define MULTIPLEX_SINCE 0x080e00u

int slp_curl_may_multiplex(unsigned version, int features) {
  return version >= MULTIPLEX_SINCE && (features & CURL_VERSION_HTTP2) != 0;
}

/* ---- opening and closing --------------------------------------------------------------------- */
/* Finds the numbers of the next two descriptors that this process will open; -1: no descriptor is free. */
static void find_free(uv_loop_t *loop, int ret[2]) {
  for (int i = 0; i < 2; i++) ret[i] = fcntl(uv_backend_fd(loop), F_DUPFD_CLOEXEC, 0);
  for (int i = 0; i < 2; i++)
    if (ret[i] >= 0) close(ret[i]);
}

/* Sets CLOEXEC on the socket pair by which a multi handle wakes itself, if fds is such a pair. libcurl 7.88
 * makes the pair without CLOEXEC. Each child process would inherit it, could write to it, and could open two
 * descriptors fewer. */
static void keep_from_children(const int fds[2]) {
  for (int i = 0; i < 2; i++) {
    struct sockaddr_storage address = {0};
    socklen_t n = sizeof address;
    int is_pair = fds[i] >= 0 && getsockname(fds[i], (struct sockaddr *)&address, &n) == 0 &&
                  address.ss_family == AF_UNIX;
    if (is_pair) (void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
  }
}

static int lane_open(slp_uv_host *u, slp_curl_lane *lane, uint32_t running_max) {
  lane->u = u;
  lane->running_max = running_max;
  slp_list_init(&lane->waiting);
  slp_list_init(&lane->running);
  slp_list_init(&lane->idle);
  lane->timer.run = on_lane_timer;
  lane->kick.run = on_lane_kick;
  lane->act = lane_act;
  int r = slp_host_reserve_timers(&u->host, (size_t)running_max + 1);
  if (r) return r;
  int fds[2];
  find_free(u->loop, fds);
  lane->multi = curl_multi_init();
  if (!lane->multi) return SLP_ENOMEM;
  keep_from_children(fds);
  if (curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer) ||
      curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane) ||
      curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING,
                        slp_curl_lane_multiplexes(lane) ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING) ||
      /* If curl kept fewer connections than there are transfers in flight, each finished request would close
       * the oldest connection. */
      curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long)running_max))
    return SLP_ENOMEM;
  /* From libcurl 8.20 on the threads of its resolver belong to the multi handle, which waits for them when it
   * is freed. This option is what CURLOPT_QUICK_EXIT is for older versions, which do not know it. */
  const CURLMoption quick_exit = (CURLMoption)21; /* CURLMOPT_QUICK_EXIT, which older headers lack */
  (void)curl_multi_setopt(lane->multi, quick_exit, 1L);
  return slp_curl_sockets_multi(lane);
}

static int copy_paths(slp_uv_host *u, const slp_uv_options *o, const curl_version_info_data *v) {
  slp_mem *mem = u->host.mem;
  const char *agent = o->user_agent ? o->user_agent : "sloop/" SLP_VERSION;
  /* A directory of certificates is used only if libcurl was built without a default file of certificates: see
   * tls_options() in curl_transfer.c. */
  int by_folder = !v->cainfo && v->capath;
  const char *file = o->ca_bundle ? o->ca_bundle : slp_ca_file(v->cainfo, by_folder);
  u->user_agent = slp_strdup(mem, slp_str_of(agent));
  if (!u->user_agent) return SLP_ENOMEM;
  if (file && !(u->ca_file = slp_strdup(mem, slp_str_of(file)))) return SLP_ENOMEM;
  if (!file && by_folder && !(u->ca_path = slp_strdup(mem, slp_str_of(v->capath)))) return SLP_ENOMEM;
  return 0;
}

int slp_curl_open(slp_uv_host *u, const slp_uv_options *o) {
  if (curl_global_init(CURL_GLOBAL_DEFAULT)) return SLP_ENOMEM;
  u->curl_ready = 1;
  const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
  /* Without an asynchronous resolver, each look-up of a host name would block the loop. */
  if (!(v->features & CURL_VERSION_ASYNCHDNS) || !(v->features & CURL_VERSION_SSL)) return SLOOP_EOPTION;
  u->multiplex = (uint8_t)slp_curl_may_multiplex(v->version_num, v->features);
  int r = copy_paths(u, o, v);
  if (r) return r;
  u->share = curl_share_init();
  if (!u->share || curl_share_setopt(u->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) ||
      curl_share_setopt(u->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION))
    return SLP_ENOMEM;
  for (int i = 0; i < SLP_LANES && !r; i++)
    r = lane_open(u, &u->lanes[i], i == SLP_LANE_PUSH ? PUSH_MAX : o->in_flight_max ? o->in_flight_max : 128);
  return r;
}

static void lane_close(slp_curl_lane *lane) {
  slp_host *h = &lane->u->host;
  slp_list *node;
  while (slp_list_pop(&lane->waiting)) h->turns.http_queued--;
  while ((node = slp_list_first(&lane->running))) transfer_release(SLP_OWNER(node, slp_http, link)->transfer);
  while ((node = slp_list_pop(&lane->idle))) transfer_free(SLP_OWNER(node, slp_transfer, link));
  slp_timer_clear(h, &lane->timer);
  slp_unpost(&lane->kick);
  if (lane->multi) curl_multi_cleanup(lane->multi);
  lane->multi = NULL;
  slp_curl_sockets_close(lane);
}

void slp_curl_close(slp_uv_host *u) {
  for (int i = 0; i < SLP_LANES; i++)
    if (u->lanes[i].u) lane_close(&u->lanes[i]);
  if (u->share) curl_share_cleanup(u->share);
  u->share = NULL;
  if (u->curl_ready) curl_global_cleanup();
  u->curl_ready = 0;
}

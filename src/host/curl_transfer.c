/* curl_transfer.c - fills one easy handle with a call, and takes the answer's head and body from it. */
#include "host/curl_transfer.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/date.h"
#include "host/host.h"
#include "host/proxy.h"
#include "host/uv_host.h"

#include <sloop.h>

/* The memory for a body is reserved at once, by its Content-Length, only up to this size. For a longer body
 * it grows as the bytes arrive. */
#define RESERVE_MAX ((uint64_t)32 << 20)
/* Sizes of curl's receive buffer, which curl allocates for each call. Over TLS the small one is enough,
 * because no TLS record is larger than 16 KiB. Without TLS a larger buffer saves system calls. A buffer of
 * 256 KiB would not fit the CPU's nearest cache. And glibc would return the memory of 8 such buffers to the
 * system each time they are freed. */
#define BUFFER_SMALL (32u << 10)
#define BUFFER_LARGE (64u << 10)
#define LARGE_BODY (64u << 10)
#define SLICE_MAX (256u << 10)

/* ---- the answer's head ----------------------------------------------------------------------- */
static char lower_head_char(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

static int name_is(slp_str name, const char *lower_case) {
  size_t n = strlen(lower_case);
  if (name.n != n) return 0;
  for (size_t i = 0; i < n; i++)
    if (lower_head_char(name.p[i]) != lower_case[i]) return 0;
  return 1;
}

static void copy_text(char *out, size_t room, slp_str s) {
  size_t n = s.n < room - 1 ? s.n : room - 1;
  memcpy(out, s.p, n);
  out[n] = 0;
}

static void copy_type(slp_http *call, slp_str s) {
  size_t n = 0;
  while (n < s.n && s.p[n] != ';' && s.p[n] != ' ') n++;
  copy_text(call->content_type, sizeof call->content_type, (slp_str){s.p, n});
  for (char *p = call->content_type; *p; p++) *p = lower_head_char(*p);
}

static void take_number(slp_str s, uint64_t max, uint64_t *ret) {
  uint64_t v;
  if (slp_parse_u64(s, &v) == 0 && v <= max) *ret = v;
}

/* Forgets the headers so far, when a status line begins a new head: headers of an interim answer (100, or a
 * proxy's) do not count. */
static void head_begins(slp_transfer *t) {
  slp_http *call = t->call;
  t->length = UINT64_MAX;
  t->head_complete = t->encoded = 0;
  call->date_ms = -1;
  call->length_known = call->crc32_given = 0;
  call->content_type[0] = call->error_type[0] = call->request_id[0] = 0;
  call->retry_after_ms = 0;
}

static void take_header(slp_transfer *t, slp_str name, slp_str value) {
  slp_http *call = t->call;
  uint64_t crc = UINT64_MAX;
  switch (name.n) { /* nearly every header is ruled out by the length of its name, before any comparison */
    case 4:
      if (name_is(name, "date") && slp_date_parse_http(value, &call->date_ms)) call->date_ms = -1;
      break;
    case 11:
      if (!name_is(name, "x-amz-crc32")) break;
      take_number(value, UINT32_MAX, &crc);
      call->crc32_given = crc != UINT64_MAX;
      if (call->crc32_given) call->crc32 = (uint32_t)crc;
      break;
    case 12:
      if (name_is(name, "content-type")) copy_type(call, value);
      break;
    case 14:
      if (!name_is(name, "content-length")) break;
      call->length_known = 1;
      take_number(value, UINT64_MAX - 1, &t->length);
      break;
    case 16:
      if (name_is(name, "x-amzn-errortype")) copy_text(call->error_type, sizeof call->error_type, value);
      if (name_is(name, "x-amzn-requestid")) copy_text(call->request_id, sizeof call->request_id, value);
      break;
    case 17:
      if (name_is(name, "transfer-encoding")) call->length_known = t->encoded = 1;
      if (name_is(name, "x-amz-retry-after")) take_number(value, UINT32_MAX, &call->retry_after_ms);
      break;
    default: break;
  }
}

static size_t stop_transfer_because(slp_transfer *t, int why) {
  t->stopped_by = why;
  return 0;
}

/* Handles one line of the headers. Counts its bytes, because libcurl keeps every header in memory. libcurl
 * 7.88 ends heads of more than 300 KiB, but has no limit for trailers. */
static size_t on_header(char *p, size_t size, size_t n, void *arg) {
  slp_transfer *t = arg;
  size_t whole = size * n, end = whole, colon = 0;
  t->headers_bytes += whole;
  if (t->headers_bytes > SLP_HEADERS_MAX) return stop_transfer_because(t, SLOOP_EREMOTE);
  if (whole >= 5 && memcmp(p, "HTTP/", 5) == 0) {
    head_begins(t);
    return whole;
  }
  while (end > 0 && (p[end - 1] == '\n' || p[end - 1] == '\r' || p[end - 1] == ' ' || p[end - 1] == '\t'))
    end--;
  while (colon < end && p[colon] != ':') colon++;
  /* libcurl 8.23 also hands over a line without its end, when the connection closes within that line. */
  if (end == 0 && whole > 0 && p[whole - 1] == '\n') t->head_complete = 1;
  if (colon == end || t->body_begun) return whole;
  size_t from = colon + 1;
  while (from < end && (p[from] == ' ' || p[from] == '\t')) from++;
  take_header(t, (slp_str){p, colon}, (slp_str){p + from, end - from});
  return whole;
}

/* ---- the answer's body ----------------------------------------------------------------------- */
/* Returns 1 if the transfer has taken as many bytes as it may take in one event. It must then pause; the
 * event `resume` continues it. libcurl 7.88 reads a socket without TLS for as long as bytes are there, up to
 * a hundred buffers: 25 MB in one event. At a pause curl copies the bytes that it has received and not passed
 * on. These are fewest at the last 16 KiB piece of a full buffer, so the pause is put off until such a
 * piece. */
static int had_its_share(slp_transfer *t, size_t n) {
  slp_curl_lane *lane = t->lane;
  if (t->slice_act != lane->acts) {
    t->slice_act = lane->acts;
    t->slice_n = 0;
  }
  int over = t->slice_n >= SLICE_MAX && ((t->slice_n + n) % BUFFER_LARGE == 0 || t->slice_n >= 2 * SLICE_MAX);
  if (over) {
    t->sliced = 1;
    slp_post(&lane->u->host, &t->resume);
    return 1;
  }
  t->slice_n += n;
  return 0;
}

static void on_more(slp_event *ev) {
  slp_http *call = SLP_OWNER(ev, slp_http, more);
  call->on_more(call);
}

static void tell_more(slp_transfer *t) {
  slp_http *call = t->call;
  if (!call->on_more) return;
  call->more.run = on_more;
  slp_post(&t->lane->u->host, &call->more);
}

/* Sets the call's status and length while its body still arrives. */
static void tell_head(slp_transfer *t) {
  long status = 0;
  curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
  t->call->status = (int)status;
  t->call->length = t->encoded ? UINT64_MAX : t->length;
}

/* Called by curl's write callback. The deadline does not run during a pause, because the server does not
 * cause the pause. */
static void pause_transfer(slp_transfer *t) {
  slp_host *h = &t->lane->u->host;
  uint64_t now = h->ops->mono_us(h);
  t->paused = 1;
  t->total_left_us = t->total.at_us > now ? t->total.at_us - now : 0;
  slp_timer_clear(h, &t->total);
}

static size_t on_body(char *p, size_t size, size_t count, void *arg) {
  slp_transfer *t = arg;
  slp_http *call = t->call;
  slp_buf *into = call->into;
  size_t n = size * count;
  if (t->stopped_by) return 0;
  if (!into || n == 0) return n;
  if ((call->on_more || call->on_piece) && !call->status) tell_head(t);
  size_t room = into->max - into->n;
  if (n > room || (!t->body_begun && t->length != UINT64_MAX && t->length > room))
    return stop_transfer_because(t, SLOOP_ETOOBIG);
  if (call->may_grow && !call->may_grow(call, n)) {
    pause_transfer(t);
    return CURL_WRITEFUNC_PAUSE;
  }
  if (!t->https && had_its_share(t, n)) return CURL_WRITEFUNC_PAUSE;
  if (!t->body_begun && t->length != UINT64_MAX && t->length <= RESERVE_MAX &&
      slp_buf_reserve_exactly(into, (size_t)t->length))
    return stop_transfer_because(t, SLP_ENOMEM);
  t->body_begun = 1;
  if (slp_buf_add(into, p, n)) return stop_transfer_because(t, SLP_ENOMEM);
  t->body_n += n;
  tell_more(t);
  if (call->on_piece) call->on_piece(call);
  return n;
}

/* libcurl calls this each time before it writes the request to a connection. This may be more than once:
 * libcurl repeats a request by itself if a kept connection dies before the first byte of an answer. A
 * conditional write would then fail because of its own first copy, so a call with `once` is ended instead.
 * test/wire/facts.c and answers.c show both. */
static int on_request_begins(void *arg, char *ip, char *local_ip, int port, int local_port) {
  slp_transfer *t = arg;
  slp_turn_stats *stats = &t->lane->u->host.turns;
  (void)ip, (void)local_ip, (void)port, (void)local_port;
  if (t->requests++ == 0) {
    long connects = 0;
    if (t->multiplexes) curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
    if (connects > 0) slp_post(&t->lane->u->host, &t->connected);
    return CURL_PREREQFUNC_OK;
  }
  if (t->call->once) {
    stats->http_replays_stopped++;
    return CURL_PREREQFUNC_ABORT;
  }
  stats->http_replays++;
  return CURL_PREREQFUNC_OK;
}

/* ---- the request's head ---------------------------------------------------------------------- */
void slp_transfer_headers_init(slp_transfer *t) {
  slp_buf_init(&t->header_text, t->lane->u->host.mem, 1 << 20);
}

void slp_transfer_headers_wipe(slp_transfer *t) {
  if (t->header_text.p) slp_wipe(t->header_text.p, t->header_text.n);
  slp_buf_clear(&t->header_text);
}

void slp_transfer_headers_free(slp_transfer *t) {
  slp_buf_free(&t->header_text);
  slp_free(t->lane->u->host.mem, t->header_nodes);
}

static int name_valid(slp_str name) {
  for (size_t i = 0; i < name.n; i++)
    if ((unsigned char)name.p[i] <= ' ' || name.p[i] == ':' || (unsigned char)name.p[i] >= 0x7f) return 0;
  return name.n > 0;
}

static int value_valid(slp_str value) {
  for (size_t i = 0; i < value.n; i++)
    if (value.p[i] == '\r' || value.p[i] == '\n' || value.p[i] == 0) return 0;
  return 1;
}

/* Headers that libcurl would add by itself; "Name:" removes one. */
static const char *const unwanted[] = {"Expect:", "Accept:", "Content-Type:"};

/* Builds the list of headers. libcurl only reads the list, so all its nodes lie in one block and all its
 * texts in another. Every call uses these two blocks again, instead of two allocations for each header. */
static int build_headers(slp_transfer *t, const slp_http *call) {
  size_t bytes = 0, n = 0, types = 0;
  for (size_t i = 0; i < call->headers_n; i++) {
    slp_str name = call->headers[i].name, value = call->headers[i].value;
    if (!name_valid(name) || !value_valid(value)) return SLP_EINVAL;
    bytes += name.n + value.n + 3;
    types += (size_t)name_is(name, "content-type");
  }
  size_t count = call->headers_n + SLP_COUNT(unwanted);
  if (count > t->header_nodes_n) {
    struct curl_slist *grown = slp_realloc(t->lane->u->host.mem, t->header_nodes, count * sizeof *grown);
    if (!grown) return SLP_ENOMEM;
    t->header_nodes = grown;
    t->header_nodes_n = count;
  }
  slp_buf *text = &t->header_text;
  slp_buf_clear(text);
  /* All room is reserved first: the nodes point into the text, so it must not move. */
  if (slp_buf_reserve(text, bytes + 64)) return bytes > text->max ? SLP_EINVAL : SLP_ENOMEM;
  for (size_t i = 0; i < call->headers_n; i++) {
    slp_str value = call->headers[i].value;
    t->header_nodes[n++].data = text->p + text->n;
    slp_buf_add_str(text, call->headers[i].name);
    slp_buf_add_z(text, value.n ? ": " : ";"); /* libcurl's form of a header without a value is "Name;" */
    slp_buf_add_str(text, value);
    slp_buf_add_char(text, 0);
  }
  for (size_t i = 0; i < SLP_COUNT(unwanted) - (types > 0); i++) {
    t->header_nodes[n++].data = text->p + text->n;
    slp_buf_add(text, unwanted[i], strlen(unwanted[i]) + 1);
  }
  for (size_t i = 0; i < n; i++) t->header_nodes[i].next = i + 1 < n ? &t->header_nodes[i + 1] : NULL;
  return 0;
}

/* ---- setting up ------------------------------------------------------------------------------ */
/* Sets an option of the easy handle. This fails only without memory, or if this libcurl does not know the
 * option. Then the calling function returns SLP_ENOMEM. */
#define SET(option, value)                                                       \
  do {                                                                           \
    if (curl_easy_setopt(t->easy, option, value) != CURLE_OK) return SLP_ENOMEM; \
  } while (0)

static int tls_options(slp_transfer *t) {
  slp_uv_host *u = t->lane->u;
  SET(CURLOPT_SSL_VERIFYPEER, 1L);
  SET(CURLOPT_SSL_VERIFYHOST, 2L);
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  /* libcurl caches the parsed file of certificates only if no directory is set as well. With Debian's default
   * directory every connection costs 18 ms instead of 0.5 ms. */
  SET(CURLOPT_CAINFO, u->ca_file);
  SET(CURLOPT_CAPATH, u->ca_path);
  SET(CURLOPT_CA_CACHE_TIMEOUT, 24L * 60 * 60);
  return 0;
}

static int connection_options(slp_transfer *t) {
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1); /* unless set_multiplexing() sets another */
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_NOPROXY, "");
  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(CURLOPT_NOSIGNAL, 1L);
  /* A call that ends while its host name is being looked up must not wait for the resolver's thread. */
  SET(CURLOPT_QUICK_EXIT, 1L);
  SET(CURLOPT_DNS_CACHE_TIMEOUT, 45L);
  SET(CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  /* DynamoDB closes idle connections after about 60 s, but libcurl would keep them for 118 s. */
  SET(CURLOPT_MAXAGE_CONN, 45L);
  SET(CURLOPT_MAXLIFETIME_CONN, 300L);
  SET(CURLOPT_TCP_NODELAY, 1L);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_SHARE, t->lane->u->share);
  return 0;
}

int slp_transfer_easy_options(slp_transfer *t) {
  SET(CURLOPT_PRIVATE, t);
  SET(CURLOPT_ERRORBUFFER, t->detail);
  SET(CURLOPT_HEADERFUNCTION, on_header);
  SET(CURLOPT_HEADERDATA, t);
  SET(CURLOPT_WRITEFUNCTION, on_body);
  SET(CURLOPT_WRITEDATA, t);
  SET(CURLOPT_PREREQFUNCTION, on_request_begins);
  SET(CURLOPT_PREREQDATA, t);
  SET(CURLOPT_NOPROGRESS, 1L);
  SET(CURLOPT_USERAGENT, t->lane->u->user_agent);
  int r = connection_options(t);
  return r ? r : tls_options(t);
}

static int is_loopback(slp_str url) {
  char place[SLP_PLACE_MAX];
  slp_url_place(url, place, sizeof place);
  if (strncmp(place, "[::1]:", 6) == 0 || strncmp(place, "localhost:", 10) == 0) return 1;
  if (strncmp(place, "127.", 4) != 0) return 0;
  /* returns 1 for an address, and 0 for a name such as 127.evil.example */
  return strspn(place, "0123456789.") == strcspn(place, ":");
}

static int set_method(slp_transfer *t, const slp_http *call) {
  slp_str method = slp_str_of(call->method);
  int post = slp_str_is(method, "POST");
  if (!name_valid(method)) return SLP_EINVAL;
  /* GET and HEAD have no body; PUT and DELETE are sent as a POST with another method. */
  if (slp_str_is(method, "GET") || slp_str_is(method, "HEAD")) {
    if (call->body.n) return SLP_EINVAL;
    SET(CURLOPT_HTTPGET, 1L);
    SET(CURLOPT_NOBODY, (long)(method.p[0] == 'H'));
    SET(CURLOPT_CUSTOMREQUEST, NULL);
    return 0;
  }
  SET(CURLOPT_NOBODY, 0L);
  SET(CURLOPT_POST, 1L);
  SET(CURLOPT_CUSTOMREQUEST, post ? NULL : call->method);
  SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
  /* curl reads the body from the caller's memory, without a copy */
  SET(CURLOPT_POSTFIELDS, call->body.n ? call->body.p : "");
  return 0;
}

/* Finds the proxy here instead of by libcurl, so that a message can name the proxy. The empty CURLOPT_NOPROXY
 * keeps libcurl from reading the environment. */
static int set_proxy(slp_transfer *t, slp_str url) {
  t->proxy.variable = NULL;
  if (!t->call->no_proxy && !is_loopback(url)) slp_proxy_find(url, &t->proxy);
  SET(CURLOPT_PROXY, t->proxy.variable ? t->proxy.url : "");
  if (!t->proxy.tls) return 0;
  /* A proxy is trusted by the same certificates as servers, as with botocore, unless the environment names
   * another file. */
  const char *own = slp_proxy_ca(), *bundle = t->call->ca_bundle ? t->call->ca_bundle : t->lane->u->ca_file;
  SET(CURLOPT_PROXY_CAINFO, own ? own : bundle);
  SET(CURLOPT_PROXY_CAPATH, own ? NULL : t->lane->u->ca_path);
  return 0;
}

/* CURL_HTTP_VERSION_2TLS: HTTP/2 if the server offers it in the TLS handshake. CURLOPT_PIPEWAIT: while a
 * connection is being made, a call waits to see whether it can share that connection. Without TLS no
 * connection is shared, but libcurl 8.14 would let calls wait all the same. */
static int set_multiplexing(slp_transfer *t) {
  int multiplexes = t->https && slp_curl_lane_multiplexes(t->lane);
  if (t->multiplexes == multiplexes) return 0;
  SET(CURLOPT_HTTP_VERSION, (long)(multiplexes ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  SET(CURLOPT_PIPEWAIT, (long)multiplexes);
  t->multiplexes = (uint8_t)multiplexes;
  return 0;
}

int slp_transfer_set_up(slp_transfer *t, slp_http *call) {
  slp_str url = slp_str_of(call->url);
  t->call = call;
  t->fd = CURL_SOCKET_BAD;
  t->awaited_peer = 0;
  t->stopped_by = 0;
  t->requests = 0;
  t->paused = t->sliced = t->body_begun = t->head_complete = 0;
  t->length = UINT64_MAX;
  t->body_n = t->headers_bytes = 0;
  t->total_left_us = 0;
  t->detail[0] = 0;
  t->https = url.n > 8 && memcmp(url.p, "https://", 8) == 0;
  if (!t->https && !(url.n > 7 && memcmp(url.p, "http://", 7) == 0)) return SLP_EINVAL;
  int r = build_headers(t, call);
  if (!r) r = set_method(t, call);
  if (!r) r = set_multiplexing(t);
  if (r) return r;
  SET(CURLOPT_URL, call->url);
  /* libcurl reuses a connection only for calls with the same file. So a call with its own bundle never gets a
   * connection of a call with another bundle. */
  if (t->own_ca || call->ca_bundle) {
    SET(CURLOPT_CAINFO, call->ca_bundle ? call->ca_bundle : t->lane->u->ca_file);
    t->own_ca = call->ca_bundle != NULL;
  }
  SET(CURLOPT_HTTPHEADER, t->header_nodes);
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(call->connect_ms_max ? call->connect_ms_max : 4000));
  int large = !t->https && t->lane->body_usual >= LARGE_BODY;
  /* libcurl 7.88 refuses this option on a handle that still has its buffer, for example after a failed
   * look-up of a name. Then the buffer keeps its size. */
  (void)curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)(large ? BUFFER_LARGE : BUFFER_SMALL));
  return set_proxy(t, url);
}

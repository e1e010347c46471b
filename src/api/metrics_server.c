/* metrics_server.c - answers HTTP requests for metrics. Short answers are sent at once. An event writes a
 * page of metrics slice by slice. */
#include "api/metrics_server.h"

#include "api/metrics_ready.h"
#include "api/metrics_sample.h"
#include "api/metrics_text.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

/* Most bytes of a page; one of 100,000 shards has 60 MB. Few pages are written at the same time, because a
 * scraper asks rarely, and probes get only one line. */
#define PAGE_BYTES_MAX (256u * 1024 * 1024)
#define PAGES_MAX 8u /* at most this many pages are written at the same time */
#define SLICE_LINES 500u
/* most bytes of an answer about consumers that are not ready; enough for hundreds of lines */
#define READY_BYTES_MAX (64u * 1024)
#define REQUEST_BODY_MAX 1024u
#define CONNS_MAX 64u
#define CONN_MS_MAX 30000u
#define REQUEST_MS_MAX 5000u

/* ---- where to listen ----------------------------------------------------------------------------------- */
int slp_metrics_address_read(const char *listen, char ret_address[SLP_METRICS_ADDRESS_MAX],
                             uint16_t *ret_port, char why[160]) {
  const char *colon = strrchr(listen, ':');
  slp_str address = {listen, colon ? (size_t)(colon - listen) : 0};
  uint64_t port = 0;
  int r = 0;
  if (!colon || slp_parse_u64(slp_str_of(colon + 1), &port) || port > 65535) r = SLOOP_EOPTION;
  int bracketed = address.n > 2 && address.p[0] == '[' && address.p[address.n - 1] == ']';
  if (bracketed) address = (slp_str){address.p + 1, address.n - 2};
  /* without brackets, the port in 1::2:9100 could also be a part of the address */
  if (!bracketed && slp_str_has(address, ':')) r = SLOOP_EOPTION;
  if (slp_str_is(address, "localhost")) address = SLP_STR("127.0.0.1");
  if (address.n == 0) address = SLP_STR("0.0.0.0");
  if (address.n >= SLP_METRICS_ADDRESS_MAX) r = SLOOP_EOPTION;
  if (r) {
    snprintf(why, 160, "listen \"%.60s\": it must be ADDRESS:PORT, as 127.0.0.1:9100 or [::1]:9100", listen);
    return r;
  }
  memcpy(ret_address, address.p, address.n);
  ret_address[address.n] = 0;
  *ret_port = (uint16_t)port;
  return 0;
}

/* ---- answers ------------------------------------------------------------------------------------------- */
static void send_metrics_answer(slp_served *rq, int status, const char *type, slp_buf *body) {
  slp_http_header headers[2] = {{SLP_STR("Content-Type"), slp_str_of(type)},
                                {SLP_STR("Allow"), SLP_STR("GET, HEAD")}};
  slp_serve_answer a = {.status = status,
                        .headers = headers,
                        .headers_n = status == 405 ? 2 : 1,
                        .body = body,
                        .date_ms = -1,
                        .cut_after = SIZE_MAX,
                        .close = 1};
  slp_serve(rq, &a);
}

static void send_text_line(slp_metrics_server *s, slp_served *rq, int status, const char *line) {
  slp_buf b;
  slp_buf_init(&b, s->h->mem, READY_BYTES_MAX + 2);
  if (slp_buf_addf(&b, "%s\n", line))
    slp_serve_drop(rq);
  else
    send_metrics_answer(rq, status, "text/plain; charset=utf-8", &b);
  slp_buf_free(&b);
}

static void serve_ready(slp_metrics_server *s, slp_served *rq) {
  slp_buf why;
  slp_sample now;
  slp_sample_init(&now, s->h->mem);
  slp_buf_init(&why, s->h->mem, READY_BYTES_MAX);
  if (s->sample(s->arg, &now, 0))
    send_text_line(s, rq, 503, "no memory");
  else if (slp_ready(&now, &why))
    send_text_line(s, rq, 200, "ready");
  else
    send_text_line(s, rq, 503, why.n ? slp_buf_z(&why) : "no memory");
  slp_buf_free(&why);
  slp_sample_free(&now);
}

/* ---- pages --------------------------------------------------------------------------------------------- */
typedef struct page {
  slp_metrics_server *server;
  slp_served *rq;
  slp_sample sample;
  slp_metrics_text text;
  slp_buf out;
  slp_event ev;
} page;

static void page_free(page *p) {
  slp_unpost(&p->ev);
  slp_sample_free(&p->sample);
  slp_buf_free(&p->out);
  p->server->pages_n--;
  slp_free(p->server->h->mem, p);
}

static void on_page_unwanted(slp_served *rq) { page_free(rq->user); }

static void on_slice(slp_event *ev) {
  page *p = SLP_OWNER(ev, page, ev);
  int r = slp_metrics_text_write(&p->text, SLICE_LINES);
  if (r == SLP_MORE) {
    slp_post(p->server->h, ev);
    return;
  }
  p->rq->on_gone = NULL;
  if (r)
    send_text_line(p->server, p->rq, 503, "no memory for this page");
  else
    send_metrics_answer(p->rq, 200, SLP_METRICS_TEXT_TYPE, &p->out);
  page_free(p);
}

static void serve_metrics(slp_metrics_server *s, slp_served *rq) {
  slp_metrics_own own = {0};
  page *p = s->pages_n < PAGES_MAX ? SLP_NEW(s->h->mem, page) : NULL;
  if (!p) {
    send_text_line(s, rq, 503, s->pages_n < PAGES_MAX ? "no memory" : "too many pages are being written");
    return;
  }
  s->pages_n++;
  p->server = s;
  p->rq = rq;
  p->ev.run = on_slice;
  slp_sample_init(&p->sample, s->h->mem);
  slp_buf_init(&p->out, s->h->mem, PAGE_BYTES_MAX);
  if (s->sample(s->arg, &p->sample, 1)) {
    page_free(p);
    send_text_line(s, rq, 503, "no memory");
    return;
  }
  s->own(s->arg, &own);
  slp_metrics_text_begin(&p->text, &p->sample, &own, &p->out);
  rq->user = p;
  rq->on_gone = on_page_unwanted;
  slp_post(s->h, &p->ev);
}

/* ---- requests ------------------------------------------------------------------------------------------ */
static void on_request(slp_listener *l, slp_served *rq) {
  slp_metrics_server *s = SLP_OWNER(l, slp_metrics_server, listener);
  const char *query = rq->path.n ? memchr(rq->path.p, '?', rq->path.n) : NULL;
  slp_str path = {rq->path.p, query ? (size_t)(query - rq->path.p) : rq->path.n};
  int metrics = slp_str_is(path, "/metrics"), ready = slp_str_is(path, "/ready");
  if (!metrics && !ready && !slp_str_is(path, "/healthz"))
    send_text_line(s, rq, 404, "there are /metrics, /ready and /healthz");
  else if (!slp_str_is(rq->method, "GET") && !slp_str_is(rq->method, "HEAD"))
    send_text_line(s, rq, 405, "only GET and HEAD");
  else if (metrics)
    serve_metrics(s, rq);
  else if (ready)
    serve_ready(s, rq);
  else
    send_text_line(s, rq, 200, "alive");
}

static void on_closed(slp_listener *l) {
  slp_metrics_server *s = SLP_OWNER(l, slp_metrics_server, listener);
  s->on_closed(s);
}

int slp_metrics_server_open(slp_metrics_server *s, slp_host *h, const char *listen, char why[160]) {
  char address[SLP_METRICS_ADDRESS_MAX];
  uint16_t port;
  int r = slp_metrics_address_read(listen, address, &port, why);
  if (r) return r;
  s->h = h;
  s->listener = (slp_listener){.on_request = on_request,
                               .body_max = REQUEST_BODY_MAX,
                               .conns_max = CONNS_MAX,
                               .conn_ms_max = CONN_MS_MAX,
                               .request_ms_max = REQUEST_MS_MAX};
  r = slp_listen(h, &s->listener, address, port);
  if (r) {
    snprintf(why, 160, "can't listen on %.60s: %.50s%s", listen, sloop_strerror(r),
             r == -EACCES ? ": ports below 1024 are for root" : "");
    return r;
  }
  snprintf(s->url, sizeof s->url, strchr(address, ':') ? "http://[%s]:%u" : "http://%s:%u", address,
           (unsigned)s->listener.port);
  return 0;
}

void slp_metrics_server_close(slp_metrics_server *s) { slp_listen_close(&s->listener, on_closed); }

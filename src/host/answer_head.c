/* answer_head.c - builds the head of an answer of the HTTP server: status line, headers, date, length. */
#include "base/buf.h"
#include "codec/date.h"
#include "host/host.h"
#include "host/uv_conn.h"
#include "host/uv_host.h"

static const char *reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Answer";
  }
}

static const char *date_text(slp_uv_host *u, int64_t ms) {
  int64_t second = ms / 1000;
  if (second != u->date_ms) {
    u->date_ms = second;
    slp_date_http(second * 1000, u->date_text);
  }
  return u->date_text;
}

/* Builds the head of an answer. body_n SIZE_MAX: the length of the body is not known. */
int slp_conn_build_head(slp_conn *c, const slp_serve_answer *a, size_t body_n) {
  slp_buf *b = &c->head;
  slp_uv_host *u = c->li->u;
  slp_buf_clear(b);
  slp_buf_reserve(b, 512);
  slp_buf_add_z(b, "HTTP/1.1 ");
  slp_buf_add_i64(b, a->status);
  slp_buf_add_char(b, ' ');
  slp_buf_add_z(b, reason(a->status));
  for (size_t i = 0; i < a->headers_n; i++) {
    slp_buf_add_z(b, "\r\n");
    slp_buf_add_str(b, a->headers[i].name);
    slp_buf_add_z(b, ": ");
    slp_buf_add_str(b, a->headers[i].value);
  }
  slp_buf_add_z(b, "\r\nDate: ");
  slp_buf_add_z(b, date_text(u, a->date_ms == -1 ? slp_wall_ms(&u->host) : a->date_ms));
  if (body_n == SIZE_MAX) {
    if (!c->rq.version_1_0) slp_buf_add_z(b, "\r\nTransfer-Encoding: chunked");
  } else if (a->status >= 200 && a->status != 204 && a->status != 304) {
    slp_buf_add_z(b, "\r\nContent-Length: ");
    slp_buf_add_u64(b, body_n);
  }
  return slp_buf_add_z(
      b, c->close_after ? "\r\nConnection: close\r\n\r\n" : "\r\nConnection: keep-alive\r\n\r\n");
}

/* eventstream.c - reads messages of application/vnd.amazon.eventstream. Each byte goes into the checksum
 * once, as it arrives. Headers are read when the message is complete and its checksum is right. */
#include "codec/eventstream.h"

#include "codec/crc32.h"
#include "codec/utf8.h"

#define PRELUDE_BYTES 12u /* bytes in front of the headers: two lengths and their checksum */
#define SUM_BYTES 4u

static uint64_t read_big_endian(const char *p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n; i++) v = v << 8 | (uint8_t)p[i];
  return v;
}

static int fail_event_reader(slp_event_reader *r, int error, const char *why) {
  r->why = why;
  return r->failed = error;
}

/* ---- headers ----------------------------------------------------------------------------------------- */
static int take_first_bytes(slp_str *rest, size_t n, slp_str *ret) {
  if (rest->n < n) return 0;
  *ret = (slp_str){rest->p, n};
  *rest = (slp_str){rest->p + n, rest->n - n};
  return 1;
}

static int take_number(slp_str *rest, size_t n, uint64_t *ret) {
  slp_str s;
  if (!take_first_bytes(rest, n, &s)) return 0;
  *ret = read_big_endian(s.p, n);
  return 1;
}

static int take_signed(slp_str *rest, size_t n, int64_t *ret) {
  uint64_t v;
  if (!take_number(rest, n, &v)) return 0;
  uint64_t sign = UINT64_C(1) << (8 * n - 1);
  *ret = (int64_t)((v ^ sign) - sign);
  return 1;
}

static int take_value(slp_str *rest, slp_event_header *h) {
  uint64_t n;
  switch (h->type) {
    case SLP_EVENT_TRUE: h->number = 1; return 1;
    case SLP_EVENT_FALSE: return 1;
    case SLP_EVENT_INT8: return take_signed(rest, 1, &h->number);
    case SLP_EVENT_INT16: return take_signed(rest, 2, &h->number);
    case SLP_EVENT_INT32: return take_signed(rest, 4, &h->number);
    case SLP_EVENT_INT64:
    case SLP_EVENT_TIME: return take_signed(rest, 8, &h->number);
    case SLP_EVENT_BYTES:
    case SLP_EVENT_TEXT: return take_number(rest, 2, &n) && take_first_bytes(rest, (size_t)n, &h->bytes);
    case SLP_EVENT_UUID: return take_first_bytes(rest, 16, &h->bytes);
  }
  return 0;
}

/* Takes one header off the front of *rest. Returns 1; 0: *rest is empty; -1: *rest does not begin with a
 * valid header. */
static int take_event_header(slp_str *rest, slp_event_header *h) {
  uint64_t n, type;
  if (!rest->n) return 0;
  *h = (slp_event_header){.number = 0};
  if (!take_number(rest, 1, &n) || n == 0 || !take_first_bytes(rest, (size_t)n, &h->name)) return -1;
  if (!take_number(rest, 1, &type) || type > SLP_EVENT_UUID) return -1;
  h->type = (slp_event_type)type;
  return take_value(rest, h) ? 1 : -1;
}

int slp_event_header_next(slp_str *rest, slp_event_header *ret) { return take_event_header(rest, ret) > 0; }

static int is_text(slp_str s) { return !s.n || slp_utf8_run(s.p, s.n, s.n) != SIZE_MAX; }

static int check_headers(slp_event_reader *r, slp_str rest) {
  slp_str names[SLP_EVENT_HEADERS_MAX];
  slp_event_header h;
  size_t n = 0;
  int more;
  while ((more = take_event_header(&rest, &h)) > 0) {
    if (n == SLP_EVENT_HEADERS_MAX) return fail_event_reader(r, SLP_ELIMIT, "a message has too many headers");
    if (!is_text(h.name) || (h.type == SLP_EVENT_TEXT && !is_text(h.bytes)))
      return fail_event_reader(r, SLP_EBADDATA, "a header is not UTF-8");
    for (size_t i = 0; i < n; i++) {
      if (slp_str_eq(names[i], h.name))
        return fail_event_reader(r, SLP_EBADDATA, "a header comes twice in a message");
    }
    names[n++] = h.name;
  }
  return more ? fail_event_reader(r, SLP_EBADDATA, "a message's headers can't be read") : 0;
}

slp_str slp_event_text(const slp_event_message *m, const char *name) {
  slp_str rest = m->headers;
  slp_event_header h;
  while (slp_event_header_next(&rest, &h)) {
    if (slp_str_is(h.name, name)) return h.type == SLP_EVENT_TEXT ? h.bytes : (slp_str){NULL, 0};
  }
  return (slp_str){NULL, 0};
}

/* ---- messages ---------------------------------------------------------------------------------------- */
static int read_prelude(slp_event_reader *r, const char *p) {
  uint64_t total = read_big_endian(p, 4), headers_n = read_big_endian(p + 4, 4);
  r->crc = slp_crc32((slp_str){p, 8});
  if (r->crc != read_big_endian(p + 8, 4))
    return fail_event_reader(r, SLP_EBADDATA, "a message's lengths have another checksum");
  if (headers_n > SLP_EVENT_HEADER_BYTES_MAX)
    return fail_event_reader(r, SLP_ELIMIT, "a message's headers are too long");
  if (total < headers_n + SLP_EVENT_FRAME_BYTES)
    return fail_event_reader(r, SLP_EBADDATA, "a message is shorter than its headers");
  if (total - headers_n - SLP_EVENT_FRAME_BYTES > SLP_EVENT_PAYLOAD_MAX)
    return fail_event_reader(r, SLP_ELIMIT, "a message is too long");
  r->total = (uint32_t)total;
  r->headers_n = (uint32_t)headers_n;
  r->summed = 8;
  return 0;
}

int slp_event_read(slp_event_reader *r, const char *p, size_t n, slp_event_message *ret) {
  if (r->failed) return r->failed;
  if (n == r->at) return SLP_MORE; /* nothing new came, and p may be NULL */
  size_t have = n - r->at;
  p += r->at;
  if (!r->total) {
    if (have < PRELUDE_BYTES) return SLP_MORE;
    int e = read_prelude(r, p);
    if (e) return e;
  }
  size_t until = (size_t)slp_min_u64(have, r->total - SUM_BYTES);
  if (until > r->summed) {
    r->crc = slp_crc32_more(r->crc, (slp_str){p + r->summed, until - r->summed});
    r->summed = until;
  }
  if (have < r->total) return SLP_MORE;
  if (r->crc != read_big_endian(p + r->total - SUM_BYTES, SUM_BYTES))
    return fail_event_reader(r, SLP_EBADDATA, "a message came damaged: its checksum is another one");
  ret->headers = (slp_str){p + PRELUDE_BYTES, r->headers_n};
  ret->payload = (slp_str){p + PRELUDE_BYTES + r->headers_n, r->total - r->headers_n - SLP_EVENT_FRAME_BYTES};
  int e = check_headers(r, ret->headers);
  if (e) return e;
  r->at += r->total;
  r->total = 0;
  r->summed = 0;
  return 0;
}

void slp_event_dropped(slp_event_reader *r, size_t n) {
  SLP_CHECK(n <= r->at);
  r->at -= n;
}

/* fuzz_eventstream.c - event streams of any bytes. The first byte says how to cut; the rest is read as it
 * is, and once more as the headers and payload of a message whose sums are right. All at once and in pieces,
 * in memory of exact size that moves, the same comes of it; a reader of another make (by recursion over
 * offsets, with a CRC by bits) agrees. contract/vectors/eventstream_botocore.py compares with botocore. */
#include "codec/eventstream.h"

#include "fuzz.h"

static uint32_t crc(const uint8_t *p, size_t n) {
  uint32_t c = UINT32_MAX;
  for (size_t i = 0; i < n; i++) {
    c ^= p[i];
    for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? UINT32_C(0xedb88320) : 0);
  }
  return ~c;
}

static uint32_t be32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Length of the header at p, 0 when there is none. */
static size_t header_n(const uint8_t *p, size_t n) {
  static const int sizes[] = {0, 0, 1, 2, 4, 8, -1, -1, 8, 16};
  if (n < 1 || p[0] == 0 || n < 2u + p[0]) return 0;
  size_t at = 1u + p[0];
  unsigned type = p[at++];
  if (type > 9) return 0;
  size_t value = (size_t)sizes[type];
  if (sizes[type] < 0) {
    if (n < at + 2) return 0;
    value = (size_t)p[at] << 8 | p[at + 1];
    at += 2;
  }
  return n - at < value ? 0 : at + value;
}

/* Messages that surely can be read, with their whole length; stops at what can't be. UTF-8 and twins are not
 * looked at here. */
static size_t messages(const uint8_t *p, size_t n, int *ret_bad) {
  size_t count = 0;
  *ret_bad = 0;
  while (n >= 12) {
    uint32_t total = be32(p), headers = be32(p + 4);
    if (crc(p, 8) != be32(p + 8) || headers > SLP_EVENT_HEADER_BYTES_MAX || (uint64_t)headers + 16 > total ||
        total - headers - 16 > SLP_EVENT_PAYLOAD_MAX) {
      *ret_bad = 1;
      return count;
    }
    if (total > n) return count;
    if (crc(p, total - 4) != be32(p + total - 4)) {
      *ret_bad = 1;
      return count;
    }
    size_t at = 12;
    while (at < 12 + headers) {
      size_t one = header_n(p + at, 12 + headers - at);
      if (!one) {
        *ret_bad = 1;
        return count;
      }
      at += one;
    }
    count++;
    p += total;
    n -= total;
  }
  return count;
}

typedef struct result {
  size_t n, payload_bytes, headers;
  uint32_t sum;
  int end;
} result;

static void take(result *r, const slp_event_message *m, const char *p, size_t n) {
  slp_str rest = m->headers;
  slp_event_header h;
  REQUIRE(m->headers.p >= p && m->payload.p + m->payload.n <= p + n);
  while (slp_event_header_next(&rest, &h)) {
    r->headers++;
    r->sum = r->sum * 31 + crc((const uint8_t *)h.name.p, h.name.n) + (uint32_t)h.type + (uint32_t)h.number;
  }
  REQUIRE(rest.n == 0);
  (void)slp_event_text(m, ":event-type");
  r->n++;
  r->payload_bytes += m->payload.n;
  r->sum = r->sum * 31 + crc((const uint8_t *)m->payload.p, m->payload.n);
}

static result read_in(const uint8_t *data, size_t size, size_t piece, int drop) {
  result out = {.end = SLP_MORE};
  slp_event_reader r = {0};
  slp_event_message m;
  size_t from = 0;
  for (size_t have = 0; out.end == SLP_MORE && (have < size || !size);) {
    have = size - have < piece ? size : have + piece;
    char *p = fuzz_copy(data + from, have - from);
    while ((out.end = slp_event_read(&r, p, have - from, &m)) == 0) take(&out, &m, p, have - from);
    if (drop) {
      from += r.at;
      slp_event_dropped(&r, r.at);
    }
    free(p);
    if (!size) break;
  }
  REQUIRE((out.end == SLP_MORE) == (r.why == NULL));
  return out;
}

static void same(const result *a, const result *b) {
  REQUIRE(a->n == b->n && a->payload_bytes == b->payload_bytes && a->headers == b->headers &&
          a->sum == b->sum && a->end == b->end);
}

static void play(const uint8_t *data, size_t size, size_t piece) {
  int bad;
  size_t most = messages(data, size, &bad);
  result whole = read_in(data, size, size ? size : 1, 0);
  result pieces = read_in(data, size, piece, 0), dropped = read_in(data, size, piece, 1);
  same(&whole, &pieces);
  same(&whole, &dropped);
  REQUIRE(whole.n <= most);
  REQUIRE(whole.end == SLP_MORE || whole.end == SLP_EBADDATA || whole.end == SLP_ELIMIT);
  if (whole.end == SLP_MORE) REQUIRE(whole.n == most && !bad);
  if (bad) REQUIRE(whole.end != SLP_MORE);
}

static void put_be32(uint8_t *p, size_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 4096) return 0;
  size_t piece = 1u + data[0] % 64, headers = data[1] < size - 2 ? data[1] : size - 2;
  play(data + 2, size - 2, piece);
  size_t total = size - 2 + 16;
  uint8_t *framed = malloc(2 * total);
  REQUIRE(framed != NULL);
  put_be32(framed, total);
  put_be32(framed + 4, headers);
  put_be32(framed + 8, crc(framed, 8));
  memcpy(framed + 12, data + 2, size - 2);
  put_be32(framed + total - 4, crc(framed, total - 4));
  memcpy(framed + total, framed, total);
  play(framed, 2 * total, piece);
  free(framed);
  return 0;
}

/* page_quick.c - plain CBOR records without the pull reader: a map (of a count, or open) of the four known
 * members in any order, each once; strings in one piece; the time as tag 1 and milliseconds. */
#include "codec/page_quick.h"

#include "codec/json.h"
#include "codec/page_table.h"

#define BREAK 0xFF
/* Integers from here on are milliseconds for the pull reader too; smaller ones are seconds. */
#define MS_FROM 100000000000u
#define MS_TO 100000000000000u

enum { SEQUENCE = 1, ARRIVED = 2, DATA = 4, KEY = 8 };

typedef struct quick {
  const uint8_t *p, *end; /* what is left */
} quick;

static uint64_t word_at(const uint8_t *p) {
  uint64_t w;
  memcpy(&w, p, sizeof w);
  return w;
}

/* One expression, which compilers turn into a single load. */
static uint64_t big_endian(const uint8_t *p) {
  return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
         (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7];
}

/* The head of a string of that major type with its content inside the bytes. 0: it is something else. */
static int string(quick *q, unsigned major, const uint8_t **ret, size_t *ret_n) {
  if (q->p == q->end) return 0;
  size_t left = (size_t)(q->end - q->p);
  const uint8_t *p = q->p;
  unsigned info = p[0] & 31u;
  size_t head = 1, n = info;
  if (p[0] >> 5 != major) return 0;
  if (info >= 24) {
    if (info > 26 || left < 5) return 0;
    if (info == 24) {
      n = p[1];
      head = 2;
    } else if (info == 25) {
      n = (size_t)p[1] << 8 | p[2];
      head = 3;
    } else {
      n = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
      head = 5;
    }
  }
  if (n > left - head) return 0;
  *ret = p + head;
  *ret_n = n;
  q->p = p + head + n;
  return 1;
}

static int all_ascii(const uint8_t *p, size_t n) {
  uint64_t seen = 0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) seen |= word_at(p + i) & 0x8080808080808080u;
  for (; i < n; i++) seen |= p[i] & 0x80u;
  return !seen;
}

/* The member that the key names; 0: unknown, or not a key in one piece. */
static int member(quick *q) {
  size_t left = (size_t)(q->end - q->p);
  if (left >= 15 && q->p[0] == 0x6e && memcmp(q->p + 1, "SequenceNumber", 14) == 0) {
    q->p += 15;
    return SEQUENCE;
  }
  if (left >= 29 && q->p[0] == 0x78 && q->p[1] == 27 &&
      memcmp(q->p + 2, "ApproximateArrivalTimestamp", 27) == 0) {
    q->p += 29;
    return ARRIVED;
  }
  if (left >= 5 && q->p[0] == 0x64 && memcmp(q->p + 1, "Data", 4) == 0) {
    q->p += 5;
    return DATA;
  }
  if (left >= 13 && q->p[0] == 0x6c && memcmp(q->p + 1, "PartitionKey", 12) == 0) {
    q->p += 13;
    return KEY;
  }
  return 0;
}

/* Tag 1 and an integer of eight bytes. */
static int arrived(quick *q, int64_t *ret) {
  if (q->end - q->p < 10 || q->p[0] != 0xc1 || q->p[1] != 0x1b) return 0;
  uint64_t v = big_endian(q->p + 2);
  if (v < MS_FROM || v >= MS_TO) return 0;
  *ret = (int64_t)v;
  q->p += 10;
  return 1;
}

static int value(quick *q, int what, const uint8_t *body, slp_rec *rec) {
  const uint8_t *text;
  size_t n;
  if (what == ARRIVED) return arrived(q, &rec->arrived_ms);
  if (!string(q, what == DATA ? 2 : 3, &text, &n)) return 0;
  uint32_t place = (uint32_t)(text - body);
  if (what == SEQUENCE) {
    if (!n || n > SLP_PAGE_SEQ_DIGITS_MAX || (text[0] == '0' && n > 1) ||
        !slp_page_all_digits((slp_str){(const char *)text, n}))
      return 0;
    rec->seq_at = place;
    rec->seq_n = (uint8_t)n;
  } else if (what == KEY) {
    if (n > UINT16_MAX) return 0;
    if (!all_ascii(text, n) && !slp_utf8_valid((slp_str){(const char *)text, n})) return 0;
    rec->key_at = place;
    rec->key_n = (uint16_t)n;
  } else {
    rec->data_at = place;
    rec->data_n = (uint32_t)n;
  }
  return 1;
}

int slp_page_quick_cbor(const char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end) {
  const uint8_t *body = (const uint8_t *)p;
  quick q = {body + at, body + n};
  if (at >= n) return 0;
  unsigned head = *q.p++, left = head & 31u, seen = 0;
  int open = head == 0xbf;
  if (!open && (head >> 5 != 5 || left > 4)) return 0;
  slp_rec r = {.arrived_ms = -1};
  for (; open || left; left--) {
    if (q.p == q.end) return 0;
    if (open && *q.p == BREAK) break;
    int what = member(&q);
    if (!what || seen & (unsigned)what || !value(&q, what, body, &r)) return 0;
    seen |= (unsigned)what;
  }
  if (!(seen & SEQUENCE)) return 0;
  *rec = r;
  *ret_end = (size_t)(q.p - body) + (size_t)open;
  return 1;
}

/* page_quick.c - reads plain CBOR records without the pull reader. A plain record is a map, definite or
 * indefinite, with the four known members in any order, each at most once. Its strings are in one piece, and
 * its time is tag 1 with milliseconds. */
#include "codec/page_quick.h"

#include "codec/digits.h"
#include "codec/json.h"
#include "codec/page.h"
#include "codec/page_table.h"

#define OPEN_MAP 0xBF
#define MAP_OF_NONE 0xA0
#define BREAK 0xFF
/* A time from MS_FROM to MS_TO is in milliseconds, as for the pull reader. All other times are left to the
 * pull reader. */
#define MS_FROM 100000000000u
#define MS_TO 100000000000000u

enum { SEQUENCE = 1, ARRIVED = 2, DATA = 4, KEY = 8 };

typedef struct quick {
  const uint8_t *body, *end;
  slp_rec *rec;
} quick;

static uint64_t word_at(const uint8_t *p) {
  uint64_t w;
  memcpy(&w, p, sizeof w);
  return w;
}

/* Reads a big-endian number. The sum is one expression, because compilers turn that into a single load. */
static uint64_t big_endian(const uint8_t *p) {
  return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
         (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7];
}

/* Reads the head of a string at p, which must be before `end`. Returns the string's content; NULL: p has
 * another major type than `major`, or the string is not complete. */
static inline const uint8_t *string(const uint8_t *p, const uint8_t *end, unsigned major, size_t *ret_n) {
  size_t n = p[0] - (major << 5); /* wraps to a large number, which fails below, if p[0] is less */
  if (n < 24) {
    p += 1;
  } else if (n > 26 || end - p < 5) {
    return NULL;
  } else if (n == 24) {
    n = p[1];
    p += 2;
  } else if (n == 25) {
    n = (size_t)p[1] << 8 | p[2];
    p += 3;
  } else {
    n = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    p += 5;
  }
  *ret_n = n;
  return n <= (size_t)(end - p) ? p : NULL;
}

/* Returns 1 if all bytes are ASCII. Bytes are checked eight at a time; in a text longer than eight bytes, the
 * last eight may overlap the eight before them. */
static inline int all_ascii(const uint8_t *p, size_t n) {
  const uint64_t high = 0x8080808080808080u;
  uint64_t seen = 0;
  if (n < sizeof seen) {
    for (size_t i = 0; i < n; i++) seen |= p[i] & high;
    return !seen;
  }
  for (size_t i = 0; i + sizeof seen < n; i += sizeof seen) seen |= word_at(p + i);
  return !((seen | word_at(p + n - sizeof seen)) & high);
}

/* Each of the next functions reads one value. It returns the place behind the value, or NULL if the value is
 * not of the plain form. */

static inline const uint8_t *sequence(const uint8_t *p, const quick *q) {
  size_t n;
  const char *text = (const char *)(p = string(p, q->end, 3, &n));
  if (!p || !n || n > SLP_PAGE_SEQ_DIGITS_MAX || !slp_all_digits(text, n)) return NULL;
  q->rec->seq_at = (uint32_t)(p - q->body);
  q->rec->seq_n = (uint8_t)n;
  return p + n;
}

/* Reads the time: an integer of eight bytes, whose head was compared already. */
static inline const uint8_t *arrived(const uint8_t *p, const quick *q) {
  uint64_t v = big_endian(p);
  q->rec->arrived_ms = (int64_t)v;
  return v >= MS_FROM && v < MS_TO ? p + 8 : NULL;
}

static inline const uint8_t *data(const uint8_t *p, const quick *q) {
  size_t n;
  p = string(p, q->end, 2, &n);
  if (!p) return NULL;
  q->rec->data_at = (uint32_t)(p - q->body);
  q->rec->data_n = (uint32_t)n;
  return p + n;
}

static inline const uint8_t *key(const uint8_t *p, const quick *q) {
  size_t n;
  p = string(p, q->end, 3, &n);
  if (!p || n > UINT16_MAX) return NULL;
  if (!all_ascii(p, n) && !slp_utf8_valid((slp_str){(const char *)p, n})) return NULL;
  q->rec->key_at = (uint32_t)(p - q->body);
  q->rec->key_n = (uint16_t)n;
  q->rec->flags = 0;
  return p + n;
}

/* SAME compares with a string literal. BEGINS also checks that the literal and `more` bytes behind it fit
 * before `end`. The length of a literal is a constant, so both compile to a few loads and compares. */
#define SAME(p, text) (memcmp(p, text, sizeof(text) - 1) == 0)
#define BEGINS(p, text, more, end) ((size_t)((end) - (p)) >= sizeof(text) - 1 + (more) && SAME(p, text))
#define PAST(p, text) ((p) + sizeof(text) - 1)
/* The names of the members, with their CBOR heads. ARRIVED_NAME and ARRIVED_REST are one name in two pieces,
 * because a comparison with the whole name would be compiled to a call. ARRIVED_REST also contains tag 1 and
 * the head of an integer of eight bytes. */
#define SEQUENCE_NAME "\x6eSequenceNumber"
#define ARRIVED_NAME \
  "\x78\x1b"         \
  "ApproximateArr"
#define ARRIVED_REST "ivalTimestamp\xc1\x1b"
#define DATA_NAME \
  "\x64"          \
  "Data"
#define KEY_NAME "\x6cPartitionKey"

/* Reads the members of a map. The loop looks for them in the order in which the service writes them, so that
 * one pass usually finds them all. Returns the place behind the map, or NULL. */
static inline const uint8_t *members(const uint8_t *p, unsigned head, const quick *q) {
  unsigned seen = 0, had;
  do {
    had = seen;
    if (BEGINS(p, SEQUENCE_NAME, 1, q->end)) {
      p = sequence(PAST(p, SEQUENCE_NAME), q);
      if (!p || seen & SEQUENCE) return NULL;
      seen |= SEQUENCE;
    }
    if (BEGINS(p, ARRIVED_NAME, sizeof(ARRIVED_REST) - 1 + 8, q->end) &&
        SAME(PAST(p, ARRIVED_NAME), ARRIVED_REST)) {
      p = arrived(PAST(PAST(p, ARRIVED_NAME), ARRIVED_REST), q);
      if (!p || seen & ARRIVED) return NULL;
      seen |= ARRIVED;
    }
    if (BEGINS(p, DATA_NAME, 1, q->end)) {
      p = data(PAST(p, DATA_NAME), q);
      if (!p || seen & DATA) return NULL;
      seen |= DATA;
    }
    if (BEGINS(p, KEY_NAME, 1, q->end)) {
      p = key(PAST(p, KEY_NAME), q);
      if (!p || seen & KEY) return NULL;
      seen |= KEY;
    }
  } while (seen != had && p < q->end && *p != BREAK);
  if (!(seen & SEQUENCE)) return NULL;
  if (head == OPEN_MAP) return p < q->end && *p == BREAK ? p + 1 : NULL;
  return head == MAP_OF_NONE + (unsigned)__builtin_popcount(seen) ? p : NULL;
}

int slp_page_quick_cbor(const char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end) {
  const uint8_t *body = (const uint8_t *)p;
  if (at >= n) return 0;
  quick q = {body, body + n, rec};
  unsigned head = body[at];
  if (head != OPEN_MAP && (head < MAP_OF_NONE || head > MAP_OF_NONE + 4)) return 0;
  *rec = (slp_rec){.arrived_ms = -1, .flags = SLP_REC_KEYLESS}; /* KEYLESS until the PartitionKey was read */
  const uint8_t *end = members(body + at + 1, head, &q);
  if (!end) return 0;
  *ret_end = (size_t)(end - body);
  return 1;
}

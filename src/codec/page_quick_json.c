/* page_quick_json.c - reads plain JSON records without the pull reader. A plain record is an object with the
 * four known members in any order, each at most once, without white space. Its strings are ASCII without
 * escapes, and Data is base64, which is decoded in the same pass that finds the end of Data. */
#include "codec/base64.h"
#include "codec/digits.h"
#include "codec/json_plain.h"
#include "codec/page.h"
#include "codec/page_quick.h"
#include "codec/page_table.h"

enum { SEQUENCE = 1, ARRIVED = 2, DATA = 4, KEY = 8 };

typedef struct quick {
  char *body, *end;
  slp_rec *rec;
  /* These three members are for put_data_back(), which restores a Data that was decoded. */
  char *text;
  size_t groups;
  /* The last group of Data, if it has padding. The group is kept, because decoding loses its unused bits. */
  char padded[4];
} quick;

/* SAME compares with a string literal. BEGINS also checks that the literal and `more` characters behind it
 * fit before `end`. The length of a literal is a constant, so both compile to a few loads and compares. */
#define SAME(p, text) (memcmp(p, text, sizeof(text) - 1) == 0)
#define BEGINS(p, text, more, end) ((size_t)((end) - (p)) >= sizeof(text) - 1 + (more) && SAME(p, text))
#define PAST(p, text) ((p) + sizeof(text) - 1)
/* ARRIVED_NAME and ARRIVED_REST are one name in two pieces, because a comparison with the whole name would be
 * compiled to a call. */
#define SEQUENCE_NAME "\"SequenceNumber\":\""
#define ARRIVED_NAME "\"ApproximateArr"
#define ARRIVED_REST "ivalTimestamp\":"
#define DATA_NAME "\"Data\":\""
#define KEY_NAME "\"PartitionKey\":\""

/* Each of the next functions reads one value. It returns the place behind the value, or NULL if the value is
 * not of the plain form. */

static inline char *read_quick_sequence(char *p, const quick *q) {
  size_t n = slp_digits_end(p, slp_min_u64((size_t)(q->end - p), SLP_PAGE_SEQ_DIGITS_MAX + 1));
  if (!n || n > SLP_PAGE_SEQ_DIGITS_MAX || p + n == q->end || p[n] != '"') return NULL;
  q->rec->seq_at = (uint32_t)(p - q->body);
  q->rec->seq_n = (uint8_t)n;
  return p + n + 1;
}

static inline char *read_quick_key(char *p, const quick *q) {
  size_t left = (size_t)(q->end - p), n = slp_json_plain_end(p, 0, left);
  if (n == left || p[n] != '"' || n > UINT16_MAX) return NULL;
  q->rec->key_at = (uint32_t)(p - q->body);
  q->rec->key_n = (uint16_t)n;
  q->rec->flags = 0;
  return p + n + 1;
}

/* Reads the digits from p[at] on, and appends them to the decimal number *v. Returns where the digits end, at
 * most `to`. */
static inline size_t read_quick_digits(const char *p, size_t at, size_t to, int64_t *v) {
  if (to - at >= 8 && slp_all_digits_by_words(p + at, 8)) {
    *v = *v * 100000000 + (int64_t)slp_eight_digits(p + at);
    at += 8;
  }
  for (; at < to; at++) {
    unsigned digit = (uint8_t)p[at] - (unsigned)'0';
    if (digit > 9) break;
    *v = *v * 10 + digit;
  }
  return at;
}

/* the most digits read before the dot: one more than is valid, so that a number with too many digits is
 * noticed */
#define WHOLE_MOST 11
#define TIME_MOST 17
/* The most characters at which read_quick_arrival() looks. If fewer lie before q->end, the record is left to
 * the pull reader. */
#define TIME_ROOM (TIME_MOST + 2)
/* Reads a time in seconds: ten digits, maybe with a dot and one to three digits; or one digit, a dot, up to
 * twelve digits and E9. */
static inline char *read_quick_arrival(char *p, const quick *q) {
  int64_t v = *p - '0';
  size_t whole = 1, part = 0;
  if (v < 1 || v > 9) return NULL;
  if (p[1] != '.') whole = read_quick_digits(p, 1, WHOLE_MOST, &v);
  size_t n = whole;
  if (p[n] == '.') {
    n = read_quick_digits(p, whole + 1, TIME_MOST, &v);
    part = n - whole - 1;
    if (!part) return NULL;
  }
  size_t missing; /* number of zeros to append, so that the number is in milliseconds */
  if (p[n] == 'E') {
    if (p[n + 1] != '9' || whole != 1 || part > 12) return NULL;
    missing = 12 - part;
    n += 2;
  } else {
    if (whole != 10 || part > 3) return NULL;
    missing = 3 - part;
  }
  for (; missing; missing--) v *= 10;
  q->rec->arrived_ms = v;
  return p + n;
}

/* Decodes Data in place, up to its closing quote, or up to the padding before that quote. */
static inline char *decode_quick_data(char *p, quick *q) {
  size_t left = (size_t)(q->end - p), used = slp_base64_decode_groups(p, p, left), rest = 0;
  q->text = p;
  q->groups = used / 4;
  if (left - used > 4 && p[used] != '"') {
    memcpy(q->padded, p + used, 4);
    rest = slp_base64_decode_padded(p + q->groups * 3, p + used);
    used += 4;
    if (!rest) return NULL;
  }
  q->rec->data_at = (uint32_t)(p - q->body);
  q->rec->data_n = (uint32_t)(q->groups * 3 + rest);
  return used < left && p[used] == '"' ? p + used + 1 : NULL;
}

static void put_data_back(const quick *q) {
  if (!q->text) return;
  slp_base64_encode_back(q->text, 0, q->groups);
  if (q->padded[0]) memcpy(q->text + q->groups * 4, q->padded, 4);
}

/* Returns 1 if a comma and another member follow, and moves *p behind the comma. Returns 0 if the record must
 * end here. */
static inline int take_member_comma(char **p, const quick *q) {
  if (*p == q->end || **p != ',') return 0;
  ++*p;
  return 1;
}

/* Reads the members of an object. The loop looks for them in the order in which the service writes them, so
 * that one pass usually finds them all. Returns the place behind the record, or NULL. */
static inline char *read_quick_members(char *p, quick *q) {
  unsigned seen = 0, had;
  for (;;) {
    had = seen;
    if (BEGINS(p, SEQUENCE_NAME, 1, q->end)) {
      if (seen & SEQUENCE || !(p = read_quick_sequence(PAST(p, SEQUENCE_NAME), q))) return NULL;
      seen |= SEQUENCE;
      if (!take_member_comma(&p, q)) break;
    }
    if (BEGINS(p, ARRIVED_NAME, sizeof(ARRIVED_REST) - 1 + TIME_ROOM, q->end) &&
        SAME(PAST(p, ARRIVED_NAME), ARRIVED_REST)) {
      if (seen & ARRIVED || !(p = read_quick_arrival(PAST(PAST(p, ARRIVED_NAME), ARRIVED_REST), q)))
        return NULL;
      seen |= ARRIVED;
      if (!take_member_comma(&p, q)) break;
    }
    if (BEGINS(p, DATA_NAME, 1, q->end)) {
      if (seen & DATA || !(p = decode_quick_data(PAST(p, DATA_NAME), q))) return NULL;
      seen |= DATA;
      if (!take_member_comma(&p, q)) break;
    }
    if (BEGINS(p, KEY_NAME, 1, q->end)) {
      if (seen & KEY || !(p = read_quick_key(PAST(p, KEY_NAME), q))) return NULL;
      seen |= KEY;
      if (!take_member_comma(&p, q)) break;
    }
    if (seen == had) return NULL;
  }
  return seen & SEQUENCE && p < q->end && *p == '}' ? p + 1 : NULL;
}

int slp_page_quick_json(char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end) {
  if (at >= n || p[at] != '{') return 0;
  quick q = {.body = p, .end = p + n, .rec = rec};
  *rec = (slp_rec){.arrived_ms = -1, .flags = SLP_REC_KEYLESS}; /* KEYLESS until the PartitionKey was read */
  char *end = read_quick_members(p + at + 1, &q);
  if (!end) {
    put_data_back(&q);
    return 0;
  }
  *ret_end = (size_t)(end - p);
  return 1;
}

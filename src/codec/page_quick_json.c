/* page_quick_json.c - plain JSON records without the pull reader: an object of the four known members in
 * any order, each once, without white space; strings of ASCII without escapes; Data that is base64, decoded
 * while its end is looked for. */
#include "codec/page_quick.h"

#include "codec/base64.h"
#include "codec/json_plain.h"
#include "codec/page_table.h"

enum { SEQUENCE = 1, ARRIVED = 2, DATA = 4, KEY = 8 };

typedef struct quick {
  char *body;
  size_t at, end; /* what is left */
  /* of a Data that is decoded already, to put it back */
  size_t data_at, groups;
  char last[4]; /* its group with padding; bits under the padding may be anything */
  int padded;
} quick;

static int passes(quick *q, const char *text, size_t n) {
  if (q->end - q->at < n || memcmp(q->body + q->at, text, n) != 0) return 0;
  q->at += n;
  return 1;
}
#define PASSES(q, text) passes(q, text, sizeof(text) - 1)

/* The member that the key names, past its colon; 0: unknown. */
static int member(quick *q) {
  if (q->end - q->at < 2) return 0;
  switch (q->body[q->at + 1]) {
    case 'S': return PASSES(q, "\"SequenceNumber\":") ? SEQUENCE : 0;
    case 'A': return PASSES(q, "\"ApproximateArrivalTimestamp\":") ? ARRIVED : 0;
    case 'D': return PASSES(q, "\"Data\":") ? DATA : 0;
    case 'P': return PASSES(q, "\"PartitionKey\":") ? KEY : 0;
    default: return 0;
  }
}

/* The string at the place, past its quotes. */
static int plain_string(quick *q, size_t *ret_at, size_t *ret_n) {
  if (!PASSES(q, "\"")) return 0;
  size_t to = slp_json_plain_end(q->body, q->at, q->end);
  if (to == q->end || q->body[to] != '"') return 0;
  *ret_at = q->at;
  *ret_n = to - q->at;
  q->at = to + 1;
  return 1;
}

static int sequence(quick *q, slp_rec *rec) {
  size_t at, n;
  if (!plain_string(q, &at, &n) || !n || n > SLP_PAGE_SEQ_DIGITS_MAX) return 0;
  if ((q->body[at] == '0' && n > 1) || !slp_page_all_digits((slp_str){q->body + at, n})) return 0;
  rec->seq_at = (uint32_t)at;
  rec->seq_n = (uint8_t)n;
  return 1;
}

static int key(quick *q, slp_rec *rec) {
  size_t at, n;
  if (!plain_string(q, &at, &n) || n > UINT16_MAX) return 0;
  rec->key_at = (uint32_t)at;
  rec->key_n = (uint16_t)n;
  return 1;
}

/* Appends digits to the number; where they end, `to` at most. */
static size_t digits(const char *p, size_t at, size_t to, int64_t *v) {
  for (; at < to; at++) {
    unsigned digit = (uint8_t)p[at] - (unsigned)'0';
    if (digit > 9) break;
    *v = *v * 10 + digit;
  }
  return at;
}

/* Ten digits, maybe a dot and one to three more: seconds; or one digit, a dot, up to twelve more and E9. */
static int arrived(quick *q, slp_rec *rec) {
  const char *p = q->body + q->at;
  size_t most = slp_min_u64(q->end - q->at, 17), part = 0;
  int64_t v = 0;
  size_t whole = digits(p, 0, most, &v), n = whole;
  if (n < most && p[n] == '.') {
    n = digits(p, whole + 1, most, &v);
    part = n - whole - 1;
    if (!part) return 0;
  }
  if (n == most || p[0] == '0') return 0;
  size_t missing; /* digits, until it is milliseconds */
  if (p[n] == 'E') {
    if (most - n < 3 || p[n + 1] != '9' || whole != 1 || part > 12) return 0;
    missing = 12 - part;
    n += 2;
  } else {
    if (whole != 10 || part > 3) return 0;
    missing = 3 - part;
  }
  if (p[n] != ',' && p[n] != '}') return 0;
  for (; missing; missing--) v *= 10;
  rec->arrived_ms = v;
  q->at += n;
  return 1;
}

/* Decodes to the first character that base64 does not have, which is the quote, or padding before it. */
static int data(quick *q, slp_rec *rec) {
  if (!PASSES(q, "\"")) return 0;
  char *text = q->body + q->at;
  size_t left = q->end - q->at, used = slp_base64_decode_groups(text, text, left);
  int64_t rest = 0;
  q->data_at = q->at;
  q->groups = used / 4;
  if (left - used > 4 && text[used] != '"' && text[used + 4] == '"') {
    memcpy(q->last, text + used, 4);
    rest = slp_base64_decode(text + q->groups * 3, text + used, 4);
    if (rest < 0) return 0;
    q->padded = 1;
    used += 4;
  }
  rec->data_at = (uint32_t)q->at;
  rec->data_n = (uint32_t)(q->groups * 3 + (size_t)rest);
  q->at += used;
  return PASSES(q, "\"");
}

static void put_data_back(quick *q) {
  char *text = q->body + q->data_at;
  slp_base64_encode_back(text, 0, q->groups);
  if (q->padded) memcpy(text + q->groups * 4, q->last, 4);
}

static int value(quick *q, int what, slp_rec *rec) {
  switch (what) {
    case SEQUENCE: return sequence(q, rec);
    case ARRIVED: return arrived(q, rec);
    case DATA: return data(q, rec);
    default: return key(q, rec);
  }
}

static int record(quick *q, slp_rec *rec) {
  unsigned seen = 0;
  if (!PASSES(q, "{")) return 0;
  do {
    int what = member(q);
    if (!what || seen & (unsigned)what || !value(q, what, rec)) return 0;
    seen |= (unsigned)what;
  } while (PASSES(q, ","));
  return PASSES(q, "}") && seen & SEQUENCE;
}

int slp_page_quick_json(char *p, size_t n, size_t at, slp_rec *rec, size_t *ret_end) {
  quick q = {.body = p, .at = at, .end = n};
  slp_rec r = {.arrived_ms = -1};
  if (!record(&q, &r)) {
    put_data_back(&q);
    return 0;
  }
  *rec = r;
  *ret_end = q.at;
  return 1;
}

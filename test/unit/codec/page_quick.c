/* The quick reader of CBOR records says nothing that the pull reader does not say: on plain records, on every
 * one-byte change of them, and cut at every byte. */
#include "check.h"

#include "codec/cbor.h"
#include "codec/page_quick.h"

#define BODY_MAX 512

typedef struct maker {
  char p[BODY_MAX];
  size_t n;
} maker;

static void put(maker *m, const void *p, size_t n) {
  CHECK(m->n + n <= BODY_MAX);
  memcpy(m->p + m->n, p, n);
  m->n += n;
}
static void put_text(maker *m, const char *z, int major) {
  size_t n = strlen(z);
  uint8_t head[2] = {(uint8_t)(major << 5 | (n < 24 ? n : 24)), (uint8_t)n};
  put(m, head, n < 24 ? 1 : 2);
  put(m, z, n);
}

static const char seq[] = "49590338271490256608559692538361571095921575989136588898";

/* form: 0 open map, 1 counted; order: which member comes first. */
static void make(maker *m, int form, int order, const char *key, const char *data) {
  m->n = 0;
  put(m, form ? "\xa4" : "\xbf", 1);
  for (int i = 0; i < 4; i++) {
    switch ((i + order) % 4) {
      case 0:
        put_text(m, "SequenceNumber", 3);
        put_text(m, seq, 3);
        break;
      case 1:
        put_text(m, "ApproximateArrivalTimestamp", 3);
        put(m, "\xc1\x1b\x00\x00\x01\x9b\x7a\x35\x5a\x10", 10);
        break;
      case 2:
        put_text(m, "Data", 3);
        put_text(m, data, 2);
        break;
      default: put_text(m, "PartitionKey", 3); put_text(m, key, 3);
    }
  }
  if (!form) put(m, "\xff", 1);
}

static int is(slp_str s, const char *z) { return slp_str_is(s, z); }

/* The same by the pull reader, strictly: 1 and the record, or 0. */
static int slowly(const maker *m, slp_rec *rec, size_t *ret_end) {
  static char body[BODY_MAX];
  slp_cbor c;
  memcpy(body, m->p, m->n);
  slp_cbor_begin(&c, body, m->n);
  *rec = (slp_rec){.arrived_ms = -1};
  if (slp_cbor_next(&c) != SLP_CBOR_MAP) return 0;
  for (;;) {
    int t = slp_cbor_next(&c), of_text = 0;
    slp_str v = {NULL, 0};
    if (t == SLP_CBOR_MAP_END) break;
    if (t != SLP_CBOR_TEXT) return 0;
    slp_str name = c.text;
    if (is(name, "ApproximateArrivalTimestamp")) {
      if (slp_cbor_time_ms(&c, &rec->arrived_ms)) return 0;
    } else if (is(name, "Data")) {
      if (slp_cbor_blob(&c, &v, &of_text) || of_text || !v.p) return 0;
      rec->data_at = (uint32_t)(v.p - body);
      rec->data_n = (uint32_t)v.n;
    } else if (is(name, "SequenceNumber")) {
      if (slp_cbor_text(&c, &v) || !v.p || v.n > 129) return 0;
      for (size_t i = 0; i < v.n; i++)
        if (v.p[i] < '0' || v.p[i] > '9') return 0;
      rec->seq_at = (uint32_t)(v.p - body);
      rec->seq_n = (uint8_t)v.n;
    } else if (is(name, "PartitionKey")) {
      if (slp_cbor_text(&c, &v) || !v.p) return 0;
      rec->key_at = (uint32_t)(v.p - body);
      rec->key_n = (uint16_t)v.n;
    } else if (slp_cbor_skip(&c)) {
      return 0;
    }
  }
  *ret_end = c.at;
  return rec->seq_n > 0;
}

/* 1: the quick reader took it, and rightly. */
static int compare(const maker *m) {
  slp_rec a = {0}, b = {0};
  size_t a_end = 0, b_end = 0;
  /* In a block of its own size, so that a look behind the end is seen by the sanitizer. */
  char *exact = malloc(m->n ? m->n : 1);
  memcpy(exact, m->p, m->n);
  int quick = slp_page_quick_cbor(exact, m->n, 0, &a, &a_end);
  free(exact);
  if (!quick) return 0;
  CHECK(slowly(m, &b, &b_end));
  CHECK_INT(a_end, b_end);
  CHECK_MEM(&a, sizeof a, &b, sizeof b);
  return 1;
}

TEST(takes_plain_records) {
  static maker m;
  for (int form = 0; form < 2; form++)
    for (int order = 0; order < 4; order++) {
      make(&m, form, order, "key", "payload");
      CHECK(compare(&m));
      make(&m, form, order, "", "");
      CHECK(compare(&m));
      make(&m, form, order, "sch\xc3\xb6n", "\xff\xfe");
      CHECK(compare(&m));
    }
}

TEST(leaves_the_unusual_alone) {
  static maker m;
  make(&m, 0, 0, "broken \xc3(", "x"); /* not UTF-8 */
  CHECK(!compare(&m));
  make(&m, 1, 0, "key", "x");
  m.p[0] = '\xa3'; /* a member less than there are: it ends before the key */
  CHECK(compare(&m));
  m.p[0] = '\xa5';
  CHECK(!compare(&m));
  m.p[0] = '\x84'; /* a list */
  CHECK(!compare(&m));
  m.n = 0;
  put(&m, "\xbf\xff", 2); /* no sequence number */
  CHECK(!compare(&m));
}

TEST(agrees_on_every_change_of_a_byte) {
  static maker whole, m;
  size_t taken = 0;
  for (int form = 0; form < 2; form++) {
    make(&whole, form, 2, "some key of more than 24 bytes", "data of more than twenty-four bytes");
    for (size_t i = 0; i < whole.n; i++)
      for (int v = 0; v < 256; v++) {
        m = whole;
        m.p[i] = (char)v;
        taken += (size_t)compare(&m);
      }
  }
  CHECK(taken > 2 * 256); /* changes inside the payload and the key are still plain */
}

TEST(agrees_on_every_cut) {
  static maker whole, m;
  for (int form = 0; form < 2; form++) {
    make(&whole, form, 0, "key", "payload");
    for (size_t n = 0; n < whole.n; n++) {
      m = whole;
      m.n = n;
      CHECK(!compare(&m));
    }
  }
}

/* The quick reader of CBOR records says nothing that the pull reader does not say: on plain records, on every
 * one-byte change of them, and cut at every byte. */
#include "check.h"

#include "codec/cbor.h"
#include "codec/page_quick.h"

#define BODY_MAX 1024

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

/* form: 0 open map, 1 counted; order: a letter for each member. */
static void make_of(maker *m, int form, const char *order, const char *number, const char *key,
                    const char *data) {
  char head = (char)(form ? 0xa0 + strlen(order) : 0xbf);
  m->n = 0;
  put(m, &head, 1);
  for (const char *o = order; *o; o++) {
    switch (*o) {
      case 'S':
        put_text(m, "SequenceNumber", 3);
        put_text(m, number, 3);
        break;
      case 'A':
        put_text(m, "ApproximateArrivalTimestamp", 3);
        put(m, "\xc1\x1b\x00\x00\x01\x9b\x7a\x35\x5a\x10", 10);
        break;
      case 'D':
        put_text(m, "Data", 3);
        put_text(m, data, 2);
        break;
      default: put_text(m, "PartitionKey", 3); put_text(m, key, 3);
    }
  }
  if (!form) put(m, "\xff", 1);
}

static const char *const orders[] = {"SADP", "SAPD", "SDAP", "SDPA", "SPAD", "SPDA", "ASDP",
                                     "ASPD", "ADSP", "ADPS", "APSD", "APDS", "DSAP", "DSPA",
                                     "DASP", "DAPS", "DPSA", "DPAS", "PSAD", "PSDA", "PASD",
                                     "PADS", "PDSA", "PDAS", "SD",   "S",    "AS",   "PS"};

static void make(maker *m, int form, size_t order, const char *key, const char *data) {
  make_of(m, form, orders[order], seq, key, data);
}

static int is(slp_str s, const char *z) { return slp_str_is(s, z); }

/* The same by the pull reader, strictly: 1 and the record, or 0. */
static int slowly(const maker *m, slp_rec *rec, size_t *ret_end) {
  static char body[BODY_MAX];
  slp_cbor c;
  memcpy(body, m->p, m->n);
  slp_cbor_begin(&c, body, m->n);
  *rec = (slp_rec){.arrived_ms = -1, .flags = SLP_REC_KEYLESS};
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
      rec->flags = 0;
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
    for (size_t order = 0; order < SLP_COUNT(orders); order++) {
      make(&m, form, order, "key", "payload");
      CHECK(compare(&m));
      make(&m, form, order, "", "");
      CHECK(compare(&m));
      make(&m, form, order, "sch\xc3\xb6n", "\xff\xfe");
      CHECK(compare(&m));
    }
}

TEST(takes_numbers_of_any_length_and_nothing_but_digits) {
  static maker m;
  char number[132];
  for (size_t n = 0; n <= 131; n++) {
    memset(number, '7', n);
    number[n] = 0;
    make_of(&m, 0, "SADP", number, "key", "payload");
    CHECK_INT(compare(&m), n > 0 && n <= 129);
    for (size_t i = 0; i < n && n <= 129; i++) {
      static const char wrong[] = {'0' - 1, '9' + 1, 0, (char)0x80, (char)('0' + 0x80), (char)0xff, 'a', ' '};
      for (size_t k = 0; k < sizeof wrong; k++) {
        make_of(&m, 0, "SADP", number, "key", "payload");
        m.p[16 + (n >= 24) + 1 + i] = wrong[k];
        CHECK(!compare(&m));
      }
    }
    if (n < 2 || n > 129) continue;
    number[0] = '0';
    make_of(&m, 0, "SADP", number, "key", "payload");
    CHECK(compare(&m));
  }
}

TEST(takes_keys_and_data_of_any_length) {
  static maker m;
  char text[300];
  for (size_t n = 0; n < 300; n += n < 40 ? 1 : 13) {
    memset(text, 'k', n);
    text[n] = 0;
    make_of(&m, 0, "SADP", seq, n < 256 ? text : "", n < 256 ? "" : "payload");
    CHECK(compare(&m));
    make_of(&m, 1, "PDAS", seq, "", n < 256 ? text : "");
    CHECK(compare(&m));
    for (size_t i = 0; i < n && n < 40; i++) {
      text[i] = '\xc3'; /* half a letter */
      make_of(&m, 0, "SADP", seq, text, "payload");
      CHECK(!compare(&m));
      text[i] = 'k';
    }
  }
}

TEST(leaves_the_unusual_alone) {
  static maker m;
  make(&m, 0, 0, "broken \xc3(", "x"); /* not UTF-8 */
  CHECK(!compare(&m));
  make(&m, 1, 0, "key", "x");
  m.p[0] = '\xa3'; /* a member less than there are, and what follows is not another record */
  CHECK(!compare(&m));
  m.p[0] = '\xa5';
  CHECK(!compare(&m));
  m.p[0] = '\x84'; /* a list */
  CHECK(!compare(&m));
  static const char *const wrong[] = {"", "D", "ADP", "SS", "SADPS", "SADPD", "SASADP"};
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) /* no sequence number, or a member that is given twice */
    for (int form = 0; form < 2; form++) {
      make_of(&m, form, wrong[i], seq, "key", "payload");
      CHECK(!compare(&m));
    }
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
  for (int form = 0; form < 2; form++)
    for (size_t order = 0; order < SLP_COUNT(orders); order++) {
      make(&whole, form, order, "key", "payload");
      for (size_t n = 0; n < whole.n; n++) {
        m = whole;
        m.n = n;
        CHECK(!compare(&m));
      }
    }
}

/* The CBOR reader: RFC 8949 appendix A and hard cases, whole, in slices of every size, and cut short. */
#include "codec/cbor.h"

#include <math.h>

#include "check.h"

static size_t unhex(const char *hex, char *out) {
  size_t n = 0;
  unsigned v;
  for (; hex[0]; hex += 2) {
    CHECK(sscanf(hex, "%2x", &v) == 1);
    out[n++] = (char)v;
  }
  return n;
}

static size_t show(char *out, size_t max, const slp_cbor *c, int t) {
  switch (t) {
    case SLP_CBOR_UINT: return (size_t)snprintf(out, max, "%" PRIu64 " ", c->u);
    case SLP_CBOR_NEG: return (size_t)snprintf(out, max, "-1-%" PRIu64 " ", c->u);
    case SLP_CBOR_TAG: return (size_t)snprintf(out, max, "#%" PRIu64 " ", c->u);
    case SLP_CBOR_SIMPLE: return (size_t)snprintf(out, max, "s%" PRIu64 " ", c->u);
    case SLP_CBOR_FLOAT: return (size_t)snprintf(out, max, isnan(c->f) ? "nan " : "%.17gf ", c->f);
    case SLP_CBOR_TEXT:
      return (size_t)snprintf(out, max, "%s'%.*s' ", c->is_key ? "K" : "", (int)c->text.n, c->text.p);
    case SLP_CBOR_BYTES: return (size_t)snprintf(out, max, "h'%.*s' ", (int)c->text.n, c->text.p);
    default: return (size_t)snprintf(out, max, "%c", ".{}[]      tfz"[t]);
  }
}

static void tokens(const char *bytes, size_t n, size_t slice, char *out, size_t max) {
  char *body = malloc(n + 1);
  memcpy(body, bytes, n);
  slp_cbor c;
  size_t w = 0;
  slp_cbor_begin(&c, body, n);
  if (slice) c.pause_at = slice;
  for (;;) {
    int t = slp_cbor_next(&c);
    if (t == SLP_CBOR_PAUSE) {
      CHECK(slice && c.at >= c.pause_at);
      c.pause_at = c.at + slice;
      continue;
    }
    if (t < 0) {
      CHECK(c.why != NULL);
      snprintf(out + w, max - w, "%c", t == SLP_ELIMIT ? '^' : '!');
      break;
    }
    w += show(out + w, max - w, &c, t);
    CHECK(w < max);
    if (t == SLP_CBOR_END) break;
  }
  free(body);
}

static const struct {
  const char *hex, *want;
} table[] = {
    {"00", "0 ."},
    {"17", "23 ."},
    {"1818", "24 ."},
    {"1903e8", "1000 ."},
    {"1a000f4240", "1000000 ."},
    {"1bffffffffffffffff", "18446744073709551615 ."},
    {"3bffffffffffffffff", "-1-18446744073709551615 ."},
    {"20", "-1-0 ."},
    {"3903e7", "-1-999 ."},
    {"f90000", "0f ."},
    {"f98000", "-0f ."},
    {"f93c00", "1f ."},
    {"f93e00", "1.5f ."},
    {"f97bff", "65504f ."},
    {"f90001", "5.9604644775390625e-08f ."},
    {"f90400", "6.103515625e-05f ."},
    {"f9c400", "-4f ."},
    {"fa47c35000", "100000f ."},
    {"fb3ff199999999999a", "1.1000000000000001f ."},
    {"f97c00", "inff ."},
    {"f9fc00", "-inff ."},
    {"f97e00", "nan ."},
    {"fa7f800000", "inff ."},
    {"f4", "f."},
    {"f5", "t."},
    {"f6", "z."},
    {"f7", "z."},
    {"f0", "s16 ."},
    {"f8ff", "s255 ."},
    {"c11a514b67b0", "#1 1363896240 ."},
    {"c1fb41d452d9ec200000", "#1 1363896240.5f ."},
    {"40", "h'' ."},
    {"4401020304", "h'\x01\x02\x03\x04' ."},
    {"60", "'' ."},
    {"6161", "'a' ."},
    {"62c3bc", "'\xC3\xBC' ."},
    {"64f0908591", "'\xF0\x90\x85\x91' ."},
    {"80", "[]."},
    {"83010203", "[1 2 3 ]."},
    {"8301820203820405", "[1 [2 3 ][4 5 ]]."},
    {"a0", "{}."},
    {"a26161016162820203", "{K'a' 1 K'b' [2 3 ]}."},
    {"5f42616243636465ff", "h'abcde' ."},
    {"7f657374726561646d696e67ff", "'streaming' ."},
    {"5fff", "h'' ."},
    {"7fff", "'' ."},
    {"7f6060616160ff", "'a' ."},
    {"9fff", "[]."},
    {"bfff", "{}."},
    {"9f018202039f0405ffff", "[1 [2 3 ][4 5 ]]."},
    {"bf61610161629f0203ffff", "{K'a' 1 K'b' [2 3 ]}."},
    {"826161bf61626163ff", "['a' {K'b' 'c' }]."},
    {"bf7f6161ff5f4162ffff", "{K'a' h'b' }."},
    {"c1c201", "#1 #2 1 ."},
    {"1800", "0 ."},
    {"c19f01ff", "#1 [1 ]."},
    /* refused */
    {"1c", "!"},
    {"1d", "!"},
    {"1e", "!"},
    {"1f", "!"},
    {"3f", "!"},
    {"5c", "!"},
    {"7d", "!"},
    {"9e", "!"},
    {"bc", "!"},
    {"df01", "!"},
    {"fc", "!"},
    {"fd", "!"},
    {"fe", "!"},
    {"ff", "!"},
    {"f800", "!"},
    {"f81f", "!"},
    {"0000", "0 !"},
    {"81", "!"},
    {"8201", "!"},
    {"820118", "[1 !"},
    {"a1", "!"},
    {"a10102", "{!"},
    {"a1616101ff", "{K'a' 1 }!"},
    {"a16161", "{K'a' !"},
    {"a161c3", "{!"},
    {"bf6161ff", "{K'a' !"},
    {"8101ff", "[1 ]!"},
    {"82ff01", "[!"},
    {"9fc1ff", "[#1 !"},
    {"c1", "#1 !"},
    {"61ff", "!"},
    {"62c328", "!"},
    {"63eda080", "!"},
    {"5f6161ff", "!"},
    {"7f4161ff", "!"},
    {"5f5f4161ffff", "!"},
    {"7f61c361bcff", "!"},
    {"5f41", "!"},
    {"5f4161", "!"},
    {"5bffffffffffffffff00", "!"},
    {"7b7fffffffffffffff00", "!"},
    {"9bffffffffffffffff00", "!"},
    {"bbffffffffffffffff00", "!"},
    {"bb800000000000000000", "!"},
    {"a1c1616101", "{!"},
    {"bfc1616101ff", "{!"},
    {"a1f601", "{!"},
    {"a1416101", "{!"},
    {"", "!"},
};

TEST(bytes_give_their_tokens_whatever_the_slices) {
  char bytes[100], out[300];
  for (size_t i = 0; i < SLP_COUNT(table); i++) {
    size_t n = unhex(table[i].hex, bytes);
    for (size_t slice = 0; slice <= n + 1; slice++) {
      tokens(bytes, n, slice, out, sizeof out);
      if (strcmp(out, table[i].want)) {
        CHECK_FAIL("%s in slices of %zu is %s, not %s", table[i].hex, slice, out, table[i].want);
      }
    }
  }
}

TEST(nothing_cut_short_is_taken) {
  char bytes[100], out[300];
  for (size_t i = 0; i < SLP_COUNT(table); i++) {
    size_t n = unhex(table[i].hex, bytes);
    if (table[i].want[strlen(table[i].want) - 1] != '.') continue;
    for (size_t cut = 0; cut < n; cut++) {
      tokens(bytes, cut, 0, out, sizeof out);
      CHECK_STR(out + strlen(out) - 1, "!");
    }
  }
}

TEST(depth_has_a_limit) {
  char body[200];
  for (int open = 0x81; open <= 0x9f; open += 0x1e) {
    for (size_t depth = SLP_CBOR_DEPTH_MAX - 1; depth <= SLP_CBOR_DEPTH_MAX + 1; depth++) {
      slp_cbor c;
      memset(body, open, depth);
      body[depth] = 0;
      memset(body + depth + 1, 0xff, depth);
      slp_cbor_begin(&c, body, open == 0x81 ? depth + 1 : 2 * depth + 1);
      CHECK_INT(slp_cbor_skip(&c), depth > SLP_CBOR_DEPTH_MAX ? SLP_ELIMIT : 0);
    }
  }
}

TEST(skip_passes_over_exactly_one_value) {
  char body[200];
  size_t n = unhex("bf6161a16178c182018061629fc1f6ff61635f41ffff6164c1c101ff", body);
  slp_cbor c;
  slp_cbor_begin(&c, body, n);
  CHECK_INT(slp_cbor_next(&c), SLP_CBOR_MAP);
  for (const char *want = "abcd"; *want; want++) {
    CHECK_INT(slp_cbor_next(&c), SLP_CBOR_TEXT);
    CHECK_MEM(c.text.p, c.text.n, want, 1);
    CHECK_INT(slp_cbor_skip(&c), 0);
  }
  CHECK_INT(slp_cbor_next(&c), SLP_CBOR_MAP_END);
  CHECK_INT(slp_cbor_next(&c), SLP_CBOR_END);
}

static int time_of(const char *hex, int64_t *ms) {
  char body[40];
  slp_cbor c;
  slp_cbor_begin(&c, body, unhex(hex, body));
  return slp_cbor_time_ms(&c, ms);
}

TEST(times_in_every_dialect) {
  static const struct {
    const char *hex;
    int r;
    int64_t ms;
  } cases[] = {{"c11b000001a013accc38", 0, 1787036486712}, /* AWS: tag 1 and integer ms, against RFC 8949 */
               {"1b000001a013accc38", 0, 1787036486712},   /* kinesis-mock: no tag */
               {"fb41da85118388c49c", 0, 1779713550137},   /* kinesalite: a double of seconds */
               {"c11a514b67b0", 0, 1363896240000},         /* RFC 8949: integer seconds */
               {"fb4279fd2cbbacc000", 0, 1785947994828},
               {"00", 0, 0},
               {"fb0000000000000000", 0, 0},
               {"1b000000174876e7ff", 0, 99999999999000},
               {"1b000000174876e800", 0, 100000000000},
               {"3b000000174876e7ff", 0, -100000000000},
               {"3a000003e7", 0, -1000000},
               {"f6", 0, 77},
               {"f97e00", SLP_EBADDATA, 77},
               {"f97c00", SLP_ELIMIT, 77},
               {"1bffffffffffffffff", SLP_ELIMIT, 77},
               {"3bffffffffffffffff", SLP_ELIMIT, 77},
               {"6131", SLP_EBADDATA, 77},
               {"c1f5", SLP_EBADDATA, 77}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    int64_t ms = 77;
    int r = time_of(cases[i].hex, &ms);
    if (r != cases[i].r || ms != cases[i].ms) CHECK_FAIL("%s gives %d, %" PRId64, cases[i].hex, r, ms);
  }
}

TEST(typed_values) {
  char body[100];
  size_t n = unhex("856161f64262636164c101", body);
  slp_cbor c;
  slp_str s;
  int is_text;
  int64_t v = 77;
  slp_cbor_begin(&c, body, n);
  CHECK_INT(slp_cbor_next(&c), SLP_CBOR_ARRAY);
  CHECK_INT(slp_cbor_text(&c, &s), 0);
  CHECK_MEM(s.p, s.n, "a", 1);
  CHECK_INT(slp_cbor_text(&c, &s), 0);
  CHECK(!s.p && !s.n);
  CHECK_INT(slp_cbor_blob(&c, &s, &is_text), 0);
  CHECK_MEM(s.p, s.n, "bc", 2);
  CHECK_INT(is_text, 0);
  CHECK_INT(slp_cbor_blob(&c, &s, &is_text), 0);
  CHECK_INT(is_text, 1);
  CHECK_INT(slp_cbor_i64(&c, &v), 0);
  CHECK_INT(v, 1);
}

TEST(another_kind_of_value_is_refused_and_named) {
  char null[] = "\xf6", one[] = "\x01", truth[] = "\xf5";
  slp_cbor c;
  slp_str s = SLP_STR("before");
  int is_text = 5;
  slp_cbor_begin(&c, null, 1);
  CHECK_INT(slp_cbor_blob(&c, &s, &is_text), 0);
  CHECK(!s.p && !s.n && !is_text);
  slp_cbor_begin(&c, one, 1);
  CHECK_INT(slp_cbor_text(&c, &s), SLP_EBADDATA);
  CHECK_STR(c.why, "expected text");
  slp_cbor_begin(&c, truth, 1);
  CHECK_INT(slp_cbor_blob(&c, &s, &is_text), SLP_EBADDATA);
  CHECK_STR(c.why, "expected bytes");
}

TEST(whole_numbers) {
  static const struct {
    const char *hex;
    int r;
    int64_t v;
  } cases[] = {{"01", 0, 1},
               {"c10a", 0, 10},
               {"20", 0, -1},
               {"f93c00", 0, 1},
               {"fb3ff199999999999a", SLP_EBADDATA, 77},
               {"f6", 0, 77},
               {"1b7fffffffffffffff", 0, INT64_MAX},
               {"3b7fffffffffffffff", 0, INT64_MIN},
               {"1b8000000000000000", SLP_ELIMIT, 77},
               {"3b8000000000000000", SLP_ELIMIT, 77},
               {"fb43e0000000000000", SLP_ELIMIT, 77},
               {"fbc3e0000000000000", 0, INT64_MIN},
               {"f97e00", SLP_EBADDATA, 77},
               {"80", SLP_EBADDATA, 77}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    char body[20];
    int64_t v = 77;
    slp_cbor c;
    slp_cbor_begin(&c, body, unhex(cases[i].hex, body));
    int r = slp_cbor_i64(&c, &v);
    if (r != cases[i].r || v != cases[i].v) CHECK_FAIL("%s gives %d, %" PRId64, cases[i].hex, r, v);
  }
}

TEST(what_is_written_is_the_shortest_form_and_reads_back) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  char want[200];
  slp_buf_init(&b, mem, 1000);
  slp_cbor_put_map(&b, UINT64_MAX);
  slp_cbor_put_text(&b, SLP_STR("t"));
  slp_cbor_put_time_ms(&b, 1787036486712);
  slp_cbor_put_text(&b, SLP_STR("a"));
  slp_cbor_put_array(&b, 7);
  slp_cbor_put_bytes(&b, SLP_STR("\xff\0"));
  slp_cbor_put_i64(&b, 23);
  slp_cbor_put_i64(&b, 24);
  slp_cbor_put_i64(&b, 256);
  slp_cbor_put_i64(&b, -65537);
  slp_cbor_put_bool(&b, 1);
  slp_cbor_put_null(&b);
  slp_cbor_put_text(&b, SLP_STR("m"));
  slp_cbor_put_map(&b, 0);
  slp_cbor_put_break(&b);
  size_t n = unhex(
      "bf6174c11b000001a013accc3861618742ff00171818"
      "1901003a00010000f5f6616da0ff",
      want);
  CHECK_MEM(b.p, b.n, want, n);
  int64_t edges[] = {0,         23,        24, 255, 256, 65535, 65536, UINT32_MAX, (int64_t)UINT32_MAX + 1,
                     INT64_MAX, INT64_MIN, -1, -24, -25, -256,  -257};
  for (size_t i = 0; i < SLP_COUNT(edges); i++) {
    slp_cbor c;
    int64_t v = 0;
    slp_buf_clear(&b);
    slp_cbor_put_i64(&b, edges[i]);
    slp_cbor_begin(&c, b.p, b.n);
    CHECK_INT(slp_cbor_i64(&c, &v), 0);
    CHECK_INT(v, edges[i]);
    CHECK_INT(slp_cbor_next(&c), SLP_CBOR_END);
  }
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(tags_upon_tags_end_at_the_limit) {
  for (size_t tags = SLP_CBOR_TAGS_MAX; tags <= SLP_CBOR_TAGS_MAX + 1; tags++) {
    char body[SLP_CBOR_TAGS_MAX + 2];
    slp_cbor c;
    memset(body, 0xc1, tags);
    body[tags] = 0;
    slp_cbor_begin(&c, body, tags + 1);
    CHECK_INT(slp_cbor_skip(&c), tags > SLP_CBOR_TAGS_MAX ? SLP_ELIMIT : 0);
  }
}

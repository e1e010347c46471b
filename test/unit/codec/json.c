/* The JSON reader: one table of texts and their tokens, read whole, in slices of every size, and cut short
 * everywhere; typed values. */
#include "codec/json.h"

#include "check.h"

/* Reads `text` pausing each `slice` bytes and writes its tokens: {}[]K"S"N T F Z, '.' at the end, '!' bad,
 * '^' over a limit. Keys and strings as K(...) and S(...), numbers N(...). */
static void tokens(const char *text, size_t n, size_t slice, char *out, size_t out_max) {
  char *body = malloc(n + 1);
  if (n) memcpy(body, text, n);
  slp_json j;
  size_t w = 0;
  slp_json_begin(&j, body, n);
  if (slice) j.pause_at = slice;
  for (;;) {
    int t = slp_json_next(&j);
    static const char marks[] = ".{}[]KSNTFZ";
    if (t == SLP_JSON_PAUSE) {
      CHECK(slice && j.at >= j.pause_at);
      j.pause_at = j.at + slice;
      continue;
    }
    if (w + j.text.n + 8 > out_max) CHECK_FAIL("token text too long");
    if (t < 0) {
      CHECK(j.why != NULL);
      out[w++] = t == SLP_ELIMIT ? '^' : '!';
      break;
    }
    out[w++] = marks[t];
    if (t == SLP_JSON_KEY || t == SLP_JSON_STRING || t == SLP_JSON_NUMBER) {
      CHECK(j.text.p >= body && j.text.p + j.text.n <= body + n);
      out[w++] = '(';
      memcpy(out + w, j.text.p, j.text.n);
      w += j.text.n;
      out[w++] = ')';
    }
    if (t == SLP_JSON_END) break;
  }
  out[w] = 0;
  free(body);
}

static const struct {
  const char *text, *want;
} table[] = {
    {"{}", "{}."},
    {" [ ] \r\n\t", "[]."},
    {"null", "Z."},
    {"true", "T."},
    {"false", "F."},
    {"\"\"", "S()."},
    {"0", "N(0)."},
    {"-0", "N(-0)."},
    {"-12.50e+7", "N(-12.50e+7)."},
    {"1E400", "N(1E400)."},
    {"[1,2,[3]]", "[N(1)N(2)[N(3)]]."},
    {"{\"a\":1,\"b\":{\"c\":[]}}", "{K(a)N(1)K(b){K(c)[]}}."},
    {"{ \"a\" : \"b\" , \"c\" : null }", "{K(a)S(b)K(c)Z}."},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "S(\"\\/\b\f\n\r\t)."},
    {"\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00x\"", "S(A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80x)."},
    {"{\"\\u006b\":1}", "{K(k)N(1)}."},
    {"\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"", "S(\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80)."},
    {"\"0123456789abcdef\\n0123456789abcdef0123456789abcdef\xC3\xA9 and 0123456789abcdef\"",
     "S(0123456789abcdef\n0123456789abcdef0123456789abcdef\xC3\xA9 and 0123456789abcdef)."},
    {"", "!"},
    {" ", "!"},
    {"[", "[!"},
    {"]", "!"},
    {"[1,]", "[N(1)!"},
    {"[,1]", "[!"},
    {"[1 2]", "[N(1)!"},
    {"{\"a\"}", "{K(a)!"},
    {"{\"a\":}", "{K(a)!"},
    {"{\"a\":1,}", "{K(a)N(1)!"},
    {"{a:1}", "{!"},
    {"{1:1}", "{!"},
    {"[1}", "[N(1)!"},
    {"{\"a\":1]", "{K(a)N(1)!"},
    {"{\"a\" \"b\"}", "{K(a)!"},
    {"[1]x", "[N(1)]!"},
    {"{}{}", "{}!"},
    {"01", "N(0)!"},
    {"+1", "!"},
    {".5", "!"},
    {"1.", "!"},
    {"1e", "!"},
    {"1e+", "!"},
    {"-", "!"},
    {"--1", "!"},
    {"0x10", "N(0)!"},
    {"NaN", "!"},
    {"tru", "!"},
    {"truex", "T!"},
    {"True", "!"},
    {"nul", "!"},
    {"'a'", "!"},
    {"\"", "!"},
    {"\"a", "!"},
    {"\"\\", "!"},
    {"\"\\x\"", "!"},
    {"\"\\u12\"", "!"},
    {"\"\\u12g4\"", "!"},
    {"\"\\ud800\"", "!"},
    {"\"\\udc00\"", "!"},
    {"\"\\ud800\\u0041\"", "!"},
    {"\"\\ud800\\ud800\"", "!"},
    {"\"\\ud83d\\uDE0\"", "!"},
    {"\"a\tb\"", "!"},
    {"\"a\nb\"", "!"},
    {"\"\x01\"", "!"},
    {"\"\x7f\"", "S(\x7f)."},
    {"\"\x80\"", "!"},
    {"\"\xC0\xAF\"", "!"},
    {"\"\xE0\x80\xAF\"", "!"},
    {"\"\xED\xA0\x80\"", "!"},
    {"\"\xF4\x90\x80\x80\"", "!"},
    {"\"\xF8\x88\x80\x80\x80\"", "!"},
    {"\"\xC3\"", "!"},
    {"\"\xE2\x82\"", "!"},
    {"\"\xF4\x8F\xBF\xBF\"", "S(\xF4\x8F\xBF\xBF)."},
    {"\xEF\xBB\xBF{}", "!"},
    {"[1]//", "[N(1)]!"},
    {"[\"a\",\n\"b\\/c\"]", "[S(a)S(b/c)]."},
};

TEST(texts_give_their_tokens_whatever_the_slices) {
  char out[400];
  for (size_t i = 0; i < SLP_COUNT(table); i++) {
    size_t n = strlen(table[i].text);
    for (size_t slice = 0; slice <= n + 1; slice++) {
      tokens(table[i].text, n, slice, out, sizeof out);
      if (strcmp(out, table[i].want)) {
        CHECK_FAIL("%s in slices of %zu is %s, not %s", table[i].text, slice, out, table[i].want);
      }
    }
  }
}

TEST(no_text_cut_short_is_taken) {
  char out[400];
  for (size_t i = 0; i < SLP_COUNT(table); i++) {
    size_t n = strlen(table[i].text), dots = strlen(table[i].want);
    char first = table[i].text[0];
    if (table[i].want[dots - 1] != '.' || (first != '{' && first != '[' && first != '"')) continue;
    for (size_t cut = 0; cut < n; cut++) {
      tokens(table[i].text, cut, 0, out, sizeof out);
      CHECK_STR(out + strlen(out) - 1, "!");
    }
  }
}

TEST(a_nul_in_a_string_is_a_byte) {
  char body[] = "\"a\\u0000b\"";
  slp_json j;
  slp_json_begin(&j, body, sizeof body - 1);
  CHECK_INT(slp_json_next(&j), SLP_JSON_STRING);
  CHECK_MEM(j.text.p, j.text.n, "a\0b", 3);
  char raw[] = {'"', 'a', 0, 'b', '"'};
  slp_json_begin(&j, raw, sizeof raw);
  CHECK_INT(slp_json_next(&j), SLP_EBADDATA);
}

TEST(depth_and_number_length_have_limits) {
  char body[2100];
  slp_json j;
  for (size_t depth = SLP_JSON_DEPTH_MAX - 1; depth <= SLP_JSON_DEPTH_MAX + 1; depth++) {
    memset(body, '[', depth);
    memset(body + depth, ']', depth);
    slp_json_begin(&j, body, 2 * depth);
    CHECK_INT(slp_json_skip(&j), depth > SLP_JSON_DEPTH_MAX ? SLP_ELIMIT : 0);
  }
  for (size_t n = SLP_JSON_NUMBER_MAX - 1; n <= SLP_JSON_NUMBER_MAX + 1; n++) {
    memset(body, '7', n);
    body[n] = ' ';
    slp_json_begin(&j, body, n + 1);
    CHECK_INT(slp_json_next(&j), n > SLP_JSON_NUMBER_MAX ? SLP_ELIMIT : SLP_JSON_NUMBER);
    slp_json_begin(&j, body, n);
    CHECK_INT(slp_json_next(&j), n > SLP_JSON_NUMBER_MAX ? SLP_ELIMIT : SLP_JSON_NUMBER);
  }
}

TEST(skip_passes_over_exactly_one_value) {
  char body[] = "{\"a\":{\"x\":[1,{\"y\":null}],\"z\":\"]}\"},\"b\":[],\"c\":7,\"d\":\"\\\"\",\"e\":true}";
  slp_json j;
  slp_json_begin(&j, body, sizeof body - 1);
  CHECK_INT(slp_json_next(&j), SLP_JSON_OBJECT);
  for (const char *want = "abcde"; *want; want++) {
    CHECK_INT(slp_json_next(&j), SLP_JSON_KEY);
    CHECK_MEM(j.text.p, j.text.n, want, 1);
    CHECK_INT(slp_json_skip(&j), 0);
  }
  CHECK_INT(slp_json_skip(&j), SLP_EBADDATA); /* nothing to skip before } */
  char whole[] = " [[1],{\"a\":2}] ";
  slp_json_begin(&j, whole, sizeof whole - 1);
  CHECK_INT(slp_json_skip(&j), 0);
  CHECK_INT(slp_json_next(&j), SLP_JSON_END);
}

static int i64(const char *text, int64_t *v) {
  char body[300];
  slp_json j;
  size_t n = strlen(text);
  memcpy(body, text, n);
  slp_json_begin(&j, body, n);
  return slp_json_i64(&j, v);
}

TEST(whole_numbers) {
  static const struct {
    const char *text;
    int r;
    int64_t v;
  } cases[] = {{"0", 0, 0},
               {"-0", 0, 0},
               {"9223372036854775807", 0, INT64_MAX},
               {"-9223372036854775808", 0, INT64_MIN},
               {"9223372036854775808", SLP_ELIMIT, 0},
               {"-9223372036854775809", SLP_ELIMIT, 0},
               {"1.0", 0, 1},
               {"1e3", 0, 1000},
               {"1200e-2", 0, 12},
               {"1.25", SLP_EBADDATA, 0},
               {"1e-1", SLP_EBADDATA, 0},
               {"1e19", SLP_ELIMIT, 0},
               {"1e400", SLP_ELIMIT, 0},
               {"0e99999999999999999999", 0, 0},
               {"1e99999999999999999999", SLP_ELIMIT, 0},
               {"0.000e-99999999999999999999", 0, 0},
               {"null", 0, 77},
               {"\"1\"", SLP_EBADDATA, 0},
               {"[1]", SLP_EBADDATA, 0},
               {"92233720368547758.07e2", 0, INT64_MAX},
               {"0.0000000000000000000000001e25", 0, 1}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    int64_t v = 77;
    int r = i64(cases[i].text, &v);
    if (r != cases[i].r) CHECK_FAIL("%s gives %d", cases[i].text, r);
    CHECK_INT(v, r ? 77 : cases[i].v);
  }
}

static int to_ms(const char *text, int64_t *v) { return slp_decimal_seconds_ms(slp_str_of(text), v); }

TEST(seconds_become_milliseconds_exactly) {
  static const struct {
    const char *text;
    int r;
    int64_t v;
  } cases[] = {{"1767312000.123", 0, 1767312000123},
               {"1.767312000123E9", 0, 1767312000123},
               {"1767312000", 0, 1767312000000},
               {"0.0004", 0, 0},
               {"0.0005", 0, 1},
               {"-0.0005", 0, -1},
               {"1.9999", 0, 2000},
               {"1e-3", 0, 1},
               {"5e-4", 0, 1},
               {"4.9e-4", 0, 0},
               {"9223372036854775.807", 0, INT64_MAX},
               {"9223372036854775.8074", 0, INT64_MAX},
               {"9223372036854775.8075", SLP_ELIMIT, 0},
               {"9223372036854775.808", SLP_ELIMIT, 0},
               {"1e400", SLP_ELIMIT, 0},
               {"-9223372036854775.808", 0, INT64_MIN},
               {"0.00000000000000001e20", 0, 1000000},
               {"", SLP_EBADDATA, 0},
               {"1x", SLP_EBADDATA, 0},
               {"1 ", SLP_EBADDATA, 0},
               {"-", SLP_EBADDATA, 0}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    int64_t v = 77;
    int r = to_ms(cases[i].text, &v);
    if (r != cases[i].r) CHECK_FAIL("%s gives %d", cases[i].text, r);
    CHECK_INT(v, r ? 77 : cases[i].v);
  }
}

TEST(typed_readers_take_null_and_refuse_other_kinds) {
  slp_json j;
  char body[] = "[null,\"x\",null,1,25,\"x\"]";
  slp_str s = SLP_STR("before");
  int64_t n = 9;
  slp_json_begin(&j, body, sizeof body - 1);
  slp_json_next(&j);
  CHECK_INT(slp_json_string(&j, &s), 0);
  CHECK(s.p == NULL && s.n == 0);
  CHECK_INT(slp_json_string(&j, &s), 0);
  CHECK_MEM(s.p, s.n, "x", 1);
  CHECK_INT(slp_json_i64(&j, &n), 0);
  CHECK_INT(n, 9);
  CHECK_INT(slp_json_string(&j, &s), SLP_EBADDATA);
  CHECK_INT(slp_json_i64(&j, &n), 0);
  CHECK_INT(n, 25);
  CHECK_INT(slp_json_i64(&j, &n), SLP_EBADDATA);
}

/* decode.c - chains of decoders, and the small ones. JSON has tests of its own. */
#include "cli/decode.h"

#include <zlib.h>

#include "check.h"

static slp_mem *mem;
static slp_buf out;
static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&out, mem, 1 << 24);
}
static void end(void) {
  slp_buf_free(&out);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static char why[200];

static int run_all(const slp_decode_chain *c, slp_str in, uint64_t limit, slp_str *ret) {
  static slp_decoding d;
  if (!d.mem) slp_decoding_init(&d, mem);
  slp_decoding_begin(&d, c, in, limit);
  int r;
  do r = slp_decoding_step(&d, why);
  while (r == 1);
  *ret = d.in;
  if (!r && d.in.n && d.in.p != in.p) { /* it outlives the memory of the steps */
    slp_buf_clear(&out);
    slp_buf_add_str(&out, d.in);
    *ret = slp_buf_str(&out);
  }
  slp_decoding_free(&d);
  d.mem = NULL;
  return r;
}

/* Runs the chain over the input; "!" and the reason when it fails. */
static const char *run(const char *chain, slp_str in) {
  static char text[400];
  slp_decode_chain c;
  slp_str got;
  begin();
  CHECK_INT(slp_decode_parse(chain, &c, why), 0);
  int r = run_all(&c, in, 1 << 24, &got);
  if (r)
    snprintf(text, sizeof text, "!%s", why);
  else
    snprintf(text, sizeof text, "%.*s", (int)got.n, got.p);
  end();
  return text;
}

TEST(each_by_itself) {
  CHECK_STR(run("base64", SLP_STR("aGVsbG8=")), "hello");
  CHECK_STR(run("base64", SLP_STR("aGVsbG8=\n")), "hello");
  CHECK_STR(run("base64", SLP_STR("")), "");
  CHECK_STR(run("base64", SLP_STR("a")), "!base64: it is not base64");
  CHECK_STR(run("hex", SLP_STR("48656C6c6f\r\n")), "Hello");
  CHECK_STR(run("hex", SLP_STR("486")), "!hex: it is not hex");
  CHECK_STR(run("hex", SLP_STR("4g")), "!hex: it is not hex");
  CHECK_STR(run("utf8", SLP_STR("a\xff\xe2\x82z\xc3\xa9")), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xc3\xa9");
  CHECK_STR(run("gzip", SLP_STR("x")), "!gzip: it is neither gzip nor zlib, or it is damaged");
  CHECK_STR(run("plain-json", SLP_STR("[1 , 2]")), "[1,2]");
  CHECK_STR(run("plain-json", SLP_STR("[1")), "!plain-json: it is not JSON");
  CHECK_STR(run("ddb-json", SLP_STR("{\"a\":{\"N\":\"1\"}}")), "{\"a\":1}");
  CHECK_STR(run("ddb-json", SLP_STR("{\"a\":1}")), "!ddb-json: it is not DynamoDB's JSON");
}

TEST(an_empty_text_is_empty_after_every_step) {
  for (size_t i = 0; slp_decoder_at(i); i++)
    if (!slp_decoder_at(i)->needs) CHECK_STR(run(slp_decoder_at(i)->name, SLP_STR("")), "");
  CHECK_STR(run("base64,hex,gzip,ddb-json", SLP_STR("")), "");
  CHECK_STR(run("gzip,plain-json", (slp_str){"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20}), "");
}

TEST(steps_follow_each_other) {
  CHECK_STR(run("hex,base64,plain-json", SLP_STR("57794a6849694264")), "[\"a\"]"); /* WyJhIiBd */
  CHECK_STR(run("hex,base64,hex", SLP_STR("57794a6849694264")), "!hex: it is not hex");
  CHECK_STR(run("base64,gzip", SLP_STR("H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==")), "hello");
  CHECK_STR(run("base64,cwlogs", SLP_STR("aGVsbG8=")), "hello"); /* what is before it */
}

TEST(no_step_is_the_input_itself) {
  slp_decode_chain none = {{0}, 0};
  slp_str got, in = SLP_STR("x");
  begin();
  CHECK_INT(run_all(&none, in, 1, &got), 0);
  CHECK(got.p == in.p && got.n == 1);
  end();
}

TEST(chains_as_text) {
  slp_decode_chain c = {{0}, 0};
  CHECK_INT(slp_decode_parse("base64,gzip,cwlogs", &c, why), 0);
  CHECK(slp_decode_makes_events(&c) && !slp_decode_makes_json(&c));
  CHECK_INT(slp_decode_parse("gzip,ddb-json", &c, why), 0);
  CHECK(slp_decode_makes_json(&c));
  static const char *const bad[] = {
      "", "Base64", "base64,", ",base64", "base64,,hex", "cwlogs,utf8", "hex,hex,hex,hex,hex,hex,hex"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    *why = 0;
    if (slp_decode_parse(bad[i], &c, why) != SLP_EINVAL) CHECK_FAIL("\"%s\" is taken", bad[i]);
    CHECK(strncmp(why, "-s: ", 4) == 0 && strlen(why) < 199);
  }
  CHECK_INT(c.n, 2); /* as it was */
}

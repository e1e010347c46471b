/* json_write.c - the JSON writer against jansson: random documents, byte for byte and value for value; and
 * its errors without room, without memory, and for a text that is not UTF-8. */
#include "codec/json_write.h"

#include <stdlib.h>

#include "base/clean.h"
#include "check.h"
#include "codec/json.h"
#if SLP_HAVE_JANSSON
#include <jansson.h>
#endif

static slp_mem *mem;

static void check_put(int (*put)(slp_buf *, slp_str), slp_str in, const char *want) {
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  slp_buf_add_z(&b, "x");
  int r = put(&b, in);
  CHECK_INT(r, want ? 0 : SLP_EBADDATA);
  CHECK_STR(slp_buf_z(&b) + 1, want ? want : "");
  slp_buf_free(&b);
}

TEST(written_strings) {
  mem = slp_mem_new(NULL, NULL);
  check_put(slp_json_put_string, SLP_STR(""), "\"\"");
  check_put(slp_json_put_string, SLP_STR("a\"\\/\b\f\n\r\t\x01\x1f\0z"),
            "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u0000z\"");
  check_put(slp_json_put_string, SLP_STR("\x7f\xC2\x85\xE2\x80\xA8\xC3\xA9"),
            "\"\x7f\xC2\x85\xE2\x80\xA8\xC3\xA9\"");
  check_put(slp_json_put_line_string,
            SLP_STR("a\x7f"
                    "b\xC2\x85\xC2\x9B\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xA7\xC3\xA9\xC2\xA0\n"),
            "\"a\\u007fb\\u0085\\u009b\\u2028\\u2029\xE2\x80\xA7\xC3\xA9\xC2\xA0\\n\"");
  check_put(slp_json_put_line_string,
            SLP_STR("\xD8\x9B\xD8\x9C\xE2\x80\x8E\xE2\x80\xAE\xE2\x80\xAF\xE2\x81\xA6\xE2\x81\xAA"),
            "\"\xD8\x9B\\u061c\\u200e\\u202e\xE2\x80\xAF\\u2066\xE2\x81\xAA\"");
  check_put(slp_json_put_string, SLP_STR("ab\xFF"), NULL);
  check_put(slp_json_put_string, SLP_STR("ab\xE2\x80"), NULL);
  check_put(slp_json_put_line_string, SLP_STR("0123456789abcdef\xED\xA0\x80"), NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 5);
  CHECK_INT(slp_json_put_string(&b, SLP_STR("\n\n")), SLP_ELIMIT);
  CHECK_INT(b.n, 0);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

/* Nothing in it moves a terminal, ends the line or turns its direction. */
static void check_harmless(const slp_buf *b) {
  for (size_t i = 0; i < b->n; i += slp_safe_length(b->p + i, b->n - i))
    if (slp_unsafe_length(b->p + i, b->n - i)) CHECK_FAIL("byte %zu of %.*s", i, (int)b->n, b->p);
}

TEST(every_code_point_is_written_and_read_back) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 100);
  for (uint32_t c = 0; c < 0x110000; c++) {
    char u[4];
    size_t n = 0;
    if (c < 0x80)
      u[n++] = (char)c;
    else if (c < 0x800)
      u[n++] = (char)(0xC0 | c >> 6), u[n++] = (char)(0x80 | (c & 63));
    else if (c < 0x10000)
      u[n++] = (char)(0xE0 | c >> 12), u[n++] = (char)(0x80 | (c >> 6 & 63)),
      u[n++] = (char)(0x80 | (c & 63));
    else
      u[n++] = (char)(0xF0 | c >> 18), u[n++] = (char)(0x80 | (c >> 12 & 63)),
      u[n++] = (char)(0x80 | (c >> 6 & 63)), u[n++] = (char)(0x80 | (c & 63));
    int surrogate = c >= 0xD800 && c <= 0xDFFF;
    CHECK_INT(slp_utf8_valid((slp_str){u, n}), !surrogate);
    slp_buf_clear(&b);
    CHECK_INT(slp_json_put_line_string(&b, (slp_str){u, n}), surrogate ? SLP_EBADDATA : 0);
    if (surrogate) continue;
    check_harmless(&b);
    if (c >= 0x80 && !slp_unsafe_length(u, n)) CHECK_INT(b.n, n + 2); /* and what is harmless stays */
    slp_json j;
    slp_json_begin(&j, b.p, b.n);
    CHECK_INT(slp_json_next(&j), SLP_JSON_STRING);
    CHECK_MEM(j.text.p, j.text.n, u, n);
    CHECK_INT(slp_json_next(&j), SLP_JSON_END);
  }
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

/* ---- random texts against a writer that does one character at a time ---- */

static uint64_t random_state = 88172645463325252u;
static uint32_t next_random(uint32_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 11) % below;
}

/* A plain reading of RFC 8259 and of what "unsafe" means. Returns 0 if the text is not UTF-8. */
static int plain_writer(slp_buf *b, slp_str s, int one_line) {
  slp_buf_add_char(b, '"');
  for (size_t i = 0; i < s.n;) {
    uint8_t c = (uint8_t)s.p[i];
    size_t len = slp_safe_length(s.p + i, s.n - i);
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    const char *letter = c ? strchr(from, (char)c) : NULL;
    if (!len) return 0;
    uint32_t unit = c;
    if (len == 2) unit = (c & 31u) << 6 | (s.p[i + 1] & 63u);
    if (len == 3) unit = (c & 15u) << 12 | (s.p[i + 1] & 63u) << 6 | (s.p[i + 2] & 63u);
    if (letter)
      slp_buf_addf(b, "\\%c", to[letter - from]);
    else if (c < 0x20 || (one_line && slp_unsafe_length(s.p + i, len)))
      slp_buf_addf(b, "\\u%04x", unit);
    else
      slp_buf_add(b, s.p + i, len);
    i += len;
  }
  slp_buf_add_char(b, '"');
  return 1;
}

/* Makes a text whose kinds of characters come in runs, and are rare or frequent. */
static size_t make_text(char *to, size_t most) {
  static const char *const others[] = {
      "\"",       "\\",           "\n",           "\t",           "\b",
      "\x01",     "\x7f",         "\xc3\xa9",     "\xd0\xb6",     "\xd8\x9c",
      "\xc2\x85", "\xe2\x82\xac", "\xe2\x80\xa8", "\xe4\xb8\xad", "\xf0\x9f\x98\x80",
      "\xff",     "\xed\xa0\x80", "\xe4\xb8"};
  static const uint32_t often[] = {2, 3, 8, 30, 1000};
  uint32_t rare = often[next_random(5)], kinds = next_random(4) ? 15 : SLP_COUNT(others), kind = 0;
  size_t n = 0, wanted = next_random((uint32_t)most + 1);
  while (n < wanted) {
    if (next_random(3) == 0) kind = next_random(kinds);
    if (next_random(rare)) {
      to[n++] = (char)(' ' + next_random(95));
      continue;
    }
    size_t len = strlen(others[kind]);
    memcpy(to + n, others[kind], len);
    n += len;
  }
  return n;
}

static void check_text(slp_str in, int one_line, size_t *ret_good, size_t *ret_bad) {
  slp_buf want, got;
  size_t before = next_random(300);
  slp_buf_init(&want, mem, 1 << 20);
  int is_text = plain_writer(&want, in, one_line);
  /* exactly as much room as is needed, one byte less, or much */
  size_t exact = before + want.n, max = next_random(3) ? exact + next_random(4000) : exact - next_random(2);
  slp_buf_init(&got, mem, max);
  for (size_t i = 0; i < before; i++) slp_buf_add_char(&got, 'x');
  int r = (one_line ? slp_json_put_line_string : slp_json_put_string)(&got, in);
  if (!is_text) {
    CHECK(r == SLP_EBADDATA || (r == SLP_ELIMIT && max < before + in.n * 6 + 2));
    CHECK_INT(got.n, before);
    slp_buf_cut(&got, before);
    if (one_line && r == SLP_EBADDATA) {
      CHECK_INT(slp_json_try_line_string(&got, in), 0);
      CHECK_INT(slp_buf_failed(&got), 0);
      CHECK_INT(got.n, before);
    }
    (*ret_bad)++;
  } else if (max < exact) {
    CHECK_INT(r, SLP_ELIMIT);
    CHECK_INT(got.n, before);
  } else {
    CHECK_INT(r, 0);
    CHECK_MEM(got.p + before, got.n - before, want.p, want.n);
    (*ret_good)++;
  }
  slp_buf_free(&want);
  slp_buf_free(&got);
}

TEST(random_texts_are_what_a_plain_writer_writes) {
  static char text[5000];
  size_t good = 0, bad = 0;
  mem = slp_mem_new(NULL, NULL);
  for (int round = 0; round < 60000; round++) {
    size_t n = make_text(text, round % 50 ? 120 : 4900);
    char *exact = malloc(n + 1); /* what is read behind it shows with a sanitizer */
    memcpy(exact, text, n);
    check_text((slp_str){exact, n}, round & 1, &good, &bad);
    free(exact);
  }
  CHECK(good > 20000 && bad > 5000);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* ---- documents ---- */

/* Every kind of value in every place. */
static int write_all(slp_buf *b, int spaced) {
  slp_jw w = {.b = b, .spaced = (uint8_t)spaced};
  slp_jw_object(&w, NULL);
  slp_jw_array(&w, "none");
  slp_jw_array_end(&w);
  slp_jw_z(&w, "z", "a\"b");
  slp_jw_z(&w, "no z", NULL);
  slp_jw_z_or_null(&w, "some", "x");
  slp_jw_z_or_null(&w, "empty", "");
  slp_jw_z_or_null(&w, "no", NULL);
  slp_jw_object(&w, "in");
  slp_jw_object_end(&w);
  slp_jw_key(&w, SLP_STR("k\n"));
  slp_jw_array(&w, NULL);
  slp_jw_u64(&w, NULL, UINT64_MAX);
  slp_jw_i64(&w, NULL, INT64_MIN);
  slp_jw_i64_or_null(&w, NULL, 0);
  slp_jw_i64_or_null(&w, NULL, -1);
  slp_jw_scaled(&w, NULL, 1500, 3);
  slp_jw_bool(&w, NULL, 0);
  slp_jw_object(&w, NULL);
  slp_jw_bool(&w, "on", 2);
  slp_jw_null(&w, "null");
  slp_jw_object_end(&w);
  slp_jw_array(&w, NULL);
  slp_jw_str(&w, NULL, SLP_STR("s"));
  slp_jw_array_end(&w);
  slp_jw_base64(&w, NULL, SLP_STR("abcd"));
  slp_jw_array_end(&w);
  slp_jw_raw(&w, "raw", SLP_STR("{}"));
  slp_jw_raw(&w, NULL, SLP_STR("\"a\":1,\"b\":2"));
  slp_jw_value(&w, "mine");
  slp_buf_add_z(b, "0.25");
  slp_jw_key(&w, SLP_STR(""));
  slp_jw_null(&w, NULL);
  slp_jw_object_end(&w);
  return slp_buf_failed(b);
}

static const char all_of_it[] =
    "{\"none\":[],\"z\":\"a\\\"b\",\"no z\":\"\",\"some\":\"x\",\"empty\":null,\"no\":null,\"in\":{},"
    "\"k\\n\":[18446744073709551615,-9223372036854775808,0,null,1.5,false,{\"on\":true,\"null\":null},"
    "[\"s\"],\"YWJjZA==\"],\"raw\":{},\"a\":1,\"b\":2,\"mine\":0.25,\"\":null}";

TEST(commas_and_colons_come_by_themselves) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  slp_buf_add_z(&b, "{["); /* what stands in front does not matter */
  CHECK_INT(write_all(&b, 0), 0);
  CHECK_STR(slp_buf_z(&b) + 2, all_of_it);
  slp_buf_clear(&b);
  slp_jw w = {.b = &b, .spaced = 1};
  slp_jw_object(&w, NULL);
  slp_jw_u64(&w, "a", 1);
  slp_jw_key(&w, SLP_STR("b"));
  slp_jw_array(&w, NULL);
  slp_jw_null(&w, NULL);
  slp_jw_null(&w, NULL);
  slp_jw_array_end(&w);
  slp_jw_object_end(&w);
  CHECK_STR(slp_buf_z(&b), "{\"a\": 1, \"b\": [null, null]}");
  slp_buf_clear(&b);
  w = (slp_jw){.b = &b, .one_line = 1};
  slp_jw_z(&w, NULL, "\x7f\xC2\x85");
  CHECK_STR(slp_buf_z(&b), "\"\\u007f\\u0085\"");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

/* ---- errors ---- */

TEST(just_enough_room_is_enough_and_one_byte_less_is_not) {
  mem = slp_mem_new(NULL, NULL);
  for (size_t max = 0; max < sizeof all_of_it; max++) {
    slp_buf b;
    slp_buf_init(&b, mem, max);
    CHECK_INT(write_all(&b, 0), max == sizeof all_of_it - 1 ? 0 : SLP_ELIMIT);
    CHECK(b.n <= max && memcmp(slp_buf_z(&b), all_of_it, b.n) == 0);
    slp_buf_free(&b);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static int left;
static void *failing(void *ctx, void *p, size_t was, size_t want) {
  (void)ctx;
  (void)was;
  if (want == 0) {
    free(p);
    return NULL;
  }
  return left-- == 0 ? NULL : realloc(p, want); /* the next ones work again */
}

TEST(without_memory_once_nothing_more_is_written) {
  int n = 0, r;
  do {
    left = -1;
    mem = slp_mem_new(failing, NULL);
    slp_buf b;
    slp_buf_init(&b, mem, 1000);
    left = n;
    r = write_all(&b, 0);
    CHECK_INT(r, left < 0 ? SLP_ENOMEM : 0);
    CHECK(b.n < sizeof all_of_it && memcmp(slp_buf_z(&b), all_of_it, b.n) == 0);
    if (r) CHECK(b.n < sizeof all_of_it - 1);
    slp_buf_clear(&b);
    left = -1;
    CHECK_INT(write_all(&b, 0), 0);
    CHECK_STR(slp_buf_z(&b), all_of_it);
    slp_buf_free(&b);
    slp_mem_drop(mem);
    n++;
  } while (r);
  CHECK(n > 3); /* 64 bytes, 128, 256, and the run that went well */
}

TEST(a_text_that_is_not_utf8_ends_it) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  slp_jw w = {.b = &b};
  slp_jw_array(&w, NULL);
  slp_jw_str(&w, NULL, SLP_STR("a\xFFz"));
  slp_jw_u64(&w, NULL, 1);
  slp_jw_array_end(&w);
  CHECK_INT(slp_buf_failed(&b), SLP_EBADDATA);
  CHECK_STR(slp_buf_z(&b), "[");
  slp_buf_clear(&b);
  w = (slp_jw){.b = &b};
  slp_jw_object(&w, NULL);
  slp_jw_key(&w, SLP_STR("\xC3"));
  slp_jw_null(&w, NULL);
  slp_jw_object_end(&w);
  CHECK_INT(slp_buf_failed(&b), SLP_EBADDATA);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

/* ---- against jansson ---- */
#if SLP_HAVE_JANSSON

static uint64_t seed;
static uint32_t draw(uint32_t n) {
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % n;
}

/* Control characters that have no short escape are written \u001f here and \u001F there: `controls` lets them
 * in. */
static slp_str draw_text(char room[64], int controls, int nul) {
  static const char *const parts[] = {"a",
                                      "B7",
                                      " ",
                                      "\"",
                                      "\\",
                                      "/",
                                      "\b",
                                      "\f",
                                      "\n",
                                      "\r",
                                      "\t",
                                      "\x7f",
                                      "\xC3\xA9",
                                      "\xC2\x85",
                                      "\xE2\x80\xA8",
                                      "\xEF\xBF\xBF",
                                      "\xF0\x9F\x98\x80",
                                      "0123456789abcdef"};
  size_t n = 0;
  for (uint32_t i = draw(6); i > 0 && n < 40; i--) {
    const char *part = parts[draw(SLP_COUNT(parts))];
    size_t part_n = strlen(part);
    if (controls && draw(3) == 0) {
      room[n++] = (char)(nul ? draw(32) : 1 + draw(31));
      continue;
    }
    memcpy(room + n, part, part_n);
    n += part_n;
  }
  return (slp_str){room, n};
}

/* Writes the same value with both. */
static json_t *put_random(slp_jw *w, unsigned depth, int controls) {
  char room[64];
  slp_str s;
  uint32_t kind = draw(depth < 5 ? 9 : 6);
  if (kind == 0) {
    int on = (int)draw(2);
    slp_jw_bool(w, NULL, on);
    return json_boolean(on);
  }
  if (kind == 1) {
    slp_jw_null(w, NULL);
    return json_null();
  }
  if (kind == 2) {
    int64_t v = (int64_t)((uint64_t)draw(UINT32_MAX) << 33) >> draw(63);
    slp_jw_i64(w, NULL, v);
    return json_integer(v);
  }
  if (kind < 6) {
    s = draw_text(room, controls, 1);
    slp_jw_str(w, NULL, s);
    return json_stringn(s.p, s.n);
  }
  json_t *all = kind == 6 ? json_array() : json_object();
  if (kind == 6)
    slp_jw_array(w, NULL);
  else
    slp_jw_object(w, NULL);
  for (uint32_t i = draw(5); i > 0; i--) {
    if (kind == 6) {
      CHECK_INT(json_array_append_new(all, put_random(w, depth + 1, controls)), 0);
      continue;
    }
    s = draw_text(room, controls, 0);
    if (s.n + 2 > sizeof room) continue;
    room[s.n] = (char)('0' + i); /* no name twice */
    room[++s.n] = 0;
    slp_jw_key(w, s);
    CHECK_INT(json_object_set_new(all, room, put_random(w, depth + 1, controls)), 0);
  }
  if (kind == 6)
    slp_jw_array_end(w);
  else
    slp_jw_object_end(w);
  return all;
}

static void compare(int spaced, int one_line, int controls) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 24);
  size_t bytes = 0;
  for (seed = 1; bytes < 2000000; seed += 77) {
    slp_jw w = {.b = &b, .spaced = (uint8_t)spaced, .one_line = (uint8_t)one_line};
    slp_buf_clear(&b);
    json_t *want = put_random(&w, 0, controls);
    CHECK_INT(slp_buf_failed(&b), 0);
    json_error_t why;
    json_t *got = json_loadb(b.p, b.n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &why);
    if (!got || !json_equal(got, want))
      CHECK_FAIL("%.*s: %s", (int)b.n, b.p, got ? "another value" : why.text);
    if (one_line) {
      check_harmless(&b);
    } else if (!controls) {
      char *text = json_dumps(want, JSON_ENCODE_ANY | (spaced ? 0 : JSON_COMPACT));
      CHECK_STR(slp_buf_z(&b), text);
      free(text);
    }
    json_decref(got);
    json_decref(want);
    bytes += b.n + 1;
  }
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(random_documents_are_byte_for_byte_what_jansson_writes) { compare(0, 0, 0); }
TEST(spaced_ones_too) { compare(1, 0, 0); }
TEST(control_characters_come_back) { compare(0, 0, 1); }
TEST(on_one_line_they_mean_the_same) { compare(0, 1, 1); }

#endif

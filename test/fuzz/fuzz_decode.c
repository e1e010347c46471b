/* fuzz_decode.c - the decoders of -s that read bytes from outside. The first byte picks one.
 *   j  JSON on one line: the same value (jansson's judgement), one line, and again the same from its output
 *   d  DynamoDB's typed JSON: the output is JSON on one line
 *   l  records of CloudWatch Logs: as many events, with the same messages, as jansson finds
 *   z  packed data: what zlib packs comes out again; the input is unpacked or refused within its limit */
#include <zlib.h>

#include "base/clean.h"
#include "cli/decode_cwlogs.h"
#include "cli/decode_json.h"
#include "codec/gunzip.h"
#include "codec/json.h"
#include "fuzz.h"
#if SLP_HAVE_JANSSON
#include <jansson.h>
#endif

static slp_mem *mem;

#if SLP_HAVE_JANSSON
static json_t *load(slp_str s) {
  return json_loadb(s.p ? s.p : "", s.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}
static void same_value(slp_str a, slp_str b) {
  json_t *x = load(a), *y = load(b); /* NULL: numbers and NULs that jansson can't hold */
  if (x && y) REQUIRE(json_equal(x, y));
  json_decref(x);
  json_decref(y);
}
#endif

static void is_one_line(slp_str s) { /* that moves no terminal */
  for (size_t i = 0; i < s.n; i += slp_safe_length(s.p + i, s.n - i))
    REQUIRE(slp_unsafe_length(s.p + i, s.n - i) == 0);
}

static void plain(slp_str in) {
  slp_buf one, two;
  slp_buf_init(&one, mem, 1 << 22);
  slp_buf_init(&two, mem, 1 << 22);
  if (slp_decode_plain_json(&one, in) == 0) {
    is_one_line(slp_buf_str(&one));
    REQUIRE(slp_decode_plain_json(&two, slp_buf_str(&one)) == 0);
    REQUIRE(slp_str_eq(slp_buf_str(&one), slp_buf_str(&two)));
#if SLP_HAVE_JANSSON
    same_value(in, slp_buf_str(&one));
#endif
  }
  slp_buf_free(&one);
  slp_buf_free(&two);
}

static void typed(slp_str in) {
  slp_buf one, two;
  slp_buf_init(&one, mem, 1 << 22);
  slp_buf_init(&two, mem, 1 << 22);
  if (slp_decode_ddb_json(&one, in) == 0) {
    is_one_line(slp_buf_str(&one));
    REQUIRE(slp_decode_plain_json(&two, slp_buf_str(&one)) == 0);
    REQUIRE(slp_str_eq(slp_buf_str(&one), slp_buf_str(&two)));
  }
  slp_buf_free(&one);
  slp_buf_free(&two);
}

typedef struct events {
  size_t n, bytes;
} events;

static void are_members(slp_str text) { /* "a":1,"b":2 */
  slp_buf object, one;
  slp_buf_init(&object, mem, 1 << 24);
  slp_buf_init(&one, mem, 1 << 24);
  slp_buf_addf(&object, "{");
  slp_buf_add_str(&object, text);
  slp_buf_add_char(&object, '}');
  is_one_line(text);
  int r = slp_decode_plain_json(&one, slp_buf_str(&object));
  REQUIRE(r == 0 && slp_str_eq(slp_buf_str(&one), slp_buf_str(&object)));
  slp_buf_free(&object);
  slp_buf_free(&one);
}

static int on_event(void *arg, const slp_log_event *e) {
  events *seen = arg;
  seen->n++;
  seen->bytes += e->message.n;
  REQUIRE(slp_utf8_valid(e->message) && slp_utf8_valid(e->group));
  are_members(e->more);
  are_members(e->record);
  return 0;
}

static void logs(slp_str in) {
  events got = {0};
  slp_cwlogs l;
  slp_cwlogs_init(&l, mem);
  int r = slp_cwlogs_begin(&l, in, 1 << 24);
  if (!r) do {
      r = slp_cwlogs_step(&l);
      if (r == SLP_CWLOGS_EVENT) on_event(&got, &l.event);
    } while (r == SLP_CWLOGS_EVENT || r == SLP_CWLOGS_MORE);
  slp_cwlogs_free(&l);
  if (r != SLP_CWLOGS_END) return;
#if SLP_HAVE_JANSSON
  json_t *all = load(in);
  if (all && json_is_object(all)) {
    const char *type = json_string_value(json_object_get(all, "messageType"));
    json_t *list = json_object_get(all, "logEvents");
    REQUIRE(type != NULL);
    /* A second "logEvents" replaces the first for jansson, and is told besides it by us. */
    if (strcmp(type, "DATA_MESSAGE") == 0 && got.n == json_array_size(list)) {
      size_t i, bytes = 0;
      json_t *event;
      json_array_foreach(list, i, event) bytes += json_string_length(json_object_get(event, "message"));
      REQUIRE(bytes == got.bytes);
    }
    if (strcmp(type, "CONTROL_MESSAGE") == 0) REQUIRE(got.n == 0);
  }
  json_decref(all);
#endif
}

static void packed(slp_str in) {
  enum { LIMIT = 100000 };
  slp_buf out;
  slp_buf_init(&out, mem, LIMIT);
  int r = slp_gunzip(&out, in);
  REQUIRE(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
  REQUIRE(out.n <= LIMIT);
  slp_buf_free(&out);

  uLong room = compressBound(in.n) + 64;
  Bytef *p = malloc(room);
  REQUIRE(p != NULL);
  for (int bits = 15; bits <= 31; bits += 16) {
    z_stream z = {0};
    REQUIRE(deflateInit2(&z, 1, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)in.p;
    z.avail_in = (uInt)in.n;
    z.next_out = p;
    z.avail_out = (uInt)room;
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    size_t n = room - z.avail_out;
    deflateEnd(&z);
    slp_buf_init(&out, mem, in.n);
    REQUIRE(slp_gunzip(&out, (slp_str){(char *)p, n}) == 0);
    REQUIRE(slp_str_eq(slp_buf_str(&out), in));
    slp_buf_free(&out);
  }
  free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 65536) return 0;
  char *copy = fuzz_copy(data + 1, size - 1);
  slp_str in = {copy, size - 1};
  mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  switch (data[0]) {
    case 'j': plain(in); break;
    case 'd': typed(in); break;
    case 'l': logs(in); break;
    case 'z': packed(in); break;
    default: break;
  }
  REQUIRE(memcmp(copy, data + 1, size - 1) == 0); /* what is read is not ours to change */
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(copy);
  return 0;
}

/* eventstream.c - codec/eventstream: published and recomputed vectors, messages cut at every byte, several
 * in one piece, every type of header, every way to be wrong. test/contract/vectors/eventstream_botocore.py compares
 * made-up streams with what botocore reads. */
#include "check.h"
#include "codec/crc32.h"
#include "codec/eventstream.h"

/* The first three were read by botocore 1.43.11: an empty message, an initial response, an exception. */
static const char empty[] = "000000100000000005c248eb7d98c8ff";
static const char initial[] =
    "0000007200000060ab820d9e0d3a6d6573736167652d747970650700056576656e740b3a6576656e742d7479706507001069"
    "6e697469616c2d726573706f6e73650d3a636f6e74656e742d7479706507001a6170706c69636174696f6e2f782d616d7a2d"
    "6a736f6e2d312e317b7de16e66e4";
static const char exception[] =
    "0000008d0000006e865ee7150d3a6d6573736167652d74797065070009657863657074696f6e0f3a657863657074696f6e2d"
    "747970650700165265736f75726365496e557365457863657074696f6e0d3a636f6e74656e742d7479706507001a6170706c"
    "69636174696f6e2f782d616d7a2d6a736f6e2d312e317b226d657373616765223a2278227dd6edc97a";

typedef struct bytes {
  char p[2048];
  size_t n;
} bytes;

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static void add_hex(bytes *b, const char *hex) {
  for (; *hex; hex += 2) b->p[b->n++] = (char)(digit(hex[0]) << 4 | digit(hex[1]));
}

static void add_be(bytes *b, uint64_t v, size_t n) {
  while (n--) b->p[b->n++] = (char)(v >> 8 * n);
}

/* A message whose sums are right. */
static void add_message(bytes *b, slp_str headers, slp_str payload) {
  size_t from = b->n;
  add_be(b, 16 + headers.n + payload.n, 4);
  add_be(b, headers.n, 4);
  add_be(b, slp_crc32((slp_str){b->p + from, 8}), 4);
  memcpy(b->p + b->n, headers.p, headers.n);
  b->n += headers.n;
  memcpy(b->p + b->n, payload.p, payload.n);
  b->n += payload.n;
  add_be(b, slp_crc32((slp_str){b->p + from, b->n - from}), 4);
}

TEST(vectors_that_botocore_reads) {
  bytes b = {.n = 0};
  slp_event_reader r = {0};
  slp_event_message m;
  add_hex(&b, empty);
  add_hex(&b, initial);
  add_hex(&b, exception);
  CHECK_INT(slp_event_read(&r, b.p, b.n, &m), 0);
  CHECK(m.headers.n == 0 && m.payload.n == 0);
  CHECK_INT(slp_event_read(&r, b.p, b.n, &m), 0);
  CHECK_TEXT(slp_event_text(&m, ":message-type"), "event");
  CHECK_TEXT(slp_event_text(&m, ":event-type"), "initial-response");
  CHECK_TEXT(slp_event_text(&m, ":content-type"), "application/x-amz-json-1.1");
  CHECK(slp_event_text(&m, ":exception-type").p == NULL);
  CHECK_TEXT(m.payload, "{}");
  CHECK_INT(slp_event_read(&r, b.p, b.n, &m), 0);
  CHECK_TEXT(slp_event_text(&m, ":message-type"), "exception");
  CHECK_TEXT(slp_event_text(&m, ":exception-type"), "ResourceInUseException");
  CHECK_TEXT(m.payload, "{\"message\":\"x\"}");
  CHECK_INT(slp_event_read(&r, b.p, b.n, &m), SLP_MORE);
  CHECK_INT(r.at, b.n);
}

/* However the stream is cut, in memory that moves: the same messages, and none before its last byte is
 * there. */
TEST(cut_anywhere) {
  bytes b = {.n = 0};
  add_hex(&b, initial);
  size_t first = b.n;
  add_hex(&b, exception);
  for (size_t cut = 0; cut <= b.n; cut++) {
    slp_event_reader r = {0};
    slp_event_message m;
    size_t seen = 0;
    bytes part = {.n = cut}, again;
    memcpy(part.p, b.p, cut);
    while (slp_event_read(&r, part.p, part.n, &m) == 0) seen++;
    CHECK_INT(seen, (cut >= first) + (cut >= b.n));
    again = b;
    memset(part.p, 0xee, sizeof part.p);
    while (slp_event_read(&r, again.p, again.n, &m) == 0) seen++;
    CHECK_INT(seen, 2);
    if (cut < b.n) CHECK_TEXT(m.payload, "{\"message\":\"x\"}");
  }
  slp_event_reader r = {0};
  slp_event_message m;
  size_t seen = 0;
  for (size_t n = 0; n <= b.n; n++) seen += slp_event_read(&r, b.p, n, &m) == 0;
  CHECK_INT(seen, 2);
}

TEST(what_was_read_may_be_dropped) {
  bytes b = {.n = 0};
  slp_event_reader r = {0};
  slp_event_message m;
  add_hex(&b, initial);
  size_t first = b.n;
  add_hex(&b, exception);
  CHECK_INT(slp_event_read(&r, b.p, first + 20, &m), 0);
  CHECK_INT(slp_event_read(&r, b.p, first + 20, &m), SLP_MORE);
  slp_event_dropped(&r, first);
  CHECK_INT(slp_event_read(&r, b.p + first, b.n - first, &m), 0);
  CHECK_TEXT(slp_event_text(&m, ":exception-type"), "ResourceInUseException");
}

static const char all_types[] =
    "\1a\0"
    "\1b\1"
    "\1c\2\xff"
    "\1d\3\x80\0"
    "\1e\4\0\0\1\0"
    "\1f\5\xff\xff\xff\xff\xff\xff\xff\xfe"
    "\1g\6\0\2\0\1"
    "\1h\7\0\3xyz"
    "\1i\x08\0\0\1\x9b\x76\x5d\x7a\x80"
    "\1j\x09"
    "0123456789abcdef";

TEST(headers_of_every_type) {
  static const struct {
    char name;
    slp_event_type type;
    int64_t number;
    slp_str bytes;
  } want[] = {{'a', SLP_EVENT_TRUE, 1, {NULL, 0}},
              {'b', SLP_EVENT_FALSE, 0, {NULL, 0}},
              {'c', SLP_EVENT_INT8, -1, {NULL, 0}},
              {'d', SLP_EVENT_INT16, INT16_MIN, {NULL, 0}},
              {'e', SLP_EVENT_INT32, 256, {NULL, 0}},
              {'f', SLP_EVENT_INT64, -2, {NULL, 0}},
              {'g', SLP_EVENT_BYTES, 0, {"\0\1", 2}},
              {'h', SLP_EVENT_TEXT, 0, {"xyz", 3}},
              {'i', SLP_EVENT_TIME, INT64_C(0x19b765d7a80), {NULL, 0}},
              {'j', SLP_EVENT_UUID, 0, {"0123456789abcdef", 16}}};
  bytes b = {.n = 0};
  slp_event_reader r = {0};
  slp_event_message m;
  slp_event_header h;
  add_message(&b, (slp_str){all_types, sizeof all_types - 1}, SLP_STR(""));
  CHECK_INT(slp_event_read(&r, b.p, b.n, &m), 0);
  slp_str rest = m.headers;
  for (size_t i = 0; i < SLP_COUNT(want); i++) {
    CHECK(slp_event_header_next(&rest, &h));
    CHECK(h.name.n == 1 && h.name.p[0] == want[i].name);
    CHECK_INT(h.type, want[i].type);
    CHECK_INT(h.number, want[i].number);
    CHECK(slp_str_eq(h.bytes, want[i].bytes));
  }
  CHECK(!slp_event_header_next(&rest, &h));
  CHECK(slp_event_text(&m, "g").p == NULL);
  CHECK_TEXT(slp_event_text(&m, "h"), "xyz");
}

static int result_of(slp_str headers) {
  bytes b = {.n = 0};
  slp_event_reader r = {0};
  slp_event_message m;
  add_message(&b, headers, SLP_STR("p"));
  int first = slp_event_read(&r, b.p, b.n, &m);
  CHECK((first != 0) == (r.why != NULL));
  CHECK_INT(slp_event_read(&r, b.p, b.n, &m), first ? first : SLP_MORE); /* an error stays */
  return first;
}

/* Every header is cut at every byte: no byte past its message is read (the sanitizers watch). */
TEST(headers_that_are_none) {
  CHECK_INT(result_of(SLP_STR("\1a\x0a")), SLP_EBADDATA);       /* a type that does not exist */
  CHECK_INT(result_of(SLP_STR("\0\7\0\0")), SLP_EBADDATA);      /* no name */
  CHECK_INT(result_of(SLP_STR("\1a\7\0\1\xff")), SLP_EBADDATA); /* no UTF-8 */
  CHECK_INT(result_of(SLP_STR("\1\xff\1")), SLP_EBADDATA);
  CHECK_INT(result_of(SLP_STR("\1a\1\1b\1\1a\0")), SLP_EBADDATA); /* twice */
  CHECK_INT(result_of(SLP_STR("\1a\6\0\1\xff")), 0);
  size_t whole = 0;
  for (size_t n = 0; n < sizeof all_types; n++) {
    char *exact = malloc(n ? n : 1);
    memcpy(exact, all_types, n);
    int r = result_of((slp_str){exact, n});
    CHECK(r == 0 || r == SLP_EBADDATA);
    whole += r == 0;
    free(exact);
  }
  CHECK_INT(whole, 11); /* none of them, one, ... all ten */
}

TEST(no_more_headers_than_that) {
  bytes b = {.n = 0};
  for (size_t i = 0; i < SLP_EVENT_HEADERS_MAX; i++) {
    b.p[b.n++] = 1;
    b.p[b.n++] = (char)(i + 1);
    b.p[b.n++] = 0;
  }
  CHECK_INT(result_of((slp_str){b.p, b.n}), 0);
  memcpy(b.p + b.n, "\2zz\0", 4);
  CHECK_INT(result_of((slp_str){b.p, b.n + 4}), SLP_ELIMIT);
}

/* Each bit of a message turned: it is refused, or its lengths ask for more. It is never taken. */
TEST(a_bit_turned) {
  bytes b = {.n = 0};
  add_hex(&b, exception);
  for (size_t bit = 0; bit < b.n * 8; bit++) {
    slp_event_reader r = {0};
    slp_event_message m;
    b.p[bit / 8] ^= (char)(1 << bit % 8);
    CHECK_INT(slp_event_read(&r, b.p, b.n, &m), SLP_EBADDATA);
    b.p[bit / 8] ^= (char)(1 << bit % 8);
  }
}

static int prelude(uint64_t total, uint64_t headers_n) {
  bytes b = {.n = 0};
  slp_event_reader r = {0};
  slp_event_message m;
  add_be(&b, total, 4);
  add_be(&b, headers_n, 4);
  add_be(&b, slp_crc32((slp_str){b.p, 8}), 4);
  return slp_event_read(&r, b.p, b.n, &m);
}

TEST(lengths_are_judged_before_their_bytes_come) {
  CHECK_INT(prelude(0, 0), SLP_EBADDATA);
  CHECK_INT(prelude(15, 0), SLP_EBADDATA);
  CHECK_INT(prelude(16, 0), SLP_MORE);
  CHECK_INT(prelude(116, 101), SLP_EBADDATA);
  CHECK_INT(prelude(117, 101), SLP_MORE);
  CHECK_INT(prelude(UINT32_MAX, 0), SLP_ELIMIT);
  CHECK_INT(prelude(UINT32_MAX, UINT32_MAX), SLP_ELIMIT);
  CHECK_INT(prelude(16 + SLP_EVENT_HEADER_BYTES_MAX, SLP_EVENT_HEADER_BYTES_MAX), SLP_MORE);
  CHECK_INT(prelude(17 + SLP_EVENT_HEADER_BYTES_MAX, 1 + SLP_EVENT_HEADER_BYTES_MAX), SLP_ELIMIT);
  CHECK_INT(prelude(16 + SLP_EVENT_PAYLOAD_MAX, 0), SLP_MORE);
  CHECK_INT(prelude(17 + SLP_EVENT_PAYLOAD_MAX, 0), SLP_ELIMIT);
}

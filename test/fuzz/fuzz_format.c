/* fuzz_format.c - format strings (-f) against a second, naive reading of the same rules, and positions (-o)
 * and times for crashes and for values out of range. */
#include "cli/format.h"
#include "cli/start_option.h"
#include "fuzz.h"

#include <time.h>

static const sloop_record_t record = {.stream = "orders",
                                      .shard = "shardId-000000000003",
                                      .seq = {"49512345", 8},
                                      .sub = 7,
                                      .epoch = 9,
                                      .key = {"k\0y", 3},
                                      .data = {"pay\0load%s\\n", 12},
                                      .event = {"INSERT", 6},
                                      .arrived_at_ms = 1767225600123,
                                      .attempt = 1};

static int is_hex(uint8_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The text that a token prints, as written down in format.h; NULL: no such token. */
static const char *token_text(uint8_t c, size_t *n) {
  static const struct {
    uint8_t c;
    const char *text;
    size_t n;
  } all[] = {{'s', "pay\0load%s\\n", 12},
             {'S', "12", 2},
             {'R', "\0\0\0\x0c", 4},
             {'k', "k\0y", 3},
             {'K', "3", 1},
             {'T', "1767225600123", 13},
             {'t', "orders", 6},
             {'p', "shardId-000000000003", 20},
             {'o', "49512345", 8},
             {'u', "7", 1},
             {'l', "-5", 2},
             {'n', "INSERT", 6},
             {'e', "9", 1},
             {'w', "w.1", 3},
             {'%', "%", 1}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i].c == c) {
      *n = all[i].n;
      return all[i].text;
    }
  return NULL;
}

/* The bytes an escape stands for at data[at] == '\\'; 0 characters taken: no such escape. */
static size_t escape(const uint8_t *data, size_t size, size_t at, char *ret) {
  if (at + 1 >= size) return 0;
  const char *plain = "nrt0\\", *value = "\n\r\t\0\\";
  for (size_t i = 0; i < 5; i++)
    if (plain[i] == (char)data[at + 1]) {
      if (plain[i] == '0' && at + 2 < size && data[at + 2] >= '0' && data[at + 2] <= '9') return 0;
      *ret = value[i];
      return 2;
    }
  if (data[at + 1] != 'x' || at + 3 >= size || !is_hex(data[at + 2]) || !is_hex(data[at + 3])) return 0;
  char hex[3] = {(char)data[at + 2], (char)data[at + 3], 0};
  *ret = (char)strtoul(hex, NULL, 16);
  return 4;
}

/* Appends what the %{time...} at data[at] prints; 0 characters taken: it is wrong. */
static size_t time_text(const uint8_t *data, size_t size, size_t at, slp_buf *b) {
  static const char head[] = "%{time";
  const uint8_t *end = memchr(data + at, '}', size - at);
  size_t n = end ? (size_t)(end - data) - at : 0, from = at + sizeof head - 1;
  if (n < sizeof head - 1 || memcmp(data + at, head, sizeof head - 1) != 0) return 0;
  if (from == at + n) {
    REQUIRE(slp_buf_add_z(b, "2026-01-01T00:00:00.123Z") == 0);
    return n + 1;
  }
  if (data[from++] != ':') return 0;
  for (time_t at_s = 1767225600; from < at + n; from++) {
    char text[100] = {(char)data[from], 0}, form[3] = {'%', 0, 0};
    size_t length = 1;
    if (data[from] == '%') {
      if (++from == at + n) return 0;
      form[1] = (char)data[from];
      if (at + n - from >= 2 && form[1] == '3' && data[from + 1] == 'N') {
        length = (size_t)snprintf(text, sizeof text, "123");
        from++;
      } else if (form[1] == 's') {
        length = (size_t)snprintf(text, sizeof text, "1767225600");
      } else if (!form[1] || !strchr("%aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYzZ", form[1])) {
        return 0;
      } else {
        length = strftime(text, sizeof text, form, gmtime(&at_s));
      }
    }
    REQUIRE(slp_buf_add(b, text, length) == 0);
  }
  return n + 1;
}

/* Appends what the whole format prints; -1 when it is wrong. */
static int naive(const uint8_t *data, size_t size, slp_buf *b) {
  for (size_t at = 0; at < size;) {
    char c = (char)data[at];
    size_t n = 1, took = 1;
    const char *text = &c;
    if (c == '%' && at + 1 < size && data[at + 1] == '{') {
      took = time_text(data, size, at, b);
      n = 0;
    } else if (c == '%') {
      text = at + 1 < size ? token_text(data[at + 1], &n) : NULL;
      took = 2;
    } else if (c == '\\') {
      took = escape(data, size, at, &c);
    }
    if (!text || !took) return -1;
    REQUIRE(slp_buf_add(b, text, n) == 0);
    at += took;
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 4096) return 0; /* the output grows with it; longer ones show nothing new */
  slp_mem *mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  char *text = fuzz_copy(data, size);
  char why[200] = "";
  slp_format *f = NULL;
  slp_buf want, got;
  slp_buf_init(&want, mem, 1 << 20);
  slp_buf_init(&got, mem, 1 << 20);
  int bad = naive(data, size, &want);
  int r = slp_format_new(mem, (slp_str){text, size}, &f, why);
  REQUIRE((r == SLP_EINVAL) == (bad != 0));
  if (r) {
    REQUIRE(r == SLP_EINVAL && !f && why[0] && strlen(why) < 199);
    for (const char *c = why; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7f);
  } else {
    slp_format_set_utc(f, 1);
    REQUIRE(slp_format_run(f, &got, &record, -5, "w.1", 0) == 0);
    REQUIRE(slp_str_eq(slp_buf_str(&want), slp_buf_str(&got)));
    slp_format_free(f);
  }
  char *z = malloc(size + 1); /* positions are words of a command line */
  REQUIRE(z != NULL);
  memcpy(z, text, size);
  z[size] = 0;
  slp_clock clock = {INT64_C(1700000000000), NULL};
  slp_start start;
  if (slp_start_parse_seq((slp_str){z, size}, &start) == 0)
    REQUIRE(start.kind == SLOOP_AT_SEQ && !*start.shard && *start.seq &&
            strspn(start.seq, "0123456789") == strlen(start.seq));
  int64_t ms = INT64_MIN;
  why[0] = 0;
  r = slp_start_parse(z, &clock, &start, why);
  REQUIRE((r == 0 && !why[0]) || (r == SLP_EINVAL && why[0] && strlen(why) < 199));
  if (r == 0 && start.kind == SLOOP_AT_SEQ) REQUIRE(start.shard[0] && start.seq[0]);
  if (r == 0 && start.kind == SLOOP_AT_TOKEN) REQUIRE(start.file > z && *start.file);
  r = slp_when_parse((slp_str){text, size}, &clock, &ms);
  REQUIRE(r == 0 ? ms >= 0 : r < 0 && ms == INT64_MIN);
  free(z);
  free(text);
  slp_buf_free(&want);
  slp_buf_free(&got);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}

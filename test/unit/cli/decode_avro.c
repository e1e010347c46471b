/* decode_avro.c - Avro files, and messages behind Glue's header, as Java's writers made them: whole, damaged, cut short,
 * without end, and without memory. Random schemas and values are compared with fastavro in test/contract/vectors. */
#include "check.h"
#include "cli/decode.h"
#include "cli/json_nodes.h"
#include "cli/schemas.h"
#include "sanitized.h"
#include "scarce.h"
#include "contract/vectors/glue.h"

#define TAIL "\"raw\":\"\\u0000A\\u0080\xc3\xbf\\\"\",\"hash\":\"\\u0001\\u0002\xc3\xbe\",\"at\":170000000000"
static const char *const orders[] = {
    "{\"id\":5000000000,\"customer\":\"caf\xc3\xa9 "
    "\\\"0\\\"\\n\",\"paid\":true,\"total\":-12.30,\"weight\":0,"
    "\"ratio\":0,\"state\":\"OPEN\",\"lines\":[],\"tags\":{},\"note\":null," TAIL "0}",
    "{\"id\":5000000001,\"customer\":\"caf\xc3\xa9 "
    "\\\"1\\\"\\n\",\"paid\":false,\"total\":1234567.05,\"weight\":0.1,"
    "\"ratio\":\"NaN\",\"state\":\"CLOSED\",\"lines\":[{\"sku\":\"S1\",\"n\":-1},{\"sku\":\"S1\",\"n\":-1}],"
    "\"tags\":{\"k\":\"v\",\"l\":\"\"},\"note\":\"text\"," TAIL "1}",
    "{\"id\":5000000002,\"customer\":\"caf\xc3\xa9 "
    "\\\"2\\\"\\n\",\"paid\":true,\"total\":1234567.05,\"weight\":"
    "\"Infinity\",\"ratio\":0.6666666666666666,\"state\":\"OPEN\",\"lines\":[{\"sku\":\"S2\",\"n\":-2},{"
    "\"sku\":"
    "\"S2\",\"n\":-2}],\"tags\":{\"k\":\"v\",\"l\":\"\"},\"note\":{\"sku\":\"S2\",\"n\":-2}," TAIL "2}"};

static char why[400];
static char got[1 << 16];
static size_t got_n, slices;
static int lines;

static slp_str row(const char *name) {
  for (size_t i = 0; i < SLP_COUNT(glue_rows); i++)
    if (strcmp(glue_rows[i].name, name) == 0) return glue_rows[i].bytes;
  CHECK_FAIL("no row %s", name);
}

/* Decodes a copy in memory of just that size; `schema`: of every version, or absent. */
static int decode_in(slp_mem *mem, const char *chain, slp_str schema, slp_str in, uint64_t limit) {
  slp_decode_chain c;
  slp_decoding d;
  slp_schemas *s = malloc(sizeof *s);
  char *copy = malloc(in.n ? in.n : 1);
  CHECK_INT(slp_decode_parse(chain, &c, why), 0);
  if (in.n) memcpy(copy, in.p, in.n);
  slp_schemas_init(s, mem);
  slp_decoding_init(&d, mem);
  d.schemas = s;
  *why = 0;
  int r = 0;
  if (schema.p) {
    r = slp_avro_schema_read(&s->files[0].schema.avro, mem, schema, why);
    s->files[0].schema.format = SLP_SCHEMA_AVRO;
    s->files_n = !r;
  }
  slices = 0;
  if (!r) {
    slp_decoding_begin(&d, &c, (slp_str){copy, in.n}, limit);
    do r = slp_decoding_step(&d, why), slices++;
    while (r == 1);
  }
  if (!r) {
    got_n = slp_min_u64(d.in.n, sizeof got - 1);
    memcpy(got, d.in.p, got_n);
    got[got_n] = 0;
    lines = d.makes_lines;
  }
  slp_decoding_free(&d);
  slp_schemas_free(s);
  CHECK(in.n == 0 || memcmp(copy, in.p, in.n) == 0);
  free(copy);
  free(s);
  CHECK(r == 0 || r == SLP_ENOMEM || *why);
  return r;
}

static int decode(const char *chain, slp_str schema, slp_str in, uint64_t limit) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  int r = decode_in(mem, chain, schema, in, limit);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return r;
}

#define NO_SCHEMA ((slp_str){NULL, 0})
#define MEBI (1u << 20)

static int is_here(const char *name) {
  return !(strcmp(name, "file:snappy") == 0 && slp_decoder_by_name(SLP_STR("snappy"))->needs) &&
         !(strcmp(name, "file:zstandard") == 0 && slp_decoder_by_name(SLP_STR("zstd"))->needs);
}
static int is_file(const glue_row *r) { return strncmp(r->name, "file:", 5) == 0 && is_here(r->name); }
static int is_message(const glue_row *r) { return strncmp(r->name, "avro:", 5) == 0; }
static int is_either(const glue_row *r) { return is_file(r) || is_message(r); }
#define EACH(r, kind)                                                            \
  for (const glue_row *r = glue_rows; r < glue_rows + SLP_COUNT(glue_rows); r++) \
    if (kind(r))

TEST(files_of_java_are_a_line_a_datum) {
  char want[2000];
  snprintf(want, sizeof want, "%s\n%s\n%s", orders[0], orders[1], orders[2]);
  EACH(r, is_file) {
    CHECK_INT(decode("avro", NO_SCHEMA, r->bytes, MEBI), 0);
    CHECK_STR(got, want);
    CHECK_INT(lines, 1);
    CHECK_INT(decode("auto", NO_SCHEMA, r->bytes, MEBI), 0);
    CHECK_STR(got, want);
    CHECK_INT(lines, 1);
  }
}

TEST(messages_of_amazons_serialiser) {
  static const char *const decoders[] = {"avro", "glue", "auto"};
  EACH(r, is_message) for (size_t i = 0; i < SLP_COUNT(decoders); i++) {
    CHECK_INT(decode(decoders[i], row("schema"), r->bytes, MEBI), 0);
    CHECK_STR(got, orders[r->name[strlen(r->name) - 1] - '0']);
  }
  CHECK_INT(decode("avro,plain-json", row("schema"), row("avro:ZLIB:1"), MEBI), 0);
  CHECK_STR(got, orders[1]);
}

TEST(without_a_schema_the_id_is_named) {
  CHECK_INT(decode("avro", NO_SCHEMA, row("avro:NONE:0"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "avro: no --schema-file for b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63");
}

TEST(another_text_is_refused_by_name) {
  CHECK_INT(decode("avro", NO_SCHEMA, SLP_STR("{\"a\":1}"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "avro: it is not an Avro file and has no Glue Schema Registry header");
  CHECK_INT(decode("glue", NO_SCHEMA, row("file:null"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "glue: it looks like avro: -s avro");
  CHECK_INT(decode("avro", NO_SCHEMA, SLP_STR("\x1f\x8b\x08 packed"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "avro: it looks like gzip: -s gzip,avro");
  CHECK_INT(decode("auto", NO_SCHEMA, SLP_STR("\x03\0 is no id, whatever follows"), MEBI), 0);
  CHECK_INT(lines, 0);
}

/* Each line of what was made must be JSON. */
static void check_lines(void) {
  char *at = got, *end = got + got_n;
  while (at < end) {
    char *to = memchr(at, '\n', (size_t)(end - at));
    if (!to) to = end;
    slp_mem *mem = slp_mem_new(NULL, NULL);
    slp_json_nodes nodes;
    slp_json_nodes_init(&nodes, mem);
    CHECK_INT(slp_json_nodes_read(&nodes, at, (size_t)(to - at), 10000), 0);
    slp_json_nodes_free(&nodes);
    slp_mem_drop(mem);
    at = to + 1;
  }
}

TEST(damage_at_every_offset_is_refused_or_makes_whole_json) {
  static const unsigned char masks[] = {1, 0x10, 0x80, 0xff};
  char text[4000];
  EACH(r, is_either)
  for (size_t at = 0; at < r->bytes.n; at++)
    for (size_t m = SANITIZED ? sizeof masks - 1 : 0; m < sizeof masks; m++) {
      CHECK(r->bytes.n <= sizeof text);
      memcpy(text, r->bytes.p, r->bytes.n);
      text[at] = (char)((unsigned char)text[at] ^ masks[m]);
      int res = decode("avro", row("schema"), (slp_str){text, r->bytes.n}, 1 << 15);
      CHECK(res == 0 || res == SLP_EBADDATA || res == SLP_ELIMIT);
      if (!res) check_lines();
    }
}

TEST(what_ends_too_early_is_refused) {
  char whole[2000];
  snprintf(whole, sizeof whole, "%s\n%s\n%s", orders[0], orders[1], orders[2]);
  EACH(r, is_message)
  for (size_t n = 1; n < r->bytes.n; n++)
    CHECK_INT(decode("avro", row("schema"), (slp_str){r->bytes.p, n}, MEBI), SLP_EBADDATA);
  EACH(r, is_file) {
    int taken = 0;
    for (size_t n = 1; n < r->bytes.n; n++) {
      if (decode("avro", NO_SCHEMA, (slp_str){r->bytes.p, n}, MEBI) != 0) continue;
      CHECK(got_n < strlen(whole) && memcmp(got, whole, got_n) == 0); /* between two blocks a file may end */
      taken++;
    }
    CHECK_INT(taken, 2); /* behind the head, and between its two blocks */
  }
}

TEST(what_follows_is_refused) {
  char text[4000];
  EACH(r, is_either) {
    memcpy(text, r->bytes.p, r->bytes.n);
    text[r->bytes.n] = 0;
    CHECK_INT(decode("avro", row("schema"), (slp_str){text, r->bytes.n + 1}, MEBI), SLP_EBADDATA);
  }
}

TEST(the_limit_holds_for_what_is_unpacked_and_what_is_written_together) {
  size_t written = strlen(orders[0]) + strlen(orders[1]) + strlen(orders[2]) + 2, unpacked = 0;
  for (int i = 0; i < 3; i++)
    unpacked += row((const char *[]){"avro:NONE:0", "avro:NONE:1", "avro:NONE:2"}[i]).n - 18;
  EACH(r, is_file) {
    size_t all = written + (strcmp(r->name, "file:null") == 0 ? 0 : unpacked);
    CHECK_INT(decode("avro", NO_SCHEMA, r->bytes, all), 0);
    for (size_t limit = 0; limit < all; limit += 7)
      CHECK_INT(decode("avro", NO_SCHEMA, r->bytes, limit), SLP_ELIMIT);
    CHECK_INT(decode("avro", NO_SCHEMA, r->bytes, all - 1), SLP_ELIMIT);
  }
  char want[100];
  snprintf(want, sizeof want, "avro: more than %zu bytes; see -X decoded_bytes_max", written - 1);
  CHECK_INT(decode("avro", NO_SCHEMA, row("file:null"), written - 1), SLP_ELIMIT);
  CHECK_STR(why, want);
  size_t one = strlen(orders[1]) + row("avro:NONE:1").n - 18;
  CHECK_INT(decode("avro", row("schema"), row("avro:ZLIB:1"), one), 0);
  CHECK_INT(decode("avro", row("schema"), row("avro:ZLIB:1"), one - 1), SLP_ELIMIT);
}

TEST(without_memory_that_is_what_is_told) {
  EACH(r, is_either) for (int64_t n = 1;; n++) {
    CHECK(n < 2000);
    scarce s = {.left = n};
    slp_mem *mem = slp_mem_new(scarce_alloc, &s);
    int res = decode_in(mem, "avro", is_file(r) ? NO_SCHEMA : row("schema"), r->bytes, MEBI);
    /* libzstd has an allocator of its own. */
    if (res != (s.failed ? SLP_ENOMEM : 0)) CHECK_FAIL("%s: %d with %d allocations", r->name, res, (int)n);
    CHECK_INT(mem->live_blocks, 0);
    s.left = -1;
    slp_mem_drop(mem);
    if (!s.failed) break;
  }
}

/* ---- values that are hostile ---- */

static const char header[] = "\x03\0\xb7\xb4\xa7\xf0\x9c\x96\x4e\x4a\xa6\x87\xfb\x5d\xe9\xef\x0c\x63";
static int value_of(const char *schema, slp_str body, uint64_t limit) {
  static char text[70000];
  memcpy(text, header, 18);
  memcpy(text + 18, body.p, body.n);
  return decode("glue", slp_str_of(schema), (slp_str){text, 18 + body.n}, limit);
}
#define VALUE(schema, bytes) value_of(schema, (slp_str){bytes, sizeof bytes - 1}, MEBI)
#define CHECK_VALUE(schema, bytes, want) \
  do {                                   \
    CHECK_INT(VALUE(schema, bytes), 0);  \
    CHECK_STR(got, want);                \
  } while (0)

TEST(each_type_by_itself) {
  CHECK_VALUE("\"null\"", "", "null");
  CHECK_VALUE("\"int\"", "\x01", "-1");
  CHECK_VALUE("\"int\"", "\xff\xff\xff\xff\x0f", "-2147483648");
  CHECK_VALUE("\"long\"", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "-9223372036854775808");
  CHECK_VALUE("\"long\"", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "9223372036854775807");
  CHECK_VALUE("\"float\"", "\xcd\xcc\xcc\x3d", "0.1");
  CHECK_VALUE("\"double\"", "\0\0\0\0\0\0\0\x80", "-0");
  CHECK_VALUE("\"double\"", "\0\0\0\0\0\0\xf0\xff", "\"-Infinity\"");
  CHECK_VALUE("\"double\"", "\x01\0\0\0\0\0\0\0", "4.94065645841247e-324"); /* 15 digits read as the same */
  CHECK_VALUE("{\"type\":\"array\",\"items\":\"int\"}", "\x03\x04\x02\x04\x02\x06\0", "[1,2,3]");
  CHECK_VALUE("{\"type\":\"array\",\"items\":\"int\"}", "\0", "[]");
  CHECK_VALUE("{\"type\":\"map\",\"values\":\"int\"}", "\x02\x02\n\x02\0", "{\"\\n\":1}");
  CHECK_VALUE("{\"type\":\"fixed\",\"name\":\"f\",\"size\":0}", "", "\"\"");
  CHECK_VALUE("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":2}", "\x02\xff",
              "-0.01");
  CHECK_VALUE("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":2}", "\0", "0.00");
  CHECK_VALUE("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4}", "\x04\x80\0", "-32768");
  CHECK_VALUE("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":2,\"scale\":3}",
              "\x02"
              "A",
              "\"A\"");
  CHECK_VALUE("{\"type\":\"string\",\"logicalType\":\"uuid\"}", "\x02u", "\"u\"");
}

TEST(what_no_writer_makes_is_refused) {
  static const struct {
    const char *schema;
    slp_str bytes;
  } rows[] = {
      {"\"int\"", {"\x80\x80\x80\x80\x10", 5}},                         /* 2^31 */
      {"\"long\"", {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10}},   /* 65 bits */
      {"\"long\"", {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0", 11}}, /* 11 bytes */
      {"\"boolean\"", {"\x02", 1}},
      {"\"string\"", {"\x02\xff", 2}},
      {"\"string\"", {"\x01", 1}}, /* its length is -1 */
      {"\"bytes\"", {"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}},
      {"[\"null\"]", {"\x02", 1}},
      {"[\"null\"]", {"\x01", 1}},
      {"[]", {"\0", 1}},
      {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}", {"\x02", 1}},
      {"{\"type\":\"array\",\"items\":\"int\"}", {"\x01\x04\x02\0", 4}}, /* a wrong size */
      {"{\"type\":\"array\",\"items\":\"int\"}", {"\x01\x01\x02\0", 4}}, /* below 0 */
      {"{\"type\":\"array\",\"items\":\"null\"}", {"\x02", 1}},          /* no end */
      {"{\"type\":\"map\",\"values\":\"int\"}", {"\x02\x02\xff\x02\0", 5}},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    if (value_of(rows[i].schema, rows[i].bytes, MEBI) != SLP_EBADDATA)
      CHECK_FAIL("%zu: %s is taken: %s", i, rows[i].schema, got);
}

TEST(items_of_no_bytes_end_at_the_limit) {
  const char *nulls = "{\"type\":\"array\",\"items\":\"null\"}";
  CHECK_INT(VALUE(nulls, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), SLP_ELIMIT);
  CHECK(slices >= 5);
  CHECK_INT(VALUE(nulls, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0"),
            SLP_ELIMIT); /* the least number there is */
  CHECK_INT(VALUE("{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}}",
                  "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            SLP_ELIMIT);
}

TEST(records_that_grow_from_nothing_end_at_the_limit) {
  static char schema[20000], inner[20000] = "\"null\"";
  for (int i = 0; i < 20; i++) { /* 10^20 values of no bytes */
    size_t n = (size_t)snprintf(
        schema, sizeof schema,
        "{\"type\":\"record\",\"name\":\"r%d\",\"fields\":[{\"name\":\"a\",\"type\":%s}", i, inner);
    for (int k = 0; k < 9; k++)
      n += (size_t)snprintf(
          schema + n, sizeof schema - n,
          i ? ",{\"name\":\"a%d\",\"type\":\"r%d\"}" : ",{\"name\":\"a%d\",\"type\":\"null\"}", k, i - 1);
    snprintf(schema + n, sizeof schema - n, "]}");
    memcpy(inner, schema, sizeof inner);
  }
  CHECK_INT(value_of(schema, SLP_STR(""), MEBI), SLP_ELIMIT);
  CHECK(slices >= 5);
}

TEST(depth_is_bounded) {
  CHECK_INT(VALUE("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"r\"}]}", ""),
            SLP_EBADDATA);
  CHECK(strstr(why, "nested deeper than 96"));
  static const char list[] =
      "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"n\",\"type\":[\"null\",\"r\"]}]}";
  char body[200];
  memset(body, 2, sizeof body);
  body[95] = 0;
  CHECK_INT(value_of(list, (slp_str){body, 96}, MEBI), 0);
  body[95] = 2, body[96] = 0;
  CHECK_INT(value_of(list, (slp_str){body, 97}, MEBI), SLP_EBADDATA);
}

TEST(schemas_that_are_none) {
  static const char *const rows[][2] = {
      {"", "the schema is not JSON"},
      {"{", "the schema is not JSON"},
      {"7", "a type of the schema is not a type"},
      {"\"order\"", "the schema does not define order"},
      {"\"\"", "a type of the schema has an empty name"},
      {"{}", "a type of the schema has no \"type\""},
      {"[\"null\",[\"int\"]]", "a union of the schema contains a union"},
      {"{\"type\":\"record\",\"fields\":[]}", "a type of the schema has no name"},
      {"{\"type\":\"record\",\"name\":\"r\"}", "no fields in the record r"},
      {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"type\":\"int\"}]}",
       "a field has no name or no type in r"},
      {"{\"type\":\"enum\",\"name\":\"e\"}", "no symbols in the enum e"},
      {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[1]}", "a symbol is not a string in e"},
      {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", "no size in the fixed f"},
      {"{\"type\":\"array\"}", "an array or map of the schema lacks items"},
      {"{\"type\":\"map\"}", "an array or map of the schema lacks values"},
      {"[{\"type\":\"fixed\",\"name\":\"f\",\"size\":1},{\"type\":\"fixed\",\"name\":\"f\",\"size\":1}]",
       "the schema defines twice: f"},
  };
  slp_mem *mem = slp_mem_new(NULL, NULL);
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    slp_avro_schema s;
    CHECK_INT(slp_avro_schema_read(&s, mem, slp_str_of(rows[i][0]), why), SLP_EBADDATA);
    CHECK_STR(why, rows[i][1]);
    CHECK_INT(mem->live_blocks, 0);
  }
  slp_mem_drop(mem);
}

/* As fastavro 1.12.2 wrote it: behind the deflate stand the first 3 bytes of zlib's checksum. More is refused. */
TEST(a_piece_of_a_checksum_behind_a_block_is_passed_over) {
#define LONG_FILE(size, block)      \
  SLP_STR(                          \
      "Obj\x01\x04\x16"             \
      "avro.schema\x0c\"long\"\x14" \
      "avro.codec\x0e"              \
      "deflate\0"                   \
      "0123456789abcdef\x02" size block "0123456789abcdef")
  CHECK_INT(decode("avro", NO_SCHEMA, LONG_FILE("\x06", "\x63\x01\0"), MEBI), 0);
  CHECK_STR(got, "2");
  CHECK_INT(decode("avro", NO_SCHEMA, LONG_FILE("\x0c", "\x63\x01\0\0\x05\0"), MEBI), 0);
  CHECK_STR(got, "2");
  CHECK_INT(decode("avro", NO_SCHEMA, LONG_FILE("\x10", "\x63\x01\0\0\x05\0\x05\0"), MEBI), SLP_EBADDATA);
}

TEST(codecs_that_are_not_known_are_named) {
  slp_str file = row("file:null");
  char text[4000];
  memcpy(text, file.p, file.n);
  char *codec = memmem(text, file.n, "\x08null\x16", 6);
  if (!codec)
    codec = memmem(text, file.n, "avro.codec\x08null", 15)
                ? (char *)memmem(text, file.n, "avro.codec\x08null", 15) + 10
                : NULL;
  CHECK(codec != NULL);
  memcpy(codec + 1, "bzip", 4);
  CHECK_INT(decode("avro", NO_SCHEMA, (slp_str){text, file.n}, MEBI), SLP_EBADDATA);
  CHECK_STR(why, "avro: its codec bzip is not supported; supported are null, deflate, snappy, zstandard");
}

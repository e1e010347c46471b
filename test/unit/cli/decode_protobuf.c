/* decode_protobuf.c - -s protobuf on messages of PyPI's protobuf and of Amazon's serialiser: whole, damaged, cut short, too long
 * and without memory; and on messages as no writer makes them. Random schemas are compared with upb by contract/vectors/protobuf_python.py. */
#include "check.h"
#include "cli/decode.h"
#include "cli/json_nodes.h"
#include "cli/protobuf_value.h"
#include "cli/schemas.h"
#include "sanitized.h"
#include "scarce.h"
#include "contract/vectors/glue.h"
#include "contract/vectors/protobuf.h"

static char why[400];
static char got[1 << 17];
static size_t got_n, slices;
static int lines;

static slp_str row(const char *name) {
  for (size_t i = 0; i < SLP_COUNT(protobuf_rows); i++)
    if (strcmp(protobuf_rows[i].name, name) == 0) return protobuf_rows[i].bytes;
  for (size_t i = 0; i < SLP_COUNT(glue_rows); i++)
    if (strcmp(glue_rows[i].name, name) == 0) return glue_rows[i].bytes;
  CHECK_FAIL("no row %s", name);
}

static slp_schemas *schemas;
static slp_mem *mem;

/* Reads a descriptor set for every text; `message`: of those without Glue's header, or NULL. */
static int begin_in(slp_mem *in, slp_str set, const char *message) {
  mem = in;
  schemas = malloc(sizeof *schemas);
  slp_schemas_init(schemas, mem);
  slp_str name = message ? slp_str_of(message) : (slp_str){NULL, 0};
  int r = slp_pb_schema_read(&schemas->files[0].schema.protobuf, mem, set, name, why);
  schemas->files[0].schema.format = SLP_SCHEMA_PROTOBUF;
  schemas->files_n = r == 0;
  return r;
}

static void begin(const char *set, const char *message) {
  CHECK_INT(begin_in(slp_mem_new(NULL, NULL), row(set), message), 0);
}

static void end(void) {
  slp_schemas_free(schemas);
  free(schemas);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* Decodes a copy in memory of just that size. */
static int decode(const char *chain, slp_str in, uint64_t limit) {
  slp_decode_chain c;
  slp_decoding d;
  char *copy = malloc(in.n ? in.n : 1);
  size_t blocks = mem->live_blocks;
  if (in.n) memcpy(copy, in.p, in.n);
  CHECK_INT(slp_decode_parse(chain, &c, why), 0);
  slp_decoding_init(&d, mem);
  d.schemas = schemas;
  *why = 0;
  slices = 0;
  slp_decoding_begin(&d, &c, (slp_str){copy, in.n}, limit);
  int r;
  do r = slp_decoding_step(&d, why), slices++;
  while (r == 1);
  got_n = 0;
  if (!r) {
    got_n = slp_min_u64(d.in.n, sizeof got - 1);
    memcpy(got, d.in.p, got_n);
    lines = d.makes_lines;
  }
  got[got_n] = 0;
  slp_decoding_free(&d);
  CHECK(in.n == 0 || memcmp(copy, in.p, in.n) == 0);
  CHECK_INT(mem->live_blocks, blocks);
  free(copy);
  CHECK(r == 0 || r == SLP_ENOMEM || *why);
  return r;
}

#define MEBI (1u << 20)
#define TEXT(bytes) ((slp_str){bytes, sizeof bytes - 1})
#define CHECK_JSON(bytes, want)                          \
  do {                                                   \
    CHECK_INT(decode("protobuf", TEXT(bytes), MEBI), 0); \
    CHECK_STR(got, want);                                \
  } while (0)

/* The result must be JSON, without a newline. */
static void check_whole(void) {
  slp_mem *of = slp_mem_new(NULL, NULL);
  slp_json_nodes nodes;
  CHECK(!memchr(got, '\n', got_n));
  slp_json_nodes_init(&nodes, of);
  CHECK_INT(slp_json_nodes_read(&nodes, got, got_n, 100000), 0);
  slp_json_nodes_free(&nodes);
  slp_mem_drop(of);
}

/* The messages of protobuf.h, each with its set and its JSON. */
static const struct sample {
  const char *set, *message, *bytes, *json;
} samples[] = {{"set:shop", "shop.Order", "message:shop.Order:1", "json:shop.Order:1"},
               {"set:shop", "shop.Order", "message:shop.Order:2", "json:shop.Order:2"},
               {"set:old", "old.Thing", "message:old.Thing:3", "json:old.Thing:3"}};
#define EACH(s) for (const struct sample *s = samples; s < samples + SLP_COUNT(samples); s++)

TEST(messages_of_protobuf_are_what_its_json_format_prints) {
  EACH(s) {
    begin(s->set, s->message);
    CHECK_INT(decode("protobuf", row(s->bytes), MEBI), 0);
    CHECK_STR(got, row(s->json).p);
    CHECK_INT(decode("protobuf,plain-json", row(s->bytes), MEBI), 0);
    CHECK_STR(got, row(s->json).p);
    end();
  }
}

TEST(messages_of_amazons_serialiser) {
  static const struct {
    const char *row, *json;
  } rows[] = {{"protobuf:NONE:Zebra", "{\"id\":\"150\"}"},
              {"protobuf:NONE:Apple", "{\"id\":\"150\"}"},
              {"protobuf:ZLIB:Zebra", "{\"id\":\"150\"}"},
              {"protobuf:ZLIB:Apple", "{\"id\":\"150\"}"},
              {"protobuf:NONE:Deep", "{\"y\":\"hi\"}"}};
  static const char *const decoders[] = {"protobuf", "glue", "auto"};
  begin("descriptors", NULL);
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    for (size_t k = 0; k < SLP_COUNT(decoders); k++) {
      CHECK_INT(decode(decoders[k], row(rows[i].row), MEBI), 0);
      CHECK_STR(got, rows[i].json);
      CHECK_INT(lines, 1);
    }
  CHECK_INT(decode("avro", row(rows[0].row), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "avro: its schema is Protobuf: use -s glue");
  end();
}

TEST(numbers_of_messages_are_those_of_amazons_finder) {
  char name[40];
  begin("descriptors", NULL);
  const slp_pb_schema *s = &schemas->files[0].schema.protobuf;
  CHECK_INT(s->ordered_n, 16);
  for (size_t i = 0; i < s->ordered_n; i++) {
    snprintf(name, sizeof name, "index:%zu", i);
    CHECK(slp_str_eq(s->messages[s->ordered[i]].name, row(name)));
  }
  end();
}

#define GLUE "\x03\0\xb7\xb4\xa7\xf0\x9c\x96\x4e\x4a\xa6\x87\xfb\x5d\xe9\xef\x0c\x63"

/* By running its MessageIndexFinder: an entry of a map has a number, a message of an imported file has none. */
TEST(numbers_are_of_one_file_and_count_entries_of_maps) {
  begin("set:shop", NULL); /* Order, its entries ByBool, ByNumber and Counts, its Line */
  CHECK_INT(decode("glue", TEXT(GLUE "\x04\x0a\x01x"), MEBI), 0);
  CHECK_STR(got, "{\"sku\":\"x\"}");
  CHECK_INT(decode("glue", TEXT(GLUE "\x01\x08\x01"), MEBI), 0);
  CHECK_STR(got, "{\"key\":true}");
  CHECK_INT(decode("glue", TEXT(GLUE "\0"), MEBI), 0);
  CHECK_STR(got, "{}");
  CHECK_INT(decode("glue", TEXT(GLUE "\x05"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "glue: the --schema-file has no message with its number");
  CHECK_INT(decode("glue", TEXT(GLUE), MEBI), SLP_EBADDATA);
  CHECK_INT(decode("glue", TEXT(GLUE "\x80"), MEBI), SLP_EBADDATA);
  end();
  begin("set:shop", "google.protobuf.Value"); /* of struct.proto: ListValue, Struct, FieldsEntry, Value */
  CHECK_INT(decode("glue", TEXT(GLUE "\x03\x20\x01"), MEBI), 0);
  CHECK_STR(got, "true");
  end();
}

TEST(what_is_not_named_is_refused_with_the_remedy) {
  begin("set:shop", NULL);
  CHECK_INT(decode("protobuf", TEXT("\x08\x01"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "protobuf: it has no Glue header; give --schema-file FILE#MESSAGE");
  slp_pb_schema_free(&schemas->files[0].schema.protobuf); /* as after the registry's answer */
  CHECK_INT(decode("protobuf", TEXT(GLUE "\0"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "protobuf: its schema is Protobuf: give a --schema-file made by protoc");
  end();
}

TEST(damage_at_every_offset_is_refused_or_makes_whole_json) {
  static const unsigned char masks[] = {1, 2, 4, 0x10, 0x80, 0xff};
  char text[2000];
  EACH(s) {
    begin(s->set, s->message);
    slp_str whole = row(s->bytes);
    for (size_t at = 0; at < whole.n; at++)
      for (size_t m = SANITIZED ? sizeof masks - 1 : 0; m < sizeof masks; m++) {
        CHECK(whole.n <= sizeof text);
        memcpy(text, whole.p, whole.n);
        text[at] = (char)((unsigned char)text[at] ^ masks[m]);
        int r = decode("protobuf", (slp_str){text, whole.n}, 1 << 15);
        CHECK(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
        if (!r) check_whole();
      }
    end();
  }
}

TEST(a_cut_between_two_fields_leaves_a_message_and_any_other_is_refused) {
  EACH(s) {
    begin(s->set, s->message);
    slp_str whole = row(s->bytes);
    size_t next = 0;
    for (size_t n = 1; n < whole.n; n++) {
      slp_pb_token t;
      if (n > next && !slp_pb_field_at(whole, next, whole.n, &t)) next = t.next;
      int r = decode("protobuf", (slp_str){whole.p, n}, MEBI);
      CHECK_INT(r, n == next ? 0 : SLP_EBADDATA);
      if (!r) check_whole();
    }
    end();
  }
}

TEST(the_limit_holds_for_what_is_unpacked_and_what_is_written_together) {
  EACH(s) {
    begin(s->set, s->message);
    size_t n = row(s->json).n;
    CHECK_INT(decode("protobuf", row(s->bytes), n), 0);
    for (size_t limit = 0; limit < n; limit += 7)
      CHECK_INT(decode("protobuf", row(s->bytes), limit), SLP_ELIMIT);
    CHECK_INT(decode("protobuf", row(s->bytes), n - 1), SLP_ELIMIT);
    end();
  }
  begin("descriptors", NULL);
  size_t all = strlen("{\"id\":\"150\"}") + row("protobuf:NONE:Zebra").n - 18;
  CHECK_INT(decode("protobuf", row("protobuf:ZLIB:Zebra"), all), 0);
  CHECK_INT(decode("protobuf", row("protobuf:ZLIB:Zebra"), all - 1), SLP_ELIMIT);
  char want[100];
  snprintf(want, sizeof want, "protobuf: more than %zu bytes; see -X decoded_bytes_max", all - 1);
  CHECK_STR(why, want);
  end();
}

TEST(without_memory_that_is_what_is_told) {
  EACH(s) for (int64_t n = 1;; n++) {
    CHECK(n < 4000);
    scarce of = {.left = n};
    int r = begin_in(slp_mem_new(scarce_alloc, &of), row(s->set), s->message);
    if (!r) r = decode("protobuf", row(s->bytes), MEBI);
    if (r != (of.failed ? SLP_ENOMEM : 0)) CHECK_FAIL("%s: %d with %d allocations", s->bytes, r, (int)n);
    of.left = -1;
    end();
    if (!of.failed) break;
  }
}

/* ---- messages as no writer makes them ---- */

TEST(of_a_value_given_twice_the_last_one_counts_and_messages_are_put_together) {
  begin("set:shop", "shop.Order");
  CHECK_JSON("\x08\x01\x08\x02", "{\"aInt32\":2}");
  CHECK_JSON("\x08\x01\x08\0", "{}"); /* its default, and so not set */
  CHECK_JSON("\xa2\x01\x03\x0a\x01x\x08\x07\xa2\x01\x02\x10\x01",
             "{\"line\":{\"sku\":\"x\",\"n\":-1},\"aInt32\":7}");
  CHECK_JSON("\x88\x01\x01\x08\x07\x8a\x01\x02\x02\x03\x88\x01\x04", "{\"packed\":[1,2,3,4],\"aInt32\":7}");
  CHECK_JSON("\x8a\x01\0", "{}");
  end();
}

TEST(of_a_oneof_the_last_member_counts) {
  begin("set:shop", "shop.Order");
  CHECK_JSON("\xca\x01\x01x\xd8\x01\x05", "{\"points\":5}");
  CHECK_JSON("\xd8\x01\x05\xca\x01\0", "{\"card\":\"\"}");
  CHECK_JSON("\xd2\x01\x03\x0a\x01x\xd8\x01\x05\xd2\x01\x02\x10\x01", "{\"cash\":{\"n\":-1}}");
  CHECK_JSON("\xd2\x01\x03\x0a\x01x\x08\x01\xd2\x01\x02\x10\x01",
             "{\"cash\":{\"sku\":\"x\",\"n\":-1},\"aInt32\":1}");
  /* A member that a later one of its oneof replaces must be whole as well. */
  CHECK_INT(decode("protobuf", TEXT("\xd2\x01\x01\x0a\xd8\x01\x05"), MEBI), SLP_EBADDATA);
  CHECK_INT(decode("protobuf", TEXT("\xca\x01\x01\xff\xd8\x01\x05"), MEBI), SLP_EBADDATA);
  end();
}

TEST(a_key_is_there_once) {
  begin("set:shop", "shop.Order");
  CHECK_JSON("\xb2\x01\x05\x0a\x01x\x10\x01\xb2\x01\x03\x0a\x01y\xb2\x01\x05\x0a\x01x\x10\x02",
             "{\"counts\":{\"y\":\"0\",\"x\":\"2\"}}");
  CHECK_JSON("\xba\x01\0\xba\x01\x02\x08\0\xba\x01\x02\x08\x05", "{\"byNumber\":{\"0\":{},\"5\":{}}}");
  CHECK_JSON("\xb2\x01\x02\x18\x01", "{}"); /* an entry with an unknown field, as upb has it */
  static char many[4 * 60000];
  size_t n = 0;
  for (uint32_t i = 0; n + 12 < sizeof many; i++) { /* each key twice */
    uint32_t key = 1u << 20 | i / 2;
    memcpy(many + n, "\xba\x01\x04\x08", 4);
    many[n + 4] = (char)((key & 127) | 128);
    many[n + 5] = (char)((key >> 7 & 127) | 128);
    many[n + 6] = (char)(key >> 14);
    n += 7;
  }
  CHECK_INT(decode("protobuf", (slp_str){many, n}, MEBI), 0);
  CHECK(slices > 3);
  end();
}

TEST(unknown_fields_and_numbers_are_passed_over) {
  begin("set:shop", "shop.Order");
  CHECK_JSON("\xf8\xff\xff\xff\x0f\x01\x08\x01\x0d\0\0\0\0\x0b\x0b\x0c\x0c", "{\"aInt32\":1}");
  CHECK_JSON("\x78\x07", "{\"state\":7}"); /* an open enum */
  end();
  begin("set:old", "old.Thing");
  CHECK_JSON("\x10\x07\x08\x01\x18\x07\x18\x01\x1a\x02\x07\x02",
             "{\"id\":1,\"kinds\":[\"ONE\",\"TWO\"]}"); /* a closed one */
  CHECK_JSON("\x18\x07", "{}");
  end();
}

TEST(what_no_reader_takes_is_refused) {
  const slp_str rows[] = {
      TEXT("\0\x01"), /* the field 0 */
      TEXT("\x06"),
      TEXT("\x07"), /* no wire type */
      TEXT("\x0c"),
      TEXT("\x0b"),
      TEXT("\x0b\x14"), /* groups without beginning, end, or with another's */
      TEXT("\x08"),
      TEXT("\x08\x80"),                                       /* a varint that is cut */
      TEXT("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0"), /* of 11 bytes */
      TEXT("\x88\x80\x80\x80\x80\0\x01"),
      TEXT("\x88\x80\x80\x80\x10\x01"), /* a tag of 6 bytes, and of 33 bits */
      TEXT("\x6a\x02x"),
      TEXT("\x6a\xff\xff\xff\xff\x0f"), /* longer than what is left */
      TEXT("\x6a\x01\xff"),             /* not UTF-8 */
      TEXT("\x8a\x01\x01\x80"),
      TEXT("\xca\x02\x07xxxxxxx"),                      /* packed numbers that are cut */
      TEXT("\xf2\x01\x07\x08\xff\xff\xff\xff\xff\x7f"), /* a Timestamp in a year beyond 9999 */
      TEXT("\xfa\x01\x04\x08\x01\x10\xff"),             /* a Duration, cut */
      TEXT("\x82\x02\x03\x0a\x01"
           "A"),                                    /* a path of a FieldMask that has no JSON */
      TEXT("\x92\x02\x09\x11\0\0\0\0\0\0\xf8\x7f"), /* a Value that is NaN */
      TEXT("\xb2\x02\x05\x0a\x03x/y"),              /* an Any of a type that is not in the set */
      TEXT("\xb2\x02\x13\x0a\x0cx/shop.Order\x12\0\x12\x01\x08"), /* an Any whose message is cut */
  };
  begin("set:shop", "shop.Order");
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    if (decode("protobuf", rows[i], MEBI) != SLP_EBADDATA) CHECK_FAIL("%zu is taken: %s", i, got);
  CHECK_INT(decode("protobuf", TEXT("\xb2\x02\x05\x0a\x03x/y"), MEBI), SLP_EBADDATA);
  CHECK_STR(why, "protobuf: an Any of the type y, which the descriptor set lacks");
  end();
}

/* 100 messages within each other, and no more: as upb. */
TEST(depth_is_bounded) {
  static char text[1000];
  begin("set:shop", "shop.Order.Line");
  for (size_t deep = 99; deep <= 101; deep++) {
    size_t at = sizeof text;
    for (size_t i = 0, n = 0; i < deep; i++, n = sizeof text - at) {
      if (n > 127)
        text[--at] = (char)(n >> 7), text[--at] = (char)((n & 127) | 128);
      else
        text[--at] = (char)n;
      text[--at] = 0x1a;
    }
    CHECK_INT(decode("protobuf", (slp_str){text + at, sizeof text - at}, MEBI),
              deep > 100 ? SLP_EBADDATA : 0);
    if (deep > 100) CHECK_STR(why, "protobuf: it is nested deeper than 100");
    memset(text, 0x2b, deep), memset(text + deep, 0x2c, deep); /* unknown groups */
    CHECK_INT(decode("protobuf", (slp_str){text, 2 * deep}, MEBI), deep > 100 ? SLP_EBADDATA : 0);
  }
  end();
}

TEST(a_group_has_a_maximum_as_it_is_read_at_once) {
  size_t n = SLP_PB_AT_ONCE + 2;
  char *text = malloc(n + 2);
  begin("set:old", "old.Thing");
  memset(text, 0, n + 2);
  for (size_t i = 1; i + 1 < n; i += 2) text[i] = 0x18, text[i + 1] = 1; /* an unknown number within it */
  text[0] = 0x23, text[n - 1] = 0x24;
  CHECK_INT(decode("protobuf", (slp_str){text, n}, MEBI), 0);
  CHECK_STR(got, "{\"inner\":{}}");
  text[n - 1] = 0x18, text[n] = 1, text[n + 1] = 0x24;
  CHECK_INT(decode("protobuf", (slp_str){text, n + 2}, MEBI), SLP_EBADDATA);
  CHECK_STR(why, "protobuf: it has a group of more than 1048576 bytes");
  free(text);
  end();
}

TEST(a_mask_of_fields_has_a_maximum_as_it_is_written_at_once) {
  size_t n = SLP_PB_AT_ONCE;
  char *text = malloc(n + 7);
  begin("set:shop", "shop.Order");
  memcpy(text, "\x82\x02\x80\x80\x40", 5); /* of 2^20 bytes: paths that are empty */
  for (size_t i = 0; i < n + 2; i += 2) text[5 + i] = 0x0a, text[6 + i] = 0;
  CHECK_INT(decode("protobuf", (slp_str){text, n + 5}, MEBI), 0);
  text[2] = (char)0x82;
  CHECK_INT(decode("protobuf", (slp_str){text, n + 7}, MEBI), SLP_EBADDATA);
  CHECK_STR(why, "protobuf: it has a FieldMask of more than 1048576 bytes");
  free(text);
  end();
}

TEST(fields_that_take_turns_have_a_maximum) {
  char *text = malloc((size_t)SLP_PB_RUNS_MAX * 3 + 3);
  begin("set:shop", "shop.Order");
  size_t m = 0;
  for (size_t i = 0; i < SLP_PB_RUNS_MAX / 2; i++, m += 6) memcpy(text + m, "\x90\x01\x01\x88\x01\x01", 6);
  CHECK_INT(decode("protobuf", (slp_str){text, m}, 1u << 26), 0);
  CHECK(slices > 10);
  memcpy(text + m, "\x90\x01\x01", 3);
  CHECK_INT(decode("protobuf", (slp_str){text, m + 3}, 1u << 26), SLP_EBADDATA);
  CHECK_STR(why, "protobuf: its fields change too often");
  free(text);
  end();
}

/* ---- descriptor sets ---- */

TEST(sets_that_are_none) {
  const struct {
    slp_str set;
    const char *message, *why;
  } rows[] = {
      {TEXT(""), NULL, "the descriptor set has no message"},
      {TEXT("\x0a\x05x"), NULL, "the descriptor set is damaged"},
      {TEXT("\x0a\x02\x22\0"), NULL, "a type of the descriptor set has no name"},
      {TEXT("\x0a\x0a\x22\x03\x0a\x01M\x22\x03\x0a\x01M"), NULL, "the descriptor set defines twice: M"},
      {TEXT("\x0a\x05\x22\x03\x0a\x01M"), "N", "the descriptor set has no message N"},
      {TEXT("\x0a\x07\x22\x05\x0a\x01M\x12\0"), NULL, "no type is known for the field"},
      {TEXT("\x0a\x12\x22\x10\x0a\x01M\x12\x0b\x0a\x01"
            "f\x18\x01\x28\x0b\x32\x02.X"),
       NULL, "the descriptor set lacks (--include_imports) .X"},
      {TEXT("\x0a\x0e\x22\x0c\x0a\x01M\x12\x07\x0a\x01"
            "f\x18\0\x28\x05"),
       NULL, "a field's number is wrong or there twice in M"},
      {TEXT("\x0a\x0e\x22\x03\x0a\x01M\x62\x07"
            "proto99"),
       NULL, "the descriptor set has a file of the syntax proto99"},
      {TEXT("\x0a\x11\x22\x03\x0a\x01M\x62\x08"
            "editions\x70\x01"),
       NULL, "the descriptor set has a file of an edition that is not known"},
      {TEXT("\x0a\x09\x22\x07\x0a\x01M\x3a\x02\x38\x01"), NULL, "this is no entry of a map: M"},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    int r = begin_in(slp_mem_new(NULL, NULL), rows[i].set, rows[i].message);
    if (r != SLP_EBADDATA || strcmp(why, rows[i].why) != 0) CHECK_FAIL("%zu: %d, %s", i, r, why);
    end();
  }
  CHECK_INT(begin_in(slp_mem_new(NULL, NULL), row("set:alone"), NULL), SLP_EBADDATA);
  CHECK_STR(why, "the descriptor set lacks (--include_imports) .google.protobuf.Timestamp");
  end();
}

TEST(damaged_sets_are_refused_or_can_be_used) {
  slp_str set = row("set:old");
  char text[2000];
  CHECK(set.n < sizeof text);
  for (size_t at = 0; at < set.n; at++)
    for (int mask = 1; mask < 256; mask += SANITIZED ? 100 : 13) {
      memcpy(text, set.p, set.n);
      text[at] = (char)((unsigned char)text[at] ^ (unsigned)mask);
      int r = begin_in(slp_mem_new(NULL, NULL), (slp_str){text, set.n}, NULL);
      CHECK(r == 0 || (r == SLP_EBADDATA && *why));
      for (uint32_t i = 0; !r && i < 4; i++) {
        char message[400] = GLUE;
        slp_str body = row("message:old.Thing:3");
        message[18] = (char)i;
        memcpy(message + 19, body.p, body.n);
        int made = decode("glue", (slp_str){message, 19 + body.n}, MEBI);
        CHECK(made == 0 || made == SLP_EBADDATA);
        if (!made) check_whole();
      }
      end();
    }
}

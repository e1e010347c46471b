/* schemas.c - the schemas of a registry: asked for once, kept, refused with a back-off, and bounded. */
#include "check.h"
#include "cli/schemas.h"

static slp_mem *mem;
static slp_schemas *s;
static slp_version *asked;
static int asks, fails;
static char why[SLP_DECODER_WHY];

static int ask(slp_schemas *of, slp_version *v, char reason[SLP_DECODER_WHY]) {
  CHECK(of == s);
  asked = v;
  asks++;
  if (fails) snprintf(reason, SLP_DECODER_WHY, "it can't be asked");
  return fails ? SLP_EINVAL : 0;
}

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  s = malloc(sizeof *s);
  slp_schemas_init(s, mem);
  s->ask = ask;
  asks = fails = 0;
  asked = NULL;
}

static void end(void) {
  slp_schemas_free(s);
  free(s);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static const slp_schema *schema;
static int find(uint32_t number) {
  uint8_t id[SLP_SCHEMA_ID] = {0};
  memcpy(id, &number, sizeof number);
  *why = 0;
  return slp_schemas_find(s, id, &schema, why);
}

TEST(a_schema_is_asked_for_once_and_kept) {
  begin();
  for (int i = 0; i < 3; i++) CHECK_INT(find(1), SLP_DECODE_WAITS);
  CHECK_INT(asks, 1);
  slp_schemas_answer(s, asked, SLP_STR("AVRO"), SLP_STR("\"string\""));
  for (int i = 0; i < 3; i++) CHECK_INT(find(1), 0);
  CHECK_INT(schema->format, SLP_SCHEMA_AVRO);
  CHECK_INT(asks, 1);
  end();
}

TEST(formats) {
  begin();
  CHECK_INT(find(1), SLP_DECODE_WAITS);
  slp_schemas_answer(s, asked, SLP_STR("JSON"), SLP_STR("{}"));
  CHECK_INT(find(1), 0);
  CHECK_INT(schema->format, SLP_SCHEMA_JSON);
  CHECK_INT(find(2), SLP_DECODE_WAITS);
  slp_schemas_answer(s, asked, SLP_STR("XML"), SLP_STR("<a/>"));
  CHECK_INT(find(2), SLP_EBADDATA);
  CHECK_STR(why, "the registry names the format XML, which is not supported");
  CHECK_INT(find(3), SLP_DECODE_WAITS);
  slp_schemas_answer(s, asked, SLP_STR("AVRO"), SLP_STR("\"order\""));
  CHECK_INT(find(3), SLP_EBADDATA);
  CHECK_STR(why, "the schema does not define order");
  end();
}

TEST(a_refusal_is_kept_and_asked_again_after_a_growing_back_off) {
  begin();
  uint64_t before = 0;
  for (int i = 0; i < 12; i++) {
    CHECK_INT(find(1), SLP_DECODE_WAITS);
    CHECK_INT(asks, i + 1);
    slp_schemas_refuse(s, asked, "no such schema");
    for (int k = 0; k < 100; k++) CHECK_INT(find(1), SLP_EBADDATA);
    CHECK_STR(why, "no such schema");
    CHECK_INT(asks, i + 1);
    CHECK(asked->wait_us >= before && asked->wait_us <= SLP_SCHEMA_AGAIN_US_MAX);
    before = asked->wait_us;
    asked->again_at_us = 0; /* the back-off is over */
  }
  CHECK_INT(before, SLP_SCHEMA_AGAIN_US_MAX);
  CHECK_INT(find(1), SLP_DECODE_WAITS);
  slp_schemas_answer(s, asked, SLP_STR("AVRO"), SLP_STR("\"int\""));
  CHECK_INT(find(1), 0);
  end();
}

TEST(one_that_can_t_be_asked_for_is_refused_at_once) {
  begin();
  fails = 1;
  CHECK_INT(find(1), SLP_EBADDATA);
  CHECK_STR(why, "it can't be asked");
  CHECK_INT(find(1), SLP_EBADDATA);
  CHECK_INT(asks, 1);
  end();
}

TEST(so_many_are_kept_and_the_one_used_last_is) {
  begin();
  for (uint32_t i = 0; i < 1000; i++) {
    CHECK_INT(find(i), SLP_DECODE_WAITS);
    slp_schemas_answer(s, asked, SLP_STR("AVRO"), SLP_STR("\"int\""));
    CHECK_INT(find(i), 0);
    CHECK_INT(find(0), 0); /* used all the time */
    CHECK(s->versions_n <= SLP_SCHEMAS_MAX);
  }
  CHECK_INT(asks, 1000);
  CHECK(mem->live_bytes < SLP_SCHEMAS_MAX * 4096);
  end();
}

TEST(ids_as_people_see_them) {
  static const uint8_t id[] = {0xb7, 0xb4, 0xa7, 0xf0, 0x9c, 0x96, 0x4e, 0x4a,
                               0xa6, 0x87, 0xfb, 0x5d, 0xe9, 0xef, 0x0c, 0x63};
  char text[SLP_SCHEMA_ID_TEXT], file[] = "/tmp/sloop-schema-XXXXXX", given[200], reason[400];
  slp_schema_id_text(id, text);
  CHECK_STR(text, "b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63");
  int fd = mkstemp(file);
  CHECK(fd >= 0 && write(fd, "\"long\"", 6) == 6);
  close(fd);
  begin();
  snprintf(given, sizeof given, "B7B4A7F0-9c96-4e4a-a687-fb5de9ef0c63=%s", file);
  CHECK_INT(slp_schemas_add_file(s, given, reason), 0);
  CHECK_INT(slp_schemas_add_file(s, given, reason), SLP_EINVAL);
  CHECK_STR(reason, "--schema-file: two files for one id");
  CHECK_INT(slp_schemas_find(s, id, &schema, why), 0);
  CHECK_INT(find(7), SLP_DECODE_WAITS); /* another id */
  CHECK_INT(slp_schemas_add_file(s, file, reason), 0);
  CHECK_INT(slp_schemas_add_file(s, file, reason), SLP_EINVAL);
  CHECK_STR(reason, "--schema-file: two files without an id; give ID=FILE");
  CHECK_INT(find(8), 0);
  CHECK_INT(find(8), 0);
  CHECK_INT(s->seen_more, 0);
  CHECK_INT(find(9), 0);
  CHECK_INT(s->seen_more, 1);
  CHECK_INT(slp_schemas_add_file(s, "00000000-0000-0000-0000-000000000000=/nowhere/a.avsc", reason),
            SLP_EINVAL);
  CHECK(strstr(reason, "/nowhere"));
  end();
  unlink(file);
}

/* fuzz_avro.c - -s avro. 'f': a file as it is: its result keeps the limit and is lines of JSON. 'v': two bytes of length, a
 * schema, a value; read behind Glue's header, plain and packed, and in files of both kinds of blocks: four ways to the same
 * value, or none. Our own reader says whether a line is JSON; jansson judges that reader in fuzz_json. */
#include <zlib.h>

#include "cli/json_nodes.h"
#include "decoding.h"

static void check_lines(const slp_buf *made) {
  slp_buf copy;
  slp_buf_init(&copy, mem, LIMIT);
  REQUIRE(slp_buf_add_str(&copy, slp_buf_str(made)) == 0);
  for (size_t at = 0; at < copy.n;) {
    const char *end = memchr(copy.p + at, '\n', copy.n - at);
    size_t n = end ? (size_t)(end - copy.p) - at : copy.n - at;
    slp_json_nodes nodes;
    slp_json_nodes_init(&nodes, mem);
    int r = slp_json_nodes_read(&nodes, copy.p + at, n, SIZE_MAX);
    REQUIRE(r == 0);
    slp_json_nodes_free(&nodes);
    at += n + 1;
  }
  slp_buf_free(&copy);
}

static void put_long(slp_buf *b, uint64_t v) {
  for (v <<= 1; v > 127; v >>= 7) slp_buf_add_char(b, (char)(v | 128));
  slp_buf_add_char(b, (char)v);
}

static void put_bytes(slp_buf *b, slp_str s) {
  put_long(b, s.n);
  slp_buf_add_str(b, s);
}

static void pack(slp_buf *b, slp_str s, int window_bits) {
  z_stream z = {0};
  REQUIRE(deflateInit2(&z, 1, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  size_t room = deflateBound(&z, s.n);
  REQUIRE(slp_buf_reserve(b, room) == 0);
  z.next_in = (Bytef *)(uintptr_t)s.p;
  z.avail_in = (uInt)s.n;
  z.next_out = (Bytef *)(b->p + b->n);
  z.avail_out = (uInt)room;
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  b->n += room - z.avail_out;
  deflateEnd(&z);
}

static void put_file(slp_buf *b, slp_str schema, slp_str value, int packed) {
  static const char sync[] = "0123456789abcdef";
  slp_buf block;
  slp_buf_init(&block, mem, ROOM);
  slp_buf_add_z(b, "Obj\x01");
  put_long(b, 2);
  put_bytes(b, SLP_STR("avro.codec"));
  put_bytes(b, packed ? SLP_STR("deflate") : SLP_STR("null"));
  put_bytes(b, SLP_STR("avro.schema"));
  put_bytes(b, schema);
  slp_buf_add(b, "\0", 1);
  slp_buf_add_z(b, sync);
  put_long(b, 1);
  if (packed) pack(&block, value, -15);
  put_bytes(b, packed ? slp_buf_str(&block) : value);
  REQUIRE(slp_buf_add_z(b, sync) == 0);
  slp_buf_free(&block);
}

static void put_message(slp_buf *b, slp_str value, int packed) {
  slp_buf_add(b, packed ? "\x03\x05" : "\x03\x00", 2);
  slp_buf_add_z(b, "0123456789abcdef");
  if (packed)
    pack(b, value, 15);
  else
    slp_buf_add_str(b, value);
  REQUIRE(!slp_buf_failed(b));
}

static void four_ways(slp_str schema, slp_str value) {
  char why[SLP_AVRO_SCHEMA_WHY];
  int known = slp_avro_schema_read(&schemas.files[0].schema.avro, mem, schema, why) == 0;
  schemas.files[0].schema.format = SLP_SCHEMA_AVRO;
  schemas.files_n = (size_t)known;
  slp_buf first;
  slp_buf_init(&first, mem, LIMIT);
  int first_r = 0;
  for (int way = 0; way < 4; way++) {
    slp_buf text, made;
    slp_buf_init(&text, mem, ROOM);
    slp_buf_init(&made, mem, LIMIT);
    if (way < 2)
      put_message(&text, value, way);
    else
      put_file(&text, schema, value, way - 2);
    int r = decode_by("avro", slp_buf_str(&text), &made);
    if (way == 0) first_r = r;
    if (way == 0 && !r) check_lines(&made), slp_buf_add_str(&first, slp_buf_str(&made));
    /* The unpacked bytes count towards the limit, so near it the ways differ. */
    if (first.n + value.n < LIMIT && first_r != SLP_ELIMIT)
      REQUIRE((r == 0) == (first_r == 0) && slp_str_eq(slp_buf_str(&made), slp_buf_str(&first)));
    slp_buf_free(&text);
    slp_buf_free(&made);
  }
  slp_buf_free(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > 65536) return 0;
  char *copy = fuzz_copy(data + 1, size - 1);
  mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  slp_schemas_init(&schemas, mem);
  if (data[0] == 'f') {
    slp_buf made;
    slp_buf_init(&made, mem, LIMIT);
    if (decode_by("avro", (slp_str){copy, size - 1}, &made) == 0) check_lines(&made);
    slp_buf_free(&made);
  } else if (data[0] == 'v') {
    size_t n = slp_min_u64((size_t)data[1] << 8 | data[2], size - 3);
    four_ways((slp_str){copy + 2, n}, (slp_str){copy + 2 + n, size - 3 - n});
  }
  REQUIRE(memcmp(copy, data + 1, size - 1) == 0); /* what is read is not ours to change */
  slp_schemas_free(&schemas);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(copy);
  return 0;
}

/* fuzz_protobuf.c - -s protobuf. 's': two bytes of length, a descriptor set, a message, read as each of the set's first messages,
 * behind Glue's header, plain and packed: the same twice, one line of JSON within the limit, or refused. 'm': a message of
 * descriptor.proto's kin, which test/contract/vectors/protobuf.h has the set of. Our own reader says whether a line is JSON, and jansson judges that
 * reader in fuzz_json; what a message says is judged by upb in test/contract/vectors/protobuf_python.py. */
#include <zlib.h>

#include "cli/json_nodes.h"
#include "decoding.h"
#include "contract/vectors/protobuf.h"

enum { MESSAGES = 6 };

static void check_line(const slp_buf *made) {
  slp_buf copy;
  slp_json_nodes nodes;
  slp_buf_init(&copy, mem, LIMIT);
  REQUIRE(slp_buf_add_str(&copy, slp_buf_str(made)) == 0 && !slp_str_has(slp_buf_str(made), '\n'));
  slp_json_nodes_init(&nodes, mem);
  int r = slp_json_nodes_read(&nodes, copy.p, copy.n, SIZE_MAX);
  REQUIRE(r == 0 || r == SLP_ELIMIT); /* deeper than our readers go */
  slp_json_nodes_free(&nodes);
  slp_buf_free(&copy);
}

static void put_message(slp_buf *b, size_t number, slp_str value, int packed) {
  slp_buf body;
  slp_buf_init(&body, mem, ROOM);
  slp_buf_add_char(&body, (char)number);
  REQUIRE(slp_buf_add_str(&body, value) == 0);
  slp_buf_add(b, packed ? "\x03\x05" : "\x03\x00", 2);
  slp_buf_add_z(b, "0123456789abcdef");
  uLongf room = compressBound(body.n);
  REQUIRE(slp_buf_reserve(b, slp_max_u64(room, body.n)) == 0);
  if (packed) {
    REQUIRE(compress((Bytef *)(b->p + b->n), &room, (const Bytef *)body.p, body.n) == Z_OK);
    b->n += room;
  } else {
    slp_buf_add_str(b, slp_buf_str(&body));
  }
  slp_buf_free(&body);
}

/* Reads the value as message `number` of the set: plain and packed. */
static void two_ways(size_t number, slp_str value) {
  slp_buf text[2], made[2];
  int r[2];
  for (int packed = 0; packed < 2; packed++) {
    slp_buf_init(&text[packed], mem, ROOM);
    slp_buf_init(&made[packed], mem, LIMIT);
    put_message(&text[packed], number, value, packed);
    r[packed] = decode_by("protobuf", slp_buf_str(&text[packed]), &made[packed]);
    if (!r[packed]) check_line(&made[packed]);
  }
  /* The unpacked bytes count towards the limit, so near it the two differ. */
  if (made[0].n + value.n + 1 < LIMIT && r[0] != SLP_ELIMIT && r[1] != SLP_ELIMIT)
    REQUIRE(r[0] == r[1] && slp_str_eq(slp_buf_str(&made[0]), slp_buf_str(&made[1])));
  for (int packed = 0; packed < 2; packed++) slp_buf_free(&text[packed]), slp_buf_free(&made[packed]);
}

static void try_set(slp_str set, slp_str message, slp_str value) {
  char why[SLP_PB_WHY];
  slp_schemas_init(&schemas, mem);
  int r = slp_pb_schema_read(&schemas.files[0].schema.protobuf, mem, set, message, why);
  REQUIRE(r == 0 || (r == SLP_EBADDATA && *why));
  schemas.files[0].schema.format = SLP_SCHEMA_PROTOBUF;
  schemas.files_n = r == 0;
  for (size_t i = 0; !r && i < MESSAGES && i < schemas.files[0].schema.protobuf.ordered_n; i++)
    two_ways(i, value);
  if (!r && message.p && value.n) {
    slp_buf made;
    slp_buf_init(&made, mem, LIMIT);
    if (decode_by("protobuf", value, &made) == 0) check_line(&made);
    slp_buf_free(&made);
  }
  slp_schemas_free(&schemas);
}

static slp_str row(const char *name) {
  for (size_t i = 0; i < SLP_COUNT(protobuf_rows); i++)
    if (strcmp(protobuf_rows[i].name, name) == 0) return protobuf_rows[i].bytes;
  return (slp_str){NULL, 0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > 65536) return 0;
  char *copy = fuzz_copy(data + 1, size - 1);
  mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  if (data[0] == 's') {
    size_t n = slp_min_u64((size_t)data[1] << 8 | data[2], size - 3);
    try_set((slp_str){copy + 2, n}, (slp_str){NULL, 0}, (slp_str){copy + 2 + n, size - 3 - n});
  } else if (data[0] == 'm') {
    try_set(row("set:shop"), SLP_STR("shop.Order"), (slp_str){copy, size - 1});
  } else if (data[0] == 'o') {
    try_set(row("set:old"), SLP_STR("old.Thing"), (slp_str){copy, size - 1});
  }
  REQUIRE(memcmp(copy, data + 1, size - 1) == 0); /* what is read is not ours to change */
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(copy);
  return 0;
}

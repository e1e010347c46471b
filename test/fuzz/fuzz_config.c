/* fuzz_config.c - configuration files of stream-tail, with all its options and settings of -X. What is
 * refused is refused by one line that names file and line; what is taken can be written down (-X dump), and
 * the file so written says the same. */
#include "cli/config.h"

#include "fuzz_file.h"

static slp_args a, b; /* large, and their strings point into themselves */

static int parse(slp_args *into, slp_mem *mem, const void *p, size_t n, char why[SLP_ARGS_WHY]) {
  static const char *const argv[] = {"stream-tail", "orders"};
  slp_surroundings around = {.clock = {INT64_C(1700000000000), NULL}, .config = fuzz_file(p, n)};
  why[0] = 0;
  return slp_args_parse(into, mem, 2, argv, &around, why);
}

static void check_why(const char *why) {
  REQUIRE(why[0] && memchr(why, 0, SLP_ARGS_WHY));
  REQUIRE(!strchr(why, '\n'));
}

static slp_str line_of(slp_str *text) {
  const char *end = text->n ? memchr(text->p, '\n', text->n) : NULL;
  slp_str line = {text->p, end ? (size_t)(end - text->p) : text->n};
  size_t skip = line.n + (end != NULL);
  *text = (slp_str){text->p + skip, text->n - skip};
  return line;
}

/* Line by line; what stands for a secret is not a setting any more. */
static void same_lines(slp_str first, slp_str second) {
  while (first.n) {
    slp_str a_line = line_of(&first), b_line = line_of(&second);
    int secret = a_line.n > 8 && memcmp(a_line.p + a_line.n - 8, "(secret)", 8) == 0;
    REQUIRE(secret || slp_str_eq(a_line, b_line));
  }
  REQUIRE(second.n == 0);
}

static size_t times_in(slp_str text, const char *z) {
  size_t times = 0, n = strlen(z);
  for (size_t i = 0; i + n <= text.n; i++) times += memcmp(text.p + i, z, n) == 0;
  return times;
}

static void kept_secret(slp_str dump, slp_str given, const char *secret) {
  if (secret && strstr(secret, "SESAME") && times_in(given, secret) == 1)
    REQUIRE(times_in(dump, secret) == 0);
}

/* Secrets, and options that are no settings of a file, are not written. */
static void round_trip(slp_mem *mem, slp_str given) {
  char why[SLP_ARGS_WHY];
  slp_buf first, second;
  slp_buf_init(&first, mem, 1 << 24);
  slp_buf_init(&second, mem, 1 << 24);
  REQUIRE(slp_config_dump(&first, &a) == 0);
  kept_secret(slp_buf_str(&first), given, a.sandbox.secret_key);
  kept_secret(slp_buf_str(&first), given, a.sandbox.session_token);
  REQUIRE(parse(&b, mem, first.p, first.n, why) == 0);
  REQUIRE(slp_config_dump(&second, &b) == 0);
  same_lines(slp_buf_str(&first), slp_buf_str(&second));
  slp_args_free(&b);
  slp_buf_free(&first);
  slp_buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char why[SLP_ARGS_WHY];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  int r = parse(&a, mem, data, size, why);
  REQUIRE(r == 0 || r == SLP_EINVAL);
  if (r)
    check_why(why);
  else
    round_trip(mem, (slp_str){(const char *)data, size});
  slp_args_free(&a);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}

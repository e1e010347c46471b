/* fuzz_profile.c - the two files of ~/.aws (a byte 0x1e between them) for three names of profiles. A section
 * of somebody else's behind them changes nothing; what was read, written down as a plain profile, reads as
 * the same (values are C strings: a NUL ends them). contract/vectors/config_botocore.py compares values with
 * botocore's. */
#include "aws/profile.h"

#include "fuzz.h"

#define STRANGER "\n[profile nobody]\nregion = nowhere\n[services nothing]\nkinesis =\n  endpoint_url = x\n"

typedef struct texts {
  slp_str credentials, config;
} texts;

static int read_it(slp_profile *p, slp_mem *mem, const texts *t, const char *name, int *ret_file,
                   uint32_t *ret_line) {
  slp_profile_init(p, mem);
  return slp_profile_parse(p, t->credentials, t->config, slp_str_of(name), ret_file, ret_line);
}

static int same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void same(const slp_profile *a, const slp_profile *b) {
  for (int i = 0; i < SLP_PROFILE_KEYS; i++) {
    REQUIRE(same_text(a->in_config[i], b->in_config[i]));
    REQUIRE(same_text(a->in_credentials[i], b->in_credentials[i]));
    REQUIRE(same_text(slp_profile_get(a, (slp_profile_key)i), slp_profile_get(b, (slp_profile_key)i)));
  }
  for (int i = 0; i < SLP_SVCS; i++) REQUIRE(same_text(a->service_endpoint[i], b->service_endpoint[i]));
  REQUIRE(same_text(a->session_region, b->session_region) && same_text(a->session_url, b->session_url));
  REQUIRE(a->services_found == b->services_found && a->session_found == b->session_found);
}

/* The file itself may name the stranger's sections, or have them. */
static int is_strange(slp_str text) {
  return !memmem(text.p, text.n, "nobody", 6) && !memmem(text.p, text.n, "nothing", 7);
}

static slp_str behind(slp_buf *b, slp_str text) {
  REQUIRE(slp_buf_add_str(b, text) == 0 && slp_buf_add_z(b, STRANGER) == 0);
  return slp_buf_str(b);
}

static void with_a_stranger(slp_mem *mem, const slp_profile *p, const texts *t, const char *name) {
  slp_profile again;
  slp_buf credentials, config;
  int file;
  uint32_t line;
  slp_buf_init(&credentials, mem, 1 << 24);
  slp_buf_init(&config, mem, 1 << 24);
  texts more = {behind(&credentials, t->credentials), behind(&config, t->config)};
  REQUIRE(read_it(&again, mem, &more, name, &file, &line) == 0);
  same(p, &again);
  REQUIRE(p->found == again.found);
  slp_profile_free(&again);
  slp_buf_free(&credentials);
  slp_buf_free(&config);
}

static void put_values(slp_buf *b, const char *title, char *const *values) {
  REQUIRE(slp_buf_addf(b, "[%s]\n", title) == 0);
  for (int i = 0; i < SLP_PROFILE_KEYS; i++)
    if (values[i])
      REQUIRE(slp_buf_addf(b, "%s = %s\n", slp_profile_key_name((slp_profile_key)i), values[i]) == 0);
}

static void written_down(slp_mem *mem, slp_profile *p, const char *name) {
  slp_profile again;
  slp_buf credentials, config;
  char title[64];
  int file;
  uint32_t line;
  slp_buf_init(&credentials, mem, 1 << 24);
  slp_buf_init(&config, mem, 1 << 24);
  snprintf(title, sizeof title, "profile \"%s\"", name);
  put_values(&credentials, name, p->in_credentials);
  put_values(&config, title, p->in_config);
  texts t = {slp_buf_str(&credentials), slp_buf_str(&config)};
  REQUIRE(read_it(&again, mem, &t, name, &file, &line) == 0);
  for (int i = 0; i < SLP_PROFILE_KEYS; i++) {
    REQUIRE(same_text(p->in_config[i], again.in_config[i]));
    REQUIRE(same_text(p->in_credentials[i], again.in_credentials[i]));
  }
  REQUIRE(again.found);
  slp_profile_free(&again);
  slp_buf_free(&credentials);
  slp_buf_free(&config);
}

static uint32_t lines_of(slp_str s) {
  uint32_t n = 1;
  for (size_t i = 0; i < s.n; i++) n += s.p[i] == '\n';
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"default", "dev", "my profile"};
  char *text = fuzz_copy(data, size);
  const char *cut = size ? memchr(text, 0x1e, size) : NULL;
  size_t first = cut ? (size_t)(cut - text) : size;
  texts t = {{text, first}, {cut ? cut + 1 : text + size, cut ? size - first - 1 : 0}};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    slp_profile p;
    int file = 7, r;
    uint32_t line = 0;
    r = read_it(&p, mem, &t, names[i], &file, &line);
    REQUIRE(r == 0 || r == SLP_EBADDATA);
    if (r) {
      REQUIRE((file == 0 || file == 1) && line >= 1 && line <= lines_of(file ? t.config : t.credentials));
    } else {
      if (is_strange((slp_str){text, size})) with_a_stranger(mem, &p, &t, names[i]);
      if (p.found && !memchr(text, 0, size)) written_down(mem, &p, names[i]);
    }
    slp_profile_free(&p);
  }
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(text);
  return 0;
}

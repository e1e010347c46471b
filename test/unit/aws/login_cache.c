/* login_cache.c - the name of the cache of `aws login`, what stands in it, and how it is written anew. */
#include "aws/login_cache.h"

#include "check.h"

#define KEYS "\"accessKeyId\":\"A\",\"secretAccessKey\":\"B\",\"sessionToken\":\"C\""
#define TEXT                                                                     \
  "{ \"accessToken\": {" KEYS                                                    \
  ",\"accountId\":\"1\",\"expiresAt\":\"2026-01-02T03:04:05Z\",\"more\":[1]},\n" \
  " \"clientId\" : \"i\", \"odd\\\"name\":[1, {\"a\": "                          \
  "\"\\u00e9\\n\"}],\"refreshToken\":\"r\\/1\",\"dpopKey\":\"k\\n\"}"

static slp_mem *mem;
static slp_buf room;
static slp_login l;
static const char *why;

static int read_text(const char *text) {
  if (!mem) {
    mem = slp_mem_new(NULL, NULL);
    slp_buf_init(&room, mem, 10000);
  }
  return slp_login_cache_read(slp_str_of(text), &room, &l, &why);
}

static void end(void) {
  slp_buf_free(&room);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  mem = NULL;
}

static void check_path(const char *folder, const char *want) {
  slp_buf path;
  slp_mem *m = slp_mem_new(NULL, NULL);
  slp_buf_init(&path, m, 200);
  CHECK_INT(slp_login_cache_path(&path, "/h", folder, "arn:aws:iam::1:user/u"), 0);
  CHECK_STR(slp_buf_z(&path), want);
  slp_buf_free(&path);
  slp_mem_drop(m);
}

TEST(the_name_is_the_sha256_of_the_session) {
  /* printf arn:aws:iam::1:user/u | sha256sum */
#define NAME "67fcf3f2fd37910c1381354667b2fb8dd4682d8b3c07f8b0cc637999d065e74d.json"
  check_path(NULL, "/h/.aws/login/cache/" NAME);
  check_path("/c", "/c/" NAME);
  check_path("~/c", "/h/c/" NAME);
  check_path("~", "/h/" NAME);
  check_path("~x", "~x/" NAME);
}

TEST(what_stands_in_it) {
  CHECK_INT(read_text(TEXT), 0);
  CHECK_TEXT(l.key_id, "A");
  CHECK_TEXT(l.secret, "B");
  CHECK_TEXT(l.token, "C");
  CHECK_TEXT(l.account, "1");
  CHECK_TEXT(l.client, "i");
  CHECK_TEXT(l.refresh, "r/1");
  CHECK_TEXT(l.dpop_key, "k\n");
  CHECK(!l.region.p);
  CHECK_INT(l.expires_ms, 1767323045000);
  end();
}

TEST(what_is_missing_is_named) {
  CHECK_INT(read_text("{}"), SLP_ENOENT);
  CHECK_STR(why, "accessKeyId");
  CHECK_INT(read_text("{\"accessToken\":{" KEYS "}}"), SLP_ENOENT);
  CHECK_STR(why, "expiresAt");
  CHECK_INT(read_text("{\"accessToken\":{" KEYS ",\"expiresAt\":\"soon\"}}"), SLP_EBADDATA);
  CHECK_STR(why, "expiresAt is not a time");
  CHECK_INT(read_text("{\"accessToken\":\"x\"}"), SLP_EBADDATA);
  CHECK_INT(read_text("no"), SLP_EBADDATA);
  CHECK_INT(read_text("{\"accessToken\":{" KEYS ",\"expiresAt\":\"2026-01-02T03:04:05Z\"}}"), 0);
  CHECK(!l.refresh.p); /* only a renewal needs it */
  end();
}

TEST(a_renewal_replaces_keys_and_refresh_token_and_nothing_else) {
  slp_buf to;
  CHECK_INT(read_text(TEXT), 0);
  l.key_id = SLP_STR("N\"");
  l.refresh = SLP_STR("r2");
  l.expires_ms = 1767326645999;
  slp_buf_init(&to, mem, 10000);
  CHECK_INT(slp_login_cache_write(&to, SLP_STR(TEXT), &l), 0);
  CHECK_STR(slp_buf_z(&to),
            "{\"accessToken\":{\"accessKeyId\":\"N\\\"\",\"secretAccessKey\":\"B\",\"sessionToken\":\"C\","
            "\"accountId\":\"1\",\"expiresAt\":\"2026-01-02T04:04:05Z\"},\"refreshToken\":\"r2\","
            "\"clientId\":\"i\","
            "\"odd\\\"name\":[1, {\"a\": \"\\u00e9\\n\"}],\"dpopKey\":\"k\\n\"}");
  slp_buf_free(&to);
  end();
}

static int read_answer(const char *text) {
  if (!mem) read_text("{}");
  return slp_login_answer_read(slp_str_of(text), &room, 1000, &l, &why);
}

TEST(the_answer_to_a_renewal) {
  CHECK_INT(read_answer("{\"accessToken\":{" KEYS
                        "},\"expiresIn\":900,\"refreshToken\":\"r\",\"tokenType\":\"x\"}"),
            0);
  CHECK_INT(l.expires_ms, 901000);
  CHECK_TEXT(l.refresh, "r");
  CHECK_INT(read_answer("{\"accessToken\":{" KEYS "},\"expiresIn\":900}"), SLP_ENOENT);
  CHECK_STR(why, "refreshToken");
  CHECK_INT(read_answer("{\"accessToken\":{" KEYS "},\"expiresIn\":-1,\"refreshToken\":\"r\"}"),
            SLP_EBADDATA);
  end();
}

TEST(a_proof_needs_a_key) {
  static const uint64_t unique[2] = {1, 2};
  slp_buf to;
  slp_mem *m = slp_mem_new(NULL, NULL);
  slp_buf_init(&to, m, 1000);
  CHECK_INT(slp_dpop_proof(&to, SLP_STR("none"), SLP_STR("https://x/"), 0, unique), SLP_EBADDATA);
  slp_buf_free(&to);
  slp_mem_drop(m);
}

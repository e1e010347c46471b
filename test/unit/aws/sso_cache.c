/* sso_cache.c - the name of the cache file, and what stands in it. */
#include "aws/sso_cache.h"

#include "check.h"

TEST(the_name_is_the_sha1_of_the_session) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf path;
  slp_buf_init(&path, mem, 100);
  /* printf abc | sha1sum; FIPS 180-4's own example */
  CHECK_INT(slp_sso_cache_path(&path, "/home/x", "abc"), 0);
  CHECK_STR(slp_buf_z(&path), "/home/x/.aws/sso/cache/a9993e364706816aba3e25717850c26c9cd0d89d.json");
  slp_buf_free(&path);
  slp_mem_drop(mem);
}

TEST(what_stands_in_it) {
  char text[] =
      "{\"startUrl\":\"u\",\"region\":\"r\",\"accessToken\":\"a\",\"expiresAt\":\"2026-01-02T03:04:05Z\","
      "\"clientId\":\"i\",\"clientSecret\":\"s\",\"registrationExpiresAt\":\"2026-01-02T03:04:06UTC\","
      "\"refreshToken\":\"f\"}";
  slp_sso_token t;
  const char *why = "";
  CHECK_INT(slp_sso_cache_read(text, sizeof text - 1, &t, &why), 0);
  CHECK(slp_str_is(t.access, "a") && slp_str_is(t.refresh, "f"));
  CHECK(slp_str_is(t.client_id, "i") && slp_str_is(t.client_secret, "s"));
  CHECK_INT(t.expires_ms, 1767323045000);
  CHECK_INT(t.client_expires_ms, 1767323046000);
  char bare[] =
      "{\"accessToken\":\"a\",\"expiresAt\":\"2026-01-02T03:04:05Z\",\"registrationExpiresAt\":\"x\"}";
  CHECK_INT(slp_sso_cache_read(bare, sizeof bare - 1, &t, &why), 0);
  CHECK(!t.refresh.n);
  CHECK_INT(t.client_expires_ms, 0);
}

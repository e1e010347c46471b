/* Times as the programs of other systems write them. The texts and numbers were made by Go's time package:
 * time.Unix(0, ns).UTC().Format(time.RFC3339Nano). */
#include "guest/wall_time.h"

#include "check.h"

static const struct {
  uint64_t ns;
  const char *text;
} go[] = {
    {UINT64_C(1700000000000000000), "2023-11-14T22:13:20Z"},
    {UINT64_C(1700000000120000000), "2023-11-14T22:13:20.12Z"},
    {UINT64_C(1700000000123456789), "2023-11-14T22:13:20.123456789Z"},
    {UINT64_C(1700000000000000001), "2023-11-14T22:13:20.000000001Z"},
    {UINT64_C(1700000000100000000), "2023-11-14T22:13:20.1Z"},
    {UINT64_C(951782400000000000), "2000-02-29T00:00:00Z"},
    {UINT64_C(1), "1970-01-01T00:00:00.000000001Z"},
};

TEST(a_time_of_go_is_written_and_read) {
  for (size_t i = 0; i < SLP_COUNT(go); i++) {
    char out[SLP_WALL_TEXT];
    size_t n = slp_go_time_write(go[i].ns, out);
    CHECK(slp_str_is((slp_str){out, n}, go[i].text));
    CHECK(slp_go_time_read(slp_str_of(go[i].text)) == go[i].ns);
  }
}

TEST(what_go_does_not_write_is_no_time) {
  static const char *const bad[] = {"",
                                    "Z",
                                    "2023-11-14T22:13:20",
                                    "2023-11-14T22:13:20z",
                                    "2023-11-14 22:13:20Z",
                                    "2023-11-14T22:13:20.Z",
                                    "2023-11-14T22:13:20.120Z",
                                    "2023-11-14T22:13:20.0Z",
                                    "2023-11-14T22:13:20.1234567891Z",
                                    "2023-11-14T22:13:20+00:00",
                                    "2023-11-14T22:13:20.12x4Z",
                                    "2023-02-30T22:13:20Z",
                                    "2023-11-14T24:13:20Z",
                                    "0001-01-01T00:00:00Z",
                                    "1969-12-31T23:59:59.9Z",
                                    "1970-01-01T00:00:00Z",
                                    "2600-01-01T00:00:00Z",
                                    "9999-12-31T23:59:59Z"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) CHECK(slp_go_time_read(slp_str_of(bad[i])) == 0);
  CHECK(slp_go_time_read((slp_str){NULL, 0}) == 0);
}

/* Time.at(s).utc.to_s of Ruby 3.1. */
TEST(a_time_of_ruby_is_written_and_read) {
  static const struct {
    uint64_t s;
    const char *text;
  } ruby[] = {{UINT64_C(1700000000), "2023-11-14 22:13:20 UTC"},
              {UINT64_C(951782400), "2000-02-29 00:00:00 UTC"},
              {UINT64_C(1), "1970-01-01 00:00:01 UTC"}};
  for (size_t i = 0; i < SLP_COUNT(ruby); i++) {
    char out[SLP_WALL_TEXT];
    size_t n = slp_ruby_time_write(ruby[i].s, out);
    CHECK(slp_str_is((slp_str){out, n}, ruby[i].text));
    CHECK(slp_ruby_time_read(slp_str_of(ruby[i].text)) == ruby[i].s);
  }
  static const char *const bad[] = {"",
                                    "2023-11-14 22:13:20",
                                    "2023-11-14T22:13:20 UTC",
                                    "2023-11-14 22:13:20 GMT",
                                    "2023-11-14 22:13:20 +0000",
                                    "2023-02-30 22:13:20 UTC",
                                    "1969-12-31 23:59:59 UTC",
                                    "1970-01-01 00:00:00 UTC"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) CHECK(slp_ruby_time_read(slp_str_of(bad[i])) == 0);
}

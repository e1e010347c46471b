/* registered_text.c - lines about registered consumers, each against the line expected byte for byte. */
#include "cli/registered_text.h"
#include "check.h"

static void check_line(int several, int json, sloop_registered_t c, const char *want) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 4096);
  CHECK_INT(slp_consumers_show(&b, "orders", several, &c, json), 0);
  CHECK_STR(slp_buf_z(&b), want);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(lines) {
  sloop_registered_t one = {"app", "arn:aws:x/consumer/app:1", SLOOP_REGISTERED_ACTIVE, 1767225600000};
  sloop_registered_t other = {"b", "arn:b", SLOOP_REGISTERED_DELETING, -1};
  check_line(0, 0, one, "app ACTIVE created 2026-01-01T00:00:00.000Z arn:aws:x/consumer/app:1\n");
  check_line(1, 0, other, "orders b DELETING created - arn:b\n");
  sloop_registered_t evil = {"\x1b[2J", "arn\xe2\x80\xae\n", SLOOP_REGISTERED_ACTIVE, -1};
  check_line(0, 0, evil, "?[2J ACTIVE created - arn??\n");
  check_line(0, 1, evil,
             "{\"stream\":\"orders\",\"consumer\":\"\\u001b[2J\",\"state\":\"ACTIVE\",\"created_at\":null,"
             "\"arn\":\"arn\\u202e\\n\"}\n");
  check_line(0, 1, one,
             "{\"stream\":\"orders\",\"consumer\":\"app\",\"state\":\"ACTIVE\",\"created_at\":1767225600000,"
             "\"arn\":\"arn:aws:x/consumer/app:1\"}\n");
  check_line(0, 1, other,
             "{\"stream\":\"orders\",\"consumer\":\"b\",\"state\":\"DELETING\",\"created_at\":null,"
             "\"arn\":\"arn:b\"}\n");
}

TEST(removed) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  sloop_registered_t one = {"app", "arn", SLOOP_REGISTERED_CREATING, 1};
  slp_buf_init(&b, mem, 4096);
  CHECK_INT(slp_consumers_show_removed(&b, &one), 0);
  CHECK_STR(slp_buf_z(&b), "deregistered: app, it was CREATING\n");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(force_needs_no_answer) {
  slp_args *args = calloc(1, sizeof *args);
  args->force = 1;
  CHECK_INT(slp_consumers_removal_is_meant(args), 1);
  free(args);
}

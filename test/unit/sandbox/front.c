/* front.c - the sandbox on a loop: what start refuses, and that it leaves nothing behind. */
#include <errno.h>

#include "program/process.h"
#include "sandbox/front.h"
#include "sandbox_box.h"

static int stopped;
static void on_stopped(void *arg) {
  (void)arg;
  stopped++;
}

TEST(start_and_stop) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  struct uv_loop_s *loop = slp_loop_new(mem);
  sloop_sandbox_t *b, *second;
  sloop_sandbox_opts_t o;
  char seq[130], shard[129];
  sloop_sandbox_opts_init(&o);
  CHECK_INT(sloop_sandbox_start(&b, loop, NULL), 0); /* all defaults */
  CHECK(strncmp(sloop_sandbox_url(b), "http://127.0.0.1:", 17) == 0);
  o.port = (uint16_t)strtol(sloop_sandbox_url(b) + 17, NULL, 10);
  CHECK_INT(sloop_sandbox_start(&second, loop, &o), -EADDRINUSE);
  CHECK(second == NULL);
  o.port = 0;
  o.address = "0.0.0.0";
  CHECK_INT(sloop_sandbox_start(&second, loop, &o), -EINVAL);
  o.address = "127.0.0.1";
  o.access_key = "half of a pair";
  CHECK_INT(sloop_sandbox_start(&second, loop, &o), -EINVAL);
  CHECK_INT(sloop_sandbox_stream(b, "s", 1), 0);
  CHECK_INT(sloop_sandbox_put(b, "s", "k", 1, "x", 1, seq, shard), 0);
  CHECK_INT(strlen(seq), 56);
  CHECK_STR(shard, "shardId-000000000000");
  CHECK_INT(sloop_sandbox_put(b, "none", "k", 1, "x", 1, NULL, NULL), -ENOENT);
  CHECK_INT(sloop_sandbox_put(b, "s", "\xff", 1, "x", 1, NULL, NULL), -EINVAL);
  CHECK_INT(sloop_sandbox_put(b, "s", "", 0, "x", 1, NULL, NULL), -EINVAL);
  CHECK_INT(sloop_sandbox_merge(b, "s", shard, shard), -EINVAL);
  CHECK_INT(sloop_sandbox_split(b, "s", "shardId-000000000004", NULL), -ENOENT);
  char why[160];
  CHECK_INT(sloop_sandbox_faults(b, "1 GetRecords * \x1b[2J\xff", why, sizeof why), -EINVAL);
  CHECK(strstr(why, "?[2J?") && !strchr(why, 27));
  sloop_sandbox_stats_t stats;
  sloop_sandbox_stats(b, &stats, sizeof stats);
  CHECK_INT(stats.records_in, 1);
  sloop_sandbox_stop(b, on_stopped, NULL);
  CHECK_INT(stopped, 0); /* never from inside the call */
  slp_loop_run(loop);
  CHECK_INT(stopped, 1);
  CHECK_INT(slp_loop_free(mem, loop), 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(orders_are_taken_for_this_machine_only) {
  static const char *const here[] = {
      "",          "localhost",  "localhost:4567", "LocalHost:1", "127.0.0.1:4567",
      "127.0.0.1", "[::1]:4567", "[::1]",          "10.1.2.3:80"};
  static const char *const elsewhere[] = {"evil.example",
                                          "evil.example:4567",
                                          "127.0.0.1.evil.example",
                                          "localhost.evil.example",
                                          "evil.localhost",
                                          "localhos",
                                          ":80",
                                          "x"};
  for (size_t i = 0; i < SLP_COUNT(here); i++)
    if (!slp_control_is_here(slp_str_of(here[i]))) CHECK_FAIL("refused: %s", here[i]);
  for (size_t i = 0; i < SLP_COUNT(elsewhere); i++)
    if (slp_control_is_here(slp_str_of(elsewhere[i]))) CHECK_FAIL("taken: %s", elsewhere[i]);
  CHECK(slp_control_is_here((slp_str){NULL, 0}));
}

TEST(options_of_an_older_header) {
  sloop_sandbox_opts_t o;
  memset(&o, 0x5a, sizeof o);
  size_t known = offsetof(sloop_sandbox_opts_t, reads_per_second);
  sloop_sandbox_opts_init_sized(&o, known); /* a caller that knows no more than that */
  CHECK_INT(o.size, known);
  CHECK_INT(o.change_ms, 50);
  CHECK_INT(o.reads_per_second, 0x5a5a5a5a); /* beyond its size: not ours to touch */
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_box *box = slp_box_new(mem, &o, 1);
  CHECK(box != NULL);
  CHECK_INT(box->o.reads_per_second, 5);
  CHECK_INT(box->o.iterator_ms, 300000);
  slp_box_free(box);
  slp_mem_drop(mem);
}

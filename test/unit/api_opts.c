/* api_opts.c - options: every wrong one is named, copies are deep, older callers get defaults. */
#include "api/open.h"
#include "check.h"

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s;
  (void)arg;
  sloop_batch_done(b, 0);
}

static sloop_opts_t good(void) {
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = "orders";
  o.on_batch = on_batch;
  return o;
}

#define WRONG(assignment, names)                                                \
  do {                                                                          \
    sloop_opts_t o = good();                                                    \
    char why[160] = "";                                                         \
    o.assignment;                                                               \
    CHECK_INT(slp_opts_check(&o, why), SLOOP_EOPTION);                          \
    if (!strstr(why, names)) CHECK_FAIL("\"%s\" does not name %s", why, names); \
  } while (0)

TEST(every_wrong_option_is_named) {
  static const char *const empty[] = {""};
  WRONG(stream = NULL, "stream");
  WRONG(stream = "", "stream");
  WRONG(stream = "no spaces", "stream");
  WRONG(stream = "arn:aws:s3:::bucket", "stream");
  WRONG(stream = "arn:aws:kinesis:us-east-1:000000000000:stream/", "stream");
  WRONG(on_batch = NULL, "on_batch");
  WRONG(poll_ms = 0, "poll_ms");
  WRONG(fetch_records_max = 10001, "fetch_records_max");
  WRONG(held_bytes_max = 1, "held_bytes_max");
  WRONG(held_batches_max = 0, "held_batches_max");
  WRONG(batch_records_max = 0, "batch_records_max");
  WRONG(in_flight_max = 0, "in_flight_max");
  WRONG(start = (sloop_start_kind)9, "start");
  WRONG(order = (sloop_order_kind)0, "order");
  WRONG(start = SLOOP_AT_SEQ, "start_shard");
  WRONG(shards = empty; o.shards_n = 1, "shards");
  sloop_opts_t o = good();
  char why[160];
  o.start = SLOOP_AT_SEQ;
  o.start_shard = "3";
  o.start_seq = "01";
  CHECK_INT(slp_opts_check(&o, why), SLOOP_EOPTION);
  CHECK(strstr(why, "start_seq") != NULL);
  o.start_seq = "1";
  CHECK_INT(slp_opts_check(&o, why), 0);
  o.stream = "arn:aws-cn:kinesis:cn-north-1:123456789012:stream/x";
  CHECK_INT(slp_opts_check(&o, why), 0);
}

TEST(copies_are_deep) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char stream[] = "orders", shard[] = "7";
  const char *shards[] = {shard};
  sloop_opts_t o = good(), copy;
  o.stream = stream;
  o.shards = shards;
  o.shards_n = 1;
  CHECK_INT(slp_opts_copy(&copy, &o, mem), 0);
  memset(stream, 'x', 6);
  shard[0] = 'x';
  CHECK_STR(copy.stream, "orders");
  CHECK_STR(copy.shards[0], "7");
  slp_opts_free(&copy, mem);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(a_shorter_struct_of_an_older_caller_gets_defaults_for_the_rest) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  sloop_opts_t o, copy;
  memset(&o, 0xff, sizeof o);
  sloop_opts_init_sized(&o, offsetof(sloop_opts_t, creds));
  o.stream = "orders";
  o.on_batch = on_batch;
  CHECK_INT(o.size, offsetof(sloop_opts_t, creds));
  CHECK_INT(slp_opts_copy(&copy, &o, mem), 0);
  CHECK(copy.creds == NULL);
  CHECK_INT(copy.poll_ms, 1000);
  slp_opts_free(&copy, mem);
  slp_mem_drop(mem);
}

TEST(errors_have_names_and_sentences) {
  CHECK_STR(sloop_err_name(SLOOP_ETHROTTLE), "ETHROTTLE");
  CHECK_STR(sloop_err_name(-ECONNREFUSED), "ECONNREFUSED");
  CHECK_STR(sloop_err_name(12345), "UNKNOWN");
  CHECK(strlen(sloop_strerror(SLOOP_ENOSTREAM)) > 5 && strlen(sloop_strerror(-ENOMEM)) > 5);
  CHECK(strlen(sloop_version()) >= 5);
}

CHECK_MAIN()

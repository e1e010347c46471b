/* auth.c - the server's own check of signatures, against two made by botocore 1.43.11 with its clock
 * at 2026-11-21T03:21:25Z and the keys of AWS's documentation. */
#include "sandbox_box.h"

#define KEY_ID "AKIDEXAMPLE"
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define TOKEN "TOKEN/Example+=="
#define PLAIN                                                                         \
  "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/kinesis/aws4_request, " \
  "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "                         \
  "Signature=acee54cfd452428e8d49a1bc92cf3a928de8d12f3c9e726d582067720cecc494"
#define WITH_TOKEN                                                                          \
  "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/eu-west-1/kinesis/aws4_request, "       \
  "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target;x-custom, " \
  "Signature=14590b824b5336b13ee725947bfe6fa225505031457eb13694acc48e3f03760f"

static slp_str custom(void *arg, const char *name) {
  (void)arg;
  return strcmp(name, "x-custom") == 0 ? SLP_STR(" a   b ") : (slp_str){NULL, 0};
}

static slp_box_request request(const char *authorization) {
  return (slp_box_request){.method = SLP_STR("POST"),
                           .path = SLP_STR("/"),
                           .host = SLP_STR("127.0.0.1:4567"),
                           .target = SLP_STR("Kinesis_20131202.ListStreams"),
                           .content_type = SLP_STR(JSON_TYPE),
                           .authorization = slp_str_of(authorization),
                           .amz_date = SLP_STR("20261121T032125Z"),
                           .body = SLP_STR("{\"Limit\":3}"),
                           .header = custom};
}

static void open_box(bench *t, const char *token) {
  sloop_sandbox_opts_t o = free_opts();
  o.access_key = KEY_ID;
  o.secret_key = SECRET;
  o.session_token = token;
  bench_open(t, &o);
}

static const char *send(bench *t, const slp_box_request *rq) {
  slp_buf_clear(&t->answer.body);
  slp_box_handle(t->box, t->now_ms, rq, &t->answer);
  return slp_buf_z(&t->answer.body);
}

TEST(good_signatures_pass) {
  bench t;
  open_box(&t, NULL);
  slp_box_request rq = request(PLAIN);
  CHECK_HAS(send(&t, &rq), "StreamNames");
  CHECK_HAS(send(&t, &rq), "StreamNames"); /* with the key kept */
  CHECK_INT(t.answer.status, 200);
  bench_close(&t);
  open_box(&t, TOKEN);
  rq = request(WITH_TOKEN);
  rq.security_token = SLP_STR(TOKEN);
  CHECK_HAS(send(&t, &rq), "StreamNames");
  bench_close(&t);
}

TEST(anything_changed_is_refused) {
  bench t;
  open_box(&t, NULL);
  slp_box_request rq = request(PLAIN);
  rq.body = SLP_STR("{\"Limit\":4}");
  CHECK_HAS(send(&t, &rq), "InvalidSignatureException");
  CHECK_INT(t.answer.status, 400);
  rq = request(PLAIN);
  rq.host = SLP_STR("127.0.0.1:4568");
  CHECK_HAS(send(&t, &rq), "InvalidSignatureException");
  rq = request(PLAIN);
  rq.target = SLP_STR("Kinesis_20131202.ListShards");
  CHECK_HAS(send(&t, &rq), "InvalidSignatureException");
  rq = request(PLAIN);
  rq.amz_date = SLP_STR("20261121T032126Z");
  CHECK_HAS(send(&t, &rq), "InvalidSignatureException");
  rq.amz_date = SLP_STR("20261122T000000Z");
  CHECK_HAS(send(&t, &rq), "Date in Credential scope does not match");
  rq = request(PLAIN);
  CHECK_HAS(send(&t, &rq), "StreamNames"); /* and none of that did harm */
  rq.authorization = (slp_str){NULL, 0};
  CHECK_HAS(send(&t, &rq), "MissingAuthenticationTokenException");
  rq.authorization =
      SLP_STR("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/kinesis/aws4_request");
  CHECK_HAS(send(&t, &rq), "IncompleteSignatureException");
  rq.authorization = SLP_STR("Bearer x");
  CHECK_HAS(send(&t, &rq), "IncompleteSignatureException");
  rq = request(
      "AWS4-HMAC-SHA256 Credential=SOMEBODY/20261121/us-east-1/kinesis/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=00");
  CHECK_HAS(send(&t, &rq), "UnrecognizedClientException");
  rq = request(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/kinesis/aws4_request, "
      "SignedHeaders=content-type;x-amz-date;x-amz-target, Signature=00");
  CHECK_HAS(send(&t, &rq), "must be 'SignedHeaders'");
  bench_close(&t);
}

TEST(clocks_may_differ_by_five_minutes) {
  bench t;
  open_box(&t, NULL);
  slp_box_request rq = request(PLAIN);
  int64_t signed_ms = T0 / 1000 * 1000;
  t.now_ms = signed_ms + 300000;
  CHECK_HAS(send(&t, &rq), "StreamNames");
  t.now_ms = signed_ms - 300000;
  CHECK_HAS(send(&t, &rq), "StreamNames");
  t.now_ms = signed_ms + 301000;
  CHECK_HAS(send(&t, &rq),
            "Signature expired: 20261121T032125Z is now earlier than 20261121T032126Z "
            "(20261121T032626Z - 5 min.)");
  t.now_ms = signed_ms - 301000;
  CHECK_HAS(send(&t, &rq),
            "Signature not yet current: 20261121T032125Z is now later than 20261121T032124Z "
            "(20261121T031624Z + 5 min.)");
  bench_close(&t);
}

TEST(the_token_must_be_the_one) {
  bench t;
  open_box(&t, TOKEN);
  slp_box_request rq = request(PLAIN);
  CHECK_HAS(send(&t, &rq), "UnrecognizedClientException");
  rq = request(WITH_TOKEN);
  rq.security_token = SLP_STR("another");
  CHECK_HAS(send(&t, &rq), "UnrecognizedClientException");
  bench_close(&t);
}

TEST(regions_show_in_names) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  CHECK_INT(slp_box_stream(t.box, T0, "s", 1), 0);
  slp_box_request rq = request(WITH_TOKEN);
  CHECK_HAS(send(&t, &rq), "arn:aws:kinesis:eu-west-1:000000000000:stream/s");
  bench_close(&t);
}

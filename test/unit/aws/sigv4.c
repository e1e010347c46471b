/* sigv4.c - the signer gives the signatures that botocore gave for the same requests; test/contract/vectors
 * compares thousands more. */
#include "aws/sigv4.h"
#include "check.h"

#define NOW_MS 1767323045000 /* 2026-01-02T03:04:05Z */

typedef struct vector {
  const char *host, *service, *target, *type, *token, *signature;
} vector;

/* Made with botocore 1.43.11; the keys are AWS's documentation example. */
static const vector vectors[] = {
    {"kinesis.us-east-1.amazonaws.com", "kinesis", "Kinesis_20131202.GetRecords",
     "application/x-amz-json-1.1", "", "8dbcbf9a1389b6e903da5eeb24d83946d8eb53f1e3877b2d34782afc3cdfc0be"},
    {"kinesis.us-east-1.amazonaws.com", "kinesis", "Kinesis_20131202.GetRecords",
     "application/x-amz-json-1.1",
     "TOKEN/Example+==", "e35c1337bd08c7f5146b9b23d045c161224650a93943f4a2467b6991b362cd86"},
    {"streams.dynamodb.us-east-1.amazonaws.com", "dynamodb", "DynamoDBStreams_20120810.GetRecords",
     "application/x-amz-json-1.0", "", "badeaf02b29bda52e8b042d1c48e11dbde987620590d9f385e0447960423d767"},
    {"127.0.0.1:4567", "kinesis", "Kinesis_20131202.GetRecords", "application/x-amz-json-1.1", "",
     "b5ec26d860919b9b24ec834c971ea3568b2faddadada5512e2da866535a2cc2f"},
};

static const char *sign(slp_signer *s, const vector *v, const char *secret, int64_t now_ms, slp_buf *out) {
  static char date[17];
  const slp_http_header headers[] = {{SLP_STR("X-Amz-Target"), slp_str_of(v->target)},
                                     {SLP_STR("User-Agent"), SLP_STR("never signed")},
                                     {SLP_STR("Content-Type"), slp_str_of(v->type)}};
  slp_sign_request rq = {.method = SLP_STR("POST"),
                         .host = slp_str_of(v->host),
                         .path = SLP_STR("/"),
                         .query = SLP_STR(""),
                         .headers = headers,
                         .headers_n = SLP_COUNT(headers),
                         .body = SLP_STR("{\"ShardIterator\":\"AAAA\"}"),
                         .region = SLP_STR("us-east-1"),
                         .service = slp_str_of(v->service)};
  slp_sign_keys keys = {SLP_STR("AKIDEXAMPLE"), slp_str_of(secret), slp_str_of(v->token)};
  slp_buf_clear(out);
  CHECK_INT(slp_sign(s, &rq, &keys, now_ms, date, out), 0);
  const char *z = slp_buf_z(out), *at = strstr(z, "Signature=");
  CHECK(at != NULL);
  return at + 10;
}

static const char *const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

TEST(signatures_are_botocores_also_when_the_key_is_reused_between_services) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_signer *s = slp_signer_new(mem);
  slp_buf out;
  slp_buf_init(&out, mem, 4096);
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < SLP_COUNT(vectors); i++) {
      CHECK_STR(sign(s, &vectors[i], secret, NOW_MS, &out), vectors[i].signature);
    }
  }
  slp_buf_free(&out);
  slp_signer_free(s);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(the_kept_key_is_dropped_when_secret_or_day_change) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_signer *s = slp_signer_new(mem);
  slp_buf out;
  slp_buf_init(&out, mem, 4096);
  CHECK_STR(sign(s, &vectors[0], secret, NOW_MS, &out), vectors[0].signature);
  CHECK(strcmp(sign(s, &vectors[0], "another", NOW_MS, &out), vectors[0].signature) != 0);
  CHECK_STR(sign(s, &vectors[0], secret, NOW_MS, &out), vectors[0].signature);
  char next_day[65];
  snprintf(next_day, sizeof next_day, "%s", sign(s, &vectors[0], secret, NOW_MS + 86400000, &out));
  CHECK(strcmp(next_day, vectors[0].signature) != 0);
  slp_signer *fresh = slp_signer_new(mem);
  CHECK_STR(sign(fresh, &vectors[0], secret, NOW_MS + 86400000, &out), next_day);
  slp_signer_free(fresh);
  slp_buf_free(&out);
  slp_signer_free(s);
  slp_mem_drop(mem);
}

TEST(names_the_signed_headers_and_the_scope) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_signer *s = slp_signer_new(mem);
  slp_buf out;
  slp_buf_init(&out, mem, 4096);
  sign(s, &vectors[1], secret, NOW_MS, &out);
  CHECK(strstr(slp_buf_z(&out),
               "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/kinesis/aws4_request, "
               "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, "
               "Signature=") == slp_buf_z(&out));
  slp_buf_free(&out);
  slp_signer_free(s);
  slp_mem_drop(mem);
}

TEST(too_many_headers_are_an_error) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_signer *s = slp_signer_new(mem);
  slp_http_header headers[SLP_SIGN_HEADERS_MAX];
  char date[17];
  slp_buf out;
  slp_buf_init(&out, mem, 4096);
  for (size_t i = 0; i < SLP_COUNT(headers); i++) headers[i] = (slp_http_header){SLP_STR("a"), SLP_STR("b")};
  slp_sign_request rq = {.method = SLP_STR("POST"),
                         .host = SLP_STR("h"),
                         .path = SLP_STR("/"),
                         .query = SLP_STR(""),
                         .headers = headers,
                         .headers_n = SLP_COUNT(headers),
                         .body = SLP_STR(""),
                         .region = SLP_STR("r"),
                         .service = SLP_STR("s")};
  slp_sign_keys keys = {SLP_STR("a"), SLP_STR("b"), {NULL, 0}};
  CHECK_INT(slp_sign(s, &rq, &keys, NOW_MS, date, &out), SLP_ELIMIT);
  rq.headers_n -= 2;
  CHECK_INT(slp_sign(s, &rq, &keys, NOW_MS, date, &out), 0);
  slp_buf_free(&out);
  slp_signer_free(s);
  slp_mem_drop(mem);
}

/* One part of a request is another than in the request before. */
static void change(unsigned part, slp_sign_request *rq, slp_http_header headers[3], slp_sign_keys *keys,
                   int64_t *now_ms) {
  switch (part) {
    case 0: rq->method = SLP_STR("PUT"); break;
    case 1: rq->host = SLP_STR("kinesis.us-east-2.amazonaws.com"); break;
    case 2: rq->path = SLP_STR("/another"); break;
    case 3: rq->query = SLP_STR("a=b"); break;
    case 4: rq->region = SLP_STR("us-east-2"); break;
    case 5: rq->service = SLP_STR("dynamodb"); break;
    case 6: keys->key_id = SLP_STR("AKIDEXAMPLF"); break;
    case 7: keys->secret = SLP_STR("another"); break;
    case 8: keys->token = SLP_STR("TOKEN/Example+=="); break;
    case 9: keys->token = SLP_STR("TOKEN/Example+=+"); break;
    case 10: keys->token = (slp_str){NULL, 0}; break;
    case 11: headers[0].value = SLP_STR("another"); break;
    case 12: headers[0].name = SLP_STR("X-Amz-Targe7"); break;
    case 13: rq->headers_n = 2; break;
    case 14: rq->headers_n = 3; break;
    case 15: rq->body = SLP_STR("{}"); break;
    case 16: *now_ms += 1000; break;
    case 17: *now_ms += 86400000; break;
    /* Together these read like the parts before: only their lengths say that they are others. */
    case 18: rq->host = SLP_STR("kinesis.us-east-2.amazonaws.com/"), rq->path = SLP_STR("another"); break;
    default: break;
  }
}

TEST(what_is_kept_of_the_request_before_is_used_for_one_alike_only) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_signer *s = slp_signer_new(mem);
  slp_http_header headers[] = {{SLP_STR("X-Amz-Target"), SLP_STR("Kinesis_20131202.GetRecords")},
                               {SLP_STR("Content-Type"), SLP_STR("application/x-amz-cbor-1.1")},
                               {SLP_STR("X-Amz-More"), SLP_STR("more")}};
  slp_sign_request rq = {.method = SLP_STR("POST"),
                         .host = SLP_STR("kinesis.us-east-1.amazonaws.com"),
                         .path = SLP_STR("/"),
                         .query = SLP_STR(""),
                         .headers = headers,
                         .headers_n = 1,
                         .body = SLP_STR("{\"ShardIterator\":\"AAAA\"}"),
                         .region = SLP_STR("us-east-1"),
                         .service = SLP_STR("kinesis")};
  slp_sign_keys keys = {SLP_STR("AKIDEXAMPLE"), slp_str_of(secret), {NULL, 0}};
  int64_t now_ms = NOW_MS;
  char before[512] = "", date[17], fresh_date[17];
  slp_buf out, fresh_out;
  slp_buf_init(&out, mem, 4096);
  slp_buf_init(&fresh_out, mem, 4096);
  for (unsigned part = 0; part <= 19; part++) {
    slp_signer *fresh = slp_signer_new(mem);
    slp_buf_clear(&out);
    slp_buf_clear(&fresh_out);
    change(part, &rq, headers, &keys, &now_ms);
    CHECK_INT(slp_sign(s, &rq, &keys, now_ms, date, &out), 0);
    CHECK_INT(slp_sign(fresh, &rq, &keys, now_ms, fresh_date, &fresh_out), 0);
    CHECK_STR(slp_buf_z(&out), slp_buf_z(&fresh_out));
    CHECK_STR(date, fresh_date);
    CHECK_INT(strcmp(slp_buf_z(&out), before) != 0, part < 19);
    snprintf(before, sizeof before, "%s", slp_buf_z(&out));
    slp_signer_free(fresh);
  }
  slp_buf_free(&fresh_out);
  slp_buf_free(&out);
  slp_signer_free(s);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

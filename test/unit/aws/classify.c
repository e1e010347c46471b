/* classify.c - the class of each error of the services, from each form of body. */
#include "aws/classify.h"

#include "base/buf.h"
#include "codec/cbor.h"
#include "sloop.h"
#include "check.h"

typedef struct expected {
  const char *name;
  int status;
  slp_class class;
  slp_remedy remedy;
} expected;

/* The table of aws/classify.c, written down a second time by hand from the sources that it names. */
static const expected table[] = {
    {"ProvisionedThroughputExceededException", 400, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"LimitExceededException", 400, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"KMSThrottlingException", 400, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"ThrottlingException", 400, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"Throttling", 400, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"SlowDown", 503, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"TooManyRequestsException", 429, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"RequestLimitExceeded", 400, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"InternalFailureException", 500, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"InternalFailure", 500, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"InternalServerError", 500, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"ServiceUnavailableException", 503, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"ReplicatedWriteConflictException", 400, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"TransactionConflictException", 400, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"TransactionInProgressException", 400, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"IDPCommunicationError", 400, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"InternalServiceFault", 400, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"InternalServerException", 400, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"SlowDownException", 400, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"ConditionalCheckFailedException", 400, SLP_REFUSED, SLP_REMEDY_NONE},
    {"DryRunOperationException", 400, SLP_REFUSED, SLP_REMEDY_NONE},
    {"RegionDisabledException", 403, SLP_ACCESS, SLP_REMEDY_NONE},
    {"UnauthorizedException", 401, SLP_AUTH, SLP_REMEDY_NONE},
    {"InvalidGrantException", 400, SLP_AUTH, SLP_REMEDY_NONE},
    {"ExpiredIteratorException", 400, SLP_EXPIRED, SLP_REMEDY_NONE},
    {"ExpiredNextTokenException", 400, SLP_EXPIRED, SLP_REMEDY_NONE},
    {"ResourceNotFoundException", 400, SLP_GONE, SLP_REMEDY_NONE},
    {"ResourceInUseException", 400, SLP_BUSY, SLP_REMEDY_NONE},
    {"TrimmedDataAccessException", 400, SLP_TRIMMED, SLP_REMEDY_NONE},
    {"InvalidArgumentException", 400, SLP_REFUSED, SLP_REMEDY_NONE},
    {"ValidationException", 400, SLP_REFUSED, SLP_REMEDY_NONE},
    {"SerializationException", 400, SLP_REFUSED, SLP_REMEDY_NONE},
    {"UnknownOperationException", 404, SLP_REFUSED, SLP_REMEDY_NONE},
    {"AccessDeniedException", 400, SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSAccessDeniedException", 400, SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSDisabledException", 400, SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSInvalidStateException", 400, SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSNotFoundException", 400, SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSOptInRequired", 400, SLP_ACCESS, SLP_REMEDY_NONE},
    {"ExpiredTokenException", 403, SLP_AUTH, SLP_REMEDY_KEYS},
    {"ExpiredToken", 400, SLP_AUTH, SLP_REMEDY_KEYS},
    {"UnrecognizedClientException", 400, SLP_AUTH, SLP_REMEDY_KEYS},
    {"InvalidClientTokenId", 403, SLP_AUTH, SLP_REMEDY_KEYS},
    {"InvalidSignatureException", 400, SLP_AUTH, SLP_REMEDY_CLOCK},
    {"SignatureDoesNotMatch", 403, SLP_AUTH, SLP_REMEDY_CLOCK},
    {"RequestExpired", 400, SLP_AUTH, SLP_REMEDY_CLOCK},
    {"RequestTimeTooSkewed", 403, SLP_AUTH, SLP_REMEDY_CLOCK},
    {"IncompleteSignature", 400, SLP_AUTH, SLP_REMEDY_NONE},
    {"MissingAuthenticationTokenException", 400, SLP_AUTH, SLP_REMEDY_NONE},
    /* unknown names: by status */
    {"BrandNewException", 400, SLP_REFUSED, SLP_REMEDY_NONE},
    {"BrandNewException", 500, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"", 301, SLP_REFUSED, SLP_REMEDY_NONE},
    {"", 400, SLP_REFUSED, SLP_REMEDY_NONE},
    {"", 401, SLP_AUTH, SLP_REMEDY_CLOCK},
    {"", 403, SLP_ACCESS, SLP_REMEDY_CLOCK},
    {"", 404, SLP_REFUSED, SLP_REMEDY_NONE},
    {"", 408, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"", 413, SLP_REFUSED, SLP_REMEDY_NONE},
    {"", 429, SLP_THROTTLE, SLP_REMEDY_NONE},
    {"", 500, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"", 502, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"", 503, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"", 504, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"", 204, SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"Exception", 400, SLP_REFUSED, SLP_REMEDY_NONE},
};

TEST(every_name_has_its_class) {
  for (size_t i = 0; i < SLP_COUNT(table); i++) {
    slp_remedy remedy = SLP_REMEDY_NONE;
    slp_class class = slp_classify_name(slp_str_of(table[i].name), table[i].status, &remedy);
    if (class != table[i].class || remedy != table[i].remedy) {
      CHECK_FAIL("%s %d is %s, not %s", table[i].name, table[i].status, slp_class_name(class),
                 slp_class_name(table[i].class));
    }
  }
}

static slp_fail fail;
static slp_remedy remedy;

static void classify(int status, const char *error_type, slp_str body) {
  char *copy = malloc(body.n + 1); /* of exactly that size, for ASan */
  memcpy(copy, body.p, body.n);
  slp_bad_answer answer = {.status = status,
                           .error_type = error_type,
                           .request_id = "rq-1",
                           .retry_after_ms = 1500,
                           .body = {copy, body.n}};
  slp_classify(&answer, &fail, &remedy);
  free(copy);
}

TEST(json_bodies) {
  classify(400, "",
           SLP_STR("{\"__type\":\"com.amazonaws.kinesis#ExpiredIteratorException:http://x#y/\","
                   "\"message\":\"Iterator expired.\\nSecond line\"}"));
  CHECK_INT(fail.class, SLP_EXPIRED);
  CHECK_STR(fail.aws_code, "ExpiredIteratorException");
  CHECK_STR(fail.message, "Iterator expired.");
  CHECK_STR(fail.request_id, "rq-1");
  CHECK_INT(fail.http_status, 400);
  CHECK_INT(fail.retry_after_us, 1500000);
  classify(400, "",
           SLP_STR(" {\"x\":{\"y\":[1,{\"__type\":\"no\"}]},\"Message\":\"no such stream\","
                   "\"__type\":\"ResourceNotFoundException\"}"));
  CHECK_INT(fail.class, SLP_GONE);
  CHECK_INT(fail.code, SLOOP_ENOSTREAM);
  CHECK_STR(fail.message, "no such stream");
  classify(400, "",
           SLP_STR("{\"Output\":{\"__type\":\"ThrottlingException\",\"message\":null},\"Version\":\"1.0\"}"));
  CHECK_INT(fail.class, SLP_THROTTLE);
  CHECK_INT(fail.code, SLOOP_ETHROTTLE);
  CHECK_STR(fail.message, "the service gave no text");
}

TEST(the_header_names_the_error_when_the_body_does_not) {
  classify(400, "ResourceInUseException:http://internal/", SLP_STR(""));
  CHECK_INT(fail.class, SLP_BUSY);
  CHECK_STR(fail.aws_code, "ResourceInUseException");
  classify(400, "Bad<script>Name", SLP_STR(""));
  CHECK_STR(fail.aws_code, "");
  CHECK_STR(fail.message, "unreadable answer with status 400: (empty)");
}

TEST(an_unreadable_answer_is_told_with_where_it_came_from) {
  slp_bad_answer answer = {.status = 502,
                           .error_type = "",
                           .request_id = "",
                           .from = "kin.example:80 through the proxy p.example:3128 (http_proxy)",
                           .body = SLP_STR("")};
  slp_classify(&answer, &fail, &remedy);
  CHECK_STR(fail.message,
            "unreadable answer with status 502 from kin.example:80 through the proxy "
            "p.example:3128 (http_proxy): (empty)");
  answer.from = "";
  slp_classify(&answer, &fail, &remedy);
  CHECK_STR(fail.message, "unreadable answer with status 502: (empty)");
}

TEST(cbor_bodies) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  slp_cbor_put_map(&b, UINT64_MAX);
  slp_cbor_put_text(&b, SLP_STR("message"));
  slp_cbor_put_text(&b, SLP_STR("slow down please"));
  slp_cbor_put_text(&b, SLP_STR("__type"));
  slp_cbor_put_text(&b, SLP_STR("ProvisionedThroughputExceededException"));
  slp_cbor_put_break(&b);
  classify(400, "", slp_buf_str(&b));
  CHECK_INT(fail.class, SLP_THROTTLE);
  CHECK_STR(fail.message, "slow down please");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(xml_and_html_bodies) {
  classify(403, "",
           SLP_STR("<ErrorResponse><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code>"
                   "<Message>The token is invalid.</Message></Error></ErrorResponse>"));
  CHECK_INT(fail.class, SLP_AUTH);
  CHECK_INT(remedy, SLP_REMEDY_KEYS);
  CHECK_STR(fail.message, "The token is invalid.");
  classify(500, "", SLP_STR("<!doctype html>\n<html lang=en>\n<title>500  Internal\x01\x02Server</title>"));
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK_INT(fail.code, SLOOP_EREMOTE);
  CHECK_STR(fail.aws_code, "");
  CHECK_STR(
      fail.message,
      "unreadable answer with status 500: <!doctype html> <html lang=en> <title>500 Internal?Server</title>");
}

/* Whole, it may have said that there were too many calls. */
TEST(a_refusal_that_is_cut_is_asked_again) {
  const slp_str whole = SLP_STR("{\"__type\":\"LimitExceededException\",\"message\":\"wait\"}");
  for (size_t n = 1; n < whole.n; n++) {
    classify(400, "", (slp_str){whole.p, n});
    CHECK(fail.class == SLP_TRANSIENT || fail.class == SLP_THROTTLE);
  }
  classify(400, "", SLP_STR("\xbf\x66__type\x76LimitExc"));
  CHECK_INT(fail.class, SLP_TRANSIENT);
  classify(403, "", SLP_STR("{\"__type\":\"Lim"));
  CHECK_INT(fail.class, SLP_ACCESS);
  classify(400, "", SLP_STR("{\"error\":\"another service's\"}"));
  CHECK_INT(fail.class, SLP_REFUSED);
  classify(400, "", SLP_STR("<html>"));
  CHECK_INT(fail.class, SLP_REFUSED);
}

/* The service gives every refusal a body. */
TEST(a_refusal_of_which_nothing_came_is_asked_again_when_its_length_is_not_known) {
  for (int may_be_cut = 0; may_be_cut < 2; may_be_cut++) {
    slp_bad_answer answer = {.status = 400,
                             .error_type = "",
                             .request_id = "",
                             .may_be_cut = (uint8_t)may_be_cut,
                             .body = SLP_STR("")};
    slp_classify(&answer, &fail, &remedy);
    CHECK_INT(fail.class, may_be_cut ? SLP_TRANSIENT : SLP_REFUSED);
    CHECK_STR(fail.message, "unreadable answer with status 400: (empty)");
  }
}

TEST(bodies_that_are_cut_or_junk_are_quoted_not_trusted) {
  classify(502, "", SLP_STR("{\"__type\":\"ResourceNotFou"));
  CHECK_INT(fail.class, SLP_TRANSIENT);
  classify(503, "", SLP_STR("\xff\xfe\x00\x01"));
  CHECK_STR(fail.message, "unreadable answer with status 503: ?");
  classify(500, "", SLP_STR("<Code>"));
  classify(500, "", SLP_STR("<Code>x"));
  CHECK_STR(fail.aws_code, "");
  classify(500, "", SLP_STR("\xbf\x66__type\x78"));
  CHECK_STR(fail.aws_code, "");
}

TEST(a_nul_does_not_end_what_the_service_says) {
  classify(400, "", SLP_STR("{\"__type\":\"ValidationException\",\"message\":\"\\u0000no\\u0000\"}"));
  CHECK_STR(fail.message, "?no?");
  classify(400, "", SLP_STR("<a><Code>ValidationError</Code><Message>\0</Message></a>"));
  CHECK_STR(fail.message, "?");
}

TEST(nothing_of_a_quoted_request_is_repeated) {
  classify(403, "",
           SLP_STR("{\"__type\":\"SignatureDoesNotMatch\",\"message\":\"It does not match. Canonical: "
                   "'POST x-amz-security-token:SECRETTOKEN'\"}"));
  CHECK_INT(fail.class, SLP_AUTH);
  CHECK_INT(fail.code, SLOOP_EAUTH);
  CHECK(strstr(fail.message, "SECRETTOKEN") == NULL);
  CHECK(strstr(fail.message, "It does not match.") == fail.message);
}

TEST(a_secret_is_hidden_wherever_it_occurs) {
  static const char token[] = "FwoGZXIvYXdzEBYaDH/ab+cd==TheRestOfTheToken",
                    key[] = "wJalrXUtnFEMI/K7MDENG/bPx";
  static const char *const bodies[] = {
      "{\"__type\":\"AccessDenied\",\"message\":\"you sent X-Amz-Security-Token: %s and %s\"}",
      "{\"__type\":\"%s\",\"message\":\"%s\"}",
      "<html><b>%s</b>%s",
      "<Error><Code>%s</Code><Message>no %s</Message></Error>",
      "%s%s",
  };
  static const char *const as[][2] = {
      {token, key},
      {"FwoGZXIvYXdzEBYaDH\\/ab+cd==TheRestOfTheToken", "wJalrXUtnFEMI\\/K7MDENG\\/bPx"},
      {"FwoGZXIvYXdzEBYaDH%2Fab%2Bcd%3D%3dTheRestOfTheToken", "wJalrXUtnFEMI%2FK7MDENG%2fbPx"},
      {"FwoGZXIvYXdzEBYaDH/", "wJalrXUtnFEMI/K7"}, /* cut */
  };
  for (size_t i = 0; i < SLP_COUNT(bodies) * SLP_COUNT(as); i++) {
    char body[400];
    const char *const *in = as[i / SLP_COUNT(bodies)];
    snprintf(body, sizeof body, bodies[i % SLP_COUNT(bodies)], in[0], in[1]);
    slp_bad_answer answer = {.status = 403,
                             .error_type = in[0],
                             .request_id = in[1],
                             .body = {body, strlen(body)},
                             .secrets = {{{token, sizeof token - 1}, {key, sizeof key - 1}}}};
    slp_classify(&answer, &fail, &remedy);
    const char *const said[] = {fail.message, fail.aws_code, fail.request_id};
    for (size_t k = 0; k < SLP_COUNT(said); k++)
      if (strstr(said[k], "FwoGZX") || strstr(said[k], "wJalrX") || strstr(said[k], "TheRest") ||
          strstr(said[k], "MDENG"))
        CHECK_FAIL("%zu: \"%s\"", i, said[k]);
  }
}

TEST(a_secret_of_one_letter_hides_no_error) {
  char body[] =
      "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException\",\"message\":\"no table "
      "e2\"}";
  slp_bad_answer answer = {.status = 400,
                           .error_type = "",
                           .request_id = "",
                           .body = {body, sizeof body - 1},
                           .secrets = {{{"2", 1}, {"e", 1}}}};
  slp_classify(&answer, &fail, &remedy);
  CHECK_INT(fail.class, SLP_GONE);
  CHECK_STR(fail.aws_code, "ResourceNotFoundException");
  CHECK_STR(fail.message, "no tabl* **");
}

static slp_class class_of_body(const char *begins, const char *content_type) {
  char body[] = "?f__typex&ProvisionedThroughputExceededException";
  body[0] = *begins;
  slp_bad_answer answer = {.status = 400,
                           .error_type = "",
                           .request_id = "",
                           .content_type = content_type,
                           .body = {body, sizeof body - 1}};
  slp_classify(&answer, &fail, &remedy);
  return fail.class;
}

TEST(a_body_that_does_not_begin_as_its_type_is_damaged_and_refuses_nothing) {
  CHECK_INT(class_of_body("?", "application/x-amz-cbor-1.1"), SLP_TRANSIENT);
  CHECK_INT(class_of_body("?", "application/x-amz-json-1.1"), SLP_TRANSIENT);
  CHECK_INT(class_of_body("?", "text/plain"), SLP_REFUSED);
  CHECK_INT(class_of_body("?", ""), SLP_REFUSED);
  CHECK_INT(class_of_body("?", NULL), SLP_REFUSED);
}

static const char *named(const char *code, const char *message, const char *on) {
  fail = (slp_fail){.class = SLP_ACCESS, .code = SLOOP_EACCESS};
  snprintf(fail.aws_code, sizeof fail.aws_code, "%s", code);
  snprintf(fail.message, sizeof fail.message, "%s", message);
  slp_name_right(&fail, "kinesis:", SLP_STR("Kinesis_20131202.GetRecords"), slp_str_of(on));
  CHECK_INT(fail.class, SLP_ACCESS);
  CHECK_INT(fail.code, SLOOP_EACCESS);
  return fail.message;
}

TEST(a_right_that_is_missing_is_named_once) {
  CHECK_STR(named("AccessDeniedException", "no", "orders"),
            "no permission for kinesis:GetRecords on orders: no");
  CHECK_STR(named("AccessDenied", "no", ""), "no permission for kinesis:GetRecords: no");
  const char *service =
      "User: u is not authorized to perform: kinesis:GetRecords on resource: arn:x:stream/orders";
  CHECK_STR(named("AccessDeniedException", service, "orders"), service);
  CHECK_STR(named("AccessDeniedException", service, "arn:y"),
            "no permission for kinesis:GetRecords on arn:y: User: u is not authorized to perform: "
            "kinesis:GetRecords on resource: arn:x:stream/orders");
  CHECK_STR(named("KMSAccessDeniedException", "the key", "orders"), "the key"); /* it is kms:Decrypt */
  CHECK_STR(named("", "a page of a proxy", "orders"), "a page of a proxy");
  fail = (slp_fail){.class = SLP_GONE, .aws_code = "AccessDeniedException", .message = "no"};
  slp_name_right(&fail, "kinesis:", SLP_STR("Kinesis_20131202.GetRecords"), SLP_STR("orders"));
  CHECK_STR(fail.message, "no");
}

TEST(every_class_has_a_code) {
  for (int class = SLP_FINE + 1; class <= SLP_NOMEM; class ++) CHECK(slp_class_code((slp_class) class) < 0);
  CHECK_INT(slp_class_code(SLP_FINE), 0);
}

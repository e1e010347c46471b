/* classify.c - maps error names to classes. Finds the name of an error in JSON, CBOR, XML, HTML or a
 * header. */
#include "aws/classify.h"

#include "aws/hide.h"
#include "base/fail.h"
#include "codec/cbor.h"
#include "codec/json.h"

#include <sloop.h>
#include <stdio.h>

/* No error of the service has a longer body; it may come from a proxy. Of such a body only the first bytes
 * are quoted. */
#define ERROR_BODY_MAX 65536u
#define EXCERPT_MAX 120u
#define TEXT_MAX 256u
/* TEXT_MAX may cut a secret in two. SECRET_CUT_MAX more bytes are searched, so that the part before the cut
 * is recognised. A byte of a secret takes up to six bytes, as in "\u002f". */
#define SECRET_CUT_MAX (6u * SLP_SECRET_RUN)

typedef struct row {
  const char *name;
  slp_class class;
  slp_remedy remedy;
} row;

/* Every error that the services' models list for an operation of this library has a row
 * (test/contract/vectors/errors_botocore.py). Without a row, a name with status 400 would be classified
 * as refused, which ends a consumer at its start.
 *
 * A row without a comment on its source is from the service models of botocore 1.44.8 (kinesis, dynamodb,
 * dynamodbstreams, cloudwatch, sts, sso, sso-oidc, signin, glue). The other sources:
 *   - SDK retry rules: of botocore and the AWS SDKs (throttling codes of the mode "standard");
 *   - Common Errors: the page of that name in the Kinesis API reference;
 *   - AWS SDK for Java: clock and credential codes of version 2;
 *   - STS reference: the STS API reference.
 *
 * A name has the same meaning with and without "Exception" at its end, so only one spelling is listed. */
static const row rows[] = {
    {"ProvisionedThroughputExceeded", SLP_THROTTLE, SLP_REMEDY_NONE},
    /* the answer to too many control calls, such as DescribeStream */
    {"LimitExceeded", SLP_THROTTLE, SLP_REMEDY_NONE},
    /* a throttle, although the SDKs do not list this name as one */
    {"KMSThrottling", SLP_THROTTLE, SLP_REMEDY_NONE},
    {"Throttling", SLP_THROTTLE, SLP_REMEDY_NONE},             /* listed in SDK retry rules (see above) */
    {"Throttled", SLP_THROTTLE, SLP_REMEDY_NONE},              /* listed in SDK retry rules (see above) */
    {"RequestThrottled", SLP_THROTTLE, SLP_REMEDY_NONE},       /* listed in SDK retry rules (see above) */
    {"EC2Throttled", SLP_THROTTLE, SLP_REMEDY_NONE},           /* listed in SDK retry rules (see above) */
    {"TooManyRequests", SLP_THROTTLE, SLP_REMEDY_NONE},        /* listed in SDK retry rules (see above) */
    {"TooManyRequestsError", SLP_THROTTLE, SLP_REMEDY_NONE},   /* an error of sign-in */
    {"RequestLimitExceeded", SLP_THROTTLE, SLP_REMEDY_NONE},   /* listed in SDK retry rules (see above) */
    {"BandwidthLimitExceeded", SLP_THROTTLE, SLP_REMEDY_NONE}, /* listed in SDK retry rules (see above) */
    {"SlowDown", SLP_THROTTLE,
     SLP_REMEDY_NONE}, /* listed in SDK retry rules (see above); also an error of SSO-OIDC */
    {"InternalFailure", SLP_TRANSIENT, SLP_REMEDY_NONE}, /* listed in Common Errors (see above) */
    {"InternalServerError", SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"InternalError", SLP_TRANSIENT, SLP_REMEDY_NONE},           /* listed in SDK retry rules (see above) */
    {"ServiceUnavailable", SLP_TRANSIENT, SLP_REMEDY_NONE},      /* listed in Common Errors (see above) */
    {"RequestTimeout", SLP_TRANSIENT, SLP_REMEDY_NONE},          /* listed in SDK retry rules (see above) */
    {"PriorRequestNotComplete", SLP_TRANSIENT, SLP_REMEDY_NONE}, /* listed in SDK retry rules (see above) */
    {"TransactionInProgress", SLP_TRANSIENT, SLP_REMEDY_NONE},   /* listed in SDK retry rules (see above) */
    {"IDPCommunicationError", SLP_TRANSIENT,
     SLP_REMEDY_NONE}, /* listed in SDK retry rules and the STS reference */
    /* another Region writes the item; source: SDK retry rules */
    {"ReplicatedWriteConflict", SLP_TRANSIENT, SLP_REMEDY_NONE},
    {"TransactionConflict", SLP_TRANSIENT, SLP_REMEDY_NONE},  /* a transaction is using the item */
    {"InternalServiceFault", SLP_TRANSIENT, SLP_REMEDY_NONE}, /* an error of CloudWatch */
    {"InternalServiceError", SLP_TRANSIENT, SLP_REMEDY_NONE}, /* an error of CloudWatch */
    {"InternalServer", SLP_TRANSIENT, SLP_REMEDY_NONE},       /* an error of SSO-OIDC */
    {"InternalService", SLP_TRANSIENT, SLP_REMEDY_NONE},      /* an error of Glue */
    {"ExpiredIterator", SLP_EXPIRED, SLP_REMEDY_NONE},
    {"ExpiredNextToken", SLP_EXPIRED, SLP_REMEDY_NONE},
    {"ResourceNotFound", SLP_GONE, SLP_REMEDY_NONE},
    {"ResourceInUse", SLP_BUSY, SLP_REMEDY_NONE},
    {"TrimmedDataAccess", SLP_TRIMMED, SLP_REMEDY_NONE},   /* an error of DynamoDB Streams */
    {"AccessDenied", SLP_ACCESS, SLP_REMEDY_NONE},         /* listed in Common Errors (see above) */
    {"NotAuthorized", SLP_ACCESS, SLP_REMEDY_NONE},        /* listed in Common Errors (see above) */
    {"OptInRequired", SLP_ACCESS, SLP_REMEDY_NONE},        /* listed in Common Errors (see above) */
    {"SubscriptionRequired", SLP_ACCESS, SLP_REMEDY_NONE}, /* listed in Common Errors (see above) */
    {"KMSAccessDenied", SLP_ACCESS, SLP_REMEDY_NONE},      /* a problem with the key; an operator must act */
    {"KMSDisabled", SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSInvalidState", SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSNotFound", SLP_ACCESS, SLP_REMEDY_NONE},
    {"KMSOptInRequired", SLP_ACCESS, SLP_REMEDY_NONE},
    {"RegionDisabled", SLP_ACCESS, SLP_REMEDY_NONE}, /* an error of STS */
    /* an error of STS: the token is not accepted */
    {"IDPRejectedClaim", SLP_AUTH, SLP_REMEDY_NONE},
    {"InvalidIdentityToken", SLP_AUTH, SLP_REMEDY_NONE},    /* an error of STS: the token is not accepted */
    {"InvalidContextAssertion", SLP_AUTH, SLP_REMEDY_NONE}, /* an error of STS: the token is not accepted */
    {"Unauthorized", SLP_AUTH, SLP_REMEDY_NONE},            /* an error of SSO: the user must sign in again */
    {"InvalidClient", SLP_AUTH, SLP_REMEDY_NONE},      /* an error of SSO-OIDC: the user must sign in again */
    {"InvalidGrant", SLP_AUTH, SLP_REMEDY_NONE},       /* an error of SSO-OIDC: the user must sign in again */
    {"UnauthorizedClient", SLP_AUTH, SLP_REMEDY_NONE}, /* an error of SSO-OIDC: the user must sign in again */
    {"ExpiredToken", SLP_AUTH, SLP_REMEDY_KEYS},       /* listed in Common Errors and the STS reference */
    {"InvalidToken", SLP_AUTH, SLP_REMEDY_KEYS},       /* listed in the AWS SDK for Java (see above) */
    {"UnrecognizedClient", SLP_AUTH, SLP_REMEDY_KEYS}, /* listed in Common Errors (see above) */
    {"InvalidClientTokenId", SLP_AUTH, SLP_REMEDY_KEYS},   /* listed in Common Errors and the STS reference */
    {"InvalidAccessKeyId", SLP_AUTH, SLP_REMEDY_KEYS},     /* seen from moto; S3 spells it so */
    {"InvalidSignature", SLP_AUTH, SLP_REMEDY_CLOCK},      /* listed in the AWS SDK for Java (see above) */
    {"SignatureDoesNotMatch", SLP_AUTH, SLP_REMEDY_CLOCK}, /* listed in the AWS SDK for Java (see above) */
    {"AuthFailure", SLP_AUTH, SLP_REMEDY_CLOCK},           /* listed in the AWS SDK for Java (see above) */
    {"RequestExpired", SLP_AUTH, SLP_REMEDY_CLOCK}, /* listed in Common Errors and the AWS SDK for Java */
    {"RequestTimeTooSkewed", SLP_AUTH, SLP_REMEDY_CLOCK}, /* listed in the AWS SDK for Java (see above) */
    {"RequestInTheFuture", SLP_AUTH, SLP_REMEDY_CLOCK},   /* listed in the AWS SDK for Java (see above) */
    {"IncompleteSignature", SLP_AUTH, SLP_REMEDY_NONE},   /* listed in Common Errors (see above) */
    {"MissingAuthenticationToken", SLP_AUTH, SLP_REMEDY_NONE}, /* listed in Common Errors (see above) */
    /* store/dynamo.c takes this error for the outcome of a conditional write */
    {"ConditionalCheckFailed", SLP_REFUSED, SLP_REMEDY_NONE},
    {"ItemCollectionSizeLimitExceeded", SLP_REFUSED, SLP_REMEDY_NONE},
    /* the answer to a call with DryRun, which api/rights.c sends */
    {"DryRunOperation", SLP_REFUSED, SLP_REMEDY_NONE},
    {"EntityNotFound", SLP_REFUSED, SLP_REMEDY_NONE},              /* an error of Glue */
    {"InvalidInput", SLP_REFUSED, SLP_REMEDY_NONE},                /* an error of Glue */
    {"InvalidParameterCombination", SLP_REFUSED, SLP_REMEDY_NONE}, /* an error of CloudWatch */
    {"InvalidParameterValue", SLP_REFUSED, SLP_REMEDY_NONE},       /* an error of CloudWatch */
    {"MissingParameter", SLP_REFUSED, SLP_REMEDY_NONE},            /* an error of CloudWatch */
    {"MissingRequiredParameter", SLP_REFUSED, SLP_REMEDY_NONE},    /* an error of CloudWatch */
    {"MalformedPolicyDocument", SLP_REFUSED, SLP_REMEDY_NONE},     /* an error of STS */
    {"PackedPolicyTooLarge", SLP_REFUSED, SLP_REMEDY_NONE},        /* an error of STS */
    {"InvalidRequest", SLP_REFUSED, SLP_REMEDY_NONE},              /* an error of SSO and SSO-OIDC */
    {"InvalidScope", SLP_REFUSED, SLP_REMEDY_NONE},                /* an error of SSO-OIDC */
    {"UnsupportedGrantType", SLP_REFUSED, SLP_REMEDY_NONE},        /* an error of SSO-OIDC */
    /* an error of SSO-OIDC: for a kind of grant that this program does not use */
    {"AuthorizationPending", SLP_REFUSED, SLP_REMEDY_NONE},
    {"InvalidArgument", SLP_REFUSED, SLP_REMEDY_NONE},
    {"Validation", SLP_REFUSED, SLP_REMEDY_NONE},
    {"ValidationError", SLP_REFUSED, SLP_REMEDY_NONE},  /* listed in Common Errors (see above) */
    {"Serialization", SLP_REFUSED, SLP_REMEDY_NONE},    /* listed in Common Errors (see above) */
    {"UnknownOperation", SLP_REFUSED, SLP_REMEDY_NONE}, /* listed in Common Errors (see above) */
    {"InvalidAction", SLP_REFUSED, SLP_REMEDY_NONE},    /* listed in Common Errors (see above) */
};

_Static_assert(SLP_COUNT(rows) + 2 <= SLP_FAILURES, "each name has a number");

int slp_class_code(slp_class class) {
  switch (class) {
    case SLP_FINE: return 0;
    case SLP_THROTTLE: return SLOOP_ETHROTTLE;
    case SLP_TRANSIENT:
    case SLP_EXPIRED: return SLOOP_EREMOTE; /* no user sees this code, because core renews the iterator */
    case SLP_GONE: return SLOOP_ENOSTREAM;
    case SLP_BUSY: return SLOOP_ESTREAMBUSY;
    case SLP_TRIMMED: return SLOOP_ETRIMMED;
    case SLP_AUTH: return SLOOP_EAUTH;
    case SLP_ACCESS: return SLOOP_EACCESS;
    case SLP_REFUSED: return SLOOP_EREFUSED;
    case SLP_CANCELED: return SLP_ECANCELED;
    case SLP_NOMEM: return SLP_ENOMEM;
  }
  return SLOOP_EREMOTE;
}

static slp_str without_exception(slp_str name) {
  const slp_str end = SLP_STR("Exception");
  if (name.n > end.n && memcmp(name.p + name.n - end.n, end.p, end.n) == 0) name.n -= end.n;
  return name;
}

static slp_class by_status(int status, slp_remedy *ret_remedy) {
  *ret_remedy = SLP_REMEDY_NONE;
  if (status == 429) return SLP_THROTTLE;
  if (status == 408 || status >= 500 || status < 300) return SLP_TRANSIENT;
  if (status == 401 || status == 403) {
    /* a front end can refuse a wrong time without an error name of the table (source: AWS SDK for Java) */
    *ret_remedy = SLP_REMEDY_CLOCK;
    return status == 401 ? SLP_AUTH : SLP_ACCESS;
  }
  return SLP_REFUSED; /* 3xx: redirects are not followed. 4xx: the same request would fail again */
}

static const row *row_of(slp_str name) {
  name = without_exception(name);
  for (size_t i = 0; i < SLP_COUNT(rows) && name.n; i++)
    if (slp_str_is(name, rows[i].name)) return &rows[i];
  return NULL;
}

slp_class slp_classify_name(slp_str name, int status, slp_remedy *ret_remedy) {
  const row *known = row_of(name);
  if (!known) return by_status(status, ret_remedy);
  *ret_remedy = known->remedy;
  return known->class;
}

int slp_classify_knows(slp_str name) { return row_of(name) != NULL; }

size_t slp_failure_number(const slp_fail *f) {
  const row *known = row_of(slp_str_of(f->aws_code));
  return known ? (size_t)(known - rows) : SLP_COUNT(rows) + !f->http_status;
}

const char *slp_failure_name(size_t number) {
  if (number < SLP_COUNT(rows)) return rows[number].name;
  return number == SLP_COUNT(rows) ? "other" : number == SLP_COUNT(rows) + 1 ? "no answer" : NULL;
}

/* Returns the bare name of an error: "com.amazonaws.kinesis#Name:http://..." becomes "Name". */
static slp_str bare_name(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == ':') s.n = i;
  }
  for (size_t i = s.n; i > 0; i--) {
    if (s.p[i - 1] == '#') return (slp_str){s.p + i, s.n - i};
  }
  return s;
}

/* Returns 1 if s consists of ASCII letters, digits, '.', '_' and '-'. The service uses no other characters in
 * names. */
static int is_name(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    int ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
             c == '_' || c == '-';
    if (!ok) return 0;
  }
  return s.n > 0;
}

slp_class slp_classify_type(const char *error_type, int status) {
  slp_remedy remedy;
  slp_str name = bare_name(slp_str_of(error_type));
  return slp_classify_name(is_name(name) ? name : (slp_str){NULL, 0}, status, &remedy);
}

/* Copies s with each NUL replaced by '?', because printf would stop at a NUL. */
static const char *without_nuls(slp_str s, char room[TEXT_MAX + 1]) {
  size_t n = slp_min_u64(s.n, TEXT_MAX);
  for (size_t i = 0; i < n; i++) room[i] = s.p[i] ? s.p[i] : '?';
  room[n] = 0;
  return room;
}

static void copy_z(char *to, size_t size, slp_str from) {
  size_t n = from.n < size - 1 ? from.n : size - 1;
  if (n) memcpy(to, from.p, n);
  to[n] = 0;
}

typedef struct named {
  slp_str code, message;
  int damaged; /* 1: the body begins like an error of the service, but its JSON or CBOR is not valid */
} named;

static slp_str *find_member_for_key(named *found, slp_str key) {
  if (slp_str_is(key, "__type") || slp_str_is(key, "code") || slp_str_is(key, "Code")) return &found->code;
  if (slp_str_is(key, "message") || slp_str_is(key, "Message")) return &found->message;
  return NULL;
}

/* Finds the first name and the first message, at the top level or one level below it. Front ends of
 * kinesalite wrap errors in "Output". */
static void read_json(slp_str body, named *found) {
  slp_json j;
  slp_json_begin(&j, (char *)(uintptr_t)body.p, body.n);
  for (;;) {
    int token = slp_json_next(&j);
    found->damaged = token < 0;
    if (token <= 0) return;
    if (token != SLP_JSON_KEY || j.depth > 2) continue;
    slp_str *into = find_member_for_key(found, j.text);
    found->damaged = into && !into->n && slp_json_string(&j, into);
    if (found->damaged) return;
  }
}

static void read_cbor(slp_str body, named *found) {
  slp_cbor c;
  slp_cbor_begin(&c, (char *)(uintptr_t)body.p, body.n);
  for (;;) {
    int token = slp_cbor_next(&c);
    found->damaged = token < 0;
    if (token <= 0) return;
    if (token != SLP_CBOR_TEXT || !c.is_key || c.depth > 2) continue;
    slp_str *into = find_member_for_key(found, c.text);
    found->damaged = into && !into->n && slp_cbor_text(&c, into);
    if (found->damaged) return;
  }
}

/* Returns the text between `tag` and the next '<'. Entities are not decoded. */
static slp_str xml_text(slp_str body, const char *tag) {
  const char *at = memmem(body.p, body.n, tag, strlen(tag));
  if (!at) return (slp_str){NULL, 0};
  at += strlen(tag);
  const char *end = memchr(at, '<', (size_t)(body.p + body.n - at));
  return (slp_str){at, end ? (size_t)(end - at) : 0};
}

static void read_xml(slp_str body, named *found) {
  found->code = xml_text(body, "<Code>");
  found->message = xml_text(body, "<Message>");
}

static slp_str trim_left(slp_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\n' || s.p[0] == '\r' || s.p[0] == '\t')) s.p++, s.n--;
  return s;
}

/* The content type shows that the body is damaged if the body does not begin as that type does. */
static void read_body(slp_str body, const char *content_type, named *found) {
  body = trim_left(body);
  if (!body.n || body.n > ERROR_BODY_MAX) return;
  unsigned char first = (unsigned char)body.p[0];
  int is_json = first == '{', is_cbor = first >= 0xa0 && first <= 0xbf;
  if (is_json) read_json(body, found);
  if (first == '<') read_xml(body, found);
  if (is_cbor) read_cbor(body, found);
  if (!content_type) return;
  int other = (strstr(content_type, "json") && !is_json) || (strstr(content_type, "cbor") && !is_cbor);
  found->damaged |= other;
}

/* Quotes the first bytes of an unreadable body: only printable characters, without secrets. A run of white
 * space or of unprintable bytes becomes one character. The body is not changed, because it will still be
 * parsed, and a short secret may be part of any word in it. */
static void quote_start_of_body(const slp_hiding *h, slp_str body, char out[EXCERPT_MAX + 1]) {
  size_t n = 0, hidden_until = 0;
  for (size_t i = 0; i < body.n && n < EXCERPT_MAX; i++) {
    unsigned char c = (unsigned char)body.p[i];
    char put = c > 0x20 && c < 0x7f ? (char)c : (c == ' ' || c == '\n' || c == '\r' || c == '\t') ? ' ' : '?';
    int again = n == 0 ? put == ' ' : (put == ' ' || put == '?') && out[n - 1] == put;
    if (again && i >= hidden_until) continue;
    hidden_until = slp_max_u64(hidden_until, i + slp_hiding_at(h, (slp_str){body.p + i, body.n - i}, 1));
    out[n++] = i < hidden_until ? '*' : put;
  }
  out[n] = 0;
}

/* Returns the first line, up to the place where the service begins to quote the request's headers, which
 * include the session token. */
static slp_str first_line(slp_str s) {
  s = trim_left(s);
  const char *end = s.n ? memchr(s.p, '\n', s.n) : NULL;
  if (end) s.n = (size_t)(end - s.p);
  const slp_str quote = SLP_STR("x-amz-security-token");
  const char *at = s.n ? memmem(s.p, s.n, quote.p, quote.n) : NULL;
  if (at) s.n = (size_t)(at - s.p);
  return s;
}

/* Returns the name of an error, or an empty text if `raw` is not a valid name or contains a secret. */
static slp_str name_of(const slp_hiding *h, slp_str raw) {
  slp_str name = bare_name(raw);
  size_t told = slp_min_u64(name.n, sizeof((slp_fail *)0)->aws_code);
  if (!is_name(name)) return (slp_str){NULL, 0};
  for (size_t i = 0; i < told; i++) {
    if (slp_hiding_at(h, (slp_str){name.p + i, name.n - i}, SLP_SECRET_IN_NAMES_MIN))
      return (slp_str){NULL, 0};
  }
  return name;
}

/* Returns the service's message without secrets. The result points into the body, in which the secrets are
 * overwritten. */
static slp_str text_of(const slp_hiding *h, slp_str message) {
  slp_str text = first_line(message);
  text.n = slp_min_u64(text.n, TEXT_MAX + SECRET_CUT_MAX);
  if (text.n) slp_hiding_put(h, (char *)(uintptr_t)text.p, text.n, 1);
  return text;
}

static int message_contains(const char *message, slp_str what) {
  return what.n && memmem(message, strlen(message), what.p, what.n) != NULL;
}

void slp_name_right(slp_fail *f, const char *prefix, slp_str target, slp_str on) {
  char right[80], said[sizeof f->message];
  const char *dot = target.n ? memchr(target.p, '.', target.n) : NULL;
  if (f->class != SLP_ACCESS || !dot || strncmp(f->aws_code, "AccessDenied", 12) != 0) return;
  snprintf(right, sizeof right, "%s%.*s", prefix, (int)(target.p + target.n - dot - 1), dot + 1);
  if (message_contains(f->message, slp_str_of(right)) && message_contains(f->message, on)) return;
  snprintf(said, sizeof said, "%s", f->message);
  slp_fail_set(f, f->class, f->code, "no permission for %s%s%.*s: %s", right, on.n ? " on " : "",
               (int)slp_min_u64(on.n, 120), on.p ? on.p : "", said);
}

int slp_fails_again(int code) { return code == SLOOP_ETLS || code == SLOOP_EPROXY; }

void slp_classify(slp_bad_answer *answer, slp_fail *f, slp_remedy *ret_remedy) {
  char quoted[EXCERPT_MAX + 1], said[TEXT_MAX + 1];
  named found = {{NULL, 0}, {NULL, 0}, 0};
  slp_hiding h;
  slp_hiding_begin(&h, &answer->secrets);
  quote_start_of_body(&h, answer->body, quoted); /* must come before read_body, which changes the body */
  read_body(answer->body, answer->content_type, &found);
  slp_str code = name_of(&h, found.code), text = text_of(&h, found.message);
  if (!code.n) code = name_of(&h, slp_str_of(answer->error_type));
  slp_class class = slp_classify_name(code, answer->status, ret_remedy);
  /* If the body is damaged or incomplete, the name of the error may be lost. So a 4xx without a name is then
   * not taken for a final refusal. */
  int cut = found.damaged || (answer->may_be_cut && !answer->body.n);
  if (cut && !code.n && class == SLP_REFUSED) class = SLP_TRANSIENT;
  slp_fail_clear(f);
  copy_z(f->aws_code, sizeof f->aws_code, code);
  copy_z(f->request_id, sizeof f->request_id, slp_str_of(answer->request_id));
  slp_hiding_put(&h, f->request_id, strlen(f->request_id), 1);
  f->http_status = answer->status;
  f->retry_after_us = slp_min_u64(answer->retry_after_ms, 3600000) * 1000;
  int code_number = slp_class_code(class);
  if (text.n) {
    slp_fail_set(f, class, code_number, "%s", without_nuls(text, said));
  } else if (code.n) {
    slp_fail_set(f, class, code_number, "the service gave no text");
  } else {
    int known = answer->from && answer->from[0];
    slp_fail_set(f, class, code_number, "unreadable answer with status %d%s%.120s: %s", answer->status,
                 known ? " from " : "", known ? answer->from : "", quoted[0] ? quoted : "(empty)");
  }
}

/* auth.c - checks Signature Version 4 as a server does. It was written from the description of the protocol,
 * and shares no code with the client's signer. So a mistake in the signer shows as a signature that is
 * refused here. */
#include "base/buf.h"
#include "base/mem.h"
#include "codec/date.h"
#include "codec/digest.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"

#include <sloop_sandbox.h>
#include <stdio.h>

/* how far, in ms, the time of a signature may differ from the service's clock */
#define SKEW_MS INT64_C(300000)

struct slp_box_auth {
  slp_mem *mem;
  slp_digest *digest;                                  /* keyed with the signing key of `scope` */
  const char *access_key, *secret_key, *session_token; /* the only credentials that this sandbox accepts */
  char scope[96];
  slp_buf text;
};

slp_box_auth *slp_box_auth_new(slp_mem *mem, const sloop_sandbox_opts_t *o) {
  slp_box_auth *a = SLP_NEW(mem, slp_box_auth);
  if (!a) return NULL;
  a->mem = mem;
  a->access_key = o->access_key;
  a->secret_key = o->secret_key;
  a->session_token = o->session_token;
  slp_buf_init(&a->text, mem, 1u << 20);
  a->digest = slp_digest_new(mem);
  if (a->digest) return a;
  slp_free(mem, a);
  return NULL;
}

void slp_box_auth_free(slp_box_auth *a) {
  if (!a) return;
  slp_digest_free(a->digest);
  slp_buf_free(&a->text);
  slp_free(a->mem, a);
}

typedef struct claim {
  slp_str key_id, scope, date, region, service, headers, signature;
} claim;

static slp_str take_until(slp_str *rest, char stop) {
  slp_str s = {rest->p, 0};
  while (s.n < rest->n && s.p[s.n] != stop) s.n++;
  size_t skip = s.n < rest->n ? s.n + 1 : s.n;
  *rest = (slp_str){rest->p + skip, rest->n - skip};
  return s;
}

static slp_str trim_spaces(slp_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s = (slp_str){s.p + 1, s.n - 1};
  while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t')) s.n--;
  return s;
}

/* Parses "AWS4-HMAC-SHA256 Credential=ID/DATE/REGION/SERVICE/aws4_request, SignedHeaders=a;b,
 * Signature=hex". */
static int read_claim(slp_str authorization, claim *ret) {
  static const char algorithm[] = "AWS4-HMAC-SHA256 ";
  size_t n = sizeof algorithm - 1;
  *ret = (claim){{NULL, 0}};
  if (authorization.n < n || memcmp(authorization.p, algorithm, n) != 0) return SLP_EBADDATA;
  slp_str rest = {authorization.p + n, authorization.n - n};
  while (rest.n) {
    slp_str value = trim_spaces(take_until(&rest, ',')), name = take_until(&value, '=');
    if (slp_str_is(name, "Credential")) {
      ret->key_id = take_until(&value, '/');
      ret->scope = value;
      ret->date = take_until(&value, '/');
      ret->region = take_until(&value, '/');
      ret->service = take_until(&value, '/');
      if (!slp_str_is(value, "aws4_request")) return SLP_EBADDATA;
    } else if (slp_str_is(name, "SignedHeaders")) {
      ret->headers = value;
    } else if (slp_str_is(name, "Signature")) {
      ret->signature = value;
    }
  }
  return ret->key_id.n && ret->date.n == 8 && ret->region.n && ret->service.n && ret->headers.n &&
                 ret->signature.n
             ? 0
             : SLP_EBADDATA;
}

void slp_box_region_of(slp_str authorization, char out[32]) {
  claim k;
  if (read_claim(authorization, &k) || k.region.n > 31 || !slp_box_name_valid(k.region)) {
    memcpy(out, "us-east-1", sizeof "us-east-1");
    return;
  }
  memcpy(out, k.region.p, k.region.n);
  out[k.region.n] = 0;
}

static slp_str header_of(const slp_box_request *rq, slp_str name) {
  char z[80];
  if (rq->header && name.n < sizeof z) {
    memcpy(z, name.p, name.n);
    z[name.n] = 0;
    slp_str value = rq->header(rq->header_arg, z);
    if (value.p) return value;
  }
  if (slp_str_is(name, "host")) return rq->host;
  if (slp_str_is(name, "content-type")) return rq->content_type;
  if (slp_str_is(name, "x-amz-date")) return rq->amz_date;
  if (slp_str_is(name, "x-amz-target")) return rq->target;
  if (slp_str_is(name, "x-amz-security-token")) return rq->security_token;
  return (slp_str){NULL, 0};
}

static int is_signed(slp_str names, const char *wanted) {
  while (names.n) {
    if (slp_str_is(take_until(&names, ';'), wanted)) return 1;
  }
  return 0;
}

static void put_value(slp_buf *b, slp_str value) {
  value = trim_spaces(value);
  for (size_t i = 0; i < value.n; i++) { /* several spaces in a row count as one */
    if (i > 0 && value.p[i] == ' ' && value.p[i - 1] == ' ') continue;
    slp_buf_add_char(b, value.p[i]);
  }
}

static int put_digest(slp_box_auth *a, slp_str what, slp_buf *to) {
  uint8_t sum[32];
  char hex[64];
  int r = slp_sha256(a->digest, what, sum);
  slp_hex(hex, sum, 32);
  return r ? r : slp_buf_add(to, hex, 64);
}

/* Writes the canonical request into a->text. Returns SLP_EBADDATA if a signed header is missing. */
static int write_canonical_request(slp_box_auth *a, const slp_box_request *rq, const claim *k) {
  slp_buf *b = &a->text;
  slp_str query = rq->path, path = take_until(&query, '?'), names = k->headers;
  slp_buf_clear(b);
  slp_buf_add_str(b, rq->method);
  slp_buf_addf(b, "\n%.*s\n%.*s\n", (int)path.n, path.p, (int)query.n, query.p);
  while (names.n) {
    slp_str name = take_until(&names, ';'), value = header_of(rq, name);
    if (!value.p) return SLP_EBADDATA;
    slp_buf_add_str(b, name);
    slp_buf_add_char(b, ':');
    put_value(b, value);
    slp_buf_add_char(b, '\n');
  }
  slp_buf_addf(b, "\n%.*s\n", (int)k->headers.n, k->headers.p);
  return put_digest(a, rq->body, b);
}

/* Derives the signing key for the scope of k, unless a->digest already has that key. */
static int use_key(slp_box_auth *a, const claim *k) {
  uint8_t key[32];
  slp_buf secret;
  if (k->scope.n < sizeof a->scope && strlen(a->scope) == k->scope.n &&
      memcmp(a->scope, k->scope.p, k->scope.n) == 0) {
    return 0;
  }
  slp_buf_init(&secret, a->mem, 4096);
  int r = slp_buf_addf(&secret, "AWS4%s", a->secret_key);
  if (!r) r = slp_hmac_sha256(a->digest, slp_buf_str(&secret), k->date, key);
  slp_str part[] = {k->region, k->service, SLP_STR("aws4_request")};
  for (int i = 0; !r && i < 3; i++)
    r = slp_hmac_sha256(a->digest, (slp_str){(const char *)key, 32}, part[i], key);
  if (!r) r = slp_hmac_key(a->digest, (slp_str){(const char *)key, 32});
  if (secret.p) slp_wipe(secret.p, secret.n);
  slp_buf_free(&secret);
  slp_wipe(key, sizeof key);
  a->scope[0] = 0;
  if (!r && k->scope.n < sizeof a->scope) {
    memcpy(a->scope, k->scope.p, k->scope.n);
    a->scope[k->scope.n] = 0;
  }
  return r;
}

static int signature_of(slp_box_auth *a, const slp_box_request *rq, const claim *k, slp_str date,
                        char hex[64]) {
  uint8_t sum[32];
  slp_buf text;
  int r = write_canonical_request(a, rq, k);
  if (r) return r;
  slp_buf_init(&text, a->mem, 4096);
  slp_buf_addf(&text, "AWS4-HMAC-SHA256\n%.*s\n%.*s\n", (int)date.n, date.p, (int)k->scope.n, k->scope.p);
  r = put_digest(a, slp_buf_str(&a->text), &text);
  if (!r) r = use_key(a, k);
  if (!r) r = slp_hmac_keyed(a->digest, slp_buf_str(&text), sum);
  slp_buf_free(&text);
  slp_hex(hex, sum, 32);
  return r;
}

/* Parses "20260102T030405Z". */
static int basic_date(slp_str s, int64_t *ret_ms) {
  char iso[24];
  if (s.n != 16 || s.p[8] != 'T' || s.p[15] != 'Z') return SLP_EBADDATA;
  int n = snprintf(iso, sizeof iso, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s", s.p, s.p + 4, s.p + 6, s.p + 9, s.p + 11,
                   s.p + 13);
  return slp_date_parse_iso((slp_str){iso, (size_t)n}, ret_ms);
}

static int check_times(slp_box_call *c, const claim *k, slp_str date) {
  int64_t then_ms;
  char now[17], edge[17];
  if (!date.p || basic_date(date, &then_ms)) {
    return slp_box_fail(c, "IncompleteSignatureException",
                        "Date must be in ISO-8601 'basic format'. Got '%.*s'.", (int)slp_min_u64(date.n, 64),
                        date.p ? date.p : "");
  }
  if (memcmp(k->date.p, date.p, 8) != 0) {
    return slp_box_fail(
        c, "InvalidSignatureException",
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
        "'%.*s' != '%.8s'.",
        (int)k->date.n, k->date.p, date.p);
  }
  if (then_ms >= c->now_ms - SKEW_MS && then_ms <= c->now_ms + SKEW_MS) return 0;
  int old = then_ms < c->now_ms;
  slp_date_basic(c->now_ms, now);
  slp_date_basic(c->now_ms + (old ? -SKEW_MS : SKEW_MS), edge);
  return slp_box_fail(c, "InvalidSignatureException", "Signature %s: %.*s is now %s than %s (%s %c 5 min.)",
                      old ? "expired" : "not yet current", (int)date.n, date.p, old ? "earlier" : "later",
                      edge, now, old ? '-' : '+');
}

int slp_box_auth_check(slp_box_auth *a, slp_box_call *c, const slp_box_request *rq) {
  claim k;
  char hex[64];
  slp_str date = header_of(rq, SLP_STR("x-amz-date")), token = header_of(rq, SLP_STR("x-amz-security-token"));
  if (!rq->authorization.p) {
    return slp_box_fail(c, "MissingAuthenticationTokenException", "Missing Authentication Token");
  }
  if (read_claim(rq->authorization, &k)) {
    return slp_box_fail(c, "IncompleteSignatureException",
                        "Authorization header requires 'Credential' parameter, 'Signature' parameter and "
                        "'SignedHeaders' parameter. Authorization=%.*s",
                        (int)slp_min_u64(rq->authorization.n, 200), rq->authorization.p);
  }
  int token_ok = a->session_token ? slp_str_is(token, a->session_token) : 1;
  if (!slp_str_is(k.key_id, a->access_key) || !token_ok) {
    return slp_box_fail(c, "UnrecognizedClientException",
                        "The security token included in the request is invalid.");
  }
  if (!is_signed(k.headers, "host") || !is_signed(k.headers, "x-amz-date") ||
      (token.p && !is_signed(k.headers, "x-amz-security-token"))) {
    return slp_box_fail(c, "InvalidSignatureException",
                        "'Host', 'X-Amz-Date' and 'X-Amz-Security-Token' must be 'SignedHeaders' in the AWS "
                        "Authorization.");
  }
  if (check_times(c, &k, date)) return -1;
  static const char *const services[] = {[SLP_BOX_KINESIS] = "kinesis",
                                         [SLP_BOX_DYNAMODB] = "dynamodb",
                                         [SLP_BOX_CHANGES] = "dynamodb",
                                         [SLP_BOX_CLOUDWATCH] = "monitoring"};
  const char *service = services[c->service];
  if (!slp_str_is(k.service, service)) {
    return slp_box_fail(c, "InvalidSignatureException",
                        "Credential should be scoped to correct service: '%s'.", service);
  }
  int r = signature_of(a, rq, &k, date, hex);
  if (r == SLP_ENOMEM) return slp_box_no_memory(c);
  if (r || k.signature.n != 64 || memcmp(k.signature.p, hex, 64) != 0) {
    return slp_box_fail(
        c, "InvalidSignatureException",
        "The request signature we calculated does not match the signature you provided. Check your "
        "AWS Secret Access Key and signing method. Consult the service documentation for details.");
  }
  return 0;
}

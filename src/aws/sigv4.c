/* sigv4.c - the canonical request, the string to sign, the key of the day, the signature.
 * Rules: AWS General Reference, "Signature Version 4"; checked against botocore by test/vectors. */
#include "aws/sigv4.h"

#include "codec/date.h"
#include "codec/digest.h"

#define CANONICAL_MAX (256u * 1024)
#define DATE_N 8 /* YYYYMMDD */

struct slp_signer {
  slp_mem *mem;
  slp_digest *digest; /* holds the HMAC state of the day's key */
  slp_buf canonical;  /* scratch; wiped, as it holds the token */
  slp_buf key_of;     /* the inputs of the day's key: date, region, service, secret, each with its length */
  slp_buf scratch;
};

/* Headers that proxies and servers may add, drop or change are not signed. */
static const char *const unsigned_headers[] = {"authorization",
                                               "connection",
                                               "expect",
                                               "keep-alive",
                                               "proxy-authenticate",
                                               "proxy-authorization",
                                               "te",
                                               "trailer",
                                               "transfer-encoding",
                                               "upgrade",
                                               "user-agent",
                                               "x-amzn-trace-id"};

slp_signer *slp_signer_new(slp_mem *mem) {
  slp_signer *s = SLP_NEW(mem, slp_signer);
  if (!s) return NULL;
  s->mem = mem;
  slp_buf_init(&s->canonical, mem, CANONICAL_MAX);
  slp_buf_init(&s->key_of, mem, CANONICAL_MAX);
  slp_buf_init(&s->scratch, mem, CANONICAL_MAX);
  s->digest = slp_digest_new(mem);
  /* Room from the start: growing would leave copies of secrets behind. */
  if (!s->digest || slp_buf_reserve(&s->canonical, 4096) || slp_buf_reserve(&s->key_of, 1024) ||
      slp_buf_reserve(&s->scratch, 1024)) {
    slp_signer_free(s);
    return NULL;
  }
  return s;
}

static void wipe_buf(slp_buf *b) {
  if (b->p) slp_wipe(b->p, b->cap);
  slp_buf_free(b);
}

void slp_signer_free(slp_signer *s) {
  if (!s) return;
  wipe_buf(&s->canonical);
  wipe_buf(&s->key_of);
  wipe_buf(&s->scratch);
  slp_digest_free(s->digest);
  slp_free(s->mem, s);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Compares header names without regard to case. */
static int name_cmp(slp_str a, slp_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  for (size_t i = 0; i < n; i++) {
    unsigned char ca = (unsigned char)lower(a.p[i]), cb = (unsigned char)lower(b.p[i]);
    if (ca != cb) return ca < cb ? -1 : 1;
  }
  return a.n == b.n ? 0 : a.n < b.n ? -1 : 1;
}

static int is_unsigned(slp_str name) {
  for (size_t i = 0; i < SLP_COUNT(unsigned_headers); i++) {
    slp_str other = slp_str_of(unsigned_headers[i]);
    if (name.n == other.n && name_cmp(name, other) == 0) return 1;
  }
  return 0;
}

/* Keeps the list sorted; equal names stay in the order they were given. */
static int insert_header(slp_http_header *sorted, size_t *n, slp_http_header header) {
  if (is_unsigned(header.name)) return 0;
  if (*n == SLP_SIGN_HEADERS_MAX) return SLP_ELIMIT;
  size_t i = (*n)++;
  for (; i > 0 && name_cmp(sorted[i - 1].name, header.name) > 0; i--) sorted[i] = sorted[i - 1];
  sorted[i] = header;
  return 0;
}

static void add_lower(slp_buf *b, slp_str name) {
  if (slp_buf_reserve(b, name.n)) return;
  for (size_t i = 0; i < name.n; i++) b->p[b->n++] = lower(name.p[i]);
}

/* Adds the value without white space at its ends, and with runs inside as one space. */
static void add_value(slp_buf *b, slp_str value) {
  if (slp_buf_reserve(b, value.n)) return;
  int gap = 0;
  size_t start = b->n;
  for (size_t i = 0; i < value.n; i++) {
    char c = value.p[i];
    if (c == ' ' || c == '\t') {
      gap = 1;
      continue;
    }
    if (gap && b->n > start) b->p[b->n++] = ' ';
    gap = 0;
    b->p[b->n++] = c;
  }
}

static void add_headers(slp_buf *b, const slp_http_header *sorted, size_t n) {
  for (size_t i = 0; i < n; i++) {
    int again = i > 0 && name_cmp(sorted[i - 1].name, sorted[i].name) == 0;
    if (!again) {
      if (i > 0) slp_buf_add_char(b, '\n');
      add_lower(b, sorted[i].name);
    }
    slp_buf_add_char(b, again ? ',' : ':');
    add_value(b, sorted[i].value);
  }
  if (n > 0) slp_buf_add_char(b, '\n');
}

static void add_names(slp_buf *b, const slp_http_header *sorted, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && name_cmp(sorted[i - 1].name, sorted[i].name) == 0) continue;
    if (i > 0) slp_buf_add_char(b, ';');
    add_lower(b, sorted[i].name);
  }
}

static void add_hex(slp_buf *b, const uint8_t bytes[32]) {
  if (slp_buf_reserve(b, 64)) return;
  slp_hex(b->p + b->n, bytes, 32);
  b->n += 64;
}

static int add_hash(slp_signer *s, slp_buf *b, slp_str of) {
  uint8_t hash[32];
  int r = slp_sha256(s->digest, of, hash);
  if (r) return slp_buf_fail(b, r);
  add_hex(b, hash);
  return slp_buf_failed(b);
}

static void add_line(slp_buf *b, slp_str s) {
  slp_buf_add_str(b, s);
  slp_buf_add_char(b, '\n');
}

/* *ret_names: where the names of the signed headers stand in it. */
static int canonical_request(slp_signer *s, const slp_sign_request *rq, const slp_http_header *sorted,
                             size_t n, size_t token_n, slp_str *ret_names) {
  slp_buf *b = &s->canonical;
  slp_buf_clear(b);
  slp_buf_reserve(b, token_n + 4096); /* growing would leave a copy of the token behind */
  add_line(b, rq->method);
  add_line(b, rq->path);
  add_line(b, rq->query);
  add_headers(b, sorted, n);
  slp_buf_add_char(b, '\n');
  size_t from = b->n;
  add_names(b, sorted, n);
  size_t to = b->n;
  slp_buf_add_char(b, '\n');
  int r = add_hash(s, b, rq->body);
  if (!r) *ret_names = (slp_str){b->p + from, to - from};
  return r;
}

static void add_counted(slp_buf *b, slp_str s) {
  uint64_t n = s.n;
  slp_buf_add(b, &n, sizeof n);
  slp_buf_add_str(b, s);
}

static int derive_key(slp_signer *s, const slp_sign_request *rq, slp_str secret, slp_str day) {
  const slp_str step[] = {day, rq->region, rq->service, SLP_STR("aws4_request")};
  uint8_t key[32], next[32];
  slp_buf *b = &s->scratch;
  slp_buf_clear(b);
  slp_buf_add_str(b, SLP_STR("AWS4"));
  int r = slp_buf_add_str(b, secret);
  slp_str from = slp_buf_str(b);
  for (size_t i = 0; i < SLP_COUNT(step) && !r; i++) {
    r = slp_hmac_sha256(s->digest, from, step[i], next);
    memcpy(key, next, sizeof key);
    from = (slp_str){(const char *)key, sizeof key};
  }
  if (!r) r = slp_hmac_key(s->digest, from);
  slp_wipe(key, sizeof key);
  slp_wipe(next, sizeof next);
  if (b->p) slp_wipe(b->p, b->n);
  return r;
}

/* Makes the digest hold the key for this day, region, service and secret. */
static int use_key(slp_signer *s, const slp_sign_request *rq, slp_str secret, slp_str day) {
  slp_buf *want = &s->scratch;
  slp_buf_clear(want);
  add_counted(want, day);
  add_counted(want, rq->region);
  add_counted(want, rq->service);
  add_counted(want, secret);
  if (slp_buf_failed(want)) return slp_buf_failed(want);
  if (slp_str_eq(slp_buf_str(want), slp_buf_str(&s->key_of))) return 0;
  slp_wipe(s->key_of.p, s->key_of.cap);
  slp_buf_clear(&s->key_of);
  int r = slp_buf_add_str(&s->key_of, slp_buf_str(want));
  if (!r) r = derive_key(s, rq, secret, day);
  if (r) slp_buf_clear(&s->key_of);
  return r;
}

static void add_scope(slp_buf *b, slp_str day, const slp_sign_request *rq) {
  const slp_str part[] = {day, SLP_STR("/"), rq->region, SLP_STR("/"), rq->service, SLP_STR("/aws4_request")};
  for (size_t i = 0; i < SLP_COUNT(part); i++) slp_buf_add_str(b, part[i]);
}

static int string_to_sign(slp_signer *s, const slp_sign_request *rq, slp_str date, slp_str day) {
  slp_buf *b = &s->scratch;
  slp_wipe(b->p, b->cap); /* it held the secret */
  slp_buf_clear(b);
  add_line(b, SLP_STR("AWS4-HMAC-SHA256"));
  add_line(b, date);
  add_scope(b, day, rq);
  slp_buf_add_char(b, '\n');
  return add_hash(s, b, slp_buf_str(&s->canonical));
}

static int add_authorization(slp_buf *b, const slp_sign_request *rq, slp_str key_id, slp_str day,
                             slp_str names, const uint8_t mac[32]) {
  slp_buf_add_str(b, SLP_STR("AWS4-HMAC-SHA256 Credential="));
  slp_buf_add_str(b, key_id);
  slp_buf_add_char(b, '/');
  add_scope(b, day, rq);
  slp_buf_add_str(b, SLP_STR(", SignedHeaders="));
  slp_buf_add_str(b, names);
  slp_buf_add_str(b, SLP_STR(", Signature="));
  add_hex(b, mac);
  return slp_buf_failed(b);
}

int slp_sign(slp_signer *s, const slp_sign_request *rq, const slp_sign_keys *keys, int64_t now_ms,
             char date[17], slp_buf *authorization) {
  slp_http_header sorted[SLP_SIGN_HEADERS_MAX];
  uint8_t mac[32];
  slp_str names = SLP_STR("");
  size_t n = 0;
  int r = 0;
  slp_date_basic(now_ms, date); /* one reading for header and scope: midnight can't fall between them */
  slp_str day = {date, DATE_N};
  for (size_t i = 0; i < rq->headers_n && !r; i++) r = insert_header(sorted, &n, rq->headers[i]);
  if (!r) r = insert_header(sorted, &n, (slp_http_header){SLP_STR("host"), rq->host});
  if (!r) r = insert_header(sorted, &n, (slp_http_header){SLP_STR("x-amz-date"), slp_str_of(date)});
  if (!r && keys->token.n) {
    r = insert_header(sorted, &n, (slp_http_header){SLP_STR("x-amz-security-token"), keys->token});
  }
  if (!r) r = canonical_request(s, rq, sorted, n, keys->token.n, &names);
  if (!r) r = use_key(s, rq, keys->secret, day);
  if (!r) r = string_to_sign(s, rq, slp_str_of(date), day);
  if (!r) r = slp_hmac_keyed(s->digest, slp_buf_str(&s->scratch), mac);
  if (!r) r = add_authorization(authorization, rq, keys->key_id, day, names, mac);
  slp_wipe(s->canonical.p, s->canonical.n);
  return r;
}

/* sigv4.c - builds the canonical request, the string to sign, the signing key of the day, and the signature.
 * The rules are in the AWS General Reference, "Signature Version 4". test/contract/vectors compares the
 * signatures with botocore's. */
#include "aws/sigv4.h"

#include "base/buf.h"
#include "base/mem.h"
#include "codec/date.h"
#include "codec/digest.h"
#include "host/host.h"

#define CANONICAL_MAX (256u * 1024)
#define DATE_BASIC_N 16 /* length of a time in the form YYYYMMDDTHHMMSSZ */
#define DATE_N 8        /* length of a date in the form YYYYMMDD */

/* The form: the text that requests of the same kind have in common. Most requests differ from the previous
 * request only in time, token and body, so the text around these three is kept. */
typedef struct form {
  /* the inputs from which the form was built, each after its length; empty: no form is built */
  slp_buf of;
  slp_buf canonical; /* the canonical request without the date, the token, and the body's hash at its end */
  size_t date_at, token_at, names_at, names_n;
  /* both texts are complete, except for the signature at the end of `authorization` */
  slp_buf scope, authorization;
} form;

struct slp_signer {
  slp_mem *mem;
  slp_digest *digest; /* keeps the HMAC state of the day's signing key */
  /* the inputs of the day's signing key (date, region, service, secret), each after its length */
  slp_buf key_of;
  form form;
  slp_buf scratch; /* wiped after each use, because it may contain the token or the secret */
};

/* These headers are not signed, because proxies and servers may add, drop or change them. */
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

static void form_init(form *f, slp_mem *mem) {
  slp_buf *const bufs[] = {&f->of, &f->canonical, &f->scope, &f->authorization};
  for (size_t i = 0; i < SLP_COUNT(bufs); i++) slp_buf_init(bufs[i], mem, CANONICAL_MAX);
}

static void form_free(form *f) {
  slp_buf_free(&f->of);
  slp_buf_free(&f->canonical);
  slp_buf_free(&f->scope);
  slp_buf_free(&f->authorization);
}

slp_signer *slp_signer_new(slp_mem *mem) {
  slp_signer *s = SLP_NEW(mem, slp_signer);
  if (!s) return NULL;
  s->mem = mem;
  form_init(&s->form, mem);
  slp_buf_init(&s->key_of, mem, CANONICAL_MAX);
  slp_buf_init(&s->scratch, mem, CANONICAL_MAX);
  s->digest = slp_digest_new(mem);
  /* Reserves room at the start, because a buffer that grows would leave copies of secrets behind. */
  if (!s->digest || slp_buf_reserve(&s->key_of, 1024) || slp_buf_reserve(&s->scratch, 4096)) {
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
  form_free(&s->form);
  wipe_buf(&s->key_of);
  wipe_buf(&s->scratch);
  slp_digest_free(s->digest);
  slp_free(s->mem, s);
}

static char lower_name_char(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Compares the names of headers; upper and lower case are the same. */
static int name_cmp(slp_str a, slp_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  for (size_t i = 0; i < n; i++) {
    unsigned char ca = (unsigned char)lower_name_char(a.p[i]), cb = (unsigned char)lower_name_char(b.p[i]);
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

/* Inserts a header into the sorted list. Headers with the same name stay in the order in which they were
 * given. */
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
  for (size_t i = 0; i < name.n; i++) b->p[b->n++] = lower_name_char(name.p[i]);
}

/* Appends the value of a header, without white space at its ends, and with each run of white space inside
 * replaced by one space. */
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

/* Placeholders for the values of date and token, which the form does not contain. add_headers recognises them
 * and stores where the values belong. */
static const char date_place[] = "date", token_place[] = "token";

static void add_headers(form *f, const slp_http_header *sorted, size_t n) {
  slp_buf *b = &f->canonical;
  for (size_t i = 0; i < n; i++) {
    int again = i > 0 && name_cmp(sorted[i - 1].name, sorted[i].name) == 0;
    if (!again) {
      if (i > 0) slp_buf_add_char(b, '\n');
      add_lower(b, sorted[i].name);
    }
    slp_buf_add_char(b, again ? ',' : ':');
    if (sorted[i].value.p == date_place) f->date_at = b->n;
    if (sorted[i].value.p == token_place) f->token_at = b->n;
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

/* ---- comparing inputs with those of the last request --------------------------------------------------- */
static void add_counted(slp_buf *b, slp_str s) {
  uint64_t n = s.n;
  slp_buf_add(b, &n, sizeof n);
  slp_buf_add_str(b, s);
}

/* Returns 1 if the stored input at offset *at is s, and moves *at to the next stored input. */
static int is_next(const slp_buf *b, size_t *at, slp_str s) {
  uint64_t n;
  if (b->n - *at < sizeof n + s.n) return 0;
  memcpy(&n, b->p + *at, sizeof n);
  if (n != s.n || (n && memcmp(b->p + *at + sizeof n, s.p, s.n) != 0)) return 0;
  *at += sizeof n + s.n;
  return 1;
}

/* ---- the form of a request ----------------------------------------------------------------------------- */
#define FORM_PARTS 8
static void parts_of(const slp_sign_request *rq, const slp_sign_keys *keys, slp_str day,
                     slp_str part[FORM_PARTS]) {
  part[0] = rq->method;
  part[1] = rq->host;
  part[2] = rq->path;
  part[3] = rq->query;
  part[4] = rq->region;
  part[5] = rq->service;
  part[6] = keys->key_id;
  part[7] = day;
}

static int form_is_of(const form *f, const slp_sign_request *rq, const slp_sign_keys *keys, slp_str day) {
  slp_str part[FORM_PARTS];
  size_t at = 0;
  parts_of(rq, keys, day, part);
  if (!f->of.n || (keys->token.n > 0) != (f->token_at > 0)) return 0;
  for (size_t i = 0; i < FORM_PARTS; i++)
    if (!is_next(&f->of, &at, part[i])) return 0;
  for (size_t i = 0; i < rq->headers_n; i++)
    if (!is_next(&f->of, &at, rq->headers[i].name) || !is_next(&f->of, &at, rq->headers[i].value)) return 0;
  return at == f->of.n;
}

static int note_parts(form *f, const slp_sign_request *rq, const slp_sign_keys *keys, slp_str day) {
  slp_str part[FORM_PARTS];
  parts_of(rq, keys, day, part);
  for (size_t i = 0; i < FORM_PARTS; i++) add_counted(&f->of, part[i]);
  for (size_t i = 0; i < rq->headers_n; i++) {
    add_counted(&f->of, rq->headers[i].name);
    add_counted(&f->of, rq->headers[i].value);
  }
  return slp_buf_failed(&f->of);
}

static int sort_headers(const slp_sign_request *rq, const slp_sign_keys *keys, slp_http_header *sorted,
                        size_t *n) {
  int r = 0;
  for (size_t i = 0; i < rq->headers_n && !r; i++) r = insert_header(sorted, n, rq->headers[i]);
  if (!r) r = insert_header(sorted, n, (slp_http_header){SLP_STR("host"), rq->host});
  if (!r) r = insert_header(sorted, n, (slp_http_header){SLP_STR("x-amz-date"), {date_place, 0}});
  if (!r && keys->token.n)
    r = insert_header(sorted, n, (slp_http_header){SLP_STR("x-amz-security-token"), {token_place, 0}});
  return r;
}

static int put_canonical(form *f, const slp_sign_request *rq, const slp_http_header *sorted, size_t n) {
  slp_buf *b = &f->canonical;
  add_line(b, rq->method);
  add_line(b, rq->path);
  add_line(b, rq->query);
  add_headers(f, sorted, n);
  slp_buf_add_char(b, '\n');
  f->names_at = b->n;
  add_names(b, sorted, n);
  f->names_n = b->n - f->names_at;
  slp_buf_add_char(b, '\n');
  return slp_buf_failed(b);
}

static int put_scope(form *f, const slp_sign_request *rq, slp_str day) {
  const slp_str part[] = {day, SLP_STR("/"), rq->region, SLP_STR("/"), rq->service, SLP_STR("/aws4_request")};
  for (size_t i = 0; i < SLP_COUNT(part); i++) slp_buf_add_str(&f->scope, part[i]);
  return slp_buf_failed(&f->scope);
}

static int put_authorization(form *f, slp_str key_id) {
  slp_buf *b = &f->authorization;
  slp_buf_add_str(b, SLP_STR("AWS4-HMAC-SHA256 Credential="));
  slp_buf_add_str(b, key_id);
  slp_buf_add_char(b, '/');
  slp_buf_add_str(b, slp_buf_str(&f->scope));
  slp_buf_add_str(b, SLP_STR(", SignedHeaders="));
  slp_buf_add(b, f->canonical.p + f->names_at, f->names_n);
  return slp_buf_add_str(b, SLP_STR(", Signature="));
}

/* Builds in f the texts that requests of this kind have in common, unless f has them already. Returns 0, or
 * an error with f->of empty. */
static int use_form(form *f, const slp_sign_request *rq, const slp_sign_keys *keys, slp_str day) {
  slp_http_header sorted[SLP_SIGN_HEADERS_MAX];
  size_t n = 0;
  if (form_is_of(f, rq, keys, day)) return 0;
  slp_buf_clear(&f->of);
  slp_buf_clear(&f->canonical);
  slp_buf_clear(&f->scope);
  slp_buf_clear(&f->authorization);
  f->date_at = f->token_at = 0;
  int r = sort_headers(rq, keys, sorted, &n);
  if (!r) r = put_canonical(f, rq, sorted, n);
  if (!r) r = put_scope(f, rq, day);
  if (!r) r = put_authorization(f, keys->key_id);
  if (!r) r = note_parts(f, rq, keys, day);
  if (r) slp_buf_clear(&f->of);
  return r;
}

/* ---- the key of the day -------------------------------------------------------------------------------- */
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

/* Gives s->digest the signing key for this day, region, service and secret, unless it has that key already.
 * Returns 0 or an error. */
static int use_key(slp_signer *s, const slp_sign_request *rq, slp_str secret, slp_str day) {
  const slp_str part[] = {day, rq->region, rq->service, secret};
  slp_buf *of = &s->key_of;
  size_t at = 0, same = 0;
  while (of->n && same < SLP_COUNT(part) && is_next(of, &at, part[same])) same++;
  if (same == SLP_COUNT(part)) return 0;
  slp_wipe(of->p, of->cap);
  slp_buf_clear(of);
  for (size_t i = 0; i < SLP_COUNT(part); i++) add_counted(of, part[i]);
  int r = slp_buf_failed(of);
  if (!r) r = derive_key(s, rq, secret, day);
  if (r) slp_buf_clear(of);
  return r;
}

/* ---- a signature --------------------------------------------------------------------------------------- */
/* Builds the canonical request in s->scratch. string_to_sign replaces it there by the string to sign. */
static int canonical_request(slp_signer *s, slp_str body, slp_str date, slp_str token) {
  const form *f = &s->form;
  const char *p = f->canonical.p;
  slp_buf *b = &s->scratch;
  size_t at = f->date_at;
  slp_buf_clear(b);
  /* Reserves room, because a buffer that grows would leave a copy of the token behind. */
  slp_buf_reserve(b, f->canonical.n + token.n + 128);
  slp_buf_add(b, p, at);
  slp_buf_add_str(b, date);
  if (token.n) {
    slp_buf_add(b, p + at, f->token_at - at);
    at = f->token_at;
    add_value(b, token);
  }
  slp_buf_add(b, p + at, f->canonical.n - at);
  return add_hash(s, b, body);
}

static int string_to_sign(slp_signer *s, slp_str date) {
  uint8_t hash[32];
  slp_buf *b = &s->scratch;
  int r = slp_sha256(s->digest, slp_buf_str(b), hash);
  slp_wipe(b->p, b->n);
  slp_buf_clear(b);
  if (r) return r;
  add_line(b, SLP_STR("AWS4-HMAC-SHA256"));
  add_line(b, date);
  add_line(b, slp_buf_str(&s->form.scope));
  add_hex(b, hash);
  return slp_buf_failed(b);
}

int slp_sign(slp_signer *s, const slp_sign_request *rq, const slp_sign_keys *keys, int64_t now_ms,
             char date[17], slp_buf *authorization) {
  uint8_t mac[32];
  /* The same time is used for the header and for the scope, so that both have the same date at midnight. */
  slp_date_basic(now_ms, date);
  slp_str whole = {date, DATE_BASIC_N}, day = {date, DATE_N};
  int r = use_form(&s->form, rq, keys, day);
  if (!r) r = use_key(s, rq, keys->secret, day);
  if (!r) r = canonical_request(s, rq->body, whole, keys->token);
  if (!r) r = string_to_sign(s, whole);
  if (!r) r = slp_hmac_keyed(s->digest, slp_buf_str(&s->scratch), mac);
  if (s->scratch.p) slp_wipe(s->scratch.p, s->scratch.n);
  if (r) return r;
  slp_buf_add_str(authorization, slp_buf_str(&s->form.authorization));
  add_hex(authorization, mac);
  return slp_buf_failed(authorization);
}

/* fuzz_auth.c - signatures, by the client's signer and the sandbox's checker, which were written apart. Texts
 * apart by bytes 0x1e: host, target, type, token, body, and what is done to the header: a place and a byte.
 * A signed request is taken; with a byte of the signature, of the request or of the keys' name changed it is
 * not; and any bytes at all in the header's place are refused in the service's words. */
#include "aws/sigv4.h"
#include "sandbox/model.h"

#include "fuzz.h"

#define NOW_MS INT64_C(1767323045000) /* 2026-01-02T03:04:05Z */
#define KEY_ID "AKIDEXAMPLE"
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

enum { HOST, TARGET, TYPE, TOKEN, BODY, CHANGE, PARTS };

typedef struct world {
  slp_mem *mem;
  slp_box *box;
  slp_box_auth *auth;
} world;

static int passes(world *w, const slp_box_request *rq) {
  slp_box_call c = {.box = w->box, .service = SLP_BOX_KINESIS, .now_ms = NOW_MS};
  int r = slp_box_auth_check(w->auth, &c, rq);
  REQUIRE((r == 0) == (c.error == NULL));
  if (r)
    REQUIRE(strcmp(c.error, "InvalidSignatureException") == 0 ||
            strcmp(c.error, "IncompleteSignatureException") == 0 ||
            strcmp(c.error, "UnrecognizedClientException") == 0 ||
            strcmp(c.error, "MissingAuthenticationTokenException") == 0);
  return r == 0;
}

/* Whatever may stand in a header as it is; blanks are the signer's and the checker's own affair and stay. */
static slp_str header_text(slp_str s, char *room, size_t size, const char *otherwise) {
  size_t n = 0;
  for (size_t i = 0; i < s.n && n < size; i++) {
    char c = (char)(0x20 + (unsigned char)s.p[i] % 95);
    if (c == ' ' && (n == 0 || room[n - 1] == ' ')) continue;
    room[n++] = c;
  }
  while (n && room[n - 1] == ' ') n--;
  if (n) return (slp_str){room, n};
  return slp_str_of(otherwise);
}

static void any_header(world *w, slp_box_request rq, slp_str text) {
  char region[32];
  slp_str good = rq.authorization;
  rq.authorization = text;
  if (!slp_str_eq(text, good)) REQUIRE(!passes(w, &rq));
  slp_box_region_of(text, region);
  REQUIRE(memchr(region, 0, sizeof region) && region[0]);
}

/* Changes one character of the header. */
static void header_changed(world *w, slp_box_request rq, slp_str change) {
  if (change.n < 2) return;
  char *copy = fuzz_copy((const uint8_t *)rq.authorization.p, rq.authorization.n);
  size_t at = (unsigned char)change.p[0] % rq.authorization.n;
  char was = copy[at];
  copy[at] = change.p[1];
  rq.authorization.p = copy;
  /* Blanks between the parts are no part of it, nor is an element of the list that is empty (RFC 9110, 5.6.1). */
  if (copy[at] != was && !(strchr(" \t", was) && strchr(" \t,", copy[at]))) REQUIRE(!passes(w, &rq));
  free(copy);
}

static void request_changed(world *w, slp_box_request rq, slp_str change) {
  slp_str *const part[] = {&rq.host, &rq.target, &rq.content_type, &rq.body, &rq.method, &rq.amz_date};
  if (change.n < 2) return;
  slp_str *s = part[(unsigned char)change.p[0] % SLP_COUNT(part)];
  if (!s->n) return;
  char *copy = fuzz_copy((const uint8_t *)s->p, s->n);
  copy[(unsigned char)change.p[1] % s->n] ^= 1; /* never a blank out of something else, but for '!' */
  int blank = memchr(copy, ' ', s->n) != NULL || memchr(copy, '!', s->n) != NULL;
  s->p = copy;
  if (!blank) REQUIRE(!passes(w, &rq));
  free(copy);
}

static void split(const uint8_t *data, size_t size, slp_str part[PARTS]) {
  const char *p = (const char *)data;
  for (int i = 0; i < PARTS; i++) {
    const char *end = size ? memchr(p, 0x1e, size) : NULL;
    size_t n = end && i < PARTS - 1 ? (size_t)(end - p) : size;
    part[i] = (slp_str){size ? p : "", n};
    size_t skip = n + (end && i < PARTS - 1);
    p += skip;
    size -= skip;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char host[128], target[128], type[128], token[256], date[17];
  slp_str part[PARTS];
  world w = {.mem = slp_mem_new(NULL, NULL)};
  split(data, size, part);
  part[HOST] = header_text(part[HOST], host, sizeof host, "localhost");
  part[TARGET] = header_text(part[TARGET], target, sizeof target, "Kinesis_20131202.ListStreams");
  part[TYPE] = header_text(part[TYPE], type, sizeof type, "application/x-amz-json-1.1");
  part[TOKEN] = header_text(part[TOKEN], token, sizeof token, "");
  sloop_sandbox_opts_t o;
  sloop_sandbox_opts_init(&o);
  o.access_key = KEY_ID;
  o.secret_key = SECRET;
  w.box = slp_box_new(w.mem, &o, 7);
  w.auth = slp_box_auth_new(w.mem, &o);
  slp_signer *signer = slp_signer_new(w.mem);
  REQUIRE(w.box && w.auth && signer);
  slp_buf authorization;
  slp_buf_init(&authorization, w.mem, 4096);
  const slp_http_header headers[] = {{SLP_STR("X-Amz-Target"), part[TARGET]},
                                     {SLP_STR("Content-Type"), part[TYPE]}};
  slp_sign_request rq = {.method = SLP_STR("POST"),
                         .host = part[HOST],
                         .path = SLP_STR("/"),
                         .query = SLP_STR(""),
                         .headers = headers,
                         .headers_n = SLP_COUNT(headers),
                         .body = part[BODY],
                         .region = SLP_STR("us-east-1"),
                         .service = SLP_STR("kinesis")};
  slp_sign_keys keys = {SLP_STR(KEY_ID), SLP_STR(SECRET), part[TOKEN]};
  REQUIRE(slp_sign(signer, &rq, &keys, NOW_MS, date, &authorization) == 0);
  slp_box_request asked = {.method = rq.method,
                           .path = rq.path,
                           .host = rq.host,
                           .target = part[TARGET],
                           .content_type = part[TYPE],
                           .authorization = slp_buf_str(&authorization),
                           .amz_date = slp_str_of(date),
                           .security_token = part[TOKEN].n ? part[TOKEN] : (slp_str){NULL, 0},
                           .body = part[BODY]};
  REQUIRE(passes(&w, &asked));
  header_changed(&w, asked, part[CHANGE]);
  request_changed(&w, asked, part[CHANGE]);
  any_header(&w, asked, part[CHANGE]);
  slp_buf_free(&authorization);
  slp_signer_free(signer);
  slp_box_auth_free(w.auth);
  slp_box_free(w.box);
  REQUIRE(w.mem->live_blocks == 0);
  slp_mem_drop(w.mem);
  return 0;
}

/* fuzz_answer.c - everything that gives keys, over a host that answers what the input says: STS, the metadata
 * service, a container's, a program, the sign-in cache and its portal, the files of ~/.aws. The first byte
 * chooses which, the second the status; then come texts apart by bytes 0x1e, one a file or an answer, the
 * last of which is repeated.
 *
 * There are keys at the end, or one printable line that says why not, or it is being tried again; nothing is
 * left behind; and a secret that came is in no block of memory that was given back. */
#define FAKE_ANSWERS_MAX 24
#include "aws_sources.h"

#include "fuzz.h"

#define PARTS 6
#define CACHE "/h/.aws/sso/cache/b3902c2d49b36c95af74dedb0f77c5828749e230.json" /* sha1 of "my sso" */
#define SSO_PROFILE                                                                             \
  "[default]\nsso_session = my sso\nsso_account_id = 123456789012\nsso_role_name = Read Only\n" \
  "[sso-session \"my sso\"]\nsso_region = us-west-2\nsso_start_url = https://x.awsapps.com/start\n"
#define PROCESS "[default]\ncredential_process = keys --now\n"
#define COMMON \
  {"HOME", "/h"}, { "AWS_REGION", "eu-west-1" }
#define NO_MACHINE \
  { "AWS_EC2_METADATA_DISABLED", "true" }

enum { STS_WEB, IMDS, CONTAINER, PROGRAM, SSO, FILES, WAYS };

static const fake_pair envs[WAYS][6] = {
    [STS_WEB] =
        {COMMON, NO_MACHINE, {"AWS_ROLE_ARN", "r"}, {"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"}, {NULL, NULL}},
    [IMDS] = {COMMON, {NULL, NULL}},
    [CONTAINER] = {COMMON,
                   NO_MACHINE,
                   {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost:1/x"},
                   {NULL, NULL}},
    [PROGRAM] = {COMMON, NO_MACHINE, {NULL, NULL}},
    [SSO] = {COMMON, NO_MACHINE, {NULL, NULL}},
    [FILES] = {COMMON, NO_MACHINE, {NULL, NULL}},
};

static size_t leaked; /* blocks given back with the secret in them */
static const char *secret_mark;

static void *watching(void *ctx, void *p, size_t was, size_t want) {
  void *moved = want ? calloc(1, want) : NULL; /* every block moves when it grows */
  (void)ctx;
  if (moved && p) memcpy(moved, p, was < want ? was : want);
  if (p && secret_mark && memmem(p, was, secret_mark, strlen(secret_mark))) leaked++;
  free(p);
  return moved;
}

static size_t times_in(const uint8_t *p, size_t n, const char *what) {
  size_t times = 0, what_n = strlen(what);
  for (size_t i = 0; i + what_n <= n; i++) times += memcmp(p + i, what, what_n) == 0;
  return times;
}

static void split(const uint8_t *data, size_t size, char *part[PARTS], size_t n[PARTS]) {
  for (int i = 0; i < PARTS; i++) {
    const uint8_t *end = size && i < PARTS - 1 ? memchr(data, 0x1e, size) : NULL;
    n[i] = end ? (size_t)(end - data) : size;
    part[i] = malloc(n[i] + 1);
    REQUIRE(part[i] != NULL);
    memcpy(part[i], data, n[i]);
    part[i][n[i]] = 0;
    size_t skip = n[i] + (end != NULL);
    data += skip;
    size -= skip;
  }
}

static void script(char *const part[PARTS], const size_t n[PARTS], int first, int status, int way) {
  int last = PARTS - 1;
  while (last > first && n[last] == 0) last--;
  for (int i = 0; i < FAKE_ANSWERS_MAX; i++) {
    int at = first + i < last ? first + i : last;
    fake_answer *a = fake_script(&f, status, "");
    a->body = (slp_str){part[at], n[at]};
    if (way == STS_WEB || way == FILES) a->content_type = "text/xml";
  }
}

static void check(slp_creds_state state, const slp_sign_keys *keys, const slp_fail *fail) {
  if (state == SLP_CREDS_READY) REQUIRE(keys->key_id.n > 0 && keys->secret.n > 0);
  if (state != SLP_CREDS_FAILED) return;
  REQUIRE(fail->class != SLP_FINE && fail->message[0]);
  for (const char *c = fail->message; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7f);
}

/* 1: the secret that is in force holds the mark. */
static int ask(void) {
  slp_creds_state state = SLP_CREDS_WAIT;
  slp_sign_keys keys = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  slp_fail fail = {.class = SLP_FINE};
  uint64_t serial;
  for (int i = 0; i < 40 && state == SLP_CREDS_WAIT && f.sent_n < FAKE_ANSWERS_MAX / 2; i++) {
    state = slp_creds_get(aws->creds, slp_aws_now_ms(aws), &keys, &serial, &fail);
    if (state == SLP_CREDS_WAIT) fake_run(&f, 3000000);
  }
  check(state, &keys, &fail);
  return state == SLP_CREDS_READY && memmem(keys.secret.p, keys.secret.n, "SESAME", 6) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int statuses[] = {200, 200, 200, 200, 400, 401, 403, 404, 500, 503, 301, 200};
  if (size < 2 || size > 1500) return 0; /* the host remembers requests, which hold what answers said */
  int way = data[0] % WAYS, status = statuses[data[1] % SLP_COUNT(statuses)];
  char *part[PARTS], why[160];
  size_t n[PARTS];
  split(data + 2, size - 2, part, n);
  const fake_pair files[] = {{"/token", "web.token"},
                             {"/h/.aws/config", way == PROGRAM ? PROCESS
                                                : way == SSO   ? SSO_PROFILE
                                                : way == FILES ? part[0]
                                                               : NULL},
                             {way == FILES ? "/h/.aws/credentials" : CACHE, way == FILES ? part[1]
                                                                            : way == SSO ? part[0]
                                                                                         : NULL},
                             {NULL, NULL}};
  const fake_pair none[] = {{"/token", "web.token"}, {NULL, NULL}};
  fake_program program = {.out = part[0], .said = part[1], .status = data[1] % 7 == 6};
  secret_mark = times_in(data + 2, size - 2, "SESAME") == 1 ? "SESAME" : NULL;
  leaked = 0;
  mem = slp_mem_new(watching, NULL);
  fake_init(&f, mem);
  f.env = envs[way];
  f.files = way == PROGRAM || way == SSO || way == FILES ? files : none;
  f.program = &program;
  script(part, n, way == SSO ? 1 : way == FILES ? 2 : 0, status, way);
  slp_aws_options o = {.getenv_fn = fake_getenv, .getenv_ctx = &f};
  REQUIRE(slp_aws_new(&aws, &f.h, &o, why) == 0);
  int marked = ask();
  slp_aws_drop(aws);
  fake_end(&f, mem);
  REQUIRE(!marked || !leaked);
  for (int i = 0; i < PARTS; i++) free(part[i]);
  return 0;
}

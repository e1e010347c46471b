/* provider_container.c - keys of a container: ECS tasks, EKS pod identities, and other systems with the same
 * protocol. Never uses a proxy. */
#include "aws/aws.h"
#include "aws/endpoint.h"
#include "aws/fetch.h"
#include "aws/provider.h"
#include "base/buf.h"
#include "base/mem.h"
#include "codec/uri.h"
#include "host/err.h"
#include "host/host.h"

#include <stdio.h>

#define TIMEOUT_MS 2000
#define TRIES 3
#define TOKEN_MAX 8192u

typedef struct container {
  slp_provider p;
  slp_host *h;
  slp_getenv_fn getenv_fn;
  void *getenv_ctx;
  slp_fetch fetch;
  slp_file file;
  slp_buf path; /* the path of the file that has the token */
  slp_buf token;
  char url[1024];
  uint8_t reading;
} container;

static const char *env(const container *c, const char *name) {
  const char *value = c->getenv_fn(c->getenv_ctx, name);
  return value && value[0] ? value : NULL;
}

static void clear_container_attempt(container *c) {
  if (c->reading) slp_file_cancel(c->h, &c->file);
  c->reading = 0;
  slp_fetch_cancel(&c->fetch);
  slp_secret_free(&c->token);
}

/* ---- where to ask -------------------------------------------------------------------------------------- */

/* Returns 1 if plain HTTP is allowed to the host: this machine, and the addresses that ECS and EKS use. */
static int plain_allowed(slp_str host) {
  return slp_host_is_loopback(host) || slp_str_is(host, "169.254.170.2") ||
         slp_str_is(host, "169.254.170.23") || slp_str_is(host, "fd00:ec2::23");
}

static int is_visible(const char *z) {
  for (; *z; z++) {
    if (*z <= 0x20 || *z >= 0x7f || *z == '#') return 0;
  }
  return 1;
}

static const char *variable_of(const container *c) {
  return env(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") ? "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
                                                          : "AWS_CONTAINER_CREDENTIALS_FULL_URI";
}

/* Finds the URL of the keys. Returns NULL with the URL in c->url, or a text that says what is wrong. */
static const char *find_url(container *c, const char **ret_variable) {
  const char *relative = env(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const char *full = env(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const char *what = "";
  slp_uri uri;
  *ret_variable = variable_of(c);
  if (strlen(relative ? relative : full) > sizeof c->url - 40) return "it is too long";
  if (!is_visible(relative ? relative : full)) return "it holds characters that no URL has";
  if (relative && relative[0] != '/') return "it must begin with a slash";
  snprintf(c->url, sizeof c->url, "%s%s", relative ? "http://169.254.170.2" : "", relative ? relative : full);
  /* The URL may have a query, which slp_uri_parse does not accept, so only the part before it is checked. */
  if (slp_uri_parse((slp_str){c->url, strcspn(c->url, "?")}, &uri, &what)) return what;
  if (!uri.tls && !plain_allowed(uri.host)) return "plain http is only taken from this machine, ECS and EKS";
  return NULL;
}

/* ---- asking
 * ---------------------------------------------------------------------------------------------- */
static void on_fetched(slp_fetch *f) {
  container *c = SLP_OWNER(f, container, fetch);
  static const slp_keys_json form = {.token_name = "Token", .must_expire = 1};
  char who[200], room[SLP_FETCH_TROUBLE];
  snprintf(who, sizeof who, "the container's answer (%.120s)", c->url);
  if (f->http.error == SLP_ENOMEM)
    slp_keys_starved(&c->p);
  else if (f->http.error || f->http.status != 200)
    slp_keys_failed(&c->p, slp_fetch_passes(f), f->http.status,
                    "no credentials of the container from %.100s (%s): %.180s", c->url, variable_of(c),
                    slp_fetch_trouble(f, room));
  else
    slp_keys_from_json(&c->p, &f->answer, &form, who);
  slp_fetch_clear(f);
  slp_secret_free(&c->token);
}

static void ask_container_for_keys(container *c) {
  slp_fetch *f = &c->fetch;
  slp_str token = slp_buf_str(&c->token);
  for (size_t i = 0; i < token.n; i++) {
    if ((unsigned char)token.p[i] < 0x20 || token.p[i] == 0x7f) {
      slp_secret_free(&c->token);
      slp_keys_broken(&c->p,
                      "the container's authorization token holds a line break or another control character");
      return;
    }
  }
  f->method = "GET";
  f->url = c->url;
  f->no_proxy = 1;
  f->total_ms_max = TIMEOUT_MS;
  f->tries_max = TRIES;
  f->headers_n = 0;
  f->headers[f->headers_n++] = (slp_http_header){SLP_STR("Accept"), SLP_STR("application/json")};
  if (token.n) f->headers[f->headers_n++] = (slp_http_header){SLP_STR("Authorization"), token};
  f->on_done = on_fetched;
  slp_fetch_send(f);
}

static void on_file(slp_file *file) {
  container *c = SLP_OWNER(file, container, file);
  c->reading = 0;
  if (file->error == SLP_ENOMEM) {
    slp_keys_starved(&c->p);
    return;
  }
  if (file->error) {
    slp_secret_free(&c->token);
    slp_keys_broken(&c->p, "can't read %.120s of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE (%s)",
                    slp_buf_z(&c->path),
                    file->error == SLP_E2BIG ? "too large for a token" : slp_file_why(file->error));
    return;
  }
  ask_container_for_keys(c);
}

/* Reads the file with the token in each attempt, because the token rotates. */
static void begin_container_attempt(slp_provider *p, int fresh) {
  container *c = SLP_OWNER(p, container, p);
  const char *file = env(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"), *variable;
  const char *token = env(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
  (void)fresh;
  clear_container_attempt(c);
  if (!env(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") && !env(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
    slp_keys_nothing(p);
    return;
  }
  const char *what = find_url(c, &variable);
  if (what) {
    slp_keys_broken(p, "%s: %s", variable, what);
    return;
  }
  slp_buf_clear(&c->path);
  slp_secret_room(&c->token);
  if (!file && token) slp_buf_add_z(&c->token, token);
  int r = slp_buf_failed(&c->token);
  if (!r && file) r = slp_buf_add_z(&c->path, file);
  if (r == SLP_ENOMEM) {
    slp_keys_starved(p);
  } else if (r) {
    slp_keys_broken(p, "AWS_CONTAINER_AUTHORIZATION_TOKEN or the path of its file is too long");
  } else if (!file) {
    ask_container_for_keys(c);
  } else {
    c->file = (slp_file){
        .path = slp_buf_z(&c->path), .bytes_max = TOKEN_MAX, .into = &c->token, .on_done = on_file};
    c->reading = 1;
    slp_file_read(c->h, &c->file);
  }
}

static void cancel_container_attempt(slp_provider *p) { clear_container_attempt(SLP_OWNER(p, container, p)); }

static void container_free(slp_provider *p) {
  container *c = SLP_OWNER(p, container, p);
  clear_container_attempt(c);
  slp_buf_free(&c->path);
  slp_free(c->h->mem, c);
}

slp_provider *slp_provider_container(slp_host *h, slp_getenv_fn getenv_fn, void *getenv_ctx) {
  container *c = SLP_NEW(h->mem, container);
  if (!c) return NULL;
  *c = (container){.p = {.what = "the container",
                         .begin = begin_container_attempt,
                         .cancel = cancel_container_attempt,
                         .free = container_free},
                   .h = h,
                   .getenv_fn = getenv_fn,
                   .getenv_ctx = getenv_ctx};
  slp_fetch_init(&c->fetch, h);
  c->p.secrets = &c->fetch.secrets;
  slp_buf_init(&c->path, h->mem, 4096);
  slp_buf_init(&c->token, h->mem, TOKEN_MAX);
  return &c->p;
}

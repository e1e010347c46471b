/* provider_login.c - keys for a user who signed in with `aws login`. The keys are in a cache file of the AWS
 * tools. They are renewed when they have less than RENEW_MS left.
 *
 * A refresh token can be used only once, and all programs that use the cache must find the next refresh token
 * in it. So a renewal takes these steps:
 *   1. Lock the cache against other processes of this program. If one of them is renewing it, wait.
 *   2. Read the cache again. If another process has renewed it meanwhile, use its keys and stop.
 *   3. Request new keys, and write the cache before the keys are given to the asker.
 * If the cache can't be locked, no keys are requested, because the cache could not be written either. */
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/fetch.h"
#include "aws/limits.h"
#include "aws/login_cache.h"
#include "aws/login_file.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "codec/fields.h"
#include "codec/json_write.h"
#include "host/err.h"
#include "host/host.h"

#include <stdio.h>

#define TRIES 3
/* The largest size of the cache file. It is the same for reading, for writing and for `kept`, so that the
 * next renewal can read the file that this renewal writes. */
#define FILE_MAX 131071u
#define REQUEST_MAX 65536u
/* botocore renews a session when its keys have less than this time left (credentials.py, 1.44.8). */
#define RENEW_MS (5 * 60 * 1000)
/* How long to wait for another process of this program that has locked the cache: BUSY_TRIES waits of
 * BUSY_US. */
#define BUSY_US 250000u
#define BUSY_TRIES 120
#define MS_MAX 120000u

typedef struct login {
  slp_provider p;
  slp_aws *aws;
  const slp_profile *const *from;
  char where[200];
  char profile_name[128];
  slp_file file;
  slp_buf path, text, room; /* path and content of the cache; `cached` points into `room` */
  slp_login cached;
  slp_buf kept;            /* new content of the cache that could not be written; empty: there is none */
  int64_t kept_expires_ms; /* expiry in the cache that `kept` should have replaced */
  slp_login_file *lock;    /* owned; NULL: the cache was not locked, or locking it failed */
  slp_timer busy;
  uint32_t busy_tries;
  slp_fetch fetch;
  slp_buf url, request, proof, answer_room, renewed_text;
  slp_login renewed; /* the keys of a renewal; points into answer_room */
  uint8_t reading, locked;
  uint8_t spent; /* 1: the renewal was refused, perhaps because another process had used the refresh token */
  char trouble[SLP_FETCH_TROUBLE];
} login;

static int64_t now_ms(const login *s) { return slp_aws_now_ms(s->aws); }

static void clear_login_attempt(login *s) {
  slp_host *h = s->aws->h;
  if (s->reading) slp_file_cancel(h, &s->file);
  s->reading = s->locked = s->spent = 0;
  slp_timer_clear(h, &s->busy);
  slp_login_file_leave(s->lock);
  s->lock = NULL;
  slp_fetch_cancel(&s->fetch);
  slp_secret_free(&s->text);
  slp_secret_free(&s->room);
  slp_secret_free(&s->request);
  slp_secret_free(&s->proof);
  slp_secret_free(&s->answer_room);
  slp_secret_free(&s->renewed_text);
}

static void answer_login_starved(login *s) {
  slp_keys_starved(&s->p);
  clear_login_attempt(s);
}

static void sign_in_again(login *s, const char *what) {
  slp_keys_broken(&s->p, "%.120s: %.100s: run aws login --profile %.50s", s->where, what, s->profile_name);
  clear_login_attempt(s);
}

static void give_login_keys(login *s, const slp_login *from) {
  slp_aws_keys keys = {.key_id = from->key_id,
                       .secret = from->secret,
                       .token = from->token,
                       .expires_at_ms = from->expires_ms,
                       .account = from->account};
  slp_keys_found(&s->p, &keys);
  clear_login_attempt(s);
}

static int still_lives(const login *s) { return s->cached.expires_ms > slp_aws_early_ms(s->aws); }

/* Answers with the cached keys if they are still valid. Otherwise answers that the user must sign in. */
static void without_renewal(login *s, const char *why) {
  if (still_lives(s))
    give_login_keys(s, &s->cached);
  else
    sign_in_again(s, why);
}

/* ---- renewing ------------------------------------------------------------------------------------------ */
static void read_cache(login *s);

static void on_saved(void *arg, int error) {
  login *s = arg;
  if (error) {
    /* The cache could not be written, but the new keys are good. `kept` stores what the cache should contain,
     * with the refresh token for the next renewal. */
    slp_secret_free(&s->kept);
    slp_buf_move(&s->kept, &s->renewed_text);
    s->kept_expires_ms = s->cached.expires_ms;
  } else {
    slp_secret_free(&s->kept);
  }
  give_login_keys(s, &s->renewed);
}

static void on_body(login *s) {
  slp_fetch *f = &s->fetch;
  const char *why = "";
  int r = slp_login_answer_read(slp_buf_str(&f->answer), &s->answer_room, now_ms(s), &s->renewed, &why);
  s->renewed.account = s->cached.account;
  if (r == SLP_EBADDATA || r == SLP_ENOENT) {
    char text[120];
    snprintf(text, sizeof text, "the answer to its renewal %s%.60s",
             r == SLP_ENOENT ? "lacks " : "makes no sense: ", why);
    without_renewal(s, text);
    return;
  }
  if (!r) r = slp_login_cache_write(&s->renewed_text, slp_buf_str(&s->text), &s->renewed);
  if (r) slp_secret_clear(&s->renewed_text); /* a text that is only partly written must not become `kept` */
  if (!r) r = slp_login_file_save(s->lock, slp_buf_str(&s->renewed_text), on_saved, s);
  /* the new content is too large, or there is no memory; the keys are good all the same */
  if (r) on_saved(s, r);
}

/* Returns the meaning of the service's error as a text for people, or NULL if it is not known. */
static const char *refusal(login *s) {
  slp_field error = {.name = "error"};
  const char *why = "";
  slp_buf copy;
  static const struct {
    const char *name, *text;
  } known[] = {
      {"TOKEN_EXPIRED", "the session has expired"},
      {"USER_CREDENTIALS_CHANGED", "the session ended when the user's password was changed"},
      {"INSUFFICIENT_PERMISSIONS", "the user has no right to renew the session (signin:CreateOAuth2Token)"}};
  const char *found = NULL;
  slp_buf_init(&copy, s->aws->h->mem, SLP_FETCH_BODY_MAX);
  if (!slp_buf_add_str(&copy, slp_buf_str(&s->fetch.answer)) &&
      !slp_fields_read(copy.p, copy.n, NULL, &error, 1, &why)) {
    for (size_t i = 0; i < SLP_COUNT(known); i++)
      if (slp_str_is(error.text, known[i].name)) found = known[i].text;
  }
  slp_secret_free(&copy);
  return found;
}

static void on_answer(slp_fetch *f) {
  login *s = SLP_OWNER(f, login, fetch);
  char room[SLP_FETCH_TROUBLE];
  if (f->http.error == SLP_ENOMEM) {
    answer_login_starved(s);
    return;
  }
  if (!f->http.error && f->http.status == 200) {
    on_body(s);
    return;
  }
  const char *known = f->http.error ? NULL : refusal(s);
  const char *trouble = slp_fetch_trouble(f, room); /* reading the reason changes the answer in place */
  if (slp_fetch_passes(f) && !still_lives(s)) {
    slp_keys_failed(&s->p, 1, f->http.status,
                    "%.130s: the session has expired and can't be renewed just now: %.120s", s->where,
                    trouble);
    clear_login_attempt(s);
    return;
  }
  snprintf(s->trouble, sizeof s->trouble, known ? "%s" : "it could not be renewed: %.70s",
           known ? known : trouble);
  slp_fetch_clear(f);
  /* wiped only now, because the texts above had to be searched for the secrets in the request */
  slp_secret_free(&s->request);
  slp_secret_free(&s->proof);
  s->spent = 1; /* the AWS tools take no lock, so they may have renewed the cache: read it again */
  read_cache(s);
}

static int put_request(login *s) {
  slp_buf *b = &s->request;
  uint64_t unique[2] = {slp_random(s->aws->h), slp_random(s->aws->h)};
  if (slp_secret_room(b) || slp_secret_room(&s->proof)) return SLP_ENOMEM;
  /* Reserves room for the answer too. When the answer is there, the refresh token has been used, and nothing
   * may fail for lack of memory. */
  if (slp_secret_room(&s->answer_room) || slp_secret_room(&s->renewed_text)) return SLP_ENOMEM;
  slp_jw w = slp_jw_begin(b);
  slp_jw_str(&w, "clientId", s->cached.client);
  slp_jw_z(&w, "grantType", "refresh_token");
  slp_jw_str(&w, "refreshToken", s->cached.refresh);
  int r = slp_jw_object_end(&w);
  return r ? r : slp_dpop_proof(&s->proof, s->cached.dpop_key, slp_buf_str(&s->url), now_ms(s), unique);
}

static int find_url(login *s, slp_fail *f) {
  char region[64];
  snprintf(region, sizeof region, "%.*s", (int)slp_min_u64(s->cached.region.n, 63), s->cached.region.p);
  return slp_aws_url_in(s->aws, SLP_SVC_SIGNIN, s->cached.region.n ? region : s->aws->region, *s->from,
                        "/v1/token", &s->url, f);
}

static const char *lacks(const slp_login *cached) {
  if (!cached->client.n) return "it has expired, and its cache lacks clientId";
  if (!cached->refresh.n) return "it has expired, and its cache lacks refreshToken";
  return cached->dpop_key.n ? NULL : "it has expired, and its cache lacks dpopKey";
}

static void renew_login(login *s) {
  slp_fetch *f = &s->fetch;
  slp_fail fail;
  const char *lacking = lacks(&s->cached);
  if (lacking) {
    without_renewal(s, lacking);
    return;
  }
  int r = find_url(s, &fail);
  if (r && r != SLP_ENOMEM) {
    slp_keys_broken(&s->p, "%.150s: %.140s", s->where, fail.message);
    clear_login_attempt(s);
    return;
  }
  if (!r) r = put_request(s);
  if (r == SLP_EBADDATA) {
    without_renewal(s, "it has expired, and its cache holds no key of P-256 to renew it");
    return;
  }
  if (r) {
    answer_login_starved(s);
    return;
  }
  f->method = "POST";
  f->url = slp_buf_z(&s->url);
  f->body = slp_buf_str(&s->request);
  f->body_secrets[0] = s->cached.refresh;
  f->body_secrets[1] = (slp_str){NULL, 0};
  f->headers_n = 0;
  f->headers[f->headers_n++] = (slp_http_header){SLP_STR("Content-Type"), SLP_STR("application/json")};
  f->headers[f->headers_n++] = (slp_http_header){SLP_STR("DPoP"), slp_buf_str(&s->proof)};
  f->total_ms_max = SLP_CONTROL_MS_MAX;
  f->tries_max = s->aws->tries_max ? s->aws->tries_max : TRIES;
  f->ca_bundle = s->aws->ca_bundle;
  f->on_done = on_answer;
  slp_fetch_send(f);
}

/* ---- the cache ----------------------------------------------------------------------------------------- */
static void on_busy_over(slp_timer *timer) { read_cache(SLP_OWNER(timer, login, busy)); }

static void on_locked(void *arg, int error) {
  login *s = arg;
  if (!error) {
    s->locked = 1;
    read_cache(s);
    return;
  }
  slp_login_file_leave(s->lock);
  s->lock = NULL;
  if (error == SLP_ENOMEM) {
    answer_login_starved(s);
    return;
  }
  /* Another process is renewing the cache. Its new keys will serve this process as well, so wait for them. */
  if (error == SLP_EBUSY && !still_lives(s) && ++s->busy_tries < BUSY_TRIES &&
      !slp_timer_set(s->aws->h, &s->busy, slp_after_us(slp_now_us(s->aws->h), BUSY_US)))
    return;
  if (error == SLP_EBUSY) {
    without_renewal(s, "it has expired, and another process has its cache and does not renew it");
    return;
  }
  char text[120];
  snprintf(text, sizeof text, "it has expired, and its cache can't be written (%.50s)", slp_file_why(error));
  without_renewal(s, text);
}

static void lock_login_cache(login *s) {
  s->lock = slp_login_file_new(s->aws->h, slp_buf_z(&s->path));
  if (s->lock)
    slp_login_file_lock(s->lock, on_locked, s);
  else
    answer_login_starved(s);
}

/* Uses `kept` instead of the content of the file, if the file still has the old session. If the user has
 * signed in again, the file is used, and `kept` is dropped. */
static int use_kept(login *s) {
  slp_login kept;
  const char *why = "";
  if (!s->kept.n || s->cached.expires_ms != s->kept_expires_ms) {
    slp_secret_free(&s->kept);
    return 0;
  }
  slp_secret_clear(&s->text);
  slp_secret_room(&s->text);
  int r = slp_buf_add_str(&s->text, slp_buf_str(&s->kept));
  if (!r) r = slp_login_cache_read(slp_buf_str(&s->text), &s->room, &kept, &why);
  if (!r) s->cached = kept;
  return r;
}

static void on_file(slp_file *file) {
  login *s = SLP_OWNER(file, login, file);
  const char *why = "";
  s->reading = 0;
  int r = file->error;
  if (r == SLP_ENOENT) {
    sign_in_again(s, "nobody is signed in");
    return;
  }
  if (!r) r = slp_secret_room(&s->room);
  if (!r) r = slp_login_cache_read(slp_buf_str(&s->text), &s->room, &s->cached, &why);
  if (!r) r = use_kept(s);
  if (r == SLP_ENOMEM) {
    answer_login_starved(s);
    return;
  }
  if (r) {
    slp_keys_broken(&s->p, "%.90s: can't use %.120s: %s%.40s: run aws login --profile %.40s", s->where,
                    slp_buf_z(&s->path), r == SLP_ENOENT ? "it lacks " : "",
                    file->error ? slp_file_why(file->error) : why, s->profile_name);
    clear_login_attempt(s);
    return;
  }
  if (s->cached.expires_ms - now_ms(s) > RENEW_MS)
    give_login_keys(s, &s->cached);
  else if (s->spent)
    without_renewal(s, s->trouble);
  else if (!s->locked)
    lock_login_cache(s);
  else
    renew_login(s);
}

static void read_cache(login *s) {
  slp_secret_clear(&s->text);
  if (slp_secret_room(&s->text)) {
    answer_login_starved(s);
    return;
  }
  s->file =
      (slp_file){.path = slp_buf_z(&s->path), .bytes_max = FILE_MAX, .into = &s->text, .on_done = on_file};
  s->reading = 1;
  slp_file_read(s->aws->h, &s->file);
}

static void begin_login_attempt(slp_provider *p, int fresh) {
  login *s = SLP_OWNER(p, login, p);
  const slp_profile *profile = *s->from;
  const char *home = s->aws->getenv_fn(s->aws->getenv_ctx, "HOME");
  const char *folder = s->aws->getenv_fn(s->aws->getenv_ctx, "AWS_LOGIN_CACHE_DIRECTORY");
  (void)fresh; /* the file is read in each attempt */
  clear_login_attempt(s);
  s->busy_tries = 0;
  if (folder && !folder[0]) folder = NULL;
  snprintf(s->profile_name, sizeof s->profile_name, "%s", profile->name);
  snprintf(s->where, sizeof s->where, "profile %.60s (%.100s)", profile->name,
           slp_profile_where(profile, SLP_PROFILE_LOGIN_SESSION));
  if ((!home || !home[0]) && (!folder || folder[0] == '~')) {
    slp_keys_broken(p, "%.170s: HOME is not set, so there is no sign-in to be found", s->where);
    return;
  }
  slp_buf_clear(&s->path);
  int r = slp_login_cache_path(&s->path, home, folder, slp_profile_get(profile, SLP_PROFILE_LOGIN_SESSION));
  if (r == SLP_ENOMEM) {
    slp_keys_starved(p);
    return;
  }
  if (r) {
    slp_keys_broken(p, "%.170s: the path of the cache is too long: check AWS_LOGIN_CACHE_DIRECTORY",
                    s->where);
    return;
  }
  read_cache(s);
}

static void cancel_login_attempt(slp_provider *p) { clear_login_attempt(SLP_OWNER(p, login, p)); }

static void login_free(slp_provider *p) {
  login *s = SLP_OWNER(p, login, p);
  clear_login_attempt(s);
  slp_secret_free(&s->kept);
  slp_buf_free(&s->path);
  slp_buf_free(&s->url);
  slp_free(s->aws->h->mem, s);
}

slp_provider *slp_provider_login(slp_aws *aws, const slp_profile *const *from) {
  slp_mem *mem = aws->h->mem;
  login *s = SLP_NEW(mem, login);
  if (!s) return NULL;
  *s = (login){.p = {.begin = begin_login_attempt,
                     .cancel = cancel_login_attempt,
                     .free = login_free,
                     .ms_max = MS_MAX},
               .aws = aws,
               .from = from,
               .busy = {.at_us = UINT64_MAX, .run = on_busy_over}};
  slp_fetch_init(&s->fetch, aws->h);
  s->p.secrets = &s->fetch.secrets;
  slp_buf_init(&s->path, mem, 8192);
  slp_buf_init(&s->text, mem, FILE_MAX);
  slp_buf_init(&s->room, mem, 2 * FILE_MAX);
  slp_buf_init(&s->kept, mem, FILE_MAX);
  slp_buf_init(&s->url, mem, 1024);
  slp_buf_init(&s->request, mem, REQUEST_MAX);
  slp_buf_init(&s->proof, mem, 8192);
  slp_buf_init(&s->answer_room, mem, 2 * SLP_FETCH_BODY_MAX + 16);
  slp_buf_init(&s->renewed_text, mem, FILE_MAX);
  return &s->p;
}

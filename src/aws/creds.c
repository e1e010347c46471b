/* creds.c - the chain of providers (sources of keys), the current keys and their renewal, and the callers
 * that wait for the renewal. An attempt asks the providers once for keys; there is one attempt at a time. */
#include "aws/creds.h"

#include "aws/aws.h"
#include "aws/endpoint.h"
#include "aws/limits.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "aws/retry.h"
#include "aws/sigv4.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"
#include "host/host.h"

#include <sloop.h>
#include <stdarg.h>
#include <stdio.h>

/* When keys are renewed, as in botocore. From ADVISORY_MS before their expiry, an attempt is made, and the
 * keys are still used. From MANDATORY_MS before their expiry, calls wait for the attempt. For keys with a
 * short life, an attempt is made after half of their life, and calls wait after three quarters. */
#define ADVISORY_MS (15 * 60 * 1000)
#define MANDATORY_MS (10 * 60 * 1000)
/* If the service refuses keys sooner than this after the attempt that fetched them, no new attempt is made.
 * Exception: the first keys of an identity are fetched again at once. */
#define REFUSED_AGAIN_US 5000000u
/* ADVISORY_MS and MANDATORY_MS are shortened at random, by at most 1/JITTER_PART. Otherwise a fleet that got
 * its keys at the same time would also renew them at the same time. */
#define JITTER_PART 16

/* An attempt to get keys: IDLE -> ANSWERED (no provider was asked yet) -> ASKING -> ANSWERED -> ASKING the
 * next provider ... -> IDLE. */
typedef enum {
  IDLE,
  ASKING,  /* waits for the answer of chain[asking] */
  ANSWERED /* go_on asks the next provider, or ends the attempt, in a later turn */
} attempt_state;
enum { KEY_ID, SECRET, TOKEN, ACCOUNT, PARTS };

struct slp_creds {
  slp_host *h;
  slp_provider *chain[SLP_CREDS_PROVIDERS_MAX];
  size_t chain_n;
  slp_event ev;       /* continues the attempt in a later turn */
  slp_timer deadline; /* limits the time of the provider that is being asked */
  slp_list waiting;

  attempt_state attempt;
  slp_keys_outcome answer;
  size_t asking; /* index in `chain` of the provider that is being asked */
  /* Index in `chain` of the provider that gave the first keys. Later attempts ask only this provider, so that
   * the identity never changes. SIZE_MAX: no provider has given keys yet. */
  size_t settled;
  /* 1: the service has refused the current keys, so this attempt must not return keys that were read
   * before */
  uint8_t fresh;
  char *next[PARTS]; /* owned; the keys that a provider has just given */
  int64_t next_expires_ms;
  uint8_t next_outlives;
  char why[SLP_KEYS_WHY];
  /* where the last provider without keys looked for them, for the message that no provider has keys */
  char looked[SLP_PROFILES_LOOKED + 2];
  /* the status from a source that failed; 0: the source did not answer */
  int http_status;

  char *now[PARTS]; /* owned; the current keys; now[KEY_ID] NULL: there are none */
  uint64_t serial;
  int64_t expires_ms; /* expiry of the current keys; 0 to SLP_KEYS_NEVER */
  uint8_t outlives;   /* 1: the keys are used after their expiry if an attempt for new keys failed */
  int64_t advisory_ms, mandatory_ms;
  uint32_t failures; /* how many attempts in a row have failed */
  uint64_t again_us; /* no attempt is made before this time */
  uint64_t fetched_us;
  uint64_t refreshes;
  /* the service's clock minus this machine's clock, as slp_creds_learn_clock set it */
  int64_t clock_offset_ms;
  slp_fail fail; /* the outcome of the last attempt to get keys; class SLP_FINE: it succeeded */
};

static const slp_set allowed[] = {
    [IDLE] = SLP_BIT(ANSWERED),
    [ASKING] = SLP_BIT(ANSWERED),
    [ANSWERED] = SLP_BIT(ASKING) | SLP_BIT(IDLE),
};

static void move(slp_creds *c, attempt_state to) { SLP_MOVE(allowed, c->attempt, to); }

static void go_on(slp_event *ev);
static void on_deadline(slp_timer *timer);
static void on_answer(slp_provider *p, const slp_keys_answer *answer);

slp_creds *slp_creds_new(slp_host *h) {
  slp_creds *c = SLP_NEW(h->mem, slp_creds);
  if (!c) return NULL;
  c->h = h;
  c->ev.run = go_on;
  c->deadline.run = on_deadline;
  c->deadline.at_us = UINT64_MAX;
  c->expires_ms = c->next_expires_ms = SLP_KEYS_NEVER;
  c->settled = SIZE_MAX;
  slp_list_init(&c->waiting);
  return c;
}

static void drop_keys(slp_mem *mem, char *keys[PARTS]) {
  for (int i = 0; i < PARTS; i++) {
    if (keys[i]) slp_wipe(keys[i], strlen(keys[i]));
    slp_free(mem, keys[i]);
    keys[i] = NULL;
  }
}

void slp_creds_free(slp_creds *c) {
  if (!c) return;
  slp_unpost(&c->ev);
  slp_timer_clear(c->h, &c->deadline);
  for (size_t i = 0; i < c->chain_n; i++) c->chain[i]->free(c->chain[i]);
  drop_keys(c->h->mem, c->next);
  drop_keys(c->h->mem, c->now);
  slp_free(c->h->mem, c);
}

int slp_creds_add(slp_creds *c, slp_provider *p) {
  if (!p) return SLP_ENOMEM;
  SLP_CHECK(c->chain_n < SLP_CREDS_PROVIDERS_MAX);
  p->owner = c;
  p->answered = on_answer;
  c->chain[c->chain_n++] = p;
  return 0;
}

/* ---- answers of providers ------------------------------------------------------------------------------ */
/* Ends the wait for the provider that was asked. If this provider has timed out and answers later, on_answer
 * ignores the answer, because the attempt is no longer in state ASKING. */
static void end_wait_for_provider(slp_creds *c, slp_keys_outcome outcome) {
  c->answer = outcome;
  move(c, ANSWERED);
  slp_timer_clear(c->h, &c->deadline);
  slp_post(c->h, &c->ev);
}

/* Returns 1 if the text may be put into a header: it has only visible ASCII characters. A line break could
 * forge headers. */
static int is_sendable_in_header(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if ((unsigned char)s.p[i] <= 0x20 || (unsigned char)s.p[i] >= 0x7f) return 0;
  }
  return 1;
}

static void keep_provider_failure(slp_creds *c, const slp_keys_answer *answer) {
  snprintf(c->why, sizeof c->why, "%s", answer->why);
  c->http_status = answer->http_status;
  end_wait_for_provider(c, answer->outcome);
}

static void fail_with_broken_keys(slp_creds *c, const char *why) {
  slp_keys_answer answer = {.outcome = SLP_KEYS_BROKEN, .why = why};
  keep_provider_failure(c, &answer);
}

static void take_found_keys(slp_creds *c, const slp_aws_keys *keys) {
  const slp_str part[PARTS] = {keys->key_id, keys->secret, keys->token,
                               slp_account_valid(keys->account) ? keys->account : (slp_str){NULL, 0}};
  if (!keys->key_id.n || !keys->secret.n) {
    fail_with_broken_keys(
        c, keys->key_id.n ? "the credentials lack the secret key" : "the credentials lack the access key id");
    return;
  }
  drop_keys(c->h->mem, c->next);
  for (int i = 0; i < PARTS; i++) {
    if (i != SECRET &&
        !is_sendable_in_header(part[i])) { /* the secret key is not checked, because it is never sent */
      fail_with_broken_keys(c, "the credentials hold characters that no key has (a space or a line break?)");
      return;
    }
    if (!part[i].n) continue;
    c->next[i] = slp_strdup(c->h->mem, part[i]);
    if (!c->next[i]) {
      end_wait_for_provider(c, SLP_KEYS_STARVED);
      return;
    }
  }
  c->next_expires_ms = slp_min_i64(slp_max_i64(keys->expires_at_ms, 0), SLP_KEYS_NEVER);
  c->next_outlives = keys->outlives;
  end_wait_for_provider(c, SLP_KEYS_FOUND);
}

static void on_answer(slp_provider *p, const slp_keys_answer *answer) {
  slp_creds *c = p->owner;
  if (c->attempt != ASKING || c->chain[c->asking] != p) return;
  switch (answer->outcome) {
    case SLP_KEYS_FOUND: take_found_keys(c, answer->keys); return;
    case SLP_KEYS_BROKEN:
    case SLP_KEYS_FAILED: keep_provider_failure(c, answer); return;
    case SLP_KEYS_NOTHING:
      if (answer->why) snprintf(c->looked, sizeof c->looked, "%s; ", answer->why);
      end_wait_for_provider(c, answer->outcome);
      return;
    case SLP_KEYS_STARVED: end_wait_for_provider(c, answer->outcome); return;
  }
}

static uint32_t patience_ms(const slp_creds *c) {
  uint32_t ms = c->chain[c->asking]->ms_max;
  return ms ? ms : SLP_CREDS_MS_MAX;
}

static const char *name_of(const slp_creds *c) {
  const char *what = c->chain[c->asking]->what;
  return what ? what : "their source";
}

static void on_deadline(slp_timer *timer) {
  slp_creds *c = SLP_OWNER(timer, slp_creds, deadline);
  if (c->attempt != ASKING) return;
  if (c->chain[c->asking]->cancel) c->chain[c->asking]->cancel(c->chain[c->asking]);
  snprintf(c->why, sizeof c->why, "no credentials came from %s within %u seconds", name_of(c),
           (unsigned)patience_ms(c) / 1000);
  end_wait_for_provider(c, SLP_KEYS_FAILED);
}

/* ---- the attempt --------------------------------------------------------------------------------------- */
static void begin_attempt(slp_creds *c, int fresh) {
  if (c->attempt != IDLE) return;
  move(c, ANSWERED);
  c->answer = SLP_KEYS_NOTHING;
  /* go_on adds 1 before it asks; SIZE_MAX + 1 is 0, the first provider */
  c->asking = c->settled == SIZE_MAX ? SIZE_MAX : c->settled - 1;
  c->fresh = fresh != 0;
  c->why[0] = c->looked[0] = 0;
  c->http_status = 0;
  slp_post(c->h, &c->ev);
}

static int64_t service_ms(const slp_creds *c) { return slp_wall_ms(c->h) + c->clock_offset_ms; }
/* Returns the service's time or the machine's time, whichever is earlier, like slp_aws_early_ms. Keys that
 * have not expired by this time may still be valid. */
static int64_t early_ms(const slp_creds *c) { return slp_wall_ms(c->h) + slp_min_i64(c->clock_offset_ms, 0); }

static int same_key(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static int64_t shorten_by_jitter(slp_creds *c, int64_t window_ms) {
  return window_ms - (int64_t)slp_random_below(c->h, (uint64_t)slp_max_i64(window_ms, 0) / JITTER_PART + 1);
}

static void take_keys(slp_creds *c) {
  int same = 1;
  for (int i = 0; i < ACCOUNT; i++) same = same && same_key(c->now[i], c->next[i]);
  drop_keys(c->h->mem, c->now);
  memcpy(c->now, c->next, sizeof c->now);
  memset(c->next, 0, sizeof c->next);
  if (!same) c->serial++;
  c->expires_ms = c->next_expires_ms;
  int64_t life = c->expires_ms - service_ms(c);
  /* Keys that live only for seconds, or that have expired by the service's clock, would otherwise cause an
   * attempt in every turn. */
  c->again_us = life < 60000 ? slp_after_us(slp_now_us(c->h), 1000000) : 0;
  if (life <= 0) life = c->expires_ms - early_ms(c);
  c->outlives = c->next_outlives;
  c->advisory_ms = c->expires_ms - shorten_by_jitter(c, slp_min_i64(ADVISORY_MS, life / 2));
  c->mandatory_ms = c->expires_ms - shorten_by_jitter(c, slp_min_i64(MANDATORY_MS, life / 4));
  c->failures = 0;
  c->settled = c->asking;
  c->refreshes++;
  slp_fail_clear(&c->fail);
}

static void attempt_failed(slp_creds *c) {
  uint64_t wait = slp_retry_wait_us(SLP_THROTTLE, ++c->failures, slp_random(c->h), 0);
  c->again_us = slp_after_us(slp_now_us(c->h), wait / 2 + 250000);
  slp_fail_clear(&c->fail);
  if (c->answer == SLP_KEYS_STARVED) {
    slp_fail_set(&c->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for the credentials");
  } else if (c->answer == SLP_KEYS_BROKEN || c->answer == SLP_KEYS_FAILED) {
    slp_fail_set(&c->fail, c->answer == SLP_KEYS_FAILED ? SLP_TRANSIENT : SLP_AUTH, SLOOP_EAUTH, "%s",
                 c->why);
    c->fail.http_status = c->http_status;
  } else if (c->settled != SIZE_MAX) {
    slp_fail_set(&c->fail, SLP_AUTH, SLOOP_EAUTH,
                 "the credentials are no longer at their source, and no others are used");
  } else {
    slp_fail_set(
        &c->fail, SLP_AUTH, SLOOP_EAUTH,
        "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or put them in ~/.aws/credentials "
        "(%sno role of this machine or container was found either)",
        c->looked);
  }
}

static void go_on(slp_event *ev) {
  slp_creds *c = SLP_OWNER(ev, slp_creds, ev);
  SLP_CHECK(c->attempt == ANSWERED);
  int last = c->asking + 1 == c->chain_n || (c->settled != SIZE_MAX && c->asking == c->settled);
  if (c->answer == SLP_KEYS_NOTHING && !last) {
    c->asking++;
    move(c, ASKING);
    uint64_t at = slp_after_us(slp_now_us(c->h), (uint64_t)patience_ms(c) * 1000);
    if (slp_timer_set(c->h, &c->deadline, at)) {
      end_wait_for_provider(c, SLP_KEYS_STARVED);
      return;
    }
    c->chain[c->asking]->begin(c->chain[c->asking], c->fresh);
    return;
  }
  if (c->answer == SLP_KEYS_FOUND && c->next_expires_ms <= early_ms(c)) {
    snprintf(c->why, sizeof c->why,
             "the credentials of %s have expired already, %lld s ago by this machine's clock", name_of(c),
             (long long)(early_ms(c) - c->next_expires_ms) / 1000);
    c->answer = SLP_KEYS_BROKEN;
  }
  move(c, IDLE);
  c->fetched_us = slp_now_us(c->h);
  if (c->answer == SLP_KEYS_FOUND)
    take_keys(c);
  else
    attempt_failed(c);
  slp_wait_run_all(&c->waiting);
}

/* ---- for callers --------------------------------------------------------------------------------------- */
slp_creds_state slp_creds_get(slp_creds *c, int64_t now_ms, slp_sign_keys *ret, uint64_t *ret_serial,
                              slp_fail *f) {
  slp_creds_learn_clock(c, now_ms - slp_wall_ms(c->h));
  int have = c->now[KEY_ID] != NULL, expires = have && c->expires_ms < SLP_KEYS_NEVER;
  int dead = expires && early_ms(c) >= c->expires_ms && !(c->outlives && c->failures);
  int may_ask = slp_now_us(c->h) >= c->again_us;
  int due = !have || (expires && now_ms >= c->advisory_ms);
  if (due && may_ask) begin_attempt(c, 0);
  /* insist: callers must wait for the attempt. c->fresh is one reason: the service has refused the current
   * keys. */
  int insist = !have || dead || (expires && now_ms >= c->mandatory_ms) || c->fresh;
  if (c->attempt != IDLE && insist) return SLP_CREDS_WAIT;
  if (!have || dead) {
    *f = c->fail;
    if (dead && f->class == SLP_FINE) slp_fail_set(f, SLP_AUTH, SLOOP_EAUTH, "the credentials have expired");
    return SLP_CREDS_FAILED;
  }
  *ret = (slp_sign_keys){slp_str_of(c->now[KEY_ID]), slp_str_of(c->now[SECRET]), slp_str_of(c->now[TOKEN]),
                         slp_str_of(c->now[ACCOUNT])};
  *ret_serial = c->serial;
  return SLP_CREDS_READY;
}

void slp_creds_await(slp_creds *c, slp_wait *wait) {
  SLP_CHECK(c->attempt != IDLE);
  slp_wait_add(&c->waiting, wait);
}

int slp_creds_refused(slp_creds *c, uint64_t serial) {
  if (serial != c->serial) return 1;
  if (c->attempt != IDLE) {
    c->fresh = 1;
    return 1;
  }
  uint64_t now = slp_now_us(c->h);
  if (now < c->again_us || (c->refreshes > 1 && now < slp_after_us(c->fetched_us, REFUSED_AGAIN_US)))
    return 0;
  begin_attempt(c, 1);
  return 1;
}

void slp_creds_learn_clock(slp_creds *c, int64_t offset_ms) { c->clock_offset_ms = offset_ms; }

const slp_fail *slp_creds_last(const slp_creds *c) { return &c->fail; }

uint64_t slp_creds_refreshes(const slp_creds *c) { return c->refreshes; }

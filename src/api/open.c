/* open.c - builds a consumer out of host, identity, service, source, engine and core's consumer; starts it,
 * and frees these parts when it is closed. */
#include "api/open.h"

#include "api/identity.h"
#include "api/lease_options.h"
#include "api/metrics.h"
#include "api/operator.h"
#include "aws/aws.h"
#include "base/clean.h"
#include "base/list.h"
#include "base/mem.h"
#include "core/consumer.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/report.h"
#include "core/seek.h"
#include "core/source.h"
#include "core/start.h"
#include "host/host.h"
#include "lease/leased_consumer.h"
#include "source/ddb_poll.h"
#include "source/kinesis_poll.h"
#include "source/push.h"
#include "source/stream_name.h"
#include "store/memory.h"

#include <sloop.h>
#include <stdio.h>

struct sloop_creds_req_s {
  slp_family *family;
  slp_aws *aws;
};

/* ---- credentials from the user ------------------------------------------------------------------------ */

/* A request of the identity (slp_aws) for credentials. An event calls the application's callback, because it
 * must not be called inside the code that made the request. */
typedef struct slp_creds_ask {
  slp_mem *mem; /* a reference is held, because the application may answer after everything else is freed */
  slp_event ev;
  struct sloop_creds_req_s rq;
  /* 1: the application's callback was called, and the answer is still to come or has come */
  uint8_t asked;
} slp_creds_ask;

static void ask_free(slp_creds_ask *ask) {
  slp_mem *mem = ask->mem;
  slp_free(mem, ask);
  slp_mem_drop(mem);
}

static void on_creds_event(slp_event *ev) {
  slp_creds_ask *ask = SLP_OWNER(ev, slp_creds_ask, ev);
  sloop_t *s = ask->rq.family->creds_for;
  if (s) {
    ask->asked = 1;
    s->o.creds(s, &ask->rq, s->o.arg);
  } else {
    sloop_creds_done(&ask->rq, SLP_ECANCELED, NULL, "the consumer that gives credentials was closed");
  }
}

static void ask_creds(void *ctx, slp_aws *aws) {
  slp_family *f = ctx;
  slp_creds_ask *ask = f->creds_for ? SLP_NEW(f->mem, slp_creds_ask) : NULL;
  if (!ask) {
    slp_aws_keys_done(
        aws, f->creds_for ? SLP_ENOMEM : SLP_ECANCELED, NULL,
        f->creds_for ? "no memory to ask for credentials" : "the consumer that gives credentials was closed");
    return;
  }
  ask->mem = slp_mem_hold(f->mem);
  ask->ev.run = on_creds_event;
  ask->rq = (struct sloop_creds_req_s){f, aws};
  f->creds_ask = ask;
  slp_post(f->host, &ask->ev);
}

void sloop_creds_init_sized(sloop_creds_t *c, size_t size) {
  sloop_creds_t full = {.expires_at_ms = -1};
  if (size < sizeof full.size) return;
  memset(c, 0, size);
  full.size = (size_t)slp_min_u64(size, sizeof full);
  memcpy(c, &full, full.size);
}

static void answer_keys(slp_aws *aws, const sloop_creds_t *creds) {
  sloop_creds_t full;
  sloop_creds_init(&full);
  memcpy(&full, creds, slp_min_u64(creds->size, sizeof full));
  slp_aws_keys keys = {slp_str_of(full.access_key), slp_str_of(full.secret_key),
                       slp_str_of(full.session_token),
                       full.expires_at_ms == -1 ? SLP_KEYS_NEVER : full.expires_at_ms};
  slp_aws_keys_done(aws, 0, &keys, NULL);
}

/* the size of sloop_creds_t in the first version of the header; no caller has a smaller struct */
#define CREDS_SIZE_MIN (offsetof(sloop_creds_t, expires_at_ms) + sizeof(int64_t))

void sloop_creds_done(sloop_creds_req_t *rq, int status, const sloop_creds_t *creds, const char *why) {
  slp_creds_ask *ask = SLP_OWNER(rq, slp_creds_ask, rq);
  slp_family *f = rq->family;
  if (!f) { /* everything else was freed before the application answered */
    ask_free(ask);
    return;
  }
  slp_aws *aws = rq->aws;
  f->creds_ask = NULL;
  ask_free(ask);
  if (status || !creds)
    slp_aws_keys_done(aws, status, NULL, why);
  else if (creds->size < CREDS_SIZE_MIN)
    slp_aws_keys_done(aws, SLOOP_EOPTION, NULL, "sloop_creds_t was not set up by sloop_creds_init()");
  else
    answer_keys(aws, creds);
}

/* ---- the family ---------------------------------------------------------------------------------------- */

static void family_free(slp_family *f) {
  if (!f) return;
  slp_mem *mem = f->mem;
  if (f->creds_ask && f->creds_ask->asked) {
    /* the application has not answered; its later call of sloop_creds_done frees the request */
    f->creds_ask->rq.family = NULL;
  } else if (f->creds_ask) {
    slp_unpost(&f->creds_ask->ev);
    ask_free(f->creds_ask);
  }
  slp_engine_free(f->engine);
  if (!f->outside.kinesis) slp_kinesis_free(f->kinesis);
  if (!f->outside.streams) slp_streams_free(f->streams);
  slp_memory_drop(f->memory);
  if (f->aws) slp_aws_drop(f->aws);
  slp_free(mem, f);
  slp_mem_drop(mem);
}

/* Reports that credentials are slow. All joined consumers need the credentials, but only one consumer reports
 * it. */
static void tell_wait(void *ctx, const char *text) {
  slp_family *f = ctx;
  SLP_LIST_EACH(&f->engine->consumers, it) {
    slp_consumer *c = SLP_OWNER(it, slp_consumer, link);
    if (c->handle->closing) continue;
    slp_report_log(c, SLOOP_LOG_WARN, "credentials: %s", text);
    return;
  }
}

static slp_wire wire_of(sloop_wire_t wire) {
  switch (wire) {
    case SLOOP_WIRE_AUTO: return SLP_WIRE_AUTO;
    case SLOOP_WIRE_CBOR: return SLP_WIRE_CBOR;
    case SLOOP_WIRE_JSON: return SLP_WIRE_JSON;
  }
  return SLP_WIRE_AUTO;
}

static int family_new(slp_family **ret, slp_host *h, slp_mem *mem, const slp_outside *outside,
                      const sloop_opts_t *o, char why[160]) {
  slp_family *f = SLP_NEW(mem, slp_family);
  if (!f) return SLP_ENOMEM;
  f->mem = slp_mem_hold(mem);
  f->host = h;
  if (outside) f->outside = *outside;
  f->kinesis = f->outside.kinesis;
  f->streams = f->outside.streams;
  slp_list_init(&f->metrics);
  slp_list_init(&f->names);
  slp_aws_options ao = {
      .region = o->region,
      .endpoint = o->endpoint,
      .lease_endpoint = o->store_endpoint,
      .profile = o->profile,
      .stream_arn = strncmp(o->stream, "arn:", 4) == 0 ? o->stream : NULL,
      .ca_bundle = o->ca_bundle,
      .creds = o->creds ? ask_creds : NULL,
      .creds_ctx = f,
      .waits = tell_wait,
      .waits_ctx = f,
      .getenv_fn = f->outside.getenv_fn,
      .getenv_ctx = f->outside.getenv_ctx,
      .wire = wire_of(o->wire),
      .user_agent = o->user_agent,
  };
  int r = slp_aws_new(&f->aws, h, &ao, why);
  if (!r) r = slp_engine_new(&f->engine, h, mem, o);
  if (r) {
    family_free(f);
    return r;
  }
  *ret = f;
  return 0;
}

slp_aws *slp_identity_of(const sloop_t *s) { return s->family->aws; }

/* ---- opening ------------------------------------------------------------------------------------------- */

static void on_stats_due(slp_consumer *c) {
  sloop_t *s = c->handle;
  sloop_stats_t st;
  if (!s->o.on_stats) return;
  sloop_stats_get(s, &st, sizeof st);
  s->o.on_stats(s, &st, s->o.arg);
}

static void on_close_event(slp_event *ev);

static void handle_free(sloop_t *s) {
  slp_mem *mem = s->mem;
  slp_opts_free(&s->o, mem);
  slp_free(mem, s->taken);
  slp_free(mem, s);
  slp_mem_drop(mem);
}

static int source_of(slp_source **ret, slp_family *f, const sloop_opts_t *o) {
  slp_str stream = slp_str_of(o->stream);
  slp_stream_name named;
  const char *why;
  int r = slp_stream_name_read(stream, &named, &why);
  if (r) return r;
  if (named.what == SLP_NAMES_DYNAMODB) {
    if (!f->streams) r = slp_streams_new(&f->streams, f->aws);
    return r ? r : slp_ddb_poll_new(ret, f->host, f->streams, stream);
  }
  if (!f->kinesis) r = slp_kinesis_new(&f->kinesis, f->aws);
  if (!r) r = slp_kinesis_poll_new(ret, f->host, f->kinesis, stream, o->aggregates);
  if (r || o->retrieval == SLOOP_RETRIEVAL_POLL || !f->kinesis->subscribe) return r;
  slp_source *poll = *ret;
  r = slp_push_new(ret, f->host, f->kinesis, poll, o->push_consumer ? o->push_consumer : o->app,
                   o->retrieval == SLOOP_RETRIEVAL_AUTO);
  if (r) poll->ops->close(poll);
  return r;
}

static int consumer_of(sloop_t *s, slp_source *source, char why[160]) {
  slp_start_position *start_position = NULL;
  int r = slp_start_position_new(&start_position, s->mem, &s->o.start, why);
  if (!r) r = slp_consumer_new(&s->consumer, s->family->engine, source, s, &s->o, start_position);
  if (r) {
    slp_start_position_free(start_position);
    return r;
  }
  return s->o.app ? slp_leases_wire(s) : 0;
}

static int wire_up(sloop_t *s, slp_host *h, const slp_outside *outside, char why[160]) {
  slp_source *source = NULL;
  int r = 0;
  if (s->o.join) {
    s->family = s->o.join->family;
  } else {
    r = family_new(&s->family, h, s->mem, outside, &s->o, why);
    if (r) return r;
  }
  r = source_of(&source, s->family, &s->o);
  if (!r) {
    r = consumer_of(s, source, why);
    if (r && s->consumer)
      slp_consumer_free(s->consumer);
    else if (r)
      source->ops->close(source);
  }
  if (r) {
    if (!s->o.join) family_free(s->family);
    return r;
  }
  s->consumer->on_stats_due = on_stats_due;
  s->family->several |= ++s->family->members > 1;
  if (s->family->owns_host) slp_family_ref(s->family);
  if (!s->family->creds_for && s->o.creds) s->family->creds_for = s;
  return 0;
}

/* Returns 0, or an error with the reason in `why`. */
static int check_options(const sloop_opts_t *o, char why[160]) {
  slp_aws_options identity = {.region = o->region,
                              .endpoint = o->endpoint,
                              .lease_endpoint = o->store_endpoint,
                              .profile = o->profile};
  int r = slp_opts_check(o, why);
  if (!r && !o->join) r = slp_aws_options_check(&identity, why);
  if (r || !o->join || (!o->join->closing && !o->join->started)) return r;
  snprintf(why, 160, "join: that consumer is already started or closed");
  return SLOOP_EOPTION;
}

int slp_open_on(slp_host *h, slp_mem *mem, const slp_outside *outside, sloop_t **out, const sloop_opts_t *o,
                char why[160]) {
  *out = NULL;
  sloop_t *s = SLP_NEW(mem, sloop_t);
  if (!s) return SLP_ENOMEM;
  s->mem = slp_mem_hold(mem);
  s->admin.s = s;
  int r = slp_opts_copy(&s->o, o, mem);
  if (!r) r = check_options(&s->o, why);
  if (!r) r = wire_up(s, h, outside, why);
  if (r) {
    handle_free(s);
    return r;
  }
  s->close_ev.run = on_close_event;
  s->stop_timer.at_us = UINT64_MAX;
  s->refd = 1;
  *out = s;
  return 0;
}

static int open_fresh(sloop_t **out, struct uv_loop_s *loop, const sloop_opts_t *o, char why[160]) {
  slp_mem *mem = slp_mem_new(o->alloc, o->alloc_ctx);
  slp_host *h = NULL;
  if (!mem) return SLP_ENOMEM;
  const char *bundle = o->ca_bundle ? o->ca_bundle : slp_process_getenv(NULL, "AWS_CA_BUNDLE");
  slp_uv_options uo = {
      .ca_bundle = bundle && *bundle ? bundle : NULL,
      .user_agent = o->user_agent,
      .in_flight_max = o->in_flight_max,
      .why = why,
  };
  why[0] = 0;
  int r = slp_uv_host_new(&h, loop, mem, &uo);
  if (r) {
    if (!why[0]) snprintf(why, 160, "can't set up on this loop: %s", sloop_strerror(r));
    slp_mem_drop(mem);
    return r;
  }
  r = slp_open_on(h, mem, NULL, out, o, why);
  if (r) {
    slp_host_close(h, NULL, NULL);
  } else {
    (*out)->family->owns_host = 1;
    (*out)->loop = loop;
  }
  slp_mem_drop(mem);
  return r;
}

int sloop_open(sloop_t **out, struct uv_loop_s *loop, const sloop_opts_t *o, char *why, size_t why_size) {
  char text[160] = "";
  int r, is_set_up = o && o->size >= sizeof o->size;
  sloop_opts_t full;
  *out = NULL;
  sloop_opts_init(&full);
  if (is_set_up) memcpy(&full, o, slp_min_u64(o->size, sizeof full));
  if (!is_set_up || (!loop && !full.join)) {
    snprintf(text, sizeof text, "%s is missing", loop ? "options (use sloop_opts_init)" : "loop");
    r = SLOOP_EOPTION;
  } else {
    /* Checks the options before anything is created, so that a wrong option leaves nothing to close. */
    r = check_options(&full, text);
    if (!r && full.join) {
      slp_family *f = full.join->family;
      r = slp_open_on(f->host, f->mem, NULL, out, o, text);
      if (!r) (*out)->loop = full.join->loop;
    } else if (!r) {
      r = open_fresh(out, loop, o, text);
    }
  }
  if (r && !text[0]) snprintf(text, sizeof text, "%s", sloop_strerror(r));
  /* the text has option values in it, which may be anything, so control characters are removed */
  slp_clean_copy(why, why_size, r ? text : "");
  return r;
}

/* ---- starting ------------------------------------------------------------------------------------------ */

int sloop_start(sloop_t *s) {
  if (s->closing || s->started || s->admin.alone) return SLOOP_ESTATE;
  s->started = 1;
  return slp_consumer_start(s->consumer);
}

/* ---- closing ------------------------------------------------------------------------------------------- */

static void tell_closed(sloop_t *s) {
  sloop_cb cb = s->close_cb;
  void *arg = s->close_arg;
  if (cb) cb(s, 0, arg);
  handle_free(s);
}

static void on_host_closed(slp_host *h, void *arg) {
  (void)h;
  tell_closed(arg);
}

/* Returns a consumer whose application gives credentials, and that is not being closed; NULL: there is
 * none. */
static sloop_t *open_one_with_creds(slp_family *f) {
  SLP_LIST_EACH(&f->engine->consumers, it) {
    sloop_t *s = (SLP_OWNER(it, slp_consumer, link))->handle;
    if (s->o.creds && !s->closing) return s;
  }
  return NULL;
}

/* Takes one step of closing in each run. First it calls the pending callbacks, one in each run; then it
 * closes the metrics, then the consumer. A callback may do anything, so the event is posted again before the
 * callback is called. */
static void on_close_event(slp_event *ev) {
  sloop_t *s = SLP_OWNER(ev, sloop_t, close_ev);
  slp_family *f = s->family;
  sloop_cb move_cb;
  void *move_arg;
  if (slp_seek_take(s->consumer, &move_cb, &move_arg)) {
    slp_post(f->host, &s->close_ev);
    if (move_cb) move_cb(s, SLP_ECANCELED, move_arg);
    return;
  }
  if (s->admin.call) {
    slp_post(f->host, &s->close_ev);
    slp_admin_call_tell_closed(s->admin.call);
    return;
  }
  if (s->save_cb) {
    sloop_cb cb = s->save_cb;
    s->save_cb = NULL;
    slp_post(f->host, &s->close_ev);
    cb(s, SLP_ECANCELED, s->save_arg);
    return;
  }
  if (slp_leased_naming_take(s->consumer, &move_cb, &move_arg)) {
    slp_post(f->host, &s->close_ev);
    if (move_cb) move_cb(s, SLP_ECANCELED, move_arg);
    return;
  }
  if (s->stop_cb) { /* the callback of a pending sloop_stop comes before that of the close */
    sloop_cb cb = s->stop_cb;
    s->stop_cb = NULL;
    slp_post(f->host, &s->close_ev);
    cb(s, SLP_ECANCELED, s->stop_arg);
    return;
  }
  if (slp_metrics_part(s)) return;
  slp_consumer_free(s->consumer);
  s->consumer = NULL;
  s->family = NULL;
  if (--f->members > 0) {
    slp_family_ref(f);
    tell_closed(s);
    return;
  }
  slp_host *h = f->host;
  int owns = f->owns_host;
  family_free(f);
  if (owns) {
    slp_host_close(h, on_host_closed, s);
  } else {
    tell_closed(s);
  }
}

void sloop_close(sloop_t *s, sloop_cb cb, void *arg) {
  if (!s || s->closing) return;
  sloop_ref(s); /* keeps the loop alive until cb is called */
  s->closing = 1;
  /* Closing takes several turns. A request for credentials in the meantime goes to another consumer at once,
   * or the calls of that consumer would fail for good. */
  if (s->family->creds_for == s) s->family->creds_for = open_one_with_creds(s->family);
  s->close_cb = cb;
  s->close_arg = arg;
  (void)slp_leased_save_take(s->consumer, &s->save_cb, &s->save_arg);
  slp_admin_call_stop(s->admin.call);
  slp_timer_clear(s->family->host, &s->stop_timer);
  slp_consumer_silence(s->consumer);
  slp_post(s->family->host, &s->close_ev);
}

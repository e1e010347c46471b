/* rights.c - tries the rights one after the other. For each right, sends a call and judges the answer.
 *
 * WAITING --an event--> SENT --answered--> WAITING ... OVER
 *
 * A call that would write, or would interrupt another reader, is sent with DryRun (the service
 * then only checks whether it is allowed) or not at all.
 * SubscribeToShard is sent only to Amazon's own servers, or to a server that has been seen to honour
 * DryRun. */
#include "api/rights.h"

#include "api/open.h"
#include "api/rights_calls.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/json_op.h"
#include "aws/limits.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/states.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

#define TRIES 3u

typedef enum { WAITING, SENT, OVER } rights_state;

struct slp_rights {
  slp_mem *mem; /* a reference is held */
  slp_aws *aws; /* a reference is held */
  slp_right *rights;
  size_t n, at;
  rights_state state;
  slp_event ev;
  slp_json_op op;
  const slp_right_call *call; /* in the state SENT: the call that is under way */
  slp_right_facts facts;
  slp_rights_fn on_done;
  void *arg;
};

static const slp_set allowed[] = {
    [WAITING] = SLP_BIT(WAITING) | SLP_BIT(SENT) | SLP_BIT(OVER),
    [SENT] = SLP_BIT(WAITING) | SLP_BIT(OVER),
    [OVER] = SLP_BIT(OVER),
};

static void move(slp_rights *t, rights_state to) { SLP_MOVE(allowed, t->state, to); }

static void finish_rights(slp_rights *t, const slp_fail *f) {
  move(t, OVER);
  t->on_done(t, f, t->arg);
}

static void go_on(slp_rights *t) {
  move(t, WAITING);
  slp_post(t->aws->h, &t->ev);
}

static void settle_current_right(slp_rights *t, slp_right_verdict verdict, const char *why) {
  slp_right *r = &t->rights[t->at++];
  r->verdict = verdict;
  snprintf(r->why, sizeof r->why, "%s", why);
  go_on(t);
}

/* Leaves a right untried, because its call is harmless only on a server that honours DryRun. */
static void settle_harmful(slp_rights *t, const char *but) {
  const slp_right_call *call = slp_right_call_of(t->rights[t->at].action);
  char why[SLP_RIGHT_WHY];
  snprintf(why, sizeof why, "without DryRun %s, and %s", call->harm, but);
  settle_current_right(t, SLP_RIGHT_UNTRIED, why);
}

/* ---- the answer ---------------------------------------------------------------------------------------- */
static int read_answer(slp_json_op *op, int begin, const char **why) {
  slp_rights *t = SLP_OWNER(op, slp_rights, op);
  slp_json j;
  slp_str name = {NULL, 0};
  (void)begin; /* not used, because each answer is small and parsed in one piece */
  t->facts.section[0] = 0;
  slp_json_begin(&j, op->answer.p, op->answer.n);
  for (int token; (token = slp_json_next(&j)) != SLP_JSON_END;) {
    if (token < 0) {
      *why = j.why;
      return token;
    }
    int value = name.p && token != SLP_JSON_KEY;
    if (value && t->call->take)
      t->call->take(&t->facts, token == SLP_JSON_OBJECT || token == SLP_JSON_ARRAY ? j.depth - 1 : j.depth,
                    name, token == SLP_JSON_STRING ? j.text : (slp_str){NULL, 0});
    name = token == SLP_JSON_KEY ? j.text : (slp_str){NULL, 0};
  }
  return 0;
}

/* Returns 1 if the service itself denies the right. A refusal without an error name of the service comes from
 * a proxy, and shows nothing about rights. */
static int is_denied(const slp_fail *f) { return f->class == SLP_ACCESS && f->aws_code[0]; }

/* Returns 1 if every other call would fail in the same way, so that trying more rights is useless. */
static int ends_all(const slp_fail *f) {
  return f->class == SLP_AUTH || f->class == SLP_NOMEM || (f->class != SLP_FINE && !f->http_status);
}

static void judge_call_outcome(slp_rights *t, const slp_fail *f) {
  char why[SLP_RIGHT_WHY];
  const char *code = strstr(f->message, f->aws_code) ? "" : f->aws_code;
  snprintf(why, sizeof why, "%s%s%s", code, *code ? ": " : "", f->message);
  t->facts.absent |= (uint8_t)slp_right_finds_no_table(t->call, &t->rights[t->at], f);
  if (f->class == SLP_FINE || slp_right_shown_by(t->call, f))
    settle_current_right(t, SLP_RIGHT_ALLOWED, "");
  else if (slp_right_finds_no_table(t->call, &t->rights[t->at], f))
    settle_current_right(t, SLP_RIGHT_ALLOWED, slp_rights_no_table);
  else
    settle_current_right(t, is_denied(f) ? SLP_RIGHT_DENIED : SLP_RIGHT_UNKNOWN, why);
}

static void on_answer(slp_json_op *op) {
  slp_rights *t = SLP_OWNER(op, slp_rights, op);
  slp_fail f = op->fail;
  if (t->call->dry && f.class == SLP_FINE) t->facts.dry_run = SLP_DRY_RUN_IGNORED;
  if (t->call->dry && f.class == SLP_REFUSED && slp_right_shown_by(t->call, &f))
    t->facts.dry_run = SLP_DRY_RUN_KNOWN;
  if (ends_all(&f)) {
    finish_rights(t, &f);
  } else if (t->call->action) {
    judge_call_outcome(t, &f);
  } else if (t->facts.dry_run == SLP_DRY_RUN_NOT_SEEN) {
    settle_harmful(t, "whether this server honours DryRun did not show: GetShardIterator with it failed");
  } else {
    go_on(t);
  }
}

/* ---- the calls ----------------------------------------------------------------------------------------- */
static int ends_with(const char *host, const char *end) {
  size_t n = strlen(host), m = strlen(end);
  return n > m && strcmp(host + n - m, end) == 0;
}

/* Returns 1 if calls to Kinesis go to an address of Amazon's. The address is known only after such a call was
 * sent. */
static int is_amazons_own(const slp_aws *aws) {
  const char *host = aws->endpoints[SLP_SVC_KINESIS].host;
  return aws->endpoint_known[SLP_SVC_KINESIS] &&
         (ends_with(host, ".amazonaws.com") || ends_with(host, ".amazonaws.com.cn") ||
          ends_with(host, ".api.aws"));
}

static void send_right_call(slp_rights *t, const slp_right_call *call) {
  const slp_right *r = &t->rights[t->at];
  slp_json_op *op = &t->op;
  slp_json_op_free(op);
  slp_json_op_init(op, t->aws, SLP_LIST_BODY_MAX);
  op->svc = r->leases ? SLP_SVC_LEASES : call->svc;
  op->lane = SLP_LANE_CONTROL;
  op->target = slp_str_of(call->target);
  if (call->svc == SLP_SVC_KINESIS) op->content_type = SLP_STR("application/x-amz-json-1.1");
  if (strncmp(r->of, "arn:", 4) == 0) op->call.arn = slp_str_of(r->of);
  op->ms_max = SLP_CONTROL_MS_MAX;
  op->tries_max = TRIES;
  op->read = read_answer;
  op->on_done = on_answer;
  slp_jw w = slp_jw_begin(&op->request);
  call->put(&w, r, &t->facts);
  if (call->dry) slp_jw_bool(&w, "DryRun", 1);
  t->call = call;
  if (slp_jw_object_end(&w)) {
    settle_current_right(t, SLP_RIGHT_UNKNOWN, "no memory for the call, or a name in it is not UTF-8");
    return;
  }
  move(t, SENT);
  slp_json_op_send(op);
}

static void try_next(slp_rights *t) {
  const slp_right *r = &t->rights[t->at];
  const slp_right_call *call = slp_right_call_of(r->action);
  if (!t->facts.of || strcmp(t->facts.of, r->of) != 0) t->facts = (slp_right_facts){.of = r->of};
  const char *lacks = call && call->lacks ? call->lacks(r, &t->facts) : NULL;
  if (!call || !call->target)
    settle_current_right(t, SLP_RIGHT_UNTRIED, call ? call->why_not : "no harmless call is known for it");
  else if (lacks)
    settle_current_right(t, SLP_RIGHT_UNTRIED, lacks);
  else if (call->needs_dry && t->facts.dry_run == SLP_DRY_RUN_IGNORED)
    settle_harmful(t, "this server does not honour DryRun");
  else if (call->needs_dry && t->facts.dry_run == SLP_DRY_RUN_NOT_SEEN && !is_amazons_own(t->aws))
    send_right_call(t, &slp_right_dry_run_probe);
  else
    send_right_call(t, call);
}

static void on_event(slp_event *ev) {
  slp_rights *t = SLP_OWNER(ev, slp_rights, ev);
  slp_fail fine = {0};
  if (t->at < t->n)
    try_next(t);
  else
    finish_rights(t, &fine);
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */
int slp_rights_new(slp_rights **ret, sloop_t *s, slp_right *rights, size_t n, slp_rights_fn on_done,
                   void *arg) {
  slp_rights *t = SLP_NEW(s->mem, slp_rights);
  if (!t) return SLP_ENOMEM;
  t->mem = slp_mem_hold(s->mem);
  t->aws = s->family->aws;
  t->rights = rights;
  t->n = n;
  t->on_done = on_done;
  t->arg = arg;
  t->ev.run = on_event;
  slp_aws_hold(t->aws);
  slp_json_op_init(&t->op, t->aws, SLP_LIST_BODY_MAX);
  slp_post(t->aws->h, &t->ev);
  *ret = t;
  return 0;
}

void slp_rights_free(slp_rights *t) {
  if (!t) return;
  slp_mem *mem = t->mem;
  slp_unpost(&t->ev);
  slp_json_op_cancel(&t->op);
  slp_json_op_free(&t->op);
  slp_aws_drop(t->aws);
  slp_free(mem, t);
  slp_mem_drop(mem);
}

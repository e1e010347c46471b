/* push.c - one subscription (SubscribeToShard) for each shard that is read. Before the service ends a
 * subscription, a new one replaces it, which starts after the ContinuationSequenceNumber of the last event.
 *
 * The states of a subscription (sub_state):
 *
 * CLOSED --core wants a page--> WAITING --the rate limit allows a call--> OPEN
 * OPEN --ended, cancelled, or due for renewal--> CLOSED
 * OPEN --ResourceNotFoundException--> ASKING (is the consumer missing, or the shard?) --answered--> CLOSED
 *
 * With or_poll, the stream is polled when subscriptions get no events. The states of the stream (push_way):
 *
 * SUBSCRIBES --subscriptions get no event--> POLLS --try_us later--> TRIES --an event--> RETURNS
 * TRIES --no event--> POLLS, for twice as long     RETURNS --after TAKEN_US--> SUBSCRIBES
 * any --the consumer can't be found or registered--> POLLS_ONLY
 *
 * Each change between push and poll ends all open fetches with "expired". Core then asks for a new cursor
 * after the last record that it has.
 *
 * Each event fills one page. A cursor is a position as text: "oldest", "latest", "time:MS", "at:NUMBER",
 * "after:NUMBER", or just the continuation number of an event. This number comes from the service, so only
 * digits are accepted. All other cursors begin with a letter, so they can't be confused with a number.
 *
 * A fetch gets the next event of the open subscription if the fetch's cursor is the place that the
 * subscription has reached. A fetch with another cursor, or with `anew` set, begins a new subscription. */
#include "source/push.h"

#include "aws/ops.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/num.h"
#include "base/states.h"
#include "codec/page.h"
#include "core/mark.h"
#include "core/source.h"
#include "host/host.h"
#include "host/later.h"
#include "host/op.h"
#include "source/expander.h"
#include "source/kinesis_poll.h"
#include "source/push_consumer.h"
#include "source/push_cursor.h"
#include "source/push_trial.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

/* CALL_US: the service allows one call a second for each consumer and shard. TAKEN_US: for five seconds after
 * a call that the service accepted, it refuses further calls (API reference, SubscribeToShard). */
#define CALL_US 1000000u
#define TAKEN_US 5000000u
/* RENEW_US: the service ends a subscription after five minutes. A subscription is replaced before that, right
 * after an event, so that no event is missed. The jitter keeps subscriptions that began together from ending
 * together. */
#define RENEW_US (270u * 1000000u)
#define RENEW_JITTER_US (30u * 1000000u)
#define SHARD_MAX 129u
_Static_assert(SLP_PUSH_CURSOR_MAX > sizeof "after:" + SLP_SEQ_MAX, "there is room for every number");
/* At Kinesis the continuation number of an event grows even if the shard is idle. If it has not changed for
 * UNMOVED_US, the shard may be closed: for a closed shard, kinesis-mock 0.6.2 sends empty events without
 * end. */
#define UNMOVED_US 8000000u

/* The stream is polled after VAIN_MAX subscriptions in a row that the server answered, but that got no event.
 * Subscriptions that broke without an answer count only if all of them together took VAIN_US, because polls
 * may fail too while the network is down. */
#define VAIN_MAX 3u
#define VAIN_US 20000000u
/* While the stream is polled, a trial subscription is made after TRY_US, then after twice as long each time,
 * up to TRY_US_MAX. If push then works for HELD_US, the next wait is TRY_US again. */
#define TRY_US (60u * 1000000u)
#define TRY_US_MAX (3600u * 1000000u)
#define HELD_US (600u * 1000000u)

typedef enum { CLOSED, WAITING, OPEN, ASKING } sub_state;
typedef enum { SUBSCRIBES, POLLS, TRIES, RETURNS, POLLS_ONLY } push_way;

/* Counts the subscriptions that got no event since the last event came. */
typedef struct vain {
  uint32_t n;          /* how many subscriptions have ended without an event */
  uint32_t answered_n; /* how many of these n subscriptions the server had answered */
  uint64_t since_us;   /* when the first of these n subscriptions began */
  /* a sum over the shards that core stopped reading: how long their subscriptions had been open without an
   * event */
  uint64_t silent_us;
} vain;

typedef struct push push;
typedef struct sub { /* the subscription of one shard */
  push *p;
  sub_state state;
  slp_op_subscribe op;
  slp_src_fetch *fetch;         /* core's request that waits for an event; NULL: none waits */
  slp_expander *expander;       /* expands the aggregates of an event; NULL: none is being expanded */
  char at[SLP_PUSH_CURSOR_MAX]; /* the cursor after the last event, at which the next event begins */
  uint64_t moved_us;            /* when `at` last changed */
  uint64_t asked_us;            /* when SubscribeToShard was last called */
  uint64_t taken_us;            /* when the service last accepted a call */
  /* when the subscription is replaced by a new one */
  uint64_t renew_us;
  uint8_t events; /* 1: the subscription has got an event */
  /* Only with given_arn. 1: the last call was answered "not found", and core got the failure SLP_GONE, as for
   * a shard that does not exist. */
  uint8_t asked_gone;
  vain vain;
  slp_timer timer;
  /* the shard's id, NUL-terminated */
  char shard[];
} sub;

struct push {
  slp_source s; /* first member: freeing s frees the block */
  slp_host *h;
  slp_ops *ops;
  slp_source *poll; /* owned; lists the shards, and reads them while the stream is polled */
  slp_finding finding;
  slp_src_describe inner; /* the request to `poll` for a description, when `describes` has requests */
  uint8_t describing;     /* 1: `inner` is in flight */
  /* Requests for a description that wait for `inner`, from core and from an operator's command; linked by
   * impl. */
  slp_op *describes;
  slp_map subs;    /* shard id -> sub */
  slp_later later; /* requests for positions and descriptions that are answered without a call to AWS */
  uint8_t or_poll;
  push_way way;
  slp_push_trial trial;
  vain vain;            /* counts the subscriptions of all shards together */
  uint64_t try_us;      /* for how long the stream is polled before the next trial subscription */
  uint64_t returned_us; /* when the stream was last changed from poll back to push */
  slp_timer back;       /* in RETURNS: runs when the service accepts a subscription again after the trial */
  /* starved: a shard that got no event. polled: the shard that was polled last. The trial subscribes to one
   * of them. */
  char starved[SHARD_MAX], polled[SHARD_MAX];
  uint64_t starved_us; /* when the shard `starved` was last polled */
  char stream_arn[512];
  char consumer_arn[sizeof((slp_finding *)0)->arn]; /* "": the ARN is not known yet */
  char given_arn[SLP_CONSUMER_ARN_MAX + 1]; /* the consumer's ARN from the user; "": the user gave a name */
  /* the consumer's name */
  char consumer[129];
};

static push *push_of(slp_source *s) { return SLP_OWNER(s, push, s); }

static const slp_set sub_allowed[] = {
    [CLOSED] = SLP_BIT(WAITING),
    [WAITING] = SLP_BIT(OPEN) | SLP_BIT(CLOSED),
    [OPEN] = SLP_BIT(CLOSED) | SLP_BIT(ASKING),
    [ASKING] = SLP_BIT(CLOSED),
};

static void move(sub *u, sub_state to) {
  SLP_MOVE(sub_allowed, u->state, to);
  slp_timer_clear(u->p->h, &u->timer);
}

static const slp_set way_allowed[] = {
    [SUBSCRIBES] = SLP_BIT(POLLS) | SLP_BIT(POLLS_ONLY),
    [POLLS] = SLP_BIT(TRIES) | SLP_BIT(POLLS_ONLY),
    [TRIES] = SLP_BIT(POLLS) | SLP_BIT(RETURNS) | SLP_BIT(POLLS_ONLY),
    [RETURNS] = SLP_BIT(SUBSCRIBES) | SLP_BIT(POLLS_ONLY),
    [POLLS_ONLY] = SLP_BIT(POLLS_ONLY),
};

/* Changes the state of the stream. s.pushes is 1 in SUBSCRIBES and 0 in all other states. */
static void move_way(push *p, push_way to) {
  SLP_MOVE(way_allowed, p->way, to);
  p->s.pushes = to == SUBSCRIBES;
  if (to == POLLS_ONLY) {
    slp_push_trial_stop(&p->trial);
    slp_timer_clear(p->h, &p->back);
  }
}

/* ---- answering ----------------------------------------------------------------------------------------- */
static void answer_fetch(sub *u) {
  slp_src_fetch *f = u->fetch;
  u->fetch = NULL;
  f->rq.impl = NULL;
  f->rq.on_done(&f->rq);
}

/* Appended to the error message if a subscription got no byte at all. Kinesis sends an event every few
 * seconds even for an idle shard, so something between Kinesis and this process must be holding the answer
 * back. */
static const char held_back[] =
    "the service sends an event every few seconds, so a proxy in between may buffer answers: turn buffering "
    "off (nginx: proxy_buffering off), or read with retrieval poll or auto";

static void fail_fetch(sub *u, const slp_fail *fail) {
  slp_page_reset(u->fetch->page);
  u->fetch->rq.fail = *fail;
  if (!u->p->or_poll && u->op.silent && !u->events)
    slp_fail_set(&u->fetch->rq.fail, fail->class, fail->code, "%.90s; %s", fail->message, held_back);
  else if (!u->p->or_poll && u->vain.n >= VAIN_MAX)
    slp_fail_set(&u->fetch->rq.fail, fail->class, fail->code,
                 "%.180s; %u subscriptions in a row delivered no event: retrieval auto would poll",
                 fail->message, (unsigned)u->vain.n);
  u->fetch->rq.sent_us = u->asked_us;
  u->fetch->rq.done_us = slp_now_us(u->p->h);
  u->fetch->rq.date_ms = u->op.op.date_ms;
  answer_fetch(u);
}

/* Makes the fetch f fail in a later turn of the event queue, because no callback may run inside core's
 * call. */
static void answer_later(push *p, slp_src_fetch *f, slp_class class, int code, const char *why) {
  slp_page_reset(f->page);
  slp_fail_clear(&f->rq.fail);
  slp_fail_set(&f->rq.fail, class, code, "%s", why);
  f->rq.date_ms = -1;
  f->rq.sent_us = f->rq.done_us = slp_now_us(p->h);
  slp_later_add(&p->later, &f->rq);
}

static void close_sub(sub *u) {
  if (u->state == OPEN) u->p->ops->unsubscribe(u->p->ops, &u->op);
  if (u->state != CLOSED) move(u, CLOSED);
}

/* ---- subscribing --------------------------------------------------------------------------------------- */
static int may_grow(slp_op_subscribe *op, size_t bytes) {
  sub *u = SLP_OWNER(op, sub, op);
  return u->fetch && (!u->fetch->may_grow || u->fetch->may_grow(u->fetch, bytes));
}

static void on_event(slp_op_subscribe *op);
static void on_over(slp_op *op);

static void open_subscription(sub *u) {
  push *p = u->p;
  slp_fail fail = {0};
  u->asked_us = slp_now_us(p->h);
  u->renew_us = slp_after_us(u->asked_us, RENEW_US - slp_random_below(p->h, RENEW_JITTER_US));
  u->events = 0;
  u->op = (slp_op_subscribe){.op = {.on_done = on_over},
                             .consumer_arn = slp_str_of(p->consumer_arn),
                             .shard = slp_str_of(u->shard),
                             .may_grow = may_grow,
                             .on_event = on_event};
  slp_push_cursor_take(&u->op, u->at);
  if (p->ops->subscribe(p->ops, &u->op)) {
    move(u, CLOSED);
    slp_fail_set(&fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a subscription");
    fail_fetch(u, &fail);
    return;
  }
  move(u, OPEN);
  p->ops->next_event(p->ops, &u->op, u->fetch->page);
  if (p->or_poll) (void)slp_timer_set(p->h, &u->timer, slp_after_us(u->asked_us, SLP_PUSH_SILENT_US));
}

static void poll_instead(sub *u, const char *why);

/* In WAITING: runs when the rate limit allows a call. (The timer is used even if there is no wait, because no
 * callback may run inside core's fetch.) In OPEN: runs when no event has arrived within
 * SLP_PUSH_SILENT_US. */
static void on_timer(slp_timer *timer) {
  sub *u = SLP_OWNER(timer, sub, timer);
  if (u->state != OPEN)
    open_subscription(u);
  else if (!u->op.pending && u->p->way == SUBSCRIBES && !SLP_MUTANT(auto_never_polls))
    poll_instead(u, "a subscription brought no event in 10 s");
}

/* subscribes to the shard as soon as both rate limits of the service allow a call */
static void subscribe_when_allowed(sub *u) {
  uint64_t now = slp_now_us(u->p->h), at_us = now;
  slp_fail fail = {0};
  if (u->asked_us) at_us = slp_max_u64(at_us, u->asked_us + CALL_US);
  if (u->taken_us) at_us = slp_max_u64(at_us, u->taken_us + TAKEN_US);
  move(u, WAITING);
  if (slp_timer_set(u->p->h, &u->timer, at_us) == 0) return;
  move(u, CLOSED);
  slp_fail_set(&fail, SLP_NOMEM, SLP_ENOMEM, "no memory to wait for a subscription");
  fail_fetch(u, &fail);
}

/* ---- events -------------------------------------------------------------------------------------------- */
/* Gives the page of an event to core. Closes the subscription if it is due for renewal, or if the shard has
 * ended. */
static void hand_out(sub *u) {
  push *p = u->p;
  int stays = u->at[0] && slp_now_us(p->h) < u->renew_us;
  /* The subscription is closed right after an event, so that no record is lost or comes twice. */
  if (!stays && u->state == OPEN) close_sub(u);
  answer_fetch(u);
}

static void on_expanded(slp_expander *x, int r) {
  sub *u = x->arg;
  slp_kinesis_poll_expanded(u->p->poll, x);
  u->expander = NULL;
  if (r)
    slp_fail_set(&u->fetch->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory to expand the aggregates of a page");
  hand_out(u);
}

/* Decides whether a page with children is the last page of its shard. Kinesis ends a shard by an event that
 * has children and no continuation number. ferrokinesis 0.7 sends both. Then the page is the last one if it
 * has no records and behind_ms says that none are left: a closed shard gets no new records. */
static void judge_end(slp_page *page) {
  if (!page->next.n || !page->children_n) return;
  if (page->recs_n || page->behind_ms) {
    page->children_n = 0;
  } else {
    page->next = (slp_str){NULL, 0};
  }
}

/* Returns 1 if for UNMOVED_US no event had records, and the continuation number did not change. */
static int stands_still(sub *u, const slp_page *page) {
  uint64_t now = slp_now_us(u->p->h);
  if (page->recs_n || page->behind_ms || page->children_n || !slp_str_is(page->next, u->at))
    u->moved_us = now;
  return now - u->moved_us >= UNMOVED_US;
}

/* Returns 1 if the subscription began at "latest", and this position can't be used a second time. "latest"
 * means the moment at which the service accepts the subscription. If the service has accepted it, a second
 * "latest" would mean a later moment, and the records in between would be lost. After an error of a gateway
 * (5xx) it is not known whether the service has accepted the subscription. */
static int is_spent(const sub *u) {
  return strcmp(u->at, "latest") == 0 &&
         (u->op.opened || !u->op.op.fail.http_status || u->op.op.fail.http_status >= 500);
}

/* Drops an event whose continuation number is malformed. Core repeats the fetch with the cursor from before
 * this event. */
static void refuse_number(sub *u, slp_str number) {
  slp_fail fail = {0};
  slp_fail_set(&fail, is_spent(u) ? SLP_EXPIRED : SLP_TRANSIENT, SLOOP_EPROTO,
               "an event's ContinuationSequenceNumber is no number of at most %d digits: %.*s", SLP_SEQ_MAX,
               (int)slp_min_u64(number.n, SLP_SEQ_MAX + 1), number.p);
  close_sub(u);
  fail_fetch(u, &fail);
}

static void on_event(slp_op_subscribe *op) {
  sub *u = SLP_OWNER(op, sub, op);
  slp_src_fetch *f = u->fetch;
  slp_page *page = f->page;
  if (!u->events) {
    u->taken_us = slp_now_us(u->p->h);
    f->rq.date_ms = op->op.date_ms;
  }
  f->follows = u->events;
  /* f->rq.date_ms is the Date header of the answer, which belongs to the first event only */
  f->rq.sent_us = u->events ? op->event_us : op->op.sent_us;
  u->events = 1;
  u->asked_gone = 0;
  u->vain = u->p->vain = (vain){0};
  slp_timer_clear(u->p->h, &u->timer);
  f->rq.done_us = slp_now_us(u->p->h);
  f->body_bytes = op->event_bytes;
  judge_end(page);
  if (page->next.n && (page->next.n > SLP_SEQ_MAX || !slp_num_valid(page->next))) {
    refuse_number(u, page->next);
    return;
  }
  f->still = stands_still(u, page);
  if (page->next.n) memcpy(u->at, page->next.p, page->next.n);
  u->at[page->next.n] = 0;
  int r = slp_kinesis_poll_expand(u->p->poll, page, slp_str_of(u->shard), &u->expander, on_expanded, u);
  if (r == SLP_MORE) return;
  if (r) slp_fail_set(&f->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory to expand the aggregates of a page");
  hand_out(u);
}

/* ---- the consumer is gone, or the shard ---------------------------------------------------------------- */
/* ResourceNotFoundException does not say whether the consumer or the shard is missing. So this function has
 * the consumer looked up, and registered again if it was deregistered. */
static void ask_who_is_gone(sub *u) {
  push *p = u->p;
  move(u, ASKING);
  if (p->finding.state == SLP_FINDING_IDLE) slp_finding_begin(&p->finding, p->stream_arn);
}

/* Decides what is missing if the user gave the consumer's ARN, so that the consumer can't be looked up. The
 * first time, core gets the failure "the shard is gone", and makes a listing. If core then subscribes to the
 * shard again, the listing contained the shard, so the consumer is missing. If it happens a third time, the
 * shard may be missing, so all begins again. */
static slp_fail given_is_gone(sub *u) {
  slp_fail fail = u->op.op.fail;
  u->asked_gone = !u->asked_gone;
  if (!u->asked_gone)
    slp_fail_set(&fail, SLP_TRANSIENT, SLOOP_EREMOTE,
                 "%.160s (the shard is listed; consumer %.60s, given by its ARN, is not registered again)",
                 u->op.op.fail.message, u->p->consumer);
  return fail;
}

/* Returns the failure for the fetch of a shard in state ASKING. changed, 1: the consumer has another ARN now,
 * or could not be found. */
static slp_fail who_is_gone(sub *u, int changed) {
  const push *p = u->p;
  slp_fail fail = {0};
  if (p->finding.fail.class != SLP_FINE && p->s.pushes) {
    fail = p->finding.fail;
  } else if (!changed) {
    fail = p->given_arn[0] ? given_is_gone(u) : u->op.op.fail;
  } else {
    slp_fail_set(&fail, SLP_TRANSIENT, SLOOP_EREMOTE, "consumer %s was deregistered while it was in use; %s",
                 p->consumer, p->s.pushes ? "it is registered again" : "polling from now on");
  }
  return fail;
}

static void tell_asking(push *p, int changed) {
  size_t at = 0;
  for (sub *u; (u = slp_map_each(&p->subs, &at)) != NULL;) {
    if (u->state != ASKING) continue;
    slp_fail fail = who_is_gone(u, changed);
    move(u, CLOSED);
    if (changed && is_spent(u)) fail.class = SLP_EXPIRED;
    fail_fetch(u, &fail);
    at = 0; /* the callback may have freed any subscription, so the search starts again */
  }
}

/* ---- polling instead ---------------------------------------------------------------------------------- */

/* Sets a message for core to log: why the stream is polled from now on, or that push works again. */
static void set_push_news(push *p, int trouble, uint64_t retry_us, const char *why) {
  if (trouble)
    snprintf(p->s.told, sizeof p->s.told,
             "retrieval: poll, because of %.250s; subscribing is tried again in %u s", why,
             (unsigned)(retry_us / 1000000));
  else
    snprintf(p->s.told, sizeof p->s.told, "retrieval: push again as consumer %s", p->consumer);
  p->s.news = trouble ? SLP_NEWS_TROUBLE : SLP_NEWS_GOOD;
  p->s.news_retry_ms = retry_us / 1000;
}

/* Ends the fetches of all shards with "expired", because push and poll use different cursors. Core then asks
 * for a new cursor after the last record that it has. If an event is complete, it is still handed out. */
static void end_fetches(push *p) {
  size_t at = 0;
  for (sub *u; (u = slp_map_each(&p->subs, &at)) != NULL;) {
    slp_src_fetch *f = u->fetch;
    if (u->state == ASKING) continue;
    close_sub(u);
    if (!f || u->expander) continue;
    u->fetch = NULL;
    answer_later(p, f, SLP_EXPIRED, SLOOP_EREMOTE, "it is polled now: another kind of cursor");
  }
}

static void try_later(push *p) {
  /* without memory for the timer, the stream is polled until the consumer is opened again */
  (void)slp_push_trial_later(&p->trial, slp_after_us(slp_now_us(p->h), p->try_us));
}

static void poll_instead(sub *u, const char *why) {
  push *p = u->p;
  uint64_t now = slp_now_us(p->h);
  int held = !p->try_us || (p->returned_us && now - p->returned_us >= HELD_US);
  p->try_us = held ? TRY_US : slp_min_u64(2 * p->try_us, TRY_US_MAX);
  snprintf(p->starved, sizeof p->starved, "%s", u->shard);
  snprintf(p->polled, sizeof p->polled, "%s", u->shard);
  p->starved_us = now;
  char said[300];
  snprintf(said, sizeof said, "shard %.130s: %.160s", u->shard, why);
  p->vain = (vain){0};
  move_way(p, POLLS);
  set_push_news(p, 1, p->try_us, said);
  end_fetches(p);
  try_later(p);
}

/* Called when the trial is about to begin. Chooses the trial's shard: `starved` if that shard was polled
 * lately, otherwise `polled`. */
static void on_trial_due(slp_push_trial *t) {
  push *p = SLP_OWNER(t, push, trial);
  int reads = slp_now_us(p->h) - p->starved_us < TRY_US;
  t->consumer_arn = p->consumer_arn;
  t->shard = reads ? p->starved : p->polled;
  move_way(p, TRIES);
}

static void on_trial_over(slp_push_trial *t) {
  push *p = SLP_OWNER(t, push, trial);
  if (t->brought) {
    move_way(p, RETURNS);
    slp_timer_set_reserved(p->h, &p->back, slp_after_us(slp_now_us(p->h), TAKEN_US));
    return;
  }
  move_way(p, POLLS);
  if (t->fail.class == SLP_GONE && p->finding.state == SLP_FINDING_IDLE)
    slp_finding_begin(&p->finding, p->stream_arn);
  p->try_us = slp_min_u64(2 * p->try_us, TRY_US_MAX);
  try_later(p);
}

static void on_back(slp_timer *timer) {
  push *p = SLP_OWNER(timer, push, back);
  p->returned_us = slp_now_us(p->h);
  size_t at = 0;
  for (sub *u; (u = slp_map_each(&p->subs, &at)) != NULL;) u->vain = (vain){0};
  move_way(p, SUBSCRIBES);
  set_push_news(p, 0, 0, NULL);
}

/* Returns 1 if a proxy has refused the call, and not AWS. A redirect (3xx) counts too, because redirects are
 * not followed. */
static int a_proxy_said_so(const slp_fail *fail) { return fail->http_status >= 300 && !fail->aws_code[0]; }

static int is_no_operation_there(const slp_fail *fail) {
  return strcmp(fail->aws_code, "UnknownOperationException") == 0;
}

/* Returns 1 if a subscription got no event, and a poll might have got records. Returns 0 if AWS reports a
 * failure that a poll would meet too: a missing consumer or shard, another subscriber, too many calls, bad
 * credentials. */
static int is_vain(const sub *u, const slp_fail *fail) {
  slp_class class = fail->class;
  return !u->events && (class == SLP_FINE || class == SLP_TRANSIENT || class == SLP_REFUSED ||
                        class == SLP_ACCESS || (class == SLP_AUTH && a_proxy_said_so(fail)));
}

/* Returns 1 if every further subscription would fail too: it is denied, a proxy blocks it, or the server does
 * not know the operation. */
static int is_final(const slp_fail *fail) {
  int lasts = slp_class_lasts(fail->class) && (a_proxy_said_so(fail) || is_no_operation_there(fail));
  return fail->class == SLP_ACCESS || lasts;
}

static void note_vain(vain *v, const sub *u, const slp_fail *fail) {
  if (!v->n++) v->since_us = u->asked_us;
  v->answered_n += u->op.opened || fail->http_status;
}

/* Called when an OPEN subscription is over. Returns 1 if the stream should be polled: this shard, or all
 * shards together, had enough subscriptions without an event. All shards are counted together as well,
 * because in a fleet a shard may move to another worker before its own count is high enough. */
static int has_enough(sub *u, const slp_fail *fail) {
  push *p = u->p;
  if (!is_vain(u, fail) || SLP_MUTANT(auto_never_polls)) return 0;
  note_vain(&u->vain, u, fail);
  note_vain(&p->vain, u, fail);
  uint64_t now = slp_now_us(p->h);
  return is_final(fail) || u->vain.answered_n >= VAIN_MAX ||
         (u->vain.n >= VAIN_MAX && now - u->vain.since_us >= VAIN_US) ||
         (p->vain.answered_n >= VAIN_MAX && now - p->vain.since_us >= TAKEN_US);
}

/* Called when core stops reading a shard. Returns 1 if the stream should be polled from now on: the silent
 * subscriptions of all shards that core has stopped reading took VAIN_US together. */
static int was_silent(sub *u) {
  push *p = u->p;
  if (u->state != OPEN || u->events || u->op.pending || SLP_MUTANT(auto_never_polls)) return 0;
  p->vain.silent_us += slp_now_us(p->h) - u->asked_us;
  return p->vain.silent_us >= VAIN_US;
}

static void on_over(slp_op *op) {
  sub *u = SLP_OWNER(op, sub, op.op);
  slp_fail fail = op->fail;
  int ended = fail.class == SLP_FINE;
  if (u->op.opened && !u->events) u->taken_us = slp_now_us(u->p->h);
  if (fail.class == SLP_GONE && u->fetch && !u->expander) {
    ask_who_is_gone(u);
    return;
  }
  move(u, CLOSED);
  /* no fetch waits for the failure, and the next fetch subscribes again */
  if (!u->fetch || u->expander) return;
  if (has_enough(u, &fail) && u->p->or_poll && u->p->way == SUBSCRIBES) {
    char why[200];
    const char *name = strstr(fail.message, fail.aws_code) ? "" : fail.aws_code;
    snprintf(why, sizeof why, "%.120s%s%.64s%s", fail.message, name[0] ? " (" : "", name, name[0] ? ")" : "");
    poll_instead(u, fail.class == SLP_FINE ? "subscriptions ended without an event" : why);
  } else if (is_spent(u)) {
    slp_fail_set(&fail, SLP_EXPIRED, SLOOP_EREMOTE, "the subscription ended before its first event");
    fail.class = SLP_EXPIRED;
    fail_fetch(u, &fail);
  } else if (ended && (u->events || !u->op.opened)) {
    subscribe_when_allowed(u);
  } else {
    if (ended) slp_fail_set(&fail, SLP_TRANSIENT, SLOOP_EPROTO, "the subscription ended without an event");
    /* BUSY: another subscription to this shard is in its first five seconds. The worker that read the shard
     * before has made it, or this process shortly before. */
    if (fail.class == SLP_BUSY) fail.retry_after_us = TAKEN_US;
    fail_fetch(u, &fail);
  }
}

/* ---- core's requests ----------------------------------------------------------------------------------- */
static void on_described(slp_op *rq);
static void on_found(slp_finding *f);

static void do_describe(slp_source *s, slp_src_describe *rq) {
  push *p = push_of(s);
  int begun = p->describes != NULL;
  rq->rq.impl = p->describes;
  p->describes = &rq->rq;
  if (begun) return;
  p->inner = (slp_src_describe){.rq = {.on_done = on_described}};
  p->describing = 1;
  p->poll->ops->describe(p->poll, &p->inner);
}

/* Gives the answer in p->inner to all requests for a description that wait for it. */
static void answer_describes(push *p) {
  for (slp_op *rq; (rq = p->describes) != NULL;) {
    slp_src_describe *d = SLP_OWNER(rq, slp_src_describe, rq);
    void (*on_done)(slp_op *) = rq->on_done;
    p->describes = rq->impl;
    *d = p->inner;
    rq->on_done = on_done;
    slp_later_add(&p->later, rq);
  }
}

static void on_described(slp_op *rq) {
  push *p = SLP_OWNER(rq, push, inner.rq);
  p->describing = 0;
  if (!p->s.news) p->s.told[0] = 0;
  int decided = !p->s.pushes || p->consumer_arn[0];
  if (rq->fail.class != SLP_FINE || !p->inner.ready ||
      (decided && strcmp(p->stream_arn, p->inner.arn) == 0)) {
    answer_describes(p);
    return;
  }
  if (p->finding.state != SLP_FINDING_IDLE) return; /* on_found answers this request too */
  snprintf(p->stream_arn, sizeof p->stream_arn, "%s", p->inner.arn);
  p->consumer_arn[0] = 0;
  slp_finding_begin(&p->finding, p->stream_arn);
}

static void on_found(slp_finding *f) {
  push *p = SLP_OWNER(f, push, finding);
  int lasts = slp_class_lasts(f->fail.class) || f->fail.class == SLP_BUSY;
  int changed = f->fail.class != SLP_FINE || strcmp(p->consumer_arn, f->arn) != 0;
  if (f->fail.class == SLP_FINE) {
    snprintf(p->consumer_arn, sizeof p->consumer_arn, "%s", f->arn);
    if (p->s.pushes)
      snprintf(p->s.told, sizeof p->s.told, "retrieval: push as consumer %s%s", p->consumer,
               f->registered ? ", which is new" : "");
  } else if (p->or_poll && lasts) {
    move_way(p, POLLS_ONLY);
    snprintf(p->s.told, sizeof p->s.told, "retrieval: poll, because of %s", f->fail.message);
  } else if (p->describes && !p->describing) {
    p->inner.rq.fail = f->fail;
    p->stream_arn[0] = 0; /* so the next description looks for the consumer again */
  }
  /* if a description is in flight, on_described answers the requests that wait */
  if (!p->describing) answer_describes(p);
  tell_asking(p, changed);
}

static void do_list(slp_source *s, slp_src_list *rq) { push_of(s)->poll->ops->list(push_of(s)->poll, rq); }

static void do_locate(slp_source *s, slp_src_locate *rq) {
  push *p = push_of(s);
  char text[SLP_PUSH_CURSOR_MAX];
  if (!p->s.pushes) {
    p->poll->ops->locate(p->poll, rq);
    return;
  }
  slp_fail_clear(&rq->rq.fail);
  rq->rq.sent_us = rq->rq.done_us = slp_now_us(p->h);
  rq->rq.date_ms = -1;
  slp_push_cursor_put(&rq->from, text);
  slp_buf_clear(&rq->cursor);
  if (slp_buf_add_z(&rq->cursor, text))
    slp_fail_set(&rq->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a position");
  slp_later_add(&p->later, &rq->rq);
}

static sub *sub_for(push *p, slp_str shard) {
  sub *u = slp_map_get(&p->subs, shard);
  if (u) return u;
  u = slp_zalloc(p->h->mem, sizeof *u + shard.n + 1);
  if (!u) return NULL;
  u->p = p;
  u->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  memcpy(u->shard, shard.p, shard.n);
  if (slp_map_put(&p->subs, (slp_str){u->shard, shard.n}, u)) {
    slp_free(p->h->mem, u);
    return NULL;
  }
  return u;
}

static void sub_free(sub *u) {
  push *p = u->p;
  SLP_CHECK(!u->fetch);
  close_sub(u);
  slp_map_remove(&p->subs, slp_str_of(u->shard));
  slp_free(p->h->mem, u);
}

static void do_poll(push *p, slp_src_fetch *rq) {
  size_t n = slp_min_u64(rq->shard.n, SHARD_MAX - 1);
  memcpy(p->polled, rq->shard.p, n);
  p->polled[n] = 0;
  if (slp_str_is(rq->shard, p->starved)) p->starved_us = slp_now_us(p->h);
  p->poll->ops->fetch(p->poll, rq);
}

static void do_fetch(slp_source *s, slp_src_fetch *rq) {
  push *p = push_of(s);
  rq->still = rq->follows = 0;
  rq->body_bytes = 0;
  if (slp_push_cursor_is_own(rq->cursor) != p->s.pushes) {
    sub *old = slp_map_get(&p->subs, rq->shard);
    if (old && !old->fetch) close_sub(old);
    answer_later(p, rq, SLP_EXPIRED, SLOOP_EREMOTE,
                 p->s.pushes ? "it is pushed now: another kind of cursor"
                             : "it is polled now: another kind of cursor");
    return;
  }
  if (!p->s.pushes) {
    do_poll(p, rq);
    return;
  }
  sub *u = sub_for(p, rq->shard);
  slp_fail_clear(&rq->rq.fail);
  rq->rq.date_ms = -1;
  if (!u) {
    answer_later(p, rq, SLP_NOMEM, SLP_ENOMEM, "no memory for a subscription");
    return;
  }
  SLP_CHECK(!u->fetch && rq->cursor.n < SLP_PUSH_CURSOR_MAX);
  u->fetch = rq;
  rq->rq.impl = u;
  if (!slp_str_is(rq->cursor, u->at)) u->moved_us = slp_now_us(p->h);
  if (u->state == OPEN && slp_str_is(rq->cursor, u->at) && !rq->anew) {
    p->ops->next_event(p->ops, &u->op, rq->page);
    return;
  }
  close_sub(u);
  memcpy(u->at, rq->cursor.p, rq->cursor.n);
  u->at[rq->cursor.n] = 0;
  subscribe_when_allowed(u);
}

static sub *subscription_of_request(push *p, const slp_op *rq) {
  size_t at = 0;
  sub *u;
  while ((u = slp_map_each(&p->subs, &at))) {
    if (u->fetch && &u->fetch->rq == rq) return u;
  }
  return NULL;
}

static void do_resume(slp_source *s, slp_src_fetch *rq) {
  push *p = push_of(s);
  sub *u = slp_map_get(&p->subs, rq->shard);
  if (u && u->fetch == rq) {
    if (u->state == OPEN) p->ops->resume_events(p->ops, &u->op);
  } else if (!slp_later_has(&p->later, &rq->rq)) {
    p->poll->ops->resume(p->poll, rq); /* the stream was polled when this fetch began */
  }
}

static void cancel_fetch(sub *u) {
  if (u->expander) {
    slp_kinesis_poll_expanded(u->p->poll, u->expander);
    u->expander = NULL;
  }
  close_sub(u);
  u->fetch->rq.impl = NULL;
  u->fetch = NULL;
}

/* If rq is a request for a description, cancels it and returns 1. Otherwise returns 0. */
static int cancel_describe(push *p, slp_op *rq) {
  slp_op *it = p->describes;
  while (it && it != rq && it->impl != rq) it = it->impl;
  if (!it) return 0;
  if (it == rq)
    p->describes = rq->impl;
  else
    it->impl = rq->impl;
  rq->impl = NULL;
  if (p->describes) return 1;
  p->poll->ops->cancel(p->poll, &p->inner.rq); /* a search for the consumer, if there is one, continues */
  p->describing = 0;
  return 1;
}

static void do_cancel(slp_source *s, slp_op *rq) {
  push *p = push_of(s);
  if (cancel_describe(p, rq)) return;
  if (slp_later_cancel(&p->later, rq)) return;
  sub *u = subscription_of_request(p, rq);
  if (u)
    cancel_fetch(u);
  else
    p->poll->ops->cancel(p->poll, rq);
}

static void do_leave(slp_source *s, slp_str shard) {
  push *p = push_of(s);
  sub *u = slp_map_get(&p->subs, shard);
  if (!u) return;
  if (p->or_poll && p->way == SUBSCRIBES && was_silent(u))
    poll_instead(u, "subscriptions brought no event while it was read");
  sub_free(u);
}

static int is_listening(slp_source *s, const slp_src_fetch *rq) {
  const sub *u = slp_map_get(&push_of(s)->subs, rq->shard);
  return u && u->state == OPEN && u->fetch == rq && u->events && !u->op.pending && !u->expander;
}

static void do_close(slp_source *s) {
  push *p = push_of(s);
  SLP_CHECK(!p->describes);
  slp_later_end(&p->later);
  slp_finding_stop(&p->finding);
  slp_push_trial_stop(&p->trial);
  slp_timer_clear(p->h, &p->back);
  slp_host_unreserve_timers(p->h, 1);
  size_t at = 0;
  for (sub *u; (u = slp_map_each(&p->subs, &at)) != NULL; at = 0) sub_free(u);
  slp_map_free(&p->subs);
  p->poll->ops->close(p->poll);
  slp_free(p->h->mem, p);
}

static const slp_source_ops push_ops = {
    .describe = do_describe,
    .list = do_list,
    .locate = do_locate,
    .fetch = do_fetch,
    .resume = do_resume,
    .cancel = do_cancel,
    .leave = do_leave,
    .is_listening = is_listening,
    .close = do_close,
};

static void take_consumer(push *p, const char *consumer) {
  slp_consumer_name named;
  const char *wrong;
  int by_name = slp_consumer_name_read(slp_str_of(consumer), &named, &wrong) || !named.stream_arn.p;
  if (by_name) named.name = slp_str_of(consumer);
  snprintf(p->consumer, sizeof p->consumer, "%.*s", (int)named.name.n, named.name.p);
  if (!by_name) snprintf(p->given_arn, sizeof p->given_arn, "%s", consumer);
}

int slp_push_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_source *poll, const char *consumer,
                 int or_poll) {
  push *p = SLP_NEW(h->mem, push);
  if (!p) return SLP_ENOMEM;
  if (slp_host_reserve_timers(h, 1)) {
    slp_free(h->mem, p);
    return SLP_ENOMEM;
  }
  p->s = *poll;
  p->s.ops = &push_ops;
  p->s.pushes = 1;
  p->h = h;
  p->ops = ops;
  p->poll = p->s.poll = poll;
  p->or_poll = (uint8_t)or_poll;
  slp_later_init(&p->later, p->h);
  slp_push_trial_init(&p->trial, h, ops);
  p->trial.on_due = on_trial_due;
  p->trial.on_over = on_trial_over;
  p->back = (slp_timer){.at_us = UINT64_MAX, .run = on_back};
  take_consumer(p, consumer);
  slp_map_init(&p->subs, h->mem);
  slp_finding_init(&p->finding, h, ops, p->consumer, p->given_arn);
  p->finding.on_done = on_found;
  *ret = &p->s;
  return 0;
}

/* multi_table.c - one store made of several stores, one for each table. Each request goes to the store of the
 * table whose number it has. */
#include "guest/multi_table.h"

#include "base/fail.h"
#include "base/mem.h"
#include "host/host.h"
#include "lease/store.h"
#include "store/table.h"

#include <sloop.h>

/* while another worker may be creating the tables, they are looked for again after this time */
#define AGAIN_US 500000
/* if this many successive passes find only some of the needed tables, that is an error */
#define LOOKS_MAX 10
#define LOOK_FOR_US 30000000 /* time between two checks whether a missing optional table exists now */

typedef struct part {
  slp_store *store;       /* owned */
  slp_table_spec *spec;   /* owned */
  slp_store_prepare look; /* the request that checks whether a missing optional table exists now */
  uint64_t look_us;       /* the next check for the missing table begins at this time or later */
  uint8_t looking;        /* 1: `look` is under way */
  uint8_t missing;        /* 1: the table did not exist at the last check */
} part;

typedef struct several {
  slp_store s;
  slp_mem *mem;
  slp_host *h;
  part parts[SLP_SEVERAL_MAX];
  size_t n;
  slp_store_prepare *asked; /* the caller's request `prepare`; NULL: none is under way */
  slp_store_prepare one;    /* the request to the store of the table that is being prepared */
  size_t at;                /* index of the table that is being prepared */
  uint8_t makes; /* 1: this pass creates missing tables; 0: this pass only finds out which tables are there */
  uint8_t looks; /* how many passes have found only some of the needed tables */
  slp_timer timer;
} several;

static several *several_of(slp_store *s) { return SLP_OWNER(s, several, s); }

static part *part_of(slp_store *s, const slp_store_req *rq) {
  SLP_CHECK(rq->table < several_of(s)->n);
  return &several_of(s)->parts[rq->table];
}

/* ---- a missing table ----------------------------------------------------------------------------------- */

static void answer_at_once(several *v, slp_store_req *rq) {
  rq->sent_us = rq->done_us = slp_now_us(v->h);
  slp_fail_clear(&rq->fail);
  slp_store_answer(v->h, rq);
}

static void looked_for(slp_store_req *rq) {
  part *p = SLP_OWNER(SLP_OWNER(rq, slp_store_prepare, rq), part, look);
  p->looking = 0;
  if (rq->fail.class == SLP_FINE) p->missing = 0;
}

/* Sends a request that checks whether a missing optional table exists now: a worker of a KCL version that
 * creates this table may have joined since. */
static void look_for(several *v, part *p) {
  uint64_t now = slp_now_us(v->h);
  if (v->asked || p->looking || now < p->look_us) return;
  p->looking = 1;
  p->look_us = now + LOOK_FOR_US;
  memset(&p->look, 0, sizeof p->look);
  p->look.rq.on_done = looked_for;
  p->store->ops->prepare(p->store, &p->look);
}

static void stop_looks(several *v) {
  for (size_t i = 0; i < v->n; i++) {
    part *p = &v->parts[i];
    if (p->looking) p->store->ops->cancel(p->store, &p->look.rq);
    p->looking = 0;
  }
}

static void op_get(slp_store *s, slp_store_get *g) {
  part *p = part_of(s, &g->rq);
  if (!p->missing) {
    p->store->ops->get(p->store, g);
    return;
  }
  slp_store_rows_free(&g->out);
  answer_at_once(several_of(s), &g->rq);
}

static void op_list(slp_store *s, slp_store_list *l) {
  part *p = part_of(s, &l->rq);
  if (!p->missing) {
    p->store->ops->list(p->store, l);
    return;
  }
  slp_store_rows_free(&l->out);
  answer_at_once(several_of(s), &l->rq);
  look_for(several_of(s), p);
}

static void op_write(slp_store *s, slp_store_write *w) {
  part *p = part_of(s, &w->rq);
  if (!p->missing) {
    p->store->ops->write(p->store, w);
    return;
  }
  slp_store_rows_free(&w->image);
  w->written = SLP_WRITTEN_NOT_SURE;
  w->image_known = 0;
  answer_at_once(several_of(s), &w->rq);
  slp_table_missing(&w->rq.fail, p->spec);
}

static void op_cancel(slp_store *s, slp_store_req *rq);

/* ---- preparing --------------------------------------------------------------------------------------- */

/* Returns which table is prepared after table `at`. Table 0, the table of leases, comes last, because it may
 * be created only if no optional table is there. */
static size_t next_of(const several *v, size_t at) { return at + 1 < v->n ? at + 1 : 0; }

static void prepare_part(several *v);

/* Answers the caller's request with what became of the table that was prepared last. */
static void answer_prepare(several *v) {
  slp_store_prepare *asked = v->asked;
  v->asked = NULL;
  asked->rq.fail = v->one.rq.fail;
  asked->rq.sent_us = v->one.rq.sent_us;
  asked->rq.done_us = v->one.rq.done_us;
  asked->created = v->one.created;
  slp_store_answer(v->h, &asked->rq);
}

/* Returns how many of the needed tables are missing (missing 1), or are there (missing 0). *ret_one: one of
 * them. */
static size_t count_needed_tables(const several *v, int missing, const part **ret_one) {
  size_t n = 0;
  for (size_t i = v->n; i--;) {
    const part *p = &v->parts[i];
    if (p->spec->optional || p->missing != missing) continue;
    if (ret_one) *ret_one = p;
    n++;
  }
  return n;
}

static void begin_pass(several *v, int makes) {
  v->makes = (uint8_t)makes;
  v->at = next_of(v, 0);
  prepare_part(v);
}

static void look_again(slp_timer *t) { begin_pass(SLP_OWNER(t, several, timer), 0); }

/* Decides what to do when a pass has found out which needed tables are there:
 *   - all: preparing is over;
 *   - none: they are created;
 *   - some: another worker may be creating the others, so a later pass looks again, up to LOOKS_MAX times. If
 *     tables are still missing then, that is an error, because this worker can't repair half an
 *     application. */
static void judge_finished_pass(several *v) {
  const part *have = NULL, *lack = NULL;
  size_t there = count_needed_tables(v, 0, &have), missing = count_needed_tables(v, 1, &lack);
  slp_fail_clear(&v->one.rq.fail);
  if (!missing) {
    answer_prepare(v);
  } else if (!there && v->asked->create) {
    begin_pass(v, 1);
  } else if (!there) {
    slp_table_missing(&v->one.rq.fail, lack->spec);
    answer_prepare(v);
  } else if (v->asked->create && v->looks < LOOKS_MAX) {
    v->looks++;
    slp_timer_set_reserved(v->h, &v->timer, slp_after_us(slp_now_us(v->h), AGAIN_US));
  } else {
    slp_fail_set(&v->one.rq.fail, SLP_REFUSED, SLOOP_EREFUSED,
                 "there is a table \"%.80s\" but no table \"%.80s\": the application is incomplete",
                 have->spec->name, lack->spec->name);
    answer_prepare(v);
  }
}

static void on_part_prepared(slp_store_req *rq) {
  several *v = SLP_OWNER(SLP_OWNER(rq, slp_store_prepare, rq), several, one);
  part *p = &v->parts[v->at];
  int gone = rq->fail.class == SLP_GONE;
  p->missing = (uint8_t)(gone && (p->spec->optional || !v->makes));
  p->look_us = slp_now_us(v->h) + LOOK_FOR_US;
  int failed = rq->fail.class != SLP_FINE && !p->missing;
  if (v->at && !failed) {
    v->at = next_of(v, v->at);
    prepare_part(v);
  } else if (failed || v->makes) {
    answer_prepare(v);
  } else {
    judge_finished_pass(v);
  }
}

static int has_optional(const several *v) {
  for (size_t i = 1; i < v->n; i++)
    if (v->parts[i].spec->optional && !v->parts[i].missing) return 1;
  return 0;
}

static void prepare_part(several *v) {
  part *p = &v->parts[v->at];
  memset(&v->one, 0, sizeof v->one);
  v->one.rq.on_done = on_part_prepared;
  v->one.rq.ms_max = v->asked->rq.ms_max;
  v->one.create = v->makes && !p->spec->optional && v->asked->create && (v->at || !has_optional(v));
  p->store->ops->prepare(p->store, &v->one);
}

static void op_prepare(slp_store *s, slp_store_prepare *asked) {
  several *v = several_of(s);
  SLP_CHECK(!v->asked);
  stop_looks(v);
  v->asked = asked;
  v->looks = 0;
  for (size_t i = 0; i < v->n; i++) v->parts[i].missing = 0;
  size_t all = count_needed_tables(v, 0, NULL);
  begin_pass(v, all == 1); /* if only one table is needed, the first pass may create it */
}

static void op_cancel(slp_store *s, slp_store_req *rq) {
  several *v = several_of(s);
  if (v->asked && rq == &v->asked->rq) {
    v->asked = NULL;
    part *p = &v->parts[v->at];
    slp_timer_clear(v->h, &v->timer);
    p->store->ops->cancel(p->store, &v->one.rq);
  } else {
    part *p = part_of(s, rq);
    p->store->ops->cancel(p->store, rq);
  }
  slp_unpost(&rq->ev); /* the request may have been answered here, without a store */
}

/* ---- the store --------------------------------------------------------------------------------------- */

static slp_store_cost op_cost(slp_store *s) {
  slp_store_cost sum = {0};
  for (size_t i = 0; i < several_of(s)->n; i++) {
    slp_store_cost c = slp_store_cost_of(several_of(s)->parts[i].store);
    sum.write_units += c.write_units;
    sum.read_units += c.read_units;
    sum.write_calls += c.write_calls;
    sum.read_calls += c.read_calls;
    sum.throttles += c.throttles;
  }
  return sum;
}

static void op_close(slp_store *s) {
  several *v = several_of(s);
  slp_mem *mem = v->mem;
  stop_looks(v);
  for (size_t i = 0; i < v->n; i++) {
    v->parts[i].store->ops->close(v->parts[i].store);
    slp_free(mem, v->parts[i].spec);
  }
  slp_timer_clear(v->h, &v->timer);
  slp_host_unreserve_timers(v->h, 1);
  slp_free(mem, v);
  slp_mem_drop(mem);
}

static const slp_store_ops ops = {op_prepare, op_get, op_list, op_write, op_cancel, op_close, op_cost};

int slp_several_store(slp_store **ret, slp_mem *mem, slp_host *h, slp_store *const *stores,
                      const slp_table_spec *specs, size_t n) {
  several *v = n <= SLP_SEVERAL_MAX ? SLP_NEW(mem, several) : NULL;
  if (v && slp_host_reserve_timers(h, 1)) {
    slp_free(mem, v);
    v = NULL;
  }
  if (!v) {
    for (size_t i = 0; i < n; i++) stores[i]->ops->close(stores[i]);
    return SLP_ENOMEM;
  }
  int r = 0;
  v->s.ops = &ops;
  v->mem = slp_mem_hold(mem);
  v->h = h;
  v->n = n;
  v->timer = (slp_timer){.at_us = UINT64_MAX, .run = look_again};
  for (size_t i = 0; i < n; i++) {
    v->parts[i].store = stores[i];
    v->parts[i].spec = slp_table_copy(mem, &specs[i]);
    if (!v->parts[i].spec) r = SLP_ENOMEM;
  }
  if (!r)
    *ret = &v->s;
  else
    op_close(&v->s);
  return r;
}

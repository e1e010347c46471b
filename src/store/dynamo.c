/* dynamo.c - the DynamoDB store. Each request becomes an `asking`, which makes one call at a time.
 *
 *   prepare: DescribeTable; if there is no table, CreateTable, then DescribeTable until the table is ACTIVE
 *   get:     GetItem, or BatchGetItem until no key is left unprocessed
 *   list:    Query or Scan, page after page
 *   write:   one call, which is repeated only if it was throttled
 *
 * Between two calls of a prepare, get or list, the asking can wait for its timer `pause`. */
#include "store/dynamo.h"

#include "aws/aws.h"
#include "aws/call.h"
#include "aws/hide.h"
#include "aws/json_op.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/repeat.h"
#include "host/host.h"
#include "lease/store.h"
#include "store/dynamo_ask.h"
#include "store/dynamo_read.h"
#include "store/table.h"

#include <sloop.h>

#define TRIES_MAX 6u
#define CALL_MS_MAX 10000u
#define KEYS_MAX 100u /* most keys of one BatchGetItem (API reference) */
/* Most bytes of an answer. BatchGetItem returns at most 16 MB (API reference); escapes and base64 in JSON can
 * double that. */
#define ANSWER_MAX (40u * 1024 * 1024)
/* Most bytes of a page. Query and Scan return at most 1 MB of items (API reference), which JSON can make
 * several times as long. */
#define PAGE_MAX (16u * 1024 * 1024)
/* in one turn of the event queue this much of an answer is parsed; a row is always read as a whole */
#define SLICE_BYTES 65536u
/* CreateTable takes some seconds. DescribeTable is repeated until the table is ACTIVE, for at most
 * PREPARE_US_MAX. */
#define PREPARE_US_MAX 120000000u
#define POLL_US_MIN 25000u
#define POLL_US_MAX 2000000u
/* keys of a BatchGetItem that stay unprocessed were throttled; they are asked for again after this time, and
 * later, up to POLL_US_MAX */
#define BATCH_US_MIN 100000u
/* if keys of a BatchGetItem stay unprocessed for this long, the request fails */
#define BATCH_US_MAX 10000000u

typedef enum {
  ASK_DESCRIBE,
  ASK_CREATE,
  ASK_GET,
  ASK_BATCH,
  ASK_QUERY,
  ASK_SCAN,
  ASK_UPDATE,
  ASK_PUT,
  ASK_DELETE
} ask_kind;

typedef struct dynamo {
  slp_store s;
  slp_host *h;
  slp_aws *aws;         /* the store holds a reference */
  slp_table_spec *spec; /* owned */
  /* 1: this server has at least once sent the row with the error of a failed condition. So if such an error
   * later has no row, the row does not exist. */
  uint8_t tells_images;
} dynamo;

/* A request to the store, and the call to DynamoDB that is in flight for this request. */
typedef struct asking {
  slp_json_op op;
  dynamo *d;
  ask_kind kind;
  slp_store_req *rq;
  slp_dynamo_reader reader;
  slp_buf rest; /* where the next call begins: LastEvaluatedKey or UnprocessedKeys of the last answer */
  slp_dynamo_table table;
  size_t rows_before; /* how many rows came with the pages before the present one */
  slp_paging pages;   /* in a list: limits the pages and bytes, and spaces the calls */
  uint64_t poll_us, give_up_us;
  uint8_t asked_before; /* 1: a call was sent before, so rq->sent_us is set already */
  slp_timer pause;
} asking;

static dynamo *dynamo_of(slp_store *s) { return SLP_OWNER(s, dynamo, s); }
static asking *asking_of(slp_json_op *op) { return SLP_OWNER(op, asking, op); }
static slp_store_prepare *prepare_of(asking *a) { return SLP_OWNER(a->rq, slp_store_prepare, rq); }
static slp_store_get *get_of(asking *a) { return SLP_OWNER(a->rq, slp_store_get, rq); }
static slp_store_list *list_of(asking *a) { return SLP_OWNER(a->rq, slp_store_list, rq); }
static slp_store_write *write_of(asking *a) { return SLP_OWNER(a->rq, slp_store_write, rq); }

static const struct {
  const char *action, *target;
} calls[] = {
    [ASK_DESCRIBE] = {"DescribeTable", "DynamoDB_20120810.DescribeTable"},
    [ASK_CREATE] = {"CreateTable", "DynamoDB_20120810.CreateTable"},
    [ASK_GET] = {"GetItem", "DynamoDB_20120810.GetItem"},
    [ASK_BATCH] = {"BatchGetItem", "DynamoDB_20120810.BatchGetItem"},
    [ASK_QUERY] = {"Query", "DynamoDB_20120810.Query"},
    [ASK_SCAN] = {"Scan", "DynamoDB_20120810.Scan"},
    [ASK_UPDATE] = {"UpdateItem", "DynamoDB_20120810.UpdateItem"},
    [ASK_PUT] = {"PutItem", "DynamoDB_20120810.PutItem"},
    [ASK_DELETE] = {"DeleteItem", "DynamoDB_20120810.DeleteItem"},
};

/* ---- creating and freeing a request -------------------------------------------------------------------- */
static int read_answer(slp_json_op *op, int begin, const char **why);
static void on_answer(slp_json_op *op);
static void on_pause_over(slp_timer *timer);

static asking *asking_new(dynamo *d, slp_store_req *rq, size_t answer_max) {
  slp_mem *mem = d->h->mem;
  asking *a = SLP_NEW(mem, asking);
  SLP_CHECK(!rq->impl);
  slp_fail_clear(&rq->fail);
  if (!a) {
    slp_table_no_memory(&rq->fail);
    rq->sent_us = slp_now_us(d->h);
    slp_store_answer(d->h, rq);
    return NULL;
  }
  slp_json_op_init(&a->op, d->aws, answer_max);
  slp_buf_init(&a->rest, mem, answer_max);
  a->pause = (slp_timer){.at_us = UINT64_MAX, .run = on_pause_over};
  a->op.call.keeps_secrets = 1;
  a->op.read = read_answer;
  a->op.on_done = on_answer;
  a->d = d;
  a->rq = rq;
  rq->impl = a;
  return a;
}

static void asking_free(asking *a) {
  slp_timer_clear(a->d->h, &a->pause);
  slp_json_op_cancel(&a->op);
  slp_json_op_free(&a->op);
  slp_buf_free(&a->rest);
  slp_free(a->d->h->mem, a);
}

static void answer_asking(asking *a) {
  slp_store_req *rq = a->rq;
  slp_secrets secrets = slp_call_secrets(&a->op.call);
  /* The failure's message may quote text of the answer, such as the table's state or its keys, even from an
   * answer that succeeded. Any answer may contain secrets. */
  slp_hide_fail(&secrets, &rq->fail);
  rq->impl = NULL;
  asking_free(a);
  rq->on_done(rq);
}

/* Fails the request, because its next call could not be sent. r: the error. on_done is called in a later
 * turn. */
static void end_unsent(asking *a, int r) {
  slp_store_req *rq = a->rq;
  slp_host *h = a->d->h;
  if (r == SLP_EBADDATA)
    slp_fail_set(&rq->fail, SLP_REFUSED, SLOOP_EREFUSED, "a text of a row is not UTF-8");
  else if (r == SLP_ELIMIT)
    slp_fail_set(&rq->fail, SLP_REFUSED, SLOOP_EREFUSED, "a request for table \"%.200s\" is too large",
                 a->d->spec->name);
  else
    slp_table_no_memory(&rq->fail);
  if (!a->asked_before) rq->sent_us = slp_now_us(h);
  rq->impl = NULL;
  asking_free(a);
  slp_store_answer(h, rq);
}

static int write_request(asking *a) {
  const slp_table_spec *t = a->d->spec;
  slp_buf *b = &a->op.request;
  slp_buf_clear(b);
  switch (a->kind) {
    case ASK_DESCRIBE: return slp_dynamo_ask_describe(b, t);
    case ASK_CREATE: return slp_dynamo_ask_create(b, t);
    case ASK_GET:
    case ASK_BATCH:
      return a->rest.n ? slp_dynamo_ask_rest(b, slp_buf_str(&a->rest)) : slp_dynamo_ask_get(b, t, get_of(a));
    case ASK_QUERY:
    case ASK_SCAN: return slp_dynamo_ask_list(b, t, list_of(a), slp_buf_str(&a->rest));
    case ASK_UPDATE:
    case ASK_PUT:
    case ASK_DELETE: return slp_dynamo_ask_write(b, t, write_of(a));
  }
  return SLP_EINVAL;
}

static int is_write(ask_kind kind) { return kind == ASK_UPDATE || kind == ASK_PUT || kind == ASK_DELETE; }

static void send_asking(asking *a, ask_kind kind) {
  a->kind = kind;
  int r = write_request(a), urgent = is_write(kind) && write_of(a)->urgent;
  if (r) {
    end_unsent(a, r);
    return;
  }
  a->op.svc = SLP_SVC_LEASES;
  a->op.lane = urgent ? SLP_LANE_LEASES : SLP_LANE_CONTROL;
  a->op.target = slp_str_of(calls[kind].target);
  a->op.ms_max = a->rq->ms_max ? a->rq->ms_max : CALL_MS_MAX;
  a->op.tries_max = urgent ? 1 : TRIES_MAX;
  a->op.once = (uint8_t)(is_write(kind) || kind == ASK_CREATE);
  a->op.paced = a->rq->paced;
  slp_json_op_send(&a->op);
}

/* ---- reading ------------------------------------------------------------------------------------------- */
static slp_store_rows *rows_of(asking *a) {
  switch (a->kind) {
    case ASK_GET:
    case ASK_BATCH: return &get_of(a)->out;
    case ASK_QUERY:
    case ASK_SCAN: return &list_of(a)->out;
    case ASK_UPDATE: return &write_of(a)->image;
    case ASK_PUT:
    case ASK_DELETE:
    case ASK_DESCRIBE:
    case ASK_CREATE: break;
  }
  return NULL;
}

/* Begins to parse an answer. If an earlier answer for the same page could not be parsed to its end,
 * read_answer has dropped its rows, because the page is fetched again. */
static void begin_reading(asking *a) {
  slp_store_rows *rows = rows_of(a);
  if (rows && a->kind == ASK_UPDATE) slp_store_rows_free(rows);
  slp_buf_clear(&a->rest);
  slp_dynamo_reader_begin(&a->reader, slp_buf_str(&a->op.answer), rows, &a->rest);
}

static int read_answer(slp_json_op *op, int begin, const char **why) {
  asking *a = asking_of(op);
  if (a->kind == ASK_CREATE) return 0;
  if (a->kind == ASK_DESCRIBE) return slp_dynamo_read_table(slp_buf_str(&op->answer), &a->table, why);
  if (begin) begin_reading(a);
  int r = slp_dynamo_read(&a->reader, SLICE_BYTES);
  *why = a->reader.j.why;
  if (r < 0 && rows_of(a)) rows_of(a)->n = a->rows_before;
  return r;
}

/* ---- what went wrong ----------------------------------------------------------------------------------- */
static void explain_failed_call(asking *a) {
  slp_fail *to = &a->rq->fail;
  const slp_fail *f = &a->op.fail;
  const char *action = calls[a->kind].action, *name = a->d->spec->name;
  *to = *f;
  if (f->class == SLP_GONE) {
    slp_table_missing(to, a->d->spec);
  } else if (f->class == SLP_ACCESS) {
    slp_fail_set(to, SLP_ACCESS, f->code, "no permission for dynamodb:%s on table \"%.80s\": %s", action,
                 name, f->message);
  } else if (f->class != SLP_NOMEM) {
    slp_fail_set(to, f->class, f->code, "%s on table \"%.80s\": %s", action, name, f->message);
  }
}

/* ---- answers ------------------------------------------------------------------------------------------- */
/* Sets the timer `pause`, which sends the next call in about `us`. Returns 1, or 0 if give_up_us has
 * passed or there is no memory. */
static int pause_before_next_call(asking *a, uint64_t us) {
  slp_host *h = a->d->h;
  uint64_t now = slp_now_us(h);
  if (a->give_up_us && now >= a->give_up_us) return 0;
  return !slp_timer_set(h, &a->pause, slp_after_us(now, us / 2 + slp_random_below(h, us)));
}

static void on_pause_over(slp_timer *timer) {
  asking *a = SLP_OWNER(timer, asking, pause);
  send_asking(a, a->kind == ASK_CREATE ? ASK_DESCRIBE : a->kind);
}

/* Waits before the next DescribeTable of a table that is being created. Each wait is longer, up to
 * POLL_US_MAX. */
static void poll_again(asking *a) {
  const char *state = a->table.status[0] ? a->table.status : "not there yet";
  if (pause_before_next_call(a, a->poll_us)) {
    a->poll_us = slp_min_u64(a->poll_us * 2, POLL_US_MAX);
    return;
  }
  slp_fail_set(&a->rq->fail, SLP_BUSY, SLP_ETIMEDOUT, "table \"%.200s\" is still %s after %u s",
               a->d->spec->name, state, PREPARE_US_MAX / 1000000);
  answer_asking(a);
}

static int status_is(const asking *a, const char *status) { return strcmp(a->table.status, status) == 0; }

static void judge_described_table(asking *a) {
  const slp_table_spec *t = a->d->spec;
  const char *range = t->range_name ? t->range_name : "";
  if (a->table.not_text) {
    slp_fail_set(&a->rq->fail, SLP_REFUSED, SLOOP_EREFUSED, "table \"%.200s\" has a key that is not text (S)",
                 t->name);
  } else if (strcmp(a->table.hash, t->hash_name) != 0 || strcmp(a->table.range, range) != 0) {
    slp_table_other_keys(&a->rq->fail, t, a->table.hash, a->table.range);
  } else if (status_is(a, "CREATING") || status_is(a, "DELETING")) {
    poll_again(a);
    return;
  } else if (!status_is(a, "ACTIVE") && !status_is(a, "UPDATING")) {
    slp_fail_set(&a->rq->fail, SLP_REFUSED, SLOOP_EREFUSED, "table \"%.200s\" can't be used: it is %s",
                 t->name, a->table.status);
  }
  answer_asking(a);
}

static void prepare_answered(asking *a) {
  slp_class class = a->op.fail.class;
  slp_store_prepare *p = prepare_of(a);
  /* The table is being created. BUSY: another client has created it first. TRANSIENT: CreateTable may have
   * succeeded without an answer. */
  int on_its_way =
      a->kind == ASK_CREATE && (class == SLP_FINE || class == SLP_BUSY || class == SLP_TRANSIENT);
  /* CreateTable has succeeded, but DescribeTable does not know the table yet */
  int unseen = a->kind == ASK_DESCRIBE && class == SLP_GONE && p->created;
  if (on_its_way) p->created = class == SLP_FINE;
  if (on_its_way || unseen) {
    a->table = (slp_dynamo_table){.not_text = 0};
    poll_again(a);
  } else if (a->kind == ASK_DESCRIBE && class == SLP_FINE) {
    judge_described_table(a);
  } else if (a->kind == ASK_DESCRIBE && class == SLP_GONE && p->create) {
    send_asking(a, ASK_CREATE);
  } else {
    explain_failed_call(a);
    answer_asking(a);
  }
}

static int is_list(const asking *a) { return a->kind == ASK_QUERY || a->kind == ASK_SCAN; }

/* Returns the buffer in which a throttled request remembers where it stopped, so that the caller can continue
 * there. Returns NULL unless the request has `paced` set, and has such a buffer. */
static slp_buf *place_of(asking *a) {
  slp_buf *at = is_list(a) ? &list_of(a)->at : &get_of(a)->at;
  return a->rq->paced && at->max ? at : NULL;
}

/* Ends a read that was throttled. If the caller can continue after the rows of earlier pages, keeps them;
 * otherwise frees all rows. */
static void end_throttled(asking *a) {
  slp_buf *at = place_of(a);
  if (at) slp_buf_clear(at);
  if (at && a->rest.n && !slp_buf_add_str(at, slp_buf_str(&a->rest)))
    rows_of(a)->n = a->rows_before;
  else
    slp_store_rows_free(rows_of(a));
  if (at && slp_buf_failed(at)) slp_buf_clear(at);
  answer_asking(a);
}

static void fail_unprocessed(asking *a) {
  slp_fail_set(&a->rq->fail, SLP_THROTTLE, SLP_ETIMEDOUT,
               "BatchGetItem on table \"%.80s\": keys stayed unprocessed", a->d->spec->name);
  end_throttled(a);
}

/* Ends a batch in which some keys have stayed unprocessed until give_up_us, so that one partition without
 * free capacity does not delay all other rows for ever. If give_up_us has not passed, the batch ends
 * because no timer could be set. */
static void give_up_batch(asking *a) {
  if (slp_now_us(a->d->h) < a->give_up_us)
    end_unsent(a, SLP_ENOMEM);
  else
    fail_unprocessed(a);
}

/* Sends the call for the next page of a list, at once or after a wait. */
static void next_page(asking *a) {
  slp_store_rows *rows = rows_of(a);
  slp_host *h = a->d->h;
  uint64_t wait_us;
  char why[160];
  size_t news = rows->n - a->rows_before;
  a->rows_before = rows->n;
  if (slp_paging_next(&a->pages, slp_buf_str(&a->rest), a->op.answer.n, news, rows->bytes, &wait_us, why)) {
    slp_fail_set(&a->rq->fail, SLP_TRANSIENT, SLOOP_EPROTO, "%s on table \"%.80s\": %s",
                 calls[a->kind].action, a->d->spec->name, why);
    slp_store_rows_free(rows);
    answer_asking(a);
  } else if (!wait_us) {
    send_asking(a, a->kind);
  } else if (slp_timer_set(h, &a->pause, slp_after_us(slp_now_us(h), wait_us))) {
    slp_store_rows_free(rows);
    end_unsent(a, SLP_ENOMEM);
  }
}

/* Handles the answer of a read: a page of rows, or a failure. */
static void rows_answered(asking *a) {
  if (a->op.fail.class == SLP_THROTTLE) {
    explain_failed_call(a);
    end_throttled(a);
  } else if (a->op.fail.class != SLP_FINE) {
    explain_failed_call(a);
    slp_store_rows_free(rows_of(a));
    answer_asking(a);
  } else if (is_list(a) && rows_of(a)->bytes > slp_store_bytes_left(&list_of(a)->bound)) {
    slp_table_too_long(&a->rq->fail, a->d->spec, &list_of(a)->bound);
    slp_store_rows_free(rows_of(a));
    answer_asking(a);
  } else if (!a->rest.n) {
    answer_asking(a);
  } else if (a->kind == ASK_BATCH) { /* DynamoDB throttles a batch by leaving keys unprocessed */
    a->d->s.cost.throttles++;
    a->rows_before = rows_of(a)->n;
    if (a->rq->paced)
      fail_unprocessed(a);
    else if (pause_before_next_call(a, a->poll_us))
      a->poll_us = slp_min_u64(a->poll_us * 2, POLL_US_MAX);
    else
      give_up_batch(a);
  } else {
    next_page(a);
  }
}

/* Handles a write whose condition has failed. The error may have the row in it. */
static void on_write_refused(asking *a) {
  slp_store_write *w = write_of(a);
  slp_dynamo_reader r;
  w->written = SLP_WRITTEN_REFUSED;
  slp_store_rows_free(&w->image);
  slp_dynamo_reader_begin(&r, slp_buf_str(&a->op.refusal), &w->image, &a->rest);
  int q = SLP_MORE;
  /* An error has at most one row: the row whose condition failed. If there is a second row, the error is
   * not understood, so reading stops. */
  while (a->op.refusal.n && q == SLP_MORE && w->image.n <= 1) q = slp_dynamo_read(&r, SLICE_BYTES);
  /* if the row can't be read, the error counts as having no row */
  if (q || w->image.n > 1) slp_store_rows_free(&w->image);
  if (w->image.n) a->d->tells_images = 1;
  w->image_known = (uint8_t)(w->image.n || (!q && a->d->tells_images));
}

static void write_answered(asking *a) {
  slp_store_write *w = write_of(a);
  const slp_fail *f = &a->op.fail;
  if (f->class == SLP_FINE) {
    w->written = SLP_WRITTEN_YES;
    w->image_known = w->image.n == 1;
  } else if (f->class == SLP_REFUSED && strcmp(f->aws_code, "ConditionalCheckFailedException") == 0) {
    on_write_refused(a);
  } else {
    explain_failed_call(a);
    slp_store_rows_free(&w->image);
  }
  answer_asking(a);
}

static void count_call_cost(asking *a) {
  slp_store_cost *cost = &a->d->s.cost;
  cost->throttles += a->op.throttles;
  if (is_write(a->kind)) {
    cost->write_calls++;
    cost->write_units += a->reader.units;
  } else if (a->kind != ASK_DESCRIBE && a->kind != ASK_CREATE) {
    cost->read_calls++;
    cost->read_units += a->reader.units;
  }
  /* a failed call reports no units, so those of the call before must not be counted again */
  a->reader.units = 0;
}

static void on_answer(slp_json_op *op) {
  asking *a = asking_of(op);
  slp_store_req *rq = a->rq;
  if (!a->asked_before) rq->sent_us = op->sent_us;
  a->asked_before = 1;
  rq->done_us = op->done_us;
  slp_fail_clear(&rq->fail);
  count_call_cost(a);
  switch (a->kind) {
    case ASK_DESCRIBE:
    case ASK_CREATE: prepare_answered(a); return;
    case ASK_GET:
    case ASK_BATCH:
    case ASK_QUERY:
    case ASK_SCAN: rows_answered(a); return;
    case ASK_UPDATE:
    case ASK_PUT:
    case ASK_DELETE: write_answered(a); return;
  }
}

/* ---- the store ----------------------------------------------------------------------------------------- */
static void op_prepare(slp_store *s, slp_store_prepare *p) {
  dynamo *d = dynamo_of(s);
  p->created = 0;
  asking *a = asking_new(d, &p->rq, ANSWER_MAX);
  if (!a) return;
  a->poll_us = POLL_US_MIN;
  a->give_up_us = slp_after_us(slp_now_us(d->h), PREPARE_US_MAX);
  send_asking(a, ASK_DESCRIBE);
}

/* Makes a request continue where an earlier, throttled try has stopped. The rows_n rows of the earlier try
 * are kept. at: where the earlier try has stopped. */
static void go_on(asking *a, slp_buf *at, size_t rows_n) {
  slp_buf_free(&a->rest);
  slp_buf_move(&a->rest, at);
  a->rows_before = rows_n;
}

static void op_get(slp_store *s, slp_store_get *g) {
  dynamo *d = dynamo_of(s);
  SLP_CHECK(g->keys_n <= KEYS_MAX);
  int goes_on = g->rq.paced && g->at.n;
  if (!goes_on) slp_store_rows_free(&g->out);
  if (!g->keys_n) { /* no keys: DynamoDB would refuse such a request */
    slp_fail_clear(&g->rq.fail);
    g->rq.sent_us = slp_now_us(d->h);
    slp_store_answer(d->h, &g->rq);
    return;
  }
  asking *a = asking_new(d, &g->rq, ANSWER_MAX);
  if (!a) return;
  a->poll_us = BATCH_US_MIN;
  a->give_up_us = slp_after_us(slp_now_us(d->h), BATCH_US_MAX);
  if (goes_on) go_on(a, &g->at, g->out.n);
  send_asking(a, g->keys_n == 1 ? ASK_GET : ASK_BATCH);
}

static void op_list(slp_store *s, slp_store_list *l) {
  dynamo *d = dynamo_of(s);
  int goes_on = l->rq.paced && l->at.n;
  if (!goes_on) slp_store_rows_free(&l->out);
  asking *a = asking_new(d, &l->rq, PAGE_MAX);
  if (!a) return;
  if (goes_on) go_on(a, &l->at, l->out.n);
  slp_paging_begin(&a->pages, SLP_STORE_LIST_PAGES_MAX, slp_store_bytes_left(&l->bound));
  a->pages.share = slp_store_share(&l->bound);
  send_asking(a, d->spec->range_name ? ASK_QUERY : ASK_SCAN);
}

static void op_write(slp_store *s, slp_store_write *w) {
  dynamo *d = dynamo_of(s);
  static const ask_kind kinds[] = {
      [SLP_WRITE_UPDATE] = ASK_UPDATE, [SLP_WRITE_PUT] = ASK_PUT, [SLP_WRITE_DELETE] = ASK_DELETE};
  slp_store_rows_free(&w->image);
  w->written = SLP_WRITTEN_NOT_SURE;
  w->image_known = 0;
  asking *a = asking_new(d, &w->rq, ANSWER_MAX);
  if (a) send_asking(a, kinds[w->kind]);
}

static void op_cancel(slp_store *s, slp_store_req *rq) {
  (void)s;
  asking *a = rq->impl;
  slp_unpost(&rq->ev);
  rq->impl = NULL;
  if (a) asking_free(a);
}

static void op_close(slp_store *s) {
  dynamo *d = dynamo_of(s);
  slp_aws *aws = d->aws;
  slp_mem *mem = d->h->mem;
  slp_free(mem, d->spec);
  slp_free(mem, d);
  slp_aws_drop(aws);
}

static const slp_store_ops ops = {op_prepare, op_get, op_list, op_write, op_cancel, op_close};

int slp_dynamo_store(slp_store **ret, slp_host *h, slp_aws *aws, const slp_table_spec *table) {
  slp_mem *mem = h->mem;
  dynamo *d = SLP_NEW(mem, dynamo);
  if (!d) return SLP_ENOMEM;
  d->spec = slp_table_copy(mem, table);
  if (!d->spec) {
    slp_free(mem, d);
    return SLP_ENOMEM;
  }
  d->s.ops = &ops;
  d->h = h;
  d->aws = aws;
  slp_aws_hold(aws);
  *ret = &d->s;
  return 0;
}

/* source_script.h - for tests of source/: a table of ops that answers from a script. */
#ifndef SLP_TEST_SOURCE_SCRIPT_H
#define SLP_TEST_SOURCE_SCRIPT_H

#include "aws/ops.h"
#include "core/source.h"
#include "sloop.h"

#include "aws_fake_host.h"

static fake_host f;
static slp_mem *mem;
static slp_source *src;
static int done;

/* ---- the scripted service ------------------------------------------------------------------------------ */
typedef struct step {
  slp_class class; /* FINE: the answer below */
  const char *aws_code;
  const char *shards; /* "a b<a c<a,b d!" : id, parents after '<', '!' closed */
  const char *next;
  int64_t date_ms;                   /* 0: none */
  const char *hash_start, *hash_end; /* of every shard listed */
  void (*fill)(slp_page *page);      /* puts records into the page; of a listing: a last act, page NULL */
  const char *arn;                   /* of the stream described */
  uint8_t stream_ended;
  const char *words; /* of a failure; NULL: "scripted" */
  int http_status;
  sloop_placement_t placement; /* of the stream described */
} step;
static step steps[32];
static size_t steps_n, played;
static char asked[32][200], asked_arn[512]; /* the latter: of the last list or description */
static slp_op *held[8];                     /* the ops not answered yet, in the order in which they came */
static size_t held_n;
static int resumed, cancelled, hang, endless;
static slp_stream_status status;

static slp_event answer_ev;

static void answer_now(slp_event *ev) {
  (void)ev;
  CHECK(held_n > 0);
  slp_op *op = held[0];
  memmove(held, held + 1, --held_n * sizeof *held);
  if (held_n) slp_post(&f.h, &answer_ev);
  op->on_done(op);
}

static inline step *take(slp_op *op, const char *fmt, slp_str a, slp_str b) {
  CHECK(held_n < SLP_COUNT(held));
  if (played == steps_n && endless) played = 0;
  if (played == steps_n) CHECK_FAIL("not expected: %s %.*s %.*s", fmt, (int)a.n, a.p, (int)b.n, b.p);
  snprintf(asked[played], sizeof asked[played], "%s %.*s %.*s", fmt, (int)a.n, a.n ? a.p : "", (int)b.n,
           b.n ? b.p : "");
  step *s = &steps[played++];
  slp_fail_clear(&op->fail);
  if (s->class != SLP_FINE)
    slp_fail_set(&op->fail, s->class, SLOOP_EREMOTE, "%s", s->words ? s->words : "scripted");
  if (s->aws_code) snprintf(op->fail.aws_code, sizeof op->fail.aws_code, "%s", s->aws_code);
  if (s->class != SLP_FINE) op->fail.http_status = s->http_status;
  op->date_ms = s->date_ms ? s->date_ms : -1;
  op->sent_us = 11;
  op->done_us = 22;
  held[held_n++] = op;
  answer_ev.run = answer_now;
  if (!hang) slp_post(&f.h, &answer_ev);
  return s;
}

static void fake_describe(slp_ops *o, slp_op_describe *op) {
  (void)o;
  step *s = take(&op->op, "describe", op->name, op->arn);
  snprintf(asked_arn, sizeof asked_arn, "%.*s", (int)op->arn.n, op->arn.n ? op->arn.p : "");
  if (s->arn) snprintf(op->ret_arn, sizeof op->ret_arn, "%s", s->arn);
  op->status = status;
  op->retention_hours = 24;
  op->placement = s->placement;
  op->created_ms = 5;
}

/* Rows lie in the op's own body, as with the real thing. */
static void put_rows(slp_op_list_shards *op, const char *text) {
  size_t cap = 64;
  op->shards = slp_zalloc_n(mem, cap, sizeof *op->shards);
  CHECK_INT(slp_buf_add_z(&op->body, text), 0);
  char *p = op->body.p, *end = p + op->body.n;
  slp_str *into = NULL;
  slp_shard_desc *d = NULL;
  for (; p < end; p++) {
    if (*p == ' ') {
      into = NULL;
    } else if (*p == '<') {
      into = &d->parent;
    } else if (*p == ',') {
      into = &d->adjacent_parent;
    } else if (*p == '!') {
      d->seq_end = (slp_str){p, 1};
    } else {
      if (!into) {
        d = &op->shards[op->shards_n++];
        into = &d->id;
      }
      if (!into->p) into->p = p;
      into->n++;
    }
  }
}

static void fake_list(slp_ops *o, slp_op_list_shards *op) {
  (void)o;
  step *s = op->children_of.n ? take(&op->op, "children", op->name, op->children_of)
                              : take(&op->op, "list", op->name, op->next_token);
  snprintf(asked_arn, sizeof asked_arn, "%.*s", (int)op->arn.n, op->arn.n ? op->arn.p : "");
  if (s->class != SLP_FINE) return;
  put_rows(op, s->shards);
  op->stream_ended = s->stream_ended;
  for (size_t i = 0; i < op->shards_n; i++) {
    op->shards[i].hash_start = slp_str_of(s->hash_start);
    op->shards[i].hash_end = slp_str_of(s->hash_end);
  }
  if (s->fill) s->fill(NULL);
  if (!s->next) return;
  size_t at = op->body.n;
  slp_buf_reserve(&op->body, strlen(s->next)); /* must not move: rows point into it */
  slp_buf_add_z(&op->body, s->next);
  op->ret_next = (slp_str){op->body.p + at, strlen(s->next)};
}

static int64_t asked_ms; /* of the last iterator */
static const char *iterator_given = "cursor";
static void fake_iterator(slp_ops *o, slp_op_iterator *op) {
  (void)o;
  asked_ms = op->at_ms;
  step *s = take(&op->op, slp_iter_kind_name(op->kind), op->shard, op->seq);
  if (s->class != SLP_FINE) return;
  slp_buf_clear(&op->iterator);
  slp_buf_add_z(&op->iterator, iterator_given);
}

static void fake_records(slp_ops *o, slp_op_records *op) {
  (void)o;
  step *s = take(&op->op, "get", op->iterator, op->arn);
  if (s->class != SLP_FINE) return;
  CHECK_INT(op->may_grow(op, 1), 1);
  CHECK_INT(op->may_grow(op, 1000), 0);
  if (s->fill) s->fill(op->page);
  op->page->behind_ms = 77;
  op->body_bytes = 123;
}

/* Returns the index of `op` in held[], or held_n if it is not there. */
static size_t is_held(const slp_op *op) {
  size_t i = 0;
  while (i < held_n && held[i] != op) i++;
  return i;
}

static void fake_resume(slp_ops *o, slp_op *op) {
  (void)o;
  CHECK(is_held(op) < held_n);
  resumed++;
}

static void fake_cancel(slp_ops *o, slp_op *op) {
  (void)o;
  size_t i = is_held(op);
  CHECK(i < held_n);
  memmove(held + i, held + i + 1, (--held_n - i) * sizeof *held);
  if (!held_n) slp_unpost(&answer_ev);
  cancelled++;
}

static slp_ops ops = {fake_describe, fake_list, fake_iterator, fake_records, fake_resume, fake_cancel};

static void on_done(slp_op *rq) {
  CHECK(rq->impl == NULL);
  done++;
}

/* Before a source is opened. */
static void begin_script(void) {
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  steps_n = played = held_n = 0;
  done = resumed = cancelled = hang = endless = 0;
  status = SLP_STREAM_ACTIVE;
}

static void close_source(void) {
  CHECK_INT(played, steps_n);
  src->ops->close(src);
  fake_end(&f, mem);
}

static void script(step s) { steps[steps_n++] = s; }

static slp_src_list list(void) {
  slp_src_list rq = {.rq = {.on_done = on_done}};
  int before = done;
  src->ops->list(src, &rq);
  CHECK_INT(done, before);
  fake_run(&f, 1000000);
  CHECK_INT(done, before + 1);
  return rq;
}

static const char *ids(const slp_src_list *rq) {
  static char text[500];
  size_t n = 0;
  text[0] = 0;
  for (size_t i = 0; i < rq->shards_n; i++) {
    const slp_shard_desc *d = &rq->shards[i];
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s%s%.*s%s%.*s%s", i ? " " : "", (int)d->id.n,
                          d->id.p, d->parent.n ? "<" : "", (int)d->parent.n, d->parent.n ? d->parent.p : "",
                          d->adjacent_parent.n ? "," : "", (int)d->adjacent_parent.n,
                          d->adjacent_parent.n ? d->adjacent_parent.p : "", d->seq_end.p ? "!" : "");
  }
  return text;
}

#endif

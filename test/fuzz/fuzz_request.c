/* fuzz_request.c - what strangers send to the page of metrics: a request read in pieces of any size is the
 * one read whole, lies where it says, keeps its limits, and what is refused is refused with a status there
 * is. */
#include "host/http_request.h"

#include "fuzz.h"

#define BODY_MAX 200

typedef struct reading {
  slp_request rq;
  slp_buf in;
  int r;
} reading;

static void read_pieces(reading *d, slp_mem *mem, const char *p, size_t n, size_t piece) {
  slp_request_begin(&d->rq);
  slp_buf_init(&d->in, mem, 1 << 21);
  d->r = SLP_MORE;
  for (size_t at = 0; at < n && d->r == SLP_MORE; at += piece) {
    REQUIRE(slp_buf_add(&d->in, p + at, n - at < piece ? n - at : piece) == 0);
    d->r = slp_request_read(&d->rq, &d->in, BODY_MAX);
  }
}

static int inside(const slp_buf *b, size_t at, size_t n) { return at <= b->n && n <= b->n - at; }

static void check_complete(const reading *d) {
  const slp_request *rq = &d->rq;
  REQUIRE(rq->head_n > 0 && rq->head_n <= SLP_REQUEST_HEAD_MAX && rq->end >= rq->head_n &&
          rq->end <= d->in.n);
  REQUIRE(rq->method_n > 0 && inside(&d->in, rq->method_at, rq->method_n));
  REQUIRE(rq->path_n > 0 && inside(&d->in, rq->path_at, rq->path_n));
  REQUIRE(rq->body_n <= BODY_MAX && inside(&d->in, rq->head_n, rq->body_n));
  REQUIRE(rq->fields_n <= SLP_REQUEST_HEADERS_MAX);
  for (size_t i = 0; i < rq->fields_n; i++) {
    const slp_request_field *f = &rq->fields[i];
    REQUIRE(f->name_n > 0 && f->name + f->name_n <= rq->head_n && f->value + f->value_n <= rq->head_n);
    REQUIRE(!memchr(d->in.p + f->value, '\n', f->value_n) && !memchr(d->in.p + f->value, 0, f->value_n));
  }
  REQUIRE(!(rq->chunked && rq->length_given));
}

static int same_bytes(const reading *a, size_t a_at, const reading *b, size_t b_at, size_t n) {
  return n == 0 || memcmp(a->in.p + a_at, b->in.p + b_at, n) == 0;
}

static void check_same(const reading *a, const reading *b) {
  const slp_request *x = &a->rq, *y = &b->rq;
  REQUIRE(a->r == b->r);
  if (a->r == SLP_EBADDATA) REQUIRE(x->status == y->status);
  if (a->r) return;
  REQUIRE(x->end == y->end && x->head_n == y->head_n && x->body_n == y->body_n && x->fields_n == y->fields_n);
  REQUIRE(x->method_n == y->method_n && same_bytes(a, x->method_at, b, y->method_at, x->method_n));
  REQUIRE(x->path_n == y->path_n && same_bytes(a, x->path_at, b, y->path_at, x->path_n));
  REQUIRE(same_bytes(a, x->head_n, b, y->head_n, x->body_n));
  REQUIRE(x->keep_alive == y->keep_alive && x->chunked == y->chunked && x->version_1_0 == y->version_1_0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t pieces[] = {1, 7, 100};
  char *p = fuzz_copy(data, size);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  reading whole, part;
  read_pieces(&whole, mem, p, size, size ? size : 1);
  int s = whole.rq.status;
  REQUIRE(whole.r == 0 || whole.r == SLP_MORE || whole.r == SLP_EBADDATA);
  REQUIRE(whole.r != SLP_EBADDATA || s == 400 || s == 413 || s == 431 || s == 501 || s == 505);
  if (!whole.r) check_complete(&whole);
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    if (size > 20000 && pieces[i] < 100)
      continue; /* a head without an end is looked through again each time */
    read_pieces(&part, mem, p, size, pieces[i]);
    if (!part.r) check_complete(&part);
    check_same(&whole, &part);
    slp_buf_free(&part.in);
  }
  slp_buf_free(&whole.in);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(p);
  return 0;
}

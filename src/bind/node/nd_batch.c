/* nd_batch.c - batches that are out, and how they go back.
 *
 * A batch goes back by done(), when its consumer closes, or when JavaScript has dropped the handle. The last
 * two acknowledge nothing, so its records come again. */
#include "bind/node/nd_native.h"

static sloop_batch_t *take_native(nd_batch *batch) {
  sloop_batch_t *b = batch->b;
  batch->b = NULL;
  *batch->link = batch->next;
  if (batch->next) batch->next->link = batch->link;
  return b;
}
static void free_batch(nd_batch *batch) {
  nd_consumer *c = batch->consumer;
  if (batch->b) sloop_batch_done(take_native(batch), 0);
  slp_free(c->world->mem, batch);
  nd_consumer_drop(c);
}
static void on_batch_dropped(napi_env env, void *data, void *hint) {
  nd_batch *batch = data;
  nd_world *w = batch->consumer->world;
  (void)env, (void)hint;
  if (!w->busy) {
    free_batch(batch);
    return;
  }
  batch->next_returned = w->returned;
  w->returned = batch;
}
void nd_batches_settle(nd_world *w) {
  while (w->returned) {
    nd_batch *batch = w->returned;
    w->returned = batch->next_returned;
    free_batch(batch);
  }
}
void nd_batches_finish(nd_consumer *c) {
  while (c->batches) sloop_batch_done(take_native(c->batches), 0);
}

static const sloop_record_t *record_of_batch(const void *of, size_t i) { return sloop_batch_at(of, i); }
static const sloop_record_t *the_record(const void *of, size_t i) {
  (void)i;
  return of;
}

static nd_batch *new_batch(nd_consumer *c, sloop_batch_t *b) {
  nd_batch *batch = SLP_NEW(c->world->mem, nd_batch);
  if (!batch) return NULL;
  batch->consumer = c;
  batch->b = b;
  batch->next = c->batches;
  batch->link = &c->batches;
  if (batch->next) batch->next->link = &batch->next;
  c->batches = batch;
  c->holds++;
  return batch;
}

void nd_on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  nd_consumer *c = arg;
  nd_world *w = c->world;
  napi_handle_scope scope;
  napi_value packed, handle = NULL;
  nd_batch *batch;
  (void)s;
  if (!nd_call_begin(w, &scope)) {
    sloop_batch_done(b, 0);
    return;
  }
  packed = nd_pack(w, sloop_batch_count(b), record_of_batch, b);
  batch = packed ? new_batch(c, b) : NULL;
  if (batch) handle = nd_handle(w, ND_IS_BATCH, batch, on_batch_dropped);
  if (!handle) {
    sloop_error_t e = {UV_ENOMEM, 0, 0, 0, UINT64_MAX, "", "", "", "no memory for a batch; it comes again"};
    if (batch) {
      free_batch(batch);
    } else {
      sloop_batch_done(b, 0);
    }
    nd_call(w, c->handler, ND_ERROR, nd_error_object(w->env, &e), scope);
    return;
  }
  nd_set(w->env, packed, "handle", handle);
  nd_set_number(w->env, packed, "behindMs", (double)sloop_batch_behind_ms(b));
  nd_call(w, c->handler, ND_BATCH, packed, scope);
}

void nd_on_dead_letter(sloop_t *s, const sloop_record_t *r, void *arg) {
  nd_consumer *c = arg;
  napi_handle_scope scope;
  (void)s;
  if (!nd_call_begin(c->world, &scope)) return;
  nd_call(c->world, c->handler, ND_DEAD_LETTER, nd_pack(c->world, 1, the_record, r), scope);
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* done(batch, acked): acked below 0 is all. */
napi_value nd_batch_done(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_batch *batch;
  double acked;
  size_t n;
  nd_args_begin(&a, env, info);
  batch = nd_arg_handle(&a, 0, ND_IS_BATCH);
  if (!batch || !batch->b) return nd_number(env, SLOOP_ESTATE);
  acked = nd_arg_number(&a, 1);
  n = sloop_batch_count(batch->b);
  if (!(acked <= (double)n)) return nd_number(env, SLOOP_EOPTION);
  sloop_batch_done(take_native(batch), acked < 0 ? n : (size_t)acked);
  return nd_number(env, 0);
}
static nd_batch *batch_and_index(nd_args *a, size_t *index) {
  nd_batch *batch = nd_arg_handle(a, 0, ND_IS_BATCH);
  double i = nd_arg_number(a, 1);
  if (!batch || !batch->b || !(i >= 0 && i < (double)sloop_batch_count(batch->b))) return NULL;
  *index = (size_t)i;
  return batch;
}
napi_value nd_batch_ack(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_batch *batch;
  size_t index;
  nd_args_begin(&a, env, info);
  batch = batch_and_index(&a, &index);
  if (!batch) return nd_number(env, SLOOP_ESTATE);
  sloop_batch_ack(batch->b, index);
  return nd_number(env, 0);
}
/* Returns 1, 0 or -1 as sloop_batch_owned(), and -2 for a batch that was given back. */
napi_value nd_batch_owned(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_batch *batch;
  size_t index;
  nd_args_begin(&a, env, info);
  batch = batch_and_index(&a, &index);
  return nd_number(env, batch ? sloop_batch_owned(batch->b, index) : -2);
}

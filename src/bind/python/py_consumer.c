/* py_consumer.c - Consumer: a sloop_t, its callbacks as events, its operations with numbers.
 *
 * An operation that takes a callback gets a number from Python, and its end is the event DONE with
 * that number. An open consumer holds a reference to itself, which its last callback drops. */
#include "bind/python/py_native.h"

#include <string.h>

#define WANTS(mask, kind) ((mask) >> (kind)&1u)

/* ---- values -------------------------------------------------------------------------------------- */

int py_read_position(PyObject *tuple, sloop_position_t *p) {
  int kind;
  long long at_ms;
  unsigned long long sub;
  sloop_position_init(p, SLOOP_LATEST);
  if (!PyTuple_Check(tuple)) {
    PyErr_Format(PyExc_TypeError, "position: a tuple is needed");
    return -1;
  }
  if (!PyArg_ParseTuple(tuple, "iLzzKz:position", &kind, &at_ms, &p->shard, &p->seq, &sub, &p->token))
    return -1;
  p->kind = (sloop_position_kind_t)kind;
  p->at_ms = at_ms;
  p->sub = sub;
  return 0;
}

PyObject *py_position_tuple(const sloop_position_t *p) {
  return Py_BuildValue("(iLzzKz)", (int)p->kind, (long long)p->at_ms, p->shard, p->seq,
                       (unsigned long long)p->sub, p->token);
}

int py_fill_options(py_state *st, sloop_opts_t *o, PyObject *options, PyObject *start) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  char why[160];
  while (PyDict_Next(options, &at, &key, &value)) {
    Py_ssize_t len;
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    const char *text = name ? PyUnicode_AsUTF8AndSize(value, &len) : NULL;
    int status;
    if (!text) {
      if (!name || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
      PyErr_Clear();
      PyErr_Format(PyExc_ValueError, "%s: a text that can't be written as UTF-8", name);
      return -1;
    }
    if (strlen(text) != (size_t)len) {
      PyErr_Format(PyExc_ValueError, "%s: a text with a NUL", name);
      return -1;
    }
    status = sloop_opts_set(o, name, text, why, sizeof why);
    if (status) {
      py_raise_code(st, status, why);
      return -1;
    }
  }
  return start == Py_None ? 0 : py_read_position(start, &o->start);
}

/* ---- operations ---------------------------------------------------------------------------------- */

py_op *py_op_new(py_loop *l, PyObject *owner, py_consumer *c, long long number) {
  py_op *op = PyMem_Calloc(1, sizeof *op);
  if (!op) {
    PyErr_NoMemory();
    return NULL;
  }
  op->done = py_kept_new(owner, PY_DONE, Py_BuildValue("(LiOO)", number, UV_ENOMEM, Py_None, Py_None));
  if (!op->done) {
    PyMem_Free(op);
    return NULL;
  }
  PY_HOLD(owner);
  op->loop = l;
  op->owner = owner;
  op->consumer = c;
  op->number = number;
  return op;
}
void py_op_free(py_op *op) {
  if (!op) return;
  py_kept_free(op->done);
  PY_DROP(op->owner);
  PyMem_Free(op);
}
void py_op_done(py_op *op, int status, PyObject *result, const sloop_error_t *e) {
  PyObject *error, *payload, *event;
  if (!result) PyErr_Clear();
  error = py_error_dict(e);
  payload = result && error ? Py_BuildValue("(LiOO)", op->number, status, result, error) : NULL;
  event = payload ? Py_BuildValue("(OiO)", op->owner, PY_DONE, payload) : NULL;
  if (event) {
    PY_DROP(op->done->event);
    op->done->event = event;
  }
  PyErr_Clear();
  py_loop_tell_kept(op->loop, op->done);
  op->done = NULL;
  PY_DROP(payload);
  PY_DROP(result);
  PY_DROP(error);
  py_op_free(op);
}

/* ---- callbacks of the library -------------------------------------------------------------------- */

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  py_consumer *c = arg;
  PyObject *batch = py_batch_new(c, b);
  (void)s;
  if (!batch) sloop_batch_done(b, 0); /* its records come again */
  py_loop_tell(c->loop, c->owner, PY_BATCH, batch);
}
static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_loop_tell(c->loop, c->owner, PY_SHARD,
               Py_BuildValue("(sN)", sloop_shard_event_name(e->kind), py_text0(e->shard)));
}
static void on_tip(sloop_t *s, void *arg) {
  py_consumer *c = arg;
  (void)s;
  PY_HOLD(Py_None);
  py_loop_tell(c->loop, c->owner, PY_TIP, Py_None);
}
static void on_loss(sloop_t *s, const sloop_loss_t *e, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_loop_tell(c->loop, c->owner, PY_LOSS,
               Py_BuildValue("{sNsNsNsOsNsLsL}", "shard", py_text0(e->shard), "from_sequence",
                             py_text0(e->from_seq), "to_sequence", py_text0(e->to_seq), "certain",
                             e->certain ? Py_True : Py_False, "message", py_text0(e->message), "since_ms",
                             (long long)e->since_ms, "until_ms", (long long)e->until_ms));
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_loop_tell(c->loop, c->owner, PY_ERROR, py_error_dict(e));
}
static PyObject *dict_of_stats(const sloop_stats_t *stats) {
  PyObject *dict = PyDict_New();
#define X(name, unit, meaning)                                  \
  if (dict) {                                                   \
    PyObject *value = PyLong_FromUnsignedLongLong(stats->name); \
    if (!value || PyDict_SetItemString(dict, #name, value)) {   \
      PY_DROP(dict);                                            \
      dict = NULL;                                              \
    }                                                           \
    PY_DROP(value);                                             \
  }
  SLOOP_STATS(X)
#undef X
  return dict;
}
static void on_stats(sloop_t *s, const sloop_stats_t *stats, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_loop_tell(c->loop, c->owner, PY_STATS, dict_of_stats(stats));
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_loop_tell(c->loop, c->owner, PY_LOG, Py_BuildValue("(iN)", (int)level, py_text0(line)));
}
static void on_dead_letter(sloop_t *s, const sloop_record_t *r, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_loop_tell(c->loop, c->owner, PY_DEAD_LETTER, py_record_copy(c->loop->st, r));
}
static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_loop_tell(c->loop, c->owner, PY_LEASE,
               Py_BuildValue("(sNNNK)", sloop_lease_event_name(e->kind), py_text0(e->shard),
                             py_text0(e->worker), py_text0(e->text), (unsigned long long)e->epoch));
}
static void on_done(sloop_t *s, int status, void *arg) {
  (void)s;
  PY_HOLD(Py_None);
  py_op_done(arg, status, Py_None, NULL);
}
static void on_closed(sloop_t *s, int status, void *arg) {
  py_consumer *c = arg;
  (void)s, (void)status;
  c->native = NULL;
  *c->link = c->next;
  if (c->next) c->next->link = c->link;
  py_loop_tell_kept(c->loop, c->closed);
  c->closed = NULL;
  py_op_free(c->listing);
  c->listing = NULL;
  PY_DROP(c);
}
static void on_list(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                    const sloop_error_t *e, void *arg) {
  py_op *op = arg;
  PyObject *list = PyList_New(0);
  size_t i;
  (void)s;
  op->consumer->listing = NULL;
  for (i = 0; list && i < n; i++) {
    const sloop_shard_t *h = shards[i];
    PyObject *one = Py_BuildValue(
        "{sNsNsNsNsNsNsNsOsi}", "id", py_text0(h->id), "parent", py_text0(h->parent), "adjacent_parent",
        py_text0(h->adjacent_parent), "hash_start", py_text0(h->hash_start), "hash_end",
        py_text0(h->hash_end), "sequence_start", py_text0(h->seq_start), "sequence_end", py_text0(h->seq_end),
        "closed", h->closed ? Py_True : Py_False, "placement", (int)h->placement);
    if (!one || PyList_Append(list, one)) {
      PY_DROP(list);
      list = NULL;
    }
    PY_DROP(one);
  }
  py_op_done(op, status, list, e);
}

/* ---- a request for credentials ------------------------------------------------------------------- */

typedef struct py_creds {
  PyObject_HEAD py_loop *loop;
  sloop_creds_req_t *rq; /* NULL: answered */
  unsigned generation;
} py_creds;

/* Returns NULL if there is no memory; the request is not answered then. */
static py_creds *new_creds(py_loop *l, sloop_creds_req_t *rq) {
  py_creds *request = PyObject_New(py_creds, l->st->creds);
  if (request) {
    request->rq = NULL;
    request->loop = NULL;
    if (py_loop_owe(l)) {
      PY_DROP(request);
      request = NULL;
    }
  }
  if (!request) return NULL;
  PY_HOLD(l);
  request->loop = l;
  request->rq = rq;
  request->generation = py_generation;
  return request;
}
void py_creds_tell(py_loop *l, PyObject *owner, sloop_creds_req_t *rq) {
  py_creds *request = new_creds(l, rq);
  if (request) PY_HOLD(request); /* so that its end does not refuse what nobody was asked for */
  if (py_loop_tell(l, owner, PY_CREDS, (PyObject *)request)) {
    if (request) {
      request->rq = NULL;
      l->owed--;
    }
    sloop_creds_done(rq, UV_ENOMEM, NULL, NULL);
  }
  PY_DROP(request);
}
static void on_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  py_consumer *c = arg;
  (void)s;
  py_creds_tell(c->loop, c->owner, rq);
}
static void free_creds(PyObject *self) {
  py_creds *request = (py_creds *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (request->rq && request->generation == py_generation)
    py_loop_return(request->loop, NULL, 0, request->rq);
  PY_DROP(request->loop);
  PyObject_Free(self);
  PY_DROP(type);
}
/* Returns the request, which is answered from now on; or raises and returns NULL. */
static sloop_creds_req_t *take_request(PyObject *self, const char *what) {
  py_creds *request = (py_creds *)self;
  sloop_creds_req_t *rq = request->rq;
  if (py_loop_check(request->loop, what)) return NULL;
  if (!rq) return (sloop_creds_req_t *)(void *)py_raise_state(request->loop->st, "%s: answered before", what);
  request->rq = NULL;
  request->loop->owed--;
  return rq;
}
static PyObject *answer_creds(PyObject *self, PyObject *args) {
  sloop_creds_req_t *rq;
  sloop_creds_t creds;
  long long expires_at_ms;
  sloop_creds_init(&creds);
  if (!PyArg_ParseTuple(args, "sszL:answer", &creds.access_key, &creds.secret_key, &creds.session_token,
                        &expires_at_ms))
    return NULL;
  creds.expires_at_ms = expires_at_ms;
  rq = take_request(self, "CredsRequest.answer()");
  if (!rq) return NULL;
  sloop_creds_done(rq, 0, &creds, NULL);
  py_loop_wake(((py_creds *)self)->loop);
  Py_RETURN_NONE;
}
static PyObject *refuse_creds(PyObject *self, PyObject *args) {
  sloop_creds_req_t *rq;
  const char *why;
  if (!PyArg_ParseTuple(args, "s:refuse", &why)) return NULL;
  rq = take_request(self, "CredsRequest.refuse()");
  if (!rq) return NULL;
  sloop_creds_done(rq, SLOOP_EAUTH, NULL, why);
  py_loop_wake(((py_creds *)self)->loop);
  Py_RETURN_NONE;
}

/* ---- open and close ------------------------------------------------------------------------------ */

/* Fills o->shards from a tuple of texts. Returns 0, or raises and returns -1. The caller frees
 * o->shards. */
static int fill_shards(sloop_opts_t *o, PyObject *shards) {
  Py_ssize_t i, n;
  const char **ids;
  if (shards == Py_None) return 0;
  n = PyTuple_Size(shards);
  if (n < 0) return -1;
  ids = PyMem_Calloc((size_t)n + 1, sizeof *ids);
  if (!ids) {
    PyErr_NoMemory();
    return -1;
  }
  o->shards = ids;
  o->shards_n = (size_t)n;
  for (i = 0; i < n; i++) {
    ids[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(shards, i), NULL);
    if (!ids[i]) return -1;
  }
  return 0;
}

static void fill_callbacks(sloop_opts_t *o, unsigned wanted, py_consumer *c) {
  o->arg = c;
  o->on_batch = on_batch;
  o->on_loss = on_loss;
  o->on_error = on_error;
  o->on_log = on_log;
  if (WANTS(wanted, PY_SHARD)) o->on_shard = on_shard;
  if (WANTS(wanted, PY_TIP)) o->on_tip = on_tip;
  if (WANTS(wanted, PY_STATS)) o->on_stats = on_stats;
  if (WANTS(wanted, PY_CREDS)) o->creds = on_creds;
  if (WANTS(wanted, PY_DEAD_LETTER)) o->on_dead_letter = on_dead_letter;
  if (WANTS(wanted, PY_LEASE)) o->on_lease = on_lease;
}

PyObject *py_consumer_open(PyObject *self, PyObject *args) {
  py_loop *l = (py_loop *)self;
  PyObject *options, *start, *shards, *join, *owner, *name;
  unsigned wanted;
  sloop_opts_t o;
  py_consumer *c;
  char why[160] = "";
  int status = 0;
  if (!PyArg_ParseTuple(args, "O!OOOIOU:open", &PyDict_Type, &options, &start, &shards, &join, &wanted,
                        &owner, &name) ||
      py_loop_check(l, "Loop.open()"))
    return NULL;
  if (!l->world || uv_is_closing((uv_handle_t *)&l->world->wake))
    return py_raise_state(l->st, "Loop.open(): the loop is closed");
  sloop_opts_init(&o);
  if (py_fill_options(l->st, &o, options, start) || fill_shards(&o, shards)) {
    PyMem_Free((void *)(uintptr_t)o.shards);
    return NULL;
  }
  c = PyObject_New(py_consumer, l->st->consumer);
  if (!c) {
    PyMem_Free((void *)(uintptr_t)o.shards);
    return NULL;
  }
  PY_HOLD(l);
  PY_HOLD(owner);
  PY_HOLD(name);
  c->loop = l;
  c->owner = owner;
  c->name = name;
  c->s = c->native = NULL;
  c->listing = NULL;
  c->batches = NULL;
  c->next = NULL;
  c->link = NULL;
  PY_HOLD(Py_None);
  c->closed = py_kept_new(owner, PY_CLOSED, Py_None);
  if (!c->closed) status = -1;
  fill_callbacks(&o, wanted, c);
  if (!status && join != Py_None) {
    if (Py_TYPE(join) != l->st->consumer || ((py_consumer *)join)->loop != l || !((py_consumer *)join)->s) {
      py_raise_state(l->st, "join: that consumer is closed, or belongs to another loop");
      status = -1;
    } else {
      o.join = ((py_consumer *)join)->s;
    }
  }
  if (!status) {
    status = sloop_open(&c->s, &l->world->uv, &o, why, sizeof why);
    if (status) py_raise_code(l->st, status, why);
  }
  PyMem_Free((void *)(uintptr_t)o.shards);
  if (status) {
    PY_DROP(c);
    return NULL;
  }
  c->native = c->s;
  c->next = l->first;
  c->link = &l->first;
  if (c->next) c->next->link = &c->next;
  l->first = c;
  PY_HOLD(c); /* until on_closed */
  return (PyObject *)c;
}

/* A batch whose views are in use goes back when they are released. */
static void finish_batches(py_consumer *c) {
  py_batch *b, *next;
  for (b = c->batches; b; b = next) {
    next = b->next;
    py_batch_finish(b, 0);
  }
}

void py_consumer_close(py_consumer *c) {
  if (!c->s) return;
  sloop_close(c->s, on_closed, c);
  c->s = NULL;
  finish_batches(c);
  py_loop_wake(c->loop);
}

static void free_consumer(PyObject *self) {
  py_consumer *c = (py_consumer *)self;
  PyTypeObject *type = Py_TYPE(self);
  /* An open consumer holds itself, so this one is closed or was never opened. */
  py_kept_free(c->closed);
  PY_DROP(c->owner);
  PY_DROP(c->name);
  PY_DROP(c->loop);
  PyObject_Free(self);
  PY_DROP(type);
}

/* Returns the open consumer, or raises and returns NULL. */
static py_consumer *open_of(PyObject *self, const char *what) {
  py_consumer *c = (py_consumer *)self;
  if (py_loop_check(c->loop, what)) return NULL;
  if (c->s) return c;
  py_raise_state(c->loop->st, "%s: the consumer of %R is closed", what, c->name);
  return NULL;
}
/* Ends a call: None, or what the status says. */
static PyObject *end_call(py_consumer *c, int status, const char *what) {
  py_loop_wake(c->loop);
  if (!status) Py_RETURN_NONE;
  return py_raise_code(c->loop->st, status, what);
}

/* ---- methods: arguments first, because a number's __index__() may close the consumer ------------- */

static PyObject *start_consumer(PyObject *self, PyObject *none) {
  py_consumer *c = open_of(self, "start()");
  (void)none;
  return c ? end_call(c, sloop_start(c->s), "start(): started before") : NULL;
}
static PyObject *close_consumer(PyObject *self, PyObject *none) {
  py_consumer *c = (py_consumer *)self;
  (void)none;
  if (py_loop_check(c->loop, "close()")) return NULL;
  py_consumer_close(c);
  Py_RETURN_NONE;
}
static PyObject *give_all_back(PyObject *self, PyObject *none) {
  py_consumer *c = open_of(self, "give_back()");
  (void)none;
  if (!c) return NULL;
  finish_batches(c);
  py_loop_wake(c->loop);
  return PyBool_FromLong(!c->batches);
}
/* Begins an operation whose callback is on_done. */
#define BEGIN_OP(what, call)                    \
  op = py_op_new(c->loop, c->owner, c, number); \
  if (!op) return NULL;                         \
  status = (call);                              \
  if (status) py_op_free(op);                   \
  return end_call(c, status, what)
static PyObject *stop_consumer(PyObject *self, PyObject *args) {
  py_consumer *c;
  long long number;
  unsigned long long limit_ms;
  py_op *op;
  int status;
  if (!PyArg_ParseTuple(args, "LK:stop", &number, &limit_ms)) return NULL;
  c = open_of(self, "stop()");
  if (!c) return NULL;
  BEGIN_OP("stop(): not started, or stopping already", sloop_stop(c->s, limit_ms, on_done, op));
}
static PyObject *seek_position(PyObject *self, PyObject *args) {
  py_consumer *c;
  long long number;
  PyObject *tuple;
  sloop_position_t to;
  py_op *op;
  int status;
  if (!PyArg_ParseTuple(args, "LO:seek", &number, &tuple) || py_read_position(tuple, &to)) return NULL;
  c = open_of(self, "seek()");
  if (!c) return NULL;
  BEGIN_OP("seek()", sloop_seek(c->s, &to, on_done, op));
}
static PyObject *write_checkpoint(PyObject *self, PyObject *args) {
  py_consumer *c;
  long long number;
  const char *shard;
  py_op *op;
  int status;
  if (!PyArg_ParseTuple(args, "Lz:checkpoint", &number, &shard)) return NULL;
  c = open_of(self, "checkpoint()");
  if (!c) return NULL;
  BEGIN_OP("checkpoint()", sloop_checkpoint(c->s, shard, on_done, op));
}
static PyObject *write_checkpoint_at(PyObject *self, PyObject *args) {
  py_consumer *c;
  long long number;
  const char *shard;
  PyObject *tuple;
  sloop_position_t to;
  py_op *op;
  int status;
  if (!PyArg_ParseTuple(args, "LsO:checkpoint_at", &number, &shard, &tuple) || py_read_position(tuple, &to))
    return NULL;
  c = open_of(self, "checkpoint_at()");
  if (!c) return NULL;
  BEGIN_OP("checkpoint_at()", sloop_checkpoint_at(c->s, shard, &to, on_done, op));
}
static PyObject *list_shards(PyObject *self, PyObject *args) {
  py_consumer *c;
  long long number;
  py_op *op;
  int status;
  if (!PyArg_ParseTuple(args, "L:shards", &number)) return NULL;
  c = open_of(self, "shards()");
  if (!c) return NULL;
  op = py_op_new(c->loop, c->owner, c, number);
  if (!op) return NULL;
  status = sloop_list(c->s, on_list, op);
  if (status) {
    py_op_free(op);
  } else {
    c->listing = op;
  }
  return end_call(c, status, "shards(): another listing is pending, or the consumer is stopped");
}
/* pause(), resume(), seek_checkpoint() and handover(): calls with a shard, or None for all. */
static PyObject *call_with_shard(PyObject *self, PyObject *args, const char *what,
                                 int (*call)(sloop_t *, const char *)) {
  py_consumer *c = open_of(self, what);
  const char *shard = NULL; /* reading a str runs no code of the caller */
  return c && PyArg_ParseTuple(args, "|z", &shard) ? end_call(c, call(c->s, shard), what) : NULL;
}
static PyObject *pause_shard(PyObject *self, PyObject *args) {
  return call_with_shard(self, args, "pause()", sloop_pause);
}
static PyObject *resume_shard(PyObject *self, PyObject *args) {
  return call_with_shard(self, args, "resume()", sloop_resume);
}
static PyObject *seek_checkpoint(PyObject *self, PyObject *args) {
  return call_with_shard(self, args, "seek_checkpoint()", sloop_seek_checkpoint);
}
static PyObject *hand_over(PyObject *self, PyObject *args) {
  return call_with_shard(self, args, "handover()", sloop_handover);
}
static PyObject *get_token(PyObject *self, PyObject *none) {
  py_consumer *c = open_of(self, "token()");
  size_t len = 0;
  char *text;
  int status;
  PyObject *result = NULL;
  (void)none;
  if (!c) return NULL;
  status = sloop_token(c->s, NULL, &len);
  if (status != UV_ENOBUFS) return end_call(c, status, "token()");
  text = PyMem_Malloc(len);
  if (!text) return PyErr_NoMemory();
  status = sloop_token(c->s, text, &len);
  result = status ? end_call(c, status, "token()") : py_text(text, len);
  PyMem_Free(text);
  return result;
}
static PyObject *get_stats(PyObject *self, PyObject *none) {
  py_consumer *c = open_of(self, "stats()");
  sloop_stats_t stats;
  (void)none;
  if (!c) return NULL;
  sloop_stats_get(c->s, &stats, sizeof stats);
  return dict_of_stats(&stats);
}
static PyObject *get_worker(PyObject *self, PyObject *none) {
  py_consumer *c = open_of(self, "worker");
  (void)none;
  return c ? py_text0(sloop_worker(c->s)) : NULL;
}
static void add_shard_stats(const sloop_shard_stats_t *e, void *arg) {
  PyObject **list = arg, *one;
  if (!*list) return;
  one =
      Py_BuildValue("{sssKsLsKsOsOsNsssIsLsLsNsN}", "shard", e->shard, "epoch", (unsigned long long)e->epoch,
                    "behind_ms", (long long)e->behind_ms, "unacked", (unsigned long long)e->unacked, "paused",
                    e->paused ? Py_True : Py_False, "at_tip", e->at_tip ? Py_True : Py_False, "start",
                    py_position_tuple(&e->from), "state", sloop_shard_state_name(e->state), "fails",
                    (unsigned)e->fails, "state_ms", (long long)e->state_ms, "acked_age_ms",
                    (long long)e->acked_age_ms, "other", py_text0(e->other), "error", py_text0(e->error));
  if (!one || PyList_Append(*list, one)) {
    PY_DROP(*list);
    *list = NULL;
  }
  PY_DROP(one);
}
static PyObject *get_shard_stats(PyObject *self, PyObject *none) {
  py_consumer *c = open_of(self, "shard_stats()");
  PyObject *list = c ? PyList_New(0) : NULL;
  (void)none;
  if (list) {
    int collects = PyGC_Disable(); /* a finalizer that it runs might call something of the consumer */
    sloop_shard_stats_each(c->s, add_shard_stats, &list);
    if (collects) PyGC_Enable();
  }
  return list;
}
static PyObject *get_admin(PyObject *self, PyObject *owner) {
  py_consumer *c = open_of(self, "admin");
  return c ? py_admin_of(c, owner) : NULL;
}
static PyObject *is_open(PyObject *self, void *arg) {
  py_consumer *c = (py_consumer *)self;
  (void)arg;
  return PyBool_FromLong(c->s && c->loop->generation == py_generation);
}

static PyGetSetDef attributes[] = {{"is_open", is_open, NULL, "Whether close() was not called yet.", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {
    {"start", start_consumer, METH_NOARGS, "start() - begins to read."},
    {"close", close_consumer, METH_NOARGS, "close() - closes at once; CLOSED is the last event."},
    {"give_back", give_all_back, METH_NOARGS,
     "give_back() - gives all batches back that are out. False: views of some are in use."},
    {"stop", stop_consumer, METH_VARARGS, "stop(number, limit_ms)"},
    {"seek", seek_position, METH_VARARGS, "seek(number, position)"},
    {"checkpoint", write_checkpoint, METH_VARARGS, "checkpoint(number, shard)"},
    {"checkpoint_at", write_checkpoint_at, METH_VARARGS, "checkpoint_at(number, shard, position)"},
    {"shards", list_shards, METH_VARARGS, "shards(number)"},
    {"pause", pause_shard, METH_VARARGS, "pause(shard=None)"},
    {"resume", resume_shard, METH_VARARGS, "resume(shard=None)"},
    {"seek_checkpoint", seek_checkpoint, METH_VARARGS, "seek_checkpoint(shard)"},
    {"handover", hand_over, METH_VARARGS, "handover(shard)"},
    {"token", get_token, METH_NOARGS, "token() - the positions of all shards."},
    {"stats", get_stats, METH_NOARGS, "stats() - the numbers of the consumer."},
    {"shard_stats", get_shard_stats, METH_NOARGS, "shard_stats() - the shards that it reads."},
    {"admin", get_admin, METH_O, "admin(owner) - the Admin that is a part of it."},
    {"worker", get_worker, METH_NOARGS, "worker() - this worker's instance."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)free_consumer}, {Py_tp_getset, attributes}, {Py_tp_methods, methods}, {0, NULL}};
PyType_Spec py_consumer_spec = {"sloop._native.Consumer", sizeof(py_consumer), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
static PyMethodDef creds_methods[] = {
    {"answer", answer_creds, METH_VARARGS, "answer(access_key, secret_key, token, expires_at_ms)"},
    {"refuse", refuse_creds, METH_VARARGS, "refuse(why)"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot creds_slots[] = {
    {Py_tp_dealloc, (void *)free_creds}, {Py_tp_methods, creds_methods}, {0, NULL}};
PyType_Spec py_creds_spec = {"sloop._native.CredsRequest", sizeof(py_creds), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, creds_slots};

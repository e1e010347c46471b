/* py_batch.c - a batch as a sequence of records, and how it goes back.
 *
 * A batch goes back in three ways: by done(), when its consumer closes, or when the last reference to the
 * object goes. The last two acknowledge nothing, so its records come again.
 *
 * The memory of a batch goes with it, except while a memoryview of one of its records is in use. Then the
 * acknowledgement of done() counts at once, and the batch goes back when the last view is released. */
#include "bind/python/py_native.h"

PyObject *py_batch_new(py_consumer *c, sloop_batch_t *b) {
  size_t n = sloop_batch_count(b);
  py_batch *batch;
  py_record **live = PyMem_Calloc(n, sizeof(py_record *)); /* NOLINT(bugprone-sizeof-expression) */
  if (!live) return PyErr_NoMemory();
  batch = PyObject_New(py_batch, c->loop->st->batch);
  if (!batch) {
    PyMem_Free(live);
    return NULL;
  }
  batch->b = NULL;
  batch->live = live;
  batch->consumer = NULL;
  batch->loop = NULL;
  if (py_loop_owe(c->loop)) {
    PY_DROP(batch);
    return NULL;
  }
  PY_HOLD(c->loop);
  PY_HOLD(c);
  batch->loop = c->loop;
  batch->consumer = c;
  batch->b = b;
  batch->count = (Py_ssize_t)n;
  batch->acked = 0;
  batch->views = 0;
  batch->finished = 0;
  batch->generation = py_generation;
  batch->next = c->batches;
  batch->link = &c->batches;
  if (batch->next) batch->next->link = &batch->next;
  c->batches = batch;
  return (PyObject *)batch;
}

/* Takes the native batch out of the object: whatever record objects exist get memory of their own. */
static sloop_batch_t *take_native(py_batch *batch) {
  sloop_batch_t *b = batch->b;
  Py_ssize_t i;
  for (i = 0; batch->live && i < batch->count; i++) {
    if (batch->live[i]) py_record_detach(batch->live[i]);
  }
  PyMem_Free(batch->live);
  batch->live = NULL;
  batch->b = NULL;
  *batch->link = batch->next;
  if (batch->next) batch->next->link = batch->link;
  batch->next = NULL;
  batch->link = NULL;
  return b;
}

void py_batch_finish(py_batch *batch, size_t acked) {
  size_t i;
  if (!batch->b) return;
  if (!batch->finished) {
    batch->finished = 1;
    batch->acked = acked;
    for (i = 0; batch->views && i < acked; i++) sloop_batch_ack(batch->b, i);
  }
  if (batch->views) return;
  batch->loop->owed--;
  sloop_batch_done(take_native(batch), batch->acked);
}

void py_batch_settle(py_batch *batch) {
  if (!batch->finished || !batch->b || batch->generation != py_generation) return;
  /* A view may be released on any thread, so the loop gives the batch back. */
  py_loop_return(batch->loop, take_native(batch), batch->acked, NULL);
}

static void free_batch(PyObject *self) {
  py_batch *batch = (py_batch *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (batch->b && batch->generation == py_generation)
    py_loop_return(batch->loop, take_native(batch), batch->acked, NULL);
  PyMem_Free(batch->live);
  PY_DROP(batch->consumer);
  PY_DROP(batch->loop);
  PyObject_Free(self);
  PY_DROP(type);
}

/* Returns 0 if the batch is out and may be used by the caller. Otherwise an exception is set, and the
 * result is -1. */
static int check_out(py_batch *batch, const char *what) {
  if (py_loop_check(batch->loop, what)) return -1;
  if (batch->b && !batch->finished) return 0;
  py_raise_state(batch->loop->st, "%s: the batch was given back before", what);
  return -1;
}

static PyObject *give_back(PyObject *self, PyObject *args) {
  py_batch *batch = (py_batch *)self;
  PyObject *wanted = Py_None;
  Py_ssize_t acked = batch->count;
  if (!PyArg_ParseTuple(args, "|O:done", &wanted) || check_out(batch, "Batch.done()")) return NULL;
  if (wanted != Py_None) {
    acked = PyNumber_AsSsize_t(wanted, PyExc_ValueError); /* its __index__() may give the batch back */
    if ((acked == -1 && PyErr_Occurred()) || check_out(batch, "Batch.done()")) return NULL;
    if (acked < 0 || acked > batch->count)
      return PyErr_Format(PyExc_ValueError, "Batch.done(): acked is %zd, and the batch has %zd records",
                          acked, batch->count);
  }
  py_batch_finish(batch, (size_t)acked);
  py_loop_wake(batch->loop);
  return PyObject_CallNoArgs((PyObject *)batch->loop->st->finished);
}

/* Leaving a with block gives the batch back: acknowledged, or after an exception not. */
static PyObject *enter_batch(PyObject *self, PyObject *none) {
  (void)none;
  if (check_out((py_batch *)self, "with Batch")) return NULL;
  PY_HOLD(self);
  return self;
}
static PyObject *leave_batch(PyObject *self, PyObject *args) {
  py_batch *batch = (py_batch *)self;
  PyObject *type, *value, *trace;
  if (!PyArg_ParseTuple(args, "OOO:__exit__", &type, &value, &trace)) return NULL;
  if (!batch->finished && batch->b && !py_loop_check(batch->loop, "with Batch")) {
    py_batch_finish(batch, type == Py_None ? (size_t)batch->count : 0);
    py_loop_wake(batch->loop);
  }
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_FALSE;
}

/* ---- what done() returns: something that can be awaited, and is over already --------------------- */

static PyObject *await_finished(PyObject *self) {
  PyObject *empty = PyTuple_New(0), *iterator = empty ? PyObject_GetIter(empty) : NULL;
  (void)self;
  PY_DROP(empty);
  return iterator;
}
static PyType_Slot finished_slots[] = {{Py_am_await, (void *)await_finished}, {0, NULL}};
PyType_Spec py_finished_spec = {"sloop._native.Finished", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT,
                                finished_slots};

static PyObject *ack_one(PyObject *self, PyObject *number) {
  py_batch *batch = (py_batch *)self;
  Py_ssize_t i;
  i = PyNumber_AsSsize_t(number, PyExc_IndexError); /* its __index__() may give the batch back */
  if ((i == -1 && PyErr_Occurred()) || check_out(batch, "Batch.ack()")) return NULL;
  if (i < 0) i += batch->count;
  if (i < 0 || i >= batch->count) {
    PyErr_SetString(PyExc_IndexError, "Batch.ack(): no such record");
    return NULL;
  }
  sloop_batch_ack(batch->b, (size_t)i);
  py_loop_wake(batch->loop);
  PY_HOLD(Py_None);
  return Py_None;
}

static Py_ssize_t count_records(PyObject *self) { return ((py_batch *)self)->count; }

static PyObject *record_at(PyObject *self, Py_ssize_t index) {
  py_batch *batch = (py_batch *)self;
  if (index < 0 || index >= batch->count) {
    PyErr_SetString(PyExc_IndexError, "Batch: no such record");
    return NULL;
  }
  if (batch->generation != py_generation) {
    PyErr_SetString(batch->loop->st->fork_error, "Batch: this process was forked after the batch came");
    return NULL;
  }
  if (!batch->b || batch->finished)
    return py_raise_state(batch->loop->st, "Batch: it was given back, and its records went with it");
  return py_record_new(batch, index);
}

static PyObject *get_behind(PyObject *self, void *arg) {
  py_batch *batch = (py_batch *)self;
  int64_t ms;
  (void)arg;
  if (check_out(batch, "Batch.behind_ms")) return NULL;
  ms = sloop_batch_behind_ms(batch->b);
  if (ms >= 0) return PyLong_FromLongLong(ms);
  PY_HOLD(Py_None);
  return Py_None;
}

static PyObject *is_done(PyObject *self, void *arg) {
  py_batch *batch = (py_batch *)self;
  (void)arg;
  return PyBool_FromLong(!batch->b || batch->finished);
}

static PyObject *show_batch(PyObject *self) {
  py_batch *batch = (py_batch *)self;
  return PyUnicode_FromFormat("<sloop.Batch of %zd records%s>", batch->count,
                              batch->b && !batch->finished ? "" : ", given back");
}

/* ---- the iterator over a batch ------------------------------------------------------------------- */

typedef struct py_records {
  PyObject_HEAD py_batch *batch;
  Py_ssize_t next;
} py_records;

static PyObject *begin_records(PyObject *self) {
  py_batch *batch = (py_batch *)self;
  py_records *i = PyObject_New(py_records, batch->loop->st->records);
  if (!i) return NULL;
  PY_HOLD(batch);
  i->batch = batch;
  i->next = 0;
  return (PyObject *)i;
}
static PyObject *next_record(PyObject *self) {
  py_records *i = (py_records *)self;
  return i->next < i->batch->count ? record_at((PyObject *)i->batch, i->next++) : NULL;
}
static PyObject *self_again(PyObject *self) {
  PY_HOLD(self);
  return self;
}
static void free_records(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PY_DROP(((py_records *)self)->batch);
  PyObject_Free(self);
  PY_DROP(type);
}

static PyGetSetDef attributes[] = {
    {"behind_ms", get_behind, NULL, "How far its last record was behind the tip; None: unknown.", NULL},
    {"is_done", is_done, NULL, "Whether it was given back.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {
    {"done", give_back, METH_VARARGS,
     "done(acked=None) - gives the batch back; all of it is acknowledged, or that many."},
    {"__enter__", enter_batch, METH_NOARGS, "Returns the batch."},
    {"__exit__", leave_batch, METH_VARARGS, "Gives the batch back."},
    {"ack", ack_one, METH_O, "ack(index) - acknowledges one record."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)free_batch},
                              {Py_tp_getset, attributes},
                              {Py_tp_methods, methods},
                              {Py_tp_repr, (void *)show_batch},
                              {Py_tp_iter, (void *)begin_records},
                              {Py_sq_length, (void *)count_records},
                              {Py_sq_item, (void *)record_at},
                              {Py_tp_doc, (void *)(uintptr_t) "Records that are yours until done()."},
                              {0, NULL}};
PyType_Spec py_batch_spec = {"sloop._native.Batch", sizeof(py_batch), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
static PyType_Slot records_slots[] = {{Py_tp_dealloc, (void *)free_records},
                                      {Py_tp_iter, (void *)self_again},
                                      {Py_tp_iternext, (void *)next_record},
                                      {0, NULL}};
PyType_Spec py_records_spec = {"sloop._native.Records", sizeof(py_records), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, records_slots};

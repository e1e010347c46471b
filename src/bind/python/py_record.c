/* py_record.c - one record: its members as Python values, and its payload as a buffer without a copy.
 *
 * A record points into its batch. When the batch goes back, py_batch.c has each record object that
 * still exists copy what it shows, so a record can be used as long as somebody has it. A batch with a
 * memoryview in use does not go back before the view is released. */
#include "bind/python/py_native.h"

#include <string.h>

PyObject *py_record_new(py_batch *b, Py_ssize_t index) {
  py_record *r;
  if (b->live[index]) {
    PY_HOLD(b->live[index]);
    return (PyObject *)b->live[index];
  }
  r = PyObject_New(py_record, b->loop->st->record);
  if (!r) return NULL;
  PY_HOLD(b);
  r->st = b->loop->st;
  r->batch = b;
  r->r = sloop_batch_at(b->b, (size_t)index);
  r->own = NULL;
  r->index = index;
  r->views = 0;
  b->live[index] = r;
  return (PyObject *)r;
}

static char *put_text(char *to, const char **text, const char *from) {
  size_t len = strlen(from) + 1;
  memcpy(to, from, len);
  *text = to;
  return to + len;
}
static char *put_bytes(char *to, sloop_str_t *s) {
  memcpy(to, s->base, s->len);
  s->base = to;
  return to + s->len;
}
/* Returns a block that begins with the copy of a record and has all that it points at. NULL: no
 * memory. */
static sloop_record_t *copy_record(const sloop_record_t *r) {
  size_t size = sizeof *r + strlen(r->stream) + strlen(r->shard) + 2 + r->seq.len + r->key.len + r->data.len +
                r->event.len + r->event_id.len + r->user.len + r->whole.len;
  char *block = PyMem_Malloc(size), *to = block + sizeof *r;
  sloop_record_t *own = (sloop_record_t *)(void *)block;
  if (!block) return NULL;
  memcpy(own, r, sizeof *r);
  to = put_text(to, &own->stream, r->stream);
  to = put_text(to, &own->shard, r->shard);
  to = put_bytes(to, &own->seq);
  to = put_bytes(to, &own->key);
  to = put_bytes(to, &own->event);
  to = put_bytes(to, &own->event_id);
  to = put_bytes(to, &own->user);
  to = put_bytes(to, &own->data);
  put_bytes(to, &own->whole);
  return own;
}

PyObject *py_record_copy(py_state *st, const sloop_record_t *from) {
  sloop_record_t *own = copy_record(from);
  py_record *r;
  if (!own) return PyErr_NoMemory();
  r = PyObject_New(py_record, st->record);
  if (!r) {
    PyMem_Free(own);
    return NULL;
  }
  r->st = st;
  r->batch = NULL;
  r->r = own;
  r->own = own;
  r->index = 0;
  r->views = 0;
  return (PyObject *)r;
}

void py_record_detach(py_record *r) { r->r = r->own = copy_record(r->r); }

static void free_record(PyObject *self) {
  py_record *r = (py_record *)self;
  PyTypeObject *type = Py_TYPE(self);
  /* The index of `live` is of this record until the batch goes back and sets it to NULL. */
  if (r->batch && r->batch->live && r->batch->live[r->index] == r) r->batch->live[r->index] = NULL;
  PyMem_Free(r->own);
  PY_DROP(r->batch);
  PyObject_Free(self);
  PY_DROP(type);
}

/* Returns the native record, or raises and returns NULL. */
static const sloop_record_t *native_of(py_record *r) {
  if (r->batch && r->batch->generation != py_generation) {
    PyErr_SetString(r->st->fork_error,
                    "Record: this process was forked after the record came; nothing of it "
                    "may be used here");
    return NULL;
  }
  if (!r->r) py_raise_state(r->st, "Record: there was no memory to keep it when its batch was given back");
  return r->r;
}

#define GETTER(name, value)                                \
  static PyObject *get_##name(PyObject *self, void *arg) { \
    py_record *o = (py_record *)self;                      \
    const sloop_record_t *r = native_of(o);                \
    (void)arg;                                             \
    return r ? (value) : NULL;                             \
  }
static PyObject *none(void) {
  PY_HOLD(Py_None);
  return Py_None;
}
static PyObject *text_or_none(sloop_str_t s) { return s.len ? py_text(s.base, s.len) : none(); }
static PyObject *bytes_or_none(sloop_str_t s) {
  return s.len ? PyBytes_FromStringAndSize(s.base, (Py_ssize_t)s.len) : none();
}
static PyObject *time_or_none(py_state *st, int64_t ms) {
  if (ms < 0) return none();
  return PyObject_CallFunction(st->from_timestamp, "dO", (double)ms / 1000.0, st->utc);
}
/* Keeps the memory of the record until end_view(), whatever becomes of its batch. */
static void begin_view(py_record *o) {
  o->views++;
  if (o->batch) o->batch->views++;
}
static void end_view(py_record *o) {
  o->views--;
  if (o->batch && --o->batch->views == 0) py_batch_settle(o->batch);
}

/* The objects that it makes may have the garbage collector run, and a finalizer may give the batch back. */
static PyObject *change_of(py_record *o, const sloop_record_t *r) {
  PyObject *change;
  begin_view(o);
  change = py_change_new(o->st, r->event, r->data.base, r->data.len);
  end_view(o);
  return change;
}
GETTER(stream, py_text0(r->stream))
GETTER(shard, py_text0(r->shard))
GETTER(sequence, py_text(r->seq.base, r->seq.len))
GETTER(sub_sequence, PyLong_FromUnsignedLongLong(r->sub))
GETTER(key, r->flags &SLOOP_REC_KEYLESS ? none() : py_text(r->key.base, r->key.len))
GETTER(data, PyMemoryView_FromObject((PyObject *)o))
GETTER(arrived_at_ms, r->arrived_at_ms < 0 ? none() : PyLong_FromLongLong(r->arrived_at_ms))
GETTER(arrived_at, time_or_none(o->st, r->arrived_at_ms))
GETTER(epoch, PyLong_FromUnsignedLongLong(r->epoch))
GETTER(attempt, PyLong_FromUnsignedLong(r->attempt))
GETTER(late, PyBool_FromLong((r->flags & SLOOP_REC_LATE) != 0))
GETTER(raw, PyBool_FromLong((r->flags & SLOOP_REC_RAW) != 0))
GETTER(redelivered, PyBool_FromLong((r->flags & SLOOP_REC_REDELIVERED) != 0))
GETTER(foreign, PyBool_FromLong((r->flags & SLOOP_REC_FOREIGN) != 0))
GETTER(event, text_or_none(r->event))
GETTER(event_id, text_or_none(r->event_id))
GETTER(user_json, bytes_or_none(r->user))
GETTER(whole_json, bytes_or_none(r->whole))
GETTER(change, r->event.len ? change_of(o, r) : none())

static PyObject *to_bytes(PyObject *self, PyObject *none_arg) {
  const sloop_record_t *r = native_of((py_record *)self);
  (void)none_arg;
  return r ? PyBytes_FromStringAndSize(r->data.base, (Py_ssize_t)r->data.len) : NULL;
}

static PyObject *ack_record(PyObject *self, PyObject *none_arg) {
  py_record *r = (py_record *)self;
  (void)none_arg;
  if (!r->batch) return py_raise_state(r->st, "Record.ack(): a dead letter is acknowledged already");
  if (!native_of(r) || py_loop_check(r->batch->loop, "Record.ack()")) return NULL;
  if (!r->batch->b || r->batch->finished)
    return py_raise_state(r->st, "Record.ack(): its batch was given back before");
  sloop_batch_ack(r->batch->b, (size_t)r->index);
  py_loop_wake(r->batch->loop);
  return none();
}

static PyObject *is_owned(PyObject *self, void *arg) {
  py_record *r = (py_record *)self;
  (void)arg;
  if (!native_of(r)) return NULL;
  if (!r->batch || !r->batch->b || r->batch->finished) Py_RETURN_FALSE;
  if (py_loop_check(r->batch->loop, "Record.owned")) return NULL;
  return PyBool_FromLong(sloop_batch_owned(r->batch->b, (size_t)r->index) == 1);
}

static PyObject *show_record(PyObject *self) {
  py_record *r = (py_record *)self;
  PyObject *shard, *seq, *text;
  if (!r->r || (r->batch && r->batch->generation != py_generation))
    return PyUnicode_FromString("<sloop.Record that is gone>");
  shard = py_text0(r->r->shard);
  seq = py_text(r->r->seq.base, r->r->seq.len);
  text = shard && seq ? PyUnicode_FromFormat("<sloop.Record %U %U, %zu bytes>", shard, seq, r->r->data.len)
                      : NULL;
  PY_DROP(shard);
  PY_DROP(seq);
  return text;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  py_record *o = (py_record *)self;
  const sloop_record_t *r = native_of(o);
  if (!r) {
    view->obj = NULL;
    return -1;
  }
  if (PyBuffer_FillInfo(view, self, (void *)(uintptr_t)r->data.base, (Py_ssize_t)r->data.len, 1, flags))
    return -1;
  begin_view(o);
  return 0;
}
static void release_buffer(PyObject *self, Py_buffer *view) {
  (void)view;
  end_view((py_record *)self);
}

#define ATTRIBUTE(name, doc) \
  { #name, get_##name, NULL, doc, NULL }
static PyGetSetDef attributes[] = {
    ATTRIBUTE(stream, "The stream's name."),
    ATTRIBUTE(shard, "The shard's id."),
    ATTRIBUTE(sequence, "The sequence number, decimal."),
    ATTRIBUTE(sub_sequence, "The index inside an aggregate, else 0."),
    ATTRIBUTE(key, "The partition key; None: it has none. DynamoDB: the JSON of Keys."),
    ATTRIBUTE(data, "The payload as a memoryview without a copy."),
    ATTRIBUTE(arrived_at, "When the service took it, as an aware datetime; None: not told."),
    ATTRIBUTE(arrived_at_ms, "The same in milliseconds of Unix time; None: not told."),
    ATTRIBUTE(epoch, "Of the lease under which it was read; 0 without leases."),
    ATTRIBUTE(attempt, "1 for the first time that it is handed over."),
    ATTRIBUTE(late, "A record that arrived later was handed over earlier."),
    ATTRIBUTE(raw, "Its base64, or its aggregate, can't be decoded."),
    ATTRIBUTE(redelivered, "It was handed over before and given back."),
    ATTRIBUTE(foreign, "Part of an aggregate whose key is of another shard."),
    ATTRIBUTE(event, "DynamoDB: INSERT, MODIFY or REMOVE; Kinesis: None."),
    ATTRIBUTE(event_id, "DynamoDB: eventID; Kinesis: None."),
    ATTRIBUTE(user_json, "DynamoDB: the JSON of userIdentity, or None."),
    ATTRIBUTE(whole_json, "DynamoDB: the JSON of the whole record; Kinesis: None."),
    ATTRIBUTE(change, "DynamoDB: the change as Python values; Kinesis: None."),
    {"owned", is_owned, NULL, "Whether acknowledging it has an effect at this moment.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {{"ack", ack_record, METH_NOARGS, "ack() - acknowledges this record."},
                                {"__bytes__", to_bytes, METH_NOARGS, "The payload as bytes."},
                                {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)free_record},
                              {Py_tp_getset, attributes},
                              {Py_tp_methods, methods},
                              {Py_tp_repr, (void *)show_record},
                              {Py_bf_getbuffer, (void *)get_buffer},
                              {Py_bf_releasebuffer, (void *)release_buffer},
                              {Py_tp_doc, (void *)(uintptr_t) "One record of a stream."},
                              {0, NULL}};
PyType_Spec py_record_spec = {"sloop._native.Record", sizeof(py_record), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

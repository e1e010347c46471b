/* py_loop.c - Loop: a libuv loop that somebody else's loop runs, one turn at a time.
 *
 * fd becomes readable when a turn is due; turn() runs what is due and returns how long nothing will
 * be. A call outside a turn sends `wake`, so it is noticed without help. A child of fork() has a copy
 * of the descriptors: it must not close or run anything, or the parent would lose its wakeups. */
#include "bind/python/py_native.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

int py_loop_check(py_loop *l, const char *what) {
  if (l->generation != py_generation) {
    PyErr_Format(l->st->fork_error,
                 "%s: this process was forked after the consumer was opened; open one of its own", what);
    return -1;
  }
  if (l->thread != PyThread_get_thread_ident()) {
    py_raise_state(l->st, "%s: called on thread %lu, and the consumer belongs to thread %lu", what,
                   PyThread_get_thread_ident(), l->thread);
    return -1;
  }
  return 0;
}

void py_loop_wake(py_loop *l) {
  if (l->world && !l->running && !uv_is_closing((uv_handle_t *)&l->world->wake))
    uv_async_send(&l->world->wake);
}

/* Puts the event behind the others. Returns -1: there is no memory. */
static int append_event(py_loop *l, PyObject *event) {
  if (!PyList_Append(l->events, event)) return 0;
  PyErr_Clear();
  return -1;
}
int py_loop_tell(py_loop *l, PyObject *owner, int kind, PyObject *payload) {
  PyObject *event = payload ? Py_BuildValue("(OiO)", owner, kind, payload) : NULL;
  int status = event ? append_event(l, event) : -1;
  if (status) {
    PyErr_Clear();
    if (kind != PY_BATCH && kind != PY_CREDS) l->lost[kind]++;
  }
  PY_DROP(event);
  PY_DROP(payload);
  return status;
}

py_kept *py_kept_new(PyObject *owner, int kind, PyObject *payload) {
  PyObject *event = payload ? Py_BuildValue("(OiO)", owner, kind, payload) : NULL;
  py_kept *k = event ? PyMem_Malloc(sizeof *k) : NULL;
  if (k) {
    k->event = event;
    k->next = NULL;
  } else {
    if (event) PyErr_NoMemory();
    PY_DROP(event);
  }
  PY_DROP(payload);
  return k;
}
void py_kept_free(py_kept *k) {
  if (k) PY_DROP(k->event);
  PyMem_Free(k);
}
void py_loop_tell_kept(py_loop *l, py_kept *k) {
  if (l->kept || append_event(l, k->event)) { /* CLOSED must not overtake a DONE that is kept */
    k->next = NULL;
    *l->kept_end = k;
    l->kept_end = &k->next;
  } else {
    py_kept_free(k);
  }
}
/* Tells of the events that the list had no room for. */
static void tell_again(py_loop *l) {
  while (l->kept && !append_event(l, l->kept->event)) {
    py_kept *told = l->kept;
    l->kept = told->next;
    py_kept_free(told);
  }
  if (!l->kept) l->kept_end = &l->kept;
}

static void settle_returned(const py_returned *r) {
  if (r->batch) {
    sloop_batch_done(r->batch, r->acked);
  } else {
    sloop_creds_done(r->creds, SLOOP_EAUTH, NULL, "the callable that gives credentials gave none");
  }
}

int py_loop_owe(py_loop *l) {
  if (l->returned_n + l->owed >= l->returned_room) {
    size_t room = l->returned_room ? 2 * l->returned_room : 16;
    py_returned *more = PyMem_Realloc(l->returned, room * sizeof *more);
    if (!more) {
      PyErr_NoMemory();
      return -1;
    }
    l->returned = more;
    l->returned_room = room;
  }
  l->owed++;
  return 0;
}
void py_loop_return(py_loop *l, sloop_batch_t *batch, size_t acked, sloop_creds_req_t *creds) {
  py_returned r = {batch, acked, creds};
  l->owed--;
  if (!l->world) { /* everything is closed, so this only frees memory */
    settle_returned(&r);
    return;
  }
  l->returned[l->returned_n++] = r;
  if (!uv_is_closing((uv_handle_t *)&l->world->wake)) uv_async_send(&l->world->wake);
}

static void settle_all_returned(py_loop *l) {
  while (l->returned_n > 0) settle_returned(&l->returned[--l->returned_n]);
}

static void on_wake(uv_async_t *wake) { (void)wake; }

static PyObject *new_loop(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  py_loop *l;
  int status;
  (void)args, (void)kwargs;
  l = PyObject_New(py_loop, type);
  if (!l) return NULL;
  l->st = PY_STATE_OF(type);
  l->first = NULL;
  l->admins = NULL;
  l->thread = PyThread_get_thread_ident();
  l->generation = py_generation;
  l->running = 0;
  memset(l->lost, 0, sizeof l->lost);
  l->kept = NULL;
  l->kept_end = &l->kept;
  l->returned = NULL;
  l->returned_n = l->returned_room = l->owed = 0;
  l->world = NULL;
  l->events = PyList_New(0);
  if (!l->events) goto failed;
  l->world = PyMem_Calloc(1, sizeof *l->world);
  if (!l->world) {
    PyErr_NoMemory();
    goto failed;
  }
  status = uv_loop_init(&l->world->uv);
  if (status) {
    PyMem_Free(l->world);
    l->world = NULL;
    py_raise_code(l->st, status, "no loop can be made");
    goto failed;
  }
  status = uv_async_init(&l->world->uv, &l->world->wake, on_wake);
  if (status) {
    uv_loop_close(&l->world->uv);
    PyMem_Free(l->world);
    l->world = NULL;
    py_raise_code(l->st, status, "no loop can be made");
    goto failed;
  }
  uv_run(&l->world->uv, UV_RUN_NOWAIT); /* has the kernel watch `wake` */
  return (PyObject *)l;
failed:
  PY_DROP(l);
  return NULL;
}

static void free_loop(PyObject *self) {
  py_loop *l = (py_loop *)self;
  PyTypeObject *type = Py_TYPE(self);
  /* A world that is still there is not freed, because its descriptors may be in use: this process is a
   * child of fork(), or the loop was never closed. */
  PY_DROP(l->events);
  while (l->kept) {
    py_kept *untold = l->kept;
    l->kept = untold->next;
    py_kept_free(untold);
  }
  PyMem_Free(l->returned);
  PyObject_Free(self);
  PY_DROP(type);
}

static int check_open(py_loop *l, const char *what) {
  if (py_loop_check(l, what)) return -1;
  if (!l->world) {
    py_raise_state(l->st, "%s: the loop is closed", what);
    return -1;
  }
  if (l->running) {
    py_raise_state(l->st, "%s: called inside a turn of the same loop", what);
    return -1;
  }
  return 0;
}

/* Runs what is due. Returns the events, or NULL after a failure: nothing was run. */
static PyObject *run_turn(py_loop *l) {
  PyObject *events, *fresh = PyList_New(0);
  if (!fresh) return NULL;
  tell_again(l);
  l->running = 1;
  settle_all_returned(l);
  uv_run(&l->world->uv, UV_RUN_NOWAIT);
  l->running = 0;
  tell_again(l);
  events = l->events;
  l->events = fresh;
  return events;
}

static PyObject *turn(PyObject *self, PyObject *none) {
  py_loop *l = (py_loop *)self;
  PyObject *events, *due, *pair;
  (void)none;
  if (check_open(l, "Loop.turn()")) return NULL;
  pair = PyTuple_New(2); /* made before the turn: a failure behind it would lose the events */
  events = pair ? run_turn(l) : NULL;
  if (!events) {
    PY_DROP(pair);
    return NULL;
  }
  due = PyLong_FromLong(l->kept ? 0 : uv_backend_timeout(&l->world->uv));
  if (!due) { /* a turn too early does no harm; 0 takes no memory */
    PyErr_Clear();
    due = PyLong_FromLong(0);
  }
  PyTuple_SetItem(pair, 0, due);
  PyTuple_SetItem(pair, 1, events);
  return pair;
}

static PyObject *wait(PyObject *self, PyObject *args) {
  py_loop *l = (py_loop *)self;
  struct pollfd pfd;
  int limit_ms, timeout, got;
  PyObject *events;
  if (!PyArg_ParseTuple(args, "i:wait", &limit_ms) || check_open(l, "Loop.wait()")) return NULL;
  timeout = uv_backend_timeout(&l->world->uv);
  if (timeout < 0 || timeout > limit_ms) timeout = limit_ms;
  if (l->returned_n || l->kept) timeout = 0;
  pfd.fd = uv_backend_fd(&l->world->uv);
  pfd.events = POLLIN;
  Py_BEGIN_ALLOW_THREADS got = poll(&pfd, 1, timeout);
  Py_END_ALLOW_THREADS if (got < 0 && errno != EINTR) return PyErr_SetFromErrno(PyExc_OSError);
  if (PyErr_CheckSignals()) return NULL;
  if (check_open(l, "Loop.wait()")) return NULL; /* a signal handler may have closed it */
  events = run_turn(l);
  return events;
}

static void on_closing(uv_handle_t *handle) { (void)handle; }

static PyObject *close_loop(PyObject *self, PyObject *none) {
  py_loop *l = (py_loop *)self;
  (void)none;
  if (py_loop_check(l, "Loop.close()")) return NULL;
  if (!l->world) Py_RETURN_TRUE;
  if (check_open(l, "Loop.close()")) return NULL;
  if (l->first || l->admins || l->kept) Py_RETURN_FALSE;
  settle_all_returned(l);
  l->running = 1;
  if (!uv_is_closing((uv_handle_t *)&l->world->wake)) uv_close((uv_handle_t *)&l->world->wake, on_closing);
  uv_run(&l->world->uv, UV_RUN_NOWAIT);
  l->running = 0;
  if (uv_loop_close(&l->world->uv)) Py_RETURN_FALSE;
  PyMem_Free(l->world);
  l->world = NULL;
  Py_RETURN_TRUE;
}

static PyObject *close_all(PyObject *self, PyObject *none) {
  py_loop *l = (py_loop *)self;
  (void)none;
  if (check_open(l, "Loop.close_all()")) return NULL;
  for (py_consumer *c = l->first; c; c = c->next) py_consumer_close(c);
  for (py_admin *a = l->admins; a; a = a->next) py_admin_close(a);
  py_loop_wake(l);
  Py_RETURN_NONE;
}

/* Returns {name of a kind: number} of the events that were lost since the last call. */
static PyObject *take_lost(PyObject *self, PyObject *none) {
  static const char *const names[PY_KINDS] = {
#define X(name, number) [number] = #name,
      PY_EVENTS(X)
#undef X
  };
  py_loop *l = (py_loop *)self;
  PyObject *all = PyDict_New();
  int kind;
  (void)none;
  for (kind = 0; all && kind < PY_KINDS; kind++) {
    PyObject *n = l->lost[kind] ? PyLong_FromUnsignedLong(l->lost[kind]) : NULL;
    if (!l->lost[kind]) continue;
    if (!n || PyDict_SetItemString(all, names[kind], n)) {
      PY_DROP(all);
      all = NULL;
    }
    PY_DROP(n);
  }
  if (all) memset(l->lost, 0, sizeof l->lost);
  return all;
}
static PyObject *has_lost(PyObject *self, void *arg) {
  py_loop *l = (py_loop *)self;
  int kind;
  (void)arg;
  for (kind = 0; kind < PY_KINDS && !l->lost[kind]; kind++) {
  }
  return PyBool_FromLong(kind < PY_KINDS);
}

static PyObject *check_use(PyObject *self, PyObject *what) {
  const char *name = PyUnicode_AsUTF8AndSize(what, NULL);
  if (!name || py_loop_check((py_loop *)self, name)) return NULL;
  Py_RETURN_NONE;
}
static PyObject *get_fd(PyObject *self, void *arg) {
  py_loop *l = (py_loop *)self;
  (void)arg;
  return check_open(l, "Loop.fd") ? NULL : PyLong_FromLong(uv_backend_fd(&l->world->uv));
}
static PyObject *is_open(PyObject *self, void *arg) {
  py_loop *l = (py_loop *)self;
  (void)arg;
  return PyBool_FromLong(l->world && l->generation == py_generation && (l->first || l->admins || l->kept));
}
static PyObject *is_ours(PyObject *self, void *arg) {
  py_loop *l = (py_loop *)self;
  (void)arg;
  return PyBool_FromLong(l->generation == py_generation && l->thread == PyThread_get_thread_ident());
}

static PyGetSetDef attributes[] = {
    {"fd", get_fd, NULL, "The descriptor that is readable when a turn is due.", NULL},
    {"has_lost", has_lost, NULL, "Whether take_lost() has something to tell.", NULL},
    {"is_open", is_open, NULL, "Whether consumers of it are open, or an end is not told yet.", NULL},
    {"is_ours", is_ours, NULL, "Whether this process and thread made it.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {
    {"check", check_use, METH_O, "check(what) - raises on another thread and in a child of fork()."},
    {"turn", turn, METH_NOARGS, "turn() - runs what is due: (ms until the next turn or -1, events)."},
    {"wait", wait, METH_VARARGS, "wait(limit_ms) - waits for the next turn and runs it: events."},
    {"take_lost", take_lost, METH_NOARGS,
     "take_lost() - the events that there was no memory for since the last call: {name: number}."},
    {"close", close_loop, METH_NOARGS, "close() - False: call it again after another turn."},
    {"close_all", close_all, METH_NOARGS, "close_all() - closes all consumers and handles at once."},
    {"open", py_consumer_open, METH_VARARGS,
     "open(options, start, shards, join, wanted, owner, name) - a Consumer."},
    {"open_admin", py_admin_open, METH_VARARGS, "open_admin(options, start, owner, name) - an Admin."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, (void *)new_loop},
                              {Py_tp_dealloc, (void *)free_loop},
                              {Py_tp_getset, attributes},
                              {Py_tp_methods, methods},
                              {0, NULL}};
PyType_Spec py_loop_spec = {"sloop._native.Loop", sizeof(py_loop), 0, Py_TPFLAGS_DEFAULT, slots};

/* py_admin.c - Admin: the requests of an operator. A result becomes a dict, and Python code makes a
 * dataclass of it.
 *
 * A request gets a number from Python, and its end is the event DONE with that number, as an
 * operation of a consumer. */
#include "bind/python/py_native.h"

#define TRUTH(value) ((value) ? Py_True : Py_False)

/* ---- results ------------------------------------------------------------------------------------- */

/* Returns a list of what `one` makes of each entry. */
#define LIST(function, type, one)                                   \
  static PyObject *function(const type *const *entries, size_t n) { \
    PyObject *list = PyList_New(0);                                 \
    size_t i;                                                       \
    for (i = 0; list && i < n; i++) {                               \
      PyObject *entry = one(entries[i]);                            \
      if (!entry || PyList_Append(list, entry)) {                   \
        PY_DROP(list);                                              \
        list = NULL;                                                \
      }                                                             \
      PY_DROP(entry);                                               \
    }                                                               \
    return list;                                                    \
  }
static PyObject *text_of(const char *text) { return py_text0(text); }
LIST(list_texts, char, text_of)

static PyObject *dict_of_lease(const sloop_lease_t *e) {
  return Py_BuildValue(
      "{sNsNsNsNs(NN)sisKsOsLsLsNsisLsLsisLsLsNsLsO}", "shard", py_text0(e->shard), "owner",
      py_text0(e->owner), "claim", py_text0(e->claim), "position", py_position_tuple(&e->position), "parents",
      py_text0(e->parents[0]), py_text0(e->parents[1]), "state", (int)e->state, "epoch",
      (unsigned long long)e->epoch, "parked", TRUTH(e->parked), "written_at_ms", (long long)e->written_at_ms,
      "behind_ms", (long long)e->behind_ms, "avoid", py_text0(e->avoid), "refused_n", e->refused_n,
      "refused_at_ms", (long long)e->refused_at_ms, "refused_until_ms", (long long)e->refused_until_ms, "lag",
      (int)e->lag, "read_behind_ms", (long long)e->read_behind_ms, "read_at_ms", (long long)e->read_at_ms,
      "lag_error", py_text0(e->lag_error), "avoid_at_ms", (long long)e->avoid_at_ms, "begin_untold",
      TRUTH(e->begin_untold));
}
LIST(list_leases, sloop_lease_t, dict_of_lease)

static PyObject *dict_of_worker(const sloop_worker_t *e) {
  return Py_BuildValue(
      "{sNsNsKsIsIsIsOsOsOsLsLsLsNsO}", "worker", py_text0(e->worker), "host", py_text0(e->host), "counter",
      (unsigned long long)e->counter, "lease_ms", (unsigned)e->lease_ms, "held", (unsigned)e->held, "weight",
      (unsigned)e->weight, "leads", TRUTH(e->leads), "leaving", TRUTH(e->leaving), "dead", TRUTH(e->dead),
      "written_at_ms", (long long)e->written_at_ms, "behind_ms", (long long)e->behind_ms, "rate_bytes",
      (long long)e->rate_bytes, "evicted_by", py_text0(e->evicted_by), "drained", TRUTH(e->drained));
}
LIST(list_workers, sloop_worker_t, dict_of_worker)

static PyObject *none(void) { Py_RETURN_NONE; }

static PyObject *dict_of_leases(const sloop_leases_t *e) {
  return Py_BuildValue("{sNsNsNsNsNsNsOsNsL}", "leases", list_leases(e->leases, e->leases_n), "workers",
                       list_workers(e->workers, e->workers_n), "bad_rows",
                       list_texts(e->bad_rows, e->bad_rows_n), "passed_over", py_text0(e->passed_over),
                       "unleased", list_leases(e->unleased, e->unleased_n), "unlisted", py_text0(e->unlisted),
                       "draining", TRUTH(e->draining), "drained_by", py_text0(e->drained_by), "drained_at_ms",
                       (long long)e->drained_at_ms);
}
static PyObject *dict_of_shard_lease(const sloop_shard_lease_t *e) {
  return Py_BuildValue("{sNsOsOsN}", "shard", py_text0(e->shard), "listed", TRUTH(e->listed), "closed",
                       TRUTH(e->closed), "lease", e->lease ? dict_of_lease(e->lease) : none());
}
LIST(list_shard_leases, sloop_shard_lease_t, dict_of_shard_lease)

static PyObject *dict_of_explanation(const sloop_explanation_t *e) {
  return Py_BuildValue(
      "{sisNsLsNsNsLsNsNsNsNsNsisNsKsOsNsNsL}", "why", (int)e->why, "shard", dict_of_shard_lease(&e->shard),
      "read_at_ms", (long long)e->read_at_ms, "owner", e->owner ? dict_of_worker(e->owner) : none(),
      "assigned_to", py_text0(e->assigned_to), "free_in_ms", (long long)e->free_in_ms, "bad_row",
      py_text0(e->bad_row), "waits_for", e->waits_for ? dict_of_shard_lease(e->waits_for) : none(),
      "waits_for_last", e->waits_for_last ? dict_of_shard_lease(e->waits_for_last) : none(), "parents",
      list_shard_leases(e->parents, e->parents_n), "children", list_shard_leases(e->children, e->children_n),
      "leader_state", (int)e->leader_state, "leader", py_text0(e->leader), "workers_alive",
      (unsigned long long)e->workers_alive, "epoch_is_counter", TRUTH(e->epoch_is_counter), "hole_from",
      py_text0(e->hole_from), "hole_to", py_text0(e->hole_to), "assigned_silent_ms",
      (long long)e->assigned_silent_ms);
}
static PyObject *dict_of_change(const sloop_change_t *e) {
  return Py_BuildValue("{sNsisNsNsNsO}", "shard", py_text0(e->shard), "kind", (int)e->kind, "to",
                       py_position_tuple(&e->to), "was", py_position_tuple(&e->was), "was_owner",
                       py_text0(e->was_owner), "was_parked", TRUTH(e->was_parked));
}
LIST(list_changes, sloop_change_t, dict_of_change)

static PyObject *dict_of_result(const sloop_admin_result_t *e) {
  return Py_BuildValue(
      "{sNsisNsIsKsKsKsNsNsK}", "changes", list_changes(e->changes, e->changes_n), "eviction",
      (int)e->eviction, "worker", py_text0(e->worker), "worker_lease_ms", (unsigned)e->worker_lease_ms,
      "unlisted_n", (unsigned long long)e->unlisted_n, "missing_n", (unsigned long long)e->missing_n,
      "bad_rows_n", (unsigned long long)e->bad_rows_n, "unfinished_parents",
      list_texts(e->unfinished_parents, e->unfinished_parents_n), "children_ahead",
      list_texts(e->children_ahead, e->children_ahead_n), "evicted_n", (unsigned long long)e->evicted_n);
}
static PyObject *dict_of_drain(const sloop_drain_t *e) {
  return Py_BuildValue("{sOsOsNsLsKsKsN}", "on", TRUTH(e->on), "was_so", TRUTH(e->was_so), "by",
                       py_text0(e->by), "at_ms", (long long)e->at_ms, "workers_n",
                       (unsigned long long)e->workers_n, "leases_n", (unsigned long long)e->leases_n,
                       "waits_for", list_texts(e->waits_for, e->waits_for_n));
}

/* ---- callbacks ----------------------------------------------------------------------------------- */

#define ON_RESULT(function, type, make)                                                          \
  static void function(sloop_admin_t *a, int status, const type *result, const sloop_error_t *e, \
                       void *arg) {                                                              \
    (void)a;                                                                                     \
    py_op_done(arg, status, result ? make(result) : none(), e);                                  \
  }
ON_RESULT(on_leases, sloop_leases_t, dict_of_leases)
ON_RESULT(on_explained, sloop_explanation_t, dict_of_explanation)
ON_RESULT(on_result, sloop_admin_result_t, dict_of_result)
ON_RESULT(on_drain, sloop_drain_t, dict_of_drain)

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  py_admin *a = arg;
  (void)s;
  py_loop_tell(a->loop, a->owner, PY_ERROR, py_error_dict(e));
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  py_admin *a = arg;
  (void)s;
  py_loop_tell(a->loop, a->owner, PY_LOG, Py_BuildValue("(iN)", (int)level, py_text0(line)));
}
static void on_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  py_admin *a = arg;
  (void)s;
  py_creds_tell(a->loop, a->owner, rq);
}
static void on_closed(sloop_admin_t *native, void *arg) {
  py_admin *a = arg;
  (void)native;
  *a->link = a->next;
  if (a->next) a->next->link = a->link;
  py_loop_tell_kept(a->loop, a->closed);
  a->closed = NULL;
  PY_DROP(a);
}

/* ---- open and close ------------------------------------------------------------------------------ */

static py_admin *new_admin(py_loop *l, PyObject *owner, PyObject *name) {
  py_admin *a = PyObject_New(py_admin, l->st->admin);
  if (!a) return NULL;
  PY_HOLD(l);
  PY_HOLD(owner);
  PY_HOLD(name);
  a->loop = l;
  a->consumer = NULL;
  a->a = NULL;
  a->owner = owner;
  a->name = name;
  a->closed = NULL;
  a->next = NULL;
  a->link = NULL;
  return a;
}
PyObject *py_admin_of(py_consumer *c, PyObject *owner) {
  py_admin *a = new_admin(c->loop, owner, c->name);
  if (!a) return NULL;
  PY_HOLD(c);
  a->consumer = c;
  a->a = sloop_admin_of(c->s);
  return (PyObject *)a;
}
PyObject *py_admin_open(PyObject *self, PyObject *args) {
  py_loop *l = (py_loop *)self;
  PyObject *options, *start, *owner, *name;
  int with_creds, status;
  sloop_opts_t o;
  py_admin *a;
  char why[160] = "";
  if (!PyArg_ParseTuple(args, "O!OiOU:open_admin", &PyDict_Type, &options, &start, &with_creds, &owner,
                        &name) ||
      py_loop_check(l, "Loop.open_admin()"))
    return NULL;
  if (!l->world || uv_is_closing((uv_handle_t *)&l->world->wake))
    return py_raise_state(l->st, "Loop.open_admin(): the loop is closed");
  sloop_opts_init(&o);
  if (py_fill_options(l->st, &o, options, start)) return NULL;
  a = new_admin(l, owner, name);
  if (!a) return NULL;
  PY_HOLD(Py_None);
  a->closed = py_kept_new(owner, PY_CLOSED, Py_None);
  if (!a->closed) {
    PY_DROP(a);
    return NULL;
  }
  o.arg = a;
  o.on_error = on_error;
  o.on_log = on_log;
  if (with_creds) o.creds = on_creds;
  status = sloop_admin_open(&a->a, &l->world->uv, &o, why, sizeof why);
  if (status) {
    py_raise_code(l->st, status, why);
    PY_DROP(a);
    return NULL;
  }
  a->next = l->admins;
  a->link = &l->admins;
  if (a->next) a->next->link = &a->next;
  l->admins = a;
  PY_HOLD(a); /* until on_closed */
  return (PyObject *)a;
}
void py_admin_close(py_admin *a) {
  if (!a->a || a->consumer) return;
  sloop_admin_close(a->a, on_closed, a);
  a->a = NULL;
  py_loop_wake(a->loop);
}
static void free_admin(PyObject *self) {
  py_admin *a = (py_admin *)self;
  PyTypeObject *type = Py_TYPE(self);
  py_kept_free(a->closed);
  PY_DROP(a->owner);
  PY_DROP(a->name);
  PY_DROP(a->consumer);
  PY_DROP(a->loop);
  PyObject_Free(self);
  PY_DROP(type);
}

/* ---- requests ------------------------------------------------------------------------------------ */

/* Returns the open handle, or raises and returns NULL. Arguments are read before, because their __index__()
 * and __bool__() may close it. */
static py_admin *open_of(PyObject *self, const char *what) {
  py_admin *a = (py_admin *)self;
  if (py_loop_check(a->loop, what)) return NULL;
  if (a->a && (!a->consumer || a->consumer->s)) return a;
  py_raise_state(a->loop->st, "%s: the handle of %R is closed", what, a->name);
  return NULL;
}
#define BEGIN_REQUEST(what, call)                                                                         \
  do {                                                                                                    \
    py_op *op = py_op_new(a->loop, a->owner, NULL, number);                                               \
    int status = op ? (call) : UV_ENOMEM;                                                                 \
    if (status) {                                                                                         \
      py_op_free(op);                                                                                     \
      return op ? py_raise_code(a->loop->st, status,                                                      \
                                what                                                                      \
                                ": another request is pending, there is no app, or an argument is wrong") \
                : NULL;                                                                                   \
    }                                                                                                     \
    py_loop_wake(a->loop);                                                                                \
    Py_RETURN_NONE;                                                                                       \
  } while (0)

static PyObject *ask_leases(PyObject *self, PyObject *args) {
  py_admin *a;
  long long number;
  if (!PyArg_ParseTuple(args, "L:leases", &number)) return NULL;
  a = open_of(self, "leases()");
  if (!a) return NULL;
  BEGIN_REQUEST("leases()", sloop_admin_leases(a->a, on_leases, op));
}
static PyObject *ask_lag(PyObject *self, PyObject *args) {
  py_admin *a;
  long long number;
  unsigned limit_ms;
  if (!PyArg_ParseTuple(args, "LI:lag", &number, &limit_ms)) return NULL;
  a = open_of(self, "lag()");
  if (!a) return NULL;
  BEGIN_REQUEST("lag()", sloop_admin_lag(a->a, limit_ms, on_leases, op));
}
static PyObject *explain_shard(PyObject *self, PyObject *args) {
  py_admin *a;
  long long number;
  const char *shard;
  if (!PyArg_ParseTuple(args, "Ls:explain", &number, &shard)) return NULL;
  a = open_of(self, "explain()");
  if (!a) return NULL;
  BEGIN_REQUEST("explain()", sloop_admin_explain(a->a, shard, on_explained, op));
}
static PyObject *release_lease(PyObject *self, PyObject *args) {
  py_admin *a;
  long long number;
  const char *name;
  if (!PyArg_ParseTuple(args, "Ls:release", &number, &name)) return NULL;
  a = open_of(self, "release()");
  if (!a) return NULL;
  BEGIN_REQUEST("release()", sloop_admin_release(a->a, name, on_result, op));
}
static PyObject *reset_position(PyObject *self, PyObject *args) {
  py_admin *a;
  long long number;
  const char *shard;
  PyObject *tuple;
  int force;
  sloop_position_t to;
  if (!PyArg_ParseTuple(args, "LzOp:reset", &number, &shard, &tuple, &force) || py_read_position(tuple, &to))
    return NULL;
  a = open_of(self, "reset()");
  if (!a) return NULL;
  BEGIN_REQUEST("reset()", sloop_admin_reset(a->a, shard, &to, force, on_result, op));
}
static PyObject *drain_app(PyObject *self, PyObject *args) {
  py_admin *a;
  long long number;
  int on;
  unsigned limit_ms;
  if (!PyArg_ParseTuple(args, "LpI:drain", &number, &on, &limit_ms)) return NULL;
  a = open_of(self, "drain()");
  if (!a) return NULL;
  BEGIN_REQUEST("drain()", sloop_admin_drain(a->a, on, limit_ms, on_drain, op));
}
static PyObject *pause_lease(PyObject *self, PyObject *args) {
  py_admin *a;
  long long number;
  const char *shard;
  int on;
  unsigned limit_ms;
  if (!PyArg_ParseTuple(args, "LspI:pause", &number, &shard, &on, &limit_ms)) return NULL;
  a = open_of(self, "pause()");
  if (!a) return NULL;
  BEGIN_REQUEST("pause()", sloop_admin_pause(a->a, shard, on, limit_ms, on_result, op));
}
static PyObject *close_admin(PyObject *self, PyObject *none_arg) {
  py_admin *a = (py_admin *)self;
  (void)none_arg;
  if (py_loop_check(a->loop, "close()")) return NULL;
  py_admin_close(a);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"leases", ask_leases, METH_VARARGS, "leases(number)"},
    {"lag", ask_lag, METH_VARARGS, "lag(number, limit_ms)"},
    {"explain", explain_shard, METH_VARARGS, "explain(number, shard)"},
    {"release", release_lease, METH_VARARGS, "release(number, shard_or_worker)"},
    {"reset", reset_position, METH_VARARGS, "reset(number, shard, position, force)"},
    {"drain", drain_app, METH_VARARGS, "drain(number, on, limit_ms)"},
    {"pause", pause_lease, METH_VARARGS, "pause(number, shard, on, limit_ms)"},
    {"close", close_admin, METH_NOARGS, "close() - CLOSED is the last event, unless it is of a consumer."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)free_admin}, {Py_tp_methods, methods}, {0, NULL}};
PyType_Spec py_admin_spec = {"sloop._native.Admin", sizeof(py_admin), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

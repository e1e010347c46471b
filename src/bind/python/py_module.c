/* py_module.c - the module sloop._native: its types, its constants, and errors as exceptions.
 *
 * The module is made for the main interpreter only. In a child of fork() every object of the parent
 * is dead: py_generation says so. */
#include "bind/python/py_native.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

unsigned py_generation;

static void on_fork(void) { py_generation++; }

PyObject *py_text(const char *base, size_t len) {
  return PyUnicode_DecodeUTF8(base, (Py_ssize_t)len, "surrogateescape");
}
PyObject *py_text0(const char *text) { return py_text(text ? text : "", text ? strlen(text) : 0); }

PyObject *py_raise_code(py_state *st, int code, const char *text) {
  PyObject *error = PyObject_CallFunction(st->make_error, "iN", code, py_text0(text));
  if (error) {
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    PY_DROP(error);
  }
  return NULL;
}

PyObject *py_raise_state(py_state *st, const char *format, ...) {
  va_list args;
  PyObject *text;
  va_start(args, format);
  text = PyUnicode_FromFormatV(format, args);
  va_end(args);
  if (text) {
    PyErr_SetObject(st->state_error, text);
    PY_DROP(text);
  }
  return NULL;
}

PyObject *py_error_dict(const sloop_error_t *e) {
  if (!e) Py_RETURN_NONE;
  return Py_BuildValue("{sisNsOsisIsKsNsNsNsN}", "code", e->code, "name", py_text0(sloop_err_name(e->code)),
                       "fatal", e->fatal ? Py_True : Py_False, "http_status", e->http_status, "attempt",
                       (unsigned)e->attempt, "retry_in_ms", (unsigned long long)e->retry_in_ms, "aws_code",
                       py_text0(e->aws_code), "request_id", py_text0(e->request_id), "shard",
                       py_text0(e->shard), "message", py_text0(e->message));
}

static PyObject *get_features(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  return PyUnicode_FromString(sloop_features());
}
/* Adds a line of sloop_running() to a dict: {NAME: (VERSION, FILE)}. Returns -1: an exception is set. */
static int add_library(PyObject *all, const char *line, const char *end) {
  const char *version = memchr(line, '\t', (size_t)(end - line));
  const char *file = version ? memchr(version + 1, '\t', (size_t)(end - version - 1)) : NULL;
  PyObject *name, *pair;
  int status = -1;
  if (!file) return 0;
  name = py_text(line, (size_t)(version - line));
  pair = Py_BuildValue("NN", py_text(version + 1, (size_t)(file - version - 1)),
                       PyUnicode_DecodeFSDefaultAndSize(file + 1, end - file - 1));
  if (name && pair) status = PyDict_SetItem(all, name, pair);
  PY_DROP(name);
  PY_DROP(pair);
  return status;
}
/* Returns the libraries that calls of this module reach: another module may have brought copies. */
static PyObject *get_running(PyObject *self, PyObject *none) {
  size_t len = 0;
  char *text;
  const char *line, *end;
  PyObject *all = NULL;
  (void)self, (void)none;
  sloop_running(NULL, &len);
  text = PyMem_Malloc(len);
  if (!text) return PyErr_NoMemory();
  if (!sloop_running(text, &len)) all = PyDict_New();
  for (line = text; all && (end = strchr(line, '\n')) != NULL; line = end + 1) {
    if (add_library(all, line, end)) {
      PY_DROP(all);
      all = NULL;
    }
  }
  PyMem_Free(text);
  return all;
}
/* Raises what sloop_opts_set() says of options; the parts of a consumer that need a loop are checked
 * later. */
static PyObject *check_options(PyObject *self, PyObject *options) {
  sloop_opts_t o;
  if (!PyDict_Check(options)) return PyErr_Format(PyExc_TypeError, "check_options(): a dict is needed");
  sloop_opts_init(&o);
  if (py_fill_options(PyModule_GetState(self), &o, options, Py_None)) return NULL;
  Py_RETURN_NONE;
}
/* Parses bytes as Record.change parses a payload. The tests of the parser call this function. */
static PyObject *read_change(PyObject *self, PyObject *bytes) {
  py_state *st = PyModule_GetState(self);
  char *text;
  Py_ssize_t len;
  PyObject *parts[3], *dict;
  int i, bad;
  if (PyBytes_AsStringAndSize(bytes, &text, &len) || py_change_read(st, text, (size_t)len, parts))
    return NULL;
  dict = PyDict_New();
  bad = !dict;
  for (i = 0; i < 3; i++) {
    if (!bad && parts[i]) bad = PyDict_SetItem(dict, st->parts[i], parts[i]) != 0;
    PY_DROP(parts[i]);
  }
  if (!bad) return dict;
  PY_DROP(dict);
  return NULL;
}
static PyObject *get_err_name(PyObject *self, PyObject *args) {
  int code;
  (void)self;
  return PyArg_ParseTuple(args, "i:err_name", &code) ? PyUnicode_FromString(sloop_err_name(code)) : NULL;
}
static PyObject *get_strerror(PyObject *self, PyObject *args) {
  int code;
  (void)self;
  return PyArg_ParseTuple(args, "i:strerror", &code) ? PyUnicode_FromString(sloop_strerror(code)) : NULL;
}

/* Returns MODULE.NAME. */
static PyObject *import_name(const char *module, const char *name) {
  PyObject *m = PyImport_ImportModule(module), *value = m ? PyObject_GetAttrString(m, name) : NULL;
  PY_DROP(m);
  return value;
}
/* Looks how a function is called. Returns -1: an exception is set. */
static int fill_maker(py_maker *maker, PyObject *callable) {
  maker->callable = callable;
  maker->self = NULL;
  maker->function = NULL;
  maker->flags = 0;
  if (!callable) return -1;
  if (!PyCFunction_Check(callable)) return 0; /* a decimal module without C */
  maker->flags = PyCFunction_GetFlags(callable);
  if (maker->flags != METH_O && maker->flags != METH_VARARGS) {
    maker->flags = 0;
    return 0;
  }
  maker->function = PyCFunction_GetFunction(callable);
  maker->self = PyCFunction_GetSelf(callable);
  return 0;
}
/* Makes functions that make Decimals of texts and of ints, each exact, whatever the context of the thread is.
 * Returns -1: an exception is set. */
static int exact_decimals(py_state *st) {
  PyObject *invalid = import_name("decimal", "InvalidOperation"), *make = import_name("decimal", "Context");
  PyObject *prec = import_name("decimal", "MAX_PREC"), *low = import_name("decimal", "MIN_EMIN");
  PyObject *high = import_name("decimal", "MAX_EMAX"), *none = PyTuple_New(0), *named = NULL, *context = NULL;
  PyObject *of_text = NULL, *of_int = NULL, *tried;
  if (invalid && make && prec && low && high && none)
    named = Py_BuildValue("{sOsOsOs[O]}", "prec", prec, "Emin", low, "Emax", high, "traps", invalid);
  if (named) context = PyObject_Call(make, none, named);
  if (context) of_text = PyObject_GetAttrString(context, "create_decimal");
  if (of_text) {
    of_int = PyObject_GetAttrString(context, "create_decimal_from_float");
    tried = of_int ? PyObject_CallFunction(of_int, "i", 7) : NULL;
    if (!tried) { /* it is not said anywhere that it takes ints, only that it does */
      PyErr_Clear();
      PY_DROP(of_int);
      PY_HOLD(of_text);
      of_int = of_text;
    }
    PY_DROP(tried);
  }
  PY_DROP(invalid);
  PY_DROP(make);
  PY_DROP(prec);
  PY_DROP(low);
  PY_DROP(high);
  PY_DROP(none);
  PY_DROP(named);
  PY_DROP(context);
  return fill_maker(&st->make_decimal, of_text) || fill_maker(&st->make_from_int, of_int) ? -1 : 0;
}
/* Has a Change be called where a tuple keeps its hash, as from CPython 3.14 on: what the allocator makes has
 * the hash 0 there, and is taken for one whose hash is known. Returns -1: an exception is set. */
static int check_hash(py_state *st) {
  PyObject *probe = st->alloc_change(st->change, 4), *keys = PyDict_New();
  Py_ssize_t i;
  int status = probe && keys ? 0 : -1;
  if (probe) {
    PyTuple_SetItem(probe, 0, keys); /* NULL too: an empty place */
    for (i = 1; i < 4; i++) {
      PY_HOLD(Py_None);
      PyTuple_SetItem(probe, i, Py_None);
    }
  } else {
    PY_DROP(keys);
  }
  if (!status && PyObject_Hash(probe) != -1) {
    st->alloc_change = NULL;
  } else if (!status && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
  } else {
    status = -1;
  }
  PY_DROP(probe);
  return status;
}
/* Looks how a Change is made. Returns -1: an exception is set. */
static int find_change(py_state *st) {
  st->change = (PyTypeObject *)import_name("sloop._values", "Change");
  st->kinds[0] = PyUnicode_InternFromString("INSERT");
  st->kinds[1] = PyUnicode_InternFromString("MODIFY");
  st->kinds[2] = PyUnicode_InternFromString("REMOVE");
  if (!st->change || !st->kinds[0] || !st->kinds[1] || !st->kinds[2]) return -1;
  *(void **)&st->alloc_change = PyType_GetSlot(st->change, Py_tp_alloc);
  return st->alloc_change ? check_hash(st) : -1;
}
static int add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec) {
  *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
#if PY_VERSION_HEX < 0x030a0000
  /* An object that Python code makes would have no native part. */
  if (*type && spec->flags & Py_TPFLAGS_DISALLOW_INSTANTIATION) (*type)->tp_new = NULL;
#endif
  return *type ? PyModule_AddType(module, *type) : -1;
}
static int add_constants(PyObject *module) {
  PyObject *codes = PyDict_New(), *names = PyDict_New();
  int bad = !codes || !names;
#define X(name, num, text)                                            \
  if (!bad) {                                                         \
    PyObject *number = PyLong_FromLong(num);                          \
    bad = !number || PyDict_SetItemString(codes, #name, number) != 0; \
    PY_DROP(number);                                                  \
  }
  SLOOP_ERRORS(X)
#undef X
#define X(name, number) bad = bad || PyModule_AddIntConstant(module, #name, number) != 0;
  PY_EVENTS(X)
#undef X
  if (!bad) bad = PyModule_AddObject(module, "CODES", codes) != 0;
  if (bad) PY_DROP(codes);
  PY_DROP(names);
  bad = bad || PyModule_AddIntConstant(module, "TIMED_OUT", UV_ETIMEDOUT) != 0 ||
        PyModule_AddIntConstant(module, "CANCELED", UV_ECANCELED) != 0 ||
        PyModule_AddIntConstant(module, "NO_MEMORY", UV_ENOMEM) != 0 ||
        PyModule_AddStringConstant(module, "__version__", sloop_version()) != 0;
  return bad ? -1 : 0;
}

#ifdef Py_GIL_DISABLED
/* Importing the module turns the lock of a free-threaded build on, unless its user forbids it. Returns -1:
 * it is off, and an exception is set. */
static int need_lock(void) {
  PyObject *ask = import_name("sys", "_is_gil_enabled"), *on = ask ? PyObject_CallNoArgs(ask) : NULL;
  int is_on = on == Py_True;
  PY_DROP(ask);
  PY_DROP(on);
  if (is_on) return 0;
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_ImportError,
                    "sloop needs the interpreter's lock (GIL), and PYTHON_GIL=0 or -X gil=0 keeps it off; "
                    "without these, importing sloop turns it on");
  return -1;
}
#else
static int need_lock(void) { return 0; }
#endif

static int fill_module(PyObject *module) {
  static int watching;
  py_state *st = PyModule_GetState(module);
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "sloop can't be used in a subinterpreter: its consumers belong to the "
                    "process and are closed when the main interpreter ends");
    return -1;
  }
  if (need_lock()) return -1;
  if (!watching && pthread_atfork(NULL, NULL, on_fork) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  watching = 1;
  st->make_error = import_name("sloop._errors", "make");
  st->state_error = import_name("sloop._errors", "StateError");
  st->fork_error = import_name("sloop._errors", "ForkError");
  st->parts[0] = PyUnicode_InternFromString("keys");
  st->parts[1] = PyUnicode_InternFromString("new");
  st->parts[2] = PyUnicode_InternFromString("old");
  st->unbase64 = import_name("binascii", "a2b_base64");
  st->utc = import_name("datetime", "timezone");
  if (st->utc) {
    PyObject *zone = st->utc;
    st->utc = PyObject_GetAttrString(zone, "utc");
    PY_DROP(zone);
  }
  st->from_timestamp = import_name("datetime", "datetime");
  if (st->from_timestamp) {
    PyObject *type = st->from_timestamp;
    st->from_timestamp = PyObject_GetAttrString(type, "fromtimestamp");
    PY_DROP(type);
  }
  if (!st->make_error || !st->state_error || !st->fork_error || exact_decimals(st) || find_change(st) ||
      !st->parts[0] || !st->parts[1] || !st->parts[2] || !st->unbase64 || !st->utc || !st->from_timestamp)
    return -1;
  if (add_type(module, &st->loop, &py_loop_spec) || add_type(module, &st->consumer, &py_consumer_spec) ||
      add_type(module, &st->admin, &py_admin_spec) || add_type(module, &st->batch, &py_batch_spec) ||
      add_type(module, &st->records, &py_records_spec) || add_type(module, &st->record, &py_record_spec) ||
      add_type(module, &st->creds, &py_creds_spec) || add_type(module, &st->finished, &py_finished_spec))
    return -1;
  return add_constants(module);
}

static PyMethodDef functions[] = {
    {"features", get_features, METH_NOARGS, "features() - the versions that it was built with."},
    {"running", get_running, METH_NOARGS, "running() - the libraries at work: {name: (version, file)}."},
    {"change_values", read_change, METH_O, "change_values(json) - the dict of a change's JSON."},
    {"check_options", check_options, METH_O, "check_options(options) - raises OptionError."},
    {"err_name", get_err_name, METH_VARARGS, "err_name(code) - EAUTH of -5001."},
    {"strerror", get_strerror, METH_VARARGS, "strerror(code) - a sentence about the code."},
    {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill_module}, {0, NULL}};
/* The state has no function that frees it: objects may outlive the module, which is made once. */
static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                 "_native",
                                 "The native part of the package sloop.",
                                 sizeof(py_state),
                                 functions,
                                 slots,
                                 NULL,
                                 NULL,
                                 NULL};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }

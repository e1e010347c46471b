/* py_native.h - the objects of the extension module sloop._native, and what its files share.
 *
 * A Loop owns a uv_loop_t of its own and is run by whoever waits: asyncio (a reader of its
 * descriptor) or a plain thread (Loop.wait). During Loop.turn() the callbacks of the library only put
 * events into a list; Python code sees them when the turn is over. The rule that a maintainer must not
 * break: uv_run() is never called inside uv_run(), and nothing native is touched in a child of fork(). */
#ifndef SLP_BIND_PY_NATIVE_H
#define SLP_BIND_PY_NATIVE_H
#define PY_SSIZE_T_CLEAN
#if !defined(Py_LIMITED_API) && defined(SLP_PY_STABLE)
#define Py_LIMITED_API SLP_PY_STABLE
#endif
#include <Python.h>

#include <sloop.h>
#include <sloop_admin.h>
#include <stdint.h>
#include <uv.h>

/* The kinds of events that Loop.turn() returns; behind each, the payload of such an event. */
#define PY_EVENTS(X)                                                               \
  X(BATCH, 1)       /* a Batch */                                                  \
  X(SHARD, 2)       /* (kind, shard) */                                            \
  X(TIP, 3)         /* None */                                                     \
  X(LOSS, 4)        /* a dict of sloop_loss_t */                                   \
  X(ERROR, 5)       /* a dict of sloop_error_t */                                  \
  X(STATS, 6)       /* a dict of sloop_stats_t */                                  \
  X(LOG, 7)         /* (level, line) */                                            \
  X(CREDS, 8)       /* a CredsRequest */                                           \
  X(DEAD_LETTER, 9) /* a Record that has memory of its own */                      \
  X(LEASE, 10)      /* (kind, shard, worker, text, epoch) */                       \
  X(DONE, 11)       /* (number of the operation, status, result, error or None) */ \
  X(CLOSED, 12)     /* None; the last event of a consumer */
enum {
#define X(name, number) PY_##name = number,
  PY_EVENTS(X)
#undef X
      PY_KINDS
};

#define PY_KNOWN_MAX 256 /* a power of 2 */
#define PY_TEXT_MAX 40

/* An object that is kept for the text that it was made of. */
typedef struct py_known {
  PyObject *object;      /* NULL: none is kept */
  struct py_known *next; /* of a name, the one that was read behind it; NULL: none was */
  unsigned char len;
  char text[PY_TEXT_MAX];
} py_known;

#define PY_SHAPES_MAX 64 /* a power of 2 */
#define PY_SHAPE_MAX 32

/* The names of an item that came before, and a dict that has them, with None for each value. */
typedef struct py_shape {
  PyObject *form; /* NULL: none came yet */
  Py_ssize_t n;
  unsigned misses; /* items since then that had other names */
  PyObject *names[PY_SHAPE_MAX];
} py_shape;

/* A function of one argument, written in C as a rule, which is called without a detour then. */
typedef struct py_maker {
  PyObject *callable, *self; /* self: borrowed, what `function` is called with */
  PyCFunction function;
  int flags; /* METH_O, METH_VARARGS, or 0: `callable` is called */
} py_maker;

/* The objects that one import of the module keeps. */
typedef struct py_state {
  PyTypeObject *loop, *consumer, *admin, *batch, *records, *record, *creds, *finished;
  PyObject *make_error; /* sloop._errors.make(code, message, **fields) */
  PyObject *state_error, *fork_error;
  PyObject *from_timestamp, *utc; /* datetime.fromtimestamp, datetime.timezone.utc */
  py_maker make_decimal;          /* create_decimal() of a context that never rounds */
  py_maker make_from_int;         /* create_decimal_from_float() of that context, which takes ints */
  PyObject *spare_args;           /* a tuple for one argument that nobody uses; NULL: there is none */
  PyObject *unbase64;             /* binascii.a2b_base64 */
  PyObject *parts[3];             /* "keys", "new" and "old" */
  PyTypeObject *change;           /* sloop._values.Change */
  allocfunc alloc_change;         /* how objects of that type are made; NULL: it is called */
  PyObject *kinds[3];             /* "INSERT", "MODIFY" and "REMOVE" */
  py_known names[PY_KNOWN_MAX];   /* names of attributes that came last, each at the place of its hash */
  py_known numbers[PY_KNOWN_MAX]; /* the same of short numbers, as Decimals */
  py_shape shapes[PY_SHAPES_MAX]; /* names of items that came last, by their first name and their number */
} py_state;

/* An event that must arrive even when there is no memory: the end of an operation, of a consumer or of a
 * handle. It is made when these begin, so telling of it needs no memory. */
typedef struct py_kept {
  PyObject *event;
  struct py_kept *next; /* while the list of events had no room for it */
} py_kept;

/* A batch or a request for credentials that a finalizer gives back. Finalizers run anywhere, so the
 * loop gives them back at its next turn. Each has its place in `returned` from its beginning, so giving back
 * needs no memory. */
typedef struct py_returned {
  sloop_batch_t *batch; /* NULL: `creds` is set */
  size_t acked;
  sloop_creds_req_t *creds;
} py_returned;

/* The libuv part of a Loop. This struct has memory of its own,
 * so that it outlives a Loop that could not be closed. */
typedef struct py_world {
  uv_loop_t uv;
  uv_async_t wake; /* sent by each call outside a turn: the loop has to run once more */
} py_world;

typedef struct py_consumer py_consumer;
typedef struct py_admin py_admin;
typedef struct py_loop {
  PyObject_HEAD py_state *st;
  py_world *world;              /* NULL: closed */
  PyObject *events;             /* the list that callbacks append to */
  py_consumer *first;           /* consumers that are open */
  py_admin *admins;             /* handles of Admin objects that are open */
  unsigned long thread;         /* the thread that made it */
  unsigned generation;          /* py_generation when it was made */
  int running;                  /* 1 inside Loop.turn() */
  unsigned long lost[PY_KINDS]; /* events of each kind that there was no memory for, until take_lost() */
  py_kept *kept, **kept_end;    /* events that `events` had no room for */
  py_returned *returned;
  size_t returned_n, returned_room;
  size_t owed; /* batches and requests that are out: each has a place in `returned` */
} py_loop;

typedef struct py_batch py_batch;
struct py_consumer {
  PyObject_HEAD py_loop *loop;
  sloop_t *s;                /* NULL: closed */
  sloop_t *native;           /* until the last callback has come */
  PyObject *owner;           /* what Loop.turn() names in its events; a weak reference to the Python object */
  PyObject *name;            /* of the stream, for messages */
  struct py_op *listing;     /* the pending sloop_list(), whose callback a close drops */
  py_kept *closed;           /* the event CLOSED, until it is told */
  py_batch *batches;         /* those that are out */
  py_consumer *next, **link; /* in the list of the loop */
};

struct py_admin {
  PyObject_HEAD py_loop *loop;
  py_consumer *consumer; /* NULL: the handle is its own */
  sloop_admin_t *a;      /* NULL: closed. Of a consumer: until that is closed */
  PyObject *owner, *name;
  py_kept *closed;        /* the event CLOSED, until it is told, if the handle is its own */
  py_admin *next, **link; /* in the list of the loop, if the handle is its own */
};

struct py_batch {
  PyObject_HEAD py_loop *loop;
  py_consumer *consumer;
  sloop_batch_t *b; /* NULL: given back */
  Py_ssize_t count;
  size_t acked;     /* with `finished`: how many are acknowledged when it goes back */
  Py_ssize_t views; /* memoryviews of its records that are in use */
  int finished;     /* 1: done() was called */
  unsigned generation;
  py_batch *next, **link;  /* in the list of the consumer while b is set */
  struct py_record **live; /* borrowed: the record objects that exist, by index */
};

typedef struct py_record {
  PyObject_HEAD py_state *st;
  py_batch *batch;         /* NULL: the record has memory of its own and never had a batch */
  const sloop_record_t *r; /* NULL: gone */
  void *own;               /* NULL, or the memory that r is in */
  Py_ssize_t index, views;
} py_record;

/* The argument of a callback that comes once. */
typedef struct py_op {
  py_loop *loop;
  PyObject *owner;       /* owned: whom the event is for */
  py_kept *done;         /* the event DONE, saying that there is no memory for another one */
  py_consumer *consumer; /* NULL: of an admin handle */
  long long number;
} py_op;

/* How often this process was forked off; objects of another generation are dead. */
extern unsigned py_generation;

/* py_module.c */
/* Raises what the code says, with a text. Returns NULL. */
PyObject *py_raise_code(py_state *st, int code, const char *text);
/* Raises StateError with the formatted text. Returns NULL. */
PyObject *py_raise_state(py_state *st, const char *format, ...);
/* Returns a new str of bytes that may not be UTF-8 (they become surrogate escapes). */
PyObject *py_text(const char *base, size_t len);
PyObject *py_text0(const char *text);
/* Returns a new dict with the members of an error; None for NULL. */
PyObject *py_error_dict(const sloop_error_t *e);

/* py_loop.c */
extern PyType_Spec py_loop_spec;
/* Returns 0 if this thread and process may use the loop. Otherwise an exception is set, and the result is
 * -1. `what` names the call. */
int py_loop_check(py_loop *l, const char *what);
/* Appends an event for `owner` and takes the reference to payload, which is NULL when there was no memory.
 * An event without memory is counted as lost. Batches and requests for credentials are not, because these
 * come again. Returns -1 then, 0 otherwise. */
int py_loop_tell(py_loop *l, PyObject *owner, int kind, PyObject *payload);
/* Makes an event beforehand, and takes the reference to payload. Returns NULL after a failure. */
py_kept *py_kept_new(PyObject *owner, int kind, PyObject *payload);
void py_kept_free(py_kept *k);
/* Appends the event and frees it when it is told. */
void py_loop_tell_kept(py_loop *l, py_kept *k);
/* Makes sure of a place in `returned` for a batch or request that is about to be out. Returns -1: an
 * exception is set. */
int py_loop_owe(py_loop *l);
/* Has the loop run again soon. */
void py_loop_wake(py_loop *l);
/* Gives a batch, or a request for credentials, back at the next turn, in the place that py_loop_owe()
 * made. */
void py_loop_return(py_loop *l, sloop_batch_t *batch, size_t acked, sloop_creds_req_t *creds);

/* py_consumer.c */
extern PyType_Spec py_consumer_spec, py_creds_spec;
PyObject *py_consumer_open(PyObject *self, PyObject *args);
/* Tells of a request for credentials. Without memory for the event the request is answered with UV_ENOMEM. */
void py_creds_tell(py_loop *l, PyObject *owner, sloop_creds_req_t *rq);
/* Fills options from a dict of texts and a start (kind, at_ms, shard, seq, sub, token) or None.
 * Returns 0, or raises and returns -1. */
int py_fill_options(py_state *st, sloop_opts_t *o, PyObject *options, PyObject *start);
int py_read_position(PyObject *tuple, sloop_position_t *p);
/* Returns (kind, at_ms, shard, seq, sub, token). */
PyObject *py_position_tuple(const sloop_position_t *p);
void py_consumer_close(py_consumer *c);
py_op *py_op_new(py_loop *l, PyObject *owner, py_consumer *c, long long number);
void py_op_free(py_op *op);
/* Tells of the end of an operation and frees it. Takes the reference to result. */
void py_op_done(py_op *op, int status, PyObject *result, const sloop_error_t *e);

/* py_batch.c */
extern PyType_Spec py_batch_spec, py_records_spec, py_finished_spec;
PyObject *py_batch_new(py_consumer *c, sloop_batch_t *b);
/* Gives the batch back as done(acked) does; for a consumer that closes. */
void py_batch_finish(py_batch *b, size_t acked);
/* The last view of a finished batch went. */
void py_batch_settle(py_batch *b);

/* py_record.c */
extern PyType_Spec py_record_spec;
PyObject *py_record_new(py_batch *b, Py_ssize_t index);
/* Returns a record with memory of its own. */
PyObject *py_record_copy(py_state *st, const sloop_record_t *from);
/* Gives the record memory of its own, because its batch goes back. Without memory the record is gone. */
void py_record_detach(py_record *r);

/* py_change.c */
/* Reads the members of a change ("dynamodb") as Python values: keys, new and old, as new references or NULL.
 * Returns 0, or raises and returns -1. */
int py_change_read(py_state *st, const char *text, size_t len, PyObject *parts[3]);
/* Returns a Change with what py_change_read() reads. */
PyObject *py_change_new(py_state *st, sloop_str_t event, const char *text, size_t len);

/* py_admin.c */
extern PyType_Spec py_admin_spec;
PyObject *py_admin_open(PyObject *self, PyObject *args);
/* Returns the Admin that is a part of a consumer. */
PyObject *py_admin_of(py_consumer *c, PyObject *owner);
void py_admin_close(py_admin *a);

/* CPython 3.9 has neither of the two. */
#if PY_VERSION_HEX < 0x030a0000
#define PyGC_Disable() 0
#define PyGC_Enable() ((void)0)
#endif
#ifndef Py_TPFLAGS_DISALLOW_INSTANTIATION
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1ul << 7) /* without a meaning in 3.9: add_type() reads it */
#endif
/* Py_INCREF() and Py_XDECREF() of the stable ABI take a PyObject * only. */
#define PY_HOLD(object) Py_INCREF((PyObject *)(object))
#define PY_DROP(object) Py_XDECREF((PyObject *)(object))
#define PY_STATE_OF(type) ((py_state *)PyType_GetModuleState(type))
#endif

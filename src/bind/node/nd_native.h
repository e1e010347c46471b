/* nd_native.h - the native part of the Node package, and what its files share.
 *
 * Consumers run on the libuv loop of the thread that loaded the package. A callback of the library becomes
 * a call of the consumer's handler: handler(kind, payload). JavaScript code (lib/) makes objects and
 * promises of it. The rule that a maintainer must not break: no JavaScript is called once the environment
 * ends (`ending`), and every consumer of it is closed before that end is let happen. */
#ifndef SLP_BIND_ND_NATIVE_H
#define SLP_BIND_ND_NATIVE_H
#define NAPI_VERSION 8
#include "base/mem.h"

#include <node_api.h>
#include <sloop.h>
#include <sloop_admin.h>
#include <stdint.h>
#include <uv.h>

/* The kinds of events that a handler gets, with the payload of each. */
#define ND_EVENTS(X)                                                      \
  X(BATCH, 1)       /* packed records with the handle of the batch */     \
  X(SHARD, 2)       /* {kind, shard} */                                   \
  X(TIP, 3)         /* undefined */                                       \
  X(LOSS, 4)        /* the members of sloop_loss_t */                     \
  X(ERROR, 5)       /* the members of sloop_error_t */                    \
  X(STATS, 6)       /* the members of sloop_stats_t */                    \
  X(LOG, 7)         /* {level, line} */                                   \
  X(CREDS, 8)       /* the handle of a request for credentials */         \
  X(DEAD_LETTER, 9) /* packed records: one, without a handle */           \
  X(LEASE, 10)      /* {kind, shard, worker, text, epoch} */              \
  X(DONE, 11)       /* {number, status, result, error} of an operation */ \
  X(CLOSED, 12)     /* undefined; the last event of a consumer */
enum {
#define X(name, number) ND_##name = number,
  ND_EVENTS(X)
#undef X
};

#define ND_SLAB_CLASSES 6 /* up to 2 MiB */

typedef struct nd_consumer nd_consumer;
typedef struct nd_admin nd_admin;
typedef struct nd_batch nd_batch;

/* One environment: the main thread's, or that of a worker thread. Each object holds it. */
typedef struct nd_world {
  slp_mem *mem;
  napi_env env;
  uv_loop_t *loop;
  napi_async_context context;          /* of all calls into JavaScript */
  napi_async_cleanup_hook_handle hook; /* NULL: the end of the environment waits for nothing */
  nd_consumer *first;                  /* consumers that are not closed to the end */
  nd_admin *admins;                    /* the same for handles of an operator */
  uint32_t holds;
  int ending; /* 1: no JavaScript can be called any more */
  int busy;   /* 1: inside sloop_shard_stats_each(), during which a finalizer may call nothing */
  struct nd_creds *dropped;               /* the same for requests for credentials */
  struct nd_slab *slabs[ND_SLAB_CLASSES]; /* by size: those that wait for use */
  size_t slabs_kept;                      /* their bytes */
  int keeps_slabs;                        /* 0: at the tip, where they are not kept */
  nd_batch *returned;                     /* batches whose finalizer ran while `busy` was 1 */
} nd_world;

/* What a handle of JavaScript may stand for. */
typedef enum { ND_IS_CONSUMER = 0x51, ND_IS_BATCH, ND_IS_CREDS, ND_IS_ADMIN } nd_kind;

struct nd_consumer {
  uint32_t holds; /* the handle, the library until on_closed, and each batch and operation */
  nd_world *world;
  sloop_t *s;            /* NULL: closed */
  napi_ref handler;      /* NULL after the last event */
  struct nd_op *listing; /* the pending sloop_list(), whose callback a close drops */
  nd_batch *batches;     /* those that are out */
  nd_consumer *next, **link;
};

struct nd_admin {
  uint32_t holds; /* the handle, and the library until on_closed */
  nd_world *world;
  sloop_admin_t *a;
  nd_consumer *consumer; /* NULL: the handle is its own */
  napi_ref handler;
  nd_admin *next, **link;
};

struct nd_batch {
  nd_consumer *consumer;
  sloop_batch_t *b; /* NULL: given back */
  nd_batch *next, **link;
  nd_batch *next_returned;
};

typedef struct nd_creds {
  nd_world *world;
  sloop_creds_req_t *rq; /* NULL: answered */
  struct nd_creds *next_dropped;
} nd_creds;

/* The argument of a callback that comes once. One of the two owners is set. */
typedef struct nd_op {
  nd_consumer *consumer;
  nd_admin *admin;
  double number;
} nd_op;

/* The arguments of a call from JavaScript, and the texts that were read from them. */
#define ND_ARGS_MAX 10
typedef struct nd_args {
  nd_world *world;
  napi_env env;
  size_t n;
  napi_value at[ND_ARGS_MAX];
  struct nd_text *texts; /* freed by nd_args_end() */
} nd_args;

/* nd_module.c */
nd_world *nd_world_hold(nd_world *w);
void nd_world_drop(nd_world *w);
/* Lets the environment end if it waits, and nothing of it is open any more. */
void nd_world_settle(nd_world *w);

/* nd_values.c */
void nd_args_begin(nd_args *a, napi_env env, napi_callback_info info);
void nd_args_end(nd_args *a);
/* Returns what the handle stands for. Throws a TypeError and returns NULL unless it is a handle of that kind
 * which this copy of the module has made in this thread. */
void *nd_arg_handle(const nd_args *a, size_t i, nd_kind kind);
/* Returns a text that lives until nd_args_end(). NULL: it is no string, has a NUL, or there is no memory. */
const char *nd_arg_text(nd_args *a, size_t i);
const char *nd_text_of(nd_args *a, napi_value value);
double nd_arg_number(const nd_args *a, size_t i); /* 0 if it is none */
int nd_arg_int(const nd_args *a, size_t i);       /* 0 if it is none, or no int */
int nd_arg_is_function(const nd_args *a, size_t i);
int nd_arg_is_null(const nd_args *a, size_t i); /* null, undefined, or not there */
/* Throws a TypeError, and returns NULL. */
napi_value nd_refuse_handler(napi_env env);
/* Returns a number from 0 to max: 0 if it is none or less, and max if it is more. */
uint64_t nd_arg_whole(const nd_args *a, size_t i, uint64_t max);
/* Reads a text, or NULL for null and undefined. Returns SLOOP_EOPTION if it is something else, which must not
 * be taken for NULL: to functions of the library that means all shards. */
int nd_arg_text_or_null(nd_args *a, size_t i, const char **text);
/* Reads a position from five arguments: kind, time, shard, sequence number or token, sub-sequence number. */
void nd_arg_position(nd_args *a, size_t i, sloop_position_t *p);
napi_value nd_null(napi_env env);
napi_value nd_number(napi_env env, double value);
napi_value nd_truth(napi_env env, int value);
/* Returns a string; bytes that are no UTF-8 become U+FFFD. */
napi_value nd_string(napi_env env, const char *text);
napi_value nd_object(napi_env env);
void nd_set(napi_env env, napi_value object, const char *name, napi_value value);
void nd_set_text(napi_env env, napi_value object, const char *name, const char *text);
void nd_set_number(napi_env env, napi_value object, const char *name, double value);
void nd_set_truth(napi_env env, napi_value object, const char *name, int value);
/* Makes "behindMsNow" of "behind_ms_now". `to` has room for 64 bytes. */
void nd_camel(char *to, const char *name);
napi_value nd_error_object(napi_env env, const sloop_error_t *e); /* null for NULL */
napi_value nd_position_object(napi_env env, const sloop_position_t *p);
napi_value nd_list(napi_env env);
void nd_push(napi_env env, napi_value list, napi_value value);
/* Returns an object that stands for `of`; `done` is called when the object goes. NULL: there is no memory,
 * and `done` is not called. */
napi_value nd_handle(nd_world *w, nd_kind kind, void *of, napi_finalize done);
/* Returns 1 if JavaScript may be called, with a scope for the values of the call; then nd_call() ends it. */
int nd_call_begin(nd_world *w, napi_handle_scope *scope);
void nd_call(nd_world *w, napi_ref handler, int kind, napi_value payload, napi_handle_scope scope);

/* nd_records.c */
/* Packs n records into one Buffer. Returns NULL if there is no memory. */
napi_value nd_pack(nd_world *w, size_t n, const sloop_record_t *(*at)(const void *of, size_t i),
                   const void *of);

/* nd_slab.c */
/* Returns a Buffer and the address of its bytes. Returns NULL if there is no memory. */
napi_value nd_slab_new(nd_world *w, size_t size, void **base);
/* Frees the slabs that wait for use; none are kept before the next large batch. */
void nd_slabs_free(nd_world *w);

/* nd_batch.c */
void nd_on_batch(sloop_t *s, sloop_batch_t *b, void *arg);
void nd_on_dead_letter(sloop_t *s, const sloop_record_t *r, void *arg);
/* Gives back, unacknowledged, all batches of a consumer that are out. */
void nd_batches_finish(nd_consumer *c);
/* Gives back what finalizers could not. */
void nd_batches_settle(nd_world *w);
napi_value nd_batch_done(napi_env env, napi_callback_info info);
napi_value nd_batch_ack(napi_env env, napi_callback_info info);
napi_value nd_batch_owned(napi_env env, napi_callback_info info);

/* nd_consumer.c */
void nd_consumer_drop(nd_consumer *c);
void nd_consumer_close(nd_consumer *c);
/* Sets options from an array of names and values. Returns 0, or a status and why. */
int nd_fill_options(nd_args *a, napi_value options, sloop_opts_t *o, char *why, size_t why_size);
/* Returns [status, value]. */
napi_value nd_outcome(napi_env env, int status, napi_value value);
void nd_tell_log(nd_world *w, napi_ref handler, sloop_log_level_t level, const char *line);
void nd_tell_error(nd_world *w, napi_ref handler, const sloop_error_t *e);
void nd_tell_creds(nd_world *w, napi_ref handler, sloop_creds_req_t *rq);
nd_op *nd_op_new(nd_consumer *c, nd_admin *a, double number);
void nd_op_free(nd_op *op);
/* Functions of JavaScript, each named as in the table of nd_module.c. */
#define ND_CONSUMER_CALLS(X) \
  X(open)                    \
  X(start)                   \
  X(stop)                    \
  X(close)                   \
  X(giveBack)                \
  X(ref)                     \
  X(unref)                   \
  X(pause)                   \
  X(resume)                  \
  X(seek)                    \
  X(checkpoint)              \
  X(checkpointAt)            \
  X(seekCheckpoint)          \
  X(handover)                \
  X(token)                   \
  X(stats)                   \
  X(shardStats)              \
  X(shards)                  \
  X(worker)                  \
  X(answerCreds)             \
  X(refuseCreds)
#define X(name) napi_value nd_##name(napi_env env, napi_callback_info info);
ND_CONSUMER_CALLS(X)
#undef X

/* nd_admin.c */
void nd_admin_close(nd_admin *a);
void nd_admin_drop(nd_admin *a);
#define ND_ADMIN_CALLS(X) \
  X(adminOpen)            \
  X(adminOf)              \
  X(adminClose)           \
  X(adminLeases)          \
  X(adminLag)             \
  X(adminExplain)         \
  X(adminRelease)         \
  X(adminReset)           \
  X(adminDrain)           \
  X(adminPause)
#define X(name) napi_value nd_##name(napi_env env, napi_callback_info info);
ND_ADMIN_CALLS(X)
#undef X
#endif

/* typed_msg.h - messages of the typed seam and what its services do wrong, without the library's own types: the
 * sandbox's model, which typed_changes.c reads, has names of its own for the same things. */
#ifndef SLP_TEST_SWARM_TYPED_MSG_H
#define SLP_TEST_SWARM_TYPED_MSG_H

#include "base/buf.h"
#include "swarm/world.h"

typedef enum slp_typed_dead { /* how no subscription brings an event */
                              SLP_DEAD_NOT,
                              SLP_DEAD_GATEWAY, /* 504 */
                              SLP_DEAD_SILENT,  /* it is taken, and nothing comes of it */
                              SLP_DEAD_NO_HEAD, /* nothing is answered at all */
                              SLP_DEAD_ENDS,    /* it is taken, and ends */
                              SLP_DEAD_WAYS
} slp_typed_dead;

typedef struct slp_typed_faults { /* what the services do; chances in parts per million of their calls */
  uint32_t throttle_ppm, error_ppm, expired_ppm;
  uint32_t empty_ppm;       /* GetRecords: nothing this time, and a next iterator */
  uint32_t end_late_ppm;    /* the last records come with a next iterator yet */
  uint32_t no_children_ppm; /* GetRecords: null iterator, and no children named */
  uint32_t sub_life_ms;     /* so long a subscription lives; 0: five minutes */
  uint32_t sub_cut_ppm;     /* an event's connection breaks; of calls for events, as the next */
  uint32_t sub_silent_ppm;  /* nothing more comes of the subscription */
  uint32_t unknown_ppm;     /* GetRecords: "no such resource", though it is there */
  uint32_t list_late_ppm;   /* ListShards does not show the newest shards */
  uint32_t table_throttle_ppm, table_error_ppm;
  uint32_t stale_ppm; /* a read that need not be consistent shows the table as it was */
  uint32_t stale_ms;  /* so long ago at most */
  uint32_t blind_ppm; /* a refusal does not show the row */
  slp_typed_dead dead_push;
} slp_typed_faults;

typedef struct slp_typed_sums { /* what the services were asked and did */
  uint64_t subscriptions, events, taken_over, ended;
  uint64_t fetches, locates, lists, reads, writes, refused, throttled, errors, expired, stale, blind, lied;
} slp_typed_sums;
/* The first byte of a request. */
typedef enum {
  SLP_TYPED_DESCRIBE = 'D',
  SLP_TYPED_LIST = 'L',
  SLP_TYPED_ITERATOR = 'I',
  SLP_TYPED_RECORDS = 'R',
  SLP_TYPED_CONSUMER = 'C',
  SLP_TYPED_SUBSCRIBE = 'S',
  SLP_TYPED_EVENT = 'E',
  SLP_TYPED_GET = 'g',
  SLP_TYPED_SCAN = 's',
  SLP_TYPED_WRITE = 'w',
  SLP_TYPED_PREPARE = 'p'
} slp_typed_what;

/* ---- writing: into the simulation's own memory, which never fails ------------------------------------- */
void slp_msg_u64(slp_buf *b, uint64_t v);
void slp_msg_str(slp_buf *b, slp_str s);
/* An answer begins with its length and a sum, so that a clipped one is seen. */
void slp_msg_begin(slp_buf *b);
void slp_msg_seal(slp_buf *b);

/* ---- reading ------------------------------------------------------------------------------------------ */
typedef struct slp_msg {
  const char *p, *end;
  int bad; /* it ended too early; what is read is zeros from then on */
} slp_msg;
slp_msg slp_msg_of(slp_str s);
int slp_msg_open(slp_msg *m); /* an answer's beginning; 0: it is whole */
uint64_t slp_msg_take_u64(slp_msg *m);
slp_str slp_msg_take_str(slp_msg *m); /* points into the message; an empty one has no p */

/* ---- DynamoDB Streams: typed_changes.c ---------------------------------------------------------------- */
/* Which shard of a table's stream a request asks for records of, by its index. -1: it is no such request. */
int slp_typed_change_asked(slp_world *w, slp_str ask, uint32_t *ret_shard);
/* Answers a call to DynamoDB Streams. */
void slp_typed_changes(slp_world *w, const slp_typed_faults *f, slp_typed_sums *sums, slp_msg *m,
                       slp_sim_reply *reply);
void slp_typed_refuse(slp_sim_reply *reply, int status, const char *type);

#endif

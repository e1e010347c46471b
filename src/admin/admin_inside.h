/* desk_inside.h - what the files of the desk share. */
#ifndef SLP_ADMIN_ADMIN_INSIDE_H
#define SLP_ADMIN_ADMIN_INSIDE_H

#include "base/map.h"
#include "admin/admin.h"
#include "core/svctime.h"
#include "lease/snapshot.h"

#define SLP_ADMIN_WRITES 16 /* at once */

/* ---- owners, as far as one look shows: owner.c ------------------------------------------------------- */
typedef enum slp_owner_life {
  SLP_OWNER_NONE,    /* the lease is nobody's */
  SLP_OWNER_ALIVE,   /* its row was touched lately, as far as clocks can be compared */
  SLP_OWNER_SILENT,  /* not condemned, and not heard of for long */
  SLP_OWNER_EVICTED, /* declared dead, or it left, or lives on under another boot: it can never renew */
  SLP_OWNER_MISSING, /* it has no row */
  SLP_OWNER_UNKNOWN  /* there are no rows of workers to tell */
} slp_owner_life;

const slp_worker_row *slp_admin_worker_of(const slp_snapshot *s, slp_str name); /* an id or an instance */
int slp_admin_is_instance(const slp_worker_row *w, slp_str instance);
/* By one look. wall_ms: ours, now. */
int slp_admin_worker_silent(const slp_worker_row *w, int64_t wall_ms);
slp_owner_life slp_admin_owner_life(const slp_schema *schema, const slp_snapshot *s, slp_str owner,
                                    int64_t wall_ms);

/* ---- the stream's listing, copied ------------------------------------------------------------------ */
typedef struct slp_admin_shard {
  slp_str id, parents[2];
  uint8_t open;
  uint8_t has_kids, lacks_kids; /* desk_reset.c: some of them have no lease */
} slp_admin_shard;

/* ---- the desk: desk.c --------------------------------------------------------------------------------- */
typedef struct slp_admin_slot { /* one write under way: desk_write.c */
  slp_admin *admin;
  slp_store_write w;
  slp_row_request d;
  uint8_t busy;
  size_t about; /* whose it is, as who sent it counts */
  void (*on_done)(struct slp_admin_slot *slot);
} slp_admin_slot;

typedef struct slp_watched { /* desk_watch.c: a proof of life, and since when it has been the same */
  slp_str name;              /* an instance; where only leases prove life: a shard. In desk->keep */
  uint64_t counter, since_us, lease_us;
  uint32_t reads;
  uint8_t missing; /* it has no row */
  uint8_t evicted; /* it can never renew */
  uint8_t alive;   /* it has moved */
  uint8_t dead;    /* it did not for a whole lease */
} slp_watched;

typedef struct slp_target { /* desk_change.c: a lease to be changed */
  slp_str shard;            /* in desk->keep, as the others */
  slp_position to;          /* NONE: stays */
  const char *was;          /* its position before; NULL: nothing was sent yet */
  const char *was_owner;
  const char *why; /* it is given up, and this is why */
  uint8_t was_parked, done;
} slp_target;

struct slp_admin {
  slp_mem *mem; /* held */
  slp_admin_opts o;
  char *name; /* owned; NULL: none was given */
  slp_store *store;
  slp_schema *schema;
  slp_store_rows keep; /* an arena for what lives as long as the desk */
  char me[40];         /* what its writes are signed with, an instance */

  slp_src_describe describe;
  slp_src_list list;
  slp_store_prepare prepare;
  slp_store_list rows;
  slp_snapshot snapshot;
  slp_admin_shard *shards; /* by id, in keep */
  size_t shards_n;
  int64_t wall_ms;            /* when the rows were read */
  slp_svctime service;        /* the stream's clock */
  void (*step)(slp_admin *d); /* what is to be tried again, or done next */
  void (*then)(slp_admin *d); /* after the rows */
  uint32_t tries;
  uint8_t starved;  /* something had no memory */
  uint8_t troubled; /* a read of the rows failed since they were last read */
  slp_timer timer;
  slp_event done_ev;
  slp_fail fail;
  slp_buf text;
  sloop_leases_t *answer; /* in keep */

  /* changes */
  slp_target *targets; /* in keep */
  size_t targets_n, target_at;
  slp_map watched; /* name -> slp_watched, in keep */
  size_t watched_at;
  slp_admin_slot slots[SLP_ADMIN_WRITES];
  size_t busy_n;
  uint32_t rounds;
  uint8_t changed;       /* something was written */
  slp_worker_row victim; /* desk_release.c: id, boot and lease_ms of it; in keep */
  uint64_t serial;
  const char *notes[8]; /* lines that end the text; in keep */
  size_t notes_n;
};

/* The end: no more events of the desk but its answer. */
void slp_admin_finish(slp_admin *d);
void slp_admin_failed(slp_admin *d, slp_class class, int code, const char *fmt, ...) SLP_PRINTF(4, 5);
void slp_admin_no_memory(slp_admin *d);
/* A step's request failed: the step again, after a while; or the end. */
void slp_admin_again(slp_admin *d, const slp_fail *f);
void slp_admin_later(slp_admin *d, uint64_t us, void (*step)(slp_admin *d));
/* Reads every row and sorts them out, then. */
void slp_admin_read(slp_admin *d, void (*then)(slp_admin *d));
const slp_admin_shard *slp_admin_listed(const slp_admin *d, slp_str id);
/* Memory that lives as long as the desk, zeroed; a NUL-ended copy. NULL: none left, and the answer will say
 * so. */
void *slp_admin_room(slp_admin *d, size_t bytes);
slp_str slp_admin_keep(slp_admin *d, slp_str s);
/* A line of the answer; what does not fit is left out. */
void slp_admin_say(slp_admin *d, const char *fmt, ...) SLP_PRINTF(2, 3);
size_t slp_admin_position_text(const slp_position *position, char out[200]); /* "after SEQ sub N" */

void slp_admin_leases(slp_admin *d);  /* desk_leases.c */
void slp_admin_explain(slp_admin *d); /* desk_explain.c */
void slp_admin_release(slp_admin *d); /* desk_release.c */
void slp_admin_reset(slp_admin *d);   /* desk_reset.c */

/* ---- writes: desk_write.c ----------------------------------------------------------------------------- */
void slp_admin_writes_init(slp_admin *d);
void slp_admin_writes_stop(slp_admin *d);
void slp_admin_writes_free(slp_admin *d);
int slp_admin_has(const slp_admin *d, slp_operation_kind kind); /* 1: this layout can say it */
/* on_done comes later. SLP_ENOBUFS: as many as may be are under way. SLP_ENOMEM, SLP_EINVAL. */
int slp_admin_write(slp_admin *d, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot));

/* ---- who lives: desk_watch.c --------------------------------------------------------------------------- */
/* Whoever proves that this lease is owned, watched from now on. NULL: no memory. */
slp_watched *slp_admin_watch(slp_admin *d, const slp_lease_row *l);
void slp_admin_watch_saw(slp_admin *d);                                /* the rows were read anew */
uint64_t slp_admin_watch_us(const slp_admin *d, const slp_watched *w); /* until it is to be looked at again */

/* ---- leases that are to be changed: desk_change.c --------------------------------------------------------
 */
/* Room for n of them. SLP_ENOMEM. */
int slp_admin_targets(slp_admin *d, size_t n);
void slp_admin_target(slp_admin *d, slp_str shard, const slp_position *to); /* NULL: its position stays */
/* Changes them, tells it, and finishes. The rows were just read. */
void slp_admin_change(slp_admin *d);
/* Rings the leader, if there is one, and finishes. */
void slp_admin_notify(slp_admin *d);
/* A line for the end of the text. */
void slp_admin_note(slp_admin *d, const char *fmt, ...) SLP_PRINTF(2, 3);

#endif

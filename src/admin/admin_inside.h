/* admin_inside.h - what the files of one command share. */
#ifndef SLP_ADMIN_ADMIN_INSIDE_H
#define SLP_ADMIN_ADMIN_INSIDE_H

#include "admin/admin.h"
#include "core/svctime.h"
#include "lease/absence.h"
#include "lease/silence.h"
#include "lease/snapshot.h"
#include "lease/strategy.h"
#include "lease/write.h"

#define SLP_ADMIN_WRITES 16   /* at once */
#define SLP_ADMIN_CHILDREN 64 /* of one shard that are named in its row */

/* ---- the stream's listing, copied --------------------------------------------------------------- */
typedef struct slp_admin_shard {
  slp_str id, parents[2], hash_start, hash_end, seq_start;
  uint8_t open;
  uint8_t has_children, lacks_leases; /* reset.c: of its children */
} slp_admin_shard;

/* ---- a command's life: admin.c ------------------------------------------------------------------------
 *
 *   DESCRIBING -> PREPARING -> LISTING -> READING -> ANSWERED
 *   (the stream)  (the table)  (shards)   |  ^  ^
 *                      |                  |  |  |
 *                      +- LEASES: -> READING |  |   every state may end the command
 *                                         |  |  |
 *                                         +- EVICTING           owners that are in the way
 *                                         +--- WRITING -> NOTIFYING -> ANSWERED
 *
 * LEASES lists the shards too where rows do not name their stream.
 * RESET to a number: the first READING -> LOCATING, and on as from READING when the service knows it.
 * LAG: READING -> MEASURING -> ANSWERED.
 *
 * After each READING the task decides from the rows what comes next, so what became of a write whose answer
 * was lost or that was refused is found out by reading again. */
typedef enum slp_admin_state {
  SLP_ADMIN_DESCRIBING,
  SLP_ADMIN_PREPARING,
  SLP_ADMIN_LISTING,
  SLP_ADMIN_READING,   /* or waiting to read again */
  SLP_ADMIN_LOCATING,  /* the service is asked whether it knows the position */
  SLP_ADMIN_MEASURING, /* shards are read at their positions */
  SLP_ADMIN_EVICTING,
  SLP_ADMIN_WRITING,
  SLP_ADMIN_NOTIFYING, /* the leader, that rows have changed */
  SLP_ADMIN_ANSWERED,
  SLP_ADMIN_STATES
} slp_admin_state;

typedef struct slp_admin_slot { /* one write under way: write.c */
  slp_admin *admin;
  slp_write op;
  size_t about; /* a number of the sender's */
  void (*on_done)(struct slp_admin_slot *slot);
} slp_admin_slot;

typedef struct slp_watch slp_watch;   /* watch.c */
typedef struct slp_edits slp_edits;   /* edits.c */
typedef struct slp_victim slp_victim; /* release.c */
typedef struct slp_import slp_import; /* import.c */
typedef struct slp_lags slp_lags;     /* lag.c */

typedef struct slp_admin_load { /* the newest that a worker of KCL 3 told of itself */
  int64_t wall_s;               /* by its clock; 0: none did */
  slp_str worker;               /* in keep */
  uint64_t seen_us;             /* when it was read first */
  uint8_t passes; /* over the rows since then, at most 2: news after the first are a sign of life */
  uint8_t alive;
} slp_admin_load;

struct slp_admin {
  slp_mem *mem; /* held */
  slp_admin_opts o;
  char *name; /* owned; NULL: none was given */
  slp_store *store;
  slp_schema *schema;
  slp_store_rows keep; /* an arena for all that lives as long as the command */
  char me[40];         /* an instance */
  slp_str signature;   /* the same: of its writes */

  slp_admin_state state;
  uint32_t tries; /* of this state's request */
  slp_timer timer;
  slp_event done_ev;
  slp_fail fail;
  slp_admin_why why; /* of fail: reason, name, owner, numbers; texts in keep */
  slp_admin_answer answer;
  uint8_t starved; /* something had no memory */

  slp_src_describe describe;
  slp_src_list list;
  slp_store_prepare prepare;
  slp_store_list rows;
  slp_src_locate locate;
  uint8_t located; /* the service knows the position */
  slp_snapshot snapshot;
  uint64_t trouble_us;     /* a read of the rows failed then; 0: none */
  size_t throttled_n;      /* rows that had come when a list was throttled last */
  slp_absence absence;     /* of this process: a command may be stopped as well as a worker */
  slp_timer absence_timer; /* the next note, as long as the command runs */
  slp_admin_shard *shards; /* by id, in keep */
  size_t shards_n;
  int64_t wall_ms;     /* when the rows were read */
  slp_svctime service; /* the stream's clock */

  slp_watch *watch;       /* in keep; NULL: nobody is watched */
  uint8_t looks;          /* EXPLAIN: so many beside the first, at an owner that seems silent */
  slp_edits *edits;       /* in keep; NULL: no lease is to be changed yet */
  slp_victim *victim;     /* in keep; NULL: no worker is to be evicted by name */
  slp_placed_list placed; /* SURVEY, IMPORT; in keep, or the caller's */
  slp_import *import;     /* in keep; NULL: the rows were not compared yet */
  slp_lags *lags;         /* owned; NULL: no shard is to be read yet */
  const char *unlisted;   /* LAG: why there is no listing, in keep; NULL: there is one */
  slp_str passed;         /* which rows are left alone, for they are of other streams; in keep */
  uint8_t changing;       /* rows say that other rules hold, or are about to */
  char changing_word[64];
  slp_admin_load load;
  uint8_t side;             /* the table beside the leases that is to be read next; 0: the leases */
  uint32_t part;            /* the partition key that is to be read next, where leases are under several */
  slp_store_rows parts;     /* of those before it */
  slp_buf part_key;         /* of the one being read */
  slp_store_rows beside;    /* of workers that have theirs there, for the round that is being read */
  uint64_t worker_ns;       /* the youngest one's time among those, */
  slp_str worker;           /* and its worker; in keep */
  uint8_t worker_lives;     /* a younger one came while this command looked */
  uint8_t no_table;         /* IMPORT: there is none yet */
  uint8_t may_have_changed; /* a lease or a worker: a write of one is done, or its answer was lost */
  uint8_t changed;          /* such a write is known to be done */
  slp_writes writes;
  slp_admin_slot slots[SLP_ADMIN_WRITES];
  size_t busy_n;
};

void slp_admin_move(slp_admin *a, slp_admin_state to);
void slp_admin_read_in(slp_admin *a, uint64_t us); /* READING, after a while */
/* The end: nothing comes any more but the answer. */
void slp_admin_finish(slp_admin *a);
/* Ends it with this reason. name: the shard or worker meant, or nothing. */
void slp_admin_failed(slp_admin *a, slp_admin_reason reason, slp_class class, int code, slp_str name);
/* The same without the end; the first failure counts. */
void slp_admin_note(slp_admin *a, slp_admin_reason reason, slp_class class, int code);
void slp_admin_no_memory(slp_admin *a);
const slp_admin_shard *slp_admin_listed(const slp_admin *a, slp_str id);
/* Memory that lives as long as the command, zeroed; a copy. NULL: none left, and the answer will say so. */
void *slp_admin_room(slp_admin *a, size_t bytes);
slp_str slp_admin_keep(slp_admin *a, slp_str s);

/* Rows that are not of this stream: form.c. 1: the command has failed with them. The first decides how
 * those of this stream are named, before the snapshot is made. */
int slp_admin_decides_form(slp_admin *a);
int slp_admin_is_other_streams(slp_admin *a);

/* Each task's step with the rows that were just read: it moves on, or finishes. */
void slp_admin_leases(slp_admin *a);
void slp_admin_explain(slp_admin *a);
void slp_admin_release(slp_admin *a);
void slp_admin_reset(slp_admin *a);
void slp_admin_survey(slp_admin *a);
void slp_admin_import(slp_admin *a);
void slp_import_write(slp_admin *a); /* WRITING begins, for an import */
void slp_import_count(const slp_admin *a, slp_admin_why *ret);
void slp_admin_evict_victim(slp_admin *a);  /* release.c: EVICTING begins, for a worker by name */
void slp_admin_tell_victim(slp_admin *a);   /* release.c: the answer is that it is evicted */
void slp_admin_tell_eviction(slp_admin *a); /* release.c: it is done, and what was to follow has failed */

/* 1: the rows are shown, whatever they are; 0: they are acted upon. */
static inline int slp_admin_shows(const slp_admin *a) {
  return a->o.task == SLP_ADMIN_LEASES || a->o.task == SLP_ADMIN_LAG;
}

/* ---- how far behind shards are: lag.c ----------------------------------------------------------------- */
typedef struct slp_lag_entry { /* a shard that is read at its position */
  slp_str shard;
  slp_position position;
  sloop_lag_t lag;
  int64_t behind_ms, at_ms; /* -1: not known; not read */
  const char *error;        /* in keep; "" */
  uint8_t leased;           /* it has a row */
  uint8_t may_live;         /* its owner does, as far as the rows show */
} slp_lag_entry;
void slp_lags_find(slp_admin *a);    /* from READING: chooses the shards, and goes on to MEASURING */
void slp_lags_measure(slp_admin *a); /* MEASURING begins */
void slp_lags_free(slp_admin *a);
#define SLP_LAGS_WORDS 404
void slp_lags_words(const slp_fail *f, char out[SLP_LAGS_WORDS]); /* the error's name, and what it said */
/* Those with a lease by shard, then those without; NULL: no more. */
const slp_lag_entry *slp_lags_at(const slp_admin *a, size_t i);

void slp_admin_locate(slp_admin *a, slp_str shard); /* LOCATING begins; slp_admin_reset() comes again */

/* ---- copies of positions ------------------------------------------------------------------------------- */
/* 1: nobody works with these rows; 0: the command waits, or has failed with whoever does. quiet.c */
int slp_admin_is_quiet(slp_admin *a);
void slp_admin_see_rules(slp_admin *a, const slp_store_rows *rows); /* survey.c */
/* Into a->placed: placed.c. */
void slp_placed_of_rows(slp_admin *a);
int slp_placed_of_token(slp_admin *a, slp_str text); /* SLP_ENOMEM, or the command's failure is set */
void slp_placed_fill(slp_admin *a);                  /* with shards that are listed and not named */
slp_placed *slp_placed_find(const slp_placed_list *list, slp_str shard); /* NULL: not in it */
int64_t slp_admin_service_ms(const slp_admin *a); /* now, by the stream's clock and never ahead of it */

/* ---- owners, as far as the rows show: owner.c --------------------------------------------------- */
/* 1: workers have rows in a table beside the leases: these say who lives, and only the leases what he has. */
static inline int slp_admin_has_clients(const slp_admin *a) {
  return a->schema->strategy && a->schema->strategy->clients;
}
typedef enum slp_owner_life {
  SLP_OWNER_NONE,    /* the lease is nobody's */
  SLP_OWNER_ALIVE,   /* its row was touched lately, as far as clocks can be compared */
  SLP_OWNER_SILENT,  /* not evicted, and not heard of for long */
  SLP_OWNER_EVICTED, /* evicted, or it left, or lives on as another incarnation: it can never renew */
  SLP_OWNER_MISSING, /* it has no row */
  SLP_OWNER_UNKNOWN  /* there are no rows of workers to tell */
} slp_owner_life;
const slp_worker_row *slp_admin_worker_of(const slp_snapshot *s, slp_str name); /* an id or an instance */
int slp_admin_is_instance(const slp_worker_row *w, slp_str instance);
/* By one read, and its stamp and our clock. */
int slp_admin_worker_silent(const slp_admin *a, const slp_worker_row *w);
/* By one read; a worker whose stamps are old and whose counter was seen to move is alive. */
slp_owner_life slp_admin_owner_life(const slp_admin *a, slp_str owner);
/* The same, of the lease's owner; where a row says until when it is held, by that too. */
slp_owner_life slp_admin_lease_life(const slp_admin *a, const slp_lease_row *l);

/* ---- rows as the header has them: told.c; all in keep, never NULL, "" and 0 when there is no memory  */
const char *slp_admin_text(slp_admin *a, slp_str s);
sloop_position_t slp_admin_position(slp_admin *a, slp_str shard, const slp_position *p);
const char *slp_admin_instance(slp_admin *a, const slp_worker_row *w);
sloop_lease_t slp_admin_lease(slp_admin *a, const slp_lease_row *l);
sloop_lease_state_t slp_admin_lease_state(slp_admin *a, const slp_lease_row *l);
sloop_worker_t slp_admin_worker(slp_admin *a, const slp_worker_row *w);

/* ---- writes: write.c ---------------------------------------------------------------------------- */
void slp_admin_writes_init(slp_admin *a);
void slp_admin_writes_open(slp_admin *a); /* the store and the schema are there */
void slp_admin_writes_stop(slp_admin *a);
void slp_admin_writes_free(slp_admin *a);
int slp_admin_has(const slp_admin *a, slp_operation_kind kind); /* 1: this schema can say it */
/* on_done comes later. SLP_ENOBUFS: as many as may be are under way. SLP_ENOMEM, SLP_EINVAL. */
int slp_admin_write(slp_admin *a, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot));
/* It was given up at something that reading again does not cure: that becomes the command's failure. */
int slp_admin_write_is_final(slp_admin_slot *slot);
/* It may be done, unanswered: a copy of it may have got in before the one that was refused. */
int slp_admin_write_in_doubt(const slp_write *op);

/* ---- owners, watched until they are proven alive or dead: watch.c ------------------------------- */
typedef struct slp_watched {
  slp_str name; /* an instance; where only leases prove life: a shard. In keep */
  slp_silence silence;
  uint64_t lease_us;
  uint8_t evicted; /* it can never renew */
  uint8_t alive;   /* it has moved */
  uint8_t dead;    /* it did not for a whole lease */
} slp_watched;
/* The owner of this lease, or this worker, watched from now on. NULL: no memory. */
slp_watched *slp_watch_add_worker(slp_admin *a, const slp_worker_row *w);
slp_watched *slp_watch_add(slp_admin *a, const slp_lease_row *l);
const slp_watched *slp_watch_get(const slp_admin *a, slp_str name);   /* NULL: it is not watched */
const slp_watched *slp_watch_each(const slp_admin *a, size_t *at);    /* NULL: no more */
void slp_watch_saw(slp_admin *a);                                     /* the rows were read anew */
uint64_t slp_watch_wait_us(const slp_admin *a, const slp_watched *w); /* until it is to be read again */
void slp_watch_free(slp_admin *a);
uint64_t slp_watch_back_us(
    slp_admin *a); /* when this process last came back from an absence; 0: there was none */

/* ---- leases that are to be changed: edits.c ----------------------------------------------------- */
/* Room for n of them. SLP_ENOMEM. force: a living owner is evicted, if it has a row, and never waited for. */
int slp_edits_begin(slp_admin *a, size_t n, int force);
void slp_edits_add(slp_admin *a, slp_str shard, const slp_position *to); /* to NULL: its position stays */
void slp_edits_round(slp_admin *a);    /* the rows were just read: goes on with what is not done */
void slp_edits_evict(slp_admin *a);    /* EVICTING begins */
void slp_edits_write(slp_admin *a);    /* WRITING begins */
void slp_edits_stop(slp_admin *a);     /* the result is what was done until now */
void slp_edits_conclude(slp_admin *a); /* tells what became of each, beside a->fail */
/* The part of a result beside its leases. NULL: no memory, and the command has finished with that. */
sloop_admin_result_t *slp_edits_result(slp_admin *a);
/* Answers that there was nothing to do for this lease, and finishes. */
void slp_edits_nothing(slp_admin *a, slp_str shard, sloop_change_kind_t kind);

#endif

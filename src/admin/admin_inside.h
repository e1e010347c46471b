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

#define SLP_ADMIN_WRITES 16   /* writes that are under way at once */
#define SLP_ADMIN_CHILDREN 64 /* children of one shard that are named in its row */

/* ---- the stream's listing, copied --------------------------------------------------------------- */
typedef struct slp_admin_shard {
  slp_str id, parents[2], hash_start, hash_end, seq_start;
  /* 1: the listing gives the shard no last number. */
  uint8_t open;
  /* set by reset.c. 1: the shard has children; not all of its children have leases */
  uint8_t has_children, lacks_leases;
} slp_admin_shard;

/* ---- the course of a command: admin.c -----------------------------------------------------------------
 *
 *   DESCRIBING -> PREPARING -> LISTING -> READING -> ANSWERED
 *   (the stream)  (the table)  (shards)   |  ^  ^
 *                      |                  |  |  |
 *                      +- LEASES: -> READING |  |   every state may end the command
 *                                         |  |  |
 *                                         +- EVICTING           owners that are in the way
 *                                         +--- WRITING -> NOTIFYING -> ANSWERED
 *
 * LEASES goes through LISTING too if the rows do not name their stream.
 * RESET to a sequence number: the first READING -> LOCATING; if the service knows the number, the command
 * goes on as from READING.
 * LAG: READING -> MEASURING -> ANSWERED.
 *
 * After each READING the task decides from the rows what comes next. So when a write was refused, or its
 * answer was lost, its outcome is found out by reading the rows again. */
typedef enum slp_admin_state {
  SLP_ADMIN_DESCRIBING,
  SLP_ADMIN_PREPARING,
  SLP_ADMIN_LISTING,
  SLP_ADMIN_READING,   /* or waiting to read once more */
  SLP_ADMIN_LOCATING,  /* asks the service whether it knows the position */
  SLP_ADMIN_MEASURING, /* reads shards at their positions */
  /* Marks the rows of workers as evicted. */
  SLP_ADMIN_EVICTING,
  SLP_ADMIN_WRITING,
  SLP_ADMIN_NOTIFYING, /* tells the leader that rows have changed */
  SLP_ADMIN_ANSWERED,
  SLP_ADMIN_STATES
} slp_admin_state;

typedef struct slp_admin_slot { /* one write that may be under way: write.c */
  slp_admin *admin;
  slp_write op;
  size_t about; /* a number that belongs to the sender of the write */
  void (*on_done)(struct slp_admin_slot *slot);
} slp_admin_slot;

typedef struct slp_watch slp_watch;   /* watch.c */
typedef struct slp_edits slp_edits;   /* edits.c */
typedef struct slp_victim slp_victim; /* release.c */
typedef struct slp_import slp_import; /* import.c */
typedef struct slp_lags slp_lags;     /* lag.c */

typedef struct slp_admin_load { /* what workers of KCL 3 last told of their load: the newest such row */
  int64_t wall_s;               /* the time in that row, by the worker's clock; 0: there is no such row */
  slp_str worker;               /* its text is in `keep` */
  uint64_t seen_us;             /* when the row was first read */
  /* rounds of reading since the first such row, at most 2; a newer row after round 1 proves a living
   * worker */
  uint8_t passes;
  /* 1: a newer row came while the command watched. */
  uint8_t alive;
} slp_admin_load;

struct slp_admin {
  slp_mem *mem; /* held */
  slp_admin_opts o;
  char *name; /* owned; NULL: no name was given */
  slp_store *store;
  slp_schema *schema;
  slp_store_rows keep; /* memory for all that lives as long as the command */
  char me[40];         /* the name that this command writes into rows, in the form of an instance */
  slp_str signature;   /* the same text, for the writes */

  slp_admin_state state;
  uint32_t tries; /* of the current state's request */
  slp_timer timer;
  slp_event done_ev;
  slp_fail fail;
  slp_admin_why why; /* the details of `fail`; its texts are in `keep` */
  slp_admin_answer answer;
  uint8_t starved; /* 1: something could not be kept for lack of memory */

  slp_src_describe describe;
  slp_src_list list;
  slp_store_prepare prepare;
  slp_store_list rows;
  slp_src_locate locate;
  uint8_t located; /* 1: the service knows the position */
  slp_snapshot snapshot;
  uint64_t trouble_us; /* when a read of the rows last failed; 0: none did */
  size_t throttled_n;  /* rows that had come when a list was throttled last */
  /* whether this process was stopped, as a worker notes it: silence before that proves nothing */
  slp_absence absence;
  slp_timer absence_timer; /* for the next note; runs as long as the command */
  slp_admin_shard *shards; /* sorted by id; in `keep` */
  size_t shards_n;
  int64_t wall_ms;     /* when the rows were read */
  slp_svctime service; /* the clock of the stream's service */

  slp_watch *watch;   /* the watched owners, in `keep`; NULL: nobody is watched */
  uint8_t looks;      /* EXPLAIN: how often the rows were read again because of a worker that seems silent */
  slp_edits *edits;   /* the leases to be changed, in `keep`; NULL: there are none yet */
  slp_victim *victim; /* the worker to be evicted by its name, in `keep`; NULL: there is none yet */
  slp_placed_list placed; /* SURVEY, IMPORT: in `keep`, or the caller's */
  slp_import *import;     /* in `keep`; NULL: the rows were not compared with the positions yet */
  slp_lags *lags;         /* owned; NULL: no shard is to be read yet */
  const char *unlisted;   /* LAG: why there is no listing, in `keep`; NULL: there is one */
  /* a text that tells which rows are passed over because they are another stream's; in `keep` */
  slp_str passed;
  uint8_t changing; /* 1: a row says that the rules of the fleet are changing, or does so in unknown words */
  /* The text of that row. */
  char changing_word[64];
  slp_admin_load load;
  uint8_t side;          /* which table beside the leases is read next; 0: the one of the leases */
  uint32_t part;         /* which partition key is read next, if the leases are spread over several */
  slp_store_rows parts;  /* the rows of the keys before `part` */
  slp_buf part_key;      /* the text of the key that is read now */
  slp_store_rows beside; /* rows of the tables beside the leases that belong to the rows which are read now */
  uint64_t worker_ns;    /* the newest time in the rows of workers that have a row of their own */
  slp_str worker;        /* the worker of that row; in `keep` */
  uint8_t worker_lives;  /* 1: a newer time came while the command watched */
  uint8_t no_table;      /* IMPORT: 1: the table does not exist yet */
  uint8_t may_have_changed; /* 1: a write of a lease or worker is done, or its answer was lost */
  uint8_t changed;          /* 1: such a write is known to be done */
  slp_writes writes;
  slp_admin_slot slots[SLP_ADMIN_WRITES];
  /* Slots with a write under way. */
  size_t busy_n;
};

void slp_admin_move(slp_admin *a, slp_admin_state to);
void slp_admin_read_in(slp_admin *a, uint64_t us); /* enters READING after `us` */
/* Ends the command: nothing follows but the answer. */
void slp_admin_finish(slp_admin *a);
/* Ends the command with this reason. `name`: the shard or worker it is about, or "". */
void slp_admin_failed(slp_admin *a, slp_admin_reason reason, slp_class class, int code, slp_str name);
/* Notes a failure without ending the command. Only the first one counts. */
void slp_admin_note(slp_admin *a, slp_admin_reason reason, slp_class class, int code);
void slp_admin_no_memory(slp_admin *a);
/* NULL: the stream does not list the shard. */
const slp_admin_shard *slp_admin_listed(const slp_admin *a, slp_str id);
/* Returns zeroed memory that lives as long as the command; a copy of `s`. NULL: no memory. `starved` is then
 * set, and the answer tells it. */
void *slp_admin_room(slp_admin *a, size_t bytes);
slp_str slp_admin_keep(slp_admin *a, slp_str s);

/* Decide whether rows belong to another stream: form.c. 1: they do, and the command has failed.
 *
 * The first one runs before the snapshot is made. It decides by which form of names the stream's own rows are
 * found. */
int slp_admin_decides_form(slp_admin *a);
int slp_admin_is_other_streams(slp_admin *a);

/* The steps of the tasks. Each gets the rows that were just read, and moves the command on or finishes it. */
void slp_admin_leases(slp_admin *a);
void slp_admin_explain(slp_admin *a);
void slp_admin_release(slp_admin *a);
void slp_admin_reset(slp_admin *a);
void slp_admin_survey(slp_admin *a);
void slp_admin_import(slp_admin *a);
void slp_import_write(slp_admin *a); /* starts WRITING for an import */
void slp_import_count(const slp_admin *a, slp_admin_why *ret);
void slp_admin_evict_victim(slp_admin *a); /* release.c: starts EVICTING for a worker that was named */
void slp_admin_tell_victim(slp_admin *a);  /* release.c: makes the answer that it is evicted */
/* release.c: the same, and ends the command: the eviction is done, what was to follow has failed */
void slp_admin_tell_eviction(slp_admin *a);

/* 1: the rows are only shown, whatever they say. 0: something is done because of them. */
static inline int slp_admin_shows(const slp_admin *a) {
  return a->o.task == SLP_ADMIN_LEASES || a->o.task == SLP_ADMIN_LAG;
}

/* ---- how far behind shards are: lag.c ----------------------------------------------------------------- */
typedef struct slp_lag_entry { /* A shard that is read at its position. */
  slp_str shard;
  slp_position position;
  sloop_lag_t lag;
  int64_t behind_ms, at_ms; /* lag; -1: not known. When it was read; -1: it was not */
  const char *error;        /* in `keep`; "": none */
  uint8_t leased;           /* 1: the shard has a row */
  uint8_t may_live;         /* 1: its owner may live, as far as the rows show */
} slp_lag_entry;
void slp_lags_find(slp_admin *a);    /* chooses the shards, and goes on to MEASURING */
void slp_lags_measure(slp_admin *a); /* starts MEASURING */
void slp_lags_free(slp_admin *a);
#define SLP_LAGS_WORDS 404
/* writes the error's name and its message */
void slp_lags_words(const slp_fail *f, char out[SLP_LAGS_WORDS]);
/* Returns the i-th shard: those with a lease come first, by name, then those without. NULL: no more. */
const slp_lag_entry *slp_lags_at(const slp_admin *a, size_t i);

/* starts LOCATING; slp_admin_reset is called again after it */
void slp_admin_locate(slp_admin *a, slp_str shard);

/* ---- copies of positions ------------------------------------------------------------------------------- */
/* quiet.c. 1: nobody works with these rows. 0: the command waits, or has failed because of a living
 * worker. */
int slp_admin_is_quiet(slp_admin *a);
void slp_admin_see_rules(slp_admin *a, const slp_store_rows *rows); /* survey.c */
/* placed.c: both fill a->placed. */
void slp_placed_of_rows(slp_admin *a);
int slp_placed_of_token(slp_admin *a, slp_str text); /* SLP_ENOMEM; another error: a->fail is set */
void slp_placed_fill(slp_admin *a); /* adds the shards that are listed, but not named by rows or token */
/* NULL: the list has no such shard */
slp_placed *slp_placed_find(const slp_placed_list *list, slp_str shard);
/* the time now by the stream's clock; errs only into the past */
int64_t slp_admin_service_ms(const slp_admin *a);

/* ---- owners, as far as the rows show: owner.c --------------------------------------------------- */
/* 1: workers have rows in a table beside the leases: these say who lives, and only the leases what he has. */
static inline int slp_admin_has_clients(const slp_admin *a) {
  return a->schema->strategy && a->schema->strategy->clients;
}
typedef enum slp_owner_life {
  SLP_OWNER_NONE,   /* the lease has no owner */
  SLP_OWNER_ALIVE,  /* the owner's row is recent, as far as clocks can be compared */
  SLP_OWNER_SILENT, /* the owner is not evicted, but its row is old */
  /* the owner can't renew any more: it is evicted, it left, or its worker lives on as another incarnation */
  SLP_OWNER_EVICTED,
  SLP_OWNER_MISSING, /* the owner has no row */
  SLP_OWNER_UNKNOWN  /* there are no rows of workers that could tell */
} slp_owner_life;
/* `name`: a worker's id, or an instance */
const slp_worker_row *slp_admin_worker_of(const slp_snapshot *s, slp_str name);
int slp_admin_is_instance(const slp_worker_row *w, slp_str instance);
/* Judges from one read only, by comparing the stamp in the row with our clock. */
int slp_admin_worker_silent(const slp_admin *a, const slp_worker_row *w);
/* Judges from one read. A worker with old stamps is alive if its counter was seen to change. */
slp_owner_life slp_admin_owner_life(const slp_admin *a, slp_str owner);
/* The same for the owner of a lease. If the lease's row says until when it is held, that counts too. */
slp_owner_life slp_admin_lease_life(const slp_admin *a, const slp_lease_row *l);

/* ---- structs of the public header: told.c ------------------------------------------------------------
 * Texts are in `keep`. Without memory they are "", never NULL. */
const char *slp_admin_text(slp_admin *a, slp_str s);
sloop_position_t slp_admin_position(slp_admin *a, slp_str shard, const slp_position *p);
const char *slp_admin_instance(slp_admin *a, const slp_worker_row *w);
sloop_lease_t slp_admin_lease(slp_admin *a, const slp_lease_row *l);
sloop_lease_state_t slp_admin_lease_state(slp_admin *a, const slp_lease_row *l);
sloop_worker_t slp_admin_worker(slp_admin *a, const slp_worker_row *w);

/* ---- writes: write.c ---------------------------------------------------------------------------- */
void slp_admin_writes_init(slp_admin *a);
void slp_admin_writes_open(slp_admin *a); /* after the store and the schema exist */
void slp_admin_writes_stop(slp_admin *a);
void slp_admin_writes_free(slp_admin *a);
int slp_admin_has(const slp_admin *a, slp_operation_kind kind); /* 1: this schema can express the operation */
/* Sends a write; on_done comes later. SLP_ENOBUFS: all slots are in use. SLP_ENOMEM. SLP_EINVAL: a row can't
 * hold it. */
int slp_admin_write(slp_admin *a, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot));
/* Returns 1 if the write was given up for a reason that another read of the rows would not remove. That
 * reason is now the command's failure. */
int slp_admin_write_is_final(slp_admin_slot *slot);
/* Returns 1 if the write may be done although no answer told so. A try that was refused may have followed one
 * that took effect. */
int slp_admin_write_in_doubt(const slp_write *op);

/* ---- owners, watched until they are proven alive or dead: watch.c ------------------------------- */
typedef struct slp_watched {
  slp_str name; /* an instance; if only leases prove life, a shard. In `keep` */
  /* How long it has not changed. */
  slp_silence silence;
  uint64_t lease_us;
  uint8_t evicted; /* it can't renew any more */
  uint8_t alive;   /* its sign of life has changed */
  uint8_t dead;    /* it was silent for a whole lease */
} slp_watched;
/* Start to watch this worker, or the owner of this lease. NULL: no memory. */
slp_watched *slp_watch_add_worker(slp_admin *a, const slp_worker_row *w);
slp_watched *slp_watch_add(slp_admin *a, const slp_lease_row *l);
const slp_watched *slp_watch_get(const slp_admin *a, slp_str name); /* NULL: it is not watched */
const slp_watched *slp_watch_each(const slp_admin *a, size_t *at);  /* NULL: no more */
void slp_watch_saw(slp_admin *a); /* compares all watched owners with the rows that were just read */
/* how long to wait before the rows are read again for this owner */
uint64_t slp_watch_wait_us(const slp_admin *a, const slp_watched *w);
void slp_watch_free(slp_admin *a);
/* when this process last came back after it had been stopped; 0: it was not */
uint64_t slp_watch_back_us(slp_admin *a);

/* ---- leases that are to be changed: edits.c ----------------------------------------------------- */
/* Makes room for n leases. SLP_ENOMEM. `force`: a living owner is evicted, if it has a row, and not waited
 * for. */
int slp_edits_begin(slp_admin *a, size_t n, int force);
void slp_edits_add(slp_admin *a, slp_str shard, const slp_position *to); /* `to` NULL: the position stays */
void slp_edits_round(slp_admin *a); /* after the rows were read: goes on with the leases that are not done */
void slp_edits_evict(slp_admin *a); /* starts EVICTING */
void slp_edits_write(slp_admin *a); /* starts WRITING */
void slp_edits_stop(slp_admin *a);  /* makes the result of what was done until now */
void slp_edits_conclude(slp_admin *a); /* tells what became of each lease, beside a->fail */
/* Makes a result without leases. NULL: no memory; the command has then finished. */
sloop_admin_result_t *slp_edits_result(slp_admin *a);
/* Answers that nothing had to be done for this lease, and finishes. */
void slp_edits_nothing(slp_admin *a, slp_str shard, sloop_change_kind_t kind);

#endif

/* command_inside.h - what the files of one command share.
 *
 * Memory "in `keep`" lives as long as the command. A "layout" is how the rows of a lease table are written;
 * slp_schema implements it. "Side tables" are the tables that some layouts have in addition to the table of
 * leases. The "rules of the fleet" say whether KCL's workers take leases for themselves or get them from a
 * leader (guest/mode.h). "Clients" are the workers of kinsumer. */
#ifndef SLP_ADMIN_COMMAND_INSIDE_H
#define SLP_ADMIN_COMMAND_INSIDE_H

#include "admin/command.h"
#include "core/svctime.h"
#include "lease/absence.h"
#include "lease/silence.h"
#include "lease/snapshot.h"
#include "lease/strategy.h"
#include "lease/write.h"

#define SLP_ADMIN_WRITES 16   /* the most writes that may be under way at the same time */
#define SLP_ADMIN_CHILDREN 64 /* the most children of one shard that the shard's row names */

/* ---- the stream's listing, copied --------------------------------------------------------------- */
typedef struct slp_admin_shard {
  slp_str id, parents[2], hash_start, hash_end, seq_start;
  /* 1: the shard takes records: the listing gives it no last sequence number. */
  uint8_t open;
  /* Set by reset.c. has_children 1: the shard has children. lacks_leases 1: one of the children has no
   * lease. */
  uint8_t has_children, lacks_leases;
} slp_admin_shard;

/* ---- the course of a command: command.c -----------------------------------------------------------------
 *
 *   DESCRIBING -> PREPARING -> LISTING -> READING -> ANSWERED
 *   (the stream)  (the table)  (shards)   |  ^  ^
 *                      |                  |  |  |
 *                      +- LEASES: -> READING |  |   every state may end the command
 *                                         |  |  |
 *                                         +- EVICTING           owners that are in the way
 *                                         +--- WRITING -> NOTIFYING -> ANSWERED
 *
 * LEASES goes through LISTING only if the rows do not say which stream they belong to.
 * RESET to a sequence number goes from the first READING to LOCATING. If the service knows the number, RESET
 * continues as after READING.
 * LAG goes READING -> MEASURING -> ANSWERED.
 *
 * After each READING the task decides from the rows what comes next. If a write was refused, or got no
 * answer, the rows of the next READING show whether it took effect. */
typedef enum slp_admin_state {
  SLP_ADMIN_DESCRIBING,
  SLP_ADMIN_PREPARING,
  SLP_ADMIN_LISTING,
  SLP_ADMIN_READING,   /* reads the rows, or waits before it reads them again */
  SLP_ADMIN_LOCATING,  /* asks the service whether it knows the position */
  SLP_ADMIN_MEASURING, /* LAG: reads shards at their positions */
  /* Marks the rows of workers as evicted. */
  SLP_ADMIN_EVICTING,
  SLP_ADMIN_WRITING,
  SLP_ADMIN_NOTIFYING, /* tells the leader that rows have changed */
  SLP_ADMIN_ANSWERED,
  SLP_ADMIN_STATES
} slp_admin_state;

typedef struct slp_admin_slot { /* room for one write: row_writes.c */
  slp_admin *admin;
  slp_write op;
  size_t about; /* a number for the file that sends the write, such as the index of a target */
  void (*on_done)(struct slp_admin_slot *slot);
} slp_admin_slot;

typedef struct slp_watch slp_watch;   /* owner_watch.c */
typedef struct slp_edits slp_edits;   /* edits.c */
typedef struct slp_victim slp_victim; /* release_lease.c */
typedef struct slp_import slp_import; /* create_rows.c */
typedef struct slp_lags slp_lags;     /* read_lag.c */

typedef struct slp_admin_load { /* the newest row in which a worker of KCL 3 reported its load */
  int64_t wall_s;   /* the time in the newest row, by that worker's clock; 0: there is no such row */
  slp_str worker;   /* the worker that wrote the newest row; in `keep` */
  uint64_t seen_us; /* when this command first read the newest row */
  /* how often the rows were read since a load row was first seen, at most 2; a newer load row proves a living
   * worker only if `passes` is not 0 */
  uint8_t passes;
  /* 1: a newer load row came while the command watched. */
  uint8_t alive;
} slp_admin_load;

struct slp_admin {
  slp_mem *mem; /* a reference is held */
  slp_admin_opts o;
  char *name; /* owned; NULL: no name was given */
  slp_store *store;
  slp_schema *schema;
  slp_store_rows keep; /* memory that lives as long as the command */
  char me[40]; /* this command's name in the rows that it writes; it has the form of a worker's instance */
  slp_str signature; /* the same text as `me`, for `writes` */

  slp_admin_state state;
  uint32_t tries; /* failed tries of the current state's request */
  slp_timer timer;
  slp_event done_ev;
  slp_fail fail;
  slp_admin_why why; /* the details of `fail`; the texts are in `keep` */
  slp_admin_answer answer;
  uint8_t starved; /* 1: there was no memory for a part of the answer */

  slp_src_describe describe;
  slp_src_list list;
  slp_store_prepare prepare;
  slp_store_list rows;
  slp_src_locate locate;
  uint8_t located; /* 1: the service knows the position `o.to` */
  slp_snapshot snapshot;
  uint64_t trouble_us; /* when a read of the rows last failed; 0: no read failed */
  size_t throttled_n;  /* how many rows had come when the list of rows was last throttled */
  /* knows when this process was stopped; silence from before that proves nothing */
  slp_absence absence;
  slp_timer absence_timer; /* when `absence` must be updated next; runs as long as the command */
  slp_admin_shard *shards; /* sorted by id; in `keep` */
  size_t shards_n;
  int64_t wall_ms;     /* the local time when the rows were read */
  slp_svctime service; /* the clock of the stream's service */

  slp_watch *watch;       /* the watched owners, in `keep`; NULL: no owner is watched */
  uint8_t looks;          /* EXPLAIN: how often the rows were read again because a worker seems silent */
  slp_edits *edits;       /* the leases to be changed, in `keep`; NULL: none yet */
  slp_victim *victim;     /* the worker to be evicted, which the operator named; in `keep`; NULL: none yet */
  slp_placed_list placed; /* SURVEY, IMPORT: the positions; in `keep`, or owned by the caller */
  slp_import *import;     /* in `keep`; NULL: the rows were not compared with the positions yet */
  slp_lags *lags;         /* LAG: the shards to be read; owned; NULL: not chosen yet */
  const char *unlisted; /* LAG: why there is no listing of the stream; in `keep`; NULL: there is a listing */
  /* a text that tells which rows are ignored because they belong to another stream; in `keep` */
  slp_str passed;
  uint8_t changing; /* 1: a row says that the fleet's rules are changing, or the row's words are unknown */
  /* The text of the row for which `changing` was set. */
  char changing_word[64];
  slp_admin_load load;
  uint8_t side;  /* which table is read next: 0: the table of leases; otherwise the number of a side table */
  uint32_t part; /* which partition key is read next, if the leases are spread over several keys */
  slp_store_rows parts;     /* the rows of the partition keys before `part` */
  slp_buf part_key;         /* the text of the partition key that is read now */
  slp_store_rows beside;    /* rows of the side tables; they are added to the rows of the lease table */
  uint64_t worker_ns;       /* the newest time in the rows of clients (slp_admin_has_clients) */
  slp_str worker;           /* the client that wrote worker_ns; in `keep` */
  uint8_t worker_lives;     /* 1: a client's row with a newer time came while the command watched */
  uint8_t no_table;         /* IMPORT: 1: the table does not exist yet */
  uint8_t may_have_changed; /* 1: a write to a lease's or worker's row is done, or got no answer */
  uint8_t changed;          /* 1: a write to a lease's or worker's row is known to be done */
  slp_writes writes;
  slp_admin_slot slots[SLP_ADMIN_WRITES];
  /* How many slots have a write under way. */
  size_t busy_n;
};

/* Changes the state, and runs the function of the new state at once. */
void slp_admin_move(slp_admin *a, slp_admin_state to);
void slp_admin_read_in(slp_admin *a, uint64_t us); /* enters READING after `us` */
/* Ends the command; only the answer is still to come. */
void slp_admin_finish(slp_admin *a);
/* Ends the command with this reason. `name`: the shard or worker that the reason is about, or "". */
void slp_admin_failed(slp_admin *a, slp_admin_reason reason, slp_class class, int code, slp_str name);
/* Records a failure without ending the command. If a failure is recorded already, does nothing. */
void slp_admin_note(slp_admin *a, slp_admin_reason reason, slp_class class, int code);
/* Ends the command with NO_MEMORY. */
void slp_admin_no_memory(slp_admin *a);
/* Returns the shard in the stream's listing. NULL: the stream does not list it. */
const slp_admin_shard *slp_admin_listed(const slp_admin *a, slp_str id);
/* slp_admin_room returns zeroed memory, and slp_admin_keep a copy of `s`. Both live as long as the command.
 * NULL: no memory; `starved` is then set, and the command will fail with NO_MEMORY. */
void *slp_admin_room(slp_admin *a, size_t bytes);
slp_str slp_admin_keep(slp_admin *a, slp_str s);

/* Decide whether the rows belong to another stream: layout_check.c. Both return 1 if the command has failed
 * for that reason.
 *
 * slp_admin_decides_form runs before the snapshot is made. It decides which form of names the rows of this
 * stream have. */
int slp_admin_decides_form(slp_admin *a);
int slp_admin_is_other_streams(slp_admin *a);

/* The steps of the tasks. Each step gets the rows that were just read, and changes the state or finishes the
 * command. */
void slp_admin_leases(slp_admin *a);
void slp_admin_explain(slp_admin *a);
void slp_admin_release(slp_admin *a);
void slp_admin_reset(slp_admin *a);
void slp_admin_survey(slp_admin *a);
void slp_admin_import(slp_admin *a);
void slp_import_write(slp_admin *a); /* starts WRITING for an import */
void slp_import_count(const slp_admin *a, slp_admin_why *ret);
void slp_admin_evict_victim(slp_admin *a); /* release_lease.c: starts EVICTING the worker that was named */
/* release_lease.c: sets the answer that says that the worker is evicted */
void slp_admin_tell_victim(slp_admin *a);
/* release_lease.c: sets the same answer, and ends the command. Used when the eviction is done, but a later
 * request failed */
void slp_admin_tell_eviction(slp_admin *a);

/* Returns 1 if the task only shows the rows, 0 if it acts on what they say. */
static inline int slp_admin_shows(const slp_admin *a) {
  return a->o.task == SLP_ADMIN_LEASES || a->o.task == SLP_ADMIN_LAG;
}

/* ---- how far behind shards are: read_lag.c
 * ----------------------------------------------------------------- */
typedef struct slp_lag_entry { /* a shard that the command reads at its position */
  slp_str shard;
  slp_position position;
  sloop_lag_t lag;
  /* how far the shard is behind, -1: not known; when the shard was read, -1: it was not read */
  int64_t behind_ms, at_ms;
  const char *error; /* in `keep`; "": no error */
  uint8_t leased;    /* 1: the shard has a lease */
  uint8_t may_live;  /* 1: the shard's owner may live, as far as the rows show */
} slp_lag_entry;
void slp_lags_find(slp_admin *a);    /* chooses the shards to read, and enters MEASURING */
void slp_lags_measure(slp_admin *a); /* starts MEASURING */
void slp_lags_free(slp_admin *a);
#define SLP_LAGS_WORDS 404
/* writes the name of AWS's error and its message */
void slp_lags_words(const slp_fail *f, char out[SLP_LAGS_WORDS]);
/* Returns the i-th shard. Shards with a lease come first, sorted by name, then shards without a lease. NULL:
 * there are no more. */
const slp_lag_entry *slp_lags_at(const slp_admin *a, size_t i);

/* starts LOCATING; when the service knows the position, slp_admin_reset is called again */
void slp_admin_locate(slp_admin *a, slp_str shard);

/* ---- copies of positions ------------------------------------------------------------------------------- */
/* live_workers.c. Returns 1 if no worker uses these rows. Returns 0 if the command must wait, or has failed
 * because a worker lives. */
int slp_admin_is_quiet(slp_admin *a);
/* read_positions.c: looks for the rows of KCL that tell the fleet's rules */
void slp_admin_see_rules(slp_admin *a, const slp_store_rows *rows);
/* positions.c: both functions fill a->placed. */
void slp_placed_of_rows(slp_admin *a);
int slp_placed_of_token(slp_admin *a, slp_str text); /* SLP_ENOMEM; after any other error a->fail is set */
/* adds the shards that are listed, but absent from the rows or the token */
void slp_placed_fill(slp_admin *a);
/* NULL: the shard is not in the list */
slp_placed *slp_placed_find(const slp_placed_list *list, slp_str shard);
/* the present time by the clock of the stream's service; errs only into the past */
int64_t slp_admin_service_ms(const slp_admin *a);

/* ---- owners, as far as the rows show: owner.c --------------------------------------------------- */
/* Returns 1 if workers have rows in a table of their own. Those rows show which workers live; the leases show
 * only what each worker owns. */
static inline int slp_admin_has_clients(const slp_admin *a) {
  return a->schema->strategy && a->schema->strategy->clients;
}
typedef enum slp_owner_life {
  SLP_OWNER_NONE,   /* the lease has no owner */
  SLP_OWNER_ALIVE,  /* the owner's row is recent, as far as clocks of different machines can be compared */
  SLP_OWNER_SILENT, /* the owner is not evicted, but its row is old */
  /* the owner can't renew: it is evicted, it has left, or its worker has a newer incarnation */
  SLP_OWNER_EVICTED,
  SLP_OWNER_MISSING, /* the owner has no row */
  SLP_OWNER_UNKNOWN  /* the layout has no rows of workers that could show it */
} slp_owner_life;
/* Finds the row of a worker. `name`: the worker's id, or an instance. */
const slp_worker_row *slp_admin_worker_of(const slp_snapshot *s, slp_str name);
/* Returns 1 if w is the row of this instance, and not of another incarnation of the same worker. */
int slp_admin_is_instance(const slp_worker_row *w, slp_str instance);
/* Judges from one read of the rows, by comparing the time in the worker's row with the local clock. */
int slp_admin_worker_silent(const slp_admin *a, const slp_worker_row *w);
/* Judges from one read of the rows. A worker with an old time is alive if its counter was seen to change. */
slp_owner_life slp_admin_owner_life(const slp_admin *a, slp_str owner);
/* Judges the owner of a lease, as slp_admin_owner_life does. If the lease's row says until when it is held,
 * and that time is over, returns SLP_OWNER_EVICTED. */
slp_owner_life slp_admin_lease_life(const slp_admin *a, const slp_lease_row *l);

/* ---- structs of the public header: public_rows.c
 * ------------------------------------------------------------ Texts are in `keep`. Without memory a text is
 * "", never NULL. */
const char *slp_admin_text(slp_admin *a, slp_str s);
sloop_position_t slp_admin_position(slp_admin *a, slp_str shard, const slp_position *p);
/* Returns ID.INCARNATION, or only the id if the layout has no incarnations. */
const char *slp_admin_instance(slp_admin *a, const slp_worker_row *w);
sloop_lease_t slp_admin_lease(slp_admin *a, const slp_lease_row *l);
sloop_lease_state_t slp_admin_lease_state(slp_admin *a, const slp_lease_row *l);
sloop_worker_t slp_admin_worker(slp_admin *a, const slp_worker_row *w);

/* ---- writes: row_writes.c ---------------------------------------------------------------------------- */
void slp_admin_writes_init(slp_admin *a);
void slp_admin_writes_open(slp_admin *a); /* call when the store and the schema exist */
void slp_admin_writes_stop(slp_admin *a);
void slp_admin_writes_free(slp_admin *a);
int slp_admin_has(const slp_admin *a, slp_operation_kind kind); /* 1: this schema can express the operation */
/* Sends a write; on_done comes later. Errors: SLP_ENOBUFS: all slots are in use. SLP_ENOMEM. SLP_EINVAL: a
 * row of this schema can't hold the operation. */
int slp_admin_write(slp_admin *a, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot));
/* Returns 1 if the write was given up for a reason that another read of the rows would not remove. The reason
 * then becomes the command's failure. */
int slp_admin_write_is_final(slp_admin_slot *slot);
/* Returns 1 if the write may have taken effect although no answer confirmed it. A refused try proves little
 * if an earlier try got no answer: the earlier try may have taken effect. */
int slp_admin_write_in_doubt(const slp_write *op);

/* ---- owners, watched until they are proven alive or dead: owner_watch.c ------------------------------- */
typedef struct slp_watched {
  slp_str name; /* an instance; or a shard, if only leases prove life. In `keep` */
  /* How long the sign of life has not changed. */
  slp_silence silence;
  uint64_t lease_us;
  uint8_t evicted; /* 1: the owner can't renew any more */
  uint8_t alive;   /* 1: the owner's sign of life has changed while it was watched */
  uint8_t dead;    /* 1: the owner was silent for the length of a lease */
} slp_watched;
/* Start to watch a worker, or the owner of a lease. Return NULL if there is no memory. */
slp_watched *slp_watch_add_worker(slp_admin *a, const slp_worker_row *w);
slp_watched *slp_watch_add(slp_admin *a, const slp_lease_row *l);
const slp_watched *slp_watch_get(const slp_admin *a, slp_str name); /* NULL: `name` is not watched */
/* iterates over all watched owners; NULL: there are no more */
const slp_watched *slp_watch_each(const slp_admin *a, size_t *at);
void slp_watch_saw(slp_admin *a); /* compares all watched owners with the rows that were just read */
/* returns how long to wait before the rows are read again to judge this owner */
uint64_t slp_watch_wait_us(const slp_admin *a, const slp_watched *w);
void slp_watch_free(slp_admin *a);
/* returns when this process last resumed after it had been stopped; 0: it was never stopped */
uint64_t slp_watch_back_us(slp_admin *a);

/* ---- leases that are to be changed: edits.c ----------------------------------------------------- */
/* Makes room for n leases. Returns SLP_ENOMEM if there is no memory. `force` 1: a living owner is evicted if
 * it has a row, instead of waiting until it is silent. */
int slp_edits_begin(slp_admin *a, size_t n, int force);
/* `to` NULL: the position does not change */
void slp_edits_add(slp_admin *a, slp_str shard, const slp_position *to);
/* after the rows were read: takes the next step for the leases that are not done */
void slp_edits_round(slp_admin *a);
void slp_edits_evict(slp_admin *a); /* starts EVICTING */
void slp_edits_write(slp_admin *a); /* starts WRITING */
void slp_edits_stop(slp_admin *a);  /* makes the result of a stopped command from what was done so far */
/* makes the result from what became of each lease, also if a->fail is set */
void slp_edits_conclude(slp_admin *a);
/* Makes a result without leases. NULL: there is no memory, and the command has finished. */
sloop_admin_result_t *slp_edits_result(slp_admin *a);
/* Answers that nothing had to be done for this lease, and finishes the command. */
void slp_edits_nothing(slp_admin *a, slp_str shard, sloop_change_kind_t kind);

#endif

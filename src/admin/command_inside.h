/* command_inside.h - what the files of one command share.
 *
 * A file calls files of its own floor and of lower floors only, and no circle of files call each other:
 *
 *   7  migrate.c        a survey, then an import, as one command
 *   6  command.c        what a command does in each state; chooses the task that decides after READING
 *   5  read_lag.c       the tasks
 *      explain.c
 *      release_lease.c
 *      drain_app.c
 *      pause_shard.c
 *      reset.c
 *      read_positions.c
 *      create_rows.c
 *   4  list_leases.c    the task LEASES, and how LAG ends
 *      lag_shards.c     what tasks do with the rows
 *      edits.c
 *      live_workers.c
 *      layout_check.c
 *   3  public_rows.c    structs of the public header
 *   2  owner.c          the life of an owner
 *      owner_watch.c
 *   1  worker_rows.c    single rows, the stream, positions
 *      stream_facts.c
 *      positions.c
 *   0  course.c         moves and ends the command, its memory
 *      row_writes.c     its writes
 *
 * Memory "in `keep`" lives as long as the command. A "layout" is how the rows of a lease table are written;
 * slp_schema implements it. "Side tables" are the tables that some layouts have in addition to the table of
 * leases. "Clients" are workers that have rows in a side table (slp_admin_has_clients). */
#ifndef SLP_ADMIN_COMMAND_INSIDE_H
#define SLP_ADMIN_COMMAND_INSIDE_H

#include "admin/command.h"
#include "admin/positions.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "core/position.h"
#include "core/source.h"
#include "core/svctime.h"
#include "host/host.h"
#include "lease/absence.h"
#include "lease/schema.h"
#include "lease/silence.h"
#include "lease/snapshot.h"
#include "lease/store.h"
#include "lease/strategy.h"
#include "lease/write.h"

#include <sloop.h>
#include <sloop_admin.h>

#define SLP_ADMIN_WRITES 16   /* at most this many writes are under way at the same time */
#define SLP_ADMIN_CHILDREN 64 /* most children that the row of one shard names */

/* ---- the stream's listing, copied --------------------------------------------------------------- */
typedef struct slp_admin_shard {
  slp_str id, parents[2], hash_start, hash_end, seq_start;
  /* 1: the shard is open for writes: the listing gives it no last sequence number */
  uint8_t open;
  /* Set by reset.c. has_children, 1: the shard has children. lacks_leases, 1: at least one of them has no
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
 * LEASES and DRAIN go through LISTING only if the rows do not say which stream they belong to.
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
  SLP_ADMIN_READING,   /* reads the rows, or waits before reading them again */
  SLP_ADMIN_LOCATING,  /* asks the service whether it knows the position `o.to` (slp_admin.located) */
  SLP_ADMIN_MEASURING, /* LAG: reads shards at their positions, to learn how far they are behind */
  /* marks the rows of workers as evicted */
  SLP_ADMIN_EVICTING,
  SLP_ADMIN_WRITING,
  SLP_ADMIN_NOTIFYING, /* notifies the leader that rows have changed */
  SLP_ADMIN_ANSWERED,
  SLP_ADMIN_STATES
} slp_admin_state;

typedef struct slp_admin_slot { /* one of the writes that may be under way at the same time (row_writes.c) */
  slp_admin *admin;
  slp_write op;
  /* a number that the sender of the write chooses, such as the index of the lease that is changed */
  size_t about;
  void (*on_done)(struct slp_admin_slot *slot);
} slp_admin_slot;

typedef struct slp_watch slp_watch;   /* owner_watch.c */
typedef struct slp_edits slp_edits;   /* edits.c */
typedef struct slp_victim slp_victim; /* release_lease.c */
typedef struct slp_import slp_import; /* create_rows.c */
typedef struct slp_drain slp_drain;   /* drain_app.c */
typedef struct slp_pause slp_pause;   /* pause_shard.c */
typedef struct slp_lags slp_lags;     /* read_lag.c */

/* In some layouts a worker writes a row besides its leases again and again, to show that it lives
 * (slp_row_hint.worker). This struct has what is known of the newest such row. */
typedef struct slp_admin_sign {
  /* the time in the row, in seconds since 1970 by its worker's clock; 0: there is no such row */
  int64_t wall_s;
  slp_str worker;   /* the worker that wrote the row; in `keep` */
  uint64_t seen_us; /* when this command first read the row */
  uint32_t dead_s;  /* the worker is dead if it has not written the row for this time */
  /* How many times the command has judged the workers since it first saw such a row, counted up to 2. Only if
   * this is not 0, a newer row proves that a worker lives. */
  uint8_t passes;
  /* 1: a newer row was written while the command watched, so a worker lives */
  uint8_t alive;
} slp_admin_sign;

typedef struct slp_lag_entry { /* one shard, which the command reads at its checkpoint to find its lag */
  slp_str shard;
  slp_position position;
  sloop_lag_t lag;
  /* behind_ms: how far the shard is behind its tip; -1: not known. at_ms: when it was read; -1: never. */
  int64_t behind_ms, at_ms;
  const char *error; /* why the shard could not be read, in `keep`; "": no error */
  uint8_t leased;    /* 1: the shard has a lease */
  uint8_t may_live;  /* 1: the shard's owner may live, as far as the rows show */
} slp_lag_entry;

typedef struct slp_lag_list {
  slp_lag_entry *all; /* shards with a lease, sorted by name, then shards without a lease; in `keep` */
  size_t n;
} slp_lag_list;

struct slp_admin {
  slp_mem *mem; /* a reference is held */
  slp_admin_opts o;
  char *name; /* owned; the name that the operator gave; NULL: none */
  slp_store *store;
  slp_schema *schema;
  slp_store_rows keep; /* memory that is freed with the command */
  /* The name under which this command writes rows. It has the form of a worker's instance,
   * "id.incarnation". */
  char me[40];
  slp_str signature; /* the same text as `me`; the member `name` of `writes` points to it */

  slp_admin_state state;
  void (*const *begin)(slp_admin *a); /* what each state does: the table in command.c */
  uint32_t tries;                     /* how many tries of the current state's request have failed */
  slp_timer timer;
  slp_event done_ev;
  slp_fail fail;
  slp_admin_why why; /* the details of `fail`, for the message to the operator; its texts are in `keep` */
  slp_admin_answer answer;
  uint8_t starved; /* 1: there was no memory for a part of the answer */

  slp_src_describe describe;
  slp_src_list list;
  slp_store_prepare prepare;
  slp_store_list rows;
  slp_src_locate locate;
  uint8_t located; /* 1: the service has confirmed that it knows the position `o.to` */
  slp_snapshot snapshot;
  uint64_t trouble_us; /* when a read of the rows last failed; 0: none failed */
  size_t throttled_n;  /* how many rows the list of rows had when it was last throttled */
  /* Notes when this process stood still (absence.h). The silence of an owner from before such a time does not
   * prove that the owner is dead. */
  slp_absence absence;
  /* runs when slp_absence_note must be called again; set as long as the command runs */
  slp_timer absence_timer;
  slp_admin_shard *shards; /* the shards of the stream's listing, sorted by id; in `keep` */
  size_t shards_n;
  int64_t wall_ms;     /* this machine's wall clock when the rows were read */
  slp_svctime service; /* what is known of the clock of the stream's service */

  slp_watch *watch; /* the watched owners; memory of `keep`; NULL: no owner is watched */
  uint8_t looks;    /* EXPLAIN: how often the rows were read again because a worker seemed silent */
  slp_edits *edits; /* the leases that are to be changed, in `keep`; NULL: not known yet */
  /* the worker that the operator wants evicted, in `keep`; NULL: none, or not found yet */
  slp_victim *victim;
  slp_placed_list placed; /* SURVEY, IMPORT: the positions; in `keep`, or owned by the caller */
  slp_import *import;     /* what IMPORT knows of each row, in `keep`; NULL: the rows were not compared yet */
  slp_drain *drain;       /* DRAIN: what was done so far, in `keep`; NULL: the rows were not read yet */
  slp_pause *pause;       /* PAUSE: what was done so far, in `keep`; NULL: the rows were not read yet */
  slp_lag_list lag;       /* LAG: the shards that are read at their positions */
  slp_lags *lags;         /* LAG: how the shards in `lag` are read; owned; NULL: they are not chosen yet */
  const char *unlisted; /* LAG: why there is no listing of the stream; in `keep`; NULL: there is a listing */
  /* a text that says which rows are ignored because they belong to other streams; in `keep` */
  slp_str passed;
  uint8_t changing; /* 1: a row says that the fleet is changing (slp_row_hint.unsettled) */
  /* with `changing`: the text in the row that says so */
  char changing_word[64];
  slp_admin_sign sign;
  uint8_t side;  /* which table is read next: 0: the table of leases; otherwise the number of a side table */
  uint32_t part; /* which partition key is read next, if leases are spread over several */
  slp_store_rows parts;  /* the rows under the partition keys before `part` */
  slp_buf part_key;      /* the text of the partition key that is being read */
  slp_store_rows beside; /* the rows of the side tables; they are added to those of the table of leases */
  uint64_t worker_ns;    /* the newest time in any client's row (slp_admin_has_clients), in ns since 1970 */
  slp_str worker;        /* the client whose row has that time; in `keep` */
  /* 1: a client's row with a newer time came while the command watched, so a client lives */
  uint8_t worker_lives;
  uint8_t no_table;         /* IMPORT: 1: the table does not exist yet */
  uint8_t may_have_changed; /* 1: a write to a lease's or worker's row was made, or got no answer */
  uint8_t changed;          /* 1: a write to a lease's or worker's row was surely made */
  slp_writes writes;
  slp_admin_slot slots[SLP_ADMIN_WRITES];
  /* how many slots have a write under way */
  size_t busy_n;
};

/* ---- moving and ending a command, and its memory: course.c ---------------------------------------- */
/* changes the state, and runs the function of the new state at once */
void slp_admin_move(slp_admin *a, slp_admin_state to);
void slp_admin_wait(slp_admin *a, uint64_t us);    /* runs the current state's function again after `us` */
void slp_admin_read_in(slp_admin *a, uint64_t us); /* changes the state to READING after `us` */
/* ends the command; on_done is called from an event */
void slp_admin_finish(slp_admin *a);
/* Ends the command with this reason. name: the shard or worker that the reason is about, or "". */
void slp_admin_failed(slp_admin *a, slp_admin_reason reason, slp_class class, int code, slp_str name);
/* Records a failure without ending the command. Does nothing if a failure was recorded before. */
void slp_admin_note(slp_admin *a, slp_admin_reason reason, slp_class class, int code);
/* ends the command, because there is no memory */
void slp_admin_no_memory(slp_admin *a);
/* slp_admin_room returns zeroed memory, slp_admin_keep a copy of `s`; both are freed with the command. NULL:
 * no memory; `starved` is then set, and the command will fail with NO_MEMORY. */
void *slp_admin_room(slp_admin *a, size_t bytes);
slp_str slp_admin_keep(slp_admin *a, slp_str s);
/* Returns a copy of `s` as a string. Without memory, or if `s` is empty, returns "". */
const char *slp_admin_text(slp_admin *a, slp_str s);

/* ---- what the command knows of the stream: stream_facts.c ------------------------------------------ */
/* Copies the shards of the answer a->list to a->shards, which lives as long as the command. Returns 0 or
 * SLP_ENOMEM. */
int slp_admin_keep_listing(slp_admin *a);
/* Returns the shard in the stream's listing; NULL: it is not listed. */
const slp_admin_shard *slp_admin_listed(const slp_admin *a, slp_str id);
/* Returns a time that is never later than the present time of the stream's service. If nothing is known of
 * that clock, returns the time of this machine when the rows were read. */
int64_t slp_admin_service_ms(const slp_admin *a);

/* Both functions (layout_check.c) look whether the rows belong to another stream, and return 1 if the command
 * has failed because they do. slp_admin_decides_form also decides in which form rows of this stream name the
 * stream. So it must be called before the snapshot is made. */
int slp_admin_decides_form(slp_admin *a);
int slp_admin_is_other_streams(slp_admin *a);

/* The next functions are the steps of the tasks. Each looks at the rows that were just read, and changes the
 * state or finishes the command. */
void slp_admin_leases(slp_admin *a);
void slp_admin_explain(slp_admin *a);
void slp_admin_release(slp_admin *a);
void slp_admin_reset(slp_admin *a);
void slp_admin_drain(slp_admin *a);
void slp_admin_pause(slp_admin *a);
void slp_pause_write(slp_admin *a); /* writes or removes the mark of a pause */
void slp_pause_evict(slp_admin *a); /* evicts the owner, which has been silent for too long */
void slp_drain_write(slp_admin *a); /* switches the hold of the application on or off (lease/hold.h) */
void slp_drain_evict(slp_admin *a); /* evicts the workers that have been silent for too long */
void slp_admin_survey(slp_admin *a);
void slp_admin_import(slp_admin *a);
void slp_import_write(slp_admin *a); /* begins to write the rows of an IMPORT */
void slp_import_count(const slp_admin *a, slp_admin_why *ret);
/* release_lease.c: begins to evict the worker that the operator named */
void slp_admin_evict_victim(slp_admin *a);
/* release_lease.c: sets the answer: the worker that the operator named is evicted */
void slp_admin_tell_victim(slp_admin *a);
/* release_lease.c: sets the same answer, notifies the leader, and ends the command. For an eviction that was
 * made before a later request failed. */
void slp_admin_tell_eviction(slp_admin *a);

/* Returns 1 if the task only shows the rows; 0 if it acts or answers on the basis of what they say. */
static inline int slp_admin_shows(const slp_admin *a) {
  return a->o.task == SLP_ADMIN_LEASES || a->o.task == SLP_ADMIN_LAG;
}

/* ---- how far behind shards are: read_lag.c
 * ----------------------------------------------------------------- */
void slp_lags_choose(slp_admin *a);  /* lag_shards.c: fills a->lag with the shards to read */
void slp_lags_find(slp_admin *a);    /* chooses the shards to read, and begins to read them */
void slp_lags_measure(slp_admin *a); /* starts MEASURING */
void slp_lags_free(slp_admin *a);
#define SLP_LAGS_WORDS 404
/* writes the name and the message of the AWS error into `out` */
void slp_lags_words(const slp_fail *f, char out[SLP_LAGS_WORDS]);

/* ---- copies of positions ------------------------------------------------------------------------------- */
/* In live_workers.c. Returns 1 if no worker uses these rows; 0 if the command must wait and read again, or
 * has failed because a worker lives. */
int slp_admin_is_quiet(slp_admin *a);
/* read_positions.c: remembers what rows besides the leases show of the fleet's workers (slp_schema.hint) */
void slp_admin_see_hints(slp_admin *a, const slp_store_rows *rows);
/* The next four functions are in positions.c. The first three fill a->placed. */
void slp_placed_of_rows(slp_admin *a);
/* returns 0, SLP_ENOMEM, or another error; a->fail is then set */
int slp_placed_of_token(slp_admin *a, slp_str text);
/* adds a position for each shard that the stream lists, but that is in neither the rows nor the token */
void slp_placed_fill(slp_admin *a);
/* returns NULL if the shard is not in the list */
slp_placed *slp_placed_find(const slp_placed_list *list, slp_str shard);

/* ---- the row of one worker: worker_rows.c ------------------------------------------------------- */
/* Returns 1 if workers have rows in a table of their own. Only those rows show which workers live; the leases
 * show only what each owns. */
static inline int slp_admin_has_clients(const slp_admin *a) {
  return a->schema->strategy && a->schema->strategy->clients;
}
typedef enum slp_owner_life {
  SLP_OWNER_NONE,   /* the lease has no owner */
  SLP_OWNER_ALIVE,  /* the owner's row is recent, as far as the clocks of two machines can be compared */
  SLP_OWNER_SILENT, /* the owner is not evicted, but its row is old */
  /* the owner can't renew its leases any more: it is evicted, it has left, or its id has a newer
   * incarnation */
  SLP_OWNER_EVICTED,
  SLP_OWNER_MISSING, /* the owner has no row */
  SLP_OWNER_UNKNOWN  /* the layout has no rows of workers, which could show whether the owner lives */
} slp_owner_life;
/* Finds the row of a worker. name: its id, or its instance ("id.incarnation"). */
const slp_worker_row *slp_admin_worker_of(const slp_snapshot *s, slp_str name);
/* Returns the row of the worker that leads; NULL: nobody leads, or the leader is gone. */
const slp_worker_row *slp_admin_leader(const slp_admin *a);
/* Returns 1 if w is the row of exactly this instance, and not of another incarnation of its worker. */
int slp_admin_is_instance(const slp_worker_row *w, slp_str instance);
/* Returns 1 if the time in the worker's row is too old, by this machine's clock. One read of the rows is
 * enough to call this. */
int slp_admin_worker_silent(const slp_admin *a, const slp_worker_row *w);
/* Judges a client by its row. Returns SLP_OWNER_ALIVE, SLP_OWNER_SILENT, or SLP_OWNER_MISSING. */
slp_owner_life slp_admin_client_life(const slp_admin *a, slp_str owner);
/* Returns "id.incarnation", or only the id if the layout has no incarnations. */
const char *slp_admin_instance(slp_admin *a, const slp_worker_row *w);

/* ---- owners, as far as the rows show: owner.c --------------------------------------------------- */
/* Judges the owner from one read of the rows. But if this command has seen the owner's sign of life change,
 * the owner lives, even if the time in its row is old. */
slp_owner_life slp_admin_owner_life(const slp_admin *a, slp_str owner);
/* Judges the owner of a lease as slp_admin_owner_life does. But if the lease's row says when the lease
 * expires, and that time has passed, returns SLP_OWNER_EVICTED. */
slp_owner_life slp_admin_lease_life(const slp_admin *a, const slp_lease_row *l);

/* ---- structs of the public header: public_rows.c
 * ------------------------------------------------------------ Texts are made by slp_admin_text. */
sloop_position_t slp_admin_position(slp_admin *a, slp_str shard, const slp_position *p);
sloop_lease_t slp_admin_lease(slp_admin *a, const slp_lease_row *l);
sloop_lease_state_t slp_admin_lease_state(slp_admin *a, const slp_lease_row *l);
sloop_worker_t slp_admin_worker(slp_admin *a, const slp_worker_row *w);

/* ---- writes: row_writes.c ---------------------------------------------------------------------------- */
void slp_admin_writes_init(slp_admin *a);
void slp_admin_writes_open(slp_admin *a); /* to be called when the store and the schema exist */
void slp_admin_writes_stop(slp_admin *a);
void slp_admin_writes_free(slp_admin *a);
/* returns 1 if this schema has the operation */
int slp_admin_has(const slp_admin *a, slp_operation_kind kind);
/* Sends a write; on_done is called later. Returns 0, SLP_ENOBUFS (all slots are in use), SLP_ENOMEM, or
 * SLP_EINVAL (a row of this schema can't hold what the operation writes). about: see slp_admin_slot.about. */
int slp_admin_write(slp_admin *a, slp_operation *i, size_t about, void (*on_done)(slp_admin_slot *slot));
/* Returns 1 if the write was given up because of a failure that lasts, so that another try would fail too.
 * Then this failure becomes the command's failure. */
int slp_admin_write_is_final(slp_admin_slot *slot);
/* Returns 1 if the write may have been made although no answer says so. A try that was refused does not prove
 * the contrary: an earlier try without an answer may have been made. */
int slp_admin_write_in_doubt(const slp_write *op);

/* ---- owners, watched until they are proven alive or dead: owner_watch.c ------------------------------- */
typedef struct slp_watched {
  slp_str name; /* an instance; if only leases prove life, a shard. In `keep` */
  /* for how long the sign of life has not changed */
  slp_silence silence;
  uint64_t lease_us;
  uint8_t evicted; /* 1: the owner can't renew any more, because it is evicted */
  uint8_t alive;   /* 1: the owner's sign of life has changed while it was watched, so it lives */
  uint8_t dead;    /* 1: the owner has been silent for the length of a lease, so it is dead */
} slp_watched;
/* The next two functions begin to watch an owner: a worker, or the owner of a lease. They return NULL if
 * there is no memory. */
slp_watched *slp_watch_add_worker(slp_admin *a, const slp_worker_row *w);
slp_watched *slp_watch_add(slp_admin *a, const slp_lease_row *l);
/* returns NULL if `name` is not watched */
const slp_watched *slp_watch_get(const slp_admin *a, slp_str name);
/* goes through all watched owners; *at must be 0 at first. NULL: there are no more */
const slp_watched *slp_watch_each(const slp_admin *a, size_t *at);
void slp_watch_saw(slp_admin *a); /* compares all watched owners with the rows that were just read */
/* returns after what time the rows must be read again to judge this owner */
uint64_t slp_watch_wait_us(const slp_admin *a, const slp_watched *w);
void slp_watch_free(slp_admin *a);
/* returns when this process last continued after it stood still (absence.h); 0: it never stood still */
uint64_t slp_watch_back_us(slp_admin *a);

/* ---- leases that are to be changed: edits.c ----------------------------------------------------- */
/* Makes room for n leases. Returns 0 or SLP_ENOMEM. force, 1: a living owner that has a row is evicted; 0:
 * the command waits until the owner is silent for long enough. */
int slp_edits_begin(slp_admin *a, size_t n, int force);
/* adds a lease to be changed; `to` is its new position, NULL: the position does not change */
void slp_edits_add(slp_admin *a, slp_str shard, const slp_position *to);
/* To be called when the rows were read: does the next step for each lease that is not done. */
void slp_edits_round(slp_admin *a);
/* begins EVICTING: evicts the owners that keep leases from being changed */
void slp_edits_evict(slp_admin *a);
void slp_edits_write(slp_admin *a); /* starts WRITING */
void slp_edits_stop(slp_admin *a);  /* makes the result of a command that was stopped */
/* makes the result from what became of each lease, even if a->fail is set */
void slp_edits_conclude(slp_admin *a);
/* Makes a result without leases. NULL: no memory; the command has then finished. */
sloop_admin_result_t *slp_edits_result(slp_admin *a);
/* sets the answer that nothing had to be done for this lease, and finishes the command */
void slp_edits_nothing(slp_admin *a, slp_str shard, sloop_change_kind_t kind);

#endif

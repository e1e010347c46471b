/* fleet_inside.h - what the files of the fleet share. */
#ifndef SLP_LEASE_FLEET_INSIDE_H
#define SLP_LEASE_FLEET_INSIDE_H

#include "base/map.h"
#include "lease/fleet.h"
#include "lease/snapshot.h"

#define SLP_INSTANCE_MAX (SLP_WORKER_ID_MAX + 1 + SLP_INCARNATION_N)
#define SLP_POLL_KEYS 100
#define SLP_NEVER UINT64_MAX

/* ---- text of bounded length that belongs to its holder ----------------------------------------- */
typedef struct slp_name_text {
  char p[SLP_INSTANCE_MAX];
  uint8_t n;
} slp_instance; /* "id.boot"; n 0: nobody */
static inline slp_str slp_instance_str(const slp_instance *i) { return (slp_str){i->n ? i->p : NULL, i->n}; }
/* What is no instance (too long) becomes nobody's: no row will ever prove it alive. */
void slp_instance_set(slp_instance *i, slp_str s);

/* ---- one write, sent until its answer is known: fleet_op.c ------------------------------------- */
typedef enum slp_outcome {
  SLP_OUTCOME_DONE,      /* it is in, by whichever copy; parsed: the row after it, where the store tells */
  SLP_OUTCOME_UNCHANGED, /* refused, and the row is as it was before: not done, an old copy may still land */
  SLP_OUTCOME_REFUSED,   /* refused: parsed is the row that refused; OTHER: there is none */
  SLP_OUTCOME_GIVEN_UP   /* no answer in as many tries as were allowed */
} slp_outcome;

typedef struct slp_write {
  slp_list link; /* in fleet.ops while under way */
  slp_fleet *f;
  slp_operation i; /* its strings live until on_done */
  slp_store_write w;
  slp_store_get get; /* of the row, where a refusal does not show it */
  slp_row_request d;
  slp_row_key key;
  char op[48];
  uint64_t first_sent_us, sent_us; /* of the first copy; of the one that was answered */
  uint64_t again_us;               /* when it is sent again; SLP_NEVER: it is out */
  uint32_t tries, tries_max;       /* tries_max 0: until it is answered */
  uint8_t busy, built, reading, doubt;
  uint8_t row_read; /* parsed is from a read, not from the write's answer */
  slp_parsed_row row;
  slp_outcome end;
  void (*on_done)(struct slp_write *op);
  void *owner;
} slp_write;
void slp_write_init(slp_write *op, slp_fleet *f, void *owner);
/* op->i is filled in. on_done comes later, once. */
void slp_write_send(slp_write *op, void (*on_done)(slp_write *op));
void slp_write_stop(slp_write *op); /* silence; a copy may still land */
void slp_write_free(slp_write *op); /* stopped, and its memory given back */
void slp_writes_run(slp_timer *t);

/* What a refusal means, by the row as it is: fleet_settle.c. there 0: there is no row. Pure. */
slp_outcome slp_outcome_of(const slp_operation *i, int there, const slp_parsed_row *parsed);
slp_outcome slp_outcome_of_counted(const slp_operation *i, int there, const slp_parsed_row *parsed);

/* ---- the schema's two rules, as the engine asks them: fleet_rules.c --------------------------------
 * Everything that differs from schema to schema is behind these two; what they leave out, the states of a
 * lease above all, is the same for all. */
typedef struct slp_lease slp_lease;
typedef struct slp_seen_shard slp_seen_shard;

/* How a worker proves that it lives, and when another's lease is seen to be dead. */
typedef struct slp_liveness_rule {
  uint32_t urgent;   /* bits of verbs that its life hangs on: before all else, short tries, no politeness */
  uint32_t doubtful; /* bits of verbs whose failures make what was seen of others so */
  uint8_t frees_all; /* the last write of one that leaves frees every lease that has nothing to save */
  void (*begin)(slp_fleet *f); /* to live: slp_worker_begins, now or later */
  slp_outcome (*settle)(const slp_operation *i, int there, const slp_parsed_row *parsed);
  void (*beat)(slp_fleet *f); /* send what is due; beat_at_us says when that is the case next */
  /* The sending of the last good proof of life: of all that is open the oldest. SLP_NEVER: nothing is open.
   * Unless it is to be exact, it may be too early as long as it is not past the fence. */
  uint64_t (*good_us)(slp_fleet *f, int exact);
  int (*may_open)(slp_lease *l); /* this lease is proven as well; NULL: by the worker's own proof */
  void (*wrote)(slp_lease *l, const slp_write *op); /* a write that keeps its tenancy is in; may be NULL */
  void (*gone)(slp_lease *l);                       /* its tenancy is over; may be NULL */
  /* A lease's row in a complete list; and, later, whether its owner has shown no life for that many leases.
   * NULL: the dead are condemned by name. */
  void (*saw)(slp_fleet *f, slp_seen_shard *seen, const slp_lease_row *parsed, uint64_t done_us);
  int (*dead)(slp_fleet *f, const slp_seen_shard *seen, uint32_t leases);
} slp_liveness_rule;

/* Who decides which worker reads what. */
typedef struct slp_sharing_rule {
  uint8_t shun_leases;    /* who made no progress with a shard leaves it to others for so long, at least */
  uint8_t missing_blocks; /* a parent without a row is waited for as long as the stream lists it */
  void (*begin)(slp_fleet *f); /* the worker lives: what is there for it? */
  void (*suspended)(slp_fleet *f);
  void (*resumed)(slp_fleet *f);
  void (*watch)(slp_timer *t); /* of watch_timer */
  /* The row of a lease that it wants, or once did: take it, ask for it, wait, or forget it. */
  void (*met)(slp_lease *l, const slp_lease_row *parsed);
  void (*missed)(slp_lease *l);           /* its take was refused */
  void (*gone)(slp_lease *l);             /* its tenancy is over; may be NULL */
  void (*listed)(slp_fleet *f, int ok);   /* the stream's shards */
  void (*unknown_children)(slp_fleet *f); /* a shard ended and the stream did not tell of any */
  /* The lease of a child of what I have read to its end; 0: not yet. NULL: always. */
  int (*may_make)(slp_lease *l, const slp_shard_desc *kid);
  void (*part)(slp_fleet *f); /* it leaves and holds nothing any more: slp_worker_out, in time */
} slp_sharing_rule;
extern const slp_liveness_rule slp_liveness_by_worker, slp_liveness_by_counter;
extern const slp_sharing_rule slp_sharing_by_assignment, slp_sharing_by_steal;
/* SLP_EINVAL: rules that do not go together here. */
int slp_fleet_rules(const slp_schema *s, const slp_liveness_rule **ret_life,
                    const slp_sharing_rule **ret_sharing);

/* ---- other workers, observed: fleet_peer.c ----------------------------------------------------- */
typedef struct slp_member {
  char id[SLP_WORKER_ID_MAX + 1];
  uint8_t id_n;
  char incarnation[SLP_INCARNATION_N];
  uint8_t incarnation_n;
  uint8_t gone, leaving, missing, wanted; /* wanted: to be looked at */
  uint8_t strange; /* there is a row, which can't be read: whether it lives, nobody here can tell */
  char incarnation_took[SLP_INCARNATION_N];
  uint8_t takes;   /* as the leader last saw it */
  uint8_t in_list; /* the last list of all workers had it */
  uint8_t last_ok; /* the last read of its row succeeded */
  uint32_t reads;  /* of this value */
  uint64_t counter, changes;
  uint32_t lease_ms, held, weight;
  uint32_t given;            /* of a leaver's leases */
  uint64_t since_us;         /* this boot and counter were first read then, by my clock */
  uint64_t missing_since_us; /* by consistent reads */
  uint64_t gone_since_us;
  uint64_t exact_us;                            /* the last consistent read was sent then; 0: none */
  uint64_t used_us;                             /* it was last asked for, or heard of */
  slp_write op;                                 /* condemning */
  char evicting_incarnation[SLP_INCARNATION_N]; /* whom: another may have come under this id meanwhile */
} slp_member;
typedef enum slp_verdict { SLP_MEMBER_UNKNOWN, SLP_MEMBER_ALIVE, SLP_MEMBER_EVICTED } slp_verdict;
slp_member *slp_member_get(slp_fleet *f, slp_str id);  /* NULL: not known */
slp_member *slp_member_make(slp_fleet *f, slp_str id); /* known from here on; NULL: no memory, or no id */
/* Its row was read; w NULL: there is none. */
void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq);
/* What a write of mine showed of it. */
void slp_member_saw_write(slp_member *p, const slp_write *op);
void slp_member_unread(slp_member *p); /* a read that failed */
/* Its row is damaged, or of a newer version: named once, and neither missing nor ever condemned. */
void slp_member_saw_bad(slp_member *p, const slp_parsed_row *parsed);
/* Those that nothing has named for long; once a minute. */
void slp_members_forget(slp_fleet *f);
/* Whether that instance may still renew. named_us: when the image that names it was in. */
slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us);
int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us); /* PROTOCOL.md, "Eviction" */
/* When that will be, if nothing is heard until then; SLP_NEVER: not to come. */
uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us);
void slp_member_evict(slp_fleet *f, slp_member *p);
void slp_member_instance(const slp_member *p, slp_instance *ret);

/* ---- when something is to be done about a lease: poll.c (the lease itself is in lease.h) ------- */
void slp_lease_touch(slp_lease *l);                /* it is stepped soon */
void slp_lease_poll(slp_lease *l, uint64_t at_us); /* its row is read then, or before */
int slp_lease_seen(slp_fleet *f, slp_str shard);   /* an image said that there was a row of it */
void slp_fleet_list(slp_fleet *f);
int slp_fleet_listed_has(const slp_fleet *f, slp_str shard);
void slp_polls_run(slp_timer *t); /* fleet_look.c */
void slp_poll_soon(slp_fleet *f, uint64_t at_us);

/* ---- reads that fail: fleet_reads.c ------------------------------------------------------------- */
typedef enum slp_read_of {
  SLP_READ_LEASES,
  SLP_READ_WORKERS,
  SLP_READ_LEADER,
  SLP_READ_ASSIGNMENT,
  SLP_READ_SNAPSHOT,
  SLP_READ_MINE, /* my own row */
  SLP_READS_N
} slp_read_of;
/* 1: it came. 0: it did not; when that lasts it is told of. */
int slp_read_came(slp_fleet *f, slp_read_of what, const slp_store_req *rq);

/* ---- the worker: fleet_worker.c, fleet_join.c, fleet_leave.c ----------------------------------- */
typedef enum slp_worker_state {
  SLP_WORKER_NEW,
  SLP_WORKER_JOINING,
  SLP_WORKER_RUNS,
  SLP_WORKER_LEAVING,
  SLP_WORKER_OUT
} slp_worker_state;
void slp_join(slp_fleet *f);
void slp_join_again(slp_timer *t);
void slp_draw_incarnation(slp_fleet *f);
void slp_worker_runs(slp_fleet *f, uint64_t sent_us);
void slp_worker_evicted(slp_fleet *f, const char *why);
void slp_worker_trouble(slp_fleet *f); /* a heartbeat failed or was throttled */
void slp_leave_step(slp_fleet *f);
void slp_leave_successors(slp_fleet *f); /* drained: name heirs, ring, resign, go */
void slp_worker_out(slp_fleet *f, const char *why);

/* ---- proof of life and the fence, by whatever rule: fleet_fence.c ------------------------------- */
int slp_worker_lives(const slp_fleet *f);
void slp_worker_begins(slp_fleet *f); /* it lives from here on */
void slp_beat_at(slp_fleet *f, uint64_t at_us);
void slp_beat_timer(slp_timer *t);
void slp_deadline_timer(slp_timer *t);
void slp_deadline_check(slp_fleet *f); /* a proof has come, or what hung on one is gone: suspend or resume */
void slp_leave_notified(slp_fleet *f); /* the last ring is answered */

/* ---- whom to follow: fleet_bell.c -------------------------------------------------------------- */
typedef enum slp_role { SLP_ROLE_NONE, SLP_ROLE_SEEKS, SLP_ROLE_FOLLOWS, SLP_ROLE_LEADS } slp_role;
void slp_election_seek(slp_fleet *f, uint64_t in_us);
void slp_election_begin(slp_fleet *f); /* the plan, and whom to follow */
void slp_election_run(slp_timer *t);
void slp_election_alert(slp_fleet *f, uint64_t for_us);
void slp_election_drop(slp_fleet *f); /* leads and follows no more */
void slp_election_changed(slp_fleet *f);
void slp_notify_leader(slp_fleet *f);
/* Every worker's row, fleet_wide.c; then done, unless it failed. 0: one is under way already. */
int slp_workers_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f));

/* ---- my plan: fleet_plan.c --------------------------------------------------------------------- */
void slp_assignment_read(slp_fleet *f); /* now, or again after the read that is under way */

/* ---- leading: fleet_lead.c, fleet_stock.c, fleet_audit.c --------------------------------------- */
void slp_leader_begin(slp_fleet *f);
void slp_leader_end(slp_fleet *f);
void slp_watch_run(slp_timer *t);
void slp_watch_now(slp_fleet *f);
void slp_assignment_soon(slp_fleet *f, uint64_t in_us);
void slp_assignment_run(slp_timer *t);
void slp_shard_sync_soon(slp_fleet *f, uint64_t in_us);
void slp_leader_arm(slp_fleet *f);
void slp_leader_listed(slp_fleet *f, int ok);
void slp_listed_free(slp_fleet *f);
/* With the stock: writes what the table lacks, 1; or nothing is to be written, 0. */
int slp_shard_sync_write(slp_fleet *f, const slp_snapshot *s);
int slp_steal_sync_write(slp_fleet *f, const slp_snapshot *s); /* fleet_sync.c: the same where nobody plans */
int slp_sync_is_begun(const slp_position *position);           /* some of the shard is saved as read */
int slp_assignment_write(slp_fleet *f, const slp_snapshot *s);

void slp_snapshot_ask(slp_fleet *f, int exact, void (*on_done)(slp_store_req *rq)); /* every row */
/* Sorts what was asked for; what can't be read is told of when the shards are compared. SLP_ENOMEM. */
int slp_snapshot_sort(slp_fleet *f, slp_snapshot *ret);

typedef struct slp_bulk_item {
  slp_write op;
  slp_operation i;
  char *text; /* owned */
  size_t text_n, text_cap;
  slp_str *list; /* owned */
} slp_bulk_item;
typedef struct slp_bulk_write { /* many writes, some at a time */
  slp_bulk_item *all;           /* owned */
  size_t n, cap, sent, done;
  uint32_t refused; /* bits of slp_operation_kind */
  uint8_t busy, given_up;
  slp_event ev;
  void (*on_done)(slp_fleet *f, uint32_t refused, int given_up);
} slp_bulk_write;
/* An intent to be filled in, with copies of its texts; shards is the list. NULL: no memory. */
slp_operation *slp_bulk_write_add(slp_fleet *f, slp_operation_kind kind, size_t text_bytes, size_t items);
/* CREATE of a listed shard, without its position. anew: its row was there and is not any more; that is told.
 * NULL: no memory. */
slp_operation *slp_bulk_write_create(slp_fleet *f, const slp_shard_desc *d, int anew);
slp_str slp_bulk_write_text(slp_fleet *f, slp_str s); /* a copy that lives with the intent added last */
slp_str *slp_bulk_write_list(slp_fleet *f);
/* on_done on a later turn, when all are answered or given up; refused: which verbs were. */
void slp_bulk_write_run(slp_fleet *f, void (*on_done)(slp_fleet *f, uint32_t refused, int given_up));
void slp_bulk_write_stop(slp_fleet *f);

/* The first place of the hash ring that no unfinished lease covers: fleet_ring.c. 1: from and to (decimal)
 * say where; 0: all is covered; SLP_ENOMEM. Leases without ranges: 0. */
int slp_hash_range_hole(slp_mem *mem, const slp_lease_row *leases, size_t n, char from[40], char to[40]);

/* ---- the fleet --------------------------------------------------------------------------------- */
struct slp_fleet {
  slp_mem *mem; /* held */
  slp_host *h;
  slp_store *store;
  slp_schema *schema;
  slp_processor *processor;
  const slp_liveness_rule *liveness;
  const slp_sharing_rule *sharing;
  slp_fleet_opts o; /* strings: in the fields below */
  char id[SLP_WORKER_ID_MAX + 1], machine[128];
  slp_instance me;
  slp_str incarnation; /* in me */
  uint64_t serial;
  slp_fleet_stats stats;

  slp_worker_state state;
  uint8_t suspended, stopping;
  uint8_t undone;                                   /* it left before all was written */
  uint8_t evicted;                                  /* which suspends too; it ends by joining anew */
  uint64_t counter, good_us, trouble_us, joined_us; /* good_us: the sending of the last good heartbeat */
  slp_write beat, join_write;
  uint64_t beat_at_us;
  slp_store_get join_get;
  slp_timer beat_timer, deadline_timer, join_timer;

  uint32_t reads_failed[SLP_READS_N]; /* in a row */
  slp_list ops;                       /* slp_write.link: under way */
  slp_timer ops_timer;
  size_t lease_writes; /* of leases, under way */

  slp_map leases, members;
  slp_list touched;
  slp_event step_ev;
  slp_timer poll_timer; /* and everything that is due of a lease */
  slp_store_get poll_get;
  uint8_t polling;
  uint64_t poll_at_us; /* what else waits for the timer */
  struct slp_poll_item {
    slp_lease *lease;
    slp_member *member;
    uint8_t which; /* 0: its own row; 1, 2: a parent's */
  } poll_items[SLP_POLL_KEYS];
  slp_row_key poll_keys[SLP_POLL_KEYS];
  slp_buf poll_texts, join_text, leader_text, assignment_text, members_text; /* of keys */
  slp_row_key join_key, leader_key, assignment_key, members_key;

  slp_role role;
  slp_instance leader, named;
  uint64_t leader_named_us, alert_us, members_us, leadership_epoch, turn_us;
  uint64_t leadership_read_us;
  const slp_fail *why; /* of what is being told */
  uint8_t changes_known, exact_next;
  uint64_t changes;
  slp_timer election_timer;
  slp_store_get leader_get;
  uint8_t election_reading; /* 1: lead, 2: the leader's row */
  slp_write lead_write, notify_write;
  uint8_t notify_again;
  slp_store_list members_list; /* all workers: watch, alert, wills */
  uint8_t members_busy, members_ok;
  void (*members_done)(slp_fleet *f);

  slp_store_get assignment_get;
  uint8_t assignment_reading, assignment_again, assignment_known, assignment_short; /* short: of memory */
  uint64_t assignment_version, fleet_leases; /* of the whole fleet, as the plan tells; 0: it does not */

  slp_timer watch_timer, assign_timer;
  uint8_t first;        /* stealing: of those that live, I compare the stream with the table */
  uint64_t steal_at_us; /* not sooner from the living */
  uint64_t table_us;    /* stealing: the last complete list */
  uint8_t alone, sync_wanted, sync_in_round, snapshot_busy, listing, unknown_kids, made_some, notify_due;
  uint64_t rest_until_us; /* taking stock failed: not again before */
  uint64_t assign_at_us, sync_at_us, version_serial, version_base, led_us, asked_list_us, sync_from_us;
  slp_store_list snapshot;
  slp_bulk_write jobs;
  slp_map seen_shards; /* slp_seen_shard: what the leader remembers */
  slp_map listed;      /* slp_listed: the last complete listing */
  uint64_t listed_us;
  char notify_id[SLP_WORKER_ID_MAX];
  uint8_t notify_id_n;
  slp_position start; /* of the fleet, as the row of leadership has it */

  uint64_t leave_by_us;
  uint8_t leave_phase, led, notifies_last;
  slp_instance led_by;
  void (*on_saved)(void *arg);
  void *on_saved_arg;
};

struct slp_seen_shard {
  char *id;
  uint64_t absent_us;         /* the first complete listing without it; 0: listed */
  uint32_t unowned_n;         /* audits in which it was planned and nobody's, */
  uint32_t stuck_n;           /* or in which its owner lived and it was planned for another */
  uint8_t row;                /* it had one */
  uint8_t seen;               /* stealing: its counter is known, */
  uint8_t born_free;          /* it had no owner when it was first seen, */
  uint8_t begun;              /* and some of it was saved as read when it was last seen */
  uint64_t counter, since_us; /* and has been so since then, by my clock */
  uint64_t ended_us;          /* first seen read to its end */
  uint64_t listed_us;         /* stealing: the last complete list that had its row */
};
slp_seen_shard *slp_seen_of(slp_fleet *f, slp_str shard); /* fleet_audit.c. NULL: no memory */

typedef struct slp_listed { /* a shard of the last complete listing, with its texts behind it */
  slp_shard_desc desc;
  uint8_t open;
  uint8_t assigned; /* some worker's plan has it */
  uint8_t damaged;  /* its row is there, and can't be read */
} slp_listed;

uint64_t slp_fleet_now(slp_fleet *f);
uint64_t slp_fleet_lease_us(const slp_fleet *f);
uint64_t slp_fleet_jitter(slp_fleet *f, uint64_t us, uint32_t percent); /* us, that many percent up or down */
/* 1: `n` times in a row something failed, and this is a time to tell. */
int slp_fleet_tells(const slp_fleet *f, uint32_t n, const slp_fail *fail);
void slp_fleet_tell(slp_fleet *f, slp_fleet_event_kind kind, slp_str shard, uint64_t epoch, const char *fmt,
                    ...) SLP_PRINTF(5, 6);
slp_position slp_fleet_start_position(slp_fleet *f);
/* The key of a row; text holds it. SLP_ENOMEM. */
int slp_fleet_key(slp_fleet *f, slp_operation_kind kind, slp_str name, slp_buf *text, slp_row_key *ret);
void slp_fleet_operation(slp_fleet *f, slp_operation *i, slp_operation_kind kind); /* me, op-less, stamped */
void slp_fleet_saved(slp_fleet *f); /* answers slp_fleet_save when all is in */
void slp_fleet_stop_all(slp_fleet *f);
void slp_fleet_timer(slp_fleet *f, slp_timer *t, uint64_t at_us);
void slp_fleet_bad_row(slp_fleet *f, slp_str shard, const slp_row_key *key, const char *why);

#endif

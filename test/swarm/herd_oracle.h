/* herd_oracle.h - judges whole workers that share a stream by leases. It is told the truth (what was put,
 * split, trimmed), everything that callbacks say and users do, and every version a lease's row ever had. It
 * asks the library nothing and decodes nothing: whoever drives it does. Each rule has a name and is checked
 * by a test of its own, herd_oracle_test.c, that breaks just this one. The first broken rule is kept.
 *
 * Which promise of the fleet's protocol each rule holds, and why the code keeps it: src/lease/PROTOCOL.md,
 * "Invariants". */
#ifndef SLP_TEST_SWARM_HERD_ORACLE_H
#define SLP_TEST_SWARM_HERD_ORACLE_H

#include "base/mem.h"
#include <sloop_admin.h>

typedef enum hd_rule {
  HD_NO_RULE,
  /* Safety. */
  HD_S1_LOSS, /* a stored checkpoint passes a record whose handing out had not been finished with before; a loss
                  is told that is none, or one is not told */
  HD_S2_ORDER,     /* within a tenancy (life, shard, epoch): a gap, a step back, or a wrong first record */
  HD_S3_INTEGRITY, /* a record differs from what was put, or never was */
  HD_S4_LINEAGE,   /* a child begins before every known parent's end is in the table */
  HD_S5_EXCLUSIVE, /* a row changes its owner without a greater epoch, or an epoch has two owners */
  HD_S6_FENCED,    /* a write of an older epoch succeeds after a greater one */
  HD_S7_OVERLAP,   /* a hand-out of an older epoch begins after a greater one was committed */
  HD_S8_BACKWARDS, /* a stored checkpoint goes back, or past what was acknowledged */
  HD_S9_REPEATS, /* more repeats than what the last tenancy had out or unsaved; any after a clean hand-over */
  HD_S10_RATE,   /* calls of a shard or turns of a worker beyond what is allowed */
  HD_S11_BOUNDS, /* bytes held, requests out, memory or requests left after the end */
  HD_S12_CONTRACT, /* lease events: gained and lost in pairs, one end a shard's life, nothing afterwards; evicted
                      only by somebody */
  HD_S13_SAME,     /* two runs of a seed differ */
  HD_S15_DRAINED, /* records are handed out while the operator was told that nobody reads */
  HD_S14_SILENCE, /* schema sloop: evicted by a worker that stood still itself within the last lease */
  /* Progress, when all is healed. */
  HD_L1_ALL_READ,  /* every record handed out and acknowledged, every checkpoint at its tip, ended ones ended
                    */
  HD_L2_BALANCED,  /* every lease owned, evenly, and nobody moves any more */
  HD_L3_NO_ZOMBIE, /* owned, something to read, and nobody fetches */
  HD_L4_WATCHDOG,  /* the same in the first phase, after five leases without trouble */
  /* What a worker says of itself is true. */
  HD_T1_LAG, /* a lag is too small: an older record waits, or its last page came longer ago; or it is told as
                  unknown, and records came */
  HD_T2_STATE, /* told as read or at its tip, and no page came for long; at the tip and behind */
  HD_T3_REST,  /* all is read and well, and a shard is told otherwise, or not told by its owner */
  HD_T4_READY, /* ready while a shard gets no page for long, or nothing may be handed out; or not, and all is well
                */
  HD_T5_LEASE, /* a shard is told as read whose lease the table has had for another for longer than a lease */
  HD_T6_COMMAND, /* a command tells of rows or of its changes what never was so, or leaves a change out */
  /* The twelve promises of the library to its user; 7 is S1 and S8, 9 is S6 and S7, 11 is S13, 12 is L1. */
  HD_P1_NOT_INSIDE, /* no callback runs inside a call */
  HD_P2_CLOSED,     /* after a close exactly one callback follows, its own */
  HD_P3_IN_ORDER,   /* within a shard in order without a gap; what comes again is flagged and comes first */
  HD_P4_PARENTS,    /* parents finished with before their children start */
  HD_P5_BUDGET,     /* not more batches, records, bytes out than agreed */
  HD_P6_PAUSED,     /* nothing is handed out between pause and resume */
  HD_P8_STOPPED,    /* stopped with 0: nothing out, last checkpoints stored, leases free */
  HD_P10_MEMORY,    /* all memory is back at the end */
  HD_RULES
} hd_rule;
const char *hd_rule_name(hd_rule rule); /* "S1 loss", ... */

typedef struct hd_terms {        /* what is agreed in this run */
  uint64_t (*now_us)(void *arg); /* true time */
  void *arg;
  uint64_t lease_us;
  sloop_order_t order;
  sloop_position_kind_t start; /* OLDEST, LATEST or AT_TIME: where a new application begins */
  int64_t start_ms;
  uint32_t batch_records_max, batches_out_max;
  uint64_t batch_bytes_max, buffered_bytes_max;
  uint64_t page_bytes_max; /* one answer more than buffered_bytes_max may be there */
  uint32_t poll_ms, unready_ms;
  uint32_t late_ms;    /* an answer may be so late */
  uint8_t pushed;      /* an event, empty or not, comes about every five seconds */
  uint8_t untold_lags; /* pages do not tell how far behind they are */
  uint8_t pages_lie;   /* a page may wrongly have nothing, or tell another lag */
  uint8_t by_counter;  /* schema kcl: after a steal from the living both hand out until the victim's write */
  uint8_t exclusive;   /* by_counter, and nobody takes from the living */
  uint8_t whole;       /* rows hold no place inside an aggregate */
  uint8_t clocks_beyond; /* clocks drift more than agreed, or stand: S7 is counted, not judged */
  uint8_t order_loose;   /* clocks drift by more than 0.1 %: what is late is not judged */
  uint8_t memory_fails;  /* callbacks may be lost */
  uint8_t gives_up; /* shards whose records keep coming back are given up: at that moment a tip may be told */
  uint8_t losses_expected; /* records are trimmed: on_loss is fine, and what it names is excused */
} hd_terms;

typedef struct hd_oracle hd_oracle;
hd_oracle *hd_oracle_new(slp_mem *mem, const hd_terms *terms);
void hd_oracle_free(hd_oracle *o);
/* HD_NO_RULE: all is well so far. text: seed-independent, one line: when, who, which shard, what. */
hd_rule hd_broken(const hd_oracle *o, const char **text);
const char *hd_broken_shard(const hd_oracle *o); /* "" when it is not about one */
/* Broken rules that only the driver can see: S10, S11, S13, L3. */
void hd_break(hd_oracle *o, hd_rule rule, const char *shard, const char *fmt, ...) SLP_PRINTF(4, 5);
uint64_t hd_count(const hd_oracle *o,
                  const char *what); /* "records", "repeats", "overlaps", "rows", "tenancies" */

/* ---- the truth ---------------------------------------------------------------------------------------- */
/* Parents by their numbers, -1: none. Its own number: shards count from 0 in the order they are told. */
size_t hd_shard(hd_oracle *o, const char *id, int parent, int other);
/* The next record of it; content: any hash of key and data; arrived_ms by the service's clock. sub: its place
 * within an aggregate. */
void hd_put(hd_oracle *o, size_t shard, const char *seq, uint32_t sub, int64_t arrived_ms, uint64_t content);
void hd_closed(hd_oracle *o, size_t shard);
/* A life asked for what comes from now on; by a subscription, for what came from then on. */
void hd_latest(hd_oracle *o, size_t life, size_t shard);
void hd_latest_was(hd_oracle *o, size_t life, size_t shard, int64_t ms);
void hd_trimmed(hd_oracle *o, size_t shard, size_t records); /* so many first ones can't be read any more */

/* ---- workers ------------------------------------------------------------------------------------------ */
/* A new life: a process that opens its consumer; lives count from 0 and are never used again. */
size_t hd_born(hd_oracle *o, const char *worker_id);
/* It is a joined consumer in the process of `with`, a life that `first` judges: both hand out in one order. */
void hd_joins(hd_oracle *o, size_t life, const hd_oracle *first, size_t with);
void hd_weighs(hd_oracle *o, size_t life, uint32_t weight); /* its share beside the others'; 1 unless told */
void hd_died(hd_oracle *o, size_t life);                    /* at once, as by SIGKILL */
/* It does nothing from now on, for so long; it goes on now, sooner than it was told. */
void hd_stands(hd_oracle *o, size_t life, uint64_t us);
void hd_goes_on(hd_oracle *o, size_t life);
/* Around every sloop_* call of this life. */
void hd_enter(hd_oracle *o, size_t life);
void hd_leave(hd_oracle *o, size_t life);

typedef struct hd_seen { /* a record as it was handed out */
  const char *shard;
  const char *seq;
  uint32_t sub, attempt, flags; /* SLOOP_REC_* */
  uint64_t epoch, content, bytes;
} hd_seen;
void hd_on_batch(hd_oracle *o, size_t life, const void *batch, const hd_seen *records, size_t n);
/* Before sloop_batch_done: acked[i] says whether record i is finished with. */
void hd_done(hd_oracle *o, size_t life, const void *batch, const uint8_t *acked, size_t n);
/* Before sloop_batch_ack(): a record by itself may be saved while its batch is still out. */
void hd_acked(hd_oracle *o, size_t life, const void *batch, size_t index);
/* In on_dead_letter: it counts as finished with. */
void hd_on_dead_letter(hd_oracle *o, size_t life, const hd_seen *record);
void hd_on_shard(hd_oracle *o, size_t life, const char *shard, sloop_shard_event_kind_t what);
void hd_on_lease(hd_oracle *o, size_t life, const sloop_lease_event_t *e);
void hd_on_loss(hd_oracle *o, size_t life, const sloop_loss_t *loss);
void hd_on_error(hd_oracle *o, size_t life, const sloop_error_t *e);
void hd_on_tip(hd_oracle *o, size_t life);
void hd_on_any(hd_oracle *o, size_t life, const char *callback); /* every other callback */
/* The callback of something that was asked for (a listing, a checkpoint, what an operator may ask): once more
 * after sloop_close() with UV_ECANCELED. */
void hd_on_answer(hd_oracle *o, size_t life, const char *callback, int status);
void hd_paused(hd_oracle *o, size_t life, const char *shard, int on); /* shard NULL: all */
void hd_stopping(hd_oracle *o, size_t life);                          /* sloop_stop was called */
void hd_on_stopped(hd_oracle *o, size_t life, int status);
void hd_closing(hd_oracle *o, size_t life); /* sloop_close was called */
void hd_on_closed(hd_oracle *o, size_t life);
/* The statistics of sloop_stats_get are compared with what was seen. */
void hd_stats(hd_oracle *o, size_t life, const sloop_stats_t *st);
void hd_memory_back(hd_oracle *o, size_t life, uint64_t bytes_live); /* after its end */

/* ---- what a worker says of itself ------------------------------------------------------------------- */
/* The service answers this life with a page of the shard, or with proof that there is none. */
void hd_paged(hd_oracle *o, size_t life, size_t shard);
void hd_located(hd_oracle *o, size_t life, size_t shard); /* with a place to read from */
/* The service refused a page to this life: the shard was read too often in this second. */
void hd_throttled(hd_oracle *o, size_t life, size_t shard);
/* The life is asked now, for the first time since it stood if `stood`; then it tells each shard, and is ready or
 * not. at_rest: all was read, and everything has been well for a while. */
void hd_asked(hd_oracle *o, size_t life, int stood);
void hd_says(hd_oracle *o, size_t life, const sloop_shard_stats_t *st, int at_rest);
void hd_said(hd_oracle *o, size_t life, int at_rest);                            /* that was all of them */
void hd_says_ready(hd_oracle *o, size_t life, const char *why_not, int at_rest); /* "": it is */

/* ---- the table ---------------------------------------------------------------------------------------- */
typedef struct hd_row { /* a lease's row, decoded by the driver from its attributes */
  const char *owner;    /* the instance that owns it (with its boot, as the row has it); "" nobody */
  uint64_t epoch;       /* kcl: its counter */
  enum { HD_AT_START, HD_AT_SEQ, HD_AT_TIME, HD_AT_END } at; /* START: nothing read yet */
  uint8_t latest;  /* AT_START: at the latest, whenever somebody begins; else at the oldest record */
  const char *seq; /* AT_SEQ: acknowledged up to here, this one included */
  uint32_t sub;
  int64_t ms;
  uint8_t whole;  /* AT_SEQ: with all its sub-records */
  uint8_t parked; /* nobody is to read it: L1 and L2 leave it out, with all that descends from it */
} hd_row;
/* A version was committed. life: who sent it (also when it has died since), SIZE_MAX: an operator. row NULL:
 * the row is gone. sent_us: when the request left the worker, true time. */
void hd_row_is(hd_oracle *o, size_t life, const char *shard, uint64_t sent_us, const hd_row *row);
/* This life asks for all rows, from the first one on; sent_us as above. */
void hd_reads_table(hd_oracle *o, size_t life, uint64_t sent_us);
/* Schema sloop: the worker's own row is marked (gone, or left), replaced or deleted, so that leases which
 * still name it are free. A clean stop ends so; P8 asks for it. Before the stop callback. */
void hd_left(hd_oracle *o, size_t life);
/* Schema sloop: this life has marked the row of another worker as gone, by a request sent at sent_us. */
void hd_evicts(hd_oracle *o, size_t life, uint64_t sent_us, const char *row);
/* An operator moved or deleted the row: what follows may repeat or skip as told. */
void hd_excuse(hd_oracle *o, const char *shard);
/* The row of leadership as well: when nobody has read it, the application begins anew, and so do such leases.
 */
void hd_begun_anew(hd_oracle *o);

/* ---- an operator's commands ---------------------------------------------------------------------------- */
void hd_command(hd_oracle *o); /* one begins; what is told below is of this one */
/* Right after hd_row_is: this version is its write. The row of the worker of this incarnation is marked
 * as gone: until it learns so it may read what others read already. */
void hd_command_wrote(hd_oracle *o, const char *shard);
void hd_command_evicts(hd_oracle *o, const char *boot, int now); /* now 0: a copy of a former one's write */
/* Its end: what it says. r: NULL, or what it has done; message: "" or why it failed. */
void hd_told_leases(hd_oracle *o, const sloop_leases_t *t);
void hd_told_changes(hd_oracle *o, int status, const sloop_admin_result_t *r, const char *message);
/* on 1: an operator was told that the application is drained. on 0: that is ended now, or may have been. */
void hd_drained(hd_oracle *o, int on);
/* S15, at the end of a drain: all leases are released, so that the positions are in the table. A worker whose
 * row is marked as gone releases nothing. A worker may own a lease without knowing it: another worker has
 * handed the lease over, or the worker's own CREATE came late. Then nobody has begun to read that lease, and
 * the owner's first write gives it up. runs: returns 1 if the worker of this incarnation has a row that is
 * not marked. */
void hd_judge_released(hd_oracle *o, int (*runs)(const void *arg, const char *boot), const void *arg);

/* ---- progress ----------------------------------------------------------------------------------------- */
/* L1 now: 1 when it holds; 0 and a line in why when not. */
int hd_all_read(hd_oracle *o, char *why, size_t why_n);
/* How much is left until it does: records that no row passes, and shards. 0: it holds. */
size_t hd_left_to_read(const hd_oracle *o);
/* Since when every parent's end is in the table, so that whoever owns the shard may read it; UINT64_MAX: not
 * yet. For L3 and L4. */
uint64_t hd_readable_us(const hd_oracle *o, size_t shard);
/* L2 now, over the lives that should be alive. */
int hd_balanced(hd_oracle *o, const size_t *lives, size_t n, char *why, size_t why_n);

/* ---- the story ---------------------------------------------------------------------------------------- */
/* The story of this shard, the last `most` lines in order of time: tenancies, batches, acknowledgements,
 * versions of its row. */
void hd_story(const hd_oracle *o, const char *shard, size_t most, void (*line)(void *arg, const char *text),
              void *arg);

#endif

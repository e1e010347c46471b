/* herd.h - whole fleets in virtual time: workers that are the real library from its public functions down to
 * the bytes of its requests, over the sandbox's streams and tables; a user's program in each; and a nemesis.
 * What happens is told to herd_oracle.h, which judges. One seed decides everything. */
#ifndef SLP_TEST_SWARM_HERD_H
#define SLP_TEST_SWARM_HERD_H

#include "swarm/herd_oracle.h"
#include "swarm/typed_msg.h"
#include "swarm/world.h"

#define HD_WORKERS_MAX 6
#define HD_BUFFERED_MAX 64 /* batches a program may be given at a time */
#define HD_S UINT64_C(1000000)

/* Name and meaning; each is on or off in a seed. Of events: how many there are in the first phase; of the
 * others: a share of all calls or records in parts per million. */
#define HD_FAULTS(X)                                                                               \
  X(kill, "a process ends at once; its requests travel on")                                        \
  X(leave, "a process stops, and is started again")                                                \
  X(freeze, "a process does nothing for a while")                                                  \
  X(block, "a callback takes long")                                                                \
  X(jump, "a wall clock jumps")                                                                    \
  X(drift, "clocks run at other speeds, within what is agreed")                                    \
  X(wild, "clocks run at other speeds, beyond it")                                                 \
  X(cut, "a worker is cut off from one service, both ways")                                        \
  X(mute, "its requests arrive and the answers do not")                                            \
  X(deaf, "its requests do not arrive")                                                            \
  X(outage, "the stream answers nobody")                                                           \
  X(table_down, "the table answers nobody")                                                        \
  X(table_slow, "the table refuses most as too fast")                                              \
  X(split, "a shard is split, or rolls over")                                                      \
  X(merge, "two shards become one")                                                                \
  X(trim, "the stream's oldest records go")                                                        \
  X(drop_row, "an operator deletes a row")                                                         \
  X(edit_row, "an operator sets a lease back")                                                     \
  X(pause, "a program pauses, and resumes")                                                        \
  X(ask, "a program saves, lists, asks for leases, or has positions written")                      \
  X(lose, "connections are refused, reset, or never answered") /* from here on: of all calls */    \
  X(late, "requests come late")                                                                    \
  X(twice, "requests come twice")                                                                  \
  X(slow, "answers come late")                                                                     \
  X(torn, "bodies end early")                                                                      \
  X(throttle, "calls are refused as too fast")                                                     \
  X(error, "calls fail with an error of the service's")                                            \
  X(html, "something else answers in the service's stead")                                         \
  X(lost, "what was asked for is done and never answered")                                         \
  X(done_twice, "the service does it two times")                                                   \
  X(page, "pages are odd: empty, doubled, without their children")                                 \
  X(stale, "reads show what was")                                                                  \
  X(listing, "listings are late or say too little")                                                \
  X(hold, "batches are kept for a while")                                                          \
  X(give_back, "records are given back")                                                           \
  X(singly, "records are acknowledged one by one")                                                 \
  X(set_right, "a wall clock is set right") /* an event, as is the next */                         \
  X(keys, "a process's keys are refused, and expire")                                              \
  X(weights, "workers have shares of their own") /* a choice, as is the next */                    \
  X(stall, "a shard without progress is given up")                                                 \
  X(joined, "a process reads a second stream by a joined consumer")                                \
  X(push, "records are pushed; a choice")                                                          \
  X(lock, "a process does nothing for a while, and has the lock of the table: no other can write") \
  X(dead_push, "no subscription ever brings an event; a choice")                                   \
  X(named, "rows of leases name their stream, and another one's is among them; a choice")          \
  X(command, "an operator looks at leases, releases some, or sets them elsewhere") /* an event */  \
  X(drain, "an operator has all workers stop reading, and lets them go on")        /* an event */

typedef enum hd_fault {
#define X(name, what) HF_##name,
  HD_FAULTS(X)
#undef X
      HF_N
} hd_fault;
static inline int hd_is_event(size_t f) {
  return f < HF_lose || f == HF_set_right || f == HF_keys || f == HF_lock || f == HF_command || f == HF_drain;
}
const char *hd_fault_name(hd_fault f);
hd_fault hd_fault_of(const char *name); /* HF_N: none */

typedef enum hd_service { HD_STREAM, HD_TABLE, HD_SERVICES } hd_service;

/* ---- herd_plan.c: what a seed draws -------------------------------------------------------------------- */
typedef enum hd_schema { HD_SLOOP, HD_KCL, HD_VMWARE, HD_MOTORWAY, HD_KCL_RB, HD_SCHEMAS } hd_schema;
typedef struct hd_names { /* of a schema's rows of leases */
  const char *schema, *table, *key, *owner, *position, *start, *end;
} hd_names;
extern const hd_names hd_names_of[HD_SCHEMAS];

typedef struct hd_plan {
  uint64_t seed;
  uint32_t workers, shards, phase_ms;
  uint8_t schema, changes, typed, aggregates, creds_later; /* schema: hd_schema */
  uint8_t unhashed;                                        /* of its run the trace hash is not asked for */
  uint8_t
      times; /* of a table's stream; 0: it is read from the oldest record to the time, as before there were any */
  uint32_t rate[HF_N]; /* 0: off */
  uint32_t weight[HD_WORKERS_MAX];
  uint8_t joined;
  uint32_t leases_a_key; /* of the native layout, as slp_outside has it */
  uint32_t push_ms;      /* so long a subscription lives */
  slp_typed_dead dead_push;
  uint8_t dead_heals;    /* when the troubled part is over */
  uint32_t keys_ms;      /* so long a process's keys live; 0: for ever */
  uint32_t fault_us_max; /* how long a freeze, a cut, an outage lasts at most */
  uint32_t backlog, record_bytes, put_gap_us;
  uint64_t hold_us_max;
  slp_sim_net net; /* its faults */
  sloop_sandbox_opts_t box;
  sloop_opts_t o; /* of every worker; without texts and callbacks */
  slp_sim_clock clock[HD_WORKERS_MAX];
} hd_plan;

typedef struct hd_wish {                       /* what the command line makes of a plan */
  uint64_t without;                            /* bits of hd_fault */
  uint32_t workers, shards, phase_ms, backlog; /* UINT32_MAX: as drawn */
  int seam, schema, source;                    /* -1: as drawn */
  int push;                                    /* 1: wherever it can be; 2: and no event ever comes */
  int named;                                   /* 1: wherever it can be */
  int commands;                                /* 1: there are some */
  int drain;                                   /* 1: there are drains; schema sloop */
  int times;                                   /* 1: a table's stream is asked for times */
} hd_wish;
void hd_wish_none(hd_wish *wish);
void hd_plan_draw(hd_plan *p, uint64_t seed, const hd_wish *wish);
void hd_plan_print(const hd_plan *p, char *to, size_t n);
int hd_plan_calm(const hd_plan *p); /* nothing goes wrong in it */

uint64_t hd_between(uint64_t *random, uint64_t low, uint64_t high);
uint64_t hd_log_between(uint64_t *random, uint64_t low, uint64_t high); /* every size as likely as another */
static inline int hd_heads(uint64_t *random) { return (int)hd_between(random, 0, 1); }
static inline int hd_one_in(uint64_t *random, uint64_t n) { return hd_between(random, 1, n) == 1; }
static inline int hd_chance(uint64_t *random, uint32_t ppm) {
  return ppm && hd_between(random, 0, 999999) < ppm;
}

/* ---- herd_world.c: the services and the truth ---------------------------------------------------------- */
typedef struct hd_place { /* a shard */
  char id[130];
  char key[40]; /* the partition key of its lease; "": it had none yet */
  uint8_t closed;
  uint64_t read_us;  /* when somebody last asked for its records, or was given some */
  uint64_t owned_us; /* since when its row names an owner; 0: it does not */
  uint8_t parked, avoids;
  uint8_t kept;     /* no row of KCL's says "parked": its owner keeps it, unread, as long as it lives */
  char owner[160];  /* as the row names it */
  uint64_t next;    /* of changes: places told so far */
  uint64_t locates; /* of a stream: how often a place in it was asked for */
  uint64_t latest;  /* of a stream: how often it was asked for its latest */
  uint64_t pushed_by_time;
  size_t put, trimmed;
} hd_place;

typedef struct hd_life hd_life;
typedef struct hd_commander hd_commander;
typedef struct hd_drainer hd_drainer;
typedef struct hd_world {
  struct hd_world *twin, *main; /* the second stream's, where there is one; of a twin: the first */
  const hd_plan *plan;
  slp_mem *mem;
  slp_world *w;
  slp_known_stream *stream;    /* of Kinesis */
  struct slp_changes *changes; /* or of a table */
  hd_oracle *o;
  hd_place *shards;
  size_t shards_n, shards_cap;
  hd_life **lives; /* by number; owned */
  size_t lives_n, lives_cap;
  hd_life *at[HD_WORKERS_MAX];   /* who runs in each place; NULL: nobody */
  uint32_t born[HD_WORKERS_MAX]; /* how many lives there were in it */
  char ids[HD_WORKERS_MAX][24];
  uint64_t cut_until_us[HD_WORKERS_MAX][HD_SERVICES]; /* partitions */
  hd_fault cut_as[HD_WORKERS_MAX][HD_SERVICES];
  uint64_t down_until_us[HD_SERVICES], slow_until_us; /* for all */
  uint64_t lock_until_us; /* until then only the worker in lock_slot writes rows */
  int lock_slot;
  uint64_t random[HF_N]; /* a stream of chance for each fault */
  uint64_t faults[HF_N]; /* how many there were */
  uint64_t trouble_us;   /* the last one */
  uint64_t end_us;       /* of the first phase */
  uint64_t healed_us;    /* when all was healed */
  uint8_t healed, ending;
  int64_t start_ms;
  hd_seen *seen; /* room for one batch */
  uint8_t *flags;
  uint64_t serials, puts_random;
  char named[200];         /* "ACCOUNT:NAME:EPOCH:", with which keys begin; "": they do not */
  struct slp_typed *typed; /* NULL: bytes; of the first */
  struct {
    char name[120], boot[24];
    uint8_t gone;
  } worker_rows[128]; /* as they were last */
  size_t worker_rows_n;
  hd_commander *commander; /* NULL: no command is under way */
  hd_drainer *drainer;     /* NULL: no drain is under way */
  uint64_t drains;         /* drains that were told to be complete */
  uint8_t commanded;       /* the call at hand is the command's */
  /* The row at hand. */
  size_t writer;
  uint64_t writer_sent_us;
  void (*inner)(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply);
  void *inner_arg;
  void (*print)(void *arg, const char *line);
  void *print_arg;
} hd_world;

hd_world *hd_world_new(const hd_plan *p, void (*print)(void *arg, const char *line), void *arg);
void hd_world_free(hd_world *hw); /* every life has ended */
uint64_t hd_now(const hd_world *hw);
void hd_put_some(hd_world *hw);      /* a record, or an aggregate of some */
void hd_look_who_left(hd_world *hw); /* of those that stop */
/* Its row is there, with this incarnation, and nobody has evicted it. */
int hd_runs_by_its_row(const hd_world *hw, const char *boot);
int hd_split(hd_world *hw, uint64_t *random);
int hd_merge(hd_world *hw, uint64_t *random);
void hd_trim(hd_world *hw, int64_t before_ms);
size_t hd_shard_of(const hd_world *hw, const char *id); /* SIZE_MAX: none */
uint64_t hd_content(const hd_world *hw, slp_str key, slp_str data);
/* The key of a lease to its shard's id, where rows name their stream. 0: it is another stream's. */
int hd_cut_name(const hd_world *hw, slp_str *key);
/* A row of the leases' table as raw attributes; told by whatever keeps the table. */
typedef slp_str (*hd_attr)(const void *row, const char *name);                 /* {NULL, 0}: absent */
void hd_row_written(hd_world *hw, slp_str name, hd_attr get, const void *now); /* NULL: it is gone */
void hd_operator(hd_world *hw, const char *op, const char *body); /* a call of DynamoDB's by nobody */
struct slp_table *hd_lease_table(hd_world *hw);                   /* NULL: not made yet */
const char *hd_stream_name(const hd_world *hw);
/* Where a row of schema sloop is a lease: the slash before its kind. NULL: it is none. */
const char *hd_lease_mark(slp_str row);
hd_world *hd_world_of_row(hd_world *hw, slp_str name); /* whose stream a row of schema sloop is about */
hd_rule hd_world_broken(const hd_world *hw, const char **text); /* of either stream */

/* ---- herd_typed.c: the second seam --------------------------------------------------------------------- */
void hd_typed_begin(hd_world *hw);
void hd_typed_end(hd_world *hw);
void hd_typed_heal(hd_world *hw);
int hd_typed_ask(const slp_sim_ask *ask); /* it came through that seam */

/* ---- herd_worker.c: a program that uses the library ---------------------------------------------------- */
typedef struct hd_held {
  sloop_batch_t *batch;
  uint64_t serial;
  size_t early; /* every so many-th record was acknowledged at once; 0: none */
} hd_held;

struct hd_life {
  uint64_t describes_us[32]; /* when it sent its last DescribeStream calls; a ring */
  size_t describes_n;
  hd_world *hw;
  hd_life *joined, *first;    /* of a process with two consumers: the other one */
  size_t number, host_number; /* of the life; of its host */
  int slot;
  slp_mem *mem;
  slp_host *host;
  sloop_t *s;
  sloop_opts_t opts;
  uint64_t random;
  hd_held held[HD_BUFFERED_MAX];
  size_t held_n;
  uint64_t block_us; /* of the next batch's callback */
  uint32_t depth;    /* callbacks that are running */
  uint8_t dead, stopping, stopped, closing, closed, failed, again, paused;
  uint64_t again_us;                   /* another life begins so long after */
  uint64_t moved;                      /* leases that came or went */
  uint64_t born_us, handed, handed_us; /* records, and when the last ones */
  uint32_t key, key_revoked;           /* its keys are numbered; those up to key_revoked are refused */
  uint64_t key_dies_us, no_keys_us;    /* when the present ones expire; until when it gets no others */
  uint64_t asked_us, ready_us;         /* what it says of itself: when last; the same of its readiness */
  uint8_t stood;                       /* it did nothing when it was to be asked */
  char unready[400];                   /* "": it was ready */
  char last_error[200];
  char boot[24]; /* of the incarnation that has joined */
};
hd_life *hd_live(hd_world *hw, int slot, int new_id); /* a process is started */
void hd_kill(hd_life *l, uint64_t again_us);          /* UINT64_MAX: nobody starts it again */
void hd_stop(hd_life *l, uint64_t limit_ms, uint64_t again_us);
void hd_toggle_pause(hd_life *l, uint64_t *random);
void hd_resume_all(hd_life *l);
void hd_ask_something(hd_life *l, uint64_t *random);
void hd_save_all(hd_life *l);
void hd_release_parked(hd_life *l);
int hd_keeps_parked(const hd_life *l);
static inline int hd_runs(const hd_life *l) { return l && !l->dead && !l->stopping && !l->failed; }
sloop_stats_t hd_stats_of(hd_life *l);
void hd_revoke_keys(hd_life *l, uint64_t no_others_us);
/* The number of the keys that signed this call; 0: none of a life's. */
uint32_t hd_key_of(const slp_sim_ask *ask);

/* ---- herd_says.c: after each event; a worker is asked no more often than four times a second -------------- */
void hd_ask_all(hd_world *hw, int at_rest);
void hd_ask_ready(hd_life *l);

/* ---- herd_command.c ------------------------------------------------------------------------------------ */
void hd_command_give(hd_world *hw, uint64_t *random);
void hd_command_stop(hd_world *hw); /* nobody waits for it any more */
int hd_command_sent(const hd_world *hw, const slp_sim_ask *ask);
/* A consumer of an operator's process, which reads nothing. *ret_host: the process. */
sloop_t *hd_operator_open(hd_world *hw, slp_mem *mem, slp_host **ret_host, void *arg);

/* ---- herd_drain.c -------------------------------------------------------------------------------------- */
void hd_drain_give(hd_world *hw, uint64_t for_us); /* nothing, while another drain lasts */
void hd_drain_heal(hd_world *hw);                  /* a drain that lasts is ended now */
void hd_drain_stop(hd_world *hw);                  /* nobody waits for it any more */

/* ---- herd_nemesis.c ------------------------------------------------------------------------------------ */
void hd_nemesis_begin(hd_world *hw);
void hd_nemesis_end(hd_world *hw); /* everything is healed */
int hd_reaches(hd_world *hw, hd_life *l, hd_service service, int answer);
/* Whether the keys of a call are refused: a line of the fault script. */
int hd_keys_spoil(hd_world *hw, const hd_life *l, const slp_sim_ask *ask, const char *op, char line[120]);
/* Another worker has the lock of the table, and this call would write. */
int hd_is_locked_out(const hd_world *hw, const hd_life *l, const char *op);
/* A line of the fault script for this call; 0: none. */
int hd_spoil(hd_world *hw, hd_service service, const char *op, char line[120]);

/* ---- herd_play.c: one seed from its beginning to its end ----------------------------------------------- */
typedef struct hd_verdict {
  hd_rule rule; /* HD_NO_RULE: every promise was kept */
  char text[400];
  uint64_t trace_hash, virtual_ms, events, records, repeats, overlaps, rows, calls, ownerships, lives;
  uint64_t faults[HF_N];
} hd_verdict;
/* tell gets the story when a rule is broken; print (may be NULL) every line as it happens. */
void hd_play(const hd_plan *p, hd_verdict *ret, void (*tell)(const char *line),
             void (*print)(void *arg, const char *line), void *arg);

#endif

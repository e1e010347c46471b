/* fleet_world.h - a fleet in virtual time: several hosts with clocks of their own, one table behind a network
 * that loses, doubles and delays, a stream whose shards split and merge, readers that hand records to a slow
 * user, and a judge that sees every hand-out and every row. */
#ifndef SLP_TEST_STORY_FLEET_WORLD_H
#define SLP_TEST_STORY_FLEET_WORLD_H

#include "lease/fleet.h"
#include "swarm/host.h"

#define FW_NODES 8
#define FW_SHARDS 96
#define FW_S UINT64_C(1000000)

typedef struct fw_faults { /* chances in parts per million of all requests */
  uint32_t lost_ppm;       /* never reaches the table */
  uint32_t unanswered_ppm; /* is done, and nobody is told */
  uint32_t doubled_ppm;    /* arrives once more, up to late_us later */
  uint64_t late_us;
  uint32_t throttle_ppm;
  uint32_t writes_s;             /* the table grants so many a second and refuses the rest; 0: all */
  uint32_t units_s;              /* the same of units written, and of units read; three are saved up */
  uint32_t blind_ppm;            /* a refusal does not show the row */
  uint32_t rt_us_min, rt_us_max; /* each way */
} fw_faults;

typedef struct fw_world fw_world;
typedef struct fw_node fw_node;

typedef struct fw_layout { /* the tables of another system, that our workers read and write as it does */
  const char *owner;       /* the attribute of a lease's row that names its owner */
  slp_schema *(*open)(slp_mem *mem);
  uint8_t kids_late; /* a shard's end may be in the table before its children are */
  uint8_t anew;      /* an owner of theirs begins with epoch 0 */
} fw_layout;
extern const fw_layout fw_layout_kcl, fw_layout_kcl_beside, fw_layout_vmware, fw_layout_kinsumer,
    fw_layout_motorway, fw_layout_kcl_rb;

typedef struct fw_shard { /* the truth */
  char id[24];
  int parents[2]; /* -1: none */
  int kids[2], kids_n;
  uint64_t hash_from, hash_to; /* in 64ths of the ring */
  uint64_t records;            /* it has so many now */
  uint8_t closed, trimmed;
  uint64_t handed, acked; /* the furthest, by anybody; acked: without a gap */
  uint64_t repeats;
  uint64_t epoch;     /* the greatest that was ever opened */
  uint64_t gap_us;    /* the longest time without an unsuspended reader */
  uint64_t unread_us; /* since when it has none */
  uint64_t row_epoch; /* of its row, and who owned it last */
  char row_owner[128];
  uint8_t row_free; /* it has none now */
  uint8_t excused;  /* an operator took its row away: epochs may come beside each other */
} fw_shard;

struct fw_world {
  const fw_layout *layout; /* NULL: our own */
  uint8_t kcl;             /* leases as another system keeps them: no rows of workers, no leader's plan */
  uint8_t beside;          /* the tables of KCL 3.0 to 3.4 are there */
  char told[240];          /* the words of the last worker that could not go on */
  slp_sim *sim;
  slp_mem *mem;
  struct slp_memory *table;
  slp_host *server;
  slp_store *server_store;
  slp_schema *schema; /* the judge's */
  fw_faults faults;
  uint64_t outage_until_us, no_writes_until_us;
  uint64_t lock_until_us; /* until then the worker in lock_slot has the store's lock: writes of others wait */
  int lock_slot;
  fw_node *nodes[FW_NODES];
  fw_shard shards[FW_SHARDS];
  slp_position pos[FW_SHARDS]; /* as the table has it */
  int shards_n, born_n;
  int unlisted;      /* number of the youngest shards that listings do not contain yet */
  int page_n;        /* number of shards in a page of a listing; 0: a listing comes in one piece */
  uint32_t page_ms;  /* time between two pages of a listing */
  uint8_t page_back; /* 1: the first page has the youngest shards */
  uint64_t user_us_min, user_us_max;       /* how long the user keeps a batch */
  uint32_t lease_ms, handover_ms, list_ms; /* of the workers that start; list_ms 0: the default */
  uint32_t checkpoint_ms;                  /* likewise */
  /* Of the workers that start: so many neighbouring shards share a partition key. 0: all leases share one.
   * FW_BY_HASH: the hash of a shard's name says which. */
#define FW_BY_HASH UINT32_MAX
  uint32_t leases_a_key;
  uint8_t may_stray; /* an operator has put a lease where it does not belong */
  uint32_t skew_ms;  /* of the workers' wall clocks, at most */
  slp_position start;
  uint8_t producing, over;
  uint64_t writes;                          /* that reached the table */
  uint64_t granted_us, grant_left, refused; /* of faults.writes_s: millionths of a write are left; refusals */
  uint64_t units_us;                        /* of faults.units_s: what is left was reckoned then, */
  int64_t write_left, read_left;      /* in millionths of a unit; a read that was served may cost more */
  uint64_t units_written, units_read; /* in halves */
  uint64_t evictions, evicted, leads, lost, released, expired, failed, left, holes, bad_rows, trouble;
  char complaint[300]; /* the first thing that is wrong; "": all is well */
  struct fw_wire *wires;
  void (*on_write)(fw_world *w, const slp_store_write *write); /* before it is done; may be NULL */
  void (*on_rows)(fw_world *w);                                /* after it was done; may be NULL */
  void *judge;                                                 /* of on_rows */
  uint8_t may_go_back; /* the write at hand is unconditional, and may put an old position back */
  uint64_t put_back;   /* so many did */
  uint64_t left_out;   /* records that a worker of another system passed over, by its own rule */
  void *(*node_alloc)(void *ctx, void *p, size_t was, size_t want); /* of every node; NULL: the usual */
  void *node_ctx;
  uint8_t deny_gets, deny_lists; /* refused: no right */
  uint8_t refuses[FW_SHARDS];    /* the service refuses to read this shard from any number */
  uint64_t refusals;             /* so often it did */
  uint8_t deny_writes_beside;    /* likewise, of that table beside the leases; 0: none */
  char throttled_row[32];        /* writes of rows whose key has this in it are throttled; "": none */
  uint64_t throttled_n;          /* so many were */
  uint32_t drop_answers; /* so many of the next writes whose row has this prefix are done unanswered */
  char drop_prefix[32];
};

struct fw_node {
  fw_world *w;
  int slot;
  char id[32];
  slp_host *h;
  slp_mem *mem;
  slp_store *store;
  slp_schema *schema;
  slp_processor processor;
  slp_fleet *fleet;
  slp_timer tick, list_timer;
  struct fw_open {
    int shard;
    uint64_t epoch, next;
    uint64_t drain_us; /* asked to drain then, by its own clock */
    uint64_t open_us;  /* opened then, likewise */
    uint8_t draining, drained_told, end_told;
    uint8_t refused; /* 1: by the service; 2: and the fleet was told */
    struct {
      uint64_t from, to, at_us;
      uint8_t acked;
    } out[64];
    int out_n;
    uint64_t acked;
    slp_position begin;
  } open[FW_SHARDS];
  int open_n;
  uint8_t told[FW_SHARDS]; /* that it was taken, and not yet that it is gone */
  uint8_t suspended, leaving, left, cut, blocked, failed, joined, leads;
  size_t listed_n;       /* number of shards that have come of the listing under way */
  uint64_t throttled_us; /* its user heard then that the table throttles; 0: never */
};

fw_world *fw_new(uint64_t seed, int shards);
fw_world *fw_new_kcl(uint64_t seed, int shards);
fw_world *fw_new_kcl_beside(uint64_t seed, int shards); /* with the tables that KCL 3.0 to 3.4 has */
fw_world *fw_new_of(uint64_t seed, int shards, const fw_layout *layout); /* NULL: our own */
void fw_row_of(const fw_world *w, int shard,
               char out[64]); /* its lease's row, as the functions below name it */
void fw_free(fw_world *w);
/* drift in parts per million. slot must be free. */
fw_node *fw_start(fw_world *w, int slot, const char *id, int32_t drift_ppm);
void fw_kill(fw_world *w, int slot);               /* at once, nothing is written any more */
void fw_leave(fw_world *w, int slot, uint32_t ms); /* it is gone when it has left */
void fw_reap(fw_world *w);                         /* those that have left or failed are cleared away */
int fw_run(fw_world *w, uint64_t us);              /* 0: something is wrong */
int fw_until(fw_world *w, uint64_t us, int (*enough)(fw_world *w)); /* 1: it was enough in time */
void fw_wrong(fw_world *w, const char *fmt, ...) SLP_PRINTF(2, 3);
uint64_t fw_now(const fw_world *w);
fw_shard *fw_split(fw_world *w, int shard); /* NULL: no room, or closed */
fw_shard *fw_merge(fw_world *w, int a, int b);
void fw_produce(fw_world *w, int shard, uint64_t n);
void fw_operator_delete(fw_world *w, const char *row); /* "w/a", "l/shard", "lead": behind the prefix */
void fw_operator_set(fw_world *w, const char *row, const char *attr, const char *text);
void fw_operator_remove(fw_world *w, const char *row, const char *attr);
void fw_operator_number(fw_world *w, const char *row, const char *attr, const char *number);
/* The same in a table beside the leases: 1, 2. */
void fw_operator_put(fw_world *w, uint8_t table, const char *row, const char *attr, slp_val_kind kind,
                     const char *text);
int fw_live(const fw_world *w);
/* Judged at rest: every unfinished lease has an owner, as planned, evenly. */
int fw_settled(fw_world *w);
int fw_all_read(fw_world *w);
/* The row's text of an attribute, or "". */
void fw_dump(fw_world *w); /* what everybody knows and the table says, to stdout */
const char *fw_row(fw_world *w, const char *row, const char *attr);
size_t fw_rows_n(fw_world *w, uint8_t table, const char *hash); /* under that key of that table */
int fw_owner_of(fw_world *w, int shard);                        /* a slot, or -1 */

#endif

/* herd_oracle_inside.h - what the files of the judge share.
 *
 * truth      what was put where, and how far into it a position of the table reaches
 * tenancies  who reads a shard in which epoch, and what became of each record of it
 * records    what is handed out and given back
 * rows       the versions of the leases
 * contract   the callbacks that are not records
 * commands   what an operator's commands say of the table
 * losses     what is told of records that can't be read any more
 * says       what a worker says of itself
 * progress   what must be so when all is healed
 * story      what happened to one shard, told */
#ifndef SLP_TEST_SWARM_HERD_ORACLE_INSIDE_H
#define SLP_TEST_SWARM_HERD_ORACLE_INSIDE_H

#include "base/map.h"
#include "swarm/herd_oracle.h"

#define HD_NEVER UINT64_MAX
#define HD_ID_MAX 130

typedef struct hd_note { /* a record as it was put */
  uint64_t put_us, content;
  uint64_t acked_us; /* when somebody was finished with it, in a tenancy that counted; HD_NEVER */
  int64_t arrived_ms;
  uint64_t trimmed_us; /* HD_NEVER: it is kept */
  size_t seq_at;       /* in the shard's texts */
  uint32_t seq_n, sub;
  uint8_t handed; /* to anybody */
} hd_note;

typedef struct hd_version { /* a row as it was committed */
  uint64_t us, sent_us, epoch;
  size_t life;         /* SIZE_MAX: an operator */
  const char *owner;   /* interned; "" */
  size_t seq_at, done; /* done: so many first records are passed, as far as was known then */
  int64_t ms;
  uint32_t seq_n, sub;
  uint8_t at, latest, whole, gone, parked;
  uint64_t command; /* the number of the command that wrote it; 0: none */
} hd_version;

typedef enum { HD_NOT_YET, HD_OUT, HD_BACK, HD_ACKED, HD_SKIPPED } hd_fate;
typedef struct hd_place { /* a record in a tenancy */
  uint16_t attempts;
  uint8_t fate;
} hd_place;

typedef struct hd_part hd_part; /* a shard */
typedef struct hd_ownership {   /* one life reads one shard in one epoch */
  struct hd_ownership *before;  /* of this shard */
  struct hd_ownership *next_in_batch;
  hd_part *shard;
  size_t life;
  uint64_t epoch;
  uint64_t back_us;     /* something was given back last */
  size_t first, next;   /* fresh records: from, and the one to come */
  size_t prefix;        /* finished with without a gap, up to here */
  size_t prefix_before; /* the same, a moment before prefix_us */
  uint64_t prefix_us;   /* it has moved on */
  uint64_t given_us;    /* its end by its own will was told; HD_NEVER */
  uint64_t batch;       /* the last batch that has records of it, */
  uint32_t batch_n;     /* so many */
  size_t batch_from, batch_to;
  size_t out_n, back_n;
  uint32_t batches_out;
  uint8_t began, over, lost, owned; /* owned: the table has this epoch for this life */
  uint8_t loose;                    /* an operator came in between */
  uint8_t latest_asked;             /* by its life, which settles what "latest" is */
  hd_place *places;                 /* of the records from `first` on */
  size_t places_cap;
} hd_ownership;

struct hd_part {
  char id[HD_ID_MAX];
  size_t number;
  int parents[2];
  uint8_t closed, excused, excused_ever, unordered_times, ended_told, latest_asked;
  uint8_t commanded;                        /* a command has set or released it */
  uint64_t closed_us, excused_us, owner_us; /* owner_us: it went to another owner last */
  size_t trimmed, row_n; /* row_n: records put when the row was made first; SIZE_MAX: never */
  size_t latest_n;       /* records put when somebody asked for the latest last */
  uint64_t knew_us;      /* its row was made last by one that knew the rows of this moment */
  size_t made;           /* in that version */
  int64_t loss_told_ms;  /* until then somebody has told what is missing; INT64_MIN: nobody */
  hd_note *notes;
  size_t notes_n, notes_cap;
  char *texts;
  size_t texts_n, texts_cap;
  hd_version *versions;
  size_t versions_n, versions_cap;
  hd_ownership *ownerships; /* the latest first */
  uint64_t
      given_epoch; /* when all was said to be drained its owner had been given it so, unread; 0: it had not */
};

typedef struct hd_held { /* a batch with the user */
  struct hd_held *next;
  const void *batch;
  size_t n, cap;
  struct {
    hd_ownership *tenancy; /* NULL: not to be judged */
    size_t index;
    uint8_t acked;
  } * records;
  hd_ownership *ownerships; /* each once, by next_in_batch while it is handed out */
} hd_held;

typedef struct hd_of_shard { /* what a life knows of a shard */
  hd_ownership *now;         /* the latest */
  uint64_t epoch;            /* taken last */
  uint8_t taken, opened, paused;
  uint64_t taken_us;
  uint64_t paged_us;     /* it was last answered with a page; 0: never */
  uint64_t throttled_us; /* a page was last refused, for the shard was read too often; 0: never */
  uint64_t located_us;   /* it was first answered with a place to read from since then */
  uint64_t moved_us;     /* records of it were last handed out, given back or acknowledged */
  uint64_t told_us;      /* it was told at this moment last, */
  uint64_t rested_us;    /* and then it was told that nothing is read, and why; or it was new */
  uint64_t well_us;      /* since then it is told to be read, or at its tip; 0: it is not */
  uint64_t unknown_us;   /* since then its lag is told as unknown; 0: it is not */
  uint64_t small_us;     /* since then its lag is told as too small; 0: it is not */
  uint64_t fresh_us;     /* the last fresh record was handed out */
  uint64_t strange_us;   /* since then the table has it for another while it is told as read; 0: it has not */
  uint64_t waits_us;     /* since then it is told to wait for a parent; 0: it is not */
  uint64_t untold_us;    /* since then a loss is to be told; 0: none is */
  size_t untold;         /* of this record */
  uint64_t losses;       /* told since it was taken */
  sloop_shard_state_t state; /* as it was told last, and for how long */
  int64_t state_ms;
} hd_of_shard;

typedef struct hd_top { /* the latest in the order of time that was handed out fresh */
  int64_t ms;
  char seq[HD_ID_MAX];
  uint32_t seq_n;
} hd_top;

typedef struct hd_life {
  char id[HD_ID_MAX], what[HD_ID_MAX + 24]; /* what: "w2#5" */
  size_t number;
  uint64_t born_us;
  uint64_t stood_us, stood_until_us; /* its last stand of more than half a lease: from, until */
  hd_of_shard *shards;
  size_t shards_cap;
  hd_held *held;
  const char **instances; /* interned */
  size_t instances_n, instances_cap;
  const char *instance; /* interned: as it joined last; NULL: not, or evicted */
  int inside;
  uint64_t asked_us, asked_before_us,
      awake_us;          /* when it is asked what it tells of itself; it stands no more */
  uint64_t unready_us;   /* it was last told as not ready */
  uint64_t stood_us_max; /* the longest time in which it could not be asked */
  uint64_t joined_us, suspended_us, unpaused_us; /* joined_us: or evicted; suspended_us: or resumed */
  uint8_t died, failed, stopping, stop_told, closing, closed, paused_all, suspended, joined, left_told, left;
  uint8_t outcast; /* an operator has evicted it, and it has not joined anew */
  uint32_t batches_out, weight;
  uint64_t records, batches, again, late, dead_letters;
  uint64_t *table_us; /* when it asked for all rows, as it came to be known */
  size_t table_n, table_cap;
  hd_top own_top, *top; /* top: its own, or that of the consumer it is joined to */
} hd_life;

typedef enum {
  HD_TOLD_BATCH,
  HD_TOLD_DEAD_LETTER,
  HD_TOLD_BACK,
  HD_TOLD_ROW,
  HD_TOLD_LEASE,
  HD_TOLD_SHARD,
  HD_TOLD_LOSS,
  HD_TOLD_PAUSE,
  HD_TOLD_DEED /* what: a text that lives for ever */
} hd_told_kind;
typedef struct hd_told {
  uint64_t us, epoch;
  size_t life, shard; /* SIZE_MAX: none */
  size_t a, b, n;
  const char *what;
  uint8_t kind;
} hd_told;

struct hd_oracle {
  slp_mem *mem;
  hd_terms terms;
  slp_map ids;      /* shard id -> hd_part */
  slp_map interned; /* text -> itself */
  hd_part **shards;
  size_t shards_n, shards_cap;
  hd_part *last_shard;
  hd_life **lives;
  size_t lives_n, lives_cap;
  hd_held *spare;
  uint64_t first_row_us; /* the first lease was made */
  uint64_t batches_ever;
  uint64_t command, command_us, command_evicted; /* commands so far; when the last one began; workers */
  int64_t last_arrived_ms;
  uint64_t drained_us; /* since then the operator counts on it that nobody reads; 0: it does not */
  uint8_t unordered_times, begun_anew;
  uint64_t records, repeats, again, late, overlaps, rows, ownerships, batches, acks, losses, dead_letters,
      excuses;
  hd_told *told; /* a ring */
  size_t told_n, told_cap, told_first;
  hd_rule broken;
  char text[400], shard[HD_ID_MAX];
};

static inline uint64_t hd_now(const hd_oracle *o) { return o->terms.now_us(o->terms.arg); }
/* Room for one more than n; array is the address of a pointer. */
void hd_room(hd_oracle *o, void *array, size_t n, size_t *cap, size_t each);
hd_life *hd_life_of(hd_oracle *o, size_t life);
hd_of_shard *hd_of(hd_oracle *o, hd_life *l, const hd_part *s);
const char *hd_intern(hd_oracle *o, const char *text);
int hd_is_instance(hd_oracle *o, const hd_life *l, const char *owner); /* of this life */
void hd_learn_instance(hd_oracle *o, hd_life *l, const char *owner);
/* P1 and P2, for every callback. 0: the rest is not to be looked at. */
int hd_called_back(hd_oracle *o, hd_life *l, const char *name);

/* truth */
hd_part *hd_find_shard(hd_oracle *o, const char *id); /* NULL */
slp_str hd_seq(const hd_part *s, size_t note);
size_t hd_find_note(const hd_part *s, slp_str seq, uint32_t sub, size_t guess); /* SIZE_MAX */
size_t hd_notes_up_to(const hd_part *s, slp_str seq, uint32_t sub); /* so many are not behind it */
size_t hd_notes_before_ms(const hd_part *s, int64_t ms);
/* A parent has a lease, or had one, and whoever made its own row knew of it. */
int hd_counts_as_parent(const hd_oracle *o, const hd_part *s, const hd_part *p);
int hd_is_child(const hd_oracle *o, const hd_part *s); /* one of its parents counts */
int hd_text(hd_oracle *o, hd_part *s, slp_str text, size_t *ret_at);

/* rows */
const hd_version *hd_row_now(const hd_part *s);                 /* NULL: it never had one; it may be gone */
const hd_version *hd_row_in(const hd_part *s, uint64_t epoch);  /* the first of that epoch; NULL */
size_t hd_row_done(const hd_part *s, const hd_version *v);      /* as far as is known now */
int hd_is_behind_record(const hd_part *s, const hd_version *v); /* its position is one */
/* Records before it are nobody's duty: the application begins behind them. */
size_t hd_floor(const hd_oracle *o, const hd_part *s);

/* The first record of the tenancy is one of [*low, *high], or the first behind them that can be read. */
void hd_beginning(const hd_oracle *o, const hd_ownership *t, size_t *low, size_t *high);

/* losses */
/* Records of [from, to) that were gone when the lease was taken, and that nobody ever finished with, are told. */
void hd_judge_untold(hd_oracle *o, hd_life *l, const hd_ownership *t, size_t from, size_t to);
void hd_judge_owed(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_of_shard *of);
void hd_judge_loss(hd_oracle *o, const hd_life *l, hd_part *s, const sloop_loss_t *loss);

/* tenancies */
hd_ownership *hd_ownership_of(hd_oracle *o, hd_life *l, hd_part *s, uint64_t epoch); /* found, or a new one */
hd_place *hd_place_of(hd_oracle *o, hd_ownership *t, size_t index);
void hd_settle(hd_oracle *o, hd_ownership *t, size_t index, hd_fate fate);
void hd_advance(hd_oracle *o, hd_ownership *t);
size_t hd_known_from_before(const hd_ownership *t); /* what the life itself read in the epoch before */
/* What of so many records a row can hold as done: of an aggregate all or nothing, where it has no place inside. */
size_t hd_can_hold(const hd_oracle *o, const hd_part *s, size_t done);
size_t hd_given(const hd_ownership *t); /* what was surely finished with when it ended by its own will */
/* S15: while all is drained, a worker that was given a lease unread gives the lease up with its first write. */
void hd_judge_kept(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_version *was,
                   const hd_version *now);
void hd_ownership_over(hd_oracle *o, hd_ownership *t, int given);

/* story */
void hd_tell(hd_oracle *o, hd_told_kind kind, size_t life, size_t shard, hd_told more);

#endif

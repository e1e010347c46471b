/* oracle.h - judges a family of consumers: every promise of sloop.h as a check on what the callbacks say,
 * against the world's own log. It never asks the library anything. The first broken promise is kept. */
#ifndef SLP_TEST_SWARM_ORACLE_H
#define SLP_TEST_SWARM_ORACLE_H

#include <sloop.h>

#include "swarm/world.h"

typedef struct slp_oracle slp_oracle;

typedef enum {
  SLP_RECORD_NEVER,
  SLP_RECORD_OUT,
  SLP_RECORD_BACK,
  SLP_RECORD_ACKED,
  SLP_RECORD_SKIPPED
} slp_record_fate;

typedef struct slp_begun {    /* where reading began: at the start, or by a move */
  sloop_position_kind_t kind; /* never AT_TOKEN: that is a saved one */
  int64_t at_ms;
  char shard[130], seq[130];
  uint64_t sub;
  size_t shards_n; /* known then */
} slp_begun;

/* The content that a token must have: where each shard goes on, between two records where that is not known exactly. */
typedef struct slp_saved {
  slp_begun from;
  size_t shards_n; /* known then; later ones are read when a parent is */
  struct {
    uint8_t reads;
    uint8_t unknown; /* that it is to be read nobody could know, and did not */
    size_t low, high;
  } shards[SLP_SHARDS_MAX];
} slp_saved;

typedef struct slp_judged_shard {
  slp_known_shard *known;
  uint8_t *fates; /* slp_record_fate of every note */
  uint16_t *attempts;
  size_t cap;
  uint8_t started, opened, ended, stopped, paused, lost;
  uint8_t refused;    /* a record of it came back too often */
  uint8_t hopeless;   /* a call about it failed, and will not be tried again */
  uint64_t moved_us;  /* it was opened, or a record of it handed over, given back or acknowledged */
  uint64_t told_us;   /* truth.c: when it was told last, */
  uint64_t rested_us; /* and when it was told last that nothing is read, and why */
  size_t done_n;      /* truth.c: of the notes before it all are finished with */
  size_t first, next; /* the first note ever handed over; the fresh one to come */
  size_t trimmed_at_start;
  size_t out_n, back_n, acked_n;
  uint8_t latest_known;
  size_t latest_high; /* where the latest was when it was opened */
  uint64_t back_us;   /* when something was given back last */
  uint32_t batches_out;
} slp_judged_shard;

typedef struct slp_judged { /* one consumer */
  slp_oracle *oracle;
  slp_known_stream *stream;
  const sloop_opts_t *opts; /* borrowed */
  slp_judged_shard shards[SLP_SHARDS_MAX];
  uint8_t started, paused_all, stop_pending, stopped, close_called, closed, failed, any_stopped;
  uint8_t list_pending;
  uint64_t started_us, stop_by_us; /* stop_by_us: a stop may not give up sooner */
  uint64_t listed_us;              /* when the listing began that reading began with */
  int64_t started_ms;              /* by the service's clock */
  slp_begun from;
  const slp_saved *saved; /* borrowed; NULL: not from a token */
  uint32_t batches_out;
  uint64_t records, fresh, again, late, batches, losses, errors, tips, ended, moved;
  int64_t loss_since_ms; /* of the last loss */
  int loss_certain;      /* the same */
  int last_error;
  char last_aws_code[64], last_message[200];
  uint64_t looked_us,
      frozen_us;       /* truth.c: when it was asked last what it tells of itself, when it stood last */
  uint64_t unready_us; /* truth.c: when it was last told as not ready */
  uint64_t looks, resumed_us;            /* truth.c: how often; it was paused or resumed last */
  uint64_t last_record_us, delay_us_max; /* from put to on_batch, fresh records */
} slp_judged;

struct slp_oracle {
  slp_world *world;
  slp_judged *members[SLP_STREAMS_MAX];
  size_t members_n;
  int inside; /* > 0: a sloop_* call is running */
  uint8_t losses_expected, order_unchecked, late_forbidden, raw_expected;
  uint8_t silent_trims;   /* records may vanish under a living iterator, where nobody can see it */
  uint8_t keys_good;      /* what is refused is a clock that is wrong, and that is put right unheard */
  uint8_t stops_expected; /* shards may be given up */
  uint8_t lags_lie;       /* pages tell a lag that is none */
  uint8_t whole_seconds;  /* where reading begins at a time, it is its second */
  uint8_t memory_fails;   /* a callback may be lost and attempts may be counted too low */
  struct slp_held_by_user *held, *free_held;
  uint64_t serials; /* batches ever handed over */
  /* The latest key handed over. */
  int64_t top_ms;
  char top_seq[130];
  uint64_t buffered_bytes_max_seen;
  char bad[400]; /* the first broken promise; "" */
};

slp_oracle *slp_oracle_new(slp_world *w);
void slp_oracle_free(slp_oracle *o);
slp_judged *slp_oracle_member(slp_oracle *o, slp_known_stream *s, const sloop_opts_t *opts);
void slp_oracle_bad(slp_oracle *o, const char *fmt, ...) SLP_PRINTF(2, 3);

/* Around every call into the library. */
#define SLP_CALL(o, expr) ((o)->inside++, (expr), (void)(o)->inside--)

/* The callbacks, and the acts of the user. */
void slp_oracle_on_start(slp_judged *m);
void slp_oracle_save(const slp_judged *m, slp_saved *to); /* a token was made; what it must say */
/* The start, or what a move that succeeded was to: a place, or what was saved. */
void slp_oracle_moved(slp_judged *m, const sloop_position_t *to, const slp_saved *saved);
void slp_oracle_on_batch(slp_judged *m, sloop_batch_t *b);
void slp_oracle_on_shard(slp_judged *m, const char *shard, sloop_shard_event_kind_t what);
void slp_oracle_on_tip(slp_judged *m);
void slp_oracle_on_loss(slp_judged *m, const sloop_loss_t *loss);
void slp_oracle_on_error(slp_judged *m, const sloop_error_t *e);
void slp_oracle_on_stopped(slp_judged *m, int status);
int slp_oracle_gave_up(const slp_judged *m, const char *shard); /* SLOOP_SHARD_STOPPED was told of it */
void slp_oracle_on_closed(slp_judged *m);
void slp_oracle_on_callback(slp_judged *m, const char *name); /* any other */
void slp_oracle_acked(slp_judged *m, sloop_batch_t *b, size_t index);
void slp_oracle_done(slp_judged *m, sloop_batch_t *b, size_t acked); /* before the call */
void slp_oracle_paused(slp_judged *m, const char *shard, int on);
/* For truth.c. The places where reading may begin in a shard; 0: nowhere. The user has finished with that
 * record. */
int slp_oracle_start_range(const slp_judged *m, const slp_judged_shard *s, size_t *low, size_t *high);
int slp_oracle_is_done(const slp_judged *m, const slp_judged_shard *s, size_t index);

/* Everything accepted that this consumer must have got by now was handed over and acknowledged. 0: not yet;
 * why gets a line when it is not NULL. */
int slp_oracle_all_read(slp_judged *m, char *why, size_t why_n);
size_t slp_oracle_held(const slp_oracle *o); /* batches with the user */
/* Tells a batch from a later one at the same address; 0: it is not with the user. */
uint64_t slp_oracle_serial(const slp_oracle *o, const sloop_batch_t *b);
sloop_batch_t *slp_oracle_held_at(const slp_oracle *o, size_t i);

#endif

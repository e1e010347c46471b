/* world.h - the service side of a simulation: the sandbox's Kinesis model behind the simulated network,
 * a log of every record it accepted, the lineage of its shards, and who called what when. The log is
 * ours, written when a record is put, so what the consumer hands over is judged by something that never
 * went through the model's reading side. */
#ifndef SLP_TEST_SWARM_WORLD_H
#define SLP_TEST_SWARM_WORLD_H

#include "codec/digest.h"
#include "sandbox/sandbox.h"
#include "swarm/host.h"

#define SLP_STREAMS_MAX 4
#define SLP_SHARDS_MAX 256
#define SLP_ENDPOINT "http://kinesis.sim:80"

typedef struct slp_note { /* one accepted record of a user's */
  char seq[130];
  uint32_t sub; /* its place inside an aggregate, else 0 */
  char key[24];
  int64_t arrived_ms;
  uint64_t id, put_us, trimmed_us; /* trimmed_us: where trimmed is set */
  uint32_t bytes;
  uint8_t trimmed;
} slp_note;

typedef struct slp_known_shard {
  char id[129];
  int parents[2]; /* places in the stream's list; -1: none */
  uint8_t closed, gone;
  int64_t loss_told_ms;         /* until then whatever reader has told what is missing */
  uint64_t hash_low, hash_high; /* the upper halves of its range of keys */
  uint64_t made_us, closed_us, first_locate_us;
  uint64_t told_us;       /* the last listing, or page of a parent, that names it */
  uint64_t shown_open_us; /* the last page that did not show yet that it was closed */
  uint64_t listed_us;     /* when the listing began that was the newest at its first_locate_us */
  slp_note *notes;
  size_t notes_n, notes_cap;
  /* The requests that came. */
  uint64_t polls, rest_polls, locates, latest_locates, time_locates;
  uint64_t pushed_by_time;  /* subscriptions from a time on */
  int64_t pushed_from_ms;   /* of the last one */
  uint64_t poll_sent_us[6]; /* the last six, as a ring */
  uint64_t last_poll_us;
  uint64_t paged_us;              /* when the last page was made; 0: none was */
  uint64_t refused_since_us;      /* the first refusal of a page since one was answered; 0: none */
  uint64_t refused_last_us;       /* the last refusal of a page; 0: none */
  uint64_t refused_us;            /* the longest time from such a refusal to the next page */
  size_t latest_low, latest_high; /* notes there when LATEST was first and last asked for; SIZE_MAX: never */
  int64_t latest_first_ms;
  size_t by_time_low; /* smallest place an AT_TIMESTAMP could begin at; SIZE_MAX: never asked */
} slp_known_shard;

typedef struct slp_known_stream {
  char name[129];
  slp_known_shard *shards;
  size_t shards_n;
} slp_known_stream;
/* k: a shard of s; parent: one of this or of another stream. */
int slp_known_is_child(const slp_known_stream *s, const slp_known_shard *k, const slp_known_shard *parent);

typedef struct slp_world {
  slp_mem *mem;
  uint64_t seed;
  slp_sim *sim;
  slp_box *box;
  slp_known_stream streams[SLP_STREAMS_MAX];
  size_t streams_n;
  int64_t service_off_ms; /* the service's clock against true time */
  uint8_t clock_went_back, faults_set, rate_unchecked, down;
  uint64_t ids, records_put, bytes_put;
  uint64_t aggregated;   /* of those records, inside an aggregate */
  size_t largest_answer; /* bytes of one page */
  uint64_t calls, gets;
  uint64_t listed_us;       /* the first page of the newest listing */
  uint64_t rest_us;         /* since then sent polls are rest_polls: copies of older ones come for seconds */
  uint64_t poll_gap_us_min; /* the least time any six polls of one shard took */
  struct slp_seen_iterator *seen;
  size_t seen_n, seen_cap;
  slp_digest *digest;
  /* Called after every answer is made, may change it. op is the operation's name; shard NULL: not known. */
  void (*on_answer)(struct slp_world *w, const char *op, slp_known_shard *shard, slp_sim_reply *reply);
  void *user;
} slp_world;

/* o NULL: read limits as the service's, no write limits. */
slp_world *slp_world_new(slp_mem *mem, uint64_t seed, const sloop_sandbox_opts_t *o);
void slp_world_free(slp_world *w); /* after every host is closed */
void slp_world_box_opts(sloop_sandbox_opts_t *o);

int64_t slp_world_ms(const slp_world *w); /* Unix time of the service */
slp_known_stream *slp_world_stream(slp_world *w, const char *name, uint32_t shards);
/* Puts one record with a random key; NULL when the service refused. */
slp_note *slp_world_put(slp_world *w, slp_known_stream *s, uint32_t bytes);
/* Puts into this shard: draws keys until one falls into it. */
slp_note *slp_world_put_to(slp_world *w, slp_known_stream *s, size_t shard, uint32_t bytes);
/* Puts n records as one aggregate; 0: a record that nothing comes of. Not 0: the service refused. */
int slp_world_put_aggregate(slp_world *w, slp_known_stream *s, size_t n, uint32_t bytes);
void slp_world_put_many(slp_world *w, slp_known_stream *s, size_t n, uint32_t bytes);
/* 0, or the model's refusal. The shard closes and its children appear after the model's change_ms. */
int slp_world_split(slp_world *w, slp_known_stream *s, size_t shard);
int slp_world_merge(slp_world *w, slp_known_stream *s, size_t shard, size_t other);
/* Retention passes: everything that arrived before this is dropped. */
void slp_world_trim(slp_world *w, slp_known_stream *s, int64_t before_ms);
void slp_world_faults(slp_world *w, const char *script); /* NULL clears */
/* A random open shard of s; SIZE_MAX: none. */
size_t slp_world_open_shard(slp_world *w, const slp_known_stream *s);
size_t slp_world_find(const slp_known_stream *s, const char *id); /* SIZE_MAX: not known */
/* A hash key as decimal text, of its upper half; its lower half is all zeros, or at the end all ones. */
void slp_world_hash(uint64_t upper, int end, char out[48]);
/* For another way to serve the same streams: what was asked of a shard, kind in the service's words. */
void slp_world_polled(slp_world *w, slp_known_shard *sh, uint64_t sent_us);
void slp_world_answered(slp_world *w, slp_known_shard *sh, int refused); /* as too many; or a page */
void slp_world_located(slp_world *w, slp_known_shard *sh, slp_str kind);
void slp_world_listed(slp_world *w, slp_str next_token);
/* What a simulated process finds in its environment: keys. A slp_getenv_fn. */
const char *slp_world_keys(void *ctx, const char *name);
/* Lets virtual time pass. */
void slp_world_pass(slp_world *w, uint64_t ms);

/* The content of record `id` of so many bytes. */
void slp_note_fill(uint64_t id, char *to, size_t bytes);
int slp_note_holds(const slp_note *note, const char *p, size_t n);

#endif

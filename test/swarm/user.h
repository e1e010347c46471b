/* user.h - a program that uses the library, in a simulated world: opens a consumer on a host, hands every
 * callback to the oracle, and treats batches as its manners say. The same code for scenes and swarm. */
#ifndef SLP_TEST_SWARM_USER_H
#define SLP_TEST_SWARM_USER_H

#include "api/open.h"
#include "swarm/oracle.h"

typedef struct slp_manners {
  uint64_t hold_us_min, hold_us_max; /* a batch is kept so long; both 0: given back inside on_batch */
  uint32_t give_back_ppm;            /* chance that a batch comes back with records not finished with */
  uint32_t ack_singly_ppm;           /* chance that records are acknowledged one by one, in random order */
  uint8_t keep;                      /* batches are kept until slp_user_return_all() */
} slp_manners;

typedef struct slp_user slp_user;
struct slp_user {
  slp_world *world;
  slp_oracle *oracle; /* one for a family */
  uint8_t oracle_owned;
  slp_judged *judged;
  slp_mem *mem; /* the library's own; everything must be back in the end */
  uint8_t mem_owned;
  slp_host *host;
  sloop_opts_t opts;
  slp_manners manners;
  sloop_t *s; /* NULL: not open, or closed */
  uint8_t closed, stop_told, creds_later, kept_hidden;
  uint8_t timeless; /* its source finds no times, as that of DynamoDB */
  int stop_status, list_status;
  uint8_t list_told;
  size_t listed;
  char why[160];
  char *token;      /* the last one saved; owned by the world's memory */
  slp_saved *saved; /* what it must say */
  slp_saved *begun; /* what the token that reading began at said */
  uint8_t moving, move_told;
  int move_status;
  sloop_position_t move_to;
  char move_seq[130];
  slp_saved *move_saved;
  const slp_outside *outside; /* NULL: the sandbox's bytes, and no environment */
  uint64_t random;            /* its own stream: what it does never depends on what others draw */
  /* Scenes may take a batch themselves: 1 when they did. */
  int (*on_batch)(slp_user *u, sloop_batch_t *b);
  void (*on_any)(slp_user *u, const char *callback); /* first thing in every callback */
  void *scene;
};

/* A user with the default options on a new host with default clocks; change u->opts before opening. */
void slp_user_init(slp_user *u, slp_world *w, slp_known_stream *stream);
void slp_user_init_clock(slp_user *u, slp_world *w, slp_known_stream *stream, const slp_sim_clock *clock);
/* With memory from there, of which one hold is taken over. */
void slp_user_init_mem(slp_user *u, slp_world *w, slp_known_stream *stream, slp_mem *mem);
/* The same on the host of another one: family when it is to be joined to it. */
void slp_user_init_beside(slp_user *u, slp_user *other, slp_known_stream *stream, int joined);
int slp_user_open(slp_user *u);   /* what sloop_open said */
void slp_user_start(slp_user *u); /* opens when not yet open; must succeed */
void slp_user_pause(slp_user *u, const char *shard);
void slp_user_resume(slp_user *u, const char *shard);
void slp_user_stop(slp_user *u, uint64_t limit_ms);
void slp_user_list(slp_user *u);
/* 0 when there is nothing to save. */
int slp_user_save(slp_user *u);
/* The answer of sloop_seek. To u->token when the kind is AT_TOKEN and no other is given. */
int slp_user_move(slp_user *u, const sloop_position_t *to);
int slp_user_move_kind(slp_user *u, sloop_position_kind_t kind);
int slp_user_moved(slp_user *u, uint64_t ms); /* lets time pass until the move is told; 1 when it succeeded */
/* Gone without a word, and a new one that starts from u->token. */
void slp_user_reopen(slp_user *u);
void slp_user_revive(slp_user *u); /* the second half of it: the old one is closed */
void slp_user_close(slp_user *u);  /* only asks */
void slp_user_done(slp_user *u, sloop_batch_t *b, size_t acked);
void slp_user_ack(slp_user *u, sloop_batch_t *b, size_t index);
void slp_user_return_all(slp_user *u); /* everything held goes back, all finished with */
/* Of a shard among those that sloop_shard_stats_each() lists; 0 when it is not there. */
uint64_t slp_user_unacked_of(sloop_t *s, const char *shard);
sloop_stats_t slp_user_stats(slp_user *u);

/* Lets time pass until everything put so far was read and acknowledged; 0 when ms were not enough. */
int slp_user_catch_up(slp_user *u, uint64_t ms);
/* Lets time pass until cond(arg) holds. */
int slp_user_wait(slp_user *u, uint64_t ms, int (*cond)(void *arg), void *arg);
/* Closes, waits for the callback, gives back what is held, checks that all memory came back. */
void slp_user_finish(slp_user *u);

/* After finish: the host goes too, on a later turn. Only for users made by slp_user_init. */
void slp_user_leave(slp_user *u);
void slp_user_free(slp_user *u); /* the end of the oracle and, where owned, of the memory */

#endif

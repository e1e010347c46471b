/* fleet_look.h - asks the lease table and the stream, again and again, how far a worker's whole application
 * has come (whole_fleet.h). Every worker of tail.c that ends by itself (-e, --until) has one. */
#ifndef SLP_CLI_FLEET_LOOK_H
#define SLP_CLI_FLEET_LOOK_H

#include "cli/consumer.h"
#include "cli/whole_fleet.h"

/*     IDLE -> ROWS -> LISTING -> IDLE
 *             ROWS -> IDLE              the rows alone say that it is not the end */
typedef enum slp_fleet_look_state {
  SLP_LOOK_IDLE,
  SLP_LOOK_ROWS,   /* the lease table was asked for its rows */
  SLP_LOOK_LISTING /* the stream was asked for its shards */
} slp_fleet_look_state;

typedef struct slp_fleet_look {
  slp_cli_consumer *c; /* borrowed; NULL: this struct is not in use */
  slp_whole_fleet whole;
  slp_fleet_look_state state;
  slp_whole_state found;       /* what the last completed look found */
  uint64_t begun_us, again_us; /* begun_us: when the last look began; again_us: when the next one may begin */
  uint64_t shared_us;          /* since when every shard has had a reader; 0: not yet */
  uint64_t told_us;            /* when slp_fleet_look_tell last said something; 0: never */
  uint32_t tries;              /* questions that failed in a row */
  char why[sizeof((slp_whole_fleet *)0)->why]; /* words about `found` */
} slp_fleet_look;

/* The consumer c must live as long as k. */
void slp_fleet_look_init(slp_fleet_look *k, slp_mem *mem, slp_cli_consumer *c);
void slp_fleet_look_free(slp_fleet_look *k);
/* Begins a look, unless one is under way or it is too early. The caller makes sure that the answer is wanted.
 * by_time: the look is for --until, and everything that this worker reads is read up to that time. */
void slp_fleet_look_tick(slp_fleet_look *k, int by_time);
/* Says from time to time what is waited for, if the waiting has lasted since since_us. `what`: "-e" or the
 * like. */
void slp_fleet_look_tell(slp_fleet_look *k, const char *what, uint64_t since_us);
/* Returns 1 if each shard that this worker reads is at its tip with every record acknowledged. Asks no
 * service. */
int slp_fleet_look_mine_at_tip(slp_fleet_look *k);

#endif

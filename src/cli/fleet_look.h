/* fleet_look.h - finds out how far all workers of an application together have read (whole_fleet.h). To do so
 * it looks at the lease table and the stream again and again. One look reads all rows of the table, and then
 * the list of shards. tail.c uses it for each worker that ends by itself (-e, --until). */
#ifndef SLP_CLI_FLEET_LOOK_H
#define SLP_CLI_FLEET_LOOK_H

#include "base/mem.h"
#include "cli/consumer_run.h"
#include "cli/whole_fleet.h"

/* The states of one look:
 *     IDLE -> ROWS -> LISTING -> IDLE
 *             ROWS -> IDLE              if the rows alone show that the workers are not done */
typedef enum slp_fleet_look_state {
  SLP_LOOK_IDLE,
  SLP_LOOK_ROWS,   /* the lease table was asked for its rows, and the answer has not come */
  SLP_LOOK_LISTING /* the stream was asked for its shards, and the answer has not come */
} slp_fleet_look_state;

typedef struct slp_fleet_look {
  slp_cli_consumer *c;                    /* borrowed; NULL: this struct is not in use */
  void (*on_looked)(slp_cli_consumer *c); /* called after each complete look; `found` is its result */
  slp_whole_fleet whole;
  slp_fleet_look_state state;
  slp_whole_state found; /* result of the last complete look */
  /* begun_us: start of the last look; again_us: earliest start of the next look */
  uint64_t begun_us, again_us;
  uint64_t pause_us; /* pause after the look under way, or after the next one */
  size_t mine_n;     /* how many shards this worker read when slp_fleet_look_tick was last called */
  /* since when every shard has been read by some worker; 0: some shard has had no reader so far */
  uint64_t shared_us;
  uint64_t told_us; /* when slp_fleet_look_tell last printed a line; 0: never */
  /* how many readings of the rows or the shards have failed in a row */
  uint32_t tries;
  char why[sizeof((slp_whole_fleet *)0)->why]; /* `found` in words */
} slp_fleet_look;

/* The consumer c must live as long as k. */
void slp_fleet_look_init(slp_fleet_look *k, slp_mem *mem, slp_cli_consumer *c,
                         void (*on_looked)(slp_cli_consumer *c));
void slp_fleet_look_free(slp_fleet_look *k);
/* Starts a look, unless one is under way or it is too early. The caller calls this function only while it
 * needs the result. by_time: 1: the look is for --until, and this worker has read its shards up to that
 * time. */
void slp_fleet_look_tick(slp_fleet_look *k, int by_time);
/* Prints from time to time a line that says what the worker is waiting for. since_us: when the waiting began.
 * `what`: the option that makes the worker wait, such as "-e". */
void slp_fleet_look_tell(slp_fleet_look *k, const char *what, uint64_t since_us);
/* Returns 1 if this worker has read each of its shards to the newest record and all records are acknowledged.
 * Sends no call. */
int slp_fleet_look_mine_at_tip(slp_fleet_look *k);

#endif

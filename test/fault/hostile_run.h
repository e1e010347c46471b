/* hostile_run.h - a whole consumer in virtual time beside a service that may answer what it likes: what it cost, and
 * whether that is within the bounds. */
#ifndef SLP_TEST_HOSTILE_RUN_H
#define SLP_TEST_HOSTILE_RUN_H

#include "swarm/world.h"
#include <sloop.h>

#define OPS_MAX 32
#define TABLE "orders"

typedef struct run run;
struct run {
  const char *op; /* answered by `say` from from_us on; NULL: none is */
  void (*say)(run *r, slp_sim_reply *reply);
  uint64_t from_us;
  void (*at_ms)(run *r);        /* NULL, or called once, so long after the start */
  uint32_t at, seconds, waited; /* seconds: after at_ms; waited: seconds that at_ms took */
  const char *schema, *worker;  /* NULL: no leases */
  uint8_t streams;              /* of a table */
  const char *cause;            /* what on_error must say at last; NULL: anything */
  uint8_t by_kin;               /* reading begins at a record: what is read is found by kin */
  uint8_t many;                 /* shards or rows, which a turn takes in */
  void *arg;

  slp_world *w;
  uint64_t n;    /* wrong answers so far */
  slp_str asked; /* the body of the call that is being answered */
  struct {
    char name[40];
    uint32_t now, worst, all;
  } ops[OPS_MAX];
  size_t ops_n;
  uint64_t second;
  uint32_t errors, fatal, told, records; /* told: warnings, and what happened to leases */
  char last[300];
  char unsafe[300]; /* a text with what no terminal may get; "" */
  size_t peak;
  uint64_t turns, turn_us;
  slp_mem *mem; /* of the library */
  uint8_t closed;
};

typedef struct sums {
  uint32_t n, given, broken, worst;
  uint64_t turn_us;
  size_t peak;
  char worst_at[260], peak_at[200], turn_at[200];
} sums;

void slp_hostile_play(run *r);
/* 1: over a bound, which is printed; show: what it cost in any case. */
int slp_hostile_judge(const run *r, sums *all, const char *name, int show);
int slp_hostile_sums(const sums *all); /* prints them; 1: some bound was broken */
/* Sends a request to the sandbox. Its status; the answer's body goes to `ret`. */
int slp_hostile_ask(run *r, const char *target, slp_str body, slp_buf *ret);

#endif

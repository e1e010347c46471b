/* typed.h - the second seam of a simulation: calls of the library as they leave source/ and core/, without
 * the protocols' bytes and signatures, so that many more worlds fit into an hour. Requests and answers still
 * travel over the simulated network, with all its faults; the service is a Kinesis made of the world's own
 * log and tables in memory. A host uses it when its consumers are opened with what slp_typed_outside() gives.
 */
#ifndef SLP_TEST_SWARM_TYPED_H
#define SLP_TEST_SWARM_TYPED_H

#include "api/open.h"
#include "swarm/typed_msg.h"
#include "swarm/world.h"

#define SLP_TYPED_AUTHORITY "typed.sim"
#define SLP_TYPED_KINESIS "http://" SLP_TYPED_AUTHORITY "/kinesis"
#define SLP_TYPED_STREAMS "http://" SLP_TYPED_AUTHORITY "/streams"
#define SLP_TYPED_TABLES "http://" SLP_TYPED_AUTHORITY "/tables"

typedef struct slp_typed slp_typed;
/* Serves w's hosts from now on; what is not typed goes to whom it went before. */
slp_typed *slp_typed_new(slp_world *w);
void slp_typed_free(slp_typed *t); /* every host is closed */
slp_typed_faults *slp_typed_faults_of(slp_typed *t);
/* For consumers on h. Lives as long as t. */
slp_outside slp_typed_outside(slp_typed *t, slp_host *h);
/* After each write that took effect. from NULL: its host is gone. row NULL: there is none any more. */
void slp_typed_on_row(slp_typed *t,
                      void (*on_row)(void *arg, slp_host *from, uint64_t sent_us, const slp_row_key *key,
                                     const slp_row *row),
                      void *arg);
/* At once, and without faults: for operators and judges. What they answered belongs to the request. */
void slp_typed_get(slp_typed *t, slp_store_get *rq);
void slp_typed_list(slp_typed *t, slp_store_list *rq);
void slp_typed_write(slp_typed *t, slp_store_write *rq);
slp_typed_sums slp_typed_sums_of(const slp_typed *t);

#endif

/* served.h - calls of the simulated network, as the sandbox's model takes and answers them. */
#ifndef SLP_TEST_SWARM_SERVED_H
#define SLP_TEST_SWARM_SERVED_H

#include "sandbox/sandbox.h"
#include "swarm/host.h"

slp_box_request slp_served_request(const slp_sim_ask *ask);
/* Moves the answer, its body too, into the reply. date_ms is the service's time. */
void slp_served_reply(slp_sim_reply *reply, slp_box_answer *answer, int64_t date_ms);

#endif

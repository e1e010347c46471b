/* pump.h - decides which shard calls next. */
#ifndef SLP_CORE_PUMP_H
#define SLP_CORE_PUMP_H

#include "host/host.h"

/* Runs when slp_pump_soon has posted slp_engine.pump_ev. */
void slp_pump_run(slp_event *ev);

#endif

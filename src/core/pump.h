/* pump.h - decides which shard calls next. */
#ifndef SLP_CORE_PUMP_H
#define SLP_CORE_PUMP_H

#include "host/host.h"

/* Handles slp_engine.pump_ev, which slp_pump_soon posts. */
void slp_pump_run(slp_event *ev);

#endif

/* deliver.h - takes batches of records out of the merge (merge.h), and gives them to the user. */
#ifndef SLP_CORE_DELIVER_H
#define SLP_CORE_DELIVER_H

#include "core/core.h"

void slp_deliver_init(slp_engine *e);
void slp_deliver_free(slp_engine *e);
/* To be called after a seek. Forgets the latest order time, so that records that come from now on do not
 * count as late. */
void slp_deliver_anew(slp_engine *e);

#endif

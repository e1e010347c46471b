/* loss.h - tells of records that can't be read any more, with the bounds of the gap. */
#ifndef SLP_CORE_LOSS_H
#define SLP_CORE_LOSS_H

#include "codec/page.h"

typedef struct slp_shard slp_shard;

/* Tells that records behind the shard's last one are missing, or may be. next: the page with which reading
 * goes on; NULL: it is not known where that is. */
void slp_loss_tell(slp_shard *s, const slp_page *next, int certain, const char *message);

#endif

/* identity.h - the identity of a consumer, for calls to services that the library does not know. */
#ifndef SLP_API_IDENTITY_H
#define SLP_API_IDENTITY_H

#include "sloop.h"

typedef struct slp_aws slp_aws;

/* Returns the consumer's identity, borrowed until its on_closed. Every call with it must have ended, or been
 * cancelled, before sloop_close(). NULL: the consumer has none. */
slp_aws *slp_identity_of(const sloop_t *s);

#endif

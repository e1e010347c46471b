/* identity.h - the identity of a consumer, for calls to services of which the library knows nothing. */
#ifndef SLP_API_IDENTITY_H
#define SLP_API_IDENTITY_H

#include "sloop.h"

typedef struct slp_aws slp_aws;

/* Borrowed: it lives until the consumer's on_closed, and every call with it must have ended or been cancelled
 * before sloop_close(). NULL: it has none. */
slp_aws *slp_identity_of(const sloop_t *s);

#endif

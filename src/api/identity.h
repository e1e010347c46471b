/* identity.h - the identity (credentials, region, endpoints) of a consumer, for calls of the user's own to
 * services that the library has no functions for. */
#ifndef SLP_API_IDENTITY_H
#define SLP_API_IDENTITY_H

#include "sloop.h"

typedef struct slp_aws slp_aws;

/* Returns the identity of s, borrowed until on_closed of s is called. Every call that uses it must be
 * answered or cancelled before sloop_close(). NULL: s has none. */
slp_aws *slp_identity_of(const sloop_t *s);

#endif

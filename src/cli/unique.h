/* unique.h - --unique: finds out whether a record, or one with the same content, was seen lately. */
#ifndef SLP_CLI_UNIQUE_H
#define SLP_CLI_UNIQUE_H

#include "base/mem.h"
#include "sloop.h"

#define SLP_UNIQUE_WINDOW 100000 /* records that are remembered */

typedef struct slp_unique slp_unique;
slp_unique *slp_unique_new(slp_mem *mem, uint32_t window); /* NULL: no memory */
void slp_unique_free(slp_unique *u);                       /* NULL is fine */
/* Returns 1 if stream, key and payload of r (DynamoDB: stream and event id) are those of one of the last
 * `window` different records. Otherwise remembers r and returns 0. SLP_ENOMEM. */
int slp_unique_seen(slp_unique *u, const sloop_record_t *r);

#endif

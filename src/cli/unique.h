/* unique.h - --unique: finds out whether the same record, or another one with the same content, was seen
 * lately. */
#ifndef SLP_CLI_UNIQUE_H
#define SLP_CLI_UNIQUE_H

#include "base/mem.h"
#include "sloop.h"

#define SLP_UNIQUE_WINDOW 100000 /* how many records are remembered */

typedef struct slp_unique slp_unique;
slp_unique *slp_unique_new(slp_mem *mem, uint32_t window); /* returns NULL if there is no memory */
void slp_unique_free(slp_unique *u);                       /* NULL is fine */
/* Returns 1 if one of the last `window` different records had the same stream, key and payload as r (for
 * DynamoDB: the same stream and event id). Otherwise remembers r and returns 0. Returns SLP_ENOMEM if there
 * is no memory. */
int slp_unique_seen(slp_unique *u, const sloop_record_t *r);

#endif

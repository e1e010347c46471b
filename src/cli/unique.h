/* unique.h - --unique: has this record, or one with the same content, been seen lately? */
#ifndef SLP_CLI_UNIQUE_H
#define SLP_CLI_UNIQUE_H

#include "base/mem.h"
#include "sloop.h"

#define SLP_UNIQUE_WINDOW 100000

typedef struct slp_unique slp_unique;
slp_unique *slp_unique_new(slp_mem *mem, uint32_t window); /* NULL: no memory */
void slp_unique_free(slp_unique *u);                       /* NULL is fine */
/* 1: its stream, key and payload (DynamoDB: event id) are those of one of the last `window` different
 * records; 0: not, and it is remembered. SLP_ENOMEM. */
int slp_unique_seen(slp_unique *u, const sloop_record_t *r);

#endif

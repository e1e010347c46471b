/* schema_kcl_form.h - whether the leases of a table of the KCL name their stream. Those of an application
 * of one stream have a shard's id as their key. Those of a MultiStreamTracker have
 * ACCOUNT:NAME:EPOCH:SHARD, also when it tracks one stream only (project amazon-kinesis-client:
 * MultiStreamLease.getLeaseKey, StreamIdentifier.serialize). Pure. (schema_kcl_form.c) */
#ifndef SLP_GUEST_SCHEMA_KCL_FORM_H
#define SLP_GUEST_SCHEMA_KCL_FORM_H

#include "lease/schema.h"

#define SLP_KCL_NAMES 2 /* of one stream: as the KCL has it, or as its adapter for DynamoDB Streams has it */

typedef enum slp_kcl_key {
  SLP_KCL_KEY_PLAIN,    /* a shard's id: its application reads one stream, and the row does not say which */
  SLP_KCL_KEY_OURS,     /* it names this stream; of SLP_KCL_NAMES names the first, */
  SLP_KCL_KEY_ALIAS,    /* or the second */
  SLP_KCL_KEY_FORMER,   /* it names a stream that had this one's name before */
  SLP_KCL_KEY_MISNAMED, /* it names this stream by a time at which no stream of its name can have been made */
  SLP_KCL_KEY_OTHER,    /* it names another stream */
  SLP_KCL_KEY_ODD,      /* it is none of these */
  SLP_KCL_KEYS
} slp_kcl_key;

/* names: "ACCOUNT:NAME:EPOCH" of this stream, by which rows may name it; empty: not known. ret_shard: the
 * shard, of PLAIN, OURS and ALIAS. */
slp_kcl_key slp_kcl_key_of(const slp_str names[SLP_KCL_NAMES], slp_str key, slp_str *ret_shard);

typedef struct slp_kcl_keys { /* of the leases of a table */
  size_t n[SLP_KCL_KEYS];
  slp_str first[SLP_KCL_KEYS]; /* an example of each */
} slp_kcl_keys;
void slp_kcl_keys_count(slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], slp_str key);

/* Which kind of key the worker's own leases have: PLAIN, OURS or ALIAS. several: its application reads
 * several streams, so its rows name them. What is wrong with the table, and what is passed over, goes into
 * ret. */
slp_kcl_key slp_kcl_form(const slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], int several,
                         slp_table_form *ret);

#endif

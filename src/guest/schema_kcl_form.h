/* schema_kcl_form.h - decides whether the leases in a table of the KCL name their stream. In an application
 * of one stream, the key of a lease is the shard's id. In an application with a MultiStreamTracker it is
 * ACCOUNT:NAME:EPOCH:SHARD, even if that tracks one stream only (project amazon-kinesis-client:
 * MultiStreamLease.getLeaseKey, StreamIdentifier.serialize). Pure. (schema_kcl_form.c) */
#ifndef SLP_GUEST_SCHEMA_KCL_FORM_H
#define SLP_GUEST_SCHEMA_KCL_FORM_H

#include "lease/schema.h"

/* How many names a stream has: the first by the KCL, the second by its adapter for DynamoDB Streams. */
#define SLP_KCL_NAMES 2

typedef enum slp_kcl_key {
  SLP_KCL_KEY_PLAIN,    /* a shard's id: the application reads one stream, and the row does not say which */
  SLP_KCL_KEY_OURS,     /* names this stream by the first of SLP_KCL_NAMES names */
  SLP_KCL_KEY_ALIAS,    /* names this stream by the second */
  SLP_KCL_KEY_FORMER,   /* names an earlier stream of the same name */
  SLP_KCL_KEY_MISNAMED, /* names this stream, but with a time at which no stream of its name can have been
                           made, or with its time and another account */
  SLP_KCL_KEY_OTHER,    /* names another stream */
  SLP_KCL_KEY_ODD,      /* none of these */
  SLP_KCL_KEYS
} slp_kcl_key;

/* Returns the kind of a row's key. names: "ACCOUNT:NAME:EPOCH", the ways in which rows may name this stream;
 * empty: it has no such name. *ret_shard: the shard, for PLAIN, OURS and ALIAS. */
slp_kcl_key slp_kcl_key_of(const slp_str names[SLP_KCL_NAMES], slp_str key, slp_str *ret_shard);

typedef struct slp_kcl_keys {  /* counts the keys of all leases of a table */
  size_t n[SLP_KCL_KEYS];      /* how many keys of each kind there are */
  slp_str first[SLP_KCL_KEYS]; /* the first key of each kind, as an example; borrowed */
} slp_kcl_keys;
void slp_kcl_keys_count(slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], slp_str key);

/* Returns which kind of key this worker's leases have: PLAIN, OURS or ALIAS. several: its application reads
 * several streams, so its rows name them. ret: says why nobody should work with the table, and which rows are
 * left alone. */
slp_kcl_key slp_kcl_form(const slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], int several,
                         slp_table_form *ret);

#endif

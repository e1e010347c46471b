/* schema_kcl_form.h - decides whether the leases in a table of the KCL name their stream. In an
 * application of one stream, the key of a lease is the shard's id. In an application with a
 * MultiStreamTracker, the key is ACCOUNT:NAME:EPOCH:SHARD, even if the application tracks only one stream
 * (project amazon-kinesis-client: MultiStreamLease.getLeaseKey, StreamIdentifier.serialize). Pure.
 * (schema_kcl_form.c) */
#ifndef SLP_GUEST_SCHEMA_KCL_FORM_H
#define SLP_GUEST_SCHEMA_KCL_FORM_H

#include "lease/schema.h"

/* How many names a stream may have: the first is that of the KCL, the second that of its adapter for
 * DynamoDB Streams. */
#define SLP_KCL_NAMES 2

typedef enum slp_kcl_key {
  /* the key is a shard's id: the application reads one stream, and the row does not name it */
  SLP_KCL_KEY_PLAIN,
  SLP_KCL_KEY_OURS,   /* the key names this stream as the KCL does, names[0] */
  SLP_KCL_KEY_ALIAS,  /* the key names this stream as the KCL's adapter does, names[1] */
  SLP_KCL_KEY_FORMER, /* the key names an earlier stream with the same name */
  /* the key has this stream's name, but a time at which no stream of this name can have been created, or the
   * right time and another account */
  SLP_KCL_KEY_MISNAMED,
  SLP_KCL_KEY_OTHER, /* the key names another stream */
  SLP_KCL_KEY_ODD,   /* the key has none of these forms */
  SLP_KCL_KEYS
} slp_kcl_key;

/* Returns which kind of key a row has. names: the names, each "ACCOUNT:NAME:EPOCH", by which rows may name
 * this stream; an empty text: there is no such name. For PLAIN, OURS and ALIAS, *ret_shard is the shard. */
slp_kcl_key slp_kcl_key_of(const slp_str names[SLP_KCL_NAMES], slp_str key, slp_str *ret_shard);

typedef struct slp_kcl_keys {  /* counts the keys of all leases in a table by their kinds */
  size_t n[SLP_KCL_KEYS];      /* how many keys of each kind there are */
  slp_str first[SLP_KCL_KEYS]; /* the first key of each kind, for messages; borrowed */
} slp_kcl_keys;
void slp_kcl_keys_count(slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], slp_str key);

/* Returns which kind of key this worker's leases get: PLAIN, OURS or ALIAS. several 1: the application
 * reads several streams, so its rows must name them. Sets ret->refused to the reason if the table can't be
 * used, and ret->passed to which rows are left as they are. */
slp_kcl_key slp_kcl_form(const slp_kcl_keys *keys, const slp_str names[SLP_KCL_NAMES], int several,
                         slp_table_form *ret);

#endif

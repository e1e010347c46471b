/* kcl_rows.h - the rows of a KCL's leases for the models of its workers. Source: the project
 * amazon-kinesis-client, classes DynamoDBLeaseSerializer and DynamoDBLeaseRefresher. */
#ifndef SLP_TEST_GUEST_KCL_ROWS_H
#define SLP_TEST_GUEST_KCL_ROWS_H

#include "peer_rows.h"

#define KCL_NAME 96

typedef struct kcl_row {
  char key[64], owner[KCL_NAME], by[KCL_NAME], checkpoint[64]; /* by: checkpointOwner */
  uint64_t counter;
  double rate; /* throughputKBps; -1: none */
} kcl_row;

kcl_row kcl_row_of(const slp_row *from);
int kcl_get(fw_world *w, const char *key, kcl_row *ret); /* 0: there is none */
int kcl_is_lease(const slp_row *r);
/* A lease is made unless it is there. entity: with the mark that KCL 3.5 gives it. */
void kcl_make_lease(fw_world *w, int shard, int entity);
/* Before the end of a shard: its children in its own row, without a count. */
void kcl_name_kids(fw_world *w, int shard);
/* A finished lease is removed when its children's have been begun and its parents' are gone. */
int kcl_may_clean(fw_world *w, const fw_shard *s);
/* Of a merge the rows of both parents are there, or neither: else its end waits. */
int kcl_may_end(fw_world *w, const fw_shard *s);
int kcl_parents_ended(fw_world *w, const fw_shard *s); /* a parent without a row counts as ended */

#endif

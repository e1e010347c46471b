/* multilang_properties.h - turns a .properties file of Amazon's MultiLangDaemon into options of the library.
 * One table contains every key that the MultiLangDaemon has. */
#ifndef SLP_CLI_MULTILANG_PROPERTIES_H
#define SLP_CLI_MULTILANG_PROPERTIES_H

#include "base/buf.h"
#include "base/mem.h"

#include <sloop.h>

#define SLP_ML_WHY 800 /* room for a sentence that says what is wrong */

typedef enum { SLP_ML_DEFAULT = 1, SLP_ML_FANOUT, SLP_ML_POLLING } slp_ml_retrieval;
typedef enum { SLP_ML_METRICS_NONE = 1, SLP_ML_METRICS_SUMMARY, SLP_ML_METRICS_DETAILED } slp_ml_metrics;
typedef enum { SLP_ML_OLDEST = 1, SLP_ML_LATEST } slp_ml_initial;

/* The properties of a file. The members of type const char * point into `texts`; NULL: the key is not
 * given. */
typedef struct slp_ml_settings {
  slp_buf texts; /* owned */
  /* owned; a line for each key that has no effect, is unknown, or is overridden by another key */
  slp_buf notes;
  /* owned, ends with NULL; the words of executableName, which is split at spaces */
  const char *const *command;
  const char *executable, *app, *stream, *stream_arn, *language, *region, *kinesis_endpoint,
      *dynamodb_endpoint, *table, *worker, *credentials, *credentials_dynamodb, *credentials_cloudwatch,
      *consumer, *consumer_arn, *coordinator_table, *metrics_table, *client_version;
  const char *profile; /* the profile that AwsCredentialsProvider names; NULL: no profile */
  /* The URL of DynamoDB in the region. Used if kinesisEndpoint and regionName are given and dynamoDBEndpoint
   * is not; otherwise "". */
  char dynamodb_url[200];
  char consumer_stream[600], store[300], user_agent[160];
  slp_ml_initial initial;
  slp_ml_retrieval retrieval; /* after slp_ml_settings_read it is FANOUT or POLLING, never DEFAULT */
  slp_ml_metrics metrics;
  int64_t initial_at_s; /* initialPositionInStreamExtended, in Unix seconds; -1: not given */
  uint64_t lease_ms, batch_records, poll_ms, timeout_s, warn_ms, grace_ms, handover_ms, list_ms,
      cloudwatch_ms;
  /* callProcessRecordsEvenForEmptyRecordList: 1 if the daemon sends empty lists to its child processes when
   * no records come */
  uint8_t call_empty;
} slp_ml_settings;

/* Reads the text of the file into s. Returns 0, or SLP_EINVAL or SLP_ENOMEM and a sentence in `why`, with the
 * key and the line if possible. The caller must call slp_ml_settings_free in every case. */
int slp_ml_settings_read(slp_ml_settings *s, slp_mem *mem, slp_str text, char why[SLP_ML_WHY]);
void slp_ml_settings_free(slp_ml_settings *s, slp_mem *mem);
/* Returns 1 if the stream is that of a DynamoDB table. Such a stream is polled, and the child processes get
 * whole change records. */
int slp_ml_reads_table(const slp_ml_settings *s);
/* Returns the region in the stream's ARN, or {NULL, 0} if the stream is given by name. */
slp_str slp_ml_stream_region(const slp_ml_settings *s);
/* Sets the options that the settings of the file imply. Strings in the options live as long as s. */
void slp_ml_settings_apply(const slp_ml_settings *s, sloop_opts_t *o, sloop_metrics_opts_t *m);
/* Calls fn for each key of the table. acts: 1 if the key has an effect here. `meaning` says which effect, or
 * why the key has none. */
void slp_ml_keys_each(void (*fn)(void *arg, const char *key, int acts, const char *meaning), void *arg);

#endif

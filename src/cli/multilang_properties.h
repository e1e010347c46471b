/* multilang_properties.h - turns a .properties file of Amazon's MultiLangDaemon into options of the library.
 * One table has every key that the MultiLangDaemon knows. */
#ifndef SLP_CLI_MULTILANG_PROPERTIES_H
#define SLP_CLI_MULTILANG_PROPERTIES_H

#include "base/buf.h"
#include "sloop.h"

#define SLP_ML_WHY 800 /* bytes for a sentence that says what is wrong */

typedef enum { SLP_ML_DEFAULT = 1, SLP_ML_FANOUT, SLP_ML_POLLING } slp_ml_retrieval;
typedef enum { SLP_ML_METRICS_NONE = 1, SLP_ML_METRICS_SUMMARY, SLP_ML_METRICS_DETAILED } slp_ml_metrics;
typedef enum { SLP_ML_OLDEST = 1, SLP_ML_LATEST } slp_ml_initial;

/* The properties of a file. The const char members point into `texts`; NULL: not given. */
typedef struct slp_ml_settings {
  slp_buf texts; /* owned */
  /* owned: a line for each key without effect, each unknown key, and each that another one overrides */
  slp_buf notes;
  const char *const *command; /* owned, ended by NULL: executableName, split at spaces */
  const char *executable, *app, *stream, *stream_arn, *language, *region, *kinesis_endpoint,
      *dynamodb_endpoint, *table, *worker, *credentials, *credentials_dynamodb, *credentials_cloudwatch,
      *consumer, *consumer_arn, *coordinator_table, *metrics_table, *client_version;
  const char *profile; /* the profile that AwsCredentialsProvider names; NULL: none */
  /* the region's DynamoDB, used if kinesisEndpoint and regionName are given and dynamoDBEndpoint is not; else
   * "" */
  char dynamodb_url[200];
  char consumer_stream[600], store[300], user_agent[160];
  slp_ml_initial initial;
  slp_ml_retrieval retrieval; /* FANOUT or POLLING once slp_ml_settings_read has returned */
  slp_ml_metrics metrics;
  int64_t initial_at_s; /* initialPositionInStreamExtended, in Unix seconds; -1: not given */
  uint64_t lease_ms, batch_records, poll_ms, timeout_s, warn_ms, grace_ms, handover_ms, list_ms,
      cloudwatch_ms;
  uint8_t call_empty; /* callProcessRecordsEvenForEmptyRecordList */
} slp_ml_settings;

/* Reads the file's text into s. Returns 0, SLP_EINVAL or SLP_ENOMEM, with a sentence in `why` that names key
 * and line where it can. The caller calls slp_ml_settings_free in every case. */
int slp_ml_settings_read(slp_ml_settings *s, slp_mem *mem, slp_str text, char why[SLP_ML_WHY]);
void slp_ml_settings_free(slp_ml_settings *s, slp_mem *mem);
/* Returns 1 if the stream is one of a DynamoDB table. Its changes are polled, and go to the children as whole
 * records. */
int slp_ml_reads_table(const slp_ml_settings *s);
/* The region in the stream's ARN; {NULL, 0} if the stream is given by name. */
slp_str slp_ml_stream_region(const slp_ml_settings *s);
/* Sets the options that the settings stand for. Their texts live as long as s. */
void slp_ml_settings_apply(const slp_ml_settings *s, sloop_opts_t *o, sloop_metrics_opts_t *m);
/* Calls fn for each key of the table. `acts`: it has an effect here, and `meaning` says which; otherwise
 * `meaning` says why it has none. */
void slp_ml_keys_each(void (*fn)(void *arg, const char *key, int acts, const char *meaning), void *arg);

#endif

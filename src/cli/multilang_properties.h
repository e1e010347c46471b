/* multilang_properties.h - a .properties file of Amazon's MultiLangDaemon as settings of ours: one table of
 * every key that daemon knows. */
#ifndef SLP_CLI_MULTILANG_PROPERTIES_H
#define SLP_CLI_MULTILANG_PROPERTIES_H

#include "base/buf.h"
#include "sloop.h"

#define SLP_ML_WHY 800

typedef enum { SLP_ML_DEFAULT = 1, SLP_ML_FANOUT, SLP_ML_POLLING } slp_ml_retrieval;
typedef enum { SLP_ML_METRICS_NONE = 1, SLP_ML_METRICS_SUMMARY, SLP_ML_METRICS_DETAILED } slp_ml_metrics;
typedef enum { SLP_ML_OLDEST = 1, SLP_ML_LATEST } slp_ml_initial;

/* Texts point into `texts`; NULL: not given. */
typedef struct slp_ml_settings {
  slp_buf texts;              /* owned */
  slp_buf notes;              /* owned: a line for each key without effect, and for each that is unknown */
  const char *const *command; /* owned, ends with NULL: executableName, split at spaces */
  const char *executable, *app, *stream, *stream_arn, *language, *region, *kinesis_endpoint,
      *dynamodb_endpoint, *table, *worker, *credentials, *credentials_dynamodb, *credentials_cloudwatch,
      *consumer, *consumer_arn, *coordinator_table, *metrics_table, *client_version;
  const char *profile;    /* that the credentials provider names */
  char dynamodb_url[200]; /* what dynamoDBEndpoint stands for when it is not given and kinesisEndpoint is */
  char consumer_stream[600], store[300], user_agent[160];
  slp_ml_initial initial;
  slp_ml_retrieval retrieval; /* settled: FANOUT or POLLING */
  slp_ml_metrics metrics;
  int64_t initial_at_s; /* initialPositionInStreamExtended; -1: not given */
  uint64_t lease_ms, batch_records, poll_ms, timeout_s, warn_ms, grace_ms, handover_ms, list_ms,
      cloudwatch_ms;
  uint8_t call_empty;
} slp_ml_settings;

/* Takes the file's text. 0, or SLP_EINVAL with a sentence that names key and line, or SLP_ENOMEM; then too
 * slp_ml_settings_free() is due. */
int slp_ml_settings_read(slp_ml_settings *s, slp_mem *mem, slp_str text, char why[SLP_ML_WHY]);
void slp_ml_settings_free(slp_ml_settings *s, slp_mem *mem);
/* Returns 1 when the stream is a table's: its changes are polled, and go to the children as whole records. */
int slp_ml_reads_table(const slp_ml_settings *s);
slp_str slp_ml_stream_region(const slp_ml_settings *s); /* its ARN's; {NULL,0}: a name was given */
/* Sets the options that the settings stand for; o's texts live as long as s. */
void slp_ml_settings_apply(const slp_ml_settings *s, sloop_opts_t *o, sloop_metrics_opts_t *m);
/* Calls fn for each key: its meaning here, or why it has none. */
void slp_ml_keys_each(void (*fn)(void *arg, const char *key, int acts, const char *meaning), void *arg);

#endif

/* multilang_properties.c - the table of the keys of the MultiLangDaemon. The names, the defaults and the set
 * of required keys are those of amazon-kinesis-client-multilang (MultiLangDaemonConfig,
 * KinesisClientLibConfigurator, MultiLangDaemonConfiguration and its beans). */
#include "cli/multilang_properties.h"

#include "aws/endpoint.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "cli/people_lines.h"
#include "cli/properties.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

/* NOTED: the MultiLangDaemon has the key, but it has no effect here */
typedef enum { TEXT, NUMBER, TRUTH, WORD, NOTED } key_kind;

typedef struct key {
  const char *name;
  key_kind kind;
  size_t at;         /* offset in slp_ml_settings of the member that holds the value */
  uint64_t min, max; /* NUMBER: smallest and largest value */
  /* WORD: the allowed words and their meaning, as "one|two: meaning"; NOTED: why the key has no effect */
  const char *meaning;
} key;

#define AT(member) offsetof(slp_ml_settings, member)
#define TABLE_RULE "tables of this daemon are made on demand and not changed: set it by the DynamoDB API"
#define BALANCE_RULE "the leader of KCL 3 decides so, and this daemon never leads a KCL 3 fleet"
#define PACE_RULE "retries and their pace are the library's own"
#define THREAD_RULE "there is one thread"
#define SYNC_RULE "shards are listed at the start and every shardSyncIntervalMillis, whatever the table holds"

static const key keys[] = {
    {"executableName", TEXT, AT(executable), 0, 0,
     "required: the command of a shard's process; split at spaces"},
    {"applicationName", TEXT, AT(app), 0, 0, "required: -G, and the name of the lease table"},
    {"streamName", TEXT, AT(stream), 0, 0, "required, or streamArn: the stream"},
    {"streamArn", TEXT, AT(stream_arn), 0, 0, "the stream; wins over streamName"},
    {"AwsCredentialsProvider", TEXT, AT(credentials), 0, 0,
     "required: see above; names any letters' case, as its two others"},
    {"AwsCredentialsProviderDynamoDB", TEXT, AT(credentials_dynamodb), 0, 0, "must mean the same identity"},
    {"AwsCredentialsProviderCloudWatch", TEXT, AT(credentials_cloudwatch), 0, 0,
     "must mean the same identity"},
    {"processingLanguage", TEXT, AT(language), 0, 0, "part of the user agent"},
    {"regionName", TEXT, AT(region), 0, 0, "-X region"},
    {"kinesisEndpoint", TEXT, AT(kinesis_endpoint), 0, 0, "-b"},
    {"dynamoDBEndpoint", TEXT, AT(dynamodb_endpoint), 0, 0,
     "-X store_endpoint; without it, and with kinesisEndpoint, the region's"},
    {"tableName", TEXT, AT(table), 0, 0, "--store dynamodb:TABLE"},
    {"workerId", TEXT, AT(worker), 0, 0, "-X worker"},
    {"initialPositionInStream", WORD, AT(initial), 0, 0,
     "TRIM_HORIZON|LATEST: where a new application begins; LATEST when it is not given"},
    {"initialPositionInStreamExtended", NUMBER, AT(initial_at_s), 1000000000, UINT32_MAX,
     "Unix seconds: a new application begins at that time"},
    {"failoverTimeMillis", NUMBER, AT(lease_ms), 1000, 3600000, "-X lease_ms; 10000"},
    {"shardSyncIntervalMillis", NUMBER, AT(list_ms), 1000, 86400000, "-X list_ms; 60000"},
    {"maxRecords", NUMBER, AT(batch_records), 1, 10000, "records in one processRecords; 10000"},
    {"idleTimeBetweenReadsInMillis", NUMBER, AT(poll_ms), 1, 3600000, "-X poll_ms; 1000"},
    {"callProcessRecordsEvenForEmptyRecordList", TRUTH, AT(call_empty), 0, 1,
     "true: processRecords without records once in idleTimeBetweenReadsInMillis"},
    {"retrievalMode", WORD, AT(retrieval), 0, 0,
     "DEFAULT|FANOUT|POLLING: --push or not; DEFAULT is FANOUT, and POLLING when a key of polling is set"},
    {"fanoutConfig.consumerName", TEXT, AT(consumer), 0, 0, "--push=NAME; applicationName when not given"},
    {"fanoutConfig.consumerArn", TEXT, AT(consumer_arn), 0, 0,
     "--push=ARN: it is neither looked up nor registered, and may be another account's"},
    {"timeoutInSeconds", NUMBER, AT(timeout_s), 1, 86400,
     "a child that does not answer for this long is killed; its shard starts again, not the daemon"},
    {"logWarningForTaskAfterMillis", NUMBER, AT(warn_ms), 1, 86400000,
     "a warning names a child that does not answer for this long; 10000"},
    {"shutdownGraceMillis", NUMBER, AT(grace_ms), 0, 3600000,
     "how long a stop waits for the children; 10000 when 0 or not given"},
    {"gracefulLeaseHandoffTimeoutMillis", NUMBER, AT(handover_ms), 1, 3600000, "-X handover_ms; 30000"},
    {"coordinatorStateTableName", TEXT, AT(coordinator_table), 0, 0, "-X kcl_coordinator"},
    {"workerMetricsTableName", TEXT, AT(metrics_table), 0, 0, "-X kcl_metrics"},
    {"clientVersionConfig", TEXT, AT(client_version), 0, 0,
     "both forms are understood: the rows of the table say which rules the fleet follows"},
    {"metricsLevel", WORD, AT(metrics), 0, 0,
     "NONE|SUMMARY|DETAILED: CloudWatch metrics under the application's name; DETAILED as SUMMARY"},
    {"metricsBufferTimeMillis", NUMBER, AT(cloudwatch_ms), 1000, UINT32_MAX, "-X cloudwatch_ms; 10000"},
    {"maxActiveThreads", NOTED, 0, 0, 0, THREAD_RULE},
    {"maxLeaseRenewalThreads", NOTED, 0, 0, 0, THREAD_RULE},
    {"maxGetRecordsThreadPool", NOTED, 0, 0, 0, THREAD_RULE},
    {"retryGetRecordsInSeconds", NOTED, 0, 0, 0, PACE_RULE},
    {"taskBackoffTimeMillis", NOTED, 0, 0, 0, PACE_RULE},
    {"listShardsBackoffTimeInMillis", NOTED, 0, 0, 0, PACE_RULE},
    {"maxListShardsRetryAttempts", NOTED, 0, 0, 0, PACE_RULE},
    {"schedulerInitializationBackoffTimeMillis", NOTED, 0, 0, 0, PACE_RULE},
    {"parentShardPollIntervalMillis", NOTED, 0, 0, 0, PACE_RULE},
    {"millisBehindLatestThresholdForReducedTps", NOTED, 0, 0, 0, PACE_RULE},
    {"fanoutConfig.maxDescribeStreamSummaryRetries", NOTED, 0, 0, 0, PACE_RULE},
    {"fanoutConfig.maxDescribeStreamConsumerRetries", NOTED, 0, 0, 0, PACE_RULE},
    {"fanoutConfig.registerStreamConsumerRetries", NOTED, 0, 0, 0, PACE_RULE},
    {"fanoutConfig.retryBackoffMillis", NOTED, 0, 0, 0, PACE_RULE},
    {"maxLeasesForWorker", NOTED, 0, 0, 0, "leases are shared evenly, without a limit"},
    {"maxLeasesToStealAtOneTime", NOTED, 0, 0, 0, "one at a time, as that key's default"},
    {"enablePriorityLeaseAssignment", NOTED, 0, 0, 0, "leases that nobody renews are always taken first"},
    {"leaseAssignmentIntervalMillis", NOTED, 0, 0, 0, BALANCE_RULE},
    {"maxThroughputPerHostKBps", NOTED, 0, 0, 0, BALANCE_RULE},
    {"dampeningPercentage", NOTED, 0, 0, 0, BALANCE_RULE},
    {"reBalanceThresholdPercentage", NOTED, 0, 0, 0, BALANCE_RULE},
    {"allowThroughputOvershoot", NOTED, 0, 0, 0, BALANCE_RULE},
    {"varianceBalancingFrequency", NOTED, 0, 0, 0, BALANCE_RULE},
    {"workerMetricsEMAAlpha", NOTED, 0, 0, 0, BALANCE_RULE},
    {"staleWorkerMetricsEntryCleanupDuration", NOTED, 0, 0, 0, BALANCE_RULE},
    {"migrateAllEntitiesToLeaseTable", NOTED, 0, 0, 0, BALANCE_RULE},
    {"tableMigrationCompleteBakeTimeSeconds", NOTED, 0, 0, 0, BALANCE_RULE},
    {"disableWorkerMetrics", NOTED, 0, 0, 0,
     "a row is written where KCL 3 needs it, because without one it gets no leases"},
    {"inMemoryWorkerMetricsCaptureFrequencyMillis", NOTED, 0, 0, 0, "the row is written every 30 s"},
    {"workerMetricsReporterFreqInMillis", NOTED, 0, 0, 0, "the row is written every 30 s"},
    {"noOfPersistedMetricsPerWorkerMetrics", NOTED, 0, 0, 0, "the row is written every 30 s"},
    {"isGracefulLeaseHandoffEnabled", NOTED, 0, 0, 0, "leases are always handed over gracefully"},
    {"cleanupLeasesUponShardCompletion", NOTED, 0, 0, 0,
     "rows of shards that were read stay until the "
     "stream forgets them"},
    {"ignoreUnexpectedChildShards", NOTED, 0, 0, 0, "children begin when their parents are read, always"},
    {"shardPrioritization", NOTED, 0, 0, 0, "parents before children, always"},
    {"skipShardSyncAtWorkerInitializationIfLeasesExist", NOTED, 0, 0, 0, SYNC_RULE},
    {"validateSequenceNumberBeforeCheckpointing", NOTED, 0, 0, 0, "always validated"},
    {"metricsMaxQueueSize", NOTED, 0, 0, 0, "metrics are sums, nothing queues"},
    {"metricsEnabledDimensions", NOTED, 0, 0, 0, "the dimensions are stream and shard"},
    {"initialLeaseTableReadCapacity", NOTED, 0, 0, 0, TABLE_RULE},
    {"initialLeaseTableWriteCapacity", NOTED, 0, 0, 0, TABLE_RULE},
    {"leaseTableScanTotalSegments", NOTED, 0, 0, 0, "one segment at a time"},
    {"leaseTableDeletionProtectionEnabled", NOTED, 0, 0, 0, TABLE_RULE},
    {"leaseTablePitrEnabled", NOTED, 0, 0, 0, TABLE_RULE},
    {"coordinatorStateBillingMode", NOTED, 0, 0, 0, TABLE_RULE},
    {"coordinatorStateReadCapacity", NOTED, 0, 0, 0, TABLE_RULE},
    {"coordinatorStateWriteCapacity", NOTED, 0, 0, 0, TABLE_RULE},
    {"coordinatorStatePointInTimeRecoveryEnabled", NOTED, 0, 0, 0, TABLE_RULE},
    {"coordinatorStateDeletionProtectionEnabled", NOTED, 0, 0, 0, TABLE_RULE},
    {"coordinatorStateTags", NOTED, 0, 0, 0, TABLE_RULE},
    {"workerMetricsBillingMode", NOTED, 0, 0, 0, TABLE_RULE},
    {"workerMetricsReadCapacity", NOTED, 0, 0, 0, TABLE_RULE},
    {"workerMetricsWriteCapacity", NOTED, 0, 0, 0, TABLE_RULE},
    {"workerMetricsPointInTimeRecoveryEnabled", NOTED, 0, 0, 0, TABLE_RULE},
    {"workerMetricsDeletionProtectionEnabled", NOTED, 0, 0, 0, TABLE_RULE},
    {"workerMetricsTags", NOTED, 0, 0, 0, TABLE_RULE},
};

/* If the file sets one of these keys (those of KCL's PollingConfig), `retrievalMode` DEFAULT means
 * polling. */
static const char *const of_polling[] = {"retryGetRecordsInSeconds", "maxGetRecordsThreadPool",
                                         "idleTimeBetweenReadsInMillis",
                                         "millisBehindLatestThresholdForReducedTps", "maxRecords"};

void slp_ml_keys_each(void (*fn)(void *arg, const char *key, int acts, const char *meaning), void *arg) {
  for (size_t i = 0; i < SLP_COUNT(keys); i++) fn(arg, keys[i].name, keys[i].kind != NOTED, keys[i].meaning);
}

/* ---- texts ------------------------------------------------------------------------------------ */

static char lower_key_char(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Returns 1 if the strings are equal apart from the case of ASCII letters. */
static int same_letters(const char *a, const char *b) {
  while (*a && lower_key_char(*a) == lower_key_char(*b)) a++, b++;
  return lower_key_char(*a) == lower_key_char(*b);
}

static int begins_with_text(const char *z, const char *with) { return strncmp(z, with, strlen(with)) == 0; }

/* Finds a key in the table, or returns NULL. As in the MultiLangDaemon, the letters "AwsCredentialsProvider"
 * at the beginning of a key match in any case, and all other letters only in the given case. */
static const key *key_of(const char *name) {
  static const char credentials[] = "awscredentialsprovider";
  char head[sizeof credentials] = "";
  snprintf(head, sizeof head, "%s", name);
  int any_case = same_letters(head, credentials);
  for (size_t i = 0; i < SLP_COUNT(keys); i++) {
    size_t n = sizeof credentials - 1;
    if (strcmp(name, keys[i].name) == 0) return &keys[i];
    if (any_case && strlen(keys[i].name) >= n && begins_with_text(keys[i].name, "AwsCredentialsProvider") &&
        strcmp(name + n, keys[i].name + n) == 0)
      return &keys[i];
  }
  return NULL;
}

/* ---- values ----------------------------------------------------------------------------------- */

/* Returns the position, counted from 1, of `value` in the list "one|two: ...", in any case of letters.
 * Returns 0 if the list does not have it. */
static int find_word(const char *words, const char *value) {
  for (int place = 1;; place++) {
    size_t n = strcspn(words, "|:");
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)n, words);
    if (same_letters(word, value)) return place;
    if (words[n] != '|') return 0;
    words += n + 1;
  }
}

static int refuse_key_value(const key *k, size_t line, const char *value, char why[SLP_ML_WHY]) {
  if (k->kind == NUMBER)
    snprintf(why, SLP_ML_WHY, "line %zu: %s: \"%.60s\" is not a whole number from %llu to %llu", line,
             k->name, value, (unsigned long long)k->min, (unsigned long long)k->max);
  else if (k->kind == WORD)
    snprintf(why, SLP_ML_WHY, "line %zu: %s: \"%.60s\" is none of %.*s", line, k->name, value,
             (int)strcspn(k->meaning, ":"), k->meaning);
  else
    snprintf(why, SLP_ML_WHY, "line %zu: %s: the value is empty", line, k->name);
  return SLP_EINVAL;
}

/* Checks a value and stores it in the member of its key. Returns 0, or SLP_EINVAL and the reason in `why`. */
static int store_key_value(slp_ml_settings *s, const key *k, size_t line, const char *value,
                           char why[SLP_ML_WHY]) {
  char *to = (char *)s + k->at;
  uint64_t u = 0;
  int place = 0;
  switch (k->kind) {
    case TEXT:
      if (!*value) return refuse_key_value(k, line, value, why);
      memcpy(to, &value, sizeof value);
      return 0;
    case NUMBER:
      if (slp_parse_u64(slp_str_of(value), &u) || u < k->min || u > k->max)
        return refuse_key_value(k, line, value, why);
      memcpy(to, &u, sizeof u);
      return 0;
    case TRUTH:
      *to = (char)(same_letters(value, "true") || same_letters(value, "yes") || !strcmp(value, "1"));
      return 0;
    case WORD:
      if (!(place = find_word(k->meaning, value))) return refuse_key_value(k, line, value, why);
      memcpy(to, &place, sizeof place);
      return 0;
    case NOTED: break;
  }
  slp_say_to(&s->notes, "line %zu: %s has no effect here: %s", line, k->name, k->meaning);
  return 0;
}

/* Removes spaces and tabs at the end of the value. */
static void trim_value_end(char *value) {
  size_t n = strlen(value);
  while (n && (value[n - 1] == ' ' || value[n - 1] == '\t')) value[--n] = 0;
}

/* Where in the file a key was given, and its value there. */
typedef struct was {
  size_t line; /* number of the line that gave the key; 0: no line has given it yet */
  const char *value;
} was;

/* Adds a note if the key was given before with another value. The later value wins. */
static void say_again(slp_ml_settings *s, const key *k, const was *before, size_t line, const char *value) {
  if (before->line && strcmp(before->value, value) != 0)
    slp_say_to(&s->notes, "line %zu: %s is repeated and overrides line %zu", line, k->name, before->line);
}

static const was *was_of(const was all[], const char *name) {
  const key *k = key_of(name);
  return k && all[k - keys].line ? &all[k - keys] : NULL;
}

/* If the file has both keys, `name` and `over`, adds a note that `name` wins over `over`. */
static void say_wins(slp_ml_settings *s, const was all[], const char *name, const char *over,
                     const char *why) {
  const was *a = was_of(all, name), *b = was_of(all, over);
  if (a && b)
    slp_say_to(&s->notes, "line %zu: %s overrides %s of line %zu: %s", a->line, name, over, b->line, why);
}

/* Returns 1 if `name` is the part of the ARN after the last occurrence of the character `before`. */
static int same_end(const char *arn, const char *name, char before) {
  const char *at = strrchr(arn, before);
  return at && strcmp(at + 1, name) == 0;
}

/* Adds a note for each pair of keys that contradict each other, with the key that wins. */
static void say_contradictions(slp_ml_settings *s, const was all[]) {
  if (s->stream_arn && s->stream && !same_end(s->stream_arn, s->stream, '/'))
    say_wins(s, all, "streamArn", "streamName", "the ARN is of another stream");
  say_wins(s, all, "initialPositionInStreamExtended", "initialPositionInStream", "a time is given");
  if (s->retrieval == SLP_ML_POLLING) {
    say_wins(s, all, "retrievalMode", "fanoutConfig.consumerName", "nothing is pushed");
    say_wins(s, all, "retrievalMode", "fanoutConfig.consumerArn", "nothing is pushed");
  }
  if (s->retrieval == SLP_ML_FANOUT && !s->call_empty)
    say_wins(s, all, "retrievalMode", "idleTimeBetweenReadsInMillis", "nothing is polled");
  const char *mark = s->consumer_arn ? strstr(s->consumer_arn, "/consumer/") : NULL;
  size_t n = s->consumer ? strlen(s->consumer) : 0;
  if (mark && n && (strncmp(mark + 10, s->consumer, n) != 0 || (mark[10 + n] && mark[10 + n] != ':')))
    say_wins(s, all, "fanoutConfig.consumerArn", "fanoutConfig.consumerName", "the ARN has another name");
}

/* Reads every property of the file into s. Sets *polls to 1 if the file has a key of of_polling. */
static int take_all(slp_ml_settings *s, slp_str text, int *polls, char why[SLP_ML_WHY]) {
  slp_properties p = slp_properties_begin(text);
  was all[SLP_COUNT(keys)] = {{0, NULL}};
  /* Members of s point into `texts`, so `texts` must not move. So all its room is reserved here. A property's
   * text never needs more bytes than its lines in the file. */
  if (slp_buf_reserve(&s->texts, 3 * text.n + 512)) return SLP_ENOMEM;
  for (;;) {
    size_t at = s->texts.n;
    int r = slp_properties_next(&p, &s->texts);
    if (r == SLP_EBADDATA) snprintf(why, SLP_ML_WHY, "line %zu: a damaged \\u escape", p.line);
    if (r == 0) say_contradictions(s, all);
    if (r <= 0) return r == SLP_EBADDATA ? SLP_EINVAL : r;
    char *name = s->texts.p + at, *value = name + strlen(name) + 1;
    trim_value_end(value);
    const key *k = key_of(name);
    if (!k) {
      slp_say_to(&s->notes, "line %zu: \"%.80s\" is not a key of the MultiLangDaemon", p.line, name);
      continue;
    }
    for (size_t i = 0; i < SLP_COUNT(of_polling); i++) *polls |= strcmp(k->name, of_polling[i]) == 0;
    if ((r = store_key_value(s, k, p.line, value, why))) return r;
    say_again(s, k, &all[k - keys], p.line, value);
    all[k - keys] = (was){p.line, value};
  }
}

/* ---- credentials ------------------------------------------------------------------------------ */

/* The credentials providers of the AWS SDK for Java 1.12 and 2.33 and of KCL 1.14 to 3, by the names of their
 * classes without the package. Each spelling was run through the decoders of KCL 1.14.9 and 3.1.3. Some names
 * can be constructed by neither decoder; they are here because people use them in public questions. */
typedef enum provider_kind {
  IN_CHAIN,     /* the library's chain of credentials has a provider that does the same */
  OF_PROFILE,   /* as IN_CHAIN, but with one argument, the name of the profile to use */
  OF_ROLE,      /* its arguments are role, session, externalId=...; a profile can do the same */
  OF_WEB_TOKEN, /* its arguments are role, session, file; environment variables can do the same */
  NOT_HERE      /* not supported; `advice` says what the user can do instead */
} provider_kind;

static const struct provider {
  const char *name;
  provider_kind kind;
  const char *advice;
} providers[] = {
#define AS_PROFILE "in a profile of ~/.aws/config, and write ProfileCredentialsProvider|NAME"
#define FILE_OF_KEYS                                                                                       \
  "put that file's accessKey and secretKey as aws_access_key_id and aws_secret_access_key into a profile " \
  "of "                                                                                                    \
  "~/.aws/credentials, and write ProfileCredentialsProvider|NAME"
    {"DefaultCredentialsProvider", IN_CHAIN, NULL},
    {"DefaultAWSCredentialsProviderChain", IN_CHAIN, NULL},
    {"EnvironmentVariableCredentialsProvider", IN_CHAIN, NULL},
    /* Two arguments are refused, because the two SDKs read them differently: SDK 1 as a file and a profile,
     * while SDK 2 ignores both and reads the default profile. */
    {"ProfileCredentialsProvider", OF_PROFILE,
     "its one argument is a profile; for another file set AWS_SHARED_CREDENTIALS_FILE to it and write "
     "ProfileCredentialsProvider|NAME"},
    {"InstanceProfileCredentialsProvider", IN_CHAIN, NULL},
    {"ContainerCredentialsProvider", IN_CHAIN, NULL},
    {"EC2ContainerCredentialsProviderWrapper", IN_CHAIN, NULL},
    {"WebIdentityTokenFileCredentialsProvider", IN_CHAIN, NULL},
    {"WebIdentityTokenCredentialsProvider", IN_CHAIN, NULL},
    {"StsWebIdentityTokenFileCredentialsProvider", IN_CHAIN, NULL},
    {"StsAssumeRoleCredentialsProvider", OF_ROLE, NULL},
    {"KclStsAssumeRoleCredentialsProvider", OF_ROLE, NULL},
    {"STSAssumeRoleSessionCredentialsProvider", OF_ROLE, NULL},
    {"KclSTSAssumeRoleSessionCredentialsProvider", OF_ROLE, NULL},
    {"STSAssumeRoleWithWebIdentitySessionCredentialsProvider", OF_WEB_TOKEN, NULL},
    {"StsAssumeRoleWithWebIdentityCredentialsProvider", OF_WEB_TOKEN, NULL},
    {"SystemPropertyCredentialsProvider", NOT_HERE,
     "there is no JVM and no -Daws.accessKeyId; use EnvironmentVariableCredentialsProvider"},
    {"SystemPropertiesCredentialsProvider", NOT_HERE,
     "there is no JVM and no -Daws.accessKeyId; use EnvironmentVariableCredentialsProvider"},
    {"ClasspathPropertiesFileCredentialsProvider", NOT_HERE, FILE_OF_KEYS},
    {"PropertiesFileCredentialsProvider", NOT_HERE, FILE_OF_KEYS},
    {"ProcessCredentialsProvider", NOT_HERE, "name the command by credential_process " AS_PROFILE},
    {"SsoCredentialsProvider", NOT_HERE, "name sso_session, sso_account_id and sso_role_name " AS_PROFILE},
    {"STSSessionCredentialsProvider", NOT_HERE,
     "name a command that gets the session's keys by credential_process " AS_PROFILE},
    {"StsGetSessionTokenCredentialsProvider", NOT_HERE,
     "name a command that gets the session's keys by credential_process " AS_PROFILE},
    {"StaticCredentialsProvider", NOT_HERE, "use EnvironmentVariableCredentialsProvider"},
    {"AWSStaticCredentialsProvider", NOT_HERE, "use EnvironmentVariableCredentialsProvider"},
    {"AwsCredentialsProviderChain", NOT_HERE, "write its providers as a list, with commas"},
    {"AWSCredentialsProviderChain", NOT_HERE, "write its providers as a list, with commas"},
    {"AnonymousCredentialsProvider", NOT_HERE, "Kinesis takes no unsigned calls"},
};

/* Returns the class's name without its package, if the package is one of the SDKs or of the KCL. KCL 1 also
 * accepts "profile." as such a package. */
static const char *short_name(const char *name) {
  const char *dot = strrchr(name, '.');
  int known = begins_with_text(name, "software.amazon.") || begins_with_text(name, "com.amazonaws.") ||
              begins_with_text(name, "profile.");
  return dot && known ? dot + 1 : name;
}

static const struct provider *provider_of(const char *name) {
  for (size_t i = 0; i < SLP_COUNT(providers); i++)
    if (strcmp(short_name(name), providers[i].name) == 0) return &providers[i];
  return NULL;
}

/* Looks for a provider in any case of letters. Returns the right spelling of its name, or NULL if the table
 * does not have it. */
static const char *name_in_other_case(const char *name) {
  for (size_t i = 0; i < SLP_COUNT(providers); i++)
    if (same_letters(short_name(name), providers[i].name)) return providers[i].name;
  return NULL;
}

static int ends_with_text(const char *z, const char *with) {
  size_t n = strlen(z), m = strlen(with);
  return n >= m && strcmp(z + n - m, with) == 0;
}

/* One item of a list of credentials providers, "Name|argument|argument", split into its parts. No provider in
 * the table has more than ARGUMENTS_MAX arguments. */
#define ARGUMENTS_MAX 8
typedef struct item {
  char text[SLP_ML_WHY];
  char *argument[ARGUMENTS_MAX]; /* a missing argument is "" */
  size_t arguments_n, place;     /* place: position of the item in the list, counted from 1 */
} item;

static void take_apart(item *it, const char *text, size_t n) {
  static char nothing[1];
  snprintf(it->text, sizeof it->text, "%.*s", (int)slp_min_u64(n, sizeof it->text - 1), text);
  it->arguments_n = 0;
  for (size_t i = 0; i < ARGUMENTS_MAX; i++) it->argument[i] = nothing;
  for (char *bar = strchr(it->text, '|'); bar && it->arguments_n < ARGUMENTS_MAX; bar = strchr(bar, '|')) {
    *bar++ = 0;
    it->argument[it->arguments_n++] = bar;
  }
  trim_value_end(it->text);
  for (size_t i = 0; i < it->arguments_n; i++) trim_value_end(it->argument[i]);
}

/* Returns the value of an argument such as "externalId=...", or NULL if the item does not have it. `name`
 * includes the '='. */
static const char *named_argument(const item *it, const char *name) {
  for (size_t i = 0; i < it->arguments_n; i++)
    if (begins_with_text(it->argument[i], name)) return it->argument[i] + strlen(name);
  return NULL;
}

/* Returns 1 if the first argument is an ARN. Only then may a message repeat arguments: any other first
 * argument may be a secret key that somebody wrote into the list. */
static int has_role(const item *it) { return begins_with_text(it->argument[0], "arn:"); }

/* Returns argument i if it is given and it is safe to print (has_role). Otherwise returns `otherwise`. */
static const char *argument_or(const item *it, size_t i, const char *otherwise) {
  const char *given = it->argument[i];
  /* an argument with a name, such as externalId=..., may stand at any position */
  int by_name = i > 0 && strchr(given, '=') != NULL;
  return *given && !by_name && has_role(it) ? given : otherwise;
}

/* Writes the advice to use a profile that assumes the same role. */
static void advise_role(const item *it, char advice[SLP_ML_WHY]) {
  const char *external = has_role(it) ? named_argument(it, "externalId=") : NULL;
  const char *endpoint = has_role(it) ? named_argument(it, "endpoint=") : NULL;
  int endpoint_n = endpoint ? (int)slp_min_u64(strcspn(endpoint, "^"), 120) : 0;
  snprintf(advice, SLP_ML_WHY,
           "put these lines into ~/.aws/config, and write ProfileCredentialsProvider|kcl: [profile kcl]; "
           "role_arn = %.130s; role_session_name = %.64s; %s%.100s%sand credential_source = Environment, "
           "EcsContainer or Ec2InstanceMetadata, or source_profile = a profile%s%.*s",
           argument_or(it, 0, "ARN"), argument_or(it, 1, "SESSION"), external ? "external_id = " : "",
           external ? external : "", external ? "; " : "", endpoint ? "; set AWS_ENDPOINT_URL_STS=" : "",
           endpoint_n, endpoint ? endpoint : "");
}

static void advise_web_token(const item *it, char advice[SLP_ML_WHY]) {
  snprintf(advice, SLP_ML_WHY,
           "set AWS_ROLE_ARN=%.130s, AWS_ROLE_SESSION_NAME=%.64s and AWS_WEB_IDENTITY_TOKEN_FILE=%.120s, and "
           "write WebIdentityTokenFileCredentialsProvider",
           argument_or(it, 0, "ARN"), argument_or(it, 1, "SESSION"), argument_or(it, 2, "FILE"));
}

static void advise_stranger(const item *it, char advice[SLP_ML_WHY]) {
  const char *written = name_in_other_case(it->text);
  snprintf(advice, SLP_ML_WHY, "%s%s",
           written ? "it is written "
                   : "it is a class of Java; the providers of the AWS SDK are known by their names",
           written ? written : "");
}

static void advise_on_provider(const struct provider *p, const item *it, char advice[SLP_ML_WHY]) {
  if (!p)
    advise_stranger(it, advice);
  else if (p->kind == OF_ROLE)
    advise_role(it, advice);
  else if (p->kind == OF_WEB_TOKEN)
    advise_web_token(it, advice);
  else
    snprintf(advice, SLP_ML_WHY, "%s", p->advice);
}

/* Writes to `why` and to the notes that a provider can't be used here, and what to do instead. Repeats the
 * given name only if it looks like the name of a provider. Otherwise it may be a secret key that somebody
 * wrote into the list. */
static void say_unknown(slp_ml_settings *s, const char *key_name, const struct provider *p, const item *it,
                        char why[SLP_ML_WHY]) {
  char name[100], advice[SLP_ML_WHY];
  if (p || name_in_other_case(it->text) || ends_with_text(it->text, "Provider") ||
      ends_with_text(it->text, "ProviderChain"))
    snprintf(name, sizeof name, "%.90s", it->text);
  else
    snprintf(name, sizeof name, "name %zu of the list", it->place);
  advise_on_provider(p, it, advice);
  snprintf(why, SLP_ML_WHY, "%s: %s can't be had here: %.600s", key_name, name, advice);
  slp_say_to(&s->notes, "%s", why);
}

/* Returns 1 if the library can get credentials in the same way as this provider. */
static int can_be_had(const struct provider *p, const item *it) {
  return p && (p->kind == IN_CHAIN || (p->kind == OF_PROFILE && it->arguments_n <= 1));
}

/* Returns 1 if the provider assumes a role. The MultiLangDaemon reads with that role, unless an earlier
 * provider of the list has keys. So a later provider must not be used instead: the daemon would read with
 * another identity, maybe in another account. */
static int is_of_role(const struct provider *p) {
  return p && (p->kind == OF_ROLE || p->kind == OF_WEB_TOKEN);
}

/* Reads a list of providers such as "Name|arg,Name2". Returns 0 if the library has one of the providers and
 * no provider before it assumes a role. Then `profile` is the profile that the list names, or "". Otherwise
 * returns SLP_EINVAL and the reason in `why`. */
static int read_credentials(slp_ml_settings *s, const char *key_name, const char *list, char profile[130],
                            char why[SLP_ML_WHY]) {
  const struct provider *first = NULL;
  *profile = 0;
  for (size_t place = 1; *list; place++) {
    item it = {.place = place};
    size_t n = strcspn(list, ",");
    while (n && *list == ' ') list++, n--;
    take_apart(&it, list, n);
    list += n + (list[n] == ',');
    if (!*it.text) continue;
    const struct provider *p = provider_of(it.text);
    if (!can_be_had(p, &it)) {
      say_unknown(s, key_name, p, &it, why);
      if (!first && is_of_role(p)) return SLP_EINVAL;
    } else if (!first) {
      first = p;
      if (p->kind == OF_PROFILE) snprintf(profile, 130, "%.129s", it.argument[0]);
    } else if (p->kind == OF_PROFILE && *it.argument[0] && strcmp(it.argument[0], profile) != 0) {
      slp_say_to(
          &s->notes,
          "%s: the profile of %.60s is not read: %s stands before it in the list; write it first to have "
          "it",
          key_name, it.text, first->name);
    }
  }
  if (!first && !*why) snprintf(why, SLP_ML_WHY, "%s: names no provider", key_name);
  return first ? 0 : SLP_EINVAL;
}

/* Reads the three lists of providers. All lists must name the same profile, because a consumer has only one
 * identity. */
static int settle_credentials(slp_ml_settings *s, char why[SLP_ML_WHY]) {
  char first[130], other[130];
  const char *others[2] = {s->credentials_dynamodb, s->credentials_cloudwatch};
  *why = 0;
  int r = read_credentials(s, "AwsCredentialsProvider", s->credentials, first, why);
  for (size_t i = 0; i < 2 && !r; i++) {
    const char *name = i ? "AwsCredentialsProviderCloudWatch" : "AwsCredentialsProviderDynamoDB";
    *why = 0;
    if (!others[i]) continue;
    r = read_credentials(s, name, others[i], other, why);
    if (r || strcmp(first, other) == 0) continue;
    snprintf(why, SLP_ML_WHY, "%s: another profile than AwsCredentialsProvider's: one identity does all here",
             name);
    r = SLP_EINVAL;
  }
  if (r) return r;
  size_t at = s->texts.n;
  if (!*first) return 0;
  /* take_all has reserved room for this text */
  if (slp_buf_add(&s->texts, first, strlen(first) + 1)) return SLP_ENOMEM;
  s->profile = s->texts.p + at;
  return 0;
}

/* ---- the whole file --------------------------------------------------------------------------- */

/* Splits the value of executableName into words at runs of spaces, as String.split(" +") does in Java.
 * Leading spaces are skipped; Java would make an empty first word of them, which can't be run. */
static int split_command(slp_ml_settings *s, slp_mem *mem) {
  size_t n = 0, at = s->texts.n;
  if (slp_buf_add_z(&s->texts, s->executable) || slp_buf_add_char(&s->texts, 0)) return SLP_ENOMEM;
  char *p = s->texts.p + at;
  const char **words = slp_zalloc_n(mem, strlen(p) / 2 + 2, sizeof *words);
  if (!words) return SLP_ENOMEM;
  while (*p) {
    while (*p == ' ') *p++ = 0;
    if (*p) words[n++] = p;
    while (*p && *p != ' ') p++;
  }
  s->command = words;
  return 0;
}

/* Checks that the file has all required keys. Returns 0, or SLP_EINVAL with the missing key in `why`. */
static int check_required_keys(slp_ml_settings *s, char why[SLP_ML_WHY]) {
  const char *missing = !s->executable                 ? "executableName"
                        : !s->app                      ? "applicationName"
                        : !s->stream && !s->stream_arn ? "streamName or streamArn"
                        : !s->credentials              ? "AwsCredentialsProvider"
                                                       : NULL;
  if (!missing) return 0;
  snprintf(why, SLP_ML_WHY, "%s is missing", missing);
  return SLP_EINVAL;
}

/* Checks fanoutConfig.consumerArn. If only the stream's name is given, takes the stream's ARN from the
 * consumer's ARN. The name alone would not do: the stream may belong to another account, and the caller's
 * account may have another stream of that name. */
static int settle_consumer(slp_ml_settings *s, char why[SLP_ML_WHY]) {
  static const char mark[] = "/consumer/";
  const char *at = s->consumer_arn ? strstr(s->consumer_arn, mark) : NULL;
  if (s->consumer_arn && !begins_with_text(s->consumer_arn, "arn:")) {
    snprintf(why, SLP_ML_WHY,
             "fanoutConfig.consumerArn: \"%.80s\" is not an ARN; fanoutConfig.consumerName takes a name",
             s->consumer_arn);
    return SLP_EINVAL;
  }
  if (s->consumer_arn) s->consumer = s->consumer_arn;
  if (!at || s->stream_arn || s->retrieval != SLP_ML_FANOUT) return 0;
  int n = snprintf(s->consumer_stream, sizeof s->consumer_stream, "%.*s", (int)(at - s->consumer_arn),
                   s->consumer_arn);
  if (n > 0 && (size_t)n < sizeof s->consumer_stream && same_end(s->consumer_stream, s->stream, '/'))
    s->stream_arn = s->consumer_stream;
  return 0;
}

static void settle_names(slp_ml_settings *s) {
  snprintf(s->user_agent, sizeof s->user_agent, "sloop/%s multilang%s%.100s", sloop_version(),
           s->language ? " " : "", s->language ? s->language : "");
  if (s->table) snprintf(s->store, sizeof s->store, "dynamodb:%s", s->table);
}

slp_str slp_ml_stream_region(const slp_ml_settings *s) {
  return slp_arn_region(slp_str_of(s->stream_arn ? s->stream_arn : s->stream));
}

/* Refuses a regionName that differs from the region in the stream's ARN, because the stream is in the ARN's
 * region. If kinesisEndpoint is given, only adds a note, because local servers ignore the region. */
static int check_region(slp_ml_settings *s, char why[SLP_ML_WHY]) {
  slp_str of_arn = slp_ml_stream_region(s);
  if (!s->region || !of_arn.n || slp_str_is(of_arn, s->region)) return 0;
  snprintf(why, SLP_ML_WHY,
           "regionName is %.60s, and the stream's ARN is of %.*s: remove regionName, or name "
           "the stream of that region",
           s->region, (int)slp_min_u64(of_arn.n, 60), of_arn.p);
  if (!s->kinesis_endpoint) return SLP_EINVAL;
  slp_say_to(&s->notes, "%s", why);
  *why = 0;
  return 0;
}

static void settle_endpoints(slp_ml_settings *s) {
  if (!s->kinesis_endpoint || s->dynamodb_endpoint || !s->region) return;
  snprintf(s->dynamodb_url, sizeof s->dynamodb_url, "https://dynamodb.%.60s.amazonaws.com%s", s->region,
           begins_with_text(s->region, "cn-") ? ".cn" : "");
}

int slp_ml_reads_table(const slp_ml_settings *s) {
  return slp_stream_is_of_table(slp_str_of(s->stream_arn ? s->stream_arn : s->stream));
}

/* Decides between enhanced fan-out (pushed records) and polling. polls: 1 if the file has a key of
 * of_polling. The stream of a DynamoDB table is always polled: Amazon's daemon for tables,
 * StreamsMultiLangDaemon, has no retrievalMode. */
static void settle_retrieval(slp_ml_settings *s, int polls) {
  if (slp_ml_reads_table(s)) {
    if (s->retrieval == SLP_ML_FANOUT || s->consumer || s->consumer_arn)
      slp_buf_add_z(&s->notes,
                    "the changes of a table are polled: retrievalMode = FANOUT and fanoutConfig "
                    "have no effect\n");
    s->retrieval = SLP_ML_POLLING;
  }
  if (s->retrieval != SLP_ML_DEFAULT) return;
  s->retrieval = polls ? SLP_ML_POLLING : SLP_ML_FANOUT;
  if (!polls)
    slp_buf_add_z(&s->notes,
                  "retrievalMode is not given: as in that daemon this is enhanced fan-out, which AWS "
                  "bills; retrievalMode = POLLING reads without\n");
}

int slp_ml_settings_read(slp_ml_settings *s, slp_mem *mem, slp_str text, char why[SLP_ML_WHY]) {
  int polls = 0;
  *s = (slp_ml_settings){.initial = SLP_ML_LATEST,
                         .retrieval = SLP_ML_DEFAULT,
                         .metrics = SLP_ML_METRICS_DETAILED,
                         .initial_at_s = -1,
                         .lease_ms = 10000,
                         .batch_records = 10000,
                         .poll_ms = 1000,
                         .handover_ms = 30000,
                         .list_ms = 60000,
                         .cloudwatch_ms = 10000};
  slp_buf_init(&s->texts, mem, 1 << 22);
  slp_buf_init(&s->notes, mem, 1 << 20);
  *why = 0;
  int r = text.n > 1 << 20 ? SLP_EINVAL : take_all(s, text, &polls, why);
  if (r == SLP_EINVAL && !*why) snprintf(why, SLP_ML_WHY, "larger than 1 MiB");
  if (!r) r = check_required_keys(s, why);
  if (!r) r = settle_credentials(s, why);
  if (!r) r = split_command(s, mem);
  if (!r && !s->command[0]) {
    snprintf(why, SLP_ML_WHY, "executableName: names no program");
    r = SLP_EINVAL;
  }
  if (r == SLP_ENOMEM || r == SLP_ELIMIT) snprintf(why, SLP_ML_WHY, "no memory");
  if (r) return r;
  settle_names(s);
  settle_endpoints(s);
  if (!s->grace_ms) s->grace_ms = 10000;
  if (!s->warn_ms) s->warn_ms = 10000;
  settle_retrieval(s, polls);
  if ((r = settle_consumer(s, why)) || (r = check_region(s, why))) return r;
  return slp_buf_failed(&s->notes);
}

void slp_ml_settings_free(slp_ml_settings *s, slp_mem *mem) {
  slp_buf_free(&s->texts);
  slp_buf_free(&s->notes);
  slp_free(mem, (void *)(uintptr_t)s->command);
  s->command = NULL;
}

void slp_ml_settings_apply(const slp_ml_settings *s, sloop_opts_t *o, sloop_metrics_opts_t *m) {
  o->stream = s->stream_arn ? s->stream_arn : s->stream;
  o->app = s->app;
  o->user_agent = s->user_agent;
  o->schema = "kcl";
  o->region = s->region ? s->region : o->region;
  o->profile = s->profile ? s->profile : o->profile;
  o->endpoint = s->kinesis_endpoint ? s->kinesis_endpoint : o->endpoint;
  o->store_endpoint = s->dynamodb_endpoint ? s->dynamodb_endpoint
                      : *s->dynamodb_url   ? s->dynamodb_url
                                           : o->store_endpoint;
  o->worker = s->worker ? s->worker : o->worker;
  o->kcl_coordinator = s->coordinator_table;
  o->kcl_metrics = s->metrics_table;
  o->start.kind = s->initial == SLP_ML_OLDEST ? SLOOP_OLDEST : SLOOP_LATEST;
  if (s->initial_at_s >= 0) {
    o->start.kind = SLOOP_AT_TIME;
    o->start.at_ms = s->initial_at_s * 1000;
  }
  o->lease_ms = (uint32_t)s->lease_ms;
  o->handover_ms = (uint32_t)s->handover_ms;
  o->list_ms = (uint32_t)s->list_ms;
  o->poll_ms = (uint32_t)s->poll_ms;
  o->batch_records_max = (uint32_t)s->batch_records;
  o->fetch_records_max = (uint32_t)s->batch_records;
  o->order = SLOOP_ORDER_SHARD;
  o->checkpoints = SLOOP_CHECKPOINTS_ASKED;
  o->retrieval = s->retrieval == SLP_ML_FANOUT ? SLOOP_RETRIEVAL_PUSH : SLOOP_RETRIEVAL_POLL;
  if (s->consumer) o->push_consumer = s->consumer;
  if (*s->store) o->store = s->store;
  if (s->metrics != SLP_ML_METRICS_NONE) {
    m->cloudwatch = s->app;
    m->cloudwatch_ms = (uint32_t)s->cloudwatch_ms;
  }
}

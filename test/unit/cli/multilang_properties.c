/* Files of the MultiLangDaemon as settings: cli/multilang_properties.c. */
#include "cli/multilang_properties.h"

#include "check.h"

#define BASE                                                                                          \
  "executableName = sample app.py\napplicationName=App\nstreamName: words\nawscredentialsPROVIDER = " \
  "DefaultCredentialsProvider\n"

static slp_mem *mem;
static slp_ml_settings s;
static char why[SLP_ML_WHY];

static int take(const char *text) {
  if (!mem) mem = slp_mem_new(NULL, NULL);
  int r = slp_ml_settings_read(&s, mem, slp_str_of(text), why);
  if (r) slp_ml_settings_free(&s, mem);
  return r;
}
static int notes(const char *part) { return strstr(slp_buf_z(&s.notes), part) != NULL; }
static void end(void) {
  slp_ml_settings_free(&s, mem);
  CHECK_INT(mem->live_bytes, 0);
}
static void refused(const char *text, const char *part) {
  CHECK_INT(take(text), SLP_EINVAL);
  if (!strstr(why, part)) CHECK_FAIL("\"%s\" says nothing of \"%s\"", why, part);
}

TEST(the_least_there_is_and_its_defaults) {
  sloop_opts_t o;
  sloop_metrics_opts_t m;
  CHECK_INT(take(BASE), 0);
  CHECK_STR(s.command[0], "sample");
  CHECK_STR(s.command[1], "app.py");
  CHECK(!s.command[2]);
  CHECK_INT(s.retrieval, SLP_ML_FANOUT); /* as that daemon, which costs: it is told */
  CHECK(notes("retrievalMode is not given"));
  sloop_opts_init(&o);
  sloop_metrics_opts_init(&m);
  slp_ml_settings_apply(&s, &o, &m);
  CHECK_STR(o.stream, "words");
  CHECK_STR(o.app, "App");
  CHECK_STR(o.schema, "kcl");
  CHECK_INT(o.start.kind, SLOOP_LATEST);
  CHECK_INT(o.retrieval, SLOOP_RETRIEVAL_PUSH);
  CHECK_INT(o.checkpoints, SLOOP_CHECKPOINTS_ASKED);
  CHECK_INT(o.order, SLOOP_ORDER_SHARD);
  CHECK_INT(o.lease_ms, 10000);
  CHECK_STR(m.cloudwatch, "App"); /* metricsLevel's default is DETAILED */
  end();
}

TEST(keys_that_act) {
  sloop_opts_t o;
  sloop_metrics_opts_t m;
  CHECK_INT(take(BASE "streamArn = arn:aws:kinesis:us-east-5:000000000000:stream/other\n"
                      "initialPositionInStream = trim_horizon\nregionName=us-east-1\nworkerId = w1\n"
                      "kinesisEndpoint=http://k:1\ntableName = T\nfailoverTimeMillis=20000\nmaxRecords = 50\n"
                      "idleTimeBetweenReadsInMillis=250\nmetricsLevel = none\ntimeoutInSeconds=7\n"
                      "processingLanguage=python/3.8\nshutdownGraceMillis = "
                      "3000\ncallProcessRecordsEvenForEmptyRecordList=true\n"
                      "coordinatorStateTableName = C\nworkerMetricsTableName=M\n"
                      "fanoutConfig.consumerArn = arn:aws:kinesis:a:b:stream/other/consumer/me:12\n"),
            0);
  sloop_opts_init(&o);
  sloop_metrics_opts_init(&m);
  slp_ml_settings_apply(&s, &o, &m);
  CHECK_STR(o.stream, "arn:aws:kinesis:us-east-5:000000000000:stream/other");
  CHECK_INT(o.start.kind, SLOOP_OLDEST);
  CHECK_STR(o.region, "us-east-1");
  CHECK_STR(o.worker, "w1");
  CHECK_STR(o.endpoint, "http://k:1");
  CHECK_STR(o.store_endpoint, "https://dynamodb.us-east-1.amazonaws.com");
  CHECK_STR(o.store, "dynamodb:T");
  CHECK_INT(o.lease_ms, 20000);
  CHECK_INT(o.batch_records_max, 50);
  CHECK_INT(o.poll_ms, 250);
  CHECK_INT(o.retrieval, SLOOP_RETRIEVAL_POLL); /* a key of polling is set */
  CHECK(!m.cloudwatch);
  CHECK_INT(s.timeout_s, 7);
  CHECK_INT(s.grace_ms, 3000);
  CHECK_INT(s.call_empty, 1);
  CHECK_STR(o.kcl_coordinator, "C");
  CHECK_STR(o.kcl_metrics, "M");
  CHECK_STR(o.push_consumer, "arn:aws:kinesis:a:b:stream/other/consumer/me:12");
  CHECK(strstr(o.user_agent, " multilang python/3.8"));
  end();
  CHECK_INT(take(BASE "initialPositionInStreamExtended = 1700000000\nretrievalMode=FANOUT\nmaxRecords=9\n"),
            0);
  CHECK_INT(s.retrieval, SLP_ML_FANOUT);
  CHECK_INT(s.initial_at_s, 1700000000);
  end();
}

TEST(the_changes_of_a_table_are_polled) {
  static const char *const streams[] = {
      "dynamodb:tab", "arn:aws:dynamodb:us-east-1:1:table/tab/stream/2026-11-28T10:42:36.944",
      "arn:aws-cn:dynamodb:cn-north-1:1:table/tab"};
  char text[400];
  for (size_t i = 0; i < SLP_COUNT(streams); i++) {
    sloop_opts_t o;
    sloop_metrics_opts_t m;
    snprintf(text, sizeof text, BASE "%s=%s\n", i == 1 ? "streamArn" : "streamName", streams[i]);
    CHECK_INT(take(text), 0);
    CHECK_INT(slp_ml_reads_table(&s), 1);
    CHECK(!notes("retrievalMode")); /* nothing is billed, so nothing is told */
    sloop_opts_init(&o);
    sloop_metrics_opts_init(&m);
    slp_ml_settings_apply(&s, &o, &m);
    CHECK_INT(o.retrieval, SLOOP_RETRIEVAL_POLL);
    end();
  }
  CHECK_INT(take(BASE "streamArn=arn:aws:dynamodb:us-east-1:1:table/tab/stream/x\nretrievalMode=FANOUT\n"),
            0);
  CHECK(notes("retrievalMode = FANOUT and fanoutConfig have no effect"));
  CHECK_INT(s.retrieval, SLP_ML_POLLING);
  end();
  CHECK_INT(take(BASE), 0);
  CHECK_INT(slp_ml_reads_table(&s), 0);
  end();
}

TEST(a_consumer_s_arn_is_read_as_it_is_and_names_the_stream_s_account) {
  static const char arn[] = "arn:aws:kinesis:us-east-1:999:stream/words/consumer/c:1";
  sloop_opts_t o;
  sloop_metrics_opts_t m;
  char text[600];
  snprintf(text, sizeof text, BASE "fanoutConfig.consumerArn = %s\n", arn);
  CHECK_INT(take(text), 0);
  sloop_opts_init(&o);
  sloop_metrics_opts_init(&m);
  slp_ml_settings_apply(&s, &o, &m);
  CHECK_STR(o.push_consumer, arn);
  CHECK_STR(o.stream, "arn:aws:kinesis:us-east-1:999:stream/words");
  end();
  snprintf(text, sizeof text, BASE "streamName = other\nfanoutConfig.consumerArn = %s\n", arn);
  CHECK_INT(take(text), 0);
  sloop_opts_init(&o);
  slp_ml_settings_apply(&s, &o, &m);
  CHECK_STR(o.stream, "other"); /* the library refuses the two */
  end();
}

TEST(keys_without_effect_and_unknown_ones_are_told_with_their_lines) {
  CHECK_INT(take(BASE "maxActiveThreads = 3\nfoo=1\nExecutableName=x\nretrievalMode=polling\n"), 0);
  CHECK(notes("line 5: maxActiveThreads has no effect here: there is one thread\n"));
  CHECK(notes("line 6: \"foo\" is not a key"));
  CHECK(notes("line 7: \"ExecutableName\" is not a key"));
  end();
}

TEST(of_keys_that_contradict_each_other_the_one_that_wins_is_told) {
  CHECK_INT(take(BASE "streamArn=arn:aws:kinesis:b:1:stream/other\nregionName=a\nregionName=b\n"
                      "initialPositionInStream=LATEST\ninitialPositionInStreamExtended=1700000000\n"
                      "retrievalMode=POLLING\nfanoutConfig.consumerName=x\nregionName=b\n"),
            0);
  CHECK(notes("streamArn overrides streamName of line 3: the ARN is of another stream\n"));
  CHECK(notes("line 7: regionName is repeated and overrides line 6\n"));
  CHECK(!notes("line 12: regionName"));
  CHECK(notes("line 9: initialPositionInStreamExtended overrides initialPositionInStream of line 8: "));
  CHECK(notes("line 10: retrievalMode overrides fanoutConfig.consumerName of line 11: nothing is pushed\n"));
  end();
  CHECK_INT(take(BASE "streamArn=arn:aws:kinesis:us-east-1:1:stream/words\nfanoutConfig.consumerName=x\n"
                      "fanoutConfig.consumerArn=arn:aws:kinesis:us-east-1:1:stream/s/consumer/xy:17\n"
                      "retrievalMode=FANOUT\nidleTimeBetweenReadsInMillis=7\n"),
            0);
  CHECK(notes("line 7: fanoutConfig.consumerArn overrides fanoutConfig.consumerName of line 6: "));
  CHECK(notes("line 8: retrievalMode overrides idleTimeBetweenReadsInMillis of line 9: nothing is polled\n"));
  end();
}

TEST(a_region_that_is_not_the_stream_s_is_refused) {
  static const char *const streams[] = {"streamArn=arn:aws:kinesis:us-east-1:1:stream/words",
                                        "streamName=arn:aws:kinesis:us-east-1:1:stream/words",
                                        "streamArn=arn:aws:dynamodb:us-east-1:1:table/words"};
  char text[400];
  for (size_t i = 0; i < SLP_COUNT(streams); i++) {
    snprintf(text, sizeof text, BASE "%s\nregionName=us-west-2\n", streams[i]);
    refused(text, "regionName is us-west-2, and the stream's ARN is of us-east-1");
    snprintf(text, sizeof text, BASE "%s\nregionName=us-east-1\n", streams[i]);
    CHECK_INT(take(text), 0);
    end();
    snprintf(text, sizeof text, BASE "%s\nregionName=us-west-2\nkinesisEndpoint=http://l:1\n", streams[i]);
    CHECK_INT(take(text), 0); /* a local server takes it */
    CHECK(notes("regionName is us-west-2"));
    end();
  }
  refused(BASE "fanoutConfig.consumerArn=me\n", "\"me\" is not an ARN");
}

TEST(what_is_missing_or_wrong_is_named) {
  refused(BASE "initialPositionInStreamExtended=30\n", "initialPositionInStreamExtended");
  refused("applicationName=a\nstreamName=b\nAwsCredentialsProvider=DefaultCredentialsProvider\n",
          "executableName is missing");
  refused("executableName=x\nstreamName=b\nAwsCredentialsProvider=DefaultCredentialsProvider\n",
          "applicationName is missing");
  refused("executableName=x\napplicationName=a\nAwsCredentialsProvider=DefaultCredentialsProvider\n",
          "streamName or streamArn is missing");
  refused("executableName=x\napplicationName=a\nstreamName=b\n", "AwsCredentialsProvider is missing");
  refused(BASE "failoverTimeMillis = soon\n", "line 5: failoverTimeMillis: \"soon\" is not a whole number");
  refused(BASE "retrievalMode = PUSH\n", "line 5: retrievalMode: \"PUSH\" is none of DEFAULT|FANOUT|POLLING");
  refused(BASE "regionName =\n", "line 5: regionName: the value is empty");
  refused(BASE "x=\\u12\n", "line 5: a damaged \\u escape");
  refused(BASE "executableName =   \n", "executableName: the value is empty");
  CHECK_INT(mem->live_bytes, 0);
}

TEST(providers_of_credentials_are_mapped_or_refused_with_the_reason) {
#define CREDENTIALS \
  "executableName=x\napplicationName=a\nstreamName=b\nretrievalMode=POLLING\nAwsCredentialsProvider="
  CHECK_INT(take(CREDENTIALS "ProfileCredentialsProvider|prod\n"), 0);
  CHECK_STR(s.profile, "prod");
  end();
  CHECK_INT(take(CREDENTIALS "software.amazon.awssdk.auth.credentials.InstanceProfileCredentialsProvider\n"),
            0);
  CHECK(!s.profile);
  end();
  CHECK_INT(take(CREDENTIALS "org.mine.Provider, EnvironmentVariableCredentialsProvider\n"), 0);
  CHECK(notes("org.mine.Provider can't be had here"));
  end();
  refused(CREDENTIALS "StsAssumeRoleCredentialsProvider|arn:aws:iam::1:role/x|s\n",
          "role_arn = arn:aws:iam::1:role/x; ");
  /* The keys of a later provider are not the role's: the daemon would read as the role. */
  refused(CREDENTIALS
          "org.mine.Provider, StsAssumeRoleCredentialsProvider|arn:aws:iam::1:role/x|s, "
          "DefaultCredentialsProvider\n",
          "StsAssumeRoleCredentialsProvider can't be had here: put these lines into ~/.aws/config");
  refused(CREDENTIALS
          "STSAssumeRoleWithWebIdentitySessionCredentialsProvider|arn:aws:iam::1:role/x|s|/f,"
          "DefaultCredentialsProvider\n",
          "AWS_ROLE_ARN=arn:aws:iam::1:role/x");
  CHECK_INT(take(CREDENTIALS
                 "DefaultCredentialsProvider, StsAssumeRoleCredentialsProvider|arn:aws:iam::1:role/x|s\n"),
            0);
  CHECK(notes("StsAssumeRoleCredentialsProvider can't be had here"));
  end();
  refused(CREDENTIALS "SystemPropertyCredentialsProvider\n", "there is no JVM");
  refused(CREDENTIALS "org.mine.Provider\n", "a class of Java");
  refused(CREDENTIALS " , \n", "names no provider");
  refused(CREDENTIALS
          "ProfileCredentialsProvider|a\nAwsCredentialsProviderDynamoDB=ProfileCredentialsProvider|b\n",
          "AwsCredentialsProviderDynamoDB: another profile");
  CHECK_INT(mem->live_bytes, 0);
}

/* Spellings of KCL's own pages, samples and public questions. "had": with that profile, or none. */
TEST(every_spelling_of_both_sdks_is_had_or_gets_its_own_advice) {
  static const struct {
    const char *written, *profile, *advice;
  } rows[] = {
      {"software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider", NULL, NULL},
      {"com.amazonaws.auth.DefaultAWSCredentialsProviderChain", NULL, NULL},
      {"DefaultCredentialsProvider|x", NULL, NULL}, /* KCL 3.1.3 passes over the argument */
      {"com.amazonaws.auth.profile.ProfileCredentialsProvider", NULL, NULL},
      {"com.amazonaws.auth.profile.ProfileCredentialsProvider|prod", "prod", NULL},
      {"profile.ProfileCredentialsProvider|prod", "prod", NULL}, /* KCL 1.14.9 takes it */
      {"ProfileCredentialsProvider |prod", "prod", NULL},
      {"EC2ContainerCredentialsProviderWrapper", NULL, NULL},
      {"com.amazonaws.auth.EC2ContainerCredentialsProviderWrapper", NULL, NULL},
      {"WebIdentityTokenCredentialsProvider", NULL, NULL},
      {"software.amazon.awssdk.services.sts.auth.StsWebIdentityTokenFileCredentialsProvider", NULL, NULL},
      {"com.amazonaws.auth.profile.ProfileCredentialsProvider|/f|prod", NULL,
       "set AWS_SHARED_CREDENTIALS_FILE to it and write ProfileCredentialsProvider|NAME"},
      {"STSAssumeRoleSessionCredentialsProvider|arn:aws:iam::1:role/r|s", NULL,
       "[profile kcl]; role_arn = arn:aws:iam::1:role/r; role_session_name = s; and credential_source = "},
      {"KclSTSAssumeRoleSessionCredentialsProvider|arn:aws:iam::1:role/r|s|endpointRegion=us-east-1|"
       "externalId=ex",
       NULL, "role_session_name = s; external_id = ex; and "},
      {"software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider|arn:aws:iam::1:role/r|s|"
       "endpoint=https://sts.x^us-east-1",
       NULL, "; set AWS_ENDPOINT_URL_STS=https://sts.x"},
      {"KclStsAssumeRoleCredentialsProvider|arn:aws:iam::1:role/r|externalId=ex", NULL,
       "role_session_name = SESSION; external_id = ex; "},
      {"KclStsAssumeRoleCredentialsProvider", NULL, "role_arn = ARN; "},
      {"KclStsAssumeRoleCredentialsProvider|AKIDEXAMPLE|hushhush", NULL, "role_session_name = SESSION; "},
      {"STSAssumeRoleWithWebIdentitySessionCredentialsProvider|arn:aws:iam::1:role/r|s|/var/token", NULL,
       "AWS_ROLE_ARN=arn:aws:iam::1:role/r, AWS_ROLE_SESSION_NAME=s and "
       "AWS_WEB_IDENTITY_TOKEN_FILE=/var/token"},
      {"SystemPropertiesCredentialsProvider", NULL, "use EnvironmentVariableCredentialsProvider"},
      {"ClasspathPropertiesFileCredentialsProvider|/x", NULL, "into a profile of ~/.aws/credentials"},
      {"PropertiesFileCredentialsProvider|/x", NULL, "into a profile of ~/.aws/credentials"},
      {"ProcessCredentialsProvider|get-keys", NULL, "credential_process in a profile"},
      {"software.amazon.awssdk.services.sso.auth.SsoCredentialsProvider", NULL, "sso_session"},
      {"AwsCredentialsProviderChain", NULL, "as a list, with commas"},
      {"AnonymousCredentialsProvider", NULL, "no unsigned calls"},
      {"stsassumerolecredentialsprovider", NULL, "it is written StsAssumeRoleCredentialsProvider"},
      {"StaticCredentialsProvider|AKIDEXAMPLE|hushhush", NULL, "use EnvironmentVariableCredentialsProvider"},
  };
  char text[600];
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    snprintf(text, sizeof text, CREDENTIALS "%s\n", rows[i].written);
    if (rows[i].advice) {
      refused(text, rows[i].advice);
      if (strstr(why, "hush") || strstr(why, "AKID")) CHECK_FAIL("%s", why);
      continue;
    }
    if (take(text)) CHECK_FAIL("%s: %s", rows[i].written, why);
    if (rows[i].profile)
      CHECK_STR(s.profile, rows[i].profile);
    else
      CHECK(!s.profile);
    end();
  }
  /* A profile is not used if another provider stands before it in the list: sloop asks the providers of its
   * chain in a fixed order. */
  CHECK_INT(take(CREDENTIALS "EnvironmentVariableCredentialsProvider, ProfileCredentialsProvider|prod\n"), 0);
  CHECK(!s.profile);
  CHECK(
      notes("the profile of ProfileCredentialsProvider is not read: EnvironmentVariableCredentialsProvider"));
  end();
  CHECK_INT(take(CREDENTIALS "ProfileCredentialsProvider|prod, DefaultCredentialsProvider\n"), 0);
  CHECK(!notes("is not read"));
  end();
  CHECK_INT(mem->live_bytes, 0);
}

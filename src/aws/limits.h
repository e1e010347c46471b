/* limits.h - limits of the services, each with its source. */
#ifndef SLP_AWS_LIMITS_H
#define SLP_AWS_LIMITS_H

/* Kinesis API reference, GetRecords "Limit": 1..10000, and "a maximum of 10,000 records or 10 MiB a call"
 * (botocore 1.43.11 service model kinesis 2013-12-02). */
#define SLP_KINESIS_RECORDS_MAX 10000u
#define SLP_KINESIS_PAGE_BYTES_MAX (10u * 1024 * 1024)
#define SLP_KINESIS_PAGE_BYTES_FULL \
  (8u * 1024 * 1024) /* the next record, of up to 1 MiB and more, did not fit */
/* The same model: shape ShardIterator is 1..512 long, NextToken 1..1048576. */
#define SLP_KINESIS_ITERATOR_MAX 512u
#define SLP_KINESIS_NEXT_TOKEN_MAX (1024u * 1024)
/* DynamoDB Streams, botocore 1.43.11 service model dynamodbstreams 2012-08-10: GetRecords "Limit" 1..1000;
 * its developer guide: 1 MB a call. Records are measured there as items and come here as JSON, so twice that.
 */
#define SLP_STREAMS_RECORDS_MAX 1000u
#define SLP_STREAMS_PAGE_BYTES_MAX (2u * 1024 * 1024)
#define SLP_STREAMS_NUMBER_DIGITS_MIN 21     /* of a sequence number: botocore's model of DynamoDB Streams */
#define SLP_STREAMS_PAGE_BYTES_FULL 1000000u /* as JSON; a page of 1 MB of items is larger */
#define SLP_STREAMS_RETENTION_HOURS 24u
/* Calls a second that an account may make in a region. DynamoDB developer guide, "Quotas in Amazon DynamoDB":
 * DescribeStream 10. Kinesis developer guide, "Quotas and limits": DescribeStreamSummary 20; ListShards has
 * 1000 for a stream, which one process does not reach (base/repeat.h). */
#define SLP_STREAMS_DESCRIBES_A_SECOND 10u
#define SLP_KINESIS_SUMMARIES_A_SECOND 20u
/* ListShards returns at most 1000 shards a page (API reference, MaxResults); a row is under 1 KiB and the
 * token at most 1 MiB. Local servers send more rows at once, so there is room for 10,000 and a token. */
#define SLP_LIST_BODY_MAX (16u * 1024 * 1024)
#define SLP_LIST_ROWS_MAX 100000u
/* Answers to the small calls are under 4 KiB; an error page of a proxy may be longer. */
#define SLP_SMALL_BODY_MAX (256u * 1024)

/* A subscription ends after 5 minutes (API reference, SubscribeToShard). An idle one sends an empty event
 * every few seconds, so one that is silent for so long is dead. */
#define SLP_SUBSCRIPTION_MS_MAX 330000u
#define SLP_SUBSCRIPTION_SILENT_MS 30000u
/* An event of 10 MiB of records is 14 MB of JSON, and another one may have begun behind it. */
#define SLP_SUBSCRIPTION_BYTES_MAX (33u * 1024 * 1024)

/* Time limits of our own. */
#define SLP_RECORDS_MS_MAX 30000u
#define SLP_CONTROL_MS_MAX 10000u
#define SLP_CREDS_MS_MAX 60000u /* a creds callback, or files on a hanging disk */

/* Services accept signatures within 5 minutes of their clock; from 4 minutes on we blame the clock and not
 * the key (the AWS SDK for Java v2 draws the same line). */
#define SLP_CLOCK_SKEW_MS_MIN (4 * 60 * 1000)

#endif

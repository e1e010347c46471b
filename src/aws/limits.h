/* limits.h - limits of the services, each with its source. */
#ifndef SLP_AWS_LIMITS_H
#define SLP_AWS_LIMITS_H

/* Kinesis API reference, GetRecords "Limit": 1..10000, and "a maximum of 10,000 records or 10 MiB a call"
 * (botocore 1.43.11 service model kinesis 2013-12-02). */
#define SLP_KINESIS_RECORDS_MAX 10000u
#define SLP_KINESIS_PAGE_BYTES_MAX (10u * 1024 * 1024)
#define SLP_KINESIS_PAGE_BYTES_FULL \
  (8u * 1024 * 1024) /* larger pages were cut: the next record, of 1 MiB and more, did not fit */
/* The same model: a ShardIterator has 1..512 characters, a NextToken 1..1048576. */
#define SLP_KINESIS_ITERATOR_MAX 512u
#define SLP_KINESIS_NEXT_TOKEN_MAX (1024u * 1024)
/* DynamoDB Streams: GetRecords "Limit" 1..1000 (botocore 1.43.11, service model dynamodbstreams 2012-08-10),
 * and 1 MB a call (its developer guide). The service measures records as items; here they come as JSON, so
 * twice that. */
#define SLP_STREAMS_RECORDS_MAX 1000u
#define SLP_STREAMS_PAGE_BYTES_MAX (2u * 1024 * 1024)
/* digits of a sequence number, from botocore's model of DynamoDB Streams */
#define SLP_STREAMS_NUMBER_DIGITS_MIN 21
#define SLP_STREAMS_PAGE_BYTES_FULL 1000000u /* as JSON; a page with 1 MB of items is larger */
#define SLP_STREAMS_RETENTION_HOURS 24u
/* Calls a second that an account may make in a region. DynamoDB developer guide, "Quotas in Amazon DynamoDB":
 * DescribeStream 10. Kinesis developer guide, "Quotas and limits": DescribeStreamSummary 20; ListShards 1000
 * for a stream, which one process does not reach (base/repeat.h). */
#define SLP_STREAMS_DESCRIBES_A_SECOND 10u
#define SLP_KINESIS_SUMMARIES_A_SECOND 20u
/* ListShards returns at most 1000 shards a page (API reference, MaxResults); a row has less than 1 KiB and
 * the token at most 1 MiB. Local servers send more rows at once, so there is room for 10,000 rows and a
 * token. */
#define SLP_LIST_BODY_MAX (16u * 1024 * 1024)
#define SLP_LIST_ROWS_MAX 100000u
/* Answers to the small calls have less than 4 KiB; an error page of a proxy may be longer. */
#define SLP_SMALL_BODY_MAX (256u * 1024)

/* A subscription ends after 5 minutes (API reference, SubscribeToShard). An idle one sends an empty event
 * every few seconds, so one that is silent for this long is dead. */
#define SLP_SUBSCRIPTION_MS_MAX 330000u
#define SLP_SUBSCRIPTION_SILENT_MS 30000u
/* An event with 10 MiB of records is 14 MB of JSON, and the next one may have begun behind it. */
#define SLP_SUBSCRIPTION_BYTES_MAX (33u * 1024 * 1024)

/* Time limits of this library. */
#define SLP_RECORDS_MS_MAX 30000u
#define SLP_CONTROL_MS_MAX 10000u
#define SLP_CREDS_MS_MAX 60000u /* for a credentials callback, or files on a disk that does not answer */

/* Services accept signatures within 5 minutes of their clock. From 4 minutes on the clock is blamed and not
 * the key, as in the AWS SDK for Java v2. */
#define SLP_CLOCK_SKEW_MS_MIN (4 * 60 * 1000)

#endif

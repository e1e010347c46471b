/* limits.h - the limits of AWS's services, each with its source, and the time limits of this library. */
#ifndef SLP_AWS_LIMITS_H
#define SLP_AWS_LIMITS_H

/* Kinesis API reference, GetRecords "Limit": 1..10000, and "a maximum of 10,000 records or 10 MiB a call"
 * (botocore 1.43.11 service model kinesis 2013-12-02). */
#define SLP_KINESIS_RECORDS_MAX 10000u
#define SLP_KINESIS_PAGE_BYTES_MAX (10u * 1024 * 1024)
/* A page larger than this was cut: the next record, which may have 1 MiB and more, did not fit. */
#define SLP_KINESIS_PAGE_BYTES_FULL (8u * 1024 * 1024)
/* botocore 1.43.11, service model kinesis 2013-12-02: a ShardIterator has 1..512 characters, a NextToken
 * 1..1048576. */
#define SLP_KINESIS_ITERATOR_MAX 512u
#define SLP_KINESIS_NEXT_TOKEN_MAX (1024u * 1024)
/* DynamoDB Streams: GetRecords "Limit" is 1..1000 (botocore 1.43.11, service model dynamodbstreams
 * 2012-08-10), and a call returns up to 1 MB (its developer guide). This 1 MB is the size of the items. A
 * page contains them as JSON, so the limit here is twice as large. */
#define SLP_STREAMS_RECORDS_MAX 1000u
#define SLP_STREAMS_PAGE_BYTES_MAX (2u * 1024 * 1024)
/* the fewest digits of a sequence number, from botocore's model of DynamoDB Streams */
#define SLP_STREAMS_NUMBER_DIGITS_MIN 21
/* a page of JSON that is smaller than this had less than 1 MB of items */
#define SLP_STREAMS_PAGE_BYTES_FULL 1000000u
#define SLP_STREAMS_RETENTION_HOURS 24u
/* How many calls a second an account may make in a region. DynamoDB developer guide, "Quotas in Amazon
 * DynamoDB": DescribeStream 10. Kinesis developer guide, "Quotas and limits": DescribeStreamSummary 20.
 * ListShards 1000 for a stream, which one process does not reach (base/repeat.h). */
#define SLP_STREAMS_DESCRIBES_A_SECOND 10u
#define SLP_KINESIS_SUMMARIES_A_SECOND 20u
/* ListShards returns at most 1000 shards in a page (API reference, MaxResults). A row has less than 1 KiB,
 * and the token at most 1 MiB. Local servers send more rows in a page, so there is room for 10,000 rows and a
 * token. */
#define SLP_LIST_BODY_MAX (16u * 1024 * 1024)
#define SLP_LIST_ROWS_MAX 100000u
/* The small answers have less than 4 KiB; an error page of a proxy may be longer. */
#define SLP_SMALL_BODY_MAX (256u * 1024)

/* A subscription ends after 5 minutes (API reference, SubscribeToShard). An idle one gets an empty event
 * every few seconds, so a subscription that was silent for SILENT_MS is dead. */
#define SLP_SUBSCRIPTION_MS_MAX 330000u
#define SLP_SUBSCRIPTION_SILENT_MS 30000u
/* An event with 10 MiB of records is 14 MB of JSON, and the start of the next event may follow it. */
#define SLP_SUBSCRIPTION_BYTES_MAX (33u * 1024 * 1024)

/* Time limits of this library. */
#define SLP_RECORDS_MS_MAX 30000u
#define SLP_CONTROL_MS_MAX 10000u
/* time limit of the credentials callback, and of files on a disk that does not respond */
#define SLP_CREDS_MS_MAX 60000u

/* Services accept a signature whose time differs from their clock by up to 5 minutes. If the difference is 4
 * minutes or more, a refusal is attributed to the clock and not to the keys. The AWS SDK for Java v2 has the
 * same rule. */
#define SLP_CLOCK_SKEW_MS_MIN (4 * 60 * 1000)

#endif

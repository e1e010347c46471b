/* bounds.h - what nothing hostile may cost: the bounds of the lane, C's and Python's (bounds.py reads this file).
 * Sanitizers need more of everything. CPU time, because machines are busy. */
#ifndef SLP_TEST_BOUNDS_H
#define SLP_TEST_BOUNDS_H

/* ---- the library, in virtual time ---------------------------------------------------------------------- */
#define TURN_US 100000      /* CPU of one turn: an answer of 16 MiB may be read in it, ... */
#define MANY_TURN_US 500000 /* ... and 20,000 shards or rows be taken in */
#define TURNS_A_SECOND 4000
#define LIBRARY_MB 600     /* two lists of rows of 256 MiB, and the budget of records */
#define SANITIZED_TURNS 10 /* times as long with sanitizers */

/* Calls of an operation in any second, and on average over a run. Kinesis itself answers a shard 5 GetRecords
 * and 5 GetShardIterator a second, a stream 1000 ListShards, an account 20 DescribeStreamSummary; DynamoDB
 * Streams 10 DescribeStream. A page of a long listing counts as a call; of rows two lists are read at a time. */
#define RECORDS_CALLS 60
#define RECORDS_CALLS_MEAN 40
#define ITERATOR_CALLS 60
#define ITERATOR_CALLS_MEAN 20
#define LISTING_CALLS 140
#define LISTING_CALLS_MEAN 110
#define ROWS_CALLS 280
#define ROWS_CALLS_MEAN 210
/* In tables of the KCL each lease is renewed by itself, here once a second. */
#define LEASE_CALLS 2
#define OTHER_CALLS 30
#define OTHER_CALLS_MEAN 12

/* ---- the program, in real time ------------------------------------------------------------------------- */
/* A record may unpack to 16 MiB, each control character of which takes six bytes in JSON. */
#define PROGRAM_MB 200
#define SANITIZED_MB 600
#define LEAVE_S 2 /* after Ctrl-C; the same with leases after LEASED_LEAVE_S */
#define LEASED_LEAVE_S 12
#define SANITIZED_LEAVE_S 6
/* 512 peers of the metrics port that all have asked, and what it has itself. */
#define PROGRAM_FDS 600
#define PROBE_S 2      /* an answer of /healthz, whatever else is open */
#define SECOND_CPU_S 1 /* CPU in 1.2 s of a run that has nothing to read */
#define SANITIZED_SECOND_CPU_S 8

#endif

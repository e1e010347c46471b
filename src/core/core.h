/* core.h - the objects of core, and which of its files may call which.
 *
 *   engine    what joined consumers share: budget, merge, delivery, and which shard fetches next
 *   consumer  reads one stream: its source, its shards (lineage), its life
 *   shard     one shard: a reader fetches its pages, a queue hands its records out and takes them back
 *   buffered  a page of records in memory, from its last byte until every record is acknowledged
 *   batch     records that the user holds; it may outlive all other objects
 *
 * Words that the whole room uses:
 *   tip           the newest record of a shard. A shard is at its tip if its last page left nothing to read.
 *   merge         the heap that orders the next records of all shards, merge.h; also: two shards become one
 *   the order     a shard is in it while it may hand out records: from when its parents have handed out all
 *                 their records, until the shard has handed out its own; order.h
 *   set aside     no other shard waits for a shard that is set aside, because it fails or does not answer;
 *                 order.h, deliver.c
 *   order time    slp_key.time, which orders the records of all shards: the arrival time, corrected; queue.c
 *   watermark     a key that no record still to come from a shard can precede; merge.h
 *   pushed shard  a shard whose records come over a subscription that stays open; all others are polled
 *   taken         a record that was put into its shard's queue, or passed over
 *   passed over   a record that is not handed out: it is empty, or reading begins after it
 *   idle mark     a sequence number of no record, given by the service; no record had come up to it; mark.h
 *   out           the user holds the record, in a batch that is not yet given back
 *   given back    the user returned the record without acknowledging it, so it will be handed out again
 *   told, report  a callback to the user was made, or will be made; report.h
 *
 * Each object is made of parts. A part is a struct that one file owns, and the header of that file declares
 * it. Other files never read the fields of a part: they call the functions of its header. If two files own a
 * part, the header names both. Every file may read the fields of the objects themselves, and of the parts in
 * standing.h, tally.h and leases.h, which have no .c file. Nothing in core knows AWS, libuv, or a clock other
 * than the host's.
 *
 * This header only declares the objects, for files that pass pointers to them. A file that reads fields of an
 * object includes shard_inside.h, consumer_inside.h or engine_inside.h, which include the headers of all
 * parts of the object. A part of a floor above 1 has a header without functions, so that such a file does not
 * see functions of higher floors: reader_part.h has the struct, reader.h the functions.
 *
 * The files have floors: a file calls functions of its own floor and of lower floors. A file tells a higher
 * floor something in one of three ways: it returns the fact, it posts an event (slp_deliver_soon,
 * slp_pump_soon, the events and timers of a part), or it calls through a table of functions that it was
 * given: source.h, leases.h.
 *
 *   7  consumer.c     the life of a consumer: describes, lists, starts, stops
 *      save.c         writes a consumer's positions as a token
 *      engine.c       creates and frees an engine
 *   6  seek.c         moves a running consumer to another position
 *      deliver.c      which record is handed out next, and in which batch
 *   5  batch.c        the records that the user holds, until they come back
 *      pump.c         which shard calls now, and what is dropped when the budget is spent
 *      progress.c     what is reported about a shard's progress
 *   4  reader.c       asks for iterators and pages, and decides what the answers mean
 *      read_again.c   cancels a shard's call, or drops its fetched records, to read them again
 *   3  order.c        which shards may be read, and which may hand out records (the order)
 *      await.c        waits for a listing that shows a shard, or the children of a shard
 *      start.c        where each shard is read from
 *   2  lineage.c      which shards exist, their parents and children, and which of them are read at all
 *      reading.c      the state of a shard's reading, and when the shard wants to call
 *   1  queue.c, acked.c, shorten.c    a shard's pages, until every record of them is acknowledged
 *      calls.c        the calls in flight, and how many bytes a call may hold; pages.c: recycled pages
 *      lag.c          how far behind its tip the last successful answer left a shard
 *      listing.c      asks what the stream is, and which shards it has
 *      life.c         the states of a consumer, and when a stop is over
 *      report.c       makes callbacks to the user; loss.c: finds lost records
 *   0  ahead.c, budget.c, delay.c, desc.c, mark.c, merge.c, open_ends.c, pace.c, position.c,
 *      svctime.c, token.c: pure functions, without access to the host
 *
 * test/contract/tidy/rooms.py checks floors and parts. */
#ifndef SLP_CORE_CORE_H
#define SLP_CORE_CORE_H

typedef struct slp_engine slp_engine;
typedef struct slp_consumer slp_consumer;
typedef struct slp_shard slp_shard;
typedef struct sloop_batch_s slp_batch;
typedef struct slp_start_position slp_start_position;

#endif

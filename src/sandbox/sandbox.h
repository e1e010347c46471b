/* sandbox.h - the sandbox's model, without I/O: it takes a request and the time, and makes an answer. The
 * simulator and unit tests use the model directly; sandbox/front.c serves it over HTTP. The room includes
 * only host, codec and base, never aws or core, so that client and server can't share a mistake. */
#ifndef SLP_SANDBOX_SANDBOX_H
#define SLP_SANDBOX_SANDBOX_H

#include "base/buf.h"
#include "base/mem.h"

#include <sloop_sandbox.h>

typedef struct slp_box slp_box; /* the model: streams, shards, records, tables, iterators, faults */

slp_box *slp_box_new(slp_mem *mem, const sloop_sandbox_opts_t *o, uint64_t seed);
void slp_box_free(slp_box *box);

typedef struct slp_box_request {
  slp_str method, path, host;
  slp_str target; /* the header X-Amz-Target */
  slp_str content_type;
  slp_str authorization, amz_date, security_token;
  slp_str body;
  /* Returns any header of the request by its name in lower case, because a signature may cover headers for
   * which this struct has no member. The function may be NULL: there are no other headers. */
  slp_str (*header)(void *arg, const char *name);
  void *header_arg;
} slp_box_request;

typedef struct slp_box_sub slp_box_sub; /* an open subscription to a shard */

typedef struct slp_box_answer {
  int status;
  const char *content_type;     /* the header Content-Type; NULL: no such header */
  const char *content_encoding; /* the header Content-Encoding; NULL: no such header */
  const char *protocol;         /* the header smithy-protocol; NULL: no such header */
  slp_buf body;                 /* the caller initialises it before the call, and frees it afterwards */
  char request_id[40];
  char error_type[80]; /* the header x-amzn-errortype; "": no such header */
  uint8_t has_crc32;   /* 1: the answer has the header x-amz-crc32, as DynamoDB's answers do */
  uint8_t bad_crc32;   /* 1: x-amz-crc32 must be wrong, because of a fault */
  uint32_t crc32;      /* checksum of the body as it is sent */
  uint32_t delay_ms;   /* send the answer this much later, because of a fault */
  size_t cut_after;    /* cut the connection after this many bytes, because of a fault; SIZE_MAX: no fault */
  int drop;            /* 1: send no answer at all, because of a fault */
  /* not NULL: the answer continues with the events of this subscription, which the caller owns */
  slp_box_sub *subscription;
} slp_box_answer;

/* Answers one request. now_ms: the service's Unix time. */
void slp_box_handle(slp_box *box, int64_t now_ms, const slp_box_request *received, slp_box_answer *answer);

/* Subscriptions. Events are sent by calls of slp_push_more, at the times that it returns, and whenever
 * slp_push_next_news returns the subscription. */
typedef enum {
  SLP_PUSH_OPEN,
  SLP_PUSH_ENDED,
  SLP_PUSH_CUT /* send these bytes, then break the connection */
} slp_push_next;
/* Appends one event, or nothing. Must be called again at *ret_at_ms, which may be now, and also when
 * slp_push_next_news returns u. */
slp_push_next slp_push_more(slp_box_sub *u, int64_t now_ms, slp_buf *to, int64_t *ret_at_ms);
/* Returns the next subscription with news: a record has arrived, its shard was closed, or an exception ends
 * it. NULL: no subscription has news. */
slp_box_sub *slp_push_next_news(slp_box *box);
void slp_push_close(slp_box_sub *u);

/* The functions of sloop_sandbox.h, with the time as an argument. */
int slp_box_stream(slp_box *box, int64_t now_ms, const char *name, uint32_t shards);
int slp_box_synthetic(slp_box *box, int64_t now_ms, const char *name, uint32_t shards, uint64_t records,
                      uint32_t record_bytes, uint64_t records_per_second, uint64_t seed);
int slp_box_put(slp_box *box, int64_t now_ms, const char *stream, slp_str key, slp_str data, char seq[130],
                char shard[129]);
int slp_box_split(slp_box *box, int64_t now_ms, const char *stream, const char *shard,
                  const char *new_start_hash);
int slp_box_merge(slp_box *box, int64_t now_ms, const char *stream, const char *shard, const char *adjacent);
int slp_box_trim(slp_box *box, int64_t now_ms, const char *stream, int64_t before_ms);
/* sets the stream's retention */
int slp_box_keep(slp_box *box, int64_t now_ms, const char *stream, uint32_t hours);
/* Tables and their streams. `table` is always the table's name, never its stream's. */
int slp_box_table(slp_box *box, int64_t now_ms, const char *name, uint32_t partitions, const char *view_type);
int slp_box_add_change(slp_box *box, int64_t now_ms, const char *table, slp_str keys, slp_str old_image,
                       slp_str new_image, int by_ttl);
int slp_box_stale(slp_box *box, int64_t now_ms, const char *table, uint32_t ms);
int slp_box_roll(slp_box *box, int64_t now_ms, const char *table, int split);
int slp_box_trim_table(slp_box *box, int64_t now_ms, const char *table, int64_t before_ms);
int slp_box_quirk(slp_box *box, const char *table_or_null, const char *name, uint32_t value);
int slp_box_faults(slp_box *box, const char *script, char why[160]);
void slp_box_stats(const slp_box *box, sloop_sandbox_stats_t *out);
int slp_box_stats_json(const slp_box *box, slp_buf *to); /* appends the calls and bytes of each operation */

#endif

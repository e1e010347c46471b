/* sandbox.h - the model behind the HTTP front, without any I/O: it takes a request and the time, and gives an
 * answer. The simulator and unit tests use it directly; sandbox/front.c adds HTTP. It includes only host,
 * codec and base, never aws or core, so that client and server can't share a mistake. */
#ifndef SLP_SANDBOX_SANDBOX_H
#define SLP_SANDBOX_SANDBOX_H

#include "base/buf.h"
#include <sloop_sandbox.h>

typedef struct slp_box slp_box; /* the model: streams, shards, records, iterators, faults */

slp_box *slp_box_new(slp_mem *mem, const sloop_sandbox_opts_t *o, uint64_t seed);
void slp_box_free(slp_box *box);

typedef struct slp_box_request {
  slp_str method, path, host;
  slp_str target; /* X-Amz-Target, as it came */
  slp_str content_type;
  slp_str authorization, amz_date, security_token;
  slp_str body;
  /* Returns any header of the request by its name in lower case, for signatures over more headers than those
   * above. NULL: there are no others. */
  slp_str (*header)(void *arg, const char *name);
  void *header_arg;
} slp_box_request;

typedef struct slp_box_sub slp_box_sub; /* a subscription to a shard, while it is open */

typedef struct slp_box_answer {
  int status;
  const char *content_type;     /* NULL: none */
  const char *content_encoding; /* NULL: none */
  const char *protocol;         /* the header smithy-protocol; NULL: none */
  slp_buf body;                 /* the caller's: initialised before, freed afterwards */
  char request_id[40];
  char error_type[80];       /* x-amzn-errortype, or "" */
  uint8_t has_crc32;         /* 1: the answer has x-amz-crc32, as DynamoDB's answers do */
  uint8_t bad_crc32;         /* fault: x-amz-crc32 is wrong */
  uint32_t crc32;            /* of the body as it is sent */
  uint32_t delay_ms;         /* fault: answer so much later */
  size_t cut_after;          /* fault: bytes after which the connection is cut; SIZE_MAX: none */
  int drop;                  /* fault: 1: no answer at all */
  slp_box_sub *subscription; /* not NULL: the body is only the beginning of the answer; the caller owns it */
} slp_box_answer;

/* now_ms: the service's Unix time. */
void slp_box_handle(slp_box *box, int64_t now_ms, const slp_box_request *received, slp_box_answer *answer);

/* Subscriptions. What is due is sent in pieces: when there is news, and at times that slp_push_more names. */
typedef enum {
  SLP_PUSH_OPEN,
  SLP_PUSH_ENDED,
  SLP_PUSH_CUT /* the connection breaks after these bytes */
} slp_push_next;
/* Appends one event or none. It must be called again at *ret_at_ms, which may be now, and when there is
 * news. */
slp_push_next slp_push_more(slp_box_sub *u, int64_t now_ms, slp_buf *to, int64_t *ret_at_ms);
/* a subscription to which something happened; NULL: none is left */
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
int slp_box_keep(slp_box *box, int64_t now_ms, const char *stream, uint32_t hours); /* sets its retention */
/* Tables and their streams. Always the table is named, never its stream. */
int slp_box_table(slp_box *box, int64_t now_ms, const char *name, uint32_t partitions, const char *view_type);
int slp_box_add_change(slp_box *box, int64_t now_ms, const char *table, slp_str keys, slp_str old_image,
                       slp_str new_image, int by_ttl);
int slp_box_stale(slp_box *box, int64_t now_ms, const char *table, uint32_t ms);
int slp_box_roll(slp_box *box, int64_t now_ms, const char *table, int split);
int slp_box_trim_table(slp_box *box, int64_t now_ms, const char *table, int64_t before_ms);
int slp_box_quirk(slp_box *box, const char *table_or_null, const char *name, uint32_t value);
int slp_box_faults(slp_box *box, const char *script, char why[160]);
void slp_box_stats(const slp_box *box, sloop_sandbox_stats_t *out);
int slp_box_stats_json(const slp_box *box, slp_buf *to); /* calls and bytes of each operation */

#endif

/* show.h - the two fixed ways to print a record: plain (the default) and JSON lines (-J). */
#ifndef SLP_CLI_SHOW_H
#define SLP_CLI_SHOW_H

#include "base/buf.h"
#include "sloop.h"

/* Payload and newline, byte for byte. */
int slp_show_plain(slp_buf *b, const sloop_record_t *r);
/* For a terminal: the shard's number in its colour first when `colour`; control characters of the
 * payload as \xXX (a record must not be able to drive the terminal); base64 when it is not UTF-8. */
int slp_show_terminal(slp_buf *b, const sloop_record_t *r, int colour);
/* {"stream","shard","seq","sub","ts","key","payload"} and a newline. payload_b64 (key_b64) instead when
 * the bytes are not UTF-8; "late":true and "raw":true only when so; ts null when the service gave none. */
int slp_show_json(slp_buf *b, const sloop_record_t *r);
/* "shardId-000000000012" as "12"; other ids whole. Points into id. */
const char *slp_shard_short(const char *id);

#endif

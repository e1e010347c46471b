/* show.h - the fixed ways to print a record: plain (the default), for a terminal, and JSON lines (-J). */
#ifndef SLP_CLI_SHOW_H
#define SLP_CLI_SHOW_H

#include "base/buf.h"
#include "cli/decode_cwlogs.h"
#include "sloop.h"

typedef struct slp_show_style { /* of plain and terminal lines */
  slp_str delimiter;            /* after each record */
  slp_str key_delimiter;        /* p NULL: no key */
  uint8_t offset;               /* sequence number first */
  uint8_t colour;
  uint8_t streams; /* with several streams each line names its own */
} slp_show_style;

/* [SEQ[.SUB] delimiter][key delimiter] payload and the end, byte for byte. The delimiter after the sequence
 * number is that of keys, else a tab. */
int slp_show_plain(slp_buf *b, const sloop_record_t *r, const slp_show_style *style);
/* Writes a line for a terminal: the shard's number in its colour first when `colour` (reversed for a late
 * record), with the stream when there are several; control characters of the payload as \xXX (a record must
 * not be able to drive the terminal); base64 when it is not UTF-8. */
int slp_show_terminal(slp_buf *b, const sloop_record_t *r, const slp_show_style *style);

/* A key or a payload as a terminal may see it: what could drive the terminal as \xXX, base64 when it is
 * not UTF-8. */
void slp_show_harmless(slp_buf *b, sloop_str_t v);

typedef struct slp_show_extra { /* how key and payload were changed before printing */
  uint8_t data_is_json, key_is_json;
  const char *worker;         /* with leases: who prints it; or NULL */
  const char *error;          /* could not be decoded, or not be decided about; or NULL */
  const slp_log_event *event; /* the payload is the message of this one; or NULL */
} slp_show_extra;

/* {"stream","shard","seq","sub","ts","key","payload"} and a newline. payload_b64 (key_b64) instead when
 * the bytes are not UTF-8; "late", "raw" and "foreign" only when true; ts null when the service gave none.
 * With a worker: "epoch" and "worker".
 * A change of DynamoDB: {"stream","shard","seq","ts","event","id","change"} and "user" when it has one. */
int slp_show_json(slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra);
/* "shardId-000000000012" as "12", "shardId-00000001795292410065-69e87ba0" as "69e87ba0"; other ids whole: the
 * end of the id, as -p takes it. Points into id. */
const char *slp_shard_short(const char *id);

#endif

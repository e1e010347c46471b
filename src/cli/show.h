/* show.h - prints a record in the fixed formats: plain (the default), for a terminal, and JSON lines (-J). */
#ifndef SLP_CLI_SHOW_H
#define SLP_CLI_SHOW_H

#include "base/buf.h"
#include "cli/decode_cwlogs.h"
#include "sloop.h"

typedef struct slp_show_style { /* for plain and terminal lines */
  slp_str delimiter;            /* printed after each record */
  slp_str key_delimiter;        /* printed after the key; p NULL: the key is not printed */
  uint8_t offset;               /* 1: the sequence number comes first */
  uint8_t colour;               /* 1: the shard's number is printed in its colour */
  uint8_t streams;              /* 1: there are several streams, so each line names its stream */
} slp_show_style;

/* Appends [SEQ[.SUB] delimiter][key key_delimiter] payload delimiter, byte for byte. The delimiter after the
 * sequence number is key_delimiter, or a tab if there is none. Returns 0, or why b failed, as do all
 * below. */
int slp_show_plain(slp_buf *b, const sloop_record_t *r, const slp_show_style *style);
/* Appends a line for a terminal. The shard's number comes first if `colour` or `streams` is set: in the
 * shard's colour (reversed for a late record), with the stream if there are several. Key and payload are
 * printed as by slp_show_harmless, so that a record can't control the terminal. */
int slp_show_terminal(slp_buf *b, const sloop_record_t *r, const slp_show_style *style);

/* Appends a key or a payload so that it is safe for a terminal: bytes that could control the terminal as
 * \xXX; all in base64 if it is not UTF-8. */
void slp_show_harmless(slp_buf *b, sloop_str_t v);

typedef struct slp_show_extra {      /* what is known of a line besides the record */
  uint8_t data_is_json, key_is_json; /* 1: a decoder has made JSON of it */
  const char *worker;                /* with leases: this worker; or NULL */
  /* why the record could not be decoded, or why it is not known whether it matches; or NULL */
  const char *error;
  const slp_log_event *event; /* the log event whose message is the payload; or NULL */
} slp_show_extra;

/* Appends {"stream","shard","seq","sub","ts","key","payload"} and a newline.
 *  - key_b64 and payload_b64 stand in their place if the bytes are not UTF-8.
 *  - "late", "raw" and "foreign" are there only when true; ts is null if the service gave none.
 *  - With a worker there are "epoch" and "worker".
 *  - A change of DynamoDB is {"stream","shard","seq","ts","event","id","change"}, and "user" if it has one.
 * `extra` may be NULL. */
int slp_show_json(slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra);
/* Shortens a shard's id to a part at its end, which -p takes: "shardId-000000000012" to "12",
 * "shardId-00000001795292410065-69e87ba0" to "69e87ba0". Other ids stay whole. Returns a pointer into id. */
const char *slp_shard_short(const char *id);

#endif

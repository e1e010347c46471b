/* record_formats.h - prints a record in the fixed formats: plain (the default), for a terminal, and JSON
 * lines (-J). */
#ifndef SLP_CLI_RECORD_FORMATS_H
#define SLP_CLI_RECORD_FORMATS_H

#include "base/buf.h"
#include "cli/decode_cwlogs.h"
#include "cli/highlight.h"
#include "cli/line_memo.h"
#include "sloop.h"

typedef struct slp_show_style { /* how plain lines and lines for a terminal look */
  slp_str delimiter;            /* printed after each record */
  slp_str key_delimiter;        /* printed after the key; p NULL: no key is printed */
  uint8_t offset;               /* 1: the sequence number is printed first */
  uint8_t colour;               /* 1: the number of the shard is printed, in the colour of the shard; keys and
                                   matches have a colour of their own */
  slp_spans matches, key_matches; /* for a terminal, with colour: the parts of payload and key that match */
  uint8_t times;                  /* 1: the record's arrival time is printed first */
  uint8_t utc;                    /* 1: that time is in UTC, 0: in local time */
  uint8_t streams;                /* 1: the command reads several streams, so each line shows its stream */
} slp_show_style;

/* Appends [TIME ][SEQ[.SUB] delimiter][key key_delimiter] payload delimiter, byte for byte. After the
 * sequence number comes key_delimiter, or a tab if there is no key_delimiter. Returns 0 or the error of b,
 * like all functions below that return int. */
int slp_show_plain(slp_buf *b, const sloop_record_t *r, const slp_show_style *style);
/* Appends a line for a terminal. If style->colour or style->streams is set, the number of the shard comes
 * first: in the shard's colour (reversed for a late record), and with the stream's name if there are
 * several streams. Key and payload are printed by slp_show_harmless, so that a record can't control the
 * terminal. */
int slp_show_terminal(slp_buf *b, const sloop_record_t *r, const slp_show_style *style);

/* Appends a key or a payload in a form that is safe for a terminal. Bytes that could control the terminal
 * are written as \xXX. The whole is written in base64 if it is not UTF-8. */
void slp_show_harmless(slp_buf *b, sloop_str_t v);

typedef struct slp_show_extra {      /* what is known of a line that its record does not tell */
  uint8_t data_is_json, key_is_json; /* 1: a decoder has made JSON of the payload, or of the key */
  const char *worker;                /* with leases: this worker's name; otherwise NULL */
  /* why the record could not be decoded, or why --grep could not decide whether it matches; NULL: neither */
  const char *error;
  /* the log event whose message is the payload; NULL: the payload is no log event */
  const slp_log_event *event;
} slp_show_extra;

/* Appends {"stream","shard","seq","sub","ts","key","payload"} and a newline.
 *   - Bytes that are not UTF-8 are written as key_b64 and payload_b64 instead of key and payload.
 *   - "late", "raw" and "foreign" are written only if true. ts is null if the service gave no time.
 *   - "epoch" and "worker" are written if extra->worker is set.
 *   - A change in DynamoDB is written as {"stream","shard","seq","ts","event","id","change"}, with "user" if
 *     the change has one.
 * `extra` may be NULL. `memo` is kept from line to line. */
int slp_show_json(slp_buf *b, const sloop_record_t *r, const slp_show_extra *extra, slp_line_memo *memo);
/* Shortens a shard's id to its last part, which -p accepts: "shardId-000000000012" to "12",
 * "shardId-00000001795292410065-69e87ba0" to "69e87ba0". Leaves other ids as they are. Returns a pointer
 * into id. */
const char *slp_shard_short(const char *id);

#endif

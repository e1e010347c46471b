/* multilang_protocol.h - writes and reads the lines that Amazon's MultiLangDaemon and its children exchange.
 * Each line is one JSON object, written as Jackson writes that project's messages
 * (amazon-kinesis-client-multilang, software.amazon.kinesis.multilang.messages). No I/O, no state. */
#ifndef SLP_CLI_MULTILANG_PROTOCOL_H
#define SLP_CLI_MULTILANG_PROTOCOL_H

#include "base/buf.h"
#include "sloop.h"

typedef enum slp_ml_action {
  SLP_ML_INITIALIZE,
  SLP_ML_RECORDS,
  SLP_ML_LEASE_LOST,
  SLP_ML_SHARD_ENDED,
  SLP_ML_SHUTDOWN_REQUESTED,
  SLP_ML_ACTIONS
} slp_ml_action;
const char *slp_ml_action_name(slp_ml_action a); /* such as "processRecords"; static */

/* Each slp_ml_put_* appends one line with its newline, or a part of a line, and returns 0 or why b failed.
 * `sequence` is a decimal number, or KCL's word for a place, such as TRIM_HORIZON. */
int slp_ml_put_initialize(slp_buf *b, const char *shard, const char *sequence, uint64_t sub);
/* A processRecords line is one _begin, a _put_record for each record, and one _end. */
int slp_ml_put_records_begin(slp_buf *b);
/* `first`: no record was put before it in this line. A change of a table has null for the partition key and
 * the subsequence number, as in Amazon's daemon. */
int slp_ml_put_record(slp_buf *b, const sloop_record_t *r, int first);
int slp_ml_put_records_end(slp_buf *b, int64_t behind_ms); /* -1: not known */
/* Appends a line that has only an action: LEASE_LOST, SHARD_ENDED or SHUTDOWN_REQUESTED. */
int slp_ml_put_action(slp_buf *b, slp_ml_action a);

typedef enum slp_ml_kind {
  SLP_ML_JUNK,      /* no message: it is logged and otherwise ignored */
  SLP_ML_EMPTY,     /* an empty line: ignored */
  SLP_ML_OTHER,     /* a message that only the daemon sends: ignored */
  SLP_ML_STATUS,    /* text: the action that it answers, as the child wrote it; any text is possible */
  SLP_ML_CHECKPOINT /* if has_text, text is the sequence number that the child asks for */
} slp_ml_kind;
typedef struct slp_ml_message {
  slp_ml_kind kind;
  slp_str text; /* points into the line */
  uint8_t has_text;
  uint8_t has_sub; /* CHECKPOINT: sub was given */
  int64_t sub;
} slp_ml_message;
/* Reads a line without its newline. Changes the line in place: strings are unescaped there. */
void slp_ml_read(char *line, size_t n, slp_ml_message *ret);
/* Appends the answer to a checkpoint, which repeats what was asked for. `error` is the name of an error, or
 * NULL if the checkpoint was written. */
int slp_ml_put_checkpoint(slp_buf *b, const slp_ml_message *asked, const char *error);

#endif

/* multilang_protocol.h - writes and reads the lines that Amazon's MultiLangDaemon and its children exchange.
 * Each line is one JSON object, in the form in which Jackson writes the messages of
 * amazon-kinesis-client-multilang (software.amazon.kinesis.multilang.messages). This file does no I/O and has
 * no state. */
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
const char *slp_ml_action_name(slp_ml_action a); /* returns a static string such as "processRecords" */

/* Each slp_ml_put_* function appends a line with its newline, or a part of a line. It returns 0, or the error
 * of b. `sequence` is a decimal number, or KCL's word for a position, such as TRIM_HORIZON. */
int slp_ml_put_initialize(slp_buf *b, const char *shard, const char *sequence, uint64_t sub);
/* To write a processRecords line, call _begin, then _put_record for each record, then _end. */
int slp_ml_put_records_begin(slp_buf *b);
/* Appends one record to a processRecords line. first: 1 for the first record of the line. For a change of a
 * DynamoDB table the partition key and the subsequence number are null, as in Amazon's daemon. */
int slp_ml_put_record(slp_buf *b, const sloop_record_t *r, int first);
/* ends the line; behind_ms: how far the records are behind the newest record; -1: not known */
int slp_ml_put_records_end(slp_buf *b, int64_t behind_ms);
/* Appends a line that has only an action: LEASE_LOST, SHARD_ENDED or SHUTDOWN_REQUESTED. */
int slp_ml_put_action(slp_buf *b, slp_ml_action a);

typedef enum slp_ml_kind {
  SLP_ML_JUNK,  /* not a message; it is reported, and ignored otherwise */
  SLP_ML_EMPTY, /* an empty line, which is ignored */
  SLP_ML_OTHER, /* a message that only the daemon sends; it is ignored */
  /* an answer; `text` is the name of the answered action as the child wrote it, and may be any text */
  SLP_ML_STATUS,
  /* a request for a checkpoint; if has_text is set, `text` is the sequence number to checkpoint */
  SLP_ML_CHECKPOINT
} slp_ml_kind;
typedef struct slp_ml_message {
  slp_ml_kind kind;
  slp_str text; /* points into the line */
  uint8_t has_text;
  uint8_t has_sub; /* CHECKPOINT: the child gave `sub` */
  int64_t sub;
} slp_ml_message;
/* Reads a line without its newline. Changes the line, because strings are unescaped in place. */
void slp_ml_read(char *line, size_t n, slp_ml_message *ret);
/* Appends the answer to a checkpoint request, which repeats the child's sequence number. `error` is the name
 * of an error, or NULL if the checkpoint was written. */
int slp_ml_put_checkpoint(slp_buf *b, const slp_ml_message *asked, const char *error);

#endif

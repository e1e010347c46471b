/* multilang_protocol.h - the lines that Amazon's MultiLangDaemon and its children exchange: one JSON object a
 * line, written as Jackson writes that project's messages (amazon-kinesis-client-multilang,
 * software.amazon.kinesis.multilang.messages), and what a child's lines mean. No I/O, no state. */
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
const char *slp_ml_action_name(slp_ml_action a); /* "processRecords"; static */

/* Each appends one line with its newline, or a part of it, and returns as slp_buf_add(). sequence: decimal,
 * or KCL's word for a place (TRIM_HORIZON ...). */
int slp_ml_put_initialize(slp_buf *b, const char *shard, const char *sequence, uint64_t sub);
int slp_ml_put_records_begin(slp_buf *b);
/* A change of a table has no partition key and no subsequence number. Amazon's daemon writes null. */
int slp_ml_put_record(slp_buf *b, const sloop_record_t *r, int first);
int slp_ml_put_records_end(slp_buf *b, int64_t behind_ms); /* -1: not known */
/* A line of its action alone: LEASE_LOST, SHARD_ENDED, SHUTDOWN_REQUESTED. */
int slp_ml_put_action(slp_buf *b, slp_ml_action a);

typedef enum slp_ml_kind {
  SLP_ML_JUNK,      /* not a message: the daemon logs it and reads on */
  SLP_ML_EMPTY,     /* an empty line, which means nothing */
  SLP_ML_OTHER,     /* a message that only the daemon sends: it reads on */
  SLP_ML_STATUS,    /* text: what it answers, which may be any text */
  SLP_ML_CHECKPOINT /* text: a sequence number as asked for, when has_text */
} slp_ml_kind;
typedef struct slp_ml_message {
  slp_ml_kind kind;
  slp_str text; /* in the line */
  uint8_t has_text;
  uint8_t has_sub; /* CHECKPOINT: sub was given */
  int64_t sub;
} slp_ml_message;
/* Reads a line without its newline; changes it in place. */
void slp_ml_read(char *line, size_t n, slp_ml_message *ret);
/* The answer to a checkpoint: repeats what was asked for. error: NULL, or the name of one. */
int slp_ml_put_checkpoint(slp_buf *b, const slp_ml_message *asked, const char *error);

#endif

/* answers.h - reads iterators and listings of shards, for which Kinesis and DynamoDB Streams answer in the
 * same form. The text is read in place. The functions return 0, or SLP_EBADDATA, SLP_ELIMIT or SLP_ENOMEM
 * with a reason in `why`. */
#ifndef SLP_AWS_ANSWERS_H
#define SLP_AWS_ANSWERS_H

#include "aws/ops.h"
#include "codec/json.h"

/* Reads the answer of GetShardIterator into op->iterator. */
int slp_read_iterator(slp_str body, slp_op_iterator *op, const char **ret_why);

typedef struct slp_list_shape {
  const char *inside; /* the member that contains the listing; NULL: the listing is at the top level */
  const char *next;   /* the member that has the token of the next page */
  const char *status; /* the member that has the stream's status; NULL: the answer has no status */
} slp_list_shape;

/* Reads a listing in slices, so that a long listing does not hold up the event loop. */
typedef struct slp_list_reader {
  slp_json j;
  const slp_list_shape *shape;
  uint8_t inside; /* 1: the reader is within the member `shape->inside` */
  uint8_t in_rows;
  uint8_t rows_given;
  size_t rows_cap;
  const char *why;
} slp_list_reader;
/* Starts to read the listing in op->body. `shape` must live as long as r. */
void slp_list_reader_begin(slp_list_reader *r, slp_op_list_shards *op, const slp_list_shape *shape);
/* Reads up to rows_max shards. Returns 0 when the whole listing is read, SLP_MORE if it must be called again,
 * or an error. */
int slp_list_read(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max);

#endif

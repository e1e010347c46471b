/* answers.h - reads answers that Kinesis and DynamoDB Streams give in the same shape, in place: iterators and
 * listings of shards. 0, SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM; `why` then says what was wrong. */
#ifndef SLP_AWS_ANSWERS_H
#define SLP_AWS_ANSWERS_H

#include "aws/ops.h"
#include "codec/json.h"

int slp_read_iterator(slp_str body, slp_op_iterator *op, const char **ret_why);

typedef struct slp_list_shape {
  const char *inside; /* the member that holds the listing; NULL: the answer itself does */
  const char *next;   /* the token of the next page */
  const char *status; /* the stream's; NULL: not told */
} slp_list_shape;

/* A listing is read some rows at a time. */
typedef struct slp_list_reader {
  slp_json j;
  const slp_list_shape *shape;
  uint8_t inside; /* where the listing is */
  uint8_t in_rows;
  uint8_t rows_given;
  size_t rows_cap;
  const char *why;
} slp_list_reader;
void slp_list_reader_begin(slp_list_reader *r, slp_op_list_shards *op, const slp_list_shape *shape);
/* SLP_MORE: call again. */
int slp_list_read(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max);

#endif

/* answers.h - reads, in place, the answers that Kinesis and DynamoDB Streams give in the same form: iterators
 * and listings of shards. The functions return 0, SLP_EBADDATA, SLP_ELIMIT or SLP_ENOMEM; `why` then says
 * what is wrong. */
#ifndef SLP_AWS_ANSWERS_H
#define SLP_AWS_ANSWERS_H

#include "aws/ops.h"
#include "codec/json.h"

int slp_read_iterator(slp_str body, slp_op_iterator *op, const char **ret_why);

typedef struct slp_list_shape {
  const char *inside; /* the member that holds the listing; NULL: the answer itself holds it */
  const char *next;   /* the member with the token of the next page */
  const char *status; /* the member with the stream's status; NULL: there is none */
} slp_list_shape;

/* Reads a listing, some rows at a time. */
typedef struct slp_list_reader {
  slp_json j;
  const slp_list_shape *shape;
  uint8_t inside; /* the reader is in the object that holds the listing */
  uint8_t in_rows;
  uint8_t rows_given;
  size_t rows_cap;
  const char *why;
} slp_list_reader;
void slp_list_reader_begin(slp_list_reader *r, slp_op_list_shards *op, const slp_list_shape *shape);
/* Returns SLP_MORE if it must be called again. */
int slp_list_read(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max);

#endif

/* avro_value.h - turns one value of Avro's binary encoding into JSON on one line, in slices.
 *
 *   | Avro                     | JSON                                                                       |
 *   |--------------------------|----------------------------------------------------------------------------|
 *   | int, long                | a number                                                                   |
 *   | float, double            | the shortest number with the same value; "NaN" and "Infinity" are strings  |
 *   | bytes, fixed             | a string; each byte is the character with that number, as in Avro's JSON   |
 *   | bytes, fixed as decimal  | a number with all its digits                                               |
 *   | enum                     | its symbol                                                                 |
 *   | union                    | the value alone, without the name of its branch                            |
 *
 * Values of other logical types are written as the number or text that Avro stores. The reader does not
 * recurse into nested values. */
#ifndef SLP_CLI_AVRO_VALUE_H
#define SLP_CLI_AVRO_VALUE_H

#include "base/buf.h"
#include "cli/avro_schema.h"

#define SLP_AVRO_DEPTH_MAX 96 /* how deep values may be nested; the JSON readers allow the same depth */
#define SLP_AVRO_WHY 80

typedef struct slp_avro_frame { /* a record, array or map that is still being written */
  /* type: index in the `types` of the schema. at: for a record, the next field; for an array or map, 1 once
   * an item was written */
  uint32_t type, at;
  uint64_t left; /* array or map: items of this block that are not written yet */
  size_t end;    /* array or map: where the block must end; SIZE_MAX: its head gives no size */
} slp_avro_frame;

typedef struct slp_avro_value {
  const slp_avro_schema *schema; /* borrowed */
  slp_str in;                    /* the input; more bytes may follow the value */
  size_t at;                     /* how far `in` has been read */
  uint8_t begun;                 /* 1: a part of the value has been written */
  uint32_t depth;                /* number of frames in `open` that are in use */
  slp_avro_frame open[SLP_AVRO_DEPTH_MAX];
} slp_avro_value;

/* Reads a long or int at in[*at] and moves *at past it. Returns 0, or SLP_EBADDATA if the number is cut short
 * or has too many bits. */
int slp_avro_long(slp_str in, size_t *at, int64_t *ret);
/* Prepares to write the value that begins at in[at]. */
void slp_avro_value_begin(slp_avro_value *v, const slp_avro_schema *schema, slp_str in, size_t at);
/* Writes about 64 KiB more of the value. Returns
 *     1: there is more to write;
 *     0: all is written, and v->at is the end of the value;
 *     SLP_EBADDATA: the value is damaged, and `why` says how;
 *     SLP_ELIMIT, SLP_ENOMEM: the error of the buffer. */
int slp_avro_value_step(slp_avro_value *v, slp_buf *ret, char why[SLP_AVRO_WHY]);

#endif

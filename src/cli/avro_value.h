/* avro_value.h - one value of Avro's binary encoding to JSON on one line, in slices.
 *
 * | Avro                     | JSON                                                                       |
 * |--------------------------|----------------------------------------------------------------------------|
 * | int, long                | a number                                                                   |
 * | float, double            | a number, the shortest that reads as the same; "NaN", "Infinity" a string  |
 * | bytes, fixed             | a string, each byte the character of that number, as Avro's own JSON       |
 * | these, of type decimal   | a number with all its digits                                               |
 * | enum                     | its symbol                                                                 |
 * | union                    | the value alone, without the name of its branch                            |
 *
 * Other logical types stay the number or text that they are stored as. There is no recursion. */
#ifndef SLP_CLI_AVRO_VALUE_H
#define SLP_CLI_AVRO_VALUE_H

#include "cli/avro_schema.h"

#define SLP_AVRO_DEPTH_MAX 96 /* as deep as the JSON readers go */
#define SLP_AVRO_WHY 80

typedef struct slp_avro_frame { /* a record, array or map that is begun */
  uint32_t type, at;            /* of a record: the field to come; else: items that were written, up to 1 */
  uint64_t left;                /* of an array or map: items left in this block */
  size_t end;                   /* where the block has to end; SIZE_MAX: it does not say */
} slp_avro_frame;

typedef struct slp_avro_value {
  const slp_avro_schema *schema; /* borrowed */
  slp_str in;                    /* all there is; the value may end before */
  size_t at;                     /* in it: read so far */
  uint8_t begun;                 /* something of it is written */
  uint32_t depth;
  slp_avro_frame open[SLP_AVRO_DEPTH_MAX];
} slp_avro_value;

/* Reads a long or int from in[*at...]. 0, or SLP_EBADDATA: it is cut short or has too many bits. */
int slp_avro_long(slp_str in, size_t *at, int64_t *ret);
/* Begins the value that in[at...] begins with. */
void slp_avro_value_begin(slp_avro_value *v, const slp_avro_schema *schema, slp_str in, size_t at);
/* Writes about 64 KiB more of it. 1: there is more to do; 0: all is written, and v->at is behind it;
 * SLP_EBADDATA and `why`; SLP_ELIMIT, SLP_ENOMEM: of the buffer. */
int slp_avro_value_step(slp_avro_value *v, slp_buf *ret, char why[SLP_AVRO_WHY]);

#endif

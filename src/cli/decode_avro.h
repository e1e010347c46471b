/* decode_avro.h - the decoder `-s avro`. It reads an object container file of Avro, or a value that follows
 * the header of a Glue Schema Registry. */
#ifndef SLP_CLI_DECODE_AVRO_H
#define SLP_CLI_DECODE_AVRO_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_avro;

#endif

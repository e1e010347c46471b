/* decode_glue.h - the decoder `-s glue`. It reads a message in any format that follows the header of a Glue
 * Schema Registry. */
#ifndef SLP_CLI_DECODE_GLUE_H
#define SLP_CLI_DECODE_GLUE_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_glue;

#endif

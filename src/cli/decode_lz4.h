/* decode_lz4.h - the decoder lz4. Without liblz4 in the build, the decoder only says which package is missing
 * (`needs`). */
#ifndef SLP_CLI_DECODE_LZ4_H
#define SLP_CLI_DECODE_LZ4_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_lz4;

#endif

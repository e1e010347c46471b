/* decode_lz4.h - the decoder `-s lz4`. In a build without liblz4 the decoder does not work, and its field
 * `needs` names the missing Debian package. */
#ifndef SLP_CLI_DECODE_LZ4_H
#define SLP_CLI_DECODE_LZ4_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_lz4;

#endif

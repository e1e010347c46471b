/* decode_brotli.h - the decoder brotli. Without libbrotlidec in the build, the decoder only says which
 * package is missing (`needs`). */
#ifndef SLP_CLI_DECODE_BROTLI_H
#define SLP_CLI_DECODE_BROTLI_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_brotli;

#endif

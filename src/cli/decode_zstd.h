/* decode_zstd.h - the decoder zstd. Without libzstd in the build, the decoder only says which package is
 * missing (`needs`). */
#ifndef SLP_CLI_DECODE_ZSTD_H
#define SLP_CLI_DECODE_ZSTD_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_zstd;

#endif

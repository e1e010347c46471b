/* decode_zstd.h - the decoder zstd. Built without its library, the decoder only says so (`needs`). */
#ifndef SLP_CLI_DECODE_ZSTD_H
#define SLP_CLI_DECODE_ZSTD_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_zstd;

#endif

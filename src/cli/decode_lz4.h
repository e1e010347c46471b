/* decode_lz4.h - the decoder lz4. Built without its library, the decoder only says so (`needs`). */
#ifndef SLP_CLI_DECODE_LZ4_H
#define SLP_CLI_DECODE_LZ4_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_lz4;

#endif

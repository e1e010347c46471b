/* decode_gzip.h - the decoders `-s gzip` and `-s zlib`. They only call codec/gunzip.h, which unpacks both
 * formats. */
#ifndef SLP_CLI_DECODE_GZIP_H
#define SLP_CLI_DECODE_GZIP_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_gzip, slp_decoder_zlib;

#endif

/* decode_gzip.h - the decoders gzip and zlib. codec/gunzip.h does the work. */
#ifndef SLP_CLI_DECODE_GZIP_H
#define SLP_CLI_DECODE_GZIP_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_gzip, slp_decoder_zlib;

#endif

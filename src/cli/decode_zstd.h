/* decode_zstd.h - the decoder zstd. If it is built without the library, it only names the package
 * (`needs`). */
#ifndef SLP_CLI_DECODE_ZSTD_H
#define SLP_CLI_DECODE_ZSTD_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_zstd;

#endif

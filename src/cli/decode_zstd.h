/* decode_zstd.h - the decoder `-s zstd`. In a build without libzstd the decoder does not work, and its field
 * `needs` names the missing Debian package. */
#ifndef SLP_CLI_DECODE_ZSTD_H
#define SLP_CLI_DECODE_ZSTD_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_zstd;

#endif

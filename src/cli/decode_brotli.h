/* decode_brotli.h - the decoder `-s brotli`. In a build without libbrotlidec the decoder does not work, and
 * its field `needs` names the missing Debian package. */
#ifndef SLP_CLI_DECODE_BROTLI_H
#define SLP_CLI_DECODE_BROTLI_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_brotli;

#endif

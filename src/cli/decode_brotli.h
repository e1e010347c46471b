/* decode_brotli.h - the decoder brotli. If it is built without the library, it only names the package
 * (`needs`). */
#ifndef SLP_CLI_DECODE_BROTLI_H
#define SLP_CLI_DECODE_BROTLI_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_brotli;

#endif

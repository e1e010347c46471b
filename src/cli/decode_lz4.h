/* decode_lz4.h - the decoder lz4. If it is built without the library, it only names the package (`needs`). */
#ifndef SLP_CLI_DECODE_LZ4_H
#define SLP_CLI_DECODE_LZ4_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_lz4;

#endif

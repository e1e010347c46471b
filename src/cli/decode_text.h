/* decode_text.h - the decoders `-s base64`, `-s hex` and `-s utf8`. */
#ifndef SLP_CLI_DECODE_TEXT_H
#define SLP_CLI_DECODE_TEXT_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_base64, slp_decoder_hex, slp_decoder_utf8;

#endif

/* decode_auto.h - the decoder `-s auto`. It picks another decoder by the first bytes of a text. */
#ifndef SLP_CLI_DECODE_AUTO_H
#define SLP_CLI_DECODE_AUTO_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_auto;

#endif

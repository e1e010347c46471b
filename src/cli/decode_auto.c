/* decode_auto.c - unpacks a text that begins like a packed one. decode.c picks the decoder by the first
 * bytes. */
#include "cli/decode_auto.h"

const slp_decoder slp_decoder_auto = {.name = "auto",
                                      .does = "unpack what has known magic bytes",
                                      .damaged = "it can't be decoded",
                                      .picks = 1};

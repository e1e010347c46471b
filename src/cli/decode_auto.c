/* decode_auto.c - unpacks what begins as a packed text does. The chain (decode.c) picks the decoder. */
#include "cli/decode_auto.h"

const slp_decoder slp_decoder_auto = {.name = "auto",
                                      .does = "unpack what has known magic bytes",
                                      .damaged = "it can't be decoded",
                                      .picks = 1};

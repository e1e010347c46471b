/* decode_auto.c - the decoder `-s auto`, which unpacks a packed text and leaves other texts alone. decode.c
 * looks at the first bytes of the text and picks the decoder that unpacks it. */
#include "cli/decode_auto.h"

#include "cli/decoder_table.h"

const slp_decoder slp_decoder_auto = {.name = "auto",
                                      .does = "unpack what has known magic bytes",
                                      .damaged = "it can't be decoded",
                                      .picks = 1};

/* decode_snappy.h - the decoder `-s snappy`. In a build without libsnappy the decoder does not work, and its
 * field `needs` names the missing Debian package. */
#ifndef SLP_CLI_DECODE_SNAPPY_H
#define SLP_CLI_DECODE_SNAPPY_H

#include "base/buf.h"
#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_snappy;

/* Unpacks one block. Returns 0, SLP_EBADDATA, SLP_ELIMIT or SLP_ENOMEM. A build without libsnappy always
 * returns SLP_EBADDATA. */
int slp_snappy_block(slp_buf *ret, slp_str block);

#endif

/* decode_snappy.h - the decoder snappy. If it is built without the library, it only names the package
 * (`needs`). */
#ifndef SLP_CLI_DECODE_SNAPPY_H
#define SLP_CLI_DECODE_SNAPPY_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_snappy;

/* Unpacks one block. Returns 0; SLP_EBADDATA, always in a build without the library; SLP_ELIMIT;
 * SLP_ENOMEM. */
int slp_snappy_block(slp_buf *ret, slp_str block);

#endif

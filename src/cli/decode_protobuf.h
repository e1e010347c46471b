/* decode_protobuf.h - the decoder protobuf: a message behind the header of a Glue Schema Registry, or without
 * that header the message that --schema-file FILE#MESSAGE names. */
#ifndef SLP_CLI_DECODE_PROTOBUF_H
#define SLP_CLI_DECODE_PROTOBUF_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_protobuf;

#endif

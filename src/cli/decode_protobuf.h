/* decode_protobuf.h - the decoder protobuf. It reads a message that follows the header of a Glue Schema
 * Registry. Without such a header it reads the message type that --schema-file FILE#MESSAGE gives. */
#ifndef SLP_CLI_DECODE_PROTOBUF_H
#define SLP_CLI_DECODE_PROTOBUF_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_protobuf;

#endif

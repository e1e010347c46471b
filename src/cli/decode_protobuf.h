/* decode_protobuf.h - the decoder `-s protobuf`. It reads a message that follows the header of a Glue Schema
 * Registry. A text without such a header is read as the message type that --schema-file FILE#MESSAGE
 * gives. */
#ifndef SLP_CLI_DECODE_PROTOBUF_H
#define SLP_CLI_DECODE_PROTOBUF_H

#include "cli/decoder_table.h"

extern const slp_decoder slp_decoder_protobuf;

#endif

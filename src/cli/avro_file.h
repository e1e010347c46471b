/* avro_file.h - turns an object container file of Avro (specification 1.12) into JSON, one line for each
 * datum.
 *
 *     HEAD --> BLOCK --> UNPACKS --> DATA --> BLOCK ...      DATA: writes the datums one after the other
 *                +---- not packed ----^
 *
 * The bytes of unpacked blocks and the lines of JSON together may not exceed the maximum of the output
 * buffer. */
#ifndef SLP_CLI_AVRO_FILE_H
#define SLP_CLI_AVRO_FILE_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"

typedef struct slp_avro_file slp_avro_file;

/* Returns 1 if the text begins with the magic bytes of an Avro file. */
int slp_avro_file_begins(slp_str in);
/* Returns a reader of the file `in`, or NULL if there is no memory. `in` and `schemas` must live until close.
 * `schemas` may be NULL. */
slp_avro_file *slp_avro_file_open(slp_mem *mem, slp_str in, slp_schemas *schemas);
/* works as slp_decoder.step (decoder_table.h) */
int slp_avro_file_step(slp_avro_file *f, slp_buf *ret, char why[SLP_DECODER_WHY]);
void slp_avro_file_close(slp_avro_file *f);

#endif

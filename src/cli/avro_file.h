/* avro_file.h - turns an object container file of Avro (specification 1.12) into lines of JSON, one line a
 * datum.
 *
 *     HEAD --> BLOCK --> UNPACKS --> DATA --> BLOCK ...      DATA: writes the datums one after the other
 *                +---- not packed ----^
 *
 * Unpacked blocks count against the maximum of the text, as the lines do. */
#ifndef SLP_CLI_AVRO_FILE_H
#define SLP_CLI_AVRO_FILE_H

#include "cli/avro_value.h"
#include "cli/decoder_table.h"
#include "cli/schemas.h"

typedef struct slp_avro_file slp_avro_file;

/* Returns 1 if the text begins with the magic bytes of such a file. */
int slp_avro_file_begins(slp_str in);
/* Returns NULL if there is no memory. `in` and `schemas` must live until close. `schemas` may be NULL. */
slp_avro_file *slp_avro_file_open(slp_mem *mem, slp_str in, slp_schemas *schemas);
int slp_avro_file_step(slp_avro_file *f, slp_buf *ret, char why[SLP_DECODER_WHY]); /* as slp_decoder.step */
void slp_avro_file_close(slp_avro_file *f);

#endif

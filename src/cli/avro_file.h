/* avro_file.h - an object container file of Avro (specification 1.12) to lines of JSON, one a datum.
 *
 *   HEAD --> BLOCK --> UNPACKS --> DATA --> BLOCK ...      DATA: its datums, one after the other
 *              +---- not packed ----^
 *
 * Unpacked blocks count against what the text may become, as the lines do. */
#ifndef SLP_CLI_AVRO_FILE_H
#define SLP_CLI_AVRO_FILE_H

#include "cli/avro_value.h"
#include "cli/decoder_table.h"
#include "cli/schemas.h"

typedef struct slp_avro_file slp_avro_file;

int slp_avro_file_begins(slp_str in);
/* NULL: no memory. `in` and `schemas` (NULL is fine) must live until close. */
slp_avro_file *slp_avro_file_open(slp_mem *mem, slp_str in, slp_schemas *schemas);
int slp_avro_file_step(slp_avro_file *f, slp_buf *ret, char why[SLP_DECODER_WHY]); /* as slp_decoder.step */
void slp_avro_file_close(slp_avro_file *f);

#endif

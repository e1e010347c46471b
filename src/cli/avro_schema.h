/* avro_schema.h - a schema of Avro (specification 1.12) as a table of types, which avro_value.c walks. Made
 * once for each schema; read-only afterwards.
 *
 * Names may be anything that JSON can hold: other readers check them, and their spelling decides nothing
 * here. */
#ifndef SLP_CLI_AVRO_SCHEMA_H
#define SLP_CLI_AVRO_SCHEMA_H

#include "base/buf.h"

#define SLP_AVRO_SCHEMA_BYTES (1u << 20)
#define SLP_AVRO_SCHEMA_WHY 80

typedef enum {
  SLP_AVRO_NULL,
  SLP_AVRO_BOOLEAN,
  SLP_AVRO_INT,
  SLP_AVRO_LONG,
  SLP_AVRO_FLOAT,
  SLP_AVRO_DOUBLE,
  SLP_AVRO_BYTES,
  SLP_AVRO_STRING, /* the last one that has only a name */
  SLP_AVRO_RECORD,
  SLP_AVRO_ENUM,
  SLP_AVRO_ARRAY,
  SLP_AVRO_MAP,
  SLP_AVRO_UNION,
  SLP_AVRO_FIXED
} slp_avro_kind;

typedef struct slp_avro_type {
  uint8_t kind;    /* slp_avro_kind */
  uint8_t decimal; /* of bytes or fixed: a number of `scale` digits behind the point */
  uint16_t scale;
  uint32_t first, n; /* its parts; of an array or map one, its items. n of a fixed: its size */
} slp_avro_type;

typedef struct slp_avro_part { /* a field, a branch of a union, a symbol, the items */
  uint32_t type;               /* of a symbol: none */
  uint32_t label, label_n;     /* in labels: what is written before a field's value, or for a symbol */
} slp_avro_part;

typedef struct slp_avro_schema {
  slp_mem *mem;
  slp_avro_type *types; /* owned, as the next ones */
  slp_avro_part *parts;
  slp_buf labels;
  size_t types_n, types_cap, parts_n, parts_cap;
  uint32_t root; /* in types */
} slp_avro_schema;

/* Reads a schema in JSON. SLP_EBADDATA or SLP_ELIMIT and `why`, SLP_ENOMEM; nothing is left to free then. */
int slp_avro_schema_read(slp_avro_schema *s, slp_mem *mem, slp_str json, char why[SLP_AVRO_SCHEMA_WHY]);
void slp_avro_schema_free(slp_avro_schema *s);

#endif

/* avro_schema.h - a schema of Avro (specification 1.12) as a table of types, which avro_value.c reads. The
 * table is built once for each schema and never changes afterwards.
 *
 * A name of a type, field or symbol may be any JSON string. Other readers refuse some names; this reader does
 * not, because it only compares and prints names. */
#ifndef SLP_CLI_AVRO_SCHEMA_H
#define SLP_CLI_AVRO_SCHEMA_H

#include "base/buf.h"
#include "base/mem.h"

#define SLP_AVRO_SCHEMA_BYTES (1u << 20) /* a longer text of a schema is refused */
#define SLP_AVRO_SCHEMA_WHY 80

typedef enum {
  SLP_AVRO_NULL,
  SLP_AVRO_BOOLEAN,
  SLP_AVRO_INT,
  SLP_AVRO_LONG,
  SLP_AVRO_FLOAT,
  SLP_AVRO_DOUBLE,
  SLP_AVRO_BYTES,
  SLP_AVRO_STRING, /* the kinds up to this one have no parts and no size */
  SLP_AVRO_RECORD,
  SLP_AVRO_ENUM,
  SLP_AVRO_ARRAY,
  SLP_AVRO_MAP,
  SLP_AVRO_UNION,
  SLP_AVRO_FIXED
} slp_avro_kind;

typedef struct slp_avro_type {
  uint8_t kind; /* what the type is: a value of slp_avro_kind */
  /* bytes or fixed: 1 if the value is a decimal number with `scale` digits after the point */
  uint8_t decimal;
  uint16_t scale;
  /* The parts of the type are parts[first] to parts[first + n - 1]. An array or a map has one part, the type
   * of its items. A fixed has no parts, and n is its size. */
  uint32_t first, n;
} slp_avro_type;

typedef struct slp_avro_part { /* a field, a branch of a union, a symbol, or the items of an array or a map */
  uint32_t type;               /* index in `types`; a symbol does not use it */
  /* The text to print before a field's value ("NAME":) or as a symbol ("NAME"): label_n bytes at the offset
   * `label` of `labels`. */
  uint32_t label, label_n;
} slp_avro_part;

typedef struct slp_avro_schema {
  slp_mem *mem;
  slp_avro_type *types; /* owned, as are `parts` and `labels` */
  slp_avro_part *parts;
  slp_buf labels;
  size_t types_n, types_cap, parts_n, parts_cap;
  uint32_t root; /* index in `types` of the type of the whole value */
} slp_avro_schema;

/* Reads a schema in JSON. Returns 0; SLP_EBADDATA with a reason in `why`; SLP_ELIMIT; SLP_ENOMEM. After an
 * error the caller has nothing to free. */
int slp_avro_schema_read(slp_avro_schema *s, slp_mem *mem, slp_str json, char why[SLP_AVRO_SCHEMA_WHY]);
/* Frees a schema that slp_avro_schema_read filled in. A zeroed struct is fine. */
void slp_avro_schema_free(slp_avro_schema *s);

#endif

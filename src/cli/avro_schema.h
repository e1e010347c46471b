/* avro_schema.h - a schema of Avro (specification 1.12) as a table of types, which avro_value.c walks. It is
 * made once for each schema and never changes afterwards.
 *
 * Names may be anything that JSON can hold. Other readers check names; here their spelling decides
 * nothing. */
#ifndef SLP_CLI_AVRO_SCHEMA_H
#define SLP_CLI_AVRO_SCHEMA_H

#include "base/buf.h"

#define SLP_AVRO_SCHEMA_BYTES (1u << 20) /* the longest text of a schema */
#define SLP_AVRO_SCHEMA_WHY 80

typedef enum {
  SLP_AVRO_NULL,
  SLP_AVRO_BOOLEAN,
  SLP_AVRO_INT,
  SLP_AVRO_LONG,
  SLP_AVRO_FLOAT,
  SLP_AVRO_DOUBLE,
  SLP_AVRO_BYTES,
  SLP_AVRO_STRING, /* the last type that is complete with its name alone */
  SLP_AVRO_RECORD,
  SLP_AVRO_ENUM,
  SLP_AVRO_ARRAY,
  SLP_AVRO_MAP,
  SLP_AVRO_UNION,
  SLP_AVRO_FIXED
} slp_avro_kind;

typedef struct slp_avro_type {
  uint8_t kind;    /* slp_avro_kind */
  uint8_t decimal; /* 1, for bytes or fixed: a number with `scale` digits behind the point */
  uint16_t scale;
  /* n parts from parts[first]. An array or a map has one part, the type of its items. For a fixed, n is its
   * size */
  uint32_t first, n;
} slp_avro_type;

typedef struct slp_avro_part { /* a field, a branch of a union, a symbol, or the items of an array or a map */
  uint32_t type;               /* index in types; not used by a symbol */
  uint32_t label, label_n;     /* in `labels`: what is written before the value of a field, or as a symbol */
} slp_avro_part;

typedef struct slp_avro_schema {
  slp_mem *mem;
  slp_avro_type *types; /* owned, as parts and labels */
  slp_avro_part *parts;
  slp_buf labels;
  size_t types_n, types_cap, parts_n, parts_cap;
  uint32_t root; /* index in types of the whole value's type */
} slp_avro_schema;

/* Reads a schema in JSON. Returns 0; SLP_EBADDATA and `why`; SLP_ELIMIT; SLP_ENOMEM. After an error nothing
 * is left to free. */
int slp_avro_schema_read(slp_avro_schema *s, slp_mem *mem, slp_str json, char why[SLP_AVRO_SCHEMA_WHY]);
/* Frees what slp_avro_schema_read has made; zeros are fine. */
void slp_avro_schema_free(slp_avro_schema *s);

#endif

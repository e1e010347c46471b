/* schemas.h - the schemas by which records are decoded: from files that the user gave, from a registry, and
 * from the last Avro file. Decoders ask by the id of a schema version. A version that is not here is asked
 * for once, and the record waits.
 *
 * The states of a version of a registry; the schema of an id never changes:
 *
 *   ASKED --> HERE     the schema has come
 *     |  ^
 *     v  |             a record needs it after its back-off
 *   FAILED             why it can't be had; told for each record that needs it
 *
 * At most SLP_SCHEMAS_MAX versions are kept. The one whose last use is longest ago is dropped. */
#ifndef SLP_CLI_SCHEMAS_H
#define SLP_CLI_SCHEMAS_H

#include "base/list.h"
#include "cli/avro_schema.h"
#include "cli/decoder_table.h"
#include "cli/protobuf_schema.h"

#define SLP_SCHEMAS_MAX 128u
#define SLP_SCHEMA_FILES_MAX 64u
#define SLP_SCHEMA_ID 16u /* bytes of a version's id */
/* Back-off of a failed version: AGAIN_US first, doubled with each failure in a row, up to AGAIN_US_MAX. */
#define SLP_SCHEMA_AGAIN_US UINT64_C(5000000)
#define SLP_SCHEMA_AGAIN_US_MAX UINT64_C(300000000)

typedef enum { SLP_SCHEMA_ANY, SLP_SCHEMA_AVRO, SLP_SCHEMA_JSON, SLP_SCHEMA_PROTOBUF } slp_schema_format;
typedef enum { SLP_SCHEMA_ASKED, SLP_SCHEMA_HERE, SLP_SCHEMA_FAILED } slp_schema_state;

typedef struct slp_schema {
  slp_schema_format format; /* for a version: valid when it is HERE */
  slp_avro_schema avro;
  /* mem NULL: the registry says that it is Protobuf, but no file has the descriptors */
  slp_pb_schema protobuf;
} slp_schema;

typedef struct slp_version { /* a version of a schema in a registry */
  slp_list link;             /* in slp_schemas.versions */
  uint8_t id[SLP_SCHEMA_ID];
  slp_schema_state state;
  slp_schema schema;
  char why[SLP_DECODER_WHY]; /* FAILED: what to tell */
  uint64_t again_at_us;      /* FAILED: not asked again before */
  uint64_t wait_us;          /* the back-off after the next failure */
} slp_version;

struct slp_schemas {
  slp_mem *mem;
  struct slp_schema_file {
    uint8_t id[SLP_SCHEMA_ID];
    uint8_t has_id; /* 0: the file is for all ids that have no file of their own */
    slp_schema schema;
  } files[SLP_SCHEMA_FILES_MAX];
  size_t files_n;
  slp_list versions; /* slp_version.link; the one used last is last */
  size_t versions_n;
  slp_buf file_text;           /* the JSON of file_schema */
  slp_avro_schema file_schema; /* the schema of the last Avro file; mem NULL: none */
  uint8_t seen[SLP_SCHEMA_ID]; /* the first id for which the file without an id was used */
  /* seen_any: 1: `seen` is set; seen_more: 1: that file was used for another id too, and may not fit both */
  uint8_t seen_any, seen_more;
  /* Asks a registry for v, which is ASKED. Returns 0, and later slp_schemas_answer or slp_schemas_refuse is
   * called, not from inside `ask`; or a negative code and `why`: it can't be asked now. NULL: there is no
   * registry. */
  int (*ask)(slp_schemas *s, slp_version *v, char why[SLP_DECODER_WHY]);
  void *user;
};

void slp_schemas_init(slp_schemas *s, slp_mem *mem);
void slp_schemas_free(slp_schemas *s);
/* Reads a schema given as [ID=]FILE[#MESSAGE]. The content is an Avro schema in JSON or a descriptor set of
 * Protobuf, which is recognised by its bytes. A file whose name contains the whole FILE#MESSAGE is preferred.
 * Returns 0, SLP_EINVAL and `why`, or SLP_ENOMEM. */
int slp_schemas_add_file(slp_schemas *s, const char *given, char why[400]);
/* Finds the schema of a version. Returns 0; SLP_DECODE_WAITS: it was asked for, call again later;
 * SLP_EBADDATA and `why`; or SLP_ENOMEM. *ret is valid until the next call. */
int slp_schemas_find(slp_schemas *s, const uint8_t id[SLP_SCHEMA_ID], const slp_schema **ret,
                     char why[SLP_DECODER_WHY]);
/* Parses the schema that an Avro file carries. The last one is kept, because files in a row mostly carry the
 * same. Returns as slp_avro_schema_read(). *ret is valid until the next call. */
int slp_schemas_of_file(slp_schemas *s, slp_str json, const slp_avro_schema **ret, char why[SLP_DECODER_WHY]);

/* Returns the descriptor set that names the message of records without Glue's header, or NULL. */
const slp_pb_schema *slp_schemas_named(const slp_schemas *s);

/* The registry has answered: the name of the format, and the schema. */
void slp_schemas_answer(slp_schemas *s, slp_version *v, slp_str format, slp_str definition);
/* The registry has not given the schema: v has failed, because of `why`. */
void slp_schemas_refuse(slp_schemas *s, slp_version *v, const char *why);
/* The call for v was cancelled: v is asked for again as soon as a record needs it. */
void slp_schemas_give_up(slp_schemas *s, slp_version *v);
int slp_schemas_has_id(const char *given); /* returns 1 if [ID=]FILE begins with an id */
/* Writes an id in the usual form of 8-4-4-4-12 hex digits. */
#define SLP_SCHEMA_ID_TEXT 37
void slp_schema_id_text(const uint8_t id[SLP_SCHEMA_ID], char out[SLP_SCHEMA_ID_TEXT]);

#endif

/* schemas.h - the schemas by which records are decoded: of files that the user gave, of a registry, and of
 * the last Avro file. The decoders ask for one by the id of its version; one that is not here is asked for,
 * once, and the record waits.
 *
 * A version of the registry, by its id, which never changes its schema:
 *
 *   ASKED --> HERE
 *     ^  +--> FAILED: told for every record of it, until its back-off is over
 *     +----------+
 *
 * At most SLP_SCHEMAS_MAX versions are kept; the one that was used longest ago makes room. */
#ifndef SLP_CLI_SCHEMAS_H
#define SLP_CLI_SCHEMAS_H

#include "base/list.h"
#include "cli/avro_schema.h"
#include "cli/decoder_table.h"
#include "cli/protobuf_schema.h"

#define SLP_SCHEMAS_MAX 128u
#define SLP_SCHEMA_FILES_MAX 64u
#define SLP_SCHEMA_ID 16u /* bytes of the id of a version */
/* A failed one is asked for again after this, then after twice as long, up to the second. */
#define SLP_SCHEMA_AGAIN_US UINT64_C(5000000)
#define SLP_SCHEMA_AGAIN_US_MAX UINT64_C(300000000)

typedef enum { SLP_SCHEMA_ANY, SLP_SCHEMA_AVRO, SLP_SCHEMA_JSON, SLP_SCHEMA_PROTOBUF } slp_schema_format;
typedef enum { SLP_SCHEMA_ASKED, SLP_SCHEMA_HERE, SLP_SCHEMA_FAILED } slp_schema_state;

typedef struct slp_schema {
  slp_schema_format format; /* when it is HERE */
  slp_avro_schema avro;
  slp_pb_schema protobuf; /* mem is NULL: the registry says that it is Protobuf, and no file has it */
} slp_schema;

typedef struct slp_version { /* of a schema, in a registry */
  slp_list link;             /* in `versions` */
  uint8_t id[SLP_SCHEMA_ID];
  slp_schema_state state;
  slp_schema schema;
  char why[SLP_DECODER_WHY]; /* FAILED */
  uint64_t again_at_us;      /* FAILED: not asked before */
  uint64_t wait_us;          /* the next back-off */
} slp_version;

struct slp_schemas {
  slp_mem *mem;
  struct slp_schema_file {
    uint8_t id[SLP_SCHEMA_ID];
    uint8_t has_id; /* 0: for each id that no other file is for */
    slp_schema schema;
  } files[SLP_SCHEMA_FILES_MAX];
  size_t files_n;
  slp_list versions; /* slp_version: the one used last comes last */
  size_t versions_n;
  slp_buf file_text; /* the schema of the last Avro file, and what was made of it */
  slp_avro_schema file_schema;
  uint8_t seen[SLP_SCHEMA_ID]; /* the first id that the file without an id was used for */
  uint8_t seen_any, seen_more; /* there was one; and another one, which the same schema may not fit */
  /* Asks a registry for v, which is ASKED; slp_schemas_answer or slp_schemas_refuse answers it, not from
   * inside. 0, or a negative code: it can't be asked now, and `why` says why. NULL: there is none. */
  int (*ask)(slp_schemas *s, slp_version *v, char why[SLP_DECODER_WHY]);
  void *user;
};

void slp_schemas_init(slp_schemas *s, slp_mem *mem);
void slp_schemas_free(slp_schemas *s);
/* Reads [ID=]FILE[#MESSAGE], whose content is an Avro schema in JSON or a descriptor set of Protobuf; which
 * one, the bytes say. A file whose name has a # in it is read as it is named. SLP_EINVAL and `why`, or
 * SLP_ENOMEM. */
int slp_schemas_add_file(slp_schemas *s, const char *given, char why[400]);
/* Finds the schema of a version. 0; SLP_DECODE_WAITS: it is asked for, call again later; SLP_EBADDATA and
 * `why`; SLP_ENOMEM. The schema is valid until the next call. */
int slp_schemas_find(slp_schemas *s, const uint8_t id[SLP_SCHEMA_ID], const slp_schema **ret,
                     char why[SLP_DECODER_WHY]);
/* Finds the schema that an Avro file carries; files that follow each other mostly carry the same one. Valid
 * until the next call. As slp_avro_schema_read(). */
int slp_schemas_of_file(slp_schemas *s, slp_str json, const slp_avro_schema **ret, char why[SLP_DECODER_WHY]);

/* Returns the descriptor set that names the message of texts without Glue's header, or NULL. */
const slp_pb_schema *slp_schemas_named(const slp_schemas *s);

/* The registry's answer: what it calls the format, and the schema. */
void slp_schemas_answer(slp_schemas *s, slp_version *v, slp_str format, slp_str definition);
void slp_schemas_refuse(slp_schemas *s, slp_version *v, const char *why);
void slp_schemas_give_up(slp_schemas *s,
                         slp_version *v);  /* not answered; asked for again when it is needed */
int slp_schemas_has_id(const char *given); /* is [ID=]FILE with an id? */
/* Writes an id as people see it: 8-4-4-4-12 hex digits. */
#define SLP_SCHEMA_ID_TEXT 37
void slp_schema_id_text(const uint8_t id[SLP_SCHEMA_ID], char out[SLP_SCHEMA_ID_TEXT]);

#endif

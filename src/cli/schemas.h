/* schemas.h - the schemas by which records are decoded. They come from files that the user gave, from a
 * registry, and from the last Avro file that a record contained. A decoder asks for a schema by the id of its
 * version. If the version is not here, the registry is asked once, and the record waits.
 *
 * The states of a version. HERE is the last one, because the schema of an id never changes:
 *
 *   ASKED --> HERE     the registry has returned the schema
 *     |  ^
 *     v  |             a record needs the schema, and the back-off is over
 *   FAILED             the registry has not returned the schema; each record that needs it fails with `why`
 *
 * At most SLP_SCHEMAS_MAX versions are kept. When there are more, the version whose last use is longest
 * ago is dropped. */
#ifndef SLP_CLI_SCHEMAS_H
#define SLP_CLI_SCHEMAS_H

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "cli/avro_schema.h"
#include "cli/decoder_table.h"
#include "cli/protobuf_schema.h"

#define SLP_SCHEMAS_MAX 128u
#define SLP_SCHEMA_FILES_MAX 64u
#define SLP_SCHEMA_ID 16u /* bytes of a version's id */
/* How long a version in state FAILED is not asked for again: AGAIN_US after the first failure, doubled
 * after each further failure in a row, up to AGAIN_US_MAX. */
#define SLP_SCHEMA_AGAIN_US UINT64_C(5000000)
#define SLP_SCHEMA_AGAIN_US_MAX UINT64_C(300000000)

typedef enum { SLP_SCHEMA_ANY, SLP_SCHEMA_AVRO, SLP_SCHEMA_JSON, SLP_SCHEMA_PROTOBUF } slp_schema_format;
typedef enum { SLP_SCHEMA_ASKED, SLP_SCHEMA_HERE, SLP_SCHEMA_FAILED } slp_schema_state;

typedef struct slp_schema {
  slp_schema_format format; /* the format of the schema; for a version of a registry: valid in state HERE */
  slp_avro_schema avro;
  /* The descriptors. mem NULL: the registry says that the schema is Protobuf, but the user gave no file
   * with its descriptors */
  slp_pb_schema protobuf;
} slp_schema;

typedef struct slp_version { /* a version of a schema in a registry */
  slp_list link;             /* in slp_schemas.versions */
  uint8_t id[SLP_SCHEMA_ID];
  slp_schema_state state;
  slp_schema schema;
  char why[SLP_DECODER_WHY]; /* in state FAILED: the reason, in words for the user */
  uint64_t again_at_us;      /* in state FAILED: time before which the version is not asked for again */
  uint64_t wait_us;          /* how long the back-off after the next failure will be */
} slp_version;

struct slp_schemas {
  slp_mem *mem;
  struct slp_schema_file {
    uint8_t id[SLP_SCHEMA_ID];
    uint8_t has_id; /* 0: the file is used for all ids that have no file of their own */
    slp_schema schema;
  } files[SLP_SCHEMA_FILES_MAX];
  size_t files_n;
  slp_list versions; /* slp_version.link; the version that was used last is last */
  size_t versions_n;
  slp_buf file_text;           /* the JSON text of file_schema */
  slp_avro_schema file_schema; /* the schema in the last Avro file; mem NULL: there is none */
  /* the id of the first schema version for which the schema file without an id was used */
  uint8_t seen[SLP_SCHEMA_ID];
  /* seen_any: 1 if `seen` is set. seen_more: 1 if the file without an id was used for a second id too,
   * although it may not fit both. */
  uint8_t seen_any, seen_more;
  /* Asks a registry for v, whose state is ASKED. NULL: there is no registry. Returns 0 if a call was begun.
   * Then slp_schemas_answer or slp_schemas_refuse is called later, never from inside `ask`. Returns a
   * negative code with a message in `why` if the registry can't be asked now. */
  int (*ask)(slp_schemas *s, slp_version *v, char why[SLP_DECODER_WHY]);
  void *user;
};

void slp_schemas_init(slp_schemas *s, slp_mem *mem);
void slp_schemas_free(slp_schemas *s);
/* Reads a schema that the user gave as [ID=]FILE[#MESSAGE]. The file has an Avro schema in JSON or a
 * descriptor set of Protobuf; its bytes show which. If a file with the whole name FILE#MESSAGE exists, that
 * file is read. Returns 0, SLP_EINVAL with a message in `why`, or SLP_ENOMEM. */
int slp_schemas_add_file(slp_schemas *s, const char *given, char why[400]);
/* Finds the schema of a version. Returns 0 and sets *ret, which is valid until the next call. Returns
 * SLP_DECODE_WAITS if the registry was asked: call again later. Returns SLP_EBADDATA with a message in `why`
 * if there is no file for the schema and the registry does not return it, or SLP_ENOMEM. */
int slp_schemas_find(slp_schemas *s, const uint8_t id[SLP_SCHEMA_ID], const slp_schema **ret,
                     char why[SLP_DECODER_WHY]);
/* Parses `json`, the schema inside an Avro file. Keeps the parsed schema, because the next Avro file mostly
 * has the same one. Returns what slp_avro_schema_read() returns. *ret is valid until the next call. */
int slp_schemas_of_file(slp_schemas *s, slp_str json, const slp_avro_schema **ret, char why[SLP_DECODER_WHY]);

/* Returns the descriptor set for records without Glue's header: that of the file without an id for which the
 * user chose a message (FILE#MESSAGE). NULL: there is none. */
const slp_pb_schema *slp_schemas_named(const slp_schemas *s);

/* Called when the registry has returned the schema `definition` of v, in the format with the name `format`. v
 * goes to HERE, or to FAILED if the schema can't be used. */
void slp_schemas_answer(slp_schemas *s, slp_version *v, slp_str format, slp_str definition);
/* Called when the registry has not returned the schema, for the reason `why`. v goes to FAILED. */
void slp_schemas_refuse(slp_schemas *s, slp_version *v, const char *why);
/* Called when the call for v was cancelled. v goes to FAILED without a back-off, so the registry is asked
 * again as soon as a record needs v. */
void slp_schemas_give_up(slp_schemas *s, slp_version *v);
/* returns 1 if `given`, which has the form [ID=]FILE, begins with an id */
int slp_schemas_has_id(const char *given);
/* Writes an id in its usual form: 8-4-4-4-12 hex digits. */
#define SLP_SCHEMA_ID_TEXT 37
void slp_schema_id_text(const uint8_t id[SLP_SCHEMA_ID], char out[SLP_SCHEMA_ID_TEXT]);

#endif

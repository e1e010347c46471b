/* protobuf_schema.h - reads a FileDescriptorSet, as `protoc --descriptor_set_out=FILE --include_imports`
 * writes it, into tables of messages, fields and enums, which protobuf_value.c walks. Read-only once it is
 * read.
 *
 * Files of proto2, proto3 and editions are understood. Of the features of editions, those count that change
 * how bytes are read: presence, closed enums, UTF-8, delimited messages. All numbers are those of
 * https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/descriptor.proto. */
#ifndef SLP_CLI_PROTOBUF_SCHEMA_H
#define SLP_CLI_PROTOBUF_SCHEMA_H

#include "base/buf.h"
#include "base/map.h"

#define SLP_PB_SET_BYTES (16u << 20) /* the largest set */
#define SLP_PB_WHY 80                /* bytes for a sentence that says what is wrong */
#define SLP_PB_NONE UINT32_MAX       /* in place of an index: there is none */

typedef enum { /* the numbers of FieldDescriptorProto.Type */
               SLP_PB_DOUBLE = 1,
               SLP_PB_FLOAT,
               SLP_PB_INT64,
               SLP_PB_UINT64,
               SLP_PB_INT32,
               SLP_PB_FIXED64,
               SLP_PB_FIXED32,
               SLP_PB_BOOL,
               SLP_PB_STRING,
               SLP_PB_GROUPED,
               SLP_PB_MESSAGE,
               SLP_PB_BINARY,
               SLP_PB_UINT32,
               SLP_PB_ENUM,
               SLP_PB_SFIXED32,
               SLP_PB_SFIXED64,
               SLP_PB_SINT32,
               SLP_PB_SINT64
} slp_pb_kind;

typedef enum { /* messages with a JSON form of their own */
               SLP_PB_ORDINARY,
               SLP_PB_TIMESTAMP,
               SLP_PB_DURATION,
               SLP_PB_FIELD_MASK,
               SLP_PB_WRAPPER,
               SLP_PB_STRUCT,
               SLP_PB_VALUE,
               SLP_PB_LIST_VALUE,
               SLP_PB_ANY,
               SLP_PB_MESSAGE_SET /* refused: it has its own wire format */
} slp_pb_known;

typedef struct slp_pb_field {
  uint32_t number;
  uint32_t type;  /* index in messages or enums; meaningless for other kinds */
  uint32_t oneof; /* number of its oneof in the message; SLP_PB_NONE: it is in none */
  uint8_t kind;   /* slp_pb_kind */
  uint8_t repeated, is_map;
  uint8_t implicit; /* 1: it has no presence: a value equal to the default counts as not set */
  uint8_t utf8;     /* 1: a string must be UTF-8, or the message is damaged */
  /* offset and length in labels of the text written before its value: its JSON name in quotes, and a colon */
  uint32_t label, label_n;
} slp_pb_field;

typedef struct slp_pb_message {
  slp_str name;      /* points into slp_pb_schema.names */
  uint32_t file;     /* number of its file in the set, from 0 */
  uint32_t first, n; /* its fields in the table: n from first on, sorted by number */
  uint32_t oneofs_n;
  uint8_t known;    /* slp_pb_known */
  uint8_t is_entry; /* 1: an entry of a map; field 1 is its key and field 2 its value */
} slp_pb_message;

typedef struct slp_pb_symbol { /* a symbol of an enum: a number and its name */
  int32_t number;              /* several symbols of one enum may have the same number */
  uint32_t label, label_n;
} slp_pb_symbol;

typedef struct slp_pb_enum {
  /* its symbols in the table: n from first on, sorted by number. Of several names of one number, the first is
   * written. */
  uint32_t first, n;
  uint8_t closed;  /* 1: a field with a number that has no symbol is an unknown field */
  uint8_t is_null; /* google.protobuf.NullValue */
  /* the default, used for a map's value that is not given: the number of the first symbol */
  int32_t zero;
} slp_pb_enum;

typedef struct slp_pb_schema {
  slp_mem *mem;
  slp_pb_message *messages; /* owned, as are the next three tables and `ordered` */
  slp_pb_field *fields;
  slp_pb_enum *enums;
  slp_pb_symbol *symbols;
  slp_buf labels;    /* texts of names in quotes, one after another */
  slp_map names;     /* full names of messages and enums; the values are slp_pb_name */
  uint32_t *ordered; /* the messages that the numbers in Glue's header mean, sorted by name */
  size_t messages_n, messages_cap, fields_n, fields_cap, enums_n, enums_cap, symbols_n, symbols_cap;
  size_t ordered_n;
  uint32_t named;   /* the message that was named to slp_pb_schema_read; SLP_PB_NONE: none */
  uint32_t slots_n; /* the most fields and oneofs together that any message has */
} slp_pb_schema;

/* Reads a set. `message` is the full name of the message that records without Glue's header hold; absent (p
 * NULL): none is named. The numbers in Glue's header are about the file that has this message, else about the
 * last file of the set, where protoc puts the file that it was given. Returns 0, SLP_EBADDATA and `why`, or
 * SLP_ENOMEM; on failure nothing has to be freed. */
int slp_pb_schema_read(slp_pb_schema *s, slp_mem *mem, slp_str set, slp_str message, char why[SLP_PB_WHY]);
void slp_pb_schema_free(slp_pb_schema *s);
/* Returns the message's field with this number, or NULL. */
const slp_pb_field *slp_pb_field_of(const slp_pb_schema *s, uint32_t message, uint32_t number);
/* Returns the symbol of enum `of` with this number, or NULL. */
const slp_pb_symbol *slp_pb_symbol_of(const slp_pb_schema *s, uint32_t of, int32_t number);
uint32_t slp_pb_message_named(const slp_pb_schema *s, slp_str name); /* SLP_PB_NONE: there is none */
/* Returns 1 if a field of this kind holds a message. */
static inline int slp_pb_has_parts(uint8_t kind) { return kind == SLP_PB_MESSAGE || kind == SLP_PB_GROUPED; }
/* Returns the wire type of a value of this kind; see slp_pb_wire. */
uint8_t slp_pb_wire_of(uint8_t kind);

#endif

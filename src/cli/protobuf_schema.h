/* protobuf_schema.h - a FileDescriptorSet, as `protoc --descriptor_set_out=FILE --include_imports` writes it,
 * as tables of messages, fields and enums, which protobuf_value.c walks. Made once; read-only afterwards.
 *
 * Files of proto2, proto3 and of editions. Of the features of editions, those count that change what a
 * reader makes of the bytes: presence, closed enums, UTF-8, delimited messages. Numbers are those of
 * https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/descriptor.proto. */
#ifndef SLP_CLI_PROTOBUF_SCHEMA_H
#define SLP_CLI_PROTOBUF_SCHEMA_H

#include "base/buf.h"
#include "base/map.h"

#define SLP_PB_SET_BYTES (16u << 20)
#define SLP_PB_WHY 80
#define SLP_PB_NONE UINT32_MAX

typedef enum { /* as FieldDescriptorProto.Type */
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

typedef enum { /* messages whose JSON is another one than that of their fields */
               SLP_PB_ORDINARY,
               SLP_PB_TIMESTAMP,
               SLP_PB_DURATION,
               SLP_PB_FIELD_MASK,
               SLP_PB_WRAPPER,
               SLP_PB_STRUCT,
               SLP_PB_VALUE,
               SLP_PB_LIST_VALUE,
               SLP_PB_ANY,
               SLP_PB_MESSAGE_SET /* refused: it has a wire format of its own */
} slp_pb_known;

typedef struct slp_pb_field {
  uint32_t number;
  uint32_t type;  /* its message or enum */
  uint32_t oneof; /* in its message, or SLP_PB_NONE */
  uint8_t kind;   /* slp_pb_kind */
  uint8_t repeated, is_map;
  uint8_t implicit;        /* its default is the same as no value */
  uint8_t utf8;            /* a string that is not UTF-8 makes the message a damaged one */
  uint32_t label, label_n; /* in labels: what is written before its value */
} slp_pb_field;

typedef struct slp_pb_message {
  slp_str name; /* owned by names */
  uint32_t file;
  uint32_t first, n; /* fields, sorted by number */
  uint32_t oneofs_n;
  uint8_t known;    /* slp_pb_known */
  uint8_t is_entry; /* of a map: fields 1 and 2 are its key and value */
} slp_pb_message;

typedef struct slp_pb_symbol { /* of an enum */
  int32_t number;
  uint32_t label, label_n;
} slp_pb_symbol;

typedef struct slp_pb_enum {
  uint32_t first, n; /* symbols, sorted by number; the first one of several is the one that is written */
  uint8_t closed;    /* a number without a symbol is an unknown field */
  uint8_t is_null;   /* google.protobuf.NullValue */
  int32_t zero;      /* what a map's value is when it is not given */
} slp_pb_enum;

typedef struct slp_pb_schema {
  slp_mem *mem;
  slp_pb_message *messages; /* owned, as the next ones */
  slp_pb_field *fields;
  slp_pb_enum *enums;
  slp_pb_symbol *symbols;
  slp_buf labels;
  slp_map names;     /* of messages and enums, to slp_pb_name */
  uint32_t *ordered; /* messages of the file that Glue's numbers are for, sorted by name */
  size_t messages_n, messages_cap, fields_n, fields_cap, enums_n, enums_cap, symbols_n, symbols_cap;
  size_t ordered_n;
  uint32_t named;   /* the message that was named, or SLP_PB_NONE */
  uint32_t slots_n; /* the most fields and oneofs that a message has */
} slp_pb_schema;

/* Reads a set. `message`: the full name of the message that texts without Glue's header are, or absent.
 * Glue's numbers are for the file that has this message, else for the last one of the set, where protoc
 * writes the file that it was given. SLP_EBADDATA and `why`, SLP_ENOMEM; nothing is left to free then. */
int slp_pb_schema_read(slp_pb_schema *s, slp_mem *mem, slp_str set, slp_str message, char why[SLP_PB_WHY]);
void slp_pb_schema_free(slp_pb_schema *s);
/* Returns the field of this number, or NULL. */
const slp_pb_field *slp_pb_field_of(const slp_pb_schema *s, uint32_t message, uint32_t number);
/* Returns the symbol of this number, or NULL. */
const slp_pb_symbol *slp_pb_symbol_of(const slp_pb_schema *s, uint32_t of, int32_t number);
uint32_t slp_pb_message_named(const slp_pb_schema *s, slp_str name); /* or SLP_PB_NONE */
/* Returns 1 if the kind is a message. */
static inline int slp_pb_has_parts(uint8_t kind) { return kind == SLP_PB_MESSAGE || kind == SLP_PB_GROUPED; }
/* Returns the wire type of a value of this kind; see slp_pb_wire. */
uint8_t slp_pb_wire_of(uint8_t kind);

#endif

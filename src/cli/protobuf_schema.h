/* protobuf_schema.h - reads a FileDescriptorSet, as `protoc --descriptor_set_out=FILE --include_imports`
 * writes it, into tables of messages, fields and enums. protobuf_value.c uses these tables to decode records.
 * The tables do not change after slp_pb_schema_read().
 *
 * Files of proto2, proto3 and editions are understood. Features are protobuf's settings. Only those are read
 * that change how bytes are decoded: presence, closed enums, UTF-8, delimited messages. All numbers are those
 * of https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/descriptor.proto. */
#ifndef SLP_CLI_PROTOBUF_SCHEMA_H
#define SLP_CLI_PROTOBUF_SCHEMA_H

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"

#define SLP_PB_SET_BYTES (16u << 20) /* the most bytes of a descriptor set */
#define SLP_PB_WHY 80                /* bytes for a sentence that says what is wrong, with its NUL */
#define SLP_PB_NONE UINT32_MAX       /* stands for "none" where an index is expected */

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
               SLP_PB_MESSAGE_SET /* MessageSet is refused, because it has a wire format of its own */
} slp_pb_known;

typedef struct slp_pb_field {
  uint32_t number;
  uint32_t type;  /* index in `messages` or `enums` of the field's type, if that is a message or an enum */
  uint32_t oneof; /* number of the field's oneof in the message; SLP_PB_NONE: the field is in no oneof */
  uint8_t kind;   /* what the field's value is: a value of slp_pb_kind */
  uint8_t repeated, is_map;
  uint8_t implicit; /* 1: the field has no presence: a value equal to the default counts as not set */
  uint8_t utf8;     /* 1: a string that is not UTF-8 makes the message invalid */
  /* Offset and length, in `labels`, of the field's label: its JSON name in quotes and a colon. The label is
   * written before the value. */
  uint32_t label, label_n;
} slp_pb_field;

typedef struct slp_pb_message {
  slp_str name;  /* points into slp_pb_schema.names */
  uint32_t file; /* number of the message's file in the set, from 0 */
  /* the message's fields: n elements of the table of fields, from `first`, sorted by number */
  uint32_t first, n;
  uint32_t oneofs_n;
  uint8_t known; /* which message of google.protobuf this is, if any: a value of slp_pb_known */
  /* 1: the message is an entry of a map; its field 1 is the key and its field 2 the value */
  uint8_t is_entry;
} slp_pb_message;

typedef struct slp_pb_symbol { /* a symbol of an enum: a number and its name */
  int32_t number;              /* several symbols of one enum may have the same number */
  uint32_t label, label_n;
} slp_pb_symbol;

typedef struct slp_pb_enum {
  /* The enum's symbols: n elements of the table of symbols, from `first`, sorted by number. For a number that
   * several symbols have, the first of them is written. */
  uint32_t first, n;
  /* 1: if a field has a number for which this enum has no symbol, the field counts as an unknown field */
  uint8_t closed;
  uint8_t is_null; /* 1: this is google.protobuf.NullValue */
  /* the enum's default, the number of its first symbol; used when a map entry has no value */
  int32_t zero;
} slp_pb_enum;

typedef struct slp_pb_schema {
  slp_mem *mem;
  slp_pb_message *messages; /* owned, like the next three tables and `ordered` */
  slp_pb_field *fields;
  slp_pb_enum *enums;
  slp_pb_symbol *symbols;
  slp_buf labels; /* the labels of all fields and symbols, one after another */
  slp_map names;  /* full names of messages and enums; the values are slp_pb_name */
  /* `messages` in another order: ordered[i] is the message whose number in the header of Glue's serialiser is
   * i; sorted by name */
  uint32_t *ordered;
  size_t messages_n, messages_cap, fields_n, fields_cap, enums_n, enums_cap, symbols_n, symbols_cap;
  size_t ordered_n;
  /* Index of the type of records without Glue's header, which the caller of slp_pb_schema_read() chose;
   * SLP_PB_NONE: the caller chose none. */
  uint32_t named;
  uint32_t slots_n; /* the largest number of fields and oneofs, counted together, that a message has */
} slp_pb_schema;

/* Reads a descriptor set. `message` is the full name of the type of records without Glue's header; p NULL:
 * the caller chooses no type. Message numbers in Glue's header refer to one file of the set: the file that
 * contains `message`. Without `message`, it is the last file, where protoc puts the file that it compiled.
 * Returns 0, SLP_EBADDATA with a message in `why`, or SLP_ENOMEM. On failure nothing has to be freed. */
int slp_pb_schema_read(slp_pb_schema *s, slp_mem *mem, slp_str set, slp_str message, char why[SLP_PB_WHY]);
void slp_pb_schema_free(slp_pb_schema *s);
/* Returns the field of the message that has this number, or NULL. */
const slp_pb_field *slp_pb_field_of(const slp_pb_schema *s, uint32_t message, uint32_t number);
/* Returns the symbol of the enum `of` that has this number, or NULL. */
const slp_pb_symbol *slp_pb_symbol_of(const slp_pb_schema *s, uint32_t of, int32_t number);
/* returns the index of the message with this full name; SLP_PB_NONE: there is none */
uint32_t slp_pb_message_named(const slp_pb_schema *s, slp_str name);
/* Returns 1 if the value of a field of this kind is a message. */
static inline int slp_pb_has_parts(uint8_t kind) { return kind == SLP_PB_MESSAGE || kind == SLP_PB_GROUPED; }
/* Returns the wire type (slp_pb_wire) in which a value of this kind is encoded. */
uint8_t slp_pb_wire_of(uint8_t kind);

#endif

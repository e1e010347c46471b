/* protobuf_value.h - writes one Protobuf message as JSON on one line, in slices, by the mapping of
 * https://protobuf.dev/programming-guides/json/ with the choices of json_format of PyPI's protobuf:
 *
 *   - Fields that are not set are left out. Names are the json_name.
 *   - Unknown fields and unknown numbers of closed enums are left out.
 *   - Members come in the order in which they begin in the message.
 *
 * A message may have the parts of one field at several places: parts of a message or list belong together,
 * and of a single value or a oneof the last one counts. So the fields of a message are indexed before they
 * are written. The index is a list of runs: a run is a sequence of neighbouring fields with the same number.
 * It lives while its message is written.
 *
 * First the whole text is checked (protobuf_check.h). Then each open message goes through these states:
 *
 *   INDEX --> FIELDS --> LEAVE
 *     |        |  ^
 *     |        |  +---------------+
 *     |        +--> LIST ---------+   a repeated field
 *     |        +--> KEYS --> MAP -+   a map
 *     +--> LEAVE                      an entry of a map, and most messages of protobuf_known.h
 *
 * libprotobuf, the library that reads descriptors at run time, is not used: it is C++, which would bring that
 * language and its runtime into the command, and it builds the objects of a whole message in one go, without
 * a bound. upb, its core in C, promises no stable interface. PyPI's protobuf is made with upb, and
 * test/vectors compares with it. */
#ifndef SLP_CLI_PROTOBUF_VALUE_H
#define SLP_CLI_PROTOBUF_VALUE_H

#include "cli/protobuf_check.h"

#define SLP_PB_RUNS_MAX (1u << 20) /* the most runs of all open messages together */

typedef struct slp_pb_run {
  uint32_t field;     /* index in the schema's table of fields */
  uint32_t from, end; /* offsets in the text: of the first field's tag, and of the end of the last field */
  uint32_t n;         /* number of fields in the run */
  uint32_t next;      /* the next run of the same field in this message; SLP_PB_NONE: none */
  uint8_t first;      /* 1: the first run of its field in this message */
  uint8_t dead;       /* 1: does not count, because another member of its oneof came later */
} slp_pb_run;

typedef struct slp_pb_slot { /* one per field of a message, then one per oneof */
  /* slp_pb_frame.serial of the message being indexed; any other value: the slot is free */
  uint32_t serial;
  uint32_t run; /* a field's last run so far; for a oneof, the first run of the member that counts */
} slp_pb_slot;

typedef struct slp_pb_cursor { /* a walk over the fields of a run and of the runs that follow by `next` */
  uint32_t run;
  size_t at; /* offset of the next field */
} slp_pb_cursor;

typedef enum {
  SLP_PB_INDEX,
  SLP_PB_FIELDS,
  SLP_PB_LIST,
  SLP_PB_KEYS, /* finds out which entries of a map count */
  SLP_PB_MAP,
  SLP_PB_LEAVE /* only a closing brace may be left to write */
} slp_pb_state;

typedef struct slp_pb_frame { /* an open message */
  uint32_t type, serial;
  uint8_t state;  /* slp_pb_state */
  uint8_t bare;   /* 1: its braces are written by the Any around it */
  uint8_t comma;  /* 1: a member was written, so the next one needs a comma */
  uint8_t closes; /* LEAVE: 1: a closing brace is to be written */
  /* 1: a Struct or ListValue, of which only the value of its one field is written; or an entry of a map */
  uint8_t alone;
  uint8_t opened;     /* LIST, MAP: 1: the opening bracket or brace is written */
  uint32_t runs_from; /* index in runs where this message's runs begin */
  uint32_t run;       /* FIELDS, LIST, KEYS, MAP: index in runs of the run to write */
  size_t at, end;     /* INDEX: offsets of the piece that is being read */
  /* INDEX: the further pieces of this message; they are runs of the message around it */
  slp_pb_cursor more;
  uint32_t field;               /* index in the schema's table of the field being written */
  slp_pb_cursor cursor;         /* LIST, KEYS, MAP: the elements or entries still to come */
  size_t packed_at, packed_end; /* LIST: offsets of what is left of a packed field */
  /* KEYS, MAP: owned: hash table of keys; offset of the last entry of the key, plus 1; 0: free */
  uint32_t *slots;
  size_t slots_n;
} slp_pb_frame;

typedef struct slp_pb_value {
  slp_mem *mem;
  const slp_pb_schema *schema; /* borrowed */
  slp_str in;
  slp_pb_check check; /* checks `in`, or later the message inside an Any */
  uint8_t checks;     /* 1: `check` is not finished */
  slp_pb_slot *last;  /* owned: of the message being indexed, schema->slots_n + 1 of them */
  slp_pb_run *runs;   /* owned */
  size_t runs_n, runs_cap;
  uint32_t serial;
  size_t work; /* steps of work done in this slice */
  uint32_t depth;
  slp_pb_frame open[SLP_PB_DEPTH_MAX + 1];
} slp_pb_value;

/* Begins to write the message of `type` that `in` is. schema and in must live until slp_pb_value_end. */
void slp_pb_value_begin(slp_pb_value *v, slp_mem *mem, const slp_pb_schema *schema, uint32_t type,
                        slp_str in);
/* Appends a slice of the JSON. Returns 1 if there is more to do, 0 if all is written, SLP_EBADDATA and `why`,
 * SLP_ELIMIT or SLP_ENOMEM. */
int slp_pb_value_step(slp_pb_value *v, slp_buf *ret, char why[SLP_PB_WHY]);
void slp_pb_value_end(slp_pb_value *v); /* also fine on a zeroed v that was never begun */

#endif

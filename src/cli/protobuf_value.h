/* protobuf_value.h - writes one Protobuf message as JSON on one line, in slices, by the mapping of
 * https://protobuf.dev/programming-guides/json/ with the choices of json_format of PyPI's protobuf:
 *
 *   - Fields that are not set are left out. Names are the json_name.
 *   - Unknown fields and unknown numbers of closed enums are left out.
 *   - Members come in the order in which they begin in the message.
 *
 * The same field may occur at several places of a message. The parts of a submessage or a list are joined. Of
 * a single value or a oneof, only the last occurrence is written. So the fields of a message are indexed
 * before they are written. The index is a list of runs. A run is a sequence of neighbouring fields with the
 * same number. The index lives while its message is written.
 *
 * First all bytes are checked (protobuf_check.h). Then each open message goes through these states:
 *
 *   INDEX --> FIELDS --> LEAVE
 *     |        |  ^
 *     |        |  +---------------+
 *     |        +--> LIST ---------+   a repeated field
 *     |        +--> KEYS --> MAP -+   a map
 *     +--> LEAVE                      an entry of a map, and most messages of protobuf_known.h
 *
 * libprotobuf, the library that reads descriptors at run time, is not used, for two reasons. It is C++, and
 * would bring that language and its runtime into the command. And it builds the objects of a whole message
 * in one go, without a bound. upb, libprotobuf's core in C, promises no stable interface. PyPI's protobuf is
 * made with upb, and test/contract/vectors compares our output with that of PyPI's protobuf. */
#ifndef SLP_CLI_PROTOBUF_VALUE_H
#define SLP_CLI_PROTOBUF_VALUE_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/protobuf_check.h"
#include "cli/protobuf_schema.h"
#include "cli/protobuf_wire.h"

#define SLP_PB_RUNS_MAX (1u << 20) /* limit for the runs of all open messages together */

typedef struct slp_pb_run {
  uint32_t field; /* index in the schema's table of fields */
  /* offsets in slp_pb_value.in. from: the tag of the run's first field. end: where the run's last field
   * ends */
  uint32_t from, end;
  uint32_t n; /* number of fields in the run */
  /* index of the next run of the same field in this message; SLP_PB_NONE: this is the last run */
  uint32_t next;
  uint8_t first; /* 1: this is the first run of its field in this message */
  uint8_t dead;  /* 1: the run is not written, because another field of its oneof came later */
} slp_pb_run;

typedef struct slp_pb_slot { /* an array has one slot for each field of a message, then one for each oneof */
  /* equal to slp_pb_frame.serial if the slot belongs to the message that is being indexed; otherwise the slot
   * is free */
  uint32_t serial;
  /* for a field: its last run so far. For a oneof: the first run of the field that is written */
  uint32_t run;
} slp_pb_slot;

/* an iterator over the fields of a run, and of the runs that follow it by `next` */
typedef struct slp_pb_cursor {
  uint32_t run;
  size_t at; /* offset of the field that is read next */
} slp_pb_cursor;

typedef enum {
  SLP_PB_INDEX,
  SLP_PB_FIELDS,
  SLP_PB_LIST,
  SLP_PB_KEYS, /* finds the last entry of each key of a map */
  SLP_PB_MAP,
  SLP_PB_LEAVE /* all members are written; a closing brace may still be missing */
} slp_pb_state;

typedef struct slp_pb_frame { /* an open message */
  uint32_t type, serial;
  uint8_t state;  /* a value of slp_pb_state */
  uint8_t bare;   /* 1: no braces are written for this message, because the Any around it writes them */
  uint8_t comma;  /* 1: a member was written, so a comma must come before the next one */
  uint8_t closes; /* 1, in state LEAVE: a closing brace must be written */
  /* 1: the message is an entry of a map; or it is a Struct or ListValue, which is written as the value of its
   * only field */
  uint8_t alone;
  uint8_t opened;     /* 1, in states LIST and MAP: the opening bracket or brace was written */
  uint32_t runs_from; /* index in `runs` of this message's first run */
  /* in states FIELDS, LIST, KEYS, MAP: index in `runs` of the run that is being written */
  uint32_t run;
  size_t at, end; /* in state INDEX: offsets of the piece of the message that is being indexed */
  /* in state INDEX: further pieces of this message; each is a field of the message around it */
  slp_pb_cursor more;
  uint32_t field;       /* index, in the schema's table of fields, of the field that is being written */
  slp_pb_cursor cursor; /* in states LIST, KEYS, MAP: the elements or entries that are not written yet */
  /* in state LIST: offsets of the numbers of a packed field that are not written yet */
  size_t packed_at, packed_end;
  /* Owned, in states KEYS and MAP: a hash table of the map's keys. A slot holds 1 plus the offset of the last
   * entry with its key; 0: the slot is free. */
  uint32_t *slots;
  size_t slots_n;
} slp_pb_frame;

typedef struct slp_pb_value {
  slp_mem *mem;
  const slp_pb_schema *schema; /* borrowed */
  slp_str in;
  slp_pb_check check; /* the check of `in` at first; later, of each message inside an Any */
  uint8_t checks;     /* 1: the check in `check` is not finished */
  slp_pb_slot *last;  /* owned; schema->slots_n + 1 slots, used while a message is indexed */
  slp_pb_run *runs;   /* owned */
  size_t runs_n, runs_cap;
  uint32_t serial;
  size_t work; /* steps of work done in this slice */
  uint32_t depth;
  slp_pb_frame open[SLP_PB_DEPTH_MAX + 1];
} slp_pb_value;

/* Begins to write the message `in`, whose type is `type`. `schema` and `in` must live until
 * slp_pb_value_end. */
void slp_pb_value_begin(slp_pb_value *v, slp_mem *mem, const slp_pb_schema *schema, uint32_t type,
                        slp_str in);
/* Appends a slice of the JSON to `ret`. Returns 1 if the message is not finished, 0 if it is, SLP_EBADDATA
 * with a message in `why`, SLP_ELIMIT or SLP_ENOMEM. */
int slp_pb_value_step(slp_pb_value *v, slp_buf *ret, char why[SLP_PB_WHY]);
void slp_pb_value_end(slp_pb_value *v); /* a zeroed v that was never begun is fine */

#endif

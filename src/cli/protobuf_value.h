/* protobuf_value.h - one Protobuf message to JSON on one line, in slices, by the mapping of
 * https://protobuf.dev/programming-guides/json/ with the choices of json_format of PyPI's protobuf:
 *
 *   - Fields that are not set are left out, and names are the json_name.
 *   - Unknown fields and unknown numbers of closed enums are passed over.
 *   - Members come in the order in which they begin in the message.
 *
 * A message may bring the parts of one field at several places: they belong together, and of a value or a
 * oneof the last one counts. So the fields of a message are indexed before they are written, by their runs: a
 * run is fields of one number that follow each other. The index lives while its message is written.
 *
 *   CHECK --> INDEX <--> FIELDS <--> LIST, KEYS --> MAP, of each message that is open
 *
 * The library that reads descriptors at run time is libprotobuf, in C++. It would bring that language and
 * its runtime into the command, and it builds the objects of a whole message in one go, without a bound. upb,
 * its core in C, promises no stable interface. PyPI's protobuf is made with upb; test/vectors compares. */
#ifndef SLP_CLI_PROTOBUF_VALUE_H
#define SLP_CLI_PROTOBUF_VALUE_H

#include "cli/protobuf_check.h"

#define SLP_PB_RUNS_MAX (1u << 20)

typedef struct slp_pb_run {
  uint32_t field;     /* in the table of fields */
  uint32_t from, end; /* in the text: from the first tag to the end of the last field */
  uint32_t n;         /* how many fields */
  uint32_t next;      /* the next run of this field in the message, or SLP_PB_NONE */
  uint8_t first;      /* no run of the field comes before */
  uint8_t dead;       /* another member of its oneof came later */
} slp_pb_run;

typedef struct slp_pb_slot { /* of a field or, behind the fields, of a oneof */
  uint32_t serial;           /* of the message that is indexed; else the slot is free */
  uint32_t run; /* of a field: its last run; of a oneof: the first run of the member that counts */
} slp_pb_slot;

typedef struct slp_pb_cursor { /* goes over the fields of some runs */
  uint32_t run;
  size_t at;
} slp_pb_cursor;

typedef enum {
  SLP_PB_INDEX,
  SLP_PB_FIELDS,
  SLP_PB_LIST,
  SLP_PB_KEYS, /* of a map: which of its entries count */
  SLP_PB_MAP,
  SLP_PB_LEAVE /* nothing is left but what closes it */
} slp_pb_state;

typedef struct slp_pb_frame { /* a message that is open */
  uint32_t type, serial;
  uint8_t state;      /* slp_pb_state */
  uint8_t bare;       /* without braces: they are written already */
  uint8_t comma;      /* a member was written */
  uint8_t closes;     /* LEAVE: a brace is to be written */
  uint8_t alone;      /* Struct and ListValue: one field, whose value is all there is */
  uint8_t opened;     /* LIST: its bracket is written */
  uint32_t runs_from; /* its own runs begin here */
  uint32_t run;       /* FIELDS: the one to look at */
  size_t at, end;     /* INDEX: the piece of it that is read */
  slp_pb_cursor more; /* INDEX: the pieces that follow, in runs of the message around it */
  uint32_t field;     /* LIST, KEYS, MAP: in the table of fields */
  slp_pb_cursor cursor;
  size_t packed_at, packed_end; /* LIST: what is left of a packed field */
  uint32_t *slots;              /* KEYS, MAP: owned; where the last entry of each key begins, plus 1 */
  size_t slots_n;
} slp_pb_frame;

typedef struct slp_pb_value {
  slp_mem *mem;
  const slp_pb_schema *schema; /* borrowed */
  slp_str in;
  slp_pb_check check; /* of `in`, or of a message in an Any */
  uint8_t checks;     /* CHECK */
  slp_pb_slot *last;  /* owned */
  slp_pb_run *runs;   /* owned */
  size_t runs_n, runs_cap;
  uint32_t serial;
  size_t work; /* since the slice began */
  uint32_t depth;
  slp_pb_frame open[SLP_PB_DEPTH_MAX + 1];
} slp_pb_value;

/* Begins the message of this type that the text is. */
void slp_pb_value_begin(slp_pb_value *v, slp_mem *mem, const slp_pb_schema *schema, uint32_t type,
                        slp_str in);
/* Writes some more of it. 1: there is more to do; 0: all is written; SLP_EBADDATA and `why`; SLP_ELIMIT,
 * SLP_ENOMEM. */
int slp_pb_value_step(slp_pb_value *v, slp_buf *ret, char why[SLP_PB_WHY]);
void slp_pb_value_end(slp_pb_value *v); /* also of one that was not begun, but zeroed */

#endif

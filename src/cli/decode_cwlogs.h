/* decode_cwlogs.h - the events in a record of a CloudWatch Logs subscription (gzip or plain JSON), one by
 * one. It takes bytes from outside: see test/fuzz.
 *
 *   NONE --- packed ---> UNPACKS --> CHECKS --> AROUND <--> EVENTS
 *     +----- not packed ----------------^  */
#ifndef SLP_CLI_DECODE_CWLOGS_H
#define SLP_CLI_DECODE_CWLOGS_H

#include "cli/decoder_table.h"
#include "codec/gunzip.h"
#include "codec/json.h"

extern const slp_decoder slp_decoder_cwlogs;

typedef struct slp_log_event {
  slp_str group, stream, owner, id;
  int64_t ts_ms;   /* -1: not given */
  slp_str message; /* as it came; see slp_log_line() */
  /* Members of the event, and of the record around it, that have no field here, as "a":1,"b":2 on one line. A
   * member of the event is called event.NAME here if -J writes another member NAME. */
  slp_str more, record;
} slp_log_event;

/* Returns the message without the line ends behind it, for what is printed on a line. */
slp_str slp_log_line(slp_str message);

typedef enum slp_cwlogs_state {
  SLP_CWLOGS_NONE,
  SLP_CWLOGS_UNPACKS,
  SLP_CWLOGS_CHECKS, /* that all of it is well-formed, before anything is handed out */
  SLP_CWLOGS_AROUND, /* before, between or behind the events */
  SLP_CWLOGS_EVENTS
} slp_cwlogs_state;

typedef struct slp_cwlogs {
  slp_mem *mem;
  slp_cwlogs_state state;
  slp_gunzipper *gunzip; /* owned; while it unpacks */
  slp_buf text, again;   /* unpacked, for each of the two rounds */
  slp_json json;         /* of the second */
  slp_buf more, record;  /* see slp_log_event */
  uint8_t control;       /* set at the end: a control message, by which the service tests a subscription */
  slp_log_event event;   /* the slices live until the next begin or free */
} slp_cwlogs;

void slp_cwlogs_init(slp_cwlogs *l, slp_mem *mem);
void slp_cwlogs_free(slp_cwlogs *l); /* may be begun again */
/* Drops what was before. `limit`: bytes that it may unpack to. 0, SLP_ELIMIT, SLP_ENOMEM. */
int slp_cwlogs_begin(slp_cwlogs *l, slp_str in, uint64_t limit);
enum { SLP_CWLOGS_END, SLP_CWLOGS_EVENT, SLP_CWLOGS_MORE };
/* Does one slice. EVENT: l->event is the next one; MORE: there may be one; END. A control message has none.
 * SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM. */
int slp_cwlogs_step(slp_cwlogs *l);

#endif

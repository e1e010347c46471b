/* decode_cwlogs.h - reads the events in a record of a CloudWatch Logs subscription (gzip or plain JSON), one
 * by one. It takes bytes from outside: see test/fuzz.
 *
 *     NONE --- packed ---> UNPACKS --> CHECKS --> AROUND <--> EVENTS
 *       +----- not packed ----------------^ */
#ifndef SLP_CLI_DECODE_CWLOGS_H
#define SLP_CLI_DECODE_CWLOGS_H

#include "cli/decoder_table.h"
#include "codec/gunzip.h"
#include "codec/json.h"

extern const slp_decoder slp_decoder_cwlogs;

typedef struct slp_log_event {
  slp_str group, stream, owner, id;
  int64_t ts_ms;   /* -1: the event has no time */
  slp_str message; /* as it came, perhaps with line ends; see slp_log_line() */
  /* Members that have no field here, of the event (`more`) and of the record around it (`record`), as
   * "a":1,"b":2 on one line. If -J writes a member NAME of its own, the event's member is called event.NAME
   * here. */
  slp_str more, record;
} slp_log_event;

/* Returns the message without the line ends at its end, to be printed on one line. */
slp_str slp_log_line(slp_str message);

typedef enum slp_cwlogs_state {
  SLP_CWLOGS_NONE,
  SLP_CWLOGS_UNPACKS,
  SLP_CWLOGS_CHECKS, /* checks that the whole record is well-formed, before any event is handed out */
  SLP_CWLOGS_AROUND, /* before, between or behind the arrays of events */
  SLP_CWLOGS_EVENTS  /* inside an array of events */
} slp_cwlogs_state;

typedef struct slp_cwlogs {
  slp_mem *mem;
  slp_cwlogs_state state;
  slp_gunzipper *gunzip; /* owned, while the record is being unpacked */
  slp_buf text, again;   /* the unpacked record, one copy for each of the two rounds */
  slp_json json;         /* the reader of the second round */
  slp_buf more, record;  /* memory of the fields of slp_log_event */
  uint8_t control; /* set at the end: it was a control message, by which the service tests a subscription */
  slp_log_event event; /* its strings live until the next begin or free */
} slp_cwlogs;

void slp_cwlogs_init(slp_cwlogs *l, slp_mem *mem);
void slp_cwlogs_free(slp_cwlogs *l); /* slp_cwlogs_begin may follow */
/* Drops the record before, and begins the next one. `in` must live until the end. `limit`: the most bytes
 * that it may unpack to. Returns 0, SLP_ELIMIT or SLP_ENOMEM. */
int slp_cwlogs_begin(slp_cwlogs *l, slp_str in, uint64_t limit);
enum { SLP_CWLOGS_END, SLP_CWLOGS_EVENT, SLP_CWLOGS_MORE };
/* Does one slice. Returns
 *     SLP_CWLOGS_EVENT: l->event is the next event;
 *     SLP_CWLOGS_MORE: there may be another one, call again;
 *     SLP_CWLOGS_END: there is none; a control message never has one;
 *     SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM. */
int slp_cwlogs_step(slp_cwlogs *l);

#endif

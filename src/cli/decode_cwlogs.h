/* decode_cwlogs.h - reads the events in a record of a CloudWatch Logs subscription (gzip or plain JSON), one
 * by one. The bytes of the record come from outside, so test/fuzz covers this reader.
 *
 *     NONE --- packed ---> UNPACKS --> CHECKS --> AROUND <--> EVENTS
 *       +----- not packed ----------------^ */
#ifndef SLP_CLI_DECODE_CWLOGS_H
#define SLP_CLI_DECODE_CWLOGS_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"
#include "codec/gunzip.h"
#include "codec/json.h"

extern const slp_decoder slp_decoder_cwlogs;

typedef struct slp_log_event {
  slp_str group, stream, owner, id;
  int64_t ts_ms;   /* -1: the event has no time */
  slp_str message; /* the message as the service sent it, possibly with line ends; see slp_log_line() */
  /* Members that have no field in this struct, as "a":1,"b":2 on one line: `more` has those of the event,
   * `record` those of the record around the event. If -J itself writes a member NAME, the event's member NAME
   * is renamed to event.NAME. */
  slp_str more, record;
} slp_log_event;

/* Returns the message without its trailing line ends, so that it can be printed on one line. */
slp_str slp_log_line(slp_str message);

typedef enum slp_cwlogs_state {
  SLP_CWLOGS_NONE,
  SLP_CWLOGS_UNPACKS,
  SLP_CWLOGS_CHECKS, /* first round: checks that the whole record is well-formed */
  SLP_CWLOGS_AROUND, /* second round: before, between or after the arrays of events */
  SLP_CWLOGS_EVENTS  /* second round: inside an array of events */
} slp_cwlogs_state;

typedef struct slp_cwlogs {
  slp_mem *mem;
  slp_cwlogs_state state;
  slp_gunzipper *gunzip; /* owned; exists while the record is being unpacked */
  slp_buf text, again;   /* the unpacked record in two copies: one for each round */
  slp_json json;         /* the JSON reader of the second round */
  slp_buf more, record;  /* memory of event.more and event.record */
  uint8_t control;     /* set at the end; 1: a control message, with which the service tests a subscription */
  slp_log_event event; /* the strings live until the next slp_cwlogs_begin or slp_cwlogs_free */
} slp_cwlogs;

void slp_cwlogs_init(slp_cwlogs *l, slp_mem *mem);
void slp_cwlogs_free(slp_cwlogs *l); /* l may be used again with slp_cwlogs_begin */
/* Drops the previous record and starts to read the record `in`, which must live until the end. `limit`: the
 * most bytes that the record may unpack to. Returns 0, SLP_ELIMIT or SLP_ENOMEM. */
int slp_cwlogs_begin(slp_cwlogs *l, slp_str in, uint64_t limit);
enum { SLP_CWLOGS_END, SLP_CWLOGS_EVENT, SLP_CWLOGS_MORE };
/* Does one slice. Returns
 *     SLP_CWLOGS_EVENT: l->event is the next event;
 *     SLP_CWLOGS_MORE: more events may come, call again;
 *     SLP_CWLOGS_END: no event is left; a control message has no events at all;
 *     SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM. */
int slp_cwlogs_step(slp_cwlogs *l);

#endif

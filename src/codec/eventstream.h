/* eventstream.h - reads application/vnd.amazon.eventstream, message by message, while its bytes arrive.
 * Nothing is copied: a message points into the caller's bytes.
 *
 * A message is: total length, length of the headers, CRC-32 of both lengths, headers, payload, CRC-32 of all
 * bytes before it. Numbers are big-endian. Sources: Smithy documentation, page "Amazon Event Stream
 * Specification"; botocore 1.43.11, botocore/eventstream.py. */
#ifndef SLP_CODEC_EVENTSTREAM_H
#define SLP_CODEC_EVENTSTREAM_H

#include "base/base.h"

#define SLP_EVENT_HEADERS_MAX 64u /* the most headers of one message; the service sends three */
/* the most bytes of a message's headers, a limit of the format */
#define SLP_EVENT_HEADER_BYTES_MAX (128u * 1024)
/* the most bytes of a message's payload, a limit of the format */
#define SLP_EVENT_PAYLOAD_MAX (24u * 1024 * 1024)
#define SLP_EVENT_FRAME_BYTES 16u /* bytes of a message without headers and payload */

typedef enum slp_event_type {
  SLP_EVENT_TRUE,
  SLP_EVENT_FALSE,
  SLP_EVENT_INT8,
  SLP_EVENT_INT16,
  SLP_EVENT_INT32,
  SLP_EVENT_INT64,
  SLP_EVENT_BYTES,
  SLP_EVENT_TEXT,
  SLP_EVENT_TIME, /* a Unix time in ms */
  SLP_EVENT_UUID
} slp_event_type;

typedef struct slp_event_header {
  slp_str name;
  slp_event_type type;
  int64_t number; /* the value of an integer or TIME; 1 for TRUE, 0 for FALSE */
  slp_str bytes;  /* the value of BYTES, TEXT or UUID */
} slp_event_header;

typedef struct slp_event_message {
  slp_str headers; /* all headers, checked; read them by slp_event_header_next */
  slp_str payload;
} slp_event_message;

typedef struct slp_event_reader { /* all zero: nothing was read yet */
  size_t at;                      /* offset of the message that is being read */
  size_t summed;                  /* bytes of the message that crc includes */
  uint32_t crc;
  uint32_t total;     /* length of the message; 0: its first 12 bytes have not all come */
  uint32_t headers_n; /* bytes of the message's headers */
  int failed;         /* the first error; every later call returns it, too */
  const char *why;    /* static text that explains the error */
} slp_event_reader;

/* Reads the next message of the stream. p[0, n) must begin with all bytes of the previous call, except those
 * that were given to slp_event_dropped(). The bytes may have moved in memory, and more may follow. Returns 0:
 * *ret is a message, and the next call continues behind it; SLP_MORE: the message is not complete;
 * SLP_EBADDATA, SLP_ELIMIT: the stream can't be read any further. */
int slp_event_read(slp_event_reader *r, const char *p, size_t n, slp_event_message *ret);
/* Called when the caller has dropped the first n bytes of p. These must belong to messages that were read. */
void slp_event_dropped(slp_event_reader *r, size_t n);
/* Takes a header off the front of *rest. Returns 1, or 0 if no header is left. */
int slp_event_header_next(slp_str *rest, slp_event_header *ret);
/* Returns the value of the header `name`; {NULL,0}: there is no such header, or its value is no text. */
slp_str slp_event_text(const slp_event_message *m, const char *name);

#endif

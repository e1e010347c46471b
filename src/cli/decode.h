/* decode.h - -s: what is done to payloads and keys before they are matched and printed. */
#ifndef SLP_CLI_DECODE_H
#define SLP_CLI_DECODE_H

#include "base/buf.h"
#include "codec/gunzip.h"

#define SLP_DECODE_STEPS_MAX 6
#define SLP_DECODED_BYTES (16u << 20)      /* -X decoded_bytes_max, unless it is given */
#define SLP_DECODED_BYTES_MAX (256u << 20) /* and not more */

typedef enum {
  SLP_DECODE_BASE64,
  SLP_DECODE_HEX,
  SLP_DECODE_UTF8,
  SLP_DECODE_GZIP,
  SLP_DECODE_CWLOGS, /* makes several texts of a payload: only as the last step */
  SLP_DECODE_DDB_JSON,
  SLP_DECODE_PLAIN_JSON
} slp_decoder;

typedef struct slp_decode_chain {
  uint8_t step[SLP_DECODE_STEPS_MAX]; /* slp_decoder */
  uint8_t n;
} slp_decode_chain;

/* "base64,gzip". SLP_EINVAL and a sentence in `why`. */
int slp_decode_parse(const char *text, slp_decode_chain *ret, char why[200]);
/* Does it end with this step? */
int slp_decode_ends_with(const slp_decode_chain *c, slp_decoder step);
/* Is what comes out one JSON value? */
int slp_decode_makes_json(const slp_decode_chain *c);

/* A chain at work on one text, up to a cwlogs. It goes in slices, because a small packed text may unpack to
 * very much; and all that the steps make of it together is bounded. */
typedef struct slp_decoding {
  slp_mem *mem;
  const slp_decode_chain *chain; /* borrowed */
  slp_str in;            /* of the step; when all is done, the result. In the text given, or in `room` */
  slp_buf room, next;    /* what the last step made; what this one makes */
  slp_gunzipper *gunzip; /* owned: while a step unpacks */
  uint64_t limit, left;  /* bytes that the steps may make: in all, from here on */
  uint8_t at;
} slp_decoding;

void slp_decoding_init(slp_decoding *d, slp_mem *mem);
void slp_decoding_free(slp_decoding *d); /* may be begun again */
/* Drops what was before. `in` must live until the end. */
void slp_decoding_begin(slp_decoding *d, const slp_decode_chain *c, slp_str in, uint64_t limit);
/* Does one slice. 1: there is more to do, 0: d->in is the result. SLP_EBADDATA or SLP_ELIMIT and `why`,
 * SLP_ENOMEM. */
int slp_decoding_step(slp_decoding *d, char why[100]);
/* Words it: the step makes more than a record may become. */
void slp_decode_too_much(char why[100], const char *step, uint64_t limit);

/* The steps themselves; each appends to `ret`. */
int slp_decode_base64(slp_buf *ret, slp_str in);
int slp_decode_hex(slp_buf *ret, slp_str in);
int slp_decode_utf8(slp_buf *ret, slp_str in);

#endif

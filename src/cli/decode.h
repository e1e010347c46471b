/* decode.h - -s: what is done to payloads and keys before they are matched and printed. */
#ifndef SLP_CLI_DECODE_H
#define SLP_CLI_DECODE_H

#include "base/buf.h"

#define SLP_DECODE_STEPS_MAX 6
#define SLP_DECODED_BYTES_MAX (UINT64_C(256) << 20) /* a small packed payload may unpack to this */

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

/* Runs the steps up to a cwlogs. *ret lies in `in` (no step), or in `room`, which must be fresh and is
 * changed. SLP_EBADDATA and `why`, SLP_ELIMIT, SLP_ENOMEM. */
int slp_decode_run(const slp_decode_chain *c, slp_str in, slp_buf *room, slp_str *ret, char why[100]);

/* The steps themselves; each appends to `ret`. */
int slp_decode_base64(slp_buf *ret, slp_str in);
int slp_decode_hex(slp_buf *ret, slp_str in);
int slp_decode_utf8(slp_buf *ret, slp_str in);

#endif

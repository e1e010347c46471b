/* decode.h - -s: decodes payloads and keys before they are matched and printed. */
#ifndef SLP_CLI_DECODE_H
#define SLP_CLI_DECODE_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"

#define SLP_DECODE_STEPS_MAX 6
#define SLP_DECODED_BYTES (16u << 20)      /* the default of -X decoded_bytes_max */
#define SLP_DECODED_BYTES_MAX (256u << 20) /* the highest value of -X decoded_bytes_max */

typedef struct slp_decode_chain {
  const slp_decoder *step[SLP_DECODE_STEPS_MAX];
  uint8_t n;
} slp_decode_chain;

/* Parses a list of decoders, such as "base64,gzip". Returns 0, or SLP_EINVAL and a sentence in `why`. */
int slp_decode_parse(const char *text, slp_decode_chain *ret, char why[200]);
/* Returns 1 if the last decoder of the chain turns a record into several events. The printer reads these
 * events one by one. */
int slp_decode_makes_events(const slp_decode_chain *c);
/* Returns 1 if the decoders of the chain make one JSON value of each text. */
int slp_decode_makes_json(const slp_decode_chain *c);

/* The state of a chain of decoders that works on one text. A decoder that makes events is left to the
 * printer. The work is cut into slices, because a small packed text may unpack to a very long text. All bytes
 * that the decoders write for one text count against `limit`. An empty text stays empty, whatever the
 * decoders are. */
typedef struct slp_decoding {
  slp_mem *mem;
  slp_schemas *schemas;          /* borrowed, set by the owner; NULL: there are no schemas */
  const slp_decode_chain *chain; /* borrowed */
  /* Input of the present step; after the last step, the result. Points into the text that slp_decoding_begin
   * was given, or into `room`. */
  slp_str in;
  slp_buf room, next; /* room: output of the previous step; next: output of this step */
  /* the decoder of this step: the decoder that -s gives, or the decoder that auto has picked */
  const slp_decoder *by;
  void *state; /* owned; state of a decoder that has `step`, while it works */
  /* limit: bytes that all decoders of the chain together may write. left: how many of these bytes are not
   * used up yet */
  uint64_t limit, left;
  uint8_t at;          /* index in the chain of the present step */
  uint8_t makes_lines; /* 1: the last step writes any number of JSON values, one on each line */
} slp_decoding;

/* Prepares d. If there are schemas, the owner sets d->schemas afterwards. */
void slp_decoding_init(slp_decoding *d, slp_mem *mem);
void slp_decoding_free(slp_decoding *d); /* d may be used again with slp_decoding_begin */
/* Drops the previous text and starts to decode another text. `in` must live until the decoding is over. */
void slp_decoding_begin(slp_decoding *d, const slp_decode_chain *c, slp_str in, uint64_t limit);
/* Does one slice. Returns
 *     1: there is more to do;
 *     0: the text is decoded, and d->in is the result;
 *     SLP_DECODE_WAITS: a schema that was asked for has not come yet; call again later;
 *     SLP_EBADDATA, SLP_ELIMIT: `why` says what is wrong;
 *     SLP_ENOMEM. */
int slp_decoding_step(slp_decoding *d, char why[100]);
/* Writes why `step` refuses the text. If the text begins like another format, suggests the decoder of that
 * format. better: the reason that the decoder itself gave, or "". */
void slp_decode_refuse(char why[100], const slp_decoder *step, slp_str in, const char *better);
/* Writes into `why` that this decoder would write more than `limit` bytes for one record. */
void slp_decode_too_much(char why[100], const char *step, uint64_t limit);

#endif

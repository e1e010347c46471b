/* decode.h - -s: how payloads and keys are decoded before they are matched and printed. */
#ifndef SLP_CLI_DECODE_H
#define SLP_CLI_DECODE_H

#include "cli/decoder_table.h"

#define SLP_DECODE_STEPS_MAX 6
#define SLP_DECODED_BYTES (16u << 20)      /* the default of -X decoded_bytes_max */
#define SLP_DECODED_BYTES_MAX (256u << 20) /* the highest value of -X decoded_bytes_max */

typedef struct slp_decode_chain {
  const slp_decoder *step[SLP_DECODE_STEPS_MAX];
  uint8_t n;
} slp_decode_chain;

/* Parses "base64,gzip". Returns 0, or SLP_EINVAL and a sentence in `why`. */
int slp_decode_parse(const char *text, slp_decode_chain *ret, char why[200]);
/* Returns 1 if the result is the events of a record, which the printer reads one by one. */
int slp_decode_makes_events(const slp_decode_chain *c);
/* Returns 1 if the result is one JSON value. */
int slp_decode_makes_json(const slp_decode_chain *c);

/* A chain at work on one text, up to a step that makes events. The work is cut into slices, because a small
 * packed text may unpack to a very long one. All bytes that the steps make of one text count against `limit`.
 * An empty text stays empty, whatever the steps are. */
typedef struct slp_decoding {
  slp_mem *mem;
  slp_schemas *schemas;          /* borrowed, set by the owner; NULL: no schemas can be found */
  const slp_decode_chain *chain; /* borrowed */
  slp_str in; /* input of the step; at the end the result. Points into the given text or into `room` */
  slp_buf room, next;    /* room: what the last step made; next: what this step makes */
  const slp_decoder *by; /* the decoder of this step: the one asked for, or the one that auto has picked */
  void *state;           /* owned; of a decoder with `step`, while it works */
  uint64_t limit, left;  /* bytes that the steps may make: altogether, and from this step on */
  uint8_t at;            /* index of the step in the chain */
  uint8_t makes_lines;   /* the last step makes lines: the result is any number of JSON values, one a line */
} slp_decoding;

/* The owner sets `schemas` after this, if there are any. */
void slp_decoding_init(slp_decoding *d, slp_mem *mem);
void slp_decoding_free(slp_decoding *d); /* slp_decoding_begin may follow */
/* Drops the text before, and begins the next one. `in` must live until the decoding is over. */
void slp_decoding_begin(slp_decoding *d, const slp_decode_chain *c, slp_str in, uint64_t limit);
/* Does one slice. Returns
 *     1: there is more to do;
 *     0: d->in is the result;
 *     SLP_DECODE_WAITS: a schema was asked for and has not come yet; an early call does no harm;
 *     SLP_EBADDATA, SLP_ELIMIT: `why` says what is wrong;
 *     SLP_ENOMEM. */
int slp_decoding_step(slp_decoding *d, char why[100]);
/* Writes why `step` refuses the text. If the text begins like another format, suggests that format's decoder.
 * better: the decoder's own reason, or "". */
void slp_decode_refuse(char why[100], const slp_decoder *step, slp_str in, const char *better);
/* Writes that the step makes more bytes than a record may become. */
void slp_decode_too_much(char why[100], const char *step, uint64_t limit);

#endif

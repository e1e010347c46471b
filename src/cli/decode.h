/* decode.h - -s: what is done to payloads and keys before they are matched and printed. */
#ifndef SLP_CLI_DECODE_H
#define SLP_CLI_DECODE_H

#include "cli/decoder_table.h"

#define SLP_DECODE_STEPS_MAX 6
#define SLP_DECODED_BYTES (16u << 20)      /* -X decoded_bytes_max, unless it is given */
#define SLP_DECODED_BYTES_MAX (256u << 20) /* and not more */

typedef struct slp_decode_chain {
  const slp_decoder *step[SLP_DECODE_STEPS_MAX];
  uint8_t n;
} slp_decode_chain;

/* "base64,gzip". SLP_EINVAL and a sentence in `why`. */
int slp_decode_parse(const char *text, slp_decode_chain *ret, char why[200]);
/* Returns 1 if what comes out is the events of a record, which the printer reads. */
int slp_decode_makes_events(const slp_decode_chain *c);
/* Returns 1 if what comes out is one JSON value. */
int slp_decode_makes_json(const slp_decode_chain *c);

/* A chain at work on one text, up to a step that makes events. The work is cut into slices, because a small
 * packed text may unpack to very much. All bytes that the steps make of one text count against `limit`. An
 * empty text stays empty, whatever the steps. */
typedef struct slp_decoding {
  slp_mem *mem;
  slp_schemas *schemas;          /* borrowed; set by the owner, or NULL: no schema can be had */
  const slp_decode_chain *chain; /* borrowed */
  slp_str in;            /* of the step; when all is done, the result. In the text given, or in `room` */
  slp_buf room, next;    /* what the last step made; what this one makes */
  const slp_decoder *by; /* decodes this step: the decoder asked for, or the one auto picked */
  void *state;           /* owned: of a step that goes in pieces, while it does */
  uint64_t limit, left;  /* bytes that the steps may make: in all, from here on */
  uint8_t at;
  uint8_t makes_lines; /* the last step did: the result is JSON values, a line each, or none */
} slp_decoding;

void slp_decoding_init(slp_decoding *d, slp_mem *mem);
void slp_decoding_free(slp_decoding *d); /* may be begun again */
/* Drops what was before. `in` must live until the end. */
void slp_decoding_begin(slp_decoding *d, const slp_decode_chain *c, slp_str in, uint64_t limit);
/* Does one slice. 1: there is more to do, 0: d->in is the result. SLP_DECODE_WAITS: a schema was asked for,
 * and there is nothing to do before it comes; calling again does no harm. SLP_EBADDATA or SLP_ELIMIT and
 * `why`, SLP_ENOMEM. */
int slp_decoding_step(slp_decoding *d, char why[100]);
/* Words the refusal of a text by `step`. When the text begins as another format does, its decoder is named.
 * `better`: what the decoder itself says, or "". */
void slp_decode_refuse(char why[100], const slp_decoder *step, slp_str in, const char *better);
/* Words it: the step makes more than a record may become. */
void slp_decode_too_much(char why[100], const char *step, uint64_t limit);

#endif

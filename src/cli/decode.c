/* decode.c - runs the decoders of -s one after the other over a text. */
#include "cli/decode.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"
#include "codec/base64.h"

#include <stdio.h>

/* Writes the error for a name that is not the name of a decoder. */
static void tell_unknown(char why[200], const char *name, size_t n) {
  int used = snprintf(why, 200, "-s: unknown decoder \"%.*s\"; known are ", (int)(n < 40 ? n : 40), name);
  for (size_t i = 0; slp_decoder_at(i) && used < 200; i++)
    used += snprintf(why + used, 200 - (size_t)used, "%s%s", i ? ", " : "", slp_decoder_at(i)->name);
}

int slp_decode_parse(const char *text, slp_decode_chain *ret, char why[200]) {
  slp_decode_chain c = {{0}, 0};
  const char *at = text;
  for (;;) {
    size_t n = strcspn(at, ",");
    const slp_decoder *decoder = slp_decoder_by_name((slp_str){at, n});
    if (!decoder) {
      tell_unknown(why, at, n);
      return SLP_EINVAL;
    }
    if (decoder->needs) {
      snprintf(why, 200, "-s: %s is not built into this stream-tail; install %s and build with -D%s=enabled",
               decoder->name, decoder->needs, decoder->name);
      return SLP_EINVAL;
    }
    if (c.n == SLP_DECODE_STEPS_MAX) {
      snprintf(why, 200, "-s: more than %d steps", SLP_DECODE_STEPS_MAX);
      return SLP_EINVAL;
    }
    c.step[c.n++] = decoder;
    if (!at[n]) break;
    if (decoder->makes_events) {
      snprintf(why, 200, "-s: %s makes several lines of a record, so it must be the last step",
               decoder->name);
      return SLP_EINVAL;
    }
    at += n + 1;
  }
  *ret = c;
  return 0;
}

int slp_decode_makes_events(const slp_decode_chain *c) { return c->n > 0 && c->step[c->n - 1]->makes_events; }

int slp_decode_makes_json(const slp_decode_chain *c) { return c->n > 0 && c->step[c->n - 1]->makes_json; }

/* ---- a chain at work ---------------------------------------------------------------------------- */

void slp_decoding_init(slp_decoding *d, slp_mem *mem) {
  *d = (slp_decoding){.mem = mem};
  slp_buf_init(&d->room, mem, 0);
  slp_buf_init(&d->next, mem, 0);
}

static void close_step(slp_decoding *d) {
  if (d->state) d->by->close(d->state);
  d->state = NULL;
}

void slp_decoding_free(slp_decoding *d) {
  close_step(d);
  slp_buf_free(&d->room);
  slp_buf_free(&d->next);
}

void slp_decoding_begin(slp_decoding *d, const slp_decode_chain *c, slp_str in, uint64_t limit) {
  slp_decoding_free(d);
  d->chain = c;
  d->at = d->makes_lines = 0;
  d->in = in;
  d->limit = d->left = limit;
}

/* Returns 1 if decoding is complete, because
 *     no step is left;
 *     the next step makes events (the printer itself runs such a step); or
 *     the text is empty. An empty text is never decoded, because a record without a payload is a tombstone in
 *     Kafka. */
static int is_over(const slp_decoding *d) {
  return d->at == d->chain->n || d->chain->step[d->at]->makes_events || !d->in.n;
}

/* Runs a slice of the step. Returns 1 while the step has more work, 0 at its end, SLP_DECODE_WAITS, or an
 * error. */
static int run_some(slp_decoding *d, const slp_decoder *step, char why[SLP_DECODER_WHY]) {
  if (step->run) {
    int r = step->run(&d->next, d->in);
    /* `run` may return 0 although the buffer is full, so the error of the buffer is checked too */
    return slp_buf_failed(&d->next) ? slp_buf_failed(&d->next) : r;
  }
  if (!d->state && !(d->state = step->open(d->mem, d->in, d->schemas))) return SLP_ENOMEM;
  int r = step->step(d->state, &d->next, why);
  if (r != 1 && r != SLP_DECODE_WAITS) close_step(d);
  return r;
}

void slp_decode_too_much(char why[100], const char *step, uint64_t limit) {
  snprintf(why, 100, "%s: more than %llu bytes; see -X decoded_bytes_max", step, (unsigned long long)limit);
}

/* Returns the decoder whose magic bytes the text begins with once its base64 is decoded, or NULL. */
static const slp_decoder *look_into_base64(slp_str in) {
  char first[16];
  if (in.n < sizeof first) return NULL;
  int64_t n = slp_base64_decode(first, in.p, sizeof first);
  return n < 0 ? NULL : slp_decoder_that_recognizes((slp_str){first, (size_t)n});
}

void slp_decode_refuse(char why[100], const slp_decoder *step, slp_str in, const char *better) {
  const slp_decoder *seen = slp_decoder_that_recognizes(in), *within = NULL;
  int of_text =
      /* 1: this step reads text, so a decoder that unpacks the payload belongs before this step */
      step->makes_json || step->makes_events || step->makes_lines;
  if (!seen && (of_text || step->open)) within = look_into_base64(in);
  const slp_decoder *lacking = seen && seen->needs ? seen : within && within->needs ? within : NULL;
  /* The suggested decoder goes before this step if this step reads text, and otherwise replaces it. A decoder
   * that makes lines of JSON always replaces this step, because no decoder reads such lines. */
  int instead = !of_text || (seen && seen->makes_lines);
  const char *comma = instead ? "" : ",", *then = instead ? "" : step->name;
  if (*better)
    snprintf(why, 100, "%s: %.80s", step->name, better);
  else if (seen == step)
    snprintf(why, 100, "%s: the data is damaged, truncated, or followed by other bytes", step->name);
  else if (lacking)
    snprintf(why, 100, "%s: it looks like %s%s, which is not built in (%s)", step->name, lacking->name,
             lacking == within ? " in base64" : "", lacking->needs);
  else if (seen && !(step->unpacks && strcmp(step->unpacks, seen->name) == 0))
    snprintf(why, 100, "%s: it looks like %s: -s %s%s%s", step->name, seen->name, seen->name, comma, then);
  else if (within)
    snprintf(why, 100, "%s: it looks like %s in base64: -s base64,%s%s%s", step->name, within->name,
             within->name, comma, then);
  else
    snprintf(why, 100, "%s: %.80s", step->name, step->damaged);
}

/* Sets d->by to the decoder of this step. Returns 0 if auto finds no decoder for the text, which then stays
 * as it is. */
static int pick_decoder(slp_decoding *d) {
  const slp_decoder *asked = d->chain->step[d->at];
  if (!d->state) d->by = asked->picks ? slp_decoder_that_recognizes(d->in) : asked;
  return d->by != NULL;
}

int slp_decoding_step(slp_decoding *d, char why[100]) {
  if (is_over(d)) return 0;
  if (!pick_decoder(d)) {
    d->at++;
    return !is_over(d);
  }
  if (d->by->needs) {
    snprintf(why, 100, "auto: it looks like %s, which is not built in (%s)", d->by->name, d->by->needs);
    return SLP_EBADDATA;
  }
  char better[SLP_DECODER_WHY] = "";
  if (!d->next.p) slp_buf_init(&d->next, d->mem, d->left);
  int r = run_some(d, d->by, better);
  if (r == 1 || r == SLP_ENOMEM || r == SLP_DECODE_WAITS) return r;
  if (r == SLP_ELIMIT)
    slp_decode_too_much(why, d->by->name, d->limit);
  else if (r)
    slp_decode_refuse(why, d->by, d->in, better);
  if (r) return r;
  d->left -= d->next.n;
  slp_buf_free(&d->room);
  slp_buf_move(&d->room, &d->next);
  d->in = slp_buf_str(&d->room);
  d->makes_lines = d->by->makes_lines;
  d->at++;
  return !is_over(d);
}

/* decoding.h - a decoder of stream-tail, run to its end, for the fuzzers of those that need schemas. */
#ifndef SLP_TEST_FUZZ_DECODING_H
#define SLP_TEST_FUZZ_DECODING_H

#include "cli/decode.h"
#include "cli/schemas.h"
#include "fuzz.h"

enum { LIMIT = 100000, ROOM = 200000 };
static slp_mem *mem;
static slp_schemas schemas;

/* Decodes `in` by the decoder of that name. Returns the result of the last slp_decoding_step(); 0: the text was
 * appended to ret, and is at most LIMIT bytes. */
static int decode_by(const char *name, slp_str in, slp_buf *ret) {
  slp_decode_chain c;
  slp_decoding d;
  char why[200] = "";
  REQUIRE(slp_decode_parse(name, &c, why) == 0);
  slp_decoding_init(&d, mem);
  d.schemas = &schemas;
  slp_decoding_begin(&d, &c, in, LIMIT);
  int r;
  do r = slp_decoding_step(&d, why);
  while (r == 1);
  REQUIRE(r == 0 || ((r == SLP_EBADDATA || r == SLP_ELIMIT) && *why));
  if (r == 0) REQUIRE(d.in.n <= LIMIT && d.makes_lines && slp_buf_add_str(ret, d.in) == 0);
  slp_decoding_free(&d);
  return r;
}

#endif

/* decode_gzip.c - gzip and zlib. Producers mix the two names up, so each decoder takes both formats. */
#include "cli/decode_gzip.h"

#include "codec/gunzip.h"

static void *open_gzip(slp_mem *mem, slp_str in, slp_schemas *schemas) {
  (void)schemas;
  return slp_gunzip_begin(mem, in);
}

static int step_gzip(void *state, slp_buf *ret, char why[SLP_DECODER_WHY]) {
  (void)why;
  return slp_gunzip_step(state, ret);
}

static void close_gzip(void *state) { slp_gunzip_end(state); }

static int is_gzip(slp_str in) { return slp_begins_with(in, "\x1f\x8b", 2); }

/* A window of 32 KiB and the usual levels. Level 2 to 5 begins as a text may: "x^". */
static int is_zlib(slp_str in) {
  return slp_begins_with(in, "x\x01", 2) || slp_begins_with(in, "x\x9c", 2) ||
         slp_begins_with(in, "x\xda", 2);
}

const slp_decoder slp_decoder_gzip = {.name = "gzip",
                                      .does = "unpack gzip or zlib",
                                      .damaged = "it is neither gzip nor zlib, or it is damaged",
                                      .recognizes = is_gzip,
                                      .unpacks = "zlib",
                                      .open = open_gzip,
                                      .step = step_gzip,
                                      .close = close_gzip};
const slp_decoder slp_decoder_zlib = {.name = "zlib",
                                      .does = "the same",
                                      .damaged = "it is neither zlib nor gzip, or it is damaged",
                                      .recognizes = is_zlib,
                                      .unpacks = "gzip",
                                      .open = open_gzip,
                                      .step = step_gzip,
                                      .close = close_gzip};

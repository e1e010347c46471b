/* decode_gzip.c - unpacks gzip and zlib. Producers confuse the two names, so the decoders gzip and zlib both
 * accept both formats. */
#include "cli/decode_gzip.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/decoder_table.h"
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

/* Recognizes zlib with a window of 32 KiB and the usual levels. Levels 2 to 5 are left out, because their
 * first bytes are "x^", which an ordinary text may begin with too. */
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

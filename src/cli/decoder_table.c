/* decoder_table.c - the table of decoders. The help and the errors list the decoders in the order of this
 * table. */
#include "cli/decoder_table.h"

#include "base/buf.h"
#include "cli/decode_auto.h"
#include "cli/decode_avro.h"
#include "cli/decode_brotli.h"
#include "cli/decode_cwlogs.h"
#include "cli/decode_glue.h"
#include "cli/decode_gzip.h"
#include "cli/decode_json.h"
#include "cli/decode_lz4.h"
#include "cli/decode_protobuf.h"
#include "cli/decode_snappy.h"
#include "cli/decode_text.h"
#include "cli/decode_zstd.h"

static const slp_decoder *const rows[] = {
    &slp_decoder_base64, &slp_decoder_hex,    &slp_decoder_utf8,     &slp_decoder_gzip,
    &slp_decoder_zlib,   &slp_decoder_zstd,   &slp_decoder_lz4,      &slp_decoder_snappy,
    &slp_decoder_brotli, &slp_decoder_avro,   &slp_decoder_protobuf, &slp_decoder_glue,
    &slp_decoder_auto,   &slp_decoder_cwlogs, &slp_decoder_ddb_json, &slp_decoder_plain_json,
};

const slp_decoder *slp_decoder_at(size_t i) { return i < SLP_COUNT(rows) ? rows[i] : NULL; }

const slp_decoder *slp_decoder_by_name(slp_str name) {
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    if (slp_str_is(name, rows[i]->name)) return rows[i];
  return NULL;
}

const slp_decoder *slp_decoder_that_recognizes(slp_str in) {
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    if (rows[i]->recognizes && rows[i]->recognizes(in)) return rows[i];
  return NULL;
}

int slp_begins_with(slp_str in, const char *bytes, size_t n) {
  return in.n >= n && memcmp(in.p, bytes, n) == 0;
}

int slp_decoder_names(slp_buf *b, const char *between) {
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    if (i) slp_buf_add_z(b, between);
    slp_buf_add_z(b, rows[i]->name);
  }
  return slp_buf_failed(b);
}

int slp_decoder_lines(slp_buf *b) {
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    slp_buf_addf(b, "\n  %-10s  ", rows[i]->name);
    if (rows[i]->needs)
      slp_buf_addf(b, "not built in (%s)", rows[i]->needs);
    else
      slp_buf_add_z(b, rows[i]->does);
  }
  return slp_buf_failed(b);
}

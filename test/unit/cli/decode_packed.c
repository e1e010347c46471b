/* decode_packed.c - the decoders that unpack, on what each format's own tool packed: damaged, cut short, without
 * end, and without memory. */
#include "check.h"
#include "cli/decode.h"
#include "rnd.h"
#include "scarce.h"
#include "contract/vectors/packed.h"

static char why[100];
static char got[1 << 15];
static size_t got_n;

/* Unpacks a copy in memory of just that size, so that a read beyond it is found. */
static int unpack_in(slp_mem *mem, const char *decoder, slp_str in, uint64_t limit) {
  slp_decode_chain c;
  slp_decoding d;
  char reason[200];
  char *copy = malloc(in.n ? in.n : 1);
  CHECK_INT(slp_decode_parse(decoder, &c, reason), 0);
  if (in.n) memcpy(copy, in.p, in.n);
  slp_decoding_init(&d, mem);
  slp_decoding_begin(&d, &c, (slp_str){copy, in.n}, limit);
  *why = 0;
  int r;
  do r = slp_decoding_step(&d, why);
  while (r == 1);
  if (!r) {
    CHECK(d.in.n <= sizeof got);
    memcpy(got, d.in.p, d.in.n);
    got_n = d.in.n;
  }
  slp_decoding_free(&d);
  CHECK(memcmp(copy, in.p, in.n) == 0);
  free(copy);
  CHECK(r == 0 || r == SLP_ENOMEM || *why);
  return r;
}

static int unpack(const char *decoder, slp_str in, uint64_t limit) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  int r = unpack_in(mem, decoder, in, limit);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return r;
}

static int is_text(void) { return got_n == packed_text.n && memcmp(got, packed_text.p, got_n) == 0; }
static int is_here(const packed *p) { return !slp_decoder_by_name(slp_str_of(p->decoder))->needs; }
#define EACH(p)                                                                      \
  for (const packed *p = packed_rows; p < packed_rows + SLP_COUNT(packed_rows); p++) \
    if (is_here(p))

TEST(what_the_tools_pack_comes_out_again) {
  EACH(p) {
    CHECK_INT(unpack(p->decoder, p->text, 1 << 20), 0);
    if (!is_text()) CHECK_FAIL("%s: another text", p->what);
    CHECK_INT(unpack(p->decoder, p->zeros, 1 << 20), 0);
    CHECK_INT(got_n, 20000);
    for (size_t i = 0; i < got_n; i++) CHECK(got[i] == 0);
  }
}

/* Returns 1 if a chunk begins at `at`. Neither a frame of Snappy nor Java's stream has an end, so a cut between two
 * chunks looks whole. A chunk of a frame whose first byte is damaged may look like one that readers must skip. */
static int is_chunk(const packed *p, size_t at) {
  return (strcmp(p->what, "snappy, framed") == 0 && at == 10) ||
         (strcmp(p->what, "snappy, of Java's stream") == 0 && at == 16);
}

TEST(what_ends_too_early_is_refused) {
  EACH(p) for (size_t n = 1; n < p->text.n; n++) {
    if (unpack(p->decoder, (slp_str){p->text.p, n}, 1 << 20) != (is_chunk(p, n) ? 0 : SLP_EBADDATA))
      CHECK_FAIL("%s: %zu of %zu bytes are taken", p->what, n, p->text.n);
  }
}

TEST(what_follows_is_refused_unless_it_is_more_of_the_kind) {
  char text[2000];
  EACH(p) {
    memcpy(text, p->text.p, p->text.n);
    text[p->text.n] = 'x';
    CHECK_INT(unpack(p->decoder, (slp_str){text, p->text.n + 1}, 1 << 20), SLP_EBADDATA);
    memcpy(text + p->text.n, p->text.p, p->text.n);
    int r = unpack(p->decoder, (slp_str){text, 2 * p->text.n}, 1 << 20);
    int frames = strcmp(p->decoder, "zlib") != 0 && strcmp(p->decoder, "brotli") != 0 &&
                 strcmp(p->what, "snappy, a block") != 0;
    if (r != (frames ? 0 : SLP_EBADDATA) || (!r && got_n != 2 * packed_text.n))
      CHECK_FAIL("%s twice: %d, %zu bytes", p->what, r, got_n);
  }
}

/* Where there are checksums, damage makes no other text. */
static int damaged(const packed *p, slp_str in, size_t at) {
  int r = unpack(p->decoder, in, 1 << 14);
  CHECK(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
  if (r == 0 && p->checked && !is_text() && !is_chunk(p, at))
    CHECK_FAIL("%s: damaged, and another text", p->what);
  return r;
}

TEST(damage_at_every_offset) {
  static const unsigned char masks[] = {1, 0x10, 0x80, 0xff};
  char text[1000];
  EACH(p) for (size_t at = 0; at < p->text.n; at++) for (size_t m = 0; m < sizeof masks; m++) {
    memcpy(text, p->text.p, p->text.n);
    text[at] = (char)((unsigned char)text[at] ^ masks[m]);
    damaged(p, (slp_str){text, p->text.n}, at);
  }
}

/* From the middle on, where neither a time nor a name stands that nobody checks. */
TEST(a_thousand_damaged_ones_are_refused) {
  char text[1000];
  EACH(p) for (int i = 0; p->checked && i < 1000; i++) {
    memcpy(text, p->text.p, p->text.n);
    size_t n = 1 + rnd(8);
    for (size_t k = 0; k < n; k++) {
      size_t at = p->text.n / 4 + rnd(p->text.n - p->text.n / 4);
      text[at] = (char)((unsigned char)text[at] ^ (1 + rnd(255)));
    }
    if (memcmp(text, p->text.p, p->text.n) != 0 && damaged(p, (slp_str){text, p->text.n}, 0) == 0)
      CHECK_FAIL("%s: damage %d was taken", p->what, i);
  }
}

TEST(what_becomes_more_than_the_limit_is_refused_and_no_byte_earlier) {
  EACH(p) {
    for (uint64_t limit = 0; limit < packed_text.n; limit++)
      if (unpack(p->decoder, p->text, limit) != SLP_ELIMIT) CHECK_FAIL("%s: %d bytes", p->what, (int)limit);
    CHECK_INT(unpack(p->decoder, p->text, packed_text.n), 0);
    CHECK_INT(unpack(p->decoder, p->zeros, 19999), SLP_ELIMIT);
    char want[100];
    snprintf(want, sizeof want, "%s: more than 19999 bytes; see -X decoded_bytes_max", p->decoder);
    CHECK_STR(why, want);
    CHECK_INT(unpack(p->decoder, p->zeros, 20000), 0);
  }
}

TEST(without_memory_that_is_what_is_told) {
  EACH(p) for (int64_t n = 1; n < 60; n++) {
    scarce s = {.left = n};
    slp_mem *mem = slp_mem_new(scarce_alloc, &s);
    int r = unpack_in(mem, p->decoder, p->text, 1 << 20);
    if (r != (s.failed ? SLP_ENOMEM : 0)) CHECK_FAIL("%s: %d with %d allocations", p->what, r, (int)n);
    CHECK_INT(mem->live_blocks, 0);
    s.left = -1;
    slp_mem_drop(mem);
    if (!s.failed) break;
  }
}

/* A Snappy block begins with the length of its text, and that length may be a lie. In the bomb every 3 bytes
 * stand for 64 bytes of text, the highest ratio that the format allows. */
TEST(a_block_of_snappy_is_not_taken_at_its_word) {
  static char bomb[3 * 4096 + 16];
  if (slp_decoder_by_name(SLP_STR("snappy"))->needs) return;
  size_t n = 0;
  uint32_t told = 1 + 64 * 4096;
  for (; told >= 128; told >>= 7) bomb[n++] = (char)(told | 128);
  bomb[n++] = (char)told;
  bomb[n++] = 0, bomb[n++] = 'x';
  for (int i = 0; i < 4096; i++) bomb[n++] = (char)(63 << 2 | 2), bomb[n++] = 1, bomb[n++] = 0;
  CHECK_INT(unpack("snappy", (slp_str){bomb, n}, 64 * 4096), SLP_ELIMIT);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  CHECK_INT(unpack_in(mem, "snappy", SLP_STR("\xff\xff\xff\xff\x0f\x00x"), 1u << 28), SLP_EBADDATA);
  CHECK(mem->peak_bytes < 1 << 16);
  slp_mem_drop(mem);
}

/* Heads of frames, by RFC 8878: what they ask for is not here. */
TEST(zstd_says_what_it_lacks) {
  if (slp_decoder_by_name(SLP_STR("zstd"))->needs) return;
  CHECK_INT(unpack("zstd", SLP_STR("\x28\xb5\x2f\xfd\x21\x07\x01\x09\x00\x00x"), 1 << 20), SLP_EBADDATA);
  CHECK_STR(why, "zstd: it was compressed with dictionary 7, which is not available");
  CHECK_INT(unpack("zstd", SLP_STR("\x28\xb5\x2f\xfd\x00\x90\x09\x00\x00x"), 1 << 20), SLP_EBADDATA);
  CHECK_STR(why, "zstd: its window is larger than 128 MiB (zstd --long)");
  CHECK_INT(unpack("zstd", SLP_STR("\x28\xb5\x2f\xfd\x00\x88\x09\x00\x00x"), 1 << 20), 0); /* 128 MiB */
  CHECK(got_n == 1 && *got == 'x');
}

/* Frames that are empty or to be passed over, as many as a record holds: no slice grows with them. */
TEST(many_frames_of_nothing_are_bounded_work_a_slice) {
  enum { TIMES = 20000 };
  static const struct {
    const char *decoder;
    slp_str head, frame;
  } rows[] = {{"zstd", {"", 0}, {"\x50\x2a\x4d\x18\0\0\0\0", 8}},
              {"zstd", {"", 0}, {"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9}},
              {"lz4", {"", 0}, {"\x50\x2a\x4d\x18\0\0\0\0", 8}},
              {"snappy", {"\xff\x06\0\0sNaPpY", 10}, {"\xfe\0\0\0", 4}}};
  char *text = malloc(TIMES * 9 + 10), reason[200];
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    slp_mem *mem = slp_mem_new(NULL, NULL);
    slp_decoding d;
    slp_decode_chain c;
    size_t n = rows[i].head.n;
    int slices = 1, r;
    if (slp_decode_parse(rows[i].decoder, &c, reason) == 0) {
      memcpy(text, rows[i].head.p, n);
      for (int k = 0; k < TIMES; k++, n += rows[i].frame.n)
        memcpy(text + n, rows[i].frame.p, rows[i].frame.n);
      slp_decoding_init(&d, mem);
      slp_decoding_begin(&d, &c, (slp_str){text, n}, 1 << 20);
      while ((r = slp_decoding_step(&d, why)) == 1) slices++;
      CHECK_INT(r, 0);
      CHECK_INT(d.in.n, 0);
      if (slices < TIMES / 256 || slices > TIMES) CHECK_FAIL("%s: %d slices", rows[i].decoder, slices);
      slp_decoding_free(&d);
    }
    slp_mem_drop(mem);
  }
  free(text);
}

/* The decoder `auto` leaves texts alone if their format has no magic bytes (brotli, a block of Snappy). */
TEST(auto_knows_each_by_its_first_bytes) {
  EACH(p) {
    const slp_decoder *d = slp_decoder_that_recognizes(p->text);
    int known = strcmp(p->decoder, "brotli") != 0 && strcmp(p->what, "snappy, a block") != 0;
    CHECK_INT(d == slp_decoder_by_name(slp_str_of(p->decoder)), known);
    CHECK_INT(unpack("auto", p->text, 1 << 20), 0);
    if (known) CHECK(is_text());
    if (!known) CHECK(got_n == p->text.n && memcmp(got, p->text.p, got_n) == 0);
    CHECK_INT(unpack("auto,plain-json", p->text, 1 << 20), SLP_EBADDATA); /* it is twelve values */
    char want[100];
    snprintf(want, sizeof want, "%s: the data is damaged, truncated, or followed by other bytes", p->decoder);
    if (!known) continue;
    CHECK_INT(unpack("auto", (slp_str){p->text.p, p->text.n / 2}, 1 << 20), SLP_EBADDATA);
    CHECK_STR(why, want);
  }
  CHECK_INT(unpack("auto", packed_text, 1), 0); /* a text is itself, and nothing is made */
  CHECK(is_text());
  CHECK_INT(unpack("auto,auto,base64", SLP_STR("aGVsbG8="), 1 << 20), 0);
  CHECK(got_n == 5 && memcmp(got, "hello", 5) == 0);
}

/* In every pair of an asked decoder and a text that begins as another format does. */
TEST(the_right_decoder_is_named_when_another_was_asked_for) {
  static const char *const asked[] = {"gzip",   "zlib",   "zstd", "lz4",        "snappy",
                                      "brotli", "base64", "hex",  "plain-json", "ddb-json"};
  for (size_t k = 0; k < SLP_COUNT(packed_rows) * SLP_COUNT(asked); k++) {
    const packed *p = &packed_rows[k / SLP_COUNT(asked)];
    size_t i = k % SLP_COUNT(asked);
    const slp_decoder *d = slp_decoder_by_name(slp_str_of(asked[i])),
                      *is = slp_decoder_that_recognizes(p->text);
    int same = strcmp(asked[i], p->decoder) == 0 || (d->unpacks && strcmp(d->unpacks, p->decoder) == 0);
    if (d->needs || same || !is) continue;
    char want[100];
    CHECK_INT(unpack(asked[i], p->text, 1 << 20), SLP_EBADDATA);
    snprintf(want, sizeof want, "%s: it looks like %s: -s %s%s%s", asked[i], p->decoder, p->decoder,
             d->makes_json ? "," : "", d->makes_json ? asked[i] : "");
    if (is->needs) /* what can't be had is no advice */
      snprintf(want, sizeof want, "%s: it looks like %s, which is not built in (%s)", asked[i], p->decoder,
               is->needs);
    CHECK_STR(why, want);
  }
  CHECK_INT(unpack("gzip", SLP_STR("H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="), 1 << 20), SLP_EBADDATA);
  CHECK_STR(why, "gzip: it looks like gzip in base64: -s base64,gzip");
  CHECK_INT(unpack("plain-json", SLP_STR("H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="), 1 << 20), SLP_EBADDATA);
  CHECK_STR(why, "plain-json: it looks like gzip in base64: -s base64,gzip,plain-json");
}

TEST(what_is_not_built_in_says_what_it_needs) {
  for (size_t i = 0; slp_decoder_at(i); i++) {
    const slp_decoder *d = slp_decoder_at(i);
    slp_decode_chain c;
    char reason[200];
    int r = slp_decode_parse(d->name, &c, reason);
    CHECK_INT(r, d->needs ? SLP_EINVAL : 0);
    if (d->needs) CHECK(strstr(reason, d->needs) && strstr(reason, "=enabled"));
    for (size_t k = 0; d->needs && k < SLP_COUNT(packed_rows); k++) { /* auto knows what it can't unpack */
      if (slp_decoder_that_recognizes(packed_rows[k].text) != d) continue;
      CHECK_INT(unpack("auto", packed_rows[k].text, 1 << 20), SLP_EBADDATA);
      CHECK(strstr(why, d->name) && strstr(why, "is not built in"));
    }
  }
}

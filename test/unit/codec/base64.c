/* Base64: every level against the table and against OpenSSL, in place and apart. */
#include "codec/base64.h"

#include <openssl/evp.h>

#include "check.h"

static uint64_t state = 88172645463325252u;
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static slp_mem *mem;
static slp_buf text;

static void encode_random(size_t n, char *raw) {
  for (size_t i = 0; i < n; i++) raw[i] = (char)next_random();
  slp_buf_clear(&text);
  CHECK_INT(slp_base64_encode(&text, (slp_str){raw, n}), 0);
}

static void start(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&text, mem, 1 << 20);
}

static void finish(void) {
  slp_buf_free(&text);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(encoding_is_what_openssl_encodes) {
  start();
  char raw[300];
  unsigned char theirs[500];
  for (size_t n = 0; n < sizeof raw; n++) {
    encode_random(n, raw);
    int len = EVP_EncodeBlock(theirs, (unsigned char *)raw, (int)n);
    CHECK_MEM(text.p, text.n, theirs, (size_t)len);
  }
  finish();
}

TEST(every_level_decodes_every_length_in_place_apart_and_before) {
  start();
  char raw[400], work[800];
  for (size_t n = 0; n < sizeof raw; n++) {
    encode_random(n, raw);
    for (int level = 0; level <= slp_base64_level(); level++) {
      for (size_t before = 0; before < 40; before += 13) {
        memset(work, 0x55, sizeof work);
        memcpy(work + before, text.p, text.n);
        CHECK_INT(slp_base64_decode_with(level, work, work + before, text.n), n);
        CHECK_MEM(work, n, raw, n);
      }
      /* Not one byte behind the room that the header asks for. */
      char *exact = malloc(text.n / 4 * 3 + 1);
      CHECK_INT(slp_base64_decode_with(level, exact, text.p, text.n), n);
      CHECK_MEM(exact, n, raw, n);
      free(exact);
    }
  }
  finish();
}

/* A slow second opinion: OpenSSL takes white space around the text and '=' in odd places, so it is asked
 * only about texts of alphabet characters with at most two '=' at the end. */
static int64_t by_openssl(const char *in, size_t n, unsigned char *out) {
  size_t pads = 0;
  for (size_t i = 0; i < n; i++) {
    char c = in[i];
    int known =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (c == '=' && i + 2 >= n)
      pads++;
    else if (!known || pads)
      return SLP_EBADDATA;
  }
  if (n % 4) return SLP_EBADDATA;
  int r = EVP_DecodeBlock(out, (const unsigned char *)in, (int)n);
  return r < 0 ? SLP_EBADDATA : r - (int64_t)pads;
}

TEST(one_changed_character_gives_openssls_verdict_at_every_level) {
  start();
  char raw[200], work[400];
  unsigned char theirs[400];
  for (int round = 0; round < 200; round++) {
    encode_random(1 + (size_t)(next_random() % sizeof raw), raw);
    size_t at = (size_t)(next_random() % text.n);
    char was = text.p[at];
    for (int c = 0; c < 256; c++) {
      text.p[at] = (char)c;
      int64_t want = by_openssl(text.p, text.n, theirs);
      for (int level = 0; level <= slp_base64_level(); level++) {
        memcpy(work, text.p, text.n);
        CHECK_INT(slp_base64_decode_with(level, work, work, text.n), want);
        if (want > 0) CHECK_MEM(work, (size_t)want, theirs, (size_t)want);
      }
    }
    text.p[at] = was;
  }
  finish();
}

TEST(wrong_lengths_and_padding_are_refused) {
  static const char *const wrong[] = {
      "A",        "AA",       "AAA",      "AAAAA", "A===",  "====",   "=",   "AA=A",
      "AA==AAAA", "AAA=AAAA", "AAAA====", " AAA",  "AAA\n", "AAAA\n", "AA-_"};
  char out[16];
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    CHECK_INT(slp_base64_decode(out, wrong[i], strlen(wrong[i])), SLP_EBADDATA);
  }
  CHECK_INT(slp_base64_decode(out, "", 0), 0);
  CHECK_INT(slp_base64_decode(out, "QR==", 4), 1); /* bits under the padding */
  CHECK_INT(out[0], 'A');
  CHECK_INT(slp_base64_decode_with(3, out, "AAAA", 4), SLP_ENOENT);
}

TEST(whole_groups_in_place_leave_what_follows_as_it_was) {
  start();
  char raw[150], work[220], first[220];
  for (size_t n = 0; n < sizeof raw; n++) {
    encode_random(n - n % 3, raw);
    size_t ends = n / 3 * 4 + n % 4; /* of the text; then comes what is no base64 */
    memset(work, '"', sizeof work);
    memcpy(work, text.p, text.n);
    memset(work + text.n, 'A', n % 4);
    memcpy(first, work, sizeof work);
    for (size_t room = ends; room < sizeof work; room += 7) {
      size_t used = slp_base64_decode_groups(work, work, room);
      CHECK_INT(used, ends - n % 4);
      CHECK_MEM(work, used / 4 * 3, raw, n / 3 * 3);
      CHECK_MEM(work + used, sizeof work - used, first + used, sizeof work - used);
      memcpy(work, first, sizeof work);
    }
  }
  finish();
}

TEST(decoding_in_pieces_can_be_undone) {
  start();
  char raw[300], work[500];
  for (size_t n = 3; n < sizeof raw; n++) {
    encode_random(n, raw);
    memcpy(work, text.p, text.n);
    size_t bad_at = (size_t)(next_random() % text.n), used = 0;
    work[bad_at] = '!';
    while (used < text.n) {
      size_t piece = slp_min_u64(4 + 4 * (next_random() % 40), text.n - used);
      size_t took = slp_base64_decode_groups(work + used / 4 * 3, work + used, piece);
      used += took;
      if (took < piece) break;
    }
    CHECK(used <= bad_at);
    CHECK_INT(used, bad_at & ~(size_t)3);
    slp_base64_encode_back(work, used / 8, used / 4);
    slp_base64_encode_back(work, 0, used / 8);
    text.p[bad_at] = '!';
    CHECK_MEM(work, text.n, text.p, text.n);
  }
  finish();
}

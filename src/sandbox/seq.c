/* seq.c - sequence numbers and hash keys: numbers that are too long for 64 bits, and their texts in the API.
 *
 * A sequence number has 47 hex digits. The authors of kinesalite found the layout on the live service. Each
 * number here is a count of hex digits:
 * 1 (the digit 2) | 9 shard creation seconds | 1 low digit of the shard index | 16 counter | 2 zero |
 * 9 arrival seconds | 8 shard index | 1 version (the digit 2). As three words of 64 bits:
 *   word 2: top digit << 56 | creation << 20 | low digit << 16 | counter >> 48
 *   word 1: counter << 16 | zero << 8 | arrival >> 28
 *   word 0: arrival << 36 | shard index << 4 | version */
#include "sandbox/model.h"

#include "base/num.h"
#include "base/u128.h"

/* 10^19: numbers are computed in digits of this base, the largest power of ten in 64 bits */
#define BASE UINT64_C(10000000000000000000)
#define BASE_DIGITS 19
#define SECONDS_MASK ((UINT64_C(1) << 36) - 1)

void slp_box_seq_chunks(const slp_box_seq *s, uint64_t chunk[3]) {
  uint64_t word[3];
  uint64_t arrive = s->arrive_s & SECONDS_MASK;
  word[2] = UINT64_C(2) << 56 | (s->create_s & SECONDS_MASK) << 20 | (uint64_t)(s->shard & 15) << 16 |
            s->counter >> 48;
  word[1] = s->counter << 16 | arrive >> 28;
  word[0] = arrive << 36 | (uint64_t)s->shard << 4 | 2;
  for (int c = 0; c < 3; c++) {
    uint64_t rest = 0;
    for (int w = 2; w >= 0; w--) {
      word[w] = slp_u128_div((slp_u128){rest, word[w]}, BASE, &rest).lo;
    }
    chunk[c] = rest;
  }
}

void slp_box_seq_chunks_next(uint64_t chunk[3]) {
  /* The number of the next record is greater by 2^80, because there are 80 bits below the counter. */
  const uint64_t low = UINT64_C(5819614629174706176), middle = 120892;
  uint64_t sum = chunk[0] + low; /* BASE + low has room in 64 bits */
  uint64_t carry = sum >= BASE;
  chunk[0] = carry ? sum - BASE : sum;
  sum = chunk[1] + middle + carry;
  carry = sum >= BASE;
  chunk[1] = carry ? sum - BASE : sum;
  chunk[2] += carry;
}

static void put_digits(char *to, uint64_t v, size_t digits) {
  for (size_t i = digits; i >= 2; i -= 2) {
    uint64_t two = v % 100;
    v /= 100;
    to[i - 1] = (char)('0' + two % 10);
    to[i - 2] = (char)('0' + two / 10);
  }
  if (digits & 1) to[0] = (char)('0' + v % 10);
}

size_t slp_box_chunks_text(const uint64_t chunk[3], char out[SLP_BOX_SEQ_TEXT]) {
  size_t digits = 0;
  for (uint64_t v = chunk[2]; v; v /= 10) digits++;
  put_digits(out, chunk[2], digits);
  put_digits(out + digits, chunk[1], BASE_DIGITS);
  put_digits(out + digits + BASE_DIGITS, chunk[0], BASE_DIGITS);
  return digits + 2 * BASE_DIGITS;
}

size_t slp_box_seq_text(const slp_box_seq *s, char out[SLP_BOX_SEQ_TEXT]) {
  uint64_t chunk[3];
  slp_box_seq_chunks(s, chunk);
  size_t n = slp_box_chunks_text(chunk, out);
  out[n] = 0;
  return n;
}

int slp_box_seq_parse(slp_str text, slp_box_seq *ret) {
  uint64_t word[3] = {0, 0, 0};
  if (!slp_num_plain(text) || text.n != 56) return SLP_EBADDATA;
  for (size_t i = 0; i < text.n; i++) {
    uint64_t carry = (uint64_t)(text.p[i] - '0');
    for (int w = 0; w < 3; w++) {
      slp_u128 v = slp_u128_add(slp_u128_product(word[w], 10), SLP_U128(carry));
      word[w] = v.lo;
      carry = v.hi;
    }
  }
  *ret = (slp_box_seq){
      .create_s = word[2] >> 20 & SECONDS_MASK,
      .shard = (uint32_t)(word[0] >> 4),
      .counter = word[2] << 48 | word[1] >> 16,
      .arrive_s = (word[1] << 28 | word[0] >> 36) & SECONDS_MASK,
  };
  if (word[2] >> 56 != 2 || (word[0] & 15) != 2 || (word[1] >> 8 & 255) != 0) return SLP_EBADDATA;
  if ((word[2] >> 16 & 15) != (ret->shard & 15)) return SLP_EBADDATA;
  return 0;
}

slp_u128 slp_box_width_of(uint32_t parts) {
  uint64_t rest;
  slp_u128 width = slp_u128_div(SLP_U128_MAX, parts, &rest);
  return rest == parts - 1 ? slp_u128_add(width, SLP_U128(1)) : width;
}

slp_u128 slp_box_equal_end(slp_u128 width, uint32_t i, uint32_t parts) {
  if (i + 1 == parts) return SLP_U128_MAX;
  return slp_u128_sub(slp_u128_times(width, i + 1), SLP_U128(1));
}

int slp_box_hash_parse(slp_str text, slp_u128 *ret) {
  const slp_u128 tenth = {UINT64_MAX / 10, UINT64_C(0x9999999999999999)}; /* of SLP_U128_MAX; 5 is left */
  slp_u128 v = {0, 0};
  if (!slp_num_plain(text)) return SLP_EBADDATA;
  for (size_t i = 0; i < text.n; i++) {
    unsigned digit = (unsigned)(text.p[i] - '0');
    int most = slp_u128_cmp(v, tenth);
    if (most > 0 || (most == 0 && digit > 5)) return SLP_ELIMIT;
    v = slp_u128_add(slp_u128_times(v, 10), SLP_U128(digit));
  }
  *ret = v;
  return 0;
}

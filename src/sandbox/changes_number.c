/* changes_number.c - the sequence numbers of changes, of 21 to 40 digits. The numbers of children are often
 * longer than those of their parents.
 *
 * A number is a counter, then zeros, then 17 digits that nobody can guess. The counters of a child are
 * greater than those of its parent, and a greater counter never has fewer zeros behind it. So numbers ascend
 * from parents to children. Numbers of shards that are not related can't be compared.
 *
 * The start of a shard has the counter `base`. The record at place p has base + 1 + p. The end of the shard
 * has the counter after that of the last record. */
#include <stdio.h>

#include "base/num.h"
#include "sandbox/changes.h"

#define LOW_DIGITS 17
#define LOW_RANGE UINT64_C(100000000000000000)
#define ZEROS_MAX 10

/* Returns how many zeros follow the counter in a number: one for each time that the counter has doubled since
 * SLP_CHANGE_BASE_MIN, at most ZEROS_MAX. */
static unsigned count_number_zeros(uint64_t counter) {
  unsigned n = 0;
  for (uint64_t v = counter / SLP_CHANGE_BASE_MIN; v > 1 && n < ZEROS_MAX; v /= 2) n++;
  return n;
}

static uint64_t mix_counter_bits(uint64_t v) { /* the last step of splitmix64 */
  v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
  return v ^ v >> 31;
}

size_t slp_change_number(uint64_t counter, uint64_t salt, char out[SLP_CHANGE_NUMBER_TEXT]) {
  uint64_t low = mix_counter_bits(salt ^ counter * UINT64_C(0x9e3779b97f4a7c15)) % LOW_RANGE;
  int n = snprintf(out, SLP_CHANGE_NUMBER_TEXT, "%llu%.*s%0*llu", (unsigned long long)counter,
                   (int)count_number_zeros(counter), "0000000000", LOW_DIGITS, (unsigned long long)low);
  SLP_CHECK(n >= 21 && n <= 40);
  return (size_t)n;
}

void slp_change_start_text(const slp_change_shard *sh, char out[SLP_CHANGE_NUMBER_TEXT]) {
  slp_change_number(sh->base, sh->salt, out);
}

void slp_change_end_text(const slp_change_shard *sh, char out[SLP_CHANGE_NUMBER_TEXT]) {
  slp_change_text(sh, sh->next, out);
}

void slp_change_text(const slp_change_shard *sh, uint64_t place, char out[SLP_CHANGE_NUMBER_TEXT]) {
  slp_change_number(sh->base + 1 + place, sh->salt, out);
}

uint64_t slp_change_place(const slp_change_shard *sh, slp_str number, int *ret_exact) {
  char text[SLP_CHANGE_NUMBER_TEXT];
  uint64_t low = 0, high = sh->next;
  *ret_exact = 0;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    slp_change_text(sh, middle, text);
    int order = slp_num_cmp(slp_str_of(text), number);
    *ret_exact |= order == 0;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* hash_range.c - checks whether the leases of shards that have not ended cover every hash key
 * (hash_range.h). */
#include "lease/hash_range.h"

#include "base/mem.h"
#include "base/num.h"
#include "core/position.h"
#include "lease/schema.h"

#include <stdlib.h>

/* the range of hash keys of one lease */
typedef struct arc {
  uint8_t from[16], to[16]; /* the first and the last hash key of the range; most significant byte first */
} arc;

static int by_start(const void *a, const void *b) {
  const arc *x = a, *y = b;
  return memcmp(x->from, y->from, 16);
}

/* Adds one to n. Returns 0 if n was the greatest number; n is 0 then. */
static int add_one(uint8_t n[16]) {
  for (int i = 15; i >= 0; i--)
    if (++n[i]) return 1;
  return 0;
}

static void minus_one(uint8_t n[16]) {
  for (int i = 15; i >= 0; i--)
    if (n[i]--) return;
}

/* Writes the number as decimal digits. */
static void write_decimal(const uint8_t from[16], char out[40]) {
  uint8_t n[16];
  char digits[40];
  size_t k = 0;
  int left = 1;
  memcpy(n, from, 16);
  while (left) {
    unsigned rest = 0;
    left = 0;
    for (int i = 0; i < 16; i++) {
      unsigned v = rest * 256 + n[i];
      n[i] = (uint8_t)(v / 10);
      rest = v % 10;
      left |= n[i] != 0;
    }
    digits[k++] = (char)('0' + rest);
  }
  for (size_t i = 0; i < k; i++) out[i] = digits[k - 1 - i];
  out[k] = 0;
}

/* Collects the ranges of all leases whose shards have not ended. Returns 0 if the row of such a lease has no
 * range, because that lease may cover any hash key. */
static int arcs_of(arc *to, const slp_lease_row *leases, size_t n, size_t *ret_n) {
  *ret_n = 0;
  for (size_t i = 0; i < n; i++) {
    const slp_lease_row *l = &leases[i];
    arc *a = &to[*ret_n];
    if (l->position.kind == SLP_POSITION_END) continue;
    if (slp_parse_u128(l->hash_start, a->from) || slp_parse_u128(l->hash_end, a->to)) return 0;
    (*ret_n)++;
  }
  return 1;
}

/* Finds the first hash keys that no range covers. The ranges must be sorted. Returns 1 with the bounds of
 * these keys, 0 if every key is covered. */
static int first_hole(arc *arcs, size_t n, char from[40], char to[40]) {
  uint8_t next[16] = {0}, last[16];
  for (size_t i = 0; i < n; i++) {
    if (memcmp(arcs[i].from, next, 16) > 0) {
      write_decimal(next, from);
      minus_one(arcs[i].from);
      write_decimal(arcs[i].from, to);
      return 1;
    }
    if (memcmp(arcs[i].to, next, 16) < 0) continue;
    memcpy(next, arcs[i].to, 16);
    if (!add_one(next)) return 0;
  }
  memset(last, 0xff, sizeof last);
  write_decimal(next, from);
  write_decimal(last, to);
  return 1;
}

int slp_hash_range_hole(slp_mem *mem, const slp_lease_row *leases, size_t n, char from[40], char to[40]) {
  int ranges = 0;
  for (size_t i = 0; i < n; i++) ranges |= leases[i].hash_start.n > 0;
  if (!ranges) return 0;
  arc *arcs = slp_zalloc_n(mem, n, sizeof *arcs);
  if (!arcs) return SLP_ENOMEM;
  size_t k;
  int known = arcs_of(arcs, leases, n, &k);
  if (k) qsort(arcs, k, sizeof *arcs, by_start);
  int r = known && first_hole(arcs, k, from, to);
  slp_free(mem, arcs);
  return r;
}

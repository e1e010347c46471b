/* repeat.c - bounds repeated work, see repeat.h. */
#include "base/repeat.h"

#include <stdio.h>

void slp_paging_begin(slp_paging *p, uint32_t pages_max, uint64_t bytes_max) {
  *p = (slp_paging){.pages_max = pages_max, .bytes_max = bytes_max, .share = 1, .mark = 1};
}

/* FNV-1a, without a secret key: a service that made two tokens with the same hash would only end its own
 * listing. */
static uint64_t hash_of(slp_str s) {
  uint64_t h = 14695981039346656037u ^ s.n;
  for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
  return h;
}

static int comes_again(slp_paging *p, slp_str token) {
  uint64_t hash = hash_of(token);
  p->looked++;
  if (p->looked > 1 && hash == p->token) return 1;
  if (p->looked != p->mark) return 0;
  p->token = hash;
  p->mark *= 2;
  return 0;
}

static uint64_t wait_us(const slp_paging *p) {
  if (p->vain)
    return slp_min_u64((uint64_t)SLP_PAGING_GAP_US << slp_min_u64(p->vain, 16), SLP_PAGING_VAIN_US);
  return p->n * p->share < SLP_PAGING_AT_ONCE ? 0 : (uint64_t)SLP_PAGING_GAP_US * p->share;
}

int slp_paging_next(slp_paging *p, slp_str token, size_t bytes, size_t news, uint64_t kept,
                    uint64_t *ret_wait_us, char why[160]) {
  p->n++;
  p->read += bytes;
  p->vain = news ? 0 : p->vain + 1;
  *ret_wait_us = wait_us(p);
  if (token.p && comes_again(p, token))
    snprintf(why, 160, "the key of the next page came before, so the pages would never end (page %u)", p->n);
  else if (p->vain == SLP_PAGING_VAIN_MAX)
    snprintf(why, 160, "%u pages in a row brought nothing new, and there is always a next one", p->vain);
  else if (p->n >= p->pages_max)
    snprintf(why, 160, "there is a next page after %u of them", p->n);
  else if (kept > p->bytes_max)
    snprintf(why, 160, "the first %u pages come to more than %llu MiB", p->n,
             (unsigned long long)(p->bytes_max >> 20));
  else if (p->read / 4 > p->bytes_max)
    snprintf(why, 160, "the first %u pages are more than %llu MiB long", p->n,
             (unsigned long long)(p->bytes_max >> 18));
  else
    return 0;
  return SLP_ELIMIT;
}

/* ---- work that restarts -------------------------------------------------------------------------------- */
uint64_t slp_paced_us(const slp_paced *p, uint64_t at_us, uint64_t least_us, uint64_t most_us) {
  if (p->n < SLP_PACED_AT_ONCE) return at_us;
  uint64_t wait = slp_min_u64(least_us << slp_min_u64(p->n - SLP_PACED_AT_ONCE, 20), most_us);
  return slp_max_u64(at_us, p->last_us + wait);
}

void slp_paced_done(slp_paced *p, uint64_t now_us, uint64_t most_us) {
  int quiet = p->n && now_us - p->last_us > 4 * most_us;
  p->n = quiet ? 1 : p->n + 1;
  p->last_us = now_us;
}

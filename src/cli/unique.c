/* unique.c - remembers digests of records in a circular buffer, in the order in which the records came.
 * Hash chains find a digest in it. */
#include "cli/unique.h"

#include "base/mem.h"
#include "codec/digest.h"

#include <sloop.h>

#define NONE UINT32_MAX

typedef struct entry {
  uint8_t digest[16];
  uint32_t next; /* index of the next entry in the same chain, or NONE */
} entry;

struct slp_unique {
  slp_mem *mem;
  slp_digest *digest;
  entry *ring;            /* owned: the circular buffer, with room for `window` entries */
  uint32_t *chains;       /* owned: the heads of `window` hash chains; NONE: the chain is empty */
  uint32_t window, n, at; /* n: how many entries `ring` has. at: where the next entry goes */
};

slp_unique *slp_unique_new(slp_mem *mem, uint32_t window) {
  slp_unique *u = SLP_NEW(mem, slp_unique);
  if (!u) return NULL;
  u->mem = mem;
  u->window = window;
  u->digest = slp_digest_new(mem);
  u->ring = slp_zalloc_n(mem, window, sizeof *u->ring);
  u->chains = slp_zalloc_n(mem, window, sizeof *u->chains);
  if (!u->digest || !u->ring || !u->chains) {
    slp_unique_free(u);
    return NULL;
  }
  memset(u->chains, 0xff, window * sizeof *u->chains);
  return u;
}

void slp_unique_free(slp_unique *u) {
  if (!u) return;
  if (u->digest) slp_digest_free(u->digest);
  slp_free(u->mem, u->ring);
  slp_free(u->mem, u->chains);
  slp_free(u->mem, u);
}

/* Computes the digest of a record from the joined digests of its parts. These have a fixed length. If the
 * parts themselves were joined, different records could give the same bytes. */
static int digest_of(slp_unique *u, const sloop_record_t *r, uint8_t out[16]) {
  char parts[48];
  int change = r->event_id.len > 0;
  slp_str a = change ? (slp_str){r->event_id.base, r->event_id.len} : (slp_str){r->key.base, r->key.len};
  slp_str b = change ? (slp_str){"", 0} : (slp_str){r->data.base, r->data.len};
  int bad = slp_md5(u->digest, slp_str_of(r->stream), (uint8_t *)parts);
  if (!bad) bad = slp_md5(u->digest, a, (uint8_t *)parts + 16);
  if (!bad) bad = slp_md5(u->digest, b, (uint8_t *)parts + 32);
  return bad ? bad : slp_md5(u->digest, (slp_str){parts, sizeof parts}, out);
}

static uint32_t *chain_of(slp_unique *u, const uint8_t digest[16]) {
  uint32_t h;
  memcpy(&h, digest, sizeof h);
  return &u->chains[h % u->window];
}

/* Removes the entry with index `which` from its hash chain. */
static void unlink_digest(slp_unique *u, uint32_t which) {
  uint32_t *link = chain_of(u, u->ring[which].digest);
  while (*link != which) link = &u->ring[*link].next;
  *link = u->ring[which].next;
}

int slp_unique_seen(slp_unique *u, const sloop_record_t *r) {
  uint8_t digest[16];
  if (digest_of(u, r, digest) != 0) return SLP_ENOMEM;
  uint32_t *head = chain_of(u, digest);
  for (uint32_t i = *head; i != NONE; i = u->ring[i].next)
    if (memcmp(u->ring[i].digest, digest, sizeof digest) == 0) return 1;
  if (u->n == u->window)
    unlink_digest(u, u->at);
  else
    u->n++;
  entry *e = &u->ring[u->at];
  memcpy(e->digest, digest, sizeof digest);
  e->next = *head;
  *head = u->at;
  u->at = (u->at + 1) % u->window;
  return 0;
}

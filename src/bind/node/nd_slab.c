/* nd_slab.c - memory of packed batches (nd_records.c), used again when JavaScript has dropped all readers.
 *
 * malloc gives a block of this size back to the system at each collection, and page faults then cost a tenth
 * of the CPU time of reading. A slab may be used again only after its finalizer: a record or a `data` that
 * the user keeps still reads it. All slabs that wait for use are freed at the tip of a stream, and when the
 * last consumer has closed. */
#include "bind/node/nd_native.h"

#define SMALLEST 65536u      /* a slab of size class k has SMALLEST << k bytes */
#define PLAIN_BELOW 32768u   /* smaller batches: a finalizer costs more than a plain Buffer */
#define KEPT_MAX (32u << 20) /* more than a collection frees at once */

typedef struct nd_slab {
  struct nd_slab *next; /* of those that wait for use */
  nd_world *world;
  size_t rank;
  size_t unused; /* so that the bytes behind it are aligned as those of malloc */
} nd_slab;

/* V8 counts the bytes of a slab by itself. They are counted here once more, so that a program which makes few
 * objects has a collection after half as many slabs: it had a peak of 162 MB, and has 102. */
static void count_again(napi_env env, int64_t bytes) {
  int64_t all;
  napi_adjust_external_memory(env, bytes, &all);
}

static size_t size_of(size_t rank) { return (size_t)SMALLEST << rank; }

static void on_dropped(napi_env env, void *data, void *hint) {
  nd_slab *slab = hint;
  nd_world *w = slab->world;
  size_t size = size_of(slab->rank);
  (void)data;
  count_again(env, -(int64_t)size);
  if (w->keeps_slabs && !w->ending && w->slabs_kept + size <= KEPT_MAX) {
    w->slabs_kept += size;
    slab->next = w->slabs[slab->rank];
    w->slabs[slab->rank] = slab;
  } else {
    slp_free(w->mem, slab);
  }
  nd_world_drop(w);
}

static nd_slab *take_slab(nd_world *w, size_t rank) {
  nd_slab *slab = w->slabs[rank];
  if (slab) {
    w->slabs[rank] = slab->next;
    w->slabs_kept -= size_of(rank);
  } else {
    slab = slp_alloc(w->mem, sizeof *slab + size_of(rank));
    if (!slab) return NULL;
    slab->rank = rank;
  }
  slab->world = nd_world_hold(w);
  count_again(w->env, (int64_t)size_of(rank));
  return slab;
}

napi_value nd_slab_new(nd_world *w, size_t size, void **base) {
  size_t rank = 0;
  napi_value buffer = NULL;
  nd_slab *slab = NULL;
  while (rank < ND_SLAB_CLASSES && size_of(rank) < size) rank++;
  if (size >= PLAIN_BELOW && rank < ND_SLAB_CLASSES) slab = take_slab(w, rank);
  if (slab) {
    w->keeps_slabs = 1;
    *base = slab + 1;
    if (napi_create_external_buffer(w->env, size, *base, on_dropped, slab, &buffer) == napi_ok) return buffer;
    on_dropped(w->env, *base, slab); /* a runtime may allow no memory of others, as Electron does */
  }
  return napi_create_buffer(w->env, size, base, &buffer) == napi_ok ? buffer : NULL;
}

void nd_slabs_free(nd_world *w) {
  size_t rank;
  w->keeps_slabs = 0;
  w->slabs_kept = 0;
  for (rank = 0; rank < ND_SLAB_CLASSES; rank++) {
    while (w->slabs[rank]) {
      nd_slab *slab = w->slabs[rank];
      w->slabs[rank] = slab->next;
      slp_free(w->mem, slab);
    }
  }
}

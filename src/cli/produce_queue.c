/* produce_queue.c - keeps a list of records for each key, and lists of keys: keys whose records may be put
 * now, must wait, or are in a call. */
#include "cli/produce_queue.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/mem.h"

static slp_put_record *record_of(slp_list *it) { return SLP_OWNER(it, slp_put_record, link); }
static slp_put_key *key_of(slp_list *it) { return SLP_OWNER(it, slp_put_key, link); }

void slp_put_queue_init(slp_put_queue *q, slp_mem *mem) {
  *q = (slp_put_queue){.mem = mem, .together = SLP_PUT_BATCH_RECORDS};
  slp_list_init(&q->ready);
  slp_list_init(&q->resting);
  slp_list_init(&q->busy);
}

/* ---- memory ------------------------------------------------------------------------------------------ */
/* Returns a block of n bytes or more, if possible one that give_block() has kept; NULL: no memory. */
static void *take_block(slp_put_queue *q, size_t n) {
  size_t list = (n + SLP_PUT_BLOCK_STEP - 1) / SLP_PUT_BLOCK_STEP;
  if (list >= SLP_PUT_BLOCK_LISTS) return slp_alloc(q->mem, n);
  void *block = q->kept[list];
  if (!block) return slp_alloc(q->mem, list * SLP_PUT_BLOCK_STEP);
  memcpy(&q->kept[list], block, sizeof block);
  q->kept_bytes -= list * SLP_PUT_BLOCK_STEP;
  return block;
}

/* Keeps a block of take_block() for a later record or key of this size, or frees it. */
static void give_block(slp_put_queue *q, void *block) {
  if (!block) return;
  size_t list = slp_alloc_size(block) / SLP_PUT_BLOCK_STEP, bytes = list * SLP_PUT_BLOCK_STEP;
  if (list >= SLP_PUT_BLOCK_LISTS || q->kept_bytes + bytes > SLP_PUT_KEPT_BYTES) {
    slp_free(q->mem, block);
    return;
  }
  memcpy(block, &q->kept[list], sizeof block);
  q->kept[list] = block;
  q->kept_bytes += bytes;
}

static void free_blocks(slp_put_queue *q) {
  for (size_t i = 0; i < SLP_PUT_BLOCK_LISTS; i++) {
    for (void *block = q->kept[i], *next; block; block = next) {
      memcpy(&next, block, sizeof next);
      slp_free(q->mem, block);
    }
    q->kept[i] = NULL;
  }
  q->kept_bytes = 0;
}

/* ---- keys -------------------------------------------------------------------------------------------- */
static size_t put_bytes(const slp_put_record *r) { return r->key.n + r->data.n; }

static void make_ready(slp_put_queue *q, slp_put_key *k) {
  slp_list_add_last(&q->ready, &k->link);
  q->ready_keys++;
  q->ready_bytes += put_bytes(record_of(slp_list_first(&k->records)));
}

/* Takes the key k out of `ready`. The first record of k must still be the one that k had when it was made
 * ready, because `ready_bytes` counts that record. */
static void leave_ready(slp_put_queue *q, slp_put_key *k) {
  slp_list_remove(&k->link);
  q->ready_keys--;
  q->ready_bytes -= put_bytes(record_of(slp_list_first(&k->records)));
}

static void free_key(slp_put_queue *q, slp_put_key *k) {
  slp_list_remove(&k->link);
  if (k->mapped) {
    slp_put_key **at = &q->buckets[k->bucket];
    while (*at != k) at = &(*at)->next;
    *at = k->next;
  }
  give_block(q, k);
}

void slp_put_record_free(slp_put_queue *q, slp_put_record *r) {
  q->records--;
  q->bytes -= r->bytes;
  give_block(q, r);
}

size_t slp_put_count(const slp_put_record *first) {
  size_t n = 0;
  for (; first; first = first->more) n++;
  return n;
}

/* Returns the key with this name; makes it if there is none. NULL: no memory. shared 0: makes a key of its
 * own for the record, because the record has no order with others. */
static slp_put_key *key_for(slp_put_queue *q, slp_str name, int shared) {
  uint32_t bucket = 0;
  if (shared) {
    if (!q->buckets) q->buckets = slp_zalloc_n(q->mem, SLP_PUT_BUCKETS, sizeof(slp_put_key *));
    if (!q->buckets) return NULL;
    bucket = (uint32_t)(slp_hash(&q->mem->hash_key, name) & (SLP_PUT_BUCKETS - 1));
    for (slp_put_key *k = q->buckets[bucket]; k; k = k->next)
      if (slp_str_eq(k->name, name)) return k;
  }
  slp_put_key *k = take_block(q, sizeof *k + name.n);
  if (!k) return NULL;
  *k = (slp_put_key){.name = {k->text, name.n}, .bucket = bucket, .mapped = (uint8_t)shared};
  memcpy(k->text, name.p, name.n);
  slp_list_init(&k->records);
  if (!shared) return k;
  k->next = q->buckets[bucket];
  q->buckets[bucket] = k;
  return k;
}

static int is_inside(slp_str raw, slp_str part) {
  return (uintptr_t)part.p >= (uintptr_t)raw.p && (uintptr_t)part.p + part.n <= (uintptr_t)raw.p + raw.n;
}

/* Copies `part` to *end, and moves *end behind the copy. If `part` lies inside `raw`, does not copy it, but
 * returns the same part of the copy of `raw`. */
static slp_str copy_record_part(slp_put_record *r, char **end, slp_str raw, slp_str part) {
  if (!part.n) return (slp_str){*end, 0};
  if (is_inside(raw, part)) return (slp_str){r->raw.p + (part.p - raw.p), part.n};
  slp_str copy = {*end, part.n};
  memcpy(*end, part.p, part.n);
  *end += part.n;
  return copy;
}

int slp_put_queue_add(slp_put_queue *q, const slp_put_new *n) {
  size_t bytes = sizeof(slp_put_record) + n->raw.n + (is_inside(n->raw, n->data) ? 0 : n->data.n) +
                 (is_inside(n->raw, n->hash_key) ? 0 : n->hash_key.n);
  slp_put_record *r = take_block(q, bytes);
  slp_put_key *k = r ? key_for(q, n->key, !n->random && !q->unordered) : NULL;
  if (!k) {
    give_block(q, r);
    return SLP_ENOMEM;
  }
  char *end = r->text;
  *r = (slp_put_record){
      .of = k, .number = n->number, .input = n->input, .delimited = n->delimited, .together = q->together};
  r->raw = copy_record_part(r, &end, (slp_str){NULL, 0}, n->raw);
  r->data = copy_record_part(r, &end, n->raw, n->data);
  r->hash_key = copy_record_part(r, &end, n->raw, n->hash_key);
  r->key = k->name;
  r->bytes = bytes + sizeof *k + n->key.n;
  if (put_bytes(r) > SLP_PUT_ALONE_BYTES) r->together = 1;
  int is_first = slp_list_empty(&k->records);
  slp_list_add_last(&k->records, &r->link);
  if (is_first) make_ready(q, k);
  q->records++;
  q->bytes += r->bytes;
  return 0;
}

slp_put_record *slp_put_queue_after(const slp_put_key *k, const slp_put_record *r) {
  slp_list *it = r ? r->link.next : k->records.next;
  return it == &k->records ? NULL : record_of(it);
}

void slp_put_queue_take_one(slp_put_queue *q, slp_put_key *k, slp_put_record *r) {
  if (!k->in_calls++) {
    leave_ready(q, k);
    slp_list_add_last(&q->busy, &k->link);
    k->at_us = 0;
  }
  r->more = NULL;
  q->in_calls++;
  q->in_calls_bytes += r->bytes;
}

size_t slp_put_queue_take(slp_put_queue *q, slp_put_record **batch) {
  size_t n = 0, bytes = 0, most = SLP_PUT_BATCH_RECORDS;
  for (slp_list *it; (it = slp_list_first(&q->ready));) {
    slp_put_record *r = record_of(slp_list_first(&key_of(it)->records));
    bytes += put_bytes(r);
    most = slp_min_u64(most, r->together);
    if (n && (n + 1 > most || bytes > SLP_PUT_BATCH_BYTES)) break;
    slp_put_queue_take_one(q, r->of, r);
    batch[n++] = r;
    if (n == most) break;
  }
  return n;
}

/* Counts a record out of its call. If no other record of its key is in a call, takes the key out of `busy`:
 * to `resting` or `ready`, or frees it. */
static void leave_call(slp_put_queue *q, slp_put_key *k, size_t bytes) {
  q->in_calls--;
  q->in_calls_bytes -= bytes;
  if (--k->in_calls) return;
  if (slp_list_empty(&k->records)) {
    free_key(q, k);
    return;
  }
  slp_list_remove(&k->link);
  if (k->at_us)
    slp_list_add_last(&q->resting, &k->link);
  else
    make_ready(q, k);
}

void slp_put_queue_done(slp_put_queue *q, slp_put_record *r) {
  slp_put_key *k = r->of;
  size_t bytes = r->bytes;
  slp_list_remove(&r->link);
  slp_put_record_free(q, r);
  leave_call(q, k, bytes);
}

void slp_put_queue_again(slp_put_queue *q, slp_put_record *r, uint64_t at_us) {
  r->of->at_us = slp_max_u64(r->of->at_us, at_us);
  leave_call(q, r->of, r->bytes);
}

uint64_t slp_put_queue_wake(slp_put_queue *q, uint64_t now_us) {
  uint64_t next_us = UINT64_MAX;
  for (slp_list *it = q->resting.next, *after; it != &q->resting; it = after) {
    slp_put_key *k = key_of(it);
    after = it->next;
    if (k->at_us > now_us) {
      next_us = slp_min_u64(next_us, k->at_us);
      continue;
    }
    slp_list_remove(it);
    make_ready(q, k);
  }
  return next_us;
}

slp_put_record *slp_put_queue_pop(slp_put_queue *q) {
  slp_list *it = slp_list_first(&q->ready);
  if (!it) it = slp_list_first(&q->resting);
  if (!it) return NULL;
  slp_put_key *k = key_of(it);
  if (!slp_list_empty(&q->ready)) leave_ready(q, k);
  slp_put_record *r = record_of(slp_list_pop(&k->records));
  /* r->key points into `k`, which may be freed below. */
  r->key = (slp_str){NULL, 0};
  if (slp_list_empty(&k->records))
    free_key(q, k);
  else if (!slp_list_linked(&k->link))
    make_ready(q, k);
  return r;
}

static void free_keys(slp_put_queue *q, slp_list *keys) {
  for (slp_list *it; (it = slp_list_first(keys));) {
    slp_put_key *k = key_of(it);
    for (slp_list *r; (r = slp_list_pop(&k->records));) slp_put_record_free(q, record_of(r));
    free_key(q, k);
  }
}

void slp_put_queue_free(slp_put_queue *q) {
  free_keys(q, &q->ready);
  free_keys(q, &q->resting);
  free_keys(q, &q->busy);
  free_blocks(q);
  slp_free(q->mem, q->buckets);
  q->buckets = NULL;
}

/* produce_aggregate.c - fills a call with aggregates, key by key, and writes them. */
#include "cli/produce_aggregate.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/num.h"
#include "cli/produce_queue.h"
#include "cli/produce_shards.h"
#include "codec/digest.h"
#include "codec/kpl.h"
#include "codec/kpl_pack.h"
#include "codec/md5_many.h"

int slp_put_aggregates_init(slp_put_aggregates *a, slp_mem *mem) {
  *a = (slp_put_aggregates){.digest = slp_digest_new(mem)};
  slp_put_shards_init(&a->shards, mem);
  slp_buf_init(&a->scratch, mem, 2 * SLP_PUT_AGGREGATE_BYTES);
  return a->digest ? 0 : SLP_ENOMEM;
}

void slp_put_aggregates_free(slp_put_aggregates *a) {
  slp_put_shards_free(&a->shards);
  slp_buf_free(&a->scratch);
  slp_digest_free(a->digest);
  a->digest = NULL;
}

/* ---- hash keys --------------------------------------------------------------------------------------- */
static slp_put_key *key_of(slp_list *it) { return SLP_OWNER(it, slp_put_key, link); }

/* Computes the hash of the key, and with it the hashes of the next keys in q->ready, because computing
 * several at once is cheaper. Returns 0 or SLP_ENOMEM. */
static int hash_keys(slp_put_aggregates *a, const slp_put_queue *q, slp_put_key *k) {
  slp_str names[SLP_MD5_MANY];
  slp_put_key *keys[SLP_MD5_MANY];
  uint8_t hashes[SLP_MD5_MANY][16];
  size_t n = 0;
  if (k->name.n > SLP_MD5_SHORT_MAX) {
    k->has_hash = 1;
    return slp_md5(a->digest, k->name, k->hash);
  }
  for (slp_list *it = &k->link; it != &q->ready && n < SLP_MD5_MANY; it = it->next) {
    slp_put_key *key = key_of(it);
    if (key->has_hash || key->name.n > SLP_MD5_SHORT_MAX) continue;
    names[n] = key->name;
    keys[n++] = key;
  }
  slp_md5_many(names, n, hashes);
  for (size_t i = 0; i < n; i++) {
    memcpy(keys[i]->hash, hashes[i], 16);
    keys[i]->has_hash = 1;
  }
  return 0;
}

/* Writes the hash key that decides on the record's shard. r->of->hash must be computed already. */
static void hash_of(const slp_put_record *r, uint8_t ret[16]) {
  if (!r->hash_key.n || slp_parse_u128(r->hash_key, ret)) memcpy(ret, r->of->hash, 16);
}

int slp_put_all_belong(const slp_put_record *first, const slp_put_shard *shard) {
  uint8_t hash[16];
  for (const slp_put_record *r = first; r; r = r->more) {
    hash_of(r, hash);
    if (!slp_hash_range_has(&shard->range, hash)) return 0;
  }
  return 1;
}

/* ---- filling a call ---------------------------------------------------------------------------------- */
typedef struct entry { /* an entry of the call that is being filled */
  slp_put_record *last;
  size_t bytes, n;
} entry;

typedef struct filling {
  slp_put_aggregates *a;
  slp_put_queue *q;
  slp_put_record **batch;
  entry entries[SLP_PUT_BATCH_RECORDS];
  size_t n, bytes, records, records_max;
} filling;

/* Returns by how many bytes, at most, the record makes its aggregate longer. */
static size_t bytes_inside(const slp_put_record *r) {
  size_t hash_key = r->hash_key.n ? r->hash_key.n + SLP_KPL_PACK_ENTRY_BYTES : 0;
  return r->data.n + SLP_KPL_PACK_RECORD_BYTES + r->key.n + SLP_KPL_PACK_ENTRY_BYTES + hash_key;
}

/* Returns 1 if the record may be in one aggregate with other records. */
static int may_join_others(const slp_put_record *r) {
  return r->together > 1 && bytes_inside(r) + SLP_KPL_PACK_BYTES <= SLP_PUT_AGGREGATE_BYTES;
}

/* Returns 1 if the call has room for the record r, which makes the call longer by `bytes`. */
static int call_has_room(const filling *f, const slp_put_record *r, size_t bytes) {
  size_t most = slp_min_u64(f->records_max, r->together);
  return !f->records || (f->records < most && f->bytes + bytes <= SLP_PUT_BATCH_BYTES);
}

static void count_record(filling *f, entry *e, slp_put_record *r, size_t bytes) {
  slp_put_queue_take_one(f->q, r->of, r);
  e->last = r;
  e->n++;
  e->bytes += bytes;
  f->bytes += bytes;
  f->records++;
  f->records_max = slp_min_u64(f->records_max, r->together);
}

/* Appends the record to an entry. Returns 1, or 0 if the entry or the call is full. */
static int append_to_aggregate(filling *f, entry *e, slp_put_record *r) {
  size_t bytes = bytes_inside(r);
  if (e->n == SLP_PUT_AGGREGATE_RECORDS || e->bytes + bytes > SLP_PUT_AGGREGATE_BYTES ||
      !call_has_room(f, r, bytes))
    return 0;
  e->last->more = r;
  count_record(f, e, r, bytes);
  return 1;
}

/* Begins a new entry with the record. Returns the entry, or NULL if the call is full. */
static entry *begin_entry(filling *f, slp_put_record *r) {
  size_t bytes = bytes_inside(r) + r->key.n + SLP_KPL_PACK_BYTES;
  if (f->n == SLP_PUT_BATCH_RECORDS || !call_has_room(f, r, bytes)) return NULL;
  entry *e = &f->entries[f->n];
  *e = (entry){.n = 0};
  f->batch[f->n++] = r;
  count_record(f, e, r, bytes);
  return e;
}

static slp_put_shard *shard_of(const filling *f, const slp_put_record *r) {
  uint8_t hash[16];
  hash_of(r, hash);
  return slp_put_shards_at(&f->a->shards, hash);
}

/* Takes the first record of a key. Appends it to the aggregate of its shard that is being filled, or begins a
 * new entry. Returns the entry; NULL: the call is full. */
static entry *take_first(filling *f, slp_put_record *r, slp_put_shard *shard) {
  if (!shard || !may_join_others(r)) return begin_entry(f, r);
  if (shard->call == f->a->call && append_to_aggregate(f, &f->entries[shard->entry], r))
    return &f->entries[shard->entry];
  entry *e = begin_entry(f, r);
  if (!e) return NULL;
  shard->call = f->a->call;
  shard->entry = f->n - 1;
  return e;
}

/* Takes records of the key, as many as fit into one entry. Returns 0 if the call is full. */
static int take_key(filling *f, slp_put_key *k) {
  slp_put_record *r = slp_put_queue_after(k, NULL);
  slp_put_shard *shard = shard_of(f, r);
  /* placed: 1 if a hash key, and not the partition key, decides on the shard */
  int joins = shard && may_join_others(r), placed = r->hash_key.n != 0;
  entry *e = take_first(f, r, shard);
  if (!e) return 0;
  while (joins && (r = slp_put_queue_after(k, r)) && may_join_others(r))
    if (((placed || r->hash_key.n) && shard_of(f, r) != shard) || !append_to_aggregate(f, e, r)) break;
  return 1;
}

int slp_put_aggregates_take(slp_put_aggregates *a, slp_put_queue *q, slp_put_record **batch, size_t *ret_n) {
  filling f;
  f.a = a;
  f.q = q;
  f.batch = batch;
  f.n = f.bytes = f.records = 0;
  f.records_max = q->together;
  a->call++;
  int r = 0;
  for (slp_list *it; !r && (it = slp_list_first(&q->ready));) {
    slp_put_key *k = key_of(it);
    if (!k->has_hash) r = hash_keys(a, q, k);
    if (r || !take_key(&f, k)) break;
  }
  *ret_n = f.n;
  return r;
}

/* ---- writing ----------------------------------------------------------------------------------------- */
/* Returns 1 if `text`, a key of a record, is equal to that of the record before. Both records then share one
 * entry of the aggregate's table of keys. */
static int is_same(const slp_put_record *before, slp_str text_before, slp_str text) {
  return before && (text_before.p == text.p || slp_str_eq(text_before, text)) && text_before.n == text.n;
}

static void pack_keys(slp_buf *b, const slp_put_record *first) {
  const slp_put_record *before = NULL;
  for (const slp_put_record *r = first; r; before = r, r = r->more)
    if (!is_same(before, before ? before->key : r->key, r->key)) slp_kpl_pack_key(b, r->key);
}

static void pack_hash_keys(slp_buf *b, const slp_put_record *first) {
  for (const slp_put_record *r = first; r; r = r->more)
    if (r->hash_key.n) slp_kpl_pack_hash(b, r->hash_key);
}

static void pack_records(slp_buf *b, const slp_put_record *first) {
  uint32_t key = 0;
  int64_t hash_key = 0;
  const slp_put_record *before = NULL;
  for (const slp_put_record *r = first; r; before = r, r = r->more) {
    key += before && !is_same(before, before->key, r->key);
    slp_kpl_pack_record(b, key, r->hash_key.n ? hash_key++ : -1, r->data);
  }
}

slp_str slp_put_aggregates_pack(slp_put_aggregates *a, const slp_put_record *first) {
  slp_buf *b = &a->scratch;
  slp_buf_clear(b);
  size_t from = slp_kpl_pack_begin(b);
  pack_keys(b, first);
  pack_hash_keys(b, first);
  pack_records(b, first);
  return slp_kpl_pack_end(b, from, a->digest) ? (slp_str){NULL, 0} : slp_buf_str(b);
}

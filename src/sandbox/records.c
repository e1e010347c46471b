/* records.c - puts and keeps records: which shard a record goes to, limits for each second, storage,
 * retention. */
#include "sandbox/model.h"

#include <stdio.h>

#define SECOND_MS 1000

/* ---- limits for each second ------------------------------------------------------------------------
 *
 * A second begins with the first call after the last second has ended. If a call takes more bytes than the
 * limit, the second is prolonged until the limit would allow these bytes. For example, after a page of 10 MiB
 * at 2 MiB a second, calls fail for 5 s from the page's start. The service documents the same. */
int slp_box_window_open(slp_box_window *w, int64_t now_ms, uint64_t calls_limit, uint64_t bytes_limit) {
  if (now_ms >= w->until_ms || now_ms < w->from_ms) {
    *w = (slp_box_window){.from_ms = now_ms, .until_ms = now_ms + SECOND_MS};
  }
  if (calls_limit && w->calls >= calls_limit) return 0;
  return !bytes_limit || w->bytes < bytes_limit;
}

void slp_box_window_take(slp_box_window *w, uint64_t bytes, uint64_t bytes_limit) {
  w->calls++;
  w->bytes += bytes;
  if (bytes_limit && w->bytes > bytes_limit) {
    int64_t until_ms = w->from_ms + (int64_t)(w->bytes * SECOND_MS / bytes_limit);
    w->until_ms = slp_max_i64(w->until_ms, until_ms);
  }
}

/* ---- reading records ------------------------------------------------------------------------------- */
uint64_t slp_box_end(const slp_box_shard *sh, int64_t now_ms) {
  if (!sh->stream->synthetic || !slp_box_shard_open(sh)) return sh->next;
  return slp_max_u64(slp_synthetic_there(sh, now_ms) + 1, sh->first);
}

static slp_box_record *stored(const slp_box_shard *sh, uint64_t counter) {
  SLP_CHECK(counter >= sh->first && counter < sh->next);
  return &sh->recs[sh->head + (size_t)(counter - sh->first)];
}

int64_t slp_box_arrived_ms(const slp_box_shard *sh, uint64_t counter) {
  return sh->stream->synthetic ? slp_synthetic_arrived_ms(sh, counter) : stored(sh, counter)->arrived_ms;
}

int slp_box_view_get(slp_box *box, slp_box_shard *sh, uint64_t counter, slp_box_view *ret) {
  ret->arrived_ms = slp_box_arrived_ms(sh, counter);
  ret->seq = (slp_box_seq){.create_s = sh->create_s,
                           .shard = sh->index,
                           .counter = counter,
                           .arrive_s = (uint64_t)slp_max_i64(ret->arrived_ms / 1000, 0)};
  if (sh->stream->synthetic) {
    size_t n = sh->stream->record_bytes;
    slp_buf_clear(&box->scratch);
    int r = slp_buf_reserve(&box->scratch, n);
    if (r) return r;
    slp_synthetic_payload(sh, counter, box->scratch.p, n);
    ret->key = slp_str_of(sh->synthetic_key);
    ret->data = (slp_str){box->scratch.p, n};
    return 0;
  }
  const slp_box_record *rec = stored(sh, counter);
  ret->key = (slp_str){rec->keyless ? NULL : rec->bytes, rec->key_n};
  ret->data = (slp_str){rec->bytes + rec->key_n, rec->data_n};
  return 0;
}

/* A binary search, because arrival times never decrease within a shard. */
uint64_t slp_box_first_at(const slp_box_shard *sh, int64_t now_ms, int64_t at_ms) {
  uint64_t low = sh->first, high = slp_box_end(sh, now_ms);
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (slp_box_arrived_ms(sh, middle) < at_ms)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- retention ------------------------------------------------------------------------------------- */
int64_t slp_box_horizon_ms(const slp_stream *s, int64_t now_ms) {
  return slp_max_i64(slp_max_i64(s->created_ms, s->trimmed_ms), now_ms - s->retention_ms);
}

void slp_box_records_free(slp_box *box, slp_box_shard *sh) {
  for (size_t i = sh->head; i < sh->recs_n; i++) slp_free(box->mem, sh->recs[i].bytes);
  slp_free(box->mem, sh->recs);
  sh->recs = NULL;
  sh->head = sh->recs_n = sh->recs_cap = 0;
}

static void drop_before(slp_box *box, slp_box_shard *sh, uint64_t first) {
  if (!sh->stream->synthetic) {
    for (uint64_t i = sh->first; i < first; i++) slp_free(box->mem, sh->recs[sh->head++].bytes);
    if (sh->head > 64 && sh->head > sh->recs_n / 2) {
      memmove(sh->recs, sh->recs + sh->head, (sh->recs_n - sh->head) * sizeof *sh->recs);
      sh->recs_n -= sh->head;
      sh->head = 0;
    }
  }
  sh->first = first;
}

void slp_box_sweep(slp_box *box, slp_stream *s, int64_t now_ms) {
  if (s->swept_ms != INT64_MIN && now_ms / SECOND_MS <= s->swept_ms / SECOND_MS) return;
  int64_t horizon_ms = slp_box_horizon_ms(s, now_ms);
  s->swept_ms = now_ms;
  if (horizon_ms == s->created_ms) return; /* no record can be older than the stream */
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_box_shard *sh = s->shards[i];
    if (sh->gone) continue;
    uint64_t end = slp_box_end(sh, now_ms), first = sh->first;
    if (first < end && slp_box_arrived_ms(sh, first) < horizon_ms) {
      first = slp_box_first_at(sh, now_ms, horizon_ms);
      drop_before(box, sh, first);
    }
    if (!slp_box_shard_open(sh) && first == end && sh->closed_ms <= horizon_ms) {
      sh->gone = 1;
      slp_box_records_free(box, sh);
    }
  }
}

/* ---- storing records -------------------------------------------------------------------------------- */
static int room_for_one(slp_box *box, slp_box_shard *sh) {
  if (sh->recs_n < sh->recs_cap) return 0;
  slp_box_record *recs = slp_doubled(box->mem, sh->recs, &sh->recs_cap, 64, sizeof *recs);
  if (!recs) return SLP_ENOMEM;
  sh->recs = recs;
  return 0;
}

int slp_box_store(slp_box *box, slp_box_shard *sh, int64_t now_ms, slp_str key, slp_str data,
                  slp_box_seq *ret_seq) {
  int r = room_for_one(box, sh);
  if (r) return r;
  /* + 1: a record with neither key nor data needs an address too */
  char *bytes = slp_alloc(box->mem, key.n + data.n + 1);
  if (!bytes) return SLP_ENOMEM;
  if (key.n) memcpy(bytes, key.p, key.n);
  if (data.n) memcpy(bytes + key.n, data.p, data.n);
  int64_t arrived_ms = slp_max_i64(now_ms, sh->last_arrived_ms);
  sh->recs[sh->recs_n++] = (slp_box_record){.arrived_ms = arrived_ms,
                                            .bytes = bytes,
                                            .key_n = (uint32_t)key.n,
                                            .data_n = (uint32_t)data.n,
                                            .keyless = !key.p};
  sh->last_arrived_ms = arrived_ms;
  *ret_seq = (slp_box_seq){.create_s = sh->create_s,
                           .shard = sh->index,
                           .counter = sh->next++,
                           .arrive_s = (uint64_t)slp_max_i64(arrived_ms / 1000, 0)};
  box->stats.records_in++;
  slp_push_news(box, sh);
  return 0;
}

int slp_box_hash_of(slp_box *box, slp_str key, slp_u128 *ret) {
  uint8_t md5[16];
  int r = slp_md5(box->digest, key, md5);
  *ret = 0;
  for (int i = 0; !r && i < 16; i++) *ret = *ret << 8 | md5[i];
  return r;
}

slp_box_shard *slp_box_next_in_turn(const slp_stream *s) {
  return slp_box_open_shard(s, s->spread_next % slp_box_open_shards(s));
}

/* Finds the shard for a record. Returns -1 if the explicit hash key is not valid; the call has then
 * failed. */
static int route(slp_box_call *c, slp_stream *s, slp_str key, slp_value *explicit_hash, slp_box_shard **ret) {
  slp_u128 hash;
  if (s->spreads) {
    *ret = slp_box_next_in_turn(s);
    return 0;
  }
  if (explicit_hash) {
    if (slp_box_hash_parse(explicit_hash->text, &hash)) {
      return slp_box_fail(
          c, "InvalidArgumentException",
          "Invalid ExplicitHashKey. ExplicitHashKey must be in the range: [0, 2^128-1]. Specified "
          "value was %.*s",
          (int)slp_min_u64(explicit_hash->text.n, 129), explicit_hash->text.p);
    }
  } else if (slp_box_hash_of(c->box, key, &hash)) {
    return slp_box_no_memory(c);
  }
  *ret = slp_box_shard_for(s, hash);
  SLP_CHECK(*ret != NULL);
  return 0;
}

/* Finds the stream of a put. A stream that is being created does not exist for writers. */
static slp_stream *writable(slp_box_call *c) {
  slp_stream *s = slp_box_stream_of(c);
  if (!s) return NULL;
  if (s->status != SLP_BOX_ACTIVE && s->status != SLP_BOX_UPDATING) {
    slp_box_fail(c, "ResourceNotFoundException", "Stream %s under account " SLP_BOX_ACCOUNT " not found.",
                 s->name);
    return NULL;
  }
  if (s->synthetic) {
    slp_box_fail(c, "InvalidArgumentException", "Stream %s is synthetic: its records are computed.", s->name);
    return NULL;
  }
  return s;
}

typedef struct put {
  slp_str key, data;
  slp_value *explicit_hash;
  slp_box_shard *shard;
} put;

/* Reads one record of a put. `where`: the path of the record in the request, for messages. */
static int read_put(slp_box_call *c, slp_stream *s, uint32_t node, const char *where, put *ret) {
  const slp_value *key = slp_box_tree_get(c->in, node, "PartitionKey");
  if (!key && !s->spreads)
    return slp_box_fail(c, "ValidationException",
                        "1 validation error detected: Value null at '%spartitionKey' failed to satisfy "
                        "constraint: Member must not be null",
                        where);
  *ret = (put){.key = key ? key->text : (slp_str){NULL, 0},
               .data = slp_box_tree_get(c->in, node, "Data")->text,
               .explicit_hash = slp_box_tree_get(c->in, node, "ExplicitHashKey")};
  if (ret->data.n + ret->key.n > (uint64_t)s->record_kib_max * 1024 + 256) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "Record of %zu bytes is larger than the maximum record size of %u KiB of stream %s.",
                        ret->data.n, s->record_kib_max, s->name);
  }
  return route(c, s, ret->key, ret->explicit_hash, &ret->shard);
}

static int store(slp_box_call *c, const put *p, slp_box_seq *ret) {
  int r = slp_box_store(c->box, p->shard, c->now_ms, p->key, p->data, ret);
  if (r) return r;
  slp_box_window_take(&p->shard->writes, p->key.n + p->data.n, c->box->o.write_bytes_per_second);
  p->shard->stream->spread_next++;
  return 0;
}

static int may_write(slp_box_call *c, const put *p) {
  const sloop_sandbox_opts_t *o = &c->box->o;
  SLP_CHECK(p->shard != NULL);
  slp_box_window *w = &p->shard->writes;
  uint64_t bytes = p->key.n + p->data.n, limit = o->write_bytes_per_second;
  if (!slp_box_window_open(w, c->now_ms, o->write_records_per_second, limit)) return 0;
  /* w->bytes == 0: a record larger than the limit of a second is accepted if it is the first of its
   * second. */
  return !limit || w->bytes == 0 || w->bytes + bytes <= limit;
}

static void put_too_fast(const slp_box_shard *sh, char out[256]) {
  snprintf(out, 256, "Rate exceeded for shard %s in stream %.128s under account " SLP_BOX_ACCOUNT ".", sh->id,
           sh->stream->name);
}

int slp_box_op_put(slp_box_call *c) {
  slp_box_seq seq;
  char text[SLP_BOX_SEQ_TEXT], message[256];
  put p = {.shard = NULL};
  slp_stream *s = writable(c);
  if (!s || read_put(c, s, 0, "", &p)) return -1;
  slp_str after = slp_box_text(c, "SequenceNumberForOrdering");
  if (after.p && slp_box_seq_parse(after, &seq)) {
    return slp_box_fail(c, "InvalidArgumentException", "SequenceNumberForOrdering %.*s is not valid.",
                        (int)after.n, after.p);
  }
  if (!may_write(c, &p)) {
    put_too_fast(p.shard, message);
    return slp_box_fail(c, "ProvisionedThroughputExceededException", "%s", message);
  }
  if (slp_box_dry_run(c)) return -1;
  if (store(c, &p, &seq)) return slp_box_no_memory(c);
  slp_box_seq_text(&seq, text);
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "ShardId", p.shard->id);
  slp_out_put_z(&c->out, "SequenceNumber", text);
  slp_out_end(&c->out);
  return 0;
}

static void put_entry(slp_box_call *c, const put *p, uint32_t *failed) {
  slp_box_seq seq;
  char text[SLP_BOX_SEQ_TEXT], message[256];
  slp_out_map(&c->out);
  if (!may_write(c, p)) {
    put_too_fast(p->shard, message);
    p->shard->stream->spread_next++;
    slp_out_put_z(&c->out, "ErrorCode", "ProvisionedThroughputExceededException");
    slp_out_put_z(&c->out, "ErrorMessage", message);
    ++*failed;
  } else if (store(c, p, &seq)) {
    slp_out_put_z(&c->out, "ErrorCode", "InternalFailure");
    slp_out_put_z(&c->out, "ErrorMessage", "Internal Service Failure");
    ++*failed;
  } else {
    slp_box_seq_text(&seq, text);
    slp_out_put_z(&c->out, "SequenceNumber", text);
    slp_out_put_z(&c->out, "ShardId", p->shard->id);
  }
  slp_out_end(&c->out);
}

int slp_box_op_put_many(slp_box_call *c) {
  slp_stream *s = writable(c);
  if (!s) return -1;
  slp_value *list = slp_box_tree_get(c->in, 0, "Records");
  uint64_t bytes = 0;
  uint32_t failed = 0, number = 0;
  put p = {.shard = NULL};
  for (uint32_t i = list->child; i; i = c->in->v[i].next) { /* check all records before storing any */
    char where[40];
    snprintf(where, sizeof where, "records.%u.member.", ++number);
    if (read_put(c, s, i, where, &p)) return -1;
    bytes += p.key.n + p.data.n;
  }
  if (bytes > SLP_BOX_PAGE_BYTES) {
    return slp_box_fail(c, "InvalidArgumentException",
                        "Records size exceeds 10 MB limit: the request holds %llu bytes.",
                        (unsigned long long)bytes);
  }
  if (slp_box_dry_run(c)) return -1;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Records");
  slp_out_list(&c->out);
  for (uint32_t i = list->child; i; i = c->in->v[i].next) {
    if (read_put(c, s, i, "", &p)) return -1;
    put_entry(c, &p, &failed);
  }
  slp_out_end(&c->out);
  slp_out_put_i64(&c->out, "FailedRecordCount", failed);
  slp_out_end(&c->out);
  return 0;
}

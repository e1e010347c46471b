/* put_records.c - PutRecord and PutRecords: which shard a record goes to, and the limits for each second. */
#include "sandbox/model.h"

#include "base/u128.h"
#include "sandbox/value.h"

#include <sloop_sandbox.h>
#include <stdio.h>

slp_box_shard *slp_box_next_in_turn(const slp_stream *s) {
  return slp_box_open_shard(s, s->spread_next % slp_box_open_shards(s));
}

/* Finds the shard for a record. Returns -1 if the explicit hash key is not valid; the call has then
 * failed. */
static int find_shard_of_record(slp_box_call *c, slp_stream *s, slp_str key, slp_value *explicit_hash,
                                slp_box_shard **ret) {
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
static slp_stream *find_writable_stream(slp_box_call *c) {
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
  return find_shard_of_record(c, s, ret->key, ret->explicit_hash, &ret->shard);
}

static int store_put_record(slp_box_call *c, const put *p, slp_box_seq *ret) {
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
  /* w->bytes == 0: the first record of a second is accepted even if it alone exceeds the limit */
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
  slp_stream *s = find_writable_stream(c);
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
  if (store_put_record(c, &p, &seq)) return slp_box_no_memory(c);
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
  } else if (store_put_record(c, p, &seq)) {
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
  slp_stream *s = find_writable_stream(c);
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

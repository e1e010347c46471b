/* stream_find.c - finds streams and shards, and writes what answers say of them: ARN, status, hash range,
 * sequence numbers. */
#include "base/list.h"
#include "base/u128.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

const char *slp_box_status_name(slp_box_status status) {
  switch (status) {
    case SLP_BOX_CREATING: return "CREATING";
    case SLP_BOX_ACTIVE: return "ACTIVE";
    case SLP_BOX_UPDATING: return "UPDATING";
    case SLP_BOX_DELETING: return "DELETING";
  }
  return "?";
}

slp_stream *slp_box_find(slp_box *box, slp_str name) {
  SLP_LIST_EACH(&box->streams, it) {
    slp_stream *s = SLP_OWNER(it, slp_stream, link);
    if (slp_str_is(name, s->name)) return s;
  }
  return NULL;
}

/* Returns NAME of arn:aws:kinesis:REGION:ACCOUNT:stream/NAME. {NULL, 0}: the ARN is not of this form. */
static slp_str name_in_arn(slp_str arn) {
  static const char mark[] = ":stream/";
  for (size_t i = 0; i + sizeof mark - 1 < arn.n; i++) {
    if (memcmp(arn.p + i, mark, sizeof mark - 1) != 0) continue;
    size_t skip = i + sizeof mark - 1;
    return (slp_str){arn.p + skip, arn.n - skip};
  }
  return (slp_str){NULL, 0};
}

slp_stream *slp_box_stream_of(slp_box_call *c) {
  slp_str name = slp_box_text(c, "StreamName"), arn = slp_box_text(c, "StreamARN");
  if (arn.p) {
    slp_str from_arn = name_in_arn(arn);
    if (!from_arn.p || (name.p && !slp_str_eq(name, from_arn))) {
      slp_box_fail(c, "InvalidArgumentException", "StreamARN %.*s is not the ARN of a stream of that name.",
                   (int)slp_min_u64(arn.n, 300), arn.p);
      return NULL;
    }
    name = from_arn;
  }
  if (!name.p) {
    slp_box_fail(c, "InvalidArgumentException", "Either StreamName or StreamARN must be specified.");
    return NULL;
  }
  slp_stream *s = slp_box_find(c->box, name);
  if (!s) {
    slp_box_fail(c, "ResourceNotFoundException", "Stream %.*s under account " SLP_BOX_ACCOUNT " not found.",
                 (int)slp_min_u64(name.n, 300), name.p);
    return NULL;
  }
  slp_box_sweep(c->box, s, c->now_ms);
  return s;
}

slp_stream *slp_box_find_uid(slp_box *box, uint64_t uid) {
  SLP_LIST_EACH(&box->streams, it) {
    slp_stream *s = SLP_OWNER(it, slp_stream, link);
    if (s->uid == uid) return s;
  }
  return NULL;
}

/* Returns the index in an id, such as 12 for "shardId-000000000012". -1: the id does not have this form. */
static int64_t index_in_id(slp_str id) {
  static const char prefix[] = "shardId-";
  uint64_t v = 0;
  if (id.n != sizeof prefix - 1 + 12 || memcmp(id.p, prefix, sizeof prefix - 1) != 0) return -1;
  for (size_t i = sizeof prefix - 1; i < id.n; i++) {
    if (id.p[i] < '0' || id.p[i] > '9') return -1;
    v = v * 10 + (uint64_t)(id.p[i] - '0');
  }
  return (int64_t)v;
}

slp_box_shard *slp_box_shard_by_id(const slp_stream *s, slp_str id) {
  int64_t index = index_in_id(id);
  if (index < 0 || index >= (int64_t)s->shards_n || s->shards[index]->gone) return NULL;
  return s->shards[index];
}

slp_box_shard *slp_box_shard_for(slp_stream *s, slp_u128 hash) {
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_box_shard *sh = s->shards[i];
    if (slp_box_shard_open(sh) && slp_u128_within(hash, sh->hash_start, sh->hash_end)) return sh;
  }
  return NULL;
}

slp_box_shard *slp_box_open_shard(const slp_stream *s, uint32_t n) {
  for (uint32_t i = 0; i < s->shards_n; i++)
    if (slp_box_shard_open(s->shards[i]) && n-- == 0) return s->shards[i];
  SLP_CHECK(!"there are so many");
  return NULL;
}

uint32_t slp_box_open_shards(const slp_stream *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->shards_n; i++) n += (uint32_t)slp_box_shard_open(s->shards[i]);
  return n;
}

void slp_box_shard_start(const slp_box_shard *sh, char out[SLP_BOX_SEQ_TEXT]) {
  slp_box_seq seq = {.create_s = sh->create_s, .shard = sh->index, .arrive_s = sh->create_s};
  slp_box_seq_text(&seq, out);
}

void slp_box_shard_end(const slp_box_shard *sh, char out[SLP_BOX_SEQ_TEXT]) {
  slp_box_seq seq = {.create_s = sh->create_s,
                     .shard = sh->index,
                     .counter = SLP_BOX_SEQ_END,
                     .arrive_s = (uint64_t)(sh->closed_ms / 1000)};
  slp_box_seq_text(&seq, out);
}

static void put_arn_of(slp_box_call *c, const slp_stream *s, const char *region) {
  char arn[256];
  snprintf(arn, sizeof arn, "arn:aws:kinesis:%s:" SLP_BOX_ACCOUNT ":stream/%s", region, s->name);
  slp_out_text(&c->out, slp_str_of(arn));
}

void slp_box_put_arn(slp_box_call *c, const slp_stream *s) { put_arn_of(c, s, c->region); }

void slp_box_put_hash_range(slp_box_call *c, const slp_box_shard *sh) {
  char text[40];
  slp_out_key(&c->out, "HashKeyRange");
  slp_out_map(&c->out);
  slp_u128_text(sh->hash_start, text);
  slp_out_put_z(&c->out, "StartingHashKey", text);
  slp_u128_text(sh->hash_end, text);
  slp_out_put_z(&c->out, "EndingHashKey", text);
  slp_out_end(&c->out);
}

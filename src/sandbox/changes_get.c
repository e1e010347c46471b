/* changes_get.c - GetRecords of DynamoDB Streams: limits, the page, and the end of a shard. */
#include "base/buf.h"
#include "codec/digest.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <sloop_sandbox.h>

#define READER_MS 1000 /* a reader counts as active for this time after its last call */

/* ---- the iterator of a request, and whether it may be used ----------------------------------------- */
static int refuse_expired_iterator(slp_box_call *c, const slp_box_mark *m) {
  char then[64], now[64];
  if (c->now_ms - m->issued_ms <= (int64_t)c->box->o.change_iterator_ms) return 0;
  slp_box_when(m->issued_ms, then);
  slp_box_when(c->now_ms, now);
  return slp_box_fail(c, "ExpiredIteratorException",
                      "Iterator expired. The iterator was created at time %s while right now it is %s.", then,
                      now);
}

static slp_change_shard *shard_of(slp_box_call *c, slp_box_mark *m) {
  if (slp_changes_mark_read(c->box, slp_box_text(c, "ShardIterator"), m)) {
    slp_box_fail(c, "ValidationException", "Invalid ShardIterator");
    return NULL;
  }
  if (refuse_expired_iterator(c, m)) return NULL;
  slp_changes *s = slp_changes_find_uid(c->box, m->stream_uid);
  if (!s) {
    slp_box_fail(c, "ResourceNotFoundException", "Requested resource not found: the stream of this iterator");
    return NULL;
  }
  slp_change_shard *sh = m->shard < s->shards_n ? s->shards[m->shard] : NULL;
  if (!sh || m->counter < sh->first) {
    slp_box_fail(c, "TrimmedDataAccessException",
                 "The operation attempted to read past the oldest stream record in a shard.");
    return NULL;
  }
  return sh;
}

/* Admits a reader if fewer than readers_max other readers have read within the last second. A refused reader
 * does not count as a reader. */
static int let_in(slp_change_shard *sh, uint16_t id, int64_t now_ms, uint32_t readers_max) {
  uint32_t others = 0, place = SLP_CHANGE_READERS, oldest = 0;
  for (uint32_t i = 0; i < SLP_CHANGE_READERS; i++) {
    int64_t last_ms = sh->readers[i].last_ms;
    if (last_ms && sh->readers[i].id == id)
      place = i;
    else
      others += last_ms > now_ms - READER_MS;
    if (last_ms < sh->readers[oldest].last_ms) oldest = i;
  }
  if (readers_max && others >= readers_max) return 0;
  if (place == SLP_CHANGE_READERS) place = oldest;
  sh->readers[place].id = id;
  sh->readers[place].last_ms = now_ms;
  return 1;
}

static int too_many(slp_box_call *c, slp_change_shard *sh, const slp_box_mark *m) {
  const sloop_sandbox_opts_t *o = &c->box->o;
  slp_box_window_open(&sh->asked, c->now_ms, 0, 0);
  slp_box_window_take(&sh->asked, 0, 0);
  sh->asked_max = slp_max_u64(sh->asked_max, sh->asked.calls);
  if (!let_in(sh, m->reader, c->now_ms, o->change_readers_max)) {
    return slp_box_fail(c, "LimitExceededException", "More than %u readers of shard %s within a second.",
                        o->change_readers_max, sh->id);
  }
  if (!slp_box_window_open(&sh->reads, c->now_ms, o->change_reads_per_second, 0)) {
    return slp_box_fail(c, "ThrottlingException", "Rate of reads of shard %s exceeded: %u a second.", sh->id,
                        o->change_reads_per_second);
  }
  slp_box_window_take(&sh->reads, 0, 0);
  return 0;
}

/* ---- the page -------------------------------------------------------------------------------------- */
static uint64_t page_size(const slp_change_shard *sh, uint64_t from, int64_t limit) {
  uint64_t n = 0, bytes = 0;
  for (; n < (uint64_t)limit && from + n < sh->next; n++) {
    bytes += slp_change_at(sh, from + n)->size;
    if (n > 0 && bytes > SLP_CHANGE_PAGE_BYTES) break;
  }
  return n;
}

static void put_part(slp_box_call *c, const char *name, const char *p, uint32_t n) {
  if (n == 0) return;
  slp_out_key(&c->out, name);
  slp_out_raw(&c->out, (slp_str){p, n});
}

static void put_change(slp_box_call *c, const slp_change_shard *sh, uint64_t place, int foreign) {
  const slp_change *r = slp_change_at(sh, place);
  char number[SLP_CHANGE_NUMBER_TEXT], id[33];
  /* foreign 1, for a fault: a sequence number that belongs to no shard, far beyond the numbers of this shard
   * and its relatives */
  slp_change_text(sh, foreign ? place + (UINT64_C(1) << 40) : place, number);
  slp_hex(id, r->id, sizeof r->id);
  id[32] = 0;
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "eventID", id);
  slp_out_put_z(&c->out, "eventName", !r->has_old ? "INSERT" : r->has_new ? "MODIFY" : "REMOVE");
  slp_out_put_z(&c->out, "eventVersion", "1.1");
  slp_out_put_z(&c->out, "eventSource", "aws:dynamodb");
  slp_out_put_z(&c->out, "awsRegion", c->region);
  slp_out_key(&c->out, "dynamodb");
  slp_out_map(&c->out);
  slp_out_key(&c->out, "ApproximateCreationDateTime");
  slp_out_time(&c->out, slp_change_stamp_ms(r));
  put_part(c, "Keys", r->bytes, r->keys_n);
  put_part(c, "NewImage", r->bytes + r->keys_n + r->old_n, r->new_n);
  put_part(c, "OldImage", r->bytes + r->keys_n, r->old_n);
  slp_out_put_z(&c->out, "SequenceNumber", number);
  slp_out_put_i64(&c->out, "SizeBytes", r->size);
  slp_out_put_z(&c->out, "StreamViewType", slp_changes_view_name(sh->stream->view));
  slp_out_end(&c->out);
  if (r->by_ttl) {
    slp_out_key(&c->out, "userIdentity");
    slp_out_map(&c->out);
    slp_out_put_z(&c->out, "PrincipalId", "dynamodb.amazonaws.com");
    slp_out_put_z(&c->out, "Type", "Service");
    slp_out_end(&c->out);
  }
  slp_out_end(&c->out);
}

static void put_changes(slp_box_call *c, const slp_change_shard *sh, uint64_t from, uint64_t n) {
  slp_out_key(&c->out, "Records");
  slp_out_list(&c->out);
  if (n && c->shape == SLP_FAULT_REPEAT) put_change(c, sh, from, 0);
  for (uint64_t i = 0; i < n && !slp_out_failed(&c->out); i++) {
    uint64_t place = c->shape == SLP_FAULT_BACKWARDS ? from + n - 1 - i : from + i;
    put_change(c, sh, place, i == 0 && c->shape == SLP_FAULT_FOREIGN);
  }
  slp_out_end(&c->out);
}

static int put_next(slp_box_call *c, const slp_changes *s, const slp_box_mark *m) {
  slp_buf_clear(&c->box->scratch);
  if (slp_changes_mark_write(c, s, m, &c->box->scratch)) return slp_box_no_memory(c);
  slp_out_key(&c->out, "NextShardIterator");
  slp_out_text(&c->out, slp_buf_str(&c->box->scratch));
  return 0;
}

int slp_changes_op_get(slp_box_call *c) {
  slp_box_mark m;
  slp_change_shard *sh = shard_of(c, &m);
  if (!sh || too_many(c, sh, &m)) return -1;
  slp_changes *s = sh->stream;
  slp_fault_action shape = c->shape;
  uint64_t from = slp_min_u64(m.counter, sh->next);
  uint64_t n = page_size(sh, from, slp_box_int(c, "Limit", SLP_CHANGE_PAGE_RECORDS));
  int held_back = m.filter > 0 || shape == SLP_FAULT_EMPTY || shape == SLP_FAULT_EMPTY_OBJECT;
  if (held_back) n = 0;
  int ends = !slp_change_open(sh) && from + n == sh->next && !held_back;
  c->fault_used = shape != SLP_FAULT_NONE;
  slp_out_map(&c->out);
  if (shape != SLP_FAULT_EMPTY_OBJECT) {
    put_changes(c, sh, from, n);
    m.filter = m.filter > 0 ? (uint8_t)(m.filter - 1)
               : n          ? (uint8_t)slp_min_u64(s->quirks.empty_gets, UINT8_MAX)
                            : 0;
    m.counter = from + n;
    m.issued_ms = c->now_ms;
    if (!ends && shape != SLP_FAULT_NO_NEXT && put_next(c, s, &m)) return -1;
  }
  slp_out_end(&c->out);
  c->box->stats.records_out += n;
  return 0;
}

int slp_changes_shape_fits(slp_box_call *c, slp_fault_action action) {
  slp_box_mark m;
  slp_value *text = slp_box_tree_get(c->in, 0, "ShardIterator");
  if (!text || slp_changes_mark_read(c->box, text->text, &m)) return 0;
  slp_changes *s = slp_changes_find_uid(c->box, m.stream_uid);
  slp_change_shard *sh = s && m.shard < s->shards_n ? s->shards[m.shard] : NULL;
  if (!sh || m.counter < sh->first) return 0;
  int64_t limit = slp_box_int(c, "Limit", SLP_CHANGE_PAGE_RECORDS);
  uint64_t n = limit < 1 || m.filter ? 0 : page_size(sh, slp_min_u64(m.counter, sh->next), limit);
  switch (action) {
    case SLP_FAULT_NO_NEXT:
    case SLP_FAULT_EMPTY:
    case SLP_FAULT_EMPTY_OBJECT: return 1;
    case SLP_FAULT_REPEAT:
    case SLP_FAULT_FOREIGN: return n >= 1;
    case SLP_FAULT_BACKWARDS: return n >= 2;
    default: return 0; /* a fault of any other kind can't change anything in a page of DynamoDB Streams */
  }
}

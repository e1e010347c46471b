/* get_records.c - GetRecords of Kinesis: its limits, the records of a page, MillisBehindLatest, and the end
 * of a shard. */
#include "base/num.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <sloop_sandbox.h>

/* Returns the shard of an iterator. NULL: the iterator is bad or expired, or the shard is gone; the call has
 * failed. */
static slp_box_shard *shard_of(slp_box_call *c, slp_str text, slp_box_mark *m) {
  if (slp_box_mark_read(c->box, text, 'i', m)) {
    slp_box_fail(c, "InvalidArgumentException", "Invalid ShardIterator.");
    return NULL;
  }
  if (c->now_ms - m->issued_ms > c->box->o.iterator_ms) {
    char then[64], now[64];
    slp_box_when(m->issued_ms, then);
    slp_box_when(c->now_ms, now);
    slp_box_fail(
        c, "ExpiredIteratorException",
        "Iterator expired. The iterator was created at time %s while right now it is %s which is further "
        "in the future than the tolerated delay of %u milliseconds.",
        then, now, c->box->o.iterator_ms);
    return NULL;
  }
  slp_stream *s = slp_box_find_uid(c->box, m->stream_uid);
  if (s) slp_box_sweep(c->box, s, c->now_ms);
  if (!s || m->shard >= s->shards_n || s->shards[m->shard]->gone) {
    slp_box_fail(c, "ResourceNotFoundException",
                 "Shard shardId-%012u in stream %s under account " SLP_BOX_ACCOUNT " does not exist",
                 m->shard, s ? s->name : "of this iterator");
    return NULL;
  }
  return s->shards[m->shard];
}

static int too_fast(slp_box_call *c, slp_box_shard *sh) {
  const sloop_sandbox_opts_t *o = &c->box->o;
  slp_box_window_open(&sh->asked, c->now_ms, 0, 0);
  slp_box_window_take(&sh->asked, 0, 0);
  sh->asked_max = slp_max_u64(sh->asked_max, sh->asked.calls);
  if (slp_box_window_open(&sh->reads, c->now_ms, o->reads_per_second, o->read_bytes_per_second)) return 0;
  return slp_box_fail(c, "ProvisionedThroughputExceededException",
                      "Rate exceeded for shard %s in stream %s under account " SLP_BOX_ACCOUNT ".", sh->id,
                      sh->stream->name);
}

uint64_t slp_box_page_size(const slp_box_shard *sh, uint64_t from, uint64_t most, uint64_t bytes_max,
                           uint64_t *ret_bytes) {
  uint64_t n = 0, bytes = 0;
  if (sh->stream->synthetic) {
    uint64_t each = sh->stream->record_bytes + strlen(sh->synthetic_key);
    n = slp_min_u64(most, slp_max_u64(bytes_max / each, 1));
    *ret_bytes = n * each;
    return n;
  }
  for (; n < most; n++) {
    const slp_box_record *rec = &sh->recs[sh->head + (size_t)(from - sh->first + n)];
    uint64_t more = (uint64_t)rec->key_n + rec->data_n;
    if (n > 0 && bytes + more > bytes_max) break;
    bytes += more;
  }
  *ret_bytes = bytes;
  return n;
}

static int put_record(slp_box_call *c, slp_box_shard *sh, uint64_t counter, slp_fault_action shape) {
  slp_box_view v;
  char seq[SLP_BOX_SEQ_TEXT];
  int r = slp_box_view_get(c->box, sh, counter, &v);
  if (r) return r;
  if (shape == SLP_FAULT_FOREIGN) v.seq.shard++;
  slp_box_seq_text(&v.seq, seq);
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "SequenceNumber", seq);
  slp_out_key(&c->out, "ApproximateArrivalTimestamp");
  slp_out_time(&c->out, v.arrived_ms);
  slp_out_key(&c->out, "Data");
  if (shape == SLP_FAULT_BAD_BASE64)
    slp_out_text(&c->out, SLP_STR("!!!!"));
  else
    slp_out_blob(&c->out, v.data);
  if (v.key.p) slp_out_key(&c->out, "PartitionKey");
  if (v.key.p) slp_out_text(&c->out, v.key);
  slp_out_end(&c->out);
  return 0;
}

int slp_box_put_records(slp_box_call *c, slp_box_shard *sh, uint64_t from, uint64_t n,
                        slp_fault_action shape) {
  int r = 0;
  slp_out_key(&c->out, "Records");
  slp_out_list(&c->out);
  if (shape == SLP_FAULT_NONE && sh->stream->synthetic && slp_synthetic_alike(sh, from, n)) {
    if (!slp_out_failed(&c->out)) r = slp_synthetic_write(c, sh, from, n);
  } else {
    if (shape == SLP_FAULT_REPEAT) r = put_record(c, sh, from, SLP_FAULT_NONE);
    for (uint64_t i = 0; !r && !slp_out_failed(&c->out) && i < n; i++) {
      uint64_t counter = shape == SLP_FAULT_BACKWARDS ? from + n - 1 - i : from + i;
      r = put_record(c, sh, counter, i == 0 ? shape : SLP_FAULT_NONE);
    }
  }
  slp_out_end(&c->out);
  return r;
}

/* If records follow the page, MillisBehindLatest is the age of the page's last record by the wall clock.
 * Otherwise it is 0. */
int64_t slp_box_behind_ms(const slp_box_shard *sh, uint64_t from, uint64_t next, uint64_t end,
                          int64_t now_ms) {
  if (next >= end) return 0;
  int64_t ms = now_ms - slp_box_arrived_ms(sh, next > from ? next - 1 : next);
  return slp_max_i64(ms, 1);
}

static void put_behind(slp_box_call *c, int64_t ms) {
  uint64_t u;
  int64_t i;
  if (c->shape != SLP_FAULT_BEHIND) {
    slp_out_put_i64(&c->out, "MillisBehindLatest", ms);
    return;
  }
  slp_str value = {c->fault->argument, c->fault->argument_n};
  if (slp_str_is(value, "absent")) return;
  slp_out_key(&c->out, "MillisBehindLatest");
  if (c->out.wire == SLP_WIRE_JSON) {
    slp_out_raw(&c->out, value);
  } else if (!slp_parse_i64(value, &i)) {
    slp_out_i64(&c->out, i);
  } else if (!slp_parse_u64(value, &u)) {
    char raw[9] = {0x1b};
    for (int k = 0; k < 8; k++) raw[1 + k] = (char)(u >> (56 - 8 * k));
    slp_out_raw(&c->out, (slp_str){raw, sizeof raw});
  } else {
    slp_out_raw(&c->out, SLP_STR("\xf6")); /* writes null: the number does not fit into an integer of CBOR */
  }
}

/* Writes a child of the parent into a page. `child` NULL: writes an invented child, for the fault that lists
 * children before the end of the parent. `parents` 0: lists no parents. */
static void put_child(slp_box_call *c, const slp_box_shard *parent, const slp_box_shard *child, int parents) {
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "ShardId", child ? child->id : "shardId-999999999999");
  slp_out_key(&c->out, "ParentShards");
  slp_out_list(&c->out);
  if (parents && child) {
    slp_out_text(&c->out, slp_str_of(parent->stream->shards[child->parent]->id));
    if (child->adjacent_parent >= 0) {
      slp_out_text(&c->out, slp_str_of(parent->stream->shards[child->adjacent_parent]->id));
    }
  } else if (parents) {
    slp_out_text(&c->out, slp_str_of(parent->id));
  }
  slp_out_end(&c->out);
  slp_box_put_hash_range(c, child ? child : parent);
  slp_out_end(&c->out);
}

void slp_box_put_children(slp_box_call *c, const slp_box_shard *sh) {
  slp_out_key(&c->out, "ChildShards");
  slp_out_list(&c->out);
  for (uint32_t i = 0; i < sh->child_n; i++) {
    const slp_box_shard *child = sh->stream->shards[sh->child[i]];
    if (!child->gone) put_child(c, sh, child, c->shape != SLP_FAULT_CHILDREN_WITHOUT_PARENTS);
  }
  if (sh->child_n == 0) put_child(c, sh, NULL, 1);
  slp_out_end(&c->out);
}

int slp_box_shape_fits(slp_box_call *c, slp_fault_action action) {
  slp_box_mark m;
  uint64_t bytes = 0;
  slp_value *text = slp_box_tree_get(c->in, 0, "ShardIterator");
  if (!text || slp_box_mark_read(c->box, text->text, 'i', &m)) return 0;
  slp_stream *s = slp_box_find_uid(c->box, m.stream_uid);
  if (!s || m.shard >= s->shards_n || s->shards[m.shard]->gone) return 0;
  slp_box_shard *sh = s->shards[m.shard];
  uint64_t end = slp_box_end(sh, c->now_ms), from = slp_min_u64(slp_max_u64(m.counter, sh->first), end);
  int64_t limit = slp_box_int(c, "Limit", SLP_BOX_PAGE_RECORDS);
  if (limit < 1) return 0;
  uint64_t n =
      slp_box_page_size(sh, from, slp_min_u64((uint64_t)limit, end - from), SLP_BOX_PAGE_BYTES, &bytes);
  int ends = !slp_box_shard_open(sh) && from + n == end;
  switch (action) {
    case SLP_FAULT_NO_CHILDREN:
    case SLP_FAULT_CHILDREN_WITHOUT_PARENTS: return ends;
    case SLP_FAULT_CHILDREN_WITH_NEXT: return !ends;
    case SLP_FAULT_REPEAT:
    case SLP_FAULT_FOREIGN:
    case SLP_FAULT_BAD_BASE64: return n >= 1;
    case SLP_FAULT_BACKWARDS: return n >= 2;
    default: return 1;
  }
}

int slp_box_op_get(slp_box_call *c) {
  slp_box_mark m;
  uint64_t bytes = 0;
  slp_box_shard *sh = shard_of(c, slp_box_text(c, "ShardIterator"), &m);
  if (!sh) return -1;
  int64_t limit = slp_box_int(c, "Limit", SLP_BOX_PAGE_RECORDS);
  if (limit > SLP_BOX_PAGE_RECORDS) {
    return slp_box_fail(c, "InvalidArgumentException", "Limit %lld is greater than the maximum of 10000.",
                        (long long)limit);
  }
  if (too_fast(c, sh) || slp_box_dry_run(c)) return -1;
  uint64_t end = slp_box_end(sh, c->now_ms);
  uint64_t from = slp_min_u64(slp_max_u64(m.counter, sh->first), end);
  uint64_t n =
      slp_box_page_size(sh, from, slp_min_u64((uint64_t)limit, end - from), SLP_BOX_PAGE_BYTES, &bytes);
  slp_fault_action shape = c->shape;
  c->fault_used = shape != SLP_FAULT_NONE;
  if (shape == SLP_FAULT_EMPTY || shape == SLP_FAULT_EMPTY_OBJECT) n = bytes = 0;
  int ends = !slp_box_shard_open(sh) && from + n == end && shape != SLP_FAULT_EMPTY;
  slp_box_window_take(&sh->reads, bytes, c->box->o.read_bytes_per_second);

  slp_out_map(&c->out);
  if (shape != SLP_FAULT_EMPTY_OBJECT) {
    if (slp_box_put_records(c, sh, from, n, shape)) return slp_box_no_memory(c);
    m.counter = from + n;
    m.issued_ms = c->now_ms;
    if (!ends && shape != SLP_FAULT_NO_NEXT && slp_box_put_mark(c, "NextShardIterator", &m)) return -1;
    put_behind(c, slp_box_behind_ms(sh, from, from + n, end, c->now_ms));
    int children = ends || shape == SLP_FAULT_CHILDREN_WITH_NEXT;
    if (children && shape != SLP_FAULT_NO_CHILDREN && shape != SLP_FAULT_NO_NEXT) slp_box_put_children(c, sh);
  }
  slp_out_end(&c->out);
  c->box->stats.records_out += n;
  return 0;
}

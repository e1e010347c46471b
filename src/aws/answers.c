/* answers.c - reads iterators and listings of shards from JSON. Unknown members are skipped at any depth. A
 * member whose value is null is treated as absent. */
#include "aws/answers.h"

#include "aws/json_members.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "base/buf.h"
#include "base/mem.h"
#include "codec/json.h"
#include "codec/page.h"

const char *slp_iter_kind_name(slp_iter_kind kind) {
  switch (kind) {
    case SLP_ITER_OLDEST: return "TRIM_HORIZON";
    case SLP_ITER_LATEST: return "LATEST";
    case SLP_ITER_AT_TIME: return "AT_TIMESTAMP";
    case SLP_ITER_AT_SEQ: return "AT_SEQUENCE_NUMBER";
    case SLP_ITER_AFTER_SEQ: return "AFTER_SEQUENCE_NUMBER";
  }
  return "?";
}

int slp_read_iterator(slp_str body, slp_op_iterator *op, const char **ret_why) {
  slp_json j;
  slp_str iterator = {NULL, 0};
  slp_json_begin(&j, (char *)(uintptr_t)body.p, body.n);
  int r = slp_read_enter(&j, SLP_JSON_OBJECT);
  while (r > 0 && (r = slp_read_key(&j)) > 0) {
    int q = slp_str_is(j.text, "ShardIterator") ? slp_json_string(&j, &iterator) : slp_json_skip(&j);
    if (q) r = q;
  }
  if (!r) r = slp_read_finish(&j);
  if (!r && !iterator.n) r = slp_read_bad(&j, "no shard iterator in it");
  if (!r) {
    slp_buf_clear(&op->iterator);
    r = slp_buf_add_str(&op->iterator, iterator);
    if (r == SLP_ELIMIT) j.why = "the shard iterator is too long";
  }
  *ret_why = j.why ? j.why : "";
  return r;
}

/* ---- listings ------------------------------------------------------------------------------------------ */
static int read_range(slp_json *j, const char *from_name, slp_str *from, const char *to_name, slp_str *to) {
  int r = slp_read_enter(j, SLP_JSON_OBJECT);
  if (r <= 0) return r;
  while ((r = slp_read_key(j)) > 0) {
    int q = slp_str_is(j->text, from_name) ? slp_read_name(j, from)
            : slp_str_is(j->text, to_name) ? slp_read_name(j, to)
                                           : slp_json_skip(j);
    if (q) return q;
  }
  return r;
}

static int read_shard_member(slp_json *j, slp_shard_desc *d) {
  slp_str key = j->text;
  if (slp_str_is(key, "ShardId")) return slp_read_name(j, &d->id);
  if (slp_str_is(key, "ParentShardId")) return slp_read_name(j, &d->parent);
  if (slp_str_is(key, "AdjacentParentShardId")) return slp_read_name(j, &d->adjacent_parent);
  if (slp_str_is(key, "HashKeyRange")) {
    return read_range(j, "StartingHashKey", &d->hash_start, "EndingHashKey", &d->hash_end);
  }
  if (slp_str_is(key, "SequenceNumberRange")) {
    return read_range(j, "StartingSequenceNumber", &d->seq_start, "EndingSequenceNumber", &d->seq_end);
  }
  return slp_json_skip(j);
}

static int add_row(slp_list_reader *r, slp_op_list_shards *op, const slp_shard_desc *d) {
  const char *wrong = d->id.n ? slp_shard_desc_wrong(d) : "a shard without a usable id";
  if (wrong) return slp_read_bad(&r->j, wrong);
  if (op->shards_n == SLP_LIST_ROWS_MAX) return SLP_ELIMIT;
  if (op->shards_n == r->rows_cap) {
    slp_shard_desc *rows = slp_doubled(op->body.mem, op->shards, &r->rows_cap, 64, sizeof *rows);
    if (!rows) return SLP_ENOMEM;
    op->shards = rows;
  }
  op->shards[op->shards_n++] = *d;
  return 0;
}

/* Reads one shard of a listing. Its '{' has been read already. */
static int read_row(slp_list_reader *r, slp_op_list_shards *op) {
  slp_shard_desc d = {{NULL, 0}};
  int q;
  while ((q = slp_read_key(&r->j)) > 0) {
    q = read_shard_member(&r->j, &d);
    if (q) return q;
  }
  return q ? q : add_row(r, op, &d);
}

void slp_op_list_init(slp_op_list_shards *op, slp_mem *mem) {
  memset(op, 0, sizeof *op);
  slp_buf_init(&op->body, mem, SLP_LIST_BODY_MAX);
}

void slp_op_list_free(slp_op_list_shards *op) {
  slp_free(op->body.mem, op->shards);
  op->shards = NULL;
  op->shards_n = 0;
  op->ret_next = (slp_str){NULL, 0};
  slp_buf_free(&op->body);
}

void slp_list_reader_begin(slp_list_reader *r, slp_op_list_shards *op, const slp_list_shape *shape) {
  *r = (slp_list_reader){.shape = shape, .inside = !shape->inside};
  slp_free(op->body.mem, op->shards);
  op->shards = NULL;
  op->shards_n = 0;
  op->ret_next = (slp_str){NULL, 0};
  op->stream_ended = 0;
  slp_json_begin(&r->j, op->body.p, op->body.n);
}

/* Reads shards until the array ends or rows_max shards have been read. Returns 0, SLP_MORE or an error. */
static int read_rows(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max) {
  for (size_t i = 0; i < rows_max; i++) {
    int token = slp_json_next(&r->j);
    if (token < 0) return token;
    if (token == SLP_JSON_ARRAY_END) {
      r->in_rows = 0;
      return 0;
    }
    if (token != SLP_JSON_OBJECT) return slp_read_bad(&r->j, "a shard is not an object");
    int q = read_row(r, op);
    if (q) return q;
  }
  return SLP_MORE;
}

/* Reads one member. Before the reader has entered the object `shape->inside`, skips every member except the
 * object itself, which it enters. */
static int read_list_member(slp_list_reader *r, slp_op_list_shards *op) {
  const slp_list_shape *shape = r->shape;
  slp_json *j = &r->j;
  slp_str status = {NULL, 0};
  int q;
  if (!r->inside) {
    q = slp_str_is(j->text, shape->inside) ? slp_read_enter(j, SLP_JSON_OBJECT) : slp_json_skip(j);
    if (q > 0) r->inside = 1;
    return q < 0 ? q : 0;
  }
  if (slp_str_is(j->text, shape->next)) return slp_read_name(j, &op->ret_next);
  if (shape->status && slp_str_is(j->text, shape->status)) {
    q = slp_json_string(j, &status);
    op->stream_ended = slp_str_is(status, "DISABLED");
    return q;
  }
  if (!slp_str_is(j->text, "Shards")) return slp_json_skip(j);
  op->shards_n = 0; /* if an answer has the member "Shards" twice, the last list is used */
  q = slp_read_enter(j, SLP_JSON_ARRAY);
  if (q > 0) r->in_rows = r->rows_given = 1;
  return q < 0 ? q : 0;
}

static int read_list(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max) {
  slp_json *j = &r->j;
  int q = j->at == 0 ? slp_read_enter(j, SLP_JSON_OBJECT) : 1;
  if (q < 0) return q;
  while (q > 0) {
    int e = r->in_rows ? read_rows(r, op, rows_max) : 0;
    if (e) return e;
    q = slp_read_key(j);
    if (q < 0) return q;
    /* the object `shape->inside` has ended: continue with the members of the top level */
    if (q == 0 && r->inside && r->shape->inside) {
      r->inside = 0;
      q = 1;
    } else if (q > 0 && (e = read_list_member(r, op)) != 0) {
      return e;
    }
  }
  q = slp_read_finish(j);
  return !q && !r->rows_given ? slp_read_bad(j, "no listing in it") : q;
}

int slp_list_read(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max) {
  int q = read_list(r, op, rows_max);
  r->why = r->j.why ? r->j.why : "";
  return q;
}

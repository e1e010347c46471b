/* kinesis_read.c - the JSON and CBOR of Kinesis' small calls. Members we do not know are passed over at any
 * depth; a member that is null is absent. Names: botocore 1.43.11 service model kinesis 2013-12-02. */
#include "aws/kinesis_read.h"

#include "aws/limits.h"
#include "codec/cbor.h"
#include "codec/date.h"

/* ---- requests --------------------------------------------------------------------------------------------
 */
static int put_member(slp_buf *b, const char *name) {
  int r = slp_buf_add_char(b, b->n ? ',' : '{');
  if (!r) r = slp_json_put_string(b, slp_str_of(name));
  return r ? r : slp_buf_add_char(b, ':');
}

/* Nothing when the value is empty. */
static int put_text(slp_buf *b, const char *name, slp_str value) {
  if (!value.n) return 0;
  int r = put_member(b, name);
  return r ? r : slp_json_put_string(b, value);
}

static int put_end(slp_buf *b) { return b->n ? slp_buf_add_char(b, '}') : slp_buf_add_z(b, "{}"); }

static int put_stream(slp_buf *b, slp_str name, slp_str arn) {
  int r = put_text(b, "StreamName", name);
  return r ? r : put_text(b, "StreamARN", arn);
}

int slp_kinesis_put_describe(slp_buf *b, const slp_op_describe *op) {
  int r = put_stream(b, op->name, op->arn);
  return r ? r : put_end(b);
}

int slp_kinesis_put_list(slp_buf *b, const slp_op_list_shards *op) {
  int r = op->next_token.n ? put_text(b, "NextToken", op->next_token) : put_stream(b, op->name, op->arn);
  return r ? r : put_end(b);
}

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

/* JSON times are seconds with a fraction: ms as digits, so nothing is rounded. */
static int put_seconds(slp_buf *b, const char *name, int64_t ms) {
  uint64_t at = ms > 0 ? (uint64_t)ms : 0;
  int r = put_member(b, name);
  if (!r) r = slp_buf_add_u64(b, at / 1000);
  return r ? r : slp_buf_addf(b, ".%03u", (unsigned)(at % 1000));
}

int slp_kinesis_put_iterator(slp_buf *b, const slp_op_iterator *op) {
  int r = put_stream(b, op->name, op->arn);
  if (!r) r = put_text(b, "ShardId", op->shard);
  if (!r) r = put_text(b, "ShardIteratorType", slp_str_of(slp_iter_kind_name(op->kind)));
  if (!r && (op->kind == SLP_ITER_AT_SEQ || op->kind == SLP_ITER_AFTER_SEQ)) {
    r = put_text(b, "StartingSequenceNumber", op->seq);
  }
  if (!r && op->kind == SLP_ITER_AT_TIME) r = put_seconds(b, "Timestamp", op->at_ms);
  return r ? r : put_end(b);
}

static uint32_t limit_of(const slp_op_records *op) {
  if (op->limit < 1) return 1;
  return op->limit > SLP_KINESIS_RECORDS_MAX ? SLP_KINESIS_RECORDS_MAX : op->limit;
}

static int put_records_cbor(slp_buf *b, const slp_op_records *op) {
  int r = slp_cbor_put_map(b, op->arn.n ? 3 : 2);
  if (!r) r = slp_cbor_put_text(b, SLP_STR("ShardIterator"));
  if (!r) r = slp_cbor_put_text(b, op->iterator);
  if (!r) r = slp_cbor_put_text(b, SLP_STR("Limit"));
  if (!r) r = slp_cbor_put_i64(b, limit_of(op));
  if (!r && op->arn.n) r = slp_cbor_put_text(b, SLP_STR("StreamARN"));
  if (!r && op->arn.n) r = slp_cbor_put_text(b, op->arn);
  return r;
}

int slp_kinesis_put_records(slp_buf *b, const slp_op_records *op, slp_form form) {
  if (form == SLP_FORM_CBOR) return put_records_cbor(b, op);
  int r = put_text(b, "ShardIterator", op->iterator);
  if (!r) r = put_member(b, "Limit");
  if (!r) r = slp_buf_add_u64(b, limit_of(op));
  if (!r) r = put_text(b, "StreamARN", op->arn);
  return r ? r : put_end(b);
}

/* ---- answers ---------------------------------------------------------------------------------------------
 */
/* Goes into an object that may be null. 1: inside; 0: null; else an error. */
static int enter(slp_json *j, int opening) {
  int token = slp_json_next(j);
  if (token == opening) return 1;
  if (token == SLP_JSON_NULL) return 0;
  if (token >= 0) j->why = "a member has the wrong type";
  return token < 0 ? token : SLP_EBADDATA;
}

/* The next key of the object we are in. 1: j->text; 0: the object ended; else an error. */
static int next_key(slp_json *j) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_KEY) return 1;
  return token < 0 ? token : 0;
}

static int finish(slp_json *j) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_END) return 0;
  return token < 0 ? token : SLP_EBADDATA;
}

static int bad(slp_json *j, const char *why) {
  j->why = why;
  return SLP_EBADDATA;
}

/* Text that must fit; longer text is not what the service sends. */
static int read_z(slp_json *j, char *to, size_t size) {
  slp_str s;
  int r = slp_json_string(j, &s);
  if (r || !s.p) return r;
  if (s.n >= size || memchr(s.p, 0, s.n)) return bad(j, "a name is too long");
  memcpy(to, s.p, s.n);
  to[s.n] = 0;
  return 0;
}

/* Seconds; moto writes some times as ISO text. What can't be read is as good as absent: it is only for show.
 */
static int read_time(slp_json *j, int64_t *ret_ms) {
  int token = slp_json_next(j);
  if (token == SLP_JSON_NUMBER && slp_decimal_seconds_ms(j->text, ret_ms)) *ret_ms = -1;
  if (token == SLP_JSON_STRING && slp_date_parse_iso(j->text, ret_ms)) *ret_ms = -1;
  if (token == SLP_JSON_OBJECT || token == SLP_JSON_ARRAY) return bad(j, "a time has the wrong type");
  return token < 0 ? token : 0;
}

static int read_u32(slp_json *j, uint32_t *ret) {
  int64_t v = 0;
  int r = slp_json_i64(j, &v);
  if (!r) *ret = v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
  return r;
}

static slp_stream_status status_of(slp_str s) {
  if (slp_str_is(s, "CREATING")) return SLP_STREAM_CREATING;
  if (slp_str_is(s, "DELETING")) return SLP_STREAM_DELETING;
  if (slp_str_is(s, "UPDATING")) return SLP_STREAM_UPDATING;
  return SLP_STREAM_ACTIVE; /* also what a later version of the service may add */
}

static int read_summary_member(slp_json *j, slp_op_describe *op, int *status_given) {
  slp_str key = j->text, status = {NULL, 0};
  if (slp_str_is(key, "StreamName")) return read_z(j, op->ret_name, sizeof op->ret_name);
  if (slp_str_is(key, "StreamARN")) return read_z(j, op->ret_arn, sizeof op->ret_arn);
  if (slp_str_is(key, "RetentionPeriodHours")) return read_u32(j, &op->retention_hours);
  if (slp_str_is(key, "OpenShardCount")) return read_u32(j, &op->open_shards);
  if (slp_str_is(key, "StreamCreationTimestamp")) return read_time(j, &op->created_ms);
  if (!slp_str_is(key, "StreamStatus")) return slp_json_skip(j);
  int r = slp_json_string(j, &status);
  if (!r && status.n) {
    op->status = status_of(status);
    *status_given = 1;
  }
  return r;
}

int slp_kinesis_read_describe(slp_str body, slp_op_describe *op, const char **ret_why) {
  slp_json j;
  int status_given = 0;
  op->created_ms = -1;
  op->ret_name[0] = op->ret_arn[0] = 0;
  op->retention_hours = op->open_shards = 0;
  slp_json_begin(&j, (char *)(uintptr_t)body.p, body.n);
  int r = enter(&j, SLP_JSON_OBJECT);
  while (r > 0 && (r = next_key(&j)) > 0) {
    int q = 0;
    if (!slp_str_is(j.text, "StreamDescriptionSummary"))
      q = slp_json_skip(&j);
    else if ((q = enter(&j, SLP_JSON_OBJECT)) > 0) {
      while ((q = next_key(&j)) > 0) {
        q = read_summary_member(&j, op, &status_given);
        if (q) break;
      }
    }
    if (q) r = q;
  }
  if (!r) r = finish(&j);
  if (!r && !status_given) r = bad(&j, "no stream summary in it");
  *ret_why = j.why ? j.why : "";
  return r;
}

int slp_kinesis_read_iterator(slp_str body, slp_op_iterator *op, const char **ret_why) {
  slp_json j;
  slp_str iterator = {NULL, 0};
  slp_json_begin(&j, (char *)(uintptr_t)body.p, body.n);
  int r = enter(&j, SLP_JSON_OBJECT);
  while (r > 0 && (r = next_key(&j)) > 0) {
    int q = slp_str_is(j.text, "ShardIterator") ? slp_json_string(&j, &iterator) : slp_json_skip(&j);
    if (q) r = q;
  }
  if (!r) r = finish(&j);
  if (!r && !iterator.n) r = bad(&j, "no shard iterator in it");
  if (!r) {
    slp_buf_clear(&op->iterator);
    r = slp_buf_add_str(&op->iterator, iterator);
    if (r == SLP_ELIMIT) j.why = "the shard iterator is too long";
  }
  *ret_why = j.why ? j.why : "";
  return r;
}

/* ---- listings --------------------------------------------------------------------------------------------
 */
/* An empty name is as good as none. */
static int read_name(slp_json *j, slp_str *ret) {
  int r = slp_json_string(j, ret);
  if (!r && !ret->n) *ret = (slp_str){NULL, 0};
  return r;
}

static int read_range(slp_json *j, const char *from_name, slp_str *from, const char *to_name, slp_str *to) {
  int r = enter(j, SLP_JSON_OBJECT);
  if (r <= 0) return r;
  while ((r = next_key(j)) > 0) {
    int q = slp_str_is(j->text, from_name) ? read_name(j, from)
            : slp_str_is(j->text, to_name) ? read_name(j, to)
                                           : slp_json_skip(j);
    if (q) return q;
  }
  return r;
}

static int read_shard_member(slp_json *j, slp_shard_desc *d) {
  slp_str key = j->text;
  if (slp_str_is(key, "ShardId")) return read_name(j, &d->id);
  if (slp_str_is(key, "ParentShardId")) return read_name(j, &d->parent);
  if (slp_str_is(key, "AdjacentParentShardId")) return read_name(j, &d->adjacent_parent);
  if (slp_str_is(key, "HashKeyRange")) {
    return read_range(j, "StartingHashKey", &d->hash_start, "EndingHashKey", &d->hash_end);
  }
  if (slp_str_is(key, "SequenceNumberRange")) {
    return read_range(j, "StartingSequenceNumber", &d->seq_start, "EndingSequenceNumber", &d->seq_end);
  }
  return slp_json_skip(j);
}

static int add_row(slp_list_reader *r, slp_op_list_shards *op, const slp_shard_desc *d) {
  if (!d->id.n || d->id.n > 128) return bad(&r->j, "a shard without a usable id");
  if (op->shards_n == SLP_LIST_ROWS_MAX) return SLP_ELIMIT;
  if (op->shards_n == r->rows_cap) {
    size_t cap = r->rows_cap ? r->rows_cap * 2 : 64;
    slp_shard_desc *rows = slp_realloc(op->body.mem, op->shards, cap * sizeof *rows);
    if (!rows) return SLP_ENOMEM;
    op->shards = rows;
    r->rows_cap = cap;
  }
  op->shards[op->shards_n++] = *d;
  return 0;
}

/* One row, the '{' of which was read. */
static int read_row(slp_list_reader *r, slp_op_list_shards *op) {
  slp_shard_desc d = {{NULL, 0}};
  int q;
  while ((q = next_key(&r->j)) > 0) {
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

void slp_list_reader_begin(slp_list_reader *r, slp_op_list_shards *op) {
  memset(r, 0, sizeof *r);
  slp_free(op->body.mem, op->shards);
  op->shards = NULL;
  op->shards_n = 0;
  op->ret_next = (slp_str){NULL, 0};
  slp_json_begin(&r->j, op->body.p, op->body.n);
}

/* Rows until the array ends or rows_max were read. */
static int read_rows(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max) {
  for (size_t i = 0; i < rows_max; i++) {
    int token = slp_json_next(&r->j);
    if (token < 0) return token;
    if (token == SLP_JSON_ARRAY_END) {
      r->in_rows = 0;
      return 0;
    }
    if (token != SLP_JSON_OBJECT) return bad(&r->j, "a shard is not an object");
    int q = read_row(r, op);
    if (q) return q;
  }
  return SLP_MORE;
}

int slp_list_read(slp_list_reader *r, slp_op_list_shards *op, size_t rows_max) {
  slp_json *j = &r->j;
  int q = 0;
  if (j->at == 0) {
    q = enter(j, SLP_JSON_OBJECT);
    if (q == 0) q = bad(j, "no listing in it");
    if (q < 0) goto out;
  }
  for (;;) {
    if (r->in_rows) {
      q = read_rows(r, op, rows_max);
      if (q) goto out;
    }
    q = next_key(j);
    if (q <= 0) break;
    if (slp_str_is(j->text, "NextToken"))
      q = read_name(j, &op->ret_next);
    else if (!slp_str_is(j->text, "Shards"))
      q = slp_json_skip(j);
    else if ((q = enter(j, SLP_JSON_ARRAY)) > 0) {
      r->in_rows = r->rows_given = 1;
      q = 0;
    }
    if (q) goto out;
  }
  if (!q) q = finish(j);
  if (!q && !r->rows_given) q = bad(j, "no listing in it");
out:
  r->why = j->why ? j->why : "";
  return q;
}

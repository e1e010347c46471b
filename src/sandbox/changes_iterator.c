/* changes_iterator.c - GetShardIterator: turns a position in a shard into a signed text, which is valid for
 * 15 minutes. */
#include "base/buf.h"
#include "base/num.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

static const char separator[] = "|1|";
#define SEPARATOR (sizeof separator - 1)

int slp_changes_mark_read(slp_box *box, slp_str text, slp_box_mark *ret) {
  const char *at = text.p ? memmem(text.p, text.n, separator, SEPARATOR) : NULL;
  if (!at) return SLP_EBADDATA;
  at += SEPARATOR;
  return slp_box_mark_read(box, (slp_str){at, text.n - (size_t)(at - text.p)}, 'c', ret);
}

int slp_changes_mark_write(slp_box_call *c, const slp_changes *s, const slp_box_mark *m, slp_buf *to) {
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, c->region, arn);
  slp_buf_addf(to, "%s%s", arn, separator);
  return slp_box_mark_write(c->box, m, to);
}

slp_str slp_changes_subject(slp_box_call *c) {
  slp_box_mark m;
  slp_changes *s = NULL;
  const slp_value *v = slp_box_tree_get(c->in, 0, "ShardIterator");
  if (v && v->kind == SLP_VALUE_TEXT && !slp_changes_mark_read(c->box, v->text, &m)) {
    s = slp_changes_find_uid(c->box, m.stream_uid);
    if (s && m.shard < s->shards_n && s->shards[m.shard]) return slp_str_of(s->shards[m.shard]->id);
  }
  v = slp_box_tree_get(c->in, 0, "ShardId");
  if (v && v->kind == SLP_VALUE_TEXT) return v->text;
  v = slp_box_tree_get(c->in, 0, "StreamArn");
  if (v && v->kind == SLP_VALUE_TEXT) s = slp_changes_find_arn(c->box, v->text);
  return s ? slp_str_of(s->table) : slp_box_text(c, "TableName");
}

static int refuse_trimmed_position(slp_box_call *c, const slp_change_shard *sh) {
  return slp_box_fail(c, "TrimmedDataAccessException",
                      "The operation attempted to read past the oldest stream record in shard %s.", sh->id);
}

static int from_number(slp_box_call *c, const slp_change_shard *sh, slp_str number, int after,
                       uint64_t *ret) {
  char start[SLP_CHANGE_NUMBER_TEXT], end[SLP_CHANGE_NUMBER_TEXT];
  int exact = 0;
  slp_change_start_text(sh, start);
  slp_change_end_text(sh, end);
  int valid = slp_num_plain(number);
  int at_end = valid && !slp_change_open(sh) && slp_str_is(number, end);
  if (!valid || slp_num_cmp(number, slp_str_of(start)) < 0 ||
      (slp_num_cmp(number, slp_str_of(end)) >= 0 && !at_end)) {
    return slp_box_fail(c, "ValidationException",
                        "Invalid SequenceNumber: %.*s is not within shard %s, which begins with %s.",
                        (int)number.n, number.p, sh->id, start);
  }
  uint64_t place = slp_change_place(sh, number, &exact);
  if (place < sh->first) return refuse_trimmed_position(c, sh);
  if (sh->first > 0 && !exact && place == sh->first)
    /* the number lies between the newest removed record and the oldest record that is kept */
    return refuse_trimmed_position(c, sh);
  if (!exact && place == sh->next && !at_end && !slp_str_is(number, start)) {
    return slp_box_fail(c, "ValidationException", "Invalid SequenceNumber: shard %s has none from %.*s on.",
                        sh->id, (int)number.n, number.p);
  }
  *ret = place + (uint64_t)(after && exact);
  return 0;
}

/* AT_TIMESTAMP follows the documentation in botocore 1.44.8's service model dynamodbstreams 2012-08-10. The
 * iterator begins at the first record whose ApproximateCreationDateTime is at or after the time. A time older
 * than the trim horizon gives the oldest record. A time in the future is a ValidationException. The messages
 * of the refusals are the sandbox's own. */
static int from_time(slp_box_call *c, const slp_change_shard *sh, slp_value *when, uint64_t *ret) {
  int64_t at_ms = 0;
  if (sh->stream->quirks.no_times)
    return slp_box_fail(c, "ValidationException",
                        "1 validation error detected: Value 'AT_TIMESTAMP' at 'shardIteratorType' failed to "
                        "satisfy constraint: Member must satisfy enum value set: [AFTER_SEQUENCE_NUMBER, "
                        "LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]");
  if (!when || slp_box_tree_time_ms(c->in, when, &at_ms))
    return slp_box_fail(c, "ValidationException", "Timestamp must be given with AT_TIMESTAMP.");
  if (at_ms > c->now_ms)
    return slp_box_fail(c, "ValidationException", "Timestamp is in the future: %lld ms, now it is %lld ms.",
                        (long long)at_ms, (long long)c->now_ms);
  *ret = slp_change_first_at(sh, at_ms);
  return 0;
}

static int read_iterator_position(slp_box_call *c, const slp_change_shard *sh, uint64_t *ret) {
  slp_str type = slp_box_text(c, "ShardIteratorType"), number = slp_box_text(c, "SequenceNumber");
  int at = slp_str_is(type, "AT_SEQUENCE_NUMBER"), after = slp_str_is(type, "AFTER_SEQUENCE_NUMBER");
  if ((at || after) != (number.p != NULL)) {
    return slp_box_fail(
        c, "ValidationException",
        "SequenceNumber must be given with AT_SEQUENCE_NUMBER or AFTER_SEQUENCE_NUMBER, and only "
        "then; ShardIteratorType is %.*s.",
        (int)type.n, type.p);
  }
  slp_value *when = slp_box_tree_get(c->in, 0, "Timestamp");
  if (slp_str_is(type, "AT_TIMESTAMP")) return from_time(c, sh, when, ret);
  if (when) return slp_box_fail(c, "ValidationException", "Timestamp can only be given with AT_TIMESTAMP.");
  if (at || after) return from_number(c, sh, number, after, ret);
  *ret = slp_str_is(type, "LATEST") ? sh->next : sh->first;
  return 0;
}

int slp_changes_op_iterator(slp_box_call *c) {
  slp_changes *s = slp_changes_of_call(c);
  if (!s) return -1;
  slp_str id = slp_box_text(c, "ShardId");
  const slp_change_shard *sh = slp_change_shard_by_id(s, id);
  if (!sh) {
    return slp_box_fail(c, "ResourceNotFoundException",
                        "Requested resource not found: Shard: %.*s in stream %s of table %s not found",
                        (int)slp_min_u64(id.n, 100), id.p, s->label, s->table);
  }
  slp_box_mark m = {.kind = 'c',
                    .filter = (uint8_t)slp_min_u64(s->quirks.empty_gets, UINT8_MAX),
                    .reader = (uint16_t)slp_box_random(c->box),
                    .stream_uid = s->uid,
                    .shard = sh->index,
                    .issued_ms = c->now_ms};
  if (read_iterator_position(c, sh, &m.counter)) return -1;
  slp_buf_clear(&c->box->scratch);
  if (slp_changes_mark_write(c, s, &m, &c->box->scratch)) return slp_box_no_memory(c);
  slp_out_map(&c->out);
  slp_out_key(&c->out, "ShardIterator");
  slp_out_text(&c->out, slp_buf_str(&c->box->scratch));
  slp_out_end(&c->out);
  return 0;
}

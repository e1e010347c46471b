/* other_stream.c - finds proofs that a table's rows belong to another stream (other_stream.h). A row of this
 * stream can never give such a proof. A worker does not join if there is a proof. */
#include "guest/other_stream.h"

#include "base/num.h"
#include "codec/page.h"
#include "core/mark.h"
#include "core/position.h"
#include "lease/schema.h"

#include <stdio.h>
#include <stdlib.h>

/* Reads the number in an id "shardId-NUMBER" of Kinesis. Returns 0 for any other id; ids of DynamoDB
 * Streams have more text after the number. */
static int number_of(slp_str id, uint64_t *ret) {
  slp_str start = SLP_STR("shardId-");
  if (id.n <= start.n || memcmp(id.p, start.p, start.n) != 0) return 0;
  return slp_parse_u64((slp_str){id.p + start.n, id.n - start.n}, ret) == 0;
}

static int numbers_differ(slp_str a, slp_str b) {
  return a.n && b.n && slp_num_valid(a) && slp_num_valid(b) && slp_num_cmp(a, b) != 0;
}

void slp_other_stream_newest(slp_other_stream *o, slp_str listed) {
  uint64_t n;
  if (!number_of(listed, &n) || (o->newest.n && n <= o->newest_n)) return;
  o->newest = listed;
  o->newest_n = n;
}

static void compare_place(slp_other_stream *o, const slp_lease_row *row, slp_str seq_start) {
  int placed = row->position.kind == SLP_POSITION_AFTER || row->position.kind == SLP_POSITION_AT;
  if (!placed || !slp_num_valid(seq_start)) return;
  o->placed++;
  if (slp_num_cmp(slp_mark_seq(&row->position.mark), seq_start) >= 0) return;
  if (!o->early++) o->early_shard = row->shard;
}

void slp_other_stream_saw(slp_other_stream *o, const slp_lease_row *row, const slp_shard_desc *listed) {
  uint64_t n;
  if (!listed) {
    int is_beyond = o->newest.n && number_of(row->shard, &n) && n > o->newest_n;
    if (is_beyond && !o->beyond) o->beyond_shard = row->shard;
    o->beyond |= (uint8_t)is_beyond;
    return;
  }
  int ranges =
      numbers_differ(row->hash_start, listed->hash_start) || numbers_differ(row->hash_end, listed->hash_end);
  if (ranges && !o->proven) o->range_shard = row->shard;
  o->proven |= (uint8_t)ranges;
  compare_place(o, row, listed->seq_start);
}

#define SHARD(s) (int)slp_min_u64((s).n, 64), (s).p

int slp_other_stream_proven(const slp_other_stream *o, int late, char *text, size_t size) {
  static const char what_to_do[] = "Choose another application, or delete the rows if nobody needs them";
  /* All checkpoints must be early. A single one may be damaged, or written by an operator. */
  int early = o->placed && o->early == o->placed;
  if (o->proven)
    snprintf(text, size,
             "row %.*s has other hash keys than that shard: the rows belong to another stream. %s",
             SHARD(o->range_shard), what_to_do);
  else if (early)
    snprintf(text, size,
             "the checkpoint of row %.*s, like all %zu, is less than any number of its shard: it belongs to "
             "another stream, or to an earlier one of this name. %s, or --reset all --to oldest -o oldest",
             SHARD(o->early_shard), o->early, what_to_do);
  else if (o->beyond && late)
    snprintf(text, size,
             "row %.*s is for a shard that the stream does not have (its newest is %.*s): the rows belong to "
             "another stream. %s",
             SHARD(o->beyond_shard), SHARD(o->newest), what_to_do);
  return o->proven || early || (o->beyond && late);
}

/* ---- for commands ------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
  return slp_str_cmp(((const slp_shard_desc *)a)->id, ((const slp_shard_desc *)b)->id);
}

int slp_other_stream_is(const slp_stream_check *c, char *why, size_t size) {
  slp_other_stream o = {.early = 0};
  for (size_t i = 0; i < c->shards_n; i++) slp_other_stream_newest(&o, c->shards[i].id);
  for (size_t i = 0; i < c->leases_n; i++) {
    slp_shard_desc key = {.id = c->leases[i].shard};
    slp_other_stream_saw(
        &o, &c->leases[i],
        c->shards_n ? bsearch(&key, c->shards, c->shards_n, sizeof *c->shards, by_id) : NULL);
  }
  if (c->corrects) o.placed = o.beyond = 0;
  return slp_other_stream_proven(&o, 1, why, size);
}

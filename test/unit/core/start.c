/* start.c - goals: what makes no sense is named, what is kept is a copy. Who is read from where is told
 * by the scenes of starts, tokens and moves. */
#include "core/start.h"
#include "core/consumer_inside.h"
#include "core/shard_inside.h"
#include "core/standing.h"
#include "check.h"

static void refused(sloop_position_t to, const char *why_begins) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_start_position *g;
  char why[160] = "";
  CHECK_INT(slp_start_position_check(&to, why), SLOOP_EOPTION);
  if (strncmp(why, why_begins, strlen(why_begins))) CHECK_FAIL("\"%s\" is not \"%s\"", why, why_begins);
  CHECK_INT(slp_start_position_new(&g, mem, &to, why), SLOOP_EOPTION);
  CHECK(g == NULL);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(places_that_make_no_sense_are_named) {
  char digits[132];
  memset(digits, '1', sizeof digits);
  digits[130] = 0;
  refused((sloop_position_t){.kind = (sloop_position_kind_t)0}, "start.kind is none");
  refused((sloop_position_t){.kind = SLOOP_AT_TIME, .at_ms = -1}, "start.at_ms is negative");
  refused((sloop_position_t){.kind = SLOOP_AT_TIME, .at_ms = 1767225600},
          "start.at_ms looks like Unix seconds");
  refused((sloop_position_t){.kind = SLOOP_AT_SEQ, .seq = "1"}, "start.shard is missing");
  refused((sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "", .seq = "1"}, "start.shard is missing");
  refused((sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "a"},
          "start.seq is not a sequence number: (none)");
  refused((sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "a", .seq = "1x"},
          "start.seq is not a sequence number: 1x");
  refused((sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "a", .seq = digits}, "start.seq is not");
  refused((sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "a", .seq = "1", .sub = UINT64_C(1) << 32},
          "start.sub is too large");
  refused((sloop_position_t){.kind = SLOOP_AT_TOKEN}, "start.token is missing");
  refused((sloop_position_t){.kind = SLOOP_AFTER_SEQ, .shard = "a", .seq = "1"},
          "start.kind is a position of");
  refused((sloop_position_t){.kind = SLOOP_AT_END}, "start.kind is a position of a lease");
}

TEST(a_start_position_is_a_copy) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_start_position *g;
  char why[160], shard[] = "shardId-1", seq[] = "123";
  sloop_position_t to = {.kind = SLOOP_AT_SEQ, .shard = shard, .seq = seq, .sub = 4};
  CHECK_INT(slp_start_position_new(&g, mem, &to, why), 0);
  memset(shard, 'x', 3);
  memset(seq, '9', 3);
  CHECK_STR(g->shard, "shardId-1");
  CHECK_MEM(g->from.mark.seq, g->from.mark.seq_n, "123", 3);
  CHECK_INT(g->from.mark.sub, 4);
  slp_start_position_free(g);
  char text[] = "{\"stream_arn\":\"s\",\"active\":[\"a\"],\"shards\":[{\"shard_id\":\"a\"}]}";
  to = (sloop_position_t){.kind = SLOOP_AT_TOKEN, .token = text};
  CHECK_INT(slp_start_position_new(&g, mem, &to, why), 0);
  memset(text, ' ', sizeof text - 1);
  CHECK(slp_token_find(g->token, SLP_STR("a")) != NULL);
  slp_start_position_free(g);
  to.token = "{\"stream_arn\":\"s\",\"active\":[\"b\"],\"shards\":[{\"shard_id\":\"a\"}]}";
  CHECK_INT(slp_start_position_new(&g, mem, &to, why), SLOOP_ETOKEN);
  CHECK_STR(why, "token: active[0] names a shard that is not among shards");
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static slp_shard started_from(sloop_aggregates_t kind, uint32_t sub) {
  sloop_opts_t o = {.aggregates = kind};
  slp_consumer c = {.o = &o};
  slp_shard s = {.consumer = &c};
  slp_position from = {.kind = SLP_POSITION_AFTER};
  slp_mark_set(&from.mark, SLP_STR("123"), sub, -1);
  slp_start_shard(&s, &from);
  s.consumer = NULL;
  return s;
}

/* A worker that expands aggregates stores sub-record 0 both for a record by itself and for the first of
 * many. */
TEST(an_aggregate_begun_by_another_worker_comes_again_where_it_is_kept_as_it_came) {
  for (uint32_t sub = 0; sub < 3; sub++) {
    slp_shard s = started_from(SLOOP_AGGREGATES_KEEP, sub);
    CHECK_INT(slp_has_taken(&s.at), 0);
    CHECK_INT(s.at.start.kind, SLP_POSITION_AT);
    CHECK_INT(s.at.start.mark.sub, 0);
    s = started_from(SLOOP_AGGREGATES_EXPAND, sub);
    CHECK_INT(slp_has_taken(&s.at), 1);
    CHECK_INT(s.at.last.sub, sub);
  }
  slp_shard s = started_from(SLOOP_AGGREGATES_KEEP, UINT32_MAX);
  CHECK_INT(slp_has_taken(&s.at), 1);
  s = started_from(SLOOP_AGGREGATES_EXPAND, UINT32_MAX);
  CHECK_INT(slp_has_taken(&s.at), 1);
}

#define TABLE "arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/"
#define TOKEN_OF(arn) "{\"stream_arn\":\"" arn "\",\"active\":[\"a\"],\"shards\":[{\"shard_id\":\"a\"}]}"

/* Enabling a table's stream anew makes another one, with the same name. */
TEST(a_token_of_an_older_stream_of_the_table_says_so) {
  static const struct {
    const char *token, *part;
  } cases[] = {
      {TOKEN_OF(TABLE "2026-01-01T00:00:00.000"), "an older stream of this table, " TABLE "2026-01-01"},
      {TOKEN_OF("arn:aws:dynamodb:eu-west-1:123456789012:table/other/stream/2026-02-02T00:00:00.000"),
       "it belongs to arn:aws:dynamodb:eu-west-1:123456789012:table/other/stream/2026-02-02T00:00:00.000, "
       "but this is"},
  };
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char arn[] = TABLE "2026-02-02T00:00:00.000", why[160];
  sloop_opts_t o = {.stream = "orders"};
  slp_consumer c = {.o = &o, .arn = arn, .mem = mem};
  slp_map_init(&c.shards, mem);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    slp_fail f = {0};
    slp_start_position *g;
    sloop_position_t to = {.kind = SLOOP_AT_TOKEN, .token = cases[i].token};
    CHECK_INT(slp_start_position_new(&g, mem, &to, why), 0);
    CHECK_INT(slp_start_shards(&c, g, &f), SLOOP_ETOKEN);
    if (!strstr(f.message, cases[i].part)) CHECK_FAIL("\"%s\" lacks \"%s\"", f.message, cases[i].part);
    slp_start_position_free(g);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(a_lease_set_back_to_a_record_begins_with_it) {
  sloop_opts_t o = {.aggregates = SLOOP_AGGREGATES_EXPAND};
  slp_consumer c = {.o = &o};
  slp_shard s = {.consumer = &c};
  slp_position from = {.kind = SLP_POSITION_AT};
  slp_mark_set(&from.mark, SLP_STR("123"), 4, -1);
  slp_start_shard(&s, &from);
  CHECK_INT(slp_has_taken(&s.at), 0);
  CHECK_INT(s.at.start.kind, SLP_POSITION_AT);
  CHECK_MEM(s.at.start.mark.seq, s.at.start.mark.seq_n, "123", 3);
  CHECK_INT(s.at.start.mark.sub, 4);
}

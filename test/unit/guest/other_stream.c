/* Rows that do not name their stream: which of them prove that they are another one's. */
#include "guest/other_stream.h"

#include "check.h"

static slp_other_stream seen;
static char why[400];

static slp_shard_desc shard(const char *from, const char *to, const char *start) {
  return (slp_shard_desc){
      .hash_start = slp_str_of(from), .hash_end = slp_str_of(to), .seq_start = slp_str_of(start)};
}

static slp_lease_row row(const char *id, const char *from, const char *to, const char *seq) {
  slp_lease_row l = {.shard = slp_str_of(id), .hash_start = slp_str_of(from), .hash_end = slp_str_of(to)};
  l.position.kind = *seq ? SLP_POSITION_AFTER : SLP_POSITION_OLDEST;
  if (*seq) slp_mark_set(&l.position.mark, slp_str_of(seq), 0, -1);
  return l;
}

static void begin(void) {
  seen = (slp_other_stream){.early = 0};
  slp_other_stream_newest(&seen, SLP_STR("shardId-000000000003"));
  slp_other_stream_newest(&seen, SLP_STR("shardId-000000000010"));
  slp_other_stream_newest(&seen, SLP_STR("shardId-000000000009"));
}

static void saw(slp_lease_row l, const slp_shard_desc *listed) { slp_other_stream_saw(&seen, &l, listed); }
static int proven(int late) { return slp_other_stream_proven(&seen, late, why, sizeof why); }

TEST(rows_of_the_stream_prove_nothing) {
  slp_shard_desc a = shard("0", "99", "4000");
  begin();
  saw(row("shardId-000000000003", "0", "99", "4001"), &a);
  saw(row("shardId-000000000003", "", "", "4000"), &a);
  saw(row("shardId-000000000003", "0", "099", ""), &a);
  saw(row("shardId-000000000002", "5", "6", "17"), NULL); /* the stream keeps it no more */
  saw(row("shardId-000000000010-ab", "", "", ""), NULL);
  CHECK(!proven(1) && !seen.beyond);
}

TEST(a_shard_never_has_other_hash_keys) {
  slp_shard_desc a = shard("0", "99", "4000");
  begin();
  saw(row("shardId-000000000003", "0", "199", ""), &a);
  CHECK(proven(0));
  CHECK(strstr(why, "shardId-000000000003") && strstr(why, "other hash keys"));
}

/* One that is too old may be damaged, or an operator's; all of them are not. */
TEST(checkpoints_that_are_all_older_than_their_shards) {
  slp_shard_desc a = shard("", "", "4000");
  begin();
  saw(row("shardId-000000000003", "", "", "399"), &a);
  saw(row("shardId-000000000009", "", "", ""), &a);
  CHECK(proven(0));
  CHECK(strstr(why, "shardId-000000000003") && strstr(why, "--reset all --to oldest"));
  saw(row("shardId-000000000009", "", "", "4000"), &a);
  CHECK(!proven(0));
}

TEST(shards_that_the_stream_does_not_have_yet_count_when_its_listing_is_not_late) {
  begin();
  saw(row("shardId-000000000011", "", "", ""), NULL);
  CHECK(seen.beyond && !proven(0));
  CHECK(proven(1));
  CHECK(strstr(why, "shardId-000000000011") && strstr(why, "shardId-000000000010"));
}

/* The texts end in a message of 320 bytes, behind the schema's name. */
TEST(the_remedy_is_not_cut_off) {
  char id[41];
  slp_shard_desc a = shard("", "", "4000"), b = shard("0", "9", "4000");
  memset(id, 'x', 40); /* longer than any that the services make */
  id[40] = 0;
  begin();
  saw(row(id, "", "", "1"), &a);
  CHECK(proven(0) && strlen(why) < 298 && strstr(why, "--to oldest"));
  begin();
  saw(row(id, "0", "8", ""), &b);
  CHECK(proven(0) && strlen(why) < 298 && strstr(why, "nobody needs them"));
}

/* As a command asks: all leases at once, against the sorted list of shards. */
TEST(a_command_compares_the_whole_table) {
  slp_shard_desc shards[] = {shard("0", "49", "4000"), shard("50", "99", "4000")};
  slp_lease_row leases[] = {row("shardId-000000000003", "0", "49", "399"),
                            row("shardId-000000000009", "50", "99", "4000")};
  shards[0].id = SLP_STR("shardId-000000000003");
  shards[1].id = SLP_STR("shardId-000000000009");
  slp_stream_check all = {.leases = leases, .leases_n = 2, .shards = shards, .shards_n = 2};
  CHECK(!slp_other_stream_is(&all, why, sizeof why));
  leases[1].position.mark = leases[0].position.mark;
  CHECK(slp_other_stream_is(&all, why, sizeof why) && strstr(why, "--reset all --to oldest"));
  all.corrects = 1; /* --reset does what the message says */
  CHECK(!slp_other_stream_is(&all, why, sizeof why));
  leases[0].hash_end = SLP_STR("48");
  CHECK(slp_other_stream_is(&all, why, sizeof why) && strstr(why, "other hash keys"));
  leases[0].hash_end = SLP_STR("49");
  leases[0].shard = SLP_STR("shardId-000000000010");
  CHECK(!slp_other_stream_is(&all, why, sizeof why));
  all.corrects = 0;
  CHECK(slp_other_stream_is(&all, why, sizeof why));
  all.leases_n = all.shards_n = 0;
  CHECK(!slp_other_stream_is(&all, why, sizeof why));
}

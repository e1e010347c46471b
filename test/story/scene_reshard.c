/* scene_reshard.c - splits and merges while reading and afterwards: nothing lost, nothing twice, parents
 * first. */
#include "ended_stream.h"
#include "late_listing.h"
#include "story/scene.h"

#include "api/open.h"
#include "core/consumer_inside.h"

SCENE(a_split_while_pages_of_the_parent_are_unread) {
  stage_begin(st, seed, 2);
  st->u.opts.fetch_records_max = 100;
  slp_world_put_many(st->w, st->stream, 1000, 200);
  slp_user_start(&st->u);
  produce(st, 10, 20000, 100);
  slp_world_pass(st->w, 400);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 21000);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK(st->u.judged->shards[0].ended);
  CHECK(st->u.judged->shards[2].acked_n > 0 && st->u.judged->shards[3].acked_n > 0);
}

SCENE(a_merge_while_reading) {
  stage_begin(st, seed, 4);
  slp_user_start(&st->u);
  produce(st, 10, 20000, 100);
  slp_world_pass(st->w, 3000);
  CHECK_INT(slp_world_merge(st->w, st->stream, 1, 2), 0);
  slp_world_pass(st->w, 21000);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK(st->u.judged->shards[1].ended && st->u.judged->shards[2].ended);
  CHECK(st->u.judged->shards[4].acked_n > 0);
}

static void three_generations(stage *st) {
  produce(st, 15, 40000, 150);
  slp_world_pass(st->w, 3000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0); /* 2, 3 */
  slp_world_pass(st->w, 1500);
  CHECK_INT(slp_world_split(st->w, st->stream, 3), 0); /* 4, 5 */
  slp_world_pass(st->w, 1500);
  CHECK_INT(slp_world_merge(st->w, st->stream, 4, 5), 0); /* 6 */
  slp_world_pass(st->w, 200);
  CHECK_INT(slp_world_merge(st->w, st->stream, 2, 6), 0); /* 7 */
  slp_world_pass(st->w, 35000);
}

/* The end of shard 0 names the child before the other parent is known, which the end of shard 1 names. */
SCENE(a_child_of_a_merge_waits_for_no_listing_once_both_parents_are_known) {
  stage_begin(st, seed, 2);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_world_faults(st->w, "* ListShards * delay 25000\n2 GetRecords 1 delay 4000\n");
  CHECK_INT(slp_world_split(st->w, st->stream, 1), 0);    /* 2, 3 */
  CHECK_INT(slp_world_merge(st->w, st->stream, 0, 2), 0); /* 4 */
  slp_world_put_to(st->w, st->stream, 4, 40);
  CHECK_CAUGHT_UP(&st->u, 15000);
  CHECK_INT(st->u.judged->records, 1);
  slp_world_faults(st->w, NULL);
}

SCENE(three_generations_while_tailing) {
  stage_begin(st, seed, 2);
  slp_user_start(&st->u);
  three_generations(st);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(st->u.judged->ended, 6); /* 0, 3, 4, 5, 2, 6 */
}

SCENE(closed_parents_are_read_first_from_oldest) {
  stage_begin(st, seed, 2);
  three_generations(st);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  slp_world_pass(st->w, 3000);
  CHECK_INT(st->u.judged->ended, 6);
}

SCENE(three_generations_in_shard_order_with_slow_hands) {
  stage_begin(st, seed, 2);
  st->u.opts.order = SLOOP_ORDER_SHARD;
  st->u.manners = (slp_manners){.hold_us_min = 10000, .hold_us_max = 900000};
  slp_user_start(&st->u);
  three_generations(st);
  CHECK_CAUGHT_UP(&st->u, 90000);
}

SCENE(a_split_of_an_empty_shard) {
  stage_begin(st, seed, 1);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 3000);
  slp_world_put_many(st->w, st->stream, 20, 10);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->ended, 1);
}

SCENE(children_of_a_shard_that_was_given_up_are_not_read_nor_theirs) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 200, 100);
  st->u.oracle->stops_expected = 1;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_world_faults(st->w, "1 GetRecords 1 backwards\n");
  produce(st, 10, 5000, 100);
  slp_world_pass(st->w, 8000);
  CHECK(st->u.judged->shards[1].stopped);
  CHECK_INT(slp_world_split(st->w, st->stream, 1), 0);
  slp_world_pass(st->w, 500);
  size_t child = st->stream->shards_n - 1;
  CHECK_INT(slp_world_split(st->w, st->stream, child), 0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 100, 100);
  slp_world_pass(st->w, 150000);  /* two listings */
  CHECK_CAUGHT_UP(&st->u, 20000); /* the other shard */
  for (size_t i = 2; i < st->stream->shards_n; i++) CHECK_INT(st->u.judged->shards[i].next, 0);
}

SCENE(the_grandchild_of_an_empty_parent_comes_in_order) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 100, 100);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  CHECK_INT(slp_world_split(st->w, st->stream, 1), 0); /* empty */
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 100, 100);
  st->u.opts.batch_records_max = 10;
  st->u.manners = (slp_manners){.hold_us_min = 100000, .hold_us_max = 200000};
  st->u.oracle->late_forbidden = 1;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->ended, 2);
}

SCENE(children_are_found_by_listing_where_pages_do_not_name_them) {
  stage_begin(st, seed, 2);
  slp_world_faults(st->w, "* GetRecords * no-children\n");
  slp_user_start(&st->u);
  three_generations(st);
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(children_without_parents_do_not_break_the_lineage) {
  stage_begin(st, seed, 2);
  slp_world_faults(st->w, "* GetRecords * children-without-parents\n");
  slp_user_start(&st->u);
  three_generations(st);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(an_open_shard_without_next_iterator_is_not_ended) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_world_faults(st->w, "3 GetRecords 0 no-next\n");
  slp_user_start(&st->u);
  produce(st, 50, 10000, 100);
  slp_world_pass(st->w, 11000);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK(!st->u.judged->shards[0].ended);
}

SCENE(children_named_beside_an_iterator_do_not_end_the_parent) {
  stage_begin(st, seed, 2);
  slp_world_faults(st->w, "3 GetRecords * children-with-next\n");
  slp_user_start(&st->u);
  three_generations(st);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(a_split_with_the_parents_records_still_out) {
  stage_begin(st, seed, 1);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 10, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 10, 10);
  slp_world_pass(st->w, 10000);
  CHECK(!st->u.judged->shards[0].ended); /* told only when every record is acknowledged */
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 30000);
  slp_world_pass(st->w, 100);
  CHECK(st->u.judged->shards[0].ended);
}

SCENE(reading_goes_on_when_a_parent_is_out_of_retention) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 10, 10);
  slp_world_pass(st->w, 1000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 1000);
  int64_t before = slp_world_ms(st->w);
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_world_pass(st->w, 1000);
  slp_world_trim(st->w, st->stream, before);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(st->u.judged->records, 20);
}

/* A service that lists children before their parents. */
static const slp_source_ops *plain_ops;
static slp_source_ops backwards_ops;
static void (*core_on_listed)(slp_op *rq);

static void on_listed_backwards(slp_op *rq) {
  slp_src_list *l = SLP_OWNER(rq, slp_src_list, rq);
  for (size_t i = 0; i < l->shards_n / 2; i++) {
    slp_shard_desc swap = l->shards[i];
    l->shards[i] = l->shards[l->shards_n - 1 - i];
    l->shards[l->shards_n - 1 - i] = swap;
  }
  core_on_listed(rq);
}

static void list_backwards(slp_source *s, slp_src_list *rq) {
  core_on_listed = rq->rq.on_done;
  rq->rq.on_done = on_listed_backwards;
  plain_ops->list(s, rq);
}

static void open_backwards(stage *st) {
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_source *source = st->u.s->consumer->source;
  plain_ops = source->ops;
  backwards_ops = *plain_ops;
  backwards_ops.list = list_backwards;
  source->ops = &backwards_ops;
}

static int lists_told;
static void on_list(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                    const sloop_error_t *e, void *arg) {
  (void)s, (void)shards, (void)e, (void)arg;
  CHECK(status == 0 && n == 3);
  lists_told++;
}

/* A shard that has ended is all that is asked for, so all of the stream is read when it is. */
static void open_ended(stage *st, const char *const *wanted) {
  slp_world_put_many(st->w, st->stream, 10, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  st->u.opts.shards = wanted;
  st->u.opts.shards_n = 1;
  st->u.opts.list_ms = 1000;
  CHECK_INT(slp_user_open(&st->u), 0);
  end_stream(st->u.s->consumer->source);
  lists_told = 0;
  slp_user_start(&st->u);
}

SCENE(a_stream_that_takes_no_more_records_is_told_once_when_it_is_read) {
  static const char *const wanted[] = {"0"};
  stage_begin(st, seed, 1);
  st->u.manners.keep = 1;
  open_ended(st, wanted);
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->records, 10);
  CHECK_INT(ended_stream.latest_asked, 0); /* nothing is over as long as the user has records */
  CHECK_INT(st->u.judged->errors, 0);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK_INT(st->u.judged->errors, 1);
  CHECK_INT(st->u.judged->last_error, SLOOP_ESTREAMBUSY);
  CHECK(strstr(st->u.judged->last_message, "takes no more records"));
  for (int i = 0; i < 50; i++) { /* also while it is asked what the name leads to */
    int told = lists_told;
    CHECK_INT(sloop_list(st->u.s, on_list, NULL), 0);
    for (int ms = 0; lists_told == told && ms < 500; ms++) slp_world_pass(st->w, 1);
    CHECK_INT(lists_told, told + 1);
    slp_world_pass(st->w, (uint64_t)i);
  }
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->errors, 1);
  int asked = ended_stream.latest_asked;
  slp_world_pass(st->w, 20000);
  CHECK(ended_stream.latest_asked - asked >= 8 && ended_stream.latest_asked - asked <= 20);
  ended_stream.has_another = 1;
  slp_world_pass(st->w, 2000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ENOSTREAM);
  CHECK(strstr(st->u.judged->last_message, "has another stream now"));
}

SCENE(grandchildren_listed_before_their_parents_are_read_too) {
  stage_begin(st, seed, 2);
  st->u.opts.start.kind = SLOOP_AT_SEQ;
  st->u.opts.list_ms = 10000;
  st->u.opts.fetch_records_max = 10;
  st->u.manners.keep = 1; /* so that reading stands still */
  slp_world_put_many(st->w, st->stream, 200, 30);
  st->u.opts.start.shard = st->stream->shards[0].id;
  st->u.opts.start.seq = st->stream->shards[0].notes[0].seq;
  open_backwards(st);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  for (size_t i = 0; i < 3; i += 2) {
    CHECK_INT(slp_world_split(st->w, st->stream, i), 0);
    slp_world_pass(st->w, 500);
    slp_world_put_many(st->w, st->stream, 100, 30);
  }
  slp_world_pass(st->w, 15000);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  for (size_t i = 3; i < 6; i++) CHECK(st->u.judged->shards[i].acked_n > 0);
}

SCENE(a_parent_listed_behind_its_children_is_finished_when_it_is_read) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 30, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 60, 30);
  open_backwards(st);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  CHECK(!strstr(st->u.token, st->stream->shards[0].id));
}

/* A merge and a split in turn double the ways from a shard up to the first one. */
SCENE(a_stream_that_was_merged_and_split_many_times_is_read_as_any_other) {
  stage_begin(st, seed, 1);
  st->u.oracle->late_forbidden = 1;
  slp_user_start(&st->u);
  for (size_t last = 0; last < 36; last += 3) {
    slp_world_put_many(st->w, st->stream, 10, 30);
    CHECK_INT(slp_world_split(st->w, st->stream, last), 0);
    slp_world_put_many(st->w, st->stream, 20, 30);
    slp_world_pass(st->w, 3000);
    CHECK_INT(slp_world_merge(st->w, st->stream, last + 1, last + 2), 0);
    slp_world_pass(st->w, 3000);
    CHECK_INT(st->u.judged->ended, last + 3);
  }
  slp_world_put_many(st->w, st->stream, 10, 30);
  CHECK_CAUGHT_UP(&st->u, 3000);
}

/* A stream in the middle of a split or a merge: what was put before is in its closed shards, what was put after
 * in shards that are not listed yet. */
static void open_in_mid_reshard(stage *st, size_t shards, int children_named) {
  slp_world_put_many(st->w, st->stream, 100, 30);
  CHECK_INT(shards == 1 ? slp_world_split(st->w, st->stream, 0) : slp_world_merge(st->w, st->stream, 0, 1),
            0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 100, 30);
  if (!children_named) slp_world_faults(st->w, "* GetRecords * no-children\n");
  CHECK_INT(slp_user_open(&st->u), 0);
  list_late_from(st->u.s->consumer->source, shards);
  late_listing.reshards = 1;
}

static void check_not_listed(const sloop_shard_stats_t *shard, void *arg) {
  (void)arg;
  if (shard->state != SLOOP_SHARD_FAILS) return;
  CHECK_STR(shard->error, "not listed");
  CHECK(shard->fails > 0);
}

static void tip_comes_after_the_children(stage *st, size_t shards, size_t ended, uint64_t lag_ms,
                                         const char *said) {
  slp_user_start(&st->u);
  slp_world_pass(st->w, lag_ms);
  CHECK_INT(st->u.judged->records, 100);
  CHECK_INT(st->u.judged->tips, 0);
  CHECK_INT(st->u.judged->ended, ended);
  if (said) CHECK(strstr(st->u.judged->last_message, said));
  sloop_stats_t stats = slp_user_stats(&st->u);
  CHECK(stats.tip_age_ms_now == UINT64_MAX); /* what --until looks at */
  CHECK(stats.behind_ms_now == UINT64_MAX);
  sloop_shard_stats_each(st->u.s, check_not_listed, NULL);
  late_listing.hidden_from = SIZE_MAX;
  late_listing.reshards = 0;
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_world_pass(st->w, 3000);
  CHECK_INT(st->u.judged->records, 200);
  CHECK_INT(st->u.judged->ended, shards);
  CHECK_INT(st->u.judged->losses, 0);
  CHECK(st->u.judged->tips > 0);
}

SCENE(a_split_whose_children_are_not_listed_yet_has_no_tip) {
  stage_begin(st, seed, 1);
  open_in_mid_reshard(st, 1, 0);
  tip_comes_after_the_children(st, 1, 0, 4000, NULL);
  CHECK_INT(st->u.judged->errors, 0);
}

SCENE(a_merge_whose_child_is_not_listed_for_minutes_has_no_tip_and_says_what_it_waits_for) {
  stage_begin(st, seed, 2);
  open_in_mid_reshard(st, 2, 0);
  tip_comes_after_the_children(st, 2, 0, 300000,
                               "its children are not listed yet, and the stream is being resharded");
  CHECK(st->u.judged->errors >= 8 && st->u.judged->errors <= 12); /* two shards, each minute */
  CHECK(late_listing.lists >= 50 && late_listing.lists <= 140);
}

SCENE(children_that_a_page_names_and_nobody_lists_yet_are_waited_for) {
  stage_begin(st, seed, 1);
  open_in_mid_reshard(st, 1, 1);
  late_listing.hides_places = 1;
  tip_comes_after_the_children(st, 1, 1, 20000, "is not listed yet, and the stream is being resharded");
}

static void count_fails(const sloop_shard_stats_t *shard, void *arg) {
  int *n = arg;
  if (shard->state != SLOOP_SHARD_FAILS) return;
  n[strcmp(shard->error, "not listed") == 0]++;
  if (strcmp(shard->error, "not listed") != 0)
    CHECK(strcmp(shard->error, "no page yet") == 0 || strcmp(shard->error, "no answer") == 0);
}

/* A listing that takes seconds shows that the shard is closed. One more page must say so too, and takes long. */
SCENE(a_shard_that_was_listed_late_is_not_told_as_not_listed) {
  int waits[2] = {0, 0}, listed[2] = {0, 0};
  stage_begin(st, seed, 1);
  slp_user_start(&st->u);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_world_pass(st->w, 2000);
  CHECK_INT(st->u.judged->records, 100);
  slp_world_faults(st->w, "* GetRecords * no-children\n* ListShards * delay 8000\n");
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 7000);
  sloop_shard_stats_each(st->u.s, count_fails, waits);
  CHECK(waits[0] == 0 && waits[1] == 1);
  slp_world_faults(st->w, NULL);
  slp_world_faults(st->w, "* GetRecords * delay 10000\n");
  slp_world_pass(st->w, 3000);
  sloop_shard_stats_each(st->u.s, count_fails, listed);
  CHECK(listed[0] > 0 && listed[1] == 0);
  slp_world_faults(st->w, NULL);
  slp_world_pass(st->w, 15000);
  CHECK_INT(st->u.judged->ended, 1);
}

/* No service does this: the bound is for servers that know no lineage. */
SCENE(the_end_of_a_settled_stream_without_children_is_taken_for_one_after_half_a_minute) {
  stage_begin(st, seed, 1);
  open_in_mid_reshard(st, 1, 0);
  late_listing.reshards = 0;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 25000);
  CHECK_INT(st->u.judged->tips, 0);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->tips > 0);
  CHECK(strstr(st->u.judged->last_message, "it counts as the last shard"));
  late_listing.hidden_from = SIZE_MAX;
  CHECK_CAUGHT_UP(&st->u, 120000);
}

/* Both children are gone already: shards that were made later are listed, so that no listing will show them. */
SCENE(children_that_are_gone_when_a_page_names_them_are_not_waited_for) {
  stage_begin(st, seed, 1);
  st->u.oracle->losses_expected = 1;
  slp_world_put_many(st->w, st->stream, 100, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  CHECK_INT(slp_world_split(st->w, st->stream, 1), 0);
  CHECK_INT(slp_world_split(st->w, st->stream, 2), 0);
  slp_world_pass(st->w, 500);
  CHECK_INT(slp_user_open(&st->u), 0);
  list_late_from(st->u.s->consumer->source, 1);
  late_listing.hides_places = 1;
  late_listing.hidden_to = 3;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 8000);
  CHECK_INT(st->u.judged->ended, 3);
  CHECK_INT(st->u.judged->losses, 2);
}

/* scene_odd.c - what a service says seldom, and what a program does seldom: a stream that is being made,
 * shards that vanish from the listing, iterators without a text, a record that nobody can take. */
#include "scarce.h"
#include "story/scene.h"

/* ---- answers changed on their way --------------------------------------------------------------------- */

typedef struct change {
  const char *operation, *from, *to; /* in every answer of that operation, `left` times */
  int left;
  slp_known_shard *hidden; /* no listing names it, from now on */
  uint64_t told_us;        /* but one did then */
} change;

static void put(slp_buf *to, const char *p, size_t n) { CHECK_INT(slp_buf_add(to, p, n), 0); }

static void replace(slp_buf *body, const char *from, const char *to) {
  slp_buf out;
  const char *at;
  size_t done = 0;
  slp_buf_init(&out, body->mem, SIZE_MAX / 2);
  while ((at = memmem(body->p + done, body->n - done, from, strlen(from)))) {
    put(&out, body->p + done, (size_t)(at - body->p) - done);
    put(&out, to, strlen(to));
    done = (size_t)(at - body->p) + strlen(from);
  }
  put(&out, body->p + done, body->n - done);
  slp_buf_free(body);
  slp_buf_move(body, &out);
}

/* Takes the object with that ShardId out of the list. */
static void hide(slp_buf *body, const char *id) {
  char key[160];
  snprintf(key, sizeof key, "\"ShardId\":\"%s\"", id);
  char *at = memmem(body->p, body->n, key, strlen(key)), *end = body->p + body->n;
  if (!at) return;
  char *from = at, *to = at;
  while (*from != '{') from--; /* it is the first member: nothing nested is before it */
  for (int depth = 1; depth;) {
    depth += *to == '{' ? 1 : *to == '}' ? -1 : 0;
    to++;
  }
  if (*to == ',')
    to++;
  else if (from[-1] == ',')
    from--;
  memmove(from, to, (size_t)(end - to));
  body->n -= (size_t)(to - from);
}

static void change_answer(slp_world *w, const char *op, slp_known_shard *shard, slp_sim_reply *reply) {
  change *c = w->user;
  (void)shard;
  if (reply->status != 200) return;
  if (c->hidden && strcmp(op, "ListShards") == 0) {
    hide(&reply->body, c->hidden->id);
    c->hidden->told_us = c->told_us;
  }
  if (!c->left || strcmp(op, c->operation) != 0) return;
  c->left--;
  replace(&reply->body, c->from, c->to);
}

/* It lives longer than the scene that changes it: what is out is answered while the stage is taken down. */
static change *change_answers(stage *st, change first) {
  static change c;
  c = first;
  st->w->user = &c;
  st->w->on_answer = change_answer;
  st->u.opts.wire = SLOOP_WIRE_JSON;
  return &c;
}

/* ---- the stream ---------------------------------------------------------------------------------------- */

SCENE(a_stream_that_is_being_made_is_waited_for) {
  stage_begin(st, seed, 2);
  change *c = change_answers(st, (change){"DescribeStreamSummary", "\"ACTIVE\"", "\"CREATING\"", .left = 3});
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 50);
  CHECK_INT(c->left, 2);
  CHECK_INT(st->u.judged->last_error, SLOOP_ESTREAMBUSY);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(c->left, 0);
  CHECK(!st->u.judged->failed);
}

/* ---- iterators ---------------------------------------------------------------------------------------- */

SCENE(an_iterator_without_a_text_is_asked_for_again) {
  stage_begin(st, seed, 1);
  st->u.opts.wire = SLOOP_WIRE_JSON;
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_world_faults(st->w, "2 GetShardIterator * body {\"ShardIterator\":\"\"}\n");
  slp_user_start(&st->u);
  slp_world_pass(st->w, 50);
  CHECK_INT(st->u.judged->last_error, SLOOP_EPROTO);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->stream->shards[0].locates, 3);
}

/* It is the service's mistake, and no lack of memory. */
SCENE(an_iterator_longer_than_any_is_told_with_the_limit_and_asked_for_again) {
  static char longest[5001] = "\"NextShardIterator\":\"";
  for (size_t i = strlen(longest); i < sizeof longest - 1; i++) longest[i] = 'i';
  stage_begin(st, seed, 1);
  change *c = change_answers(st, (change){"GetRecords", "\"NextShardIterator\":\"", longest, .left = 2});
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 50);
  CHECK_INT(c->left, 1);
  CHECK_INT(st->u.judged->last_error, SLOOP_EPROTO);
  CHECK(strstr(st->u.judged->last_message, "4096"));
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(c->left, 0);
}

/* Perhaps only the iterator is bad; when a new one does not help, nothing will. */
SCENE(a_refused_call_is_made_once_more_with_a_new_iterator) {
  stage_begin(st, seed, 2);
  st->u.oracle->stops_expected = 1;
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_world_faults(st->w,
                   "1 GetRecords 0 error InvalidArgumentException:400\n"
                   "2 GetRecords 1 error InvalidArgumentException:400\n");
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_world_pass(st->w, 60000);
  CHECK_INT(st->stream->shards[0].locates, 2);
  CHECK_INT(st->u.judged->shards[0].acked_n, st->stream->shards[0].notes_n);
  CHECK(!st->u.judged->shards[0].stopped);
  CHECK(st->u.judged->shards[1].stopped);
  CHECK_INT(st->u.judged->last_error, SLOOP_EREFUSED);
}

/* A proxy between us and the service, perhaps: it says nothing about the shard. */
SCENE(a_refusal_without_a_name_is_no_reason_to_give_a_shard_up) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_world_faults(st->w, "6 GetRecords * status 418\n");
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 120000);
  CHECK_INT(st->u.judged->last_error, SLOOP_EREFUSED);
}

/* ---- the listing --------------------------------------------------------------------------------------- */

SCENE(an_open_shard_without_a_next_iterator_is_asked_again) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_world_faults(st->w, "3 GetRecords * no-next\n");
  slp_world_pass(st->w, 10000);
  CHECK_INT(st->u.judged->last_error, SLOOP_EPROTO);
  slp_world_put_many(st->w, st->stream, 20, 10);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(st->u.judged->ended, 0);
}

/* Nobody would ever read it, nor say why. */
SCENE(a_shard_that_is_listed_as_its_own_ancestor_is_told) {
  stage_begin(st, seed, 2);
  change *c = change_answers(
      st,
      (change){"ListShards", "\"ShardId\":\"shardId-000000000001\"",
               "\"ShardId\":\"shardId-000000000001\",\"ParentShardId\":\"shardId-000000000001\"", .left = 3});
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 100);
  CHECK_INT(st->u.judged->last_error, SLOOP_EPROTO);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(c->left, 0);
  CHECK(!st->u.judged->failed);
}

/* A page names children that can't be, as often as it is asked; the listing knows better. */
SCENE(children_that_cannot_be_are_not_taken_from_a_page) {
  static const char honest[] = "\"ParentShards\":[\"shardId-000000000000\"]";
  static const char *const wrong[] = {
      "\"ParentShards\":[\"shardId-000000000002\",\"shardId-000000000000\"]", /* itself, and its sibling */
      "\"ParentShards\":[\"shardId-000000000003\",\"shardId-000000000000\"]",
      "\"ParentShards\":[\"shardId-000000000002\"]",
      "\"ParentShards\":[\"shardId-999999999999\"]",
      "\"ParentShards\":[\"shardId-000000000001\"]",
      "\"ParentShards\":[\"shardId-000000000001\",\"shardId-000000000000\"]", /* would be, if it were closed */
  };
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    stage_begin(st, seed, 2);
    st->u.opts.list_ms = 2000;
    change_answers(st, (change){"GetRecords", honest, wrong[i], .left = 1000000});
    slp_world_put_many(st->w, st->stream, 20, 10);
    slp_user_start(&st->u);
    slp_world_pass(st->w, 3000);
    CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
    slp_world_pass(st->w, 1000);
    slp_world_put_many(st->w, st->stream, 60, 10);
    CHECK_CAUGHT_UP(&st->u, 30000);
    CHECK(st->u.judged->shards[2].opened && st->u.judged->shards[3].opened);
    if (i + 1 < SLP_COUNT(wrong)) stage_end(st);
  }
}

/* Of the memory that runs out one allocation fails, the n-th from the first answer of ListShards on. What is
 * listed after that is refused. */
static scarce memory;
static int64_t fails_at;
static int listed;

static void lack_when_listed(slp_world *w, const char *op, slp_known_shard *shard, slp_sim_reply *reply) {
  change_answer(w, op, shard, reply);
  if (strcmp(op, "ListShards") != 0) return;
  if (listed)
    reply->status = 500;
  else
    memory.left = fails_at;
  listed = 1;
}

/* A page names a second parent that could be, and the listing that corrects it meets failing memory. Without
 * parents the children would be read before the one they have is done. */
SCENE(a_child_keeps_its_parents_where_there_is_no_memory_to_correct_them) {
  for (fails_at = 0, memory.failed = 1; memory.failed; fails_at++) {
    stage_begin(st, seed, 2);
    memory = (scarce){.left = -1, .once = 1};
    listed = 0;
    slp_user_leave(&st->u);
    slp_world_pass(st->w, 1);
    slp_user_free(&st->u);
    slp_user_init_mem(&st->u, st->w, st->stream, slp_mem_new(scarce_alloc, &memory));
    st->u.oracle->memory_fails = 1;
    change_answers(st, (change){"GetRecords", "\"ParentShards\":[\"shardId-000000000000\"]",
                                "\"ParentShards\":[\"shardId-000000000000\",\"shardId-000000000001\"]",
                                .left = 1000000});
    st->u.opts.order = SLOOP_ORDER_SHARD;
    st->u.opts.batch_records_max = 5;
    slp_world_put_many(st->w, st->stream, 20, 10);
    slp_user_start(&st->u);
    CHECK_CAUGHT_UP(&st->u, 10000);
    slp_user_pause(&st->u, st->stream->shards[1].id);
    slp_world_put_to(st->w, st->stream, 1, 10);
    CHECK_INT(slp_world_split(st->w, st->stream, 1), 0); /* 2, 3 */
    slp_user_list(&st->u);
    slp_world_pass(st->w, 3000);
    st->u.manners.keep = 1;
    slp_world_put_many(st->w, st->stream, 200, 10);
    CHECK_INT(slp_world_split(st->w, st->stream, 0), 0); /* 4, 5 */
    slp_world_put_many(st->w, st->stream, 60, 10);
    slp_world_pass(st->w, 2500);
    CHECK_INT(st->stream->shards[4].locates, 0); /* named, and not begun: its other parent is paused */
    st->w->on_answer = lack_when_listed;
    slp_user_list(&st->u);
    slp_world_pass(st->w, 2000);
    slp_user_resume(&st->u, NULL); /* shard 1 ends, which has it looked at what may be begun */
    slp_world_pass(st->w, 3000);
    memory.left = -1;
    st->w->on_answer = change_answer;
    st->u.manners.keep = 0;
    slp_user_return_all(&st->u);
    CHECK_CAUGHT_UP(&st->u, 30000);
    if (memory.failed) stage_end(st);
  }
}

/* A parent that the service keeps no more comes back as a child. */
SCENE(an_ancestor_that_was_forgotten_is_not_taken_for_a_child) {
  stage_begin(st, seed, 1);
  st->u.opts.list_ms = 2000;
  change_answers(st, (change){"GetRecords", "\"ShardId\":\"shardId-000000000003\"",
                              "\"ShardId\":\"shardId-000000000000\"", .left = 1000000});
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0); /* 1, 2 */
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_world_trim(st->w, st->stream, st->stream->shards[1].notes[0].arrived_ms);
  CHECK(st->stream->shards[0].gone);
  slp_world_pass(st->w, 20000);
  uint64_t locates = st->stream->shards[0].locates;
  CHECK_INT(slp_world_split(st->w, st->stream, 1), 0); /* 3, 4 */
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(st->u.judged->losses, 0);
  CHECK_INT(st->stream->shards[0].locates, locates);
}

/* Said by the shard's own answers and by two listings: it is gone, with what was not read of it. */
SCENE(a_shard_that_is_not_known_and_not_listed_is_gone) {
  sloop_sandbox_opts_t box;
  slp_world_box_opts(&box);
  box.iterator_ms = 3000;
  stage_begin_with(st, seed, 2, &box);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  st->u.opts.list_ms = 5000;
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_user_pause(&st->u, st->stream->shards[0].id);
  for (int i = 0; i < 3; i++) slp_world_put_to(st->w, st->stream, 0, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 4000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_world_trim(st->w, st->stream, st->stream->shards[2].notes[0].arrived_ms);
  CHECK(st->stream->shards[0].gone);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->losses, 1);
  CHECK(st->u.judged->shards[0].ended);
  slp_world_pass(st->w, 20000); /* some more listings: it is forgotten, its children are not */
  slp_user_list(&st->u);
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_CAUGHT_UP(&st->u, 10000);
  CHECK_INT(st->u.listed, 3);
}

/* The same words while one listing has not yet caught up: nothing is lost. */
SCENE(a_shard_that_one_listing_forgot_is_read_on) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  change *c = change_answers(st, (change){.hidden = &st->stream->shards[0]});
  slp_world_faults(st->w, "3 GetRecords 0 error ResourceNotFoundException:400\n");
  uint64_t calls = st->w->calls - st->w->gets;
  while (st->w->calls - st->w->gets == calls) slp_world_pass(st->w, 1);
  c->hidden = NULL;
  slp_world_put_many(st->w, st->stream, 20, 10);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->losses, 0);
}

/* From a place of shard 0 nothing is read but it and its descendants. */
SCENE(what_descends_from_shards_outside_the_start_is_left_out) {
  stage_begin(st, seed, 2);
  st->u.opts.list_ms = 2000;
  slp_world_put_many(st->w, st->stream, 20, 10);
  st->u.opts.start.kind = SLOOP_AT_SEQ;
  st->u.opts.start.shard = st->stream->shards[0].id;
  st->u.opts.start.seq = st->stream->shards[0].notes[0].seq;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK_INT(slp_world_split(st->w, st->stream, 1), 0);
  slp_world_pass(st->w, 1000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 1000);
  CHECK_INT(slp_world_split(st->w, st->stream, 2), 0);
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_CAUGHT_UP(&st->u, 30000);
  slp_world_pass(st->w, 10000);
  for (size_t i = 0; i < st->stream->shards_n; i++)
    CHECK_INT(st->stream->shards[i].polls > 0, i == 0 || i == 4 || i == 5);
}

/* ---- the program --------------------------------------------------------------------------------------- */

static int fifth_of_the_first(const slp_user *u, const sloop_record_t *r) {
  const slp_known_shard *k = &u->judged->stream->shards[0];
  return strcmp(r->shard, k->id) == 0 && strlen(k->notes[4].seq) == r->seq.len &&
         memcmp(r->seq.base, k->notes[4].seq, r->seq.len) == 0;
}

static int refuse_one(slp_user *u, sloop_batch_t *b) {
  for (size_t i = 0; i < sloop_batch_count(b); i++)
    if (!fifth_of_the_first(u, sloop_batch_at(b, i))) slp_user_ack(u, b, i);
  slp_user_done(u, b, 0);
  return 1;
}

/* The fifth record of shard 0 is refused, and its shard given up at the third try. */
static void refuse_at_third_try(stage *st) {
  st->u.oracle->stops_expected = 1;
  st->u.opts.on_retry = SLOOP_RETRY_STOP;
  st->u.opts.retry_max = 3;
  st->u.on_batch = refuse_one;
}

SCENE(a_record_that_nobody_can_take_ends_its_shard_and_no_other) {
  stage_begin(st, seed, 2);
  refuse_at_third_try(st);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[0].stopped);
  CHECK_INT(st->u.judged->last_error, SLOOP_ESTATE);
  CHECK(strstr(st->u.judged->last_message, "was returned 3 times"));
  CHECK_INT(slp_oracle_held(st->u.oracle), 0);
  uint64_t polls = st->stream->shards[0].polls;
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_world_pass(st->w, 20000);
  CHECK_INT(st->stream->shards[0].polls, polls);
  CHECK_INT(st->u.judged->shards[1].acked_n, st->stream->shards[1].notes_n);
}

typedef struct told_counts {
  uint64_t next[6], polls[6];
} told_counts;

static told_counts counts_of(const stage *st) {
  told_counts c = {0};
  for (size_t i = 0; i < st->stream->shards_n; i++) {
    c.next[i] = st->u.judged->shards[i].next;
    c.polls[i] = st->stream->shards[i].polls;
  }
  return c;
}

/* A closed shard is read to its end, pages of its children are fetched, and a record of it is refused: neither it
 * nor what descends from it goes on, and from the token it does, at that record. */
static void refused_after_the_end(stage *st, uint64_t seed, sloop_order_t order, uint32_t batch_records) {
  stage_begin(st, seed, 2);
  refuse_at_third_try(st);
  st->u.opts.order = order;
  if (batch_records) st->u.opts.batch_records_max = batch_records;
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0); /* 2, 3 */
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 2), 0); /* 4, 5 */
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[0].stopped);
  CHECK(!st->u.judged->shards[0].ended);
  CHECK(strstr(st->u.judged->last_message, "was returned 3 times"));
  told_counts was = counts_of(st);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_world_pass(st->w, 150000); /* two listings */
  told_counts is = counts_of(st);
  for (size_t i = 0; i < 6; i++) {
    if (i == 1) continue;
    CHECK_INT(is.next[i], was.next[i]);
    CHECK_INT(is.polls[i], was.polls[i]);
    if (i > 1 && batch_records) CHECK_INT(is.next[i], 0); /* it had records left before them */
    CHECK(st->u.judged->shards[i].stopped || st->u.judged->shards[i].ended ||
          !st->u.judged->shards[i].opened);
  }
  CHECK_INT(st->u.judged->shards[1].acked_n, st->stream->shards[1].notes_n);
  /* a poll of shard 1 that is under way has bytes reserved */
  for (int i = 0; i < 20 && slp_user_stats(&st->u).buffered_bytes_now >= 2000; i++) slp_world_pass(st->w, 10);
  CHECK_BELOW(slp_user_stats(&st->u).buffered_bytes_now, 2000); /* without the bodies, 14,000 */
  CHECK(slp_user_save(&st->u));
  st->u.on_batch = NULL;
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(children_of_a_shard_given_up_after_its_end_are_not_handed_out) {
  refused_after_the_end(st, seed, SLOOP_ORDER_TIME, 5);
}

SCENE(those_that_have_begun_go_no_further) { refused_after_the_end(st, seed, SLOOP_ORDER_TIME, 0); }

SCENE(nor_do_they_shard_by_shard) { refused_after_the_end(st, seed, SLOOP_ORDER_SHARD, 5); }

static int count_refused(slp_user *u, sloop_batch_t *b) {
  int *refused = u->scene;
  for (size_t i = 0; i < sloop_batch_count(b); i++) *refused += fifth_of_the_first(u, sloop_batch_at(b, i));
  return refuse_one(u, b);
}

/* It came again for ever, and the records of others behind it in order by time waited for it. */
SCENE(a_record_that_nobody_can_take_leaves_a_shard_whose_reading_failed) {
  stage_begin(st, seed, 2);
  st->u.oracle->stops_expected = st->u.oracle->losses_expected = 1;
  st->u.opts.on_trimmed = SLOOP_TRIMMED_STOP;
  st->u.opts.on_retry = SLOOP_RETRY_STOP;
  st->u.opts.retry_max = 6;
  st->u.on_batch = count_refused;
  int refused = 0;
  st->u.scene = &refused;
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 200);
  slp_world_faults(st->w, "1 GetRecords 0 error TrimmedDataAccessException:400\n");
  slp_world_pass(st->w, 300000);
  CHECK(st->u.judged->shards[0].stopped);
  CHECK_INT(refused, 6);
  produce(st, 500, 60000, 10);
  slp_world_pass(st->w, 70000);
  CHECK_BELOW(st->u.judged->delay_us_max, 5000000);
}

/* One parent of a merge is given up, the other is fine: its child goes no further, and from the token it does. */
static void one_parent_of_two(stage *st, uint64_t seed, uint32_t first, uint32_t second) {
  stage_begin(st, seed, 2);
  refuse_at_third_try(st);
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_INT(slp_world_merge(st->w, st->stream, first, second), 0); /* 2 */
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[0].stopped && st->u.judged->shards[1].ended);
  told_counts was = counts_of(st);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_world_pass(st->w, 150000);
  CHECK_INT(counts_of(st).next[2], was.next[2]);
  CHECK(st->u.judged->shards[2].stopped || !st->u.judged->shards[2].opened);
  CHECK(st->u.judged->tips > 0);
  CHECK(slp_user_save(&st->u));
  st->u.on_batch = NULL;
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(a_child_of_a_merge_stops_with_its_parent) { one_parent_of_two(st, seed, 0, 1); }
SCENE(or_with_its_other_parent) { one_parent_of_two(st, seed, 1, 0); }

/* Shards 4 and 5, whose parent 2 no listing names until it is told to, are begun beside shard 0, whose children were 2 and
 * 3. Nothing of shard 0 names them, for it is not read to its end. */
static change *begin_without_a_generation(stage *st, uint64_t seed) {
  stage_begin(st, seed, 2);
  refuse_at_third_try(st);
  st->u.opts.fetch_records_max = st->u.opts.buffered_records_per_shard_max = 8;
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0); /* 2, 3 */
  slp_world_pass(st->w, 1000);
  CHECK_INT(slp_world_split(st->w, st->stream, 2), 0); /* 4, 5 */
  slp_world_pass(st->w, 1000);
  return change_answers(st, (change){.hidden = &st->stream->shards[2]});
}

/* Nothing more of 2 to 5 is read or handed out. */
static void stays_stopped(stage *st) {
  told_counts was = counts_of(st);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_world_pass(st->w, 150000); /* two listings */
  told_counts is = counts_of(st);
  for (int i = 2; i < 6; i++) CHECK_INT(is.next[i], was.next[i]);
  for (int i = 2; i < 6; i++) CHECK_INT(is.polls[i], was.polls[i]);
  CHECK(st->u.judged->shards[4].stopped && st->u.judged->shards[5].stopped);
  CHECK_INT(st->u.judged->shards[1].acked_n, st->stream->shards[1].notes_n);
}

/* The listing lacks a generation, so the one behind it was begun; then its parent's parent is given up. */
SCENE(a_parent_that_is_listed_late_stops_its_children_when_it_is_barred) {
  change *c = begin_without_a_generation(st, seed);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[0].stopped);
  CHECK(st->u.judged->shards[4].opened && !st->u.judged->shards[4].stopped);
  c->hidden = NULL;
  slp_world_pass(st->w, 70000); /* a listing */
  stays_stopped(st);
}

/* Others wait in order for a shard that does not answer; when it is barred, nothing else wakes them. */
SCENE(others_go_on_when_the_shard_they_wait_for_is_barred) {
  change *c = begin_without_a_generation(st, seed);
  st->u.opts.order_wait_ms = UINT32_MAX;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 10000);
  CHECK(st->u.judged->shards[0].stopped);
  CHECK(st->u.judged->shards[4].opened && !st->u.judged->shards[4].stopped);
  slp_world_faults(st->w, "* GetRecords 4 delay 600000\n* GetRecords 5 delay 600000\n");
  slp_world_pass(st->w, 3000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_world_pass(st->w, 10000);
  CHECK_BELOW(st->u.judged->shards[1].acked_n, st->stream->shards[1].notes_n);
  c->hidden = NULL;
  slp_world_pass(st->w, 70000); /* a listing */
  CHECK(st->u.judged->shards[4].stopped && st->u.judged->shards[5].stopped);
  CHECK_INT(st->u.judged->shards[1].acked_n, st->stream->shards[1].notes_n);
}

/* The batch with its first five records is kept; what else comes is taken. */
static int keep_the_fifth(slp_user *u, sloop_batch_t *b) {
  sloop_batch_t **kept = u->scene;
  for (size_t i = 0; i < sloop_batch_count(b); i++)
    if (fifth_of_the_first(u, sloop_batch_at(b, i)) && !*kept) *kept = b;
  if (*kept == b) return 1;
  return refuse_one(u, b);
}

static void refuse_kept(slp_user *u, sloop_batch_t *kept) {
  for (size_t i = 0; i < sloop_batch_count(kept); i++)
    if (!fifth_of_the_first(u, sloop_batch_at(kept, i))) slp_user_ack(u, kept, i);
  slp_user_done(u, kept, 0);
}

/* It is listed while its parent is still read, and waits, with its children begun; then its parent is given up. */
SCENE(children_behind_one_that_waits_stop_with_its_parent) {
  change *c = begin_without_a_generation(st, seed);
  sloop_batch_t *kept = NULL;
  st->u.scene = &kept;
  st->u.on_batch = keep_the_fifth;
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  c->hidden = NULL;
  slp_world_pass(st->w, 70000); /* a listing */
  CHECK(kept && st->stream->shards[2].told_us && !st->u.judged->shards[2].opened);
  CHECK(st->u.judged->shards[4].opened && !st->u.judged->shards[4].stopped);
  refuse_kept(&st->u, kept);
  while (!st->u.judged->shards[0].stopped) slp_world_pass(st->w, 1);
  CHECK(st->u.judged->shards[4].stopped && st->u.judged->shards[5].stopped);
  stays_stopped(st);
}

/* A record is kept for longer than its shard's child is listed, and refused afterwards: what descends from that
 * child goes no further. */
SCENE(what_descends_from_a_shard_that_is_listed_no_more_stops_with_its_grandparent) {
  stage_begin(st, seed, 2);
  refuse_at_third_try(st);
  sloop_batch_t *kept = NULL;
  st->u.scene = &kept;
  st->u.on_batch = keep_the_fifth;
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0); /* 2, 3 */
  slp_world_pass(st->w, 1000);
  CHECK_INT(slp_world_split(st->w, st->stream, 2), 0); /* 4, 5 */
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  change *c = change_answers(st, (change){0});
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  CHECK(kept && st->u.judged->shards[2].ended && st->u.judged->shards[4].opened);
  c->hidden = &st->stream->shards[2];
  c->told_us = c->hidden->told_us;
  slp_world_pass(st->w, 200000); /* three listings */
  refuse_kept(&st->u, kept);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[0].stopped);
  stays_stopped(st);
}

/* They are known, and nothing of them was asked for. */
SCENE(children_that_will_not_be_read_keep_no_tip) {
  stage_begin(st, seed, 2);
  st->u.oracle->stops_expected = st->u.oracle->losses_expected = 1;
  st->u.opts.on_trimmed = SLOOP_TRIMMED_STOP;
  slp_world_put_many(st->w, st->stream, 60, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_world_faults(st->w, "1 GetRecords 0 error TrimmedDataAccessException:400\n");
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[0].stopped);
  CHECK(st->u.judged->tips > 0);
}

SCENE(where_records_are_gone_a_shard_stops_when_told_to) {
  stage_begin(st, seed, 2);
  st->u.oracle->stops_expected = st->u.oracle->losses_expected = 1;
  st->u.opts.on_trimmed = SLOOP_TRIMMED_STOP;
  slp_world_put_many(st->w, st->stream, 60, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_world_faults(st->w, "1 GetRecords 0 error TrimmedDataAccessException:400\n");
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->losses, 1);
  CHECK(st->u.judged->shards[0].stopped);
  CHECK(!st->u.judged->shards[1].stopped);
  CHECK_INT(st->u.judged->last_error, SLOOP_ETRIMMED);
}

typedef struct told_moves {
  slp_user *user;
  int n, status[2], before_stop[2];
} told_moves;

static void on_moved(sloop_t *s, int status, void *arg) {
  told_moves *m = arg;
  (void)s;
  CHECK(m->n < 2);
  m->status[m->n] = status;
  m->before_stop[m->n++] = !m->user->stop_told;
}

SCENE(moves_that_a_stop_overtakes_are_told_before_it) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  told_moves m = {.user = &st->u};
  sloop_position_t to = {.kind = SLOOP_OLDEST};
  for (int i = 0; i < 2; i++) CHECK_INT(sloop_seek(st->u.s, &to, on_moved, &m), 0);
  slp_user_stop(&st->u, 5000);
  slp_world_pass(st->w, 1000);
  CHECK_INT(m.n, 2);
  for (int i = 0; i < 2; i++) CHECK(m.status[i] == SLP_ECANCELED && m.before_stop[i]);
  CHECK(st->u.stop_told);
  CHECK_INT(st->u.stop_status, 0);
}

static void count_errors(slp_user *u, const char *callback) {
  int *counted = u->scene;
  counted[0] += strcmp(callback, "on_error") == 0;
  counted[1] += strcmp(callback, "on_log") == 0;
}

/* The user reads not so many messages; the oldest are dropped, and a message says so. */
SCENE(of_very_many_messages_the_newest_are_told) {
  stage_begin(st, seed, 1);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  int counted[2] = {0, 0};
  st->u.scene = counted;
  st->u.on_any = count_errors;
  char text[80];
  sloop_position_t to = {.kind = SLOOP_AT_TOKEN, .token = text};
  for (int i = 0; i < 3000; i++) {
    snprintf(text, sizeof text, "%d", i);
    CHECK_INT(sloop_seek(st->u.s, &to, NULL, NULL), SLOOP_ETOKEN);
  }
  slp_world_pass(st->w, 5000);
  CHECK(counted[0] > 900 && counted[0] <= 1024);
  CHECK(counted[1] >= 1);
  slp_world_put_many(st->w, st->stream, 20, 10);
  CHECK_CAUGHT_UP(&st->u, 10000);
  st->u.on_any = NULL;
}

/* The tables of states of core: of a consumer (life.h), of the reading of a shard (reading.h), and whether a
 * shard is read at all (lineage.h). */
#include "base/states.h"
#include "core/core.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/lineage_part.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/shard_inside.h"
#include "host/host.h"

#include "moves.h"

static slp_host host = {.in_turn = 1};
static slp_engine engine = {.host = &host};
static slp_consumer consumer = {.engine = &engine};
static slp_shard shard = {.consumer = &consumer};

static int live(int from, int to) {
  consumer.life = (slp_life)from;
  slp_consumer_move(&consumer, (slp_life)to);
  return (int)consumer.life;
}

TEST(a_consumer_that_stopped_or_failed_never_runs_again) {
  enum { STATES = SLP_LIFE_CLOSING + 1 };
  unsigned moves[STATES] = {0}, ends = SLP_BIT(SLP_LIFE_STOPPING) | SLP_BIT(SLP_LIFE_FAILED);
  moves_find(moves, STATES, live);
  for (int from = 0; from < STATES; from++) CHECK(moves[from] & SLP_BIT(SLP_LIFE_CLOSING)); /* at any time */
  for (int from = 0; from < STATES; from++) moves[from] &= ~SLP_BIT(SLP_LIFE_CLOSING);
  CHECK_INT(moves[SLP_LIFE_OPEN], SLP_BIT(SLP_LIFE_DESCRIBING));
  CHECK_INT(moves[SLP_LIFE_DESCRIBING], SLP_BIT(SLP_LIFE_LISTING) | ends);
  CHECK_INT(moves[SLP_LIFE_LISTING], SLP_BIT(SLP_LIFE_RUNNING) | ends);
  CHECK_INT(moves[SLP_LIFE_RUNNING], ends);
  /* A fleet that can't be used any more is told then too. */
  CHECK_INT(moves[SLP_LIFE_STOPPING], SLP_BIT(SLP_LIFE_STOPPED) | SLP_BIT(SLP_LIFE_FAILED));
  CHECK_INT(moves[SLP_LIFE_STOPPED], SLP_BIT(SLP_LIFE_FAILED));
  CHECK_INT(moves[SLP_LIFE_FAILED], ends | SLP_BIT(SLP_LIFE_STOPPED));
  CHECK_INT(moves[SLP_LIFE_CLOSING], 0);
}

static int read_on(int from, int to) {
  shard.reading.state = (slp_reader_state)from;
  slp_reading_move(&shard, (slp_reader_state)to);
  return (int)slp_reading_state(&shard);
}

TEST(a_shard_ends_only_by_an_answer_or_the_listing) {
  enum { STATES = SLP_READER_GONE + 1 };
  unsigned moves[STATES] = {0}, gone = SLP_BIT(SLP_READER_GONE), waits = SLP_BIT(SLP_READER_WAITING);
  unsigned checks = SLP_BIT(SLP_READER_CHECKING), ended = SLP_BIT(SLP_READER_ENDED);
  moves_find(moves, STATES, read_on);
  CHECK_INT(moves[SLP_READER_IDLE], waits | gone);
  CHECK_INT(moves[SLP_READER_WAITING], SLP_BIT(SLP_READER_LOCATING) | SLP_BIT(SLP_READER_FETCHING) | gone);
  CHECK_INT(moves[SLP_READER_LOCATING], waits | checks | gone);
  CHECK_INT(moves[SLP_READER_FETCHING], waits | checks | ended | gone);
  CHECK_INT(moves[SLP_READER_CHECKING], waits | ended | gone);
  CHECK_INT(moves[SLP_READER_ENDED], waits | gone); /* what was read of it had to be forgotten */
  CHECK_INT(moves[SLP_READER_GONE], gone);
}

static int select_it(int from, int to) {
  shard.lineage.selection = (slp_selection)from;
  slp_lineage_set(&shard, (slp_selection)to);
  return (int)shard.lineage.selection;
}

TEST(a_shard_that_was_given_up_is_never_wanted_again) {
  enum { STATES = SLP_SELECT_STOPPED + 1 };
  unsigned moves[STATES] = {0}, wanted = SLP_BIT(SLP_SELECT_WANTED), skipped = SLP_BIT(SLP_SELECT_SKIPPED);
  moves_find(moves, STATES, select_it);
  CHECK_INT(moves[SLP_SELECT_WANTED],
            wanted | skipped | SLP_BIT(SLP_SELECT_BARRED) | SLP_BIT(SLP_SELECT_STOPPED));
  CHECK_INT(moves[SLP_SELECT_SKIPPED], wanted | skipped);
  CHECK_INT(moves[SLP_SELECT_BARRED], 0);
  CHECK_INT(moves[SLP_SELECT_STOPPED], 0);
}

TEST(shards_that_wait_to_be_read_are_counted) {
  consumer.sum.waiting_n = 5;
  shard.reading.state = SLP_READER_IDLE;
  select_it(SLP_SELECT_WANTED, SLP_SELECT_SKIPPED);
  CHECK_INT(consumer.sum.waiting_n, 4);
  select_it(SLP_SELECT_SKIPPED, SLP_SELECT_WANTED);
  CHECK_INT(consumer.sum.waiting_n, 5);
  select_it(SLP_SELECT_WANTED, SLP_SELECT_WANTED);
  CHECK_INT(consumer.sum.waiting_n, 5);
  shard.reading.state = SLP_READER_WAITING; /* it does not wait any more, and is not counted */
  select_it(SLP_SELECT_WANTED, SLP_SELECT_STOPPED);
  CHECK_INT(consumer.sum.waiting_n, 5);
}

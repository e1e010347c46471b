/* guest/strategies.c: each strategy is whole. A lease may be taken from a living worker's name only with a proof that
 * the table checks: the worker was evicted first, or the take asks for the number or time that was seen. */
#include "guest/strategies.h"

#include "check.h"

static const slp_strategy *const guests[] = {&slp_strategy_kcl.base, &slp_strategy_vmware.base,
                                             &slp_strategy_kinsumer.base, &slp_strategy_motorway.base,
                                             &slp_strategy_kcl_rb.base};

static void is_whole(const slp_strategy *s) {
  CHECK(s->urgent && s->doubtful);
  CHECK(s->join && s->beat && s->good_us);
  CHECK(s->begin && s->met && s->missed && s->listed && s->unknown_children && s->part);
}

TEST(the_native_one_evicts_by_name_and_asks_nothing_else_of_rows) {
  const slp_strategy *s = &slp_strategy_native;
  is_whole(s);
  CHECK(s->members && s->proves_takes && s->heartbeat && s->evicted_other);
  CHECK(!s->outcome && !s->sign && !s->epoch_after && !s->take_epoch && !s->silent_leases);
  CHECK(!s->fleet_bytes && !s->lease_bytes && !s->timers && !s->init);
}

TEST(each_of_the_others_proves_every_lease_by_its_own_row) {
  for (size_t i = 0; i < SLP_COUNT(guests); i++) {
    const slp_strategy *s = guests[i];
    is_whole(s);
    CHECK(s->outcome && s->sign && s->silent_leases);
    CHECK(!s->members && !s->proves_takes && !s->frees_all);
    CHECK(s->wrote && s->may_open && s->gone);
    CHECK(s->init && s->stop && s->free && s->fleet_bytes && s->lease_bytes && s->timers);
    CHECK(s->counts != (s->past_us != NULL)); /* what its take asks for */
    CHECK(!s->past_us == !s->epoch_after);
    CHECK(!s->clients == !s->is_share);
  }
}

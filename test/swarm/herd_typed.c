/* herd_typed.c - a herd whose calls go without the protocols' bytes: swarm/typed.h in the place of the sandbox.
 */
#include "swarm/herd.h"
#include "swarm/typed.h"

static slp_str typed_text(const void *row, const char *name) { return slp_row_text(row, slp_str_of(name)); }

static void on_row(void *arg, slp_host *from, uint64_t sent_us, const slp_row_key *key, const slp_row *row) {
  hd_world *hw = arg;
  (void)from, (void)sent_us; /* the world knows whose call it is */
  hd_row_written(hw, hw->plan->schema == HD_SLOOP ? key->range : key->hash, typed_text, row);
}

void hd_typed_begin(hd_world *hw) {
  const uint32_t *rate = hw->plan->rate;
  hw->typed = slp_typed_new(hw->w);
  slp_typed_on_row(hw->typed, on_row, hw);
  *slp_typed_faults_of(hw->typed) = (slp_typed_faults){
      .throttle_ppm = rate[HF_throttle],
      .table_throttle_ppm = rate[HF_throttle],
      .error_ppm = rate[HF_error],
      .table_error_ppm = rate[HF_error],
      .expired_ppm = rate[HF_page] / 10,
      .empty_ppm = rate[HF_page],
      .end_late_ppm = rate[HF_page],
      .no_children_ppm = rate[HF_listing],
      .list_late_ppm = rate[HF_listing],
      .stale_ppm = rate[HF_stale],
      .stale_ms = rate[HF_stale] / 50,
      .blind_ppm = rate[HF_stale],
      .sub_life_ms = hw->plan->push_ms,
      .sub_cut_ppm = rate[HF_torn],
      .sub_silent_ppm = rate[HF_lose] / 100,
      .dead_push = hw->plan->dead_push,
  };
}

void hd_typed_heal(hd_world *hw) {
  *slp_typed_faults_of(hw->typed) = (slp_typed_faults){
      .sub_life_ms = hw->plan->push_ms,
      .dead_push = hw->plan->dead_heals ? SLP_DEAD_NOT : hw->plan->dead_push,
  };
}

void hd_typed_end(hd_world *hw) { slp_typed_free(hw->typed); }

int hd_typed_ask(const slp_sim_ask *ask) { return slp_str_is(ask->authority, SLP_TYPED_AUTHORITY); }

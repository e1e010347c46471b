/* herd_nemesis.c - everything that goes wrong in a herd. Each class has a stream of chance of its own, so
 * that taking one out leaves the others what they were. */
#include "swarm/herd.h"

#include <stdio.h>

#include "sandbox/ddb.h"
#include "swarm/inside.h"

typedef struct strike { /* something that is to happen */
  hd_world *hw;
  hd_fault f;
} strike;

static uint64_t *chance_of(hd_world *hw, hd_fault f) { return &hw->random[f]; }

static void happened(hd_world *hw, hd_fault f) {
  hw->faults[f]++;
  hw->trouble_us = hd_now(hw);
}

/* A worker that runs, drawn; NULL: there is none. */
static hd_life *somebody(hd_world *hw, hd_fault f) {
  hd_life *l = hw->at[hd_between(chance_of(hw, f), 0, hw->plan->workers - 1)];
  return hd_runs(l) ? l : NULL;
}

/* From a tenth of a lease to three. */
static uint64_t a_while(hd_world *hw, hd_fault f) {
  uint64_t lease_us = (uint64_t)hw->plan->o.lease_ms * 1000;
  return hd_log_between(chance_of(hw, f), lease_us / 10, lease_us * 3);
}

/* ---- services ------------------------------------------------------------------------------------------ */
static void cut_off(hd_world *hw, hd_fault f) {
  uint64_t *r = chance_of(hw, f);
  size_t slot = (size_t)hd_between(r, 0, hw->plan->workers - 1), service = (size_t)hd_between(r, 0, 1);
  hw->cut_as[slot][service] = f;
  hw->cut_until_us[slot][service] = hd_now(hw) + a_while(hw, f);
  slp_sim_trace(hw->w->sim, "w%zu and service %zu: %s", slot, service, hd_fault_name(f));
  happened(hw, f);
}

int hd_reaches(hd_world *hw, hd_life *l, hd_service service, int answer) {
  uint64_t now = hd_now(hw);
  if (now < hw->down_until_us[service]) return 0;
  if (!l || now >= hw->cut_until_us[l->slot][service]) return 1;
  hd_fault as = hw->cut_as[l->slot][service];
  hw->trouble_us = now;
  return answer ? as != HF_mute : as == HF_mute;
}

static void go_down(hd_world *hw, hd_fault f) {
  hd_service service = f == HF_outage ? HD_STREAM : HD_TABLE;
  hw->down_until_us[service] = hd_now(hw) + a_while(hw, f);
  slp_sim_trace(hw->w->sim, "%s", hd_fault_name(f));
  happened(hw, f);
}

static void go_slow(hd_world *hw, hd_fault f) {
  hw->slow_until_us = hd_now(hw) + a_while(hw, f);
  happened(hw, f);
}

/* ---- processes ----------------------------------------------------------------------------------------- */
static void end_one(hd_world *hw, hd_fault f) {
  uint64_t *r = chance_of(hw, f), again_us = hd_log_between(r, 1000, 20 * HD_S);
  uint64_t limit_ms = hd_log_between(r, 100, 20000);
  hd_life *l = somebody(hw, f);
  if (!l) return;
  happened(hw, f);
  if (f == HF_kill)
    hd_kill(l, again_us);
  else
    hd_stop(l, hd_one_in(r, 8) ? 0 : limit_ms, again_us);
}

static void freeze_one(hd_world *hw, hd_fault f) {
  uint64_t us = a_while(hw, f);
  hd_life *l = somebody(hw, f);
  if (!l) return;
  happened(hw, f);
  if (f == HF_block) {
    l->block_us = us;
    return;
  }
  slp_sim_freeze(l->host, us);
  hd_stands(hw->o, l->number, us);
}

/* As one that is stopped within its transaction on the store's file: its own writes are in first. */
static void stand_with_the_lock(hd_world *hw, hd_fault f) {
  uint64_t us = a_while(hw, f);
  hd_life *l = somebody(hw, f);
  if (!l) return;
  happened(hw, f);
  slp_sim_freeze(l->host, us);
  hd_stands(hw->o, l->number, us);
  hw->lock_slot = l->slot;
  hw->lock_until_us = hd_now(hw) + us + 50000;
  slp_sim_trace(hw->w->sim, "w%d has the lock", l->slot);
}

int hd_is_locked_out(const hd_world *hw, const hd_life *l, const char *op) {
  static const char *const writes[] = {"UpdateItem", "PutItem", "DeleteItem", "typed w"};
  if (hd_now(hw) >= hw->lock_until_us || !l || l->slot == hw->lock_slot) return 0;
  for (size_t i = 0; i < SLP_COUNT(writes); i++)
    if (strcmp(op, writes[i]) == 0) return 1;
  return 0;
}

static void set_right(hd_world *hw, hd_fault f) {
  hd_life *l = somebody(hw, f);
  if (!l) return;
  slp_sim_wall_right(l->host);
  happened(hw, f);
}

static void refuse_keys(hd_world *hw, hd_fault f) {
  uint64_t us = hd_heads(chance_of(hw, f)) ? 0 : a_while(hw, f);
  hd_life *l = somebody(hw, f);
  if (!l) return;
  hd_revoke_keys(l, us);
  happened(hw, f);
}

static void jump_one(hd_world *hw, hd_fault f) {
  uint64_t by = hd_log_between(chance_of(hw, f), 100, 4000000000);
  int back = hd_heads(chance_of(hw, f));
  hd_life *l = somebody(hw, f);
  if (!l) return;
  slp_sim_wall_jump(l->host, back ? -(int64_t)by : (int64_t)by);
  happened(hw, f);
}

/* ---- users and operators ------------------------------------------------------------------------------- */
static void run_resume(void *arg) {
  hd_life *l = arg;
  if (hd_runs(l)) hd_resume_all(l);
}

static void pause_one(hd_world *hw, hd_fault f) {
  uint64_t us = hd_log_between(chance_of(hw, f), 1000, 15 * HD_S);
  hd_life *l = somebody(hw, f);
  if (!l) return;
  hd_toggle_pause(l, chance_of(hw, f));
  slp_sim_at(hw->w->sim, hd_now(hw) + us, run_resume, l);
  happened(hw, f);
}

static void ask_one(hd_world *hw, hd_fault f) {
  hd_life *l = somebody(hw, f);
  if (!l) return;
  hd_ask_something(l, chance_of(hw, f));
  hw->faults[f]++;
}

static void command_one(hd_world *hw, hd_fault f) {
  hd_command_give(hw, chance_of(hw, f));
  happened(hw, f);
}

static void drain_one(hd_world *hw, hd_fault f) {
  hd_drain_give(hw, a_while(hw, f));
  hw->faults[f]++;
}

static slp_str member_text(const slp_av *item, const char *name) {
  const slp_av *v = item ? slp_av_member(item, slp_str_of(name)) : NULL;
  return v && v->kind == SLP_AV_S ? v->text : (slp_str){NULL, 0};
}

/* Leases are reset only where nobody is to be hurt by it but who reads that shard: those that were never
 * ended. What was read to its end and is set back would be read again behind its children. */
static void meddle(hd_world *hw, hd_fault f) {
  uint64_t *r = chance_of(hw, f);
  slp_table *t = hd_lease_table(hw);
  char body[700], key[300], lease[200] = "";
  if (!t || !t->rows_n) return;
  const slp_item *item = slp_row_at(t->rows[hd_between(r, 0, t->rows_n - 1)], INT64_MAX);
  if (!item) return;
  int native = hw->plan->schema == HD_SLOOP;
  const hd_names *names = &hd_names_of[hw->plan->schema];
  slp_str name = member_text(item->value, names->key);
  slp_str shard = name;
  if (!native && !hd_cut_name(hw, &shard)) return;
  const char *mark = native ? hd_lease_mark(name) : shard.p;
  if (mark) {
    if (native) mark += 3;
    snprintf(lease, sizeof lease, "%.*s", (int)(name.p + name.n - mark), mark);
  }
  if (f == HF_edit_row && !lease[0]) return;
  int parked = hw->plan->schema == HD_KCL_RB && member_text(item->value, names->owner).n > 0;
  if (!parked && slp_str_is(member_text(item->value, names->position), names->end)) return;
  if (!native)
    snprintf(key, sizeof key, "{\"%s\":{\"S\":\"%.*s\"}}", names->key, (int)name.n, name.p);
  else
    snprintf(key, sizeof key, "{\"app\":{\"S\":\"%.*s\"},\"row\":{\"S\":\"%.*s\"}}",
             (int)member_text(item->value, "app").n, member_text(item->value, "app").p, (int)name.n, name.p);
  hd_oracle *o = hd_world_of_row(hw, name)->o;
  if (lease[0]) hd_excuse(o, lease);
  if (f == HF_drop_row) hd_drained(hw->o, 0);
  if (f == HF_drop_row && name.n > 5 && memcmp(name.p + name.n - 5, "/lead", 5) == 0) hd_begun_anew(o);
  if (f == HF_drop_row) {
    snprintf(body, sizeof body, "{\"TableName\":\"%s\",\"Key\":%s}", t->name, key);
    hd_operator(hw, "DeleteItem", body);
  } else if (hw->plan->schema == HD_VMWARE) { /* its time stays: without an owner the lease is free */
    snprintf(body, sizeof body,
             "{\"TableName\":\"%s\",\"Key\":%s,\"UpdateExpression\":\"SET #p = :p REMOVE #o\","
             "\"ExpressionAttributeNames\":{\"#p\":\"%s\",\"#o\":\"%s\"},"
             "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"%s\"}}}",
             t->name, key, names->position, names->owner, names->start);
    hd_operator(hw, "UpdateItem", body);
  } else if (hw->plan->schema == HD_MOTORWAY) {
    snprintf(
        body, sizeof body,
        "{\"TableName\":\"%s\",\"Key\":%s,\"UpdateExpression\":\"SET worker_id = :o, checkpoint = :p ADD "
        "heartbeat :one REMOVE sloop_done, "
        "sloop_oldest\",\"ExpressionAttributeValues\":{\":p\":{\"N\":\"0\"},"
        "\":o\":{\"S\":\"nobody\"},\":one\":{\"N\":\"1\"}}}",
        t->name, key);
    hd_operator(hw, "UpdateItem", body);
  } else if (hw->plan->schema == HD_KCL_RB) {
    snprintf(
        body, sizeof body,
        "{\"TableName\":\"%s\",\"Key\":%s,\"UpdateExpression\":\"ADD sloop_counter :one REMOVE sloop_owner, "
        "sloop_checkpoint, checkpoint\",\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}",
        t->name, key);
    hd_operator(hw, "UpdateItem", body);
  } else {
    snprintf(body, sizeof body,
             "{\"TableName\":\"%s\",\"Key\":%s,\"UpdateExpression\":\"SET #p = :p ADD #e :one REMOVE #o\","
             "\"ExpressionAttributeNames\":{\"#p\":\"%s\",\"#e\":\"%s\",\"#o\":\"%s\"},"
             "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"%s\"},\":one\":{\"N\":\"1\"}}}",
             t->name, key, names->position, native ? "epoch" : "leaseCounter", names->owner, names->start);
    hd_operator(hw, "UpdateItem", body);
  }
  happened(hw, f);
}

static void trim(hd_world *hw, hd_fault f) {
  hd_trim(hw, slp_world_ms(hw->w) - (int64_t)hd_between(chance_of(hw, f), 0, 20000));
  happened(hw, f);
}

static void reshard(hd_world *hw, hd_fault f) {
  if (f == HF_split ? hd_split(hw, chance_of(hw, f)) : hd_merge(hw, chance_of(hw, f))) hw->faults[f]++;
}

/* ---- single calls -------------------------------------------------------------------------------------- */
static const char *odd_page(hd_world *hw, uint64_t *r) {
  static const char *const odd[] = {"empty", "empty-object",  "repeat",   "trailing", "behind 5000",
                                    "gzip",  "json-for-cbor", "cbor-cut", "empty",    "expired"};
  (void)hw;
  return odd[hd_between(r, 0, SLP_COUNT(odd) - 1)];
}

static const char *odd_listing(hd_world *hw, const char *op, uint64_t *r) {
  static const char *const pages[] = {"no-children", "children-with-next", "children-without-parents"};
  (void)hw;
  if (strcmp(op, "GetRecords") == 0) return pages[hd_between(r, 0, SLP_COUNT(pages) - 1)];
  return strcmp(op, "ListShards") == 0 ? "expired" : NULL;
}

static const char *action_for(hd_world *hw, hd_fault f, hd_service service, const char *op) {
  uint64_t *r = chance_of(hw, f);
  static const char *const errors[] = {"status 500", "status 503", "error InternalFailure:500",
                                       "error ServiceUnavailable:503"};
  static const char *const table_errors[] = {"status 500", "error InternalServerError:500", "bad-crc",
                                             "status 502"};
  switch (f) {
    case HF_throttle: return "throttle";
    case HF_error:
      return service == HD_TABLE ? table_errors[hd_between(r, 0, 3)] : errors[hd_between(r, 0, 3)];
    case HF_html: return "html";
    case HF_lost: return "drop";
    case HF_done_twice: return service == HD_TABLE ? "twice" : NULL;
    case HF_page: return strcmp(op, "GetRecords") == 0 ? odd_page(hw, r) : NULL;
    case HF_listing: return odd_listing(hw, op, r);
    default: return NULL;
  }
}

int hd_keys_spoil(hd_world *hw, const hd_life *l, const slp_sim_ask *ask, const char *op, char line[120]) {
  static const char *const words[] = {"ExpiredTokenException", "UnrecognizedClientException"};
  if (!l || !hw->plan->rate[HF_keys]) return 0; /* what was refused stays so when all is healed */
  uint32_t key = hd_key_of(ask);
  int expired = key == l->key && l->key_dies_us && hd_now(hw) >= l->key_dies_us;
  if (key > l->key_revoked && !expired) return 0;
  snprintf(line, 120, "1 %s * error %s:400\n", op, words[!expired]);
  if (!hw->healed) hw->trouble_us = hd_now(hw);
  slp_sim_trace(hw->w->sim, "keys %u of w%d are refused", key, l->slot);
  return 1;
}

int hd_spoil(hd_world *hw, hd_service service, const char *op, char line[120]) {
  const char *action = NULL;
  if (hw->healed) return 0;
  if (service == HD_TABLE && hd_now(hw) < hw->slow_until_us &&
      hd_chance(chance_of(hw, HF_table_slow), 900000))
    action = "throttle";
  for (hd_fault f = HF_throttle; !action && f <= HF_listing; f++) {
    if (!hd_chance(chance_of(hw, f), hw->plan->rate[f])) continue;
    action = action_for(hw, f, service, op);
    if (action) hw->faults[f]++;
  }
  if (!action) return 0;
  snprintf(line, 120, "1 %s * %s\n", op, action);
  slp_sim_trace(hw->w->sim, "fault %s", line);
  return 1;
}

/* ---- the whole of it ----------------------------------------------------------------------------------- */
static void (*const strikes[])(hd_world *hw, hd_fault f) = {
    [HF_kill] = end_one,        [HF_leave] = end_one,      [HF_freeze] = freeze_one,
    [HF_block] = freeze_one,    [HF_jump] = jump_one,      [HF_cut] = cut_off,
    [HF_mute] = cut_off,        [HF_deaf] = cut_off,       [HF_outage] = go_down,
    [HF_table_down] = go_down,  [HF_table_slow] = go_slow, [HF_split] = reshard,
    [HF_merge] = reshard,       [HF_trim] = trim,          [HF_drop_row] = meddle,
    [HF_edit_row] = meddle,     [HF_pause] = pause_one,    [HF_ask] = ask_one,
    [HF_set_right] = set_right, [HF_keys] = refuse_keys,   [HF_lock] = stand_with_the_lock,
    [HF_command] = command_one, [HF_drain] = drain_one,
};

static void run_strike(void *arg) {
  strike *s = arg;
  hd_world *hw = s->hw;
  hd_fault f = s->f;
  slp_free(hw->mem, s);
  if (!hw->healed) strikes[f](hw, f);
}

static void set_stale(hd_world *hw, uint32_t ms) {
  slp_table *t = hd_lease_table(hw);
  if (t) slp_table_stale(t, ms);
}

static void run_stale(void *arg) {
  hd_world *hw = arg;
  if (hw->healed) return;
  set_stale(hw, 1 + hw->plan->rate[HF_stale] / 50);
  slp_sim_at(hw->w->sim, hd_now(hw) + HD_S / 2, run_stale, hw);
}

static void set_quirks(hd_world *hw, int on) {
  static const char *const quirks[] = {"open-parents", "empty-lists", "empty-gets", "child-filter"};
  uint64_t *r = chance_of(hw, HF_listing);
  if (!hw->plan->changes || !hw->plan->rate[HF_listing]) return;
  for (size_t i = 0; i < SLP_COUNT(quirks); i++)
    SLP_CHECK(slp_box_quirk(hw->w->box, "things", quirks[i], on ? (uint32_t)hd_between(r, 0, 1) : 0) == 0);
  uint32_t late_ms = (uint32_t)hd_log_between(r, 10, 8000);
  SLP_CHECK(slp_box_quirk(hw->w->box, "things", "late-children", on ? late_ms : 0) == 0);
}

void hd_nemesis_begin(hd_world *hw) {
  uint64_t now = hd_now(hw);
  *slp_sim_network(hw->w->sim) = hw->plan->net;
  for (size_t f = 0; f < SLP_COUNT(strikes); f++) {
    for (uint32_t i = 0; strikes[f] && i < hw->plan->rate[f]; i++) {
      strike *s = SLP_NEW(hw->mem, strike);
      SLP_CHECK(s);
      *s = (strike){hw, (hd_fault)f};
      slp_sim_at(hw->w->sim, now + hd_between(chance_of(hw, (hd_fault)f), 0, hw->end_us - now), run_strike,
                 s);
    }
  }
  if (hw->plan->rate[HF_stale]) run_stale(hw);
  set_quirks(hw, 1);
}

void hd_nemesis_end(hd_world *hw) {
  slp_sim_net *n = slp_sim_network(hw->w->sim);
  hw->healed = 1;
  hw->healed_us = hd_now(hw);
  if (hw->twin) hw->twin->healed = 1;
  n->refuse_ppm = n->reset_ppm = n->silent_ppm = n->cut_ppm = n->clip_ppm = n->slow_ppm = 0;
  n->late_ppm = n->twice_ppm = 0;
  memset(hw->cut_until_us, 0, sizeof hw->cut_until_us);
  memset(hw->down_until_us, 0, sizeof hw->down_until_us);
  hw->slow_until_us = hw->lock_until_us = 0;
  set_stale(hw, 0);
  set_quirks(hw, 0);
  if (hw->typed) hd_typed_heal(hw);
  hd_drain_heal(hw);
  for (size_t i = 0; i < HD_WORKERS_MAX; i++) {
    hd_life *l = hw->at[i];
    if (!l || l->dead) continue;
    slp_sim_thaw(l->host);
    hd_goes_on(hw->o, l->number);
    slp_sim_drift(l->host, 0);
    l->block_us = 0;
    if (hd_runs(l)) hd_resume_all(l);
  }
}

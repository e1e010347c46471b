/* fleet_lease.c - one lease as its worker sees it: what it knows of the row, and the one write at a time. */
#include "core/fleet_inside.h"

#include "core/shard_set.h"

#define WRITES_MAX 64 /* of leases at once; heartbeats of workers are not counted */
#define URGENT_MAX 256

slp_lease *slp_lease_get(slp_fleet *f, slp_str shard) { return slp_map_get(&f->leases, shard); }

slp_lease *slp_lease_make(slp_fleet *f, slp_str shard) {
  slp_lease *l = slp_lease_get(f, shard);
  if (l || !shard.n || shard.n > SLP_SHARD_ID_MAX) return l;
  l = SLP_NEW(f->mem, slp_lease);
  char *id = l ? slp_strdup(f->mem, shard) : NULL;
  if (!id) {
    slp_free(f->mem, l);
    return NULL;
  }
  l->f = f;
  l->shard = (slp_str){id, shard.n};
  l->look_us = l->due_us = SLP_NEVER;
  slp_op_init(&l->op, f, l);
  if (slp_map_put(&f->leases, l->shard, l) == 0) return l;
  slp_free(f->mem, id);
  slp_free(f->mem, l);
  return NULL;
}

static void drop_text(slp_mem *mem, slp_str *s) {
  slp_free(mem, (void *)(uintptr_t)s->p);
  *s = (slp_str){NULL, 0};
}

void slp_kids_free(slp_lease *l) {
  slp_free(l->f->mem, l->kids);
  slp_free(l->f->mem, l->kid_names);
  l->kid_names = NULL;
  l->kids = NULL;
  l->kids_n = l->kid_at = 0;
}

void slp_lease_free(slp_lease *l) {
  slp_mem *mem = l->f->mem;
  slp_list_remove(&l->touched);
  slp_op_free(&l->op);
  slp_kids_free(l);
  for (int k = 0; k < 2; k++) drop_text(mem, &l->parents[k]);
  drop_text(mem, &l->shard);
  slp_free(mem, l);
}

/* Longer than a copy of any write of mine can be under way: what it lets go of is safe to be forgotten. */
#define IDLE_MINUTES 60

static int is_nothing(const slp_lease *l) {
  return l->state == SLP_IDLE && !l->planned && !l->inherited && !l->maybe && !l->op.busy && !l->save_now &&
         !slp_list_linked(&l->touched) && l->shunned_us <= slp_fleet_now(l->f);
}

void slp_leases_forget(slp_fleet *f) {
  size_t at = 0;
  if (f->looking) return; /* what is looked at is pointed to */
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    l->idle_n = is_nothing(l) ? (uint8_t)(l->idle_n + 1) : 0;
    if (l->idle_n < IDLE_MINUTES) continue;
    slp_map_remove(&f->leases, l->shard);
    slp_lease_free(l);
  }
}

#define FAR_US 1000000
#define GRID_US UINT64_C(50000)

/* What is far away is due together: one pass over all leases then serves many, the more the more there are.
 */
static uint64_t on_grid(slp_fleet *f, uint64_t at_us) {
  uint64_t grid = GRID_US * (1 + slp_min_u64(f->leases.live / 1000, 3));
  return at_us > SLP_NEVER - grid ? at_us : (at_us + grid - 1) / grid * grid;
}

void slp_lease_due(slp_lease *l, uint64_t at_us) {
  uint64_t later = on_grid(l->f, at_us);
  if (l->due_us <= later) return;
  if (at_us >= slp_fleet_now(l->f) + FAR_US) at_us = later;
  l->due_us = at_us;
  slp_look_soon(l->f, at_us);
}

/* ---- what the row says ------------------------------------------------------------------------- */

int slp_lease_image(slp_lease *l, const slp_lease_fact *fact, uint64_t done_us) {
  slp_mem *mem = l->f->mem;
  for (int k = 0; k < 2; k++) {
    if (!fact->parents[k].n || slp_str_eq(fact->parents[k], l->parents[k])) continue;
    char *p = slp_strdup(mem, fact->parents[k]);
    if (!p) return SLP_ENOMEM;
    drop_text(mem, &l->parents[k]);
    l->parents[k] = (slp_str){p, fact->parents[k].n};
  }
  if (!slp_str_eq(slp_instance_str(&l->owner), fact->owner)) l->named_us = done_us;
  if (!slp_str_eq(slp_instance_str(&l->claim), fact->claim)) l->claim_named_us = done_us;
  slp_instance_set(&l->owner, fact->owner);
  slp_instance_set(&l->claim, fact->claim);
  l->image_epoch = fact->epoch;
  l->claim_plan = fact->claim_plan;
  l->image_us = done_us;
  if (fact->spot.kind == SLP_SPOT_END) {
    l->ended = 1;
    l->ended_epoch = fact->epoch;
  } else if (l->ended && fact->epoch > l->ended_epoch) {
    l->ended = 0; /* nobody undoes an end but an operator */
  }
  return 0;
}

/* ---- writes ------------------------------------------------------------------------------------ */

int slp_lease_send(slp_lease *l, slp_verb verb, void (*on_done)(slp_op *op)) {
  slp_fleet *f = l->f;
  if (f->lease_writes >= (f->life->urgent >> verb & 1 ? URGENT_MAX : WRITES_MAX)) {
    slp_lease_due(l, slp_fleet_now(f) + 20000);
    return 0;
  }
  f->lease_writes++;
  l->op.i.verb = verb;
  l->op.i.shard = l->shard;
  slp_op_send(&l->op, on_done);
  return 1;
}

/* ---- positions --------------------------------------------------------------------------------- */

void slp_lease_mark(slp_lease *l, slp_spot *ret) {
  slp_fleet *f = l->f;
  *ret = l->spot;
  if (!l->open) return;
  slp_spot mark;
  if (f->tenant->ops->behind_ms) l->behind_ms = f->tenant->ops->behind_ms(f->tenant, l->shard);
  f->tenant->ops->mark(f->tenant, l->shard, &mark);
  if (slp_spot_cmp(&mark, ret) > 0) *ret = mark;
}

int slp_lease_clean(const slp_lease *l) {
  slp_spot mark;
  slp_lease_mark((slp_lease *)(uintptr_t)l, &mark);
  return slp_spot_cmp(&mark, &l->spot) == 0;
}

static void saved(slp_op *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  f->lease_writes--;
  l->saving = 0;
  slp_lease_touch(l);
  if (op->end != SLP_OP_DONE) {
    slp_lease_gone(l, SLP_PART_LOST);
    return;
  }
  f->stats.checkpoints++;
  if (f->life->wrote) f->life->wrote(l, op);
  if (slp_spot_cmp(&op->i.spot, &l->spot) > 0) l->spot = op->i.spot;
  if (op->fact.kind == SLP_FACT_LEASE)
    slp_lease_image(l, &op->fact.u.lease, slp_fleet_now(f)); /* shows a claim */
}

/* Raised so that a large fleet does not write more than one partition of a table takes. */
static uint64_t period_us(slp_fleet *f) {
  uint64_t leases = slp_max_u64(f->leases.live, f->fleet_leases);
  uint64_t ms = slp_max_u64(f->o.checkpoint_ms, leases * 1000 / 400);
  return slp_fleet_jitter(f, ms * 1000, 20);
}

int slp_lease_save(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  if (l->dirty && !l->spot_us) l->spot_us = now + period_us(f);
  if (!l->save_now && (!l->dirty || now < l->spot_us)) {
    if (l->dirty) slp_lease_due(l, l->spot_us);
    return 0;
  }
  return slp_lease_put(l);
}

int slp_lease_put(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_spot mark;
  slp_lease_mark(l, &mark);
  l->dirty = 0;
  l->spot_us = 0;
  /* The end is not a checkpoint: it is written with the children. */
  if (mark.kind == SLP_SPOT_END || slp_spot_cmp(&mark, &l->spot) <= 0) {
    l->save_now = 0;
    return 0;
  }
  slp_fleet_intent(f, &l->op.i, SLP_L4_CHECKPOINT);
  l->op.i.epoch = l->held;
  l->op.i.spot = mark;
  l->op.i.behind_ms = l->behind_ms;
  l->op.tries_max = 0;
  if (slp_lease_send(l, SLP_L4_CHECKPOINT, saved)) {
    l->saving = l->save_now;
    l->save_now = 0;
    return 1;
  }
  l->dirty = 1;
  return 0;
}

/* ---- tenancies begin and end ------------------------------------------------------------------- */

void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_spot *spot) {
  l->epoch = l->held = epoch;
  l->spot = l->begin = *spot;
  l->tenancy_us = slp_now_refresh_us(l->f->h);
  l->state = SLP_WAITING;
  l->maybe = l->dirty = l->save_now = l->saving = l->drained = l->end_told = l->stall = l->park =
      l->let_again = 0;
  l->parent_ended[0] = l->parent_ended[1] = l->parent_missing[0] = l->parent_missing[1] = 0;
  l->parent_wait_ms = 0;
  l->behind_ms = -1;
  l->asked_us = l->spot_us = 0;
  slp_kids_free(l);
  slp_lease_touch(l);
}

void slp_lease_begin_op(slp_lease *l, const slp_op *op) {
  uint64_t now = slp_fleet_now(l->f);
  if (op->fact.kind == SLP_FACT_LEASE && slp_lease_image(l, &op->fact.u.lease, now) == 0 &&
      op->fact.u.lease.epoch == op->i.epoch + 1) {
    slp_spot known = l->spot;
    slp_lease_begin(l, op->i.epoch + 1, SLP_MUTANT(53) && l->spot.kind ? &known : &op->fact.u.lease.spot);
    if (l->f->life->wrote) l->f->life->wrote(l, op);
    /* Taken anew by who had it: nobody was between, so what was acknowledged since the last checkpoint is. */
    if (op->i.verb == SLP_L3_RETAKE && slp_spot_cmp(&known, &l->spot) > 0) {
      l->begin = known;
      l->dirty = 1;
    }
    return;
  }
  l->state = SLP_WANTED; /* it is mine, and its row will say from where */
  l->maybe = 1;
  slp_lease_look(l, now);
}

int slp_lease_seen(slp_fleet *f, slp_str shard) {
  const slp_lease *l = slp_lease_get(f, shard);
  return l && (l->image_epoch || l->let_epoch);
}

void slp_lease_gone(slp_lease *l, slp_parting why) {
  slp_fleet *f = l->f;
  int was = l->state >= SLP_WAITING;
  if (was) l->let_epoch = slp_max_u64(l->let_epoch, l->epoch + 1);
  if (l->open) f->tenant->ops->revoke(f->tenant, l->shard, why);
  int told = l->told;
  l->told = l->open = l->dirty = l->save_now = l->saving = l->drained = l->end_told = l->stall = l->park = 0;
  l->state = SLP_IDLE;
  slp_kids_free(l);
  slp_lease_touch(l);
  if (f->sharing->gone) f->sharing->gone(l);
  if (f->life->gone) f->life->gone(l);
  if (!told) return;
  if (why == SLP_PART_LOST) {
    f->stats.lost++;
    slp_fleet_tell(f, SLP_FLEET_LOST, l->shard, l->epoch, "somebody else has it");
  } else if (why == SLP_PART_ENDED) {
    f->stats.ended++;
    slp_fleet_tell(f, SLP_FLEET_ENDED_SHARD, l->shard, l->epoch, "read to its end");
  } else {
    f->stats.released++;
    slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->epoch, "given up");
  }
}

/* fleet_lease.c - one lease as its worker sees it: what it knows of the row, and the one write at a time. */
#include "lease/fleet_inside.h"

#include "lease/shard_set.h"

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
  l->poll_us = l->due_us = SLP_NEVER;
  slp_write_init(&l->op, f, l);
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
  slp_write_free(&l->op);
  slp_kids_free(l);
  for (int k = 0; k < 2; k++) drop_text(mem, &l->parents[k]);
  drop_text(mem, &l->shard);
  slp_free(mem, l);
}

/* Longer than a copy of any write of mine can be under way: what it lets go of is safe to be forgotten. */
#define IDLE_MINUTES 60

static int is_nothing(const slp_lease *l) {
  return l->state == SLP_LEASE_IDLE && !l->assigned && !l->inherited && !l->maybe && !l->op.busy &&
         !l->save_now && !slp_list_linked(&l->touched) && l->shunned_us <= slp_fleet_now(l->f);
}

void slp_leases_forget(slp_fleet *f) {
  size_t at = 0;
  if (f->polling) return; /* what is looked at is pointed to */
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
  slp_poll_soon(l->f, at_us);
}

/* ---- what the row says ------------------------------------------------------------------------- */

int slp_lease_image(slp_lease *l, const slp_lease_row *parsed, uint64_t done_us) {
  slp_mem *mem = l->f->mem;
  for (int k = 0; k < 2; k++) {
    if (!parsed->parents[k].n || slp_str_eq(parsed->parents[k], l->parents[k])) continue;
    char *p = slp_strdup(mem, parsed->parents[k]);
    if (!p) return SLP_ENOMEM;
    drop_text(mem, &l->parents[k]);
    l->parents[k] = (slp_str){p, parsed->parents[k].n};
  }
  if (!slp_str_eq(slp_instance_str(&l->owner), parsed->owner)) l->named_us = done_us;
  if (!slp_str_eq(slp_instance_str(&l->claim), parsed->claim)) l->claim_named_us = done_us;
  slp_instance_set(&l->owner, parsed->owner);
  slp_instance_set(&l->claim, parsed->claim);
  l->image_epoch = parsed->epoch;
  l->claim_version = parsed->claim_version;
  l->image_us = done_us;
  if (parsed->position.kind == SLP_POSITION_END) {
    l->ended = 1;
    l->ended_epoch = parsed->epoch;
  } else if (l->ended && parsed->epoch > l->ended_epoch) {
    l->ended = 0; /* nobody undoes an end but an operator */
  }
  return 0;
}

/* ---- writes ------------------------------------------------------------------------------------ */

int slp_lease_send(slp_lease *l, slp_operation_kind kind, void (*on_done)(slp_write *op)) {
  slp_fleet *f = l->f;
  if (f->lease_writes >= (f->liveness->urgent >> kind & 1 ? URGENT_MAX : WRITES_MAX)) {
    slp_lease_due(l, slp_fleet_now(f) + 20000);
    return 0;
  }
  f->lease_writes++;
  l->op.i.kind = kind;
  l->op.i.shard = l->shard;
  slp_write_send(&l->op, on_done);
  return 1;
}

/* ---- positions --------------------------------------------------------------------------------- */

void slp_lease_mark(slp_lease *l, slp_position *ret) {
  slp_fleet *f = l->f;
  *ret = l->position;
  if (!l->open) return;
  slp_position mark;
  if (f->processor->ops->behind_ms) l->behind_ms = f->processor->ops->behind_ms(f->processor, l->shard);
  f->processor->ops->mark(f->processor, l->shard, &mark);
  if (slp_position_cmp(&mark, ret) > 0) *ret = mark;
}

int slp_lease_clean(const slp_lease *l) {
  slp_position mark;
  slp_lease_mark((slp_lease *)(uintptr_t)l, &mark);
  return slp_position_cmp(&mark, &l->position) == 0;
}

static void saved(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  f->lease_writes--;
  l->saving = 0;
  slp_lease_touch(l);
  if (op->end != SLP_OUTCOME_DONE) {
    slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    return;
  }
  f->stats.checkpoints++;
  if (f->liveness->wrote) f->liveness->wrote(l, op);
  if (slp_position_cmp(&op->i.position, &l->position) > 0) l->position = op->i.position;
  if (op->row.kind == SLP_ROW_LEASE)
    slp_lease_image(l, &op->row.u.lease, slp_fleet_now(f)); /* shows a claim */
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
  if (l->dirty && !l->save_at_us) l->save_at_us = now + period_us(f);
  if (!l->save_now && (!l->dirty || now < l->save_at_us)) {
    if (l->dirty) slp_lease_due(l, l->save_at_us);
    return 0;
  }
  return slp_lease_put(l);
}

int slp_lease_put(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_position mark;
  slp_lease_mark(l, &mark);
  l->dirty = 0;
  l->save_at_us = 0;
  /* The end is not a checkpoint: it is written with the children. */
  if (mark.kind == SLP_POSITION_END || slp_position_cmp(&mark, &l->position) <= 0) {
    l->save_now = 0;
    return 0;
  }
  slp_fleet_operation(f, &l->op.i, SLP_OPERATION_CHECKPOINT);
  l->op.i.epoch = l->held;
  l->op.i.position = mark;
  l->op.i.behind_ms = l->behind_ms;
  l->op.tries_max = 0;
  if (slp_lease_send(l, SLP_OPERATION_CHECKPOINT, saved)) {
    l->saving = l->save_now;
    l->save_now = 0;
    return 1;
  }
  l->dirty = 1;
  return 0;
}

/* ---- tenancies begin and end ------------------------------------------------------------------- */

void slp_lease_begin(slp_lease *l, uint64_t epoch, const slp_position *position) {
  l->epoch = l->held = epoch;
  l->position = l->begin = *position;
  l->ownership_us = slp_now_refresh_us(l->f->h);
  l->state = SLP_LEASE_WAITING;
  l->maybe = l->dirty = l->save_now = l->saving = l->drained = l->end_told = l->stall = l->park =
      l->release_again = 0;
  l->parent_ended[0] = l->parent_ended[1] = l->parent_missing[0] = l->parent_missing[1] = 0;
  l->parent_wait_ms = 0;
  l->behind_ms = -1;
  l->asked_us = l->save_at_us = 0;
  slp_kids_free(l);
  slp_lease_touch(l);
}

void slp_lease_begin_write(slp_lease *l, const slp_write *op) {
  uint64_t now = slp_fleet_now(l->f);
  if (op->row.kind == SLP_ROW_LEASE && slp_lease_image(l, &op->row.u.lease, now) == 0 &&
      op->row.u.lease.epoch == op->i.epoch + 1) {
    slp_position known = l->position;
    slp_lease_begin(l, op->i.epoch + 1,
                    SLP_MUTANT(begins_where_it_was) && l->position.kind ? &known : &op->row.u.lease.position);
    if (l->f->liveness->wrote) l->f->liveness->wrote(l, op);
    /* Taken anew by who had it: nobody was between, so what was acknowledged since the last checkpoint is. */
    if (op->i.kind == SLP_OPERATION_RETAKE && slp_position_cmp(&known, &l->position) > 0) {
      l->begin = known;
      l->dirty = 1;
    }
    return;
  }
  l->state = SLP_LEASE_WANTED; /* it is mine, and its row will say from where */
  l->maybe = 1;
  slp_lease_poll(l, now);
}

int slp_lease_seen(slp_fleet *f, slp_str shard) {
  const slp_lease *l = slp_lease_get(f, shard);
  return l && (l->image_epoch || l->released_epoch);
}

void slp_lease_gone(slp_lease *l, slp_shutdown_reason why) {
  slp_fleet *f = l->f;
  int was = l->state >= SLP_LEASE_WAITING;
  if (was) l->released_epoch = slp_max_u64(l->released_epoch, l->epoch + 1);
  if (l->open) f->processor->ops->revoke(f->processor, l->shard, why);
  int told = l->told;
  l->told = l->open = l->dirty = l->save_now = l->saving = l->drained = l->end_told = l->stall = l->park = 0;
  l->state = SLP_LEASE_IDLE;
  slp_kids_free(l);
  slp_lease_touch(l);
  if (f->sharing->gone) f->sharing->gone(l);
  if (f->liveness->gone) f->liveness->gone(l);
  if (!told) return;
  if (why == SLP_SHUTDOWN_LOST) {
    f->stats.lost++;
    slp_fleet_tell(f, SLP_FLEET_LOST, l->shard, l->epoch, "somebody else has it");
  } else if (why == SLP_SHUTDOWN_ENDED) {
    f->stats.ended++;
    slp_fleet_tell(f, SLP_FLEET_ENDED_SHARD, l->shard, l->epoch, "read to its end");
  } else {
    f->stats.released++;
    slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->epoch, "given up");
  }
}

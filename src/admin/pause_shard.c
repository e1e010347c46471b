/* pause_shard.c - pauses one shard of an application, or ends its pause: writes the mark `pause` into the row
 * of the shard's lease, or removes the mark, and notifies the leader. The leader then assigns the lease to no
 * worker. The owner reads the row, waits until the user has returned the records that are out, and gives the
 * lease up. A pause is done when the lease has no owner any more. An owner that is silent for a whole lease
 * is evicted: perhaps its process is only stopped, and would read on for a moment when it runs again. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop.h>
#include <sloop_admin.h>

/* at most this many writes are sent; the mark is written again if the row has changed before the write */
#define ROUNDS_MAX 20u
#define AGAIN_US 500000u /* the time between two reads of the rows while the owner still reads */

struct slp_pause {
  uint64_t begun_us;
  uint32_t rounds;  /* how many writes were sent: of the mark, and notifications of the leader */
  uint8_t wrote;    /* 1: the mark was surely written or removed by this command */
  uint8_t notified; /* 1: the leader was notified after the mark was written or removed */
};

/* Finishes the command with what became of the mark, also if a later step has failed (a->fail). To be called
 * only when the row was seen as the operator wants it. */
static void finish_marked(slp_admin *a) {
  slp_edits_nothing(a, a->o.name, a->pause->wrote ? SLOOP_CHANGE_DONE : SLOOP_CHANGE_WAS_SO);
}

static void on_pause_notified(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  /* If the leader was evicted, the notification is refused. The next read of the rows then shows the present
   * leader. */
  a->pause->notified = slot->op.end == SLP_OUTCOME_DONE;
  if (slp_admin_write_is_final(slot))
    finish_marked(a);
  else
    slp_admin_read_in(a, 0);
}

static void on_pause_written(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  if (slot->op.end == SLP_OUTCOME_DONE) a->pause->wrote = 1;
  if (slp_admin_write_is_final(slot))
    slp_admin_finish(a);
  else
    slp_admin_read_in(a, 0);
}

/* Returns 1 if the row is not as the operator wants it. The end of a pause also releases a shard that a
 * worker has parked, so that it is read again. */
static int is_to_be_written(const slp_admin *a, const slp_lease_row *l) {
  return a->o.hold_on ? !l->paused : l->parked;
}

/* Returns 1 if the leader must still be notified. The rows were read after the mark was written, so a worker
 * that begins to lead after that read sees the mark by itself. */
static int is_to_notify(const slp_admin *a) {
  return !a->pause->notified && slp_admin_leader(a) && a->pause->rounds < ROUNDS_MAX;
}

void slp_pause_write(slp_admin *a) {
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, a->o.name);
  const slp_worker_row *leader = slp_admin_leader(a);
  SLP_CHECK(l); /* slp_admin_pause has found it in the same rows */
  slp_operation mark = {.kind = SLP_OPERATION_PAUSE,
                        .me = slp_str_of(a->me),
                        .shard = l->shard,
                        .owner = l->owner,
                        .epoch = l->epoch,
                        .hold = {.on = a->o.hold_on}};
  slp_operation notify = {.kind = SLP_OPERATION_NOTIFY, .id = leader ? leader->id : (slp_str){NULL, 0}};
  int r = is_to_be_written(a, l) ? slp_admin_write(a, &mark, 0, on_pause_written)
                                 : slp_admin_write(a, &notify, 0, on_pause_notified);
  if (r) slp_admin_no_memory(a);
}

/* Returns 1 if the owner may still read the shard. A silent owner counts too: perhaps its process is only
 * stopped, and reads on later. */
static int may_be_read(slp_admin *a, const slp_lease_row *l) {
  slp_owner_life life = slp_admin_owner_life(a, l->owner);
  return a->o.hold_on && life != SLP_OWNER_NONE && life != SLP_OWNER_EVICTED;
}

static void on_pause_evicted(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  if (slp_admin_write_is_final(slot))
    finish_marked(a);
  else
    slp_admin_read_in(a, 0);
}

void slp_pause_evict(slp_admin *a) {
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, a->o.name);
  const slp_worker_row *w = l ? slp_snapshot_instance(&a->snapshot, l->owner) : NULL;
  SLP_CHECK(w); /* wait_for_owner has found it in the same rows */
  slp_operation i = {.kind = SLP_OPERATION_EVICT,
                     .me = slp_str_of(a->me),
                     .id = w->id,
                     .incarnation = w->incarnation,
                     .counter = w->counter};
  if (slp_admin_write(a, &i, 0, on_pause_evicted)) slp_admin_no_memory(a);
}

static void wait_for_owner(slp_admin *a, const slp_lease_row *l) {
  uint64_t limit_us = slp_after_us(a->pause->begun_us, (uint64_t)a->o.limit_ms * 1000);
  if (!may_be_read(a, l)) {
    finish_marked(a);
    return;
  }
  slp_watch_saw(a);
  const slp_watched *w = slp_watch_add(a, l);
  if (w && w->dead && slp_snapshot_instance(&a->snapshot, l->owner)) {
    slp_admin_move(a, SLP_ADMIN_EVICTING);
  } else if (slp_now_us(a->o.host) < limit_us) {
    slp_admin_read_in(a, AGAIN_US);
  } else {
    a->why.owner = slp_admin_keep(a, l->owner);
    slp_admin_note(a, SLP_ADMIN_STILL_READS_IT, SLP_REFUSED, SLOOP_ELEASE);
    a->why.name = slp_admin_keep(a, l->shard);
    finish_marked(a);
  }
}

static void no_lease(slp_admin *a) {
  slp_admin_failed(a, slp_admin_listed(a, a->o.name) ? SLP_ADMIN_NO_SUCH_LEASE : SLP_ADMIN_NO_SUCH_SHARD,
                   SLP_REFUSED, SLOOP_ENOSHARD, a->o.name);
}

void slp_admin_pause(slp_admin *a) {
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, a->o.name);
  if (!a->pause && (a->pause = slp_admin_room(a, sizeof *a->pause)))
    a->pause->begun_us = slp_now_us(a->o.host);
  if (!a->pause) {
    slp_admin_no_memory(a);
  } else if (!slp_admin_has(a, SLP_OPERATION_PAUSE)) {
    slp_admin_failed(a, SLP_ADMIN_NO_HOLD, SLP_REFUSED, SLOOP_EOPTION, (slp_str){NULL, 0});
  } else if (!l) {
    no_lease(a);
  } else if (l->position.kind == SLP_POSITION_END) {
    slp_edits_nothing(a, l->shard, SLOOP_CHANGE_ENDED);
  } else if (is_to_be_written(a, l) && a->pause->rounds >= ROUNDS_MAX) {
    slp_admin_failed(a, SLP_ADMIN_NOT_SWITCHED, SLP_TRANSIENT, SLOOP_ELEASE, l->shard);
  } else if (is_to_be_written(a, l) || is_to_notify(a)) {
    a->pause->rounds++;
    slp_admin_move(a, SLP_ADMIN_WRITING);
  } else {
    wait_for_owner(a, l);
  }
}

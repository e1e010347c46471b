/* due.c - the times at which something must be done about a lease (due.h). */
#include "lease/due.h"

#include "base/list.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/lease_part.h"

void slp_due_init(slp_fleet *f, void (*run)(slp_timer *t), void (*step)(slp_event *ev)) {
  slp_due *d = &f->due;
  slp_fleet_timer_init(&d->timer, run);
  d->at_us = SLP_NEVER;
  d->step_ev.run = step;
  slp_list_init(&d->touched);
}

void slp_due_stop(slp_fleet *f) {
  slp_timer_clear(f->h, &f->due.timer);
  f->due.reading = 0;
}

void slp_due_free(slp_fleet *f) { slp_unpost(&f->due.step_ev); }

void slp_poll_soon(slp_fleet *f, uint64_t at_us) {
  slp_due *d = &f->due;
  d->at_us = slp_min_u64(d->at_us, at_us);
  if (d->timer.at_us > d->at_us) slp_fleet_timer(f, &d->timer, d->at_us);
}

void slp_lease_poll(slp_lease *l, uint64_t at_us) {
  if (l->poll.row_us <= at_us) return;
  l->poll.row_us = at_us;
  if (!l->f->due.reading) slp_poll_soon(l->f, at_us);
}

void slp_due_step(slp_fleet *f) { slp_post(f->h, &f->due.step_ev); }

void slp_lease_touch(slp_lease *l) {
  if (!slp_list_linked(&l->touched)) slp_list_add_last(&l->f->due.touched, &l->touched);
  slp_due_step(l->f);
}

void slp_due_fired(slp_fleet *f) { f->due.at_us = SLP_NEVER; }

void slp_due_arm(slp_fleet *f, uint64_t at_us) {
  slp_fleet_timer(f, &f->due.timer, slp_min_u64(at_us, f->due.at_us));
}

void slp_due_reading(slp_fleet *f, int on) { f->due.reading = (uint8_t)on; }

void slp_due_take(slp_fleet *f, slp_list *ret) {
  for (slp_list *it; (it = slp_list_pop(&f->due.touched));) slp_list_add_last(ret, it);
}

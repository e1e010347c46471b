/* hold.c - what this worker knows of the application's hold (hold.h). */
#include "lease/hold.h"

#include "base/mutant.h"
#include "base/probe.h"
#include "base/states.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/schema.h"
#include "lease/strategy.h"

static const slp_set allowed[] = {
    [SLP_HOLD_OFF] = SLP_BIT(SLP_HOLD_UNKNOWN) | SLP_BIT(SLP_HOLD_ON),
    [SLP_HOLD_UNKNOWN] = SLP_BIT(SLP_HOLD_UNKNOWN) | SLP_BIT(SLP_HOLD_OFF) | SLP_BIT(SLP_HOLD_ON),
    [SLP_HOLD_ON] = SLP_BIT(SLP_HOLD_UNKNOWN) | SLP_BIT(SLP_HOLD_OFF),
};

static void move(slp_fleet *f, slp_hold_state to) { SLP_MOVE(allowed, f->hold.state, to); }

void slp_hold_init(slp_fleet *f, void (*changed)(slp_fleet *f)) { f->hold.changed = changed; }

void slp_hold_begin(slp_fleet *f) {
  f->hold.known = (slp_hold){.version = 0};
  f->hold.asked_version = 0;
  if (f->strategy->holds && !SLP_MUTANT(joins_unheld)) move(f, SLP_HOLD_UNKNOWN);
}

int slp_hold_is(const slp_fleet *f, slp_hold_state state) { return f->hold.state == state; }

slp_hold slp_hold_known(const slp_fleet *f) { return f->hold.known; }

/* Sets the state to ON or OFF as `known` says, and tells the user when a hold begins or ends. by: the
 * operator; .n 0: not known. */
static void obey_known_hold(slp_fleet *f, slp_str by) {
  slp_hold_state was = f->hold.state, now = f->hold.known.on ? SLP_HOLD_ON : SLP_HOLD_OFF;
  static const slp_str nothing = {NULL, 0};
  if (was == now) return;
  move(f, now);
  if (now == SLP_HOLD_ON) {
    SLP_PROBE("hold: obeyed");
    slp_fleet_tell(f, SLP_FLEET_DRAINED, nothing, 0,
                   "%.*s%snothing is read until the application is undrained", (int)by.n, by.n ? by.p : "",
                   by.n ? ": " : "");
  } else if (was == SLP_HOLD_ON) {
    slp_fleet_tell(f, SLP_FLEET_UNDRAINED, nothing, 0, "leases are taken again");
  }
  f->hold.changed(f);
}

static void keep_newer_hold(slp_fleet *f, const slp_hold *hold) {
  f->hold.known = *hold;
  f->hold.known_us = slp_now_refresh_us(f->h);
  /* a hold that was ended and begun again, both unseen: the new version is to be told too */
  if (f->hold.state == SLP_HOLD_ON) slp_due_step(f);
}

void slp_hold_saw(slp_fleet *f, const slp_hold *hold, slp_str by, uint64_t sent_us) {
  slp_fleet_hold *h = &f->hold;
  if (!f->strategy->holds) return;
  if (hold->version < h->known.version && sent_us > h->known_us) SLP_PROBE("hold: its row was deleted");
  if (hold->version > h->known.version || (hold->version < h->known.version && sent_us > h->known_us))
    keep_newer_hold(f, hold);
  obey_known_hold(f, hold->version == f->hold.known.version ? by : (slp_str){NULL, 0});
}

void slp_hold_outlived(slp_fleet *f, const slp_hold *hold) {
  slp_hold ended = {.version = hold->version + hold->on, .on = 0};
  if (hold->version <= f->hold.known.version) return;
  SLP_PROBE("hold: it has outlived its row");
  keep_newer_hold(f, &ended);
  obey_known_hold(f, (slp_str){NULL, 0});
}

void slp_hold_heard(slp_fleet *f, const slp_hold *hold) {
  if (hold->version > f->hold.known.version) keep_newer_hold(f, hold);
  if (f->hold.state != SLP_HOLD_UNKNOWN) obey_known_hold(f, (slp_str){NULL, 0});
}

int slp_hold_is_to_be_told(slp_fleet *f, uint32_t held) {
  slp_fleet_hold *h = &f->hold;
  if (h->state != SLP_HOLD_ON || held || h->asked_version == h->known.version) return 0;
  h->asked_version = h->known.version;
  return 1;
}

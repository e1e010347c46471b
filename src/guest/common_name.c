/* common_name.c - the one worker name that all fleets of this process use in a table. The name is counted:
 * it is freed when its last user has called slp_common_name_drop. A fleet (an slp_fleet, this process's
 * worker for one stream) is in the list of the name's fleets from when it joins until it ends. */
#include "guest/common_name.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "guest/guest.h"
#include "lease/context.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"

struct slp_common_name {
  slp_list link; /* in the list that the caller of slp_common_name_of passes */
  slp_mem *mem;  /* this object holds a reference to it */
  char *key;     /* owned; the text "WORKER TABLE", made of the worker's id and the table's name */
  size_t key_n;
  /* slp_common_name_of adds one, slp_common_name_drop subtracts one; at 0 the name is freed */
  uint32_t holds;
  /* the fleets that use the name now, linked by slp_guest.name_link, in the order in which they joined */
  slp_list fleets;
  uint64_t steal_us; /* before this time no fleet with this name takes a lease from a living worker */
};

slp_common_name *slp_common_name_of(slp_list *all, slp_mem *mem, slp_str table, slp_str worker) {
  slp_buf key;
  slp_buf_init(&key, mem, 4096);
  if (slp_buf_addf(&key, "%.*s %.*s", (int)worker.n, worker.n ? worker.p : "", (int)table.n,
                   table.n ? table.p : "")) {
    slp_buf_free(&key);
    return NULL;
  }
  slp_common_name *c = NULL;
  SLP_LIST_EACH(all, it) {
    slp_common_name *have = SLP_OWNER(it, slp_common_name, link);
    if (slp_str_eq((slp_str){have->key, have->key_n}, slp_buf_str(&key))) c = have;
  }
  char *text = c ? NULL : slp_strdup(mem, slp_buf_str(&key));
  if (!c && text && (c = SLP_NEW(mem, slp_common_name))) {
    c->mem = slp_mem_hold(mem);
    c->key = text;
    c->key_n = key.n;
    slp_list_init(&c->fleets);
    slp_list_add_last(all, &c->link);
    text = NULL;
  }
  slp_free(mem, text);
  slp_buf_free(&key);
  if (c) c->holds++;
  return c;
}

void slp_common_name_drop(slp_common_name *c) {
  if (!c || --c->holds) return;
  slp_mem *mem = c->mem;
  slp_list_remove(&c->link);
  slp_free(mem, c->key);
  slp_free(mem, c);
  slp_mem_drop(mem);
}

/* ---- fleets ------------------------------------------------------------------------------------------ */

static slp_common_name *name_of(const slp_fleet *f) { return f->o.guest; }
static slp_fleet *fleet_of(slp_list *it) { return SLP_OWNER(it, slp_guest, name_link)->f; }

void slp_common_name_take(slp_fleet *f) {
  slp_common_name *c = name_of(f);
  slp_list *first = c ? slp_list_first(&c->fleets) : NULL;
  if (first)
    slp_fleet_share_incarnation(f, fleet_of(first));
  else
    slp_fleet_draw_incarnation(f);
  if (c && !slp_list_linked(&slp_guest_of(f)->name_link))
    slp_list_add_last(&c->fleets, &slp_guest_of(f)->name_link);
}

void slp_common_name_leave(slp_fleet *f) { slp_list_remove(&slp_guest_of(f)->name_link); }

uint32_t slp_common_name_held_elsewhere(slp_fleet *f) {
  uint32_t n = 0;
  if (!name_of(f)) return 0;
  SLP_LIST_EACH(&name_of(f)->fleets, it) {
    size_t at = 0;
    if (it == &slp_guest_of(f)->name_link) continue;
    for (slp_lease *l; (l = slp_lease_each(fleet_of(it), &at));)
      n += slp_lease_in(l, SLP_LEASE_SOUGHT | SLP_LEASE_MINE) || l->op.busy;
  }
  return n;
}

int slp_common_name_is_first(const slp_fleet *f) {
  return !name_of(f) || slp_list_first(&name_of(f)->fleets) == &slp_guest_of(f)->name_link;
}

int slp_common_name_is_last(const slp_fleet *f) {
  return !name_of(f) || (name_of(f)->fleets.next == &slp_guest_of(f)->name_link &&
                         name_of(f)->fleets.prev == &slp_guest_of(f)->name_link);
}

uint64_t slp_common_name_steal_us(const slp_fleet *f) {
  return name_of(f) ? name_of(f)->steal_us : slp_guest_of(f)->stealing.next_us;
}

void slp_common_name_stole(slp_fleet *f, uint64_t next_us) {
  slp_guest_of(f)->stealing.next_us = next_us;
  if (name_of(f)) name_of(f)->steal_us = next_us;
}

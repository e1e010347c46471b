/* naming.c - the list of namings, the requests of the user to save a position that the user chose
 * (naming.h). */
#include "lease/naming.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"

#include <sloop.h>

static const slp_set allowed[] = {
    [SLP_NAMING_WAITS] = SLP_BIT(SLP_NAMING_SENT),
    [SLP_NAMING_SENT] = SLP_BIT(SLP_NAMING_WAITS) | SLP_BIT(SLP_NAMING_OVER),
    [SLP_NAMING_OVER] = 0,
};

static slp_naming *naming_of(slp_list *it) { return SLP_OWNER(it, slp_naming, link); }

static void move(slp_naming *n, slp_naming_state to) { SLP_MOVE(allowed, n->state, to); }

int slp_namings_add(slp_list *all, slp_mem *mem, slp_str shard, slp_naming_state state, sloop_cb cb,
                    void *arg) {
  slp_naming *n = slp_zalloc(mem, sizeof *n + shard.n);
  if (!n) return SLP_ENOMEM;
  *n = (slp_naming){.state = state, .cb = cb, .arg = arg, .shard = {(const char *)(n + 1), shard.n}};
  if (shard.n) memcpy((char *)(n + 1), shard.p, shard.n);
  slp_list_add_last(all, &n->link);
  return 0;
}

int slp_namings_have(const slp_list *all, slp_naming_state state, slp_str shard) {
  SLP_LIST_EACH(all, it) {
    const slp_naming *n = naming_of(it);
    if (n->state == state && (!shard.p || slp_str_eq(n->shard, shard))) return 1;
  }
  return 0;
}

void slp_namings_move(slp_list *all, slp_naming_state from, slp_naming_state to) {
  SLP_LIST_EACH(all, it) {
    if (naming_of(it)->state == from) move(naming_of(it), to);
  }
}

void slp_namings_written(slp_list *all, int (*is_here)(void *ctx, slp_str shard), void *ctx) {
  SLP_LIST_EACH(all, it) {
    slp_naming *n = naming_of(it);
    if (n->state == SLP_NAMING_SENT && !is_here(ctx, n->shard)) n->status = SLOOP_ENOSHARD;
  }
  slp_namings_move(all, SLP_NAMING_SENT, SLP_NAMING_OVER);
}

void slp_namings_end(slp_list *all, int status) {
  slp_namings_move(all, SLP_NAMING_WAITS, SLP_NAMING_SENT);
  SLP_LIST_EACH(all, it) {
    if (naming_of(it)->state == SLP_NAMING_SENT) naming_of(it)->status = status;
  }
  slp_namings_move(all, SLP_NAMING_SENT, SLP_NAMING_OVER);
}

int slp_namings_take(slp_list *all, int over, slp_mem *mem, slp_naming *ret) {
  SLP_LIST_EACH(all, it) {
    slp_naming *n = naming_of(it);
    if (over && n->state != SLP_NAMING_OVER) continue;
    slp_list_remove(it);
    *ret = *n;
    ret->shard = (slp_str){NULL, 0};
    slp_free(mem, n);
    return 1;
  }
  return 0;
}

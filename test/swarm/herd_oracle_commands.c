/* herd_oracle_commands.c - what an operator's commands say of the table and of what they did to it, held against
 * every version of the rows between their beginning and their end: T6. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>

#include "base/num.h"

/* ---- versions while a command ran ----------------------------------------------------------------------- */

/* The first version that was still in the table when the command began. */
static size_t first_seen(const hd_oracle *o, const hd_part *s) {
  size_t i = s->versions_n;
  while (i > 0 && s->versions[i - 1].us > o->command_us) i--;
  return i ? i - 1 : 0;
}

static int had_no_row(const hd_oracle *o, const hd_part *s) {
  if (!s->versions_n || s->versions[0].us >= o->command_us) return 1;
  for (size_t i = first_seen(o, s); i < s->versions_n; i++)
    if (s->versions[i].gone) return 1;
  return 0;
}

static int begins(int kind) { return kind == SLOOP_OLDEST || kind == SLOOP_LATEST || kind == SLOOP_AT_TIME; }

static int is_at(const hd_oracle *o, const hd_part *s, const hd_version *v, const sloop_position_t *p) {
  slp_str seq = {s->texts ? s->texts + v->seq_at : NULL, v->seq_n};
  switch (v->at) {
    case HD_AT_END: return p->kind == SLOOP_AT_END;
    case HD_AT_SEQ:
      return p->kind == SLOOP_AFTER_SEQ && slp_num_cmp(slp_str_of(p->seq), seq) == 0 &&
             (v->whole ? p->sub == UINT32_MAX || o->terms.whole : p->sub == v->sub);
    case HD_AT_TIME:
      /* Rows that do not say which time, or nothing at all, are at the start that the command was given. */
      return o->terms.by_counter ? begins(p->kind) : p->kind == SLOOP_AT_TIME && p->at_ms == v->ms;
    default: break;
  }
  if (o->terms.by_counter && o->terms.start == SLOOP_AT_TIME && begins(p->kind)) return 1;
  return p->kind == (v->latest ? SLOOP_LATEST : SLOOP_OLDEST);
}

static int is_like(const hd_oracle *o, const hd_part *s, const hd_version *v, const sloop_lease_t *l) {
  return !v->gone && strcmp(v->owner, l->owner) == 0 && v->parked == (l->parked != 0) &&
         (o->terms.by_counter || v->epoch == l->epoch) && is_at(o, s, v, &l->position);
}

/* The version that this command wrote, from i on; SIZE_MAX: none. */
static size_t written_from(const hd_oracle *o, const hd_part *s, size_t i) {
  while (i < s->versions_n && s->versions[i].command != o->command) i++;
  return i < s->versions_n ? i : SIZE_MAX;
}

/* ---- what the driver tells ------------------------------------------------------------------------------ */

void hd_command(hd_oracle *o) {
  o->command++;
  o->command_us = hd_now(o);
  o->command_evicted = 0;
}

void hd_command_wrote(hd_oracle *o, const char *shard) {
  hd_part *s = hd_find_shard(o, shard);
  if (!s || !s->versions_n) return;
  s->versions[s->versions_n - 1].command = o->command;
  s->commanded = 1;
}

void hd_command_evicts(hd_oracle *o, const char *boot, int now) {
  o->command_evicted += (uint64_t)now;
  for (size_t i = 0; i < o->lives_n; i++) {
    const char *dot = o->lives[i]->instance ? strrchr(o->lives[i]->instance, '.') : NULL;
    if (dot && strcmp(dot + 1, boot) == 0) o->lives[i]->outcast = 1;
  }
  for (size_t i = 0; i < o->shards_n; i++) {
    const hd_version *row = hd_row_now(o->shards[i]);
    const char *dot = row && !row->gone ? strrchr(row->owner, '.') : NULL;
    if (dot && strcmp(dot + 1, boot) == 0) hd_excuse(o, o->shards[i]->id);
  }
}

void hd_drained(hd_oracle *o, int on) {
  o->drained_us = on ? hd_now(o) + 1 : 0;
  for (size_t i = 0; i < o->shards_n; i++) o->shards[i]->given_epoch = 0;
}

static int is_instance_of(const hd_oracle *o, size_t life, const char *owner) {
  const hd_life *l = life < o->lives_n ? o->lives[life] : NULL;
  for (size_t i = 0; l && i < l->instances_n; i++)
    if (l->instances[i] == owner) return 1;
  return 0;
}

/* Returns 1 if the row's owner has not begun to read, and may not know that it is the owner. Another worker has
 * handed the lease over, or a CREATE that came late has made the row with that owner. */
static int is_given_unread(const hd_oracle *o, const hd_part *s, const hd_version *row) {
  int made = row == s->versions || row[-1].gone;
  if (!made && is_instance_of(o, row->life, row->owner)) return 0;
  for (const hd_ownership *t = s->ownerships; t; t = t->before)
    if (t->epoch == row->epoch && t->began) return 0;
  return 1;
}

void hd_judge_kept(hd_oracle *o, const hd_life *l, const hd_part *s, const hd_version *was,
                   const hd_version *now) {
  if (!o->drained_us || now->sent_us < o->drained_us || l->outcast || o->terms.clocks_beyond) return;
  if (now->gone || !now->owner[0] || now->owner != was->owner || now->epoch != s->given_epoch) return;
  if (is_instance_of(o, now->life, now->owner))
    hd_break(o, HD_S15_DRAINED, s->id, "%s keeps the lease after all was said to be drained", now->owner);
}

void hd_judge_released(hd_oracle *o, int (*runs)(const void *arg, const char *boot), const void *arg) {
  for (size_t i = 0; i < o->shards_n; i++) {
    const hd_version *row = hd_row_now(o->shards[i]);
    const char *dot = row && !row->gone ? strrchr(row->owner, '.') : NULL;
    if (!dot || !runs(arg, dot + 1)) continue;
    if (is_given_unread(o, o->shards[i], row))
      o->shards[i]->given_epoch = row->epoch;
    else
      hd_break(o, HD_S15_DRAINED, o->shards[i]->id, "%s has the lease when all is said to be drained",
               row->owner);
  }
}

/* ---- the table, as it is told --------------------------------------------------------------------------- */

static int is_told(const sloop_leases_t *t, const char *shard) {
  for (size_t i = 0; i < t->leases_n; i++)
    if (strcmp(t->leases[i]->shard, shard) == 0) return 1;
  return 0;
}

static void judge_lease(hd_oracle *o, const sloop_lease_t *l) {
  const hd_part *s = hd_find_shard(o, l->shard);
  if (!s) {
    hd_break(o, HD_T6_COMMAND, l->shard, "a lease is told of a shard that there is not");
    return;
  }
  for (size_t i = first_seen(o, s); i < s->versions_n; i++)
    if (is_like(o, s, &s->versions[i], l)) return;
  const hd_version *now = hd_row_now(s);
  hd_break(o, HD_T6_COMMAND, s->id,
           "its lease is told as %s's, epoch %" PRIu64 ", parked %d, at %d %s.%" PRIu64 " %" PRId64
           ", and never was so; now it is %s's, epoch %" PRIu64 ", parked %d, at %d %" PRId64,
           l->owner[0] ? l->owner : "nobody", l->epoch, l->parked, (int)l->position.kind,
           l->position.seq ? l->position.seq : "", l->position.sub, l->position.at_ms,
           now && now->owner[0] ? now->owner : "nobody", now ? now->epoch : 0, now ? now->parked : 0,
           now ? now->at : 0, now ? now->ms : 0);
}

void hd_told_leases(hd_oracle *o, const sloop_leases_t *t) {
  for (size_t i = 0; i < t->leases_n; i++) judge_lease(o, t->leases[i]);
  for (size_t i = 0; i < o->shards_n && !t->bad_rows_n; i++) {
    const hd_part *s = o->shards[i];
    if (!had_no_row(o, s) && !is_told(t, s->id))
      hd_break(o, HD_T6_COMMAND, s->id, "its lease is not told, and was there all the time");
  }
}

/* ---- what a change has done ----------------------------------------------------------------------------- */

static const char *kind_name(sloop_change_kind_t kind) {
  static const char *const kinds[] = {"?",        "done",     "was so", "free",        "unowned", "ended",
                                      "no lease", "conflict", "no row", "no position", "taken",   "unknown"};
  return kind < SLP_COUNT(kinds) ? kinds[kind] : "?";
}

/* The command wrote it: it was as it is told to have been, and became what is told. */
static int was_done(const hd_oracle *o, const hd_part *s, const sloop_change_t *c) {
  for (size_t i = written_from(o, s, 0); i != SIZE_MAX; i = written_from(o, s, i + 1)) {
    const hd_version *v = &s->versions[i], *was = v - 1;
    if (!i || v->owner[0] || v->parked || v->gone) continue;
    if (c->to.kind && !is_at(o, s, v, &c->to)) continue;
    if (strcmp(was->owner, c->was_owner) != 0 || was->parked != (c->was_parked != 0)) continue;
    if (is_at(o, s, was, &c->was)) return 1;
  }
  return 0;
}

/* At some moment of the command. */
static int was_once(const hd_oracle *o, const hd_part *s, const sloop_change_t *c) {
  for (size_t i = first_seen(o, s); i < s->versions_n; i++) {
    const hd_version *v = &s->versions[i];
    if (v->gone) continue;
    if (c->kind == SLOOP_CHANGE_ENDED && v->at == HD_AT_END) return 1;
    if (c->kind == SLOOP_CHANGE_UNOWNED && !v->owner[0] && !v->parked) return 1;
    if ((c->kind != SLOOP_CHANGE_WAS_SO && c->kind != SLOOP_CHANGE_DONE) || v->parked) continue;
    if (v->owner[0] && v->at != HD_AT_END) continue;
    if (!c->to.kind || is_at(o, s, v, &c->to)) return 1;
  }
  return 0;
}

static void judge_change(hd_oracle *o, const sloop_change_t *c) {
  const hd_part *s = hd_find_shard(o, c->shard);
  int written = s && written_from(o, s, 0) != SIZE_MAX, fine = s != NULL;
  if (s) switch (c->kind) {
      case SLOOP_CHANGE_DONE:
        /* A write that was not answered may not have got in, and another have made the row what it is. */
        fine = was_done(o, s, c) || (!written && was_once(o, s, c));
        break;
      case SLOOP_CHANGE_WAS_SO:
      case SLOOP_CHANGE_UNOWNED:
      case SLOOP_CHANGE_ENDED: fine = !written && was_once(o, s, c); break;
      case SLOOP_CHANGE_NO_LEASE:
      case SLOOP_CHANGE_NO_ROW: fine = !written && had_no_row(o, s); break;
      case SLOOP_CHANGE_CONFLICT:
      case SLOOP_CHANGE_POSITION:
      case SLOOP_CHANGE_TAKEN: fine = !written; break;
      case SLOOP_CHANGE_FREE:
      case SLOOP_CHANGE_UNKNOWN: break;
    }
  if (!fine)
    hd_break(o, HD_T6_COMMAND, c->shard,
             "a command tells of it: %s, to %d %" PRId64 ", was %d %s of \"%s\" parked %d; it has %s",
             kind_name(c->kind), (int)c->to.kind, c->to.at_ms, (int)c->was.kind, c->was.seq ? c->was.seq : "",
             c->was_owner, c->was_parked, written ? "written the row" : "written nothing");
}

static int is_told_changed(const sloop_admin_result_t *r, const char *shard) {
  for (size_t i = 0; r && i < r->changes_n; i++) {
    sloop_change_kind_t kind = r->changes[i]->kind;
    if (strcmp(r->changes[i]->shard, shard) == 0 &&
        (kind == SLOOP_CHANGE_DONE || kind == SLOOP_CHANGE_UNKNOWN))
      return 1;
  }
  return 0;
}

static int is_change(sloop_change_kind_t kind) {
  return kind == SLOOP_CHANGE_DONE || kind == SLOOP_CHANGE_WAS_SO || kind == SLOOP_CHANGE_FREE ||
         kind == SLOOP_CHANGE_UNOWNED || kind == SLOOP_CHANGE_ENDED || kind == SLOOP_CHANGE_NO_LEASE;
}

void hd_told_changes(hd_oracle *o, int status, const sloop_admin_result_t *r, const char *message) {
  int says_nothing = status == SLOOP_EOWNED || strstr(message, "nothing was");
  for (size_t i = 0; r && i < r->changes_n; i++) {
    judge_change(o, r->changes[i]);
    if (status == 0 && !is_change(r->changes[i]->kind))
      hd_break(o, HD_T6_COMMAND, r->changes[i]->shard, "a command succeeds, and tells of it: %s",
               kind_name(r->changes[i]->kind));
  }
  for (size_t i = 0; i < o->shards_n; i++) {
    const hd_part *s = o->shards[i];
    if (written_from(o, s, 0) != SIZE_MAX && (says_nothing || !is_told_changed(r, s->id)))
      hd_break(o, HD_T6_COMMAND, s->id, "a command has changed its row, and tells %s (status %d %s)",
               says_nothing ? "that nothing was changed" : "nothing of it", status, message);
  }
  if (says_nothing && o->command_evicted)
    hd_break(o, HD_T6_COMMAND, NULL,
             "a command has evicted %" PRIu64 " workers, and tells that nothing was changed: %s",
             o->command_evicted, message);
}

/* start.c - turns the start position of a stream into a start position for every shard. */
#include "core/start.h"

#include "base/fail.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/date.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/lineage.h"
#include "core/lineage_part.h"
#include "core/mark.h"
#include "core/open_ends.h"
#include "core/position.h"
#include "core/reading.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/source.h"
#include "core/svctime.h"
#include "core/token.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

/* ---- start positions --------------------------------------------------------------------------------- */

/* Writes to `why` what is wrong with the position. Returns SLOOP_EOPTION. */
static int explain_bad_start(char why[160], const char *what, const char *detail) {
  snprintf(why, 160, "%s%.80s", what, detail ? detail : "(none)");
  return SLOOP_EOPTION;
}

/* Returns SLOOP_EOPTION for a time that looks like Unix seconds instead of ms. Seconds of the years 2001 to
 * 5138, read as ms, are times from 1970 to 1973, before any stream existed. */
static int check_time(int64_t at_ms, char why[160]) {
  if (at_ms < 0) return explain_bad_start(why, "start.at_ms is negative", "");
  if (at_ms >= INT64_C(1000000000) && at_ms < INT64_C(100000000000))
    return explain_bad_start(why, "start.at_ms looks like Unix seconds; it counts milliseconds", "");
  return 0;
}

int slp_start_position_check(const sloop_position_t *to, char why[160]) {
  switch (to->kind) {
    case SLOOP_LATEST:
    case SLOOP_OLDEST: return 0;
    case SLOOP_AT_TIME: return check_time(to->at_ms, why);
    case SLOOP_AT_SEQ: {
      slp_str seq = slp_str_of(to->seq);
      if (!to->shard || !*to->shard) return explain_bad_start(why, "start.shard is missing", "");
      if (!slp_seq_fit(seq).n) return explain_bad_start(why, "start.seq is not a sequence number: ", to->seq);
      if (to->sub > UINT32_MAX) return explain_bad_start(why, "start.sub is too large", "");
      return 0;
    }
    case SLOOP_AT_TOKEN:
      return to->token && *to->token ? 0 : explain_bad_start(why, "start.token is missing", "");
    case SLOOP_AFTER_SEQ:
    case SLOOP_AT_END:
      return explain_bad_start(why, "start.kind is a position of a lease, where reading can't start", "");
  }
  return explain_bad_start(why, "start.kind is none of sloop_position_kind_t", "");
}

int slp_start_position_new(slp_start_position **ret, slp_mem *mem, const sloop_position_t *to,
                           char why[160]) {
  *ret = NULL;
  int r = slp_start_position_check(to, why);
  if (r) return r;
  slp_start_position *g = SLP_NEW(mem, slp_start_position);
  if (!g) return SLP_ENOMEM;
  g->mem = slp_mem_hold(mem);
  g->from = slp_position_of(to);
  if (to->kind == SLOOP_AT_SEQ) {
    g->shard = slp_strdup(mem, slp_str_of(to->shard));
    if (!g->shard) r = SLP_ENOMEM;
  }
  if (to->kind == SLOOP_AT_TOKEN) r = slp_token_read(&g->token, mem, slp_str_of(to->token), why);
  if (r) {
    slp_start_position_free(g);
    return r;
  }
  *ret = g;
  return 0;
}

void slp_start_position_free(slp_start_position *g) {
  if (!g) return;
  slp_mem *mem = g->mem;
  slp_token_free(g->token);
  slp_free(mem, g->shard);
  slp_free(mem, g);
  slp_mem_drop(mem);
}

/* ---- giving a shard its position --------------------------------------------------------------------- */

static int has_end(slp_str id, const char *end) {
  size_t n = strlen(end);
  return n <= id.n && memcmp(id.p + id.n - n, end, n) == 0;
}

static void skip_shard(slp_shard *s) { slp_lineage_set(s, SLP_SELECT_SKIPPED); }

static void take_up(slp_shard *s) { slp_lineage_set(s, SLP_SELECT_WANTED); }

int64_t slp_start_time(const slp_consumer *c, int64_t ms) {
  if (ms == INT64_MIN || c->source->anchors_by_time) return ms;
  int64_t over = ms % 1000;
  return ms - (over < 0 ? over + 1000 : over);
}

/* Returns the mark's index inside its aggregate. Returns 0 if the option keeps aggregates as one record. */
static uint32_t sub_of(const slp_consumer *c, const slp_mark *at) {
  return c->o->aggregates == SLOOP_AGGREGATES_KEEP ? 0 : at->sub;
}

static void start_at(slp_shard *s, const slp_mark *at) {
  s->at.start.kind = SLP_POSITION_AT;
  s->at.start.mark = *at;
  s->at.start.mark.sub = sub_of(s->consumer, at);
}

/* Makes s start after a record, as if that record had been read. One exception: the record is inside an
 * aggregate, and the option now keeps aggregates as one record. Then the whole aggregate comes again, because
 * it is not known whether all of it was read. */
static void start_after(slp_shard *s, const slp_mark *at) {
  if (at->idle) {
    s->at.idle = *at;
    return;
  }
  if (at->sub != sub_of(s->consumer, at)) {
    start_at(s, at);
    return;
  }
  s->at.last = *at;
}

slp_position slp_start_place(const slp_shard *s) {
  if (!slp_source_finds_times(s->consumer->source) || s->at.not_before_ms < 0)
    return (slp_position){.kind = SLP_POSITION_OLDEST};
  return (slp_position){.kind = SLP_POSITION_TIME, .at_ms = s->at.not_before_ms};
}

/* Makes s start at the time at_ms. If the service can't give an iterator for a time, s starts at its oldest
 * record, and records that arrived before not_before_ms are passed over. */
static void start_at_time(slp_shard *s, int64_t at_ms) {
  s->at.not_before_ms = slp_start_time(s->consumer, at_ms);
  s->at.start = slp_start_place(s);
}

/* Makes s start at the latest record. A token that is written before the first iterator has come starts s at
 * the present time. */
static void start_at_latest(slp_shard *s) {
  slp_consumer *c = s->consumer;
  s->at.start.kind = SLP_POSITION_LATEST;
  uint64_t now = slp_now_us(c->engine->host);
  s->at.anchor = s->at.open = (slp_moment){slp_svctime_low_ms(&c->service, now), now};
}

/* ---- at a sequence number ---------------------------------------------------------------------------- */

static int has_wanted_parent(const slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    const slp_shard *p = slp_lineage_parent(s, i);
    if (p && slp_lineage_wanted(p)) return 1;
  }
  return 0;
}

/* Changes skipped shards to WANTED if a parent is WANTED, and so on down to all descendants. */
static void take_up_descendants(slp_consumer *c) {
  for (slp_shard *s = slp_lineage_ordered(c, SLP_PARENTS_FIRST); s; s = slp_lineage_next(s))
    if (slp_lineage_skipped(s) && slp_lineage_wants(c, s->id) && has_wanted_parent(s)) take_up(s);
}

/* Brings a sequence number that a person or another program wrote into the form that the service accepts. */
static void make_canonical(const slp_consumer *c, slp_mark *m) {
  slp_mark_canonical(m, c->source->number_digits_min);
}

/* Makes the shard that the user named start at the record, and later all shards that descend from it. Skips
 * all other shards. */
static int start_all_at_seq(slp_consumer *c, slp_start_position *g, slp_fail *f) {
  size_t at = 0;
  slp_shard *s;
  int found = 0, asked = 0;
  make_canonical(c, &g->from.mark);
  while ((s = slp_map_each(&c->shards, &at))) {
    if (has_end(s->id, g->shard)) {
      found++;
      asked += slp_lineage_wanted(s);
      start_at(s, &g->from.mark);
    } else {
      skip_shard(s);
    }
  }
  take_up_descendants(c);
  if (found == 1 && asked) return 0;
  if (found == 1)
    return slp_fail_set(f, SLP_REFUSED, SLOOP_ENOSHARD, "start.shard %s is not among the shards to be read",
                        g->shard);
  return slp_fail_set(f, SLP_REFUSED, SLOOP_ENOSHARD, "%s shard of %s ends with %s",
                      found ? "more than one" : "no", c->stream, g->shard);
}

/* ---- at the latest, at a time ------------------------------------------------------------------------ */

static int open_parent_listed(slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p && !slp_lineage_is_closed(p)) return 1;
  }
  return 0;
}

static void start_all_latest(slp_consumer *c, int64_t not_before_ms) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    if (!slp_lineage_wanted(s)) continue;
    s->at.not_before_ms = not_before_ms;
    /* If a child is listed together with an open parent, a split or merge is under way: the child is read
     * from its oldest record, after its parent. A closed shard is skipped if its children are listed. If they
     * are not, the shard is read, because its end will show the children. */
    if (slp_lineage_is_closed(s) && slp_lineage_has_children(s)) {
      skip_shard(s);
    } else if (!open_parent_listed(s)) {
      start_at_latest(s);
    }
  }
}

static void start_all_at_time(slp_consumer *c, int64_t at_ms) {
  size_t at = 0;
  slp_shard *s;
  int64_t now_ms = slp_svctime_high_ms(&c->service, slp_now_us(c->engine->host));
  if (!c->source->anchors_by_time && at_ms > now_ms) {
    /* the time is in the future, so all records that the stream has now are older */
    start_all_latest(c, slp_start_time(c, at_ms));
    return;
  }
  while ((s = slp_map_each(&c->shards, &at))) {
    if (slp_lineage_wanted(s)) start_at_time(s, at_ms);
  }
}

/* ---- at a token -------------------------------------------------------------------------------------- */

static int check_stream(const slp_consumer *c, slp_str theirs, slp_fail *f) {
  slp_str ours = slp_str_of(c->arn ? c->arn : c->stream);
  int is = slp_token_is_of(ours, theirs);
  if (is > 0) return 0;
  if (is < 0)
    return slp_fail_set(
        f, SLP_REFUSED, SLOOP_ETOKEN,
        "token: it belongs to an older stream of this table, %.*s; open that ARN to continue it",
        (int)slp_min_u64(theirs.n, 160), theirs.p);
  return slp_fail_set(f, SLP_REFUSED, SLOOP_ETOKEN, "token: it belongs to %.*s, but this is %.*s",
                      (int)slp_min_u64(theirs.n, 130), theirs.p, (int)slp_min_u64(ours.n, 130), ours.p);
}

/* Refuses a token with a record that arrived before the stream was created: it belongs to a deleted stream of
 * the same name. The new stream may use the same shard ids and smaller sequence numbers, so its records would
 * be passed over. */
static int check_age(const slp_consumer *c, const slp_token *t, slp_fail *f) {
  char theirs[32], ours[32];
  for (size_t i = 0; c->created_ms >= 0 && i < t->shards_n; i++) {
    int64_t at_ms = t->shards[i].from.mark.arrived_ms;
    /* compares whole seconds, because services state the creation time of a stream in whole seconds */
    if (!t->shards[i].from.mark.seq_n || at_ms < 0 || at_ms >= c->created_ms / 1000 * 1000) continue;
    slp_date_iso(at_ms, theirs);
    slp_date_iso(c->created_ms, ours);
    return slp_fail_set(f, SLP_REFUSED, SLOOP_ETOKEN,
                        "token: %.*s is at a record of %s, but this stream was created at %s: the token "
                        "belongs to an older stream of this name",
                        (int)slp_min_u64(t->shards[i].id.n, 128), t->shards[i].id.p, theirs, ours);
  }
  return 0;
}

static void start_from(slp_shard *s, const slp_token_shard *t) {
  s->at.not_before_ms = t->not_before_ms;
  switch (t->from.kind) {
    case SLP_POSITION_AT: start_at(s, &t->from.mark); return;
    case SLP_POSITION_AFTER: start_after(s, &t->from.mark); return;
    case SLP_POSITION_LATEST: start_at_latest(s); return;
    case SLP_POSITION_NONE:
    case SLP_POSITION_END:
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_TIME:
      if (t->not_before_ms >= 0) start_at_time(s, t->not_before_ms);
      return;
  }
}

/* Makes s start after the position of a lease. In a lease, sub 0 may mean a whole record or the first record
 * of an aggregate; UINT32_MAX always means the whole aggregate. */
static void start_after_lease(slp_shard *s, const slp_mark *at) {
  if (at->idle) {
    s->at.idle = *at;
    return;
  }
  if (s->consumer->o->aggregates == SLOOP_AGGREGATES_KEEP && at->sub != UINT32_MAX) {
    start_at(s, at);
    return;
  }
  s->at.last = *at;
}

void slp_start_shard(slp_shard *s, const slp_position *from) {
  switch (from->kind) {
    case SLP_POSITION_AT: start_at(s, &from->mark); return;
    case SLP_POSITION_AFTER: start_after_lease(s, &from->mark); return;
    case SLP_POSITION_TIME: start_at_time(s, from->at_ms); return;
    case SLP_POSITION_LATEST: start_at_latest(s); return;
    case SLP_POSITION_NONE:
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_END: return;
  }
}

/* Changes a listed shard to WANTED if it has a parent that is in the token, must be read, and is no longer
 * listed. */
static void take_up_orphans(slp_consumer *c, const slp_token *t) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    for (int i = 0; i < 2 && !slp_lineage_wanted(s); i++) {
      slp_str id = slp_lineage_parent_id(s, i);
      const slp_token_shard *p = id.n ? slp_token_find(t, id) : NULL;
      if (p && p->reads && !slp_lineage_get(c, p->id) && slp_lineage_wants(c, s->id)) take_up(s);
    }
  }
}

static void mark_named(slp_consumer *c, slp_str id) {
  slp_shard *s = id.n ? slp_lineage_get(c, id) : NULL;
  if (s) s->marked = 1;
}

/* Marks the shards of the token and all their ancestors. The ancestors were read to their end; otherwise they
 * would be in the token. */
static void mark_known(slp_consumer *c, const slp_token *t) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) s->marked = 0;
  for (size_t i = 0; i < t->shards_n; i++) {
    mark_named(c, t->shards[i].id);
    mark_named(c, t->shards[i].parent);
  }
  for (s = slp_lineage_ordered(c, SLP_CHILDREN_FIRST); s; s = slp_lineage_next(s)) {
    for (int i = 0; i < 2 && s->marked; i++) {
      slp_shard *p = slp_lineage_parent(s, i);
      if (p) p->marked = 1;
    }
  }
}

/* Returns 1 if the token has an open end: an active shard that is no longer listed, and whose children are
 * not all listed. See open_ends.h. */
static int has_open_end(slp_consumer *c, slp_token *t) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_str ids[2] = {slp_lineage_parent_id(s, 0), slp_lineage_parent_id(s, 1)};
    for (int i = 0; i < 2; i++) {
      slp_token_shard *p = ids[i].n ? slp_token_find(t, ids[i]) : NULL;
      if (p) p->children_n += ids[0].n && ids[1].n ? 2 : 1;
    }
  }
  for (size_t i = 0; i < t->shards_n; i++) {
    const slp_token_shard *p = &t->shards[i];
    if (p->active && p->children_n < 2 && !slp_lineage_get(c, p->id)) return 1;
  }
  return 0;
}

/* Changes each listed shard to WANTED that may descend from an open end: none of its parents is known, and
 * the token does not show that it was read. A token has no hash keys, so hash keys can't decide this. */
static void take_up_strangers(slp_consumer *c, const slp_token *t) {
  size_t at = 0;
  slp_shard *s;
  mark_known(c, t);
  while ((s = slp_map_each(&c->shards, &at))) {
    if (slp_lineage_wanted(s) || s->marked || slp_lineage_parent(s, 0) || slp_lineage_parent(s, 1)) continue;
    if (slp_lineage_parent_id(s, 0).n && slp_lineage_wants(c, s->id)) take_up(s);
  }
}

static size_t wanted_n(slp_consumer *c) {
  size_t at = 0, n = 0;
  for (slp_shard *s; (s = slp_map_each(&c->shards, &at));) n += (size_t)slp_lineage_wanted(s);
  return n;
}

/* Returns 1 if no listed shard is newer than the newest active shard of the token. Sets *ret to the id of
 * that active shard. (The newer of two shards of a stream has the greater id.) */
static int is_newer_than_all(slp_consumer *c, const slp_token *t, slp_str *ret) {
  size_t at = 0;
  for (size_t i = 0; i < t->shards_n; i++)
    if (t->shards[i].active && slp_str_cmp(t->shards[i].id, *ret) > 0) *ret = t->shards[i].id;
  for (slp_shard *s; (s = slp_map_each(&c->shards, &at));)
    if (slp_str_cmp(s->id, *ret) > 0) return 0;
  return 1;
}

/* Changes all shards to WANTED, unless the shard filter excludes them. To be called when it is not known
 * which listed shards descend from those of the token: if all are read, no record is missed. */
static void take_up_all(slp_consumer *c) {
  size_t at = 0;
  for (slp_shard *s; (s = slp_map_each(&c->shards, &at));)
    if (slp_lineage_wants(c, s->id)) take_up(s);
}

static int start_all_at_token(slp_consumer *c, slp_start_position *g, slp_fail *f) {
  slp_token *t = g->token;
  size_t at = 0;
  slp_shard *s;
  int r = check_stream(c, t->stream, f);
  if (!r) r = check_age(c, t, f);
  if (r) return r;
  slp_token_mark_readable(t);
  for (size_t i = 0; i < t->shards_n; i++) make_canonical(c, &t->shards[i].from.mark);
  while ((s = slp_map_each(&c->shards, &at))) {
    const slp_token_shard *ts = slp_token_find(t, s->id);
    if (ts && ts->reads) {
      start_from(s, ts);
    } else {
      skip_shard(s);
    }
  }
  take_up_orphans(c, t);
  take_up_descendants(c);
  for (size_t i = 0; i < t->shards_n; i++) {
    if (!t->shards[i].active) continue;
    if (slp_lineage_get(c, t->shards[i].id)) continue;
    if (c->o->on_trimmed == SLOOP_TRIMMED_STOP)
      return slp_fail_set(f, SLP_TRIMMED, SLOOP_ETRIMMED, "token: the stream no longer keeps shard %.*s",
                          (int)t->shards[i].id.n, t->shards[i].id.p);
  }
  slp_str newer = {NULL, 0};
  if (!wanted_n(c) && is_newer_than_all(c, t, &newer))
    return slp_fail_set(f, SLP_REFUSED, SLOOP_ETOKEN,
                        "token: %s lists none of its shards, and %.*s is newer than all that it lists: the "
                        "token belongs to another stream, or to an older one of this name",
                        c->stream, (int)newer.n, newer.p);
  if (has_open_end(c, t)) {
    take_up_strangers(c, t);
    take_up_descendants(c);
  }
  if (!wanted_n(c)) take_up_all(c);
  return 0;
}

void slp_start_tell_losses(slp_consumer *c, const slp_start_position *g) {
  for (size_t i = 0; g->token && i < g->token->shards_n; i++) {
    const slp_token_shard *t = &g->token->shards[i];
    if (!t->active || slp_lineage_get(c, t->id)) continue;
    slp_report_loss(
        c,
        &(slp_loss){
            .shard = t->id,
            .from = slp_mark_seq(&t->from.mark),
            .since_ms = t->from.mark.seq_n ? t->from.mark.arrived_ms : -1,
            .until_ms = -1,
            .message = "the stream no longer keeps this shard of the token; records not yet read are lost"});
  }
}

/* ---- all kinds of start positions -------------------------------------------------------------------- */

/* Returns an error if the user asked for a shard that is not listed. The user may name a shard by the end of
 * its id. */
static int check_asked(slp_consumer *c, slp_fail *f) {
  for (size_t i = 0; i < c->o->shards_n; i++) {
    size_t at = 0;
    slp_shard *s;
    while ((s = slp_map_each(&c->shards, &at)) && !has_end(s->id, c->o->shards[i])) continue;
    if (s) continue;
    return slp_fail_set(f, SLP_REFUSED, SLOOP_ENOSHARD, "no shard of %s ends with %s", c->stream,
                        c->o->shards[i]);
  }
  return 0;
}

int slp_start_shards(slp_consumer *c, slp_start_position *g, slp_fail *f) {
  int r = 0;
  switch (g->from.kind) {
    case SLP_POSITION_NONE: r = start_all_at_token(c, g, f); break;
    case SLP_POSITION_LATEST: start_all_latest(c, INT64_MIN); break;
    case SLP_POSITION_TIME: start_all_at_time(c, g->from.at_ms); break;
    case SLP_POSITION_AT: r = start_all_at_seq(c, g, f); break;
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_AFTER:
    /* AFTER and END do not occur here: slp_start_position_check() refuses them */
    case SLP_POSITION_END: break;
  }
  return r ? r : check_asked(c, f);
}

int slp_start_is_oldest(const slp_start_position *g) {
  return g->from.kind == SLP_POSITION_OLDEST && !g->token;
}

/* Returns 1 if the shard was made by splitting a shard that is not known: it names one parent, which has no
 * slp_shard. */
static int is_half_of_unknown(const slp_shard *s) {
  return slp_lineage_parent_id(s, 0).n && !slp_lineage_parent_id(s, 1).n && !slp_lineage_parent(s, 0);
}

/* Returns 1 if s, which appeared in a later listing, descends or may descend from a shard that is read. */
static int descends_from_read_shard(const slp_shard *s, slp_open_ends *ends) {
  const slp_token *t = s->consumer->start_position->token;
  const slp_token_shard *named = t ? slp_token_find(t, s->id) : NULL;
  if (named && named->reads) return 1;
  for (int i = 0; i < 2; i++) {
    const slp_shard *p = slp_lineage_parent(s, i);
    if (p && (slp_lineage_wanted(p) || slp_lineage_is_barred(p) || slp_reading_is_over(p))) return 1;
  }
  if (slp_lineage_knows_parents(s) || !slp_open_ends_reach(ends, slp_lineage_keys(s))) return 0;
  if (is_half_of_unknown(s)) slp_open_ends_add_parent(ends, slp_lineage_parent_id(s, 0));
  return 1;
}

/* Collects the open ends: shards that are read and no longer listed, and whose children are not all known
 * (open_ends.h). `all` stays 1 if no skipped shard can have children that are not known. A skipped shard can
 * if it is listed as open for writes, or is no longer listed and not all its children are known. If `all` is
 * 1, every new shard must descend from a shard that is read. */
static void find_open_ends(slp_consumer *c, slp_open_ends *ends) {
  size_t at = 0;
  slp_shard *s;
  int all = 1;
  while ((s = slp_map_each(&c->shards, &at))) {
    int end = slp_lineage_is_open_end(s), open = slp_lineage_is_listed(s) && !slp_lineage_is_closed(s);
    if (slp_lineage_skipped(s) && (end || open)) all = 0;
    if (slp_lineage_wanted(s) && end) slp_open_ends_add(ends, slp_lineage_keys(s));
  }
  if (all) slp_open_ends_add(ends, NULL);
}

static void take_up_other_halves(slp_consumer *c, const slp_open_ends *ends) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at)))
    if (s->marked && slp_lineage_skipped(s) && slp_lineage_wants(c, s->id) && is_half_of_unknown(s) &&
        slp_open_ends_is_parent(ends, slp_lineage_parent_id(s, 0)))
      take_up(s);
}

/* Skips new shards that do not descend from shards that are read. If a later listing shows a missing parent,
 * such a shard may be read after all. */
static void leave_out(slp_consumer *c) {
  const slp_start_position *g = c->start_position;
  if (!g || (g->from.kind != SLP_POSITION_AT && !g->token)) return;
  slp_open_ends ends;
  slp_open_ends_init(&ends, c->mem);
  find_open_ends(c, &ends);
  for (slp_shard *s = slp_lineage_ordered(c, SLP_PARENTS_FIRST); s; s = slp_lineage_next(s))
    if (s->marked && slp_lineage_wanted(s) && !descends_from_read_shard(s, &ends)) skip_shard(s);
  take_up_other_halves(c, &ends);
  slp_open_ends_free(&ends);
  take_up_descendants(c);
}

int slp_start_take_listing(slp_consumer *c) {
  int r = slp_lineage_take_listing(c);
  if (c->started_from) leave_out(c);
  return r;
}

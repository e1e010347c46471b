/* peer_worlds.c - mixed fleets in virtual time: workers of another system (models of it, peer_model.h)
 * and workers of ours (the product) share the leases of one application, while both kinds join, leave,
 * stop, die and freeze, shards split and merge, and the table is away. A judge of its own reads the raw
 * rows. One number decides a world.
 *
 *   peer_worlds [--from N] [--seeds N] [--cycles N] [--trace] [--rows FOLDER] [--planted RULE] [SYSTEM...]
 *
 * --cycles: worlds are played until so many leases of the peers were taken and lost, given up or ended.
 * --rows writes what an observer sees that looks four times a second, a file for each world, as
 * test/guest/peer_story.py --keep does. --planted breaks that rule of the judge (J3 to J6) in each world;
 * it is well when the judge says so. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "story/fleet_table.h"
#include "peer_model.h"
#include "swarm/share.h"
#include "lease/context.h"

static const peer_system *const systems[] = {&peer_kcl2, &peer_kcl3, &peer_vmware, &peer_kinsumer,
                                             &peer_motorway};
#define SYSTEMS (sizeof systems / sizeof systems[0])

#define OURS_MAX 4
#define THEIRS_MAX 4
#define SHARDS_MAX 24
#define DEEDS 40
#define LOOK_US (FW_S / 4)

typedef struct watched { /* a shard, by the judge */
  peer_row row;
  uint8_t there;
  uint64_t moves, forced; /* changes of owner; from one to another without being free in between */
  uint64_t still;         /* times that its owner stood still */
  uint64_t acked, went_on_us;
} watched;

typedef struct play {
  const peer_system *s;
  fw_world *w;
  void *m;
  watched shards[FW_SHARDS];
  uint64_t trouble_us; /* nobody can be blamed for what was before */
  uint64_t born;
  uint8_t faulty;
  FILE *rows;
  char last[FW_SHARDS][1200];
} play;

typedef struct options {
  uint64_t from, seeds, cycles;
  const char *rows, *planted; /* NULL: none */
  int trace;
} options;

typedef struct sums {
  uint64_t worlds, theirs, ours, moves, forced, repeats, records, put_back, left_out, stood_us, virtual_us;
} sums;

/* ---- the judge -------------------------------------------------------------------------------------- */

static void judge_row(play *p, watched *s, const peer_row *r) {
  fw_world *w = p->w;
  if (s->there && (r->done < s->row.done || (s->row.ended && !r->ended)) &&
      (!r->ended || p->s->takes_ended) && !w->may_go_back)
    fw_wrong(w, "J3 backwards: the checkpoint of %s goes from %llu%s to %llu", r->key,
             (unsigned long long)s->row.done, s->row.ended ? " (ended)" : "", (unsigned long long)r->done);
  if (r->owner[0] && (!s->there || strcmp(r->owner, s->row.owner) != 0)) {
    s->moves++;
    s->forced += s->there && s->row.owner[0];
  }
  if (p->s->drops && s->there && s->row.owner[0] && !r->owner[0]) s->forced++;
  s->row = *r;
  s->there = 1;
}

static void on_rows(fw_world *w) {
  play *p = w->judge;
  slp_store_rows rows = pr_scan(w, 0);
  for (size_t i = 0; i < rows.n; i++) {
    peer_row r;
    memset(&r, 0, sizeof r);
    p->s->read(&rows.rows[i], &r);
    int shard = pr_shard_of(w, r.key);
    if (shard >= 0) judge_row(p, &p->shards[shard], &r);
  }
  slp_store_rows_free(&rows);
}

static int ours_live(const play *p) {
  int n = 0;
  for (int i = 0; i < FW_NODES; i++) n += p->w->nodes[i] && !p->w->nodes[i]->left && !p->w->nodes[i]->leaving;
  return n;
}
static int theirs_live(const play *p) {
  int n = 0;
  for (int i = 0; i < p->s->lives; i++) n += p->s->alive(p->m, i);
  return n;
}
static int ours_runs(const fw_world *w, const char *name) {
  for (int i = 0; i < FW_NODES; i++) {
    const fw_node *n = w->nodes[i];
    if (!n || n->left || n->failed || n->suspended || slp_sim_frozen_until(n->h) > fw_now(w)) continue;
    if (slp_str_is(slp_fleet_instance(n->fleet), name)) return 1;
  }
  return 0;
}

static int is_ready(const play *p, int i) { /* it can be read: its parents were */
  const fw_shard *s = &p->w->shards[i];
  for (int k = 0; k < 2; k++)
    if (s->parents[k] >= 0 && !p->shards[s->parents[k]].row.ended) return 0;
  return 1;
}

static int some_live(const play *p) { return theirs_live(p) > 0 || fw_live(p->w) > 0; }

/* It is alone and does not see that the row which names it is free: syncLeases of vmware-go-kcl takes such a
 * row for one that it reads. */
static int is_blind(const play *p, const watched *s) {
  return p->s->blind && !fw_live(p->w) && theirs_live(p) == 1 && p->s->runs(p->m, s->row.owner);
}

/* Somebody who lives may read it some time. */
static int is_somebodys(const play *p, int shard) {
  if (!p->s->knows || fw_live(p->w)) return 1;
  for (int i = 0; i < p->s->lives; i++)
    if (p->s->alive(p->m, i) && p->s->knows(p->m, i, shard)) return 1;
  return 0;
}

/* Records that are there are read on within the time of that system, and no lease is left without a
 * living owner. */
static void watch(void *arg) {
  play *p = arg;
  fw_world *w = p->w;
  uint64_t now = fw_now(w);
  if (w->over) return;
  for (int i = 0; i < w->shards_n; i++) {
    watched *s = &p->shards[i];
    const fw_shard *is = &w->shards[i];
    int idle = is->acked >= is->records && (!is->closed || s->row.ended);
    int nobodys = !some_live(p) || is_blind(p, s) || !is_somebodys(p, i);
    if (idle || is->acked != s->acked || !is_ready(p, i) || nobodys) s->went_on_us = now;
    s->acked = is->acked;
    uint64_t since = s->went_on_us > p->trouble_us ? s->went_on_us : p->trouble_us;
    if (now > since && now - since > p->s->orphan_us(w))
      fw_wrong(w, "J5 stuck: %s has not been read for %.1f s; its row names \"%s\", who %s", is->id,
               (double)(now - since) / 1e6, s->row.owner,
               p->s->runs(p->m, s->row.owner) || ours_runs(w, s->row.owner) ? "lives" : "does not live");
  }
  slp_sim_at(w->sim, now + FW_S / 10, watch, p);
}

/* Every lease that can be read is a living worker's. */
static int is_settled(const play *p) {
  for (int i = 0; i < p->w->shards_n; i++) {
    const watched *s = &p->shards[i];
    if (s->row.ended || !is_ready(p, i)) continue;
    if (!s->there || !(p->s->runs(p->m, s->row.owner) || ours_runs(p->w, s->row.owner))) return 0;
  }
  return 1;
}
static int settled(fw_world *w) { return is_settled(w->judge); }

/* ---- what an observer sees -------------------------------------------------------------------------- */

static void tell(play *p, const char *fmt, ...) SLP_PRINTF(2, 3);
static void tell(play *p, const char *fmt, ...) {
  if (!p->rows) return;
  va_list ap;
  va_start(ap, fmt);
  fprintf(p->rows, "%lld ", (long long)slp_sim_unix_ms(p->w->sim));
  vfprintf(p->rows, fmt, ap);
  fputc('\n', p->rows);
  va_end(ap);
}

/* As Python reads it. */
static const char *kind_of(const slp_val *v) {
  switch (v->kind) {
    case SLP_VAL_N: return "N";
    case SLP_VAL_SS: return "SS";
    case SLP_VAL_NULL: return "NULL";
    default: return "S";
  }
}

static void print_row(const slp_row *r, char *to, size_t size) {
  size_t n = (size_t)snprintf(to, size, "{");
  for (size_t i = 0; i < r->n && n < size; i++) {
    const slp_attr *a = &r->attrs[i];
    if (a->val.kind == SLP_VAL_OTHER) continue;
    n += (size_t)snprintf(to + n, size - n, "%s\"%.*s\": {\"%s\": ", n > 1 ? ", " : "", (int)a->name.n,
                          a->name.p, kind_of(&a->val));
    if (a->val.kind == SLP_VAL_NULL && n < size)
      n += (size_t)snprintf(to + n, size - n, "True}");
    else if (a->val.kind != SLP_VAL_SS && n < size)
      n += (size_t)snprintf(to + n, size - n, "\"%.*s\"}", (int)a->val.s.n, a->val.s.n ? a->val.s.p : "");
    for (size_t k = 0; a->val.kind == SLP_VAL_SS && k < a->val.n && n < size; k++)
      n += (size_t)snprintf(to + n, size - n, "%s\"%.*s\"%s", k ? ", " : "[", (int)a->val.items[k].n,
                            a->val.items[k].p, k + 1 == a->val.n ? "]}" : "");
  }
  if (n < size) snprintf(to + n, size - n, "}");
}

/* It looks in any case: a world is the same with and without --rows. */
static void look(void *arg) {
  play *p = arg;
  uint8_t there[FW_SHARDS] = {0};
  if (p->w->over) return;
  slp_store_rows rows = pr_scan(p->w, 0);
  for (size_t i = 0; i < rows.n; i++) {
    peer_row r;
    char text[1200];
    memset(&r, 0, sizeof r);
    p->s->read(&rows.rows[i], &r);
    int shard = pr_shard_of(p->w, r.key);
    if (shard < 0 || !p->rows) continue;
    there[shard] = 1;
    print_row(&rows.rows[i], text, sizeof text);
    if (strcmp(text, p->last[shard]) == 0) continue;
    snprintf(p->last[shard], sizeof p->last[shard], "%s", text);
    tell(p, "%s %s (%lld, 0) %s", r.key, r.owner, (long long)r.done, text);
  }
  slp_store_rows_free(&rows);
  for (int i = 0; i < p->w->shards_n; i++) {
    if (there[i] || !p->last[i][0]) continue;
    tell(p, "%s gone", p->w->shards[i].id);
    p->last[i][0] = 0;
  }
  slp_sim_at(p->w->sim, fw_now(p->w) + LOOK_US, look, p);
}

/* ---- what happens ----------------------------------------------------------------------------------- */

static uint64_t below(play *p, uint64_t n) { return slp_sim_random_below(p->w->sim, n); }

/* Number of one that lives, or -1. */
static int one_of_theirs(play *p) {
  int n = theirs_live(p);
  if (!n) return -1;
  for (int i = 0, at = (int)below(p, (uint64_t)n); i < p->s->lives; i++)
    if (p->s->alive(p->m, i) && at-- == 0) return i;
  return -1;
}

static void start_ours(play *p) {
  char id[32];
  int slot = (int)below(p, OURS_MAX);
  if (p->w->nodes[slot]) return;
  snprintf(id, sizeof id, "o%d", slot);
  tell(p, "o%d begins", slot);
  fw_start(p->w, slot, id, 0);
}
static void start_theirs(play *p) {
  char id[32];
  if ((int)p->born >= p->s->lives || theirs_live(p) >= THEIRS_MAX) return;
  snprintf(id, sizeof id, "a%llu", (unsigned long long)p->born++);
  tell(p, "%s begins", id);
  p->s->start(p->m, id);
}

/* Who stands still may lose what he has, and take it himself again. */
static void stands_still(play *p, const char *name) {
  for (int i = 0; i < p->w->shards_n; i++) {
    int ours = ours_runs(p->w, p->shards[i].row.owner);
    p->shards[i].still += name ? strcmp(p->shards[i].row.owner, name) == 0 : !ours;
  }
}

static void deed(play *p) {
  fw_world *w = p->w;
  uint64_t lease = (uint64_t)w->lease_ms * 1000, how_long = below(p, 3 * lease), what = below(p, 16);
  int slot = (int)below(p, OURS_MAX), shard = (int)below(p, (uint64_t)w->shards_n), him = one_of_theirs(p);
  int last = ours_live(p) + theirs_live(p) < 2;
  fw_reap(w);
  if (what < 2) {
    start_ours(p);
  } else if (what < 5) {
    start_theirs(p);
  } else if (what == 5 && !last) {
    if (w->nodes[slot]) tell(p, "o%d is killed", slot);
    fw_kill(w, slot);
  } else if (what == 6 && w->nodes[slot] && !last) {
    tell(p, "o%d leaves", slot);
    fw_leave(w, slot, 8000);
  } else if (what == 7 && w->nodes[slot]) {
    tell(p, "o%d is frozen", slot);
    char name[PR_TEXT];
    slp_str me = slp_fleet_instance(w->nodes[slot]->fleet);
    snprintf(name, sizeof name, "%.*s", (int)me.n, me.p);
    stands_still(p, name);
    slp_sim_freeze(w->nodes[slot]->h, how_long);
  } else if (what < 10 && him >= 0 && !last) {
    tell(p, "one of theirs is killed");
    p->s->kill(p->m, him);
  } else if (what < 12 && him >= 0 && !last) {
    tell(p, "one of theirs leaves");
    p->s->stop(p->m, him);
  } else if (what == 12 && him >= 0) {
    tell(p, "one of theirs is frozen");
    stands_still(p, NULL);
    p->s->freeze(p->m, him, how_long);
  } else if (what == 13 && w->shards_n < SHARDS_MAX) {
    if (fw_split(w, shard)) tell(p, "a split");
  } else if (what == 14 && w->shards_n < SHARDS_MAX) {
    for (int i = 0; i < w->shards_n; i++)
      if (fw_merge(w, i, shard)) {
        tell(p, "a merge");
        break;
      }
  } else if (what == 15) {
    tell(p, "the table is away");
    for (int i = 0; i < w->shards_n; i++) p->shards[i].still++;
    w->outage_until_us = fw_now(w) + (how_long *= 2) / 3;
  }
  p->trouble_us = fw_now(w) + how_long;
}

static void draw_faults(play *p, uint64_t seed) {
  fw_faults *f = &p->w->faults;
  f->unanswered_ppm = seed % 2 ? 20000 : 0;
  f->throttle_ppm = seed % 3 ? 0 : 20000;
  f->lost_ppm = seed % 5 ? 0 : 20000;
  f->doubled_ppm = seed % 4 ? 0 : 20000;
  f->blind_ppm = seed % 7 ? 0 : 300000;
  p->faulty = f->unanswered_ppm || f->throttle_ppm || f->lost_ppm || f->doubled_ppm;
}

/* ---- a world ---------------------------------------------------------------------------------------- */

static void add_up(play *p, sums *sum) {
  fw_world *w = p->w;
  sum->worlds++;
  sum->theirs += p->s->cycles(p->m);
  sum->ours += w->lost + w->released;
  sum->put_back += w->put_back;
  sum->left_out += w->left_out;
  sum->virtual_us += fw_now(w);
  for (int i = 0; i < w->shards_n; i++) {
    const fw_shard *s = &w->shards[i];
    sum->moves += p->shards[i].moves;
    sum->forced += p->shards[i].forced;
    sum->repeats += s->repeats;
    sum->records += s->records;
    if (s->repeats && !p->shards[i].forced && !p->shards[i].still && !p->faulty && !w->put_back)
      fw_wrong(w, "J4 repeats: %llu records of %s came again, whose lease nobody lost",
               (unsigned long long)s->repeats, s->id);
  }
}

static int an_open_shard(const play *p) {
  int i = 0;
  while (p->shards[i].row.ended || !p->shards[i].row.done) i++;
  return i;
}

/* What a rule forbids, done to an open shard in a quiet time: the judge must say that rule's name. */
static void plant(play *p, const char *rule) {
  fw_world *w = p->w;
  static const char *const names[] = {"u", "v", "w", "x", "y", "z"};
  int i = an_open_shard(p);
  if (strcmp(rule, "J3") == 0) {
    SLP_CHECK(p->s->checkpoint);
    fw_operator_set(w, w->shards[i].id, p->s->checkpoint, "0");
    fw_judge_rows(w);
  } else if (strcmp(rule, "J5") == 0) {
    for (int k = 0; k < FW_NODES; k++)
      if (w->nodes[k]) slp_sim_freeze(w->nodes[k]->h, 2 * p->s->orphan_us(w));
    for (int k = 0; k < p->s->lives; k++)
      if (p->s->alive(p->m, k)) p->s->freeze(p->m, k, 2 * p->s->orphan_us(w));
    fw_run(w, 2 * p->s->orphan_us(w));
  } else if (strcmp(rule, "J6") == 0) {
    for (int k = 0; k < 6; k++) {
      fw_operator_set(w, w->shards[i].id, w->layout->owner, names[k]);
      fw_judge_rows(w);
    }
  }
}

/* Just before the judge adds up: a peer puts checkpoints back in a quiet time too (vmware-go-kcl, by a renewal
 * that was on its way), which would excuse what was planted earlier. */
static void plant_repeat(play *p) {
  int i = an_open_shard(p);
  p->w->shards[i].repeats++;
  p->shards[i].forced = p->shards[i].still = p->w->put_back = p->faulty = 0;
}

/* Nothing happens any more: leases stay where they are. Those that were read to their end do not count: the
 * leader of KCL 3 gives one that ours do not renew to worker after worker, until one of its own has it. */
static void judge_rest(play *p, const char *planted) {
  uint64_t before[FW_SHARDS] = {0};
  for (int i = 0; i < p->w->shards_n; i++) before[i] = p->shards[i].moves;
  if (planted) plant(p, planted);
  if (!fw_run(p->w, 10 * (uint64_t)p->w->lease_ms * 1000)) return;
  for (int i = 0; i < p->w->shards_n; i++) {
    if (!p->shards[i].row.ended && p->shards[i].moves - before[i] > p->s->moves_at_rest)
      fw_wrong(p->w, "J6 ping-pong: %s moved %llu times while nothing happened", p->w->shards[i].id,
               (unsigned long long)(p->shards[i].moves - before[i]));
  }
}

static void print(void *arg, const char *line) {
  (void)arg;
  if (!strstr(line, " sends ")) fprintf(stderr, "%s\n", line);
}

static void act(play *p, uint64_t seed, const char *planted) {
  fw_world *w = p->w;
  uint64_t lease = (uint64_t)w->lease_ms * 1000;
  for (uint64_t i = 0; i < 1 + seed % 3; i++) start_theirs(p);
  if (seed % 4) start_ours(p);
  draw_faults(p, seed);
  for (int i = 0; i < DEEDS; i++) {
    if (!fw_run(w, below(p, (seed % 8 ? 2 : 15) * lease))) return;
    deed(p);
  }
  w->faults.unanswered_ppm = w->faults.throttle_ppm = w->faults.lost_ppm = w->faults.doubled_ppm =
      w->faults.blind_ppm = 0;
  if (!fw_run(w, 6 * lease)) return;
  fw_reap(w);
  if (!some_live(p)) start_theirs(p);
  if (!some_live(p) || (p->s->blind && !ours_live(p))) start_ours(p);
  while (p->s->knows && !fw_live(w)) start_ours(p);
  p->trouble_us = fw_now(w);
  if (!fw_run(w, p->s->settled_us(w))) return;
  if (!fw_until(w, p->s->settled_us(w), settled)) {
    if (!w->complaint[0]) fw_dump(w);
    fw_wrong(w, "J5 stuck: a lease has no living owner long after the last trouble");
    return;
  }
  judge_rest(p, planted);
  w->producing = 0;
  if (!fw_until(w, 100 * FW_S + p->s->orphan_us(w), fw_all_read)) fw_wrong(w, "J1 loss: not all is read");
  if (planted && strcmp(planted, "J4") == 0) plant_repeat(p);
}

/* 1: all was well; of a world with something planted, that it was found. */
static int play_world(const peer_system *s, uint64_t seed, const options *o, sums *sum) {
  play *p = calloc(1, sizeof *p);
  char path[400];
  SLP_CHECK(p);
  p->s = s;
  snprintf(path, sizeof path, "%s/%s.%llu.story", o->rows ? o->rows : "", s->name, (unsigned long long)seed);
  SLP_CHECK(!o->rows || (p->rows = fopen(path, "w")));
  p->w = fw_new_of(seed, 3 + (int)(seed % 6), s->layout);
  if (o->trace) slp_sim_on_trace(p->w->sim, print, NULL);
  p->w->lease_ms = s->lease_ms;
  p->w->skew_ms = s->skew_ms;
  p->m = s->open(s, p->w);
  p->w->judge = p;
  p->w->on_rows = on_rows;
  watch(p);
  look(p);
  act(p, seed, o->planted);
  add_up(p, sum);
  int well = o->planted ? strstr(p->w->complaint, o->planted) != NULL : !p->w->complaint[0];
  if (!well) printf("%s, world %llu: %s\n", s->name, (unsigned long long)seed, p->w->complaint);
  fw_free(p->w);
  s->close(p->m);
  if (p->rows) fclose(p->rows);
  free(p);
  return well;
}

static int play_system(const peer_system *s, const options *o) {
  sums sum = {0};
  int bad = 0;
  for (uint64_t i = 0; o->cycles ? sum.theirs < o->cycles : i < o->seeds; i++)
    bad += !play_world(s, o->from + i, o, &sum);
  printf(
      "%s: %llu worlds of %.0f s, %llu leases of theirs and %llu of ours came and went, %llu moves, %llu of "
      "them forced, %llu of %llu records repeated, %llu checkpoints put back and %llu records left out by "
      "theirs, %d bad\n",
      s->name, (unsigned long long)sum.worlds,
      (double)sum.virtual_us / 1e6 / (double)(sum.worlds + !sum.worlds), (unsigned long long)sum.theirs,
      (unsigned long long)sum.ours, (unsigned long long)sum.moves, (unsigned long long)sum.forced,
      (unsigned long long)sum.repeats, (unsigned long long)sum.records, (unsigned long long)sum.put_back,
      (unsigned long long)sum.left_out, bad);
  return bad;
}

int main(int argc, char **argv) {
  options o = {.from = 1, .seeds = 40};
  int bad = 0, named = 0;
  for (int i = 1; i < argc; i++) {
    const char *next = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--trace") == 0) o.trace = 1;
    if (strcmp(argv[i], "--from") == 0) o.from = strtoull(next, NULL, 10);
    if (strcmp(argv[i], "--seeds") == 0) o.seeds = sim_share(strtoull(next, NULL, 10));
    if (strcmp(argv[i], "--cycles") == 0) o.cycles = strtoull(next, NULL, 10);
    if (strcmp(argv[i], "--rows") == 0) o.rows = next;
    if (strcmp(argv[i], "--planted") == 0) o.planted = next;
  }
  for (int i = 1; i < argc; i++)
    for (size_t k = 0; k < SYSTEMS; k++)
      if (strcmp(argv[i], systems[k]->name) == 0) {
        named = 1;
        bad += play_system(systems[k], &o);
      }
  for (size_t k = 0; k < SYSTEMS && !named; k++) bad += play_system(systems[k], &o);
  return bad ? 1 : 0;
}

/* typed_changes.c - the service's end of the typed seam, DynamoDB Streams: reads the sandbox's own model of the
 * changes of a table, with its quirks. Rules: API reference, DynamoDB Streams: an answer has at most 1,000 records or
 * 1 MB, an iterator lives for 15 minutes, what is older than the oldest record kept is trimmed, a page at a shard's end
 * has no next iterator and names no children. */
#include "base/num.h"
#include "sandbox/changes.h"
#include "swarm/inside.h"
#include "swarm/typed_msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LISTED_MAX 7 /* shards on a page; the service gives a hundred */
#define NO_TOKEN "shardId-00000000000000000000-00000000"

typedef struct place { /* what an iterator says */
  slp_changes *s;
  uint32_t shard;
  uint64_t at, empty; /* empty: so many pages without records come first */
  int64_t issued_ms;
} place;

static int chance(slp_world *w, uint32_t ppm) { return ppm && slp_sim_chance(w->sim, ppm); }

/* ---- iterators ------------------------------------------------------------------------------------------ */

static void put_place(slp_world *w, slp_buf *b, const place *p) {
  char text[120];
  int n = snprintf(text, sizeof text, "%" PRIu64 ".%u.%" PRIu64 ".%" PRIu64 ".%" PRId64, p->s->uid, p->shard,
                   p->at, p->empty, slp_world_ms(w));
  slp_msg_str(b, (slp_str){text, (size_t)n});
}

static int read_place(slp_world *w, slp_str text, place *p) {
  char copy[128], *c = copy;
  uint64_t v[5];
  snprintf(copy, sizeof copy, "%.*s", (int)text.n, text.n ? text.p : "");
  for (int i = 0; i < 5; i++) {
    v[i] = strtoull(c, &c, 10);
    if (*c != (i < 4 ? '.' : 0)) return SLP_EBADDATA;
    c++;
  }
  *p = (place){slp_changes_find_uid(w->box, v[0]), (uint32_t)v[1], v[2], v[3], (int64_t)v[4]};
  return p->s && p->shard < p->s->shards_n ? 0 : SLP_EBADDATA;
}

int slp_typed_change_asked(slp_world *w, slp_str ask, uint32_t *ret_shard) {
  slp_msg m = slp_msg_of(ask);
  place p;
  if (m.p == m.end || *m.p++ != SLP_TYPED_RECORDS || read_place(w, slp_msg_take_str(&m), &p)) return -1;
  *ret_shard = p.shard;
  return 0;
}

/* 0: refused. */
static int from_number(const slp_change_shard *sh, slp_str number, int after, uint64_t *ret,
                       slp_sim_reply *reply) {
  char start[SLP_CHANGE_NUMBER_TEXT];
  int exact = 0;
  slp_change_start_text(sh, start);
  if (!slp_num_valid(number) || slp_num_cmp(number, slp_str_of(start)) < 0) {
    slp_typed_refuse(reply, 400, "refused");
    return 0;
  }
  uint64_t at = slp_change_place(sh, number, &exact);
  if (at < sh->first || (sh->first && !exact && at == sh->first)) {
    slp_typed_refuse(reply, 400, "trimmed");
    return 0;
  }
  *ret = at + (uint64_t)(after && exact);
  return 1;
}

static void iterator(slp_world *w, slp_changes *s, slp_msg *m, slp_sim_reply *reply) {
  const slp_change_shard *sh = slp_change_shard_by_id(s, slp_msg_take_str(m));
  slp_str kind = slp_msg_take_str(m);
  slp_str number = slp_msg_take_str(m);
  if (!sh) {
    slp_typed_refuse(reply, 400, "unknown");
    return;
  }
  place p = {.s = s, .shard = sh->index, .empty = s->quirks.empty_gets};
  if (slp_str_is(kind, "TRIM_HORIZON")) {
    p.at = sh->first;
  } else if (slp_str_is(kind, "LATEST")) {
    p.at = sh->next;
  } else if (slp_str_is(kind, "AT_TIMESTAMP")) {
    int64_t at_ms = (int64_t)slp_msg_take_u64(m);
    if (at_ms > slp_world_ms(w) || s->quirks.no_times) {
      slp_typed_refuse(reply, 400, "ValidationException");
      return;
    }
    p.at = slp_change_first_at(sh, at_ms);
  } else if (!from_number(sh, number, slp_str_is(kind, "AFTER_SEQUENCE_NUMBER"), &p.at, reply)) {
    return;
  }
  put_place(w, &reply->body, &p);
}

/* ---- records -------------------------------------------------------------------------------------------- */

static uint64_t how_many(const slp_change_shard *sh, uint64_t from, uint64_t limit) {
  uint64_t n = 0, bytes = 0, most = slp_min_u64(limit, SLP_CHANGE_PAGE_RECORDS);
  for (; n < most && from + n < sh->next; n++) {
    bytes += slp_change_at(sh, from + n)->size;
    if (n && bytes > SLP_CHANGE_PAGE_BYTES) break;
  }
  return n;
}

/* Its time comes in whole seconds. */
static void put_change(slp_buf *b, const slp_change_shard *sh, uint64_t at) {
  const slp_change *r = slp_change_at(sh, at);
  char number[SLP_CHANGE_NUMBER_TEXT];
  slp_change_text(sh, at, number);
  slp_msg_u64(b, (uint64_t)(r->at_ms / 1000 * 1000));
  slp_msg_u64(b, 0);
  slp_msg_str(b, slp_str_of(number));
  slp_msg_str(b, (slp_str){r->bytes, r->keys_n});
  slp_msg_str(b, (slp_str){r->bytes + r->keys_n + r->old_n, r->new_n});
}

static void answer_records(slp_world *w, const slp_typed_faults *f, place p, uint64_t limit, slp_buf *b) {
  const slp_change_shard *sh = p.s->shards[p.shard];
  uint64_t from = slp_min_u64(p.at, sh->next), n = how_many(sh, from, limit);
  int held_back = p.empty || chance(w, f->empty_ppm);
  if (held_back) n = 0;
  int ends = !slp_change_open(sh) && from + n == sh->next && !held_back;
  if (ends && n && chance(w, f->end_late_ppm)) ends = 0;
  p.empty = p.empty ? p.empty - 1 : n ? p.s->quirks.empty_gets : 0;
  p.at = from + n;
  if (ends)
    slp_msg_str(b, (slp_str){NULL, 0});
  else
    put_place(w, b, &p);
  slp_msg_u64(b, (uint64_t)-1); /* it does not tell how far behind that is */
  slp_msg_u64(b, n);
  slp_msg_u64(b, n);
  for (uint64_t i = 0; i < n; i++) put_change(b, sh, from + i);
  slp_msg_u64(b, 0);
}

static void records(slp_world *w, const slp_typed_faults *f, slp_typed_sums *sums, slp_msg *m,
                    slp_sim_reply *reply) {
  place p;
  int bad = read_place(w, slp_msg_take_str(m), &p);
  uint64_t limit = slp_msg_take_u64(m);
  sums->fetches++;
  if (bad) {
    slp_typed_refuse(reply, 400, "unknown");
  } else if (chance(w, f->expired_ppm) ||
             slp_world_ms(w) - p.issued_ms > (int64_t)w->box->o.change_iterator_ms) {
    sums->expired++;
    slp_typed_refuse(reply, 400, "expired");
  } else if (!p.s->shards[p.shard] || p.at < p.s->shards[p.shard]->first) {
    slp_typed_refuse(reply, 400, "trimmed");
  } else {
    answer_records(w, f, p, limit, &reply->body);
  }
}

/* ---- the stream, and its shards ------------------------------------------------------------------------- */

static void put_desc(slp_buf *b, const slp_change_shard *sh) {
  char start[SLP_CHANGE_NUMBER_TEXT], end[SLP_CHANGE_NUMBER_TEXT];
  int open = slp_change_open(sh) || (sh->child_n && sh->stream->quirks.open_parents);
  slp_change_start_text(sh, start);
  slp_change_end_text(sh, end);
  slp_msg_str(b, slp_str_of(sh->id));
  slp_msg_str(b, slp_str_of(sh->parent));
  for (int i = 0; i < 3; i++) slp_msg_str(b, (slp_str){NULL, 0}); /* neither another parent nor keys */
  slp_msg_str(b, slp_str_of(start));
  slp_msg_str(b, open ? (slp_str){NULL, 0} : slp_str_of(end));
}

static int is_shown(slp_world *w, const slp_change_shard *sh, slp_str after, slp_str children_of) {
  if (!sh || (after.n && slp_str_cmp(slp_str_of(sh->id), after) <= 0)) return 0;
  if (children_of.n && !slp_str_is(children_of, sh->parent)) return 0;
  return !sh->parent[0] || slp_world_ms(w) - sh->born_ms >= (int64_t)sh->stream->quirks.late_children_ms;
}

static void list(slp_world *w, slp_changes *s, slp_msg *m, slp_typed_sums *sums, slp_sim_reply *reply) {
  slp_str after = slp_msg_take_str(m), children_of = slp_msg_take_str(m);
  slp_buf *b = &reply->body;
  const slp_change_shard *shown[LISTED_MAX];
  size_t n = 0;
  int more = 0, empty = s->quirks.empty_lists && s->descriptions++ % 2 == 0;
  sums->lists++;
  if (s->quirks.no_child_filter == 1) children_of = (slp_str){NULL, 0};
  for (uint32_t i = 0; i < s->shards_n && !empty && !more; i++) {
    if (!is_shown(w, s->shards[i], after, children_of)) continue;
    more = n == LISTED_MAX;
    if (!more) shown[n++] = s->shards[i];
  }
  slp_msg_u64(b, n);
  for (size_t i = 0; i < n; i++) put_desc(b, shown[i]);
  slp_str next = more ? slp_str_of(shown[n - 1]->id) : (slp_str){NULL, 0};
  if (empty) next = after.n ? after : SLP_STR(NO_TOKEN);
  slp_msg_str(b, next);
  slp_msg_u64(b, s->status == SLP_CHANGES_DISABLED);
}

static void describe(slp_changes *s, slp_buf *b) {
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, "eu-west-1", arn);
  slp_msg_u64(b, (uint64_t)s->created_ms);
  slp_msg_str(b, slp_str_of(arn));
}

void slp_typed_changes(slp_world *w, const slp_typed_faults *f, slp_typed_sums *sums, slp_msg *m,
                       slp_sim_reply *reply) {
  char what = m->p < m->end ? *m->p++ : 0;
  if (chance(w, f->throttle_ppm)) {
    sums->throttled++;
    slp_typed_refuse(reply, 400, "throttled");
    return;
  }
  slp_changes_settle(w->box, slp_world_ms(w));
  if (what == SLP_TYPED_RECORDS) {
    records(w, f, sums, m, reply);
    return;
  }
  slp_str name = slp_msg_take_str(m);
  slp_changes *s = slp_changes_find_arn(w->box, name);
  if (!s && what == SLP_TYPED_DESCRIBE) s = slp_changes_latest(w->box, name);
  if (!s) {
    slp_typed_refuse(reply, 400, "unknown");
  } else if (what == SLP_TYPED_DESCRIBE) {
    describe(s, &reply->body);
  } else if (what == SLP_TYPED_LIST) {
    list(w, s, m, sums, reply);
  } else {
    sums->locates++;
    iterator(w, s, m, reply);
  }
}

/* typed_serve.c - the service's end of the typed seam: a Kinesis that reads the world's own log, and tables.
 */
#include "swarm/typed_inside.h"

#include "base/num.h"
#include "swarm/inside.h"
#include "sloop.h"
#include "store/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HOSTS_MAX 256
#define TABLES_MAX 4
#define PAGE_BYTES_MAX (4u << 20)
#define STALE_MAX 16

typedef struct stale_list { /* a listing as it was */
  uint64_t at_us;
  char key[160];
  slp_buf answer;
} stale_list;

struct slp_typed {
  slp_world *w;
  slp_typed_faults faults;
  slp_typed_sums sums;
  uint64_t change_us; /* so long takes a split or a merge */
  void (*others)(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply);
  void *others_arg;
  slp_host *h; /* of the tables */
  slp_memory *memory;
  struct {
    char name[256], hash_name[64], range_name[64];
    slp_store *store;
  } tables[TABLES_MAX];
  size_t tables_n;
  stale_list stale[STALE_MAX];
  struct {
    slp_host *h;
    slp_ops *ops, *streams;
  } hosts[HOSTS_MAX];
  size_t hosts_n;
  uint64_t read_us[SLP_STREAMS_MAX][SLP_SHARDS_MAX][5]; /* the last five reads of a shard, as a ring */
  uint64_t reads[SLP_STREAMS_MAX][SLP_SHARDS_MAX];
  struct { /* the consumer's seat on a shard */
    uint64_t id, asked_us, taken_us, event_us;
    uint8_t silent;
  } seats[SLP_STREAMS_MAX][SLP_SHARDS_MAX];
  uint64_t registered_us; /* 0: the consumer is not there */
  void (*on_row)(void *arg, slp_host *from, uint64_t sent_us, const slp_row_key *key, const slp_row *row);
  void *on_row_arg;
};

static int chance(slp_typed *t, uint32_t ppm) { return ppm && slp_sim_chance(t->w->sim, ppm); }

void slp_typed_refuse(slp_sim_reply *reply, int status, const char *type) {
  reply->status = status;
  snprintf(reply->error_type, sizeof reply->error_type, "%s", type);
}

/* ---- Kinesis: the stream as it looks now --------------------------------------------------------------- */

/* A split or a merge shows when the service has done it. */
static int is_there(const slp_typed *t, const slp_known_shard *s) {
  uint64_t after = s->parents[0] < 0 ? 0 : t->change_us;
  return !s->gone && slp_sim_now_us(t->w->sim) >= s->made_us + after;
}
static int is_closed(const slp_typed *t, const slp_known_shard *s) {
  return s->closed && slp_sim_now_us(t->w->sim) >= s->closed_us + t->change_us;
}

static slp_known_stream *stream_named(slp_typed *t, slp_str name) {
  for (size_t i = 0; i < t->w->streams_n; i++)
    if (slp_str_is(name, t->w->streams[i].name)) return &t->w->streams[i];
  return NULL;
}

static void put_desc(slp_typed *t, slp_buf *b, const slp_known_stream *s, const slp_known_shard *k) {
  char low[48], high[48];
  slp_world_hash(k->hash_low, 0, low);
  slp_world_hash(k->hash_high, 1, high);
  slp_msg_str(b, slp_str_of(k->id));
  for (int i = 0; i < 2; i++) {
    int there = k->parents[i] >= 0;
    slp_msg_str(b, there ? slp_str_of(s->shards[k->parents[i]].id) : (slp_str){NULL, 0});
  }
  slp_msg_str(b, slp_str_of(low));
  slp_msg_str(b, slp_str_of(high));
  slp_msg_str(b, SLP_STR("1"));
  slp_msg_str(b, is_closed(t, k) ? SLP_STR("9") : (slp_str){NULL, 0});
}

static void describe(slp_typed *t, slp_known_stream *s, slp_buf *b) {
  (void)s;
  slp_msg_u64(b, (uint64_t)t->w->sim->unix_start_ms);
}

static void list(slp_typed *t, slp_known_stream *s, slp_buf *b) {
  uint64_t n = 0;
  size_t shown = s->shards_n;
  t->sums.lists++;
  if (chance(t, t->faults.list_late_ppm)) {
    /* As it was before the last change; a parent without its children is what a listing may show. */
    uint64_t last = s->shards[s->shards_n - 1].made_us;
    while (shown > 1 && s->shards[shown - 1].made_us == last && last) shown--;
    t->sums.lied += shown < s->shards_n;
  }
  if (shown == s->shards_n) slp_world_listed(t->w, (slp_str){NULL, 0});
  for (size_t i = 0; i < shown; i++) n += (uint64_t)is_there(t, &s->shards[i]);
  slp_msg_u64(b, n);
  for (size_t i = 0; i < shown; i++) {
    if (!is_there(t, &s->shards[i])) continue;
    s->shards[i].told_us = slp_sim_now_us(t->w->sim);
    put_desc(t, b, s, &s->shards[i]);
  }
}

/* ---- Kinesis: reading ---------------------------------------------------------------------------------- */

/* The first record whose number is not below seq; with after: that is above it. */
static size_t place_of(const slp_known_shard *k, slp_str seq, int after) {
  size_t low = 0, high = k->notes_n;
  while (low < high) {
    size_t mid = (low + high) / 2;
    int c = slp_num_cmp(slp_str_of(k->notes[mid].seq), seq);
    if (c < 0 || (c == 0 && after))
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static size_t first_kept(const slp_known_shard *k, size_t from) {
  while (from < k->notes_n && k->notes[from].trimmed) from++;
  return from;
}

static size_t begin_at(const slp_known_shard *k, slp_iter_kind kind, slp_str seq, int64_t at_ms) {
  size_t i = 0;
  switch (kind) {
    case SLP_ITER_OLDEST: break;
    case SLP_ITER_LATEST: return k->notes_n;
    case SLP_ITER_AT_TIME:
      while (i < k->notes_n && k->notes[i].arrived_ms < at_ms) i++;
      break;
    case SLP_ITER_AT_SEQ: i = place_of(k, seq, 0); break;
    case SLP_ITER_AFTER_SEQ: i = place_of(k, seq, 1); break;
  }
  return first_kept(k, i);
}

static void put_cursor(slp_typed *t, slp_buf *b, const slp_known_stream *s, const slp_known_shard *k,
                       size_t at) {
  char text[80];
  int n = snprintf(text, sizeof text, "%zu.%zu.%zu.%" PRIu64, (size_t)(s - t->w->streams),
                   (size_t)(k - s->shards), at, slp_sim_now_us(t->w->sim));
  slp_msg_str(b, (slp_str){text, (size_t)n});
}

static void iterator(slp_typed *t, slp_known_stream *s, slp_msg *m, slp_sim_reply *reply) {
  slp_str id = slp_msg_take_str(m);
  slp_iter_kind kind = (slp_iter_kind)slp_msg_take_u64(m);
  slp_str seq = slp_msg_take_str(m);
  int64_t at_ms = (int64_t)slp_msg_take_u64(m);
  char text[129];
  snprintf(text, sizeof text, "%.*s", (int)id.n, id.p);
  size_t at = slp_world_find(s, text);
  t->sums.locates++;
  if (at == SIZE_MAX || !is_there(t, &s->shards[at])) {
    slp_typed_refuse(reply, 400, "unknown");
    return;
  }
  slp_world_located(t->w, &s->shards[at], slp_str_of(slp_iter_kind_name(kind)));
  /* Where there are subscriptions "latest" was asked for by one that may never have arrived. */
  if (t->faults.sub_life_ms && kind == SLP_ITER_AT_TIME) {
    s->shards[at].pushed_by_time++;
    s->shards[at].pushed_from_ms = at_ms;
  }
  put_cursor(t, &reply->body, s, &s->shards[at], begin_at(&s->shards[at], kind, seq, at_ms));
}

/* Five reads a second and shard. */
static int too_fast(slp_typed *t, size_t stream, size_t shard) {
  uint64_t now = slp_sim_now_us(t->w->sim), *reads = &t->reads[stream][shard];
  uint64_t *slot = &t->read_us[stream][shard][*reads % 5];
  if (*reads >= 5 && now - *slot < 1000000) return 1;
  *slot = now;
  ++*reads;
  return 0;
}

static void put_record(slp_typed *t, slp_buf *b, const slp_note *note) {
  char *data = slp_alloc(t->w->mem, note->bytes + 1);
  SLP_CHECK(data);
  slp_note_fill(note->id, data, note->bytes);
  slp_msg_u64(b, (uint64_t)note->arrived_ms);
  slp_msg_u64(b, note->sub);
  slp_msg_str(b, slp_str_of(note->seq));
  slp_msg_str(b, slp_str_of(note->key));
  slp_msg_str(b, (slp_str){data, note->bytes});
  slp_free(t->w->mem, data);
}

/* So many from there on as one answer holds; an aggregate comes whole. */
static size_t how_many(const slp_known_shard *k, size_t from, uint64_t limit, uint64_t *ret_calls) {
  size_t n = 0, bytes = 0;
  uint64_t calls = 0;
  for (size_t i = from; i < k->notes_n; i++) {
    int same = n && strcmp(k->notes[i].seq, k->notes[i - 1].seq) == 0;
    if (!same && (calls == limit || bytes > PAGE_BYTES_MAX)) break;
    calls += !same;
    bytes += k->notes[i].bytes;
    n++;
  }
  *ret_calls = calls;
  return n;
}

static void put_children(slp_typed *t, slp_buf *b, const slp_known_stream *s, size_t shard) {
  uint64_t n = 0;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) slp_msg_u64(b, n);
    for (size_t i = 0; i < s->shards_n; i++) {
      slp_known_shard *k = &s->shards[i];
      if (!slp_known_is_child(s, k, &s->shards[shard])) continue;
      k->told_us = slp_sim_now_us(t->w->sim);
      if (pass)
        put_desc(t, b, s, k);
      else
        n++;
    }
  }
}

static int open_cursor(slp_typed *t, slp_str text, size_t at[3], uint64_t *issued_us) {
  char copy[100], *p = copy;
  snprintf(copy, sizeof copy, "%.*s", (int)text.n, text.p);
  for (int i = 0; i < 3; i++) {
    at[i] = (size_t)strtoull(p, &p, 10);
    if (*p++ != '.') return SLP_EBADDATA;
  }
  *issued_us = strtoull(p, &p, 10);
  return at[0] < t->w->streams_n && at[1] < t->w->streams[at[0]].shards_n ? 0 : SLP_EBADDATA;
}

static void answer_records(slp_typed *t, const size_t place[3], uint64_t limit, slp_buf *b) {
  const slp_known_stream *s = &t->w->streams[place[0]];
  slp_known_shard *k = &s->shards[place[1]];
  uint64_t calls = 0;
  size_t from = first_kept(k, place[2]), n = how_many(k, from, limit, &calls), after = from + n;
  if (chance(t, t->faults.empty_ppm)) {
    after = from;
    n = 0;
    calls = 0;
  }
  int over = after == k->notes_n && is_closed(t, k);
  if (k->closed && !is_closed(t, k)) k->shown_open_us = slp_sim_now_us(t->w->sim);
  if (over && n && chance(t, t->faults.end_late_ppm)) over = 0;
  int silent = over && chance(t, t->faults.no_children_ppm);
  t->sums.lied += (uint64_t)silent;
  if (over)
    slp_msg_str(b, (slp_str){NULL, 0});
  else
    put_cursor(t, b, s, k, after);
  slp_msg_u64(b, after < k->notes_n ? (uint64_t)(slp_world_ms(t->w) - k->notes[after].arrived_ms) : 0);
  slp_msg_u64(b, n);
  slp_msg_u64(b, calls);
  for (size_t i = from; i < after; i++) put_record(t, b, &k->notes[i]);
  if (over && !silent)
    put_children(t, b, s, place[1]);
  else
    slp_msg_u64(b, 0);
}

static void records(slp_typed *t, slp_msg *m, const slp_sim_ask *ask, slp_sim_reply *reply) {
  size_t place[3];
  uint64_t issued_us;
  slp_str cursor = slp_msg_take_str(m);
  uint64_t limit = slp_msg_take_u64(m);
  t->sums.fetches++;
  if (open_cursor(t, cursor, place, &issued_us)) {
    slp_typed_refuse(reply, 400, "refused");
    return;
  }
  slp_known_shard *k = &t->w->streams[place[0]].shards[place[1]];
  slp_world_polled(t->w, k, ask->sent_us);
  if (chance(t, t->faults.unknown_ppm) || k->gone) {
    slp_typed_refuse(reply, 400, "unknown");
  } else if (chance(t, t->faults.expired_ppm) ||
             slp_sim_now_us(t->w->sim) - issued_us > UINT64_C(300) * 1000000) {
    t->sums.expired++;
    slp_typed_refuse(reply, 400, "expired");
  } else if (too_fast(t, place[0], place[1])) {
    t->sums.throttled++;
    slp_typed_refuse(reply, 400, "throttled");
    slp_world_answered(t->w, k, 1);
  } else {
    answer_records(t, place, limit, &reply->body);
    slp_world_answered(t->w, k, 0);
  }
}

/* ---- Kinesis: pushing ---------------------------------------------------------------------------------- */
/* Rules: API reference, SubscribeToShard. */
#define CALL_US UINT64_C(1000000)
#define TAKEN_US UINT64_C(5000000)
#define LIFE_US UINT64_C(300000000)
#define IDLE_US UINT64_C(5000000)
#define CREATING_US UINT64_C(2000000)

static void consumer(slp_typed *t, slp_msg *m, slp_sim_reply *reply) {
  uint64_t now_us = slp_sim_now_us(t->w->sim);
  (void)slp_msg_take_str(m); /* there is one stream that is read so */
  int registers = slp_msg_take_u64(m) == SLP_CONSUMER_REGISTER;
  if (!registers && !t->registered_us) {
    slp_typed_refuse(reply, 400, "unknown");
    return;
  }
  if (registers && t->registered_us) {
    slp_typed_refuse(reply, 400, "in use");
    return;
  }
  if (registers) t->registered_us = now_us;
  int active = now_us - t->registered_us >= CREATING_US;
  slp_msg_str(&reply->body, SLP_STR("arn:consumer"));
  slp_msg_u64(&reply->body, (uint64_t)(active ? SLP_CONSUMER_ACTIVE : SLP_CONSUMER_CREATING));
}

/* Finds the shard by its id in any stream: the consumer's ARN says no more here. */
static slp_known_stream *stream_with(slp_typed *t, slp_str id, size_t *ret_shard) {
  char text[129];
  snprintf(text, sizeof text, "%.*s", (int)id.n, id.p);
  for (size_t i = 0; i < t->w->streams_n; i++) {
    *ret_shard = slp_world_find(&t->w->streams[i], text);
    if (*ret_shard != SIZE_MAX && is_there(t, &t->w->streams[i].shards[*ret_shard])) return &t->w->streams[i];
  }
  return NULL;
}

static void subscribe(slp_typed *t, slp_msg *m, slp_sim_reply *reply) {
  uint64_t now_us = slp_sim_now_us(t->w->sim);
  size_t shard;
  (void)slp_msg_take_str(m);
  slp_known_stream *s = stream_with(t, slp_msg_take_str(m), &shard);
  slp_iter_kind kind = (slp_iter_kind)slp_msg_take_u64(m);
  slp_str seq = slp_msg_take_str(m);
  int64_t at_ms = (int64_t)slp_msg_take_u64(m);
  if (!s || !t->registered_us) {
    slp_typed_refuse(reply, 400, "unknown");
    return;
  }
  size_t stream = (size_t)(s - t->w->streams);
  uint64_t before_us = t->seats[stream][shard].asked_us;
  t->seats[stream][shard].asked_us = now_us;
  if (before_us && now_us - before_us < CALL_US) {
    t->sums.throttled++;
    slp_typed_refuse(reply, 400, "throttled");
    return;
  }
  if (t->seats[stream][shard].taken_us && now_us - t->seats[stream][shard].taken_us < TAKEN_US) {
    slp_typed_refuse(reply, 400, "in use");
    return;
  }
  t->sums.subscriptions++;
  t->seats[stream][shard].id++;
  t->seats[stream][shard].taken_us = now_us;
  t->seats[stream][shard].event_us = t->seats[stream][shard].silent = 0;
  slp_world_located(t->w, &s->shards[shard], slp_str_of(slp_iter_kind_name(kind)));
  if (kind == SLP_ITER_AT_TIME) {
    s->shards[shard].pushed_by_time++;
    s->shards[shard].pushed_from_ms = at_ms;
  }
  if (t->faults.dead_push == SLP_DEAD_GATEWAY) {
    slp_typed_refuse(reply, 504, "a gateway");
    return;
  }
  if (t->faults.dead_push == SLP_DEAD_NO_HEAD) {
    reply->silent = 1;
    return;
  }
  slp_msg_u64(&reply->body, t->seats[stream][shard].id);
  put_cursor(t, &reply->body, s, &s->shards[shard], begin_at(&s->shards[shard], kind, seq, at_ms));
}

/* The number of the last record given. Where none was given: one more, which no record has. */
static void put_continuation(slp_buf *b, const slp_known_shard *k, size_t after, size_t n) {
  char text[140] = "1";
  if (after) snprintf(text, sizeof text, "%s", k->notes[after - 1].seq);
  for (size_t i = strlen(text); after && !n && i-- > 0;) {
    if (text[i]++ != '9') break;
    text[i] = '0';
  }
  slp_msg_str(b, slp_str_of(text));
}

static void put_event(slp_typed *t, const slp_known_stream *s, size_t shard, size_t from, size_t n,
                      uint64_t calls, slp_buf *b) {
  const slp_known_shard *k = &s->shards[shard];
  size_t after = from + n;
  int ended = after == k->notes_n && is_closed(t, k);
  int silent = ended && chance(t, t->faults.no_children_ppm);
  slp_msg_u64(b, SLP_TYPED_IS_EVENT);
  put_cursor(t, b, s, k, after);
  if (ended)
    slp_msg_str(b, (slp_str){NULL, 0});
  else
    put_continuation(b, k, after, n);
  slp_msg_u64(b, after < k->notes_n ? (uint64_t)(slp_world_ms(t->w) - k->notes[after].arrived_ms) : 0);
  slp_msg_u64(b, n);
  slp_msg_u64(b, calls);
  for (size_t i = from; i < after; i++) put_record(t, b, &k->notes[i]);
  if (ended && !silent)
    put_children(t, b, s, shard);
  else
    slp_msg_u64(b, 0);
  t->sums.lied += (uint64_t)silent;
  t->sums.events++;
}

static void event(slp_typed *t, slp_msg *m, slp_sim_reply *reply) {
  uint64_t now_us = slp_sim_now_us(t->w->sim), id = slp_msg_take_u64(m), issued_us, calls = 0;
  size_t place[3];
  SLP_CHECK(open_cursor(t, slp_msg_take_str(m), place, &issued_us) == 0);
  const slp_known_stream *s = &t->w->streams[place[0]];
  slp_known_shard *k = &t->w->streams[place[0]].shards[place[1]];
  uint64_t *event_us = &t->seats[place[0]][place[1]].event_us;
  k->last_poll_us = now_us;
  if (k->gone) {
    slp_typed_refuse(reply, 400, "unknown");
    return;
  }
  if (id != t->seats[place[0]][place[1]].id) {
    t->sums.taken_over++;
    slp_typed_refuse(reply, 400, "in use");
    return;
  }
  uint64_t life_us = t->faults.sub_life_ms ? (uint64_t)t->faults.sub_life_ms * 1000 : LIFE_US;
  if (now_us - t->seats[place[0]][place[1]].taken_us >= life_us) {
    t->sums.ended++;
    slp_msg_u64(&reply->body, SLP_TYPED_OVER);
    return;
  }
  if (t->faults.dead_push == SLP_DEAD_ENDS) {
    slp_msg_u64(&reply->body, SLP_TYPED_OVER);
    return;
  }
  if (chance(t, t->faults.sub_silent_ppm) || t->faults.dead_push) t->seats[place[0]][place[1]].silent = 1;
  reply->silent = t->seats[place[0]][place[1]].silent;
  reply->drop = chance(t, t->faults.sub_cut_ppm);
  size_t from = first_kept(k, place[2]), n = how_many(k, from, 1000, &calls);
  int ended = from == k->notes_n && is_closed(t, k);
  if (chance(t, t->faults.empty_ppm)) n = calls = 0;
  if (!reply->silent) k->paged_us = now_us;
  if (!n && !ended && *event_us && now_us - *event_us < IDLE_US) {
    slp_msg_u64(&reply->body, SLP_TYPED_NOT_YET);
    return;
  }
  *event_us = now_us;
  put_event(t, s, place[1], from, n, calls, &reply->body);
}

static void kinesis(slp_typed *t, slp_msg *m, const slp_sim_ask *ask, slp_sim_reply *reply) {
  char what = m->p < m->end ? *m->p++ : 0;
  if (chance(t, t->faults.throttle_ppm)) {
    t->sums.throttled++;
    slp_typed_refuse(reply, 400, "throttled");
    return;
  }
  if (what == SLP_TYPED_RECORDS) {
    records(t, m, ask, reply);
    return;
  }
  if (what == SLP_TYPED_CONSUMER) {
    consumer(t, m, reply);
    return;
  }
  if (what == SLP_TYPED_SUBSCRIBE) {
    subscribe(t, m, reply);
    return;
  }
  if (what == SLP_TYPED_EVENT) {
    event(t, m, reply);
    return;
  }
  slp_known_stream *s = stream_named(t, slp_msg_take_str(m));
  if (!s)
    slp_typed_refuse(reply, 400, "unknown");
  else if (what == SLP_TYPED_DESCRIBE)
    describe(t, s, &reply->body);
  else if (what == SLP_TYPED_LIST)
    list(t, s, &reply->body);
  else
    iterator(t, s, m, reply);
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static void nothing(slp_store_req *rq) { (void)rq; }

/* A store in memory has its answer at once; only the telling waits for a turn. */
static void now(slp_store_req *rq) {
  slp_unpost(&rq->ev);
  rq->ev.run(&rq->ev);
}

/* The tables beside it have other keys. */
static slp_store *leases_of(slp_typed *t) {
  size_t i = 0;
  while (i < t->tables_n &&
         (strcmp(t->tables[i].hash_name, "key") == 0 || strcmp(t->tables[i].hash_name, "wid") == 0))
    i++;
  SLP_CHECK(i < t->tables_n);
  return t->tables[i].store;
}

void slp_typed_get(slp_typed *t, slp_store_get *rq) {
  slp_store *store = leases_of(t);
  rq->rq.on_done = nothing;
  store->ops->get(store, rq);
  now(&rq->rq);
}
void slp_typed_list(slp_typed *t, slp_store_list *rq) {
  slp_store *store = leases_of(t);
  rq->rq.on_done = nothing;
  store->ops->list(store, rq);
  now(&rq->rq);
}

static void tell_row(slp_typed *t, slp_host *from, uint64_t sent_us, slp_store *store,
                     const slp_row_key *key) {
  if (!t->on_row) return;
  slp_store_get g = {.keys = key, .keys_n = 1, .consistent = 1, .rq.on_done = nothing};
  slp_store_rows_init(&g.out, t->w->mem);
  store->ops->get(store, &g);
  now(&g.rq);
  t->on_row(t->on_row_arg, from, sent_us, key, g.out.n ? &g.out.rows[0] : NULL);
  slp_store_rows_free(&g.out);
}

void slp_typed_write(slp_typed *t, slp_store_write *rq) {
  slp_store *store = leases_of(t);
  rq->rq.on_done = nothing;
  store->ops->write(store, rq);
  now(&rq->rq);
  if (rq->written == SLP_WRITTEN_YES) tell_row(t, NULL, slp_sim_now_us(t->w->sim), store, &rq->key);
}

static slp_store *table_of(slp_typed *t, slp_msg *m) {
  char name[256], hash_name[64], range_name[64];
  slp_str s[3];
  for (int i = 0; i < 3; i++) s[i] = slp_msg_take_str(m);
  snprintf(name, sizeof name, "%.*s", (int)s[0].n, s[0].n ? s[0].p : "");
  snprintf(hash_name, sizeof hash_name, "%.*s", (int)s[1].n, s[1].n ? s[1].p : "");
  snprintf(range_name, sizeof range_name, "%.*s", (int)s[2].n, s[2].n ? s[2].p : "");
  for (size_t i = 0; i < t->tables_n; i++)
    if (strcmp(t->tables[i].name, name) == 0) return t->tables[i].store;
  SLP_CHECK(t->tables_n < TABLES_MAX);
  size_t at = t->tables_n++;
  strcpy(t->tables[at].name, name);
  strcpy(t->tables[at].hash_name, hash_name);
  strcpy(t->tables[at].range_name, range_name);
  slp_table_spec spec = {t->tables[at].name, t->tables[at].hash_name,
                         range_name[0] ? t->tables[at].range_name : NULL};
  SLP_CHECK(slp_memory_store(&t->tables[at].store, t->memory, t->h, &spec) == 0);
  return t->tables[at].store;
}

static void prepare(slp_store *store, slp_msg *m, slp_sim_reply *reply) {
  slp_store_prepare p = {.create = (uint8_t)slp_msg_take_u64(m), .rq.on_done = nothing};
  store->ops->prepare(store, &p);
  now(&p.rq);
  if (p.rq.fail.class == SLP_GONE)
    slp_typed_refuse(reply, 400, "unknown");
  else
    slp_msg_u64(&reply->body, p.created);
}

/* Rows that were read are kept, so that a later loose read may see them again. */
static void loosely(slp_typed *t, const char *key, slp_buf *b, size_t from) {
  uint64_t now_us = slp_sim_now_us(t->w->sim);
  stale_list *slot = &t->stale[0];
  for (size_t i = 0; i < STALE_MAX; i++) {
    stale_list *s = &t->stale[i];
    if (s->answer.mem && strcmp(s->key, key) == 0) {
      slot = s;
      break;
    }
    if (s->at_us < slot->at_us) slot = s;
  }
  int same = slot->answer.mem && strcmp(slot->key, key) == 0;
  int young = same && now_us - slot->at_us <= (uint64_t)t->faults.stale_ms * 1000;
  if (young && chance(t, t->faults.stale_ppm)) {
    t->sums.stale++;
    b->n = from;
    SLP_CHECK(slp_buf_add(b, slot->answer.p, slot->answer.n) == 0);
    return;
  }
  if (young && now_us - slot->at_us < (uint64_t)t->faults.stale_ms * 500) return; /* keep the older one */
  if (!slot->answer.mem) slp_buf_init(&slot->answer, t->w->mem, SIZE_MAX / 2);
  snprintf(slot->key, sizeof slot->key, "%s", key);
  slot->at_us = now_us;
  slp_buf_clear(&slot->answer);
  SLP_CHECK(slp_buf_add(&slot->answer, b->p + from, b->n - from) == 0);
}

static void get(slp_typed *t, slp_store *store, slp_msg *m, slp_buf *b) {
  slp_store_get g = {.consistent = (uint8_t)slp_msg_take_u64(m), .rq.on_done = nothing};
  char key[160] = "";
  size_t from = b->n;
  g.keys_n = (size_t)slp_msg_take_u64(m);
  slp_row_key *keys = slp_zalloc_n(t->w->mem, g.keys_n + 1, sizeof *keys);
  SLP_CHECK(keys);
  for (size_t i = 0; i < g.keys_n; i++) {
    keys[i].hash = slp_msg_take_str(m);
    keys[i].range = slp_msg_take_str(m);
  }
  g.keys = keys;
  slp_store_rows_init(&g.out, t->w->mem);
  t->sums.reads++;
  store->ops->get(store, &g);
  now(&g.rq);
  slp_msg_rows(b, &g.out);
  if (g.keys_n == 1)
    snprintf(key, sizeof key, "%.*s/%.*s", (int)keys[0].hash.n, keys[0].hash.p, (int)keys[0].range.n,
             keys[0].range.n ? keys[0].range.p : "");
  if (key[0] && !g.consistent) loosely(t, key, b, from);
  slp_store_rows_free(&g.out);
  slp_free(t->w->mem, keys);
}

static void scan(slp_typed *t, slp_store *store, slp_msg *m, slp_buf *b) {
  slp_store_list l = {.consistent = (uint8_t)slp_msg_take_u64(m), .rq.on_done = nothing};
  char key[160];
  size_t from = b->n;
  l.hash = slp_msg_take_str(m);
  l.prefix = slp_msg_take_str(m);
  slp_store_rows_init(&l.out, t->w->mem);
  t->sums.reads++;
  store->ops->list(store, &l);
  now(&l.rq);
  slp_msg_rows(b, &l.out);
  snprintf(key, sizeof key, "*%.*s/%.*s", (int)l.hash.n, l.hash.n ? l.hash.p : "", (int)l.prefix.n,
           l.prefix.n ? l.prefix.p : "");
  if (!l.consistent) loosely(t, key, b, from);
  slp_store_rows_free(&l.out);
}

static void take_conditions(slp_msg *m, slp_store_rows *arena, slp_store_write *w) {
  w->when_n = (size_t)slp_msg_take_u64(m);
  slp_atom *when = slp_store_rows_get(arena, (w->when_n + 1) * sizeof *when);
  for (size_t i = 0; i < w->when_n; i++) {
    when[i].name = slp_msg_take_str(m);
    when[i].test = (slp_test)slp_msg_take_u64(m);
    SLP_CHECK(slp_msg_take_val(m, arena, &when[i].val) == 0);
    when[i].or_next = (uint8_t)slp_msg_take_u64(m);
  }
  w->when = when;
}

static void take_changes(slp_msg *m, slp_store_rows *arena, slp_store_write *w) {
  w->changes_n = (size_t)slp_msg_take_u64(m);
  slp_change *changes = slp_store_rows_get(arena, (w->changes_n + 1) * sizeof *changes);
  for (size_t i = 0; i < w->changes_n; i++) {
    changes[i].name = slp_msg_take_str(m);
    changes[i].kind = (slp_change_kind)slp_msg_take_u64(m);
    SLP_CHECK(slp_msg_take_val(m, arena, &changes[i].val) == 0);
  }
  w->changes = changes;
}

static void write(slp_typed *t, slp_store *store, slp_msg *m, const slp_sim_ask *ask, slp_buf *b) {
  slp_store_write w = {.rq.on_done = nothing};
  slp_store_rows arena;
  slp_store_rows_init(&arena, t->w->mem);
  slp_store_rows_init(&w.image, t->w->mem);
  w.key.hash = slp_msg_take_str(m);
  w.key.range = slp_msg_take_str(m);
  w.kind = (slp_write_kind)slp_msg_take_u64(m);
  take_conditions(m, &arena, &w);
  take_changes(m, &arena, &w);
  SLP_CHECK(!m->bad);
  t->sums.writes++;
  store->ops->write(store, &w);
  now(&w.rq);
  if (w.written == SLP_WRITTEN_REFUSED) {
    t->sums.refused++;
    if (chance(t, t->faults.blind_ppm)) {
      t->sums.blind++;
      w.image_known = 0;
      slp_store_rows_free(&w.image);
    }
  }
  slp_msg_u64(b, (uint64_t)w.written);
  slp_msg_u64(b, w.image_known);
  slp_msg_rows(b, &w.image);
  slp_sim_trace(t->w->sim, "write %.*s: %d", (int)(w.key.range.n ? w.key.range : w.key.hash).n,
                (w.key.range.n ? w.key.range : w.key.hash).p, (int)w.written);
  if (w.written == SLP_WRITTEN_YES) tell_row(t, ask->from, ask->sent_us, store, &w.key);
  slp_store_rows_free(&w.image);
  slp_store_rows_free(&arena);
}

static void tables(slp_typed *t, slp_msg *m, const slp_sim_ask *ask, slp_sim_reply *reply) {
  char what = m->p < m->end ? *m->p++ : 0;
  slp_store *store = table_of(t, m);
  if (chance(t, t->faults.table_throttle_ppm)) {
    t->sums.throttled++;
    slp_typed_refuse(reply, 400, "throttled");
  } else if (chance(t, t->faults.table_error_ppm)) {
    t->sums.errors++;
    slp_typed_refuse(reply, 500, "");
  } else if (what == SLP_TYPED_PREPARE) {
    prepare(store, m, reply);
  } else if (what == SLP_TYPED_GET) {
    get(t, store, m, &reply->body);
  } else if (what == SLP_TYPED_SCAN) {
    scan(t, store, m, &reply->body);
  } else {
    write(t, store, m, ask, &reply->body);
  }
}

/* ---- serving ------------------------------------------------------------------------------------------- */

static void serve(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply) {
  slp_typed *t = arg;
  if (!slp_str_is(ask->authority, SLP_TYPED_AUTHORITY)) {
    t->others(t->others_arg, ask, reply);
    return;
  }
  int kinesis_too = slp_str_is(ask->path, "/kinesis"), streams = slp_str_is(ask->path, "/streams");
  slp_msg m = slp_msg_of(ask->body);
  reply->status = 200;
  reply->date_ms = slp_world_ms(t->w);
  slp_msg_begin(&reply->body);
  t->w->calls++;
  if (t->w->down || ((kinesis_too || streams) && chance(t, t->faults.error_ppm))) {
    t->sums.errors++;
    slp_typed_refuse(reply, 503, "");
  } else if (kinesis_too) {
    kinesis(t, &m, ask, reply);
  } else if (streams) {
    slp_typed_changes(t->w, &t->faults, &t->sums, &m, reply);
  } else {
    tables(t, &m, ask, reply);
  }
  SLP_CHECK(!m.bad);
  slp_msg_seal(&reply->body);
  if (reply->body.n > t->w->largest_answer) t->w->largest_answer = reply->body.n;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

slp_typed *slp_typed_new(slp_world *w) {
  slp_typed *t = SLP_NEW(w->mem, slp_typed);
  sloop_sandbox_opts_t o;
  SLP_CHECK(t);
  sloop_sandbox_opts_init(&o);
  t->w = w;
  t->change_us = (uint64_t)o.change_ms * 1000;
  t->others = w->sim->serve;
  t->others_arg = w->sim->serve_arg;
  t->memory = slp_memory_new(w->mem);
  t->h = slp_sim_host_new(w->sim, w->mem, NULL);
  SLP_CHECK(t->memory && t->h);
  slp_sim_serve(w->sim, serve, t);
  return t;
}

static void gone(slp_host *h, void *arg) { (void)h, (void)arg; }

void slp_typed_free(slp_typed *t) {
  slp_world *w = t->w;
  size_t alive = slp_sim_hosts_alive(w->sim);
  for (size_t i = 0; i < t->tables_n; i++) t->tables[i].store->ops->close(t->tables[i].store);
  slp_memory_drop(t->memory);
  for (size_t i = 0; i < STALE_MAX; i++)
    if (t->stale[i].answer.mem) slp_buf_free(&t->stale[i].answer);
  for (size_t i = 0; i < t->hosts_n; i++) {
    slp_typed_kinesis_free(t->hosts[i].ops);
    slp_typed_kinesis_free(t->hosts[i].streams);
  }
  slp_host_close(t->h, gone, NULL);
  for (int i = 0; i < 1000 && slp_sim_hosts_alive(w->sim) == alive; i++)
    slp_sim_run(w->sim, slp_sim_now_us(w->sim) + 10, NULL, NULL);
  slp_sim_serve(w->sim, t->others, t->others_arg);
  slp_free(w->mem, t);
}

slp_typed_faults *slp_typed_faults_of(slp_typed *t) { return &t->faults; }
slp_typed_sums slp_typed_sums_of(const slp_typed *t) { return t->sums; }

void slp_typed_on_row(slp_typed *t,
                      void (*on_row)(void *arg, slp_host *from, uint64_t sent_us, const slp_row_key *key,
                                     const slp_row *row),
                      void *arg) {
  t->on_row = on_row;
  t->on_row_arg = arg;
}

static int open_store(void *ctx, slp_host *h, const slp_table_spec *table, slp_store **ret) {
  return slp_typed_store_new(((slp_typed *)ctx)->w->mem, h, table, ret);
}

slp_outside slp_typed_outside(slp_typed *t, slp_host *h) {
  size_t i = 0;
  while (i < t->hosts_n && t->hosts[i].h != h) i++;
  SLP_CHECK(i < HOSTS_MAX);
  if (i == t->hosts_n) {
    t->hosts[i].h = h;
    t->hosts[i].ops = slp_typed_kinesis_new(t->w->mem, h);
    t->hosts[i].streams = slp_typed_changes_new(t->w->mem, h);
    t->hosts_n++;
  }
  return (slp_outside){.getenv_fn = slp_world_keys,
                       .kinesis = t->hosts[i].ops,
                       .streams = t->hosts[i].streams,
                       .store = open_store,
                       .ctx = t};
}

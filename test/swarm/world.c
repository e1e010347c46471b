/* world.c - the service side: orders to the model, the log of what it accepted, and what it was asked. */
#include "swarm/world.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/little.h"
#include "base/u128.h"
#include "kpl_write.h"
#include "swarm/served.h"

#define TARGET "Kinesis_20131202."

typedef struct slp_seen_iterator {
  uint64_t hash; /* 0: free */
  slp_known_shard *shard;
} slp_seen_iterator;

/* ---- reading requests and answers without the product's codecs ---------------------------------- */
/* The text value of the member `name`, in JSON or CBOR; {NULL,0}: none. Looks only for the member's own
 * bytes, which do not occur by chance in what is searched here. */
static slp_str member_text(slp_str body, const char *name, int cbor) {
  char key[80];
  size_t n = strlen(name);
  SLP_CHECK(n < 60);
  if (cbor) {
    int head = n < 24 ? snprintf(key, sizeof key, "%c", (int)(0x60 + n))
                      : snprintf(key, sizeof key, "\x78%c", (int)n);
    memcpy(key + head, name, n);
    n += (size_t)head;
  } else {
    n = (size_t)snprintf(key, sizeof key, "\"%s\"", name);
  }
  const char *p = body.n ? memmem(body.p, body.n, key, n) : NULL;
  if (!p) return (slp_str){NULL, 0};
  p += n;
  const char *end = body.p + body.n;
  if (cbor) {
    if (end - p < 3) return (slp_str){NULL, 0};
    uint8_t head = (uint8_t)*p++;
    size_t len = head & 31u;
    if (head >> 5 != 3 || len > 25) return (slp_str){NULL, 0};
    if (len == 24)
      len = (uint8_t)*p++;
    else if (len == 25) {
      len = (size_t)(uint8_t)p[0] << 8 | (uint8_t)p[1];
      p += 2;
    }
    return len <= (size_t)(end - p) ? (slp_str){p, len} : (slp_str){NULL, 0};
  }
  while (p < end && (*p == ':' || *p == ' ')) p++;
  if (p == end || *p != '"') return (slp_str){NULL, 0};
  const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
  return close ? (slp_str){p + 1, (size_t)(close - p - 1)} : (slp_str){NULL, 0};
}

static uint64_t text_hash(slp_str s) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < s.n; i++) h = (h ^ (uint8_t)s.p[i]) * UINT64_C(0x100000001b3);
  return h | 1;
}

static slp_seen_iterator *seen_slot(slp_world *w, uint64_t hash) {
  size_t i = (size_t)hash & (w->seen_cap - 1);
  while (w->seen[i].hash && w->seen[i].hash != hash) i = (i + 1) & (w->seen_cap - 1);
  return &w->seen[i];
}

static void remember(slp_world *w, slp_str iterator, slp_known_shard *shard) {
  if (!iterator.n) return;
  if (w->seen_n * 2 >= w->seen_cap) {
    slp_seen_iterator *old = w->seen;
    size_t old_cap = w->seen_cap;
    w->seen_cap = old_cap ? old_cap * 2 : 1024;
    w->seen = slp_zalloc_n(w->mem, w->seen_cap, sizeof *w->seen);
    SLP_CHECK(w->seen);
    for (size_t i = 0; i < old_cap; i++)
      if (old[i].hash) *seen_slot(w, old[i].hash) = old[i];
    slp_free(w->mem, old);
  }
  slp_seen_iterator *slot = seen_slot(w, text_hash(iterator));
  if (!slot->hash) w->seen_n++;
  slot->hash = text_hash(iterator);
  slot->shard = shard;
}

static slp_known_shard *shard_of_iterator(slp_world *w, slp_str iterator) {
  if (!iterator.n || !w->seen_cap) return NULL;
  return seen_slot(w, text_hash(iterator))->shard;
}

static slp_known_shard *shard_by_id(slp_world *w, slp_str stream, slp_str id) {
  for (size_t i = 0; i < w->streams_n; i++) {
    slp_known_stream *s = &w->streams[i];
    if (stream.n && !slp_str_is(stream, s->name)) continue;
    for (size_t k = 0; k < s->shards_n; k++)
      if (slp_str_is(id, s->shards[k].id)) return &s->shards[k];
  }
  return NULL;
}

/* ---- what is asked -------------------------------------------------------------------------------- */
void slp_world_polled(slp_world *w, slp_known_shard *sh, uint64_t sent_us) {
  uint64_t *slot = &sh->poll_sent_us[sh->polls % SLP_COUNT(sh->poll_sent_us)];
  if (sh->polls >= SLP_COUNT(sh->poll_sent_us) && sent_us - *slot < w->poll_gap_us_min)
    w->poll_gap_us_min = sent_us - *slot;
  *slot = sent_us;
  sh->polls++;
  sh->rest_polls += sent_us >= w->rest_us;
  sh->last_poll_us = slp_sim_now_us(w->sim);
}

void slp_world_located(slp_world *w, slp_known_shard *sh, slp_str kind) {
  if (!sh->locates++) {
    sh->first_locate_us = slp_sim_now_us(w->sim);
    sh->listed_us = w->listed_us;
  }
  sh->time_locates += (uint64_t)slp_str_is(kind, "AT_TIMESTAMP");
  if (slp_str_is(kind, "LATEST")) {
    if (!sh->latest_locates++) {
      sh->latest_low = sh->notes_n;
      sh->latest_first_ms = slp_world_ms(w);
    }
    sh->latest_high = sh->notes_n;
  } else if (sh->latest_locates) {
    /* An anchor is a time, so it may reach back over records of the same second, and of as long as the answer
     * was on its way; and over those of one more when it is looked for from the oldest record on, in whole
     * seconds. */
    size_t i = sh->latest_low;
    int64_t way_ms = (int64_t)(slp_sim_longest_call_us(w->sim) / 1000) + 1;
    int64_t slack_ms = (slp_str_is(kind, "TRIM_HORIZON") ? 2000 : 1000) + way_ms;
    if (!slp_str_is(kind, "TRIM_HORIZON") && !slp_str_is(kind, "AT_TIMESTAMP")) return;
    while (i > 0 && sh->notes[i - 1].arrived_ms >= sh->latest_first_ms - slack_ms) i--;
    sh->by_time_low = i;
  }
}

void slp_world_answered(slp_world *w, slp_known_shard *sh, int refused) {
  uint64_t now_us = slp_sim_now_us(w->sim);
  if (!refused) sh->paged_us = now_us;
  if (refused) sh->refused_last_us = now_us;
  if (refused && !sh->refused_since_us) sh->refused_since_us = now_us;
  if (refused || !sh->refused_since_us) return;
  sh->refused_us = slp_max_u64(sh->refused_us, now_us - sh->refused_since_us);
  sh->refused_since_us = 0;
}

void slp_world_listed(slp_world *w, slp_str next_token) {
  if (!next_token.n) w->listed_us = slp_sim_now_us(w->sim);
}

int slp_known_is_child(const slp_known_stream *s, const slp_known_shard *k, const slp_known_shard *parent) {
  return (k->parents[0] >= 0 && &s->shards[k->parents[0]] == parent) ||
         (k->parents[1] >= 0 && &s->shards[k->parents[1]] == parent);
}

/* Notes which shards an answer describes: a listing, or the page of a parent. */
static void note_told(slp_world *w, const slp_known_shard *parent, slp_str body, int cbor) {
  char row[200];
  for (size_t i = 0; i < w->streams_n; i++) {
    for (size_t k = 0; k < w->streams[i].shards_n; k++) {
      slp_known_shard *sh = &w->streams[i].shards[k];
      if (parent && !slp_known_is_child(&w->streams[i], sh, parent)) continue;
      int n = cbor ? snprintf(row, sizeof row, "\x67ShardId%c%s", (int)(0x60 + strlen(sh->id)), sh->id)
                   : snprintf(row, sizeof row, "\"ShardId\":\"%s\"", sh->id);
      if (body.n && memmem(body.p, body.n, row, (size_t)n)) sh->told_us = slp_sim_now_us(w->sim);
    }
  }
}

static void serve(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply) {
  slp_world *w = arg;
  slp_box_request rq = slp_served_request(ask);
  char op[64];
  size_t skip = sizeof TARGET - 1;
  snprintf(op, sizeof op, "%.*s", rq.target.n > skip ? (int)(rq.target.n - skip) : 0,
           rq.target.n > skip ? rq.target.p + skip : "");
  int cbor = rq.content_type.n && memmem(rq.content_type.p, rq.content_type.n, "cbor", 4) != NULL;
  slp_known_shard *sh = NULL;
  if (strcmp(op, "GetRecords") == 0) {
    w->gets++;
    sh = shard_of_iterator(w, member_text(ask->body, "ShardIterator", cbor));
    if (sh) slp_world_polled(w, sh, ask->sent_us);
  } else if (strcmp(op, "GetShardIterator") == 0) {
    sh = shard_by_id(w, member_text(ask->body, "StreamName", cbor), member_text(ask->body, "ShardId", cbor));
    if (sh) slp_world_located(w, sh, member_text(ask->body, "ShardIteratorType", cbor));
  } else if (strcmp(op, "ListShards") == 0) {
    slp_world_listed(w, member_text(ask->body, "NextToken", cbor));
  }
  slp_box_answer answer = {.cut_after = SIZE_MAX};
  slp_buf_init(&answer.body, w->mem, SIZE_MAX / 2);
  if (w->down) {
    answer.status = 503;
    answer.content_type = "text/html";
    SLP_CHECK(slp_buf_add_z(&answer.body, "<html>503</html>") == 0);
  } else {
    slp_box_handle(w->box, slp_world_ms(w), &rq, &answer);
  }
  w->calls++;
  slp_served_reply(reply, &answer, slp_world_ms(w));
  if (reply->body.n > w->largest_answer) w->largest_answer = reply->body.n;
  if (sh && reply->status == 200) {
    slp_str body = slp_buf_str(&reply->body);
    remember(w, member_text(body, *op == 'G' && op[3] == 'R' ? "NextShardIterator" : "ShardIterator", cbor),
             sh);
  }
  if (sh && *op == 'G' && op[3] == 'R') {
    slp_str body = slp_buf_str(&reply->body);
    int refused = reply->status == 400 && memmem(body.p, body.n, "Exceeded", 8);
    if (refused || reply->status == 200) slp_world_answered(w, sh, refused);
  }
  int of_shards = strcmp(op, "ListShards") == 0 || (strcmp(op, "GetRecords") == 0 && sh && sh->closed);
  if (reply->status == 200 && of_shards) note_told(w, sh, slp_buf_str(&reply->body), cbor);
  slp_sim_trace(w->sim, "%s %s: %d, %zu bytes", op, sh ? sh->id : "", reply->status, reply->body.n);
  if (w->on_answer) w->on_answer(w, op, sh, reply);
}

const char *slp_world_keys(void *ctx, const char *name) {
  (void)ctx;
  if (strcmp(name, "AWS_ACCESS_KEY_ID") == 0) return "AKID";
  return strcmp(name, "AWS_SECRET_ACCESS_KEY") == 0 ? "secret" : NULL;
}

/* ---- birth ------------------------------------------------------------------------------------------ */
void slp_world_box_opts(sloop_sandbox_opts_t *o) {
  sloop_sandbox_opts_init(o);
  o->write_bytes_per_second = 0;
  o->write_records_per_second = 0;
}

slp_world *slp_world_new(slp_mem *mem, uint64_t seed, const sloop_sandbox_opts_t *o) {
  slp_world *w = SLP_NEW(mem, slp_world);
  SLP_CHECK(w);
  w->mem = mem;
  w->seed = seed;
  w->sim = slp_sim_new(mem, seed);
  sloop_sandbox_opts_t plain;
  if (!o) {
    slp_world_box_opts(&plain);
    o = &plain;
  }
  w->box = slp_box_new(mem, o, seed);
  SLP_CHECK(w->box);
  w->poll_gap_us_min = UINT64_MAX;
  w->digest = slp_digest_new(mem);
  SLP_CHECK(w->digest);
  slp_sim_serve(w->sim, serve, w);
  return w;
}

void slp_world_free(slp_world *w) {
  slp_sim_free(w->sim);
  slp_box_free(w->box);
  for (size_t i = 0; i < w->streams_n; i++) {
    for (size_t k = 0; k < w->streams[i].shards_n; k++) slp_free(w->mem, w->streams[i].shards[k].notes);
    slp_free(w->mem, w->streams[i].shards);
  }
  slp_free(w->mem, w->seen);
  slp_digest_free(w->digest);
  slp_free(w->mem, w);
}

int64_t slp_world_ms(const slp_world *w) { return slp_sim_unix_ms(w->sim) + w->service_off_ms; }

void slp_world_pass(slp_world *w, uint64_t ms) {
  slp_sim_run(w->sim, slp_sim_now_us(w->sim) + ms * 1000, NULL, NULL);
}

/* The service numbers shards in the order they are made. */
static size_t add_shard(slp_world *w, slp_known_stream *s, int parent, int other, uint64_t low,
                        uint64_t high) {
  SLP_CHECK(s->shards_n < SLP_SHARDS_MAX);
  slp_known_shard *sh = &s->shards[s->shards_n];
  *sh = (slp_known_shard){.parents = {parent, other},
                          .hash_low = low,
                          .hash_high = high,
                          .made_us = slp_sim_now_us(w->sim),
                          .latest_low = SIZE_MAX,
                          .latest_high = SIZE_MAX,
                          .by_time_low = SIZE_MAX};
  snprintf(sh->id, sizeof sh->id, "shardId-%012zu", s->shards_n);
  return s->shards_n++;
}

slp_known_stream *slp_world_stream(slp_world *w, const char *name, uint32_t shards) {
  SLP_CHECK(w->streams_n < SLP_STREAMS_MAX);
  slp_known_stream *s = &w->streams[w->streams_n++];
  snprintf(s->name, sizeof s->name, "%s", name);
  s->shards = slp_zalloc_n(w->mem, SLP_SHARDS_MAX, sizeof *s->shards);
  SLP_CHECK(s->shards);
  SLP_CHECK(slp_box_stream(w->box, slp_world_ms(w), name, shards) == 0);
  uint64_t width = UINT64_MAX / shards + (UINT64_MAX % shards == shards - 1);
  for (uint32_t i = 0; i < shards; i++)
    add_shard(w, s, -1, -1, width * i, i + 1 == shards ? UINT64_MAX : width * (i + 1) - 1);
  return s;
}

/* ---- records ------------------------------------------------------------------------------------------ */
/* Eight bytes at a time: a whole campaign waits for it. */
static uint64_t note_word(uint64_t id, size_t i) {
  return id * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uint8_t)i * UINT64_C(0x0101010101010101);
}

void slp_note_fill(uint64_t id, char *to, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = slp_little_u64(note_word(id, i / 8));
    memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

int slp_note_holds(const slp_note *note, const char *p, size_t n) {
  if (n != note->bytes) return 0;
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = slp_little_u64(note_word(note->id, i / 8));
    if (memcmp(p + i, &word, n - i < 8 ? n - i : 8) != 0) return 0;
  }
  return 1;
}

size_t slp_world_find(const slp_known_stream *s, const char *id) {
  for (size_t i = 0; i < s->shards_n; i++)
    if (strcmp(s->shards[i].id, id) == 0) return i;
  return SIZE_MAX;
}

static slp_note *add_note(slp_world *w, slp_known_shard *sh, slp_note note) {
  if (sh->notes_n == sh->notes_cap) {
    sh->notes_cap = sh->notes_cap ? sh->notes_cap * 2 : 64;
    sh->notes = slp_realloc(w->mem, sh->notes, sh->notes_cap * sizeof *sh->notes);
    SLP_CHECK(sh->notes);
  }
  sh->notes[sh->notes_n] = note;
  return &sh->notes[sh->notes_n++];
}

/* Where it went, and *note gets what the service said; NULL: refused. */
static slp_known_shard *put_bytes(slp_world *w, slp_known_stream *s, const char *key, slp_str data,
                                  slp_note *note) {
  char shard[129];
  note->put_us = slp_sim_now_us(w->sim);
  note->arrived_ms = slp_world_ms(w);
  if (slp_box_put(w->box, note->arrived_ms, s->name, slp_str_of(key), data, note->seq, shard)) return NULL;
  size_t i = slp_world_find(s, shard);
  SLP_CHECK(i != SIZE_MAX);
  return &s->shards[i];
}

static slp_note *put_with(slp_world *w, slp_known_stream *s, uint32_t bytes, const char *key) {
  slp_note note = {.id = ++w->ids, .bytes = bytes};
  snprintf(note.key, sizeof note.key, "%s", key);
  char *data = slp_alloc(w->mem, bytes + 1);
  SLP_CHECK(data);
  slp_note_fill(note.id, data, bytes);
  slp_known_shard *sh = put_bytes(w, s, key, (slp_str){data, bytes}, &note);
  slp_free(w->mem, data);
  if (!sh) return NULL;
  w->records_put++;
  w->bytes_put += bytes;
  return add_note(w, sh, note);
}

static void draw_key(slp_world *w, char key[24]) {
  snprintf(key, 24, "k%016" PRIx64, slp_sim_random_below(w->sim, UINT64_MAX));
}

slp_note *slp_world_put(slp_world *w, slp_known_stream *s, uint32_t bytes) {
  char key[24];
  draw_key(w, key);
  return put_with(w, s, bytes, key);
}

slp_note *slp_world_put_to(slp_world *w, slp_known_stream *s, size_t shard, uint32_t bytes) {
  const slp_known_shard *sh = &s->shards[shard];
  for (;;) {
    char key[24];
    uint8_t md5[16];
    uint64_t hash = 0;
    draw_key(w, key);
    SLP_CHECK(slp_md5(w->digest, slp_str_of(key), md5) == 0);
    for (int i = 0; i < 8; i++) hash = hash << 8 | md5[i];
    if (hash > sh->hash_low && hash < sh->hash_high) return put_with(w, s, bytes, key);
  }
}

int slp_world_put_aggregate(slp_world *w, slp_known_stream *s, size_t n, uint32_t bytes) {
  char key[24], other[24], *data = slp_alloc(w->mem, bytes + 1);
  uint64_t first = w->ids + 1;
  slp_buf message, sealed;
  SLP_CHECK(data);
  slp_buf_init(&message, w->mem, SIZE_MAX / 2);
  slp_buf_init(&sealed, w->mem, SIZE_MAX / 2);
  draw_key(w, key);
  draw_key(w, other);
  kpl_key(&message, key);
  kpl_key(&message, other);
  for (size_t i = 0; i < n; i++) {
    slp_note_fill(++w->ids, data, bytes);
    kpl_record(&message, i % 2, -1, (slp_str){data, bytes});
  }
  kpl_seal(&sealed, slp_buf_str(&message));
  slp_note note = {.bytes = bytes};
  slp_known_shard *sh = put_bytes(w, s, key, slp_buf_str(&sealed), &note);
  for (size_t i = 0; sh && i < n; i++) {
    note.id = first + i;
    note.sub = (uint32_t)i;
    snprintf(note.key, sizeof note.key, "%s", i % 2 ? other : key);
    add_note(w, sh, note);
    w->records_put++;
    w->aggregated++;
    w->bytes_put += bytes;
  }
  slp_buf_free(&message);
  slp_buf_free(&sealed);
  slp_free(w->mem, data);
  return sh ? 0 : -1;
}

void slp_world_put_many(slp_world *w, slp_known_stream *s, size_t n, uint32_t bytes) {
  for (size_t i = 0; i < n; i++) SLP_CHECK(slp_world_put(w, s, bytes));
}

/* ---- orders ----------------------------------------------------------------------------------------- */
void slp_world_hash(uint64_t upper, int end, char out[48]) {
  slp_u128_text((slp_u128){upper, end ? UINT64_MAX : 0}, out);
}

int slp_world_split(slp_world *w, slp_known_stream *s, size_t shard) {
  uint64_t low = s->shards[shard].hash_low, high = s->shards[shard].hash_high;
  uint64_t middle = low + (high - low) / 2 + 1;
  char at[48]; /* middle * 2^64 in decimal */
  slp_world_hash(middle, 0, at);
  int rc = slp_box_split(w->box, slp_world_ms(w), s->name, s->shards[shard].id, at);
  if (rc) return rc;
  s->shards[shard].closed = 1;
  s->shards[shard].closed_us = slp_sim_now_us(w->sim);
  size_t a = add_shard(w, s, (int)shard, -1, low, middle - 1),
         b = add_shard(w, s, (int)shard, -1, middle, high);
  slp_sim_trace(w->sim, "split %s into %s, %s", s->shards[shard].id, s->shards[a].id, s->shards[b].id);
  return 0;
}

int slp_world_merge(slp_world *w, slp_known_stream *s, size_t shard, size_t other) {
  int rc = slp_box_merge(w->box, slp_world_ms(w), s->name, s->shards[shard].id, s->shards[other].id);
  if (rc) return rc;
  s->shards[shard].closed = s->shards[other].closed = 1;
  s->shards[shard].closed_us = s->shards[other].closed_us = slp_sim_now_us(w->sim);
  const slp_known_shard *x = &s->shards[shard], *y = &s->shards[other];
  size_t c = add_shard(w, s, (int)shard, (int)other, slp_min_u64(x->hash_low, y->hash_low),
                       slp_max_u64(x->hash_high, y->hash_high));
  slp_sim_trace(w->sim, "merge %s, %s into %s", s->shards[shard].id, s->shards[other].id, s->shards[c].id);
  return 0;
}

void slp_world_trim(slp_world *w, slp_known_stream *s, int64_t before_ms) {
  SLP_CHECK(slp_box_trim(w->box, slp_world_ms(w), s->name, before_ms) == 0);
  slp_sim_trace(w->sim, "trim %s", s->name);
  for (size_t i = 0; i < s->shards_n; i++) {
    slp_known_shard *sh = &s->shards[i];
    size_t kept = 0;
    for (size_t k = 0; k < sh->notes_n; k++) {
      if (sh->notes[k].arrived_ms < before_ms && !sh->notes[k].trimmed) {
        sh->notes[k].trimmed = 1;
        sh->notes[k].trimmed_us = slp_sim_now_us(w->sim);
      }
      kept += !sh->notes[k].trimmed;
    }
    /* A shard is listed for as long as a record of its last moment would be kept, so never longer than its
     * children. */
    int64_t closed_for_ms = (int64_t)((slp_sim_now_us(w->sim) - sh->closed_us) / 1000);
    if (sh->closed && !kept && slp_world_ms(w) - closed_for_ms < before_ms) sh->gone = 1;
    for (int k = 0; k < 2 && sh->gone; k++) SLP_CHECK(sh->parents[k] < 0 || s->shards[sh->parents[k]].gone);
  }
}

void slp_world_faults(slp_world *w, const char *script) {
  char why[160] = "";
  if (slp_box_faults(w->box, script, why)) {
    fprintf(stderr, "fault script: %s\n", why);
    SLP_CHECK(!"a fault script of ours is wrong");
  }
  w->faults_set |= script != NULL;
}

size_t slp_world_open_shard(slp_world *w, const slp_known_stream *s) {
  size_t open = 0;
  for (size_t i = 0; i < s->shards_n; i++) open += !s->shards[i].closed;
  if (!open) return SIZE_MAX;
  size_t pick = (size_t)slp_sim_random_below(w->sim, open);
  for (size_t i = 0; i < s->shards_n; i++)
    if (!s->shards[i].closed && pick-- == 0) return i;
  return SIZE_MAX;
}

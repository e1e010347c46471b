/* token.c - parses and writes tokens; token.h describes their format. */
#include "core/token.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/num.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "core/mark.h"
#include "core/position.h"

#include <sloop.h>
#include <stdio.h>

#define ID_MAX 128u      /* most bytes that a shard's id may have */
#define STREAM_MAX 2048u /* most bytes of a stream's ARN or name, and of a sequence number's text */

typedef struct reader {
  slp_json j;
  slp_token *t;
  /* Owned: the ids in the list `active`. They are looked up when all shards were parsed. */
  slp_str *active;
  size_t active_n, active_cap;
  char *why;
  /* the member that is being parsed, for error messages: "shards[3].sequence_number" */
  char where[80];
} reader;

/* ---- error messages ------------------------------------------------------------------------------------ */

static int explain_wrong_member(reader *r, const char *what) {
  snprintf(r->why, 160, "token: %s%s%s", r->where, r->where[0] ? " " : "", what);
  return SLOOP_ETOKEN;
}

static int explain_broken_json(reader *r) {
  snprintf(r->why, 160, "token: not JSON at byte %zu: %s", r->j.at, r->j.why ? r->j.why : "nested too deep");
  return SLOOP_ETOKEN;
}

static int is_number(slp_str s, size_t max) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9') return 0;
  }
  return s.n > 0 && s.n <= max;
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Parses a string into *ret; JSON's null becomes {NULL, 0}. */
static int read_text(reader *r, slp_str *ret, size_t max) {
  int k = slp_json_next(&r->j);
  *ret = (slp_str){NULL, 0};
  if (k == SLP_JSON_NULL) return 0;
  if (k < 0) return explain_broken_json(r);
  if (k != SLP_JSON_STRING) return explain_wrong_member(r, "is not a string");
  *ret = r->j.text;
  if (ret->n == 0) return explain_wrong_member(r, "is empty");
  if (ret->n > max) return explain_wrong_member(r, "is too long");
  if (memchr(ret->p, 0, ret->n)) return explain_wrong_member(r, "holds a zero byte");
  return 0;
}

/* Parses a decimal number, with quotes or without. JSON's null leaves *ret unchanged. */
static int read_count(reader *r, uint64_t max, uint64_t *ret) {
  int k = slp_json_next(&r->j);
  if (k == SLP_JSON_NULL) return 0;
  if (k < 0) return explain_broken_json(r);
  if (k != SLP_JSON_STRING && k != SLP_JSON_NUMBER) return explain_wrong_member(r, "is not a number");
  if (!is_number(r->j.text, 20)) return explain_wrong_member(r, "is not a number");
  uint64_t v = 0;
  if (slp_parse_u64(r->j.text, &v) || v > max) return explain_wrong_member(r, "is out of range");
  *ret = v;
  return 0;
}

static int read_place(reader *r, slp_position_kind *ret) {
  static const struct {
    const char *name;
    slp_position_kind kind;
  } names[] = {{"trim_horizon", SLP_POSITION_OLDEST},
               {"latest", SLP_POSITION_LATEST},
               {"at_sequence", SLP_POSITION_AT},
               {"after_sequence", SLP_POSITION_AFTER}};
  slp_str text;
  int e = read_text(r, &text, ID_MAX);
  if (e || !text.p) return e;
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    if (!slp_str_is(text, names[i].name)) continue;
    *ret = names[i].kind;
    return 0;
  }
  return explain_wrong_member(r, "is none of trim_horizon, latest, at_sequence, after_sequence");
}

/* ---- shards ------------------------------------------------------------------------------------------ */

static int read_member(reader *r, slp_token_shard *s, slp_str key, size_t i) {
  uint64_t n = 0;
  int e = 0;
  snprintf(r->where, sizeof r->where, "shards[%zu].%.*s", i, (int)slp_min_u64(key.n, 40), key.p);
  if (slp_str_is(key, "shard_id")) return read_text(r, &s->id, ID_MAX);
  if (slp_str_is(key, "parent")) return read_text(r, &s->parent, ID_MAX);
  if (slp_str_is(key, "iterator_type")) return read_place(r, &s->from.kind);
  if (slp_str_is(key, "sequence_number")) {
    slp_str seq;
    e = read_text(r, &seq, STREAM_MAX);
    if (e || !seq.p) return e;
    seq = slp_seq_fit(seq);
    if (!seq.n) return explain_wrong_member(r, "is not a sequence number");
    slp_mark before = s->from.mark;
    slp_mark_set(&s->from.mark, seq, before.sub, before.arrived_ms);
    s->from.mark.idle = before.idle;
    s->from.mark.clear_ms = before.clear_ms;
    return 0;
  }
  if (slp_str_is(key, "sub_sequence")) {
    e = read_count(r, UINT32_MAX, &n);
    s->from.mark.sub = (uint32_t)n;
    return e;
  }
  if (slp_str_is(key, "no_record")) {
    e = read_count(r, 1, &n);
    s->from.mark.idle = (uint8_t)n;
    return e;
  }
  int64_t *time = slp_str_is(key, "arrived_at")    ? &s->from.mark.arrived_ms
                  : slp_str_is(key, "clear_until") ? &s->from.mark.clear_ms
                  : slp_str_is(key, "not_before")  ? &s->not_before_ms
                                                   : NULL;
  if (time) {
    n = UINT64_MAX;
    e = read_count(r, INT64_MAX / 1000, &n);
    if (!e && n != UINT64_MAX) *time = (int64_t)n;
    return e;
  }
  return slp_json_skip(&r->j) ? explain_broken_json(r) : 0;
}

static int is_exact(const slp_token_shard *s) {
  return s->from.kind == SLP_POSITION_AT || s->from.kind == SLP_POSITION_AFTER;
}

static int read_shard(reader *r, size_t i) {
  slp_token *t = r->t;
  slp_token_shard s = {.from = {.kind = SLP_POSITION_OLDEST, .mark.arrived_ms = -1},
                       .not_before_ms = INT64_MIN};
  int k, e = 0;
  while (!e && (k = slp_json_next(&r->j)) != SLP_JSON_OBJECT_END)
    e = k == SLP_JSON_KEY ? read_member(r, &s, r->j.text, i) : explain_broken_json(r);
  if (e) return e;
  snprintf(r->where, sizeof r->where, "shards[%zu]", i);
  if (!s.id.p) return explain_wrong_member(r, "has no shard_id");
  if (is_exact(&s) && !s.from.mark.seq_n) return explain_wrong_member(r, "has no sequence_number");
  if (!is_exact(&s)) s.from.mark = (slp_mark){.arrived_ms = -1};
  if (s.from.mark.idle && s.from.kind != SLP_POSITION_AFTER)
    return explain_wrong_member(r, "has no_record, but not after_sequence");
  if (s.from.mark.idle) s.from.mark.sub = UINT32_MAX;
  slp_token_shard *twin = slp_token_find(t, s.id);
  if (twin) { /* a token written by bloop may contain a shard twice; then its last entry counts */
    slp_str id = twin->id;
    *twin = s;
    twin->id = id; /* keep the id of the first entry, because the map's key points to it */
    return 0;
  }
  if (t->shards_n == SLP_TOKEN_SHARDS_MAX) return explain_wrong_member(r, "is one too many");
  if (t->shards_n == t->shards_cap) {
    slp_token_shard *more = slp_doubled(t->mem, t->shards, &t->shards_cap, 16, sizeof *more);
    if (!more) return SLP_ENOMEM;
    t->shards = more;
  }
  t->shards[t->shards_n++] = s;
  return slp_map_put(&t->ids, s.id, (void *)(uintptr_t)t->shards_n);
}

static int read_shards(reader *r) {
  int k = slp_json_next(&r->j);
  snprintf(r->where, sizeof r->where, "shards");
  if (k < 0) return explain_broken_json(r);
  if (k != SLP_JSON_ARRAY) return explain_wrong_member(r, "is not a list");
  /* if the token has two members "shards", the last one counts */
  slp_map_free(&r->t->ids);
  slp_map_init(&r->t->ids, r->t->mem);
  r->t->shards_n = 0;
  for (size_t i = 0;; i++) {
    k = slp_json_next(&r->j);
    if (k == SLP_JSON_ARRAY_END) return 0;
    if (k < 0) return explain_broken_json(r);
    snprintf(r->where, sizeof r->where, "shards[%zu]", i);
    if (k != SLP_JSON_OBJECT) return explain_wrong_member(r, "is not an object");
    int e = read_shard(r, i);
    if (e) return e;
  }
}

/* ---- the whole token --------------------------------------------------------------------------------- */

static int read_active(reader *r) {
  int k = slp_json_next(&r->j);
  snprintf(r->where, sizeof r->where, "active");
  if (k < 0) return explain_broken_json(r);
  if (k != SLP_JSON_ARRAY) return explain_wrong_member(r, "is not a list");
  r->active_n = 0;
  for (;;) {
    k = slp_json_next(&r->j);
    if (k == SLP_JSON_ARRAY_END) return 0;
    if (k < 0) return explain_broken_json(r);
    snprintf(r->where, sizeof r->where, "active[%zu]", r->active_n);
    if (k != SLP_JSON_STRING) return explain_wrong_member(r, "is not a string");
    if (r->active_n == SLP_TOKEN_SHARDS_MAX) return explain_wrong_member(r, "is one too many");
    if (r->active_n == r->active_cap) {
      slp_str *more = slp_doubled(r->t->mem, r->active, &r->active_cap, 16, sizeof *more);
      if (!more) return SLP_ENOMEM;
      r->active = more;
    }
    r->active[r->active_n++] = r->j.text;
  }
}

static int mark_active(reader *r) {
  for (size_t i = 0; i < r->active_n; i++) {
    slp_token_shard *s = slp_token_find(r->t, r->active[i]);
    snprintf(r->where, sizeof r->where, "active[%zu]", i);
    if (!s) return explain_wrong_member(r, "names a shard that is not among shards");
    s->active = 1;
  }
  r->where[0] = 0;
  if (!r->t->stream.p) return explain_wrong_member(r, "stream_arn is missing");
  if (!r->active_n) return explain_wrong_member(r, "no shard of it is active");
  return 0;
}

static int read_all(reader *r) {
  int k = slp_json_next(&r->j), e = 0;
  if (k < 0) return explain_broken_json(r);
  if (k != SLP_JSON_OBJECT) return explain_wrong_member(r, "it is not a JSON object");
  while ((k = slp_json_next(&r->j)) == SLP_JSON_KEY && !e) {
    slp_str key = r->j.text;
    if (slp_str_is(key, "stream_arn")) {
      snprintf(r->where, sizeof r->where, "stream_arn");
      e = read_text(r, &r->t->stream, STREAM_MAX);
    } else if (slp_str_is(key, "active")) {
      e = read_active(r);
    } else if (slp_str_is(key, "shards")) {
      e = read_shards(r);
    } else if (slp_json_skip(&r->j)) {
      e = explain_broken_json(r);
    }
    if (e) return e;
  }
  if (k < 0 || slp_json_next(&r->j) != SLP_JSON_END) return explain_broken_json(r);
  return mark_active(r);
}

int slp_token_read(slp_token **ret, slp_mem *mem, slp_str text, char why[160]) {
  *ret = NULL;
  reader r = {.why = why};
  if (text.n > SLP_TOKEN_BYTES_MAX) return explain_wrong_member(&r, "it is too long");
  slp_token *t = SLP_NEW(mem, slp_token);
  if (!t) return SLP_ENOMEM;
  t->mem = slp_mem_hold(mem);
  slp_map_init(&t->ids, mem);
  t->text = slp_strdup(mem, text);
  r.t = t;
  int e = SLP_ENOMEM;
  if (t->text) {
    slp_json_begin(&r.j, t->text, text.n);
    e = read_all(&r);
  }
  slp_free(mem, r.active);
  if (e) {
    slp_token_free(t);
    return e;
  }
  *ret = t;
  return 0;
}

void slp_token_free(slp_token *t) {
  if (!t) return;
  slp_mem *mem = t->mem;
  slp_map_free(&t->ids);
  slp_free(mem, t->shards);
  slp_free(mem, t->text);
  slp_free(mem, t);
  slp_mem_drop(mem);
}

slp_token_shard *slp_token_find(const slp_token *t, slp_str id) {
  uintptr_t number = (uintptr_t)slp_map_get(&t->ids, id);
  return number ? &t->shards[number - 1] : NULL;
}

/* ---- which shards are read, and which stream --------------------------------------------------------- */

static slp_token_shard *parent_in(const slp_token *t, const slp_token_shard *s) {
  return s->parent.p ? slp_token_find(t, s->parent) : NULL;
}

void slp_token_mark_readable(slp_token *t) {
  for (size_t i = 0; i < t->shards_n; i++) t->shards[i].judged = t->shards[i].reads = t->shards[i].active;
  for (size_t i = 0; i < t->shards_n; i++) {
    slp_token_shard *s = &t->shards[i], *up = s;
    /* A token may contain anything, even a shard that is its own ancestor. So the walk takes at most shards_n
     * steps, and shards in such a circle are not read. */
    for (size_t n = 0; up && !up->judged && n < t->shards_n; n++) up = parent_in(t, up);
    uint8_t reads = up && up->reads;
    for (; s && !s->judged; s = parent_in(t, s)) {
      s->judged = 1;
      s->reads = reads;
    }
  }
}

static slp_str name_in(slp_str arn) {
  size_t at = arn.n;
  while (at > 0 && arn.p[at - 1] != '/') at--;
  return (slp_str){arn.p + at, arn.n - at};
}

static int is_arn(slp_str s) { return s.n > 4 && memcmp(s.p, "arn:", 4) == 0; }

/* Returns the part of a DynamoDB stream's ARN that names the table: everything before the stream's label. (A
 * stream gets a new label each time it is enabled.) Returns {NULL, 0} for any other ARN. */
static slp_str table_in(slp_str arn) {
  for (size_t i = 0; i + 8 <= arn.n; i++) {
    if (memcmp(arn.p + i, "/stream/", 8) == 0) return (slp_str){arn.p, i};
  }
  return (slp_str){NULL, 0};
}

int slp_token_is_of(slp_str ours, slp_str theirs) {
  slp_str table = table_in(ours);
  if (slp_str_eq(ours, theirs)) return 1;
  /* only one of the two is an ARN, so only the names can be compared */
  if (is_arn(ours) != is_arn(theirs) && slp_str_eq(name_in(ours), name_in(theirs))) return 1;
  return table.p && slp_str_eq(table, table_in(theirs)) ? -1 : 0;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

static const char *name_of(slp_position_kind kind) {
  switch (kind) {
    case SLP_POSITION_LATEST: return "latest";
    case SLP_POSITION_AT: return "at_sequence";
    case SLP_POSITION_AFTER: return "after_sequence";
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_TIME: return "trim_horizon";
    case SLP_POSITION_NONE:
    case SLP_POSITION_END: break; /* NONE and END: a token has no shard with such a position */
  }
  return "trim_horizon";
}

/* Writes the number as a string of JSON, as bloop, whose form of token this is, does. */
static void put_count(slp_jw *w, const char *name, int64_t n) {
  slp_buf_addf(slp_jw_value(w, name), "\"%lld\"", (long long)n);
}

static void put_shard(slp_jw *w, const slp_token_shard *s) {
  slp_jw_object(w, NULL);
  slp_jw_str(w, "shard_id", s->id);
  const slp_mark *at = &s->from.mark;
  /* A shard that is not active and begins at its oldest record needs no iterator_type, because trim_horizon
   * is the default. */
  if (s->active || s->from.kind != SLP_POSITION_OLDEST) slp_jw_z(w, "iterator_type", name_of(s->from.kind));
  if (at->seq_n) slp_jw_str(w, "sequence_number", slp_mark_seq(at));
  if (s->parent.p) slp_jw_str(w, "parent", s->parent);
  if (at->seq_n && at->sub && !at->idle && !SLP_MUTANT(token_drops_sub))
    put_count(w, "sub_sequence", at->sub);
  if (at->seq_n && at->arrived_ms >= 0) put_count(w, "arrived_at", at->arrived_ms);
  if (at->seq_n && at->idle) put_count(w, "no_record", 1);
  if (s->from.kind == SLP_POSITION_AFTER && !at->idle && at->clear_ms > 0)
    put_count(w, "clear_until", at->clear_ms);
  if (s->not_before_ms >= 0) put_count(w, "not_before", s->not_before_ms);
  slp_jw_object_end(w);
}

int slp_token_write(slp_buf *to, slp_str stream, const slp_token_shard *shards, size_t n) {
  slp_jw w = {.b = to, .spaced = 1, .one_line = 1};
  slp_jw_object(&w, NULL);
  slp_jw_str(&w, "stream_arn", stream);
  slp_jw_array(&w, "active");
  for (size_t i = 0; i < n; i++)
    if (shards[i].active) slp_jw_str(&w, NULL, shards[i].id);
  slp_jw_array_end(&w);
  slp_jw_array(&w, "shards");
  for (size_t i = 0; i < n; i++) put_shard(&w, &shards[i]);
  slp_jw_array_end(&w);
  return slp_jw_object_end(&w);
}

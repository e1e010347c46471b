/* admin.c - the sandbox's orders over HTTP, for test programs in other languages and processes. */
#include <stdio.h>

#include "base/num.h"
#include "sandbox/front.h"

#define PREFIX "/_sandbox/"

int slp_admin_is(slp_str path) {
  return path.n >= sizeof PREFIX - 1 && memcmp(path.p, PREFIX, sizeof PREFIX - 1) == 0;
}

/* The value of one query parameter, as it stands: our values need no escapes. */
static slp_str parameter(slp_str query, const char *name) {
  size_t n = strlen(name);
  while (query.n) {
    size_t len = 0;
    while (len < query.n && query.p[len] != '&') len++;
    if (len > n && memcmp(query.p, name, n) == 0 && query.p[n] == '=')
      return (slp_str){query.p + n + 1, len - n - 1};
    size_t skip = len < query.n ? len + 1 : len;
    query = (slp_str){query.p + skip, query.n - skip};
  }
  return (slp_str){NULL, 0};
}

static uint64_t number(slp_str query, const char *name, uint64_t otherwise, int *bad) {
  uint64_t v = otherwise;
  slp_str text = parameter(query, name);
  if (text.p && slp_parse_u64(text, &v)) *bad = 1;
  return v;
}

static void say(slp_admin_answer *a, int status, const char *text) {
  a->status = status;
  a->content_type = "text/plain";
  slp_buf_clear(&a->body);
  if (slp_buf_add_z(&a->body, text)) a->status = 500;
}

static void say_result(slp_admin_answer *a, int r) {
  if (r == 0)
    say(a, 200, "ok\n");
  else if (r == SLP_ENOENT)
    say(a, 404, "no such stream or shard\n");
  else if (r == -EEXIST)
    say(a, 409, "the stream exists\n");
  else if (r == -EBUSY)
    say(a, 409, "the stream is being changed\n");
  else if (r == SLP_EINVAL)
    say(a, 400, "a value is missing or out of range\n");
  else
    say(a, 500, "failed\n");
}

/* Copies a parameter into a NUL-ended text; "" when it is absent or too long. */
static const char *text_of(slp_str query, const char *name, char room[140]) {
  slp_str v = parameter(query, name);
  if (v.n >= 140) v.n = 0;
  if (v.n) memcpy(room, v.p, v.n);
  room[v.n] = 0;
  return room;
}

static void set_faults(sloop_sandbox_t *b, slp_str method, slp_str body, slp_admin_answer *a) {
  char why[160], message[256];
  int r;
  if (slp_str_is(method, "DELETE")) {
    say_result(a, sloop_sandbox_faults(b, NULL, NULL));
    return;
  }
  char *script = slp_strdup(b->mem, body);
  if (!script) {
    say(a, 500, "no memory\n");
    return;
  }
  r = sloop_sandbox_faults(b, script, why);
  slp_free(b->mem, script);
  if (r == SLP_EINVAL) {
    snprintf(message, sizeof message, "not understood: %s\n", why);
    say(a, 400, message);
  } else {
    say_result(a, r);
  }
}

static int make_synthetic(sloop_sandbox_t *b, slp_str query) {
  char name[140];
  int bad = 0;
  uint64_t shards = number(query, "shards", 1, &bad), bytes = number(query, "bytes", 1024, &bad);
  uint64_t records = UINT64_MAX;
  if (!slp_str_is(parameter(query, "records"), "*")) records = number(query, "records", UINT64_MAX, &bad);
  uint64_t rate = number(query, "rate", 0, &bad), seed = number(query, "seed", 1, &bad);
  if (bad || shards > UINT32_MAX || bytes > UINT32_MAX) return SLP_EINVAL;
  return sloop_sandbox_synthetic(b, text_of(query, "name", name), (uint32_t)shards, records, (uint32_t)bytes,
                                 rate, seed);
}

static int move_clock(sloop_sandbox_t *b, slp_str body) {
  int64_t ms;
  while (body.n && (body.p[body.n - 1] == '\n' || body.p[body.n - 1] == '\r')) body.n--;
  if (slp_parse_i64(body, &ms) || ms > INT64_C(1) << 50 || ms < -(INT64_C(1) << 50)) return SLP_EINVAL;
  sloop_sandbox_move_clock(b, ms);
  return 0;
}

static int trim(sloop_sandbox_t *b, slp_str query) {
  char stream[140];
  int64_t before;
  if (slp_parse_i64(parameter(query, "before"), &before)) return SLP_EINVAL;
  return sloop_sandbox_trim(b, text_of(query, "stream", stream), before);
}

static int make_stream(sloop_sandbox_t *b, slp_str query) {
  char name[140];
  int bad = 0;
  uint64_t shards = number(query, "shards", 1, &bad);
  if (bad || shards > UINT32_MAX) return SLP_EINVAL;
  return sloop_sandbox_stream(b, text_of(query, "name", name), (uint32_t)shards);
}

static int split(sloop_sandbox_t *b, slp_str query) {
  char stream[140], shard[140], at[140];
  text_of(query, "at", at);
  return sloop_sandbox_split(b, text_of(query, "stream", stream), text_of(query, "shard", shard),
                             at[0] ? at : NULL);
}

static int merge(sloop_sandbox_t *b, slp_str query) {
  char stream[140], shard[140], adjacent[140];
  return sloop_sandbox_merge(b, text_of(query, "stream", stream), text_of(query, "shard", shard),
                             text_of(query, "adjacent", adjacent));
}

void slp_admin_handle(sloop_sandbox_t *b, slp_str method, slp_str path, slp_str body, slp_admin_answer *a) {
  slp_str what = {path.p + sizeof PREFIX - 1, path.n - (sizeof PREFIX - 1)}, query = {"", 0};
  for (size_t i = 0; i < what.n; i++) {
    if (what.p[i] != '?') continue;
    query = (slp_str){what.p + i + 1, what.n - i - 1};
    what.n = i;
  }
  if (slp_str_is(method, "GET")) {
    if (slp_str_is(what, "stats")) {
      a->status = slp_box_stats_json(b->box, &a->body) ? 500 : 200;
      a->content_type = "application/json";
    } else if (slp_str_is(what, "clock")) {
      char text[32];
      snprintf(text, sizeof text, "%lld\n", (long long)slp_front_now_ms(b));
      say(a, 200, text);
    } else {
      say(a, 404, "no such order\n");
    }
    return;
  }
  int deletes = slp_str_is(method, "DELETE");
  if (slp_str_is(what, "faults") && (deletes || slp_str_is(method, "POST")))
    set_faults(b, method, body, a);
  else if (!slp_str_is(method, "POST"))
    say(a, 405, "orders are given with POST\n");
  else if (slp_str_is(what, "clock"))
    say_result(a, move_clock(b, body));
  else if (slp_str_is(what, "trim"))
    say_result(a, trim(b, query));
  else if (slp_str_is(what, "synthetic"))
    say_result(a, make_synthetic(b, query));
  else if (slp_str_is(what, "stream"))
    say_result(a, make_stream(b, query));
  else if (slp_str_is(what, "split"))
    say_result(a, split(b, query));
  else if (slp_str_is(what, "merge"))
    say_result(a, merge(b, query));
  else
    say(a, 404, "no such order\n");
}

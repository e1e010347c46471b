/* control.c - the sandbox's control requests over HTTP, for test programs in other languages or other
 * processes. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "sandbox/front.h"
#include "sandbox/sandbox.h"

#include <sloop_sandbox.h>
#include <stdio.h>

#define PREFIX "/_sandbox/"
#define NAME_ROOM 256 /* room for the longest name, which is the name of a table, and its NUL */

int slp_control_is(slp_str path) {
  return path.n >= sizeof PREFIX - 1 && memcmp(path.p, PREFIX, sizeof PREFIX - 1) == 0;
}

/* Returns 1 if the Host header names this machine: localhost, or any IP address. */
int slp_control_is_here(slp_str host) {
  static const char name[] = "localhost";
  size_t n = 0, digits = 0, same = 0;
  if (!host.n || host.p[0] == '[') return 1; /* no Host header, or an IPv6 address in brackets */
  for (; n < host.n && host.p[n] != ':'; n++) {
    digits += host.p[n] == '.' || (host.p[n] >= '0' && host.p[n] <= '9');
    same += n < sizeof name - 1 && (host.p[n] | 0x20) == name[n];
  }
  if (digits == n) return n > 0; /* only digits and dots: an IPv4 address, not a host name */
  return n == sizeof name - 1 && same == n;
}

/* Returns the value of a query parameter without decoding it: the values used here need no escapes. */
static slp_str find_query_parameter(slp_str query, const char *name) {
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

static uint64_t read_number_parameter(slp_str query, const char *name, uint64_t otherwise, int *bad) {
  uint64_t v = otherwise;
  slp_str text = find_query_parameter(query, name);
  if (text.p && slp_parse_u64(text, &v)) *bad = 1;
  return v;
}

static void set_text_answer(slp_control_answer *a, int status, const char *text) {
  a->status = status;
  a->content_type = "text/plain";
  slp_buf_clear(&a->body);
  if (slp_buf_add_z(&a->body, text)) a->status = 500;
}

static void say_result(slp_control_answer *a, int r) {
  if (r == 0)
    set_text_answer(a, 200, "ok\n");
  else if (r == SLP_ENOENT)
    set_text_answer(a, 404, "no such stream, shard or table\n");
  else if (r == -EEXIST)
    set_text_answer(a, 409, "it exists\n");
  else if (r == -EBUSY)
    set_text_answer(a, 409, "the stream is being changed\n");
  else if (r == SLP_EINVAL)
    set_text_answer(a, 400, "a value is missing or out of range\n");
  else
    set_text_answer(a, 500, "failed\n");
}

/* Copies a parameter into `room`, and adds a NUL. Returns "" if the parameter is absent or too long. */
static const char *text_of(slp_str query, const char *name, char room[NAME_ROOM]) {
  slp_str v = find_query_parameter(query, name);
  if (v.n >= NAME_ROOM) v.n = 0;
  if (v.n) memcpy(room, v.p, v.n);
  room[v.n] = 0;
  return room;
}

static void set_faults(sloop_sandbox_t *b, slp_str method, slp_str body, slp_control_answer *a) {
  char why[160], message[256];
  int r;
  if (slp_str_is(method, "DELETE")) {
    say_result(a, sloop_sandbox_faults(b, NULL, NULL, 0));
    return;
  }
  char *script = slp_strdup(b->mem, body);
  if (!script) {
    set_text_answer(a, 500, "no memory\n");
    return;
  }
  r = sloop_sandbox_faults(b, script, why, sizeof why);
  slp_free(b->mem, script);
  if (r == SLP_EINVAL) {
    snprintf(message, sizeof message, "not understood: %s\n", why);
    set_text_answer(a, 400, message);
  } else {
    say_result(a, r);
  }
}

static int make_synthetic(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char name[NAME_ROOM];
  int bad = 0;
  uint64_t shards = read_number_parameter(query, "shards", 1, &bad),
           bytes = read_number_parameter(query, "bytes", 1024, &bad);
  uint64_t records = UINT64_MAX;
  if (!slp_str_is(find_query_parameter(query, "records"), "*"))
    records = read_number_parameter(query, "records", UINT64_MAX, &bad);
  uint64_t rate = read_number_parameter(query, "rate", 0, &bad),
           seed = read_number_parameter(query, "seed", 1, &bad);
  if (bad || shards > UINT32_MAX || bytes > UINT32_MAX) return SLP_EINVAL;
  return sloop_sandbox_synthetic(b, text_of(query, "name", name), (uint32_t)shards, records, (uint32_t)bytes,
                                 rate, seed);
}

static int move_clock(sloop_sandbox_t *b, slp_str query, slp_str body) {
  int64_t ms;
  (void)query;
  while (body.n && (body.p[body.n - 1] == '\n' || body.p[body.n - 1] == '\r')) body.n--;
  if (slp_parse_i64(body, &ms) || ms > INT64_C(1) << 50 || ms < -(INT64_C(1) << 50)) return SLP_EINVAL;
  sloop_sandbox_move_clock(b, ms);
  return 0;
}

static int trim_stream_or_table(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char stream[NAME_ROOM], table[NAME_ROOM];
  int64_t before;
  if (slp_parse_i64(find_query_parameter(query, "before"), &before)) return SLP_EINVAL;
  if (find_query_parameter(query, "table").p) {
    return sloop_sandbox_trim_table(b, text_of(query, "table", table), before);
  }
  return sloop_sandbox_trim(b, text_of(query, "stream", stream), before);
}

static int make_stream(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char name[NAME_ROOM];
  int bad = 0;
  uint64_t shards = read_number_parameter(query, "shards", 1, &bad);
  if (bad || shards > UINT32_MAX) return SLP_EINVAL;
  return sloop_sandbox_stream(b, text_of(query, "name", name), (uint32_t)shards);
}

static int split_named_shard(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char stream[NAME_ROOM], shard[NAME_ROOM], at[NAME_ROOM];
  text_of(query, "at", at);
  return sloop_sandbox_split(b, text_of(query, "stream", stream), text_of(query, "shard", shard),
                             at[0] ? at : NULL);
}

static int merge_named_shards(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char stream[NAME_ROOM], shard[NAME_ROOM], adjacent[NAME_ROOM];
  return sloop_sandbox_merge(b, text_of(query, "stream", stream), text_of(query, "shard", shard),
                             text_of(query, "adjacent", adjacent));
}

static int make_table(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char name[NAME_ROOM], view[NAME_ROOM];
  int bad = 0;
  uint64_t partitions = read_number_parameter(query, "partitions", 4, &bad);
  if (bad || partitions > UINT32_MAX) return SLP_EINVAL;
  text_of(query, "view", view);
  return sloop_sandbox_table(b, text_of(query, "name", name), (uint32_t)partitions,
                             view[0] ? view : "NEW_AND_OLD_IMAGES");
}

static int roll_named_table(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char table[NAME_ROOM];
  return sloop_sandbox_roll(b, text_of(query, "table", table),
                            slp_str_is(find_query_parameter(query, "split"), "1"));
}

static int set_table_stale_ms(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char table[NAME_ROOM];
  int bad = 0;
  uint64_t ms = read_number_parameter(query, "ms", 0, &bad);
  if (bad || ms > UINT32_MAX) return SLP_EINVAL;
  return sloop_sandbox_stale(b, text_of(query, "table", table), (uint32_t)ms);
}

static int set_quirk(sloop_sandbox_t *b, slp_str query, slp_str body) {
  (void)body;
  char table[NAME_ROOM], name[NAME_ROOM];
  int bad = 0, all = !find_query_parameter(query, "table").p;
  uint64_t value = read_number_parameter(query, "value", 1, &bad);
  if (bad || value > UINT32_MAX) return SLP_EINVAL;
  return sloop_sandbox_quirk(b, all ? NULL : text_of(query, "table", table), text_of(query, "name", name),
                             (uint32_t)value);
}

/* Cuts the next column off the line and returns a copy of it. Returns "" for the column "-", which means an
 * absent value, and NULL if there is no memory. */
static char *take_change_column(sloop_sandbox_t *b, slp_str *line) {
  size_t n = 0;
  while (n < line->n && line->p[n] != '\t') n++;
  slp_str text = {line->p, n};
  size_t skip = n < line->n ? n + 1 : n;
  *line = (slp_str){line->p + skip, line->n - skip};
  return slp_strdup(b->mem, slp_str_is(text, "-") ? SLP_STR("") : text);
}

static int one_change(sloop_sandbox_t *b, const char *table, int by_ttl, slp_str line) {
  char *part[3];
  int r = 0;
  for (int i = 0; i < 3; i++) {
    part[i] = take_change_column(b, &line);
    if (!part[i]) r = SLP_ENOMEM;
  }
  if (!r) {
    r = sloop_sandbox_change(b, table, part[0], *part[1] ? part[1] : NULL, *part[2] ? part[2] : NULL, by_ttl);
  }
  for (int i = 0; i < 3; i++) slp_free(b->mem, part[i]);
  return r;
}

/* Adds one change for each line of the body. A line is KEYS<tab>OLD<tab>NEW: three items as JSON, of which
 * OLD or NEW may be absent. */
static int make_changes(sloop_sandbox_t *b, slp_str query, slp_str body) {
  char table[NAME_ROOM];
  int r = 0, by_ttl = slp_str_is(find_query_parameter(query, "ttl"), "1");
  text_of(query, "table", table);
  while (body.n && !r) {
    const char *end = memchr(body.p, '\n', body.n);
    slp_str line = {body.p, end ? (size_t)(end - body.p) : body.n};
    size_t skip = line.n + (end != NULL);
    body = (slp_str){body.p + skip, body.n - skip};
    if (line.n) r = one_change(b, table, by_ttl, line);
  }
  return r;
}

static const struct {
  const char *name;
  int (*run)(sloop_sandbox_t *b, slp_str query, slp_str body);
} orders[] = {
    {"clock", move_clock},    {"trim", trim_stream_or_table}, {"synthetic", make_synthetic},
    {"stream", make_stream},  {"split", split_named_shard},   {"merge", merge_named_shards},
    {"table", make_table},    {"roll", roll_named_table},     {"quirk", set_quirk},
    {"change", make_changes}, {"stale", set_table_stale_ms},
};

static void carry_out(sloop_sandbox_t *b, slp_str what, slp_str query, slp_str body, slp_control_answer *a) {
  for (size_t i = 0; i < SLP_COUNT(orders); i++) {
    if (!slp_str_is(what, orders[i].name)) continue;
    say_result(a, orders[i].run(b, query, body));
    return;
  }
  set_text_answer(a, 404, "no such order\n");
}

void slp_control_handle(sloop_sandbox_t *b, slp_str method, slp_str path, slp_str body,
                        slp_control_answer *a) {
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
      set_text_answer(a, 200, text);
    } else {
      set_text_answer(a, 404, "no such order\n");
    }
    return;
  }
  int deletes = slp_str_is(method, "DELETE");
  if (slp_str_is(what, "faults") && (deletes || slp_str_is(method, "POST")))
    set_faults(b, method, body, a);
  else if (!slp_str_is(method, "POST"))
    set_text_answer(a, 405, "orders are given with POST\n");
  else
    carry_out(b, what, query, body, a);
}

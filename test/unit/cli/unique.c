/* unique.c - seen or not, against a list that remembers everything. */
#include "cli/unique.h"
#include "check.h"

static sloop_record_t record(const char *stream, const char *key, const char *data) {
  return (sloop_record_t){
      .stream = stream, .shard = "s", .key = {key, strlen(key)}, .data = {data, strlen(data)}};
}

TEST(key_payload_and_stream_count_and_nothing_else) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_unique *u = slp_unique_new(mem, 10);
  sloop_record_t r = record("a", "k", "v");
  CHECK_INT(slp_unique_seen(u, &r), 0);
  r.seq = (sloop_str_t){"9", 1};
  r.shard = "t";
  CHECK_INT(slp_unique_seen(u, &r), 1);
  r = record("b", "k", "v");
  CHECK_INT(slp_unique_seen(u, &r), 0);
  r = record("a", "kv", "");
  CHECK_INT(slp_unique_seen(u, &r), 0);
  r = record("a", "", "kv");
  CHECK_INT(slp_unique_seen(u, &r), 0);
  r.event_id = (sloop_str_t){"e1", 2};
  CHECK_INT(slp_unique_seen(u, &r), 0);
  r.data = (sloop_str_t){"other", 5};
  CHECK_INT(slp_unique_seen(u, &r), 1); /* the event is the same */
  r.event_id = (sloop_str_t){"e2", 2};
  CHECK_INT(slp_unique_seen(u, &r), 0);
  slp_unique_free(u);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(the_window_slides) {
  enum { WINDOW = 37, N = 20000, KINDS = 60 };
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_unique *u = slp_unique_new(mem, WINDOW);
  int last[WINDOW], n = 0, seen_n = 0; /* the last WINDOW different ones, oldest first */
  uint32_t x = 1;
  for (int i = 0; i < N; i++) {
    x = x * 1664525u + 1013904223u;
    int kind = (int)(x >> 16) % KINDS, want = 0;
    char text[20];
    snprintf(text, sizeof text, "%d", kind);
    for (int k = 0; k < n; k++) want |= last[k] == kind;
    sloop_record_t r = record("s", text, "v");
    CHECK_INT(slp_unique_seen(u, &r), want);
    seen_n += want;
    if (want) continue;
    if (n == WINDOW) memmove(last, last + 1, sizeof last - sizeof *last);
    last[n < WINDOW ? n++ : WINDOW - 1] = kind;
  }
  CHECK(seen_n > N / 10 && seen_n < N * 9 / 10);
  slp_unique_free(u);
  slp_mem_drop(mem);
}

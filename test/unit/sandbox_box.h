/* sandbox_box.h - what the tests of the sandbox's model share: a box, a clock, a call, a look at its answer.
 */
#ifndef SLP_TEST_SANDBOX_BOX_H
#define SLP_TEST_SANDBOX_BOX_H

#include <stdarg.h>

#include "check.h"
#include "sandbox/model.h"

#define T0 INT64_C(1795231285123) /* 2026-11-21 */
#define JSON_TYPE "application/x-amz-json-1.1"
#define CBOR_TYPE "application/x-amz-cbor-1.1"

typedef struct bench {
  slp_mem *mem;
  slp_box *box;
  int64_t now_ms;
  slp_box_answer answer; /* of the last call; its body is NUL-ended */
} bench;

static inline void bench_open(bench *t, const sloop_sandbox_opts_t *o) {
  *t = (bench){.mem = slp_mem_new(NULL, NULL), .now_ms = T0};
  CHECK(t->mem != NULL);
  t->box = slp_box_new(t->mem, o, 7);
  CHECK(t->box != NULL);
  slp_buf_init(&t->answer.body, t->mem, 64u << 20);
}

static inline void bench_close(bench *t) {
  slp_buf_free(&t->answer.body);
  slp_box_free(t->box);
  CHECK_INT(t->mem->live_blocks, 0);
  slp_mem_drop(t->mem);
}

/* Without limits a second, and with changes that take no time. */
static inline sloop_sandbox_opts_t free_opts(void) {
  sloop_sandbox_opts_t o;
  sloop_sandbox_opts_init(&o);
  o.reads_per_second = 0;
  o.read_bytes_per_second = o.write_bytes_per_second = 0;
  o.write_records_per_second = 0;
  o.change_ms = 0;
  return o;
}

static inline const char *ask(bench *t, const char *operation, const char *type, slp_str body) {
  char target[80];
  snprintf(target, sizeof target, "Kinesis_20131202.%s", operation);
  slp_box_request rq = {.method = SLP_STR("POST"),
                        .path = SLP_STR("/"),
                        .host = SLP_STR("localhost"),
                        .target = slp_str_of(target),
                        .content_type = slp_str_of(type),
                        .body = body};
  slp_buf_clear(&t->answer.body);
  slp_box_handle(t->box, t->now_ms, &rq, &t->answer);
  return slp_buf_z(&t->answer.body);
}

/* A call in JSON; `fmt` is its body. */
static inline const char *call(bench *t, const char *operation, const char *fmt, ...) SLP_PRINTF(3, 4);
static inline const char *call(bench *t, const char *operation, const char *fmt, ...) {
  char body[2048];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(body, sizeof body, fmt, args);
  va_end(args);
  CHECK(n >= 0 && (size_t)n < sizeof body);
  return ask(t, operation, JSON_TYPE, (slp_str){body, (size_t)n});
}

#define CHECK_HAS(text, part)                                                           \
  do {                                                                                  \
    const char *check_text = (text);                                                    \
    if (!strstr(check_text, (part))) CHECK_FAIL("no %s in %.600s", (part), check_text); \
  } while (0)
#define CHECK_LACKS(text, part)                                                     \
  do {                                                                              \
    const char *check_text = (text);                                                \
    if (strstr(check_text, (part))) CHECK_FAIL("%s in %.600s", (part), check_text); \
  } while (0)

static inline int occurrences(const char *text, const char *part) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) n++;
  return n;
}

/* The string member's value: the first of that name, or the one after `from`. Without escapes. */
static inline const char *member(const char *json, const char *name, char room[600]) {
  char key[80];
  snprintf(key, sizeof key, "\"%s\":\"", name);
  const char *at = strstr(json, key);
  if (!at) CHECK_FAIL("no %s in %.600s", key, json);
  at += strlen(key);
  const char *end = strchr(at, '"');
  CHECK(end && end - at < 600);
  memcpy(room, at, (size_t)(end - at));
  room[end - at] = 0;
  return room;
}

static inline const char *iterator(bench *t, const char *stream, int shard, const char *rest,
                                   char room[600]) {
  const char *json = call(t, "GetShardIterator", "{\"StreamName\":\"%s\",\"ShardId\":\"shardId-%012d\",%s}",
                          stream, shard, rest);
  if (t->answer.status != 200) CHECK_FAIL("no iterator: %s", json);
  return member(json, "ShardIterator", room);
}
#define OLDEST "\"ShardIteratorType\":\"TRIM_HORIZON\""
#define LATEST "\"ShardIteratorType\":\"LATEST\""

static inline const char *get(bench *t, const char *shard_iterator) {
  return call(t, "GetRecords", "{\"ShardIterator\":\"%s\"}", shard_iterator);
}

static inline void put(bench *t, const char *stream, const char *key, const char *data) {
  CHECK_INT(slp_box_put(t->box, t->now_ms, stream, slp_str_of(key), slp_str_of(data), NULL, NULL), 0);
}

#endif

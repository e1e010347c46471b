/* fuzz_admin.c - orders to the sandbox over HTTP, apart by bytes 0x1e: a letter for the method (G, P, D), the
 * path behind /_sandbox/, a line's end, the body. Each gets one of the answers there are, in one line of text
 * or as JSON; what is no order changes nothing that /stats tells; and the sandbox answers afterwards. */
#include "codec/json.h"
#include "sandbox/front.h"

#include "fuzz.h"

#define ORDERS_MAX 20

static uint64_t still(slp_host *h) {
  (void)h;
  return 0;
}
static int64_t wall(slp_host *h) {
  (void)h;
  return INT64_C(1795231285123);
}
static void unwoken(slp_host *h, uint64_t at_us) {
  (void)h;
  (void)at_us;
}
static const slp_host_ops ops = {
    .mono_us = still, .cpu_us = still, .wall_ms = wall, .random = still, .wake = unwoken};

static void is_json(slp_str text) {
  slp_json j;
  int token;
  char *copy = fuzz_copy((const uint8_t *)text.p, text.n);
  slp_json_begin(&j, copy, text.n);
  do token = slp_json_next(&j);
  while (token > 0);
  REQUIRE(token == SLP_JSON_END);
  free(copy);
}

static int status_of(const slp_control_answer *a) {
  static const int statuses[] = {200, 400, 404, 405, 409};
  slp_str text = slp_buf_str(&a->body);
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    if (a->status == statuses[i]) {
      if (strcmp(a->content_type, "application/json") == 0)
        is_json(text);
      else
        REQUIRE(text.n > 1 && memchr(text.p, '\n', text.n) == text.p + text.n - 1);
      return a->status;
    }
  return 0;
}

static int order(sloop_sandbox_t *b, slp_str method, slp_str path, slp_str body, slp_buf *ret) {
  slp_control_answer a = {.status = 0};
  slp_buf_init(&a.body, b->mem, 1u << 24);
  REQUIRE(slp_control_is(path));
  slp_control_handle(b, method, path, body, &a);
  int status = status_of(&a);
  REQUIRE(status != 0);
  if (ret) REQUIRE(slp_buf_add_str(ret, slp_buf_str(&a.body)) == 0);
  slp_buf_free(&a.body);
  return status;
}

static void stats(sloop_sandbox_t *b, slp_buf *ret) {
  slp_buf_clear(ret);
  REQUIRE(order(b, SLP_STR("GET"), SLP_STR("/_sandbox/stats"), SLP_STR(""), ret) == 200);
}

static void one(sloop_sandbox_t *b, const char *p, size_t n) {
  char path[600] = "/_sandbox/";
  size_t prefix = strlen(path);
  const char *end = memchr(p, '\n', n);
  size_t line = end ? (size_t)(end - p) : n, rest = end ? n - line - 1 : 0;
  if (line < 1 || line > sizeof path - prefix) return;
  memcpy(path + prefix, p + 1, line - 1);
  slp_str method = *p == 'G' ? SLP_STR("GET") : *p == 'D' ? SLP_STR("DELETE") : SLP_STR("POST");
  char *body = fuzz_copy((const uint8_t *)(end ? end + 1 : p), rest);
  slp_buf before, after;
  slp_buf_init(&before, b->mem, 1u << 24);
  slp_buf_init(&after, b->mem, 1u << 24);
  stats(b, &before);
  int status = order(b, method, (slp_str){path, prefix + line - 1}, (slp_str){body, rest}, NULL);
  stats(b, &after);
  if (status == 404 || status == 405) REQUIRE(slp_str_eq(slp_buf_str(&before), slp_buf_str(&after)));
  slp_buf_free(&before);
  slp_buf_free(&after);
  free(body);
}

static void answers(sloop_sandbox_t *b) {
  slp_box_answer a = {.status = 0};
  slp_box_request rq = {.method = SLP_STR("POST"),
                        .path = SLP_STR("/"),
                        .host = SLP_STR("localhost"),
                        .target = SLP_STR("Kinesis_20131202.ListStreams"),
                        .content_type = SLP_STR("application/x-amz-json-1.1"),
                        .body = SLP_STR("{}")};
  REQUIRE(order(b, SLP_STR("DELETE"), SLP_STR("/_sandbox/faults"), SLP_STR(""), NULL) == 200);
  slp_buf_init(&a.body, b->mem, 1u << 24);
  slp_box_handle(b->box, slp_front_now_ms(b), &rq, &a);
  REQUIRE(a.status == 200);
  is_json(slp_buf_str(&a.body));
  slp_buf_free(&a.body);
}

/* The sandbox's subscriptions hear of records by an event, which no loop carries out here. */
static void unheard(slp_event *ev) { (void)ev; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_host host;
  sloop_sandbox_t b = {.mem = mem, .host = &host, .news = {.run = unheard}};
  sloop_sandbox_opts_t o;
  sloop_sandbox_opts_init(&o);
  o.change_ms = 0;
  slp_host_init(&host, &ops, mem);
  b.box = slp_box_new(mem, &o, 7);
  REQUIRE(b.box != NULL);
  REQUIRE(sloop_sandbox_stream(&b, "orders", 2) == 0);
  REQUIRE(sloop_sandbox_table(&b, "Music", 2, "NEW_AND_OLD_IMAGES") == 0);
  const char *p = (const char *)data;
  for (int i = 0; size && i < ORDERS_MAX; i++) {
    const char *end = memchr(p, 0x1e, size);
    size_t n = end ? (size_t)(end - p) : size, skip = n + (end != NULL);
    one(&b, p, n);
    p += skip;
    size -= skip;
  }
  answers(&b);
  slp_unpost(&b.news);
  slp_box_free(b.box);
  slp_mem_drop(mem); /* the host's hold */
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}

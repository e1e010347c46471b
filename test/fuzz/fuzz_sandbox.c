/* fuzz_sandbox.c - any sequence of requests and orders to the sandbox's model: each is answered, with a
 * status it may have and a body that is one whole value of JSON or CBOR, whatever came before. A line is a
 * request "TARGET BODY" (with a ~ in front it goes out, and comes back, as CBOR), or an order
 * ":clock MS", ":roll TABLE", ":split TABLE", ":trim TABLE", ":quirk NAME VALUE", ":faults SCRIPT". In bodies
 * $A is the ARN of the stream of table Music, $S its first shard, $I the last iterator that was given. */
#include "codec/cbor.h"
#include "codec/json.h"
#include "sandbox/changes.h"

#include "fuzz_tree.h"

#define LINES_MAX 40
#define START_MS INT64_C(1795231285123)

typedef struct world {
  slp_mem *mem;
  slp_box *box;
  int64_t now_ms;
  slp_box_answer answer;
  slp_buf body;
  char iterator[2100];
} world;

static void add(world *w, slp_str s) { REQUIRE(slp_buf_add_str(&w->body, s) == 0); }

static void put_in(world *w, char what) {
  char arn[SLP_CHANGES_ARN];
  slp_changes *s = slp_changes_latest(w->box, SLP_STR("Music"));
  if (what == 'I') add(w, slp_str_of(w->iterator));
  if (!s) return;
  slp_changes_arn(s, "us-east-1", arn);
  if (what == 'A') add(w, slp_str_of(arn));
  for (uint32_t i = 0; what == 'S' && i < s->shards_n; i++) {
    if (!s->shards[i]) continue;
    add(w, slp_str_of(s->shards[i]->id));
    return;
  }
}

static void fill(world *w, slp_str body) {
  slp_buf_clear(&w->body);
  for (size_t i = 0; i < body.n; i++) {
    if (body.p[i] == '$' && i + 1 < body.n && strchr("ASI", body.p[i + 1]) && body.p[i + 1])
      put_in(w, body.p[++i]);
    else
      add(w, (slp_str){body.p + i, 1});
  }
}

/* The text must be one whole value, or empty. */
static void check_json(slp_str text) {
  slp_json j;
  int token;
  if (text.n == 0) return;
  char *copy = fuzz_copy((const uint8_t *)text.p, text.n);
  slp_json_begin(&j, copy, text.n);
  do token = slp_json_next(&j);
  while (token > 0);
  REQUIRE(token == SLP_JSON_END);
  free(copy);
}

static void check_cbor(slp_str text) {
  slp_cbor c;
  int token;
  char *copy = fuzz_copy((const uint8_t *)text.p, text.n);
  slp_cbor_begin(&c, copy, text.n);
  do token = text.n ? slp_cbor_next(&c) : SLP_CBOR_END;
  while (token > 0);
  REQUIRE(token == SLP_CBOR_END);
  free(copy);
}

/* The body in CBOR; what is no JSON goes out as it is. */
static void to_cbor(world *w) {
  slp_box_tree t;
  slp_box_out o;
  slp_buf cbor;
  slp_box_tree_init(&t, w->mem);
  slp_buf_init(&cbor, w->mem, 64u << 20);
  slp_out_begin(&o, &cbor, SLP_WIRE_CBOR, 0);
  if (slp_box_tree_read(&t, SLP_WIRE_JSON, slp_buf_str(&w->body)) == 0 && fuzz_tree_can_be_put(&t, 0, 0)) {
    fuzz_tree_put(&o, &t, 0);
    slp_buf_clear(&w->body);
    REQUIRE(slp_out_failed(&o) == 0 && slp_buf_add_str(&w->body, slp_buf_str(&cbor)) == 0);
  }
  slp_buf_free(&cbor);
  slp_box_tree_free(&t);
}

static void keep_iterator(world *w) {
  static const char member[] = "\"ShardIterator\":\""; /* in JSON; an answer in CBOR keeps the one before */
  slp_str all = slp_buf_str(&w->answer.body);
  const char *at = memmem(all.p, all.n, member, sizeof member - 1);
  if (!at) return;
  at += sizeof member - 1;
  size_t n = strcspn(at, "\"");
  if (n >= sizeof w->iterator) return;
  memcpy(w->iterator, at, n);
  w->iterator[n] = 0;
}

static void ask(world *w, slp_str target, slp_str body) {
  int cbor = target.n && target.p[0] == '~';
  if (cbor) target = (slp_str){target.p + 1, target.n - 1};
  fill(w, body);
  if (cbor) to_cbor(w);
  slp_box_request rq = {
      .method = SLP_STR("POST"),
      .path = SLP_STR("/"),
      .host = SLP_STR("localhost"),
      .target = target,
      .content_type = cbor ? SLP_STR("application/x-amz-cbor-1.1") : SLP_STR("application/x-amz-json-1.0"),
      .body = slp_buf_str(&w->body)};
  slp_buf_clear(&w->answer.body);
  slp_box_handle(w->box, w->now_ms, &rq, &w->answer);
  REQUIRE(w->answer.status >= 200 && w->answer.status <= 599);
  if (slp_list_empty(&w->box->faults) && w->box->stats.faults_used == 0) { /* faults may answer anything */
    REQUIRE(w->answer.status == 200 || w->answer.status == 400);
    if (w->answer.content_type && strcmp(w->answer.content_type, "application/x-amz-cbor-1.1") == 0)
      check_cbor(slp_buf_str(&w->answer.body));
    else
      check_json(slp_buf_str(&w->answer.body));
  }
  slp_buf_z(&w->answer.body);
  keep_iterator(w);
}

static slp_str word(slp_str *rest) {
  slp_str w = {rest->p, 0};
  while (w.n < rest->n && w.p[w.n] != ' ') w.n++;
  size_t skip = w.n < rest->n ? w.n + 1 : w.n;
  *rest = (slp_str){rest->p + skip, rest->n - skip};
  return w;
}

static void order(world *w, slp_str what, slp_str rest) {
  char *text = slp_strdup(w->mem, rest);
  REQUIRE(text != NULL);
  char *number = strchr(text, ' ');
  if (slp_str_is(what, ":clock")) {
    int64_t ms = strtoll(text, NULL, 10);
    if (ms > -SLP_CHANGE_KEPT_MS && ms < 40 * SLP_BOX_HOUR_MS) w->now_ms += ms;
  }
  if (slp_str_is(what, ":roll")) slp_box_roll(w->box, w->now_ms, text, 0);
  if (slp_str_is(what, ":split")) slp_box_roll(w->box, w->now_ms, text, 1);
  if (slp_str_is(what, ":trim")) slp_box_trim_table(w->box, w->now_ms, text, w->now_ms);
  if (slp_str_is(what, ":faults")) slp_box_faults(w->box, text, NULL);
  if (slp_str_is(what, ":quirk") && number) {
    *number++ = 0;
    slp_box_quirk(w->box, NULL, text, (uint32_t)strtoul(number, NULL, 10) % 1000);
  }
  slp_free(w->mem, text);
}

static void run_lines(world *w, slp_str text) {
  for (int lines = 0; text.n && lines < LINES_MAX; lines++) {
    const char *end = memchr(text.p, '\n', text.n);
    slp_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
    size_t skip = line.n + (end != NULL);
    text = (slp_str){text.p + skip, text.n - skip};
    slp_str rest = line, first = word(&rest);
    if (first.n && first.p[0] == ':')
      order(w, first, rest);
    else
      ask(w, first, rest);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  world w = {.mem = slp_mem_new(NULL, NULL), .now_ms = START_MS};
  sloop_sandbox_opts_t o;
  sloop_sandbox_opts_init(&o);
  o.change_ms = 0;
  REQUIRE(w.mem != NULL);
  w.box = slp_box_new(w.mem, &o, 7);
  REQUIRE(w.box != NULL);
  slp_buf_init(&w.answer.body, w.mem, 64u << 20);
  slp_buf_init(&w.body, w.mem, 64u << 20);
  REQUIRE(slp_box_table(w.box, w.now_ms, "Music", 2, "NEW_AND_OLD_IMAGES") == 0);
  char *copy = fuzz_copy(data, size);
  run_lines(&w, (slp_str){copy, size});
  free(copy);
  slp_buf_free(&w.answer.body);
  slp_buf_free(&w.body);
  slp_box_free(w.box);
  REQUIRE(w.mem->live_blocks == 0);
  slp_mem_drop(w.mem);
  return 0;
}

/* opts.c - options: every wrong one is named, copies are deep, older callers get defaults. */
#include "api/open.h"
#include "api/settings.h"
#include "guest/layouts.h"
#include "store/sqlite.h"
#include "check.h"

#include <dlfcn.h>
#include <uv.h>

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s;
  (void)arg;
  sloop_batch_done(b, 0);
}

static sloop_opts_t good(void) {
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = "orders";
  o.on_batch = on_batch;
  return o;
}

#define WRONG(assignment, names)                                                \
  do {                                                                          \
    sloop_opts_t o = good();                                                    \
    char why[160] = "";                                                         \
    o.assignment;                                                               \
    CHECK_INT(slp_opts_check(&o, why), SLOOP_EOPTION);                          \
    if (!strstr(why, names)) CHECK_FAIL("\"%s\" does not name %s", why, names); \
  } while (0)

TEST(every_wrong_option_is_named) {
  static const char *const empty[] = {""};
  WRONG(stream = NULL, "stream");
  WRONG(stream = "", "stream");
  WRONG(stream = "no spaces", "stream");
  WRONG(stream = "arn:aws:s3:::bucket", "stream");
  WRONG(stream = "arn:aws:kinesis:us-east-1:000000000000:stream/", "stream");
  WRONG(on_batch = NULL, "on_batch");
  WRONG(poll_ms = 0, "poll_ms");
  WRONG(user_agent = "ours\nX-Amz-Target: theirs", "user_agent");
  WRONG(fetch_records_max = 10001, "fetch_records_max");
  WRONG(buffered_bytes_max = 1, "buffered_bytes_max");
  WRONG(batches_out_max = 0, "batches_out_max");
  WRONG(batch_records_max = 0, "batch_records_max");
  WRONG(in_flight_max = 0, "in_flight_max");
  WRONG(start.kind = (sloop_position_kind_t)9, "start");
  WRONG(order = (sloop_order_t)0, "order");
  WRONG(start.kind = SLOOP_AT_SEQ, "start.shard");
  WRONG(shards = empty; o.shards_n = 1, "shards");
  sloop_opts_t o = good();
  char why[160];
  o.start.kind = SLOOP_AT_SEQ;
  o.start.shard = "3";
  o.start.seq = "1-";
  CHECK_INT(slp_opts_check(&o, why), SLOOP_EOPTION);
  CHECK(strstr(why, "start.seq") != NULL);
  o.start.seq = "1";
  CHECK_INT(slp_opts_check(&o, why), 0);
  o.stream = "arn:aws-cn:kinesis:cn-north-1:123456789012:stream/x";
  CHECK_INT(slp_opts_check(&o, why), 0);
}

static void set(sloop_opts_t *o, const char *name, const char *value, const char *wants) {
  char why[160] = "x";
  sloop_opts_t before = *o;
  int r = sloop_opts_set(o, name, value, why, sizeof why);
  if (!wants) {
    CHECK_STR(why, "");
    CHECK_INT(r, 0);
    return;
  }
  CHECK_STR(why, wants);
  CHECK_INT(r, SLOOP_EOPTION);
  CHECK(memcmp(&before, o, sizeof before) == 0);
}

TEST(options_are_set_by_their_names) {
  sloop_opts_t o = good();
  set(&o, "stream", "payments", NULL);
  CHECK_STR(o.stream, "payments");
  set(&o, "poll_ms", "250", NULL);
  CHECK_INT(o.poll_ms, 250);
  set(&o, "order_wait_ms", "max", NULL);
  CHECK_INT(o.order_wait_ms, UINT32_MAX);
  set(&o, "buffered_bytes_max", "4611686018427387903", NULL);
  CHECK(o.buffered_bytes_max == UINT64_MAX / 4);
  set(&o, "start", "oldest", NULL);
  CHECK_INT(o.start.kind, SLOOP_OLDEST);
  set(&o, "order", "shard", NULL);
  CHECK_INT(o.order, SLOOP_ORDER_SHARD);
  set(&o, "wire", "json", NULL);
  CHECK_INT(o.wire, SLOOP_WIRE_JSON);
  set(&o, "on_retry", "skip", NULL);
  CHECK_INT(o.on_retry, SLOOP_RETRY_SKIP);
  set(&o, "on_retry", "again", NULL);
  set(&o, "on_trimmed", "stop", NULL);
  CHECK_INT(o.on_trimmed, SLOOP_TRIMMED_STOP);
  set(&o, "aggregates", "keep", NULL);
  CHECK_INT(o.aggregates, SLOOP_AGGREGATES_KEEP);
  set(&o, "retrieval", "auto", NULL);
  CHECK_INT(o.retrieval, SLOOP_RETRIEVAL_AUTO);
  set(&o, "checkpoints", "asked", NULL);
  CHECK_INT(o.checkpoints, SLOOP_CHECKPOINTS_ASKED);
  set(&o, "log_level", "debug", NULL);
  CHECK_INT(o.log_level, SLOOP_LOG_DEBUG);
  set(&o, "app", "billing", NULL);
  char why[160];
  CHECK_INT(slp_opts_check(&o, why), 0);
  set(&o, "no_such", "1", "there is no option \"no_such\" that can be set by its name");
  set(&o, "on_batch", "1", "there is no option \"on_batch\" that can be set by its name");
  set(&o, NULL, "1", "there is no option \"\" that can be set by its name");
  set(&o, "weight", NULL, "weight: the value is missing");
  set(&o, "weight", "1001", "weight: \"1001\" is not a whole number from 1 to 1000");
  set(&o, "weight", "-1", "weight: \"-1\" is not a whole number from 1 to 1000");
  set(&o, "order", "Time", "order: \"Time\" is not one of time|shard");
  set(&o, "start", "yesterday", "start: \"yesterday\" is not one of latest|oldest");
}

TEST(the_words_of_schema_are_the_layouts) {
  char words[200] = "";
  const slp_layout *l;
  for (size_t i = 0; (l = slp_layout_at_place(i)); i++)
    snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? "|" : "", l->name);
  CHECK_STR(slp_setting_find(slp_settings, slp_settings_n, SLP_STR("schema"))->unit, words);
}

TEST(an_option_that_an_older_caller_has_no_room_for_is_refused) {
  sloop_opts_t o = good();
  char why[160];
  o.size = offsetof(sloop_opts_t, unready_ms);
  CHECK_INT(sloop_opts_set(&o, "unready_ms", "5", why, sizeof why), SLOOP_EOPTION);
  CHECK_STR(why, "unready_ms: the program's header does not have it");
  CHECK_INT(o.unready_ms, 60000);
  CHECK_INT(sloop_opts_set(&o, "weight", "5", NULL, 0), 0);
}

TEST(copies_are_deep) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char stream[] = "orders", shard[] = "7";
  const char *shards[] = {shard};
  sloop_opts_t o = good(), copy;
  o.stream = stream;
  o.shards = shards;
  o.shards_n = 1;
  CHECK_INT(slp_opts_copy(&copy, &o, mem), 0);
  memset(stream, 'x', 6);
  shard[0] = 'x';
  CHECK_STR(copy.stream, "orders");
  CHECK_STR(copy.shards[0], "7");
  slp_opts_free(&copy, mem);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(a_shorter_struct_of_an_older_caller_gets_defaults_for_the_rest) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  sloop_opts_t o, copy;
  memset(&o, 0xff, sizeof o);
  sloop_opts_init_sized(&o, offsetof(sloop_opts_t, creds));
  o.stream = "orders";
  o.on_batch = on_batch;
  CHECK_INT(o.size, offsetof(sloop_opts_t, creds));
  CHECK_INT(slp_opts_copy(&copy, &o, mem), 0);
  CHECK(copy.creds == NULL);
  CHECK_INT(copy.poll_ms, 1000);
  slp_opts_free(&copy, mem);
  slp_mem_drop(mem);
}

TEST(a_longer_struct_of_a_newer_caller_is_zeroed_behind_ours) {
  struct {
    sloop_opts_t o;
    char newer[40];
  } room;
  memset(&room, 0xff, sizeof room);
  sloop_opts_init_sized(&room.o, sizeof room.o + 24);
  CHECK_INT(room.o.size, sizeof room.o);
  CHECK_INT(room.o.poll_ms, 1000);
  for (size_t i = 0; i < sizeof room.newer; i++) CHECK_INT((unsigned char)room.newer[i], i < 24 ? 0 : 0xff);
}

TEST(options_of_leases_need_an_application) {
  WRONG(worker = "w", "worker needs app");
  WRONG(schema = "kcl", "schema needs app");
  WRONG(store = "memory", "store needs app");
  WRONG(kcl_metrics = "table", "kcl_metrics needs app");
  WRONG(kcl_coordinator = "table"; o.app = "shop", "kcl_coordinator needs the schema kcl");
  WRONG(kcl_coordinator = "a/b"; o.app = "shop"; o.schema = "kcl", "kcl_coordinator: a/b can't be the name");
  WRONG(store_endpoint = "http://x", "store needs app");
  WRONG(app = "shop"; o.store = "dynamodb:a/b", "a/b can't be the name of a table");
  WRONG(app = "shop"; o.store = "dynamodb:ab", "ab can't be the name of a table");
}

TEST(a_lease_file_needs_a_build_with_sqlite) {
  if (slp_sqlite_there()) {
    sloop_opts_t o = good();
    char why[160] = "";
    o.app = "shop";
    o.store = "sqlite:/tmp/leases";
    CHECK_INT(slp_opts_check(&o, why), 0);
  } else {
    WRONG(app = "shop";
          o.store = "sqlite:/tmp/leases", "sqlite:/tmp/leases: this build has no SQLite: build sloop with");
  }
}

TEST(what_open_lacks_is_named) {
  sloop_opts_t o = good();
  sloop_t *s = (sloop_t *)&o;
  char why[160] = "";
  CHECK_INT(sloop_open(&s, NULL, &o, why, sizeof why), SLOOP_EOPTION);
  CHECK(s == NULL);
  CHECK_STR(why, "loop is missing");
  struct uv_loop_s *loop = (struct uv_loop_s *)&o; /* not looked at */
  CHECK_INT(sloop_open(&s, loop, NULL, why, sizeof why), SLOOP_EOPTION);
  CHECK_STR(why, "options (use sloop_opts_init) is missing");
  memset(why, 'x', sizeof why);
  CHECK_INT(sloop_open(&s, loop, NULL, why, 8), SLOOP_EOPTION);
  CHECK_STR(why, "options");
  CHECK(why[8] == 'x');
  CHECK_INT(sloop_open(&s, loop, NULL, why, 0), SLOOP_EOPTION);
  CHECK_STR(why, "options");
}

TEST(a_position_is_set_up_whole) {
  sloop_position_t p;
  memset(&p, 0xff, sizeof p);
  sloop_position_init(&p, SLOOP_OLDEST);
  CHECK(p.kind == SLOOP_OLDEST && p.at_ms == 0 && !p.shard && !p.seq && p.sub == 0 && !p.token);
}

TEST(reading_starts_at_no_place_that_only_leases_have) {
  WRONG(start.kind = SLOOP_AFTER_SEQ, "start.kind is 6");
  WRONG(start.kind = SLOOP_AT_END, "start.kind is 7");
}

TEST(errors_have_names_and_sentences) {
  CHECK_STR(sloop_err_name(SLOOP_ETHROTTLE), "ETHROTTLE");
  CHECK_STR(sloop_err_name(-ECONNREFUSED), "ECONNREFUSED");
  CHECK_STR(sloop_err_name(12345), "UNKNOWN");
  CHECK(strlen(sloop_strerror(SLOOP_ENOSTREAM)) > 5 && strlen(sloop_strerror(-ENOMEM)) > 5);
  CHECK_STR(sloop_strerror(0), "success");
  CHECK_STR(sloop_strerror(12345), "unknown error");
  CHECK(strlen(sloop_version()) >= 5);
  CHECK(strstr(sloop_features(), sloop_version()) && strstr(sloop_features(), "libcurl/"));
}

TEST(the_libraries_that_run_are_told_with_their_files) {
  static const char *const names[] = {"sloop\t", "libuv\t", "libcurl\t", "libcrypto\t", "zlib\t"};
  char text[4000], small[10];
  const char *line;
  size_t i, need = 0, room, len = sizeof text;
  Dl_info info;
  CHECK_INT(sloop_running(NULL, &need), UV_ENOBUFS);
  CHECK_INT(sloop_running(text, &len), 0);
  CHECK_INT(len, need - 1);
  CHECK_INT(strlen(text), len);
  room = sizeof small;
  CHECK_INT(sloop_running(small, &room), UV_ENOBUFS);
  CHECK_INT(room, need);
  room = need - 1; /* no room for the NUL */
  CHECK_INT(sloop_running(text, &room), UV_ENOBUFS);
  CHECK_INT(sloop_running(text, &need), 0);
  line = text;
  for (i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK(strncmp(line, names[i], strlen(names[i])) == 0);
    CHECK(strchr(line, '\n'));
    line = strchr(line, '\n') + 1;
  }
  CHECK(dladdr((void *)(uintptr_t)uv_version_string, &info));
  line = strstr(text, "libuv\t");
  line = strchr(line + 6, '\t') + 1;
  CHECK(strncmp(line, info.dli_fname, strlen(info.dli_fname)) == 0 && line[strlen(info.dli_fname)] == '\n');
}

/* open.c - opening and joining on a real loop, and requests for credentials while everything ends. The scenes
 * test open consumers. */
#include "api/open.h"

#include <sys/resource.h>
#include <uv.h>

#include "base/clean.h"
#include "check.h"

static uv_loop_t loop;
static int asked, closed, answer;
static sloop_creds_req_t *unanswered;

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s;
  (void)arg;
  sloop_batch_done(b, sloop_batch_count(b));
}
static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s;
  (void)arg;
  CHECK_INT(status, 0);
  closed++;
}
static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  static const sloop_creds_t keys = {
      .size = sizeof(sloop_creds_t), .access_key = "A", .secret_key = "B", .expires_at_ms = -1};
  (void)s;
  (void)arg;
  asked++;
  if (answer)
    sloop_creds_done(rq, 0, &keys, NULL);
  else
    unanswered = rq;
}

static sloop_opts_t opts(void) {
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = "orders";
  o.region = "eu-west-1";
  o.endpoint = "http://127.0.0.1:1"; /* nobody listens */
  o.creds = creds;
  o.on_batch = on_batch;
  return o;
}

static void begin(void) { CHECK_INT(uv_loop_init(&loop), 0); }
static void end(int closes) {
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(closed, closes);
  CHECK_INT(uv_loop_close(&loop), 0);
  closed = asked = 0;
}

static int migrated;
static void on_migrated(sloop_admin_t *s, int status, const sloop_migration_t *m, const sloop_error_t *e,
                        void *arg) {
  (void)s, (void)m, (void)e, (void)arg;
  CHECK_INT(status, UV_ECANCELED); /* closed before */
  migrated++;
}

/* Programs of an older header have a shorter place, those of a newer one a longer. */
TEST(a_place_of_another_size_is_taken) {
  struct {
    sloop_place_t place;
    char behind[32];
  } from, to;
  size_t first = offsetof(sloop_place_t, token) + sizeof(char *),
         sizes[] = {first, sizeof(sloop_place_t), sizeof from};
  sloop_t *s;
  char why[160];
  sloop_opts_t o = opts();
  begin();
  for (size_t i = 0; i < SLP_COUNT(sizes); i++) {
    memset(&from, 'x', sizeof from);
    memset(&to, 'x', sizeof to);
    sloop_place_init_sized(&from.place, sizes[i]);
    sloop_place_init_sized(&to.place, sizes[i]);
    from.place.token = "{}";
    to.place.app = "a";
    to.place.store = "memory";
    CHECK_INT(sloop_open(&s, &loop, &o, why, sizeof why), 0);
    CHECK_INT(sloop_admin_migrate(sloop_admin_of(s), &from.place, &to.place, 0, on_migrated, NULL), 0);
    sloop_close(s, on_closed, NULL);
  }
  from.place.size = first - 1;
  CHECK_INT(sloop_open(&s, &loop, &o, why, sizeof why), 0);
  CHECK_INT(sloop_admin_migrate(sloop_admin_of(s), &from.place, &to.place, 0, on_migrated, NULL),
            SLOOP_EOPTION);
  sloop_close(s, on_closed, NULL);
  end(4);
  CHECK_INT(migrated, 3);
}

static void all_differ(const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) CHECK(strcmp(names[i], names[k]) != 0);
}

TEST(each_kind_and_state_has_a_name_of_its_own) {
  const char *names[64];
  size_t n = 0;
  for (int k = SLOOP_SHARD_OPENED; k <= SLOOP_SHARD_LEAVING; k++)
    names[n++] = sloop_shard_event_name((sloop_shard_event_kind_t)k);
  CHECK_STR(names[0], "opened");
  CHECK_STR(names[n - 1], "leaving");
  names[n++] = sloop_shard_event_name((sloop_shard_event_kind_t)(SLOOP_SHARD_LEAVING + 1));
  all_differ(names, n);
  n = 0;
  for (int k = SLOOP_LEASE_JOINED; k <= SLOOP_LEASE_LEFT; k++)
    names[n++] = sloop_lease_event_name((sloop_lease_event_kind_t)k);
  CHECK_STR(names[0], "joined");
  CHECK_STR(names[n - 1], "left");
  names[n++] = sloop_lease_event_name((sloop_lease_event_kind_t)(SLOOP_LEASE_LEFT + 1));
  all_differ(names, n);
  n = 0;
  for (int k = SLOOP_SHARD_IS_READ; k <= SLOOP_SHARD_WAITS_FOR_PARENT; k++)
    names[n++] = sloop_shard_state_name((sloop_shard_state_t)k);
  CHECK_STR(names[0], "reading");
  CHECK_STR(names[n - 1], "waiting_for_parent");
  names[n++] = sloop_shard_state_name((sloop_shard_state_t)(SLOOP_SHARD_WAITS_FOR_PARENT + 1));
  all_differ(names, n);
  CHECK_STR(names[n - 1], "unknown");
  CHECK_INT(sloop_version_num(), SLOOP_VERSION_NUM);
}

TEST(who_has_started_or_closed_is_not_joined) {
  sloop_t *a, *b, *c;
  char why[160];
  sloop_opts_t o = opts();
  begin();
  answer = 1;
  CHECK_INT(sloop_open(&a, &loop, &o, why, sizeof why), 0);
  o.join = a;
  o.creds = NULL;
  CHECK_INT(sloop_open(&b, &loop, &o, why, sizeof why), 0);
  CHECK(sloop_loop(a) == &loop && sloop_loop(b) == &loop);
  CHECK_INT(sloop_start(a), 0);
  CHECK_INT(sloop_open(&c, &loop, &o, why, sizeof why), SLOOP_EOPTION);
  CHECK(c == NULL);
  CHECK_STR(why, "join: that consumer is already started or closed");
  sloop_close(a, on_closed, NULL);
  CHECK_INT(sloop_open(&c, &loop, &o, why, sizeof why), SLOOP_EOPTION);
  CHECK_STR(why, "join: that consumer is already started or closed");
  sloop_close(b, on_closed, NULL);
  end(2);
}

/* Every stack is too large for any machine. */
TEST(without_room_for_threads_it_is_said_that_threads_are_what_lacks) {
  struct rlimit before, large;
  sloop_t *s;
  char why[160];
  sloop_opts_t o = opts();
  begin();
  CHECK_INT(getrlimit(RLIMIT_STACK, &before), 0);
  large = before;
  large.rlim_cur = (rlim_t)1 << 47;
  CHECK_INT(setrlimit(RLIMIT_STACK, &large), 0);
  int r = sloop_open(&s, &loop, &o, why, sizeof why);
  CHECK_INT(setrlimit(RLIMIT_STACK, &before), 0);
  CHECK_INT(r, UV_EAGAIN);
  CHECK(s == NULL);
  CHECK_STR(
      why,
      "no thread for libuv's pool can be made (resource temporarily unavailable): raise ulimit -v (memory), "
      "ulimit -u or the cgroup's pids.max (threads)");
  CHECK_INT(sloop_open(&s, &loop, &o, why, sizeof why), 0);
  CHECK_STR(why, "");
  sloop_close(s, on_closed, NULL);
  end(1);
}

/* A callback that was asked for credentials may answer after the end; one that was not asked yet is never
 * called. */
TEST(closed_at_any_moment_around_the_question_for_credentials) {
  int asked_once = 0, never_asked = 0;
  for (int turns = 0; turns <= 12; turns++) { /* the last time until it is asked */
    sloop_t *a;
    char why[160];
    sloop_opts_t o = opts();
    begin();
    answer = 0;
    unanswered = NULL;
    CHECK_INT(sloop_open(&a, &loop, &o, why, sizeof why), 0);
    CHECK_INT(sloop_start(a), 0);
    for (int i = 0; i < turns; i++) uv_run(&loop, UV_RUN_NOWAIT);
    while (turns == 12 && !asked) uv_run(&loop, UV_RUN_ONCE);
    asked_once += asked == 1;
    never_asked += asked == 0;
    sloop_close(a, on_closed, NULL);
    int before = asked;
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(asked, before);
    if (unanswered) sloop_creds_done(unanswered, SLP_ECANCELED, NULL, "too late");
    end(1);
  }
  CHECK(asked_once && never_asked);
}

/* Two of a family: the member that was to be asked for credentials is closed before it is asked. */
TEST(when_the_one_that_knows_the_credentials_is_closed_the_others_are_told) {
  sloop_t *a, *b;
  char why[160];
  sloop_opts_t o = opts();
  begin();
  CHECK_INT(sloop_open(&a, &loop, &o, why, sizeof why), 0);
  o.join = a;
  o.creds = NULL;
  CHECK_INT(sloop_open(&b, &loop, &o, why, sizeof why), 0);
  CHECK_INT(sloop_start(b), 0);
  sloop_close(a, on_closed, NULL);
  for (int i = 0; i < 20; i++) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_INT(asked, 0);
  sloop_close(b, on_closed, NULL);
  end(2);
}

static char told[200];
static void unset_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  static const sloop_creds_t keys = {.access_key = "A", .secret_key = "B"};
  (void)s;
  (void)arg;
  sloop_creds_done(rq, 0, &keys, NULL);
}
static void close_on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)arg;
  snprintf(told, sizeof told, "%s", e->message);
  sloop_close(s, on_closed, NULL);
}

TEST(credentials_that_were_not_set_up_are_refused_by_name) {
  sloop_t *s;
  sloop_opts_t o = opts();
  begin();
  o.creds = unset_creds;
  o.on_error = close_on_error;
  CHECK_INT(sloop_open(&s, &loop, &o, NULL, 0), 0);
  CHECK_INT(sloop_start(s), 0);
  end(1);
  CHECK(strstr(told, "not set up by sloop_creds_init") != NULL);
}

static int ticks;
static void on_tick(uv_timer_t *t) {
  ticks++;
  uv_close((uv_handle_t *)t, NULL);
}
static void nested_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  static uv_timer_t timer;
  (void)arg;
  asked++;
  CHECK_INT(uv_timer_init(&loop, &timer), 0);
  CHECK_INT(uv_timer_start(&timer, on_tick, 1, 0), 0);
  while (!ticks) uv_run(&loop, UV_RUN_NOWAIT); /* other handles of the program are served meanwhile */
  sloop_creds_done(rq, SLP_ECANCELED, NULL, "not today");
  sloop_close(s, on_closed, NULL);
  for (int i = 0; i < 10; i++) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_INT(closed, 0); /* the library waits until this callback has returned */
}

/* As programs do that wait for something in the middle of a callback, although libuv asks them not to. */
TEST(a_loop_that_is_run_inside_a_callback_does_no_harm) {
  sloop_t *s;
  sloop_opts_t o = opts();
  begin();
  o.creds = nested_creds;
  CHECK_INT(sloop_open(&s, &loop, &o, NULL, 0), 0);
  CHECK_INT(sloop_start(s), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(asked, 1);
  CHECK_INT(ticks, 1);
  end(1);
}

TEST(credentials_of_a_longer_struct_are_zeroed_behind_ours) {
  struct {
    sloop_creds_t c;
    char newer[24];
  } room;
  memset(&room, 0xff, sizeof room);
  sloop_creds_init_sized(&room.c, sizeof room.c + 16);
  CHECK(room.c.size == sizeof room.c && room.c.access_key == NULL && room.c.expires_at_ms == -1);
  for (size_t i = 0; i < sizeof room.newer; i++) CHECK_INT((unsigned char)room.newer[i], i < 16 ? 0 : 0xff);
}

/* Clears a screen, by C0 and by C1; turns the direction; a second line; no UTF-8. */
#define HOSTILE          \
  "\x1b[2J\xc2\x9b"      \
  "2J\xe2\x80\xae\n\xff" \
  "e\xcc\x81"

static size_t told_n; /* sentences that repeated something */
static void check_safe(const char *why, size_t room, int r) {
  size_t n = strlen(why);
  CHECK(n < room);
  for (size_t i = 0; i < n; i += slp_safe_length(why + i, n - i))
    if (slp_unsafe_length(why + i, n - i)) CHECK_FAIL("why is not safe to print: %s", why);
  told_n += r && strstr(why, "?[2J?") != NULL;
}

TEST(why_it_could_not_be_opened_is_safe_to_print_whatever_the_options_are) {
  sloop_opts_t full = opts();
  const char *shards[] = {HOSTILE};
  const char **const texts[] = {&full.stream,        &full.region,         &full.endpoint,
                                &full.profile,       &full.ca_bundle,      &full.user_agent,
                                &full.app,           &full.worker,         &full.store,
                                &full.schema,        &full.store_endpoint, &full.kcl_coordinator,
                                &full.push_consumer, &full.kcl_metrics,    &full.start.shard,
                                &full.start.seq,     &full.start.token,    &shards[0]};
  static const char *const before[] = {"", "http://", "dynamodb:", "sqlite:", "{\""};
  for (size_t i = 0; i < SLP_COUNT(texts); i++)
    for (size_t k = 0; k < SLP_COUNT(before); k++)
      for (size_t room = 160; room; room = room > 40 ? 40 : room - 1) {
        char why[160], text[200];
        sloop_t *s;
        begin();
        full = opts();
        if (texts[i] == &full.schema || texts[i] == &full.store || texts[i] == &full.kcl_coordinator)
          full.app = "shop", full.schema = "kcl";
        if (texts[i] == &full.start.token) full.start.kind = SLOOP_AT_TOKEN;
        if (texts[i] == &full.start.seq || texts[i] == &full.start.shard)
          full.start = (sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "s", .seq = "1"};
        snprintf(text, sizeof text, "%s%s", before[k], HOSTILE);
        *texts[i] = text;
        full.shards = shards;
        full.shards_n = texts[i] == &shards[0];
        int r = sloop_open(&s, &loop, &full, why, room);
        check_safe(why, room, r);
        if (s) sloop_close(s, on_closed, NULL);
        end(s != NULL);
      }
  CHECK(told_n > 0);
}

/* The loop can be closed without having run. */
TEST(a_wrong_option_leaves_nothing_on_the_loop) {
  sloop_t *s;
  char why[160], long_name[200];
  sloop_opts_t wrong[4];
  memset(long_name, 'p', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) wrong[i] = opts();
  wrong[0].endpoint = "ftp://127.0.0.1";
  wrong[1].region = "eu west";
  wrong[2].profile = long_name;
  wrong[3].app = "shop";
  wrong[3].store_endpoint = "nothing";
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    begin();
    why[0] = 0;
    CHECK_INT(sloop_open(&s, &loop, &wrong[i], why, sizeof why), SLOOP_EOPTION);
    CHECK(!s && why[0]);
    CHECK_INT(uv_loop_close(&loop), 0);
  }
}

TEST(why_metrics_could_not_be_opened_is_safe_to_print) {
  sloop_t *s;
  sloop_opts_t o = opts();
  begin();
  CHECK_INT(sloop_open(&s, &loop, &o, NULL, 0), 0);
  for (size_t room = 160; room; room = room > 40 ? 40 : room - 1)
    for (int listens = 0; listens < 2; listens++) {
      char why[160];
      sloop_metrics_t *m;
      sloop_metrics_opts_t mo;
      sloop_metrics_opts_init(&mo);
      *(listens ? &mo.listen : &mo.cloudwatch) = HOSTILE;
      int r = sloop_metrics_open(&m, s, &mo, why, room);
      CHECK(r != 0);
      check_safe(why, room, r);
    }
  CHECK(told_n > 0);
  sloop_close(s, on_closed, NULL);
  end(1);
}

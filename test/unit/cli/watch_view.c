/* watch_view.c - --watch at every size: exactly the lines of the screen, none too wide, and what matters
 * is on it. */
#include "cli/watch_view.h"
#include "check.h"
#include "cli/watch_style.h"
#include "codec/json.h"
#include "leases_sample.h"

static slp_mem *mem;
static slp_buf b;
static slp_watch_past past;
static slp_watch_news news;

static void begin(const sloop_leases_t *leases) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 22);
  slp_watch_past_init(&past, mem);
  news = (slp_watch_news){.stream = "orders",
                          .app = "billing",
                          .leases = leases,
                          .past = &past,
                          .wall_ms = SAMPLE_NOW_MS,
                          .now_ms = 1000000,
                          .every_ms = 2000};
  CHECK_INT(slp_watch_past_add(&past, leases, news.now_ms, news.wall_ms), 0);
}
static void end(void) {
  slp_buf_free(&b);
  slp_watch_past_free(&past);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static const char *screen(uint32_t columns, uint32_t rows, int utf8) {
  slp_buf_clear(&b);
  CHECK_INT(slp_watch_screen(&b, &news, columns, rows, utf8), 0);
  return slp_buf_z(&b);
}

static size_t width_of(const char *line, size_t n) {
  size_t width = 0;
  for (size_t i = 0; i < n; i++) /* bytes of styles take no column */
    width += ((unsigned char)line[i] & 0xc0) != 0x80 && (unsigned char)line[i] >= 0x20;
  return width;
}

static void check_shape(uint32_t columns, uint32_t rows, int utf8) {
  const char *text = screen(columns, rows, utf8);
  CHECK(slp_utf8_valid(slp_str_of(text)));
  size_t lines = 1;
  for (const char *line = text;; line++) {
    size_t n = strcspn(line, "\n");
    if (width_of(line, n) > columns)
      CHECK_FAIL("%ux%u: line %zu is %zu wide: %.*s", columns, rows, lines, width_of(line, n), (int)n, line);
    line += n;
    if (!*line) break;
    lines++;
  }
  if (lines != rows) CHECK_FAIL("%ux%u: %zu lines", columns, rows, lines);
}

TEST(the_usual_size) {
  static const sloop_leases_t quiet = {sample_lease_at, 2, sample_worker_at, 3, NULL, 0};
  begin(&quiet);
  CHECK_STR(screen(80, 24, 0),
            "orders for billing                                            22:26:40, every 2s\n"
            "2 leases: 2 owned\n"
            "3 workers, 1 dead or silent; the furthest is <94s behind\n"
            "0 moves in the last minute, 0 throttles of the table\n"
            "\n"
            "SHARD  STATE   OWNER                       AGE     LAG  100ms..1d   PAST        \n"
            "0      owned   ip-10-0-3-17-2211-a1b2c3     4s    <94s  ######                 +\n"
            "1      owned   ip-10-0-3-18-44-d4e5f6      60m     tip                         _\n"
            "\n"
            "WORKER                    STATE     HELD     LAG   RATE/s   SEEN  HOST\n"
            "gone                      dead         0       -        -    50s  -\n"
            "ip-10-0-3-17-2211-a1b2c3  leads        1    <95s    123kB     5s  ip-10-0-3-17\n"
            "ip-10-0-3-18-44-d4e5f6    works        1     tip        0     1s  ip-10-0-3-18\n"
            "\n\n\n\n\n\n\n\n\n\n"
            "Ctrl-C ends");
  end();
}

TEST(every_size_has_its_lines) {
  static sloop_lease_t many[500];
  static const sloop_lease_t *at[500];
  static char ids[500][40];
  for (int i = 0; i < 500; i++) {
    many[i] = sample_leases[i % 6];
    at[i] = &many[i];
    snprintf(ids[i], sizeof ids[i], "shardId-%020d-%08x", i, (unsigned)i * 2654435761u);
    many[i].shard = ids[i];
  }
  sloop_leases_t all = {at, 500, sample_worker_at, 3, sample_bad_rows, 1};
  begin(&all);
  for (uint32_t rows = 1; rows < 60; rows++)
    for (uint32_t columns = 1; columns < 200; columns += 7) check_shape(columns, rows, rows % 2);
  check_shape(80, 600, 1); /* more lines than leases */
  /* and with keys, on every page */
  slp_watch_ui ui = {.has_keys = 1, .picks = 1};
  news.ui = &ui;
  news.why =
      "shard 0 is read by one\n  a line without a blank: "
      "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
      "\n";
  for (ui.page = SLP_WATCH_SHARDS; ui.page <= SLP_WATCH_HELP; ui.page++)
    for (uint32_t rows = 1; rows < 60; rows += 3)
      for (uint32_t columns = 1; columns < 240; columns += 13) {
        ui.step = (int32_t)(rows % 7) - 2;
        ui.sort = (slp_watch_sort)(rows % SLP_SORTS);
        check_shape(columns, rows, rows % 2);
      }
  end();
  static const sloop_leases_t none = {0};
  begin(&none);
  for (uint32_t rows = 1; rows < 30; rows++) check_shape(80, rows, 1);
  end();
}

/* Returns the line of the last screen that begins with the text, without bytes of styles. */
static const char *line_with(const char *text, const char *begin_of) {
  static char line[400];
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    size_t n = 0;
    for (size_t i = 0; at[i] && at[i] != '\n' && n + 1 < sizeof line; i++)
      if ((unsigned char)at[i] >= 0x20) line[n++] = at[i];
    line[n] = 0;
    if (strncmp(line, begin_of, strlen(begin_of)) == 0) return line;
  }
  return "";
}

TEST(a_wide_screen_has_more_columns) {
  begin(&sample);
  slp_watch_ui ui = {.has_keys = 1};
  news.ui = &ui;
  news.local_ms = 3600000;
  const char *text = screen(200, 50, 0);
  char *titles = strdup(line_with(text, "SHARD"));
  CHECK(strstr(titles, "READ UP TO") && strstr(titles, "OWNER/s") && strstr(titles, "EPOCH") &&
        strstr(titles, "REASON"));
  size_t upto = (size_t)(strstr(titles, "READ UP TO") - titles),
         reason = (size_t)(strstr(titles, "REASON") - titles);
  const char *first = line_with(text, "0    ");
  CHECK(strncmp(first + upto, "23:25:06", 8) == 0); /* 22:26:40 UTC, an hour ahead, at most 94 s behind */
  CHECK(strstr(first, "123kB"));
  CHECK(strncmp(line_with(text, "1    ") + upto, "23:26:40", 8) == 0); /* its tip */
  int reasons = 0;
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    char begin_of[30];
    snprintf(begin_of, sizeof begin_of, "%.*s", (int)strcspn(at, " \n"), at);
    const char *line = line_with(at, begin_of);
    int parked = strstr(line, " parked ") != NULL, dead = strstr(line, " dead ") && strlen(line) > reason;
    if (parked) CHECK(strncmp(line + reason, "until --release", 15) == 0);
    if (dead) CHECK(strstr(line + reason, "owner") != NULL);
    reasons += parked + dead;
    if (strstr(line, " owned ") && strlen(line) > reason && !strstr(line, "goes to"))
      CHECK(line[reason] == ' ');
  }
  CHECK(reasons >= 2);
  CHECK(!strstr(screen(109, 50, 0), "READ UP TO"));
  free(titles);
  end();
}

TEST(trouble_has_its_colour_and_calm_another) {
  begin(&sample);
  slp_watch_ui ui = {.has_keys = 1};
  news.ui = &ui;
  const char *text = screen(120, 40, 0);
  CHECK(strstr(text, SLP_STYLE_RED "dead") && strstr(text, SLP_STYLE_GREEN "   tip") &&
        strstr(text, SLP_STYLE_YELLOW "  <94s"));
  CHECK(strstr(text, SLP_STYLE_YELLOW "parked") && strstr(text, SLP_STYLE_BOLD "leads"));
  news.red_ms = 94000;
  CHECK(strstr(screen(120, 40, 0), SLP_STYLE_RED "  <94s"));
  news.red_ms = 2000000;
  CHECK(strstr(screen(120, 40, 0), SLP_STYLE_GREEN "  <94s"));
  CHECK(!strstr(text, SLP_STYLE_REVERSE));
  ui.picks = 1;
  CHECK(strstr(screen(120, 40, 0), SLP_STYLE_REVERSE "0 "));
  end();
}

TEST(workers_leave_the_screen) {
  sloop_worker_t workers[3] = {*sample_worker_at[0], *sample_worker_at[0], *sample_worker_at[1]};
  const sloop_worker_t *at[3] = {&workers[0], &workers[1], &workers[2]};
  sloop_lease_t lease = sample_leases[0];
  const sloop_lease_t *lease_at[1] = {&lease};
  sloop_leases_t all = {lease_at, 1, at, 3, NULL, 0};
  workers[0].worker = "away.1";
  workers[0].dead = workers[0].leaving = 1;
  workers[1].worker = "late.1";
  workers[1].dead = 1;
  workers[1].leaving = 0;
  workers[1].held = 7; /* what its last heartbeat said */
  begin(&all);
  slp_watch_ui ui = {.has_keys = 1};
  CHECK(*line_with(screen(80, 24, 0), "away") && *line_with(screen(80, 24, 0), "late"));
  news.ui = &ui;
  const char *text = screen(80, 24, 0);
  CHECK(!*line_with(text, "away"));
  CHECK(strstr(line_with(text, "late"), "dead         0 "));
  news.wall_ms = workers[1].written_at_ms + workers[1].lease_ms + 60001;
  CHECK(!*line_with(screen(80, 24, 0), "late"));
  lease.owner = "late.1"; /* a shard still waits for another owner */
  CHECK(strstr(line_with(screen(80, 24, 0), "late"), "dead         1 "));
  end();
}

TEST(when_not_all_fit_trouble_and_lag_come_first) {
  static sloop_lease_t many[100];
  static const sloop_lease_t *at[100];
  static char ids[100][40];
  for (int i = 0; i < 100; i++) {
    snprintf(ids[i], sizeof ids[i], "shardId-%012d", i);
    many[i] = sample_leases[0];
    at[i] = &many[i];
    many[i].shard = ids[i];
    many[i].behind_ms = 1000 + i;
  }
  many[50].behind_ms = 7200000;
  many[60] = sample_leases[2]; /* its owner is dead */
  many[60].shard = ids[60];
  many[70].position = (sloop_position_t){.kind = SLOOP_AT_END};
  many[70].behind_ms = 9000000;
  sloop_leases_t all = {at, 100, sample_worker_at, 1, NULL, 0};
  begin(&all);
  const char *text = screen(80, 24, 0), *dead = strstr(text, "\n60 "), *far = strstr(text, "\n50 ");
  CHECK(dead && far && dead < far);
  CHECK(strstr(text, "\n99 ") && !strstr(text, "\n70 ") && !strstr(text, "\n0    "));
  CHECK(strstr(text, "more, at most 6s behind; 1 of them at their end\n"));
  end();
}

TEST(what_is_not_known_of_the_rest_is_not_called_fine) {
  static sloop_lease_t many[100];
  static const sloop_lease_t *at[100];
  static char ids[100][40];
  for (int i = 0; i < 100; i++) {
    snprintf(ids[i], sizeof ids[i], "shardId-%012d", i);
    many[i] = sample_leases[3]; /* nobody's: no row tells how far behind it is */
    at[i] = &many[i];
    many[i].shard = ids[i];
  }
  sloop_leases_t all = {at, 100, sample_worker_at, 1, NULL, 0};
  begin(&all);
  CHECK(strstr(screen(80, 24, 0), "\nand 87 more, 87 of unknown lag; 0 of them at their end\n"));
  end();
}

TEST(moves_are_told_when_there_is_room) {
  static const sloop_leases_t before = {sample_lease_at, 2, sample_worker_at, 3, NULL, 0};
  begin(&before);
  sloop_lease_t after[2] = {sample_leases[0], sample_leases[1]};
  after[0].owner = sample_leases[1].owner;
  const sloop_lease_t *at[2] = {&after[0], &after[1]};
  sloop_leases_t all = {at, 2, sample_worker_at, 3, NULL, 0};
  CHECK_INT(slp_watch_past_add(&past, &all, news.now_ms, news.wall_ms), 0);
  news.leases = &all;
  const char *text = screen(80, 24, 0);
  CHECK(strstr(text, "1 move in the last minute"));
  CHECK(strstr(text, " shard 0: ip-10-0-3-17-2211-a1b2c3 -> ip-10-0-3-18-44-d4e5f6\n"));
  CHECK(!strstr(screen(80, 12, 0), " shard 0: "));
  slp_buf_clear(&b);
  CHECK_INT(slp_watch_block(&b, &news), 0);
  CHECK(strstr(slp_buf_z(&b), " shard 0: ip-10-0-3-17-2211-a1b2c3 -> ip-10-0-3-18-44-d4e5f6\n"));
  CHECK(!strchr(slp_buf_z(&b), '\033'));
  end();
}

TEST(trouble_is_one_harmless_line) {
  begin(&sample);
  CHECK_INT(slp_watch_trouble(&b, "the table\n\033[2J is gone", 80), 0);
  CHECK_STR(slp_buf_z(&b), "the table??[2J is gone");
  slp_buf_clear(&b);
  CHECK_INT(slp_watch_trouble(&b, "the table is gone", 9), 0);
  CHECK_STR(slp_buf_z(&b), "the table");
  end();
}

TEST(bars_grow_with_the_lag) {
  CHECK_INT(slp_watch_bar(-1, 80), 0);
  CHECK_INT(slp_watch_bar(0, 80), 0);
  CHECK_INT(slp_watch_bar(99, 80), 0);
  CHECK(slp_watch_bar(100, 80) > 0);
  CHECK_INT(slp_watch_bar(86400000, 80), 80);
  CHECK_INT(slp_watch_bar(INT64_MAX, 80), 80);
  CHECK_INT(slp_watch_bar(86400000, 0), 0);
  uint32_t before = 0;
  for (int64_t ms = 1; ms < INT64_C(100000000); ms += 1 + ms / 50) {
    uint32_t bar = slp_watch_bar(ms, 1000);
    if (bar < before || bar > 1000) CHECK_FAIL("%lld ms: %u after %u", (long long)ms, bar, before);
    before = bar;
  }
  CHECK(slp_watch_bar(1000, 1000) > 150 && slp_watch_bar(1000, 1000) < 250); /* a decade is a sixth or so */
  CHECK(slp_watch_bar(60000, 1000) > 400 && slp_watch_bar(60000, 1000) < 550);
}

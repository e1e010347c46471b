/* output.c - what is written, what is acknowledged and what is given back, with readers that stand still, signals
 * and leases that go. The batches are the scripted library's: it notes how many records of each were given back as
 * done, and answers sloop_batch_owned() from a file. */
#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

#include "check.h"
#include "program/process.h"

#define RECORD 30000 /* bytes of text: two fit into a pipe of 64 KiB, the third only in part */

static slp_mem *mem;
static slp_app app;
static slp_output out;
static sloop_t *s;
static int fds[2];
static char folder[] = "/tmp/output-XXXXXX";
static char log_path[64], owned_path[64];
static int handed, asked_parts, parts_left, made;
static size_t none_at = SIZE_MAX; /* the record that is not to be printed */

static void on_batch(sloop_t *from, sloop_batch_t *b, void *arg) {
  (void)from;
  (void)arg;
  CHECK_INT(slp_output_add(&out, b, &app), 0);
  handed++;
}
static void on_error(sloop_t *from, const sloop_error_t *e, void *arg) {
  (void)from;
  (void)e;
  (void)arg;
}
static void on_tip(sloop_t *from, void *arg) {
  (void)from;
  (void)arg;
}
static void on_event(void *arg) {
  (void)arg;
  slp_output_run(&out);
}

/* Text: the record's number at its beginning, at its end a newline. */
static int make(void *user, const void *owner, const sloop_batch_t *b, const sloop_record_t *r, int begins,
                slp_buf *text) {
  (void)b;
  CHECK(user == &out && owner == &app);
  size_t number = 0; /* as fake_sloop.c makes them: 4951 and 1000 more */
  for (size_t i = 4; i < r->seq.len; i++) number = number * 10 + (size_t)(r->seq.base[i] - '0');
  number -= 1000;
  if (number == none_at) return SLP_MADE_NONE;
  if (begins) parts_left = asked_parts;
  if (parts_left-- > 0) {
    slp_buf_add_char(text, 'p');
    usleep(100);
    return SLP_MADE_PART;
  }
  made++;
  size_t from = text->n;
  slp_buf_addf(text, "%03zu", number);
  slp_buf_reserve(text, RECORD);
  memset(text->p + text->n, 'x', RECORD);
  text->n = from + RECORD;
  text->p[text->n - 1] = '\n';
  return SLP_MADE;
}

static void owned(int answer) {
  FILE *f = fopen(owned_path, "w");
  CHECK(f && fprintf(f, "%d", answer) > 0 && fclose(f) == 0);
}

static void turn(void) { uv_run(uv_default_loop(), UV_RUN_NOWAIT); }
static void turns(void) {
  for (int i = 0; i < 50; i++) turn();
}

static void begin(int batches, int leased) {
  CHECK(mkdtemp(folder) && pipe2(fds, O_NONBLOCK) == 0);
  snprintf(log_path, sizeof log_path, "%s/log", folder);
  snprintf(owned_path, sizeof owned_path, "%s/owned", folder);
  setenv("FAKE_RECORDS", batches == 1 ? "10" : "20", 1);
  setenv("FAKE_LOG", log_path, 1);
  setenv("FAKE_OWNED", owned_path, 1);
  owned(1);
  mem = slp_mem_new(NULL, NULL);
  app = (slp_app){.mem = mem, .loop = uv_default_loop()};
  app.out = slp_out_new(mem, app.loop, fds[1], on_event, NULL);
  slp_output_init(&out, &app);
  out.make = make;
  out.user = &out;
  out.leased = (uint8_t)leased;
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = "s";
  o.on_batch = on_batch;
  o.on_error = on_error;
  o.on_tip = on_tip;
  CHECK_INT(sloop_open(&s, uv_default_loop(), &o, NULL, 0), 0);
  sloop_start(s);
  while (handed < batches) uv_run(uv_default_loop(), UV_RUN_ONCE);
  sloop_pause(s, NULL);
}

/* Reads what is there, and returns it as the numbers of its whole records: "0 1 2 ". A part of one: "7- ". */
static char got[2000];
static size_t got_bytes;
static const char *take(void) {
  static char text[1 << 20];
  ssize_t n;
  for (int quiet = 0; quiet < 3;) {
    turns();
    n = read(fds[0], text + got_bytes, sizeof text - got_bytes);
    if (n > 0)
      got_bytes += (size_t)n;
    else
      quiet++;
  }
  *got = 0;
  for (size_t at = 0; at < got_bytes; at += RECORD)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%d%s ", atoi(text + at),
             at + RECORD > got_bytes || text[at + RECORD - 1] != '\n' ? "-" : "");
  return got;
}

/* The "done" lines of the script's log, as "FIRST:ACKED ". */
static const char *done(void) {
  static char text[400];
  char line[100];
  FILE *f = fopen(log_path, "r");
  CHECK(f != NULL);
  *text = 0;
  while (fgets(line, sizeof line, f)) {
    unsigned long long first, acked;
    if (sscanf(line, "done %llu %llu", &first, &acked) == 2)
      snprintf(text + strlen(text), sizeof text - strlen(text), "%llu:%llu ", first, acked);
  }
  fclose(f);
  return text;
}

static void finish(void) {
  slp_output_give_up(&out);
  slp_output_free(&out);
  slp_out_close(app.out);
  sloop_close(s, NULL, NULL);
  turns();
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  unlink(log_path);
  unlink(owned_path);
  rmdir(folder);
}

TEST(a_batch_goes_back_when_its_last_byte_is_written) {
  begin(2, 0);
  turns();
  CHECK(made >= 3); /* 256 KiB at the most: the reader takes nothing, and no more is made */
  CHECK(made < 12);
  CHECK_STR(done(), "");
  CHECK(slp_output_has(&out, &app) && !slp_output_has(&out, mem));
  CHECK_STR(take(), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ");
  CHECK_STR(done(), "0:10 10:10 ");
  CHECK(slp_output_empty(&out));
  finish();
}

TEST(a_cut_finishes_the_record_that_is_begun_and_no_other) {
  begin(2, 0);
  turns(); /* two records and a part of the third */
  slp_output_cut(&out);
  turns();
  CHECK_STR(done(), "");
  CHECK_INT(out.state, SLP_OUTPUT_CUTS);
  CHECK_STR(take(), "0 1 2 ");
  CHECK_STR(done(), "0:3 10:0 ");
  CHECK_INT(out.read.records, 3);
  CHECK(out.read.first_ms > 0 && out.read.last_ms >= out.read.first_ms);
  CHECK_INT(out.state, SLP_OUTPUT_OVER);
  finish();
}

TEST(a_reader_that_takes_no_more_has_what_it_was_given_whole) {
  begin(2, 0);
  turns();
  slp_output_cut(&out);
  turns();
  slp_output_give_up(&out);
  CHECK_STR(done(), "0:2 10:0 ");
  CHECK_INT(out.read.records, 2);
  finish();
}

TEST(a_drain_writes_what_is_text) {
  begin(2, 0);
  turns();
  int text = made;
  slp_output_drain(&out);
  (void)take();
  CHECK_INT(made, text);
  CHECK_INT(got_bytes, (size_t)text * RECORD);
  CHECK(text < 10);
  char want[40];
  snprintf(want, sizeof want, "0:%d 10:0 ", text);
  CHECK_STR(done(), want);
  CHECK(slp_output_empty(&out));
  finish();
}

TEST(what_follows_in_a_batch_may_be_unwanted) {
  none_at = 4;
  begin(2, 0);
  CHECK_STR(take(), "0 1 2 3 10 11 12 13 14 15 16 17 18 19 ");
  CHECK_STR(done(), "0:4 10:10 ");
  finish();
}

TEST(nothing_is_begun_while_the_lease_is_in_doubt) {
  begin(1, 1);
  turns();
  owned(0);                    /* the deadline has passed */
  CHECK_STR(take(), "0 1 2 "); /* the third was begun */
  CHECK_STR(done(), "");
  slp_output_run(&out);
  CHECK_STR(take(), "0 1 2 ");
  owned(1);
  slp_output_run(&out); /* as a tick does */
  CHECK_STR(take(), "0 1 2 3 4 5 6 7 8 9 ");
  CHECK_STR(done(), "0:10 ");
  CHECK_INT(out.dropped, 0);
  finish();
}

TEST(what_is_another_worker_s_is_not_printed) {
  for (int told = 0; told < 2; told++) {
    handed = made = 0;
    got_bytes = 0;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    begin(2, 1);
    turns();
    int text = made;
    owned(-1);
    if (told) slp_output_doubt(&out);
    CHECK_STR(take(), "0 1 2 ");
    CHECK_STR(done(), "0:10 10:10 "); /* which counts for nothing */
    CHECK_INT(out.dropped, (uint64_t)text - 3);
    CHECK_INT(made, text);
    finish();
  }
}

TEST(a_long_record_is_made_in_many_turns) {
  asked_parts = 3000000;
  begin(1, 1);
  uint64_t begun = uv_hrtime();
  for (int i = 0; i < 20; i++) {
    turn();
    CHECK(uv_hrtime() - begun < 1000000000); /* 2 ms each, on a slow machine far more */
    begun = uv_hrtime();
  }
  CHECK(out.text.n > 0 && made == 0);
  CHECK_STR(take(), ""); /* nothing of it is written before all of it is there */
  slp_output_doubt(&out);
  owned(-1);
  turns();
  slp_output_cut(&out);
  turns();
  CHECK_STR(done(), "0:0 ");
  CHECK_STR(take(), "");
  finish();
}

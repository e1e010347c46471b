/* pending.c - the records acknowledged when so many bytes are written. The batches are the scripted
 * library's: it notes how many records of each were given back as done. */
#include "cli/pending.h"

#include <fcntl.h>
#include <uv.h>

#include "check.h"

/* Three batches of ten records, handed over by the scripted library. */
static sloop_batch_t *got[8];
static int got_n;
static sloop_t *s;
static char path[] = "/tmp/pending-XXXXXX";

static void on_batch(sloop_t *from, sloop_batch_t *b, void *arg) {
  (void)from;
  (void)arg;
  got[got_n++] = b;
}
static void on_error(sloop_t *from, const sloop_error_t *e, void *arg) {
  (void)from;
  (void)e;
  (void)arg;
}

static void begin(int batches) {
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  setenv("FAKE_RECORDS", "30", 1);
  setenv("FAKE_LOG", path, 1);
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = "s";
  o.on_batch = on_batch;
  o.on_error = on_error;
  CHECK_INT(sloop_open(&s, uv_default_loop(), &o, NULL, 0), 0);
  sloop_start(s);
  while (got_n < batches) uv_run(uv_default_loop(), UV_RUN_ONCE);
}

/* The "done" lines of the script's log, as "FIRST:ACKED ". */
static const char *done(void) {
  static char text[400];
  char line[100];
  FILE *f = fopen(path, "r");
  CHECK(f != NULL);
  *text = 0;
  while (fgets(line, sizeof line, f)) {
    unsigned long long first, acked;
    if (sscanf(line, "done %llu %llu", &first, &acked) == 2)
      snprintf(text + strlen(text), sizeof text - strlen(text), "%llu:%llu ", first, acked);
  }
  fclose(f);
  unlink(path);
  return text;
}

static const uint64_t ends[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};

TEST(a_batch_goes_back_when_its_last_byte_is_written) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_pending p;
  begin(1);
  slp_pending_init(&p, mem);
  CHECK_INT(slp_pending_add(&p, got[0], &p, ends, 10), 0);
  slp_pending_written(&p, 99);
  CHECK(slp_pending_has(&p, &p));
  CHECK(!slp_pending_has(&p, mem));
  slp_pending_written(&p, 100);
  CHECK(!slp_pending_has(&p, &p));
  CHECK_STR(done(), "0:10 ");
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(giving_up_counts_whole_records_only) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_pending p;
  begin(2);
  slp_pending_init(&p, mem);
  static const uint64_t later[] = {110, 120};
  CHECK_INT(slp_pending_add(&p, got[0], &p, ends, 10), 0);
  CHECK_INT(slp_pending_add(&p, got[1], &p, later, 2), 0);
  slp_pending_give_up(&p, 39);
  CHECK_STR(done(), "0:3 10:0 ");
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(records_without_text_end_where_the_one_before_did) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_pending p;
  begin(1);
  slp_pending_init(&p, mem);
  static const uint64_t same[] = {10, 10, 10, 20};
  CHECK_INT(slp_pending_add(&p, got[0], &p, same, 4), 0);
  slp_pending_give_up(&p, 10);
  CHECK_STR(done(), "0:3 ");
  slp_mem_drop(mem);
}

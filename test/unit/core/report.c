/* core/report.c: whatever is told, by whichever callback and of whatever origin, it moves no terminal. */
#include "core/core.h"
#include "base/fail.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/report.h"
#include "sloop.h"

#include "aws_fake_host.h"

static const char bad[] =
    "a\x1b[2J\r\n\xc2\x9b"
    "b\xe2\x80\xae\xff";
static const char good[] = "a?[2J???b??";

static unsigned told;

static void is_clean(const char *text) {
  if (!*text) return;
  const char *at = strstr(text, "a?");
  if (!at || strcmp(at, good) != 0) CHECK_FAIL("\"%s\" is told", text);
  told++;
}

static void on_error(sloop_t *h, const sloop_error_t *e, void *arg) {
  (void)h, (void)arg;
  is_clean(e->aws_code), is_clean(e->request_id), is_clean(e->message);
}
static void on_loss(sloop_t *h, const sloop_loss_t *l, void *arg) {
  (void)h, (void)arg;
  is_clean(l->shard), is_clean(l->from_seq), is_clean(l->to_seq), is_clean(l->message);
}
static void on_log(sloop_t *h, sloop_log_level_t level, const char *line, void *arg) {
  char of_loss[300];
  (void)h, (void)arg, (void)level;
  snprintf(of_loss, sizeof of_loss, "shard: loss: %s shard=%s from=%s to=%s since_ms=3 until_ms=5", good,
           good, good, good);
  if (strcmp(line, of_loss) == 0)
    told++;
  else
    is_clean(line);
}
static void on_lease(sloop_t *h, const sloop_lease_event_t *e, void *arg) {
  (void)h, (void)arg;
  is_clean(e->shard), is_clean(e->worker), is_clean(e->text);
}

/* Failures are cleaned where they are made; this is the net behind that, for what comes another way. */
TEST(what_is_told_moves_no_terminal) {
  fake_host f;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  sloop_opts_t o = {.on_error = on_error,
                    .on_loss = on_loss,
                    .on_log = on_log,
                    .on_lease = on_lease,
                    .log_level = SLOOP_LOG_DEBUG};
  slp_engine engine = {.host = &f.h, .mem = mem};
  slp_consumer c = {.engine = &engine, .mem = mem, .o = &o};
  slp_str text = slp_str_of(bad);
  slp_fail fail = {.class = SLP_REFUSED, .code = SLOOP_EREMOTE};
  snprintf(fail.message, sizeof fail.message, "%s", bad);
  snprintf(fail.aws_code, sizeof fail.aws_code, "%s", bad);
  snprintf(fail.request_id, sizeof fail.request_id, "%s", bad);
  CHECK_INT(slp_report_init(&c), 0);
  slp_report_error(&c, &fail, NULL, 0, 1, 0);
  slp_report_error(&c, &fail, NULL, 1, 1, 0);
  slp_report_loss(&c, &(slp_loss){.shard = text,
                                  .from = text,
                                  .to = text,
                                  .since_ms = 3,
                                  .until_ms = 5,
                                  .certain = 1,
                                  .message = bad});
  slp_report_lease(&c, SLOOP_LEASE_BAD_ROW, text, text, text, 1);
  slp_report_log(&c, SLOOP_LOG_WARN, "%s", bad);
  fake_run(&f, 1000);
  CHECK_INT(told, 3 + 3 + (4 + 1) + 3 + 1);
  slp_report_drop(&c);
  slp_report_free(&c);
  fake_end(&f, mem);
}

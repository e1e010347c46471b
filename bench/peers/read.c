/* read.c - sloop in bench/peers: a consumer as an embedding program has it, with leases when PEERS_APP is set. The
 * variables and the lines it prints are in README.md beside this file. */
#include <inttypes.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

static struct { uint64_t wanted, warm, count, bytes, sum; } tally;

static const char *text(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}
static uint64_t number(const char *name) { return text(name) ? strtoull(text(name), NULL, 10) : 0; }

static void say(const char *mark) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  printf("%s %.6f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", mark, (double)t.tv_sec + (double)t.tv_nsec * 1e-9,
         tally.count, tally.bytes, tally.sum);
  fflush(stdout);
}

static void on_batch(sloop_t *s, sloop_batch_t *batch, void *arg) {
  size_t i, n = sloop_batch_count(batch);
  uint64_t before = tally.count;
  char nothing[16];
  (void)s, (void)arg;
  for (i = 0; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(batch, i);
    uint32_t record = 0, shard = 0;
    if (r->data.len >= 12) {
      memcpy(&record, r->data.base, 4);
      memcpy(&shard, r->data.base + 8, 4);
    }
    tally.bytes += r->data.len;
    tally.sum += record + UINT64_C(1000000) * shard;
  }
  tally.count += n;
  sloop_batch_done(batch, n);
  if (!before && n) say("first");
  if (before < tally.warm && tally.count >= tally.warm) say("warm");
  if (tally.count < tally.wanted) return;
  say("done");
  while (read(STDIN_FILENO, nothing, sizeof nothing) > 0) continue;
  _exit(0);
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s, (void)arg;
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
  if (e->fatal) exit(1);
}

int main(void) {
  sloop_opts_t o;
  sloop_t *s;
  char why[160] = "";
  int err;
  sloop_opts_init(&o);
  o.stream = text("PEERS_STREAM");
  o.endpoint = text("PEERS_ENDPOINT");
  o.app = text("PEERS_APP");
  o.start.kind = SLOOP_OLDEST;
  if (text("PEERS_JSON")) o.wire = SLOOP_WIRE_JSON;
  if (number("PEERS_LIMIT")) o.fetch_records_max = (uint32_t)number("PEERS_LIMIT");
  if (number("PEERS_POLL_MS")) o.poll_ms = (uint32_t)number("PEERS_POLL_MS");
  o.on_batch = on_batch;
  o.on_error = on_error;
  tally.wanted = text("PEERS_RECORDS") ? number("PEERS_RECORDS") : UINT64_MAX;
  tally.warm = number("PEERS_WARM");
  err = sloop_open(&s, uv_default_loop(), &o, why, sizeof why);
  if (!err) err = sloop_start(s);
  if (err)
    return fprintf(stderr, "sloop: %s: %s\n", sloop_err_name(err), *why ? why : sloop_strerror(err)), 1;
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  return 1; /* a consumer has no end of its own */
}

/* multilang_seeds.c - the life of a shard and its child (cli/multilang_shard.c) on virtual time: a child that
 * dies, hangs, lies, prints junk and is slow at any line of the protocol, a consumer that hands out batches,
 * writes checkpoints late or never in time, takes the lease away or asks for it, all drawn from one seed. The
 * child and the consumer of this file keep books of their own, and judge:
 *   - a child is initialized where the last checkpoint is, and gets every record from there, in order, once;
 *   - a checkpoint is refused or taken as KCL's rules say, told by the name of the right error;
 *   - the position written never goes back and never passes what the child was given;
 *   - every batch is given back once; nothing is said out of turn;
 *   - a child that owes an answer is told of when it was silent for so long, and no other is;
 *   - when the trouble ends, every record is processed, and the shard's end is written.
 * usage: multilang_seeds [FROM [COUNT]] */
#include "cli/multilang_shard.h"
#include "share.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define RECORDS 120
#define TROUBLE_US UINT64_C(300000000)
#define LIMIT_US UINT64_C(3000000000)
#define NEVER UINT64_MAX
#define WARN_US UINT64_C(2500000)

static uint64_t seed_now;
#define MUST(x, ...)                                                                      \
  do {                                                                                    \
    if (!(x)) {                                                                           \
      fprintf(stderr, "seed %llu: %s: ", (unsigned long long)seed_now, #x);               \
      fprintf(stderr, __VA_ARGS__);                                                       \
      fprintf(stderr, "\nagain: multilang_seeds %llu 1\n", (unsigned long long)seed_now); \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)

static uint64_t rng;
static uint64_t draw(uint64_t below) {
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return below ? (rng >> 11) % below : 0;
}

/* ---- records and batches ----------------------------------------------------------------------- */

static struct {
  char seq[24];
  uint64_t sub;
} records[RECORDS];

struct sloop_batch_s {
  size_t from, n;
  uint64_t reading; /* rewinds before it */
  uint8_t out;
  sloop_record_t r[16];
};

static struct world {
  slp_mem *mem;
  slp_ml_shard h;
  uint64_t now;
  uint8_t alive; /* there is a shard life */
  /* the consumer */
  struct sloop_batch_s batches[64];
  size_t next; /* to be handed out */
  size_t outs;
  uint64_t reading; /* counts rewinds and leases */
  uint8_t reposition, held, read_out_told, leaving, leaves_free, end_named;
  int64_t table; /* the last record that is written as done; -1: none; RECORDS: the end */
  int64_t named; /* the same, as named */
  int64_t pending[8];
  uint64_t pending_us[8];
  size_t pending_n;
  uint64_t gone_us, taken_us;
  int gone_ended;
  /* the child */
  uint8_t running, in_open, dying, ended_told;
  uint8_t knows_end; /* its checkpoint of the end was taken */
  int exit_signal, exit_status;
  uint64_t exit_us;
  char in[1 << 20];
  size_t in_n;
  uint64_t wrote_us; /* what was written is with it then */
  slp_buf lines;     /* it has said, and nobody has read: lines with their newlines */
  uint64_t speak_us;
  int listens;
  int asked; /* the action that it has to answer; -1: none */
  uint8_t wants_answer;
  char expect[40];   /* the error it must be told; "" none; "?" any */
  int64_t asked_for; /* the record a checkpoint was asked for; RECORDS: the end; -2: other */
  int64_t given, done, processed_to;
  uint8_t seen[RECORDS];
  uint64_t hang;
  uint64_t to_us, from_us, silence_us; /* last: written to it, read from it, told that it is silent */
  uint8_t over;
  uint64_t deaths, killed_n, checkpoints, refused, inits, ends;
} w;

size_t sloop_batch_count(const sloop_batch_t *b) { return b->n; }
const sloop_record_t *sloop_batch_at(const sloop_batch_t *b, size_t i) { return &b->r[i]; }
int64_t sloop_batch_behind_ms(const sloop_batch_t *b) { return b->n & 1 ? -1 : 5; }
void sloop_batch_done(sloop_batch_t *b, size_t acked) {
  MUST(b->out, "a batch came back twice");
  MUST(acked == 0 || acked == b->n, "acked %zu of %zu", acked, b->n);
  b->out = 0;
  w.outs--;
  if (!acked && b->reading == w.reading && b->from < w.next) w.next = b->from; /* it comes again */
}
const char *sloop_strerror(int e) { return e == -2 ? "no such file" : "error"; }

static int trouble(unsigned ppm) { return w.now < TROUBLE_US && draw(1000000) < ppm; }

static int64_t index_of(const char *seq, size_t n, uint64_t sub) {
  for (int64_t i = 0; i < RECORDS; i++)
    if (strlen(records[i].seq) == n && !memcmp(records[i].seq, seq, n) && records[i].sub == sub) return i;
  return -2;
}

/* ---- the functions of the shard ---------------------------------------------------------------- */

static int op_start(slp_ml_shard *h) {
  (void)h;
  MUST(!w.running, "a second child");
  if (trouble(100000)) return -2;
  w.running = w.in_open = 1;
  w.dying = 0;
  w.in_n = 0;
  slp_buf_clear(&w.lines);
  w.asked = -1;
  w.wants_answer = 0;
  w.listens = 0;
  w.hang = 0;
  w.ended_told = w.knows_end = 0;
  w.done = w.given = -3; /* until it is initialized */
  w.from_us = w.now;
  return 0;
}

static void op_write(slp_ml_shard *h, slp_buf *b) {
  w.to_us = w.now;
  (void)h;
  MUST(w.running && w.in_open, "written to a child without input");
  MUST(w.in_n + b->n < sizeof w.in, "too much");
  memcpy(w.in + w.in_n, b->p, b->n);
  w.in_n += b->n;
  MUST(b->n < SLP_ML_PIECE + 70000, "a piece of %zu bytes", b->n);
  slp_buf_free(b);
  w.wrote_us = w.now + draw(trouble(50000) ? 3000000 : 2000);
}
static void op_close(slp_ml_shard *h) {
  (void)h;
  w.in_open = 0;
}
static void exit_at(uint64_t us, int status, int signal_number) {
  if (w.dying) return;
  w.dying = 1;
  w.exit_us = us;
  w.exit_status = status;
  w.exit_signal = signal_number;
}
static void op_kill(slp_ml_shard *h, int signal_number) {
  (void)h;
  w.killed_n++;
  if (!w.running) return;
  if (signal_number == SIGTERM && trouble(500000)) return; /* ignored */
  if (w.dying && w.exit_us > w.now + 1000) w.exit_us = w.now + 1000;
  exit_at(w.now + draw(1000), 0, signal_number);
}
static void op_listen(slp_ml_shard *h, int on) {
  (void)h;
  w.listens = on;
}
static int op_checkpoint(slp_ml_shard *h, const slp_ml_place *p) {
  (void)h;
  int64_t i = p ? index_of(p->seq, strlen(p->seq), p->sub) : RECORDS;
  MUST(w.alive && i >= 0, "a checkpoint of nothing");
  if (!w.held) return SLOOP_ENOSHARD;
  MUST(p || w.read_out_told, "the end was named before it was reached");
  MUST(i == RECORDS || i <= w.given, "beyond what was given: %lld, %lld", (long long)i, (long long)w.given);
  /* One that came too late is not taken back, and the child does not know of it. */
  if (i > w.named) w.named = i;
  w.checkpoints++;
  if (!p) {
    w.end_named = 1;
    w.gone_us = w.now + 1000 + draw(2000000);
    w.gone_ended = !trouble(100000);
    i = -5; /* noted only */
  }
  MUST(w.pending_n < 8, "too many under way");
  w.pending[w.pending_n] = i;
  w.pending_us[w.pending_n++] = w.now + 1000 + draw(trouble(50000) ? 60000000 : 20000);
  return 0;
}
static void op_rewind(slp_ml_shard *h) {
  (void)h;
  if (!w.held || w.leaving) return;
  w.reading++;
  w.next = (size_t)(w.named + 1);
  w.read_out_told = 0;
  w.reposition = 1;
}
static void op_hand_over(slp_ml_shard *h) {
  (void)h;
  MUST(w.leaving || !w.held, "handed over and nobody asked");
  w.leaves_free = 1;
}
static void op_say(slp_ml_shard *h, const char *line) {
  if (getenv("TRACE")) fprintf(stderr, "%10.3f   %s\n", (double)w.now / 1e6, line);
  if (!strstr(line, ": the child has not ")) return;
  MUST(h->state == SLP_ML_ASKED && w.now >= w.from_us + WARN_US, "told of silence %llu us after a line",
       (unsigned long long)(w.now - w.from_us));
  w.silence_us = w.now;
}
static void judge_silence(void) {
  uint64_t since_us = w.to_us > w.from_us ? w.to_us : w.from_us;
  MUST(w.over || w.h.state != SLP_ML_ASKED || w.now < since_us + WARN_US || w.silence_us >= since_us,
       "silent for %llu us, and nobody was told", (unsigned long long)(w.now - since_us));
}
static void op_trace(slp_ml_shard *h, int to, slp_str line) {
  (void)h;
  int answers = !to && line.n && (strstr(line.p, "responseFor") || strstr(line.p, "checkpoint"));
  if (answers) w.from_us = w.now; /* and no junk */
  if (getenv("TRACE"))
    fprintf(stderr, "%10.3f %c %.*s\n", (double)w.now / 1e6, to ? '>' : '<',
            (int)(line.n < 150 ? line.n : 150), line.n ? line.p : "");
}
static void op_over(slp_ml_shard *h) {
  MUST(h->state == SLP_ML_OVER && !w.running, "over with a child");
  w.over = 1;
}
static const slp_ml_ops ops = {op_start,  op_write,     op_close, op_kill,  op_listen, op_checkpoint,
                               op_rewind, op_hand_over, op_say,   op_trace, op_over};

/* ---- the child --------------------------------------------------------------------------------- */

static void speak(const char *text) {
  slp_buf_addf(&w.lines, "\n%s\n", text);
  w.speak_us = w.now + draw(trouble(50000) ? 5000000 : 3000);
}

static void answer_status(void) {
  static const char *const names[] = {"initialize", "processRecords", "leaseLost", "shardEnded",
                                      "shutdownRequested"};
  char line[120];
  int name = w.asked;
  if (trouble(10000)) name = (int)draw(5);
  snprintf(line, sizeof line, "{\"action\": \"status\", \"responseFor\": \"%s\"}", names[name]);
  speak(line);
  if (name == w.asked) {
    if (w.asked == SLP_ML_RECORDS && w.done < w.given) w.done = w.given;
    if (w.asked == SLP_ML_SHARD_ENDED) w.ended_told = 1;
    if (w.asked == SLP_ML_LEASE_LOST) w.ended_told = 1;
  }
  w.asked = -1;
}

/* Asks for a checkpoint and knows the answer: the rules once more, in other words. */
static void ask_checkpoint(void) {
  char line[200];
  int64_t most = w.given, least = w.processed_to; /* the last checkpoint of this child, or where it began */
  int ended = w.asked == SLP_ML_SHARD_ENDED;
  int how = w.now < TROUBLE_US ? (int)draw(8) : 0;
  w.expect[0] = 0;
  w.asked_for = ended ? RECORDS : most;
  snprintf(line, sizeof line,
           "{\"action\": \"checkpoint\", \"sequenceNumber\": null, \"subSequenceNumber\": null}");
  if (how == 1) { /* any record there is, with its sub-sequence number */
    int64_t i = (int64_t)draw(RECORDS);
    snprintf(line, sizeof line,
             "{\"action\":\"checkpoint\",\"sequenceNumber\":\"%s\",\"subSequenceNumber\":%llu}",
             records[i].seq, (unsigned long long)records[i].sub);
    if (i < least || i > most || (ended && w.knows_end))
      snprintf(w.expect, sizeof w.expect, "IllegalArgumentException");
    w.asked_for = ended && i == most ? RECORDS : i;
  } else if (how == 2) {
    static const char *const wrong[] = {"\"12a\"", "\"\"", "\"-4\"", "\"99999999999999999999999999\"",
                                        "\"LATEST\""};
    snprintf(line, sizeof line, "{\"action\":\"checkpoint\",\"sequenceNumber\":%s}", wrong[draw(5)]);
    snprintf(w.expect, sizeof w.expect, "IllegalArgumentException");
    w.asked_for = -2;
  } else if (how == 3 && most >= 0) {
    snprintf(line, sizeof line,
             "{\"action\":\"checkpoint\",\"sequenceNumber\":\"%s\",\"subSequenceNumber\":-1}",
             records[most].seq);
    snprintf(w.expect, sizeof w.expect, "IllegalArgumentException");
    w.asked_for = -2;
  }
  if (w.asked == SLP_ML_INITIALIZE || w.asked == SLP_ML_LEASE_LOST)
    snprintf(w.expect, sizeof w.expect, "InvalidStateException");
  w.wants_answer = 1;
  speak(line);
}

static void act(void) { /* it has to answer an action, and decides how */
  if (trouble(8000)) {
    exit_at(w.now, (int)draw(3), 0);
  } else if (trouble(8000)) {
    w.hang = 1;
  } else if (trouble(20000)) {
    speak("junk that is no JSON {");
  } else if (trouble(10000)) {
    speak("{\"action\":\"processRecords\"}");
  } else if (trouble(5000)) {
    slp_ml_long_line(&w.h, w.now);
  } else if (w.asked == SLP_ML_SHARD_ENDED && !w.end_named && !trouble(50000)) {
    ask_checkpoint();
  } else if (w.asked == SLP_ML_SHUTDOWN_REQUESTED && draw(2)) {
    if (draw(2))
      ask_checkpoint();
    else
      answer_status();
  } else if (w.asked == SLP_ML_RECORDS && draw(3) == 0) {
    ask_checkpoint();
  } else if (trouble(20000)) {
    ask_checkpoint();
  } else {
    answer_status();
  }
}

static void take_records(char *line) {
  int64_t at = w.given;
  for (char *p = line; (p = strstr(p, "\"sequenceNumber\":\""));) {
    p += 18;
    char *end = strchr(p, '"'), *sub = strstr(end, "\"subSequenceNumber\":");
    MUST(sub, "no sub-sequence number");
    int64_t i = index_of(p, (size_t)(end - p), strtoull(sub + 20, NULL, 10));
    MUST(i == at + 1, "record %lld behind %lld", (long long)i, (long long)at);
    at = i;
    w.seen[i] = 1;
    MUST(strncmp(strchr(sub, ','), ",\"action\":\"record\"}", 19) == 0, "no action");
  }
  w.given = at;
}

static void take_line(char *line) {
  static const char *const heads[] = {"{\"action\":\"initialize\"", "{\"action\":\"processRecords\"",
                                      "{\"action\":\"leaseLost\"}", "{\"action\":\"shardEnded\"}",
                                      "{\"action\":\"shutdownRequested\"}"};
  MUST(!w.ended_told || w.asked < 0, "said after the last word: %s", line);
  if (w.wants_answer) {
    w.wants_answer = 0;
    MUST(strncmp(line, "{\"action\":\"checkpoint\"", 21) == 0, "no answer to a checkpoint: %.80s", line);
    int fine = strstr(line, "\"error\":null}") != NULL;
    /* Whether the lease was there at that moment, and the table answered in time, only the consumer knows. */
    int passing = strstr(line, "ShutdownException") || strstr(line, "KinesisClientLibDependencyException");
    if (*w.expect)
      MUST(strstr(line, w.expect), "%s expected: %s", w.expect, line);
    else
      MUST(fine || passing, "refused: %s", line);
    w.refused += !fine;
    if (fine && w.asked_for >= 0) {
      MUST(w.asked_for == RECORDS ? w.table == RECORDS || w.end_named : w.table >= w.asked_for,
           "told before it is written: %lld, %lld", (long long)w.asked_for, (long long)w.table);
      if (w.asked_for < RECORDS) w.processed_to = w.asked_for;
      if (w.asked_for == RECORDS) w.knows_end = 1;
    }
    act();
    return;
  }
  MUST(w.asked < 0, "asked before it had answered: %.80s", line);
  for (int i = 0; i < 5; i++)
    if (strncmp(line, heads[i], strlen(heads[i])) == 0) w.asked = i;
  MUST(w.asked >= 0, "an unknown line: %.80s", line);
  MUST((w.asked == SLP_ML_INITIALIZE) == (w.given == -3), "initialize comes first, and once");
  if (w.asked == SLP_ML_INITIALIZE) {
    char *seq = strstr(line, "\"sequenceNumber\":\"") + 18, *end = strchr(seq, '"');
    char *sub = strstr(end, "\"subSequenceNumber\":") + 20;
    int64_t at = strncmp(seq, "TRIM_HORIZON\"", 13) == 0
                     ? -1
                     : index_of(seq, (size_t)(end - seq), strtoull(sub, NULL, 10));
    MUST(at == w.named || at == w.table, "it begins at %lld, and the table has %lld", (long long)at,
         (long long)w.table);
    w.given = w.done = w.processed_to = at;
    w.inits++;
  }
  if (w.asked == SLP_ML_RECORDS) take_records(line);
  if (w.asked == SLP_ML_SHARD_ENDED) MUST(w.given == RECORDS - 1 && ++w.ends, "ended before its last record");
  act();
}

static void child_runs(void) {
  char *end;
  while (w.running && !w.dying && !w.hang && w.now >= w.wrote_us && (end = memchr(w.in, '\n', w.in_n))) {
    static char line[1 << 20];
    size_t n = (size_t)(end - w.in) + 1;
    memcpy(line, w.in, n);
    line[n - 1] = 0;
    memmove(w.in, w.in + n, w.in_n - n);
    w.in_n -= n;
    take_line(line);
  }
  if (w.running && !w.in_open && !w.in_n && !trouble(2000)) exit_at(w.now + draw(20000), 0, 0);
  if (w.running && trouble(200)) exit_at(w.now, 1, 0);
  if (w.running && !w.dying && trouble(100)) slp_ml_broken(&w.h, (int)draw(2));
}

/* ---- the consumer ------------------------------------------------------------------------------- */

static void hand_out(void) {
  if (!w.held || w.leaving || w.outs >= 2 || w.next >= RECORDS) return;
  for (size_t k = 0; k < 64; k++) {
    struct sloop_batch_s *b = &w.batches[k];
    if (b->out) continue;
    b->out = 1;
    b->reading = w.reading;
    b->from = w.next;
    b->n = 1 + draw(15);
    if (b->from + b->n > RECORDS) b->n = RECORDS - b->from;
    for (size_t i = 0; i < b->n; i++) {
      static char data[30000];
      memset(data, 'x', sizeof data);
      b->r[i] = (sloop_record_t){.seq = {records[b->from + i].seq, strlen(records[b->from + i].seq)},
                                 .sub = records[b->from + i].sub,
                                 .key = {"k\"\n", 3},
                                 .data = {data, draw(sizeof data)},
                                 .arrived_at_ms = 1000 + (int64_t)i};
    }
    w.next += b->n;
    w.outs++;
    slp_ml_batch(&w.h, b, w.now);
    return;
  }
}

static void take_lease(void) {
  static const slp_ml_limits limits = {.program = "child",
                                       .timeout_us = 10000000,
                                       .close_us = 5000000,
                                       .checkpoint_us = 20000000,
                                       .warn_us = WARN_US};
  sloop_position_t from = {.kind = SLOOP_OLDEST};
  if (w.table >= 0) {
    from.kind = SLOOP_AFTER_SEQ;
    from.seq = records[w.table].seq;
    from.sub = records[w.table].sub;
  }
  w.named = w.table;
  w.next = (size_t)(w.table + 1);
  w.reading++;
  w.held = w.alive = 1;
  w.leaving = w.leaves_free = w.read_out_told = w.reposition = w.end_named = w.over = 0;
  w.gone_us = NEVER;
  w.pending_n = 0;
  slp_ml_open(&w.h, &ops, &limits, w.mem, "shardId-000000000000", &from, w.now);
}

static void lose_lease(int ended) {
  if (ended) w.table = RECORDS;
  w.held = 0;
  w.gone_us = NEVER;
  w.taken_us = w.now + draw(5000000);
  if (!w.over) slp_ml_gone(&w.h, ended, w.now);
}

static void consumer_runs(void) {
  for (size_t i = 0; i < w.pending_n; i++) { /* one after the other, as they were named */
    if (w.now < w.pending_us[i]) break;
    int64_t at = w.pending[i];
    memmove(w.pending + i, w.pending + i + 1, (w.pending_n - i - 1) * sizeof w.pending[0]);
    memmove(w.pending_us + i, w.pending_us + i + 1, (w.pending_n - i - 1) * sizeof w.pending_us[0]);
    w.pending_n--;
    if (w.held && at > w.table) w.table = at; /* the library writes no position before one it was told */
    slp_ml_checkpointed(&w.h, w.held || at == -5 ? 0 : SLOOP_ENOSHARD, w.now);
    break;
  }
  if (w.over && w.held && w.now >= w.gone_us) lose_lease(w.gone_ended); /* the end is written without it */
  if (w.over || !w.alive) return;
  if (w.reposition && draw(3) == 0) {
    w.reposition = 0;
    slp_ml_repositioned(&w.h);
  }
  if (!w.reposition && draw(4) == 0) hand_out();
  if (w.held && !w.leaving && w.next >= RECORDS && !w.outs && !w.read_out_told && !w.reposition) {
    w.read_out_told = 1;
    slp_ml_read_out(&w.h, w.now);
  }
  if (w.over) return;
  if (w.held && w.now >= w.gone_us && w.end_named) lose_lease(w.gone_ended);
  if (w.held && !w.end_named && trouble(60)) lose_lease(0);
  if (w.held && !w.leaving && !w.end_named && !w.reposition && trouble(100)) {
    w.leaving = 1;
    w.gone_us = w.now + 30000000;
    slp_ml_leaving(&w.h, w.now);
  }
  if (w.held && w.leaving && (w.leaves_free || w.now >= w.gone_us) && draw(10) == 0) lose_lease(0);
}

static void deliver_child(void) {
  while (w.running && w.listens && w.lines.n && w.now >= w.speak_us) {
    char line[4096];
    char *end = memchr(w.lines.p, '\n', w.lines.n);
    size_t n = (size_t)(end - w.lines.p);
    memcpy(line, w.lines.p, n);
    line[n] = 0;
    memmove(w.lines.p, end + 1, w.lines.n - n - 1);
    slp_buf_cut(&w.lines, w.lines.n - n - 1);
    slp_ml_line(&w.h, line, n, w.now);
  }
  if (w.running && w.dying && w.now >= w.exit_us) {
    w.running = 0;
    w.listens = 1;
    w.deaths += w.exit_signal || w.exit_status;
    slp_ml_exited(&w.h, w.exit_status, w.exit_signal, w.now);
  }
}

static void play(uint64_t seed) {
  seed_now = seed;
  rng = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  memset(&w, 0, sizeof w);
  w.mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&w.lines, w.mem, 1 << 20);
  w.table = -1;
  for (size_t i = 0; i < RECORDS; i++) { /* some in aggregates */
    int same = i && draw(3) == 0;
    snprintf(records[i].seq, sizeof records[i].seq, "%llu",
             same ? strtoull(records[i - 1].seq, NULL, 10) : 90000000000000ull + i * 977);
    records[i].sub = same ? records[i - 1].sub + 1 : 0;
  }
  while (w.now < LIMIT_US) {
    w.now += 1 + draw(w.now < TROUBLE_US ? 40000 : 400000);
    if (!w.held && (!w.alive || w.over) && w.table < RECORDS && w.now >= w.taken_us) take_lease();
    if (w.alive && !w.over) {
      slp_ml_time(&w.h, w.now);
      judge_silence();
      if (!w.over && w.h.state == SLP_ML_WAITS && w.now >= w.h.due_us) slp_ml_start_now(&w.h, w.now);
      if (!w.over && w.running && w.now >= w.wrote_us) slp_ml_written(&w.h, w.now);
      child_runs();
      if (!w.over) deliver_child();
    }
    consumer_runs();
    MUST(w.over || w.running || w.h.state == SLP_ML_WAITS || w.h.state == SLP_ML_OVER, "%s without a child",
         slp_ml_state_name(w.h.state));
    if (w.over && w.table == RECORDS && !w.held) break;
  }
  MUST(w.table == RECORDS && w.over, "not at its end: the table has %lld, the shard %s", (long long)w.table,
       slp_ml_state_name(w.h.state));
  for (size_t i = 0; i < RECORDS; i++) MUST(w.seen[i], "record %zu was given to nobody", i);
  MUST(w.outs == 0, "%zu batches are out", w.outs);
  slp_buf_free(&w.lines);
  MUST(w.mem->live_bytes == 0, "memory is left");
  slp_mem_drop(w.mem);
}

int main(int argc, char **argv) {
  uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
           n = sim_share(argc > 2 ? strtoull(argv[2], NULL, 10) : 1000);
  uint64_t deaths = 0, inits = 0, checkpoints = 0, refused = 0, ends = 0;
  for (uint64_t seed = from; seed < from + n; seed++) {
    play(seed);
    deaths += w.deaths;
    inits += w.inits;
    checkpoints += w.checkpoints;
    refused += w.refused;
    ends += w.ends;
  }
  printf("%llu seeds: %llu children, %llu deaths, %llu checkpoints written, %llu refused, %llu ends\n",
         (unsigned long long)n, (unsigned long long)inits, (unsigned long long)deaths,
         (unsigned long long)checkpoints, (unsigned long long)refused, (unsigned long long)ends);
  if (n >= 100 && (deaths < n || refused < n || checkpoints < n || inits < 2 * n)) {
    fprintf(stderr, "there was too little trouble to prove anything\n");
    return 1;
  }
  return 0;
}

/* sqlite.c - the store in a SQLite file. Each request becomes a job. Jobs run one by one on a thread.
 *
 *   a job: queued -> on the thread -> answered
 *            ^            |
 *            |            | another process has locked the file
 *            +-- PAUSING <+   a timer runs, and the thread is free
 *
 * A job owns copies of all that its request points to, and has an allocator of its own. So a thread may
 * still run the job after the request was cancelled and the store closed. A last job closes the file
 * (sqlite_file.c).
 *
 * If a disk does not respond, the thread does not return. A request therefore fails when the file has
 * given no answer at all for SILENT_MS (slp_sqlite_file_answers). The thread keeps the job of such a
 * request. The program uses the same threads for other work. If no thread is working on the file, the
 * request has only waited for a free thread, and the failure says so. */
#include "store/sqlite.h"

#include "base/fail.h"
#include "base/mem.h"
#include "host/host.h"
#include "lease/store.h"
#include "store/sqlite_file.h"
#include "store/table.h"

#include <errno.h>

/* BUSY_MS_MAX: how long a request without ms_max waits while other processes lock the file. PAUSE_US_MIN,
 * PAUSE_US_MAX: how long a job waits between two tries. */
#define BUSY_MS_MAX 10000u
/* if the file gives no answer for this time, a request fails; even the longest list has an answer for each
 * row */
#define SILENT_MS 5000u
#define PAUSE_US_MIN 1000u
#define PAUSE_US_MAX 20000u

/* the file and its closing job; lives longer than the store while a thread uses the file */
typedef struct file_owner {
  slp_work_line line;
  slp_work closing;
  slp_sqlite_file *file; /* owned */
  slp_mem *mem;          /* this object holds a reference */
} file_owner;

typedef struct sqlite_store {
  slp_store s;
  slp_host *h;
  file_owner *owner;
} sqlite_store;

typedef struct job {
  slp_work work;
  slp_sqlite_ask ask;
  slp_mem *mem; /* an allocator for this job only, because a thread allocates from it too */
  slp_host *h;
  slp_store_req *rq; /* NULL: the request was cancelled or has failed */
  sqlite_store *store;
  slp_timer pause, silence;
  uint64_t give_up_us;
  uint64_t silent_us; /* when the timer `silence` is to run */
  uint32_t answers;   /* what slp_sqlite_file_answers returned when the timer `silence` was set */
} job;

/* ---- jobs ---------------------------------------------------------------------------------------------- */
static void job_free(job *j) {
  slp_mem *mem = j->mem;
  slp_store_rows_free(&j->ask.in);
  slp_store_rows_free(&j->ask.out);
  slp_free(mem, j);
  slp_mem_drop(mem);
}

static void on_run(slp_work *work) {
  job *j = SLP_OWNER(work, job, work);
  slp_sqlite_do(&j->ask);
}

static void on_left(slp_work *work) { job_free(SLP_OWNER(work, job, work)); }

static void on_pause_over(slp_timer *timer) {
  job *j = SLP_OWNER(timer, job, pause);
  slp_work_send(j->h, &j->work);
}

/* Sets the timer of the next try. Returns 1, or 0 if give_up_us has passed or there is no memory. */
static int pause_locked_job(job *j) {
  uint64_t now = slp_now_us(j->h), wait = PAUSE_US_MIN + slp_random_below(j->h, PAUSE_US_MAX - PAUSE_US_MIN);
  return now < j->give_up_us && !slp_timer_set(j->h, &j->pause, slp_after_us(now, wait));
}

static int wait_for_answers(job *j) {
  j->answers = slp_sqlite_file_answers(j->ask.file);
  j->silent_us = slp_after_us(slp_now_us(j->h), SILENT_MS * UINT64_C(1000));
  return slp_timer_set(j->h, &j->silence, j->silent_us);
}

/* Separates the job from its request, which needs no answer any more. Frees the job; if a thread runs it,
 * on_left frees it later. */
static void abandon_job(job *j) {
  j->rq = NULL;
  atomic_store(&j->ask.stop, 1);
  slp_timer_clear(j->h, &j->silence);
  if (j->pause.slot) {
    slp_timer_clear(j->h, &j->pause);
    job_free(j);
  } else {
    slp_work_cancel(j->h, &j->work);
  }
}

static void on_silence(slp_timer *timer) {
  job *j = SLP_OWNER(timer, job, silence);
  slp_store_req *rq = j->rq;
  /* must be read before the answers are counted, so that an answer that comes in between is noticed below */
  int asked = slp_sqlite_file_asked(j->ask.file);
  /* If the timer runs far too late, the event loop, the process or the machine stood still, and perhaps the
   * thread too. Then the thread gets another SILENT_MS. */
  int late = slp_now_us(j->h) >= slp_after_us(j->silent_us, SILENT_MS * UINT64_C(100));
  if ((late || j->answers != slp_sqlite_file_answers(j->ask.file)) && !wait_for_answers(j)) return;
  /* This failure is not the request's own time limit. Either the disk does not respond, or all threads are
   * busy or blocked by other work. Each of the two has a code of its own, which lease/context.c reports at
   * once. */
  if (asked)
    slp_fail_set(&rq->fail, SLP_TRANSIENT, -EIO, "lease file %.150s has not answered for %u s",
                 slp_sqlite_file_path(j->ask.file), SILENT_MS / 1000);
  else
    slp_fail_set(&rq->fail, SLP_TRANSIENT, -EAGAIN,
                 "lease file %.150s: no thread of libuv's pool was free for %u s (UV_THREADPOOL_SIZE)",
                 slp_sqlite_file_path(j->ask.file), SILENT_MS / 1000);
  rq->done_us = slp_now_us(j->h);
  rq->impl = NULL;
  abandon_job(j);
  rq->on_done(rq);
}

static void take_rows(slp_store_rows *to, slp_store_rows *from) {
  slp_store_rows_free(to);
  slp_store_rows_move(to, from);
}

static void give_answer(job *j) {
  slp_store_cost *cost = &j->store->s.cost;
  slp_store_write *w;
  switch (j->ask.kind) {
    case SLP_SQLITE_PREPARE: SLP_OWNER(j->rq, slp_store_prepare, rq)->created = j->ask.created; break;
    case SLP_SQLITE_GET:
      cost->read_calls++;
      take_rows(&SLP_OWNER(j->rq, slp_store_get, rq)->out, &j->ask.out);
      break;
    case SLP_SQLITE_LIST:
      cost->read_calls++;
      take_rows(&SLP_OWNER(j->rq, slp_store_list, rq)->out, &j->ask.out);
      break;
    case SLP_SQLITE_WRITE:
      cost->write_calls++;
      w = SLP_OWNER(j->rq, slp_store_write, rq);
      take_rows(&w->image, &j->ask.out);
      w->written = j->ask.write.written;
      w->image_known = j->ask.write.image_known;
      break;
  }
}

static void on_done(slp_work *work) {
  job *j = SLP_OWNER(work, job, work);
  slp_store_req *rq = j->rq;
  if (j->ask.busy && pause_locked_job(j)) return;
  slp_timer_clear(j->h, &j->silence);
  rq->fail = j->ask.fail;
  rq->done_us = slp_now_us(j->h);
  rq->impl = NULL;
  give_answer(j);
  job_free(j);
  rq->on_done(rq);
}

static job *job_new(sqlite_store *s, slp_store_req *rq, slp_sqlite_kind kind) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  job *j = mem ? SLP_NEW(mem, job) : NULL;
  if (!j) {
    slp_mem_drop(mem);
    return NULL;
  }
  j->mem = mem;
  j->h = s->h;
  j->store = s;
  j->rq = rq;
  j->pause = (slp_timer){.at_us = UINT64_MAX, .run = on_pause_over};
  j->silence = (slp_timer){.at_us = UINT64_MAX, .run = on_silence};
  j->work = (slp_work){.line = &s->owner->line, .run = on_run, .on_done = on_done, .on_left = on_left};
  j->ask = (slp_sqlite_ask){.kind = kind, .file = s->owner->file};
  slp_store_rows_init(&j->ask.in, mem);
  slp_store_rows_init(&j->ask.out, mem);
  return j;
}

static void send_job(sqlite_store *s, slp_store_req *rq, job *j, int r) {
  slp_fail_clear(&rq->fail);
  rq->sent_us = slp_now_us(s->h);
  rq->impl = j;
  if (!r) r = wait_for_answers(j);
  if (!r) {
    j->give_up_us = slp_after_us(rq->sent_us, (rq->ms_max ? rq->ms_max : BUSY_MS_MAX) * (uint64_t)1000);
    slp_work_send(s->h, &j->work);
    return;
  }
  if (j) job_free(j);
  rq->impl = NULL;
  slp_table_no_memory(&rq->fail);
  slp_store_answer(s->h, rq);
}

/* ---- copies of a request's texts ---------------------------------------------------------------------- */
static int copy_text(slp_store_rows *to, slp_str from, slp_str *ret) {
  *ret = (slp_str){NULL, 0};
  if (!from.p) return 0;
  *ret = slp_store_rows_text(to, from);
  return ret->p ? 0 : SLP_ENOMEM;
}

static int copy_key(slp_store_rows *to, const slp_row_key *from, slp_row_key *ret) {
  int r = copy_text(to, from->hash, &ret->hash);
  return r ? r : copy_text(to, from->range, &ret->range);
}

static int copy_keys(slp_sqlite_ask *a, const slp_store_get *g) {
  slp_row_key *keys = slp_store_rows_get(&a->in, (g->keys_n ? g->keys_n : 1) * sizeof *keys);
  int r = keys ? 0 : SLP_ENOMEM;
  for (size_t i = 0; i < g->keys_n && !r; i++) r = copy_key(&a->in, &g->keys[i], &keys[i]);
  a->keys = keys;
  a->keys_n = g->keys_n;
  return r;
}

static int copy_write(slp_sqlite_ask *a, const slp_store_write *w) {
  slp_atom *when = slp_store_rows_get(&a->in, (w->when_n ? w->when_n : 1) * sizeof *when);
  slp_change *changes = slp_store_rows_get(&a->in, (w->changes_n ? w->changes_n : 1) * sizeof *changes);
  int r = when && changes ? 0 : SLP_ENOMEM;
  for (size_t i = 0; i < w->when_n && !r; i++) {
    when[i] = w->when[i];
    r = copy_text(&a->in, w->when[i].name, &when[i].name);
    if (!r) r = slp_store_rows_val(&a->in, &w->when[i].val, &when[i].val);
  }
  for (size_t i = 0; i < w->changes_n && !r; i++) {
    changes[i] = w->changes[i];
    r = copy_text(&a->in, w->changes[i].name, &changes[i].name);
    if (!r) r = slp_store_rows_val(&a->in, &w->changes[i].val, &changes[i].val);
  }
  a->write = (slp_store_write){
      .kind = w->kind, .when = when, .when_n = w->when_n, .changes = changes, .changes_n = w->changes_n};
  return r ? r : copy_key(&a->in, &w->key, &a->write.key);
}

static sqlite_store *store_of(slp_store *s) { return SLP_OWNER(s, sqlite_store, s); }

static void op_prepare(slp_store *store, slp_store_prepare *p) {
  sqlite_store *s = store_of(store);
  job *j = job_new(s, &p->rq, SLP_SQLITE_PREPARE);
  p->created = 0;
  if (j) j->ask.create = p->create;
  send_job(s, &p->rq, j, j ? 0 : SLP_ENOMEM);
}

static void op_get(slp_store *store, slp_store_get *g) {
  sqlite_store *s = store_of(store);
  job *j = job_new(s, &g->rq, SLP_SQLITE_GET);
  send_job(s, &g->rq, j, j ? copy_keys(&j->ask, g) : SLP_ENOMEM);
}

static void op_list(slp_store *store, slp_store_list *l) {
  sqlite_store *s = store_of(store);
  job *j = job_new(s, &l->rq, SLP_SQLITE_LIST);
  int r = j ? copy_text(&j->ask.in, l->hash, &j->ask.hash) : SLP_ENOMEM;
  if (!r) r = copy_text(&j->ask.in, l->prefix, &j->ask.prefix);
  if (j) j->ask.bound = l->bound;
  send_job(s, &l->rq, j, r);
}

static void op_write(slp_store *store, slp_store_write *w) {
  sqlite_store *s = store_of(store);
  job *j = job_new(s, &w->rq, SLP_SQLITE_WRITE);
  w->written = SLP_WRITTEN_NOT_SURE;
  w->image_known = 0;
  slp_store_rows_free(&w->image);
  int r = j ? copy_write(&j->ask, w) : SLP_ENOMEM;
  if (j) j->work.urgent = w->urgent;
  send_job(s, &w->rq, j, r);
}

static void op_cancel(slp_store *store, slp_store_req *rq) {
  job *j = rq->impl;
  (void)store;
  slp_unpost(&rq->ev);
  rq->impl = NULL;
  if (j) abandon_job(j);
}

/* ---- the store ----------------------------------------------------------------------------------------- */
static void on_run_close(slp_work *work) {
  slp_sqlite_file_close(SLP_OWNER(work, file_owner, closing)->file);
}

static void on_closed(slp_work *work) {
  file_owner *o = SLP_OWNER(work, file_owner, closing);
  slp_mem *mem = o->mem;
  slp_sqlite_file_free(o->file);
  slp_free(mem, o);
  slp_mem_drop(mem);
}

static void op_close(slp_store *store) {
  sqlite_store *s = store_of(store);
  file_owner *o = s->owner;
  slp_host *h = s->h;
  slp_free(o->mem, s);
  slp_work_send(h, &o->closing);
  /* cancels `closing`, so that on_done is not called; the job runs nevertheless, because its `always` is 1 */
  slp_work_cancel(h, &o->closing);
}

static const slp_store_ops ops = {op_prepare, op_get, op_list, op_write, op_cancel, op_close};

int slp_sqlite_store(slp_store **ret, slp_host *h, const char *path, const slp_table_spec *table) {
  if (!slp_sqlite_there()) return SLP_ENOENT;
  sqlite_store *s = SLP_NEW(h->mem, sqlite_store);
  file_owner *o = SLP_NEW(h->mem, file_owner);
  if (s && o) o->file = slp_sqlite_file_new(h->mem, path, table);
  if (!s || !o || !o->file) {
    slp_free(h->mem, o);
    slp_free(h->mem, s);
    return SLP_ENOMEM;
  }
  o->mem = slp_mem_hold(h->mem);
  o->closing = (slp_work){.line = &o->line, .always = 1, .run = on_run_close, .on_left = on_closed};
  s->s.ops = &ops;
  s->h = h;
  s->owner = o;
  *ret = &s->s;
  return 0;
}

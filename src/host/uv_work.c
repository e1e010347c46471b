/* uv_work.c - does work on libuv's threads, one piece at a time for each slp_work_line (a queue).
 *
 * Work that is cancelled while it runs stays in its queue until the thread has finished it. The work's owner
 * may be gone by then, so only on_left is called. The host lives until the last piece of work is over. */
#include "base/list.h"
#include "host/host.h"
#include "host/uv_host.h"

#include <stdio.h>

typedef struct job {
  uv_work_t req;
  slp_uv_host *u;
  slp_work *work;
  uint8_t given_up; /* 1: the work was cancelled, so on_left is called and not on_done */
} job;

_Static_assert(sizeof(job) <= SLP_WORK_ROOM, "make SLP_WORK_ROOM larger");

static void start_next(slp_uv_host *u, slp_work_line *line);

static void on_work_done(slp_event *ev) {
  slp_work *work = SLP_OWNER(ev, slp_work, ev);
  work->on_done(work);
}

static void in_thread(uv_work_t *req) {
  job *j = req->data;
  j->work->run(j->work);
}

/* libuv calls this on the loop, after in_thread. status UV_ECANCELED: the work never ran, because it was
 * cancelled. */
static void on_work_left_thread(uv_work_t *req, int status) {
  job *j = req->data;
  slp_uv_host *u = j->u;
  slp_work *work = j->work;
  int given_up = j->given_up;
  SLP_CHECK(status == 0 || given_up);
  work->impl = NULL;
  work->line->running = NULL;
  start_next(u, work->line);
  if (given_up) {
    work->on_left(work);
  } else {
    work->ev.run = on_work_done;
    slp_post(&u->host, &work->ev);
  }
  slp_uv_drop(u);
}

static void start_next(slp_uv_host *u, slp_work_line *line) {
  slp_list *node = line->running ? NULL : slp_list_pop(&line->waiting);
  if (!node) return;
  slp_work *work = SLP_OWNER(node, slp_work, link);
  job *j = work->impl;
  line->running = work;
  /* uv_queue_work fails only if it is given no function. */
  SLP_CHECK(uv_queue_work(u->loop, &j->req, in_thread, on_work_left_thread) == 0);
}

/* Puts the work into the queue, behind work of the same urgency and before less urgent work. */
static void stand_in_line(slp_work_line *line, slp_work *work) {
  slp_list *at = work->urgent ? line->waiting.next : &line->waiting;
  while (at != &line->waiting && SLP_OWNER(at, slp_work, link)->urgent) at = at->next;
  slp_list_insert_before(at, &work->link);
}

void slp_uv_work_send(slp_host *h, slp_work *work) {
  slp_uv_host *u = slp_uv_of(h);
  SLP_CHECK(!work->impl && !slp_list_linked(&work->ev.link));
  job *j = work->impl = work->room;
  *j = (job){.u = u, .work = work, .req = {.data = j}};
  if (!work->line->waiting.next) slp_list_init(&work->line->waiting);
  slp_uv_hold(u);
  stand_in_line(work->line, work);
  start_next(u, work->line);
}

void slp_uv_work_cancel(slp_host *h, slp_work *work) {
  slp_uv_host *u = slp_uv_of(h);
  job *j = work->impl;
  if (slp_list_linked(&work->ev.link)) { /* the work has run, and on_done is posted */
    slp_unpost(&work->ev);
    work->on_left(work);
    return;
  }
  if (!j || j->given_up) return;
  j->given_up = 1;
  if (work->always) return;
  if (work->line->running == work) {
    /* uv_cancel() has an effect only if no thread has begun the work. on_work_left_thread() is called in any
     * case. */
    uv_cancel((uv_req_t *)&j->req);
    return;
  }
  slp_list_remove(&work->link);
  work->impl = NULL;
  work->on_left(work);
  slp_uv_drop(u);
}

/* ---- threads ------------------------------------------------------------------------------------------- */
/* libuv's pool has four threads by default, which are made with the first piece of work. If one of them can't
 * be made, libuv ends the process (libuv, src/threadpool.c, init_threads). */
#define THREADS 4

static void wait_for_leave(void *arg) { uv_sem_wait(arg); }

int slp_uv_threads_check(char why[160]) {
  uv_thread_t threads[THREADS];
  uv_sem_t leave;
  int n = 0, r = uv_sem_init(&leave, 0);
  if (r) return r;
  while (n < THREADS && !(r = uv_thread_create(&threads[n], wait_for_leave, &leave))) n++;
  for (int i = 0; i < n; i++) uv_sem_post(&leave);
  for (int i = 0; i < n; i++) uv_thread_join(&threads[i]);
  uv_sem_destroy(&leave);
  if (r && why)
    snprintf(
        why, 160,
        "no thread for libuv's pool can be made (%s): raise ulimit -v (memory), ulimit -u or the cgroup's "
        "pids.max (threads)",
        uv_strerror(r));
  return r;
}

/* uv_spawn.c - runs a child process on the loop: collects its standard output up to a limit, and remembers
 * its last line of standard error. At a deadline, kills the child with all that it started.
 *
 * The child leads a session of its own, so that one signal reaches its whole group. The process handle stays
 * open until libuv has seen the end of the process. If it were closed earlier, a killed child would stay a
 * zombie. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/executable.h"
#include "host/host.h"
#include "host/uv_host.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#define TOTAL_MS 60000 /* used if the child has no total_ms_max */
#define PIECE 4096
#define SLOW_AGAIN_MS 1000
#define NEW_LINES_MAX 8

typedef struct job {
  uv_process_t process;
  uv_pipe_t out, err;
  slp_uv_host *u;
  slp_child *child; /* NULL: the child was answered or cancelled */
  slp_list link;
  slp_timer deadline, slow; /* deadline: ends the child; slow: calls on_slow */
  /* The child's standard output. The buffer has its full size from the start, because growing would leave
   * copies of secrets behind. */
  slp_buf text;
  /* Standard error: line: the line that has begun; said: the last complete line. */
  char line[160], said[160];
  char new_lines[NEW_LINES_MAX][160]; /* the newest lines for which on_slow was not called yet */
  size_t new_lines_n, line_n, line_told_n /* line_told_n: how many bytes of `line` were given to on_slow */;
  size_t said_bytes; /* bytes that the child has written to standard error */
  int error, status, signal;
  uint8_t started, exited, out_ended, over, is_slow;
  uint8_t handles; /* number of libuv handles of this job that are not closed yet */
  char piece[PIECE];
} job;

static void on_child_done(slp_event *ev) {
  slp_child *child = SLP_OWNER(ev, slp_child, ev);
  child->on_done(child);
}

static void answer_later(slp_host *h, slp_child *child) {
  child->ev.run = on_child_done;
  slp_post(h, &child->ev);
}

static void job_free(job *j) {
  slp_uv_host *u = j->u;
  if (j->text.p) slp_wipe(j->text.p, j->text.cap);
  slp_buf_free(&j->text);
  slp_wipe(j->piece, sizeof j->piece);
  slp_wipe(j->line, sizeof j->line);
  slp_wipe(j->said, sizeof j->said);
  slp_wipe(j->new_lines, sizeof j->new_lines);
  slp_list_remove(&j->link);
  slp_free(u->host.mem, j);
  slp_uv_drop(u);
}

static void on_closed(uv_handle_t *handle) {
  job *j = handle->data;
  if (--j->handles == 0) job_free(j);
}

static void close_handle(uv_handle_t *handle) {
  if (!uv_is_closing(handle)) uv_close(handle, on_closed);
}

/* Kills the process and its group, if they may still run, and closes the job's timers and pipes. */
static void stop_child_job(job *j) {
  if (j->over) return;
  j->over = 1;
  slp_timer_clear(&j->u->host, &j->deadline);
  slp_timer_clear(&j->u->host, &j->slow);
  close_handle((uv_handle_t *)&j->out);
  close_handle((uv_handle_t *)&j->err);
  /* Kills the child's group, unless the process and its output have ended. This can't kill other processes: a
   * process that still holds the output belongs to the group, and while the group has a member, its number is
   * not used again. */
  int reaped = j->started && !(j->exited && j->out_ended) && kill(-j->process.pid, SIGKILL) && errno == ESRCH;
  /* The group is gone, but libuv has not seen the process end: the application itself has called waitpid()
   * for any child. So libuv will never report the end. */
  if (reaped) j->exited = 1;
  if (j->started && !j->exited) {
    /* The loop must stay alive until libuv has seen the end of the process. */
    uv_ref((uv_handle_t *)&j->process);
  } else {
    close_handle((uv_handle_t *)&j->process);
  }
}

/* Returns the newest text of standard error: the line that has begun, such as a prompt, or else the last
 * complete line. */
static const char *newest_words(const job *j) { return j->line_n ? j->line : j->said; }

static void finish_child_job(job *j, int error) {
  slp_child *child = j->child;
  if (child) {
    j->child = NULL;
    child->impl = NULL;
    int r = error ? 0 : slp_buf_add(child->into, j->text.p, j->text.n);
    child->error = error ? error : r == SLP_ELIMIT ? SLP_E2BIG : r;
    child->status = j->status;
    child->signal = j->signal;
    memcpy(child->said, newest_words(j), sizeof child->said);
    answer_later(&j->u->host, child);
  }
  stop_child_job(j);
}

static void finish_if_over(job *j) {
  if (j->exited && j->out_ended && !j->over) finish_child_job(j, 0);
}

static void on_exit_of(uv_process_t *process, int64_t status, int signal) {
  job *j = process->data;
  j->exited = 1;
  j->status = (int)status;
  j->signal = signal;
  if (j->over) {
    close_handle((uv_handle_t *)process);
    return;
  }
  finish_if_over(j);
}

static int look_again(job *j, uint64_t after_ms) {
  return slp_timer_set(&j->u->host, &j->slow, slp_after_us(slp_now_us(&j->u->host), after_ms * 1000));
}

static void keep_for_on_slow(job *j) {
  if (j->new_lines_n == NEW_LINES_MAX)
    memmove(j->new_lines[0], j->new_lines[1], sizeof j->new_lines - sizeof j->new_lines[0]);
  else
    j->new_lines_n++;
  memcpy(j->new_lines[j->new_lines_n - 1], j->line, sizeof j->line);
}

static void tell_slow(job *j, const char words[160]) {
  slp_child *child = j->child;
  if (!child) return; /* an earlier on_slow has cancelled the child */
  memcpy(child->said, words, sizeof child->said);
  child->on_slow(child);
}

static void on_slow(slp_timer *timer) {
  job *j = SLP_OWNER(timer, job, slow);
  static const char nothing[sizeof j->line];
  int prompts = j->line_n > j->line_told_n;
  /* If there is no memory to set the timer, on_slow is not called any more. */
  if (j->over || look_again(j, SLOW_AGAIN_MS)) return;
  size_t lines_n = j->new_lines_n;
  for (size_t i = 0; i < lines_n; i++) tell_slow(j, j->new_lines[i]);
  if (prompts || (!lines_n && !j->is_slow)) tell_slow(j, j->line_n ? j->line : nothing);
  j->new_lines_n = 0;
  j->line_told_n = j->line_n;
  j->is_slow = 1;
}

static void on_deadline(slp_timer *timer) {
  finish_child_job(SLP_OWNER(timer, job, deadline), SLP_ETIMEDOUT);
}

/* When the limit is reached, one more byte may be read into `piece`: if that byte comes, there is too much
 * output. */
static void give_room_out(uv_handle_t *handle, size_t wish, uv_buf_t *room) {
  job *j = handle->data;
  size_t left = j->text.cap - j->text.n;
  (void)wish;
  *room = left ? uv_buf_init(j->text.p + j->text.n, (unsigned)left) : uv_buf_init(j->piece, 1);
}

static void on_out(uv_stream_t *stream, ssize_t n, const uv_buf_t *read) {
  job *j = stream->data;
  if (n == 0) return;
  if (n < 0) {
    j->out_ended = 1;
    finish_if_over(j);
    return;
  }
  if (read->base == j->piece) {
    finish_child_job(j, SLP_E2BIG);
    return;
  }
  j->text.n += (size_t)n;
}

static void give_room_err(uv_handle_t *handle, size_t wish, uv_buf_t *room) {
  job *j = handle->data;
  (void)wish;
  *room = uv_buf_init(j->piece, sizeof j->piece);
}

static void on_err(uv_stream_t *stream, ssize_t n, const uv_buf_t *read) {
  job *j = stream->data;
  if (n < 0) uv_read_stop(stream);
  if (n > 0 && (j->said_bytes += (size_t)n) > SLP_CHILD_SAID_MAX) {
    finish_child_job(j, SLP_ELIMIT);
    return;
  }
  for (ssize_t i = 0; i < n; i++) {
    char c = read->base[i];
    if (c != '\n' && c != '\r' && j->line_n < sizeof j->line - 1) {
      j->line[j->line_n++] = c ? c : '?';
      j->line[j->line_n] = 0;
    } else if ((c == '\n' || c == '\r') && j->line_n) {
      memcpy(j->said, j->line, sizeof j->said);
      if (j->line_n > j->line_told_n) keep_for_on_slow(j);
      j->line_n = j->line_told_n = 0;
    }
  }
}

static int start_child_process(job *j, const slp_child *child) {
  uv_loop_t *loop = j->u->loop;
  uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE},
                                   {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE},
                                   {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE}};
  stdio[1].data.stream = (uv_stream_t *)&j->out;
  stdio[2].data.stream = (uv_stream_t *)&j->err;
  uv_process_options_t o = {.file = child->argv[0],
                            .args = (char **)(uintptr_t)child->argv,
                            .stdio = stdio,
                            .stdio_count = 3,
                            .flags = UV_PROCESS_DETACHED,
                            .exit_cb = on_exit_of};
  int r = uv_spawn(loop, &j->process, &o);
  if (r) return r;
  j->started = 1;
  uv_unref((uv_handle_t *)&j->process); /* these handles must not keep the loop alive */
  uv_unref((uv_handle_t *)&j->out);
  uv_unref((uv_handle_t *)&j->err);
  r = uv_read_start((uv_stream_t *)&j->out, give_room_out, on_out);
  return r ? r : uv_read_start((uv_stream_t *)&j->err, give_room_err, on_err);
}

static job *job_new(slp_uv_host *u, const slp_child *child) {
  job *j = SLP_NEW(u->host.mem, job);
  if (!j) return NULL;
  uint32_t ms = child->total_ms_max ? child->total_ms_max : TOTAL_MS;
  slp_buf_init(&j->text, u->host.mem, child->into->max - child->into->n);
  j->u = u;
  j->deadline.run = on_deadline;
  j->deadline.at_us = j->slow.at_us = UINT64_MAX;
  j->slow.run = on_slow;
  if (slp_buf_reserve(&j->text, j->text.max) ||
      slp_timer_set(&u->host, &j->deadline, slp_after_us(slp_now_us(&u->host), (uint64_t)ms * 1000)) ||
      (child->slow_ms && look_again(j, child->slow_ms))) {
    slp_timer_clear(&u->host, &j->deadline);
    slp_buf_free(&j->text);
    slp_free(u->host.mem, j);
    return NULL;
  }
  uv_pipe_init(u->loop, &j->out, 0);
  uv_pipe_init(u->loop, &j->err, 0);
  j->process.data = j->out.data = j->err.data = j;
  return j;
}

void slp_uv_spawn(slp_host *h, slp_child *child) {
  slp_uv_host *u = slp_uv_of(h);
  SLP_CHECK(!child->impl && !slp_list_linked(&child->ev.link));
  if (u->closing) return;
  child->error = child->status = child->signal = 0;
  child->said[0] = 0;
  job *j = job_new(u, child);
  if (!j) {
    child->error = SLP_ENOMEM;
    answer_later(h, child);
    return;
  }
  j->child = child;
  child->impl = j;
  slp_list_add_last(&u->children, &j->link);
  slp_uv_hold(u);
  j->handles = 3; /* uv_spawn makes the process handle even if it fails */
  int r = start_child_process(j, child);
  if (!r) return;
  char path[SLP_EXECUTABLE_PATH], why[SLP_EXECUTABLE_WHY];
  if (!slp_executable_find(child->argv[0], path, why))
    snprintf(j->said, sizeof j->said, "%.52s %.105s", child->argv[0], why);
  finish_child_job(j, r);
}

void slp_uv_spawn_cancel(slp_host *h, slp_child *child) {
  (void)h;
  slp_unpost(&child->ev);
  job *j = child->impl;
  if (!j) return;
  j->child = NULL;
  child->impl = NULL;
  stop_child_job(j);
}

void slp_uv_spawn_close_all(slp_uv_host *u) {
  SLP_LIST_EACH(&u->children, it) {
    job *j = SLP_OWNER(it, job, link);
    if (j->child) j->child->impl = NULL;
    j->child = NULL;
    stop_child_job(j);
  }
}

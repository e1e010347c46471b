/* piped.c - runs children with pipes on a loop. libuv's own uv_spawn is not used, because it can run nothing
 * in the child between fork and exec. There a child must request the kernel's signal at its parent's death,
 * and report itself to the guard (piped.h). */
#include "program/piped.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/os.h"
#include "program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

/* how long, in ms, the pipes may stay open after the process has ended, or the process may live after it has
 * closed its pipes */
#define LATE_MS 300
#define ERR_MAX 900   /* bytes of a line of standard error; a longer line is handed out in pieces */
#define FDS_MAX 65536 /* descriptors marked close-on-exec one by one, if there is no close_range() */
#define PIECE 65536   /* bytes of standard output read at once */
/* The most lines of a child that are handed out in one turn of the loop. A child that writes without end
 * would otherwise block the loop. */
#define LINES_A_TURN 1000
#define ERR_PIECE 4096 /* bytes of standard error read at once */
#define GUARDED_MAX 65536

/* ---- the guard -------------------------------------------------------------------------------- */

/* Runs the guard, until the program's end of the pipe is closed. The program writes numbers to the pipe: the
 * id of a process group that the guard must kill at the end, or the negative of that id when the group is
 * gone. */
static void run_guard(int fd) {
  static int32_t groups[GUARDED_MAX];
  size_t n = 0;
  int32_t number;
  for (int i = 1; i < NSIG; i++)
    if (i != SIGKILL && i != SIGSTOP) signal(i, SIG_IGN);
  setsid();
  for (int i = 0; i < 1024; i++)
    /* Without this, pipes that the guard has inherited would stay open after the program's end. */
    if (i != fd) close(i);
  for (;;) {
    ssize_t got = read(fd, &number, sizeof number);
    if (got < 0 && errno == EINTR) continue;
    if (got != (ssize_t)sizeof number) break;
    if (number > 0 && n < GUARDED_MAX) groups[n++] = number;
    for (size_t i = 0; number < 0 && i < n; i++)
      if (groups[i] == -number) groups[i--] = groups[--n];
  }
  for (size_t i = 0; i < n; i++) kill(-groups[i], SIGKILL);
  _exit(0);
}

int slp_guard_start(void) {
  int fds[2];
  if (slp_os_pipe(fds)) return -1;
  pid_t pid = fork();
  if (pid == 0) {
    close(fds[1]);
    run_guard(fds[0]);
  }
  close(fds[0]);
  if (pid > 0) return fds[1];
  close(fds[1]);
  return -1;
}

static void tell_guard(int fd, int32_t number) {
  /* an error is ignored: the guard is gone, but the kernel still kills the child */
  if (fd >= 0 && write(fd, &number, sizeof number) < 0) return;
}

/* ---- children --------------------------------------------------------------------------------- */

struct slp_herd {
  slp_mem *mem;
  uv_loop_t *loop;
  uv_signal_t ended; /* watches SIGCHLD, by which the ends of children are noticed */
  slp_list all;      /* the children of this herd, by slp_piped.link */
  int guard_fd;      /* write end of the pipe to the guard; -1: there is no guard */
};

struct slp_piped {
  uv_pipe_t in, out, err;
  /* runs while the process has ended and its pipes are open, or while the process lives and has closed a
   * pipe */
  uv_timer_t late;
  uv_idle_t again; /* while active, the next turn hands out the lines that wait, and reads on */
  slp_list link;   /* links the child into slp_herd.all, until waitpid() has returned its process */
  slp_mem *mem;
  slp_herd *herd;
  slp_piped_user user;
  slp_buf text, err_text; /* lines that are not complete yet */
  size_t done;            /* bytes of `text` that were handed out */
  pid_t pid;
  int status, signal;
  uint32_t writes; /* number of writes that are not done */
  uint8_t listens, pumping, reading, reading_err, too_long;
  uint8_t more; /* 1: complete lines wait for the next turn */
  uint8_t exited, out_ended, err_ended, in_closed, in_broken, dropped, told;
  uint8_t handles; /* number of libuv handles of this child that are not closed yet */
};

typedef struct job {
  uv_write_t write;
  slp_piped *p;
  slp_buf bytes;
} job;

static void free_if_over(slp_piped *p) {
  if (!p->exited || p->handles) return;
  slp_buf_free(&p->text);
  slp_buf_free(&p->err_text);
  slp_free(p->mem, p);
}

static void on_handle_closed(uv_handle_t *handle) {
  slp_piped *p = handle->data;
  p->handles--;
  free_if_over(p);
}

static void close_handle(uv_handle_t *handle) {
  if (!uv_is_closing(handle)) uv_close(handle, on_handle_closed);
}

/* Closes all handles, even if the child lives on: a child that can't be killed must not keep the loop
 * alive. */
static void close_handles(slp_piped *p) {
  close_handle((uv_handle_t *)&p->in);
  close_handle((uv_handle_t *)&p->out);
  close_handle((uv_handle_t *)&p->err);
  close_handle((uv_handle_t *)&p->late);
  close_handle((uv_handle_t *)&p->again);
}

static void waited_for(slp_piped *p) {
  p->exited = 1;
  slp_list_remove(&p->link);
}

static void tell_exit(slp_piped *p) {
  if (p->told || p->dropped) return;
  p->told = 1;
  if (p->err_text.n) p->user.on_err(p->user.arg, p->err_text.p, p->err_text.n);
  slp_buf_clear(&p->err_text);
  p->user.on_exit(p->user.arg, p->status, p->signal);
}

static void tell_exit_if_done(slp_piped *p) {
  if (p->exited && p->out_ended && p->err_ended && !p->pumping && !p->more) tell_exit(p);
}

static void hand_out_lines(slp_piped *p);

static void on_late(uv_timer_t *timer) {
  slp_piped *p = timer->data;
  if (p->dropped || p->told) return;
  if (p->exited) { /* another process, outside the child's group, holds the pipes open */
    uv_read_stop((uv_stream_t *)&p->out);
    uv_read_stop((uv_stream_t *)&p->err);
    p->out_ended = p->err_ended = 1;
    hand_out_lines(p);
  } else if (p->out_ended || p->in_broken) {
    p->user.on_broken(p->user.arg, !p->out_ended);
  }
}

static void wait_late(slp_piped *p) {
  if (!uv_is_closing((uv_handle_t *)&p->late)) uv_timer_start(&p->late, on_late, LATE_MS, 0);
}

/* ---- standard output -------------------------------------------------------------------------- */

static void forget_done(slp_piped *p) {
  size_t left = p->text.n - p->done;
  if (p->done && left) memmove(p->text.p, p->text.p + p->done, left);
  slp_buf_cut(&p->text, left);
  p->done = 0;
}

static void on_again(uv_idle_t *idle);
static void go_on_next_turn(slp_piped *p) {
  if (!uv_is_closing((uv_handle_t *)&p->again)) uv_idle_start(&p->again, on_again);
}

/* Hands out complete lines while the user listens, or when the process has ended. At the end of standard
 * output, hands out an incomplete last line too. */
static void hand_out_lines(slp_piped *p) {
  size_t lines = 0;
  if (p->pumping) return;
  p->pumping = 1;
  p->more = 0;
  while (!p->dropped && (p->listens || p->exited)) {
    size_t n = p->text.n - p->done;
    if (!n) break; /* without bytes, text.p may be NULL, and memchr must not be called */
    char *from = p->text.p + p->done, *end = memchr(from, '\n', n);
    if (!end && !p->out_ended) break;
    if (lines++ == LINES_A_TURN) {
      p->more = 1;
      go_on_next_turn(p);
      break;
    }
    size_t line_n = end ? (size_t)(end - from) : n;
    p->done += end ? line_n + 1 : n;
    if (p->too_long)
      p->user.on_long(p->user.arg);
    else
      p->user.on_out(p->user.arg, from, line_n);
    p->too_long = 0;
  }
  forget_done(p);
  if (p->text.n >= p->user.out_max && !memchr(p->text.p, '\n', p->text.n)) {
    p->too_long = 1;
    slp_buf_clear(&p->text);
  }
  p->pumping = 0;
  tell_exit_if_done(p);
}

static void give_room(uv_handle_t *handle, size_t wish, uv_buf_t *room) {
  slp_piped *p = handle->data;
  int out = handle == (uv_handle_t *)&p->out;
  slp_buf *b = out ? &p->text : &p->err_text;
  unsigned n = out ? PIECE : ERR_PIECE;
  (void)wish;
  *room = slp_buf_reserve(b, n) ? uv_buf_init(NULL, 0) : uv_buf_init(b->p + b->n, n);
}

/* Returns 1 if the user does not listen, and PIECE bytes or more wait. The pipe is then not read, so that the
 * child blocks when the pipe is full. */
static int has_enough(const slp_piped *p) { return !p->listens && !p->exited && p->text.n >= PIECE; }

static void on_out(uv_stream_t *stream, ssize_t n, const uv_buf_t *read) {
  slp_piped *p = stream->data;
  (void)read;
  if (n > 0) p->text.n += (size_t)n;
  if (n < 0) {
    p->out_ended = 1;
    uv_read_stop(stream);
    if (!p->exited) wait_late(p);
  }
  hand_out_lines(p);
  if (p->out_ended) return;
  /* Stops reading until the next turn: libuv would read again and again in the same turn while the pipe is
   * full. */
  if (n == PIECE) go_on_next_turn(p);
  if (n == PIECE || p->more || has_enough(p)) {
    p->reading = 0;
    uv_read_stop(stream);
  }
}

static void read_out(slp_piped *p) {
  if (p->reading || p->out_ended || p->more) return;
  p->reading = uv_read_start((uv_stream_t *)&p->out, give_room, on_out) == 0;
}

void slp_piped_listen(slp_piped *p, int on) {
  p->listens = (uint8_t)(on != 0);
  if (!on || p->dropped) return;
  go_on_next_turn(p); /* the next turn hands out what has come, and reads more */
}

/* ---- standard error --------------------------------------------------------------------------- */

static void on_err(uv_stream_t *stream, ssize_t n, const uv_buf_t *read) {
  slp_piped *p = stream->data;
  slp_buf *b = &p->err_text;
  size_t done = 0;
  (void)read;
  if (n > 0) b->n += (size_t)n;
  while (!p->dropped && done < b->n) {
    size_t left = b->n - done;
    char *end = memchr(b->p + done, '\n', left);
    size_t line_n = end ? (size_t)(end - b->p) - done : left;
    if (!end && left < ERR_MAX && n > 0) break;
    size_t take = line_n < ERR_MAX ? line_n : ERR_MAX;
    if (take) p->user.on_err(p->user.arg, b->p + done, take);
    done += take + (end && take == line_n);
  }
  if (done && b->n > done) memmove(b->p, b->p + done, b->n - done);
  slp_buf_cut(b, b->n - done);
  if (n == ERR_PIECE) {
    p->reading_err = 0;
    uv_read_stop(stream);
    go_on_next_turn(p);
  }
  if (n < 0) {
    p->err_ended = 1;
    uv_read_stop(stream);
    tell_exit_if_done(p);
  }
}

static void read_err(slp_piped *p) {
  if (p->reading_err || p->err_ended) return;
  p->reading_err = uv_read_start((uv_stream_t *)&p->err, give_room, on_err) == 0;
  if (!p->reading_err) p->err_ended = 1;
}

static void on_again(uv_idle_t *idle) {
  slp_piped *p = idle->data;
  uv_idle_stop(idle);
  hand_out_lines(p);
  if (p->dropped) return;
  if (!has_enough(p)) read_out(p);
  read_err(p);
}

/* ---- standard input --------------------------------------------------------------------------- */

static void on_write(uv_write_t *write, int status) {
  job *j = (job *)write;
  slp_piped *p = j->p;
  slp_buf_free(&j->bytes);
  slp_free(p->mem, j);
  p->writes--;
  if (p->dropped) return;
  if (status < 0 && !p->in_closed) {
    p->in_broken = 1;
    wait_late(p);
  } else if (!status && !p->writes) {
    p->user.on_written(p->user.arg);
  }
}

void slp_piped_write(slp_piped *p, slp_buf *b) {
  job *j = p->in_closed ? NULL : SLP_NEW(p->mem, job);
  if (!j) {
    slp_buf_free(b);
    if (p->in_closed) return;
    p->in_broken = 1;
    wait_late(p);
    return;
  }
  j->p = p;
  slp_buf_move(&j->bytes, b);
  uv_buf_t bytes = uv_buf_init(j->bytes.p, (unsigned)j->bytes.n);
  p->writes++;
  if (uv_write(&j->write, (uv_stream_t *)&p->in, &bytes, 1, on_write) == 0) return;
  p->writes--;
  slp_buf_free(&j->bytes);
  slp_free(p->mem, j);
  p->in_broken = 1;
  wait_late(p);
}

void slp_piped_close_input(slp_piped *p) {
  if (p->in_closed) return;
  p->in_closed = 1;
  close_handle((uv_handle_t *)&p->in);
}

/* ---- the process ------------------------------------------------------------------------------ */

void slp_piped_kill(slp_piped *p, int signal) { (void)kill(-p->pid, signal); }
void slp_piped_drop(slp_piped *p) {
  if (p->dropped) return;
  p->dropped = 1;
  if (!p->exited) slp_piped_kill(p, SIGKILL);
  close_handles(p);
}

static void reap_child(slp_piped *p, int how) {
  waited_for(p);
  p->status = WIFEXITED(how) ? WEXITSTATUS(how) : 0;
  p->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
  slp_piped_kill(p, SIGKILL); /* kills the other processes of the child's group */
  tell_guard(p->herd->guard_fd, -(int32_t)p->pid);
  if (p->dropped) {
    free_if_over(p);
    return;
  }
  wait_late(p);
  hand_out_lines(p);
  read_out(p);
}

static void on_child(uv_signal_t *handle, int number) {
  slp_herd *herd = handle->data;
  (void)number;
  for (slp_list *it = herd->all.next, *after; it != &herd->all; it = after) {
    slp_piped *p = SLP_OWNER(it, slp_piped, link);
    int how;
    after = it->next;
    pid_t got = waitpid(p->pid, &how, WNOHANG);
    if (got == p->pid) reap_child(p, how);
    if (got < 0 && errno == ECHILD) reap_child(p, 0);
  }
}

slp_herd *slp_herd_new(slp_mem *mem, struct uv_loop_s *loop, int guard_fd) {
  slp_herd *herd = SLP_NEW(mem, slp_herd);
  if (!herd) return NULL;
  herd->mem = mem;
  herd->loop = loop;
  herd->guard_fd = guard_fd;
  slp_list_init(&herd->all);
  uv_signal_init(loop, &herd->ended);
  herd->ended.data = herd;
  uv_signal_start(&herd->ended, on_child, SIGCHLD);
  uv_unref((uv_handle_t *)&herd->ended);
  return herd;
}

static void on_herd_closed(uv_handle_t *handle) {
  slp_herd *herd = handle->data;
  if (herd->guard_fd >= 0) close(herd->guard_fd);
  slp_free(herd->mem, herd);
}

void slp_herd_close(slp_herd *herd) {
  if (!herd) return;
  for (slp_list *it = herd->all.next, *after; it != &herd->all; it = after) {
    slp_piped *p = SLP_OWNER(it, slp_piped, link);
    after = it->next;
    SLP_CHECK(p->dropped);
    waited_for(p); /* the child was killed, and nothing waits for its end */
    free_if_over(p);
  }
  uv_close((uv_handle_t *)&herd->ended, on_herd_closed);
}

/* Gives the child the default signals, because signals that the program ignores or handles must not affect
 * the child. An ignored SIGHUP stays ignored, because nohup wants that for all processes below it. */
static void default_signals(void) {
  sigset_t none;
  int ignored = slp_program_ignores_signal(SIGHUP);
  for (int i = 1; i < NSIG; i++)
    if (i != SIGKILL && i != SIGSTOP && (i != SIGHUP || !ignored)) signal(i, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes exec close all descriptors except 0, 1 and 2. Otherwise children would inherit descriptors that
 * libraries opened, as libcurl 7.88 does, or that this program inherited, as from Java. They stay open until
 * exec succeeds, because exec_in_child() reports a failure of exec through one of them. */
static void close_others_at_exec(void) {
  if (slp_os_close_others_at_exec()) return;
  struct rlimit limit;
  rlim_t n = getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > FDS_MAX ? FDS_MAX : limit.rlim_cur;
  for (int fd = 3; fd < (int)n; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Runs in the child between fork and exec, so it does only what a signal handler may do. Writes errno to
 * `report` if exec fails. */
static void exec_in_child(const char *const *argv, const int fds[3], int report, int guard_fd, pid_t parent) {
  int32_t me = (int32_t)getpid();
  setpgid(0, 0);
  slp_os_die_with_parent();
  if (getppid() != parent) _exit(127); /* the parent died before that */
  tell_guard(guard_fd, me);
  for (int i = 0; i < 3; i++)
    if (dup2(fds[i], i) < 0) _exit(127);
  default_signals();
  close_others_at_exec();
  execvp(argv[0], (char **)(uintptr_t)argv);
  int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

static void close_fds(int *fds, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (fds[i] >= 0) close(fds[i]);
}

/* Makes four pipes. fds[0] to [2]: the child's ends of its standard input, output and error; [3] to [5]: our
 * ends of these pipes. [6] and [7]: the read end and the write end of the pipe that reports a failed exec.
 * Returns 0 or -errno. */
static int make_pipes(int fds[8]) {
  int pair[2];
  for (int i = 0; i < 8; i++) fds[i] = -1;
  for (int i = 0; i < 4; i++) {
    int r = slp_os_pipe(pair);
    if (r) return r;
    int in = i == 0; /* fds[0] is standard input, from which the child reads */
    fds[i < 3 ? i : 6] = pair[i < 3 ? !in : 0];
    fds[i < 3 ? 3 + i : 7] = pair[i < 3 ? in : 1];
  }
  return 0;
}

/* Forks, and runs the program in the child. Returns 0, or -errno of fork or of exec. */
static int fork_and_exec(int fds[8], const char *const *argv, int guard_fd, pid_t *ret_pid) {
  int error = 0;
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) exec_in_child(argv, fds, fds[7], guard_fd, parent);
  if (pid < 0) return -errno;
  close(fds[7]);
  fds[7] = -1;
  ssize_t got;
  do got = read(fds[6], &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got == (ssize_t)sizeof error) {
    waitpid(pid, NULL, 0);
    tell_guard(guard_fd, -(int32_t)pid);
    return error > 0 ? -error : -ENOEXEC;
  }
  *ret_pid = pid;
  return 0;
}

static slp_piped *piped_new(slp_herd *herd, const slp_piped_user *user) {
  slp_piped *p = SLP_NEW(herd->mem, slp_piped);
  if (!p) return NULL;
  p->mem = herd->mem;
  p->herd = herd;
  p->user = *user;
  slp_buf_init(&p->text, herd->mem, user->out_max + 2 * PIECE);
  slp_buf_init(&p->err_text, herd->mem, ERR_MAX + 2 * PIECE);
  uv_pipe_init(herd->loop, &p->in, 0);
  uv_pipe_init(herd->loop, &p->out, 0);
  uv_pipe_init(herd->loop, &p->err, 0);
  uv_timer_init(herd->loop, &p->late);
  uv_idle_init(herd->loop, &p->again);
  p->in.data = p->out.data = p->err.data = p->late.data = p->again.data = p;
  p->handles = 5;
  slp_list_add_last(&herd->all, &p->link);
  return p;
}

int slp_piped_start(slp_piped **ret, slp_herd *herd, const char *const *argv, const slp_piped_user *user) {
  int fds[8];
  *ret = NULL;
  slp_piped *p = piped_new(herd, user);
  if (!p) return -ENOMEM;
  int r = make_pipes(fds);
  if (!r) r = fork_and_exec(fds, argv, herd->guard_fd, &p->pid);
  if (r) {
    close_fds(fds, 8);
    p->dropped = 1;
    waited_for(p);
    close_handles(p);
    return r;
  }
  close_fds(fds, 3);
  close(fds[6]);
  uv_pipe_open(&p->in, fds[3]);
  uv_pipe_open(&p->out, fds[4]);
  uv_pipe_open(&p->err, fds[5]);
  read_err(p);
  read_out(p);
  *ret = p;
  return 0;
}

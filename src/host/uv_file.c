/* uv_file.c - reads a whole file on libuv's work threads. A pipe (a FIFO, a shell's <(...)) is read in the
 * loop, because a work thread that reads one may wait for ever. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include "host/os.h"
#include "host/uv_host.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

typedef struct job job;
/* A pipe gives its bytes only once, but a file of keys is read again and again, so the bytes of a pipe are
 * kept. They are dropped when another pipe is read at the same path, because the former pipe can't be opened
 * there any more. At most the newest PIPES_MAX pipes are kept. */
#define PIPES_MAX 64u

typedef struct read_pipe {
  slp_list link;        /* links the pipe into slp_uv_host.pipes, which has the oldest one first */
  char *path;           /* the path at which the pipe was opened first */
  slp_os_identity what; /* of the pipe */
  slp_buf text;         /* the bytes that were read from the pipe so far */
  slp_list waiting;     /* list of job.wait: other jobs that read this pipe, and wait to copy `text` */
  uint8_t done;         /* 1: `text` is complete */
} read_pipe;

struct job {
  uv_fs_t fs;
  slp_uv_host *u;
  slp_file *file; /* NULL: the read was cancelled; the job then ends by itself */
  slp_list link;
  /* appended to file->into only at the end, so that a cancelled read never touches file->into */
  slp_buf text;
  uv_pipe_t pipe;     /* takes over the descriptor of a pipe */
  slp_timer deadline; /* limits the time of a job that reads a pipe */
  int fd;             /* descriptor of the open file */
  int error;
  /* the pipe that this job reads, or that another job reads while this job waits; NULL: the file is no
   * pipe */
  read_pipe *reads;
  slp_list wait;
  uint8_t piped;  /* 1: `pipe` is open */
  uint8_t ending; /* 1: the descriptor is being closed; that step must not be cancelled */
  char *path;
};

static void step_read(job *j);

static void free_read_pipe(slp_uv_host *u, read_pipe *p) {
  if (p->text.p) slp_wipe(p->text.p, p->text.cap);
  slp_buf_free(&p->text);
  slp_list_remove(&p->link);
  slp_free(u->host.mem, p->path);
  slp_free(u->host.mem, p);
}

/* Forgets all pipes when the host is closing and no read is under way any more. */
static void free_pipes_at_end(slp_uv_host *u) {
  if (!u->closing || !slp_list_empty(&u->files)) return;
  slp_list *it;
  while ((it = slp_list_first(&u->pipes))) free_read_pipe(u, SLP_OWNER(it, read_pipe, link));
}

static void on_file_done(slp_event *ev) {
  slp_file *file = SLP_OWNER(ev, slp_file, ev);
  file->on_done(file);
}

static void finish_file_job(job *j) {
  slp_uv_host *u = j->u;
  slp_file *file = j->file;
  if (file) {
    file->impl = NULL;
    int r = j->error ? j->error : slp_buf_add(file->into, j->text.p, j->text.n);
    file->error = r == SLP_ELIMIT ? SLP_E2BIG : r;
    file->ev.run = on_file_done;
    slp_post(&u->host, &file->ev);
  }
  /* Wiped, because the file may hold a secret key. */
  if (j->text.p) slp_wipe(j->text.p, j->text.cap);
  slp_buf_free(&j->text);
  slp_list_remove(&j->link);
  slp_free(u->host.mem, j->path);
  slp_free(u->host.mem, j);
  free_pipes_at_end(u);
  slp_uv_drop(u);
}

static void on_closed(uv_fs_t *fs) {
  job *j = fs->data;
  uv_fs_req_cleanup(fs);
  finish_file_job(j);
}

/* Makes room to read more bytes into. When the buffer grows, its old memory is wiped, because it may hold a
 * secret key. There is room for one byte more than allowed: if that byte comes, the file is too large.
 * Returns 0, SLP_E2BIG or SLP_ENOMEM. */
static int make_room(job *j, uv_buf_t *ret) {
  slp_buf *b = &j->text, larger;
  if (b->n == b->max) return SLP_E2BIG;
  if (b->n == b->cap) {
    slp_buf_init(&larger, b->mem, b->max);
    int r = slp_buf_reserve(&larger, slp_min_u64(slp_max_u64(PIECE, 2 * b->cap), b->max));
    if (r) return r;
    if (b->n) slp_buf_add(&larger, b->p, b->n);
    if (b->p) slp_wipe(b->p, b->cap);
    slp_buf_free(b);
    slp_buf_move(b, &larger);
  }
  *ret = uv_buf_init(b->p + b->n, (unsigned)(slp_min_u64(b->cap, b->max) - b->n));
  return 0;
}

static void step_close(job *j, int error) {
  j->error = error;
  j->ending = 1;
  int r = uv_fs_close(j->u->loop, &j->fs, j->fd, on_closed);
  if (r) finish_file_job(j);
}

static void on_read(uv_fs_t *fs) {
  job *j = fs->data;
  ssize_t n = fs->result;
  uv_fs_req_cleanup(fs);
  if (n < 0) {
    step_close(j, (int)n);
    return;
  }
  j->text.n += (size_t)n;
  if (n == 0 || !j->file)
    step_close(j, 0);
  else
    step_read(j);
}

static void step_read(job *j) {
  uv_buf_t room;
  int r = make_room(j, &room);
  if (r) {
    step_close(j, r);
    return;
  }
  r = uv_fs_read(j->u->loop, &j->fs, j->fd, &room, 1, -1, on_read);
  if (r) step_close(j, r);
}

/* ---- a pipe ----------------------------------------------------------------------------------------- */

static void on_pipe_closed(uv_handle_t *handle) { finish_file_job(handle->data); }

/* Ends a job with the bytes that another job has read from the pipe. */
static void take_text(job *j, const read_pipe *p) {
  int r = p->text.n >= j->text.max ? SLP_E2BIG : slp_buf_add_str(&j->text, slp_buf_str(&p->text));
  step_close(j, r);
}

/* Ends all other jobs that wait for the pipe that j has read. Without memory, or after a failure, the pipe is
 * forgotten. */
static void end_pipe(job *j, int error) {
  read_pipe *p = j->reads;
  slp_list *it;
  j->reads = NULL;
  if (!error) error = slp_buf_add_str(&p->text, slp_buf_str(&j->text));
  p->done = !error;
  while ((it = slp_list_pop(&p->waiting))) {
    job *other = SLP_OWNER(it, job, wait);
    other->reads = NULL;
    if (error)
      step_close(other, error);
    else
      take_text(other, p);
  }
  if (error) free_read_pipe(j->u, p);
}

/* Ends a job that reads a pipe, and the jobs that wait for the pipe's bytes. */
static void leave_pipe(job *j, int error) {
  if (j->ending) return;
  j->ending = 1;
  j->error = error;
  slp_timer_clear(&j->u->host, &j->deadline);
  end_pipe(j, error);
  uv_close((uv_handle_t *)&j->pipe, on_pipe_closed);
}

static void on_pipe_late(slp_timer *timer) {
  leave_pipe(SLP_OWNER(timer, job, deadline), SLP_FILE_PIPE_LATE);
}

static void give_room(uv_handle_t *handle, size_t wish, uv_buf_t *room) {
  job *j = handle->data;
  (void)wish;
  j->error = make_room(j, room);
  if (j->error) *room = uv_buf_init(NULL, 0);
}

static void on_piece(uv_stream_t *stream, ssize_t n, const uv_buf_t *read) {
  job *j = stream->data;
  (void)read;
  if (n > 0)
    j->text.n += (size_t)n;
  else if (n < 0)
    leave_pipe(j, n == UV_EOF ? 0 : n == UV_ENOBUFS ? j->error : (int)n);
}

/* Makes room before a new pipe is read at this path. Forgets the finished pipes that were read at this path
 * before, because they can't be opened any more. Then forgets the oldest finished pipes until fewer than
 * PIPES_MAX are left. A pipe that is still being read is kept. */
static void make_place(slp_uv_host *u, const char *path) {
  size_t done_n = 0;
  slp_list *it, *next;
  for (it = u->pipes.next; it != &u->pipes; it = next) {
    read_pipe *p = SLP_OWNER(it, read_pipe, link);
    next = it->next;
    if (p->done && strcmp(p->path, path) == 0)
      free_read_pipe(u, p);
    else
      done_n += p->done;
  }
  for (it = u->pipes.next; it != &u->pipes && done_n >= PIPES_MAX; it = next) {
    read_pipe *p = SLP_OWNER(it, read_pipe, link);
    next = it->next;
    if (!p->done) continue;
    free_read_pipe(u, p);
    done_n--;
  }
}

/* Reads a pipe for the first time. While no process has opened a FIFO for writing, epoll does not report its
 * end, so the job waits for a writer. */
static void read_once(job *j, const slp_os_identity *what) {
  slp_host *h = &j->u->host;
  make_place(j->u, j->path);
  read_pipe *p = SLP_NEW(h->mem, read_pipe);
  char *path = p ? slp_strdup(h->mem, slp_str_of(j->path)) : NULL;
  int r = path
              ? slp_timer_set(h, &j->deadline, slp_after_us(slp_now_us(h), SLP_FILE_PIPE_MS * UINT64_C(1000)))
              : SLP_ENOMEM;
  if (r) {
    slp_free(h->mem, path);
    slp_free(h->mem, p);
    step_close(j, r);
    return;
  }
  *p = (read_pipe){.path = path, .what = *what};
  slp_buf_init(&p->text, h->mem, j->text.max);
  slp_list_init(&p->waiting);
  slp_list_add_last(&j->u->pipes, &p->link);
  j->reads = p;
  j->piped = 1;
  uv_pipe_init(j->u->loop, &j->pipe, 0);
  uv_unref((uv_handle_t *)&j->pipe); /* this handle must not keep the loop alive */
  j->pipe.data = j;
  r = uv_pipe_open(&j->pipe, j->fd);
  if (r) close(j->fd);
  if (!r) r = uv_read_start((uv_stream_t *)&j->pipe, give_room, on_piece);
  if (r) leave_pipe(j, r);
}

/* Begins a job whose descriptor is a pipe: reads it, waits for the job that reads it, or takes what was read
 * before. */
static void begin_pipe(job *j, const slp_os_identity *what) {
  read_pipe *p = NULL;
  SLP_LIST_EACH(&j->u->pipes, it) {
    read_pipe *one = SLP_OWNER(it, read_pipe, link);
    if (slp_os_same_file(&one->what, what)) p = one;
  }
  if (!p) {
    read_once(j, what);
  } else if (p->done) {
    take_text(j, p);
  } else {
    j->reads = p;
    slp_list_add_last(&p->waiting, &j->wait);
  }
}

static void on_opened(uv_fs_t *fs) {
  job *j = fs->data;
  ssize_t fd = fs->result;
  uv_fs_req_cleanup(fs);
  if (fd < 0) {
    j->error = (int)fd;
    finish_file_job(j);
    return;
  }
  j->fd = (int)fd;
  slp_os_identity what;
  if (j->file && slp_os_identify(j->fd, &what) == 0 && S_ISFIFO(what.st.st_mode)) {
    begin_pipe(j, &what);
    return;
  }
  /* O_NONBLOCK was only for opening: without it, opening a named pipe without a writer would block a work
   * thread. */
  int flags = fcntl(j->fd, F_GETFL);
  if (flags >= 0) fcntl(j->fd, F_SETFL, flags & ~O_NONBLOCK);
  step_read(j);
}

static void fail_now(slp_host *h, slp_file *file, int error) {
  file->error = error;
  file->ev.run = on_file_done;
  slp_post(h, &file->ev);
}

void slp_uv_file_read(slp_host *h, slp_file *file) {
  slp_uv_host *u = slp_uv_of(h);
  SLP_CHECK(!file->impl && !slp_list_linked(&file->ev.link));
  if (u->closing) return;
  file->error = 0;
  job *j = SLP_NEW(h->mem, job);
  if (j) j->path = slp_strdup(h->mem, slp_str_of(file->path));
  if (!j || !j->path) {
    slp_free(h->mem, j);
    fail_now(h, file, SLP_ENOMEM);
    return;
  }
  j->u = u;
  j->file = file;
  j->fs.data = j;
  j->deadline.run = on_pipe_late;
  j->deadline.at_us = UINT64_MAX;
  slp_buf_init(&j->text, h->mem, file->bytes_max < SIZE_MAX ? file->bytes_max + 1 : SIZE_MAX);
  int r = uv_fs_open(u->loop, &j->fs, j->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, on_opened);
  if (r) {
    slp_free(h->mem, j->path);
    slp_free(h->mem, j);
    fail_now(h, file, r);
    return;
  }
  file->impl = j;
  slp_list_add_last(&u->files, &j->link);
  slp_uv_hold(u);
}

/* Called when the read was cancelled. If the job reads a pipe, it still reads to the end, because the bytes
 * would otherwise be lost for later reads. */
static void give_up_file_job(job *j) {
  if (j->piped || j->ending) return;
  if (j->reads) { /* another job reads the pipe, and this one only waits for its bytes */
    j->reads = NULL;
    slp_list_remove(&j->wait);
    step_close(j, UV_ECANCELED);
  } else {
    uv_cancel((uv_req_t *)&j->fs); /* has an effect only while the request waits for a thread */
  }
}

void slp_uv_file_cancel(slp_host *h, slp_file *file) {
  (void)h;
  slp_unpost(&file->ev);
  job *j = file->impl;
  if (!j) return;
  j->file = NULL;
  file->impl = NULL;
  give_up_file_job(j);
}

void slp_uv_file_close_all(slp_uv_host *u) {
  SLP_LIST_EACH(&u->files, it) {
    job *j = SLP_OWNER(it, job, link);
    if (j->file) j->file->impl = NULL;
    j->file = NULL;
    if (j->piped)
      leave_pipe(j, UV_ECANCELED);
    else
      give_up_file_job(j);
  }
  free_pipes_at_end(u);
}

/* uv_file.c - reads a whole file on libuv's work threads. */
#include <fcntl.h>

#include "host/uv_host.h"

#define PIECE 65536

typedef struct job {
  uv_fs_t fs;
  slp_uv_host *u;
  slp_file *file; /* NULL: cancelled; the job ends by itself */
  slp_list link;
  slp_buf text; /* moved into file->into at the end: a cancelled reader's buffer is never touched */
  int fd;
  int error;
  uint8_t ending; /* the descriptor is being closed: never cancel that */
  char *path;
} job;

static void step_read(job *j);

static void on_file_done(slp_event *ev) {
  slp_file *file = SLP_OWNER(ev, slp_file, ev);
  file->on_done(file);
}

static void finish(job *j) {
  slp_uv_host *u = j->u;
  slp_file *file = j->file;
  if (file) {
    file->impl = NULL;
    int r = j->error ? j->error : slp_buf_add(file->into, j->text.p, j->text.n);
    file->error = r == SLP_ELIMIT ? SLP_E2BIG : r;
    file->ev.run = on_file_done;
    slp_post(&u->host, &file->ev);
  }
  /* The file may have held a secret key. */
  if (j->text.p) slp_wipe(j->text.p, j->text.cap);
  slp_buf_free(&j->text);
  slp_list_remove(&j->link);
  slp_free(u->host.mem, j->path);
  slp_free(u->host.mem, j);
  slp_uv_drop(u);
}

static void on_closed(uv_fs_t *fs) {
  job *j = fs->data;
  uv_fs_req_cleanup(fs);
  finish(j);
}

static void step_close(job *j, int error) {
  j->error = error;
  j->ending = 1;
  int r = uv_fs_close(j->u->loop, &j->fs, j->fd, on_closed);
  if (r) finish(j);
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
  /* Room for one byte more than allowed tells "too large" from "just fits". */
  int r = slp_buf_reserve(&j->text, slp_min_u64(PIECE, j->text.max - j->text.n));
  if (!r && j->text.n == j->text.max) r = SLP_E2BIG;
  if (r) {
    step_close(j, r);
    return;
  }
  uv_buf_t room = uv_buf_init(j->text.p + j->text.n, (unsigned)slp_min_u64(PIECE, j->text.max - j->text.n));
  r = uv_fs_read(j->u->loop, &j->fs, j->fd, &room, 1, -1, on_read);
  if (r) step_close(j, r);
}

static void on_opened(uv_fs_t *fs) {
  job *j = fs->data;
  ssize_t fd = fs->result;
  uv_fs_req_cleanup(fs);
  if (fd < 0) {
    j->error = (int)fd;
    finish(j);
    return;
  }
  j->fd = (int)fd;
  /* O_NONBLOCK was for the opening only, where a named pipe without a writer would block a work thread. */
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

void slp_uv_file_cancel(slp_host *h, slp_file *file) {
  (void)h;
  slp_unpost(&file->ev);
  job *j = file->impl;
  if (!j) return;
  j->file = NULL;
  file->impl = NULL;
  if (!j->ending) uv_cancel((uv_req_t *)&j->fs); /* only helps while it waits for a thread */
}

void slp_uv_file_close_all(slp_uv_host *u) {
  SLP_LIST_EACH(&u->files, it) {
    job *j = SLP_OWNER(it, job, link);
    if (j->file) j->file->impl = NULL;
    j->file = NULL;
    if (!j->ending) uv_cancel((uv_req_t *)&j->fs);
  }
}

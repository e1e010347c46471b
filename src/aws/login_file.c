/* login_file.c - runs the functions of host/own_file.h on a thread. Each slp_login_file has an allocator of
 * its own, because the thread allocates too. It is freed only when its last piece of work on the thread is
 * done. */
#include "aws/login_file.h"

#include "aws/provider.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include "host/own_file.h"

#define BYTES_MAX 131071u

typedef enum { LOCK, SAVE, CLOSE } piece;

struct slp_login_file {
  slp_work work;
  slp_work_line line;
  slp_mem *mem;
  slp_host *h;
  slp_own_file *own; /* the locked file; NULL: the file is not locked */
  slp_buf path, bytes;
  piece what;
  int error;
  uint8_t under_way;
  slp_login_file_fn done;
  void *arg;
};

static void file_free(slp_login_file *f) {
  slp_mem *mem = f->mem;
  slp_own_file_close(f->own);
  slp_secret_free(&f->bytes);
  slp_buf_free(&f->path);
  slp_free(mem, f);
  slp_mem_drop(mem);
}

static void on_run(slp_work *work) {
  slp_login_file *f = SLP_OWNER(work, slp_login_file, work);
  switch (f->what) {
    case LOCK: f->error = slp_own_file_open(f->mem, slp_buf_z(&f->path), &f->own); break;
    case SAVE: f->error = slp_own_file_replace(f->own, slp_buf_str(&f->bytes)); break;
    case CLOSE:
      slp_own_file_close(f->own);
      f->own = NULL;
      break;
  }
}

static void on_done(slp_work *work) {
  slp_login_file *f = SLP_OWNER(work, slp_login_file, work);
  f->under_way = 0;
  slp_secret_clear(&f->bytes);
  f->done(f->arg, f->error);
}

static void on_left(slp_work *work) { file_free(SLP_OWNER(work, slp_login_file, work)); }

static void send_login_file_work(slp_login_file *f, piece what, slp_login_file_fn done, void *arg) {
  SLP_CHECK(!f->under_way);
  f->what = what;
  f->done = done;
  f->arg = arg;
  f->under_way = 1;
  f->work.always = what != LOCK;
  slp_work_send(f->h, &f->work);
}

slp_login_file *slp_login_file_new(slp_host *h, const char *path) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_login_file *f = mem ? SLP_NEW(mem, slp_login_file) : NULL;
  if (!f) {
    slp_mem_drop(mem);
    return NULL;
  }
  f->mem = mem;
  f->h = h;
  f->work = (slp_work){.line = &f->line, .run = on_run, .on_done = on_done, .on_left = on_left};
  slp_list_init(&f->line.waiting);
  slp_buf_init(&f->path, mem, 4096);
  slp_buf_init(&f->bytes, mem, BYTES_MAX);
  /* Reserves room for the new content now, so that a save can't fail for lack of memory. A refresh token can
   * be used only once, so after it was used the new content must not be lost. */
  if (!slp_buf_add_z(&f->path, path) && !slp_secret_room(&f->bytes)) return f;
  file_free(f);
  return NULL;
}

void slp_login_file_lock(slp_login_file *f, slp_login_file_fn done, void *arg) {
  send_login_file_work(f, LOCK, done, arg);
}

int slp_login_file_save(slp_login_file *f, slp_str bytes, slp_login_file_fn done, void *arg) {
  SLP_CHECK(f->own && !f->under_way);
  int r = slp_buf_add_str(&f->bytes, bytes);
  if (r) return r;
  send_login_file_work(f, SAVE, done, arg);
  return 0;
}

void slp_login_file_leave(slp_login_file *f) {
  if (!f) return;
  if (!f->under_way && !f->own) {
    file_free(f);
    return;
  }
  if (!f->under_way) send_login_file_work(f, CLOSE, NULL, NULL);
  /* a thread is still saving or closing the file; on_left frees f when the thread has finished */
  slp_work_cancel(f->h, &f->work);
}

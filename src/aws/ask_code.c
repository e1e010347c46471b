/* ask_code.c - asks for the code of an MFA device on a thread, because reading the terminal blocks. When the
 * caller stops asking, the thread may still be waiting for the user. So each question has an allocator
 * (slp_mem) of its own, which is freed after the thread has stopped. */
#include "aws/ask_code.h"

#include "base/clean.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include "host/terminal.h"

#include <stdio.h>

#define DEVICE_MAX 256

struct slp_code_ask {
  slp_work work;
  slp_work_line line;
  slp_mem *mem;
  slp_host *h;
  char device[DEVICE_MAX];
  char code[SLP_CODE_MAX];
  int error;
  atomic_int stop;
  uint8_t over;
  slp_code_fn done;
  void *arg;
};

static atomic_int allowed;

void slp_codes_allow(void) { atomic_store(&allowed, 1); }
int slp_codes_can_be_asked(void) { return atomic_load(&allowed) && slp_terminal_is_ours(); }

static void ask_free(slp_code_ask *a) {
  slp_mem *mem = a->mem;
  slp_wipe(a->code, sizeof a->code);
  slp_free(mem, a);
  slp_mem_drop(mem);
}

static void on_run(slp_work *work) {
  slp_code_ask *a = SLP_OWNER(work, slp_code_ask, work);
  char question[DEVICE_MAX + 40];
  snprintf(question, sizeof question, "Enter MFA code for %s: ", a->device);
  a->error = slp_terminal_ask(question, &a->stop, a->code, sizeof a->code);
}

static void on_done(slp_work *work) {
  slp_code_ask *a = SLP_OWNER(work, slp_code_ask, work);
  a->over = 1;
  a->done(a->arg, a->error, a->code);
}

static void on_left(slp_work *work) { ask_free(SLP_OWNER(work, slp_code_ask, work)); }

slp_code_ask *slp_code_ask_begin(slp_host *h, const char *device, slp_code_fn done, void *arg) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_code_ask *a = mem ? SLP_NEW(mem, slp_code_ask) : NULL;
  if (!a) {
    slp_mem_drop(mem);
    return NULL;
  }
  a->mem = mem;
  a->h = h;
  a->done = done;
  a->arg = arg;
  slp_clean_copy(a->device, sizeof a->device, device);
  a->work = (slp_work){.line = &a->line, .run = on_run, .on_done = on_done, .on_left = on_left};
  slp_list_init(&a->line.waiting);
  slp_work_send(h, &a->work);
  return a;
}

void slp_code_ask_leave(slp_code_ask *a) {
  if (!a) return;
  atomic_store(&a->stop, 1);
  if (a->over)
    ask_free(a);
  else
    slp_work_cancel(a->h, &a->work); /* on_left frees the object once the thread has stopped */
}

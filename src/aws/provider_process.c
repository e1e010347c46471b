/* provider_process.c - keys from a program that the user configured (credential_process). The program runs
 * without a shell, and its output is never logged. */
#include "aws/aws_impl.h"
#include "aws/profile.h"
#include "aws/provider.h"
#include "base/buf.h"
#include "base/mem.h"
#include "codec/fields.h"
#include "codec/words.h"
#include "host/host.h"

#include <stdio.h>

#define TIMEOUT_MS 60000u
#define SLOW_MS 2000u
#define OUTPUT_MAX 65536u
#define COMMAND_MAX 65536u

typedef struct process {
  slp_provider p;
  slp_aws *aws;
  slp_host *h;
  const slp_profile *const *from;
  char where[200];
  slp_child child;
  slp_buf words;     /* the words of the command, each with a NUL at its end */
  const char **argv; /* owned; points into `words` */
  slp_buf output;
  uint8_t running, told_slow;
} process;

static void clear_process_attempt(process *x) {
  if (x->running) slp_spawn_cancel(x->h, &x->child);
  x->running = x->told_slow = 0;
  slp_wipe(x->child.said, sizeof x->child.said);
  slp_secret_free(&x->output);
  slp_buf_free(&x->words);
  slp_free(x->h->mem, x->argv);
  x->argv = NULL;
}

/* Returns 1 if the program's message complains about a missing terminal. */
static int misses_terminal(const char *said) {
  return strstr(said, "tty") || strstr(said, "terminal") || strstr(said, "Inappropriate ioctl");
}

/* Answers BROKEN with `what` and the last line that the program wrote to standard error. */
static void report_broken_process(process *x, const char *what) {
  slp_keys_broken(&x->p, "%.190s %s%s%s%.100s", x->where, what,
                  misses_terminal(x->child.said) ? " (it has no terminal here: log in by itself first)" : "",
                  x->child.said[0] ? ": " : "", x->child.said);
}

/* Called when the program takes long. The program may show an address to visit, or wait until the user
 * touches a security key. */
static void on_slow(slp_child *child) {
  process *x = SLP_OWNER(child, process, child);
  char text[480];
  if (!x->aws->waits) return;
  int n = snprintf(text, sizeof text, "%.190s", x->where);
  if (!x->told_slow)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  " is waited for, %u s at most; it has no terminal and no input here", TIMEOUT_MS / 1000);
  if (child->said[0])
    snprintf(text + n, sizeof text - (size_t)n, "%s says: %.159s", x->told_slow ? "" : "; it", child->said);
  x->told_slow = 1;
  x->aws->waits(x->aws->waits_ctx, text);
}

/* Returns 1 if the program exited with success. Otherwise answers with the reason and returns 0. */
static int ended_well(process *x) {
  const slp_child *child = &x->child;
  char what[80];
  if (!child->error && !child->status && !child->signal) return 1;
  if (child->error == SLP_ENOMEM) {
    slp_keys_starved(&x->p);
    return 0;
  }
  if (child->error == SLP_ETIMEDOUT)
    snprintf(what, sizeof what, "did not end within %u seconds and was killed", TIMEOUT_MS / 1000);
  else if (child->error == SLP_ELIMIT)
    snprintf(what, sizeof what, "wrote more than %u bytes to standard error and was killed",
             SLP_CHILD_SAID_MAX);
  else if (child->error == SLP_E2BIG)
    snprintf(what, sizeof what, "wrote more than %u bytes", OUTPUT_MAX);
  else if (child->error)
    snprintf(what, sizeof what, "can't be started (%.50s)", strerror(-child->error));
  else if (child->signal)
    snprintf(what, sizeof what, "was ended by signal %d", child->signal);
  else
    snprintf(what, sizeof what, "exited with status %d", child->status);
  report_broken_process(x, what);
  return 0;
}

/* Returns 1 if the program's output has version 1. Reads a copy of the output, because reading unescapes in
 * place. */
static int version_is_1(process *x) {
  if (!x->output.n) {
    report_broken_process(x, "wrote nothing");
    return 0;
  }
  slp_buf copy;
  slp_field version = {.name = "Version"};
  const char *why = "";
  slp_buf_init(&copy, x->h->mem, x->output.n + 1);
  slp_secret_room(&copy);
  int r = slp_buf_add_str(&copy, slp_buf_str(&x->output));
  if (r) {
    slp_secret_free(&copy);
    slp_keys_starved(&x->p);
    return 0;
  }
  r = slp_fields_read(copy.p, copy.n, NULL, &version, 1, &why);
  int good = !r && slp_str_is(version.text, "1");
  slp_secret_free(&copy);
  if (r)
    slp_keys_broken(&x->p, "%.190s wrote something that is not what it should be: %s", x->where, why);
  else if (!good)
    slp_keys_broken(&x->p, "%.190s wrote no \"Version\": 1", x->where);
  return good;
}

static void on_child(slp_child *child) {
  process *x = SLP_OWNER(child, process, child);
  static const slp_keys_json form = {.token_name = "SessionToken"};
  char who[220];
  x->running = 0;
  snprintf(who, sizeof who, "what %.190s wrote", x->where);
  if (ended_well(x) && version_is_1(x)) slp_keys_from_json(&x->p, &x->output, &form, who);
  clear_process_attempt(x);
}

/* Splits the command into the words of argv. Returns NULL, or a text that says what is wrong. */
static const char *split(process *x, const char *command, int *ret_error) {
  const char *why = NULL;
  size_t n = 0;
  int r = slp_words_split(slp_str_of(command), &x->words, &n, &why);
  *ret_error = r == SLP_ENOMEM ? r : 0;
  if (r) return r == SLP_ELIMIT ? "it is too long" : why ? why : "no memory";
  if (!n) return "it is empty";
  x->argv = slp_zalloc_n(x->h->mem, n + 1, sizeof *x->argv);
  if (!x->argv) {
    *ret_error = SLP_ENOMEM;
    return "no memory";
  }
  const char *at = x->words.p;
  for (size_t i = 0; i < n; i++, at += strlen(at) + 1) x->argv[i] = at;
  return NULL;
}

static void begin_process_attempt(slp_provider *p, int fresh) {
  process *x = SLP_OWNER(p, process, p);
  const slp_profile *profile = *x->from;
  int error = 0;
  (void)fresh;
  clear_process_attempt(x);
  snprintf(x->where, sizeof x->where, "profile %.60s (%.100s): credential_process", profile->name,
           slp_profile_where(profile, SLP_PROFILE_PROCESS));
  const char *what = split(x, slp_profile_get(profile, SLP_PROFILE_PROCESS), &error);
  if (!what && slp_secret_room(&x->output)) error = SLP_ENOMEM;
  if (error) {
    slp_keys_starved(p);
    return;
  }
  if (what) {
    slp_keys_broken(p, "%s can't be run: %s", x->where, what);
    return;
  }
  x->child = (slp_child){.argv = x->argv,
                         .total_ms_max = TIMEOUT_MS,
                         .into = &x->output,
                         .slow_ms = SLOW_MS,
                         .on_slow = on_slow,
                         .on_done = on_child};
  x->running = 1;
  slp_spawn(x->h, &x->child);
}

static void cancel_process_attempt(slp_provider *p) { clear_process_attempt(SLP_OWNER(p, process, p)); }

static void process_free(slp_provider *p) {
  process *x = SLP_OWNER(p, process, p);
  clear_process_attempt(x);
  slp_free(x->h->mem, x);
}

slp_provider *slp_provider_process(slp_aws *aws, const slp_profile *const *from) {
  slp_host *h = aws->h;
  process *x = SLP_NEW(h->mem, process);
  if (!x) return NULL;
  *x = (process){.p = {.begin = begin_process_attempt,
                       .cancel = cancel_process_attempt,
                       .free = process_free,
                       .ms_max = TIMEOUT_MS + 5000},
                 .aws = aws,
                 .h = h,
                 .from = from};
  slp_buf_init(&x->words, h->mem, COMMAND_MAX);
  slp_buf_init(&x->output, h->mem, OUTPUT_MAX);
  return &x->p;
}

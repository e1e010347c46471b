/* registered_text.c - prints the consumers that are registered with a stream, and asks the user whether a
 * consumer is to be deregistered. */
#include "cli/registered_text.h"

#include "base/buf.h"
#include "cli/args.h"
#include "cli/people_lines.h"
#include "codec/date.h"
#include "codec/json_write.h"
#include "program/process.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

static const char *state_name(sloop_registered_state_t state) {
  switch (state) {
    case SLOOP_REGISTERED_CREATING: return "CREATING";
    case SLOOP_REGISTERED_DELETING: return "DELETING";
    case SLOOP_REGISTERED_ACTIVE: return "ACTIVE";
  }
  return "?";
}

static void show_json(slp_buf *b, const char *stream, const sloop_registered_t *c) {
  slp_jw w = {.b = b, .one_line = 1};
  slp_jw_object(&w, NULL);
  slp_jw_z(&w, "stream", stream);
  slp_jw_z(&w, "consumer", c->name);
  slp_jw_z(&w, "state", state_name(c->state));
  slp_jw_i64_or_null(&w, "created_at", c->created_at_ms);
  slp_jw_z(&w, "arn", c->arn);
  slp_jw_object_end(&w);
  slp_buf_add_char(b, '\n');
}

int slp_consumers_show(slp_buf *b, const char *stream, int several, const sloop_registered_t *c, int json) {
  if (json) {
    show_json(b, stream, c);
    return slp_buf_failed(b);
  }
  char when[32] = "-";
  if (c->created_at_ms >= 0) slp_date_iso(c->created_at_ms, when);
  return slp_say_to(b, "%s%s%s %s created %s %s", several ? stream : "", several ? " " : "", c->name,
                    state_name(c->state), when, c->arn);
}

int slp_consumers_explain(slp_buf *b, const slp_args *a, const sloop_registered_t *const *all, size_t n,
                          const char *error) {
  const char *name = a->opts.push_consumer ? a->opts.push_consumer : a->opts.app;
  int or_poll = a->opts.retrieval == SLOOP_RETRIEVAL_AUTO;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(all[i]->name, name) == 0 || strcmp(all[i]->arn, name) == 0)
      return slp_buf_addf(b, "push as consumer %s, which is %s%s", name, state_name(all[i]->state),
                          or_poll ? "; polled if no events arrive" : "");
  }
  if (error)
    return slp_buf_addf(b, "push as consumer %s; it is not known whether it exists: %.200s", name, error);
  if (strncmp(name, "arn:", 4) == 0)
    return slp_buf_addf(
        b, "push as consumer %s, which is not among the consumers that this identity can list", name);
  return slp_buf_addf(b, "%s: no consumer %s is registered, and a worker registers it%s",
                      or_poll ? "push or poll" : "push", name, or_poll ? " or polls if that is refused" : "");
}

int slp_consumers_show_removed(slp_buf *b, const sloop_registered_t *c) {
  return slp_say_to(b, "deregistered: %s, it was %s", c->name, state_name(c->state));
}

int slp_consumers_removal_is_meant(const slp_args *a) {
  char answer[16] = "";
  if (a->force) return 1;
  if (!slp_is_terminal(0)) {
    slp_say("--deregister: readers of %s will be interrupted; without a terminal to confirm, give --force",
            a->deregister);
    return 0;
  }
  fprintf(stderr, "stream-tail: deregister %s of %s? Its readers will be interrupted. (yes) ", a->deregister,
          a->streams[0]);
  fflush(stderr);
  if (!fgets(answer, sizeof answer, stdin)) return 0;
  answer[strcspn(answer, "\r\n")] = 0;
  return strcmp(answer, "yes") == 0 || strcmp(answer, "y") == 0;
}

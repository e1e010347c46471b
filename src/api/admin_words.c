/* admin_words.c - texts for people that say why an operator's command failed. */
#include "api/admin_words.h"

#include "admin/command.h"
#include "base/fail.h"

#include <stdio.h>

/* Returns what the operator should do about a worker that lives. */
static const char *what_to_do(slp_admin_task task) {
  if (task == SLP_ADMIN_SURVEY) return "stop it first, or take a snapshot";
  if (task == SLP_ADMIN_IMPORT) return "stop it first";
  return task == SLP_ADMIN_RESET ? "stop it, or use force" : "stop it, or release the worker";
}

/* Returns a text that says how many positions a copy has written. Returns `nothing` if it has written none,
 * or if the command is no copy. */
static const char *what_was_written(const slp_admin_why *why, const char *nothing, char text[120]) {
  if (!why->wrote) return nothing;
  snprintf(text, 120, "%zu of %zu positions are already written; run the same command again to continue",
           why->made, why->placed);
  return text;
}

void slp_admin_words(slp_fail *f, const slp_admin_why *why) {
  char wrote[120];
  char text[sizeof f->message], before[201];
  int n = (int)slp_min_u64(why->name.n, 128), owner_n = (int)slp_min_u64(why->owner.n, 128);
  const char *name = n ? why->name.p : "", *owner = owner_n ? why->owner.p : "";
  snprintf(before, sizeof before, "%.200s", f->message);
  text[0] = 0;
#define SAY(...) snprintf(text, sizeof text, __VA_ARGS__)
  switch (why->reason) {
    case SLP_ADMIN_TOLD: return;
    case SLP_ADMIN_NO_MEMORY: SAY("no memory for the contents of the lease table"); break;
    case SLP_ADMIN_STREAM_BUSY: SAY("the stream is not ready yet"); break;
    case SLP_ADMIN_NO_TABLE:
      SAY("%.180s: no worker of %.80s has started yet, or it was deleted", before, why->stream);
      break;
    case SLP_ADMIN_OWNED:
      SAY("%.*s belongs to %.*s, which is alive: %s; %s", n, name, owner_n, owner, what_to_do(why->task),
          what_was_written(why, "nothing was changed", wrote));
      break;
    case SLP_ADMIN_SOME_UNCHANGED:
      SAY("%zu of %zu leases could not be changed%s", why->left, why->all,
          why->unknown ? ", or the table has not said whether they were" : "");
      break;
    case SLP_ADMIN_NOT_EVICTED: SAY("worker %.*s could not be evicted", n, name); break;
    case SLP_ADMIN_NO_SUCH_NAME:
      SAY("there is no lease and no worker %.*s of %.80s", n, name, why->stream);
      break;
    case SLP_ADMIN_NO_SUCH_SHARD:
      SAY("%.80s lists no shard %.*s, and there is no lease of it", why->stream, n, name);
      break;
    case SLP_ADMIN_NO_SUCH_LEASE: SAY("there is no lease of %.*s", n, name); break;
    case SLP_ADMIN_BAD_LEASE: SAY("there is no lease of %.*s that can be read", n, name); break;
    case SLP_ADMIN_UNLISTED: SAY("%.80s no longer lists %.*s: it can't be read", why->stream, n, name); break;
    case SLP_ADMIN_NO_LEASES: SAY("this application has no leases of %.80s", why->stream); break;
    case SLP_ADMIN_REFUSED_POSITION:
      SAY("%.*s can't be read from there, nothing was changed: %s", n, name, before);
      break;
    case SLP_ADMIN_NO_TIMES: SAY("rows of schema %.60s store no times", why->schema); break;
    case SLP_ADMIN_WORKS:
      SAY("worker %.*s is alive: %s; %s", owner_n, owner, what_to_do(why->task),
          what_was_written(why, "nothing was written", wrote));
      break;
    case SLP_ADMIN_CHANGING:
      SAY("the table says that its workers follow other rules, or will soon (\"%.*s\"); %s", n, name,
          what_was_written(why, "nothing was written", wrote));
      break;
    case SLP_ADMIN_OTHER_STREAM:
      SAY("token: it belongs to %.*s, but this is %.80s", n, name, why->stream);
      break;
    case SLP_ADMIN_NO_HOLD:
      SAY("rows of schema %.60s can't say that %s: stop %s instead; nothing was changed", why->schema,
          why->task == SLP_ADMIN_PAUSE ? "a shard is paused" : "an application is drained",
          why->task == SLP_ADMIN_PAUSE ? "the workers" : "its workers");
      break;
    case SLP_ADMIN_NOT_SWITCHED: SAY("its row kept changing; try again"); break;
    case SLP_ADMIN_STILL_READS_IT:
      SAY("%.*s has not given up %.*s in time; the shard stays paused", owner_n, owner, n, name);
      break;
    case SLP_ADMIN_STILL_READ:
      SAY("%zu worker%s not stopped reading in time; the application stays drained", why->left,
          why->left == 1 ? " has" : "s have");
      break;
    case SLP_ADMIN_NOTHING_LEFT: SAY("every shard is read to its end: a token can't express that"); break;
    case SLP_ADMIN_IN_THE_WAY:
      if (why->wrote)
        SAY("%zu rows are in conflict: they appeared meanwhile; %zu of %zu positions are written", why->left,
            why->made, why->placed);
      else
        SAY("%zu rows are in conflict; nothing was written", why->left);
      break;
  }
#undef SAY
  slp_fail_set(f, f->class, f->code, "%s", text);
}

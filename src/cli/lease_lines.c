/* lease_lines.c - turns lease events into lines of text. */
#include "cli/lease_lines.h"

#include <sloop.h>
#include <stdio.h>
#include <string.h>

/* Writes an event about a shard as a line. This function, about_worker and as_told return 1 if people should
 * see the line without -v too. */
static int about_shard(const sloop_lease_event_t *e, const char *what, char *line, size_t n) {
  snprintf(line, n, "%s: %s, epoch %llu", e->shard, what, (unsigned long long)e->epoch);
  return 0;
}

static int about_worker(const sloop_lease_event_t *e, const char *what, int trouble, char *line, size_t n) {
  snprintf(line, n, "worker %s %s", *e->worker ? e->worker : "(not registered)", what);
  return trouble;
}

/* Writes an event whose `text` already says what happened. Returns `trouble`. */
static int as_told(const sloop_lease_event_t *e, const char *what, int trouble, char *line, size_t n) {
  snprintf(line, n, "%s%s%s%s%s", e->shard, *e->shard ? ": " : "", what, *e->text ? ": " : "", e->text);
  return trouble;
}

int slp_lease_event_line(const sloop_lease_event_t *e, char *line, size_t n) {
  switch (e->kind) {
    case SLOOP_LEASE_JOINED: return about_worker(e, "is registered", 0, line, n);
    case SLOOP_LEASE_EVICTED:
      return as_told(e, "this worker was considered dead; registering again", 1, line, n);
    case SLOOP_LEASE_SUSPENDED:
      return about_worker(e, "can't renew its leases in time; output is paused", 1, line, n);
    case SLOOP_LEASE_RESUMED: return about_worker(e, "has renewed its leases; output continues", 1, line, n);
    case SLOOP_LEASE_TAKEN: return about_shard(e, "lease taken", line, n);
    case SLOOP_LEASE_LOST: return about_shard(e, "lease lost to another worker", line, n);
    case SLOOP_LEASE_RELEASED: return about_shard(e, "lease released", line, n);
    case SLOOP_LEASE_ENDED: return about_shard(e, "read to its end", line, n);
    case SLOOP_LEASE_LEADS: return about_worker(e, "is the leader", 0, line, n);
    case SLOOP_LEASE_FOLLOWS: return about_worker(e, "is no longer the leader", 0, line, n);
    case SLOOP_LEASE_EVICTED_OTHER: return as_told(e, "evicted another worker", 0, line, n);
    case SLOOP_LEASE_HOLE: return as_told(e, "a gap in the hash-key ranges", 1, line, n);
    case SLOOP_LEASE_BAD_ROW: return as_told(e, "a row of the lease table is ignored", 1, line, n);
    case SLOOP_LEASE_TROUBLE: return as_told(e, "leases", 1, line, n);
    case SLOOP_LEASE_DRAINED: return as_told(e, "drained, until --undrain", 1, line, n);
    case SLOOP_LEASE_UNDRAINED: return as_told(e, "undrained", 1, line, n);
    case SLOOP_LEASE_LEFT:
      if (strcmp(e->text, "left") == 0) return about_worker(e, "has left", 0, line, n);
      return as_told(e, "this worker has left", 0, line, n);
  }
  return as_told(e, "leases", 1, line, n);
}

/* constant_names.c - the names and texts of the constants of sloop.h, for programs that print them: result
 * codes (of libsloop and of libuv), kinds of events, states. Also returns the texts of the version. */
#include "host/err.h"

#include <sloop.h>

const char *sloop_err_name(int err) {
  switch (err) {
    case 0: return "OK";
#define X(name, num, text) \
  case num: return #name;
      SLOOP_ERRORS(X)
#undef X
    default: return slp_uv_err_name(err);
  }
}

const char *sloop_strerror(int err) {
  switch (err) {
    case 0: return "success";
#define X(name, num, text) \
  case num: return text;
      SLOOP_ERRORS(X)
#undef X
    default: return slp_uv_strerror(err);
  }
}

const char *sloop_version(void) { return SLP_VERSION; }

uint32_t sloop_version_num(void) { return SLOOP_VERSION_NUM; }

const char *sloop_features(void) { return slp_features(); }

const char *sloop_shard_event_name(sloop_shard_event_kind_t kind) {
  switch (kind) {
    case SLOOP_SHARD_OPENED: return "opened";
    case SLOOP_SHARD_ENDED: return "ended";
    case SLOOP_SHARD_STOPPED: return "stopped";
    case SLOOP_SHARD_REPOSITIONED: return "repositioned";
    case SLOOP_SHARD_LOST: return "lost";
    case SLOOP_SHARD_RELEASED: return "released";
    case SLOOP_SHARD_READ_OUT: return "read_out";
    case SLOOP_SHARD_LEAVING: return "leaving";
  }
  return "unknown";
}

const char *sloop_lease_event_name(sloop_lease_event_kind_t kind) {
  switch (kind) {
    case SLOOP_LEASE_JOINED: return "joined";
    case SLOOP_LEASE_EVICTED: return "evicted";
    case SLOOP_LEASE_SUSPENDED: return "suspended";
    case SLOOP_LEASE_RESUMED: return "resumed";
    case SLOOP_LEASE_TAKEN: return "taken";
    case SLOOP_LEASE_LOST: return "lost";
    case SLOOP_LEASE_RELEASED: return "released";
    case SLOOP_LEASE_ENDED: return "ended";
    case SLOOP_LEASE_LEADS: return "leads";
    case SLOOP_LEASE_FOLLOWS: return "follows";
    case SLOOP_LEASE_EVICTED_OTHER: return "evicted_other";
    case SLOOP_LEASE_HOLE: return "hole";
    case SLOOP_LEASE_BAD_ROW: return "bad_row";
    case SLOOP_LEASE_TROUBLE: return "trouble";
    case SLOOP_LEASE_LEFT: return "left";
    case SLOOP_LEASE_DRAINED: return "drained";
    case SLOOP_LEASE_UNDRAINED: return "undrained";
  }
  return "unknown";
}

const char *sloop_shard_state_name(sloop_shard_state_t state) {
  switch (state) {
    case SLOOP_SHARD_IS_READ: return "reading";
    case SLOOP_SHARD_IS_AT_TIP: return "at_tip";
    case SLOOP_SHARD_WAITS_FOR_YOU: return "waiting_for_user";
    case SLOOP_SHARD_WAITS_FOR_ANOTHER: return "waiting_for_shard";
    case SLOOP_SHARD_FAILS: return "failing";
    case SLOOP_SHARD_IS_SUSPENDED: return "suspended";
    case SLOOP_SHARD_IS_PAUSED: return "paused";
    case SLOOP_SHARD_IS_GIVEN_UP: return "given_up";
    case SLOOP_SHARD_IS_PARKED: return "parked";
    case SLOOP_SHARD_IS_REFUSED: return "refused";
    case SLOOP_SHARD_WAITS_FOR_PARENT: return "waiting_for_parent";
  }
  return "unknown";
}

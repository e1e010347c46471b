/* lease_lines.c - every event of leases is told, and the bad ones without being asked. */
#include "cli/lease_lines.h"
#include "check.h"

static char line[400];

static int tell(sloop_lease_event_kind_t what, const char *shard, const char *text) {
  sloop_lease_event_t e = {what, shard, "w.1", text, 7};
  memset(line, 'x', sizeof line);
  return slp_lease_event_line(&e, line, sizeof line);
}
#define CHECK_TELLS(trouble, what, shard, text, want)            \
  do {                                                           \
    CHECK_INT(tell(SLOOP_LEASE_##what, shard, text), (trouble)); \
    CHECK_STR(line, want);                                       \
  } while (0)

TEST(each_has_its_line) {
  CHECK_TELLS(0, JOINED, "", "w", "worker w.1 is registered");
  CHECK_TELLS(1, EVICTED, "", "why", "this worker was considered dead; registering again: why");
  CHECK_TELLS(1, SUSPENDED, "", "s", "worker w.1 can't renew its leases in time; output is paused");
  CHECK_TELLS(1, RESUMED, "", "s", "worker w.1 has renewed its leases; output continues");
  CHECK_TELLS(0, TAKEN, "shard-1", "t", "shard-1: lease taken, epoch 7");
  CHECK_TELLS(0, LOST, "shard-1", "t", "shard-1: lease lost to another worker, epoch 7");
  CHECK_TELLS(0, RELEASED, "shard-1", "t", "shard-1: lease released, epoch 7");
  CHECK_TELLS(0, ENDED, "shard-1", "t", "shard-1: read to its end, epoch 7");
  CHECK_TELLS(0, LEADS, "", "t", "worker w.1 is the leader");
  CHECK_TELLS(0, FOLLOWS, "", "t", "worker w.1 is no longer the leader");
  CHECK_TELLS(0, EVICTED_OTHER, "", "w2.5", "evicted another worker: w2.5");
  CHECK_TELLS(1, HOLE, "", "from 1 to 2", "a gap in the hash-key ranges: from 1 to 2");
  CHECK_TELLS(1, BAD_ROW, "shard-1", "odd", "shard-1: a row of the lease table is ignored: odd");
  CHECK_TELLS(1, TROUBLE, "", "", "leases");
  CHECK_TELLS(0, LEFT, "", "left", "worker w.1 has left");
  CHECK_TELLS(0, LEFT, "", "evicted", "this worker has left: evicted");
}

TEST(a_long_text_is_cut) {
  static char text[1000];
  memset(text, 'a', sizeof text - 1);
  CHECK_INT(tell(SLOOP_LEASE_TROUBLE, "", text), 1);
  CHECK_INT(strlen(line), sizeof line - 1);
}

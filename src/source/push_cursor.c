/* push_cursor.c - the cursors of pushed shards: positions as text. */
#include "source/push_cursor.h"

#include "aws/ops.h"
#include "base/num.h"
#include "core/mark.h"
#include "core/position.h"

#include <stdio.h>

int slp_push_cursor_put(const slp_position *from, char out[SLP_PUSH_CURSOR_MAX]) {
  switch (from->kind) {
    case SLP_POSITION_LATEST: return snprintf(out, SLP_PUSH_CURSOR_MAX, "latest");
    case SLP_POSITION_TIME: return snprintf(out, SLP_PUSH_CURSOR_MAX, "time:%lld", (long long)from->at_ms);
    case SLP_POSITION_AT:
      return snprintf(out, SLP_PUSH_CURSOR_MAX, "at:%.*s", (int)from->mark.seq_n, from->mark.seq);
    case SLP_POSITION_AFTER:
      return snprintf(out, SLP_PUSH_CURSOR_MAX, "after:%.*s", (int)from->mark.seq_n, from->mark.seq);
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_NONE:
    case SLP_POSITION_END: break; /* NONE and END: core never asks for a cursor there */
  }
  return snprintf(out, SLP_PUSH_CURSOR_MAX, "oldest");
}

void slp_push_cursor_take(slp_op_subscribe *op, const char *at) {
  const char *colon = strchr(at, ':');
  slp_str rest = slp_str_of(colon ? colon + 1 : at);
  if (strcmp(at, "oldest") == 0) {
    op->kind = SLP_ITER_OLDEST;
  } else if (strcmp(at, "latest") == 0) {
    op->kind = SLP_ITER_LATEST;
  } else if (strncmp(at, "time:", 5) == 0) {
    op->kind = SLP_ITER_AT_TIME;
    SLP_CHECK(slp_parse_i64(rest, &op->at_ms) == 0);
  } else {
    op->kind = strncmp(at, "at:", 3) == 0 ? SLP_ITER_AT_SEQ : SLP_ITER_AFTER_SEQ;
    op->seq = rest;
  }
}

int slp_push_cursor_is_own(slp_str at) {
  static const char *const words[] = {"oldest", "latest", "time:", "at:", "after:"};
  for (size_t i = 0; i < SLP_COUNT(words); i++) {
    size_t n = strlen(words[i]);
    if (at.n >= n && at.n < SLP_PUSH_CURSOR_MAX && memcmp(at.p, words[i], n) == 0) return i > 1 || at.n == n;
  }
  return at.n <= SLP_SEQ_MAX && slp_num_valid(at);
}

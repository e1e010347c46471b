/* migrate_words.c - turns the result of a migration into lines of text for people. */
#include "cli/migrate_words.h"

#include "base/buf.h"
#include "cli/lease_words.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

/* Writes the position in the source, and the position in the target if it differs. */
static void say_places(const sloop_move_t *m, char out[480]) {
  char from[200], to[200];
  slp_position_text(&m->from, from);
  slp_position_text(&m->to, to);
  const char *filled = m->filled ? " (the source does not name it)" : "";
  if (*to && strcmp(from, to) != 0)
    snprintf(out, 480, "%s%s, as %s", from, filled, to);
  else
    snprintf(out, 480, "%s%s", from, filled);
}

static void say_move(slp_buf *b, const sloop_move_t *m) {
  char at[480], to[200];
  say_places(m, at);
  slp_position_text(&m->to, to);
  switch (m->kind) {
    case SLOOP_MOVE_TO_DO: slp_lease_say(b, "%s: %s", m->shard, at); return;
    case SLOOP_MOVE_DONE: slp_lease_say(b, "%s: %s: copied", m->shard, at); return;
    case SLOOP_MOVE_WAS_SO: slp_lease_say(b, "%s: %s: is there already", m->shard, at); return;
    case SLOOP_MOVE_DIFFERS:
      slp_position_text(&m->from, at);
      slp_lease_say(b, "%s: conflict: the source has %s, and the target has %s", m->shard, at, to);
      return;
    case SLOOP_MOVE_PARKED:
      slp_lease_say(b,
                    "%s: conflict: it is parked, which the target layout can't express; --release it first",
                    m->shard);
      return;
    case SLOOP_MOVE_BAD_SOURCE:
      slp_lease_say(b, "%s: conflict: the source's row is invalid: %s", m->shard, m->why);
      return;
    case SLOOP_MOVE_NO_TIME:
      slp_lease_say(b, "%s: conflict: it starts at a time that the source does not store; give -o s@TIME",
                    m->shard);
      return;
    case SLOOP_MOVE_START:
      slp_position_text(&m->from, at);
      slp_lease_say(b,
                    "%s: conflict: it starts at \"%s\", which rows of the target can't store; give that as "
                    "-o here and to each worker",
                    m->shard, at);
      return;
    case SLOOP_MOVE_POSITION:
      slp_position_text(&m->from, at);
      slp_lease_say(b, "%s: conflict: rows of the target can't store \"%s\"; %s", m->shard, at,
                    m->from.kind == SLOOP_AFTER_SEQ ? "they have no positions inside an aggregate: -X "
                                                      "aggregates=keep says that there are no aggregates"
                                                    : "let the source read further, then try again");
      return;
    case SLOOP_MOVE_EXTRA:
      slp_lease_say(
          b, "%s: conflict: the target has a row for it (%s), but neither the source nor the stream has it",
          m->shard, to);
      return;
    case SLOOP_MOVE_BAD_TARGET:
      slp_lease_say(b, "%s: conflict: a row of the target is invalid: %s", m->shard, m->why);
      return;
    case SLOOP_MOVE_FOREIGN:
      slp_lease_say(b, "%s: conflict: a row of the target does not belong to its schema", m->shard);
      return;
  }
  slp_lease_say(b, "%s: outcome %d, which this program does not know", m->shard, (int)m->kind);
}

int slp_migrate_lines(slp_buf *b, const sloop_migration_t *m) {
  for (size_t i = 0; i < m->moves_n; i++) say_move(b, m->moves[i]);
  return slp_buf_failed(b);
}

static size_t count_moves_of_kind(const sloop_migration_t *m, sloop_move_kind_t kind) {
  size_t n = 0;
  for (size_t i = 0; i < m->moves_n; i++) n += m->moves[i]->kind == kind;
  return n;
}

int slp_migrate_cut_off(slp_buf *b, const sloop_migration_t *m) {
  if (m->wrote)
    slp_lease_say(b, "%zu of %zu copied before it ended%s", count_moves_of_kind(m, SLOOP_MOVE_DONE),
                  m->moves_n - m->problems_n,
                  m->problems_n ? "" : "; more may be: run the same command again to continue");
  return slp_buf_failed(b);
}

int slp_migrate_sum(slp_buf *b, const sloop_migration_t *m, int dry) {
  size_t left = count_moves_of_kind(m, SLOOP_MOVE_TO_DO), done = count_moves_of_kind(m, SLOOP_MOVE_DONE);
  if (*m->token)
    slp_lease_say(b, dry ? "nothing was written; --write writes the token" : "the token is written");
  else if (dry && left)
    slp_lease_say(b, "%zu to copy, %zu there already; nothing was written: --write does it", left,
                  count_moves_of_kind(m, SLOOP_MOVE_WAS_SO));
  else if (done)
    slp_lease_say(b, "%zu copied, %zu were there already", done, count_moves_of_kind(m, SLOOP_MOVE_WAS_SO));
  else
    slp_lease_say(b, "all %zu are there already", m->moves_n);
  return slp_buf_failed(b);
}

/* watch_ui.c - turns typed bytes into keys, and keys into changes of what is shown. */
#include "cli/watch_ui.h"

#include "base/states.h"

#define PAGE_STEP 10 /* by how many lines a page key moves */

typedef enum {
  KEY_NONE,
  KEY_UP,
  KEY_DOWN,
  KEY_PAGE_UP,
  KEY_PAGE_DOWN,
  KEY_HOME,
  KEY_END,
  KEY_ENTER,
  KEY_ESCAPE,
  KEY_BACKSPACE,
  KEY_TEXT
} key_kind;

static void move(slp_watch_ui *u, slp_watch_page to) {
  static const slp_set allowed[] = {
      [SLP_WATCH_SHARDS] = SLP_BIT(SLP_WATCH_TYPING) | SLP_BIT(SLP_WATCH_WORKERS) | SLP_BIT(SLP_WATCH_WHY) |
                           SLP_BIT(SLP_WATCH_HELP),
      [SLP_WATCH_TYPING] = SLP_BIT(SLP_WATCH_SHARDS),
      [SLP_WATCH_WORKERS] = SLP_BIT(SLP_WATCH_SHARDS) | SLP_BIT(SLP_WATCH_HELP),
      [SLP_WATCH_WHY] = SLP_BIT(SLP_WATCH_SHARDS) | SLP_BIT(SLP_WATCH_HELP),
      [SLP_WATCH_HELP] = SLP_BIT(SLP_WATCH_SHARDS) | SLP_BIT(SLP_WATCH_WORKERS) | SLP_BIT(SLP_WATCH_WHY),
  };
  SLP_MOVE(allowed, u->page, to);
  if (to != SLP_WATCH_TYPING) u->top = 0;
  u->step = 0;
}

const char *slp_watch_sort_word(slp_watch_sort sort) {
  static const char *const words[SLP_SORTS] = {[SLP_SORT_URGENT] = "urgent",
                                               [SLP_SORT_LAG] = "lag",
                                               [SLP_SORT_SHARD] = "shard",
                                               [SLP_SORT_WORKER] = "worker",
                                               [SLP_SORT_RATE] = "rate"};
  return words[sort];
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void step_in_page(slp_watch_ui *u, int32_t by) {
  if (u->step > INT32_MAX / 2 || u->step < INT32_MIN / 2) return;
  u->step += by;
  if (u->page == SLP_WATCH_SHARDS) u->picks = 1;
}

/* Handles the keys that move the choice or the text. Returns 1, or 0 if the key is not one of them. */
static int take_move(slp_watch_ui *u, key_kind key, char c) {
  if (key == KEY_UP || (key == KEY_TEXT && c == 'k'))
    step_in_page(u, -1);
  else if (key == KEY_DOWN || (key == KEY_TEXT && c == 'j'))
    step_in_page(u, 1);
  else if (key == KEY_PAGE_UP)
    step_in_page(u, -PAGE_STEP);
  else if (key == KEY_PAGE_DOWN || (key == KEY_TEXT && c == ' '))
    step_in_page(u, PAGE_STEP);
  else if (key == KEY_HOME || (key == KEY_TEXT && c == 'g'))
    step_in_page(u, INT32_MIN / 2);
  else if (key == KEY_END || (key == KEY_TEXT && c == 'G'))
    step_in_page(u, INT32_MAX / 2);
  else
    return 0;
  return 1;
}

static void take_typed(slp_watch_ui *u, key_kind key, char c) {
  size_t n = strlen(u->filter);
  if (key == KEY_TEXT && n < SLP_WATCH_FILTER_BYTES)
    u->filter[n] = c; /* the bytes after the text are 0 */
  else if (key == KEY_BACKSPACE && n > 0)
    u->filter[n - 1] = 0;
  else if (key == KEY_ESCAPE)
    memset(u->filter, 0, sizeof u->filter);
  if (key == KEY_ESCAPE || key == KEY_ENTER) move(u, SLP_WATCH_SHARDS);
}

static void take_on_shards(slp_watch_ui *u, key_kind key, char c) {
  if (key == KEY_ENTER && *u->shard)
    move(u, SLP_WATCH_WHY);
  else if (key == KEY_ESCAPE) {
    memset(u->filter, 0, sizeof u->filter);
    u->picks = 0;
    u->top = 0;
  } else if (key == KEY_TEXT && c == '/')
    move(u, SLP_WATCH_TYPING);
  else if (key == KEY_TEXT && c == 's')
    u->sort = (u->sort + 1) % SLP_SORTS;
  else if (key == KEY_TEXT && c == 'w')
    move(u, SLP_WATCH_WORKERS);
}

static void take_key(slp_watch_ui *u, key_kind key, char c) {
  if (key == KEY_NONE) return;
  if (u->page == SLP_WATCH_TYPING) {
    take_typed(u, key, c);
  } else if (key == KEY_TEXT && c == 'q') {
    u->quit = 1;
  } else if (u->page == SLP_WATCH_HELP) {
    move(u, u->before);
  } else if (key == KEY_TEXT && (c == '?' || c == 'h')) {
    u->before = u->page;
    move(u, SLP_WATCH_HELP);
  } else if (take_move(u, key, c)) {
    ;
  } else if (u->page == SLP_WATCH_SHARDS) {
    take_on_shards(u, key, c);
  } else if (key == KEY_ESCAPE || key == KEY_ENTER || (key == KEY_TEXT && c == 'w')) {
    move(u, SLP_WATCH_SHARDS);
  }
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

/* Returns the key of a complete sequence, such as "[A", which follows an Esc; KEY_NONE: --watch does not use
 * this key. */
static key_kind key_of_sequence(const char *p, size_t n) {
  static const struct {
    const char *sequence;
    key_kind key;
  } keys[] = {{"[A", KEY_UP},       {"OA", KEY_UP},         {"[B", KEY_DOWN}, {"OB", KEY_DOWN},
              {"[5~", KEY_PAGE_UP}, {"[6~", KEY_PAGE_DOWN}, {"[H", KEY_HOME}, {"OH", KEY_HOME},
              {"[1~", KEY_HOME},    {"[F", KEY_END},        {"OF", KEY_END},  {"[4~", KEY_END}};
  for (size_t i = 0; i < SLP_COUNT(keys); i++)
    if (strlen(keys[i].sequence) == n && memcmp(p, keys[i].sequence, n) == 0) return keys[i].key;
  return KEY_NONE;
}

/* Returns 1 if the bytes after an Esc are a complete key: "[" with parameters and a final byte, or "O" and a
 * byte, or any other byte. */
static int is_whole(const char *p, size_t n) {
  if (p[0] == 'O') return n == 2;
  if (p[0] != '[') return 1;
  return n > 1 && p[n - 1] >= 0x40 && p[n - 1] <= 0x7e;
}

void slp_watch_ui_settle(slp_watch_ui *u) {
  if (u->sequence_n == 1) take_key(u, KEY_ESCAPE, 0);
  u->sequence_n = 0;
}

static void take_byte(slp_watch_ui *u, char c) {
  if (u->sequence_n) {
    /* no known key is that long; its bytes so far are dropped */
    if (u->sequence_n == sizeof u->sequence) u->sequence_n = u->sequence[1] == '[' ? 2 : 1;
    if (c == 033) { /* Esc twice, or a key that was cut off */
      slp_watch_ui_settle(u);
      u->sequence[u->sequence_n++] = c;
      return;
    }
    u->sequence[u->sequence_n++] = c;
    if (!is_whole(u->sequence + 1, u->sequence_n - 1u)) return;
    take_key(u, key_of_sequence(u->sequence + 1, u->sequence_n - 1u), 0);
    u->sequence_n = 0;
  } else if (c == 033) {
    u->sequence[u->sequence_n++] = c;
  } else if (c == '\r' || c == '\n') {
    take_key(u, KEY_ENTER, 0);
  } else if (c == 0x7f || c == '\b') {
    take_key(u, KEY_BACKSPACE, 0);
  } else if (c >= 0x20 && c < 0x7f) {
    take_key(u, KEY_TEXT, c);
  }
}

void slp_watch_ui_take(slp_watch_ui *u, const char *p, size_t n) {
  for (size_t i = 0; i < n && !u->quit; i++) take_byte(u, p[i]);
}

/* config.c - reads and writes the configuration file. */
#include "cli/config.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/knobs.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/point_in_time.h"
#include "program/local.h"

#include <stdio.h>

#define CONFIG_BYTES_MAX (1 << 20)

static slp_str trim_config_blanks(slp_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s = (slp_str){s.p + 1, s.n - 1};
  while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r')) s.n--;
  return s;
}

/* Returns 1 if s means yes, 0 if s means no, -1 for any other text. */
static int read_yes_or_no(slp_str s) {
  static const char *const yes[] = {"1", "yes", "true", "on"}, *const no[] = {"0", "no", "false", "off"};
  for (size_t i = 0; i < SLP_COUNT(yes); i++) {
    if (slp_str_is(s, yes[i])) return 1;
    if (slp_str_is(s, no[i])) return 0;
  }
  return -1;
}

/* Returns 1 if the option may stand in the configuration file. The others are refused because in the file
 * they would
 *     make every command print a text or run in another mode;
 *     make configuration files include each other without end;
 *     ask for a change or for records to be written, which the user must type each time. */
static int belongs_in_a_file(const slp_option *o) {
  return o->id != O_CONFIG && o->id != O_KNOB && o->id != O_HELP && o->id != O_VERSION && o->id != O_MAN &&
         o->id != O_COMPLETION && o->id != O_KCAT && o->id != O_IAM && o->id != O_LIST && o->id != O_SERVE &&
         o->id != O_DEMO && o->id != O_BENCH && o->id != O_LEASES && o->id != O_EXPLAIN && o->id != O_WATCH &&
         o->id != O_RELEASE && o->id != O_RESET && o->id != O_TO && o->id != O_FORCE && o->id != O_MIGRATE &&
         o->id != O_WRITE && o->id != O_CONSUMERS && o->id != O_DEREGISTER && o->id != O_CHECK &&
         o->id != O_PRODUCE && o->id != O_FEED && o->modes != SLP_MODE_PRODUCE;
}

static void offer_nearest_name(void *nearest, const char *name, const char *unit, const char *meaning) {
  (void)unit;
  (void)meaning;
  slp_nearest_offer(nearest, name);
}

/* Writes into `why` that the setting `name` is unknown, and which options and settings of -X are most like
 * it. */
static void say_unknown(slp_str name, char why[200]) {
  slp_nearest like;
  slp_nearest_begin(&like, name);
  for (size_t i = 0; i < slp_options_n; i++)
    if (belongs_in_a_file(&slp_options[i])) slp_nearest_offer(&like, slp_options[i].name);
  slp_knobs_each(offer_nearest_name, &like);
  int n = snprintf(why, 200, "unknown setting \"%.*s\"", (int)slp_min_u64(name.n, 60), name.p);
  slp_nearest_text(&like, "", why + n, 200 - (size_t)n);
}

/* Writes into `why` that the option or setting `name` is unknown, and what the user probably meant. */
static void explain_unknown(slp_str name, int has_value, char why[200]) {
  int shown = (int)slp_min_u64(name.n, 60);
  const char *blank = slp_str_has(name, ' ') ? memchr(name.p, ' ', name.n) : NULL;
  slp_str first = {name.p, blank ? (size_t)(blank - name.p) : name.n};
  if (*name.p == '-')
    snprintf(why, 200, "\"%.*s\": an option is written by its long name without dashes, as in since = 10m",
             shown, name.p);
  else if (*name.p == '[')
    snprintf(why, 200, "\"%.*s\": the file has no sections; leave the line out", shown, name.p);
  else if (!has_value && blank && (slp_option_by_name(first) || slp_knob_exists(first)))
    snprintf(why, 200, "\"%.*s\": put a \"=\" between the name and its value: %.*s = ...", shown, name.p,
             (int)first.n, first.p);
  else
    say_unknown(name, why);
}

/* Takes one line of the file. `line` ends with a NUL and contains `name` and `value`. If the line has no '=',
 * value.p is NULL. */
static int take_line(slp_args *a, const char *line, slp_str name, slp_str value, const slp_clock *clock,
                     char why[200]) {
  const slp_option *o = slp_option_by_name(name);
  if (!o && slp_knob_exists(name)) return slp_args_take(a, slp_option_by_letter('X'), line, 1, clock, why);
  if (!o) {
    explain_unknown(name, value.p != NULL, why);
    return SLP_EINVAL;
  }
  if (!belongs_in_a_file(o)) {
    snprintf(why, 200, "--%.*s can't be set in a file", (int)slp_min_u64(name.n, 60), name.p);
    return SLP_EINVAL;
  }
  if (o->kind == SLP_NO_VALUE) {
    int on = value.p ? read_yes_or_no(value) : 1;
    if (on < 0) {
      snprintf(why, 200, "%s: \"%.60s\" is neither yes nor no", o->name, value.p);
      return SLP_EINVAL;
    }
    return on ? slp_args_take(a, o, NULL, 1, clock, why) : 0;
  }
  if (!value.p) {
    snprintf(why, 200, "%s needs a value: %s=%s", o->name, o->name, o->value);
    return SLP_EINVAL;
  }
  return slp_args_take(a, o, value.p, 1, clock, why);
}

/* Returns the offset of the first '#' at the beginning of s or after a blank. Returns s.n if there is
 * none. */
static size_t find_comment(slp_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] == '#' && (i == 0 || s.p[i - 1] == ' ' || s.p[i - 1] == '\t')) return i;
  return s.n;
}

/* Removes the quotes around a value, and a comment after the closing quote. Leaves a value without quotes as
 * it is. Refuses a value that other programs might read in another way. */
static int take_quotes(slp_str *value, char why[200]) {
  slp_str s = *value;
  if (s.n && (*s.p == '"' || *s.p == '\'')) {
    const char *end = memchr(s.p + 1, *s.p, s.n - 1);
    slp_str rest = end ? (slp_str){end + 1, s.n - (size_t)(end + 1 - s.p)} : (slp_str){0};
    slp_str after = trim_config_blanks(rest);
    if (end && (!after.n || (*after.p == '#' && after.p > rest.p))) {
      *value = (slp_str){s.p + 1, (size_t)(end - s.p - 1)};
      return 0;
    }
    snprintf(why, 200, "%.*s: %s; put the whole value between two %s if it begins with a quote",
             (int)slp_min_u64(s.n, 40), s.p,
             end ? "something follows the quoted text" : "a quote is not closed", *s.p == '"' ? "'" : "\"");
    return SLP_EINVAL;
  }
  size_t at = find_comment(s);
  if (at == s.n) return 0;
  snprintf(
      why, 200,
      "\"%.*s\": is the # a comment? Give it a line of its own; if it is not, put the value between quotes",
      (int)slp_min_u64(s.n, 40), s.p);
  return SLP_EINVAL;
}

/* Turns a line into NAME=VALUE, in place and without spaces around the '=', and stores the option in `a`. */
static int read_line(slp_args *a, char *from, size_t n, const slp_clock *clock, char why[200]) {
  slp_str line = trim_config_blanks((slp_str){from, n});
  if (!line.n || *line.p == '#' || *line.p == ';') return 0;
  if (memchr(line.p, 0, line.n)) {
    snprintf(why, 200, "a NUL byte");
    return SLP_EINVAL;
  }
  const char *equals = memchr(line.p, '=', line.n);
  size_t comment = find_comment(line);
  if (!equals || comment < (size_t)(equals - line.p)) { /* the line is a flag; a comment may follow it */
    equals = NULL;
    line = trim_config_blanks((slp_str){line.p, comment});
  }
  slp_str name = trim_config_blanks((slp_str){line.p, equals ? (size_t)(equals - line.p) : line.n}),
          value = {0};
  char *start = from + (line.p - from), *end = start + name.n;
  if (equals) {
    value = trim_config_blanks((slp_str){equals + 1, line.n - (size_t)(equals + 1 - line.p)});
    int r = take_quotes(&value, why);
    if (r) return r;
    *end++ = '=';
    memmove(end, value.p, value.n);
    value.p = end;
    end += value.n;
  }
  /* Ends NAME=VALUE with a NUL. The text has only become shorter, so `end` is at most the place of the line's
   * newline, or of the byte reserved after the last line. */
  *end = 0;
  return take_line(a, start, (slp_str){start, name.n}, value, clock, why);
}

int slp_config_read(slp_args *a, const char *path, int may_be_absent, const slp_clock *clock,
                    char why[SLP_ARGS_WHY]) {
  slp_mem *mem = a->config_text.mem;
  slp_buf_init(&a->config_text, mem, CONFIG_BYTES_MAX);
  int r = slp_local_read(path, &a->config_text);
  if (r == SLP_ENOENT && may_be_absent) return 0;
  if (!r) r = slp_buf_reserve(&a->config_text, 1);
  if (r) {
    char trouble[SLP_LOCAL_WHY];
    slp_local_explain(path, r, 0, trouble);
    snprintf(why, SLP_ARGS_WHY, "can't read %.140s: %.200s", path, trouble);
    return SLP_EINVAL;
  }
  char *p = a->config_text.p, *end = p + a->config_text.n;
  if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3; /* skips a byte order mark */
  for (unsigned number = 1; p < end; number++) {
    char *line_end = memchr(p, '\n', (size_t)(end - p));
    if (!line_end) line_end = end;
    char part[200];
    r = read_line(a, p, (size_t)(line_end - p), clock, part);
    if (r) {
      snprintf(why, SLP_ARGS_WHY, "%.170s:%u: %s", path, number, part);
      return r;
    }
    p = line_end + 1;
  }
  return 0;
}

/* Returns the quotes to write around a value so that it is read back unchanged: "", "'" or "\"". Returns NULL
 * if no line of a file can hold the value. */
static const char *quotes_for(const char *value) {
  slp_str all = slp_str_of(value);
  if (strchr(value, '\n')) return NULL;
  int plain = slp_str_eq(trim_config_blanks(all), all) && *value != '"' && *value != '\'' &&
              find_comment(all) == all.n;
  return plain ? "" : !strchr(value, '\'') ? "'" : !strchr(value, '"') ? "\"" : NULL;
}

static void add_setting(slp_buf *b, slp_str name, const char *value) {
  const char *quotes = quotes_for(value);
  if (quotes)
    slp_buf_addf(b, "%.*s=%s%s%s\n", (int)name.n, name.p, quotes, value, quotes);
  else
    slp_buf_addf(b, "# %.*s: a file can't hold this value\n", (int)name.n, name.p);
}

int slp_config_dump(slp_buf *b, const slp_args *a) {
  slp_buf_add_z(b, "# what was given, as lines for -F FILE\n");
  for (size_t i = 0; i < a->given_n; i++) {
    const slp_given *g = &a->given[i];
    int knob = g->option->id == O_KNOB;
    const char *equals = knob ? strchr(g->value, '=') : NULL, *value = equals ? equals + 1 : g->value;
    slp_str name = slp_str_of(g->option->id == O_ENDPOINT ? "endpoint" : "");
    if (equals) name = (slp_str){g->value, (size_t)(equals - g->value)};
    if (knob ? !equals : !belongs_in_a_file(g->option)) continue;
    if (value && slp_knob_hides(name, value)) continue;
    if (equals)
      add_setting(b, name, value);
    else if (g->value)
      add_setting(b, slp_str_of(g->option->name), g->value);
    else
      slp_buf_addf(b, "%s\n", g->option->name);
  }
  slp_buf_add_z(b, "# all settings of -X as they are now\n");
  return slp_knobs_dump(b, a);
}

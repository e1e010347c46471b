/* stream_pattern.c - parses patterns of stream names, and matches names with them. */
#include "cli/stream_pattern.h"

#include "base/buf.h"
#include "source/stream_name.h"

#include <stdio.h>

static const char of_tables[] = "dynamodb:";

int slp_is_stream_pattern(const char *word) { return strpbrk(word, "*?[") != NULL; }

/* ---- matching ------------------------------------------------------------------------------------------ */

/* Returns the length of the bracket expression at the beginning of `glob`, with both its brackets; 0 if it is
 * not closed. A ] right after the [ or [! is a character of the expression, not its end. */
static size_t bracket_bytes(slp_str glob) {
  size_t i = 1;
  if (i < glob.n && (glob.p[i] == '!' || glob.p[i] == '^')) i++;
  if (i < glob.n && glob.p[i] == ']') i++;
  while (i < glob.n && glob.p[i] != ']') i++;
  return i < glob.n ? i + 1 : 0;
}

/* Returns 1 if the whole bracket expression `bracket` matches the character c. */
static int bracket_has(slp_str bracket, char c) {
  size_t i = 1, end = bracket.n - 1;
  int other = bracket.p[i] == '!' || bracket.p[i] == '^', has = 0;
  for (i += (size_t)other; i < end; i++) {
    unsigned char from = (unsigned char)bracket.p[i], to = from;
    if (i + 2 < end && bracket.p[i + 1] == '-') {
      to = (unsigned char)bracket.p[i + 2];
      i += 2;
    }
    if ((unsigned char)c >= from && (unsigned char)c <= to) has = 1;
  }
  return has != other;
}

/* Matches one character of a name with the beginning of `glob`, which is not a *. Returns how many bytes of
 * `glob` stand for the character, or 0 if they do not match it. */
static size_t match_one(slp_str glob, char c) {
  if (!glob.n) return 0;
  if (glob.p[0] == '?') return 1;
  size_t n = glob.p[0] == '[' ? bracket_bytes(glob) : 0;
  if (n) return bracket_has((slp_str){glob.p, n}, c) ? n : 0;
  return glob.p[0] == c;
}

int slp_glob_matches(slp_str glob, slp_str name) {
  /* star: offset of the last * in `glob`; star_n: how far into the name that * reaches so far. If the rest
   * does not match, that * takes one character more. An earlier * need not take more, because a longer part
   * is never better for it. */
  size_t g = 0, n = 0, star = SIZE_MAX, star_n = 0;
  while (n < name.n) {
    slp_str rest = {glob.p + g, glob.n - g};
    if (rest.n && rest.p[0] == '*') {
      star = g++;
      star_n = n;
      continue;
    }
    size_t step = match_one(rest, name.p[n]);
    if (step) {
      g += step;
      n++;
    } else if (star != SIZE_MAX) {
      g = star + 1;
      n = ++star_n;
    } else {
      return 0;
    }
  }
  while (g < glob.n && glob.p[g] == '*') g++;
  return g == glob.n;
}

int slp_stream_pattern_takes(const slp_stream_pattern *p, const char *listed, slp_buf *ret) {
  slp_str name = slp_str_of(listed);
  size_t skip = p->of_table ? strlen(of_tables) : 0;
  if (slp_stream_is_of_table(name) != p->of_table || (skip && strncmp(listed, of_tables, skip) != 0))
    return 0;
  name = (slp_str){name.p + skip, name.n - skip};
  if (!slp_glob_matches(p->glob, name)) return 0;
  slp_buf_add_str(ret, p->before);
  slp_buf_add_str(ret, name);
  return 1;
}

/* ---- parsing ------------------------------------------------------------------------------------------- */

/* Returns what is wrong with the pattern of a name; NULL: nothing. */
static const char *wrong_glob(slp_str glob) {
  int inside = 0; /* 1: inside a bracket */
  for (size_t i = 0; i < glob.n; i++) {
    char c = glob.p[i];
    int of_names = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                   c == '.' || c == '-';
    if (inside && c == '[') return "a class such as [:digit:] is not known here; write [0-9]";
    if (c == '[' && !bracket_bytes((slp_str){glob.p + i, glob.n - i})) return "a [ has no ]";
    if (c == ']' && !inside) return "a ] has no [";
    if (!of_names && !strchr(inside ? "!^]" : "*?[", c)) return "no stream's name has such a character";
    if (c == '[') {
      inside = 1;
      if (i + 1 < glob.n && (glob.p[i + 1] == '!' || glob.p[i + 1] == '^')) i++;
      if (i + 1 < glob.n && glob.p[i + 1] == ']') return "no stream's name has a ]";
    } else if (c == ']') {
      inside = 0;
    }
  }
  return NULL;
}

/* Splits an ARN into the part before the name, and the name. Returns 1, or 0 if the ARN does not have the
 * name of a stream or table. */
static int split_arn(slp_str word, slp_stream_pattern *ret) {
  static const char *const ends[] = {":stream/", ":table/"};
  static const char *const services[] = {":kinesis:", ":dynamodb:"};
  for (size_t i = 0; i < SLP_COUNT(ends); i++) {
    const char *at = strstr(word.p, ends[i]), *service = strstr(word.p, services[i]);
    if (!at || !service || service > at) continue;
    size_t n = (size_t)(at - word.p) + strlen(ends[i]);
    ret->before = (slp_str){word.p, n};
    ret->glob = (slp_str){word.p + n, word.n - n};
    ret->of_table = i == 1;
    return 1;
  }
  return 0;
}

int slp_stream_pattern_read(const char *word, slp_stream_pattern *ret, char why[200]) {
  slp_str text = slp_str_of(word);
  size_t skip = strncmp(word, of_tables, strlen(of_tables)) == 0 ? strlen(of_tables) : 0;
  const char *wrong = NULL;
  *ret = (slp_stream_pattern){
      .before = {word, skip}, .glob = {word + skip, text.n - skip}, .of_table = skip > 0};
  if (strncmp(word, "arn:", 4) == 0 && !split_arn(text, ret))
    wrong = "in an ARN only the name of a stream of Kinesis or of a table may be a pattern";
  char before[SLP_STREAM_ARN_MAX + 1];
  snprintf(before, sizeof before, "%.*s", (int)slp_min_u64(ret->before.n, sizeof before - 1), ret->before.p);
  if (!wrong && ret->before.n >= sizeof before) wrong = "too long";
  if (!wrong && slp_is_stream_pattern(before)) wrong = "in an ARN only the name may be a pattern";
  if (!wrong && ret->glob.n > SLP_STREAM_NAME_MAX) wrong = "too long";
  if (!wrong) wrong = wrong_glob(ret->glob);
  if (!wrong) return 0;
  snprintf(why, 200, "\"%.90s\" is no pattern of names: %s", word, wrong);
  return SLP_EINVAL;
}

size_t slp_stream_pattern_stem(const slp_stream_pattern *p, char *out, size_t size) {
  size_t n = 0;
  while (n < p->glob.n && n + 1 < size && !strchr("*?[", p->glob.p[n])) n++;
  memcpy(out, p->glob.p, n);
  out[n] = 0;
  return n;
}

int slp_stream_pattern_for_iam(slp_str glob, slp_buf *ret) {
  int wider = 0;
  for (size_t i = 0; i < glob.n; i++) {
    size_t n = glob.p[i] == '[' ? bracket_bytes((slp_str){glob.p + i, glob.n - i}) : 0;
    slp_buf_add_char(ret, n ? '?' : glob.p[i]);
    if (!n) continue;
    wider = 1;
    i += n - 1;
  }
  return wider;
}

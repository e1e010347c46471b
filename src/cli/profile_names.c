/* profile_names.c - reads the names of profiles in the files under ~/.aws. */
#include "cli/profile_names.h"

#include "base/buf.h"
#include "base/clean.h"
#include "codec/ini.h"
#include "program/local.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_BYTES_MAX (1u << 20)

typedef struct reading {
  slp_buf *names;
  int is_config;
} reading;

static int is_there(const slp_buf *names, slp_str name) {
  for (size_t at = 0; at < names->n;) {
    const char *line = names->p + at, *end = memchr(line, '\n', names->n - at);
    size_t n = end ? (size_t)(end - line) : names->n - at;
    if (n == name.n && memcmp(line, name.p, n) == 0) return 1;
    at += n + 1;
  }
  return 0;
}

static int is_safe(slp_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (slp_unsafe_length(s.p + i, s.n - i)) return 0;
  return s.n > 0;
}

static int take_section(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value,
                        uint32_t line) {
  static const char prefix[] = "profile";
  const reading *r = arg;
  size_t n = sizeof prefix - 1;
  (void)parent, (void)key, (void)value, (void)line;
  if (r->is_config && !slp_str_is(section, "default")) {
    if (section.n <= n || memcmp(section.p, prefix, n) != 0 || (section.p[n] != ' ' && section.p[n] != '\t'))
      return 0; /* a section that is no profile, such as "sso-session NAME" */
    while (n < section.n && (section.p[n] == ' ' || section.p[n] == '\t')) n++;
    section = (slp_str){section.p + n, section.n - n};
  }
  if (section.n > 1 && section.p[0] == '"' && section.p[section.n - 1] == '"')
    section = (slp_str){section.p + 1, section.n - 2};
  if (is_safe(section) && !is_there(r->names, section)) {
    slp_buf_add(r->names, section.p, section.n);
    slp_buf_add_char(r->names, '\n');
  }
  return slp_buf_failed(r->names);
}

int slp_profile_names_of(slp_buf *b, slp_str text, int is_config) {
  reading r = {b, is_config};
  uint32_t line = 0;
  /* an invalid line ends the reading; the names before it are kept */
  (void)slp_ini_read(text, take_section, &r, &line);
  return slp_buf_failed(b);
}

static void read_file(slp_buf *b, const char *variable, const char *under_home, int is_config) {
  const char *given = getenv(variable), *home = getenv("HOME");
  char path[4096];
  slp_buf text;
  int n;
  if (given && *given && !(given[0] == '~' && given[1] == '/'))
    n = snprintf(path, sizeof path, "%s", given);
  else if (home)
    n = snprintf(path, sizeof path, "%s%s", home, given && *given ? given + 1 : under_home);
  else
    return;
  if (n < 0 || (size_t)n >= sizeof path) return;
  slp_buf_init(&text, b->mem, FILE_BYTES_MAX);
  if (slp_local_read(path, &text) == 0) slp_profile_names_of(b, slp_buf_str(&text), is_config);
  slp_buf_free(&text);
}

int slp_profile_names(slp_buf *b) {
  read_file(b, "AWS_CONFIG_FILE", "/.aws/config", 1);
  read_file(b, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials", 0);
  return slp_buf_failed(b);
}

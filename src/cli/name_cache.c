/* name_cache.c - stores names for completions in files of the cache folder. The first line of a file is "KEY
 * UNTIL": the key, and the Unix time in milliseconds until which the names are used. Each further line is a
 * name. Each kind of names has at most SLOTS files, so that the folder stays small however many keys are
 * used. */
#include "cli/name_cache.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "cli/args.h"
#include "cli/options.h"
#include "codec/digest.h"
#include "host/os.h"
#include "host/own_file.h"
#include "program/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOTS 16 /* how many files a kind of names has; the first hex digit of the key chooses one */

/* Returns 1 if the environment variable is a part of the text that the name of a cache file is made of.
 * Secrets are not, because a file name must not depend on them. */
static int chooses_service(const char *variable) {
  return strncmp(variable, "AWS_", 4) == 0 && strncmp(variable, "AWS_SECRET", 10) != 0 &&
         strncmp(variable, "AWS_SESSION", 11) != 0;
}

static int add_key(slp_buf *b, const char *kind, const slp_args *args) {
  char folder[4096];
  int of_stream = strcmp(kind, "streams") != 0 && strcmp(kind, "apps") != 0;
  slp_buf_addf(b, "%s\n%s\n", kind, args->stream && of_stream ? args->stream : "");
  for (size_t i = 0; i < args->given_n; i++) {
    const slp_given *g = &args->given[i];
    slp_option_id id = g->option->id;
    if (id == O_ENDPOINT || id == O_STORE || id == O_KNOB || (id == O_APP && of_stream))
      slp_buf_addf(b, "%s=%s\n", g->option->name, g->value);
  }
  /* the path of a lease file may be relative to the working folder */
  if (args->opts.store && strncmp(args->opts.store, "sqlite:", 7) == 0 && getcwd(folder, sizeof folder))
    slp_buf_add_z(b, folder);
  for (char **v = slp_os_environment(); *v; v++)
    if (chooses_service(*v)) slp_buf_addf(b, "%s\n", *v);
  return slp_buf_failed(b);
}

static void find_folder(slp_name_cache *c) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = 0;
  if (xdg && *xdg == '/')
    n = snprintf(c->above, sizeof c->above, "%s", xdg);
  else if (home && *home == '/')
    n = snprintf(c->above, sizeof c->above, "%s/.cache", home);
  if (n > 0 && (size_t)n < sizeof c->above) snprintf(c->folder, sizeof c->folder, "%s/stream-tail", c->above);
}

int slp_name_cache_init(slp_name_cache *c, slp_mem *mem, const char *kind, const slp_args *args) {
  slp_buf text;
  uint8_t digest[20];
  memset(c, 0, sizeof *c);
  slp_buf_init(&text, mem, 1 << 20);
  int r = add_key(&text, kind, args);
  if (!r) r = slp_sha1(slp_buf_str(&text), digest);
  slp_buf_free(&text);
  if (r) return r;
  slp_hex(c->key, digest, sizeof digest);
  find_folder(c);
  snprintf(c->path, sizeof c->path, "%s/%.20s-%c", c->folder, kind, c->key[0]);
  return 0;
}

int slp_name_cache_read(const slp_name_cache *c, int64_t now_ms, slp_buf *ret) {
  slp_buf file;
  int64_t until_ms = 0;
  int good = 0;
  if (!*c->folder) return 0;
  slp_buf_init(&file, ret->mem, SLP_NAME_CACHE_BYTES);
  if (slp_local_read(c->path, &file) == 0) {
    slp_str text = slp_buf_str(&file);
    const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
    size_t key_n = sizeof c->key - 1, line_n = end ? (size_t)(end - text.p) : 0;
    /* A time further ahead than SLP_NAME_CACHE_MS was written before the clock was set back. Then the names
     * may be old, and are not used. */
    good = line_n > key_n + 1 && memcmp(text.p, c->key, key_n) == 0 && text.p[key_n] == ' ' &&
           slp_parse_i64((slp_str){text.p + key_n + 1, line_n - key_n - 1}, &until_ms) == 0 &&
           now_ms < until_ms && until_ms - now_ms <= SLP_NAME_CACHE_MS;
    if (good) good = slp_buf_add(ret, end + 1, text.n - line_n - 1) == 0;
  }
  slp_buf_free(&file);
  return good;
}

void slp_name_cache_write(const slp_name_cache *c, slp_mem *mem, int64_t until_ms, slp_str names) {
  slp_own_file *file;
  slp_buf text;
  if (!*c->folder || slp_local_make_folder(c->above) != 0 || slp_local_make_folder(c->folder) != 0 ||
      slp_own_file_open(mem, c->path, &file) != 0)
    return;
  slp_buf_init(&text, mem, SLP_NAME_CACHE_BYTES);
  slp_buf_addf(&text, "%s %lld\n", c->key, (long long)until_ms);
  slp_buf_add(&text, names.p, names.n);
  if (!slp_buf_failed(&text)) (void)slp_own_file_replace(file, slp_buf_str(&text));
  slp_own_file_close(file);
  slp_buf_free(&text);
}

/* replay.c - runs a fuzz target without an engine: every file of the folders given, each cut short at
 * every byte, and thousands of small changes by a fixed seed: the more files, the fewer of each. `replay_x
 * FILE` runs one file as it is. A file NAME.pack holds many inputs, each behind its length (four bytes, the
 * least first); they run as they are. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

#define FILE_MAX (1 << 20)
#define CUTS_MAX 2000
#define CHANGES_MAX 3000
#define CHANGES_ALL 30000 /* of a folder: a corpus may grow, the time it takes may not */

static uint64_t state = 88172645463325252u;
static uint64_t below(uint64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % n;
}

static const uint8_t *running;
static size_t running_n;

void fuzz_finding(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: finding: not so: %s\ninput, %zu bytes in hex: ", file, line, what, running_n);
  for (size_t i = 0; i < running_n; i++) fprintf(stderr, "%02x", running[i]);
  fputc('\n', stderr);
}

static void run(const uint8_t *p, size_t n) {
  running = p;
  running_n = n;
  LLVMFuzzerTestOneInput(p, n);
}

static uint8_t *read_file(const char *path, size_t *ret_n) {
  FILE *f = fopen(path, "rb");
  uint8_t *p = malloc(FILE_MAX);
  if (!f || !p) {
    fprintf(stderr, "can't read %s\n", path);
    exit(2);
  }
  *ret_n = fread(p, 1, FILE_MAX, f);
  fclose(f);
  return p;
}

/* Makes one to three edits: another byte, a flipped bit, a piece doubled or taken out. */
static size_t change(uint8_t *p, size_t n, size_t max) {
  for (uint64_t edits = 1 + below(3); edits > 0 && n > 0; edits--) {
    size_t at = (size_t)below(n), len = 1 + (size_t)below(n - at < 16 ? n - at : 16);
    switch (below(4)) {
      case 0: p[at] = (uint8_t)below(256); break;
      case 1: p[at] ^= (uint8_t)(1u << below(8)); break;
      case 2:
        if (n + len > max) break;
        memmove(p + at + len, p + at, n - at);
        n += len;
        break;
      default: memmove(p + at, p + at + len, n - at - len); n -= len;
    }
  }
  return n;
}

static int is_pack(const char *path) {
  size_t n = strlen(path);
  return n > 5 && strcmp(path + n - 5, ".pack") == 0;
}

static size_t run_pack(const uint8_t *p, size_t n) {
  size_t runs = 0;
  for (size_t at = 0; at + 4 <= n; runs++) {
    size_t size = p[at] | (size_t)p[at + 1] << 8 | (size_t)p[at + 2] << 16 | (size_t)p[at + 3] << 24;
    at += 4;
    REQUIRE(size <= n - at);
    run(p + at, size);
    at += size;
  }
  return runs;
}

static size_t run_around(const char *path, size_t files) {
  size_t n, runs = 1;
  uint8_t *p = read_file(path, &n), *changed = malloc(n + 64);
  REQUIRE(changed != NULL);
  if (is_pack(path)) {
    runs = run_pack(p, n);
    free(changed);
    free(p);
    return runs;
  }
  run(p, n);
  size_t cuts = CHANGES_ALL / files < CUTS_MAX ? CHANGES_ALL / files : CUTS_MAX;
  size_t changes = CHANGES_ALL / files < CHANGES_MAX ? CHANGES_ALL / files : CHANGES_MAX;
  for (size_t cut = 0; cut < n && cut < cuts; cut++, runs++) run(p, cut);
  for (size_t i = 0; i < changes; i++, runs++) {
    memcpy(changed, p, n);
    run(changed, change(changed, n, n + 64));
  }
  free(changed);
  free(p);
  return runs;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Sorted, so that every machine runs the same changes. */
static size_t run_folder(const char *folder) {
  char *names[1000], path[4096];
  size_t n = 0, runs = 0;
  DIR *d = opendir(folder);
  if (!d) return 0;
  for (struct dirent *e; (e = readdir(d)) != NULL && n < 1000;) {
    if (e->d_name[0] != '.') names[n++] = strdup(e->d_name);
  }
  closedir(d);
  qsort(names, n, sizeof names[0], by_name);
  for (size_t i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    runs += run_around(path, n);
    free(names[i]);
  }
  return runs;
}

int main(int argc, char **argv) {
  size_t runs = 0;
  for (int i = 1; i < argc; i++) {
    struct stat st;
    if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
      runs += run_folder(argv[i]);
    } else {
      size_t n;
      uint8_t *p = read_file(argv[i], &n);
      run(p, n);
      free(p);
      runs++;
    }
  }
  printf("%zu inputs, no finding\n", runs);
  return runs ? 0 : 2;
}

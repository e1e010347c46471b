/* grep.c - CPU nanoseconds that --grep takes for a record in which nothing matches: as the command
 * searches, and by the matcher of ours alone, which is all there is without PCRE2. --write BYTES FILE
 * writes the same records, a line each, for other tools: rg -c PATTERN FILE. --worst: the longest slice of
 * a search with expressions that cost backtracking engines most. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli/grep.h"

#define ALL_BYTES ((size_t)8 << 20) /* more than the caches hold, as records that just arrived */

static const char *const words[] = {"the",    "quick",      "order",   "placed", "user",  "at",
                                    "42",     "2026-01-31", "\"id\":", "box",    "value", "{\"a\":1}",
                                    "status", "info",       "exit",    "404"};

/* Records of n bytes each, in a row. */
static char *make_records(size_t n, size_t *ret_records) {
  size_t records = ALL_BYTES / n;
  char *all = malloc(records * n + 1);
  uint32_t seed = 7;
  if (!all) bench_die("no memory");
  for (size_t i = 0; i < records; i++) {
    char *to = all + i * n, *end = to + n;
    while (to < end) {
      seed = seed * 1103515245u + 12345u;
      for (const char *w = words[seed >> 16 & 15]; *w && to < end;) *to++ = *w++;
      if (to < end) *to++ = ' ';
    }
  }
  *ret_records = records;
  return all;
}

static int pass(slp_grep *g, slp_str text) {
  slp_match is;
  slp_grep_begin(g, text);
  do is = slp_grep_step(g);
  while (is == SLP_MATCH_MORE);
  return is != SLP_MATCH_NO;
}

static int find(slp_matcher *m, slp_str text) {
  slp_match is;
  slp_matcher_begin(m, text);
  do is = slp_matcher_step(m);
  while (is == SLP_MATCH_MORE);
  return is != SLP_MATCH_NO;
}

/* ns a record, the best of the rounds: what else the machine does only adds to it. */
static double measure(slp_grep *g, slp_matcher *m, const char *all, size_t n, size_t records, size_t rounds) {
  double best = 0;
  size_t found = 0;
  for (size_t r = 0; r < rounds; r++) {
    double cpu = bench_cpu_s();
    for (size_t i = 0; i < records; i++) {
      slp_str text = {all + i * n, n};
      found += (size_t)(g ? pass(g, text) : find(m, text));
    }
    cpu = (bench_cpu_s() - cpu) * 1e9 / (double)records;
    if (r == 0 || cpu < best) best = cpu;
  }
  if (found) bench_die("a pattern is found that must not be there");
  return best;
}

static void one_row(slp_mem *mem, const char *pattern, int folds, size_t n, size_t rounds) {
  char why[SLP_GREP_WHY];
  size_t records;
  char *all = make_records(n, &records);
  slp_grep *g = NULL;
  slp_regex regex;
  slp_regex_traits traits;
  slp_regex_init(&regex, mem);
  if (slp_grep_new(mem, &(slp_grep_opts){.wanted = &pattern, .wanted_n = 1, .folds = folds != 0}, &g, why))
    bench_die("%s", why);
  slp_matcher *m = slp_regex_add(&regex, pattern, folds, &traits, why) ? NULL : slp_matcher_new(mem, &regex);
  double by_grep = measure(g, NULL, all, n, records, rounds);
  double by_matcher = m ? measure(NULL, m, all, n, records, rounds) : 0;
  printf("%6zu B  %-22s%s  %10.0f  %10.0f\n", n, pattern, folds ? " -i" : "   ", by_grep, by_matcher);
  printf(
      "{\"bench\":\"grep\",\"bytes\":%zu,\"pattern\":\"%s\",\"ignore_case\":%d,\"ns\":%.1f,\"matcher_ns\":%."
      "1f}\n",
      n, pattern, folds, by_grep, by_matcher);
  slp_matcher_free(m);
  slp_regex_free(&regex);
  slp_grep_free(g);
  free(all);
}

static void write_records(size_t n, const char *file) {
  size_t records;
  char *all = n ? make_records(n, &records) : NULL;
  FILE *f = fopen(file, "wb");
  if (!all || !f) bench_die("--write BYTES FILE");
  for (size_t i = 0; i < records; i++) {
    fwrite(all + i * n, 1, n, f);
    fputc('\n', f);
  }
  if (fclose(f)) bench_die("the file can't be written");
  free(all);
}

/* Prints how long the longest slice of a search takes, in a text of one letter. */
static void one_worst(slp_mem *mem, const char *pattern, const char *text, size_t n) {
  char why[SLP_GREP_WHY];
  slp_grep *g = NULL;
  double longest = 0, all = 0;
  size_t steps = 0;
  slp_match is;
  if (slp_grep_new(mem, &(slp_grep_opts){.wanted = &pattern, .wanted_n = 1}, &g, why)) bench_die("%s", why);
  size_t before = mem->live_bytes;
  mem->peak_bytes = before;
  slp_grep_begin(g, (slp_str){text, n});
  do {
    double cpu = bench_cpu_s();
    is = slp_grep_step(g);
    cpu = bench_cpu_s() - cpu;
    if (cpu > longest) longest = cpu;
    all += cpu;
    steps++;
  } while (is == SLP_MATCH_MORE);
  printf("%-24s %8zu B  longest %7.0f us of %6zu slices, %8.0f us in all, %s, %zu bytes more at the peak\n",
         pattern, n, longest * 1e6, steps, all * 1e6,
         is == SLP_MATCH_UNDECIDED ? "undecided"
         : is                      ? "yes"
                                   : "no",
         mem->peak_bytes - before);
  slp_grep_free(g);
}

static void worst(slp_mem *mem) {
  static const char *const patterns[] = {"(a+)+[bc]",         "(a|a)*[bc]",          "(a?){30}a{30}[bc]",
                                         "(.*)(.*)(.*)[bc]",  "(a{1,50}){1,50}[bc]", "((a+)+)\\2[bc]",
                                         "(a+)+$(?<!a)",      "(?=(a+)+[bc])a",      "(.*?,){20}[bc]",
                                         "(?>a+)[bc](?<=ab)", "([a-z]+)*\\1\\1[bc]", "(a{0,20}){0,20}x?[bc]"};
  size_t sizes[] = {1024, (size_t)1 << 20, (size_t)10 << 20};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    char *text = malloc(sizes[s]);
    if (!text) bench_die("no memory");
    memset(text, 'a', sizes[s]);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
      one_worst(mem, patterns[i], text, sizes[s]);
    free(text);
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *pattern;
    int folds;
  } rows[] = {{"hello", 0}, {"error|fatal", 0}, {"zzzq[0-9]+x", 0},     {"[a-z]+[0-9]{4}x", 0},
              {"error", 1}, {"time.*out", 1},   {"(?<!x)error[0-9]", 0}};
  static const size_t sizes[] = {100, 1024, 65536};
  if (argc == 4 && strcmp(argv[1], "--write") == 0) {
    write_records(strtoul(argv[2], NULL, 10), argv[3]);
    return 0;
  }
  int is_worst = argc == 2 && strcmp(argv[1], "--worst") == 0;
  int small = is_worst ? 0 : bench_small(argc, argv, "CPU nanoseconds a record that --grep takes.");
  slp_mem *mem = slp_mem_new(NULL, NULL);
  if (!mem) bench_die("no memory");
  if (is_worst) {
    worst(mem);
    slp_mem_drop(mem);
    return 0;
  }
  printf("record    pattern                     as --grep  our matcher alone (0: it can't read it)\n");
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
      one_row(mem, rows[i].pattern, rows[i].folds, sizes[s], small ? 1 : 7);
  slp_mem_drop(mem);
  return 0;
}

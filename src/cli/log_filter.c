/* log_filter.c - filters the lines of the library's log by their first word. */
#include "cli/log_filter.h"

#include <stdio.h>

#include "cli/options.h"

/* Returns 1 if the list `words` contains the word. The words in the list are separated by commas, spaces or
 * both. */
static int has_word(const char *words, const char *word, size_t n) {
  while (*words) {
    words += strspn(words, ", ");
    size_t m = strcspn(words, ", ");
    if (m == n && m > 0 && memcmp(words, word, n) == 0) return 1;
    words += m;
  }
  return 0;
}

int slp_log_contexts_check(const char *contexts, char why[200]) {
  const char *at = contexts;
  do {
    size_t n = strcspn(at, ",");
    if (!(n == 3 && memcmp(at, "all", 3) == 0) && !has_word(slp_log_contexts, at, n)) {
      snprintf(why, 200, "-d: unknown part \"%.*s\"; known are all, %s", (int)(n < 40 ? n : 40), at,
               slp_log_contexts);
      return SLP_EINVAL;
    }
    at += n + (at[n] == ',');
  } while (*at);
  return 0;
}

int slp_log_contexts_have(const char *contexts, const char *line) {
  return has_word(contexts, "all", 3) || has_word(contexts, line, strcspn(line, ": "));
}

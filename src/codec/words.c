/* words.c - splits by the state machine of Python's shlex in its POSIX mode. */
#include "codec/words.h"

#include "base/buf.h"

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Reads the rest of a quoted text, up to its closing quote, which is read too. The opening quote was read
 * already. */
static int read_quoted_rest(slp_str *rest, char quote, slp_buf *into) {
  while (rest->n) {
    char c = rest->p[0];
    *rest = (slp_str){rest->p + 1, rest->n - 1};
    if (c == quote) return 0;
    /* Inside double quotes a backslash escapes only a double quote and a backslash. */
    if (quote == '"' && c == '\\' && rest->n && (rest->p[0] == '"' || rest->p[0] == '\\')) {
      c = rest->p[0];
      *rest = (slp_str){rest->p + 1, rest->n - 1};
    }
    int r = slp_buf_add_char(into, c);
    if (r) return r;
  }
  return SLP_EBADDATA;
}

static int one_word(slp_str *rest, slp_buf *into, const char **ret_why) {
  int r = 0;
  while (rest->n && !is_blank(rest->p[0]) && !r) {
    char c = rest->p[0];
    *rest = (slp_str){rest->p + 1, rest->n - 1};
    if (c == '\'' || c == '"') {
      r = read_quoted_rest(rest, c, into);
      if (r == SLP_EBADDATA) *ret_why = "a quote is not closed";
      continue;
    }
    if (c == '\\') {
      if (!rest->n) {
        *ret_why = "it ends with a backslash";
        return SLP_EBADDATA;
      }
      c = rest->p[0];
      *rest = (slp_str){rest->p + 1, rest->n - 1};
    }
    r = slp_buf_add_char(into, c);
  }
  return r ? r : slp_buf_add_char(into, 0);
}

int slp_words_split(slp_str line, slp_buf *into, size_t *ret_n, const char **ret_why) {
  *ret_n = 0;
  if (slp_str_has(line, 0)) {
    *ret_why = "it holds a NUL";
    return SLP_EBADDATA;
  }
  for (;;) {
    while (line.n && is_blank(line.p[0])) line = (slp_str){line.p + 1, line.n - 1};
    if (!line.n) return 0;
    int r = one_word(&line, into, ret_why);
    if (r) return r;
    ++*ret_n;
  }
}

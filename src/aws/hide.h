/* hide.h - removes secrets from messages: session tokens, secret keys, tokens that are exchanged for keys. A
 * text from outside may quote the request, and so the secrets in it. The functions do no I/O.
 *
 * A quote may be cut, and may contain only the middle of a secret. So in a text, every run of SLP_SECRET_RUN
 * bytes that also occurs in a secret is hidden. A shorter secret is hidden only as a whole. The run may be
 * written plainly, as in JSON (\/, \u002f) or as in a URL (%2F). */
#ifndef SLP_AWS_HIDE_H
#define SLP_AWS_HIDE_H

#include "base/fail.h"

#define SLP_SECRETS_MAX 4
#define SLP_SECRET_RUN 8
/* The name of an error is searched only for secrets of at least this length. A shorter secret, such as a
 * sandbox accepts, could occur in a name by chance, and the name must stay readable then. */
#define SLP_SECRET_IN_NAMES_MIN 16
/* In our own messages, only stretches of at least this many bytes are hidden. A shorter stretch may be a word
 * of this program, such as "metadata", that also occurs in an invented secret. */
#define SLP_SECRET_IN_WORDS_MIN 12

typedef struct slp_secrets {
  slp_str of[SLP_SECRETS_MAX]; /* borrowed secrets; {NULL, 0}: an unused element */
} slp_secrets;

typedef struct slp_hiding {
  const slp_secrets *secrets;
  uint64_t maybe[1024]; /* a filter: bit n is set if a run in a secret has the hash n */
} slp_hiding;

/* Prepares a search for parts of `secrets`, which are borrowed. */
void slp_hiding_begin(slp_hiding *h, const slp_secrets *secrets);
/* Returns how many bytes at the start of the text are part of a secret, 0 if none. Secrets shorter than
 * `least` bytes are ignored. */
size_t slp_hiding_at(const slp_hiding *h, slp_str text, size_t least);
/* Writes '*' over all bytes of the text that are part of a secret. Secrets shorter than `least` bytes are
 * ignored. */
void slp_hiding_put(const slp_hiding *h, char *p, size_t n, size_t least);

/* Returns 1 if the text contains a part of a secret. */
int slp_secret_in(const slp_secrets *secrets, slp_str text);
/* Hides all parts of secrets in a text from outside. Must be called before the text is cut or quoted. */
void slp_hide_text(const slp_secrets *secrets, char *p, size_t n);
/* Hides parts of secrets in a finished message, which also has words of this program. Only stretches of at
 * least SLP_SECRET_IN_WORDS_MIN bytes are hidden. */
void slp_hide(const slp_secrets *secrets, char *z);
/* hides secrets in all texts of f, as slp_hide does in one text */
void slp_hide_fail(const slp_secrets *secrets, slp_fail *f);

#endif

/* hide.h - keeps secrets out of messages: session tokens, secret keys, tokens that are exchanged for keys. A
 * text from outside may quote what was sent with the request. Pure.
 *
 * Such a text may have been cut already, and may quote only the middle of a secret. So each SLP_SECRET_RUN
 * bytes in a row that are in a secret are hidden (of a shorter secret, all of it), whether they are written
 * plainly or as in JSON (\/, \u002f) or a URL (%2F). */
#ifndef SLP_AWS_HIDE_H
#define SLP_AWS_HIDE_H

#include "base/fail.h"

#define SLP_SECRETS_MAX 4
#define SLP_SECRET_RUN 8
/* A shorter secret, such as sandboxes accept, may be part of an error's name, which must stay readable. */
#define SLP_SECRET_IN_NAMES_MIN 16
/* Words of our own messages, such as "metadata", may be part of a secret that somebody made up. */
#define SLP_SECRET_IN_WORDS_MIN 12

typedef struct slp_secrets {
  slp_str of[SLP_SECRETS_MAX]; /* borrowed; {NULL, 0}: none */
} slp_secrets;

typedef struct slp_hiding {
  const slp_secrets *secrets;
  uint64_t maybe[1024]; /* a bit is set if some run in a secret has this hash */
} slp_hiding;

void slp_hiding_begin(slp_hiding *h, const slp_secrets *secrets);
/* Returns how many bytes at the beginning of the text are in a secret of at least `least` bytes; 0: none. */
size_t slp_hiding_at(const slp_hiding *h, slp_str text, size_t least);
/* writes '*' over each such byte */
void slp_hiding_put(const slp_hiding *h, char *p, size_t n, size_t least);

/* Returns 1 if the text contains a part of a secret anywhere. */
int slp_secret_in(const slp_secrets *secrets, slp_str text);
/* Hides all parts of secrets in a text from outside. Must be called before the text is cut or quoted. */
void slp_hide_text(const slp_secrets *secrets, char *p, size_t n);
/* Hides parts of at least SLP_SECRET_IN_WORDS_MIN bytes in a complete message, which has words of ours
 * too. */
void slp_hide(const slp_secrets *secrets, char *z);
void slp_hide_fail(const slp_secrets *secrets, slp_fail *f); /* in all texts of f */

#endif

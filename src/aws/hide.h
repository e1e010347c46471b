/* hide.h - texts from outside may quote what was sent with the request, and no message may repeat that:
 * session tokens, secret keys, tokens that are given for keys. Pure.
 *
 * A text may have been cut before it comes here, and may quote a secret from its middle on. So what is hidden
 * is every SLP_SECRET_RUN bytes in a row that stand anywhere in a secret (all of a shorter one), as they are
 * or as JSON (\/, \u002f) or a URL (%2F) writes them. */
#ifndef SLP_AWS_HIDE_H
#define SLP_AWS_HIDE_H

#include "base/fail.h"

#define SLP_SECRETS_MAX 4
#define SLP_SECRET_RUN 8
/* A shorter secret, as sandboxes take, may be part of any error's name, by which the error is known. */
#define SLP_SECRET_IN_NAMES_MIN 16
/* Words of ours may be parts of a secret that somebody made up, as "metadata" and "container". */
#define SLP_SECRET_IN_WORDS_MIN 12

typedef struct slp_secrets {
  slp_str of[SLP_SECRETS_MAX]; /* borrowed; {NULL, 0}: none */
} slp_secrets;

typedef struct slp_hiding {
  const slp_secrets *secrets;
  uint64_t maybe[1024]; /* bit set: a run with this hash may be in a secret */
} slp_hiding;

void slp_hiding_begin(slp_hiding *h, const slp_secrets *secrets);
/* How many bytes at the beginning of the text belong to a secret of `least` bytes or more; 0: none. */
size_t slp_hiding_at(const slp_hiding *h, slp_str text, size_t least);
void slp_hiding_put(const slp_hiding *h, char *p, size_t n, size_t least); /* '*' over each such byte */

/* Is there, anywhere in the text, a part of a secret? */
int slp_secret_in(const slp_secrets *secrets, slp_str text);
/* In a text from outside, before it is cut or quoted: all parts of secrets. */
void slp_hide_text(const slp_secrets *secrets, char *p, size_t n);
/* In a message that is ready, words of ours and all: parts of SLP_SECRET_IN_WORDS_MIN bytes or more. */
void slp_hide(const slp_secrets *secrets, char *z);
void slp_hide_fail(const slp_secrets *secrets, slp_fail *f); /* in all its texts */

#endif

/* nearest.h - finds the names that are most like a name that does not exist, for "did you mean". Pure. */
#ifndef SLP_CLI_NEAREST_H
#define SLP_CLI_NEAREST_H

#include "base/base.h"

#define SLP_NEAREST_MAX 3      /* the most names that are suggested */
#define SLP_NEAREST_BYTES 128u /* only this many bytes of a name are compared */

typedef struct slp_nearest {
  slp_str word;                       /* the name that does not exist; borrowed */
  const char *names[SLP_NEAREST_MAX]; /* the nearest names, the best one first; borrowed */
  /* the distance of each of these names from `word`, in ascending order */
  uint32_t far[SLP_NEAREST_MAX];
  size_t n;
} slp_nearest;

void slp_nearest_begin(slp_nearest *t, slp_str word);
/* Keeps `name` if it is like the word: if `name` begins with the word or contains it, or if few letters must
 * be changed, left out, added or swapped. `name` must live until slp_nearest_text was called. */
void slp_nearest_offer(slp_nearest *t, const char *name);
/* Writes "; did you mean A, B or C?" with `before` in front of each name. Writes "" if no name is like the
 * word. Control characters become '?'. */
void slp_nearest_text(const slp_nearest *t, const char *before, char *out, size_t size);

#endif

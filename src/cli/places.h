/* places.h - where reading stands, as tokens: kept in a file (--save), told at Ctrl-C, begun from (-o @FILE).
 */
#ifndef SLP_CLI_PLACES_H
#define SLP_CLI_PLACES_H

#include "cli/args.h"

#define SLP_PLACES_EVERY_US 1000000u

typedef struct slp_places {
  const slp_args *args;                    /* borrowed */
  slp_buf began, began_o;                  /* what the tokens to begin from lie in: --save's, -o @FILE's */
  const char *start[SLP_ARGS_STREAMS_MAX]; /* of each stream: to begin from; or NULL */
  const char *file[SLP_ARGS_STREAMS_MAX];  /* borrowed; the file that token came from */
  slp_buf now[SLP_ARGS_STREAMS_MAX];       /* of each stream: where it stands; empty: not known */
  slp_buf written;                         /* what the file holds, as far as we know */
  uint64_t at_us;                          /* of the last look */
} slp_places;

void slp_places_init(slp_places *p, slp_mem *mem, const slp_args *args);
void slp_places_free(slp_places *p);
/* Reads the file of --save; streams it does not know begin from -o @FILE. SLP_EINVAL: a file is not what it
 * should be; SLP_ENOMEM, or another negative code: the file of --save could not be written. And `why`. */
int slp_places_begin(slp_places *p, char why[400]);
/* Notes where the stream of that number stands now; what can't be saved yet stays as it was. SLP_ENOMEM. */
int slp_places_note(slp_places *p, size_t number, sloop_t *s);
/* Writes what was noted to the file of --save, unless it holds just that. 0, or a negative code and `why`. */
int slp_places_write(slp_places *p, char why[400]);
/* Tells on standard error how to go on from here. */
void slp_places_tell(slp_places *p);

#endif

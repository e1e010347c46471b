/* places.h - the positions reached, as tokens: kept in a file (--save), printed at Ctrl-C, begun from (-o
 * @FILE). */
#ifndef SLP_CLI_PLACES_H
#define SLP_CLI_PLACES_H

#include "cli/args.h"
#include "host/own_file.h"

#define SLP_PLACES_EVERY_US 1000000u

typedef struct slp_places {
  const slp_args *args;                    /* borrowed */
  slp_buf began, began_o;                  /* the texts of the tokens to begin from: --save's, -o @FILE's */
  const char *start[SLP_ARGS_STREAMS_MAX]; /* of each stream: the token to begin from; or NULL */
  const char *file[SLP_ARGS_STREAMS_MAX];  /* borrowed; the file that token came from */
  slp_buf now[SLP_ARGS_STREAMS_MAX];       /* of each stream: its position; empty: not known */
  slp_buf written;                         /* what we wrote last; empty: nothing yet */
  uint8_t noted;                           /* a position of this run is in `now` */
  slp_own_file *file_of_save;              /* owned, from begin on; NULL: none */
  uint64_t at_us;                          /* of the last look */
} slp_places;

void slp_places_init(slp_places *p, slp_mem *mem, const slp_args *args);
void slp_places_free(slp_places *p);
/* Reads the file of --save; streams it does not know begin from -o @FILE. SLP_EINVAL: a file is not what it
 * should be; SLP_EBUSY: another process keeps its place there; SLP_ENOMEM, or another negative code: the
 * file of --save could not be written. And `why`. */
int slp_places_begin(slp_places *p, char why[400]);
/* Notes the position of the stream of that number; without a new one the old stays. SLP_ENOMEM. */
int slp_places_note(slp_places *p, size_t number, sloop_t *s);
/* Writes the noted positions to the file of --save, unless it holds just that: where none was noted, the file
 * stays byte for byte. 0, or a negative code and
 * `why`; SLP_EBUSY: the lock was removed, and another process keeps its place there: nothing is written any
 * more. */
int slp_places_write(slp_places *p, char why[400]);
/* Prints on standard error how to continue from here; nothing when another process has taken the file. */
void slp_places_tell(slp_places *p);

#endif

/* places.h - the positions reached, as tokens: kept in a file (--save), printed at Ctrl-C, and read at the
 * start (--save, -o @FILE). */
#ifndef SLP_CLI_PLACES_H
#define SLP_CLI_PLACES_H

#include "cli/args.h"
#include "host/own_file.h"

#define SLP_PLACES_EVERY_US 1000000u /* how often positions are noted and written */

typedef struct slp_places {
  const slp_args *args; /* borrowed */
  /* texts of the files of --save and of -o @FILE, into which `start` points */
  slp_buf began, began_o;
  const char *start[SLP_ARGS_STREAMS_MAX]; /* per stream: the token to begin from; NULL: none */
  const char *file[SLP_ARGS_STREAMS_MAX];  /* per stream, borrowed: the file that the token came from */
  slp_buf now[SLP_ARGS_STREAMS_MAX];       /* per stream: its position as a token; empty: not known */
  slp_buf written;                         /* what was written to the file last; empty: nothing yet */
  /* 1: `now` has a position of this run, not only those read at the start */
  uint8_t noted;
  slp_own_file *file_of_save; /* owned, set by slp_places_begin; NULL: no --save */
  uint64_t at_us;             /* when positions were last noted; set by the user */
} slp_places;

void slp_places_init(slp_places *p, slp_mem *mem, const slp_args *args);
void slp_places_free(slp_places *p);
/* Takes the file of --save for this process and reads it. Streams that it does not name begin from -o @FILE.
 * Returns 0, or a negative code and `why`: SLP_EINVAL: a file has no valid tokens; SLP_EBUSY: another process
 * keeps its place in the file; SLP_ENOMEM; any other: the file of --save can't be written. */
int slp_places_begin(slp_places *p, char why[400]);
/* Notes the present position of a stream, s. If it is not known, the old one stays. Returns 0 or
 * SLP_ENOMEM. */
int slp_places_note(slp_places *p, size_t number, sloop_t *s);
/* Writes the noted positions to the file of --save, unless it holds them already. If none was noted in this
 * run, the file stays as it is, byte for byte. Returns 0, or a negative code and `why`. SLP_EBUSY: somebody
 * removed the lock, and another process keeps its place there: this process never writes the file again. */
int slp_places_write(slp_places *p, char why[400]);
/* Says on standard error how to go on from here. Says nothing if another process has taken the file. */
void slp_places_tell(slp_places *p);

#endif

/* reached_positions.h - keeps the positions that the streams have reached, as tokens. They are stored in a
 * file (--save), printed for --token, and read at the start (--save, -o @FILE). */
#ifndef SLP_CLI_REACHED_POSITIONS_H
#define SLP_CLI_REACHED_POSITIONS_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/output.h"
#include "host/own_file.h"

#include <sloop.h>

#define SLP_READ_SPAN 120            /* room for the text of slp_read_span_text */
#define SLP_PLACES_EVERY_US 1000000u /* how often positions are collected and written */

typedef struct slp_places {
  const slp_args *args; /* borrowed */
  /* contents of the files of --save and of -o @FILE; the tokens in `start` point into them */
  slp_buf began, began_o;
  const char *start[SLP_ARGS_STREAMS_MAX]; /* start[i]: the token at which stream i begins; NULL: none */
  /* file[i]: the file that the token of stream i came from; borrowed */
  const char *file[SLP_ARGS_STREAMS_MAX];
  slp_buf now[SLP_ARGS_STREAMS_MAX]; /* now[i]: the position of stream i as a token; empty: not known */
  slp_buf written; /* what this process last wrote to the file of --save; empty: it has written nothing yet */
  /* 1: slp_places_note() has stored a position in this run; 0: `now` has only the tokens from the files */
  uint8_t noted;
  slp_own_file *file_of_save; /* owned; set by slp_places_begin; NULL: the user did not give --save */
  /* when positions were collected last, in microseconds of the monotonic clock; the caller sets it */
  uint64_t at_us;
} slp_places;

void slp_places_init(slp_places *p, slp_mem *mem, const slp_args *args);
void slp_places_free(slp_places *p);
/* Locks the file of --save for this process and reads it. A stream that has no token in this file begins at
 * its token in -o @FILE. Returns 0, or a negative code and a message in `why`:
 *   - SLP_EINVAL: a file has no valid tokens;
 *   - SLP_EBUSY: another process uses the file of --save;
 *   - SLP_ENOMEM: no memory;
 *   - any other code: the file of --save can't be written. */
int slp_places_begin(slp_places *p, char why[400]);
/* Returns 1 if the file of --save had positions of an earlier run. */
int slp_places_continues(const slp_places *p);
/* Forgets the position of stream `number`, because from now on this number means another stream. */
void slp_places_forget(slp_places *p, size_t number);
/* Stores the present position of the consumer `s` as that of stream `number`. If the position is not known,
 * keeps the stored one. Returns 0 or SLP_ENOMEM. */
int slp_places_note(slp_places *p, size_t number, sloop_t *s);
/* Writes the stored positions to the file of --save, unless the file has them already. If slp_places_note()
 * has stored none in this run, the file stays as it is, byte for byte. Returns 0, or a negative code and a
 * message in `why`. SLP_EBUSY: somebody removed this process's lock, and another process now uses the file;
 * from then on this process never writes the file again. */
int slp_places_write(slp_places *p, char why[400]);
/* Called after a Ctrl-C. Prints one line on standard error: what was read, and how a later run can go on from
 * there. */
void slp_places_tell_stopped(slp_places *p, const slp_read_span *read);
/* For --token: writes the present positions to standard error, a line for each stream. */
void slp_places_tell_tokens(slp_places *p);
/* Writes what was read, as part of a sentence: how many records, and between which times they arrived. */
void slp_read_span_text(const slp_read_span *read, int utc, char out[SLP_READ_SPAN]);

#endif

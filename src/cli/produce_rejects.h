/* produce_rejects.h - what of the input was not put: the file of --rejects, the lines about it, and the
 * counts. */
#ifndef SLP_CLI_PRODUCE_REJECTS_H
#define SLP_CLI_PRODUCE_REJECTS_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/produce_line.h"

#define SLP_REJECTS_TOLD 10u /* lines about single refusals; the others are only counted */

typedef struct slp_rejects {
  slp_buf text; /* not written yet */
  /* borrowed: to be written before the next line, because the last one had no delimiter; n 0: nothing */
  slp_str owed;
  const char *path;
  int fd;    /* -1: no --rejects */
  int error; /* the first failure of a write, or 0 */
  uint64_t counts[SLP_PUT_REFUSALS];
  uint64_t refused; /* the sum of counts */
  uint8_t quiet;
} slp_rejects;

/* Creates the file, or empties it, if `path` is not NULL. Returns 0, or -errno. */
int slp_rejects_open(slp_rejects *r, slp_mem *mem, const char *path);
/* Writes a line, or a part of one, as it was. delimited 0: the delimiter, which is borrowed, did not stand
 * behind it, and is written only if another line follows. */
void slp_rejects_add(slp_rejects *r, slp_str text, slp_str delimiter, int delimited);
/* Counts a line that was refused, and tells it. `input` is the name of the file, `more` the service's words,
 * or "". */
void slp_rejects_count(slp_rejects *r, slp_put_refusal why, const char *input, uint64_t number,
                       const char *more);
void slp_rejects_flush(slp_rejects *r);
/* Appends "2 its key is empty, 1 ...". */
void slp_rejects_reasons(const slp_rejects *r, char *to, size_t n);
/* Writes what is left and closes the file. Returns 0, or why not all of it could be written. */
int slp_rejects_close(slp_rejects *r);

#endif

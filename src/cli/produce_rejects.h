/* produce_rejects.h - the lines of the input that were not put: writes them to the file of --rejects, reports
 * them to the user, and counts them. */
#ifndef SLP_CLI_PRODUCE_REJECTS_H
#define SLP_CLI_PRODUCE_REJECTS_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/produce_line.h"

#define SLP_REJECTS_TOLD 10u /* how many single refusals are reported; further ones are only counted */

typedef struct slp_rejects {
  slp_buf text; /* text that is not written to the file yet */
  /* Borrowed: the delimiter to write before the next line, because the last line had none. n 0: nothing is to
   * be written. */
  slp_str owed;
  const char *path;
  int fd;    /* -1: the user did not give --rejects */
  int error; /* the first failure of a write, or 0 */
  uint64_t counts[SLP_PUT_REFUSALS];
  uint64_t refused; /* the sum of `counts` */
  uint8_t quiet;
} slp_rejects;

/* Creates the file, or empties it, if `path` is not NULL. Returns 0, or -errno. */
int slp_rejects_open(slp_rejects *r, slp_mem *mem, const char *path);
/* Writes a line, or a part of one, as it was read. delimited 0: no delimiter followed the text; then
 * `delimiter`, which is borrowed, is written only if another line follows. */
void slp_rejects_add(slp_rejects *r, slp_str text, slp_str delimiter, int delimited);
/* Counts a line that was refused, and reports it to the user. `input` is the name of the file; `more` is the
 * service's message, or "". */
void slp_rejects_count(slp_rejects *r, slp_put_refusal why, const char *input, uint64_t number,
                       const char *more);
void slp_rejects_flush(slp_rejects *r);
/* Writes the reasons with their counts, such as "2 its key is empty, 1 ...". */
void slp_rejects_reasons(const slp_rejects *r, char *to, size_t n);
/* Writes the text that is left and closes the file. Returns 0, or the error because of which a part could not
 * be written. */
int slp_rejects_close(slp_rejects *r);

#endif

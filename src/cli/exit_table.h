/* exit_table.h - what each exit status means, in the words of the manual page. For each row,
 * test/process/cli_statuses.py runs a command that ends with the status. */
#ifndef SLP_CLI_EXIT_TABLE_H
#define SLP_CLI_EXIT_TABLE_H

#include "base/base.h"

typedef struct slp_exit_row {
  int status;       /* a value of cli/exit.h */
  const char *when; /* when a command ends with this status; several rows may have the same status */
} slp_exit_row;

/* The rows, in the order of their statuses. */
extern const slp_exit_row slp_exit_rows[];
extern const size_t slp_exit_rows_n;

#endif

/* list_apps.h - lists the applications of a store (--apps). Also suggests similar names for an application
 * that does not exist. */
#ifndef SLP_CLI_LIST_APPS_H
#define SLP_CLI_LIST_APPS_H

#include "api/app_rows.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/args.h"

/* Appends an application as a line of JSON. Returns 0, or the buffer's error. */
int slp_apps_json(slp_buf *b, const slp_found_app *app);
/* Runs --apps to its end, and returns the exit code. */
int slp_list_apps_run(slp_mem *mem, const slp_args *args);
/* Prints the names of applications that are most like `missing`, an application without leases. Looks in the
 * store that the options give, for at most two seconds. Prints nothing if the store does not answer, or if no
 * name is like `missing`. */
void slp_apps_suggest(slp_mem *mem, const slp_args *args, const char *missing);

#endif

/* list_apps.h - lists the applications of a store (--apps), and names applications that are like one that
 * does not exist. */
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
/* Tells the user the applications whose names are most like `missing`, an application without leases. Looks
 * in the store of the options for at most two seconds; tells nothing if it does not answer, or if no name is
 * like it. */
void slp_apps_suggest(slp_mem *mem, const slp_args *args, const char *missing);

#endif

/* idle_settings.h - tells which settings of -X do nothing in what is about to run, and why. That is printed
 * at the start, so that nobody trusts in a setting that is ignored. The lines of the configuration file are
 * for every command, so they are not judged. */
#ifndef SLP_CLI_IDLE_SETTINGS_H
#define SLP_CLI_IDLE_SETTINGS_H

#include "cli/args.h"

/* Returns why the setting of that name does nothing with these arguments, or NULL if it acts. The file of
 * --multilang must have been read before. */
const char *slp_idle_setting(const slp_args *a, slp_str name);
/* For tests: returns 1 if the table has the name. */
int slp_idle_setting_known(slp_str name);
/* Adds a line for each -X of the command line that does nothing. Returns 0, or the buffer's error. */
int slp_idle_settings_list(slp_buf *b, const slp_args *a);

#endif

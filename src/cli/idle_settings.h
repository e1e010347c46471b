/* idle_settings.h - which settings of -X do nothing in what is about to run, and why. That is told at the
 * start, so that nobody trusts in a setting that is not looked at. Lines of the configuration file are for
 * every command and are not told of. */
#ifndef SLP_CLI_IDLE_SETTINGS_H
#define SLP_CLI_IDLE_SETTINGS_H

#include "cli/args.h"

/* Returns why the setting of that name does nothing with these arguments; NULL: it acts. With --multilang the
 * file was read before. */
const char *slp_idle_setting(const slp_args *a, slp_str name);
/* Returns 1 if the table has the name. For tests. */
int slp_idle_setting_known(slp_str name);
/* Adds a line for each setting of the command line that does nothing. */
int slp_idle_settings_list(slp_buf *b, const slp_args *a);

#endif

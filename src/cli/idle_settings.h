/* idle_settings.h - finds the settings of -X that have no effect in this run, and says why. They are reported
 * at the start, so that nobody relies on a setting that is ignored. The configuration file is for all
 * commands, so its settings are not checked. */
#ifndef SLP_CLI_IDLE_SETTINGS_H
#define SLP_CLI_IDLE_SETTINGS_H

#include "base/buf.h"
#include "cli/args.h"

/* Returns why the setting `name` has no effect with these arguments, or NULL if it has an effect. The file of
 * --multilang must have been read before. */
const char *slp_idle_setting(const slp_args *a, slp_str name);
/* For tests: returns 1 if the table has a row for the setting. */
int slp_idle_setting_known(slp_str name);
/* Appends a line for each -X on the command line that has no effect. Returns 0, or the buffer's error. */
int slp_idle_settings_list(slp_buf *b, const slp_args *a);

#endif

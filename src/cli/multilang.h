/* multilang.h - --multilang FILE.properties: runs a child process for each shard, as Amazon's MultiLangDaemon
 * does. */
#ifndef SLP_CLI_MULTILANG_H
#define SLP_CLI_MULTILANG_H

#include "cli/args.h"
#include "cli/multilang_properties.h"
#include "host/executable.h"

/* Reads the properties file that the command line names, and sets the options that it stands for. Returns 0,
 * or an exit code after telling why. The caller frees s in either case. */
int slp_multilang_load(slp_args *a, slp_ml_settings *s, slp_mem *mem);
/* Finds the program that executableName names. Returns 1 and its path, or 0 and why it can't be run. */
int slp_multilang_program(const slp_ml_settings *s, char path[SLP_EXECUTABLE_PATH],
                          char why[SLP_EXECUTABLE_WHY]);
/* Runs the daemon to its end; returns the exit code. */
int slp_multilang_run(slp_mem *mem, const slp_args *args, const slp_ml_settings *s);
/* --check: prints what the daemon would do, and starts nothing. Returns the exit code. */
int slp_multilang_check(slp_mem *mem, const slp_args *args, const slp_ml_settings *s);

#endif

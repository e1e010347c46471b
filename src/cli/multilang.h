/* multilang.h - --multilang FILE.properties: runs a child process for each shard and speaks the protocol of
 * Amazon's MultiLangDaemon with it. */
#ifndef SLP_CLI_MULTILANG_H
#define SLP_CLI_MULTILANG_H

#include "base/mem.h"
#include "cli/args.h"
#include "cli/multilang_properties.h"
#include "host/executable.h"

/* Reads the properties file of --multilang and sets the options that follow from it. Returns 0, or an exit
 * code; then the reason has been reported. The caller must free s in both cases. */
int slp_multilang_load(slp_args *a, slp_ml_settings *s, slp_mem *mem);
/* Finds the program of the key executableName. Returns 1 and its path, or 0 and the reason why it can't be
 * run. */
int slp_multilang_program(const slp_ml_settings *s, char path[SLP_EXECUTABLE_PATH],
                          char why[SLP_EXECUTABLE_WHY]);
/* Runs the daemon to its end. Returns the exit code. */
int slp_multilang_run(slp_mem *mem, const slp_args *args, const slp_ml_settings *s);
/* --check: prints what the daemon would do, without starting anything. Returns the exit code. */
int slp_multilang_check(slp_mem *mem, const slp_args *args, const slp_ml_settings *s);

#endif

/* multilang.h - --multilang FILE.properties: a process for each shard, as Amazon's MultiLangDaemon has it. */
#ifndef SLP_CLI_MULTILANG_H
#define SLP_CLI_MULTILANG_H

#include "cli/args.h"
#include "cli/multilang_properties.h"
#include "host/executable.h"

/* Reads the file that the command line names, and sets the options it stands for. 0, or an exit code after
 * telling why; s is to be freed in any case. */
int slp_multilang_load(slp_args *a, slp_ml_settings *s, slp_mem *mem);
/* Finds the program that executableName names. Returns 0 and why, if it can not be run. */
int slp_multilang_program(const slp_ml_settings *s, char path[SLP_EXECUTABLE_PATH],
                          char why[SLP_EXECUTABLE_WHY]);
int slp_multilang_run(slp_mem *mem, const slp_args *args, const slp_ml_settings *s);
/* --check: says what would be done. 0, or an exit code. */
int slp_multilang_check(slp_mem *mem, const slp_args *args, const slp_ml_settings *s);

#endif

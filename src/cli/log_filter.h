/* log_filter.h - -d CONTEXT,...: decides which lines of the library's log are shown. */
#ifndef SLP_CLI_LOG_FILTER_H
#define SLP_CLI_LOG_FILTER_H

/* Checks the words of `contexts`. Each must be "all" or one of the first words of log lines in
 * slp_log_contexts (options.h). Returns 0, or SLP_EINVAL and a sentence in `why`. */
int slp_log_contexts_check(const char *contexts, char why[200]);
/* Returns 1 if `contexts` contains "all", or the first word of `line`, which is "WORD: ...". */
int slp_log_contexts_have(const char *contexts, const char *line);

#endif

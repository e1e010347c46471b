/* log_filter.h - -d CONTEXT,...: decides which lines of the library's log are shown. */
#ifndef SLP_CLI_LOG_FILTER_H
#define SLP_CLI_LOG_FILTER_H

/* Checks that each word of `contexts` is "all" or one of the first words of log lines that options.h lists
 * (slp_log_contexts). Returns 0, or SLP_EINVAL and a sentence in `why`. */
int slp_log_contexts_check(const char *contexts, char why[200]);
/* Returns 1 if `contexts` contains "all", or the first word of `line`, which is "WORD: ...". */
int slp_log_contexts_have(const char *contexts, const char *line);

#endif

/* log_filter.h - -d CONTEXT,...: which lines of the library's log are shown. */
#ifndef SLP_CLI_LOG_FILTER_H
#define SLP_CLI_LOG_FILTER_H

/* Known words only: "all", or those of slp_log_contexts. SLP_EINVAL and a sentence in `why`. */
int slp_log_contexts_check(const char *contexts, char why[200]);
/* Does a line that begins with "WORD:" belong to them? */
int slp_log_contexts_have(const char *contexts, const char *line);

#endif

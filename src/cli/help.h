/* help.h - texts that are generated from the table of options: -h, --kcat, the manual page, the completions.
 * The functions return 0, or the buffer's error. */
#ifndef SLP_CLI_HELP_H
#define SLP_CLI_HELP_H

#include "base/buf.h"

#define SLP_HELP_WIDTH 80

/* Appends `text` in lines of at most SLP_HELP_WIDTH columns, indented by `indent` spaces. The caller has
 * already written the first `column` columns of the first line. Lines of `text` that begin with two spaces
 * are not wrapped. */
int slp_help_fill(slp_buf *b, const char *text, unsigned column, unsigned indent);
/* Writes the names of an option, such as "-o, --start POSITION". */
struct slp_option;
int slp_help_names(slp_buf *b, const struct slp_option *o);

/* Writes the text of -h: one screen if `topic` is NULL, otherwise the options of that topic (topics.h), or
 * all options if it is "all". */
int slp_help(slp_buf *b, const char *topic);
int slp_help_kcat(slp_buf *b); /* writes the text of --kcat */
int slp_man(slp_buf *b);       /* writes the manual page in roff, for --man */
int slp_completion_bash(slp_buf *b);
int slp_completion_zsh(slp_buf *b);
int slp_completion_fish(slp_buf *b);

#endif

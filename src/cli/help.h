/* help.h - texts made from the table of options: -h, --kcat, the manual page, the completions. The functions
 * return 0, or the buffer's error. */
#ifndef SLP_CLI_HELP_H
#define SLP_CLI_HELP_H

#include "base/buf.h"

#define SLP_HELP_WIDTH 80

/* Appends `text` in lines of at most SLP_HELP_WIDTH columns, each behind `indent` spaces. In the first line
 * the caller has already written `column` columns. Lines of the text that begin with two spaces stay as they
 * are. */
int slp_help_fill(slp_buf *b, const char *text, unsigned column, unsigned indent);
/* Writes the names of an option: "-o, --start POSITION". */
struct slp_option;
int slp_help_names(slp_buf *b, const struct slp_option *o);

int slp_help(slp_buf *b);      /* -h */
int slp_help_kcat(slp_buf *b); /* --kcat */
int slp_man(slp_buf *b);       /* --man: roff */
int slp_completion_bash(slp_buf *b);
int slp_completion_zsh(slp_buf *b);

#endif

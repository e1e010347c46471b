/* profile_names.h - lists the profiles of ~/.aws/config and ~/.aws/credentials, for completions. */
#ifndef SLP_CLI_PROFILE_NAMES_H
#define SLP_CLI_PROFILE_NAMES_H

#include "base/buf.h"

/* Appends the names of all profiles, one a line, each once. AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE
 * can name other files. A file that can't be read counts as empty. Returns 0, or the buffer's error. */
int slp_profile_names(slp_buf *b);
/* Appends the profiles of one file whose text is given. is_config: sections are called "profile NAME", except
 * "default". Returns 0, or the buffer's error. */
int slp_profile_names_of(slp_buf *b, slp_str text, int is_config);

#endif

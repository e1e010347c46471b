/* ini.h - reads the files under ~/.aws as the AWS tools do: sections, keys, nested (indented) keys, '#' and
 * ';' comments, continuation lines. Checked against botocore's reader. */
#ifndef SLP_CODEC_INI_H
#define SLP_CODEC_INI_H

#include "base/buf.h"

/* Called for each key in file order. section is trimmed and without brackets. parent is the key above an
 * indented one, else {NULL,0}; the parent itself came before, with an empty value. A value that goes on over
 * indented lines holds line ends and indents as written. Keys come as written: botocore lowers the case of
 * those that have no parent. Slices point into the text given. Return nonzero to stop; slp_ini_read returns
 * it. */
typedef int (*slp_ini_fn)(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value,
                          uint32_t line);
/* Returns 0, what fn returned, or SLP_EBADDATA with *ret_line set: a line that is neither section, key nor
 * comment. */
int slp_ini_read(slp_str text, slp_ini_fn fn, void *arg, uint32_t *ret_line);

#endif

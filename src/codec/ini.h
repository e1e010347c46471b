/* ini.h - reads the files under ~/.aws as the AWS tools do: sections, keys, nested (indented) keys, '#' and
 * ';' comments, continuation lines. Checked against botocore's reader. */
#ifndef SLP_CODEC_INI_H
#define SLP_CODEC_INI_H

#include "base/base.h"

/* Called for each key in the order of the file. section is trimmed and without brackets. For an indented key,
 * parent is the key above it, for which fn was called before with an empty value; else {NULL,0}. A value that
 * continues on indented lines contains their line ends and indents as written. Keys keep their case, whereas
 * botocore lowers the case of keys without a parent. Slices point into the text given. If fn returns nonzero,
 * reading stops and slp_ini_read returns that value. */
typedef int (*slp_ini_fn)(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value,
                          uint32_t line);
/* Returns 0, what fn returned, or SLP_EBADDATA with *ret_line set: a line that is neither section, key nor
 * comment. */
int slp_ini_read(slp_str text, slp_ini_fn fn, void *arg, uint32_t *ret_line);

#endif

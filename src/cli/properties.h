/* properties.h - reads Java's .properties files, whose format the class java.util.Properties defines. One
 * difference: text is taken as UTF-8, where Java takes bytes as Latin-1. \uXXXX means the same in both. */
#ifndef SLP_CLI_PROPERTIES_H
#define SLP_CLI_PROPERTIES_H

#include "base/buf.h"

typedef struct slp_properties {
  slp_str text;
  size_t at;
  size_t line; /* number of the line, from 1, of the property that was read last */
  size_t next_line;
} slp_properties;

slp_properties slp_properties_begin(slp_str text);
/* Reads the next property, and appends to `into`: its key, a NUL, its value, a NUL. Returns 1 if it has read
 * a property, 0 if there are no more, SLP_EBADDATA if line p->line has a damaged \u escape, or the error of
 * `into`. */
int slp_properties_next(slp_properties *p, slp_buf *into);

#endif

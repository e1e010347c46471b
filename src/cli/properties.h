/* properties.h - reads Java's .properties files: the class java.util.Properties says what they are. Text is
 * taken as UTF-8, where Java takes bytes as Latin-1; \uXXXX means the same. */
#ifndef SLP_CLI_PROPERTIES_H
#define SLP_CLI_PROPERTIES_H

#include "base/buf.h"

typedef struct slp_properties {
  slp_str text;
  size_t at;
  size_t line; /* line of the property read last, from 1 */
  size_t next_line;
} slp_properties;

slp_properties slp_properties_begin(slp_str text);
/* Appends key, NUL, value, NUL. Returns 1; 0: there are no more properties; SLP_EBADDATA: a damaged \u escape
 * in line `line`; or an error of the buf. */
int slp_properties_next(slp_properties *p, slp_buf *into);

#endif

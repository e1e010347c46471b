/* fields.h - reads named members of a small JSON object whose values are texts and numbers: answers that hold
 * keys, cached tokens. */
#ifndef SLP_CODEC_FIELDS_H
#define SLP_CODEC_FIELDS_H

#include "base/base.h"

typedef struct slp_field {
  const char *name;
  slp_str text; /* out: slice of the body; a number is as written; {NULL, 0}: absent or null */
} slp_field;

/* Reads the body in place. `inside` names the member whose members are wanted; NULL: those of the object
 * itself. Unknown members are skipped. Returns 0, or SLP_EBADDATA / SLP_ELIMIT with *ret_why, static text. */
int slp_fields_read(char *body, size_t n, const char *inside, slp_field *fields, size_t fields_n,
                    const char **ret_why);

#endif

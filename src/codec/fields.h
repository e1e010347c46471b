/* fields.h - reads named members of a small JSON object, such as an answer with keys, or a cached token. The
 * members' values are texts and numbers. */
#ifndef SLP_CODEC_FIELDS_H
#define SLP_CODEC_FIELDS_H

#include "base/base.h"

typedef struct slp_field {
  const char *name;
  slp_str text; /* set on return: slice of the body, numbers as written; {NULL, 0}: absent or null */
} slp_field;

/* Reads the body in place. The fields are members of the body's object, or, if `inside` is not NULL, of the
 * object that is its member `inside`. Other members are skipped. Returns 0, or SLP_EBADDATA / SLP_ELIMIT with
 * *ret_why set to static text. */
int slp_fields_read(char *body, size_t n, const char *inside, slp_field *fields, size_t fields_n,
                    const char **ret_why);

#endif

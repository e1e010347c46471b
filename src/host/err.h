/* err.h - names and texts of libuv's error codes, without the memory that libuv allocates for unknown
 * codes. */
#ifndef SLP_HOST_ERR_H
#define SLP_HOST_ERR_H

#include "base/library.h"

const char *slp_uv_err_name(int err);
const char *slp_uv_strerror(int err);
/* Returns why a file could not be read or written: the text of strerror(), or a clearer one. */
const char *slp_file_why(int err);

/* Returns the libraries of this build and their versions; static. */
const char *slp_features(void);
/* Return the libuv and the libcurl that run in this process. The version of libcurl is the text of
 * curl_version(): it goes on with the versions of OpenSSL, zlib and what else libcurl uses. */
slp_library slp_libuv(void);
slp_library slp_libcurl(void);
/* Returns the file that a function was loaded from; "" if it is not known, as in a static program. */
const char *slp_code_file(void (*code)(void));

#endif

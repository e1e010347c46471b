/* err.h - names and texts of libuv's error codes, without the memory that libuv allocates for unknown
 * codes. */
#ifndef SLP_HOST_ERR_H
#define SLP_HOST_ERR_H

const char *slp_uv_err_name(int err);
const char *slp_uv_strerror(int err);
/* Returns why a file could not be read or written: the text of strerror(), or a clearer one. */
const char *slp_file_why(int err);

/* Returns the libraries of this build and their versions; static. */
const char *slp_features(void);

#endif

/* err.c - names and texts of libuv's error codes. */
#include "host/err.h"

#include <string.h>
#include <uv.h>

#include "host/host.h"

const char *slp_uv_err_name(int err) {
  switch (err) {
#define X(name, text) \
  case UV_##name: return #name;
    UV_ERRNO_MAP(X)
#undef X
    default: return "UNKNOWN";
  }
}

const char *slp_file_why(int err) {
  switch (err) {
    case UV_EISDIR: return "it is a folder";
    case UV_EFBIG: return "File too large: this process may write no larger one (ulimit -f)";
    case UV_E2BIG: return "it is too large";
    case SLP_FILE_PIPE_LATE: return "it is a pipe, and was not written to its end within 10 seconds";
    default: return strerror(-err);
  }
}

const char *slp_uv_strerror(int err) {
  switch (err) {
#define X(name, text) \
  case UV_##name: return text;
    UV_ERRNO_MAP(X)
#undef X
    default: return "unknown error";
  }
}

/* err.c - libuv's names for its codes. */
#include "host/err.h"

#include <uv.h>

const char *slp_uv_err_name(int err) {
  switch (err) {
#define X(name, text) \
  case UV_##name: return #name;
    UV_ERRNO_MAP(X)
#undef X
    default: return "UNKNOWN";
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

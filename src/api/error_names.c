/* error_names.c - names and texts of the result codes of libsloop and of libuv. */
#include "host/err.h"
#include <sloop.h>

const char *sloop_err_name(int err) {
  switch (err) {
    case 0: return "OK";
#define X(name, num, text) \
  case num: return #name;
      SLOOP_ERRORS(X)
#undef X
    default: return slp_uv_err_name(err);
  }
}

const char *sloop_strerror(int err) {
  switch (err) {
    case 0: return "success";
#define X(name, num, text) \
  case num: return text;
      SLOOP_ERRORS(X)
#undef X
    default: return slp_uv_strerror(err);
  }
}

const char *sloop_version(void) { return SLP_VERSION; }

uint32_t sloop_version_num(void) { return SLOOP_VERSION_NUM; }

const char *sloop_features(void) { return slp_features(); }

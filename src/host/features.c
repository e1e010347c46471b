/* features.c - the libraries of this build, for bug reports. */
#include "host/err.h"

#include <curl/curlver.h>
#include <uv/version.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#if defined(__SSE2__)
#define SIMD " sse2"
#elif defined(__ARM_NEON)
#define SIMD " neon"
#else
#define SIMD ""
#endif

#define LIBUV TEXT(UV_VERSION_MAJOR) "." TEXT(UV_VERSION_MINOR) "." TEXT(UV_VERSION_PATCH)

const char *slp_features(void) {
  return "sloop/" SLP_VERSION " libuv/" LIBUV " libcurl/" LIBCURL_VERSION SIMD;
}

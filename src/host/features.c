/* features.c - the libraries of this build and those of this process, for bug reports. */
#include "host/err.h"

#include "base/library.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <uv.h>

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

slp_library slp_libuv(void) {
  return (slp_library){"libuv", uv_version_string(), (void (*)(void))uv_version_string};
}

slp_library slp_libcurl(void) {
  const char *text = curl_version(), *slash = strchr(text, '/');
  return (slp_library){"libcurl", slash ? slash + 1 : text, (void (*)(void))curl_version};
}

const char *slp_code_file(void (*code)(void)) {
  Dl_info info;
  return dladdr((void *)(uintptr_t)code, &info) && info.dli_fname ? info.dli_fname : "";
}

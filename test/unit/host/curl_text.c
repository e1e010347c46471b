/* curl_text.c - what a result of libcurl is told as, where the code alone does not say it. */
#include "host/uv_host.h"
#include "sloop.h"

#include "check.h"
#include "scarce.h"

static const char *told(slp_curl_failure f, int64_t left, int code) {
  static char text[160];
  scarce memory = {.left = -1};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  memory.left = left;
  f.mem = mem;
  if (!f.detail) f.detail = "";
  CHECK_INT(slp_curl_explain(text, sizeof text, SLP_STR("https://u:p@kin.example/"), &f), code);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return text;
}

static const char line[] = "head or trailer of kin.example:443 has a line that is too long";
static const char memory[] = "no memory for the call to kin.example:443";

TEST(a_line_that_is_too_long_is_told_apart_from_a_lack_of_memory) {
  const char *trailer = "Out of memory in chunked-encoding";
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_OUT_OF_MEMORY, .reads_head = 1}, -1, SLOOP_EREMOTE), line);
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_OUT_OF_MEMORY, .reads_head = 1}, 0, UV_ENOMEM), memory);
  /* before the request is out and behind the head there is no line */
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_OUT_OF_MEMORY}, -1, UV_ENOMEM), memory);
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_RECV_ERROR, .detail = trailer}, -1, SLOOP_EREMOTE), line);
  CHECK_STR(told((slp_curl_failure){.rc = CURLE_RECV_ERROR, .detail = trailer}, 0, UV_ENOMEM), memory);
  /* libcurl 8.6.0 and later have a code for it */
  CHECK_STR(told((slp_curl_failure){.rc = (CURLcode)100, .reads_head = 1}, 0, SLOOP_EREMOTE), line);
}

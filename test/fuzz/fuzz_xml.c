/* fuzz_xml.c - the XML finder on any bytes: nothing beyond the document is read, what is found is no longer
 * than the document allows, and the whole document decides whether it is one, not the path.
 * contract/vectors/xml_etree.py compares texts with ElementTree's. */
#include "codec/xml.h"

#include "fuzz.h"

static int find(slp_mem *mem, const char *text, size_t size, const char *path, size_t *ret_n) {
  slp_buf out;
  slp_buf_init(&out, mem, size + 1);
  int r = slp_xml_text((slp_str){text, size}, path, &out);
  *ret_n = out.n;
  slp_buf_free(&out);
  return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const paths[] = {"a", "a/b",
                                      "AssumeRoleResponse/AssumeRoleResult/Credentials/SessionToken"};
  char *text = fuzz_copy(data, size);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  size_t n = 0;
  int none = find(mem, text, size, "no such path", &n);
  REQUIRE(none == SLP_ENOENT || none == SLP_EBADDATA || none == SLP_ELIMIT);
  for (size_t i = 0; i < SLP_COUNT(paths); i++) {
    int r = find(mem, text, size, paths[i], &n);
    REQUIRE(r == 0 || r == SLP_ENOENT || r == SLP_EBADDATA || r == SLP_ELIMIT);
    REQUIRE(n <= size);
    if (none == SLP_ENOENT) REQUIRE(r != SLP_ELIMIT);
    if (none != SLP_ENOENT)
      REQUIRE(r == none || r == SLP_EBADDATA); /* bad text may come before what is bad there */
  }
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(text);
  return 0;
}

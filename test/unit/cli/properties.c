/* Java's .properties: cli/properties.c. The answers are those of java.util.Properties. */
#include "cli/properties.h"

#include "check.h"

/* "key=value;key=value;", or BAD and the line. */
static const char *all(const char *text) {
  static char out[400];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_properties p = slp_properties_begin(slp_str_of(text));
  slp_buf b;
  size_t n = 0;
  int r;
  slp_buf_init(&b, mem, 1000);
  out[0] = 0;
  while ((r = slp_properties_next(&p, &b)) == 1) {
    n += (size_t)snprintf(out + n, sizeof out - n, "%zu:%s=%s;", p.line, b.p, b.p + strlen(b.p) + 1);
    slp_buf_clear(&b);
  }
  if (r) snprintf(out, sizeof out, "BAD %zu", p.line);
  slp_buf_free(&b);
  slp_mem_drop(mem);
  return out;
}

TEST(properties_as_java_reads_them) {
  CHECK_STR(all(""), "");
  CHECK_STR(all("a=1\nb : 2\r\nc 3\rd"), "1:a=1;2:b=2;3:c=3;4:d=;");
  CHECK_STR(all("# no\n ! nor this \\\n  a = b = c  \n"), "3:a=b = c  ;");
  CHECK_STR(all("a = one, \\\n    two\nb=\\\n"), "1:a=one, two;3:b=;");
  CHECK_STR(all("a\\ b\\:c\\=d = \\t\\x\\\\"), "1:a b:c=d=\tx\\;");
  CHECK_STR(all("k=\\u00e9\\ud83d\\ude00\\ud83dx"), "1:k=\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdx;");
  CHECK_STR(all("k \\\n  : v"), "1:k=v;");
  CHECK_STR(all("\\\n  # this is none\na=1"), "3:a=1;");
  CHECK_STR(all("a=1\nb=\\u12x4"), "BAD 2");
  CHECK_STR(all("a=1\nb=\\ud83d\\u1"), "BAD 2");
}

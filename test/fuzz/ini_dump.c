/* ini_dump.c - a file of standard input as codec/ini reads it, one JSON array a key; "refused" as the last
 * line when it is refused. For ini_botocore.py. */
#include <stdio.h>

#include "codec/ini.h"
#include "codec/json.h"
#include "codec/json_write.h"

static int put(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value, uint32_t line) {
  slp_buf *b = arg;
  slp_str parts[] = {section, parent, key, value};
  (void)line;
  for (int i = 0; i < 4; i++) {
    if (slp_buf_add_z(b, i ? "," : "[")) return SLP_ENOMEM;
    if (parts[i].p ? slp_json_put_string(b, parts[i]) : slp_buf_add_z(b, "null")) return SLP_ENOMEM;
  }
  return slp_buf_add_z(b, "]\n");
}

int main(void) {
  static char text[1 << 20];
  size_t n = fread(text, 1, sizeof text, stdin);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  uint32_t line;
  slp_buf_init(&b, mem, 1 << 24);
  if (slp_ini_read((slp_str){text, n}, put, &b, &line) && slp_buf_add_z(&b, "\"refused\"\n")) return 1;
  fwrite(slp_buf_z(&b), 1, b.n, stdout);
  slp_buf_free(&b);
  slp_mem_drop(mem);
  return 0;
}

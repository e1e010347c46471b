/* produce_rejects.c - the file of --rejects: lines as they were, and apart from each other. */
#include "cli/produce_rejects.h"
#include "check.h"

#include <stdio.h>
#include <unistd.h>

TEST(lines_are_as_they_were_and_apart) {
  char path[] = "/tmp/rejects-XXXXXX", text[100] = "";
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_rejects r;
  int fd = mkstemp(path);
  CHECK(fd >= 0 && close(fd) == 0);
  CHECK_INT(slp_rejects_open(&r, mem, path), 0);
  slp_str d = SLP_STR("\r\n");
  slp_rejects_add(&r, SLP_STR("one"), d, 1);
  slp_rejects_add(&r, SLP_STR("the last of the input"), d, 0);
  slp_rejects_add(&r, SLP_STR(""), d, 0); /* nothing */
  slp_rejects_flush(&r);
  slp_rejects_add(&r, SLP_STR("a long "), SLP_STR(""), 1);
  slp_rejects_add(&r, SLP_STR("line"), d, 1);
  slp_rejects_add(&r, SLP_STR("cut"), d, 0);
  CHECK_INT(slp_rejects_close(&r), 0);
  FILE *f = fopen(path, "r");
  CHECK(f != NULL);
  CHECK(fread(text, 1, sizeof text - 1, f) > 0);
  fclose(f);
  CHECK_STR(text, "one\r\nthe last of the input\r\na long line\r\ncut");
  CHECK_INT(unlink(path), 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

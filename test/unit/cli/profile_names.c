/* profile_names.c - the profiles of files under ~/.aws. */
#include "cli/profile_names.h"
#include "check.h"

static slp_mem *mem;
static slp_buf b;

TEST(names_of_profiles_come_once_and_nothing_else_does) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 16);
  CHECK_INT(
      slp_profile_names_of(&b,
                           SLP_STR("[default]\nregion=eu-west-1\n[profile work]\nregion=x\nregion=y\n"
                                   "[profile  \"two words\"]\nregion=x\n[sso-session corp]\nsso_region=x\n"
                                   "[services s]\na=b\n[profiled]\nregion=x\n"),
                           1),
      0);
  CHECK_STR(slp_buf_z(&b), "default\nwork\ntwo words\n");
  CHECK_INT(slp_profile_names_of(&b, SLP_STR("[work]\naws_access_key_id=A\n[old]\naws_access_key_id=B\n"), 0),
            0);
  CHECK_STR(slp_buf_z(&b), "default\nwork\ntwo words\nold\n");
  slp_buf_clear(&b);
  CHECK_INT(slp_profile_names_of(&b, SLP_STR("[a\033[2Jb]\nx=y\n[good]\nx=y\nno key\n[behind]\nx=y\n"), 0),
            0);
  CHECK_STR(slp_buf_z(&b), "good\n"); /* and a file is read up to what makes no sense */
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(both_files_are_read_where_the_environment_says) {
  char folder[] = "/tmp/profiles-XXXXXX", path[60];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/config", folder);
  FILE *f = fopen(path, "w");
  CHECK(f && fputs("[profile one]\nregion=x\n", f) >= 0 && fclose(f) == 0);
  setenv("AWS_CONFIG_FILE", path, 1);
  setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/file", 1);
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 16);
  CHECK_INT(slp_profile_names(&b), 0);
  CHECK_STR(slp_buf_z(&b), "one\n");
  slp_buf_free(&b);
  slp_mem_drop(mem);
  CHECK(remove(path) == 0 && remove(folder) == 0);
}

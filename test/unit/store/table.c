/* store/table.c: names and keys of tables. */
#include "store/table.h"

#include "check.h"

#include <stdio.h>

TEST(a_copy_shares_nothing) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char name[] = "leases", hash[] = "app", range[] = "row";
  slp_table_spec *a = slp_table_copy(mem, &(slp_table_spec){name, hash, range});
  slp_table_spec *b = slp_table_copy(mem, &(slp_table_spec){name, hash, NULL});
  memset(name, 'x', 6), memset(hash, 'x', 3), memset(range, 'x', 3);
  CHECK_STR(a->name, "leases");
  CHECK_STR(a->hash_name, "app");
  CHECK_STR(a->range_name, "row");
  CHECK(!b->range_name);
  slp_free(mem, a);
  slp_free(mem, b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static void whose(const char *hash, const char *range, char *to, size_t size) {
  CHECK(!range || !*range || strcmp(range, "row") == 0);
  snprintf(to, size, "%s", strcmp(hash, "id") == 0 ? "" : strcmp(hash, "app") == 0 ? "sloop" : "kcl");
}

TEST(what_is_wrong_is_one_line_with_all_names) {
  slp_fail f;
  slp_fail_clear(&f);
  slp_table_spec t = {"leases", "app", "row", 0, whose}, flat = {"leases", "shard", NULL, 0, whose};
  slp_table_other_keys(&f, &t, "leaseKey", "");
  CHECK_STR(f.message,
            "table \"leases\" has the key \"leaseKey\" alone, as those of schema kcl; leases need \"app\" "
            "and \"row\"");
  CHECK_INT(f.class, SLP_REFUSED);
  slp_table_other_keys(&f, &flat, "app", "row");
  CHECK_STR(f.message,
            "table \"leases\" has the key \"app\" and \"row\", as those of schema sloop; leases need "
            "\"shard\" alone");
  slp_table_other_keys(&f, &t, "id", NULL);
  CHECK_STR(f.message, "table \"leases\" has the key \"id\" alone; leases need \"app\" and \"row\"");
  t.whose = NULL;
  slp_table_other_keys(&f, &t, "leaseKey", "");
  CHECK_STR(f.message, "table \"leases\" has the key \"leaseKey\" alone; leases need \"app\" and \"row\"");
  slp_table_missing(&f, &t);
  CHECK_STR(f.message, "there is no table \"leases\"");
  CHECK_INT(f.class, SLP_GONE);
}

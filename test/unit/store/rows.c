/* store/rows.c: conditions and changes. What they mean is judged by servers, in the suite of all stores; here
 * is what no server can show. */
#include "store/rows.h"

#include "check.h"
#include "scarce.h"

#define S(z) ((slp_val){.kind = SLP_VAL_S, .s = SLP_STR(z)})
#define N(z) ((slp_val){.kind = SLP_VAL_N, .s = SLP_STR(z)})

static const slp_table_spec table = {"t", "h", "r"};

TEST(the_old_row_stays_as_it_is_and_the_new_one_shares_nothing_with_it) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char text[] = "old";
  slp_attr a[] = {
      {SLP_STR("h"), S("1")}, {SLP_STR("r"), S("2")}, {SLP_STR("x"), {.kind = SLP_VAL_S, .s = {text, 3}}}};
  slp_row row = {a, 3};
  slp_change c[] = {{SLP_STR("y"), SLP_SET, S("new")}};
  slp_store_write w = {.key = {SLP_STR("1"), SLP_STR("2")}, .changes = c, .changes_n = 1};
  slp_store_rows made;
  const char *why;
  slp_store_rows_init(&made, mem);
  CHECK_INT(slp_rows_change(&made, &row, &table, &w, &why), 0);
  memset(text, 'x', 3);
  CHECK_INT(made.rows[0].n, 4);
  CHECK_INT(row.n, 3);
  CHECK(slp_str_is(slp_row_text(&made.rows[0], SLP_STR("x")), "old"));
  slp_store_rows_free(&made);
  slp_mem_drop(mem);
}

TEST(a_row_without_memory_is_no_row) {
  int failed = 0, made_n = 0; /* how many allocations it takes depends on the size of a pointer */
  for (int n = 1; n < 6; n++) {
    scarce memory = {.left = n};
    static char large[9000];
    slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
    slp_change c[] = {{SLP_STR("a"), SLP_SET, {.kind = SLP_VAL_B, .s = {large, sizeof large}}},
                      {SLP_STR("b"), SLP_SET, {.kind = SLP_VAL_B, .s = {large, sizeof large}}},
                      {SLP_STR("n"), SLP_ADD_N, N("1")}};
    slp_store_write w = {.key = {SLP_STR("1"), SLP_STR("2")}, .changes = c, .changes_n = 3};
    slp_store_rows made;
    const char *why;
    if (!mem) continue;
    slp_store_rows_init(&made, mem);
    int r = slp_rows_change(&made, NULL, &table, &w, &why);
    CHECK(r == 0 || r == SLP_ENOMEM);
    CHECK(r == 0 || !made_n);
    CHECK_INT(made.n, r == 0);
    made_n += r == 0;
    failed += r != 0;
    slp_store_rows_free(&made);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
  }
  CHECK(failed > 0 && made_n > 0);
}

TEST(values_compare_as_sets_kinds_and_numbers_do) {
  static const slp_str a[] = {{"a", 1}, {"b", 1}}, b[] = {{"a", 1}, {"c", 1}};
  slp_val x = {.kind = SLP_VAL_SS, .items = a, .n = 2}, y = {.kind = SLP_VAL_SS, .items = b, .n = 2};
  slp_val none = {.kind = SLP_VAL_NONE}, null = {.kind = SLP_VAL_NULL};
  CHECK(slp_val_equal(&x, &x) && !slp_val_equal(&x, &y));
  CHECK(!slp_val_equal(&none, &none) && slp_val_equal(&null, &null));
  CHECK(slp_val_equal(&N("1.0"), &N("1")) && !slp_val_equal(&N("1"), &S("1")));
  CHECK(slp_val_equal(&S(""), &S("")) && !slp_val_equal(&S(""), &S("a")));
  slp_val list = {.kind = SLP_VAL_OTHER, .s = SLP_STR("{\"L\":[]}")},
          map = {.kind = SLP_VAL_OTHER, .s = SLP_STR("{\"M\":{}}")};
  CHECK(slp_val_equal(&list, &list) && !slp_val_equal(&list, &map)); /* by their text */
}

TEST(sizes_are_the_services) {
  static const slp_str items[] = {{"ab", 2}, {"c", 1}};
  slp_attr a[] = {{SLP_STR("name"), S("12345")},
                  {SLP_STR("b"), {.kind = SLP_VAL_BOOL, .n = 1}},
                  {SLP_STR("s"), {.kind = SLP_VAL_SS, .items = items, .n = 2}}};
  CHECK_INT(slp_row_size(&(slp_row){a, 3}), 4 + 5 + 1 + 1 + 1 + 3);
}

/* lease/store.c: rows and their arena. */
#include "lease/store.h"

#include "check.h"
#include "scarce.h"

TEST(a_row_tells_what_it_has_and_what_it_has_not) {
  slp_attr a[] = {{SLP_STR("s"), {.kind = SLP_VAL_S, .s = SLP_STR("text")}},
                  {SLP_STR("n"), {.kind = SLP_VAL_N, .s = SLP_STR("-17")}},
                  {SLP_STR("big"), {.kind = SLP_VAL_N, .s = SLP_STR("18446744073709551617")}},
                  {SLP_STR("b"), {.kind = SLP_VAL_B, .s = SLP_STR("bytes")}}};
  slp_row row = {a, SLP_COUNT(a)};
  CHECK_INT(slp_row_get(&row, SLP_STR("b"))->kind, SLP_VAL_B);
  CHECK_INT(slp_row_get(&row, SLP_STR("x"))->kind, SLP_VAL_NONE);
  CHECK(slp_str_is(slp_row_text(&row, SLP_STR("s")), "text"));
  CHECK(slp_str_is(slp_row_text(&row, SLP_STR("n")), "-17"));
  CHECK(!slp_row_text(&row, SLP_STR("b")).p);
  CHECK_INT(slp_row_int(&row, SLP_STR("n"), 5), -17);
  CHECK_INT(slp_row_int(&row, SLP_STR("big"), 5), 5);
  CHECK_INT(slp_row_int(&row, SLP_STR("s"), 5), 5);
}

TEST(copied_rows_outlive_what_they_were_copied_from_and_moved_ones_their_maker) {
  slp_mem *mem = slp_mem_new(NULL, NULL), *maker = slp_mem_new(NULL, NULL);
  slp_store_rows made, mine;
  slp_store_rows_init(&made, maker);
  slp_store_rows_init(&mine, mem);
  static char large[300000];
  for (size_t i = 0; i < 1000; i++) {
    char text[30];
    snprintf(text, sizeof text, "row %zu", i);
    memset(large, (int)i, sizeof large);
    slp_str items[] = {slp_str_of(text), SLP_STR("z")};
    slp_attr a[] = {{SLP_STR("id"), {.kind = SLP_VAL_S, .s = slp_str_of(text)}},
                    {SLP_STR("empty"), {.kind = SLP_VAL_S, .s = SLP_STR("")}},
                    {SLP_STR("set"), {.kind = SLP_VAL_SS, .items = items, .n = 2}},
                    {SLP_STR("blob"), {.kind = SLP_VAL_B, .s = {large, i % 100 ? 3 : sizeof large}}}};
    CHECK_INT(slp_store_rows_copy(&made, &(slp_row){a, SLP_COUNT(a)}), 0);
  }
  slp_store_rows_move(&mine, &made);
  slp_store_rows_free(&made);
  CHECK_INT(made.n, 0);
  slp_mem_drop(maker); /* the blocks hold it */
  CHECK_INT(mine.n, 1000);
  for (size_t i = 0; i < mine.n; i++) {
    char text[30];
    snprintf(text, sizeof text, "row %zu", i);
    CHECK(slp_str_is(slp_row_text(&mine.rows[i], SLP_STR("id")), text));
    const slp_val *empty = slp_row_get(&mine.rows[i], SLP_STR("empty"));
    CHECK(empty->kind == SLP_VAL_S && empty->s.p && !empty->s.n);
    const slp_val *set = slp_row_get(&mine.rows[i], SLP_STR("set"));
    CHECK(set->n == 2 && slp_str_is(set->items[0], text) && slp_str_is(set->items[1], "z"));
    slp_str blob = slp_row_get(&mine.rows[i], SLP_STR("blob"))->s;
    CHECK_INT(blob.n, i % 100 ? 3 : sizeof large);
    for (size_t k = 0; k < blob.n; k++) CHECK(blob.p[k] == (char)i);
  }
  slp_store_rows_free(&mine);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(rows_that_are_joined_stand_behind_the_others) {
  slp_mem *mem = slp_mem_new(NULL, NULL), *other = slp_mem_new(NULL, NULL);
  slp_store_rows a, b, none;
  slp_store_rows_init(&a, mem);
  slp_store_rows_init(&b, other);
  slp_store_rows_init(&none, mem);
  for (int i = 0; i < 40; i++) {
    char text[8];
    snprintf(text, sizeof text, "%d", i);
    slp_attr attr = {SLP_STR("n"), {SLP_VAL_S, slp_str_of(text), NULL, 0}};
    slp_row row = {&attr, 1};
    CHECK_INT(slp_store_rows_copy(i < 15 ? &a : &b, &row), 0);
  }
  size_t bytes = a.bytes + b.bytes;
  CHECK_INT(slp_store_rows_join(&a, &b), 0);
  CHECK_INT(slp_store_rows_join(&a, &none), 0);
  CHECK_INT(b.n, 0);
  slp_store_rows_free(&b);
  CHECK_INT(a.n, 40);
  CHECK(a.bytes >= bytes);
  for (int i = 0; i < 40; i++) {
    char text[8];
    snprintf(text, sizeof text, "%d", i);
    if (!slp_str_is(slp_row_text(&a.rows[i], SLP_STR("n")), text)) CHECK_FAIL("row %d is another one", i);
  }
  slp_attr more = {SLP_STR("n"), {SLP_VAL_S, SLP_STR("more"), NULL, 0}};
  CHECK_INT(slp_store_rows_copy(&a, &(slp_row){&more, 1}), 0);
  CHECK(a.n == 41 && slp_str_is(slp_row_text(&a.rows[40], SLP_STR("n")), "more"));
  slp_store_rows_free(&a);
  CHECK(mem->live_blocks == 0 && other->live_blocks == 0);
  slp_mem_drop(mem);
  slp_mem_drop(other);
}

TEST(without_memory_nothing_leaks) {
  for (int n = 1; n < 12; n++) {
    scarce memory = {.left = n};
    slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
    slp_store_rows rows;
    static const char large[20000];
    slp_attr a = {SLP_STR("b"), {.kind = SLP_VAL_B, .s = {large, sizeof large}}};
    slp_store_rows_init(&rows, mem);
    int r = 0, copied = 0;
    while (!(r = slp_store_rows_copy(&rows, &(slp_row){&a, 1}))) copied++;
    CHECK_INT(r, SLP_ENOMEM);
    CHECK_INT(rows.n, copied);
    slp_store_rows_free(&rows);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
  }
}

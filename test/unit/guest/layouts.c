/* guest/layouts.c: which layouts there are, and what is known of each by its name. */
#include "guest/layouts.h"

#include "check.h"
#include "core/source.h"
#include "lease/schema.h"

TEST(the_native_layout_is_the_first_and_what_no_name_means) {
  CHECK_STR(slp_layout_of(NULL)->name, "sloop");
  CHECK(slp_layout_of(NULL) == slp_layout_at_place(0));
  CHECK(!slp_layout_of("sloop")->own_table);
  CHECK(!slp_layout_of("nonsense"));
  CHECK(!slp_layout_of(""));
}

TEST(each_is_found_by_its_name_and_opens_under_it) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_src_describe d = {.name = "orders", .arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"};
  slp_position start = {.kind = SLP_POSITION_LATEST};
  slp_layout_at at = {
      .mem = mem, .app = "app", .table = "app", .stream = &d, .start = &start, .lease_ms = 10000};
  size_t n = 0;
  for (const slp_layout *l; (l = slp_layout_at_place(n)); n++) {
    CHECK(slp_layout_of(l->name) == l);
    slp_schema *s = l->open(&at);
    slp_table_spec table;
    CHECK_STR(s->name, l->name);
    CHECK(s->side_table || !l->ends[1]);
    s->table(s, "app", &table);
    CHECK_STR(table.hash_name, l->hash);
    CHECK_STR(table.range_name ? table.range_name : "", l->range);
    CHECK(!l->one_stream || l->own_table);
    s->free(s);
  }
  CHECK_INT(n, 6);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(tables_are_known_by_their_keys) {
  char text[60];
  slp_layouts_of_keys("app", "row", text, sizeof text);
  CHECK_STR(text, "sloop");
  slp_layouts_of_keys("leaseKey", NULL, text, sizeof text);
  CHECK_STR(text, "kcl");
  slp_layouts_of_keys("shard_id", "", text, sizeof text);
  CHECK_STR(text, "motorway or kcl-rb");
  slp_layouts_of_keys("leaseKey", "row", text, sizeof text);
  CHECK_STR(text, "");
  slp_layouts_of_keys("id", NULL, text, sizeof text);
  CHECK_STR(text, "");
}

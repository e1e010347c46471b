/* mem.c - memory is counted, failing allocations are harmless, the last hold frees. */
#include "base/mem.h"
#include "check.h"
#include "scarce.h"

TEST(every_byte_is_counted_and_comes_back) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char *a = slp_alloc(mem, 100);
  char *b = slp_zalloc(mem, 7);
  CHECK_INT(mem->live_blocks, 2);
  CHECK_INT(mem->live_bytes, 107 + 32);
  CHECK_INT(b[6], 0);
  a = slp_realloc(mem, a, 1000);
  CHECK_INT(mem->live_bytes, 1007 + 32);
  CHECK_INT(slp_alloc_size(a), 1000);
  slp_free(mem, a);
  slp_free(mem, b);
  slp_free(mem, NULL);
  CHECK_INT(mem->live_bytes, 0);
  CHECK_INT(mem->live_blocks, 0);
  CHECK_INT(mem->peak_bytes, 1039);
  slp_mem_drop(mem);
}

TEST(products_that_overflow_are_refused) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  CHECK(slp_zalloc_n(mem, SIZE_MAX / 2, 3) == NULL);
  CHECK(slp_alloc(mem, SIZE_MAX - 3) == NULL);
  slp_mem_drop(mem);
}

TEST(a_failed_resize_keeps_the_block) {
  scarce memory = {.left = 2};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  char *a = slp_alloc(mem, 10);
  memcpy(a, "123456789", 10);
  CHECK(slp_realloc(mem, a, 100) == NULL);
  CHECK_STR(a, "123456789");
  CHECK_INT(mem->live_bytes, 26);
  slp_free(mem, a);
  slp_mem_drop(mem);
}

TEST(a_doubled_array_keeps_what_it_holds_and_without_memory_stays) {
  scarce memory = {.left = 3}; /* the allocator itself, and two sizes */
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  size_t cap = 0;
  int *a = slp_doubled(mem, NULL, &cap, 4, sizeof *a);
  CHECK_INT(cap, 4);
  for (int i = 0; i < 4; i++) a[i] = i;
  a = slp_doubled(mem, a, &cap, 4, sizeof *a);
  CHECK_INT(cap, 8);
  CHECK_INT(slp_alloc_size(a), 8 * sizeof *a);
  CHECK(slp_doubled(mem, a, &cap, 4, sizeof *a) == NULL);
  CHECK_INT(cap, 8);
  for (int i = 0; i < 4; i++) CHECK_INT(a[i], i);
  slp_free(mem, a);
  slp_mem_drop(mem);
}

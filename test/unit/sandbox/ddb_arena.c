/* ddb_arena.c - blocks grow, memory is zeroed and aligned, and all of it goes back. */
#include "check.h"
#include "sandbox/ddb.h"

TEST(memory_comes_and_goes) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_arena a = {.mem = mem};
  for (int round = 0; round < 3; round++) {
    size_t given = 0;
    for (size_t n = 0; n < 3000; n++) {
      size_t size = n * n % 700;
      unsigned char *p = slp_arena_get(&a, size);
      CHECK(p != NULL && (uintptr_t)p % 16 == 0);
      for (size_t i = 0; i < size; i++) CHECK_INT(p[i], 0);
      memset(p, 0xff, size);
      given += size;
    }
    CHECK(a.used >= given && mem->live_blocks < 60);
    char *large = slp_arena_get(&a, 5 << 20);
    CHECK(large != NULL && large[(5 << 20) - 1] == 0);
    slp_str copy = slp_arena_copy(&a, SLP_STR("text"));
    CHECK(slp_str_is(copy, "text"));
    CHECK(slp_arena_copy(&a, SLP_STR("")).p != NULL);
    CHECK(slp_arena_get(&a, SIZE_MAX - 8) == NULL);
    slp_arena_clear(&a);
    CHECK_INT(mem->live_blocks, 0);
    CHECK_INT(a.used, 0);
  }
  slp_mem_drop(mem);
}

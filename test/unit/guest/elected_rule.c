/* The worker that KCL 2 elects, as a Java machine shuffles: Collections.shuffle(list of n numbers, new Random(1947)), whose
 * first one is printed, gave these (OpenJDK 17). */
#include "base/mem.h"
#include "guest/guest_rules.h"

#include "check.h"

TEST(the_first_of_a_shuffle_is_the_one_that_java_has) {
  static const uint32_t first[] = {0,  0, 2, 3, 4, 2, 2, 2,  3,  8, 6,  9,  12, 4,  10, 11, 13, 11, 0,  14,
                                   13, 7, 1, 1, 0, 3, 9, 20, 12, 3, 22, 19, 21, 31, 23, 19, 22, 31, 35, 18};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  for (uint32_t n = 1; n <= SLP_COUNT(first); n++) CHECK_INT(slp_elected(n, mem), first[n - 1]);
  slp_mem_drop(mem);
}

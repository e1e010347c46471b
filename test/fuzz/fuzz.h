/* fuzz.h - what every fuzz target shares: the entry's prototype and the check that ends the process. */
#ifndef SLP_TEST_FUZZ_H
#define SLP_TEST_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding: an engine keeps the input that led here; replay.c prints it (engine.c for an engine). */
void fuzz_finding(const char *file, int line, const char *what);
#define REQUIRE(x) ((x) ? (void)0 : (fuzz_finding(__FILE__, __LINE__, #x), abort()))

/* A copy of exact size on the heap: sanitizers see one byte too far, and readers may change it. */
static inline char *fuzz_copy(const uint8_t *data, size_t size) {
  char *p = malloc(size ? size : 1);
  REQUIRE(p != NULL);
  if (size) memcpy(p, data, size);
  return p;
}

#endif

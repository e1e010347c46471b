/* engine.c - says what a finding was when libFuzzer runs the target; the engine itself keeps the input. */
#include "fuzz.h"

void fuzz_finding(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: finding: not so: %s\n", file, line, what);
}

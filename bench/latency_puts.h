/* latency_puts.h - puts records by HTTP, each with the moment at which it was sent. */
#ifndef BENCH_LATENCY_PUTS_H
#define BENCH_LATENCY_PUTS_H

#include <stdint.h>

typedef struct latency_puts {
  const char *url, *stream;
  double from_s; /* the first one is sent then; monotonic */
  uint32_t n;
  uint32_t gap_us; /* between two, on average */
} latency_puts;

/* Job and result of a child. The result, a double, is the longest put in seconds. */
void latency_put_all(const void *job /* latency_puts */, void *result);

#endif

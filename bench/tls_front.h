/* tls_front.h - TLS before the sandbox of a benchmark. */
#ifndef BENCH_TLS_FRONT_H
#define BENCH_TLS_FRONT_H

#include <sys/types.h>

typedef struct bench_tls_front {
  pid_t pid;
  char url[64];     /* https://127.0.0.1:PORT */
  char ca_file[64]; /* its certificate, to be trusted */
} bench_tls_front;
/* Passes everything on to the server at `url`, a plain one on loopback. */
void bench_tls_front_start(bench_tls_front *t, int cpu, const char *url);
void bench_tls_front_stop(bench_tls_front *t);

#endif

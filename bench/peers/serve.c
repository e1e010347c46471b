/* serve.c - the server that all clients of bench/peers read from: the sandbox with its limits off, TLS before it, both on
 * the server's CPU. Prints the plain address, that of the TLS, the file with its certificate, the CPU for the clients;
 * serves until standard input ends. */
#include <stdio.h>
#include <unistd.h>

#include "bench.h"
#include "tls_front.h"

int main(void) {
  static const bench_stream none[] = {{0}}; /* streams are made by the sandbox's own orders */
  bench_cpus cpus = bench_cpus_find();
  bench_server server;
  bench_tls_front front = {0};
  char nothing[16];
  bench_server_start(&server, cpus.server, none);
  bench_tls_front_start(&front, cpus.server, server.url);
  printf("%s\n%s\n%s\n%d\n", server.url, front.url, front.ca_file, cpus.client);
  fflush(stdout);
  while (read(STDIN_FILENO, nothing, sizeof nothing) > 0) continue;
  bench_tls_front_stop(&front);
  bench_server_stop(&server);
  return 0;
}

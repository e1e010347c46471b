/* tls_front.c - TLS before the sandbox, in a process of its own on the server's CPU: OpenSSL, a thread a connection,
 * bytes passed on as they come. The certificate is made here, for 127.0.0.1, and trusted by nobody else. */
#include "tls_front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PIECE (64 << 10)

typedef struct front {
  SSL_CTX *tls;
  int upstream; /* port */
} front;
typedef struct connection {
  const front *f;
  int fd;
} connection;

/* ---- the certificate ---- */
static X509 *certificate(EVP_PKEY *key) {
  X509 *x = X509_new();
  if (!x) bench_die("no memory");
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x), 24L * 3600);
  X509_set_pubkey(x, key);
  X509_NAME *name = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"bench", -1, -1, 0);
  X509_set_issuer_name(x, name);
  X509_EXTENSION *hosts = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
  if (!hosts || !X509_add_ext(x, hosts, -1)) bench_die("no certificate");
  X509_EXTENSION_free(hosts);
  if (!X509_sign(x, key, EVP_sha256())) bench_die("the certificate can't be signed");
  return x;
}

static void make_context(front *f, const char *ca_file) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *x = key ? certificate(key) : NULL;
  FILE *out = fopen(ca_file, "w");
  f->tls = SSL_CTX_new(TLS_server_method());
  if (!x || !out || !f->tls || !PEM_write_X509(out, x) || fclose(out))
    bench_die("no certificate in %s", ca_file);
  if (SSL_CTX_use_certificate(f->tls, x) != 1 || SSL_CTX_use_PrivateKey(f->tls, key) != 1)
    bench_die("OpenSSL does not take the certificate");
  X509_free(x);
  EVP_PKEY_free(key);
}

/* ---- one connection ---- */
static int send_all(int fd, const char *p, size_t n) {
  while (n) {
    ssize_t put = send(fd, p, n, MSG_NOSIGNAL);
    if (put <= 0) return -1;
    p += put;
    n -= (size_t)put;
  }
  return 0;
}

/* A client that writes head and body apart would else wait for the delayed acknowledgement of the first. */
static void send_at_once(int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Until either side closes. */
static void pass_on(SSL *tls, int client, int server) {
  char *room = malloc(PIECE);
  struct pollfd both[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
  if (!room) bench_die("no memory");
  for (;;) {
    if (!SSL_pending(tls) && poll(both, 2, -1) < 0 && errno != EINTR) break;
    if (SSL_pending(tls) || both[0].revents) {
      int n = SSL_read(tls, room, PIECE);
      if (n <= 0 || send_all(server, room, (size_t)n)) break;
    }
    if (both[1].revents) {
      ssize_t n = recv(server, room, PIECE, 0);
      if (n <= 0 || SSL_write(tls, room, (int)n) != n) break;
    }
  }
  free(room);
}

static void *serve_one(void *arg) {
  connection c = *(connection *)arg;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c.f->upstream)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  SSL *tls = SSL_new(c.f->tls);
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  free(arg);
  send_at_once(c.fd);
  send_at_once(server);
  if (tls && server >= 0 && SSL_set_fd(tls, c.fd) == 1 && SSL_accept(tls) == 1 &&
      connect(server, (struct sockaddr *)&to, sizeof to) == 0)
    pass_on(tls, c.fd, server);
  SSL_free(tls);
  close(server);
  close(c.fd);
  return NULL;
}

static void serve(const front *f, int listener) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&small, 256 << 10);
  for (;;) {
    connection *c = malloc(sizeof *c);
    pthread_t thread;
    if (!c) bench_die("no memory");
    *c = (connection){f, accept(listener, NULL, NULL)};
    if (c->fd < 0 || pthread_create(&thread, &small, serve_one, c))
      bench_die("TLS front: %s", strerror(errno));
  }
}

void bench_tls_front_start(bench_tls_front *t, int cpu, const char *url) {
  front f = {0};
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t n = sizeof at;
  const char *port = strrchr(url, ':');
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!port || listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1024) ||
      getsockname(listener, (struct sockaddr *)&at, &n))
    bench_die("TLS front: %s", strerror(errno));
  snprintf(t->ca_file, sizeof t->ca_file, "%s/sloop-bench-XXXXXX", P_tmpdir);
  int fd = mkstemp(t->ca_file);
  if (fd < 0) bench_die("TLS front: %s", strerror(errno));
  close(fd);
  f.upstream = (int)strtol(port + 1, NULL, 10);
  make_context(&f, t->ca_file);
  snprintf(t->url, sizeof t->url, "https://127.0.0.1:%d", (int)ntohs(at.sin_port));
  fflush(NULL);
  t->pid = fork();
  if (t->pid < 0) bench_die("fork: %s", strerror(errno));
  if (t->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    bench_pin(cpu);
    serve(&f, listener);
  }
  close(listener);
  SSL_CTX_free(f.tls);
}

void bench_tls_front_stop(bench_tls_front *t) {
  kill(t->pid, SIGKILL);
  while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR) continue;
  unlink(t->ca_file);
}

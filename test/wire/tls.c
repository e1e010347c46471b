/* Certificates: the good one and four bad ones, http where https is meant and the reverse, sessions and
 * pauses over TLS. Certificates come from the openssl command, the server is Python's. */
#include <stdarg.h>

#include "wire.h"

static char dir[] = "/tmp/sloop-tls-XXXXXX";

static void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *fmt, ...) {
  char line[2000];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  if (system(line)) CHECK_FAIL("failed: %s", line);
}

/* A CA, and one server certificate signed by it. */
static void make_certificates(const char *name, const char *alt, const char *days) {
  CHECK(mkdtemp(dir));
  shell(
      "cd %s && openssl ecparam -name prime256v1 -genkey -noout -out ca.key 2>log && "
      "openssl req -x509 -new -key ca.key -days 2 -subj '/CN=sloop test CA' -out ca.pem "
      "-addext basicConstraints=critical,CA:TRUE 2>>log && "
      "openssl ecparam -name prime256v1 -genkey -noout -out key.pem 2>>log && "
      "openssl req -new -key key.pem -subj '/CN=%s' -out rq.pem 2>>log && "
      "printf 'subjectAltName=%s\\n' > ext && "
      "openssl x509 -req -in rq.pem -CA ca.pem -CAkey ca.key -CAcreateserial %s -extfile ext "
      "-out cert.pem 2>>log",
      dir, name, alt, days);
}

typedef struct tls_server {
  pid_t pid;
  int in;
  uint16_t port;
} tls_server;
static tls_server server_start(void) {
  tls_server s;
  int in[2], out[2];
  char script[400], cert[100], key[100], text[32] = "";
  const char *at = getenv("WIRE_DIR");
  snprintf(script, sizeof script, "%s/tls_server.py", at ? at : "test/wire");
  snprintf(cert, sizeof cert, "%s/cert.pem", dir);
  snprintf(key, sizeof key, "%s/key.pem", dir);
  CHECK_INT(pipe2(in, O_CLOEXEC), 0);
  CHECK_INT(pipe2(out, O_CLOEXEC), 0);
  s.pid = fork();
  if (s.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in[0], 0);
    dup2(out[1], 1);
    execlp("python3", "python3", script, cert, key, (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  for (size_t n = 0; !strchr(text, '\n') && n < sizeof text - 1; n++) CHECK_INT(read(out[0], text + n, 1), 1);
  close(out[0]);
  s.port = (uint16_t)strtoul(text, NULL, 10);
  CHECK(s.port);
  s.in = in[1];
  return s;
}
static void server_stop(tls_server *s) {
  close(s->in);
  kill(s->pid, SIGKILL);
  waitpid(s->pid, NULL, 0);
  shell("rm -r %s", dir);
}

typedef struct scene {
  wire w;
  tls_server s;
  wire_call c;
} scene;
static void scene_open(scene *x, const char *alt, const char *days, const char *ca) {
  char file[100];
  memset(x, 0, sizeof *x);
  make_certificates("test", alt, days);
  x->s = server_start();
  snprintf(file, sizeof file, ca && ca[0] != '/' ? "%2$s/%1$s" : "%1$s", ca ? ca : "", dir);
  slp_uv_options o = {.ca_bundle = ca ? file : NULL};
  wire_open_with(&x->w, &o);
  wire_call_make(&x->c, &x->w, "https", x->s.port, "/1000");
}
static void scene_close(scene *x) {
  slp_buf_free(&x->c.body);
  server_stop(&x->s);
  wire_close(&x->w);
}

static void refused(const char *alt, const char *days, const char *ca, int error, const char *start,
                    const char *end) {
  scene x;
  char want[100];
  scene_open(&x, alt, days, ca);
  wire_call_run(&x.c, &x.w);
  snprintf(want, sizeof want, start, (unsigned)x.s.port);
  if (x.c.http.error != error || strncmp(x.c.http.error_text, want, strlen(want)) != 0 ||
      !strstr(x.c.http.error_text, end))
    CHECK_FAIL("%d \"%s\", not %d \"%s ... %s\"", x.c.http.error, x.c.http.error_text, error, want, end);
  CHECK_INT(x.c.http.status, 0);
  CHECK_INT(x.c.body.n, 0);
  scene_close(&x);
}

#define GOOD "IP:127.0.0.1,DNS:localhost"
TEST(a_good_certificate_and_a_kept_connection) {
  scene x;
  scene_open(&x, GOOD, "-days 2", "ca.pem");
  for (int i = 0; i < 5; i++) {
    wire_call_again(&x.c);
    wire_call_run(&x.c, &x.w);
    CHECK_STR(x.c.http.error_text, "");
    CHECK_INT(x.c.http.status, 200);
    CHECK_INT(x.c.body.n, 1000);
    CHECK_INT(x.c.http.reused, i > 0);
  }
  CHECK_INT(slp_host_turns(x.w.h)->connections_opened, 1);
  /* the other lane has its own connections */
  wire_call_again(&x.c);
  x.c.http.lane = SLP_LANE_CONTROL;
  wire_call_run(&x.c, &x.w);
  CHECK_STR(x.c.http.error_text, "");
  CHECK_INT(slp_host_turns(x.w.h)->connections_opened, 2);
  scene_close(&x);
}
/* With a new libcurl, subscriptions may share a connection of HTTP/2. This server speaks HTTP/1.1, and answers
 * the first of three calls only when it has all three. */
TEST(calls_that_might_share_a_connection_do_not_wait_for_the_end_of_the_first) {
  scene x;
  scene_open(&x, GOOD, "-days 2", "ca.pem");
  wire_call c[3];
  for (int i = 0; i < 3; i++) {
    wire_call_make(&c[i], &x.w, "https", x.s.port, "/meet");
    c[i].http.lane = SLP_LANE_PUSH;
    slp_http_send(x.w.h, &c[i].http);
  }
  for (int i = 0; i < 3; i++) {
    WIRE_UNTIL(&x.w, &c[i].done);
    CHECK_STR(c[i].http.error_text, "");
    CHECK_INT(c[i].body.n, 3);
    slp_buf_free(&c[i].body);
  }
  CHECK_INT(slp_host_turns(x.w.h)->connections_opened, 3);
  scene_close(&x);
}
TEST(an_unknown_authority) {
  refused(GOOD, "-days 2", NULL, SLOOP_ETLS, "certificate of 127.0.0.1:%u not accepted: ", "issuer");
}
TEST(another_name) {
  refused("DNS:other.example", "-days 2", "ca.pem", SLOOP_ETLS,
          "certificate of 127.0.0.1:%u not accepted: ", "127.0.0.1");
}
/* The certificate ends in the second in which it begins: OpenSSL 3.5 makes none that ends before it begins. */
TEST(an_expired_certificate) {
  refused(GOOD, "-days 0", "ca.pem", SLOOP_ETLS, "certificate of 127.0.0.1:%u not accepted: ", "expired");
}
TEST(a_bundle_that_is_not_there) {
  refused(GOOD, "-days 2", "/nonexistent/ca.pem", SLOOP_ETLS, "certificates to trust can't be read from",
          "/nonexistent/ca.pem");
}
TEST(http_to_an_https_port) {
  scene x;
  char want[100];
  scene_open(&x, GOOD, "-days 2", "ca.pem");
  memcpy(x.c.url, "http:", 5);
  memmove(x.c.url + 4, x.c.url + 5, strlen(x.c.url + 4));
  wire_call_run(&x.c, &x.w);
  CHECK(x.c.http.error != 0);
  snprintf(want, sizeof want, "127.0.0.1:%u", (unsigned)x.s.port);
  CHECK(strstr(x.c.http.error_text, want));
  scene_close(&x);
}

static void plain_answer(slp_listener *l, slp_served *rq) {
  (void)l;
  slp_serve_answer a = {.status = 200, .date_ms = -1, .cut_after = SIZE_MAX};
  slp_serve(rq, &a);
}
TEST(https_to_an_http_port) {
  char want[100];
  wire w;
  wire_open(&w);
  slp_listener l = {.on_request = plain_answer};
  CHECK_INT(slp_listen(w.h, &l, "127.0.0.1", 0), 0);
  wire_call c;
  wire_call_make(&c, &w, "https", l.port, "/");
  wire_call_run(&c, &w);
  snprintf(want, sizeof want, "127.0.0.1:%u does not answer in TLS (is it an http port?)", (unsigned)l.port);
  CHECK_STR(c.http.error_text, want);
  CHECK_INT(c.http.error, SLOOP_ETLS);
  wire_close(&w);
}

static void silence(int listener, void *arg) {
  (void)arg;
  for (;;) accept(listener, NULL, NULL);
}
TEST(a_handshake_has_a_limit_of_time) {
  wire w;
  wire_open(&w);
  wire_child server = wire_child_start(silence, NULL);
  wire_call c;
  wire_call_make(&c, &w, "https", server.port, "/");
  c.http.connect_ms_max = 300;
  uint64_t from = wire_us();
  wire_call_run(&c, &w);
  CHECK_INT(c.http.error, UV_ETIMEDOUT);
  CHECK(strstr(c.http.error_text, "TLS handshake with 127.0.0.1:"));
  CHECK(wire_us() - from < 1000000);
  wire_child_stop(&server);
  wire_close(&w);
}

static int allowed;
static int grow_when_allowed(slp_http *http, size_t more) {
  (void)http;
  (void)more;
  return allowed-- > 0;
}
TEST(pauses_over_tls_lose_nothing) {
  scene x;
  scene_open(&x, GOOD, "-days 2", "ca.pem");
  snprintf(x.c.url, sizeof x.c.url, "https://127.0.0.1:%u/3000000", (unsigned)x.s.port);
  x.c.http.may_grow = grow_when_allowed;
  slp_http_send(x.w.h, &x.c.http);
  for (uint64_t end = wire_us() + 20000000; !x.c.done && wire_us() < end;) {
    uv_run(x.w.loop, UV_RUN_NOWAIT);
    if (allowed > 0) continue;
    allowed = 3;
    slp_http_resume(x.w.h, &x.c.http);
  }
  CHECK_INT(x.c.done, 1);
  CHECK_STR(x.c.http.error_text, "");
  CHECK_INT(x.c.body.n, 3000000);
  for (size_t i = 0; i < x.c.body.n; i++)
    if ((unsigned char)x.c.body.p[i] != i % 251) CHECK_FAIL("wrong byte at %zu", i);
  scene_close(&x);
}

/* The bundle is parsed once: with 145 certificates in it a second connection must not cost it again. */
TEST(a_large_bundle_is_parsed_once) {
  scene x;
  scene_open(&x, GOOD, "-days 2", "ca.pem");
  if (access("/etc/ssl/certs/ca-certificates.crt", R_OK) == 0)
    shell("cat /etc/ssl/certs/ca-certificates.crt >> %s/ca.pem", dir);
  uint64_t cpu[6];
  for (int i = 0; i < 6; i++) {
    struct timespec from, to;
    snprintf(x.c.url, sizeof x.c.url, "https://127.0.0.1:%u/0", (unsigned)x.s.port);
    slp_http_header close_it = {SLP_STR("Connection"), SLP_STR("close")};
    x.c.http.headers = &close_it;
    x.c.http.headers_n = 1;
    wire_call_again(&x.c);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    slp_http_send(x.w.h, &x.c.http);
    while (!x.c.done) uv_run(x.w.loop, UV_RUN_ONCE);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    CHECK_STR(x.c.http.error_text, "");
    cpu[i] = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000 + (uint64_t)(to.tv_nsec / 1000) -
             (uint64_t)(from.tv_nsec / 1000);
  }
  printf("     CPU of 6 connections: %llu %llu %llu %llu %llu %llu us\n", (unsigned long long)cpu[0],
         (unsigned long long)cpu[1], (unsigned long long)cpu[2], (unsigned long long)cpu[3],
         (unsigned long long)cpu[4], (unsigned long long)cpu[5]);
  uint64_t least = cpu[1];
  for (int i = 2; i < 6; i++) least = cpu[i] < least ? cpu[i] : least;
  CHECK(least * 3 < cpu[0]);
  CHECK_INT(slp_host_turns(x.w.h)->connections_opened, 6);
  scene_close(&x);
}

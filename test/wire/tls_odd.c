/* TLS that breaks: handshakes and answers that end or stall after every byte, farewells that are missing or
 * come too early, new keys and new handshakes in the middle of an answer, certificates that change, names
 * that are refused. A cut is never taken for a whole answer, nor for a certificate that is not accepted; and
 * the next call works. The server is OpenSSL's, in processes of its own. */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "valve.h"
#include "wire.h"

/* ---- certificates ----------------------------------------------------------------------------------- */
typedef struct identity {
  X509 *cert;
  EVP_PKEY *key;
} identity;

static identity identity_new(const char *name, const identity *ca) {
  identity me = {X509_new(), EVP_EC_gen("P-256")};
  X509_NAME *subject = X509_get_subject_name(me.cert);
  static long serial = 1;
  X509V3_CTX ctx;
  X509V3_set_ctx_nodb(&ctx);
  X509_set_version(me.cert, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(me.cert), serial++);
  X509_gmtime_adj(X509_getm_notBefore(me.cert), -3600);
  X509_gmtime_adj(X509_getm_notAfter(me.cert), 24L * 3600);
  X509_set_pubkey(me.cert, me.key);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
  X509_set_issuer_name(me.cert, ca ? X509_get_subject_name(ca->cert) : subject);
  X509V3_set_ctx(&ctx, ca ? ca->cert : me.cert, me.cert, NULL, NULL, 0);
  X509_EXTENSION *e = ca ? X509V3_EXT_conf_nid(NULL, &ctx, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost")
                         : X509V3_EXT_conf_nid(NULL, &ctx, NID_basic_constraints, "critical,CA:TRUE");
  CHECK(e && X509_add_ext(me.cert, e, -1));
  X509_EXTENSION_free(e);
  CHECK(X509_sign(me.cert, ca ? ca->key : me.key, EVP_sha256()));
  return me;
}

static void identity_free(identity *me) {
  X509_free(me->cert);
  EVP_PKEY_free(me->key);
}

/* ---- the server ------------------------------------------------------------------------------------- */
typedef struct odd {
  int version_max;
  int stranger_from; /* connection (from 1) from which on an unknown authority signs; 0: never */
  int renew;         /* each connection has a new certificate */
  int needs_name;    /* without the name "localhost" the handshake is refused */
} odd;

static int check_name(SSL *ssl, int *alert, void *arg) {
  const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  (void)arg;
  *alert = SSL_AD_UNRECOGNIZED_NAME;
  return name && strcmp(name, "localhost") == 0 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void say(SSL *ssl, const char *p, size_t n) {
  while (n > 0) {
    int k = SSL_write(ssl, p, (int)n);
    if (k <= 0) _exit(0);
    p += k;
    n -= (size_t)k;
  }
}

/* The whole body is "0123456789" again and again; what happens in its middle, the path says: /WHAT/BYTES. */
static void answer(SSL *ssl, const char *path) {
  static char body[1 << 20], head[200];
  char what[32] = "";
  unsigned n = 0;
  if (sscanf(path, "/%31[a-z-]/%u", what, &n) != 2 || n > sizeof body) _exit(9);
  for (unsigned i = 0; i < n; i++) body[i] = (char)('0' + i % 10);
  int no_length = strcmp(what, "no-length") == 0;
  snprintf(head, sizeof head,
           no_length ? "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
                     : "HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n",
           n);
  say(ssl, head, strlen(head));
  say(ssl, body, n / 2);
  if (strcmp(what, "farewell") == 0) {
    SSL_shutdown(ssl);
    _exit(0);
  }
  if (strcmp(what, "junk") == 0) wire_write(SSL_get_fd(ssl), "this is no record at all", 24);
  if (strcmp(what, "new-keys") == 0) SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
  if (strcmp(what, "again") == 0) {
    if (SSL_renegotiate(ssl) != 1 || SSL_do_handshake(ssl) != 1) _exit(9);
  }
  say(ssl, body + n / 2, n - n / 2);
  if (!no_length) return;
  SSL_shutdown(ssl);
  _exit(0);
}

static void serve_connection(SSL *ssl) {
  static char rq[8192];
  size_t n = 0;
  if (SSL_accept(ssl) != 1) _exit(0);
  for (;;) {
    rq[n] = 0;
    char *end = strstr(rq, "\r\n\r\n{}"), *path = strchr(rq, ' ');
    if (end) {
      answer(ssl, path + 1);
      n = 0;
      continue;
    }
    int k = SSL_read(ssl, rq + n, (int)(sizeof rq - 1 - n));
    if (k <= 0) _exit(0);
    n += (size_t)k;
  }
}

typedef struct odd_box {
  odd o;
  identity ca, stranger, cert;
  wire_child child;
  char ca_file[64];
} odd_box;

static void serve_odd(int listener, void *arg) {
  odd_box *b = arg;
  signal(SIGCHLD, SIG_IGN);
  SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
  if (b->o.needs_name) SSL_CTX_set_tlsext_servername_callback(ctx, check_name);
  SSL_CTX_set_max_proto_version(ctx, b->o.version_max);
  for (int i = 1;; i++) {
    int fd = accept(listener, NULL, NULL);
    int strange = b->o.stranger_from && i >= b->o.stranger_from;
    identity fresh = b->o.renew || strange ? identity_new("fresh", strange ? &b->stranger : &b->ca) : b->cert;
    SSL_CTX_use_certificate(ctx, fresh.cert);
    SSL_CTX_use_PrivateKey(ctx, fresh.key);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      SSL *ssl = SSL_new(ctx);
      SSL_set_fd(ssl, fd);
      serve_connection(ssl);
    }
    close(fd);
  }
}

static void odd_open(odd_box *b, const odd *o) {
  memset(b, 0, sizeof *b);
  if (o) b->o = *o;
  b->ca = identity_new("the authority", NULL);
  b->stranger = identity_new("an unknown authority", NULL);
  b->cert = identity_new("the server", &b->ca);
  snprintf(b->ca_file, sizeof b->ca_file, "/tmp/sloop-odd-XXXXXX");
  int fd = mkstemp(b->ca_file);
  FILE *f = fdopen(fd, "w");
  CHECK(f && PEM_write_X509(f, b->ca.cert));
  fclose(f);
  b->child = wire_child_start(serve_odd, b);
}
static void odd_close(odd_box *b) {
  unlink(b->ca_file);
  wire_child_stop(&b->child);
  identity_free(&b->ca);
  identity_free(&b->stranger);
  identity_free(&b->cert);
}

/* ---- one call through a valve ----------------------------------------------------------------------- */
typedef struct run {
  wire w;
  valve v;
  wire_call c;
} run;
static int valves_closed;
static void on_valve_closed(valve *v) {
  (void)v;
  valves_closed = 1;
}
static void run_open(run *r, const odd_box *b, const valve_fault *f, const char *path) {
  memset(r, 0, sizeof *r);
  slp_uv_options o = {.ca_bundle = b->ca_file};
  wire_open_with(&r->w, &o);
  valve_open(&r->v, r->w.loop, b->child.port, f);
  wire_call_make(&r->c, &r->w, "https", r->v.port, path);
  r->c.http.once = 1;
}
static void run_again(run *r) {
  wire_call_again(&r->c);
  wire_call_run(&r->c, &r->w);
}
static void run_close(run *r) {
  slp_buf_free(&r->c.body);
  valves_closed = 0;
  valve_close(&r->v, on_valve_closed);
  WIRE_UNTIL(&r->w, &valves_closed);
  wire_close(&r->w);
}

static int body_begins_well(const wire_call *c) {
  for (size_t i = 0; i < c->body.n; i++)
    if (c->body.p[i] != (char)('0' + i % 10)) return 0;
  return 1;
}
static int body_is_whole(const wire_call *c, size_t n) { return body_begins_well(c) && c->body.n == n; }

/* The errors that a cut may have; SLOOP_ETLS would say that trying again is of no use. */
static int is_of_the_network(int error) {
  return error == UV_ECONNRESET || error == UV_EPIPE || error == SLOOP_EREMOTE || error == UV_ETIMEDOUT;
}

#define BODY 600
/* Every `stride`-th byte of the first connection, whatever it carries. */
static void cut_everywhere(const odd *o, const char *path, valve_what how, unsigned stride,
                           int length_known) {
  odd_box b;
  run r;
  odd_open(&b, o);
  run_open(&r, &b, NULL, path);
  wire_call_run(&r.c, &r.w);
  CHECK_STR(r.c.http.error_text, "");
  CHECK(body_is_whole(&r.c, BODY));
  valve clean = r.v;
  run_close(&r);
  unsigned tried = 0, whole = 0, place = 0, told[4] = {0};
  for (uint32_t k = 0; k < clean.exchanges; k++) {
    for (uint8_t down = 0; down < 2; down++) {
      size_t n = down ? clean.seen[k].down : clean.seen[k].up;
      for (size_t at = 0; at <= n; at++) {
        if (place++ % stride) continue;
        run_open(&r, &b, &(valve_fault){.what = how, .exchange = k, .down = down, .at = at}, path);
        r.c.http.connect_ms_max = r.c.http.total_ms_max = how == VALVE_SILENT ? 150 : 0;
        uint64_t from = wire_us();
        wire_call_run(&r.c, &r.w);
        uint64_t took = wire_us() - from;
        int error = r.c.http.error;
        int well = length_known ? body_is_whole(&r.c, BODY) : body_begins_well(&r.c);
        if (error ? !is_of_the_network(error) : !well)
          CHECK_FAIL("%s %u %s %zu of %zu: error %d %s, %zu bytes", valve_what_name(how), k,
                     down ? "down" : "up", at, n, error, r.c.http.error_text, r.c.body.n);
        if (how == VALVE_SILENT && took > 2000000)
          CHECK_FAIL("%u %d %zu took %" PRIu64 " us", k, down, at, took);
        if (!error) CHECK_INT(r.c.http.length_known, length_known);
        tried++;
        whole += !error;
        told[error == UV_ECONNRESET   ? 0
             : error == SLOOP_EREMOTE ? 1
             : error == UV_ETIMEDOUT  ? 2
                                      : 3] += error != 0;
        r.c.http.connect_ms_max = r.c.http.total_ms_max = 20000; /* a busy machine */
        if (tried % 16 == 0) {                                   /* and the next call works */
          run_again(&r);
          CHECK_STR(r.c.http.error_text, "");
          CHECK(body_is_whole(&r.c, BODY));
        }
        run_close(&r);
      }
    }
  }
  printf("     %s %s: %u places, %u answers whole, %u reset, %u cut short, %u timed out\n", path,
         valve_what_name(how), tried, whole, told[0], told[1], told[2]);
  CHECK(tried > 8 && (whole * 4 < tried || !length_known));
  odd_close(&b);
}

static unsigned stride(unsigned usual) { return getenv("WIRE_ALL") ? 1 : usual; }
static const odd tls12 = {.version_max = TLS1_2_VERSION};

TEST(ended_at_every_byte) { cut_everywhere(NULL, "/good/600", VALVE_FIN, stride(67), 1); }
TEST(reset_at_every_byte) { cut_everywhere(NULL, "/good/600", VALVE_RST, stride(67), 1); }
TEST(silent_at_every_byte) { cut_everywhere(NULL, "/good/600", VALVE_SILENT, stride(307), 1); }
TEST(ended_at_every_byte_of_1_2) { cut_everywhere(&tls12, "/good/600", VALVE_FIN, stride(67), 1); }
TEST(reset_at_every_byte_of_1_2) { cut_everywhere(&tls12, "/good/600", VALVE_RST, stride(67), 1); }
/* Without a length only TLS's farewell tells a whole answer from a cut one, and libcurl does not look whether
 * it came. So the caller is told that nobody knows; the formats of all that is read tell by themselves (a row
 * in junk_rows.h). */
TEST(without_a_length_nobody_knows) { cut_everywhere(NULL, "/no-length/600", VALVE_FIN, stride(67), 0); }
TEST(without_a_length_nobody_knows_in_1_2) {
  cut_everywhere(&tls12, "/no-length/600", VALVE_FIN, stride(67), 0);
}

/* ---- in the middle of an answer --------------------------------------------------------------------- */
static void becomes(const odd *o, const char *path, int error, const char *text) {
  odd_box b;
  run r;
  odd_open(&b, o);
  run_open(&r, &b, NULL, path);
  wire_call_run(&r.c, &r.w);
  if (r.c.http.error != error || !strstr(r.c.http.error_text, text))
    CHECK_FAIL("%s: %d %s", path, r.c.http.error, r.c.http.error_text);
  if (!error) CHECK(body_is_whole(&r.c, 100000));
  run_close(&r);
  odd_close(&b);
}
TEST(a_farewell_comes_early) { becomes(NULL, "/farewell/1000", SLOOP_EREMOTE, "cut short"); }
TEST(bytes_that_are_no_record) { becomes(NULL, "/junk/1000", UV_ECONNRESET, "lost"); }
TEST(new_keys) { becomes(NULL, "/new-keys/100000", 0, ""); }
TEST(a_new_handshake) { becomes(&tls12, "/again/100000", 0, ""); }

/* ---- who it is -------------------------------------------------------------------------------------- */
static int shake_hands(run *r) {
  static slp_http_header close_it = {{"Connection", 10}, {"close", 5}};
  r->c.http.headers = &close_it;
  r->c.http.headers_n = 1;
  run_again(r);
  return r->c.http.error;
}
TEST(a_certificate_that_is_renewed) {
  odd_box b;
  run r;
  odd_open(&b, &(odd){.renew = 1});
  run_open(&r, &b, NULL, "/good/100");
  for (int i = 0; i < 4; i++) {
    shake_hands(&r);
    CHECK_STR(r.c.http.error_text, "");
    CHECK(body_is_whole(&r.c, 100));
  }
  run_close(&r);
  odd_close(&b);
}
/* A kept session must not stand in for a certificate that is not accepted any more: a new handshake is
 * refused. */
TEST(a_certificate_of_a_stranger_from_some_time_on) {
  odd_box b;
  run r;
  odd_open(&b, &(odd){.stranger_from = 2});
  run_open(&r, &b, NULL, "/good/100");
  CHECK_INT(shake_hands(&r), 0);
  run_close(&r);
  run_open(&r, &b, NULL, "/good/100");
  CHECK_INT(shake_hands(&r), SLOOP_ETLS);
  CHECK(strstr(r.c.http.error_text, "not accepted"));
  CHECK_INT(r.c.body.n, 0);
  run_close(&r);
  odd_close(&b);
}
TEST(a_name_is_told_and_may_be_refused) {
  odd_box b;
  run r;
  odd_open(&b, &(odd){.needs_name = 1});
  run_open(&r, &b, NULL, "/good/100"); /* by its address: no name is told */
  CHECK_INT(shake_hands(&r), SLOOP_ETLS);
  CHECK(strstr(r.c.http.error_text, "unrecognized name"));
  snprintf(r.c.url, sizeof r.c.url, "https://localhost:%u/good/100", (unsigned)r.v.port);
  CHECK_INT(shake_hands(&r), 0);
  CHECK(body_is_whole(&r.c, 100));
  run_close(&r);
  odd_close(&b);
}
TEST(only_old_versions) {
  odd_box b;
  run r;
  odd_open(&b, &(odd){.version_max = TLS1_1_VERSION});
  run_open(&r, &b, NULL, "/good/100");
  CHECK_INT(shake_hands(&r), SLOOP_ETLS);
  CHECK(strstr(r.c.http.error_text, "TLS handshake with 127.0.0.1:"));
  run_close(&r);
  odd_close(&b);
}

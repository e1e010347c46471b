/* curl_text.c - turns a failure of libcurl into an error code of this library, and a sentence with host and
 * port. */
#include "base/mem.h"
#include "host/ca_file.h"
#include "host/err.h"
#include "host/proxy.h"
#include "host/uv_host.h"

#include <errno.h>
#include <fcntl.h>
#include <sloop.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_ROOM (256u << 10) /* more memory than libcurl needs for the longest line that it accepts */
#define TOO_LARGE 100 /* CURLE_TOO_LARGE of libcurl 8.6.0 and later: a line is longer than it accepts */

void slp_url_place(slp_str url, char *out, size_t room) {
  int https = url.n >= 6 && memcmp(url.p, "https:", 6) == 0;
  size_t from = 0, to;
  for (size_t i = 0; i + 2 < url.n; i++)
    if (memcmp(url.p + i, "://", 3) == 0) {
      from = i + 3;
      break;
    }
  for (to = from; to < url.n && !strchr("/?#", url.p[to]); to++)
    if (url.p[to] == '@') from = to + 1;
  int port = 0;
  for (size_t i = from; i < to; i++) port = url.p[i] == ']' ? 0 : port || url.p[i] == ':';
  int n = (int)slp_min_u64(to - from, SLP_PLACE_MAX - 8);
  snprintf(out, room, "%.*s%s", n, url.p + from, port ? "" : https ? ":443" : ":80");
}

void slp_where(slp_str url, const slp_proxy *proxy, char out[SLP_WHERE_MAX]) {
  char place[SLP_PLACE_MAX];
  slp_url_place(url, place, sizeof place);
  if (proxy && proxy->variable)
    snprintf(out, SLP_WHERE_MAX, "%.88s through the proxy %.80s (%.12s)", place, proxy->place,
             proxy->variable);
  else
    snprintf(out, SLP_WHERE_MAX, "%s", place);
}

static const char *after_prefix(const char *text, const char *prefix) {
  size_t n = strlen(prefix);
  return strncmp(text, prefix, n) == 0 ? text + n : text;
}

static int timed_out(char *text, size_t room, const char *place, const slp_curl_failure *f) {
  int by_proxy = f->proxy && f->proxy->variable;
  /* these words are also about the handshake with a proxy whose URL is https:// */
  int in_tls = strstr(f->detail, "SSL connection timeout") != NULL;
  /* libcurl 8.14 and 8.23 have the same words for a connection and for what follows it. */
  int shakes_hands = f->connected && f->https && !f->sent && !(by_proxy && f->proxy->socks);
  if (strstr(f->detail, "esolving timed out"))
    snprintf(text, room, "name of %s not resolved within %u ms", place, (unsigned)f->connect_ms);
  else if (strstr(f->detail, "CONNECT aborted") || (shakes_hands && by_proxy && !f->connect_code && !in_tls))
    snprintf(text, room, "%s did not answer CONNECT within %u ms", place, (unsigned)f->connect_ms);
  else if (in_tls || shakes_hands)
    snprintf(text, room, "TLS handshake with %s not finished within %u ms", place, (unsigned)f->connect_ms);
  else
    snprintf(text, room, "no connection to %s within %u ms", place, (unsigned)f->connect_ms);
  return UV_ETIMEDOUT;
}

static int not_understood(char *text, size_t room, const char *place, const slp_curl_failure *f) {
  snprintf(text, room, "answer of %s not understood: %s", place, f->detail);
  return SLOOP_EREMOTE;
}

static int line_too_long(char *text, size_t room, const char *place) {
  snprintf(text, room, "head or trailer of %s has a line that is too long", place);
  return SLOOP_EREMOTE;
}

static int has_memory(slp_mem *mem) {
  void *p = slp_alloc(mem, LINE_ROOM);
  slp_free(mem, p);
  return p != NULL;
}

/* Explains CURLE_OUT_OF_MEMORY. libcurl 7.88 returns this code also for a line of more than 100 KiB in a
 * head, or 4 KiB in a trailer. */
static int no_memory(char *text, size_t room, const char *place, const slp_curl_failure *f, int may_be_line) {
  if (may_be_line && has_memory(f->mem)) return line_too_long(text, room, place);
  snprintf(text, room, "no memory for the call to %s", place);
  return UV_ENOMEM;
}

static int explain_lost_connection(char *text, size_t room, const char *place, const slp_curl_failure *f) {
  if (strstr(f->detail, "Out of memory in chunked-encoding")) return no_memory(text, room, place, f, 1);
  /* libcurl uses these words if a chunk's size makes no sense, or if a head has no end. */
  if (strstr(f->detail, "chunked-encoding") || strstr(f->detail, "response headers"))
    return not_understood(text, room, place, f);
  int code = f->os_errno ? uv_translate_sys_error((int)f->os_errno) : UV_ECONNRESET;
  /* The errno may be left over from another call. Only these codes say something about a connection. */
  if (code != UV_EPIPE && code != UV_ETIMEDOUT && code != UV_EHOSTUNREACH && code != UV_ENETUNREACH)
    code = UV_ECONNRESET;
  snprintf(text, room, "connection to %s lost: %s", place, uv_strerror(code));
  return code;
}

static int not_connected(char *text, size_t room, const char *place, const slp_curl_failure *f) {
  int code = f->os_errno ? uv_translate_sys_error((int)f->os_errno) : 0;
  if (code == UV_ECONNREFUSED || (!code && strstr(f->detail, "refused"))) {
    snprintf(text, room, "connection to %s refused", place);
    return UV_ECONNREFUSED;
  }
  if (code == 0) code = UV_EHOSTUNREACH;
  snprintf(text, room, "no connection to %s: %s", place, uv_strerror(code));
  return code;
}

static int tls_failed(char *text, size_t room, const char *place, const slp_curl_failure *f) {
  if (strstr(f->detail, "wrong version number") || strstr(f->detail, "packet length too long") ||
      strstr(f->detail, "http request")) {
    snprintf(text, room, "%s does not answer in TLS (is it an http port?)", place);
    return SLOOP_ETLS;
  }
  if (strstr(f->detail, "SYSCALL") || strstr(f->detail, "unexpected eof") ||
      strstr(f->detail, "reset by peer") || strstr(f->detail, "Connection reset")) {
    snprintf(text, room, "%s closed the connection during the TLS handshake", place);
    return UV_ECONNRESET;
  }
  snprintf(text, room, "TLS handshake with %s failed: %s", place, f->detail);
  return SLOOP_ETLS;
}

/* Returns advice on a certificate that was not accepted. `why` is the reason in the words of OpenSSL and
 * libcurl. */
static const char *certificate_remedy(const char *why, int of_proxy) {
  if (strstr(why, "expired") || strstr(why, "not yet valid"))
    return "check this machine's clock, or have the certificate renewed";
  if (strstr(why, "subject name") || strstr(why, "does not match")) return "check the address";
  if (of_proxy && slp_proxy_ca()) return "put its CA into the file that " SLP_PROXY_CA " names";
  if (of_proxy) return "put its CA into " SLP_PROXY_CA ", ca_bundle or AWS_CA_BUNDLE";
  return "check the address; for a server of your own put its CA into ca_bundle or AWS_CA_BUNDLE";
}

static int explain_bad_certificate(char *text, size_t room, const char *place, const slp_curl_failure *f,
                                   int of_proxy) {
  const char *why = after_prefix(f->detail, "SSL certificate problem: ");
  why = after_prefix(why, "SSL: ");
  snprintf(text, room, "certificate of %s not accepted: %s; %s", place, why,
           certificate_remedy(why, of_proxy));
  return SLOOP_ETLS;
}

/* Returns why libcurl could not use a file of certificates. Opening the file here is safe, because libcurl
 * has just opened it too. */
static const char *bundle_trouble(const char *path) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return slp_file_why(-errno);
  int folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
  close(fd);
  return folder ? slp_file_why(-EISDIR) : "it holds no certificate";
}

/* Returns 1 if nobody has named this file: it is where systems keep their certificates. */
static int is_of_the_system(const char *path) {
  const char *place;
  for (unsigned i = 0; (place = slp_ca_file_place(i)); i++)
    if (strcmp(place, path) == 0) return 1;
  return 0;
}

static int bad_bundle(char *text, size_t room, const slp_curl_failure *f) {
  const char *of_proxy = f->proxy && f->proxy->tls ? slp_proxy_ca() : NULL;
  if (of_proxy && strstr(f->detail, of_proxy)) {
    snprintf(text, room, "certificates to trust can't be read from %s: %s; check " SLP_PROXY_CA, of_proxy,
             bundle_trouble(of_proxy));
    return SLOOP_ETLS;
  }
  const char *file = f->ca_file ? f->ca_file : "the system";
  snprintf(text, room, "certificates to trust can't be read from %s: %s; %s", file,
           f->ca_file ? bundle_trouble(f->ca_file) : "there are none",
           is_of_the_system(file) ? "install ca-certificates, or set AWS_CA_BUNDLE or SSL_CERT_FILE"
                                  : "check ca_bundle, AWS_CA_BUNDLE and SSL_CERT_FILE");
  return SLOOP_ETLS;
}

/* ---- proxies --------------------------------------------------------------------------------- */

/* Writes the authentication schemes that a proxy asks for, as in "NTLM or Negotiate". Writes "" if Basic is
 * among them, or if no scheme is known. */
static void name_schemes(long schemes, char out[60]) {
  static const struct {
    long bit;
    const char *name;
  } all[] = {{(long)CURLAUTH_DIGEST, "Digest"},
             {(long)CURLAUTH_NTLM, "NTLM"},
             {(long)CURLAUTH_NEGOTIATE, "Negotiate"},
             {(long)CURLAUTH_BEARER, "Bearer"}};
  size_t n = 0;
  out[0] = 0;
  for (size_t i = 0; i < SLP_COUNT(all) && !(schemes & (long)CURLAUTH_BASIC); i++)
    if (schemes & all[i].bit) n += (size_t)snprintf(out + n, 60 - n, "%s%s", n ? " or " : "", all[i].name);
}

int slp_refused_by_proxy(char *text, size_t room, slp_str url, const slp_proxy *p, int status, long schemes) {
  char asked[60];
  name_schemes(schemes, asked);
  char host[SLP_PLACE_MAX], remedy[240];
  int https = url.n >= 6 && memcmp(url.p, "https:", 6) == 0;
  int passes = status == 408 || status == 429 || status >= 500;
  slp_url_place(url, host, sizeof host);
  if (status == 407 && asked[0])
    snprintf(remedy, sizeof remedy,
             "it asks for %s, but only Basic is supported: let it allow this host, or put a proxy that logs "
             "in (px, cntlm) into %s",
             asked, p->variable);
  else if (status == 407 && p->has_user)
    snprintf(remedy, sizeof remedy,
             "check the user and password in %s, percent-encoded; they are sent by Basic, the only scheme "
             "supported",
             p->variable);
  else if (status == 407)
    snprintf(remedy, sizeof remedy, "set user and password in %s: http%s://USER:PASSWORD@%s, percent-encoded",
             p->variable, p->tls ? "s" : "", p->place);
  else if (status == 403)
    snprintf(remedy, sizeof remedy, "check that its rules allow this host and port");
  else if (passes)
    snprintf(remedy, sizeof remedy, "check that the proxy reaches this host and port");
  else
    snprintf(remedy, sizeof remedy, "check %s: this may not be a proxy", p->variable);
  snprintf(text, room, "the proxy %s (%s) answered %d %s %s: %s", p->place, p->variable, status,
           https ? "to CONNECT" : "for", host, remedy);
  return passes ? UV_EHOSTUNREACH : SLOOP_EPROXY;
}

/* Says that the variable holds no URL of a proxy. libcurl's own text is not used, because it quotes the whole
 * URL of the proxy, with its password. */
static int proxy_is_none(char *text, size_t room, const slp_curl_failure *f) {
  snprintf(text, room, "%s is not the URL of a proxy: check it; it looks like http://HOST:PORT",
           f->proxy->variable);
  return SLOOP_EPROXY;
}

static int is_at_proxy(const slp_curl_failure *f) {
  if (!f->proxy || !f->proxy->variable) return 0;
  switch ((int)f->rc) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
    case CURLE_COULDNT_CONNECT: return 1;
    default: break;
  }
  if (f->proxy->socks) return 0;
  return !f->https || (f->connect_code / 100 != 2 && !f->sent);
}

static int explain_other_failure(char *text, size_t room, const char *place, const slp_curl_failure *f) {
  snprintf(text, room, "%s: %s", place, f->detail[0] ? f->detail : curl_easy_strerror(f->rc));
  return SLOOP_EREMOTE;
}

static int explain_by_curl_code(char *text, size_t room, const char *place, const slp_curl_failure *f) {
  switch ((int)f->rc) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      snprintf(text, room, "name of %s not found", place);
      return UV_EAI_NONAME;
    case CURLE_PROXY: snprintf(text, room, "%s refuses: %s", place, f->detail); return SLOOP_EPROXY;
    case CURLE_COULDNT_CONNECT: return not_connected(text, room, place, f);
    case CURLE_OPERATION_TIMEDOUT: return timed_out(text, room, place, f);
    case CURLE_PEER_FAILED_VERIFICATION: return explain_bad_certificate(text, room, place, f, is_at_proxy(f));
    case CURLE_SSL_CACERT_BADFILE: return bad_bundle(text, room, f);
    case CURLE_SSL_CONNECT_ERROR: return tls_failed(text, room, place, f);
    case CURLE_GOT_NOTHING:
      snprintf(text, room, "%s closed the connection without an answer", place);
      return UV_ECONNRESET;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: return explain_lost_connection(text, room, place, f);
    case CURLE_PARTIAL_FILE: snprintf(text, room, "answer of %s was cut short", place); return SLOOP_EREMOTE;
    case CURLE_ABORTED_BY_CALLBACK:
      snprintf(text, room, "connection to %s closed after the request was sent; it is not sent again", place);
      return UV_ECONNRESET;
    case CURLE_OUT_OF_MEMORY: return no_memory(text, room, place, f, f->reads_head);
    case TOO_LARGE: return line_too_long(text, room, place);
    case CURLE_URL_MALFORMAT: snprintf(text, room, "not a usable URL: %s", place); return UV_EINVAL;
    case CURLE_UNSUPPORTED_PROTOCOL:
      if (!strstr(f->detail, "HTTP/0.9")) return explain_other_failure(text, room, place, f);
      snprintf(text, room, "%s does not answer in HTTP%s", place, f->https ? "" : " (is it an https port?)");
      return SLOOP_EREMOTE;
    case CURLE_WEIRD_SERVER_REPLY: return not_understood(text, room, place, f);
    default: return explain_other_failure(text, room, place, f);
  }
}

/* Explains a failure between this machine and the proxy, in which the host behind the proxy has no part. */
static int explain_proxy(char *text, size_t room, slp_str url, const slp_curl_failure *f) {
  char place[SLP_WHERE_MAX];
  const slp_proxy *p = f->proxy;
  if (strstr(f->detail, "Unsupported proxy")) return proxy_is_none(text, room, f);
  if (f->connect_code >= 300)
    return slp_refused_by_proxy(text, room, url, p, (int)f->connect_code, f->proxy_schemes);
  snprintf(place, sizeof place, "the proxy %s (%s)", p->place, p->variable);
  int code;
  /* libcurl does not report the status that the proxy answered */
  if (strstr(f->detail, "CONNECT tunnel failed")) {
    snprintf(text, room, "%s does not answer in HTTP", place);
    code = SLOOP_EPROXY;
  } else if (f->rc == CURLE_RECV_ERROR && strstr(f->detail, "CONNECT aborted")) {
    snprintf(text, room, "%s closed the connection without an answer to CONNECT", place);
    code = UV_ECONNRESET;
  } else {
    code = explain_by_curl_code(text, room, place, f);
  }
  size_t n = strlen(text);
  if (!strstr(text, "; check ")) snprintf(text + n, room - n, "; check %s and NO_PROXY", p->variable);
  return code;
}

int slp_curl_explain(char *text, size_t room, slp_str url, const slp_curl_failure *f) {
  char place[SLP_WHERE_MAX];
  int code;
  if (is_at_proxy(f)) {
    code = explain_proxy(text, room, url, f);
  } else {
    slp_where(url, f->proxy, place);
    code = explain_by_curl_code(text, room, place, f);
  }
  /* The text may contain names out of a certificate, which others chose. So only printable ASCII is kept. */
  for (char *p = text; *p; p++)
    if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f) *p = '?';
  return code;
}

/* ca_file.c - the places where systems keep their certificates. */
#include "host/ca_file.h"

#include "base/base.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const places[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Alpine, Arch, Gentoo, NixOS */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL, Amazon Linux */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL without the link above */
    "/etc/ssl/cert.pem",                                 /* Alpine, macOS, OpenBSD, FreeBSD */
    "/usr/local/share/certs/ca-root-nss.crt",            /* FreeBSD with ca_root_nss */
    "/usr/share/ssl/certs/ca-bundle.crt",                /* older Red Hat systems */
};

const char *slp_ca_file_place(unsigned i) { return i < SLP_COUNT(places) ? places[i] : NULL; }

const char *slp_ca_file_find(const char *named, const char *built_in, int (*is_readable)(const char *path)) {
  if (named && *named) return named;
  if (built_in && is_readable(built_in)) return built_in;
  for (size_t i = 0; i < SLP_COUNT(places); i++)
    if (is_readable(places[i])) return places[i];
  return built_in ? built_in : places[0];
}

static int is_readable_here(const char *path) { return access(path, R_OK) == 0; }

const char *slp_ca_file(const char *built_in, int by_folder) {
  const char *named = getenv("SSL_CERT_FILE");
  if (by_folder && !(named && *named)) return NULL;
  return slp_ca_file_find(named, built_in, is_readable_here);
}

/* oracle64.h - OpenSSL's EVP_DecodeBlock as a strict base64 decoder. By itself it strips white space,
 * takes '=' anywhere in the last groups and counts padding as bytes, so the form is checked first. */
#ifndef SLP_TEST_ORACLE64_H
#define SLP_TEST_ORACLE64_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes written to out (room for n), or -1. */
static inline int64_t oracle64_decode(const char *in, size_t n, unsigned char *out) {
  static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t pads = 0;
  if (n % 4) return -1;
  for (size_t i = 0; i < n; i++) {
    if (in[i] == '=' && i + 2 >= n)
      pads++;
    else if (pads || !in[i] || !strchr(known, in[i]))
      return -1;
  }
  if (n == 0) return 0;
  int r = EVP_DecodeBlock(out, (const unsigned char *)in, (int)n);
  return r < 0 ? -1 : r - (int64_t)pads;
}

#endif

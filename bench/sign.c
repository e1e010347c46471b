/* sign.c - CPU time of a signature as a poll needs it: with the key of the day kept, and with another key each time,
 * beside one SHA-256 and one HMAC of OpenSSL over as many bytes, which no signer can avoid. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "aws/sigv4.h"
#include "bench.h"

#define BODY_BYTES 280 /* a GetRecords request */

static slp_http_header headers[] = {
    {{"Content-Type", 12}, {"application/x-amz-cbor-1.1", 26}},
    {{"X-Amz-Target", 12}, {"Kinesis_20131202.GetRecords", 27}},
};

static double sign(slp_signer *signer, size_t times, int other_key) {
  char body[BODY_BYTES], date[17], secret[41];
  slp_buf out;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&out, mem, 4096);
  memset(body, 'a', sizeof body);
  memset(secret, 's', 40);
  secret[40] = 0;
  slp_sign_request rq = {.method = SLP_STR("POST"),
                         .host = SLP_STR("kinesis.us-east-1.amazonaws.com"),
                         .path = SLP_STR("/"),
                         .query = SLP_STR(""),
                         .headers = headers,
                         .headers_n = 2,
                         .body = {body, sizeof body},
                         .region = SLP_STR("us-east-1"),
                         .service = SLP_STR("kinesis")};
  double cpu = bench_cpu_s();
  for (size_t i = 0; i < times; i++) {
    body[i % sizeof body]++;
    if (other_key) secret[i % 40] = (char)('a' + i % 26);
    slp_sign_keys keys = {.key_id = SLP_STR("AKIDEXAMPLE"), .secret = {secret, 40}, .token = SLP_STR("")};
    slp_buf_clear(&out);
    if (slp_sign(signer, &rq, &keys, 1760000000000 + (int64_t)i, date, &out)) bench_die("it is not signed");
  }
  double ns = (bench_cpu_s() - cpu) * 1e9 / (double)times;
  slp_buf_free(&out);
  slp_mem_drop(mem);
  return ns;
}

/* Two hashes and one HMAC: body, canonical request, string to sign. */
static double bare(size_t times) {
  unsigned char bytes[BODY_BYTES] = {0}, hash[32], key[32] = {0};
  EVP_MD_CTX *md = EVP_MD_CTX_new();
  EVP_MD *sha = EVP_MD_fetch(NULL, "SHA256", NULL);
  EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *mac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
  char name[] = "SHA256";
  OSSL_PARAM digest[] = {OSSL_PARAM_construct_utf8_string("digest", name, 0), OSSL_PARAM_construct_end()};
  size_t n;
  if (!md || !sha || !mac || EVP_MAC_init(mac, key, sizeof key, digest) != 1) bench_die("OpenSSL");
  double cpu = bench_cpu_s();
  for (size_t i = 0; i < times; i++) {
    for (int k = 0; k < 2; k++)
      if (EVP_DigestInit_ex(md, sha, NULL) != 1 || EVP_DigestUpdate(md, bytes, sizeof bytes) != 1 ||
          EVP_DigestFinal_ex(md, hash, NULL) != 1)
        bench_die("OpenSSL");
    if (EVP_MAC_init(mac, NULL, 0, NULL) != 1 || EVP_MAC_update(mac, bytes, 140) != 1 ||
        EVP_MAC_final(mac, hash, &n, sizeof hash) != 1)
      bench_die("OpenSSL");
    bytes[i % sizeof bytes]++;
  }
  double ns = (bench_cpu_s() - cpu) * 1e9 / (double)times;
  EVP_MAC_CTX_free(mac);
  EVP_MAC_free(hmac);
  EVP_MD_free(sha);
  EVP_MD_CTX_free(md);
  return ns;
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "CPU nanoseconds of a signature.");
  size_t rounds = small ? 1 : 7, times = small ? 20000 : 100000;
  double kept[BENCH_ROUNDS_MAX], anew[BENCH_ROUNDS_MAX], floor[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX];
  char k[64], a[64], f[64], r[64];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_signer *signer = mem ? slp_signer_new(mem) : NULL;
  if (!signer) bench_die("no memory");
  for (size_t i = 0; i < rounds; i++) {
    floor[i] = bare(times);
    kept[i] = sign(signer, times, 0);
    anew[i] = sign(signer, times / 4, 1);
    ratio[i] = kept[i] / floor[i];
  }
  printf(
      "CPU ns a signature, median (min to max): %s; with a key derived each time %s; hashes of OpenSSL alone "
      "%s; ratio %s\n",
      bench_spread_text(k, bench_spread_of(kept, rounds), 0),
      bench_spread_text(a, bench_spread_of(anew, rounds), 0),
      bench_spread_text(f, bench_spread_of(floor, rounds), 0),
      bench_spread_text(r, bench_spread_of(ratio, rounds), 2));
  printf("{\"bench\":\"sign\",\"kept_ns\":%.1f,\"derived_ns\":%.1f,\"floor_ns\":%.1f}\n",
         bench_spread_of(kept, rounds).median, bench_spread_of(anew, rounds).median,
         bench_spread_of(floor, rounds).median);
  slp_signer_free(signer);
  slp_mem_drop(mem);
  return 0;
}

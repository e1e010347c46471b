/* latency_puts.c - one PutRecord after the other on one connection. The data of each is the monotonic time
 * in nanoseconds at which its request began, as 16 hexadecimal digits; so what is measured at the other end
 * contains the put's own way to the server. */
#include "latency_puts.h"

#include "bench.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static size_t on_body(char *p, size_t size, size_t n, void *arg) {
  (void)p, (void)arg;
  return size * n;
}

static void sleep_until(double at_s) {
  double left = at_s - bench_wall_s();
  if (left <= 0) return;
  struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
  nanosleep(&t, NULL);
}

/* 16 bytes give 22 characters and two to fill up. */
static void base64_of_16(const char *from, char out[25]) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *to = out;
  for (int i = 0; i < 15; i += 3) {
    uint32_t v = (uint32_t)from[i] << 16 | (uint32_t)from[i + 1] << 8 | (uint32_t)from[i + 2];
    for (int bits = 18; bits >= 0; bits -= 6) *to++ = digits[v >> bits & 63];
  }
  *to++ = digits[from[15] >> 2];
  *to++ = digits[(from[15] & 3) << 4];
  *to++ = '=';
  *to++ = '=';
  *to = 0;
}

static void put(CURL *easy, const latency_puts *job, uint32_t i) {
  char stamp[17], data[25], body[256];
  snprintf(stamp, sizeof stamp, "%016" PRIx64, (uint64_t)(bench_wall_s() * 1e9));
  base64_of_16(stamp, data);
  snprintf(body, sizeof body, "{\"StreamName\":\"%s\",\"PartitionKey\":\"k%u\",\"Data\":\"%s\"}", job->stream,
           i, data);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
  long status = 0;
  CURLcode code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (code || status != 200) bench_die("a put got status %ld, %s", status, curl_easy_strerror(code));
}

void latency_put_all(const void *job_v, void *result_v) {
  const latency_puts *job = job_v;
  double *longest_s = result_v, at_s = job->from_s;
  CURL *easy = curl_easy_init();
  struct curl_slist *headers = curl_slist_append(NULL, "X-Amz-Target: Kinesis_20131202.PutRecord");
  headers = curl_slist_append(headers, "Content-Type: application/x-amz-json-1.1");
  if (!easy || !headers) bench_die("no memory");
  curl_easy_setopt(easy, CURLOPT_URL, job->url);
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  for (uint32_t i = 0; i < job->n; i++) {
    /* Between half and one and a half of the gap, so that nothing falls into step with the polls. */
    at_s += (double)job->gap_us * 1e-6 * (0.5 + (double)(bench_mix(i + 1) >> 11) * 0x1p-53);
    sleep_until(at_s);
    double begun_s = bench_wall_s();
    put(easy, job, i);
    double took_s = bench_wall_s() - begun_s;
    if (took_s > *longest_s) *longest_s = took_s;
  }
  curl_slist_free_all(headers);
  curl_easy_cleanup(easy);
}

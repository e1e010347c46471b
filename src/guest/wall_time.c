/* wall_time.c - writes and reads times in the forms that other systems' programs write into rows. */
#include "guest/wall_time.h"

#include "codec/date.h"

#define NS_PER_S UINT64_C(1000000000)
#define SECONDS_N 19 /* length of "2026-01-02T03:04:05" */

size_t slp_go_time_write(uint64_t ns, char out[SLP_WALL_TEXT]) {
  char text[25];
  uint64_t fraction = ns % NS_PER_S;
  size_t n = SECONDS_N;
  slp_date_iso((int64_t)(ns / NS_PER_S * 1000), text);
  memcpy(out, text, n);
  if (fraction) out[n++] = '.';
  for (uint64_t digit = NS_PER_S / 10; fraction; digit /= 10) {
    out[n++] = (char)('0' + fraction / digit);
    fraction %= digit;
  }
  out[n++] = 'Z';
  return n;
}

size_t slp_ruby_time_write(uint64_t s, char out[SLP_WALL_TEXT]) {
  static const char zone[4] = {' ', 'U', 'T', 'C'};
  char text[25];
  slp_date_iso((int64_t)(s * 1000), text);
  memcpy(out, text, SECONDS_N);
  out[10] = ' ';
  memcpy(out + SECONDS_N, zone, sizeof zone);
  return SECONDS_N + 4;
}

uint64_t slp_ruby_time_read(slp_str s) {
  char again[SLP_WALL_TEXT];
  int64_t ms;
  if (s.n != SECONDS_N + 4 || slp_date_parse_iso((slp_str){s.p, SECONDS_N}, &ms) || ms < 0) return 0;
  uint64_t seconds = (uint64_t)ms / 1000;
  return slp_str_eq((slp_str){again, slp_ruby_time_write(seconds, again)}, s) ? seconds : 0;
}

static int read_fraction(slp_str s, uint64_t *ret) {
  uint64_t digit = NS_PER_S / 10;
  *ret = 0;
  if (!s.n) return 0;
  if (s.p[0] != '.' || s.n < 2 || s.n > 10) return SLP_EBADDATA;
  for (size_t i = 1; i < s.n; i++, digit /= 10) {
    if (s.p[i] < '0' || s.p[i] > '9') return SLP_EBADDATA;
    *ret += (uint64_t)(s.p[i] - '0') * digit;
  }
  return 0;
}

uint64_t slp_go_time_read(slp_str s) {
  char again[SLP_WALL_TEXT];
  int64_t ms;
  uint64_t fraction;
  if (s.n <= SECONDS_N || s.n >= SLP_WALL_TEXT || s.p[s.n - 1] != 'Z') return 0;
  if (slp_date_parse_iso((slp_str){s.p, SECONDS_N}, &ms) || ms < 0) return 0;
  if ((uint64_t)ms / 1000 >= UINT64_MAX / NS_PER_S) return 0;
  if (read_fraction((slp_str){s.p + SECONDS_N, s.n - SECONDS_N - 1}, &fraction)) return 0;
  uint64_t ns = (uint64_t)ms / 1000 * NS_PER_S + fraction;
  return slp_str_eq((slp_str){again, slp_go_time_write(ns, again)}, s) ? ns : 0;
}

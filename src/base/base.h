/* base.h - what every file may use: checks, error codes, slices of bytes, small arithmetic. */
#ifndef SLP_BASE_BASE_H
#define SLP_BASE_BASE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Ends the process if x is false, in every build. Only a bug in this code can make x false: data from outside
 * is never checked with SLP_CHECK. */
#define SLP_CHECK(x) ((x) ? (void)0 : slp_check_failed(__FILE__, __LINE__, #x))
__attribute__((noreturn, cold)) void slp_check_failed(const char *file, int line, const char *what);

/* Returns the object that holds `member` at address p. */
#define SLP_OWNER(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))
#define SLP_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SLP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define SLP_UNUSED __attribute__((unused))

/* Error codes: most functions return 0 or one of these. libuv's codes are also -errno on every supported
 * system. Rooms below host/ do not include libuv, so they use these names; host/uv_host.c asserts that both
 * are equal. */
#define SLP_ENOMEM (-ENOMEM)
#define SLP_ETIMEDOUT (-ETIMEDOUT)
#define SLP_ECANCELED (-ECANCELED)
#define SLP_ENOBUFS (-ENOBUFS)
#define SLP_EBUSY (-EBUSY)
#define SLP_EINVAL (-EINVAL)
#define SLP_ENOENT (-ENOENT)
#define SLP_E2BIG (-E2BIG)
/* Internal results: no public function returns these three. */
#define SLP_MORE (1)         /* the work is not finished: call again */
#define SLP_EBADDATA (-6001) /* bytes from outside do not follow their format */
#define SLP_ELIMIT (-6002)   /* bytes from outside exceed a limit of this library */

/* Bytes that the slp_str does not own, without a NUL at the end. {NULL, 0} means absent; {"", 0} means
 * empty. */
typedef struct slp_str {
  const char *p;
  size_t n;
} slp_str;

#define SLP_STR(literal) ((slp_str){"" literal, sizeof(literal) - 1})

static inline slp_str slp_str_of(const char *z) { return (slp_str){z, z ? strlen(z) : 0}; }
static inline int slp_str_eq(slp_str a, slp_str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
/* Compares byte by byte. Returns -1, 0 or 1. A prefix sorts before the longer string. */
static inline int slp_str_cmp(slp_str a, slp_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = n ? memcmp(a.p, b.p, n) : 0;
  if (c) return c < 0 ? -1 : 1;
  return (a.n > b.n) - (a.n < b.n);
}
static inline int slp_str_has(slp_str s, char c) { return s.n && memchr(s.p, c, s.n) != NULL; }
/* Returns the last c of p[0, n), or NULL. */
static inline const char *slp_last_char(const char *p, char c, size_t n) {
  while (n > 0)
    if (p[--n] == c) return p + n;
  return NULL;
}
static inline int slp_str_is(slp_str a, const char *z) { return slp_str_eq(a, slp_str_of(z)); }

static inline uint64_t slp_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t slp_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline int64_t slp_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t slp_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
/* Returns a + b, at most INT64_MAX. a and b must not be negative. */
static inline int64_t slp_add_i64(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

/* Adds a duration to a point in time. The result stays at UINT64_MAX ("never") instead of wrapping. */
static inline uint64_t slp_after_us(uint64_t at_us, uint64_t us) {
  return at_us > UINT64_MAX - us ? UINT64_MAX : at_us + us;
}

#endif

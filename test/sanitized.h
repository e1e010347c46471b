/* sanitized.h - SANITIZED: whether this program is built with AddressSanitizer, under which the same work takes several
 * times the CPU, and no memory ends the program. */
#ifndef TEST_SANITIZED_H
#define TEST_SANITIZED_H

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif

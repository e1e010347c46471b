/* library.h - a library that runs in this process: which version it is, and a function of it, by which its
 * file is found. Each room that uses a library tells of it, and api/running.c writes them down. */
#ifndef SLP_BASE_LIBRARY_H
#define SLP_BASE_LIBRARY_H

typedef struct slp_library {
  const char *name, *version; /* name NULL: this build does not use it */
  void (*code)(void);         /* a function of it, never called */
} slp_library;

#endif

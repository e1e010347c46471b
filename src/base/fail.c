/* fail.c - fills in a failure, and names its class. */
#include "base/fail.h"

#include "base/clean.h"

#include <stdarg.h>
#include <stdio.h>

void slp_fail_clear(slp_fail *f) { memset(f, 0, sizeof *f); }

int slp_fail_set(slp_fail *f, slp_class class, int code, const char *fmt, ...) {
  va_list args;
  f->class = class;
  f->code = code;
  va_start(args, fmt);
  vsnprintf(f->message, sizeof f->message, fmt, args);
  va_end(args);
  f->message[slp_clean(f->message, strlen(f->message))] = 0;
  return code;
}

const char *slp_class_name(slp_class class) {
  switch (class) {
    case SLP_FINE: return "fine";
    case SLP_THROTTLE: return "throttle";
    case SLP_TRANSIENT: return "transient";
    case SLP_EXPIRED: return "expired";
    case SLP_GONE: return "gone";
    case SLP_BUSY: return "busy";
    case SLP_TRIMMED: return "trimmed";
    case SLP_AUTH: return "auth";
    case SLP_ACCESS: return "access";
    case SLP_REFUSED: return "refused";
    case SLP_CANCELED: return "canceled";
    case SLP_NOMEM: return "nomem";
  }
  return "?";
}

int slp_class_lasts(slp_class class) {
  switch (class) {
    case SLP_GONE:
    case SLP_AUTH:
    case SLP_ACCESS:
    case SLP_REFUSED: return 1;
    case SLP_FINE:
    case SLP_THROTTLE:
    case SLP_TRANSIENT:
    case SLP_EXPIRED:
    case SLP_BUSY:
    case SLP_TRIMMED:
    case SLP_CANCELED:
    case SLP_NOMEM: return 0;
  }
  return 0;
}

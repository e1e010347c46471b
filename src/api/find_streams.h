/* find_streams.h - finds the streams of an account in a region: the streams of Kinesis, and the DynamoDB
 * tables that have a stream. For the command; no function of sloop.h calls it. */
#ifndef SLP_API_FIND_STREAMS_H
#define SLP_API_FIND_STREAMS_H

#include "base/fail.h"
#include <stdint.h>
#include <sloop.h>

typedef struct slp_found_stream {
  /* A value for the option `stream`: "orders" or "dynamodb:TABLE". For an older stream of a table, which was
   * disabled: its ARN. */
  const char *name;
  char arn[768];           /* "": not known */
  char status[24];         /* as the service writes it: "ACTIVE", "ENABLED", "DISABLED"; "": not known */
  char mode[24];           /* "PROVISIONED", "ON_DEMAND"; with a table, what records contain: "NEW_IMAGE" */
  int64_t created_ms;      /* when the stream was created; -1: not known */
  int64_t open_shards;     /* -1: not known, or not a stream of Kinesis */
  int64_t retention_hours; /* how long records are kept; -1: not known */
  /* why the members above are not known; "": the stream was described */
  char why[240];
} slp_found_stream;

/* the two services that are asked, one after the other */
typedef enum { SLP_FIND_KINESIS, SLP_FIND_TABLES, SLP_FIND_SERVICES } slp_find_service;

typedef struct slp_find slp_find;
typedef struct slp_find_calls {
  /* Called once, when each service has sent its names or has failed. `names` are sorted, those of Kinesis
   * first, and stay valid until slp_find_free. May be NULL. */
  void (*on_names)(slp_find *f, const char *const *names, size_t n, void *arg);
  /* Called for each stream when it was described. NULL: streams are not described, only named. */
  void (*on_stream)(slp_find *f, const slp_found_stream *s, void *arg);
  /* Called once, at the end. fails[SERVICE].class is SLP_FINE if the names of that service are complete. May
   * call slp_find_free. */
  void (*on_done)(slp_find *f, const slp_fail fails[SLP_FIND_SERVICES], void *arg);
  uint8_t skips[SLP_FIND_SERVICES]; /* skips[SERVICE] 1: that service is not asked, and has no names */
} slp_find_calls;

/* Starts to find streams with the credentials, region and endpoints of s, which may be a consumer that never
 * starts. `s` is borrowed until slp_find_free. Returns 0 or SLP_ENOMEM. Callbacks come in later turns. */
int slp_find_new(slp_find **ret, sloop_t *s, const slp_find_calls *calls, void *arg);
/* Frees f, which may be NULL. If the search is still running, ends it; no callback is called any more. */
void slp_find_free(slp_find *f);

#endif

/* stream_scan.h - lists the streams again and again while a command reads streams that match patterns, and
 * finds new streams that match.
 *
 *   SLP_SCAN_OFF --opened--> SLP_SCAN_WAITS --due--> SLP_SCAN_LISTS --answered, failed--> SLP_SCAN_WAITS
 *   any state --closed--> SLP_SCAN_OFF
 *
 * The scan has a consumer that is never started. The consumers of the streams join it, because a consumer
 * can't join one that reads already. */
#ifndef SLP_CLI_STREAM_SCAN_H
#define SLP_CLI_STREAM_SCAN_H

#include "api/find_streams.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"

typedef enum { SLP_SCAN_OFF, SLP_SCAN_WAITS, SLP_SCAN_LISTS } slp_scan_state;

typedef struct slp_stream_scan slp_stream_scan;
struct slp_stream_scan {
  slp_scan_state state;
  /* the consumer that is never started; the code that opens the scan sets its on_closed */
  slp_cli_consumer finder;
  slp_find *find;    /* owned; the listing that is under way */
  uint64_t next_us;  /* when the next listing is due */
  uint64_t begun_us; /* when the listing that is under way, or the last one, began */
  uint8_t takes_new; /* 1: new streams are read; 0: listings only show which streams are gone */
  int64_t begun_ms;  /* when the listing that is under way began, by the wall clock */
  int64_t listed_ms; /* when the last complete listing began, by the wall clock; 0: there was none */
  uint8_t failing;   /* 1: the last listing failed, and the user was told so */
  uint8_t full;      /* 1: more streams match than can be read, and the user was told so */
  /* places[i] is about args->streams[i] */
  struct {
    /* when reading of the stream ended, because it was deleted or can't be read; 0: it is read */
    uint64_t gone_us;
    uint8_t answered; /* 1: the stream could be read before gone_us */
    uint8_t listed;   /* 1: the listing that is under way has the stream */
    uint8_t unlisted; /* 1: a complete listing that ended after gone_us did not have the stream */
  } places[SLP_ARGS_STREAMS_MAX];
  /* Reads the new stream `name` as args->streams[at]. `at` is args->streams_n, or a place for which is_free()
   * returned 1. Returns 0, or an error that ends the command. */
  int (*read_new)(slp_stream_scan *scan, size_t at, const char *name);
  /* Called for each streams[at] that a complete listing did not have. If the stream is known to be gone,
   * stops reading it and returns 1. Returns 0 if it may still exist. */
  int (*is_gone)(slp_stream_scan *scan, size_t at);
  /* Returns 1 if streams[at] is gone, its consumer is closed, and all of its output is done. */
  int (*is_free)(slp_stream_scan *scan, size_t at);
  void *user;
};

/* Opens the scan's consumer, whose callbacks must be set before. The first listing is due after -X
 * streams_ms. Returns 0, or a negative code; then the reason has been reported. */
int slp_stream_scan_open(slp_stream_scan *scan, slp_app *app);
/* Must be called when args->streams[at] can't be read any more, but the command reads the other streams.
 * answered: 1 if the stream could be read before. If the stream is made again, it is read again. */
void slp_stream_scan_gone(slp_stream_scan *scan, size_t at, int answered);
/* Called on each tick. Begins a listing when it is due. */
void slp_stream_scan_tick(slp_stream_scan *scan);
/* For --until. Returns 1 if a complete listing has begun after until_ms (wall clock), or if new streams are
 * not wanted: then no stream with records from before until_ms is still to be found. Otherwise returns 0, and
 * makes the next listing due soon after until_ms. */
int slp_stream_scan_until(slp_stream_scan *scan, int64_t until_ms);
/* Cancels a listing that is under way, and closes the consumer. May be called in every state, also
 * repeatedly. */
void slp_stream_scan_close(slp_stream_scan *scan);

#endif

/* stream_scan.h - lists the streams again and again while a command reads those that match its patterns, and
 * finds the new ones.
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
  slp_cli_consumer finder; /* the consumer that is never started; who opens the scan sets its on_closed */
  slp_find *find;          /* owned; the listing that is under way */
  uint64_t next_us;        /* when the next listing is due */
  uint64_t begun_us;       /* when the listing that is under way, or the last one, began */
  uint8_t takes_new;       /* 1: new streams are read; 0: only those that are gone are looked for */
  int64_t begun_ms;        /* when the listing that is under way began, by the wall clock */
  int64_t listed_ms;       /* when the last complete listing began, by the wall clock; 0: there was none */
  uint8_t failing;         /* 1: the last listing failed, and the user was told so */
  uint8_t full;            /* 1: more streams match than can be read, and the user was told so */
  /* places[i] is about args->streams[i] */
  struct {
    uint64_t gone_us; /* when the stream was gone, and its consumer failed; 0: it is read */
    uint8_t answered; /* 1: the stream was read before it was gone */
    uint8_t listed;   /* 1: the listing that is under way has the stream */
    uint8_t unlisted; /* 1: a listing since gone_us did not have the stream */
  } places[SLP_ARGS_STREAMS_MAX];
  /* Reads a new stream as args->streams[at], which is the end, or a place for which is_free() returned 1.
   * Returns 0, or an error that ends the command. */
  int (*read_new)(slp_stream_scan *scan, size_t at, const char *name);
  /* Called for each place whose stream a complete listing does not have. Returns 1 if the stream is known to
   * be gone, and is read no more; 0 if it may be there. */
  int (*is_gone)(slp_stream_scan *scan, size_t at);
  /* Returns 1 if the stream in this place is gone, and nothing of it is left. */
  int (*is_free)(slp_stream_scan *scan, size_t at);
  void *user;
};

/* Opens the consumer, whose callbacks are set already. The first listing is due after -X streams_ms. Returns
 * 0, or a negative code; then the reason has been reported. */
int slp_stream_scan_open(slp_stream_scan *scan, slp_app *app);
/* Must be called when args->streams[at] can't be read any more, and the other streams can. answered: 1 if it
 * was read before. The stream is read again if it is made again. */
void slp_stream_scan_gone(slp_stream_scan *scan, size_t at, int answered);
/* Called on each tick. Begins a listing when it is due. */
void slp_stream_scan_tick(slp_stream_scan *scan);
/* For --until. Returns 1 if no stream from before until_ms, by the wall clock, can still be found. Otherwise
 * makes a listing as soon as that time is over. */
int slp_stream_scan_until(slp_stream_scan *scan, int64_t until_ms);
/* Ends a listing, and closes the consumer. May be called in every state, and again. */
void slp_stream_scan_close(slp_stream_scan *scan);

#endif

/* h2.h - HTTP/2 at the sandbox's port, for clients that know that the server speaks it (RFC 9113 section
 * 3.3). Uses nghttp2.
 *
 * A connection that begins with the preface of HTTP/2 becomes an slp_h2_conn. Each request on the connection
 * is an slp_h2_stream, which contains an slp_served. The front answers this slp_served as it answers one of
 * HTTP/1.1. nghttp2 parses and writes the frames. h2_conn.c moves bytes between nghttp2 and the host.
 * h2_stream.c keeps requests and their answers.
 *
 * Rule: no code of the front runs inside a function of nghttp2. The callbacks of nghttp2 only change a stream
 * and post an event. That event hands requests over to the front, and tells the front when a peer has
 * left. */
#ifndef SLP_SANDBOX_H2_H
#define SLP_SANDBOX_H2_H

#include "base/list.h"
#include "host/host.h"

typedef struct slp_h2 {
  slp_list conns;
} slp_h2;

/* Makes the listener's port accept HTTP/2 too. Must be called before slp_listen. Does nothing in a build
 * without nghttp2. */
void slp_h2_offer(slp_h2 *all, slp_listener *l);
/* Sends GOAWAY on every connection and closes it. The front still has the requests that it has not answered:
 * each gets its on_gone, or is freed when the front answers it. */
void slp_h2_stop(slp_h2 *all);

#endif

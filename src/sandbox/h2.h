/* h2.h - HTTP/2 on the sandbox's port for clients that know it before (RFC 9113 section 3.3), by nghttp2.
 *
 * A connection that begins with the preface of HTTP/2 is an slp_h2_conn, each request on it an slp_h2_stream,
 * whose slp_served the front answers as any other. nghttp2 reads and writes the frames; h2_conn.c moves bytes
 * between it and the host, h2_stream.c keeps what a request and its answer are made of.
 *
 * The rule: nothing of the front runs inside a function of nghttp2. Its callbacks change a stream and post an
 * event; requests are handed over, and peers that left are told, in turns. */
#ifndef SLP_SANDBOX_H2_H
#define SLP_SANDBOX_H2_H

#include "host/host.h"

typedef struct slp_h2 {
  slp_list conns;
} slp_h2;

/* Before slp_listen: from then on the listener's port speaks HTTP/2, too. Without nghttp2 it does nothing. */
void slp_h2_offer(slp_h2 *all, slp_listener *l);
/* Says GOAWAY on every connection and ends it. Requests that the front has get on_gone, or wait for their
 * answer. */
void slp_h2_stop(slp_h2 *all);

#endif

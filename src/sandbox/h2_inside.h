/* h2_inside.h - what h2_conn.c and h2_stream.c share.
 *
 * The states of a stream. Every change sends something, except those from COMING or WHOLE to OVER:
 *
 *   COMING --> WHOLE --> SERVING --> ANSWERING ---------> OVER
 *      |         |          | `----> STREAMING --> ENDING --^
 *      |         |          |           |                   |
 *      |         |          `--> GONE <-'                   |
 *      |         |                 `------------------------|
 *      `---------+--> ANSWERING (refused), OVER (the peer left)
 */
#ifndef SLP_SANDBOX_H2_INSIDE_H
#define SLP_SANDBOX_H2_INSIDE_H

#include <nghttp2/nghttp2.h>

#include "sandbox/h2.h"

typedef enum {
  SLP_H2_COMING,    /* the request has not come completely */
  SLP_H2_WHOLE,     /* the request is complete, and waits for its turn */
  SLP_H2_SERVING,   /* the front has the request */
  SLP_H2_ANSWERING, /* the answer is being sent, and the front is done with it */
  SLP_H2_STREAMING, /* the answer goes on: the front adds to it */
  SLP_H2_ENDING,    /* the rest of such an answer is being sent */
  SLP_H2_GONE,      /* the peer left; the front has the request until on_gone, or until it answers */
  SLP_H2_OVER,
  SLP_H2_STATES
} slp_h2_state;

typedef struct slp_h2_conn {
  slp_list link; /* in slp_h2.conns */
  slp_raw *raw;  /* NULL: the connection has ended; the struct is only kept for a caller that still uses it */
  slp_mem *mem;
  slp_host *host;
  nghttp2_session *session;
  slp_list streams; /* by slp_h2_stream.link */
  slp_list whole;   /* by slp_h2_stream.turn: requests for the front, oldest first */
  slp_event ev;
  size_t unsent;   /* bytes of answers in state SLP_H2_ANSWERING */
  uint8_t writing; /* 1: the host has bytes to write; on_written follows */
  uint8_t busy;    /* 1: a function that uses the connection is still running */
  uint8_t cut;     /* 1: a fault resets the connection, once all bytes before it are sent */
  uint8_t broken;  /* 1: there is no memory, or the peer breaks the protocol: the connection ends */
} slp_h2_conn;

typedef struct slp_h2_stream {
  slp_served served;
  slp_h2_conn *c; /* NULL: the connection has ended */
  slp_mem *mem;
  slp_host *host;
  slp_list link, turn;
  slp_event ev;
  slp_h2_state state;
  int32_t id;
  slp_buf head; /* NAME NUL VALUE NUL ... */
  size_t fields_n;
  slp_buf body;
  slp_buf answer;
  size_t sent;       /* bytes of `answer` */
  size_t stop_at;    /* a fault cuts the connection after so many bytes of the answer; SIZE_MAX: none does */
  uint8_t too_large; /* 1: the head is too large */
  uint8_t deferred;  /* 1: nghttp2 does not ask for more of the answer until it is told that there is more */
} slp_h2_stream;

/* h2_stream.c */
extern const slp_serve_ops slp_h2_serve_ops;
slp_h2_stream *slp_h2_stream_new(slp_h2_conn *c, int32_t id); /* NULL: no memory */
void slp_h2_stream_move(slp_h2_stream *st, slp_h2_state to);
void slp_h2_stream_left(slp_h2_stream *st); /* the peer left the stream, or the connection has ended */
int slp_h2_stream_field(slp_h2_stream *st, slp_str name, slp_str value);
int slp_h2_stream_data(slp_h2_stream *st, slp_str bytes);
int slp_h2_stream_head_end(slp_h2_stream *st);
void slp_h2_stream_whole(slp_h2_stream *st); /* the request is complete */
void slp_h2_stream_hand_over(slp_h2_stream *st);

/* h2_conn.c */
void slp_h2_conn_kick(slp_h2_conn *c); /* posts the event that sends what there is and hands requests over */
/* Gives the host what there is to send, unless it is still writing. */
void slp_h2_conn_send(slp_h2_conn *c);
void slp_h2_conn_end(slp_h2_conn *c, slp_raw_end how);

#endif

/* h2_inside.h - what h2_conn.c, h2_stream.c and h2_life.c share. h2_conn.c calls h2_stream.c, and both call
 * h2_life.c.
 *
 * The states of a stream. Every change of state sends something, except those from COMING or WHOLE to OVER:
 *
 *   COMING --> WHOLE --> SERVING --> ANSWERING ---------> OVER
 *      |         |          | `----> STREAMING --> ENDING --^
 *      |         |          |           |                   |
 *      |         |          `--> GONE <-'                   |
 *      |         |                 `------------------------|
 *      `---------+--> ANSWERING (refused), OVER (the peer left) */
#ifndef SLP_SANDBOX_H2_INSIDE_H
#define SLP_SANDBOX_H2_INSIDE_H

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"

#include <nghttp2/nghttp2.h>

typedef enum {
  SLP_H2_COMING,    /* the request is still being received */
  SLP_H2_WHOLE,     /* the request is complete, and waits until it is handed over to the front */
  SLP_H2_SERVING,   /* the front has the request */
  SLP_H2_ANSWERING, /* the front has given its whole answer, which is being sent */
  SLP_H2_STREAMING, /* the front adds to the answer, which is sent at the same time */
  SLP_H2_ENDING,    /* the front has ended an answer in STREAMING; the rest of it is being sent */
  SLP_H2_GONE,      /* the peer has left; the front has the request until on_gone, or until it answers */
  SLP_H2_OVER,
  SLP_H2_STATES
} slp_h2_state;

typedef struct slp_h2_conn {
  slp_list link; /* links the connection into slp_h2.conns */
  /* NULL: the connection has ended, and the struct is kept only for a function that still uses it */
  slp_raw *raw;
  slp_mem *mem;
  slp_host *host;
  nghttp2_session *session;
  slp_list streams; /* the connection's requests, by slp_h2_stream.link */
  slp_list whole;   /* requests that wait for the front, by slp_h2_stream.turn, oldest first */
  slp_event ev;
  size_t unsent;   /* how many bytes of answers in state SLP_H2_ANSWERING wait to be sent */
  uint8_t writing; /* 1: the host has bytes to write; on_written follows */
  uint8_t busy;    /* 1: a function that uses the connection is still running */
  uint8_t cut;     /* 1: a fault resets the connection once the bytes before it are sent */
  uint8_t broken;  /* 1: there was no memory, or the peer has broken the protocol: the connection will end */
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
  slp_buf head; /* the request's fields, each as NAME NUL VALUE NUL */
  size_t fields_n;
  slp_buf body;
  slp_buf answer;
  size_t sent;       /* how many bytes of `answer` were sent */
  size_t stop_at;    /* a fault cuts the connection after this many bytes of the answer; SIZE_MAX: no fault */
  uint8_t too_large; /* 1: the head of the request is too large */
  /* 1: nghttp2 has no more bytes of the answer to send; go_on() must tell it when there are more */
  uint8_t deferred;
} slp_h2_stream;

/* Defined in h2_stream.c: */
extern const slp_serve_ops slp_h2_serve_ops;
slp_h2_stream *slp_h2_stream_new(slp_h2_conn *c, int32_t id); /* returns a new stream; NULL: no memory */
int slp_h2_stream_field(slp_h2_stream *st, slp_str name, slp_str value);
int slp_h2_stream_data(slp_h2_stream *st, slp_str bytes);
int slp_h2_stream_head_end(slp_h2_stream *st);
void slp_h2_stream_whole(slp_h2_stream *st); /* to be called when the request is complete */
void slp_h2_stream_hand_over(slp_h2_stream *st);

/* Defined in h2_life.c: */
/* this many bytes of each request do not count towards the limit of all requests (slp_listener) */
#define SLP_H2_FREE_BYTES (64u << 10)
#define SLP_H2_PIECE (256u << 10)        /* how many bytes the host is given at once */
size_t slp_h2_counted(const slp_buf *b); /* how much of a buffer counts towards that limit */
void slp_h2_stream_move(slp_h2_stream *st, slp_h2_state to);
/* to be called when the peer has left the stream, or the connection has ended */
void slp_h2_stream_left(slp_h2_stream *st);
void slp_h2_request_free(slp_h2_stream *st); /* frees the request, and no longer counts it */
void slp_h2_stream_over(slp_h2_stream *st);  /* frees the stream */
void slp_h2_conn_kick(slp_h2_conn *c);       /* posts the event that sends bytes and hands requests over */
/* Gives the host the bytes that are to be sent, unless the host is still writing. */
void slp_h2_conn_send(slp_h2_conn *c);
/* Closes the connection and its streams. c is freed, at once or when the function that uses it (`busy`)
 * returns. */
void slp_h2_conn_end(slp_h2_conn *c, slp_raw_end how);
/* Does what slp_h2_conn_end does, but does not close `raw`: the host has closed it already. */
void slp_h2_conn_let_go(slp_h2_conn *c);
/* Frees the connection, unless a function that uses it is still running (`busy`). */
void slp_h2_conn_free(slp_h2_conn *c);

#endif

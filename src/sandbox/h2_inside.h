/* h2_inside.h - what h2_conn.c and h2_stream.c share.
 *
 * The life of a stream; every arrow but those of COMING and WHOLE to OVER sends something:
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
  SLP_H2_COMING,    /* the request is not there whole */
  SLP_H2_WHOLE,     /* waits for its turn */
  SLP_H2_SERVING,   /* the front has it */
  SLP_H2_ANSWERING, /* its answer is being sent, and the front has done with it */
  SLP_H2_STREAMING, /* its answer goes on, and the front has it */
  SLP_H2_ENDING,    /* the rest of such an answer is being sent */
  SLP_H2_GONE,      /* the peer left; the front has it until on_gone, or until it answers */
  SLP_H2_OVER,
  SLP_H2_STATES
} slp_h2_state;

typedef struct slp_h2_conn {
  slp_list link; /* slp_h2.conns */
  slp_raw *raw;  /* NULL: the connection has ended, and nothing is left but a caller to return to */
  slp_mem *mem;
  slp_host *host;
  nghttp2_session *session;
  slp_list streams; /* slp_h2_stream.link */
  slp_list whole;   /* slp_h2_stream.turn: requests for the front, oldest first */
  slp_event ev;
  size_t unsent;   /* bytes of answers in SLP_H2_ANSWERING */
  uint8_t writing; /* the host has bytes; on_written follows */
  uint8_t busy;    /* a caller is still on the stack */
  uint8_t cut;     /* by a fault: once what was written is out, the connection is reset */
  uint8_t broken;  /* no memory, or the peer does not keep the protocol: it ends */
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
  size_t sent;       /* of the answer */
  size_t stop_at;    /* a fault cuts the connection behind so many bytes of it; SIZE_MAX: none does */
  uint8_t too_large; /* its head */
  uint8_t deferred;  /* nghttp2 asks for no more of the answer until it is told that there is some */
} slp_h2_stream;

/* h2_stream.c */
extern const slp_serve_ops slp_h2_serve_ops;
slp_h2_stream *slp_h2_stream_new(slp_h2_conn *c, int32_t id); /* NULL: no memory */
void slp_h2_stream_move(slp_h2_stream *st, slp_h2_state to);
void slp_h2_stream_left(slp_h2_stream *st); /* the peer, or the whole connection */
int slp_h2_stream_field(slp_h2_stream *st, slp_str name, slp_str value);
int slp_h2_stream_data(slp_h2_stream *st, slp_str bytes);
int slp_h2_stream_head_end(slp_h2_stream *st);
void slp_h2_stream_whole(slp_h2_stream *st); /* the request ended */
void slp_h2_stream_hand_over(slp_h2_stream *st);

/* h2_conn.c */
void slp_h2_conn_kick(slp_h2_conn *c); /* there is something to send or to hand over: in a turn */
/* Gives the host what there is to send, unless it is still busy with the last of it. */
void slp_h2_conn_send(slp_h2_conn *c);
void slp_h2_conn_end(slp_h2_conn *c, slp_raw_end how);

#endif

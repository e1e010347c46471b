/* uv_conn.h - a connection of the HTTP server, for the two files that serve it: uv_listen.c speaks HTTP/1.1,
 * uv_raw.c hands the bytes to the listener's user. A connection is freed when its socket is closed and
 * slp_conn_close was called, because nobody outside has it any more. */
#ifndef SLP_HOST_UV_CONN_H
#define SLP_HOST_UV_CONN_H

#include "host/http_request.h"
#include "host/uv_host.h"

/* Reading stops when more bytes than this wait behind the request that is being served. */
#define SLP_CONN_AHEAD_MAX (64u << 10)

typedef struct slp_uv_listener {
  uv_tcp_t tcp;
  slp_uv_host *u;
  slp_listener *l;
  slp_list link;
  slp_list conns;
  size_t open_n; /* connections and the listening handle that are not closed yet */
  slp_event closed;
  uint8_t closing, silent; /* silent: 1: the host is closing, so nobody is told */
  uint8_t accept_pending;  /* 1: a connection waits for memory */
} slp_uv_listener;

typedef enum {
  SLP_CONN_READING,       /* a request is to come, or is coming */
  SLP_CONN_READY,         /* a request is complete */
  SLP_CONN_SERVING,       /* the user has the request */
  SLP_CONN_STREAMING,     /* an answer that goes on; all that was given went out */
  SLP_CONN_STREAM_WRITES, /* an answer that goes on; a piece is being written */
  SLP_CONN_STREAM_ENDS,   /* an answer that goes on; its last piece follows */
  SLP_CONN_WRITING,       /* the answer is being written */
  SLP_CONN_RAW,           /* its bytes go to the listener's user */
  SLP_CONN_LINGERING,     /* see slp_conn_linger */
  SLP_CONN_RESETTING,     /* see slp_conn_reset_later */
  SLP_CONN_GONE,          /* the peer left while the user had it; the user is to be told */
  SLP_CONN_CLOSED         /* freed when the socket is closed */
} slp_conn_state;

typedef struct slp_conn {
  slp_served served;
  slp_raw raw;
  uv_tcp_t tcp;
  slp_uv_listener *li;
  slp_list link;
  slp_conn_state state;
  slp_buf in;       /* bytes not yet part of a complete request */
  slp_buf rq_bytes; /* the complete request being served; slp_served points into it */
  slp_request rq;
  slp_event ev;
  slp_timer timer;  /* age of the connection, or of a request to come; then lingering, or waiting to reset */
  uint64_t born_us; /* when it was accepted */
  uint32_t tries;   /* looks at what the kernel has not sent, before a reset */
  slp_buf head, body; /* of the answer */
  slp_buf later;      /* of an answer that goes on: what follows the piece being written */
  uv_buf_t out[2];
  uv_write_t write;
  uv_shutdown_t shutdown;
  uint8_t continued, reading, eof, close_after, cut, tcp_closed, shut;
  uint8_t refused; /* 1: the request found no room among all the others */
  uint8_t asked;   /* 1: a request was read, so what follows is no preface */
  uint8_t is_raw;  /* 1: the connection began with the preface, whatever its state is now */
  uint8_t wrote;   /* RAW: 1: on_written is to be called */
  uint8_t deaf;    /* RAW: 1: the user wants no bytes for now */
} slp_conn;

/* In uv_listen.c. The peer is gone while the user has the connection, or a request of it: the user will be
 * told. */
void slp_conn_gone(slp_conn *c);
void slp_conn_close(slp_conn *c);
void slp_conn_linger(slp_conn *c);      /* closes once the peer has read everything, or after a second */
void slp_conn_reset_later(slp_conn *c); /* resets once the kernel has sent everything */
void slp_conn_read_on(slp_conn *c);
/* Returns 1 if all requests of the listener's connections may take `more` bytes beside what they take. The
 * incoming bytes of but_for do not count. */
int slp_conn_has_room(const slp_uv_listener *li, const slp_conn *but_for, size_t more);

/* In uv_raw.c. Compares what came with the preface; MAYBE: too few bytes came to tell. */
typedef enum { SLP_PREFACE_NOT, SLP_PREFACE_MAYBE, SLP_PREFACE_IS } slp_preface;
slp_preface slp_conn_preface(const slp_conn *c);
void slp_conn_raw_read(slp_conn *c);  /* bytes came */
void slp_conn_raw_event(slp_conn *c); /* calls the user; from the turn queue */

#endif

/* uv_conn.h - a connection of the HTTP server, for the files that serve it: uv_listen.c reads it and speaks
 * HTTP/1.1, answer_head.c builds heads, uv_raw.c has what the user of a raw connection calls. A connection is
 * freed when its state is CLOSED and its socket is closed; nothing else points to it then.
 *
 *   READING -> READY                             a whole request has come
 *   READING -> WRITING                           the request can't be read, so it is refused
 *   READING -> RAW                               the listener's preface has come
 *   READY -> SERVING                             on_request is called
 *   SERVING -> WRITING                           the user answers at once (slp_serve)
 *   SERVING -> STREAMING <-> STREAM_WRITES       the user answers in pieces (slp_serve_begin)
 *   STREAMING, STREAM_WRITES -> STREAM_ENDS      the answer has its last piece (slp_serve_end)
 *   STREAM_ENDS -> WRITING                       the last piece is being written
 *   WRITING -> READING                           the answer is sent, and the connection is kept
 *   WRITING, RAW -> LINGERING, RESETTING         no other request is read
 *   SERVING, STREAMING, STREAM_WRITES -> GONE    the peer left; the user has the request until on_gone
 *   RAW -> RAW_GONE                              the peer left; the user has the connection until on_gone
 *   any state -> CLOSED */
#ifndef SLP_HOST_UV_CONN_H
#define SLP_HOST_UV_CONN_H

#include "base/buf.h"
#include "base/list.h"
#include "host/host.h"
#include "host/http_request.h"
#include "host/uv_host.h"

/* Reading stops when more bytes than this wait behind the request that is being served. */
#define SLP_CONN_AHEAD_MAX (64u << 10)

/* LISTENS -> CLOSES -> CLOSED. A listener that is `silent` never becomes CLOSED, but is freed. */
typedef enum {
  SLP_LISTENER_LISTENS,
  SLP_LISTENER_CLOSES, /* waits until its socket and all connections are closed */
  SLP_LISTENER_CLOSED  /* on_closed is called in a later turn */
} slp_listener_state;

typedef struct slp_uv_listener {
  uv_tcp_t tcp;
  slp_uv_host *u;
  slp_listener *l;
  slp_list link;
  slp_list conns;
  size_t open_n; /* number of handles not closed yet: of the connections, and of the listening socket */
  slp_listener_state state;
  slp_event closed;
  uint8_t silent;         /* 1: the host is closing, or slp_listen() failed, so on_closed is not called */
  uint8_t accept_pending; /* 1: a connection was not accepted, because there was no memory */
} slp_uv_listener;

typedef enum {
  SLP_CONN_READING,       /* waits for a request, or reads one */
  SLP_CONN_READY,         /* a complete request has come; on_request is not called yet */
  SLP_CONN_SERVING,       /* the user works on the request */
  SLP_CONN_STREAMING,     /* an answer of slp_serve_begin: all bytes given were sent */
  SLP_CONN_STREAM_WRITES, /* an answer of slp_serve_begin: a piece is being written */
  SLP_CONN_STREAM_ENDS,   /* an answer of slp_serve_begin: its last piece must still be written */
  SLP_CONN_WRITING,       /* the answer is being written */
  SLP_CONN_RAW,           /* a raw connection: its bytes go to the listener's user */
  SLP_CONN_LINGERING,     /* closes when the peer has read everything, see slp_conn_linger */
  SLP_CONN_RESETTING,     /* resets when the kernel has sent everything, see slp_conn_reset_later */
  SLP_CONN_GONE,          /* the peer left while the user had a request */
  SLP_CONN_RAW_GONE,      /* the peer left while the user had the raw connection */
  SLP_CONN_CLOSED         /* the connection is freed when its socket is closed */
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
  /* Limits the connection's age and the wait for a request. In SLP_CONN_LINGERING it limits the lingering. In
   * SLP_CONN_RESETTING it runs when the kernel must be asked again. */
  slp_timer timer;
  uint64_t born_us;   /* when the connection was accepted */
  uint32_t tries;     /* how often the kernel was asked, before a reset, whether it has sent everything */
  slp_buf head, body; /* the answer that is being written: its head and its body */
  slp_buf later;      /* the bytes of an answer of slp_serve_begin that follow the piece being written */
  uv_buf_t out[2];
  uv_write_t write;
  uv_shutdown_t shutdown;
  uint8_t continued, reading, eof, close_after, cut, tcp_closed;
  uint8_t refused; /* 1: the request would take more memory than requests_bytes_max allows */
  uint8_t asked;   /* 1: a request was read on this connection, so it can no longer begin with the preface */
  uint8_t wrote;   /* of a raw connection: 1: all bytes were sent, and on_written must be called in a turn */
  uint8_t deaf;    /* of a raw connection: 1: the user has turned reading off (slp_raw_read) */
} slp_conn;

/* In uv_listen.c. Called when the peer is gone while the user has the connection, or a request from it.
 * Closes the socket; on_gone is called in a later turn. */
void slp_conn_gone(slp_conn *c);
void slp_conn_close(slp_conn *c);
/* Closes the connection when the peer has read everything, or after a second. */
void slp_conn_linger(slp_conn *c);
void slp_conn_reset_later(slp_conn *c); /* resets the connection when the kernel has sent everything */
void slp_conn_read_on(slp_conn *c);
/* Returns 1 if requests may take `more` bytes in addition to what all connections of the listener take now.
 * The buffer `in` of but_for (NULL: none) is not counted. */
int slp_conn_has_room(const slp_uv_listener *li, const slp_conn *but_for, size_t more);

/* In answer_head.c. Builds the head of an answer in c->head. body_n SIZE_MAX: the length of the body is not
 * known. Returns 0 or SLP_ENOMEM. */
int slp_conn_build_head(slp_conn *c, const slp_serve_answer *a, size_t body_n);

#endif

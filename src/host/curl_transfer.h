/* curl_transfer.h - a transfer: one easy handle of libcurl, and what it needs while it carries out a call.
 * Inside host/ only. */
#ifndef SLP_HOST_CURL_TRANSFER_H
#define SLP_HOST_CURL_TRANSFER_H

#include "base/buf.h"
#include "base/list.h"
#include "host/host.h"
#include "host/proxy.h"
#include "host/uv_host.h"

/* The most bytes that all headers of an answer may have: its interim heads, its head and its trailers. */
#define SLP_HEADERS_MAX (256u << 10)

typedef struct slp_transfer {
  slp_curl_lane *lane;
  slp_http *call; /* the call that the transfer carries out; NULL: the transfer is idle */
  slp_list link;  /* links the transfer into the lane's idle list while it is idle */
  CURL *easy;
  /* The socket that curl last asked to watch for this transfer; CURL_SOCKET_BAD: none yet. */
  curl_socket_t fd;
  /* 1: libcurl has waited only to read from a socket of this call, so a connection stood. Before that libcurl
   * waits to write. */
  uint8_t awaited_peer;
  slp_timer total;        /* the deadline for the whole answer; not armed during a pause */
  uint64_t total_left_us; /* time left until the deadline when the transfer was paused */
  slp_event resume;       /* continues the transfer after a pause */
  slp_event connected;    /* runs after the transfer made a connection that others could share */
  /* Why on_header or on_body ended the transfer: SLOOP_EREMOTE (headers too long), SLOOP_ETOOBIG (body too
   * long) or SLP_ENOMEM; 0: neither of them ended it. */
  int stopped_by;
  uint32_t requests;     /* how often the request was sent; more than 1: curl repeated it silently */
  uint8_t paused, https; /* paused: 1: waits for slp_http_resume; https: 1: over TLS */
  uint8_t sliced;        /* 1: paused until its next event, because it has taken enough bytes in this one */
  /* number of the event (slp_curl_lane.acts) in which the transfer took slice_n bytes */
  uint32_t slice_act;
  size_t slice_n;        /* body bytes taken in the event number slice_act */
  uint8_t head_complete; /* 1: the empty line behind the head came; libcurl accepts a head without it */
  uint8_t encoded;       /* 1: in chunks or compressed, so the body's length is not Content-Length */
  uint8_t body_begun;    /* 1: some of the body was taken */
  uint8_t multiplexes;   /* 1: the easy handle is set to share a connection by HTTP/2, if the server can */
  uint8_t own_ca;        /* 1: the easy handle is set to a call's own bundle, not to the host's */
  size_t body_n;         /* bytes of the body taken so far */
  size_t headers_bytes;  /* bytes of all headers so far, see SLP_HEADERS_MAX */
  uint64_t length;       /* length of the body that the answer announced (Content-Length); UINT64_MAX: none */
  slp_buf header_text;   /* "Name: value\0" for each header of the request */
  /* nodes of the header list in libcurl's form; they point into header_text */
  struct curl_slist *header_nodes;
  size_t header_nodes_n;
  slp_proxy proxy;              /* the proxy of this call */
  char detail[CURL_ERROR_SIZE]; /* libcurl writes the text of an error here */
} slp_transfer;

/* Defined in curl_transfer.c: */
/* Sets the options of a new easy handle that are the same for all calls. */
int slp_transfer_easy_options(slp_transfer *t);
/* sets the options of this call; returns 0, SLP_EINVAL or SLP_ENOMEM */
int slp_transfer_set_up(slp_transfer *t, slp_http *call);
void slp_transfer_headers_init(slp_transfer *t);
/* Wipes the request's headers, which hold the signature and the session token. libcurl must not read them any
 * more. */
void slp_transfer_headers_wipe(slp_transfer *t);
void slp_transfer_headers_free(slp_transfer *t);

#endif

/* curl_transfer.h - one easy handle, and what it needs while it carries a call. Inside host/ only. */
#ifndef SLP_HOST_CURL_TRANSFER_H
#define SLP_HOST_CURL_TRANSFER_H

#include "host/uv_host.h"

/* The most bytes that all headers of an answer may have: its interim heads, its head and its trailers. */
#define SLP_HEADERS_MAX (256u << 10)

typedef struct slp_transfer {
  slp_curl_lane *lane;
  slp_http *call; /* NULL: it carries no call */
  slp_list link;  /* in the lane's idle list */
  CURL *easy;
  curl_socket_t fd;       /* the socket that curl last asked to watch for it; CURL_SOCKET_BAD: none yet */
  slp_timer total;        /* the deadline for the whole answer; not armed while paused */
  uint64_t total_left_us; /* what was left of the deadline when it was paused */
  slp_event resume;       /* goes on after a pause */
  /* why a callback of ours ended it: SLOOP_ETOOBIG, SLP_ENOMEM; SLOOP_EREMOTE: its headers */
  int stopped_by;
  uint32_t requests;     /* how often the request went out: more than 1 is curl's silent replay */
  uint8_t paused, https; /* paused: 1: waits for slp_http_resume */
  uint8_t sliced;        /* 1: we paused it for a moment, because the event was long enough */
  uint32_t slice_act;    /* slp_curl_lane.acts of the event that slice_n counts for */
  size_t slice_n;        /* body bytes taken in the event slice_act */
  uint8_t head_complete; /* 1: the empty line came; libcurl accepts a head without it */
  uint8_t encoded;       /* 1: in chunks or compressed, so the body's length is not Content-Length */
  uint8_t body_begun;    /* 1: some of the body was taken */
  uint8_t own_ca;        /* 1: the easy handle trusts a call's bundle, not the host's */
  size_t body_n;         /* bytes of the body taken so far */
  size_t headers_bytes;  /* of all headers so far, see SLP_HEADERS_MAX */
  uint64_t length;       /* Content-Length; UINT64_MAX: none */
  slp_buf header_text;   /* "Name: value\0" for each header of the request */
  struct curl_slist *header_nodes; /* libcurl's list; points into header_text */
  size_t header_nodes_n;
  slp_proxy proxy;              /* the proxy of this call */
  char detail[CURL_ERROR_SIZE]; /* libcurl's error buffer */
} slp_transfer;

/* curl_transfer.c */
int slp_transfer_easy_options(slp_transfer *t);           /* once, for what never changes */
int slp_transfer_set_up(slp_transfer *t, slp_http *call); /* SLP_EINVAL, SLP_ENOMEM */
void slp_transfer_headers_init(slp_transfer *t);
/* Wipes the headers, which hold the signature and the session token. libcurl must not read them any more. */
void slp_transfer_headers_wipe(slp_transfer *t);
void slp_transfer_headers_free(slp_transfer *t);
/* curl_http.c */
void slp_transfer_pause(slp_transfer *t);

#endif

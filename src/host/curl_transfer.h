/* curl_transfer.h - one easy handle with what it needs while it carries a call; inside host/ only. */
#ifndef SLP_HOST_CURL_TRANSFER_H
#define SLP_HOST_CURL_TRANSFER_H

#include "host/uv_host.h"

/* All headers of an answer: its interim heads, its head and its trailers. */
#define SLP_HEADERS_MAX (256u << 10)

typedef struct slp_transfer {
  slp_curl_lane *lane;
  slp_http *call; /* NULL at rest */
  slp_list link;  /* in the lane's idle list */
  CURL *easy;
  curl_socket_t fd; /* the one curl last asked to watch for it; CURL_SOCKET_BAD: none yet */
  slp_timer total;  /* the deadline for the whole answer; not armed while paused */
  uint64_t total_left_us;
  slp_event resume;
  int stopped_by;    /* a callback of ours ended it: SLOOP_ETOOBIG, SLP_ENOMEM; SLOOP_EREMOTE: its headers */
  uint32_t requests; /* how often the request went out: more than 1 is curl's silent replay */
  uint8_t paused, https;
  uint8_t sliced;        /* we paused it for a moment: the event was long enough */
  uint32_t slice_act;    /* the event that slice_n counts for */
  size_t slice_n;        /* body bytes taken in it */
  uint8_t head_complete; /* libcurl takes a head that ends with the connection for a whole answer */
  uint8_t encoded;       /* in chunks or compressed: the body has another length than announced, if any */
  uint8_t body_begun;
  uint8_t own_ca; /* the easy handle trusts a call's bundle, not the host's */
  size_t body_n;  /* taken so far */
  size_t headers_bytes;
  uint64_t length;     /* Content-Length; UINT64_MAX: none */
  slp_buf header_text; /* "Name: value\0" each */
  struct curl_slist *header_nodes;
  size_t header_nodes_n;
  slp_proxy proxy; /* of this call */
  char detail[CURL_ERROR_SIZE];
} slp_transfer;

/* curl_transfer.c */
int slp_transfer_easy_options(slp_transfer *t);           /* once, for what never changes */
int slp_transfer_set_up(slp_transfer *t, slp_http *call); /* SLP_EINVAL, SLP_ENOMEM */
void slp_transfer_headers_init(slp_transfer *t);
/* They hold the signature and the session token: once libcurl doesn't read them any more. */
void slp_transfer_headers_wipe(slp_transfer *t);
void slp_transfer_headers_free(slp_transfer *t);
/* curl_http.c */
void slp_transfer_pause(slp_transfer *t);

#endif

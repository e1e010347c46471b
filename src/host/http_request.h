/* http_request.h - reads one HTTP/1.x request out of a growing buffer, in place; knows no sockets. */
#ifndef SLP_HOST_HTTP_REQUEST_H
#define SLP_HOST_HTTP_REQUEST_H

#include "base/buf.h"

#define SLP_REQUEST_HEAD_MAX (32 * 1024)
#define SLP_REQUEST_HEADERS_MAX 96

typedef struct slp_request_field {
  uint32_t name, name_n, value, value_n; /* offsets into the buffer: it may move while it grows */
} slp_request_field;

typedef struct slp_request {
  size_t at;        /* offset up to which the bytes were parsed */
  size_t head_n;    /* where the body starts; 0: the head is not complete */
  size_t body_n;    /* bytes of the body so far; chunks are put together in place */
  size_t end;       /* offset of the next request, once this one is complete */
  uint64_t want;    /* Content-Length; or the bytes left of the present chunk */
  size_t trailer_n; /* bytes of trailers so far */
  uint32_t method_at, method_n, path_at, path_n; /* offsets and lengths of method and path in the buffer */
  size_t fields_n;
  uint8_t step; /* the part of the request that is being read */
  uint8_t chunked, length_given, keep_alive, version_1_0, expects_continue;
  int status; /* after SLP_EBADDATA: the status to answer: 400, 413, 431, 501, 505 */
  slp_request_field fields[SLP_REQUEST_HEADERS_MAX];
} slp_request;

void slp_request_begin(slp_request *rq);
/* Continues to read the request. `in` has the bytes that have come so far. Makes header names lower case in
 * place. Returns 0: the request is complete; SLP_MORE: it is not complete yet; SLP_EBADDATA, with rq->status
 * set. */
int slp_request_read(slp_request *rq, slp_buf *in, size_t body_max);
/* Returns the value of the first header with that name, which must be in lower case. {NULL, 0}: there is
 * none. */
slp_str slp_request_header(const slp_request *rq, const slp_buf *in, const char *name);

#endif

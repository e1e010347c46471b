/* valve.h - a TCP proxy on the test's own loop that lets everything through, counts the bytes of each request
 * and answer, and does one thing at one byte of one of them: ends the connection, resets it, goes silent, or
 * answers in the server's place. */
#ifndef SLP_TEST_VALVE_H
#define SLP_TEST_VALVE_H

#include <uv.h>

#include "base/base.h"
#include "base/list.h"

typedef enum { VALVE_PASS, VALVE_FIN, VALVE_RST, VALVE_SILENT, VALVE_SAY } valve_what;

/* Requests are counted from 0 as they begin, whatever connection they come on. */
typedef struct valve_fault {
  valve_what what;
  uint32_t exchange;
  uint8_t down;  /* in the answer; else in the request */
  size_t at;     /* once so many bytes of it have passed. 0: none of those that came */
  slp_str say;   /* VALVE_SAY: to the client, in place of the server, which never sees the request ... */
  uint8_t early; /* ... before it is all there ... */
  uint8_t keep;  /* ... and the connection is kept; else closed behind it */
  slp_str then;  /* said on a kept connection then_ms later */
  uint32_t then_ms;
} valve_fault;

typedef struct valve_exchange {
  uint32_t up, down; /* bytes */
  char op[40];       /* what it asks for, as far as its head was in the first piece; or "" */
} valve_exchange;

#define VALVE_SEEN_MAX 512

typedef struct valve {
  uv_loop_t *loop;
  uv_tcp_t listener;
  uv_timer_t timer;
  struct conn *spoilt; /* for `then` */
  uint16_t port, to_port;
  valve_fault fault;
  uint8_t fired, closing;
  uint32_t exchanges, connections;
  valve_exchange seen[VALVE_SEEN_MAX]; /* the first ones */
  slp_list conns;
  size_t open_n; /* handles */
  void (*on_closed)(struct valve *v);
} valve;

/* From a port of its own on 127.0.0.1 to to_port. It must not move until it is closed. */
void valve_open(valve *v, uv_loop_t *loop, uint16_t to_port, const valve_fault *fault);
void valve_close(valve *v, void (*on_closed)(valve *v));
const char *valve_what_name(valve_what what);

#endif

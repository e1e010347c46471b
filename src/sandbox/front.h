/* front.h - the running sandbox: model, host, listener and clock. Shared by front.c and control.c. */
#ifndef SLP_SANDBOX_FRONT_H
#define SLP_SANDBOX_FRONT_H

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include "sandbox/h2.h"
#include "sandbox/sandbox.h"

#include <sloop_sandbox.h>

struct sloop_sandbox_s {
  slp_mem *mem; /* a reference is held */
  slp_host *host;
  slp_box *box;
  slp_listener listener;
  slp_h2 h2;
  int64_t clock_offset_ms;
  slp_list waiting; /* list of answers that a fault delays */
  slp_list pushed;  /* list of open subscriptions */
  slp_event news;   /* posted when a subscription has news (slp_push_next_news); its handler sends the events
                       that are due */
  char url[64];
  void (*on_stopped)(void *arg);
  void *on_stopped_arg;
};

/* Returns the present time, as the service's Unix time. */
static inline int64_t slp_front_now_ms(sloop_sandbox_t *b) {
  return slp_wall_ms(b->host) + b->clock_offset_ms;
}

/* The answer to a control request under /_sandbox/ (control.c). slp_control_handle sets the status and the
 * body, which is text or JSON. */
typedef struct slp_control_answer {
  int status;
  const char *content_type;
  slp_buf body;
} slp_control_answer;
/* Returns 1 if the path is that of a control request. */
int slp_control_is(slp_str path);
/* Returns 1 if a request with this Host header may give control requests: the Host is localhost or an IP
 * address, or is absent, which never happens in a browser. */
int slp_control_is_here(slp_str host);
void slp_control_handle(sloop_sandbox_t *b, slp_str method, slp_str path, slp_str body,
                        slp_control_answer *answer);

#endif

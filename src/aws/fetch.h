/* fetch.h - one small, unsigned HTTP request to a source of credentials. It makes several tries, and wipes
 * the answer.
 *
 *   IDLE -> SENT -> PAUSING -> SENT ... -> IDLE, on_done
 *
 * on_done is never called inside slp_fetch_send. */
#ifndef SLP_AWS_FETCH_H
#define SLP_AWS_FETCH_H

#include "aws/hide.h"
#include "base/buf.h"
#include "host/host.h"

#define SLP_FETCH_BODY_MAX 65536u

typedef struct slp_fetch {
  slp_host *h;
  /* The owner sets these members. The memory to which they point is borrowed until the request is over. */
  const char *method, *url;
  slp_http_header headers[3];
  size_t headers_n;
  /* body_secrets: parts of this body, or of an earlier body; they must not appear in any error message */
  slp_str body, body_secrets[2];
  uint32_t total_ms_max, tries_max;
  uint8_t no_proxy;
  const char *ca_bundle;
  void (*on_done)(struct slp_fetch *f); /* called once, in a turn */

  /* out: the answer of the last try is in http.error, http.error_text, http.status and `answer`. */
  slp_http http;
  slp_buf answer;
  /* The secrets that were sent and that no message may contain: body_secrets, and the value of each header
   * that is not known to be public. The elements point to the owner's texts. `secrets` is empty after
   * slp_fetch_clear or slp_fetch_cancel. */
  slp_secrets secrets;

  slp_timer timer;
  uint32_t tries;
  uint8_t busy;
} slp_fetch;

void slp_fetch_init(slp_fetch *f, slp_host *h); /* makes f idle, without a request and an answer */
void slp_fetch_send(slp_fetch *f);
/* stops the request, wipes the answer and forgets the secrets; may be called when f is idle */
void slp_fetch_cancel(slp_fetch *f);
void slp_fetch_clear(slp_fetch *f); /* wipes the answer and forgets the secrets */
/* Returns 1 if the failure may pass by itself: no answer, too many requests, or a server error. */
int slp_fetch_passes(const slp_fetch *f);
/* Returns the reason of a failure, such as "status 403: AccessDenied: who are you?", from the answer or the
 * transport. Reads the answer in place, so the answer can't be used afterwards. */
#define SLP_FETCH_TROUBLE 300
const char *slp_fetch_trouble(slp_fetch *f, char room[SLP_FETCH_TROUBLE]);

#endif

/* served.c - see served.h. */
#include "swarm/served.h"

#include <stdio.h>

slp_box_request slp_served_request(const slp_sim_ask *ask) {
  return (slp_box_request){.method = ask->method,
                           .path = ask->path,
                           .host = ask->authority,
                           .target = slp_sim_ask_header(ask, "x-amz-target"),
                           .content_type = slp_sim_ask_header(ask, "content-type"),
                           .authorization = slp_sim_ask_header(ask, "authorization"),
                           .amz_date = slp_sim_ask_header(ask, "x-amz-date"),
                           .security_token = slp_sim_ask_header(ask, "x-amz-security-token"),
                           .body = ask->body};
}

void slp_served_reply(slp_sim_reply *reply, slp_box_answer *answer, int64_t date_ms) {
  reply->status = answer->status;
  slp_buf_free(&reply->body);
  slp_buf_move(&reply->body, &answer->body);
  snprintf(reply->content_type, sizeof reply->content_type, "%s",
           answer->content_type ? answer->content_type : "");
  snprintf(reply->error_type, sizeof reply->error_type, "%s", answer->error_type);
  snprintf(reply->request_id, sizeof reply->request_id, "%s", answer->request_id);
  reply->date_ms = date_ms;
  reply->delay_ms = answer->delay_ms;
  reply->cut_after = answer->cut_after;
  reply->drop = answer->drop;
}

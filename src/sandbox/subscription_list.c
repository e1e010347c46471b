/* subscription_list.c - the open subscriptions: which of them have news (a new record, a closed shard, an
 * exception), what ends them, and how they are closed. */
#include "sandbox/subscription_list.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"

static const slp_set allowed[] = {
    [SLP_SUB_OPEN] =
        SLP_BIT(SLP_SUB_LAST_WORD) | SLP_BIT(SLP_SUB_SILENT) | SLP_BIT(SLP_SUB_ENDED) | SLP_BIT(SLP_SUB_CUT),
    [SLP_SUB_LAST_WORD] = SLP_BIT(SLP_SUB_ENDED),
    [SLP_SUB_SILENT] = 0,
    [SLP_SUB_ENDED] = SLP_BIT(SLP_SUB_ENDED) | SLP_BIT(SLP_SUB_CUT),
    [SLP_SUB_CUT] = 0,
};

void slp_push_move(slp_box_sub *u, slp_sub_state to) { SLP_MOVE(allowed, u->state, to); }

static void note_news(slp_box_sub *u) {
  if (!slp_list_linked(&u->news_link)) slp_list_add_last(&u->box->news, &u->news_link);
}

void slp_push_last_word(slp_box_sub *u, const char *exception, const char *said) {
  if (u->state != SLP_SUB_OPEN) return;
  slp_push_move(u, SLP_SUB_LAST_WORD);
  u->exception = exception;
  u->said = said;
  note_news(u);
}

void slp_push_news(slp_box *box, const slp_box_shard *sh) {
  SLP_LIST_EACH(&box->subs, it) {
    slp_box_sub *u = SLP_OWNER(it, slp_box_sub, link);
    if (u->shard == sh->index && u->stream_uid == sh->stream->uid) note_news(u);
  }
}

slp_box_sub *slp_push_next_news(slp_box *box) {
  slp_list *it = slp_list_pop(&box->news);
  return it ? SLP_OWNER(it, slp_box_sub, news_link) : NULL;
}

void slp_push_end_consumer(slp_box *box, slp_box_consumer *k) {
  (void)box;
  SLP_LIST_EACH(&k->seats, it) {
    slp_seat *at = SLP_OWNER(it, slp_seat, link);
    if (at->sub) slp_push_last_word(at->sub, "ResourceNotFoundException", "The consumer was deregistered.");
  }
}

void slp_push_forget_consumer(slp_box *box, slp_box_consumer *k) {
  slp_push_end_consumer(box, k);
  for (slp_list *it; (it = slp_list_pop(&k->seats)) != NULL;) {
    slp_seat *at = SLP_OWNER(it, slp_seat, link);
    if (at->sub) at->sub->seat = NULL;
    slp_free(box->mem, at);
  }
}

slp_box_sub *slp_push_of(slp_list *link) { return SLP_OWNER(link, slp_box_sub, link); }

void slp_push_close(slp_box_sub *u) {
  if (u->seat) u->seat->sub = NULL;
  slp_list_remove(&u->link);
  slp_list_remove(&u->news_link);
  slp_buf_free(&u->payload);
  slp_free(u->box->mem, u);
}

/* manager_news.c - decides what a service manager is told, and when. */
#include "cli/manager_news.h"

#include "cli/behind_text.h"
#include "program/notify.h"

#include <sloop.h>
#include <stdio.h>

/* A text that changes is told again no sooner than this. */
#define TOLD_EVERY_US UINT64_C(5000000)
/* While the command is not ready, it asks for WAIT_US more each TOLD_EVERY_US. So the manager's limit for a
 * start ends only a command whose loop stands. */
#define WAIT_US UINT64_C(30000000)

void slp_manager_news_look(slp_manager_news *m, const sloop_stats_t *now, int joined, int stopping,
                           const char *error) {
  if (!m->notify) return;
  int listed = now->shards_now || now->shards_ended || now->pages;
  m->started_n++;
  m->stopping_n += (uint32_t)stopping;
  int waiting = joined == 0 || (joined < 0 && !listed);
  m->waiting_n += (uint32_t)waiting;
  if ((waiting || stopping) && *error) snprintf(m->error, sizeof m->error, "%s", error);
  slp_retrieval_add(&m->sum, now);
  m->sum.records += now->records;
  m->sum.suspended_now += now->suspended_now;
  m->sum.behind_ms_now = slp_max_u64(m->sum.behind_ms_now, now->behind_ms_now);
  if (now->behind_unknown_ms_now != UINT64_MAX)
    m->sum.behind_unknown_ms_now = slp_max_u64(m->sum.behind_unknown_ms_now, now->behind_unknown_ms_now);
}

/* Writes what the command does. */
static void write_status(const slp_manager_news *m, int ready, int serves, char out[SLP_NEWS_TEXT]) {
  char behind[SLP_BEHIND_TEXT], shards[SLP_RETRIEVAL_TEXT];
  slp_behind_text(&m->sum, behind);
  slp_retrieval_text(&m->sum, shards);
  if (!ready && *m->error)
    snprintf(out, SLP_NEWS_TEXT, "not ready: %s", m->error);
  else if (!ready)
    snprintf(out, SLP_NEWS_TEXT, "starting");
  else if (!m->started_n)
    snprintf(out, SLP_NEWS_TEXT, "%s", serves ? "serving" : "no stream to read at the moment");
  else
    snprintf(out, SLP_NEWS_TEXT, "%s, %s, %llu records%s", shards, behind, (unsigned long long)m->sum.records,
             m->sum.suspended_now ? "; suspended: it can't renew its leases" : "");
}

/* A line of a message ends at a newline, so a text must have none. */
static void replace_newlines(char *text) {
  for (; *text; text++)
    if (*text == '\n' || *text == '\r') *text = ' ';
}

/* Sends READY=1 or asks for more time, with what the command does. After a failure the next tick tries it
 * again. */
static void tell_status(slp_manager_news *m, uint64_t now_us, int ready, int serves) {
  char text[SLP_NEWS_TEXT], lines[SLP_NEWS_TEXT + 80];
  int new_state = ready && !m->ready;
  if (!new_state && m->told_us && now_us - m->told_us < TOLD_EVERY_US) return;
  write_status(m, ready, serves, text);
  replace_newlines(text);
  if (ready && !new_state && strcmp(text, m->told) == 0) return;
  int n = ready ? snprintf(lines, sizeof lines, "%sSTATUS=%s", new_state ? "READY=1\n" : "", text)
                : snprintf(lines, sizeof lines, "EXTEND_TIMEOUT_USEC=%llu\nSTATUS=%s",
                           (unsigned long long)WAIT_US, text);
  if (slp_notify_send(m->notify, (slp_str){lines, (size_t)n})) return;
  m->ready = (uint8_t)ready;
  m->told_us = now_us;
  memcpy(m->told, text, sizeof text);
}

/* Three messages in each period, so that one may come late. */
static void feed_watchdog(slp_manager_news *m, uint64_t now_us) {
  uint64_t period_us = slp_notify_watchdog_us(m->notify);
  if (!period_us || (m->fed_us && now_us - m->fed_us < period_us / 3)) return;
  if (slp_notify_send(m->notify, SLP_STR("WATCHDOG=1")) == 0) m->fed_us = now_us;
}

void slp_manager_news_tick(slp_manager_news *m, uint64_t now_us, int serves, int goes_on) {
  if (!m->notify) return;
  int ready = m->ready || serves || (m->started_n && !m->waiting_n);
  /* a manager that is told of a stop ends the process if it does not end in time */
  int stops = m->started_n && m->started_n == m->stopping_n && !goes_on;
  if (ready && stops) slp_manager_news_stop(m);
  if (!m->stopping) tell_status(m, now_us, ready, serves);
  feed_watchdog(m, now_us);
  m->started_n = m->waiting_n = m->stopping_n = 0;
  memset(&m->sum, 0, sizeof m->sum);
  m->error[0] = 0;
}

void slp_manager_news_stop(slp_manager_news *m) {
  char lines[SLP_NEWS_TEXT];
  if (!m->notify || m->stopping) return;
  replace_newlines(m->error);
  int n = snprintf(lines, sizeof lines, "STOPPING=1\nSTATUS=stopping%s%s", *m->error ? ": " : "", m->error);
  m->stopping = slp_notify_send(m->notify, (slp_str){lines, (size_t)n}) == 0;
}

/* topics.c - the table of the topics of -h TOPIC. */
#include "cli/topics.h"

#include "cli/nearest.h"

#include <stdio.h>

const slp_topic slp_topics[] = {
    {"reading", "where to begin and end", {"Where to begin and end"}, NULL},
    {"filtering", "which records", {"Which records"}, NULL},
    {"output", "how they are printed", {"How they are printed"}, NULL},
    {"finding", "which streams there are", {"Finding streams"}, NULL},
    {"producing", "putting records", {"Writing records"}, NULL},
    {"groups", "sharing a stream", {"Sharing a stream", "Changing who reads a stream, and from where"}, NULL},
    {"watching", "who reads what, how far", {"Watching who reads a stream"}, NULL},
    {"multilang", "processors of the KCL", {"Instead of Amazon's MultiLangDaemon"}, NULL},
    {"sandbox", "to try and to measure", {"Trying and measuring"}, NULL},
    {"auth",
     "keys and rights",
     {"Rights"},
     "Region and credentials come from where the AWS tools find them: AWS_REGION,\n"
     "AWS_ACCESS_KEY_ID, a profile (AWS_PROFILE, -X profile=NAME), web identity, SSO,\n"
     "a container or the machine. man 7 sloop has the whole list.\n"},
    {"service", "endpoints, fan-out", {"The service"}, NULL},
    {"settings", "files, logs, metrics", {"Settings, logs and metrics"}, NULL},
    {"failing", "when something fails", {"When something fails"}, NULL},
    {"exit",
     "exit statuses",
     {NULL},
     "Exit status: 0 the end was reached (-e, -c, --until, --timeout), or a first\n"
     "Ctrl-C; 1 failed; 2 wrong usage; 3 --fail-on-loss; 4 a living worker owns it;\n"
     "5 no such shard; 6 no such worker; 7 --lag-over: a shard is;\n"
     "8 --iam --try: a right is denied; 9 -P: a line was refused;\n"
     "130 a second Ctrl-C.\n"},
    {"help", "other texts", {"Other texts"}, NULL},
};
const size_t slp_topics_n = SLP_COUNT(slp_topics);

const slp_topic *slp_topic_find(const char *word) {
  for (size_t i = 0; i < slp_topics_n; i++)
    if (strcmp(slp_topics[i].word, word) == 0) return &slp_topics[i];
  return NULL;
}

int slp_topic_check(const char *word, char why[200]) {
  if (strcmp(word, "all") == 0 || slp_topic_find(word)) return 0;
  slp_nearest like;
  slp_nearest_begin(&like, slp_str_of(word));
  for (size_t i = 0; i < slp_topics_n; i++) slp_nearest_offer(&like, slp_topics[i].word);
  int n = snprintf(why, 200, "-h: there is no topic \"%.40s\"", word);
  slp_nearest_text(&like, "", why + n, 200 - (size_t)n);
  if (!like.n) snprintf(why + n, 200 - (size_t)n, "; stream-tail -h lists the topics");
  return SLP_EINVAL;
}

/* topics.h - the topics of -h TOPIC. A topic has one or more groups of the table of options (options.h), and
 * each group is in one topic. A new group needs its title in a row of topics.c; test/unit/cli/topics.c fails
 * without it. */
#ifndef SLP_CLI_TOPICS_H
#define SLP_CLI_TOPICS_H

#include "base/base.h"

#define SLP_TOPIC_TITLES_MAX 2

typedef struct slp_topic {
  const char *word;                         /* what the user types after -h */
  const char *about;                        /* what the topic is about, in at most 27 characters */
  const char *titles[SLP_TOPIC_TITLES_MAX]; /* titles of groups of options; NULL: no further group */
  const char *text;                         /* lines that are printed after the options; NULL: none */
} slp_topic;

extern const slp_topic slp_topics[];
extern const size_t slp_topics_n;

/* Returns the topic with this name; NULL: there is none. "all" is no topic. */
const slp_topic *slp_topic_find(const char *word);
/* Returns 0 if `word` is a topic or "all". Otherwise returns SLP_EINVAL, and writes to `why` that there is no
 * such topic, with the most similar topics, or else with all of them. */
int slp_topic_check(const char *word, char why[200]);

#endif

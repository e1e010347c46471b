/* topics.c - the topics of -h TOPIC: every option is in a topic, and -h fits a screen. */
#include "cli/topics.h"
#include "check.h"
#include "cli/help.h"
#include "cli/options.h"

#define SCREEN_LINES 40

static char *help_of(const char *topic) {
  slp_buf b;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_help(&b, topic), 0);
  char *text = strdup(slp_buf_z(&b));
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return text;
}

static int topics_with(const char *title) {
  int n = 0;
  for (size_t i = 0; i < slp_topics_n; i++)
    for (size_t k = 0; k < SLP_TOPIC_TITLES_MAX && slp_topics[i].titles[k]; k++)
      n += strcmp(slp_topics[i].titles[k], title) == 0;
  return n;
}

TEST(each_option_is_in_exactly_one_topic) {
  CHECK(slp_options[0].title != NULL); /* no option stands before the first group */
  for (size_t i = 0; i < slp_options_n; i++)
    if (slp_options[i].title && topics_with(slp_options[i].title) != 1)
      CHECK_FAIL("the group \"%s\" is in %d topics", slp_options[i].title, topics_with(slp_options[i].title));
  for (size_t o = 0; o < slp_options_n; o++) {
    int found = 0;
    char name[60];
    snprintf(name, sizeof name, " --%s", slp_options[o].name);
    for (size_t i = 0; i < slp_topics_n; i++) {
      char *text = help_of(slp_topics[i].word);
      for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        /* on an option's own line the long name begins in column 6 */
        const char *at = strstr(line, name);
        size_t n = strlen(name);
        found += at == line + 5 && strchr(" =[\n", at[n]) != NULL;
      }
      free(text);
    }
    if (found != 1) CHECK_FAIL("--%s is in %d topics", slp_options[o].name, found);
  }
}

TEST(every_title_of_a_topic_is_a_group_of_options) {
  for (size_t i = 0; i < slp_topics_n; i++) {
    CHECK(strlen(slp_topics[i].about) <= 27);
    CHECK(slp_topics[i].titles[0] || slp_topics[i].text);
    for (size_t k = 0; k < SLP_TOPIC_TITLES_MAX && slp_topics[i].titles[k]; k++) {
      int n = 0;
      for (size_t o = 0; o < slp_options_n; o++)
        n += slp_options[o].title && strcmp(slp_options[o].title, slp_topics[i].titles[k]) == 0;
      if (n != 1) CHECK_FAIL("%d groups are called \"%s\"", n, slp_topics[i].titles[k]);
    }
  }
}

TEST(the_first_screen_has_40_lines_of_80_columns_and_names_each_topic) {
  char *text = help_of(NULL);
  size_t lines = 0;
  for (char *line = text; *line; lines++) {
    size_t n = strcspn(line, "\n");
    if (n > SLP_HELP_WIDTH) CHECK_FAIL("%zu columns: %.*s", n, (int)n, line);
    line += n + (line[n] == '\n');
  }
  if (lines > SCREEN_LINES) CHECK_FAIL("%zu lines", lines);
  for (size_t i = 0; i < slp_topics_n; i++) {
    char word[40];
    snprintf(word, sizeof word, "  %s ", slp_topics[i].word);
    if (!strstr(text, word)) CHECK_FAIL("lacks %s", word);
  }
  free(text);
}

TEST(the_first_screen_names_only_options_that_exist) {
  char *text = help_of(NULL);
  size_t n = 0;
  for (char *at = text; (at = strchr(at, '-')); at++) {
    if (at > text && !strchr(" ,", at[-1])) continue;
    if (at[1] == '-') {
      size_t length = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
      if (!slp_option_by_name((slp_str){at + 2, length})) CHECK_FAIL("no such option: %.20s", at);
    } else if (!slp_option_by_letter(at[1])) {
      CHECK(strncmp(at, "-\n", 2) == 0 || strncmp(at, "-l -", 4) == 0); /* of man */
    }
    n++;
  }
  CHECK(n > 30);
  free(text);
}

TEST(an_unknown_topic_names_the_nearest) {
  char why[200];
  CHECK_INT(slp_topic_check("all", why), 0);
  CHECK_INT(slp_topic_check("groups", why), 0);
  CHECK(!slp_topic_find("all"));
  CHECK_INT(slp_topic_check("group", why), SLP_EINVAL);
  CHECK_STR(why, "-h: there is no topic \"group\"; did you mean groups?");
  CHECK_INT(slp_topic_check("zebra", why), SLP_EINVAL);
  CHECK_STR(why, "-h: there is no topic \"zebra\"; stream-tail -h lists the topics");
}

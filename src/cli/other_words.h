/* other_words.h - finds, for an option that people know from another tool, what stream-tail has instead. The
 * tools are kcat, kafka-consumer-groups, the AWS command line, tail, kubectl and stern. Pure. */
#ifndef SLP_CLI_OTHER_WORDS_H
#define SLP_CLI_OTHER_WORDS_H

#include "base/base.h"

/* Returns what to type instead of the option "--word", which stream-tail does not have; NULL: the table does
 * not have the word. */
const char *slp_other_word(slp_str word);
/* Returns what to type instead of kcat's flag -letter, which stream-tail does not have; NULL: the table does
 * not have the flag. */
const char *slp_other_letter(char letter);

#endif

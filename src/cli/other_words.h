/* other_words.h - what words that people know from other tools are called here: kcat, kafka-consumer-groups,
 * the AWS command line, tail, kubectl and stern. Pure. */
#ifndef SLP_CLI_OTHER_WORDS_H
#define SLP_CLI_OTHER_WORDS_H

#include "base/base.h"

/* Returns what to type instead of an option "--word" that does not exist; NULL: nothing is known. */
const char *slp_other_word(slp_str word);
/* Returns what to type instead of kcat's flag -letter, which does not exist here; NULL: nothing is known. */
const char *slp_other_letter(char letter);

#endif

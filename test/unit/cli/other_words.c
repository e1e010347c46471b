/* other_words.c - what options of other tools are called here. */
#include "cli/other_words.h"

#include "check.h"
#include "cli/options.h"

TEST(a_word_of_another_tool_says_what_to_type) {
  CHECK_STR(slp_other_word(slp_str_of("topic")), "STREAM is a word of its own, without an option");
  CHECK_STR(slp_other_word(slp_str_of("from-beginning")), "-o oldest");
  CHECK(!slp_other_word(slp_str_of("frobnicate")) && !slp_other_word(slp_str_of("")));
}

TEST(a_flag_of_kcat_says_what_to_type) {
  CHECK_STR(slp_other_letter('t'), "STREAM, as many as you like");
  CHECK_STR(slp_other_letter('H'), "records have no headers");
  CHECK(!slp_other_letter('w') && !slp_other_letter(0));
}

TEST(what_is_an_option_is_in_no_table) {
  for (size_t i = 0; i < slp_options_n; i++)
    if (slp_other_word(slp_str_of(slp_options[i].name)))
      CHECK_FAIL("--%s is an option here, and a word of other tools", slp_options[i].name);
}

/* options.c - the table of options itself, and that every text made from it has every option. */
#include "cli/options.h"
#include "check.h"
#include "cli/help.h"

TEST(no_name_and_no_letter_comes_twice) {
  for (size_t i = 0; i < slp_options_n; i++) {
    const slp_option *o = &slp_options[i];
    CHECK_INT(o->id, i); /* the table is in the order of the ids: none is missing */
    CHECK(slp_option_by_name(slp_str_of(o->name)) == o);
    CHECK(!o->letter || slp_option_by_letter(o->letter) == o);
    CHECK((o->value != NULL) == (o->kind != SLP_NO_VALUE));
    CHECK(o->modes && *o->help);
  }
  CHECK_INT(slp_options_n, O_VERSION + 1);
  CHECK(!slp_option_by_letter(0) && !slp_option_by_letter('y'));
  CHECK(!slp_option_by_name(SLP_STR("")));
}

static slp_mem *mem;
static char *made(int (*make)(slp_buf *b)) {
  slp_buf b;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(make(&b), 0);
  char *text = strdup(slp_buf_z(&b));
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return text;
}

/* Every option by both its names, written as that text writes them. */
static void has_all(const char *text, const char *letter_form, const char *name_form, const char *from,
                    const char *to) {
  for (size_t i = 0; i < slp_options_n; i++) {
    const slp_option *o = &slp_options[i];
    char name[80] = "", form[100];
    for (const char *c = o->name; *c; c++) { /* roff writes "-" as "\\-" */
      size_t n = strlen(name);
      snprintf(name + n, sizeof name - n, "%.*s", *c == *from ? (int)strlen(to) : 1, *c == *from ? to : c);
    }
    snprintf(form, sizeof form, name_form, name);
    if (!strstr(text, form)) CHECK_FAIL("lacks %s", form);
    snprintf(form, sizeof form, letter_form, o->letter);
    if (o->letter && !strstr(text, form)) CHECK_FAIL("lacks %s", form);
  }
}

static int help_all(slp_buf *b) { return slp_help(b, "all"); }

TEST(the_help_has_all_in_80_columns) {
  char *text = made(help_all);
  has_all(text, "  -%c, --", "--%s", "-", "-");
  for (char *line = text; *line;) {
    size_t n = strcspn(line, "\n");
    if (n > SLP_HELP_WIDTH) CHECK_FAIL("%zu columns: %.*s", n, (int)n, line);
    line += n + (line[n] == '\n');
  }
  free(text);
}

TEST(the_kcat_table_fits_80_columns_and_names_options_that_exist) {
  char *text = made(slp_help_kcat);
  for (char *line = text; *line;) {
    size_t n = strcspn(line, "\n");
    if (n > SLP_HELP_WIDTH) CHECK_FAIL("%zu columns: %.*s", n, (int)n, line);
    line += n + (line[n] == '\n');
  }
  for (size_t i = 0; i < slp_kcat_rows_n; i++) {
    const char *here = slp_kcat_rows[i].here;
    if (here[0] == '-' && here[1] == ' ') continue; /* there is none */
    if (strncmp(here, "STREAM", 6) == 0) continue;
    if (here[0] != '-' || !slp_option_by_letter(here[1])) CHECK_FAIL("no such option: %s", here);
  }
  free(text);
}

TEST(the_manual_and_the_completions_have_all) {
  char *text = made(slp_man);
  has_all(text, "\\fB\\-%c\\fR, ", "\\fB\\-\\-%s\\fR", "-", "\\-");
  free(text);
  text = made(slp_completion_bash);
  has_all(text, "-%c --", "--%s", "-", "-");
  free(text);
  text = made(slp_completion_zsh);
  has_all(text, "'*-%c", "'*--%s", "-", "-");
  free(text);
  text = made(slp_completion_fish);
  has_all(text, " -s %c -l", " -l %s ", "-", "-");
  free(text);
}

TEST(text_is_filled_into_lines) {
  slp_buf b;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_help_fill(&b, "one two\n  kept  as it is\nthree", 0, 4), 0);
  CHECK_STR(slp_buf_z(&b), "    one two\n      kept  as it is\n    three\n");
  slp_buf_clear(&b);
  char words[300] = "";
  for (int i = 0; i < 40; i++) strcat(words, i ? " word" : "word");
  CHECK_INT(slp_help_fill(&b, words, 3, 10), 0);
  CHECK_INT(strcspn(slp_buf_z(&b), "\n"), 3 + 4 + 5 * 13 + 4 + 0); /* 7 + 14 words - what the caller wrote */
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

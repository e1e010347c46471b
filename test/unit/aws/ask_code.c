/* ask_code.c - nobody is asked without leave or without a terminal; test/process/creds_table.py types codes. */
#include "aws/ask_code.h"

#include "aws_fake_host.h"

#include <errno.h>
#include <unistd.h>

static fake_host f;
static slp_mem *mem;
static slp_code_ask *a;
static int answered, error;

static void on_code(void *arg, int e, const char *code) {
  CHECK(arg == &f && code);
  answered++;
  error = e;
  slp_code_ask_leave(a); /* as its owner does */
  a = NULL;
}

static void begin(void) {
  setsid(); /* away from the terminal that runs the tests; fails where there is none */
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
}

TEST(without_a_terminal_nothing_is_asked) {
  begin();
  CHECK_INT(slp_codes_can_be_asked(), 0);
  slp_codes_allow();
  CHECK_INT(slp_codes_can_be_asked(), 0);
  a = slp_code_ask_begin(&f.h, "arn:aws:iam::1:mfa/me", on_code, &f);
  CHECK(a != NULL);
  fake_run(&f, 1000);
  CHECK_INT(answered, 1);
  CHECK_INT(error, -ENOTTY);
  fake_end(&f, mem);
}

TEST(a_question_is_left_before_it_was_asked) {
  begin();
  a = slp_code_ask_begin(&f.h, "d", on_code, &f);
  slp_code_ask_leave(a);
  fake_run(&f, 1000);
  CHECK_INT(answered, 0);
  slp_code_ask_leave(NULL);
  fake_end(&f, mem);
}

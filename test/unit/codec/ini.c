/* The reader of ~/.aws files: shapes that botocore reads and refuses. test/fuzz/ini_botocore.py compares
 * with botocore itself. */
#include "codec/ini.h"

#include "check.h"

static char seen[4000];
static int stop_at;

static int note(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value, uint32_t line) {
  size_t n = strlen(seen);
  (void)arg;
  snprintf(seen + n, sizeof seen - n, "%u[%.*s]%.*s%s%.*s=%.*s;", line, (int)section.n, section.p,
           (int)parent.n, parent.p ? parent.p : "", parent.p ? "." : "", (int)key.n, key.p, (int)value.n,
           value.p);
  return stop_at && (int)line >= stop_at ? 99 : 0;
}

static int read_text(const char *text, uint32_t *line) {
  seen[0] = 0;
  /* A copy of exact size, so that a sanitizer sees a read behind the end. */
  size_t n = strlen(text);
  char *copy = malloc(n + 1);
  memcpy(copy, text, n);
  int r = slp_ini_read((slp_str){copy, n}, note, NULL, line);
  free(copy);
  return r;
}

static const struct {
  const char *text, *want;
  int bad_line;
} cases[] = {
    {"", "", 0},
    {"# only\n; comments\n\n", "", 0},
    {"[default]\naws_access_key_id = AK\naws_secret_access_key=S/+=\n",
     "2[default]aws_access_key_id=AK;3[default]aws_secret_access_key=S/+=;", 0},
    {"[profile a b]\r\nregion : eu-west-1\r\n", "2[profile a b]region=eu-west-1;", 0},
    {"\xEF\xBB\xBF[x]\nk=v", "2[x]k=v;", 0},
    {"[x]\nk=a # not a comment\n#c\n  ; c\n\nj=b", "2[x]k=a # not a comment;6[x]j=b;", 0},
    {"[x]\ns3 =\n  max = 10\n\n  # c\n  addressing_style = path\nregion=r",
     "2[x]s3=;3[x]s3.max=10;6[x]s3.addressing_style=path;7[x]region=r;", 0},
    {"[x]\nk = one\n  two\n\n  three  \nj=4", "2[x]k=one\n  two\n\n  three;6[x]j=4;", 0},
    {"[x]\nk =\n[y]\nj=1", "2[x]k=;4[y]j=1;", 0},
    {"  [x]\n  k = v\n    w\n  j = u", "2[x]k=v\n    w;4[x]j=u;", 0},
    {"[x] # c\nk=v", "2[x]k=v;", 0},
    {"[a]b]\nk=v", "2[a]b]k=v;", 0},
    {"[x]\nendpoint_url = http://localhost:4567/a?b=c", "2[x]endpoint_url=http://localhost:4567/a?b=c;", 0},
    {"[x]\nk = v\n   [y]\n", "2[x]k=v\n   [y];", 0},
    {"[services s]\nkinesis = \n  endpoint_url = http://h:1\ndynamodb=\n\tendpoint_url=http://h:2\n",
     "2[services s]kinesis=;3[services s]kinesis.endpoint_url=http://h:1;4[services s]dynamodb=;5[services "
     "s]dynamodb.endpoint_url=http://h:2;",
     0},
    {"k=v\n", "", 1},
    {"[x]\nnothing here\n", "", 2},
    {"[x]\n= v\n", "", 2},
    {"[]\nk=v", "", 1},
    {"[x\nk=v", "", 1},
    {"[x]\nk=\n  no delimiter\n", "", 3},
    {"[x]\nk=\n  : v\n", "", 3},
};

TEST(shapes_of_files) {
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    uint32_t line = 0;
    int r = read_text(cases[i].text, &line);
    CHECK_INT(r, cases[i].bad_line ? SLP_EBADDATA : 0);
    CHECK_INT(line, cases[i].bad_line);
    CHECK_STR(seen, cases[i].want);
  }
}

static size_t longest;
static int measure(void *arg, slp_str section, slp_str parent, slp_str key, slp_str value, uint32_t line) {
  (void)arg, (void)section, (void)parent, (void)key, (void)line;
  longest = value.n;
  return 0;
}

TEST(a_long_value_is_whole) { /* session tokens are longer than 1000 characters */
  static char text[100030];
  uint32_t line;
  memset(text, 'T', sizeof text);
  memcpy(text, "[default]\naws_session_token = ", 30);
  CHECK_INT(slp_ini_read((slp_str){text, sizeof text}, measure, NULL, &line), 0);
  CHECK_INT(longest, 100000);
}

TEST(the_callback_can_stop_it) {
  uint32_t line = 0;
  stop_at = 3;
  CHECK_INT(read_text("[x]\na=1\nb=2\nc=3\n", &line), 99);
  CHECK_STR(seen, "2[x]a=1;3[x]b=2;");
}

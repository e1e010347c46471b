/* decoder_table.c - the table of decoders, and that every text made from it has every row. */
#include "cli/decoder_table.h"

#include "check.h"
#include "cli/decode.h"
#include "cli/help.h"

TEST(a_row_is_whole_and_no_name_comes_twice) {
  for (size_t i = 0; slp_decoder_at(i); i++) {
    const slp_decoder *d = slp_decoder_at(i);
    CHECK(slp_decoder_by_name(slp_str_of(d->name)) == d);
    CHECK(strlen(d->name) <= 10 && strlen(d->does) <= 40 && *d->damaged && strlen(d->damaged) <= 80);
    int pieces = (d->open != NULL) + (d->step != NULL) + (d->close != NULL);
    CHECK(d->makes_events || d->needs || d->picks ? !d->run && !pieces : d->run ? !pieces : pieces == 3);
  }
  CHECK(!slp_decoder_by_name(SLP_STR("")) && !slp_decoder_by_name(SLP_STR("gzi")));
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

/* `form` has the name, and may have what the decoder does. */
static void has_rows(int (*make)(slp_buf *b), const char *form) {
  char *text = made(make), want[200], does[60];
  for (size_t i = 0; slp_decoder_at(i); i++) {
    const slp_decoder *d = slp_decoder_at(i);
    snprintf(does, sizeof does, d->needs ? "not built in (%s)" : "%s", d->needs ? d->needs : d->does);
    snprintf(want, sizeof want, form, d->name, does);
    if (!strstr(text, want)) CHECK_FAIL("lacks \"%s\"", want);
  }
  free(text);
}

static int names(slp_buf *b) { return slp_decoder_names(b, " "); }
static int man_without_hyphens(slp_buf *b) {
  int r = slp_man(b);
  size_t to = 0;
  for (size_t i = 0; i < b->n; i++)
    if (b->p[i] != '\\') b->p[to++] = b->p[i];
  slp_buf_cut(b, to);
  return r;
}

TEST(what_begins_as_a_format_does_is_recognized) {
  static const struct {
    const char *name;
    slp_str in;
  } rows[] = {{"gzip", {"\x1f\x8b", 2}},
              {"zlib", {"x\x9c", 2}},
              {"zlib", {"x\xda", 2}},
              {"zlib", {"x\x01", 2}},
              {"zstd", {"\x28\xb5\x2f\xfd", 4}},
              {"lz4", {"\x04\x22\x4d\x18", 4}},
              {"snappy", {"\xff\x06\0\0sNaPpY", 10}},
              {"snappy", {"\x82SNAPPY", 8}},
              {NULL, {"x^", 2}},
              {NULL, {"x", 1}},
              {NULL, {"{\"a\":1}", 7}},
              {NULL, {"", 0}}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    const slp_decoder *d = slp_decoder_that_recognizes(rows[i].in);
    if (d != (rows[i].name ? slp_decoder_by_name(slp_str_of(rows[i].name)) : NULL))
      CHECK_FAIL("row %d", (int)i);
    slp_str cut = {rows[i].in.p, rows[i].in.n - 1};
    if (rows[i].name) CHECK(!slp_decoder_that_recognizes(cut));
  }
}

static int help_all(slp_buf *b) { return slp_help(b, "all"); }

TEST(every_text_has_every_row) {
  has_rows(help_all, "\n                            %-10s  %s\n");
  has_rows(man_without_hyphens, "\n%-10s  %s\n");
  char *all = made(names), *bash = made(slp_completion_bash), *zsh = made(slp_completion_zsh),
       *fish = made(slp_completion_fish);
  CHECK(strstr(bash, all) && strstr(zsh, all) && strstr(fish, all));
  free(all), free(bash), free(zsh), free(fish);
}

TEST(a_name_that_nobody_has_is_told_with_all_names) {
  slp_decode_chain c;
  char why[200];
  CHECK_INT(slp_decode_parse("base65", &c, why), SLP_EINVAL);
  for (size_t i = 0; slp_decoder_at(i); i++)
    if (!strstr(why, slp_decoder_at(i)->name)) CHECK_FAIL("%s lacks %s", why, slp_decoder_at(i)->name);
  CHECK(strstr(why, "-s: unknown decoder \"base65\"; known are ") == why);
}

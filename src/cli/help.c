/* help.c - writes the texts of -h and --kcat. */
#include "cli/help.h"

#include "base/buf.h"
#include "cli/options.h"

#define NAMES_COLUMNS 26 /* width of the column with the options' names in -h */

static const char head[] =
    "Usage: stream-tail [options] STREAM...\n"
    "Prints the records of Kinesis and DynamoDB streams, all shards in order, and\n"
    "follows them through resharding. STREAM is a name, an ARN or dynamodb:TABLE.\n"
    "-P puts lines of standard input into a stream of Kinesis.\n";
static const char tail[] =
    "\nExit status: 0 the end was reached (-e, -c, --until, --timeout), or a first\n"
    "Ctrl-C; 1 failed; 2 wrong usage; 3 --fail-on-loss; 4 a living worker owns it;\n"
    "5 no such shard; 6 no such worker; 7 --lag-over: a shard is;\n"
    "8 --iam --try: a right is denied; 9 -P: a line was refused;\n"
    "130 a second Ctrl-C.\n"
    "Standard output carries data only.\n";

int slp_help_names(slp_buf *b, const slp_option *o) {
  if (o->letter) slp_buf_addf(b, "-%c, ", o->letter);
  slp_buf_addf(b, "--%s", o->name);
  if (o->kind == SLP_NO_VALUE) return slp_buf_failed(b);
  return o->kind == SLP_NEEDS_VALUE ? slp_buf_addf(b, " %s", o->value) : slp_buf_addf(b, "[=%s]", o->value);
}

static void add_spaces(slp_buf *b, unsigned n) { slp_buf_addf(b, "%*s", (int)n, ""); }

/* Writes one line of the text, broken into as many lines as it needs. */
static void fill_line(slp_buf *b, const char *text, size_t n, unsigned column, unsigned indent) {
  unsigned at = column;
  for (size_t i = 0; i < n;) {
    size_t word = i;
    while (word < n && text[word] != ' ') word++;
    unsigned length = (unsigned)(word - i);
    if (at > indent && at + 1 + length > SLP_HELP_WIDTH) {
      slp_buf_add_char(b, '\n');
      add_spaces(b, indent);
      at = indent;
    } else if (at > indent) {
      slp_buf_add_char(b, ' ');
      at++;
    }
    slp_buf_add(b, text + i, length);
    at += length;
    i = word + (word < n);
  }
  slp_buf_add_char(b, '\n');
}

int slp_help_fill(slp_buf *b, const char *text, unsigned column, unsigned indent) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    if (column < indent) {
      add_spaces(b, indent - column);
      column = indent;
    }
    if (strncmp(text, "  ", 2) == 0)
      slp_buf_addf(b, "%.*s\n", (int)n, text);
    else
      fill_line(b, text, n, column, indent);
    column = 0;
    text += n + (text[n] == '\n');
  }
  return slp_buf_failed(b);
}

static void add_option(slp_buf *b, const slp_option *o) {
  slp_buf text;
  slp_buf_init(&text, b->mem, 1 << 16);
  if (o->title) slp_buf_addf(b, "\n%s:\n", o->title);
  size_t from = b->n;
  slp_buf_add_z(b, o->letter ? "  " : "      ");
  slp_help_names(b, o);
  unsigned column = (unsigned)(b->n - from);
  /* the names are too wide for their column, so the text starts on the next line */
  if (column >= NAMES_COLUMNS) {
    slp_buf_add_char(b, '\n');
    column = 0;
  }
  if (slp_option_help(&text, o) != 0) slp_buf_fail(b, slp_buf_failed(&text));
  slp_help_fill(b, slp_buf_z(&text), column, NAMES_COLUMNS);
  slp_buf_free(&text);
}

int slp_help(slp_buf *b) {
  slp_buf_add_z(b, head);
  for (size_t i = 0; i < slp_options_n; i++) add_option(b, &slp_options[i]);
  return slp_buf_add_z(b, tail);
}

int slp_help_kcat(slp_buf *b) {
  slp_buf_addf(b, "%-15s %-28s %s\n", "kcat", "what it does there", "stream-tail");
  for (size_t i = 0; i < slp_kcat_rows_n; i++) {
    const slp_kcat_row *row = &slp_kcat_rows[i];
    slp_buf_addf(b, "%-15s %-28s ", row->flag, row->kcat);
    slp_help_fill(b, row->here, 45, 45);
  }
  return slp_buf_failed(b);
}

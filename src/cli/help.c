/* help.c - the texts of -h and --kcat. */
#include "cli/help.h"

#include "cli/options.h"

#define NAMES_COLUMNS 26

static const char head[] =
    "Usage: stream-tail [options] STREAM...\n"
    "Prints the records of Kinesis and DynamoDB streams, all shards in order, and\n"
    "follows them through resharding. STREAM is a name, an ARN or dynamodb:TABLE.\n";
static const char tail[] =
    "\nExit status: 0 the end was reached (-e, -c, --until, --timeout), or a first\n"
    "Ctrl-C; 1 failed; 2 wrong usage; 3 --fail-on-loss; 4 a living worker owns it;\n"
    "5 no such shard; 6 no such worker; 130 a second Ctrl-C.\n"
    "Standard output is data only.\n";

int slp_help_names(slp_buf *b, const slp_option *o) {
  int bad = o->letter ? slp_buf_addf(b, "-%c, --%s", o->letter, o->name) : slp_buf_addf(b, "--%s", o->name);
  if (bad || o->kind == SLP_NO_VALUE) return bad;
  return o->kind == SLP_NEEDS_VALUE ? slp_buf_addf(b, " %s", o->value) : slp_buf_addf(b, "[=%s]", o->value);
}

static int add_spaces(slp_buf *b, unsigned n) { return n ? slp_buf_addf(b, "%*s", (int)n, "") : 0; }

/* One line of the text, filled into as many as it needs. */
static int fill_line(slp_buf *b, const char *text, size_t n, unsigned column, unsigned indent) {
  int bad = 0;
  unsigned at = column;
  for (size_t i = 0; i < n && !bad;) {
    size_t word = i;
    while (word < n && text[word] != ' ') word++;
    unsigned length = (unsigned)(word - i);
    if (at > indent && at + 1 + length > SLP_HELP_WIDTH) {
      bad = slp_buf_add_char(b, '\n');
      if (!bad) bad = add_spaces(b, indent);
      at = indent;
    } else if (at > indent) {
      bad = slp_buf_add_char(b, ' ');
      at++;
    }
    if (!bad) bad = slp_buf_add(b, text + i, length);
    at += length;
    i = word + (word < n);
  }
  return bad ? bad : slp_buf_add_char(b, '\n');
}

int slp_help_fill(slp_buf *b, const char *text, unsigned column, unsigned indent) {
  int bad = 0;
  while (*text && !bad) {
    size_t n = strcspn(text, "\n");
    if (column < indent) {
      bad = add_spaces(b, indent - column);
      column = indent;
    }
    if (!bad && strncmp(text, "  ", 2) == 0)
      bad = slp_buf_addf(b, "%.*s\n", (int)n, text);
    else if (!bad)
      bad = fill_line(b, text, n, column, indent);
    column = 0;
    text += n + (text[n] == '\n');
  }
  return bad;
}

int slp_help(slp_buf *b) {
  int bad = slp_buf_add_z(b, head);
  for (size_t i = 0; i < slp_options_n && !bad; i++) {
    const slp_option *o = &slp_options[i];
    if (o->title) bad = slp_buf_addf(b, "\n%s:\n", o->title);
    size_t from = b->n;
    if (!bad) bad = slp_buf_add_z(b, o->letter ? "  " : "      ");
    if (!bad) bad = slp_help_names(b, o);
    unsigned column = (unsigned)(b->n - from);
    if (!bad && column >= NAMES_COLUMNS) { /* no room beside them */
      bad = slp_buf_add_char(b, '\n');
      column = 0;
    }
    if (!bad) bad = slp_help_fill(b, o->help, column, NAMES_COLUMNS);
  }
  return bad ? bad : slp_buf_add_z(b, tail);
}

int slp_help_kcat(slp_buf *b) {
  int bad = slp_buf_addf(b, "%-15s %-28s %s\n", "kcat", "what it does there", "stream-tail");
  for (size_t i = 0; i < slp_kcat_rows_n && !bad; i++) {
    const slp_kcat_row *row = &slp_kcat_rows[i];
    bad = slp_buf_addf(b, "%-15s %-28s ", row->flag, row->kcat);
    if (!bad) bad = slp_help_fill(b, row->here, 45, 45);
  }
  return bad;
}

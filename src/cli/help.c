/* help.c - writes the texts of -h and --kcat. */
#include "cli/help.h"

#include "base/buf.h"
#include "cli/options.h"
#include "cli/topics.h"

#define NAMES_COLUMNS 26 /* width of the column with the options' names in -h */

#define TOPIC_COLUMNS 40 /* width of a topic in the list of topics; each line has two topics */

static const char head[] =
    "Usage: stream-tail [options] STREAM...\n"
    "Prints the records of Kinesis and DynamoDB streams, all shards in order.\n"
    "STREAM is a name, an ARN, dynamodb:TABLE, or a pattern like 'pay*'.\n"
    "Standard output carries data only.\n";
/* what most users need, by task; test/unit/cli/topics.c checks that these options exist */
static const char tasks[] =
    "\n"
    "Follow     stream-tail orders                 what arrives from now on\n"
    "  -o oldest, --since 10m, -n 50               the oldest, a time, the last 50\n"
    "  -e, -c N, --until TIME                      until the tip, N records, a time\n"
    "  --save FILE                                 go on there the next time\n"
    "Choose     stream-tail --grep 'error|fatal' orders\n"
    "  --grepv REGEX, -i, --unique                 without these, any case, each once\n"
    "  -p SHARD, -p key:TEXT                       one shard, the shards of one key\n"
    "Print      stream-tail -J orders | jq .payload\n"
    "  -f '%k %s\\n', -K:, -s gzip,json             a format, keys, decoded payloads\n"
    "Find       stream-tail -L                     the streams; -L STREAM: its shards\n"
    "  --apps                                      the applications of a lease table\n"
    "Put        stream-tail -P -K: orders < lines  KEY:PAYLOAD; -k KEY, --rate N\n"
    "Share      stream-tail -G billing orders      the same on each machine\n"
    "  --watch, --leases, --explain SHARD          who reads what, how far, and why\n"
    "  --release, --reset, --migrate, --drain      take away, rewind, move, hold back\n"
    "Try        stream-tail -M 4 --feed 100        a sandbox; --demo shows all of it\n"
    "Rights     stream-tail --iam orders           the policy; with --try: what lacks\n"
    "Connect    -b URL, -X region=NAME, -X profile=NAME, -m SECONDS\n"
    "Tell       -v progress, -vv logs, -q less; -X list: all settings\n";

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

/* Writes the options of the group that has this title. */
static void add_group(slp_buf *b, const char *title) {
  size_t i = 0;
  while (i < slp_options_n && !(slp_options[i].title && strcmp(slp_options[i].title, title) == 0)) i++;
  for (size_t from = i; i < slp_options_n && (i == from || !slp_options[i].title); i++)
    add_option(b, &slp_options[i]);
}

static void add_topic(slp_buf *b, const slp_topic *t) {
  for (size_t i = 0; i < SLP_TOPIC_TITLES_MAX && t->titles[i]; i++) add_group(b, t->titles[i]);
  if (t->text) slp_buf_addf(b, "\n%s", t->text);
}

/* Lists the topics, two on a line. */
static void add_topics(slp_buf *b) {
  slp_buf_add_z(b, "\nMore: stream-tail -h TOPIC, -h all, --kcat for users of kcat, --man | man -l -\n");
  for (size_t i = 0; i < slp_topics_n; i++) {
    const slp_topic *t = &slp_topics[i];
    int last = i % 2 == 1 || i + 1 == slp_topics_n;
    slp_buf_addf(b, "  %-10s ", t->word);
    slp_buf_addf(b, "%-*s%s", last ? 0 : TOPIC_COLUMNS - 13, t->about, last ? "\n" : "");
  }
}

int slp_help(slp_buf *b, const char *topic) {
  const slp_topic *t = topic ? slp_topic_find(topic) : NULL;
  if (!topic) {
    slp_buf_add_z(b, head);
    slp_buf_add_z(b, tasks);
    add_topics(b);
  } else if (t) {
    slp_buf_addf(b, "%s: %s\n", t->word, t->about);
    add_topic(b, t);
  } else {
    slp_buf_add_z(b, head);
    for (size_t i = 0; i < slp_topics_n; i++) add_topic(b, &slp_topics[i]);
  }
  return slp_buf_failed(b);
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

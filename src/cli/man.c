/* man.c - the manual page, in the man macros that groff and mandoc share. */
#include "cli/help.h"
#include "cli/knobs.h"
#include "cli/options.h"
#include "sloop.h"

#define DATE "2026-11-21" /* of the last change of this text: not of the build, which must be repeatable */

/* Text of a roff line: a backslash, and a dot or quote at the beginning, mean something to it; a plain '-'
 * would become a hyphen. */
static int add_text(slp_buf *b, const char *text, size_t n) {
  int bad = n && (*text == '.' || *text == '\'') ? slp_buf_add_z(b, "\\&") : 0;
  for (size_t i = 0; i < n && !bad; i++) {
    if (text[i] == '\\')
      bad = slp_buf_add_z(b, "\\e");
    else if (text[i] == '-')
      bad = slp_buf_add_z(b, "\\-");
    else if (text[i] == '~')
      bad = slp_buf_add_z(b, "\\(ti");
    else if (text[i] == '^')
      bad = slp_buf_add_z(b, "\\(ha");
    else
      bad = slp_buf_add_char(b, text[i]);
  }
  return bad;
}

/* Lines of help text; those that begin with two spaces keep their shape. */
static int add_help(slp_buf *b, const char *text) {
  int bad = 0, kept = 0;
  while (*text && !bad) {
    size_t n = strcspn(text, "\n");
    int keep = n >= 2 && memcmp(text, "  ", 2) == 0;
    size_t skip = keep ? 2 : 0;
    if (keep != kept) bad = slp_buf_add_z(b, keep ? ".PP\n.RS 7\n.nf\n" : ".fi\n.RE\n");
    kept = keep;
    if (!bad) bad = add_text(b, text + skip, n - skip);
    if (!bad) bad = slp_buf_add_char(b, '\n');
    text += n + (text[n] == '\n');
  }
  return bad || !kept ? bad : slp_buf_add_z(b, ".fi\n.RE\n");
}

static int add_bold(slp_buf *b, const char *text) {
  int bad = slp_buf_add_z(b, "\\fB");
  if (!bad) bad = add_text(b, text, strlen(text));
  return bad ? bad : slp_buf_add_z(b, "\\fR");
}

static int add_option(slp_buf *b, const slp_option *o) {
  int bad = o->title ? slp_buf_addf(b, ".SS %s\n", o->title) : 0;
  if (!bad) bad = slp_buf_add_z(b, ".TP\n");
  if (!bad && o->letter) bad = slp_buf_addf(b, "\\fB\\-%c\\fR, ", o->letter);
  if (!bad) bad = slp_buf_add_z(b, "\\fB\\-\\-");
  if (!bad) bad = add_text(b, o->name, strlen(o->name));
  if (!bad) bad = slp_buf_add_z(b, "\\fR");
  if (!bad && o->kind != SLP_NO_VALUE) {
    bad = slp_buf_add_z(b, o->kind == SLP_NEEDS_VALUE ? " \\fI" : "[=\\fI");
    if (!bad) bad = add_text(b, o->value, strlen(o->value));
    if (!bad) bad = slp_buf_add_z(b, o->kind == SLP_NEEDS_VALUE ? "\\fR" : "\\fR]");
  }
  if (!bad) bad = slp_buf_add_char(b, '\n');
  return bad ? bad : add_help(b, o->help);
}

static int add_knob(void *arg, const char *name, const char *unit, const char *meaning) {
  slp_buf *b = arg;
  int bad = slp_buf_add_z(b, ".TP\n");
  if (!bad) bad = add_bold(b, name);
  if (!bad) bad = slp_buf_add_z(b, " (");
  if (!bad) bad = add_text(b, unit, strlen(unit));
  if (!bad) bad = slp_buf_add_z(b, ")\n");
  if (!bad) bad = add_text(b, meaning, strlen(meaning));
  return bad ? bad : slp_buf_add_char(b, '\n');
}

static int add_kcat(slp_buf *b) {
  int bad = slp_buf_add_z(b, ".SH FOR USERS OF KCAT\n");
  for (size_t i = 0; i < slp_kcat_rows_n && !bad; i++) {
    const slp_kcat_row *row = &slp_kcat_rows[i];
    bad = slp_buf_add_z(b, ".TP\n");
    if (!bad) bad = add_bold(b, row->flag);
    if (!bad) bad = slp_buf_add_z(b, " (");
    if (!bad) bad = add_text(b, row->kcat, strlen(row->kcat));
    if (!bad) bad = slp_buf_add_z(b, ")\n");
    const char *here = row->here[0] == '-' && row->here[1] == ' ' ? row->here + 2 : row->here;
    if (!bad) bad = add_text(b, here, strlen(here));
    if (!bad) bad = slp_buf_add_char(b, '\n');
  }
  return bad;
}

static const char description[] =
    ".SH DESCRIPTION\n"
    "Prints the records of Kinesis data streams and of DynamoDB Streams, all shards in the order of their\n"
    "arrival, children of a split or merge after their parents, and follows the streams through resharding.\n"
    "A \\fISTREAM\\fR is a name, an ARN, or \\fBdynamodb:\\fITABLE\\fR; several are read in one order.\n"
    ".PP\n"
    "Standard output carries records and nothing else. A slow reader of it slows the reading down; nothing "
    "is\n"
    "dropped. Region and credentials are found as the AWS tools find them.\n";
static const char output[] =
    ".SH OUTPUT\n"
    "\\fB\\-J\\fR prints \\fBstream\\fR, \\fBshard\\fR, \\fBseq\\fR, \\fBsub\\fR, \\fBts\\fR (ms),\n"
    "\\fBkey\\fR and \\fBpayload\\fR (\\fBkey_b64\\fR, \\fBpayload_b64\\fR when the bytes are not UTF-8);\n"
    "a change of DynamoDB has \\fBevent\\fR, \\fBid\\fR, \\fBchange\\fR and maybe \\fBuser\\fR instead of\n"
    "\\fBsub\\fR, key and payload. \\fBlate\\fR, \\fBraw\\fR and \\fBforeign\\fR are there when true,\n"
    "\\fBlog\\fR with \\fB\\-s cwlogs\\fR, \\fBdecode_error\\fR with \\fB\\-E\\fR, \\fBepoch\\fR and "
    "\\fBworker\\fR\n"
    "with \\fB\\-G\\fR.\n"
    ".PP\n"
    "On a terminal each line begins with its shard, and with its stream when there are several; control\n"
    "characters are shown as \\exXX, and what is not UTF-8 as base64.\n";
static const char rest[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\n"
    "the end was reached (\\-e, \\-c, \\-\\-until, \\-\\-timeout), the reader left, or a first Ctrl\\-C\n"
    ".TP\n.B 1\nit failed; standard error says why\n"
    ".TP\n.B 2\nwrong usage\n"
    ".TP\n.B 3\n\\-\\-fail\\-on\\-loss, and records were lost\n"
    ".TP\n.B 4\n\\-\\-release, \\-\\-reset: a living worker owns the lease, nothing was changed\n"
    ".TP\n.B 5\n\\-\\-explain, \\-\\-release, \\-\\-reset: no such shard\n"
    ".TP\n.B 6\n\\-\\-release: no such worker\n"
    ".TP\n.B 130\na second Ctrl\\-C\n"
    ".SH SIGNALS\n"
    "The first Ctrl\\-C (SIGINT, SIGTERM, SIGHUP) ends within two seconds and prints, unless \\fB\\-q\\fR, "
    "how\n"
    "to go on from there; the second leaves at once. With \\fB\\-G\\fR it may take ten seconds when the "
    "lease\n"
    "table is slow: positions are written and the shards given to the others.\n"
    ".SH FILES\n"
    ".TP\n.I \\(ti/.config/stream\\-tail.conf\n"
    "Lines NAME=VALUE: long names of options, and settings of \\fB\\-X\\fR; # begins a comment. What the\n"
    "command line says comes after it. \\fB\\-F\\fR and STREAM_TAIL_CONFIG name another file,\n"
    "XDG_CONFIG_HOME another folder.\n"
    ".TP\n.I \\(ti/.aws/config, \\(ti/.aws/credentials\n"
    "Profiles, as the AWS tools read them.\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "stream\\-tail orders\n"
    "stream\\-tail \\-o oldest \\-e \\-J orders\n"
    "stream\\-tail \\-\\-since 10m \\-\\-until 5m \\-\\-grep error orders payments\n"
    "stream\\-tail \\-\\-save place \\-J dynamodb:customers\n"
    "stream\\-tail \\-G billing \\-J orders\n"
    "stream\\-tail \\-G billing \\-\\-leases orders\n"
    ".fi\n";

int slp_man(slp_buf *b) {
  int bad = slp_buf_addf(b, ".TH STREAM\\-TAIL 1 " DATE " \"sloop %s\" \"User Commands\"\n.nh\n.ad l\n",
                         sloop_version());
  if (!bad)
    bad = slp_buf_add_z(b,
                        ".SH NAME\nstream\\-tail \\- print Kinesis data streams and DynamoDB Streams\n"
                        ".SH SYNOPSIS\n\\fBstream\\-tail\\fR [\\fIoptions\\fR] \\fISTREAM\\fR...\n");
  if (!bad) bad = slp_buf_add_z(b, description);
  if (!bad) bad = slp_buf_add_z(b, ".SH OPTIONS\n");
  for (size_t i = 0; i < slp_options_n && !bad; i++) bad = add_option(b, &slp_options[i]);
  if (!bad) bad = slp_buf_add_z(b, output);
  if (!bad) bad = slp_buf_add_z(b, ".SH SETTINGS OF \\-X\n");
  if (!bad) bad = slp_knobs_each(add_knob, b);
  if (!bad) bad = slp_buf_add_z(b, rest);
  return bad ? bad : add_kcat(b);
}

/* man.c - the manual page, in the man macros that groff and mandoc share. */
#include "cli/help.h"
#include "cli/knobs.h"
#include "cli/multilang_properties.h"
#include "cli/options.h"
#include "sloop.h"

#define DATE "2026-11-27" /* of the last change of this text: not of the build, which must be repeatable */

/* Writes text of a roff line: a backslash, and a dot or quote at the beginning, have a meaning there; a plain
 * '-' would become a hyphen. */
static void add_text(slp_buf *b, const char *text, size_t n) {
  if (n && (*text == '.' || *text == '\'')) slp_buf_add_z(b, "\\&");
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\\')
      slp_buf_add_z(b, "\\e");
    else if (text[i] == '-')
      slp_buf_add_z(b, "\\-");
    else if (text[i] == '~')
      slp_buf_add_z(b, "\\(ti");
    else if (text[i] == '^')
      slp_buf_add_z(b, "\\(ha");
    else
      slp_buf_add_char(b, text[i]);
  }
}

/* Writes lines of help text; those that begin with two spaces keep their shape. */
static void add_help(slp_buf *b, const char *text) {
  int kept = 0;
  while (*text) {
    size_t n = strcspn(text, "\n");
    int keep = n >= 2 && memcmp(text, "  ", 2) == 0;
    size_t skip = keep ? 2 : 0;
    if (keep != kept) slp_buf_add_z(b, keep ? ".PP\n.RS 7\n.nf\n" : ".fi\n.RE\n");
    kept = keep;
    add_text(b, text + skip, n - skip);
    slp_buf_add_char(b, '\n');
    text += n + (text[n] == '\n');
  }
  if (kept) slp_buf_add_z(b, ".fi\n.RE\n");
}

static void add_option(slp_buf *b, const slp_option *o) {
  if (o->title) slp_buf_addf(b, ".SS %s\n", o->title);
  slp_buf_add_z(b, ".TP\n");
  if (o->letter) slp_buf_addf(b, "\\fB\\-%c\\fR, ", o->letter);
  slp_buf_add_z(b, "\\fB\\-\\-");
  add_text(b, o->name, strlen(o->name));
  slp_buf_add_z(b, "\\fR");
  if (o->kind != SLP_NO_VALUE) {
    slp_buf_add_z(b, o->kind == SLP_NEEDS_VALUE ? " \\fI" : "[=\\fI");
    add_text(b, o->value, strlen(o->value));
    slp_buf_add_z(b, o->kind == SLP_NEEDS_VALUE ? "\\fR" : "\\fR]");
  }
  slp_buf_add_char(b, '\n');
  add_help(b, o->help);
}

/* Writes .TP, "what (note)" and the text. */
static void add_item(void *arg, const char *what, const char *note, const char *text) {
  slp_buf *b = arg;
  slp_buf_add_z(b, ".TP\n\\fB");
  add_text(b, what, strlen(what));
  slp_buf_add_z(b, "\\fR (");
  add_text(b, note, strlen(note));
  slp_buf_add_z(b, ")\n");
  add_text(b, text, strlen(text));
  slp_buf_add_char(b, '\n');
}

static void add_kcat(slp_buf *b) {
  slp_buf_add_z(b, ".SH FOR USERS OF KCAT\n");
  for (size_t i = 0; i < slp_kcat_rows_n; i++) {
    const slp_kcat_row *row = &slp_kcat_rows[i];
    add_item(b, row->flag, row->kcat, row->here + (strncmp(row->here, "- ", 2) == 0 ? 2 : 0));
  }
}

static const char description[] =
    ".SH DESCRIPTION\n"
    "Prints the records of Kinesis data streams and of DynamoDB Streams, all shards\n"
    "in the order of their arrival, children of a split or merge after their parents,\n"
    "and follows the streams through resharding.\n"
    "A \\fISTREAM\\fR is a name, an ARN, or \\fBdynamodb:\\fITABLE\\fR; several are read\n"
    "in one order.\n"
    ".PP\n"
    "Standard output carries records and nothing else.\n"
    "A slow reader of it slows the reading down; nothing is buffered without end and\n"
    "nothing is dropped.\n"
    "Region and credentials are found as the AWS tools find them.\n"
    ".PP\n"
    "What holds for the order of records, fleets, failures, credentials and metrics is\n"
    "described in\n"
    ".BR sloop (7).\n";
static const char output[] =
    ".SH OUTPUT\n"
    "On a terminal each line begins with its shard, and with its stream when there\n"
    "are several; control characters are shown as \\exXX, and what is not UTF\\-8 as\n"
    "base64.\n"
    ".SS JSON\n"
    "\\fB\\-J\\fR prints one object a line. Control characters, and those that separate\n"
    "lines or turn the direction of a text, are escapes (\\eu202e). A record has these\n"
    "members.\n"
    ".TP\n"
    ".BR stream \", \" shard \", \" seq \", \" ts\n"
    "its stream, shard and sequence number, and when it arrived (ms, as the service\n"
    "stamped it; null: it did not say)\n"
    ".TP\n"
    ".BR sub \", \" key \", \" payload\n"
    "sub\\-sequence in an aggregate, partition key and payload;\n"
    ".BR key_b64 ,\n"
    ".B payload_b64\n"
    "when the bytes are not UTF\\-8\n"
    ".TP\n"
    ".BR event \", \" id \", \" change \", \" user\n"
    "instead of these three for a change of DynamoDB: INSERT, MODIFY or REMOVE, the\n"
    "id of the event, the object \\(lqdynamodb\\(rq of the service and, when there is\n"
    "one, its \\(lquserIdentity\\(rq\n"
    ".TP\n"
    ".BR late \", \" raw \", \" foreign\n"
    "true, and only there when true: it comes after a record that arrived later; it\n"
    "could not be decoded; it was in an aggregate of another shard\n"
    ".TP\n"
    ".B log\n"
    "with \\fB\\-s cwlogs\\fR:\n"
    ".BR group \", \" stream \", \" owner \", \" id \" and \" ts\n"
    "of the log event\n"
    ".TP\n"
    ".B decode_error\n"
    "with \\fB\\-E\\fR: why the record could not be decoded\n"
    ".TP\n"
    ".BR epoch \", \" worker\n"
    "with \\fB\\-G\\fR: a number that grows with each owner of the lease, and this worker\n"
    ".PP\n"
    "With \\fB\\-L\\fR there is an object for each shard:\n"
    ".BR stream \", \" shard \", \" state \", \" parent \", \" adjacent_parent ,\n"
    ".BR hash_start \", \" hash_end \", \" seq_start \", \" seq_end .\n"
    ".PP\n"
    "With \\fB\\-\\-leases\\fR there is one for each lease:\n"
    ".BR stream \", \" shard \", \" state \", \" owner \", \" claim \", \" epoch ,\n"
    ".BR position \", \" written_at \", \" behind_ms \", \" parked \", \" parents ,\n"
    ".B behind_at_most\n"
    "(it may be less) and, where the service refuses the position,\n"
    ".BR refused_until ;\n"
    "one for each worker:\n"
    ".BR stream \", \" worker \", \" state \", \" leads \", \" held \", \" weight ,\n"
    ".BR lease_ms \", \" counter \", \" written_at \", \" behind_ms ,\n"
    ".BR rate_bytes \", \" host ;\n"
    "one for each row that makes no sense:\n"
    ".BR stream \", \" bad_row ;\n"
    "and one where rows of other streams are left alone, with the first of them:\n"
    ".BR stream \", \" passed_over .\n";
static const char places[] =
    ".SH PLACES AND TIMES\n"
    "A token holds the position of every shard as JSON.\n"
    "The first Ctrl\\-C prints one on standard error; \\fB\\-o @\\fIFILE\\fR goes on from\n"
    "a file that holds it.\n"
    ".PP\n"
    "\\fB\\-\\-save\\fR \\fIFILE\\fR keeps the token in a file, one line a stream, written\n"
    "each second and at the end.\n"
    "It covers only records whose last byte was written to standard output: an orderly\n"
    "end repeats nothing, and a kill \\-9 only what came after the last second.\n"
    "The file is one process\\(aqs: a second one ends with status 4; so does the first, and\n"
    "never writes it again, when somebody removed its lock (\\fI.FILE.lock\\fR beside it) and\n"
    "another has taken the file.\n"
    "For one stream the file is a token of bloop, a Python library that reads DynamoDB\n"
    "Streams.\n"
    ".PP\n"
    "\\fB\\-\\-since\\fR \\fITIME\\fR begins with what arrived at TIME or later, and\n"
    "\\fB\\-\\-until\\fR \\fITIME\\fR ends before it: what arrived at TIME is not printed.\n"
    "A shard is done with its first record of TIME or later, or at its tip when TIME\n"
    "is over by this machine's clock.\n"
    ".SH SHARING A STREAM\n"
    "\\fB\\-G\\fR \\fIAPP\\fR shares the shards of a stream among all workers of an\n"
    "application, on one machine or many.\n"
    "Each shard is read by one worker at a time, from where the last one left off;\n"
    "\\fB\\-o\\fR says only where a new application begins.\n"
    "What was written to standard output counts as read.\n"
    "What happens when a worker joins, stops, dies or hangs, where the leases are and\n"
    "what they cost is described in\n"
    ".BR sloop (7).\n"
    ".PP\n"
    "\\fB\\-\\-watch\\fR reads every row of the application at each poll;\n"
    "\\fB\\-\\-watch=60\\fR polls once a minute.\n"
    ".PP\n"
    "\\fB\\-\\-reset\\fR refuses while a living worker owns one of the shards;\n"
    "\\fB\\-\\-force\\fR evicts those workers first, so that they lose all their leases\n"
    "and join anew.\n"
    "\\fB\\-\\-release\\fR \\fIWORKER\\fR does the same to one worker.\n"
    "Whether a sequence number is one of the shard the service is asked before anything\n"
    "is written; one that it refuses ends the command with status 1.\n"
    "Where only some of the leases could be changed, the status is 1 and each of them is\n"
    "named, with what was done or why not.\n"
    ".PP\n"
    "Rows of vmware\\-go\\-kcl and motorway do not tell where a shard begins that was not\n"
    "read yet: that is \\fB\\-o\\fR, of the workers and of these commands.\n"
    "A reset to another beginning is refused there; rows of motorway can say the oldest\n"
    "record all the same.\n"
    ".SH MOVING POSITIONS\n"
    "\\fB\\-\\-migrate\\fR \\fIFROM TO STREAM\\fR copies where each shard is to be read on, so that\n"
    "other workers, or another program, can go on from there; and back again in the\n"
    "same way.\n"
    "A place is one of\n"
    ".TP\n"
    ".I SCHEMA:APP\n"
    "the leases of an application, where its workers have them by default:\n"
    ".B sloop:billing\n"
    "in the table \\(lqsloop\\(rq,\n"
    ".B kcl:billing\n"
    "in the table \\(lqbilling\\(rq\n"
    ".TP\n"
    ".I SCHEMA:APP@STORE\n"
    "the same in another store:\n"
    ".BR sloop:billing@dynamodb:leases ,\n"
    ".B kcl:billing@sqlite:/var/lib/leases\n"
    ".TP\n"
    ".I kcl+:APP\n"
    "the application reads several streams, and its rows name them; \\fBkcl:\\fIAPP\\fR\n"
    "finds out by its rows whether they name the stream\n"
    ".TP\n"
    ".I token:FILE\n"
    "a token of \\fB\\-\\-save\\fR or of bloop; \\fB\\-\\fR is standard input, or output\n"
    ".PP\n"
    "Without \\fB\\-\\-write\\fR it prints what it would do with each shard, and writes\n"
    "nothing.\n"
    "Positions inside aggregates, parents, hash\\-key ranges and ends are carried over.\n"
    "A listed shard that the source does not name was read to its end when it comes\n"
    "before one that is named, and begins at its oldest record when it does not.\n"
    "\\(lqLatest\\(rq becomes the present time where rows have no such word.\n"
    ".PP\n"
    "It refuses while a worker is alive on either side; one that does not say so itself is\n"
    "watched for a lease (\\fB\\-X lease_ms\\fR), one of Amazon\\(aqs KCL 3 for a minute.\n"
    "A token whose file a living \\fB\\-\\-save\\fR keeps is refused too; of any other nobody can\n"
    "tell whether it is being used.\n"
    "It refuses as a whole, and names each row, when the target has another position of a\n"
    "shard, a row of an unknown shard, one that makes no sense or is no lease; when a shard\n"
    "is parked; when rows of the target can\\(aqt hold a position; and when rows of\n"
    "Amazon\\(aqs KCL 3 say that its rules are changing.\n"
    "Rows of the KCL can\\(aqt say \\(lqat this record\\(rq, and tell no times: a shard that begins\n"
    "at a time needs \\fB\\-o s@\\fITIME\\fR here, and in each of its workers.\n"
    "Those of vmware\\-go\\-kcl know no place inside an aggregate, and do not tell where a\n"
    "shard begins that was not read yet: that is \\fB\\-o\\fR, here and there; the same\n"
    "holds for motorway, and kcl\\-rb begins it at the oldest record.\n"
    "A checkpoint of motorway\\(aqs is read again, and no other rows but those of sloop can say that:\n"
    "let a worker with \\fB\\-X schema=motorway\\fR read and stop before.\n"
    "Those of kinsumer know neither times nor places inside aggregates; a worker of its\n"
    "own says so in a row of its own, for \\fB\\-X lease_ms\\fR after its last one.\n"
    "\\fB\\-X aggregates=keep\\fR says that the stream has no aggregates.\n"
    ".PP\n"
    "The source stays as it is, and what is in the target is never changed.\n"
    "A command that was cut off is carried on by the same command; one that finds\n"
    "everything in place says so and succeeds.\n"
    "After a way back, remove the rows of the first way out before going again: they say\n"
    "where the workers were then.\n"
    ".SH ENHANCED FAN\\-OUT\n"
    "With\n.B \\-\\-push\nKinesis sends records as they arrive, and the throughput of a shard, 2 MB/s, is "
    "the "
    "consumer's alone.\n"
    "The stream has a registered consumer for that, which every worker of an application reads as.\n"
    "It is registered when it is not there, and never removed when the command ends: AWS bills each "
    "registered "
    "consumer by shard and hour, and what is read by it by GB, beside the price of the stream, until "
    "somebody "
    "deregisters it.\n"
    "A stream has 20 of them at most, by default.\n"
    ".PP\n"
    ".B \\-\\-consumers\nlists them, also those of other programs, and\n.B \\-\\-deregister\nremoves one; a "
    "reader that is still at work registers its own anew.\n"
    ".B \\-\\-iam \\-\\-consumers\nand\n.B \\-\\-iam \\-\\-deregister\nprint the rights of an operator who "
    "does so.\n"
    ".PP\n"
    "With\n.B \\-X retrieval=auto\nthe consumer is used where it can be had; where there is no right or no "
    "room "
    "for it, or it is not ACTIVE within a minute because it is being registered or deregistered, the stream "
    "is "
    "polled, and with\n.B \\-v\na line says why.\n"
    "Where subscriptions bring nothing, as behind a proxy that refuses them or holds what is streamed, the "
    "stream "
    "is polled after some 10 seconds; a line says so, and subscribing is tried again after a minute, and "
    "more "
    "and more seldom, up to once an hour.\n"
    "With\n.B \\-\\-push\nthe command then ends with status 1 and one line that says why; a reader that "
    "has had the consumer goes on trying.\n"
    ".PP\n"
    "The line that\n.B \\-v\nprints each second, and the metric sloop_pushed, say which it is.\n"
    "Given together with\n.B \\-\\-push\nor that option,\n.B \\-\\-watch\nand\n.B \\-\\-explain\n"
    "ask Kinesis for the consumer of that application, and show its state.\n"
    ".SH METRICS\n"
    "\\fB\\-\\-metrics 127.0.0.1:9100\\fR serves /metrics to Prometheus, and /ready and\n"
    "/healthz to probes; \\fB\\-X cloudwatch=\\fINAMESPACE\\fR puts metrics into\n"
    "CloudWatch once a minute.\n"
    ".BR sloop (7)\n"
    "describes them.\n"
    "There is no authentication: listen where only Prometheus can connect.\n";
static const char rest[] =
    ".SH EXIT STATUS\n"
    ".TP\n"
    ".B 0\n"
    "the end was reached (\\-e, \\-c, \\-\\-until, \\-\\-timeout), the reader of standard\n"
    "output left, or a first Ctrl\\-C\n"
    ".TP\n"
    ".B 1\n"
    "it failed; standard error says why. A change (\\-\\-migrate, \\-\\-release, \\-\\-reset,\n"
    "\\-\\-deregister) that a first Ctrl\\-C ended before it was done has failed too\n"
    ".TP\n"
    ".B 2\n"
    "wrong usage\n"
    ".TP\n"
    ".B 3\n"
    "\\-\\-fail\\-on\\-loss, and records were lost\n"
    ".TP\n"
    ".B 4\n"
    "\\-\\-release, \\-\\-reset, \\-\\-migrate: a living worker owns the lease, nothing was\n"
    "changed;\n"
    "\\-\\-save: another process keeps its place in that file\n"
    ".TP\n"
    ".B 5\n"
    "\\-\\-explain, \\-\\-release, \\-\\-reset: no such shard\n"
    ".TP\n"
    ".B 6\n"
    "\\-\\-release: no such worker\n"
    ".TP\n"
    ".B 130\n"
    "a second Ctrl\\-C\n"
    ".SH SIGNALS\n"
    "The first Ctrl\\-C (SIGINT, SIGTERM, SIGHUP) ends within two seconds and prints,\n"
    "unless \\fB\\-q\\fR, how to go on from there; a second SIGINT or SIGTERM leaves at once,\n"
    "another SIGHUP does not.\n"
    "A SIGHUP that is ignored when the command starts, as by\n"
    ".BR nohup (1),\n"
    "stays ignored, also by the children of \\fB\\-\\-multilang\\fR.\n"
    "SIGINT and SIGTERM are always obeyed: SIGINT also by what a script runs in the\n"
    "background, for which its shell ignores it.\n"
    "With \\fB\\-G\\fR it may take ten seconds when the lease table is slow: checkpoints\n"
    "are written and the leases released.\n"
    "A lease file whose disk does not answer is then left as it is.\n"
    "The record that is partly written is finished, and none after it is begun.\n"
    "A record counts as read when all of its text is written: it is in the checkpoint\n"
    "or the token, also when the reader of the pipe has stopped reading.\n"
    "A reader that does not take the rest of the record within 1.5 seconds gets no\n"
    "more of it, and the record comes again.\n"
    ".PP\n"
    "While a worker can't prove that it lives (\\fB\\-G\\fR, from 0.8 of a lease on) it\n"
    "begins to write no record, and after another worker has taken the shard it never\n"
    "does.\n"
    "The record that is partly written is finished even then, so that lines stay whole.\n"
    "What is in the pipe already can't be taken back.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".BR AWS_REGION \", \" AWS_DEFAULT_REGION \", \" AWS_PROFILE \", \" AWS_CA_BUNDLE\n"
    "as the AWS tools use them; all sources of credentials stand in\n"
    ".BR sloop (7)\n"
    ".TP\n"
    ".BR AWS_ENDPOINT_URL_KINESIS \", _\" DYNAMODB \", _\" DYNAMODB_STREAMS\n"
    "another server; for what has none of its own,\n"
    ".B AWS_ENDPOINT_URL\n"
    ".TP\n"
    ".BR STREAM_TAIL_CONFIG \", \" XDG_CONFIG_HOME\n"
    "where options are read from, see FILES\n"
    ".TP\n"
    ".B NO_COLOR\n"
    "when it is set and not empty: no colours\n"
    ".SH FILES\n"
    ".TP\n"
    ".I \\(ti/.config/stream\\-tail.conf\n"
    "Lines NAME=VALUE: long names of options, and settings of \\fB\\-X\\fR; # begins a\n"
    "comment.\n"
    "What the command line says comes after it.\n"
    "Options that choose another thing to do than to read, and those that ask for a change\n"
    "(\\fB\\-\\-write\\fR, \\fB\\-\\-force\\fR), can\\(aqt stand there.\n"
    "\\fB\\-F\\fR and STREAM_TAIL_CONFIG name another file, XDG_CONFIG_HOME another\n"
    "folder.\n"
    "\\fB\\-X dump\\fR prints such a file with what holds now.\n"
    ".TP\n"
    ".I \\(ti/.aws/config, \\(ti/.aws/credentials\n"
    "Profiles, as the AWS tools read them.\n"
    ".PP\n"
    "Completions for bash and zsh are installed; \\fB\\-\\-completion\\fR prints them.\n"
    ".SH EXAMPLES\n"
    ".TP\n"
    ".B stream\\-tail orders\n"
    "Follow a stream from now on, one payload a line.\n"
    ".TP\n"
    ".B stream\\-tail \\-o oldest \\-e \\-J orders\n"
    "Print everything it keeps, as JSON lines, then leave.\n"
    ".TP\n"
    ".B stream\\-tail \\-\\-since 10m \\-\\-until 5m \\-\\-grep error orders payments\n"
    "Two streams in one order, between two times.\n"
    ".TP\n"
    ".B stream\\-tail \\-\\-save place \\-o oldest \\-J dynamodb:customers\n"
    "The changes of a table; the next time it goes on where it was left.\n"
    ".TP\n"
    ".B stream\\-tail \\-p key:user\\-7 \\-f \\(aq%T %k %s\\en\\(aq orders\n"
    "The shard that this key goes to.\n"
    ".TP\n"
    ".B stream\\-tail \\-\\-grep \\(aqerror|fatal\\(aq \\-s gzip packed\n"
    "Unpack, and print only what matches.\n"
    ".TP\n"
    ".B stream\\-tail \\-s cwlogs \\-\\-grepv DEBUG logs\n"
    "A subscription of CloudWatch Logs, a line an event.\n"
    ".TP\n"
    ".B stream\\-tail \\-L orders dynamodb:customers\n"
    "Shards, parents, hash\\-key ranges, open or closed.\n"
    ".TP\n"
    ".B stream\\-tail \\-\\-iam orders dynamodb:customers\n"
    "The IAM policy that reading them needs.\n"
    ".TP\n"
    ".B stream\\-tail \\-M 4\n"
    "A sandbox of both services on loopback, until standard input ends.\n"
    ".TP\n"
    ".B stream\\-tail \\-\\-bench=10 orders\n"
    "Read to nowhere for ten seconds and report.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-J orders\n"
    "The same on each machine: each reads its share of the shards.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-\\-leases orders\n"
    "Which worker reads which shard, up to where, and how far behind.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-\\-leases \\-J orders\n"
    "The same for programs.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-\\-explain 0 orders\n"
    "Why a shard is read, or is not.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-\\-watch orders\n"
    "All that, live.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-\\-release 0 orders\n"
    "End the parking of a shard, or release its lease when the owner is dead.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-\\-reset all \\-\\-to oldest orders\n"
    "Read everything again.\n"
    ".TP\n"
    ".B stream\\-tail \\-\\-migrate sloop:billing token:billing.place \\-\\-write orders\n"
    "Where an application stands, as a token.\n"
    ".TP\n"
    ".B stream\\-tail \\-G night \\-\\-store sqlite:db \\-o oldest \\-c 2 orders payments\n"
    "Processes of one machine share two streams.\n"
    ".TP\n"
    ".B stream\\-tail \\-G billing \\-\\-iam orders\n"
    "The rights that this needs.\n"
    ".PP\n"
    "As a service of systemd, going on where it was left:\n"
    ".PP\n"
    ".nf\n"
    ".RS 4\n"
    "[Service]\n"
    "ExecStart=/bin/sh \\-c \\(aqstream\\-tail \\-\\-save /var/lib/orders/place \\e\n"
    "  \\-o oldest \\-J orders >> /var/lib/orders/records\\(aq\n"
    "Restart=always\n"
    "KillSignal=SIGINT\n"
    ".RE\n"
    ".fi\n";
static const char see_also[] =
    ".SH SEE ALSO\n"
    ".BR sloop (7),\n"
    ".BR sloop (3)\n";

static const char multilang[] =
    ".SH FOR USERS OF THE MULTILANGDAEMON\n"
    "Programs written for Amazon\\(aqs KCL in Python, Node or Ruby run unchanged; so should those in\n"
    "\\&.NET, which exchange the same lines and were not tried.\n"
    "Where a deployment starts\n"
    ".PP\n"
    ".RS 4\n"
    ".nf\n"
    "java \\-cp CLASSPATH \\e\n"
    "  software.amazon.kinesis.multilang.MultiLangDaemon app.properties\n"
    ".fi\n"
    ".RE\n"
    ".PP\n"
    "it starts\n"
    ".PP\n"
    ".RS 4\n"
    ".nf\n"
    "stream\\-tail \\-\\-multilang app.properties\n"
    ".fi\n"
    ".RE\n"
    ".PP\n"
    "instead, and nothing else changes: the file, the processors, the lease table and its\n"
    "checkpoints are the same, and both kinds may run side by side in one application.\n"
    "kcl\\-bootstrap and amazon_kclpy_helper.py print or run that first line, and go with it.\n"
    ".PP\n"
    "To change a fleet: \\fB\\-\\-check\\fR the file, then host by host end the old daemon with\n"
    "SIGTERM and start this one. A workerId in the file has to differ from host to host, or is\n"
    "left away. The identity needs what that daemon needed:\n"
    "\\fBstream\\-tail \\-G\\fR \\fIAPPLICATION\\fR \\fB\\-X schema=kcl \\-\\-iam\\fR \\fISTREAM\\fR\n"
    "prints it.\n"
    "Two things are worth a look before: retrievalMode, whose default is enhanced fan\\-out as\n"
    "there, and the keys below that have no effect here.\n"
    ".PP\n"
    "To go back: end this one with SIGTERM and start the old command. Its processes begin where\n"
    "the last checkpoint is.\n"
    "Beside a daemon of KCL 3 that leads the application, a worker that joins has its first lease\n"
    "when the leader shares again, a minute or two later; after a kill \\-9 of the leader nobody is\n"
    "given one until its lock has run out.\n"
    ".PP\n"
    "\\fB\\-\\-check\\fR \\fIFILE\\fR starts nothing and says what would be done and which keys have no\n"
    "effect here.\n"
    "\\fB\\-\\-trace\\-protocol\\fR prints both directions;\n"
    "\\fB\\-\\-multilang\\fR \\fIFILE\\fR together with \\fB\\-\\-leases\\fR, \\fB\\-\\-watch\\fR, "
    "\\fB\\-\\-explain\\fR and the\n"
    "like looks at that application.\n"
    ".PP\n"
    "What is different.\n"
    "A process that dies, hangs (timeoutInSeconds), closes a pipe or answers out of turn is\n"
    "killed with all that it has started, and named with the reason on standard error; its\n"
    "shard begins anew behind the last checkpoint, 1 second later, doubling to 60, and the\n"
    "other shards go on: that daemon ends as a whole.\n"
    "At a stop (SIGTERM) every process is asked for a last checkpoint (shutdownRequested);\n"
    "without shutdownGraceMillis that daemon does not wait for it.\n"
    "No process outlives stream\\-tail, whatever ends that.\n"
    "A process whose input was closed has 5 seconds to end before SIGTERM, and 5 more before\n"
    "SIGKILL.\n"
    "10 processes a second are started, and 8 at a time.\n"
    "A checkpoint that the table does not take within 20 seconds is told as\n"
    "KinesisClientLibDependencyException; throttling is waited out within that time.\n"
    "Lines of a process\\(aqs standard output that are no messages are logged, 10 in 5 seconds,\n"
    "and then only counted; that daemon logs all. Standard error is passed on line for line, as\n"
    "there, behind the shard\\(aqs name and however much it is; where nobody reads what is passed\n"
    "on, lines are left out and counted, and nothing waits.\n"
    "A process that does not read the answer to a checkpoint is not listened to until it does.\n"
    "When the lease table is gone and a process does not end, it is killed as at a stop.\n"
    "A file is read as UTF\\-8; blanks at the end of a value go.\n"
    ".PP\n"
    "Of AwsCredentialsProvider those that the chain of credentials has are known by their\n"
    "names: Default, EnvironmentVariable, Profile (with |NAME), InstanceProfile, Container and\n"
    "WebIdentityTokenFile; which of them comes first is the chain\\(aqs order.\n"
    "Others are refused with what to do instead; in a list one that is known suffices.\n"
    ".PP\n"
    "Every key of that daemon, and what it is here:\n";

static void add_key(void *arg, const char *key, int acts, const char *meaning) {
  add_item(arg, key, acts ? "acts" : "no effect", meaning);
}

int slp_man(slp_buf *b) {
  slp_buf_addf(b, ".TH STREAM\\-TAIL 1 " DATE " \"sloop %s\" \"User Commands\"\n.nh\n.ad l\n",
               sloop_version());
  slp_buf_add_z(b,
                ".SH NAME\nstream\\-tail \\- print Kinesis data streams and DynamoDB Streams\n"
                ".SH SYNOPSIS\n\\fBstream\\-tail\\fR [\\fIoptions\\fR] \\fISTREAM\\fR...\n");
  slp_buf_add_z(b, description);
  slp_buf_add_z(b, ".SH OPTIONS\n");
  for (size_t i = 0; i < slp_options_n; i++) add_option(b, &slp_options[i]);
  slp_buf_add_z(b, output);
  slp_buf_add_z(b, ".SH SETTINGS OF \\-X\nOne that does nothing in what is run is told at the start.\n");
  slp_knobs_each(add_item, b);
  slp_buf_add_z(b, places);
  slp_buf_add_z(b, rest);
  slp_buf_add_z(b, multilang);
  slp_ml_keys_each(add_key, b);
  add_kcat(b);
  slp_buf_add_z(b, see_also);
  return slp_buf_failed(b);
}

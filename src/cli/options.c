/* options.c - the table of options, and the table of kcat's flags for --kcat. */
#include "cli/options.h"

#include "base/buf.h"
#include "cli/decoder_table.h"

#include <stdio.h>

#define READS (SLP_MODE_TAIL | SLP_MODE_BENCH)
/* HOLDS: the modes that stop or resume the reading of shards. LEASES: the modes that show or change
 * leases. */
#define HOLDS (SLP_MODE_DRAIN | SLP_MODE_UNDRAIN | SLP_MODE_PAUSE | SLP_MODE_RESUME)
#define LEASES \
  (SLP_MODE_LEASES | SLP_MODE_EXPLAIN | SLP_MODE_RELEASE | SLP_MODE_RESET | SLP_MODE_WATCH | HOLDS)
#define REGISTRY (SLP_MODE_CONSUMERS | SLP_MODE_DEREGISTER)
/* the modes that call a service */
#define TALKS                                                                                          \
  (READS | SLP_MODE_LIST | SLP_MODE_APPS | LEASES | SLP_MODE_MIGRATE | REGISTRY | SLP_MODE_MULTILANG | \
   SLP_MODE_PRODUCE)
#define ALL (TALKS | SLP_MODE_SERVE | SLP_MODE_DEMO | SLP_MODE_IAM | SLP_MODE_DUMP | SLP_MODE_CHECK)

const char slp_log_contexts[] = "budget, credentials, fetch, lease, list, metrics, order, shard";

const slp_option slp_options[] = {
    {O_START, 'o', "start", SLP_NEEDS_VALUE, "POSITION", READS | SLP_MODE_MIGRATE | LEASES,
     "Where to begin and end",
     "where to start: latest (the default), oldest, -N: the last N records, s@TIME, SHARD:SEQUENCE, "
     "SHARD:SEQUENCE.SUB, or @FILE, a "
     "file with a token of --save or bloop. e@TIME is --until. TIME is Unix time (10 digits: seconds, 13: "
     "milliseconds), 2026-01-31T12:00:00Z (or +01:00; UTC when no zone is given), 2026-01-31, how long ago "
     "(90s, 10m, 2h30m, 1d), or 13:10: today, local time. For --reset and the like: -o of the workers"},
    {O_SINCE, 0, "since", SLP_NEEDS_VALUE, "TIME", READS, NULL, "the same as -o s@TIME"},
    {O_LAST, 'n', "last", SLP_NEEDS_VALUE, "N", SLP_MODE_TAIL, NULL,
     "print the last N records of all shards and streams together, by arrival, and exit; they are searched "
     "back from now, by this machine's clock. -o -N goes on with what comes then"},
    {O_UNTIL, 0, "until", SLP_NEEDS_VALUE, "TIME", SLP_MODE_TAIL, NULL,
     "exit when everything that arrived before TIME is printed; what arrived at TIME or later is not "
     "printed. With -G: when that is done for this worker's shards and live workers have the rest"},
    {O_TIP, 'e', "exit-at-tip", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "exit when every shard is read to its tip, and the children of closed shards are listed. A stream that "
     "is written to without a pause has no tip: there, --until 0s exits when all that arrived before now is "
     "printed. With -G: every shard of the application, as its workers report"},
    {O_NO_FOLLOW, 0, "no-follow", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL, "the same as -e"},
    {O_COUNT, 'c', "count", SLP_NEEDS_VALUE, "N", SLP_MODE_TAIL | SLP_MODE_PRODUCE, NULL,
     "exit after printing N records. Each record of an aggregate counts; one of cwlogs is one, and prints a "
     "line per event. With -P: after reading N"},
    {O_TIMEOUT, 0, "timeout", SLP_NEEDS_VALUE, "SECONDS", TALKS, NULL,
     "exit this long after the last record; fail if nothing was answered in that time. With -G the time "
     "starts when every shard has a live reader. With -P: fail if records wait and none was put for that "
     "long"},
    {O_SHARD, 'p', "shard", SLP_NEEDS_VALUE, "SHARD", READS, NULL,
     "only shards whose id ends with this; may be repeated. key:TEXT: only the shards that records with the "
     "partition key TEXT go to, and those they are split or merged into. For a stream on demand only the "
     "records with that key are printed, and all shards are read if keys do not choose the shard "
     "(RecordDistributionStrategy AUTO), or may not have when wanted records arrived"},
    {O_ORDER, 0, "order", SLP_NEEDS_VALUE, "time|shard", READS, NULL,
     "time (the default): by arrival, across all shards and streams; shard: each shard by itself"},
    {O_SAVE, 0, "save", SLP_NEEDS_VALUE, "FILE", SLP_MODE_TAIL, NULL,
     "store the position in FILE; if the file exists, continue from there, and -o is only for the first "
     "start. Only what was written to standard output counts as read. One process per file"},
    {O_TOKEN, 0, "token", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "at the end print the position on standard error, for -o @FILE: a line of JSON for each stream"},
    {O_CONSUME, 'C', "consume", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "tail, the default (for users of kcat)"},
    {O_APP, 'G', "app", SLP_NEEDS_VALUE, "APP", SLP_MODE_TAIL | SLP_MODE_IAM | LEASES, "Sharing a stream",
     "share the shards with all other workers of the application APP: the same command, started as often as "
     "you like, on any number of machines. One worker reads each shard, from where the last one left off; -o "
     "is only where a new application starts. What was written to standard output counts as read"},
    {O_STORE, 0, "store", SLP_NEEDS_VALUE, "STORE", SLP_MODE_TAIL | SLP_MODE_IAM | SLP_MODE_APPS | LEASES,
     NULL,
     "where the leases are\n"
     "  dynamodb:TABLE  a table, created if missing\n"
     "  dynamodb        the table sloop, the default\n"
     "  sqlite:FILE     for the processes of one machine\n"
     "  memory          nowhere: for one process alone"},
    {O_APPS, 0, "apps", SLP_NO_VALUE, NULL, ALL, "Watching who reads a stream",
     "list the applications whose leases are in the tables of the account, or in --store: schema, stream, "
     "workers, shards that are not read to their end, and the lag that living workers tell"},
    {O_LEASES, 0, "leases", SLP_NO_VALUE, NULL, ALL, NULL,
     "show the leases of -G APP: each shard's owner, position, its age and the lag; then the workers. The "
     "lag of a shard that no live worker reports is read at its checkpoint"},
    {O_NO_READ, 0, "no-read", SLP_NO_VALUE, NULL, SLP_MODE_LEASES, NULL,
     "read and list no shards: what no live worker reports is unknown"},
    {O_LAG_OVER, 0, "lag-over", SLP_NEEDS_VALUE, "SPAN", SLP_MODE_LEASES | SLP_MODE_WATCH, NULL,
     "exit with status 7 if a shard's lag is above SPAN (90s, 5m, 2h30m), or not known, and say which. With "
     "--watch: show such a lag in red (without it from 10 minutes on), a tenth of it in yellow"},
    {O_EXPLAIN, 0, "explain", SLP_NEEDS_VALUE, "SHARD", ALL, NULL, "say why a shard is read, or is not"},
    {O_WATCH, 0, "watch", SLP_MAY_HAVE_VALUE, "SECONDS", ALL, NULL,
     "a live view of the leases; reads the table every 2 seconds, or SECONDS. Keys on a terminal: ? lists "
     "them, q quits, s sorts, / filters, Enter says why a shard is read or not, w shows workers"},
    {O_RELEASE, 0, "release", SLP_NEEDS_VALUE, "NAME", ALL, "Changing who reads a stream, and from where",
     "a shard: end its parking, and release its lease if the owner is dead; a worker: evict it, so that "
     "others take all its leases. If alive, it joins again"},
    {O_RESET, 0, "reset", SLP_NEEDS_VALUE, "SHARD", ALL, NULL,
     "set the position of the shard, or of all: --to says where. Refused while a live worker owns one of "
     "them"},
    {O_TO, 0, "to", SLP_NEEDS_VALUE, "POSITION", SLP_MODE_RESET, NULL,
     "oldest, latest, s@TIME, or for one shard a SEQUENCE or SEQUENCE.SUB. Rows of vmware-go-kcl and "
     "motorway store no start: there -o must be that of the workers"},
    {O_FORCE, 0, "force", SLP_NO_VALUE, NULL, SLP_MODE_RESET | SLP_MODE_DEREGISTER, NULL,
     "evict live owners first; they lose all leases and join again. With --deregister: do not ask"},
    {O_DRAIN, 0, "drain", SLP_NO_VALUE, NULL, ALL, NULL,
     "have the workers of -G APP stop reading: they finish what is out, save and release, and stay. Ends "
     "when "
     "nobody reads any more (--timeout: 60 s). Workers that start meanwhile wait too, until --undrain"},
    {O_UNDRAIN, 0, "undrain", SLP_NO_VALUE, NULL, ALL, NULL, "have them go on where they stopped"},
    {O_PAUSE, 0, "pause", SLP_NEEDS_VALUE, "SHARD", ALL, NULL,
     "have nobody read this shard of -G APP: its owner finishes what is out, saves and releases it"},
    {O_RESUME, 0, "resume", SLP_NEEDS_VALUE, "SHARD", ALL, NULL, "have it read again"},
    {O_MIGRATE, 0, "migrate", SLP_NEEDS_VALUE, "FROM TO", ALL, NULL,
     "copy a stream's positions from one place to another: SCHEMA:APP, SCHEMA:APP@STORE, or token:FILE (- is "
     "standard input or output). Shows what it would do. Refused while a worker lives on either side"},
    {O_WRITE, 0, "write", SLP_NO_VALUE, NULL, SLP_MODE_MIGRATE, NULL, "do it"},
    {O_SNAPSHOT, 0, "snapshot", SLP_NO_VALUE, NULL, SLP_MODE_MIGRATE, NULL,
     "copy FROM as it is now, though its workers live; they go on, and nothing is written there"},
    {O_MULTILANG, 0, "multilang", SLP_NEEDS_VALUE, "FILE", ALL, "Instead of Amazon's MultiLangDaemon",
     "do what that daemon does with this .properties file: one process per shard, which speaks its protocol. "
     "With --leases, --explain and the like: show that file's application"},
    {O_CHECK, 0, "check", SLP_NEEDS_VALUE, "FILE", ALL, NULL,
     "start nothing; say what --multilang FILE would do, and which keys have no effect"},
    {O_TRACE_PROTOCOL, 0, "trace-protocol", SLP_NO_VALUE, NULL, SLP_MODE_MULTILANG, NULL,
     "print each line to (>) and from (<) the processes on standard output"},
    {O_GREP, 0, "grep", SLP_NEEDS_VALUE, "REGEX", SLP_MODE_TAIL, "Which records",
     "only records whose decoded payload matches this regular expression, in the dialect of Perl and grep "
     "-P; repeated: any of them. The payload is matched like a line: ^ and $ are its ends"},
    {O_GREPV, 0, "grepv", SLP_NEEDS_VALUE, "REGEX", SLP_MODE_TAIL, NULL,
     "skip records whose payload matches; repeated: any of them"},
    {O_KEY_IS, 0, "key-is", SLP_NEEDS_VALUE, "TEXT", SLP_MODE_TAIL, NULL,
     "only records whose decoded partition key is TEXT; repeated: any of them. --key REGEX: only those whose "
     "key matches; with both, either. Every shard is read; -p key:TEXT reads those the key goes to"},
    {O_IGNORE_CASE, 'i', "ignore-case", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "--grep, --grepv and --key ignore case; (?i) does so for one of them"},
    {O_UNIQUE, 0, "unique", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "skip a record with the partition key and payload (DynamoDB: event id) of one of the last 100,000: a "
     "producer sent it twice, or it was delivered again"},
    {O_DECODE, 's', "decode", SLP_NEEDS_VALUE, "DECODER", SLP_MODE_TAIL | SLP_MODE_IAM,
     "How they are printed",
     "decode payloads; key=DECODER: decode keys. Separate several steps by commas. An empty one stays empty: "
     "a Kafka tombstone is not an error."},
    {O_SCHEMA_FILE, 0, "schema-file", SLP_NEEDS_VALUE, "[ID=]FILE[#MESSAGE]", SLP_MODE_TAIL | SLP_MODE_IAM,
     NULL,
     "for -s avro, protobuf and glue: the schema of records with this schema version id in their header; "
     "without ID, of all that no other file is for. Avro: in JSON; Protobuf: what protoc "
     "--descriptor_set_out writes. #MESSAGE: the message of records without that header. For others the Glue "
     "Schema Registry is asked"},
    {O_FORMAT, 'f', "format", SLP_NEEDS_VALUE, "FORMAT", SLP_MODE_TAIL, NULL,
     "print this for each record; no newline is added.\n"
     "  %s payload  %S its length  %R length as 4 bytes\n"
     "  %k key      %K its length, or -1 when it has none\n"
     "  %t stream   %p shard       %o sequence number\n"
     "  %T arrival time, ms\n"
     "  %{time} the same with its zone, as of --timestamps\n"
     "  %{time:%H:%M:%S.%3N} by strftime(3); %3N: ms\n"
     "  %u sub-sequence            %n DynamoDB's event\n"
     "  %e epoch of the lease      %w this worker (-G)\n"
     "  %l ms behind the tip       %% percent sign\n"
     "  \\n \\r \\t \\0 \\\\ \\xXX     one byte"},
    {O_JSON, 'J', "json", SLP_NO_VALUE, NULL,
     READS | SLP_MODE_LIST | SLP_MODE_APPS | SLP_MODE_LEASES | SLP_MODE_CONSUMERS | SLP_MODE_IAM |
         SLP_MODE_PRODUCE,
     NULL, "one JSON object a line; with -P the lines that are read"},
    {O_DELIMITER, 'D', "delimiter", SLP_NEEDS_VALUE, "TEXT", SLP_MODE_TAIL | SLP_MODE_PRODUCE, NULL,
     "print this after each record instead of a newline; \\n \\r \\t \\0 \\\\ \\xXX are bytes. With -P it is "
     "read"},
    {O_KEY, 'K', "key-delimiter", SLP_NEEDS_VALUE, "TEXT", SLP_MODE_TAIL | SLP_MODE_PRODUCE, NULL,
     "print the partition key and this before each payload. With -P what stands before the first TEXT of a "
     "line is its key"},
    {O_OFFSET, 'O', "offset", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "print the sequence number (and .SUB of an aggregate's record) and the delimiter of -K, else a tab, "
     "before each record"},
    {O_TIMESTAMPS, 0, "timestamps", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "print the arrival time before each record: 2026-01-31T13:10:05.123+01:00. Local time (TZ), or --utc"},
    {O_UTC, 0, "utc", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "--timestamps, %{time} and the line at Ctrl-C show UTC. (-u is kcat's: unbuffered)"},
    {O_NULL, 'Z', "null", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL, "print empty keys and payloads as NULL"},
    {O_UNBUFFERED, 'u', "unbuffered", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, NULL,
     "write each record at once, not together with those that came with it"},
    {O_COLOR, 0, "color", SLP_NEEDS_VALUE, "auto|always|never", SLP_MODE_TAIL | SLP_MODE_WATCH, NULL,
     "shards, keys and what --grep and --key match; with --watch lags and states. auto (the default): on a "
     "terminal, unless NO_COLOR is set. Late records are shown reversed"},
    {O_PRODUCE, 'P', "produce", SLP_NO_VALUE, NULL, ALL, "Writing records",
     "put the lines of standard input into STREAM; -P STREAM FILE...: each file as one record. For "
     "sandboxes, "
     "tests, replays and small jobs. Records of one key stay in order. Without -K, -k, -J and --key-from "
     "each record has a random key. -J: what -J printed is put back"},
    {O_LINES, 'l', "lines", SLP_NO_VALUE, NULL, SLP_MODE_PRODUCE, NULL,
     "the lines of each FILE instead; a FILE - is standard input"},
    {O_FIXED_KEY, 'k', "key", SLP_NEEDS_VALUE, "KEY", SLP_MODE_TAIL | SLP_MODE_PRODUCE, NULL,
     "the key of all records; with -K of lines without TEXT. Without -P it is a REGEX, as of --grep: only "
     "records whose decoded key matches are printed; repeated: any of them"},
    {O_KEY_FROM, 0, "key-from", SLP_NEEDS_VALUE, "PATH", SLP_MODE_PRODUCE, NULL,
     "each line is a JSON object, and the key is its member .NAME or .NAME.NAME..., a text or a number"},
    {O_RATE, 0, "rate", SLP_NEEDS_VALUE, "N", SLP_MODE_PRODUCE, NULL, "read at most N records a second"},
    {O_SPEED, 0, "speed", SLP_NEEDS_VALUE, "N", SLP_MODE_PRODUCE, NULL,
     "with -J: put records as far apart as they had arrived, N times as fast: 1x, 10x, 0.5x"},
    {O_REJECTS, 0, "rejects", SLP_NEEDS_VALUE, "FILE", SLP_MODE_PRODUCE, NULL,
     "write each line that was read and is not put to FILE, as it was"},
    {O_UNORDERED, 0, "unordered", SLP_NO_VALUE, NULL, SLP_MODE_PRODUCE, NULL,
     "records of one key may change places: faster where many have the same key, as with -k"},
    {O_AGGREGATE, 0, "aggregate", SLP_NO_VALUE, NULL, SLP_MODE_PRODUCE | SLP_MODE_IAM, NULL,
     "put what waits for one shard into aggregates of up to 50 KiB, as the Kinesis Producer Library does. "
     "Readers have to take them apart"},
    {O_LOSS, 0, "fail-on-loss", SLP_NO_VALUE, NULL, SLP_MODE_TAIL, "When something fails",
     "exit with status 3 if records can no longer be read, after two seconds in which the losses of all "
     "shards are reported; a reported loss does not end the next start, which continues after it (with "
     "--save and -G, lease layouts sloop and kcl only)"},
    {O_KEEP_GOING, 'E', "keep-going", SLP_NO_VALUE, NULL, SLP_MODE_TAIL | SLP_MODE_MULTILANG, NULL,
     "do not exit on these errors: a record that can't be decoded is printed as it came, one that --grep "
     "can't decide about is printed, a service that can't be reached at first is tried for ever"},
    {O_CONTACT, 'm', "contact-timeout", SLP_NEEDS_VALUE, "SECONDS", TALKS | SLP_MODE_IAM, NULL,
     "fail if the service has not answered by then"},
    {O_ENDPOINT, 'b', "endpoint", SLP_NEEDS_VALUE, "URL", TALKS | SLP_MODE_IAM, "The service",
     "use this instead of AWS; else AWS_ENDPOINT_URL_KINESIS (_DYNAMODB, _DYNAMODB_STREAMS), "
     "AWS_ENDPOINT_URL"},
    {O_WIRE, 0, "wire", SLP_NEEDS_VALUE, "auto|cbor|json", READS, NULL,
     "how Kinesis records travel; auto: CBOR where it is spoken"},
    {O_PUSH, 0, "push", SLP_MAY_HAVE_VALUE, "NAME", READS | SLP_MODE_IAM | SLP_MODE_EXPLAIN | SLP_MODE_WATCH,
     NULL,
     "have Kinesis push records as they arrive (enhanced fan-out), as the registered consumer NAME, which is "
     "registered if missing and then stays; AWS bills each consumer by shard-hour and GB. NAME: by default "
     "APP of -G, else stream-tail; or a consumer's ARN, which is not registered"},
    {O_CONSUMERS, 0, "consumers", SLP_NO_VALUE, NULL, ALL, NULL,
     "list all consumers registered with the stream: name, state, creation time, ARN. AWS bills each of them "
     "until it is deregistered, read or not"},
    {O_DEREGISTER, 0, "deregister", SLP_NEEDS_VALUE, "NAME", ALL, NULL,
     "deregister the consumer NAME of the stream. Asks first, because its readers are interrupted"},
    {O_METRICS, 0, "metrics", SLP_NEEDS_VALUE, "ADDRESS:PORT",
     SLP_MODE_TAIL | SLP_MODE_MULTILANG | SLP_MODE_LEASES, "Settings, logs and metrics",
     "serve metrics to Prometheus at http://ADDRESS:PORT/metrics, and /ready (503 and the reason if it does "
     "not work) and /healthz to probes. :PORT listens on all IPv4 addresses of the machine. Port 0: any free "
     "one, printed on standard error. For CloudWatch: -X cloudwatch=NAMESPACE. With --leases: metrics of the "
     "lease tables, read every 30 s (-X leases_ms), of each -G and STREAM; no worker need run"},
    {O_KNOB, 'X', "set", SLP_NEEDS_VALUE, "NAME=VALUE", ALL, NULL,
     "set anything else; -X list shows all settings, -X dump their values"},
    {O_CONFIG, 'F', "config", SLP_NEEDS_VALUE, "FILE", ALL, NULL,
     "read options from FILE; else from STREAM_TAIL_CONFIG, else ~/.config/stream-tail.conf"},
    {O_QUIET, 'q', "quiet", SLP_NO_VALUE, NULL, ALL, NULL, "only the reason of a failure on standard error"},
    {O_VERBOSE, 'v', "verbose", SLP_NO_VALUE, NULL, ALL, NULL,
     "a progress line a second on standard error; -vv, -vvv: logs"},
    {O_DEBUG, 'd', "debug", SLP_NEEDS_VALUE, "CONTEXT,...", TALKS, NULL,
     "the log lines of these parts on standard error: all, or of budget, credentials, fetch, lease, list, "
     "metrics, order, shard"},
    {O_LIST, 'L', "list", SLP_NO_VALUE, NULL, ALL, "Finding streams",
     "list the shards of each STREAM: id, state, parents, ranges. Without STREAM: list the streams of the "
     "account in the region, and its tables with a stream"},
    {O_SERVE, 'M', "sandbox", SLP_NEEDS_VALUE, "N", ALL, "Trying and measuring",
     "serve a sandbox Kinesis with a stream of N shards until standard input ends; prints the environment "
     "that clients need. STREAM: demo"},
    {O_FEED, 0, "feed", SLP_NEEDS_VALUE, "N", SLP_MODE_SERVE, NULL,
     "with -M: put N records a second into the stream, orders of a made-up shop in JSON. The sandbox keeps "
     "them in memory"},
    {O_DEMO, 0, "demo", SLP_MAY_HAVE_VALUE, "SECONDS", ALL, NULL,
     "sandbox, producers, a split and a merge, and a tail of it all"},
    {O_BENCH, 0, "bench", SLP_MAY_HAVE_VALUE, "SECONDS", ALL, NULL,
     "read STREAM, discard it and report; without STREAM: a sandbox in its own process"},
    {O_IAM, 0, "iam", SLP_NO_VALUE, NULL, ALL, "Rights",
     "print the IAM policy that reading each STREAM needs; with -G, for its leases too; with -P, the one "
     "that putting records needs"},
    {O_TRY, 0, "try", SLP_NO_VALUE, NULL, SLP_MODE_IAM, NULL,
     "try these rights instead, by calls that change nothing, and print a line for each: allowed, denied, "
     "untried or unknown, and why. Exits with status 8 if one is denied"},
    {O_KCAT, 0, "kcat", SLP_NO_VALUE, NULL, ALL, "Other texts", "kcat's flags, and what they are here"},
    {O_MAN, 0, "man", SLP_NO_VALUE, NULL, ALL, NULL, "the manual page, for man -l -"},
    {O_COMPLETION, 0, "completion", SLP_NEEDS_VALUE, "bash|zsh|fish", ALL, NULL,
     "a script that completes options, and names of streams, shards, applications, workers and profiles"},
    {O_HELP, 'h', "help", SLP_MAY_HAVE_VALUE, "TOPIC", ALL, NULL,
     "what is needed most. -h TOPIC (or --help=TOPIC): all options of one topic; -h lists the topics. -h "
     "all: all options"},
    {O_VERSION, 'V', "version", SLP_NO_VALUE, NULL, ALL, NULL, "the version"},
};
const size_t slp_options_n = SLP_COUNT(slp_options);

const slp_kcat_row slp_kcat_rows[] = {
    {"-C", "consumer", "-C, and the default"},
    {"-G GROUP", "balanced consumer group", "-G APP STREAM..., --store says where the leases are"},
    {"-P", "producer", "-P"},
    {"-L", "list metadata", "-L lists streams, -L STREAM its shards, parents and ranges"},
    {"-Q", "offset for a timestamp", "-o s@TIME begins there"},
    {"-M N", "mock cluster", "-M N: a sandbox with a stream of N shards"},
    {"-t TOPIC", "topic", "STREAM, as many as you like"},
    {"-p PARTITION", "partition", "-p SHARD: the end of its id; key:TEXT"},
    {"-b BROKERS", "brokers", "-b URL"},
    {"-o OFFSET", "where to begin",
     "-o POSITION: end is latest, stored is --save, -N the last N of all shards"},
    {"-o s@MS, e@MS", "begin, end at a time", "-o s@TIME, -o e@TIME (exclusive, as in kcat)"},
    {"-e", "exit at the end", "-e"},
    {"-c COUNT", "exit after messages", "-c N"},
    {"-f FORMAT", "format string", "-f FORMAT; no %h, also %u %l %n %e %w"},
    {"-J", "JSON lines", "-J"},
    {"-D DELIM", "message delimiter", "-D TEXT"},
    {"-K DELIM", "print keys; -P: find them", "-K TEXT"},
    {"-k KEY", "key to produce with", "-k KEY"},
    {"-O", "print offsets", "-O prints the sequence number"},
    {"-Z", "NULL for null", "-Z prints NULL for empty"},
    {"-u", "unbuffered output", "-u"},
    {"-s", "deserialize", "-s DECODER: avro, protobuf, base64, gzip, cwlogs, ..."},
    {"-r URL", "schema registry", "-s avro asks Glue's"},
    {"-H H=V", "headers to produce", "- records have no headers"},
    {"-z CODEC", "compression to produce with", "- aggregates are expanded: -X aggregates=keep"},
    {"-l", "send a file's lines", "-l, of as many files as you like"},
    {"-T", "tee what is sent", "- tee(1) before -P"},
    {"-E", "no exit on non-fatal errors", "-E"},
    {"-X NAME=VALUE", "property; list, dump", "-X NAME=VALUE, -X list, -X dump"},
    {"-F FILE", "properties; KCAT_CONFIG", "-F FILE, STREAM_TAIL_CONFIG, ~/.config/stream-tail.conf"},
    {"-d CONTEXTS", "debug", "-d CONTEXT,..."},
    {"-m SECONDS", "metadata timeout, 5", "-m SECONDS, none"},
    {"-q, -v, -V, -h", "quiet, verbose, ...", "-q, -v, -V, -h"},
    {"-U", "unit tests", "- meson test"},
};
const size_t slp_kcat_rows_n = SLP_COUNT(slp_kcat_rows);

void slp_option_shown(const slp_option *o, char out[40]) {
  if (o->letter)
    snprintf(out, 40, "-%c", o->letter);
  else
    snprintf(out, 40, "--%s", o->name);
}

int slp_option_wrong(const slp_option *o, const char *value, const char *need, char why[200]) {
  char name[40];
  slp_option_shown(o, name);
  snprintf(why, 200, "%s: \"%.60s\" is not %s", name, value, need);
  return SLP_EINVAL;
}

const char *slp_mode_shown(slp_mode mode) {
  switch (mode) {
    case SLP_MODE_LIST: return "-L";
    case SLP_MODE_SERVE: return "-M";
    case SLP_MODE_DEMO: return "--demo";
    case SLP_MODE_BENCH: return "--bench";
    case SLP_MODE_IAM: return "--iam";
    case SLP_MODE_LEASES: return "--leases";
    case SLP_MODE_EXPLAIN: return "--explain";
    case SLP_MODE_RELEASE: return "--release";
    case SLP_MODE_RESET: return "--reset";
    case SLP_MODE_DRAIN: return "--drain";
    case SLP_MODE_APPS: return "--apps";
    case SLP_MODE_UNDRAIN: return "--undrain";
    case SLP_MODE_PAUSE: return "--pause";
    case SLP_MODE_RESUME: return "--resume";
    case SLP_MODE_WATCH: return "--watch";
    case SLP_MODE_MIGRATE: return "--migrate";
    case SLP_MODE_CONSUMERS: return "--consumers";
    case SLP_MODE_DEREGISTER: return "--deregister";
    case SLP_MODE_MULTILANG: return "--multilang";
    case SLP_MODE_CHECK: return "--check";
    case SLP_MODE_PRODUCE: return "-P";
    default: return "following a stream";
  }
}

int slp_option_help(slp_buf *b, const slp_option *o) {
  slp_buf_add_z(b, o->help);
  return o->id == O_DECODE ? slp_decoder_lines(b) : slp_buf_failed(b);
}

const slp_option *slp_option_by_letter(char letter) {
  for (size_t i = 0; i < slp_options_n; i++)
    if (slp_options[i].letter && slp_options[i].letter == letter) return &slp_options[i];
  return NULL;
}

const slp_option *slp_option_by_name(slp_str name) {
  for (size_t i = 0; i < slp_options_n; i++)
    if (slp_str_is(name, slp_options[i].name)) return &slp_options[i];
  return NULL;
}

/* other_words.c - the table of options of other tools, each with what to type in stream-tail instead. */
#include "cli/other_words.h"

#include "cli/options.h"

/* No word of this table is an option of stream-tail. A unit test checks this. */
static const struct {
  const char *word, *here;
} words[] = {
    {"all-topics", "'*' as STREAM reads every stream of Kinesis"},
    {"bootstrap-server", "-b URL, or AWS_ENDPOINT_URL"},
    {"brokers", "-b URL, or AWS_ENDPOINT_URL"},
    {"consumer-group", "-G APP"},
    {"describe", "-L STREAM lists its shards; -G APP --leases STREAM shows who reads them, and the lag"},
    {"dry-run", "--migrate shows what it would do, until --write is given"},
    {"endpoint-url", "-b URL, or AWS_ENDPOINT_URL"},
    {"filter", "--grep REGEX"},
    {"follow", "it follows unless -e is given"},
    {"from-beginning", "-o oldest"},
    {"group", "-G APP"},
    {"lag", "-G APP --leases STREAM shows it"},
    {"limit", "-c N"},
    {"max-messages", "-c N"},
    {"output", "-J is JSON; -f FORMAT anything else"},
    {"partition", "-p SHARD"},
    {"region", "-X region=NAME, or AWS_REGION"},
    {"profile", "-X profile=NAME, or AWS_PROFILE"},
    {"replay", "-G APP --reset all --to POSITION STREAM; without an application -o POSITION"},
    {"reset-offsets", "-G APP --reset all --to POSITION STREAM"},
    {"rewind", "-G APP --reset all --to POSITION STREAM; without an application -o POSITION"},
    {"seek", "-G APP --reset SHARD --to POSITION STREAM"},
    {"shard-id", "-p SHARD"},
    {"shard-iterator-type", "-o oldest, -o latest, -o s@TIME or -o SHARD:SEQUENCE"},
    {"stream", "STREAM is a word of its own, without an option"},
    {"stream-name", "STREAM is a word of its own, without an option"},
    {"to-beginning", "-G APP --reset all --to oldest STREAM"},
    {"to-earliest", "-G APP --reset all --to oldest STREAM"},
    {"to-latest", "-G APP --reset all --to latest STREAM"},
    {"topic", "STREAM is a word of its own, without an option"},
    {"wait", "it waits for records unless -e is given"},
};

const char *slp_other_word(slp_str word) {
  for (size_t i = 0; i < SLP_COUNT(words); i++)
    if (slp_str_is(word, words[i].word)) return words[i].here;
  return NULL;
}

const char *slp_other_letter(char letter) {
  for (size_t i = 0; i < slp_kcat_rows_n; i++)
    if (slp_kcat_rows[i].flag[1] == letter) {
      const char *here = slp_kcat_rows[i].here;
      return strncmp(here, "- ", 2) == 0 ? here + 2 : here;
    }
  return NULL;
}

/* complete.c - writes completion scripts for bash, zsh and fish. For names that only the service or a file
 * has (streams, shards ...), a script runs stream-tail with SLP_PROPOSE_WORD (propose.h). */
#include "base/buf.h"
#include "cli/decoder_table.h"
#include "cli/help.h"
#include "cli/knobs.h"
#include "cli/options.h"
#include "cli/propose.h"
#include "cli/topics.h"

static int is_words(const slp_option *o) { return o->value && strchr(o->value, '|') != NULL; }
static int is_file(const slp_option *o) { return o->value && strcmp(o->value, "FILE") == 0; }

/* Returns the words that a shell should propose as the value of an option, in the form "one|two", or NULL if
 * there are none. For -s and -h returns "", because add_words itself adds the names of decoders and
 * topics. */
static const char *words_of(const slp_option *o) {
  switch (o->id) {
    case O_DECODE:
    case O_HELP: return "";
    case O_START: return "latest oldest s@ e@ @";
    case O_STORE: return "dynamodb sqlite: memory";
    case O_TO: return "oldest latest s@";
    case O_SHARD: return "key:";
    case O_RESET: return "all";
    default: return is_words(o) ? o->value : NULL;
  }
}

/* If the value of an option is a name that SLP_PROPOSE_WORD can propose, returns the kind of that name, such
 * as "shards" (propose.h). Otherwise returns NULL. */
static const char *kind_of(const slp_option *o) {
  if (o->kind != SLP_NEEDS_VALUE) return NULL;
  if (o->id == O_RELEASE) return "workers";
  if (strcmp(o->value, "SHARD") == 0) return "shards";
  return strcmp(o->value, "APP") == 0 ? "apps" : NULL;
}

/* Writes the words with a space between them: "one|two" as "one two". */
static void add_words(slp_buf *b, const slp_option *o, const char *words) {
  if (o->id == O_DECODE) slp_decoder_names(b, " ");
  if (o->id == O_HELP) {
    slp_buf_add_z(b, "all");
    for (size_t i = 0; i < slp_topics_n; i++) slp_buf_addf(b, " %s", slp_topics[i].word);
  }
  for (; *words; words++) slp_buf_add_char(b, *words == '|' ? ' ' : *words);
}

static void add_knob_name(void *arg, const char *name, const char *unit, const char *meaning) {
  (void)unit;
  (void)meaning;
  slp_buf_addf(arg, " %s=", name);
}

static void add_knobs(slp_buf *b) {
  slp_buf_add_z(b, "list dump");
  slp_knobs_each(add_knob_name, b);
}

/* Writes the first clause of an option's help text. Leaves out the characters that have a meaning inside
 * zsh's '...[...]'. */
static void add_short_text(slp_buf *b, const char *text) {
  for (size_t n = 0; *text && *text != '\n' && *text != ';'; text++, n++) {
    if (*text == '.' && (text[1] == ' ' || text[1] == '\n' || !text[1])) break;
    if (n >= 60 && *text == ' ') break;
    if (strchr("[]:'\\", *text)) continue;
    slp_buf_add_char(b, *text);
  }
}

/* ---- bash ------------------------------------------------------------------------------------------ */

/* bash splits words at the characters of COMP_WORDBREAKS, such as : and =, and replaces only the last part of
 * a word. The script joins the parts again and compares whole words. From each reply it cuts off the parts
 * that bash does not replace (`kept`). */
static const char bash_head[] =
    "# bash completion for stream-tail; made by stream-tail --completion bash\n"
    "_stream_tail_offer() { # WORD...: proposes those that begin with what was typed\n"
    "  local word\n"
    "  for word; do\n"
    "    [[ $word == \"$cur\"* ]] || continue\n"
    "    word=$head$word\n"
    "    COMPREPLY+=(\"${word#\"$kept\"}\")\n"
    "  done\n"
    "}\n"
    "_stream_tail_names() { # KIND [BEFORE]: proposes names that the command finds, with BEFORE in front\n"
    "  local name names=()\n"
    "  while IFS= read -r name; do\n"
    "    printf -v name %q \"$name\"\n"
    "    names+=(\"$2$name\")\n"
    "  done < <(\"${words[0]/#\\~/$HOME}\" " SLP_PROPOSE_WORD
    " \"$1\" \"${words[@]:1:${#words[@]}-2}\" 2>/dev/null </dev/null)\n"
    "  _stream_tail_offer \"${names[@]}\"\n"
    "}\n"
    "_stream_tail() {\n"
    "  local i part cur prev head= kept words=() line=${COMP_LINE:0:COMP_POINT}\n"
    "  for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "    part=${COMP_WORDS[i]}\n"
    "    if ((i == 0)) || [[ $line == [[:space:]]* ]]; then\n"
    "      line=${line#\"${line%%[![:space:]]*}\"}\n"
    "      words+=(\"\")\n"
    "    fi\n"
    "    ((i == COMP_CWORD)) && part=$line\n"
    "    words[${#words[@]}-1]+=$part\n"
    "    line=${line#\"$part\"}\n"
    "  done\n"
    "  cur=${words[${#words[@]}-1]} prev=${words[${#words[@]}-2]}\n"
    "  [[ $part == [:=] ]] && part=\n"
    "  kept=${cur%\"$part\"}\n"
    "  [[ $cur == --*=* ]] && prev=${cur%%=*} head=${cur%%=*}= cur=${cur#*=}\n"
    "  COMPREPLY=()\n"
    "  case $prev in\n";

/* Writes the branch of bash's `case` that completes the value of an option. */
static void add_bash_case(slp_buf *b, const slp_option *o) {
  const char *words = words_of(o), *kind = kind_of(o);
  if (o->kind != SLP_NEEDS_VALUE && o->id != O_HELP) return;
  slp_buf_add_z(b, "    ");
  if (o->letter) slp_buf_addf(b, "-%c|", o->letter);
  slp_buf_addf(b, "--%s) ", o->name);
  if (is_file(o)) {
    slp_buf_add_z(b, "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")");
  } else if (o->id == O_KNOB) {
    slp_buf_add_z(b,
                  "compopt -o nospace 2>/dev/null\n      if [[ $cur == profile=* ]]; then "
                  "_stream_tail_names profiles profile=; else _stream_tail_offer ");
    add_knobs(b);
    slp_buf_add_z(b, "; fi");
  } else if (words || kind) {
    if (o->id == O_STORE || o->id == O_START || o->id == O_TO || o->id == O_SHARD)
      slp_buf_add_z(b, "compopt -o nospace 2>/dev/null; ");
    if (words) slp_buf_add_z(b, "_stream_tail_offer ");
    if (words) add_words(b, o, words);
    if (kind) slp_buf_addf(b, "%s_stream_tail_names %s", words ? "; " : "", kind);
  } else {
    slp_buf_add_char(b, ':'); /* proposes nothing, because the value may be anything */
  }
  slp_buf_add_z(b, " ;;\n");
}

int slp_completion_bash(slp_buf *b) {
  slp_buf_add_z(b, bash_head);
  for (size_t i = 0; i < slp_options_n; i++) add_bash_case(b, &slp_options[i]);
  slp_buf_add_z(b,
                "    *)\n      if [[ $head ]]; then :\n"
                "      elif [[ $cur == -* ]]; then _stream_tail_offer ");
  for (size_t i = 0; i < slp_options_n; i++) {
    const slp_option *o = &slp_options[i];
    if (i) slp_buf_add_char(b, ' ');
    if (o->letter) slp_buf_addf(b, "-%c ", o->letter);
    slp_buf_addf(b, "--%s", o->name);
  }
  return slp_buf_add_z(b,
                       "\n      else _stream_tail_names streams; fi ;;\n"
                       "  esac\n"
                       "}\n"
                       "complete -F _stream_tail stream-tail\n");
}

/* ---- zsh ------------------------------------------------------------------------------------------- */

static const char zsh_head[] =
    "#compdef stream-tail\n"
    "# zsh completion for stream-tail; made by stream-tail --completion zsh\n"
    "_stream_tail_names() { # KIND [WORD...]: names that the command finds, and words\n"
    "  local kind=$1\n"
    "  local -a names\n"
    "  names=(\"${(@f)$(${(Q)words[1]/#\\~/$HOME} " SLP_PROPOSE_WORD
    " $kind \"${(@Q)words[2,CURRENT-1]}\" 2>/dev/null </dev/null)}\")\n"
    "  shift\n"
    "  compadd -- \"$@\" ${names:#}\n"
    "}\n"
    "_stream_tail_setting() { # of -X\n"
    "  if compset -P 'profile='; then _stream_tail_names profiles\n"
    "  else compadd -S '' -- ";

static void add_zsh_value(slp_buf *b, const slp_option *o) {
  const char *words = words_of(o), *kind = kind_of(o);
  slp_buf_add_z(b, ":");
  add_short_text(b, is_words(o) ? o->name : o->value);
  slp_buf_add_char(b, ':');
  if (kind) {
    slp_buf_addf(b, " _stream_tail_names %s ", kind);
    for (; words && *words; words++) slp_buf_addf(b, "%s%c", *words == ':' ? "\\" : "", *words);
  } else if (o->id == O_KNOB) {
    slp_buf_add_z(b, " _stream_tail_setting");
  } else if (words) {
    slp_buf_add_char(b, '(');
    if (o->id == O_STORE)
      slp_buf_add_z(b, "dynamodb sqlite\\: memory");
    else
      add_words(b, o, words);
    slp_buf_add_char(b, ')');
  } else if (is_file(o)) {
    slp_buf_add_z(b, "_files");
  }
}

static void add_zsh_spec(slp_buf *b, const slp_option *o, int letter) {
  /* -h TOPIC is two words, although the option may stand without a topic */
  int needs = o->kind == SLP_NEEDS_VALUE || (letter && o->id == O_HELP);
  slp_buf_add_z(b, "  '*");
  if (letter)
    slp_buf_addf(b, "-%c%s", o->letter, o->kind == SLP_NEEDS_VALUE ? "+" : "");
  else
    slp_buf_addf(b, "--%s%s", o->name, needs ? "=" : o->kind == SLP_NO_VALUE ? "" : "=-");
  slp_buf_add_char(b, '[');
  add_short_text(b, o->help);
  slp_buf_add_char(b, ']');
  if (!letter && o->id == O_HELP) slp_buf_add_char(b, ':');
  if (needs || o->id == O_HELP)
    add_zsh_value(b, o);
  else if (o->kind == SLP_MAY_HAVE_VALUE)
    slp_buf_addf(b, "::%s:", o->value);
  slp_buf_add_z(b, "' \\\n");
}

int slp_completion_zsh(slp_buf *b) {
  slp_buf_add_z(b, zsh_head);
  add_knobs(b);
  slp_buf_add_z(b, "\n  fi\n}\n_arguments -s -S \\\n");
  for (size_t i = 0; i < slp_options_n; i++) {
    const slp_option *o = &slp_options[i];
    if (o->letter) add_zsh_spec(b, o, 1);
    add_zsh_spec(b, o, 0);
  }
  return slp_buf_add_z(b, "  '*:stream: _stream_tail_names streams'\n");
}

/* ---- fish ------------------------------------------------------------------------------------------ */

static void add_fish_option(slp_buf *b, const slp_option *o) {
  const char *words = words_of(o), *kind = kind_of(o);
  slp_buf_add_z(b, "complete -c stream-tail");
  if (o->letter) slp_buf_addf(b, " -s %c", o->letter);
  slp_buf_addf(b, " -l %s", o->name);
  if (o->kind == SLP_NEEDS_VALUE) slp_buf_add_z(b, is_file(o) ? " -r -F" : " -x");
  if (words || kind || o->id == O_KNOB) {
    slp_buf_add_z(b, " -a '");
    if (words) add_words(b, o, words);
    if (o->id == O_KNOB) add_knobs(b);
    if (o->id == O_KNOB) slp_buf_add_z(b, " profile=(__stream_tail_names profiles)");
    if (kind) slp_buf_addf(b, "%s(__stream_tail_names %s)", words ? " " : "", kind);
    slp_buf_add_char(b, '\'');
  }
  slp_buf_add_z(b, " -d '");
  add_short_text(b, o->help);
  slp_buf_add_z(b, "'\n");
}

int slp_completion_fish(slp_buf *b) {
  slp_buf_add_z(b,
                "# fish completion for stream-tail; made by stream-tail --completion fish\n"
                "function __stream_tail_names # KIND: names that the command finds\n"
                "  set -l words (commandline -opc)\n"
                "  set -q words[1]; or return\n"
                "  $words[1] " SLP_PROPOSE_WORD
                " $argv[1] $words[2..-1] 2>/dev/null </dev/null\n"
                "end\n"
                "function __stream_tail_asks_topic\n"
                "  set -l words (commandline -opc)\n"
                "  contains -- $words[-1] -h --help\n"
                "end\n"
                "complete -c stream-tail -f\n"
                "complete -c stream-tail -n 'not __stream_tail_asks_topic' "
                "-a '(__stream_tail_names streams)' -d stream\n"
                "complete -c stream-tail -n __stream_tail_asks_topic -a '");
  add_words(b, slp_option_by_letter('h'), "");
  slp_buf_add_z(b, "' -d topic\n");
  for (size_t i = 0; i < slp_options_n; i++) add_fish_option(b, &slp_options[i]);
  return slp_buf_failed(b);
}

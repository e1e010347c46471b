/* complete.c - writes completion scripts for bash and zsh. */
#include "base/buf.h"
#include "cli/decoder_table.h"
#include "cli/help.h"
#include "cli/knobs.h"
#include "cli/options.h"

static int is_words(const slp_option *o) { return o->value && strchr(o->value, '|') != NULL; }

/* Returns the words that a shell should propose as the value of an option, in the form "one|two", or NULL if
 * the value may be anything. For -s it returns "", because add_words proposes the names of the decoders. */
static const char *words_of(const slp_option *o) {
  if (is_words(o)) return o->value;
  if (o->id == O_DECODE) return "";
  if (o->id == O_START) return "latest oldest s@ e@ @";
  if (o->id == O_STORE) return "dynamodb sqlite memory";
  return o->id == O_TO ? "oldest latest s@" : NULL;
}

/* Writes the words with a space between them: "one|two" as "one two". */
static void add_words(slp_buf *b, const slp_option *o, const char *words) {
  if (o->id == O_DECODE) slp_decoder_names(b, " ");
  for (; *words; words++) slp_buf_add_char(b, *words == '|' ? ' ' : *words);
}

static void add_knob_name(void *arg, const char *name, const char *unit, const char *meaning) {
  (void)unit;
  (void)meaning;
  slp_buf_addf(arg, " %s=", name);
}

/* Writes the branch of bash's `case` that completes the value of an option. */
static void add_bash_case(slp_buf *b, const slp_option *o) {
  const char *words = words_of(o);
  if (o->kind != SLP_NEEDS_VALUE) return;
  slp_buf_add_z(b, "    ");
  if (o->letter) slp_buf_addf(b, "-%c|", o->letter);
  slp_buf_addf(b, "--%s) ", o->name);
  if (strcmp(o->value, "FILE") == 0) {
    slp_buf_add_z(b,
                  "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n");
  } else if (words || o->id == O_KNOB) {
    if (o->id == O_KNOB || o->id == O_STORE) slp_buf_add_z(b, "compopt -o nospace 2>/dev/null; ");
    slp_buf_add_z(b, "COMPREPLY=($(compgen -W '");
    add_words(b, o, words ? words : "list dump");
    if (o->id == O_KNOB) slp_knobs_each(add_knob_name, b);
    slp_buf_add_z(b, "' -- \"$cur\")) ;;\n");
  } else {
    slp_buf_add_z(b, "COMPREPLY=() ;;\n"); /* proposes nothing, because the value may be anything */
  }
}

int slp_completion_bash(slp_buf *b) {
  slp_buf_add_z(b,
                "# bash completion for stream-tail; made by stream-tail --completion bash\n"
                "_stream_tail() {\n"
                "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "  COMPREPLY=()\n"
                "  # --name=VALUE comes as three words\n"
                "  [[ $cur == = ]] && cur=\n"
                "  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                "  case $prev in\n");
  for (size_t i = 0; i < slp_options_n; i++) add_bash_case(b, &slp_options[i]);
  slp_buf_add_z(b, "    *) [[ $cur == -* ]] && COMPREPLY=($(compgen -W '");
  for (size_t i = 0; i < slp_options_n; i++) {
    const slp_option *o = &slp_options[i];
    if (i) slp_buf_add_char(b, ' ');
    if (o->letter) slp_buf_addf(b, "-%c ", o->letter);
    slp_buf_addf(b, "--%s", o->name);
  }
  return slp_buf_add_z(b,
                       "' -- \"$cur\")) ;;\n"
                       "  esac\n"
                       "}\n"
                       "complete -F _stream_tail stream-tail\n");
}

/* Writes the first clause of the help text. Leaves out the characters that have a meaning inside zsh's
 * '...[...]'. */
static void add_zsh_text(slp_buf *b, const char *text) {
  for (size_t n = 0; *text && *text != '\n' && *text != ';'; text++, n++) {
    if (*text == '.' && (text[1] == ' ' || text[1] == '\n' || !text[1])) break;
    if (n >= 60 && *text == ' ') break;
    if (strchr("[]:'\\", *text)) continue;
    slp_buf_add_char(b, *text);
  }
}

static void add_zsh_value(slp_buf *b, const slp_option *o) {
  const char *words = words_of(o);
  slp_buf_add_z(b, ":");
  add_zsh_text(b, is_words(o) ? o->name : o->value);
  slp_buf_add_z(b, words ? ":(" : ":");
  if (words) add_words(b, o, words);
  slp_buf_add_z(b, words ? ")" : strcmp(o->value, "FILE") == 0 ? "_files" : "");
}

static void add_zsh_spec(slp_buf *b, const slp_option *o, int letter) {
  slp_buf_add_z(b, "  '*");
  if (letter) slp_buf_addf(b, "-%c%s", o->letter, o->kind == SLP_NEEDS_VALUE ? "+" : "");
  if (!letter)
    slp_buf_addf(b, "--%s%s", o->name,
                 o->kind == SLP_NEEDS_VALUE ? "="
                 : o->kind == SLP_NO_VALUE  ? ""
                                            : "=-");
  slp_buf_add_char(b, '[');
  add_zsh_text(b, o->help);
  slp_buf_add_char(b, ']');
  if (o->kind == SLP_MAY_HAVE_VALUE) slp_buf_addf(b, "::%s:", o->value);
  if (o->kind == SLP_NEEDS_VALUE) add_zsh_value(b, o);
  slp_buf_add_z(b, "' \\\n");
}

int slp_completion_zsh(slp_buf *b) {
  slp_buf_add_z(b,
                "#compdef stream-tail\n"
                "# zsh completion for stream-tail; made by stream-tail --completion zsh\n"
                "_arguments -s -S \\\n");
  for (size_t i = 0; i < slp_options_n; i++) {
    const slp_option *o = &slp_options[i];
    if (o->letter) add_zsh_spec(b, o, 1);
    add_zsh_spec(b, o, 0);
  }
  return slp_buf_add_z(b, "  '*:stream:'\n");
}

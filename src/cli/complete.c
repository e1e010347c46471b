/* complete.c - completion scripts for bash and zsh. */
#include "cli/help.h"
#include "cli/knobs.h"
#include "cli/options.h"

#define STORES "dynamodb sqlite memory"

static int is_words(const slp_option *o) { return o->value && strchr(o->value, '|') != NULL; }

/* "one|two" as "one two" */
static int add_words(slp_buf *b, const char *words) {
  int bad = 0;
  for (; *words && !bad; words++) bad = slp_buf_add_char(b, *words == '|' ? ' ' : *words);
  return bad;
}

static int add_knob_name(void *arg, const char *name, const char *unit, const char *meaning) {
  (void)unit;
  (void)meaning;
  return slp_buf_addf(arg, " %s=", name);
}

/* The values a word can't follow: what comes next is completed as the option says. */
static int add_bash_case(slp_buf *b, const slp_option *o) {
  if (o->kind != SLP_NEEDS_VALUE) return 0;
  int bad = o->letter ? slp_buf_addf(b, "    -%c|--%s) ", o->letter, o->name)
                      : slp_buf_addf(b, "    --%s) ", o->name);
  if (bad) return bad;
  if (is_words(o)) {
    bad = slp_buf_add_z(b, "COMPREPLY=($(compgen -W '");
    if (!bad) bad = add_words(b, o->value);
    return bad ? bad : slp_buf_add_z(b, "' -- \"$cur\")) ;;\n");
  }
  if (strcmp(o->value, "FILE") == 0)
    return slp_buf_add_z(
        b, "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n");
  if (o->id == O_KNOB) {
    bad = slp_buf_add_z(b, "compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -W 'list dump");
    if (!bad) bad = slp_knobs_each(add_knob_name, b);
    return bad ? bad : slp_buf_add_z(b, "' -- \"$cur\")) ;;\n");
  }
  if (o->id == O_DECODE)
    return slp_buf_add_z(
        b, "COMPREPLY=($(compgen -W 'base64 hex utf8 gzip cwlogs ddb-json plain-json' -- \"$cur\")) ;;\n");
  if (o->id == O_START)
    return slp_buf_add_z(b, "COMPREPLY=($(compgen -W 'latest oldest s@ e@ @' -- \"$cur\")) ;;\n");
  if (o->id == O_STORE)
    return slp_buf_add_z(
        b, "compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -W '" STORES "' -- \"$cur\")) ;;\n");
  if (o->id == O_TO) return slp_buf_add_z(b, "COMPREPLY=($(compgen -W 'oldest latest s@' -- \"$cur\")) ;;\n");
  return slp_buf_add_z(b, "COMPREPLY=() ;;\n"); /* anything: nothing to propose */
}

int slp_completion_bash(slp_buf *b) {
  int bad = slp_buf_add_z(b,
                          "# bash completion for stream-tail; made by stream-tail --completion bash\n"
                          "_stream_tail() {\n"
                          "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                          "  COMPREPLY=()\n"
                          "  # --name=VALUE comes as three words\n"
                          "  [[ $cur == = ]] && cur=\n"
                          "  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                          "  case $prev in\n");
  for (size_t i = 0; i < slp_options_n && !bad; i++) bad = add_bash_case(b, &slp_options[i]);
  if (!bad) bad = slp_buf_add_z(b, "    *) [[ $cur == -* ]] && COMPREPLY=($(compgen -W '");
  for (size_t i = 0; i < slp_options_n && !bad; i++) {
    const slp_option *o = &slp_options[i];
    bad = o->letter ? slp_buf_addf(b, "%s-%c --%s", i ? " " : "", o->letter, o->name)
                    : slp_buf_addf(b, "%s--%s", i ? " " : "", o->name);
  }
  return bad ? bad
             : slp_buf_add_z(b,
                             "' -- \"$cur\")) ;;\n"
                             "  esac\n"
                             "}\n"
                             "complete -F _stream_tail stream-tail\n");
}

/* The first clause of the help, without what means something inside '...[...]'. */
static int add_zsh_text(slp_buf *b, const char *text) {
  int bad = 0;
  for (size_t n = 0; *text && *text != '\n' && *text != ';' && !bad; text++, n++) {
    if (*text == '.' && (text[1] == ' ' || text[1] == '\n' || !text[1])) break;
    if (n >= 60 && *text == ' ') break;
    if (strchr("[]:'\\", *text)) continue;
    bad = slp_buf_add_char(b, *text);
  }
  return bad;
}

static int add_zsh_value(slp_buf *b, const slp_option *o) {
  int bad = slp_buf_add_z(b, ":");
  if (!bad) bad = add_zsh_text(b, is_words(o) ? o->name : o->value);
  if (!bad) bad = slp_buf_add_z(b, ":");
  if (bad) return bad;
  if (is_words(o)) {
    bad = slp_buf_add_char(b, '(');
    if (!bad) bad = add_words(b, o->value);
    return bad ? bad : slp_buf_add_char(b, ')');
  }
  if (o->id == O_DECODE) return slp_buf_add_z(b, "(base64 hex utf8 gzip cwlogs ddb-json plain-json)");
  if (o->id == O_START) return slp_buf_add_z(b, "(latest oldest s@ e@ @)");
  if (o->id == O_STORE) return slp_buf_add_z(b, "(" STORES ")");
  if (o->id == O_TO) return slp_buf_add_z(b, "(oldest latest s@)");
  return strcmp(o->value, "FILE") == 0 ? slp_buf_add_z(b, "_files") : 0;
}

static int add_zsh_spec(slp_buf *b, const slp_option *o, int letter) {
  int bad = slp_buf_add_z(b, "  '*");
  if (!bad && letter) bad = slp_buf_addf(b, "-%c%s", o->letter, o->kind == SLP_NEEDS_VALUE ? "+" : "");
  if (!bad && !letter)
    bad = slp_buf_addf(b, "--%s%s", o->name,
                       o->kind == SLP_NEEDS_VALUE ? "="
                       : o->kind == SLP_NO_VALUE  ? ""
                                                  : "=-");
  if (!bad) bad = slp_buf_add_char(b, '[');
  if (!bad) bad = add_zsh_text(b, o->help);
  if (!bad) bad = slp_buf_add_char(b, ']');
  if (!bad && o->kind == SLP_MAY_HAVE_VALUE) bad = slp_buf_addf(b, "::%s:", o->value);
  if (!bad && o->kind == SLP_NEEDS_VALUE) bad = add_zsh_value(b, o);
  return bad ? bad : slp_buf_add_z(b, "' \\\n");
}

int slp_completion_zsh(slp_buf *b) {
  int bad = slp_buf_add_z(b,
                          "#compdef stream-tail\n"
                          "# zsh completion for stream-tail; made by stream-tail --completion zsh\n"
                          "_arguments -s -S \\\n");
  for (size_t i = 0; i < slp_options_n && !bad; i++) {
    const slp_option *o = &slp_options[i];
    if (o->letter) bad = add_zsh_spec(b, o, 1);
    if (!bad) bad = add_zsh_spec(b, o, 0);
  }
  return bad ? bad : slp_buf_add_z(b, "  '*:stream:'\n");
}

/* fault_script.c - parses the fault script, whose lines say which calls fail, and how (sloop_sandbox.h). */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/num.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"

#define ARGUMENT_MAX 65536

typedef enum { A_NONE, A_CODE, A_NUMBER, A_TEXT, A_VALUE } argument_kind;

static const struct {
  const char *word;
  slp_fault_action action;
  argument_kind argument;
} actions[] = {
    {"error", SLP_FAULT_ERROR, A_CODE},
    {"error-in-header", SLP_FAULT_ERROR_IN_HEADER, A_CODE},
    {"delay", SLP_FAULT_DELAY, A_NUMBER},
    {"cut", SLP_FAULT_CUT, A_NUMBER},
    {"drop", SLP_FAULT_DROP, A_NONE},
    {"throttle", SLP_FAULT_THROTTLE, A_NONE},
    {"expired", SLP_FAULT_EXPIRED, A_NONE},
    {"status", SLP_FAULT_STATUS, A_NUMBER},
    {"body", SLP_FAULT_BODY, A_TEXT},
    {"html", SLP_FAULT_HTML, A_NONE},
    {"no-next", SLP_FAULT_NO_NEXT, A_NONE},
    {"no-children", SLP_FAULT_NO_CHILDREN, A_NONE},
    {"children-with-next", SLP_FAULT_CHILDREN_WITH_NEXT, A_NONE},
    {"children-without-parents", SLP_FAULT_CHILDREN_WITHOUT_PARENTS, A_NONE},
    {"empty", SLP_FAULT_EMPTY, A_NONE},
    {"empty-object", SLP_FAULT_EMPTY_OBJECT, A_NONE},
    {"behind", SLP_FAULT_BEHIND, A_VALUE},
    {"repeat", SLP_FAULT_REPEAT, A_NONE},
    {"backwards", SLP_FAULT_BACKWARDS, A_NONE},
    {"foreign", SLP_FAULT_FOREIGN, A_NONE},
    {"bad-base64", SLP_FAULT_BAD_BASE64, A_NONE},
    {"trailing", SLP_FAULT_TRAILING, A_NONE},
    {"gzip", SLP_FAULT_GZIP, A_NONE},
    {"json-for-cbor", SLP_FAULT_JSON_FOR_CBOR, A_NONE},
    {"cbor-cut", SLP_FAULT_CBOR_CUT, A_NONE},
    {"lost", SLP_FAULT_DROP, A_NONE},
    {"twice", SLP_FAULT_TWICE, A_NONE},
    {"bad-crc", SLP_FAULT_BAD_CRC, A_NONE},
    {"silence", SLP_FAULT_SILENCE, A_NONE},
    {"no-initial-response", SLP_FAULT_NO_INITIAL, A_NONE},
    {"unknown-event", SLP_FAULT_UNKNOWN_EVENT, A_NONE},
};

static slp_str trim_script_blanks(slp_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s = (slp_str){s.p + 1, s.n - 1};
  while (s.n && strchr(" \t\r", s.p[s.n - 1])) s.n--;
  return s;
}

static slp_str take_script_word(slp_str *rest) {
  slp_str w = {rest->p, 0};
  while (w.n < rest->n && w.p[w.n] != ' ' && w.p[w.n] != '\t') w.n++;
  *rest = trim_script_blanks((slp_str){rest->p + w.n, rest->n - w.n});
  return w;
}

static slp_str without_comment(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '#') return trim_script_blanks((slp_str){s.p, i});
  }
  return s;
}

static int hex_digit(char ch) {
  if (ch >= '0' && ch <= '9') return ch - '0';
  if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
  if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
  return -1;
}

/* Replaces \xNN, \n and \\ in place. Returns the new length, or SLP_EINVAL. */
static int64_t unescape_argument(char *p, size_t n) {
  size_t to = 0;
  for (size_t i = 0; i < n; i++) {
    if (p[i] != '\\') {
      p[to++] = p[i];
      continue;
    }
    if (++i == n) return SLP_EINVAL;
    if (p[i] == '\\' || p[i] == 'n') {
      p[to++] = p[i] == 'n' ? '\n' : '\\';
      continue;
    }
    if (p[i] != 'x' || n - i < 3 || hex_digit(p[i + 1]) < 0 || hex_digit(p[i + 2]) < 0) return SLP_EINVAL;
    p[to++] = (char)(hex_digit(p[i + 1]) * 16 + hex_digit(p[i + 2]));
    i += 2;
  }
  return (int64_t)to;
}

/* Parses CODE[:STATUS[:MESSAGE]]. The parts stay in f->argument. */
static int read_code(slp_fault *f) {
  uint64_t status;
  f->status = strncmp(f->argument, "InternalFailure", 15) == 0 ? 500 : 400;
  f->message = "by order of the fault script";
  if (f->argument_n == 0 || f->argument[0] == ':') return SLP_EINVAL;
  char *colon = memchr(f->argument, ':', f->argument_n);
  if (!colon) return strchr(f->argument, ' ') ? SLP_EINVAL : 0;
  *colon = 0;
  char *number = colon + 1, *second = strchr(number, ':');
  if (second) {
    *second = 0;
    f->message = second + 1;
  }
  if (slp_parse_u64(slp_str_of(number), &status) || status < 200 || status > 599) return SLP_EINVAL;
  f->status = (int)status;
  return 0;
}

static int read_argument(slp_box *box, slp_fault *f, argument_kind kind, slp_str text) {
  if (kind == A_NONE) return text.n ? SLP_EINVAL : 0;
  if (text.n > ARGUMENT_MAX || (text.n == 0 && kind != A_TEXT)) return SLP_EINVAL;
  f->argument = slp_strdup(box->mem, text);
  if (!f->argument) return SLP_ENOMEM;
  f->argument_n = text.n;
  if (kind == A_NUMBER) {
    if (slp_parse_u64(text, &f->number)) return SLP_EINVAL;
    uint64_t most = f->action == SLP_FAULT_STATUS  ? 599
                    : f->action == SLP_FAULT_DELAY ? UINT32_MAX
                                                   : SIZE_MAX / 2;
    if (f->number > most || (f->action == SLP_FAULT_STATUS && f->number < 200)) return SLP_EINVAL;
  }
  if (kind == A_CODE) return read_code(f);
  if (kind == A_VALUE) return memchr(text.p, ' ', text.n) ? SLP_EINVAL : 0;
  if (kind == A_TEXT) {
    int64_t n = unescape_argument(f->argument, f->argument_n);
    if (n < 0) return SLP_EINVAL;
    f->argument_n = (size_t)n;
  }
  return 0;
}

/* Parses the third word of a line. A number means the shard with that number. Any other text is the end of a
 * shard's id, or the name of a table. */
static int read_shard(slp_box *box, slp_fault *f, slp_str text) {
  uint64_t number;
  slp_buf id;
  if (slp_str_is(text, "*")) return 0;
  if (!slp_box_name_valid(text)) return SLP_EINVAL;
  slp_buf_init(&id, box->mem, 256);
  int r = !slp_parse_u64(text, &number) && number < UINT32_MAX
              ? slp_buf_addf(&id, "shardId-%012u", (unsigned)number)
              : slp_buf_add_str(&id, text);
  if (!r) f->shard = slp_strdup(box->mem, slp_buf_str(&id));
  slp_buf_free(&id);
  f->table = slp_strdup(box->mem, text);
  return f->shard && f->table ? 0 : SLP_ENOMEM;
}

static int read_line(slp_box *box, slp_str line, slp_fault *f) {
  slp_str rest = line, count = take_script_word(&rest), operation = take_script_word(&rest),
          shard = take_script_word(&rest), action = take_script_word(&rest);
  if (slp_str_is(count, "*"))
    f->left = UINT64_MAX;
  else if (slp_parse_u64(count, &f->left) || f->left == 0)
    return SLP_EINVAL;
  if (!slp_str_is(operation, "*")) {
    if (!slp_box_operation_known(operation) && !slp_str_is(operation, SLP_BOX_EVENT)) return SLP_EINVAL;
    f->operation = slp_strdup(box->mem, operation);
    if (!f->operation) return SLP_ENOMEM;
  }
  int r = read_shard(box, f, shard);
  if (r) return r;
  for (size_t i = 0; i < SLP_COUNT(actions); i++) {
    if (!slp_str_is(action, actions[i].word)) continue;
    f->action = actions[i].action;
    if (actions[i].argument != A_TEXT) rest = without_comment(rest);
    return read_argument(box, f, actions[i].argument, rest);
  }
  return SLP_EINVAL;
}

int slp_box_faults(slp_box *box, const char *script, char why[160]) {
  slp_list read;
  int r = 0;
  if (why) why[0] = 0;
  if (!script) {
    slp_box_faults_clear(box);
    return 0;
  }
  slp_list_init(&read);
  while (*script && !r) {
    size_t n = strcspn(script, "\n");
    slp_str line = trim_script_blanks((slp_str){script, n});
    script += n + (script[n] == '\n');
    if (line.n == 0 || line.p[0] == '#') continue;
    slp_fault *f = SLP_NEW(box->mem, slp_fault);
    r = f ? read_line(box, line, f) : SLP_ENOMEM;
    if (f && r) slp_fault_free(box, f);
    if (f && !r) slp_list_add_last(&read, &f->link);
    if (r == SLP_EINVAL && why) {
      size_t take = slp_min_u64(line.n, 159);
      memcpy(why, line.p, take);
      why[take] = 0;
    }
  }
  if (r) slp_faults_free(box, &read); /* either the whole script is taken, or no line of it */
  for (slp_list *it; !r && (it = slp_list_pop(&read)) != NULL;) slp_list_add_last(&box->faults, it);
  return r;
}

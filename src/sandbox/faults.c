/* faults.c - the fault script: parses its lines, finds the line that applies to a call, and does what the
 * line says. */
#include "sandbox/model.h"

#include <stdio.h>

#include "base/num.h"
#include "sandbox/changes.h"

#define ARGUMENT_MAX 65536
#define CBOR_CUT_AT 16384 /* kinesalite cuts its answers at this size */

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

static int is_shape(slp_fault_action a) { return (a >= SLP_FAULT_NO_NEXT && a <= SLP_FAULT_BAD_BASE64); }

/* ---- reading the script ------------------------------------------------------------------------------- */
static void fault_free(slp_box *box, slp_fault *f) {
  slp_free(box->mem, f->operation);
  slp_free(box->mem, f->shard);
  slp_free(box->mem, f->table);
  slp_free(box->mem, f->argument);
  slp_free(box->mem, f);
}

static void free_list(slp_box *box, slp_list *list) {
  for (slp_list *it; (it = slp_list_pop(list)) != NULL;) fault_free(box, SLP_OWNER(it, slp_fault, link));
}

void slp_box_faults_clear(slp_box *box) { free_list(box, &box->faults); }

static slp_str trim(slp_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s = (slp_str){s.p + 1, s.n - 1};
  while (s.n && strchr(" \t\r", s.p[s.n - 1])) s.n--;
  return s;
}

static slp_str word(slp_str *rest) {
  slp_str w = {rest->p, 0};
  while (w.n < rest->n && w.p[w.n] != ' ' && w.p[w.n] != '\t') w.n++;
  *rest = trim((slp_str){rest->p + w.n, rest->n - w.n});
  return w;
}

static slp_str without_comment(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '#') return trim((slp_str){s.p, i});
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
static int64_t unescape(char *p, size_t n) {
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
    int64_t n = unescape(f->argument, f->argument_n);
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
  slp_str rest = line, count = word(&rest), operation = word(&rest), shard = word(&rest),
          action = word(&rest);
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
    slp_str line = trim((slp_str){script, n});
    script += n + (script[n] == '\n');
    if (line.n == 0 || line.p[0] == '#') continue;
    slp_fault *f = SLP_NEW(box->mem, slp_fault);
    r = f ? read_line(box, line, f) : SLP_ENOMEM;
    if (f && r) fault_free(box, f);
    if (f && !r) slp_list_add_last(&read, &f->link);
    if (r == SLP_EINVAL && why) {
      size_t take = slp_min_u64(line.n, 159);
      memcpy(why, line.p, take);
      why[take] = 0;
    }
  }
  if (r) free_list(box, &read); /* either the whole script is taken, or no line of it */
  for (slp_list *it; !r && (it = slp_list_pop(&read)) != NULL;) slp_list_add_last(&box->faults, it);
  return r;
}

/* ---- finding the line for a call ---------------------------------------------------------------------- */
static int ends_with(slp_str s, const char *end) {
  size_t n = strlen(end);
  return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* Returns 1 if s is the table's name, or an ARN that ends with it. */
static int is_table(slp_str s, const char *name) {
  size_t n = strlen(name);
  return ends_with(s, name) && (s.n == n || s.p[s.n - n - 1] == '/');
}

/* Returns 1 if this node, or a map that is a member of it, has a TableName that names the table. */
static int names_table(slp_box_call *c, uint32_t node, const char *table) {
  const slp_value *v = slp_box_tree_get(c->in, node, "TableName");
  if (v) return v->kind == SLP_VALUE_TEXT && is_table(v->text, table);
  for (uint32_t i = c->in->v[node].child; i; i = c->in->v[i].next) {
    v = c->in->v[i].kind == SLP_VALUE_MAP ? slp_box_tree_get(c->in, i, "TableName") : NULL;
    if (v && v->kind == SLP_VALUE_TEXT && is_table(v->text, table)) return 1;
  }
  return 0;
}

/* Returns 1 if a request to DynamoDB is about the table. A request may be about several tables: TransactItems
 * is a list of maps with actions, and RequestItems is a map whose keys are tables. */
static int asks_table(slp_box_call *c, const char *table) {
  if (names_table(c, 0, table)) return 1;
  const slp_value *v = slp_box_tree_get(c->in, 0, "TransactItems");
  for (uint32_t i = v && v->kind == SLP_VALUE_LIST ? v->child : 0; i; i = c->in->v[i].next) {
    if (c->in->v[i].kind == SLP_VALUE_MAP && names_table(c, i, table)) return 1;
  }
  v = slp_box_tree_get(c->in, 0, "RequestItems");
  for (uint32_t i = v && v->kind == SLP_VALUE_MAP ? v->child : 0; i; i = c->in->v[i].next) {
    if (is_table(c->in->v[i].key, table)) return 1;
  }
  return 0;
}

static int is_about(slp_box_call *c, const slp_fault *f, slp_str shard) {
  if (!f->shard) return 1;
  if (c->service == SLP_BOX_DYNAMODB) return asks_table(c, f->table);
  return ends_with(shard, f->shard) || (c->service == SLP_BOX_CHANGES && slp_str_is(shard, f->table));
}

/* Returns 1 if the line can be applied to an event of a subscription. A line for any operation ("*") applies
 * to requests only. */
static int suits_event(const slp_fault *f) {
  switch (f->action) {
    case SLP_FAULT_ERROR:
    case SLP_FAULT_ERROR_IN_HEADER:
    case SLP_FAULT_DELAY:
    case SLP_FAULT_CUT:
    case SLP_FAULT_DROP:
    case SLP_FAULT_BAD_CRC:
    case SLP_FAULT_SILENCE:
    case SLP_FAULT_NO_CHILDREN:
    case SLP_FAULT_UNKNOWN_EVENT: return f->operation != NULL;
    default: return 0;
  }
}

static int holds(slp_box_call *c, const slp_fault *f, slp_str shard) {
  int get = strcmp(c->operation, "GetRecords") == 0;
  if (f->operation && strcmp(f->operation, c->operation) != 0) return 0;
  if (!is_about(c, f, shard)) return 0;
  if (strcmp(c->operation, SLP_BOX_EVENT) == 0) return suits_event(f);
  if (f->action == SLP_FAULT_NO_INITIAL) return strcmp(c->operation, "SubscribeToShard") == 0;
  if (f->action == SLP_FAULT_SILENCE || f->action == SLP_FAULT_UNKNOWN_EVENT) return 0;
  if (is_shape(f->action) && c->service == SLP_BOX_CHANGES)
    return get && slp_changes_shape_fits(c, f->action);
  if (is_shape(f->action)) return get && slp_box_shape_fits(c, f->action);
  if (f->action == SLP_FAULT_BAD_CRC) return c->service == SLP_BOX_DYNAMODB;
  if (f->action == SLP_FAULT_EXPIRED) return get || strcmp(c->operation, "ListShards") == 0;
  if (f->action == SLP_FAULT_JSON_FOR_CBOR || f->action == SLP_FAULT_CBOR_CUT)
    return c->out.wire == SLP_WIRE_CBOR;
  return 1;
}

void slp_box_fault_find(slp_box_call *c, slp_str shard) {
  SLP_LIST_EACH(&c->box->faults, it) {
    slp_fault *f = SLP_OWNER(it, slp_fault, link);
    if (!holds(c, f, shard)) continue;
    c->fault = f;
    if (is_shape(f->action)) c->shape = f->action;
    return;
  }
}

/* ---- carrying out a line ------------------------------------------------------------------------------ */
static const char html_page[] =
    "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please log in to use this "
    "network.</body></html>";

/* Fails the call with the error of a throttled call to DynamoDB or DynamoDB Streams. Which error it is
 * depends on the operation: items are limited by capacity, GetRecords by the number of readers, and all other
 * calls by rates. */
static void throttle_tables(slp_box_call *c, int get) {
  static const char *const of_items[] = {
      "GetItem", "PutItem",      "UpdateItem",     "DeleteItem",         "Query",
      "Scan",    "BatchGetItem", "BatchWriteItem", "TransactWriteItems", "TransactGetItems"};
  for (size_t i = 0; i < SLP_COUNT(of_items); i++) {
    if (strcmp(c->operation, of_items[i]) != 0) continue;
    slp_box_fail(c, "ProvisionedThroughputExceededException",
                 "The level of configured provisioned throughput "
                 "for the table was exceeded (fault script).");
    return;
  }
  slp_box_fail(c, get ? "LimitExceededException" : "ThrottlingException",
               "Rate exceeded for %s (fault script).", c->operation);
}

int slp_box_fault_twice(const slp_box_call *c) { return c->fault && c->fault->action == SLP_FAULT_TWICE; }

int slp_box_fault_before(slp_box_call *c, slp_box_answer *answer) {
  const slp_fault *f = c->fault;
  int get = strcmp(c->operation, "GetRecords") == 0;
  if (!f) return 0;
  switch (f->action) {
    case SLP_FAULT_ERROR:
      slp_box_fail(c, f->argument, "%s", f->message);
      c->error_status = f->status;
      return 1;
    case SLP_FAULT_ERROR_IN_HEADER:
      answer->status = f->status;
      snprintf(answer->error_type, sizeof answer->error_type, "%s", f->argument);
      return 1;
    case SLP_FAULT_THROTTLE:
      if (c->service != SLP_BOX_KINESIS) {
        throttle_tables(c, get);
      } else if (get || strcmp(c->operation, "GetShardIterator") == 0 ||
                 strncmp(c->operation, "Put", 3) == 0) {
        slp_box_fail(c, "ProvisionedThroughputExceededException", "Rate exceeded for shard (fault script).");
      } else {
        slp_box_fail(c, "LimitExceededException", "Rate exceeded for %s (fault script).", c->operation);
      }
      return 1;
    case SLP_FAULT_EXPIRED:
      slp_box_fail(c, get ? "ExpiredIteratorException" : "ExpiredNextTokenException",
                   "%s expired (fault script).", get ? "Iterator" : "NextToken");
      return 1;
    case SLP_FAULT_STATUS:
      answer->status = (int)f->number;
      answer->content_type = NULL;
      return 1;
    case SLP_FAULT_BODY:
      if (slp_buf_add(&answer->body, f->argument, f->argument_n)) slp_box_no_memory(c);
      return 1;
    case SLP_FAULT_HTML:
      answer->content_type = "text/html";
      if (slp_buf_add_z(&answer->body, html_page)) slp_box_no_memory(c);
      return 1;
    case SLP_FAULT_JSON_FOR_CBOR:
      c->out.wire = SLP_WIRE_JSON;
      answer->content_type = "application/x-amz-json-1.1";
      return 0;
    default: return 0;
  }
}

static uint32_t crc32_of(slp_str s) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < s.n; i++) {
    crc ^= (uint8_t)s.p[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
  }
  return ~crc;
}

static int put_le32(slp_buf *b, uint32_t v) {
  char raw[4] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
  return slp_buf_add(b, raw, 4);
}

/* Turns the body into a valid gzip body without compressing it: RFC 1952 around stored blocks of RFC 1951. */
static int gzip(slp_box *box, slp_buf *body) {
  static const char head[10] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, (char)255};
  slp_buf z;
  size_t at = 0;
  slp_buf_init(&z, box->mem, body->max);
  slp_buf_add(&z, head, sizeof head);
  do {
    size_t part = slp_min_u64(body->n - at, 65535);
    char block[5] = {at + part == body->n, (char)part, (char)(part >> 8), (char)~part, (char)(~part >> 8)};
    slp_buf_add(&z, block, sizeof block);
    if (part) slp_buf_add(&z, body->p + at, part);
    at += part;
  } while (at < body->n);
  put_le32(&z, crc32_of(slp_buf_str(body)));
  int r = put_le32(&z, (uint32_t)body->n);
  slp_buf_free(r ? &z : body);
  if (!r) slp_buf_move(body, &z);
  return r;
}

void slp_box_fault_use(slp_box *box, slp_fault *f) {
  box->stats.faults_used++;
  if (f->left == UINT64_MAX || --f->left > 0) return;
  slp_list_remove(&f->link);
  fault_free(box, f);
}

void slp_box_fault_after(slp_box_call *c, slp_box_answer *answer) {
  slp_fault *f = c->fault;
  if (!f || (is_shape(f->action) && !c->fault_used)) return;
  switch (f->action) {
    case SLP_FAULT_DELAY: answer->delay_ms = (uint32_t)f->number; break;
    case SLP_FAULT_CUT: answer->cut_after = (size_t)f->number; break;
    case SLP_FAULT_DROP: answer->drop = 1; break;
    case SLP_FAULT_BAD_CRC: answer->bad_crc32 = 1; break;
    case SLP_FAULT_TRAILING:
      /* Appends a second value behind the answer. For JSON it is an empty object; for CBOR, twice the number
       * 0. */
      if (slp_buf_add(&answer->body, c->out.wire == SLP_WIRE_JSON ? "{}" : "\0\0", 2)) answer->drop = 1;
      break;
    case SLP_FAULT_GZIP:
      if (gzip(c->box, &answer->body))
        answer->drop = 1;
      else
        answer->content_encoding = "gzip";
      break;
    case SLP_FAULT_CBOR_CUT:
      if (answer->body.n > CBOR_CUT_AT)
        answer->body.n = CBOR_CUT_AT;
      else if (answer->body.n > 0)
        answer->body.n--;
      break;
    default: break;
  }
  c->fault = NULL;
  slp_box_fault_use(c->box, f);
}

/* faults.c - the lines of the fault script: finds the line that applies to a call, and does what the line
 * says. fault_script.c parses the lines. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"
#include "sandbox/value.h"

#include <stdio.h>

#define CBOR_CUT_AT 16384 /* kinesalite, another emulator of Kinesis, cuts its answers at this size */

static int is_shape(slp_fault_action a) { return (a >= SLP_FAULT_NO_NEXT && a <= SLP_FAULT_BAD_BASE64); }

void slp_fault_free(slp_box *box, slp_fault *f) {
  slp_free(box->mem, f->operation);
  slp_free(box->mem, f->shard);
  slp_free(box->mem, f->table);
  slp_free(box->mem, f->argument);
  slp_free(box->mem, f);
}

void slp_faults_free(slp_box *box, slp_list *list) {
  for (slp_list *it; (it = slp_list_pop(list)) != NULL;) slp_fault_free(box, SLP_OWNER(it, slp_fault, link));
}

void slp_box_faults_clear(slp_box *box) { slp_faults_free(box, &box->faults); }

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

static int does_fault_apply(slp_box_call *c, const slp_fault *f, slp_str shard) {
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
    if (!does_fault_apply(c, f, shard)) continue;
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
static int wrap_body_in_gzip(slp_box *box, slp_buf *body) {
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
  slp_fault_free(box, f);
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
      if (wrap_body_in_gzip(c->box, &answer->body))
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

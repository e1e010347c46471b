/* schema_registry.c - makes one call of GetSchemaVersion for each version.
 *
 * Request and answer have the form that botocore 1.44.8 knows (glue 2017-03-31, JSON 1.1). The request has
 * the member SchemaVersionId. The answer has SchemaVersionId, DataFormat, and a SchemaDefinition of at
 * most 170,000 characters. */
#include "cli/schema_registry.h"

#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/json_op.h"
#include "aws/limits.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "cli/decoder_table.h"
#include "cli/people_lines.h"
#include "cli/schemas.h"
#include "codec/fields.h"
#include "codec/json_write.h"
#include "host/host.h"

#include <stdio.h>

/* The most bytes of an answer: 170,000 characters, each written as two escapes of 6 bytes, and the other
 * members. */
#define ANSWER_MAX (2u << 20)
#define TELL_WAIT_US 3000000u /* after this time, the user is told that a call takes long */

typedef struct registry_call {
  slp_list link;
  slp_registry *registry;
  /* borrowed; the version that the call asks for. It stays in state ASKED until the call has ended, so
   * schemas.c does not free it before. */
  slp_version *version;
  slp_json_op op;
  uint64_t begun_us;
  uint8_t told;               /* 1: the user was told that this call takes long */
  slp_str format, definition; /* members of the answer; they point into op.answer */
} registry_call;

static registry_call *call_of(slp_list *it) { return SLP_OWNER(it, registry_call, link); }

static void free_call(registry_call *c) {
  slp_list_remove(&c->link);
  slp_json_op_free(&c->op);
  slp_free(c->registry->mem, c);
}

/* ---- the answer ---- */

static int read_answer(slp_json_op *op, int begin, const char **why) {
  registry_call *c = SLP_OWNER(op, registry_call, op);
  char id[SLP_SCHEMA_ID_TEXT];
  slp_field fields[] = {
      {"SchemaVersionId", {NULL, 0}}, {"DataFormat", {NULL, 0}}, {"SchemaDefinition", {NULL, 0}}};
  (void)begin;
  int r = slp_fields_read(op->answer.p, op->answer.n, NULL, fields, SLP_COUNT(fields), why);
  if (r) return r;
  slp_schema_id_text(c->version->id, id);
  c->format = fields[1].text;
  c->definition = fields[2].text;
  *why = !c->format.p || !c->definition.p                      ? "it has no schema"
         : fields[0].text.p && !slp_str_is(fields[0].text, id) ? "it is for another schema version"
                                                               : NULL;
  return *why ? SLP_EBADDATA : 0;
}

/* Reports why the registry does not return this version, and what the user can do about it. */
static void tell_missing_version(const registry_call *c, const char *id) {
  const slp_fail *f = &c->op.fail;
  const char *what = strcmp(f->aws_code, "EntityNotFoundException") == 0
                         ? "; it may be in another region or account than the stream"
                     : f->class == SLP_ACCESS ? "; allow glue:GetSchemaVersion (--iam)"
                                              : "";
  if (c->registry->quiet) return;
  slp_say_if_room(
      "the Glue Schema Registry does not give schema version %s: %s%s%s%s; --schema-file %s=FILE gives it",
      id, f->aws_code, f->aws_code[0] ? ": " : "", f->message, what, id);
}

static void on_done(slp_json_op *op) {
  registry_call *c = SLP_OWNER(op, registry_call, op);
  slp_registry *r = c->registry;
  char id[SLP_SCHEMA_ID_TEXT], why[SLP_DECODER_WHY];
  const slp_fail *f = &op->fail;
  slp_schema_id_text(c->version->id, id);
  if (f->class == SLP_FINE) {
    slp_schemas_answer(r->schemas, c->version, c->format, c->definition);
  } else {
    tell_missing_version(c, id);
    snprintf(why, sizeof why, "no schema %s (%.30s)", id,
             f->aws_code[0] ? f->aws_code : slp_class_name(f->class));
    slp_schemas_refuse(r->schemas, c->version, why);
  }
  free_call(c);
  r->on_answer(r);
}

/* ---- the question ---- */

static int put_request(registry_call *c) {
  char id[SLP_SCHEMA_ID_TEXT];
  slp_schema_id_text(c->version->id, id);
  slp_jw w = slp_jw_begin(&c->op.request);
  slp_jw_z(&w, "SchemaVersionId", id);
  return slp_jw_object_end(&w);
}

static int ask_glue_for_version(slp_schemas *s, slp_version *v, char why[SLP_DECODER_WHY]) {
  slp_registry *r = s->user;
  registry_call *c = r->aws ? SLP_NEW(r->mem, registry_call) : NULL;
  if (!c) {
    snprintf(why, SLP_DECODER_WHY,
             r->aws ? "no memory to ask for its schema" : "the registry can't be asked");
    return SLP_ENOMEM;
  }
  c->registry = r;
  c->version = v;
  c->begun_us = slp_now_us(r->aws->h);
  slp_json_op_init(&c->op, r->aws, ANSWER_MAX);
  slp_list_add_last(&r->calls, &c->link);
  if (put_request(c)) {
    free_call(c);
    snprintf(why, SLP_DECODER_WHY, "no memory to ask for its schema");
    return SLP_ENOMEM;
  }
  c->op.svc = SLP_SVC_GLUE;
  c->op.lane = SLP_LANE_CONTROL;
  c->op.target = SLP_STR("AWSGlue.GetSchemaVersion");
  c->op.content_type = SLP_STR("application/x-amz-json-1.1");
  c->op.ms_max = SLP_CONTROL_MS_MAX;
  c->op.tries_max = SLP_REGISTRY_TRIES;
  c->op.call.quota_a_second = SLP_REGISTRY_CALLS_A_SECOND;
  c->op.read = read_answer;
  c->op.on_done = on_done;
  slp_json_op_send(&c->op);
  return 0;
}

void slp_registry_init(slp_registry *r, slp_mem *mem, slp_schemas *schemas) {
  r->mem = mem;
  r->schemas = schemas;
  slp_list_init(&r->calls);
  schemas->ask = ask_glue_for_version;
  schemas->user = r;
}

void slp_registry_leave(slp_registry *r, const slp_aws *aws) {
  if (!r->mem) return;
  slp_list *it = r->calls.next;
  while (it != &r->calls) {
    registry_call *c = call_of(it);
    it = it->next;
    if (aws && c->op.call.aws != aws) continue;
    slp_json_op_cancel(&c->op);
    slp_schemas_give_up(r->schemas, c->version);
    free_call(c);
  }
  if (!aws || r->aws == aws) r->aws = NULL;
}

void slp_registry_tick(slp_registry *r) {
  if (!r->mem || r->quiet) return;
  SLP_LIST_EACH(&r->calls, it) {
    registry_call *c = call_of(it);
    char id[SLP_SCHEMA_ID_TEXT];
    if (c->told || slp_now_us(c->op.call.aws->h) - c->begun_us < TELL_WAIT_US) continue;
    c->told = 1;
    slp_schema_id_text(c->version->id, id);
    slp_say_if_room("waiting for schema version %s of the Glue Schema Registry", id);
  }
}

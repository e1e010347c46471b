/* box_call.c - what every operation needs: to read members of the request, and to fail the call. Also random
 * numbers, and the check of names. */
#include "codec/utf8.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdarg.h>
#include <stdio.h>

uint64_t slp_box_random(slp_box *box) { /* the next number of the random generator splitmix64 */
  uint64_t v = box->random += UINT64_C(0x9e3779b97f4a7c15);
  v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
  return v ^ v >> 31;
}

int slp_box_name_valid(slp_str name) {
  if (name.n < 1 || name.n > 128) return 0;
  for (size_t i = 0; i < name.n; i++) {
    char ch = name.p[i];
    int letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
    if (!letter && !(ch >= '0' && ch <= '9') && ch != '_' && ch != '.' && ch != '-') return 0;
  }
  return 1;
}

/* Replaces bytes that are not UTF-8. An error message may quote arbitrary bytes, or may be cut off within a
 * character. JSON allows neither. */
static void make_utf8(char *z) {
  for (size_t n = strlen(z); n;) {
    size_t one = slp_utf8_length(z, n);
    if (!one) *z = '?';
    z += one ? one : 1;
    n -= one ? one : 1;
  }
}

int slp_box_fail(slp_box_call *c, const char *code, const char *fmt, ...) {
  va_list args;
  c->error = code;
  c->error_status = strncmp(code, "Internal", 8) == 0 ? 500 : 400;
  va_start(args, fmt);
  vsnprintf(c->error_message, sizeof c->error_message, fmt, args);
  va_end(args);
  make_utf8(c->error_message);
  return -1;
}

int slp_box_no_memory(slp_box_call *c) {
  return slp_box_fail(c, c->service == SLP_BOX_KINESIS ? "InternalFailure" : "InternalServerError",
                      "The sandbox has no memory for this answer.");
}

/* Refuses the call if the request's member DryRun is true. The service model (botocore 1.44.8, kinesis
 * 2013-12-02) has DryRun in GetRecords, GetShardIterator, PutRecord, PutRecords and SubscribeToShard. The
 * message below is the model's text for DryRunOperationException. */
int slp_box_dry_run(slp_box_call *c) {
  const slp_value *v = slp_box_tree_get(c->in, 0, "DryRun");
  if (!v || !v->i) return 0;
  return slp_box_fail(c, "DryRunOperationException",
                      "The request was rejected because the DryRun parameter was specified.");
}

slp_str slp_box_text(slp_box_call *c, const char *member) {
  const slp_value *v = slp_box_tree_get(c->in, 0, member);
  return v ? v->text : (slp_str){NULL, 0};
}

int64_t slp_box_int(slp_box_call *c, const char *member, int64_t otherwise) {
  const slp_value *v = slp_box_tree_get(c->in, 0, member);
  return v && v->kind == SLP_VALUE_INT ? v->i : otherwise;
}

/* cloudwatch.c - calls PutMetricData in JSON. */
#include "aws/cloudwatch.h"

#include "aws/aws.h"
#include "aws/json_op.h"
#include "aws/limits.h"
#include "base/buf.h"
#include "base/fail.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "host/host.h"

#define TRIES 3
#define ANSWER_MAX (64u * 1024)
#define END "]}" /* ends the request; written after each value, so that the request can be sent at any time */

/* ---- the request --------------------------------------------------------------------------------------- */
const char *slp_cw_namespace_wrong(slp_str ns) {
  if (ns.n == 0) return "it is empty";
  if (ns.n > SLP_CLOUDWATCH_NAME_MAX) return "it is longer than 255 bytes";
  if (ns.p[0] == ':') return "it begins with a colon";
  if (ns.n >= 4 && memcmp(ns.p, "AWS/", 4) == 0) return "AWS/ is reserved for AWS services";
  return slp_utf8_valid(ns) ? NULL : "it is not UTF-8";
}

static void put_dimension(slp_jw *w, const slp_cw_dimension *d) {
  if (d->value.n == 0 || d->value.n > SLP_CLOUDWATCH_VALUE_MAX) slp_buf_fail(w->b, SLP_EBADDATA);
  slp_jw_object(w, NULL);
  slp_jw_z(w, "Name", d->name);
  slp_jw_str(w, "Value", d->value);
  slp_jw_object_end(w);
}

static void put_datum(slp_jw *w, const slp_cw_datum *d, int64_t at_ms) {
  slp_jw_object(w, NULL);
  slp_jw_z(w, "MetricName", d->name);
  slp_jw_array(w, "Dimensions");
  for (size_t i = 0; i < d->dimensions_n; i++) put_dimension(w, &d->dimensions[i]);
  slp_jw_array_end(w);
  slp_jw_scaled(w, "Timestamp", (uint64_t)at_ms, 3);
  slp_jw_scaled(w, "Value", d->value, d->decimals);
  slp_jw_z(w, "Unit", d->unit);
  slp_jw_object_end(w);
}

int slp_cw_put_begin(slp_cw_put *p, slp_str ns, int64_t at_ms) {
  slp_buf *b = &p->op.request;
  slp_buf_clear(b);
  p->data_n = 0;
  p->at_ms = slp_max_i64(at_ms, 0);
  slp_jw w = slp_jw_begin(b);
  slp_jw_str(&w, "Namespace", ns);
  slp_jw_array(&w, "MetricData");
  return slp_buf_add_z(b, END);
}

int slp_cw_put_add(slp_cw_put *p, const slp_cw_datum *d) {
  slp_buf *b = &p->op.request;
  slp_jw w = {.b = b, .comma = p->data_n > 0};
  if (p->data_n == SLP_CLOUDWATCH_DATA_MAX) return SLP_MORE;
  size_t end = b->n - strlen(END);
  b->n = end;
  put_datum(&w, d, p->at_ms);
  int r = slp_buf_add_z(b, END);
  if (!r && b->n > SLP_CLOUDWATCH_BODY_MAX) r = SLP_MORE;
  if (r) {
    slp_buf_cut(b, end);
    /* can't fail: the room for END was in use before the datum was added */
    SLP_CHECK(slp_buf_add_z(b, END) == 0);
    return r;
  }
  p->data_n++;
  return 0;
}

/* ---- the call ------------------------------------------------------------------------------------------ */
/* Checks the body of a success, which is empty or JSON. Any other body is from a proxy or a login portal. */
static int read_answer(slp_json_op *op, int begin, const char **why) {
  slp_str answer = slp_buf_str(&op->answer);
  (void)begin;
  if (answer.n == 0 || answer.p[0] == '{') return 0;
  *why = "it is not JSON";
  return SLP_EBADDATA;
}

static void on_answer(slp_json_op *op) {
  slp_cw_put *p = SLP_OWNER(op, slp_cw_put, op);
  p->fail = op->fail;
  if (op->fail.class == SLP_ACCESS)
    slp_fail_set(&p->fail, SLP_ACCESS, op->fail.code, "no permission for cloudwatch:PutMetricData: %.200s",
                 op->fail.message);
  p->on_done(p);
}

void slp_cw_put_init(slp_cw_put *p, slp_aws *aws) {
  *p = (slp_cw_put){.data_n = 0};
  slp_json_op_init(&p->op, aws, ANSWER_MAX);
  p->op.svc = SLP_SVC_CLOUDWATCH;
  p->op.lane = SLP_LANE_CONTROL;
  p->op.target = SLP_STR("GraniteServiceVersion20100801.PutMetricData");
  p->op.ms_max = SLP_CONTROL_MS_MAX;
  p->op.tries_max = TRIES;
  p->op.read = read_answer;
  p->op.on_done = on_answer;
}

void slp_cw_put_send(slp_cw_put *p) {
  SLP_CHECK(p->data_n > 0);
  slp_json_op_send(&p->op);
}

void slp_cw_put_cancel(slp_cw_put *p) { slp_json_op_cancel(&p->op); }
void slp_cw_put_free(slp_cw_put *p) { slp_json_op_free(&p->op); }

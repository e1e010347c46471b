/* metric_data.c - PutMetricData. A request may have one of three forms; the same rules apply to all (API
 * reference of CloudWatch, "PutMetricData", "MetricDatum"). */
#include "sandbox/metric_data.h"

#include "base/buf.h"
#include "base/mem.h"
#include "codec/gunzip.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "sandbox/model.h"
#include "sandbox/sandbox.h"
#include "sandbox/value.h"

#define TARGET "GraniteServiceVersion20100801."
#define PATH_PREFIX "/service/GraniteServiceVersion20100801/operation/"
#define XML_SPACE "http://monitoring.amazonaws.com/doc/2010-08-01/"
#define DATA_MAX 1000
#define DIMENSIONS_MAX 30
#define VALUES_MAX 150
#define PAIRS_MAX 200000u

/* ---- turning a form into JSON ---------------------------------------------------------------------- */
/* one pair NAME=VALUE of an HTML form, as in "MetricData.member.1.Value=3", with its escapes replaced */
typedef struct pair {
  slp_str name, value;
} pair;

typedef struct pairs {
  slp_mem *mem;
  pair *v; /* owned */
  size_t n, cap;
} pairs;

static int get_hex_value(char ch) {
  if (ch >= '0' && ch <= '9') return ch - '0';
  if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
  return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

/* Replaces the escapes in a name or value, in place. */
static int unescape_form_text(char *p, size_t n, slp_str *ret) {
  size_t to = 0;
  for (size_t i = 0; i < n; i++) {
    char ch = p[i] == '+' ? ' ' : p[i];
    if (ch == '%') {
      int high = i + 2 < n ? get_hex_value(p[i + 1]) : -1, low = i + 2 < n ? get_hex_value(p[i + 2]) : -1;
      if (high < 0 || low < 0) return SLP_EBADDATA;
      ch = (char)(high * 16 + low);
      i += 2;
    }
    p[to++] = ch;
  }
  *ret = (slp_str){p, to};
  return 0;
}

static int add_pair(pairs *f, char *p, size_t n) {
  char *equals = memchr(p, '=', n);
  if (!equals) return SLP_EBADDATA;
  if (f->n == PAIRS_MAX) return SLP_ELIMIT;
  if (f->n == f->cap) {
    size_t cap = f->cap ? f->cap * 2 : 64;
    pair *v = slp_realloc(f->mem, f->v, cap * sizeof *v);
    if (!v) return SLP_ENOMEM;
    f->v = v;
    f->cap = cap;
  }
  pair *to = &f->v[f->n++];
  int r = unescape_form_text(p, (size_t)(equals - p), &to->name);
  return r ? r : unescape_form_text(equals + 1, n - (size_t)(equals - p) - 1, &to->value);
}

static int split_form(pairs *f, slp_buf *body) {
  for (size_t at = 0; at < body->n;) {
    const char *end = memchr(body->p + at, '&', body->n - at);
    size_t n = end ? (size_t)(end - body->p) - at : body->n - at;
    int r = n ? add_pair(f, body->p + at, n) : 0;
    if (r) return r;
    at += n + 1;
  }
  return 0;
}

static slp_str part_of(const pair *p, size_t from) {
  slp_str part = {p->name.p + from, 0};
  while (from + part.n < p->name.n && part.p[part.n] != '.') part.n++;
  return part;
}

/* Returns 1 if the member must become a number in JSON. In an HTML form, all values are texts. */
static int is_number(slp_str name, slp_str value) {
  static const char *const names[] = {"Value",   "SampleCount",       "Sum",    "Minimum",
                                      "Maximum", "StorageResolution", "Values", "Counts"};
  slp_json j;
  char room[64];
  if (value.n == 0 || value.n >= sizeof room) return 0;
  memcpy(room, value.p, value.n);
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    if (!slp_str_is(name, names[i])) continue;
    slp_json_begin(&j, room, value.n);
    return slp_json_next(&j) == SLP_JSON_NUMBER && j.text.n == value.n;
  }
  return 0;
}

/* Writes the pairs [from, to), which agree in their first `skip` bytes, as one JSON value. Pairs of one
 * member are expected next to each other, as every client writes them. If a member appears again later, its
 * last appearance counts. */
static void put_value(slp_jw *w, const pairs *f, size_t from, size_t to, size_t skip, slp_str name,
                      int depth) {
  const pair *first = &f->v[from];
  if (skip > first->name.n || depth == SLP_JSON_DEPTH_MAX / 2) {
    if (is_number(name, first->value))
      slp_jw_raw(w, NULL, first->value);
    else
      slp_jw_str(w, NULL, first->value);
    return;
  }
  int list = slp_str_is(part_of(first, skip), "member");
  if (list)
    slp_jw_array(w, NULL);
  else
    slp_jw_object(w, NULL);
  for (size_t i = from; i < to;) {
    size_t at = list ? slp_min_u64(skip + sizeof "member", f->v[i].name.n) : skip;
    slp_str part = part_of(&f->v[i], at);
    size_t end = i + 1;
    while (end < to && f->v[end].name.n >= at && slp_str_eq(part_of(&f->v[end], at), part)) end++;
    if (!list) slp_jw_key(w, part);
    /* in Dimensions, the member Value is a text, not a number */
    int dimension = slp_str_is(name, "Dimensions");
    put_value(w, f, i, end, at + part.n + 1, list || dimension ? name : part, depth + 1);
    i = end;
  }
  if (list)
    slp_jw_array_end(w);
  else
    slp_jw_object_end(w);
}

/* Replaces the HTML form (pairs NAME=VALUE) in box->unpacked by a JSON object with the same members. */
static int form_to_json(slp_box *box, slp_str *ret_action) {
  pairs f = {.mem = box->mem};
  slp_buf *b = &box->scratch;
  int r = split_form(&f, &box->unpacked);
  slp_buf_clear(b);
  *ret_action = (slp_str){NULL, 0};
  for (size_t i = 0; i < f.n; i++) {
    if (slp_str_is(f.v[i].name, "Action")) *ret_action = f.v[i].value;
  }
  if (!r) {
    slp_jw w = {.b = b};
    if (f.n)
      put_value(&w, &f, 0, f.n, 0, SLP_STR(""), 0);
    else
      slp_jw_raw(&w, NULL, SLP_STR("{}"));
    r = slp_buf_failed(b);
  }
  /* The JSON overwrites the HTML form, so the action's text, which points into the form, is copied first. */
  char name[64];
  size_t n = slp_min_u64(ret_action->n, sizeof name);
  if (n) memcpy(name, ret_action->p, n);
  if (!n) name[n++] = '?'; /* the request names no operation; "?" is answered with an error */
  slp_buf_clear(&box->unpacked);
  if (!r) r = slp_buf_add(&box->unpacked, TARGET, sizeof TARGET - 1);
  if (!r) r = slp_buf_add(&box->unpacked, name, n);
  size_t target_n = box->unpacked.n;
  if (!r) r = slp_buf_add_str(&box->unpacked, slp_buf_str(b));
  if (!r) *ret_action = (slp_str){box->unpacked.p, target_n};
  slp_free(box->mem, f.v);
  return r;
}

/* ---- requests -------------------------------------------------------------------------------------- */
static slp_str header_of(const slp_box_request *rq, const char *name) {
  return rq->header ? rq->header(rq->header_arg, name) : (slp_str){NULL, 0};
}

static int begins_with_prefix(slp_str s, const char *with) {
  size_t n = strlen(with);
  return s.n >= n && memcmp(s.p, with, n) == 0;
}

/* Copies the body into box->unpacked, decompressed if needed: clients compress large requests with gzip. */
static int unpack_metric_body(slp_box *box, const slp_box_request *rq) {
  slp_buf_clear(&box->unpacked);
  if (slp_str_is(header_of(rq, "content-encoding"), "gzip")) return slp_gunzip(&box->unpacked, rq->body);
  return slp_buf_add_str(&box->unpacked, rq->body);
}

int slp_metrics_request(slp_box *box, const slp_box_request *rq, slp_box_request *ret,
                        slp_metrics_form *ret_form) {
  int path = begins_with_prefix(rq->path, PATH_PREFIX),
      query = begins_with_prefix(rq->content_type, "application/x-www-form-urlencoded");
  int target = begins_with_prefix(rq->target, TARGET);
  *ret = *rq;
  *ret_form = SLP_METRICS_TARGET;
  if (!path && !target && !(query && slp_str_is(rq->path, "/"))) return 0;
  int r = unpack_metric_body(box, rq);
  ret->body = slp_buf_str(&box->unpacked);
  if (target) return r ? -1 : 0;
  ret->path = SLP_STR("/");
  ret->target = SLP_STR(TARGET "?");
  if (path) {
    *ret_form = SLP_METRICS_PATH;
    /* The target gets the operation's name, which stands in the path after PATH_PREFIX. */
    ret->content_type = SLP_STR("application/x-amz-cbor-1.1");
    slp_str name = {rq->path.p + sizeof PATH_PREFIX - 1, rq->path.n - (sizeof PATH_PREFIX - 1)};
    slp_buf_clear(&box->scratch);
    if (!r) r = slp_buf_add(&box->scratch, TARGET, sizeof TARGET - 1);
    if (!r) r = slp_buf_add_str(&box->scratch, name);
    size_t n = box->scratch.n;
    if (!r) r = slp_buf_add_str(&box->scratch, slp_buf_str(&box->unpacked));
    if (r) return -1;
    slp_buf_clear(&box->unpacked);
    if (slp_buf_add_str(&box->unpacked, slp_buf_str(&box->scratch))) return -1;
    ret->target = (slp_str){box->unpacked.p, n};
    ret->body = (slp_str){box->unpacked.p + n, box->unpacked.n - n};
    return 0;
  }
  *ret_form = SLP_METRICS_QUERY;
  ret->content_type = SLP_STR("application/x-amz-json-1.0");
  slp_str action;
  if (!r) r = form_to_json(box, &action);
  if (r) return -1;
  ret->target = action;
  ret->body = (slp_str){box->unpacked.p + action.n, box->unpacked.n - action.n};
  return 0;
}

/* ---- answers --------------------------------------------------------------------------------------- */
static void put_xml_text(slp_buf *b, const char *z) {
  for (; *z; z++) {
    if (*z == '<')
      slp_buf_add_z(b, "&lt;");
    else if (*z == '&')
      slp_buf_add_z(b, "&amp;");
    else
      slp_buf_add_char(b, *z);
  }
}

/* Returns the older, shorter code that the query form uses for an error. */
static const char *query_code(const char *code) {
  static const char *const names[][2] = {
      {"MissingRequiredParameterException", "MissingParameter"},
      {"InvalidParameterValueException", "InvalidParameterValue"},
      {"InvalidParameterCombinationException", "InvalidParameterCombination"},
      {"UnknownOperationException", "InvalidAction"},
      {"SerializationException", "MalformedQueryString"},
  };
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    if (strcmp(code, names[i][0]) == 0) return names[i][1];
  }
  return code;
}

static void answer_xml(slp_box_call *c, slp_box_answer *answer) {
  slp_buf *b = &answer->body;
  slp_buf_clear(b);
  answer->content_type = "text/xml";
  if (c->error) {
    slp_buf_addf(b, "<ErrorResponse xmlns=\"" XML_SPACE "\"><Error><Type>%s</Type><Code>%s</Code><Message>",
                 c->error_status >= 500 ? "Receiver" : "Sender", query_code(c->error));
    put_xml_text(b, c->error_message);
    slp_buf_addf(b, "</Message></Error><RequestId>%s</RequestId></ErrorResponse>\n", answer->request_id);
  } else {
    slp_buf_addf(b,
                 "<%sResponse xmlns=\"" XML_SPACE
                 "\"><ResponseMetadata><RequestId>%s</RequestId>"
                 "</ResponseMetadata></%sResponse>\n",
                 c->operation, answer->request_id, c->operation);
  }
  if (slp_buf_failed(b)) slp_buf_clear(b);
}

void slp_metrics_answer(slp_box_call *c, slp_metrics_form form, slp_box_answer *answer) {
  if (form == SLP_METRICS_PATH) {
    answer->content_type = "application/cbor";
    answer->protocol = "rpc-v2-cbor";
  } else if (form == SLP_METRICS_QUERY) {
    answer_xml(c, answer);
  } else if (c->out.wire == SLP_WIRE_JSON) {
    answer->content_type = "application/x-amz-json-1.0";
  }
}

/* ---- PutMetricData --------------------------------------------------------------------------------- */
static int refuse_missing_parameter(slp_box_call *c, const char *what) {
  return slp_box_fail(c, "MissingRequiredParameterException", "The parameter %s is required.", what);
}

static int refuse_wrong_parameter(slp_box_call *c, const char *what, const char *why) {
  return slp_box_fail(c, "InvalidParameterValueException", "The value for parameter %s %s.", what, why);
}

/* Checks that the member is a text of 1 to `most` bytes. */
static int check_name(slp_box_call *c, uint32_t node, const char *member, const char *what, size_t most) {
  const slp_value *v = slp_box_tree_get(c->in, node, member);
  if (!v) return refuse_missing_parameter(c, what);
  if (v->kind != SLP_VALUE_TEXT || v->text.n == 0 || v->text.n > most) {
    return refuse_wrong_parameter(c, what, "must be a text that is neither empty nor too long");
  }
  return 0;
}

static int is_numeric(const slp_value *v) {
  if (v->kind == SLP_VALUE_INT) return 1;
  return v->kind == SLP_VALUE_REAL && (v->text.p || (v->f > -1e308 && v->f < 1e308));
}

static int check_numbers(slp_box_call *c, const slp_value *list, const char *what) {
  if (list->kind != SLP_VALUE_LIST || list->count == 0 || list->count > VALUES_MAX) {
    return refuse_wrong_parameter(c, what, "must be a list of 1 to 150 numbers");
  }
  for (uint32_t i = list->child; i; i = c->in->v[i].next) {
    if (!is_numeric(&c->in->v[i])) return refuse_wrong_parameter(c, what, "must be a list of numbers");
  }
  return 0;
}

static int check_dimensions(slp_box_call *c, const slp_value *list) {
  if (list->kind != SLP_VALUE_LIST || list->count > DIMENSIONS_MAX) {
    return refuse_wrong_parameter(c, "MetricData.member.N.Dimensions",
                                  "must be a list of at most 30 dimensions");
  }
  for (uint32_t i = list->child; i; i = c->in->v[i].next) {
    if (c->in->v[i].kind != SLP_VALUE_MAP)
      return refuse_wrong_parameter(c, "MetricData.member.N.Dimensions", "is no dimension");
    if (check_name(c, i, "Name", "MetricData.member.N.Dimensions.member.N.Name", 255) ||
        check_name(c, i, "Value", "MetricData.member.N.Dimensions.member.N.Value", 1024)) {
      return -1;
    }
  }
  return 0;
}

static int check_set(slp_box_call *c, const slp_value *set) {
  static const char *const members[] = {"SampleCount", "Sum", "Minimum", "Maximum"};
  if (set->kind != SLP_VALUE_MAP)
    return refuse_wrong_parameter(c, "MetricData.member.N.StatisticValues", "is no statistic set");
  uint32_t node = slp_box_tree_number(c->in, set);
  for (size_t i = 0; i < SLP_COUNT(members); i++) {
    const slp_value *v = slp_box_tree_get(c->in, node, members[i]);
    if (!v) return refuse_missing_parameter(c, "MetricData.member.N.StatisticValues.*");
    if (!is_numeric(v))
      return refuse_wrong_parameter(c, "MetricData.member.N.StatisticValues.*", "must be a number");
  }
  return 0;
}

/* Checks that one element of MetricData has exactly one of the members Value, Values and StatisticValues. */
static int check_values(slp_box_call *c, uint32_t node) {
  const slp_value *value = slp_box_tree_get(c->in, node, "Value");
  const slp_value *values = slp_box_tree_get(c->in, node, "Values");
  const slp_value *counts = slp_box_tree_get(c->in, node, "Counts");
  const slp_value *set = slp_box_tree_get(c->in, node, "StatisticValues");
  if (!value + !values + !set != 2) {
    if (!value && !values && !set) {
      return refuse_missing_parameter(c, "MetricData.member.N.Value, Values or StatisticValues");
    }
    return slp_box_fail(c, "InvalidParameterCombinationException",
                        "At most one of the parameters MetricData.member.N.Value, Values and StatisticValues "
                        "may be specified.");
  }
  if (value && !is_numeric(value))
    return refuse_wrong_parameter(c, "MetricData.member.N.Value", "must be a number");
  if (values && check_numbers(c, values, "MetricData.member.N.Values")) return -1;
  if (counts && check_numbers(c, counts, "MetricData.member.N.Counts")) return -1;
  if (counts && (!values || counts->count != values->count)) {
    return slp_box_fail(c, "InvalidParameterCombinationException",
                        "MetricData.member.N.Values and Counts must be of the same length.");
  }
  return set ? check_set(c, set) : 0;
}

static int check_datum(slp_box_call *c, uint32_t node) {
  if (c->in->v[node].kind != SLP_VALUE_MAP)
    return refuse_wrong_parameter(c, "MetricData.member.N", "is no datum");
  if (check_name(c, node, "MetricName", "MetricData.member.N.MetricName", 255)) return -1;
  const slp_value *dimensions = slp_box_tree_get(c->in, node, "Dimensions");
  if (dimensions && check_dimensions(c, dimensions)) return -1;
  return check_values(c, node);
}

int slp_metrics_op_put(slp_box_call *c) {
  if (check_name(c, 0, "Namespace", "Namespace", 255)) return -1;
  if (begins_with_prefix(slp_box_text(c, "Namespace"), "AWS/")) {
    return refuse_wrong_parameter(c, "Namespace",
                                  "must not start with AWS/, which is for the services themselves");
  }
  const slp_value *data = slp_box_tree_get(c->in, 0, "MetricData");
  if (!data) return refuse_missing_parameter(c, "MetricData");
  if (data->kind != SLP_VALUE_LIST || data->count == 0 || data->count > DATA_MAX) {
    return refuse_wrong_parameter(c, "MetricData", "must be a list of 1 to 1000 data");
  }
  uint32_t n = data->count;
  for (uint32_t i = data->child; i; i = c->in->v[i].next) {
    if (check_datum(c, i)) return -1;
  }
  c->box->metric_data += n;
  slp_out_map(&c->out);
  slp_out_end(&c->out);
  return 0;
}

/* metric_data.c - a form becomes what JSON would have said; the answer has the form of the question; whatever
 * the body's bytes, nothing is read beyond them. */
#include "sandbox_box.h"

#define FORM "application/x-www-form-urlencoded; charset=utf-8"

static const char *form(bench *t, const char *body) {
  slp_box_request rq = {.method = SLP_STR("POST"),
                        .path = SLP_STR("/"),
                        .host = SLP_STR("localhost"),
                        .content_type = SLP_STR(FORM),
                        .body = slp_str_of(body)};
  slp_buf_clear(&t->answer.body);
  slp_box_handle(t->box, t->now_ms, &rq, &t->answer);
  return slp_buf_z(&t->answer.body);
}

#define DATUM "Action=PutMetricData&Namespace=App&MetricData.member.1.MetricName=m&MetricData.member.1."

TEST(a_form_is_read_as_json_would_be) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  static const char *const good[] = {
      DATUM "Value=1.5e3",
      DATUM "Values.member.1=1&MetricData.member.1.Values.member.2=-2",
      DATUM "Value=0&MetricData.member.2.MetricName=%C3%BC+x&MetricData.member.2.Value=7",
      DATUM
      "Dimensions.member.1.Name=a&MetricData.member.1.Dimensions.member.1.Value=1"
      "&MetricData.member.1.Value=2", /* this Value is a text, that one a number */
      DATUM
      "StatisticValues.SampleCount=1&MetricData.member.1.StatisticValues.Sum=1"
      "&MetricData.member.1.StatisticValues.Minimum=1&MetricData.member.1.StatisticValues.Maximum=1",
  };
  for (size_t i = 0; i < SLP_COUNT(good); i++) {
    const char *said = form(&t, good[i]);
    if (t.answer.status != 200) CHECK_FAIL("%s: %s", good[i], said);
    CHECK_HAS(said, "<PutMetricDataResponse xmlns=");
    CHECK_STR(t.answer.content_type, "text/xml");
  }
  CHECK_INT(t.box->metric_data, 6);
  bench_close(&t);
}

TEST(what_a_form_may_not_say) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  static const char *const bad[][2] = {
      {"", "InvalidAction"},
      {"Action=Get", "InvalidAction"},
      {"Action=PutMetricData&x", "MalformedQueryString"},
      {"Action=PutMetricData&x=%4", "MalformedQueryString"},
      {"Action=PutMetricData&x=%g0", "MalformedQueryString"},
      {"Action=PutMetricData", "MissingParameter"},
      {"Action=PutMetricData&Namespace=a&MetricData=1", "InvalidParameterValue"},
      {"Action=PutMetricData&Namespace=a&MetricData.member=1", "InvalidParameterValue"},
      {"Action=PutMetricData&Namespace=a&MetricData.member.1=1", "InvalidParameterValue"},
      {DATUM "Value=NaN", "InvalidParameterValue"},
      {DATUM "Value=", "InvalidParameterValue"},
      {DATUM "Value=1&MetricData.member.1.Values.member.1=1", "InvalidParameterCombination"},
      {DATUM "Values.member.1=1&MetricData.member.1.Counts.member.1=1&MetricData.member.1.Counts.member.2=1",
       "InvalidParameterCombination"},
  };
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    const char *said = form(&t, bad[i][0]);
    if (t.answer.status != 400 || !strstr(said, bad[i][1])) CHECK_FAIL("%s: %s", bad[i][0], said);
  }
  CHECK_INT(t.box->metric_data, 0);
  bench_close(&t);
}

/* Every beginning of a good body: read to its end, never beyond, and only the whole is taken. */
TEST(a_form_cut_anywhere) {
  bench t;
  sloop_sandbox_opts_t o = free_opts();
  bench_open(&t, &o);
  static const char whole[] = DATUM "Value=1&MetricData.member.1.Unit=%4D%53";
  char *part = slp_alloc(t.mem, sizeof whole);
  for (size_t n = 0; n < sizeof whole; n++) {
    memcpy(part, whole, n);
    part[n] = 0;
    form(&t, part);
  }
  slp_free(t.mem, part);
  CHECK(t.box->metric_data > 0);
  bench_close(&t);
}

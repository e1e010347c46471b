/* classify.h - classifies an answer that is not a success, by one table of the services' error names. An
 * unknown name, or an answer without a name, is classified by its status. The functions do no I/O. */
#ifndef SLP_AWS_CLASSIFY_H
#define SLP_AWS_CLASSIFY_H

#include "aws/hide.h"
#include "base/fail.h"

/* A way to remove the cause of a failure. It is tried at once, and does not count as a try. */
typedef enum slp_remedy {
  SLP_REMEDY_NONE,
  SLP_REMEDY_KEYS, /* get new credentials, then send the call once more */
  /* if the answer's Date is far from our time, correct the clock, then send the call once more */
  SLP_REMEDY_CLOCK
} slp_remedy;

typedef struct slp_bad_answer {
  int status;
  const char *error_type;   /* the header x-amzn-errortype, unchanged, or "" */
  const char *request_id;   /* the id of the request, or "" */
  const char *from;         /* where the answer came from, for messages; NULL or "": not known */
  const char *content_type; /* of the body, in lower case; NULL or "": not known */
  uint64_t retry_after_ms;
  uint8_t may_be_cut;  /* 1: the length of the body was not announced, so all or part of it may be missing */
  slp_str body;        /* changed, because it is read in place */
  slp_secrets secrets; /* secrets that were sent; hidden wherever they appear */
} slp_bad_answer;

/* Sets every member of f, and *ret_remedy. */
void slp_classify(slp_bad_answer *answer, slp_fail *f, slp_remedy *ret_remedy);
/* Changes the message of f if the service denied the call: it then names the missing permission, such as
 * "kinesis:GetRecords", and the resource. `prefix` is "kinesis:", `target` "Kinesis_20131202.GetRecords",
 * `on` the name or ARN of the resource. If access to a KMS key was denied, the message is not changed,
 * because another permission is missing. */
void slp_name_right(slp_fail *f, const char *prefix, slp_str target, slp_str on);
/* Returns the code for a class if no exact code is known: SLOOP_E* or -errno, or 0 for SLP_FINE. */
int slp_class_code(slp_class class);
/* Returns the class of an error name such as "ThrottlingException". If the name is "" or unknown, the status
 * decides. */
slp_class slp_classify_name(slp_str name, int status, slp_remedy *ret_remedy);
/* For tests. Returns 1 if the table has a row for the name. */
int slp_classify_knows(slp_str name);
/* Returns 1 if the failure `code` would occur again for the same request, because a certificate is not
 * accepted or a proxy refuses. */
int slp_fails_again(int code);
/* Returns the class of an answer whose header x-amzn-errortype is error_type. If error_type is "", the status
 * decides. */
slp_class slp_classify_type(const char *error_type, int status);

/* Failed calls are counted under the names of the table, so that the number of counters is bounded. All other
 * names share one counter, and all calls without an answer share another one. slp_failure_number returns the
 * number of the counter for f. */
#define SLP_FAILURES 96u
size_t slp_failure_number(const slp_fail *f);
/* Returns the name of counter `number`: the error name without "Exception", "other" or "no answer". Returns
 * NULL if there is no such counter. */
const char *slp_failure_name(size_t number);

#endif

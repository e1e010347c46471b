/* classify.h - classifies an answer that is not a success: by one table of the services' error names, and by
 * status for unknown names and none. Pure. */
#ifndef SLP_AWS_CLASSIFY_H
#define SLP_AWS_CLASSIFY_H

#include "aws/hide.h"

/* A remedy that can be tried at once, outside the count of tries. */
typedef enum slp_remedy {
  SLP_REMEDY_NONE,
  SLP_REMEDY_KEYS, /* get new credentials, then once more */
  SLP_REMEDY_CLOCK /* if the answer's Date is far from ours: correct the clock, then once more */
} slp_remedy;

typedef struct slp_bad_answer {
  int status;
  const char *error_type; /* x-amzn-errortype as it came, "" */
  const char *request_id; /* "" */
  const char *from;       /* where it came from, for people; NULL or "": not known */
  uint64_t retry_after_ms;
  uint8_t may_be_cut;  /* nothing said how long the body is: its end may be missing, or all of it */
  slp_str body;        /* read in place: is changed */
  slp_secrets secrets; /* what was sent: hidden wherever it occurs */
} slp_bad_answer;

/* Fills every field of f. */
void slp_classify(slp_bad_answer *answer, slp_fail *f, slp_remedy *ret_remedy);
/* Called with what a call came to: where the service denied it, the message is made to name the right, as
 * "kinesis:GetRecords", and what it is missing on. prefix: "kinesis:"; target: "Kinesis_20131202.GetRecords";
 * on: a name or an ARN. Denied keys of KMS are no right of the call, and stay as they are. */
void slp_name_right(slp_fail *f, const char *prefix, slp_str target, slp_str on);
/* The code that goes with a class when nothing more exact is known: SLOOP_E* or -errno; 0 for SLP_FINE. */
int slp_class_code(slp_class class);
/* The class of an error name ("ThrottlingException"; "" or unknown: by status). For tests and the table's
 * users. */
slp_class slp_classify_name(slp_str name, int status, slp_remedy *ret_remedy);
/* Returns 1 if the table has a row for the name, whatever the status. For tests. */
int slp_classify_knows(slp_str name);
/* Returns 1 if the same request fails again: a certificate is not accepted, or a proxy refuses. */
int slp_fails_again(int code);
/* The class of an answer that has its error's name in x-amzn-errortype, as it came; "": by status. */
slp_class slp_classify_type(const char *error_type, int status);

/* Calls that failed are counted by the names of that table, which are a bounded number: the number of an
 * error's name. Errors of other names share one, and calls without an answer another. */
#define SLP_FAILURES 96u
size_t slp_failure_number(const slp_fail *f);
/* As the service calls it but for "Exception" at its end, "other" or "no answer"; NULL: no such number. */
const char *slp_failure_name(size_t number);

#endif

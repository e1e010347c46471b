/* classify.h - classifies an answer that is not a success, by one table of the services' error names. Unknown
 * names, and answers without a name, are classified by status. Pure. */
#ifndef SLP_AWS_CLASSIFY_H
#define SLP_AWS_CLASSIFY_H

#include "aws/hide.h"

/* A remedy that can be tried at once and does not count as a try. */
typedef enum slp_remedy {
  SLP_REMEDY_NONE,
  SLP_REMEDY_KEYS, /* get new credentials, then try once more */
  SLP_REMEDY_CLOCK /* if the answer's Date is far from our time: correct the clock, then try once more */
} slp_remedy;

typedef struct slp_bad_answer {
  int status;
  const char *error_type; /* the header x-amzn-errortype as it came, or "" */
  const char *request_id; /* or "" */
  const char *from;       /* where the answer came from, for people; NULL or "": not known */
  uint64_t retry_after_ms;
  uint8_t may_be_cut;  /* the length of the body is not known, so all or part of it may be missing */
  slp_str body;        /* read in place, so it is changed */
  slp_secrets secrets; /* what was sent; hidden wherever it appears */
} slp_bad_answer;

/* Fills every field of f. */
void slp_classify(slp_bad_answer *answer, slp_fail *f, slp_remedy *ret_remedy);
/* Called with the outcome of a call. If the service denied it, makes the message name the missing right, such
 * as "kinesis:GetRecords", and what it is missing on. prefix: "kinesis:"; target:
 * "Kinesis_20131202.GetRecords"; on: a name or an ARN. A denied KMS key is not a right of the call, so that
 * message stays. */
void slp_name_right(slp_fail *f, const char *prefix, slp_str target, slp_str on);
/* Returns the code for a class if nothing more exact is known: SLOOP_E* or -errno; 0 for SLP_FINE. */
int slp_class_code(slp_class class);
/* Returns the class of an error name such as "ThrottlingException"; by status if it is "" or unknown. For
 * tests and users of the table. */
slp_class slp_classify_name(slp_str name, int status, slp_remedy *ret_remedy);
/* For tests: returns 1 if the table has a row for the name. */
int slp_classify_knows(slp_str name);
/* Returns 1 if the same request will fail again: a certificate is not accepted, or a proxy refuses. */
int slp_fails_again(int code);
/* Returns the class of an answer with that header x-amzn-errortype; "": by status. */
slp_class slp_classify_type(const char *error_type, int status);

/* Failed calls are counted by the names of the table, so that the number of counters is bounded. Errors with
 * other names share one number, and calls without an answer another. */
#define SLP_FAILURES 96u
size_t slp_failure_number(const slp_fail *f);
/* Returns the service's name without "Exception", "other" or "no answer"; NULL: there is no such number. */
const char *slp_failure_name(size_t number);

#endif

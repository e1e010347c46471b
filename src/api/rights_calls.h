/* rights_calls.h - for each right, a call that changes nothing: what it needs, what it sends, and what is
 * taken from its answer for later calls. */
#ifndef SLP_API_RIGHTS_CALLS_H
#define SLP_API_RIGHTS_CALLS_H

#include "api/rights.h"
#include "aws/aws.h"
#include "base/fail.h"
#include "codec/json_write.h"

#define SLP_RIGHTS_KEYS_MAX 2u /* a table has a hash key, and may have a range key */

typedef enum {
  SLP_DRY_RUN_NOT_SEEN,
  SLP_DRY_RUN_KNOWN,  /* the server has answered a call with DryRun with DryRunOperationException */
  SLP_DRY_RUN_IGNORED /* the server has carried out a call with DryRun */
} slp_dry_run;

/* what the answers about one stream or table have shown so far; all zero: nothing */
typedef struct slp_right_facts {
  const char *of;
  char arn[512]; /* the ARN of the stream */
  char shard[130];
  char iterator[4097];
  char consumer_arn[768];
  slp_dry_run dry_run;
  uint8_t absent;                      /* 1: the table does not exist */
  char keys[SLP_RIGHTS_KEYS_MAX][256]; /* names of the table's key attributes, the hash key first */
  size_t keys_n;
  /* while an answer is parsed: which member of the top-level object the parser is in */
  char section[24];
} slp_right_facts;

typedef struct slp_right_call {
  /* the right, such as "kinesis:GetRecords"; NULL: the call only prepares another call, and shows no right */
  const char *action;
  slp_svc svc;
  /* the operation for the request's header; NULL: the call is never sent, and why_not says why */
  const char *target;
  /* writes the members of the request's body */
  void (*put)(slp_jw *w, const slp_right *r, const slp_right_facts *f);
  /* Takes a value from the answer. depth: 1 for members of the top-level object. text.p NULL: the value is no
   * text; if it is an object or a list, this is its beginning. */
  void (*take)(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text);
  /* Returns a text that says what is missing before the call can be sent; NULL: nothing is. */
  const char *(*lacks)(const slp_right *r, const slp_right_facts *f);
  const char *why_not;
  uint8_t dry;       /* 1: the call is sent with DryRun */
  uint8_t needs_dry; /* 1: the call is sent only if the server has shown that it honours DryRun */
  /* what a call with needs_dry would do on a server that ignores DryRun, such as "it would put a record" */
  const char *harm;
} slp_right_call;

/* Returns the call that tries a right; NULL: there is none. */
const slp_right_call *slp_right_call_of(const char *action);
/* A call that shows whether the server honours DryRun: GetShardIterator with DryRun, which changes nothing
 * even if DryRun is ignored. */
extern const slp_right_call slp_right_dry_run_probe;
/* Returns 1 if the refusal f shows that the user has the right. */
int slp_right_shown_by(const slp_right_call *call, const slp_fail *f);
/* Returns 1 if f is the failure of DescribeTable before a worker has created the table of the leases. */
int slp_right_finds_no_table(const slp_right_call *call, const slp_right *r, const slp_fail *f);
extern const char slp_rights_no_table[];

#endif

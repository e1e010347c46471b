/* rights_calls.h - the harmless call for each right: what it needs, what it sends, and what is taken from its
 * answer for later calls. */
#ifndef SLP_API_RIGHTS_CALLS_H
#define SLP_API_RIGHTS_CALLS_H

#include "api/rights.h"
#include "aws/aws.h"
#include "codec/json_write.h"

#define SLP_RIGHTS_KEYS_MAX 2u /* a table has a hash key, and may have a range key */

typedef enum {
  SLP_DRY_RUN_NOT_SEEN,
  SLP_DRY_RUN_KNOWN,  /* a call with DryRun was answered with DryRunOperationException */
  SLP_DRY_RUN_IGNORED /* a call with DryRun was carried out */
} slp_dry_run;

/* what the answers about one stream or table have contained so far; zeros: nothing */
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
  /* used while an answer is parsed: the member of the top-level object that the parser is in */
  char section[24];
} slp_right_facts;

typedef struct slp_right_call {
  const char *action; /* NULL: the call only prepares another call, and shows no right itself */
  slp_svc svc;
  const char *target; /* NULL: the call is never sent; why_not tells why */
  /* Adds the members of the request's body. */
  void (*put)(slp_jw *w, const slp_right *r, const slp_right_facts *f);
  /* Takes a value from the answer. `depth` is 1 at the answer's top level. text.p NULL: a value of
   * another kind than text begins. */
  void (*take)(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text);
  /* Returns a text that tells what is missing before the call can be sent. NULL: nothing is missing. */
  const char *(*lacks)(const slp_right *r, const slp_right_facts *f);
  const char *why_not;
  uint8_t dry;       /* 1: the call is sent with DryRun */
  uint8_t needs_dry; /* 1: the call is sent only if the server is known to honour DryRun */
} slp_right_call;

/* Returns the call for a right. NULL: none is known. */
const slp_right_call *slp_right_call_of(const char *action);
/* Finds out whether the server honours DryRun, by a GetShardIterator with DryRun, which changes nothing even
 * if the server ignores DryRun. */
extern const slp_right_call slp_right_dry_run_probe;
/* Returns 1 if the refusal f shows that the caller has the right. */
int slp_right_shown_by(const slp_right_call *call, const slp_fail *f);
/* Returns 1 if f is the failure that DescribeTable gives before a worker has created the table of the
 * leases. */
int slp_right_finds_no_table(const slp_right_call *call, const slp_right *r, const slp_fail *f);
extern const char slp_rights_no_table[];

#endif

/* rights_calls.h - the harmless call that shows a right: what it needs, what it sends, and what its answer
 * brings for the next call. */
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

typedef struct slp_right_facts { /* what the calls for one stream or table have brought; zeros: nothing */
  const char *of;
  char arn[512]; /* of the stream */
  char shard[130];
  char iterator[4097];
  char consumer_arn[768];
  slp_dry_run dry_run;
  uint8_t absent;                      /* 1: the table does not exist */
  char keys[SLP_RIGHTS_KEYS_MAX][256]; /* names of the table's key attributes, the hash key first */
  size_t keys_n;
  char section[24]; /* only for the reader: the member of the answer that it is in */
} slp_right_facts;

typedef struct slp_right_call {
  const char *action; /* NULL: the call prepares another one, and shows no right itself */
  slp_svc svc;
  const char *target; /* NULL: it is never sent; why_not tells why */
  /* Adds the members of the request. */
  void (*put)(slp_jw *w, const slp_right *r, const slp_right_facts *f);
  /* Takes a text of the answer. `depth` is 1 at its top level. text.p NULL: a value of another kind
   * begins. */
  void (*take)(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text);
  /* Returns a text that tells what is missing for the call. NULL: the call can be sent. */
  const char *(*lacks)(const slp_right *r, const slp_right_facts *f);
  const char *why_not;
  uint8_t dry;       /* sent with DryRun */
  uint8_t needs_dry; /* sent only if the server is known to honour DryRun */
} slp_right_call;

/* NULL: no call is known for this right. */
const slp_right_call *slp_right_call_of(const char *action);
/* Finds out whether the server honours DryRun, by a GetShardIterator that has it and changes nothing either
 * way. */
extern const slp_right_call slp_right_dry_run_probe;
/* Returns 1 if this refusal shows that the caller has the right. */
int slp_right_shown_by(const slp_right_call *call, const slp_fail *f);
/* Returns 1 if the answer is the one that a worker gets before it has made the table of the leases. */
int slp_right_finds_no_table(const slp_right_call *call, const slp_right *r, const slp_fail *f);
extern const char slp_rights_no_table[];

#endif

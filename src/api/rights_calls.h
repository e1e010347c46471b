/* rights_calls.h - the harmless call that shows a right: what it needs, sends, and brings for the next. */
#ifndef SLP_API_RIGHTS_CALLS_H
#define SLP_API_RIGHTS_CALLS_H

#include "api/rights.h"
#include "aws/aws.h"
#include "codec/json_write.h"

#define SLP_RIGHTS_KEYS_MAX 2u /* a table has a hash key and maybe a range key */

typedef enum {
  SLP_DRY_RUN_NOT_SEEN,
  SLP_DRY_RUN_KNOWN,  /* a call with it was answered DryRunOperationException */
  SLP_DRY_RUN_IGNORED /* a call with it was carried out */
} slp_dry_run;

typedef struct slp_right_facts { /* what the calls about one stream or table have brought. Zeros: nothing */
  const char *of;
  char arn[512]; /* of the stream */
  char shard[130];
  char iterator[4097];
  char consumer_arn[768];
  slp_dry_run dry_run;
  uint8_t absent;                      /* the table is not there */
  char keys[SLP_RIGHTS_KEYS_MAX][256]; /* of the table: names of attributes, the hash key first */
  size_t keys_n;
  char section[24]; /* the reader's own: the member of the answer that it is in */
} slp_right_facts;

typedef struct slp_right_call {
  const char *action; /* NULL: it is sent before another one, and tells nothing of a right */
  slp_svc svc;
  const char *target; /* NULL: it is never sent, see why_not */
  /* Adds the members of the request. */
  void (*put)(slp_jw *w, const slp_right *r, const slp_right_facts *f);
  /* Takes a text of the answer. `depth` is 1 on its top level. text.p NULL: another kind of value begins. */
  void (*take)(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text);
  /* The text why it can't be sent; NULL: it can. */
  const char *(*lacks)(const slp_right *r, const slp_right_facts *f);
  const char *why_not;
  uint8_t dry;       /* sent with DryRun */
  uint8_t needs_dry; /* never sent where it is not known that DryRun is honoured */
} slp_right_call;

/* NULL: no call is known for it. */
const slp_right_call *slp_right_call_of(const char *action);
/* Asks whether the server honours DryRun: a GetShardIterator with it, which changes nothing either way. */
extern const slp_right_call slp_right_dry_run_probe;
/* The refusal of this call shows that the right is there. */
int slp_right_shown_by(const slp_right_call *call, const slp_fail *f);
/* It is the answer that a worker gets before it makes the table of leases. */
int slp_right_finds_no_table(const slp_right_call *call, const slp_right *r, const slp_fail *f);
extern const char slp_rights_no_table[];

#endif

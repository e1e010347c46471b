/* store_suite.h - what the cases of store_suite.c stand on: one loop, one host, stores of one kind, and
 * requests that are waited for. */
#ifndef SLP_TEST_STORE_SUITE_H
#define SLP_TEST_STORE_SUITE_H

#include <uv.h>

#include "aws/aws.h"
#include "program/process.h"
#include "store/memory.h"
#include "store/dynamo.h"
#include "store/sqlite.h"

#include "check.h"

typedef enum { KIND_MEMORY, KIND_SQLITE, KIND_DYNAMODB } store_kind;

#define SUITE_NAMES_MAX 8
typedef struct suite {
  slp_mem *mem;
  uv_loop_t *loop;
  slp_host *h;
  store_kind kind;
  const char *file;   /* SQLITE */
  slp_memory *memory; /* MEMORY */
  slp_aws *aws;       /* DYNAMODB */
  char prefix[100];   /* of the names of tables */
  char *names[SUITE_NAMES_MAX];
  int names_n;
  const char *last_table;
} suite;

void suite_open(suite *u, store_kind kind, const char *file, const char *prefix);
void suite_close(suite *u);       /* proves that nothing is left */
const char *suite_name(suite *u); /* a table nobody has; lives for ever */
slp_store *suite_store(suite *u, const slp_table_spec *spec);
void suite_run(suite *u, const int *done); /* the loop, until then */

/* Leases' own keys. */
slp_table_spec suite_table(suite *u);
slp_store *suite_ready(suite *u); /* a new table with these keys */
void store_close(slp_store *s);

/* Requests, begun. */
void prepare_begin(slp_store *s, slp_store_prepare *p, int *done);
void list_begin(suite *u, slp_store *s, slp_store_list *l, const char *hash, const char *prefix, int *done);

/* Requests, waited for. */
slp_class prepare(suite *u, slp_store *s, int create, int *created, slp_fail *ret);
typedef struct writing {
  slp_store_write w;
  int done;
} writing;
void writing_init(suite *u, writing *x, const char *hash, const char *range);
void writing_send(slp_store *s, writing *x);
void writing_free(writing *x);
slp_written write_now(suite *u, slp_store *s, writing *x); /* waited for; the answer is in x */
/* Updates a row with one condition or none, and exactly these changes. Ends the test when the request
 * fails. */
slp_written update(suite *u, slp_store *s, const char *range, const slp_atom *when, size_t when_n,
                   const slp_change *changes, size_t n);
void put(suite *u, slp_store *s, const char *range, const slp_change *changes, size_t n);

typedef struct reading { /* one row */
  slp_store_get g;
  slp_row_key key;
  int done;
} reading;
void get_begin(suite *u, slp_store *s, reading *x); /* keys and consistent are set */
void read_begin(suite *u, slp_store *s, reading *x, const char *range);
const slp_row *read_row(suite *u, slp_store *s, reading *x, const char *range); /* NULL: there is none */
void reading_free(reading *x);
slp_fail list_within(suite *u, slp_store *s, const char *hash, const char *prefix, slp_store_bound bound,
                     slp_store_rows *ret);
void list_rows(suite *u, slp_store *s, const char *hash, const char *prefix, slp_store_rows *ret);

#define S(z) ((slp_val){.kind = SLP_VAL_S, .s = SLP_STR(z)})
#define N(z) ((slp_val){.kind = SLP_VAL_N, .s = SLP_STR(z)})
#define B(z) ((slp_val){.kind = SLP_VAL_B, .s = SLP_STR(z)})
#define OTHER(z) ((slp_val){.kind = SLP_VAL_OTHER, .s = SLP_STR(z)})
#define TRUTH(b) ((slp_val){.kind = SLP_VAL_BOOL, .n = (b)})
#define SET(name, v) ((slp_change){SLP_STR(name), SLP_SET, v})
#define APP "an app"

#endif

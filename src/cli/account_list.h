/* account_list.h - the life that -L without STREAM and --apps share: opens a consumer that is never started,
 * has a search begin with its credentials, and writes what is found as a table or as lines of JSON. */
#ifndef SLP_CLI_ACCOUNT_LIST_H
#define SLP_CLI_ACCOUNT_LIST_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/columns.h"
#include "cli/consumer_run.h"

#include <sloop.h>

typedef struct slp_account_list slp_account_list;
/* What tells one listing from the other. */
typedef struct slp_account_list_kind {
  const slp_column *columns;
  size_t columns_n;
  const char *all;     /* such as "all streams were listed": what Ctrl-C came before */
  const char *not_all; /* such as "the streams were not all listed": what is so when time is over */
  /* Begins the search with l->consumer. Returns 0; or SLP_ENOMEM; or 1 if the function has stopped or failed
   * the listing itself. */
  int (*begin)(slp_account_list *l);
  void (*end)(slp_account_list *l); /* frees the search, if there is one */
  /* Suggests some of the names found so far, when the time for that is over; NULL: there is nothing to do */
  void (*suggest)(slp_account_list *l);
} slp_account_list_kind;

/* A member of each listing. kind and missing are set before slp_account_list_run(). */
struct slp_account_list {
  const slp_account_list_kind *kind; /* borrowed */
  slp_app app;
  slp_cli_consumer consumer;
  slp_columns table;
  size_t n; /* how many rows were shown */
  uint64_t begun_us, limit_us;
  /* borrowed; the name for which similar names are suggested; NULL: the command lists */
  const char *missing;
};

/* Runs the listing. `o`: the options of its consumer. Returns the exit status. */
int slp_account_list_run(slp_account_list *l, slp_mem *mem, const slp_args *args, const sloop_opts_t *o);
/* Makes options that read nothing, for the consumer of a listing. `stream` is never asked for. */
void slp_account_list_opts(sloop_opts_t *o, const char *stream);
void slp_account_list_stop(slp_account_list *l);
void slp_account_list_fail(slp_account_list *l, const char *why);
/* Writes the text, and takes its memory; or fails the listing if the text has failed. */
void slp_account_list_write(slp_account_list *l, slp_buf *text);
/* To be called when all is found: writes the table, unless there is none or -J was given. */
void slp_account_list_show(slp_account_list *l);

#endif

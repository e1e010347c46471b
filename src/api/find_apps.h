/* find_apps.h - finds the applications whose leases are in a store: in the tables of an account, in one
 * table, or in a file. For the command; no function of sloop.h calls it. */
#ifndef SLP_API_FIND_APPS_H
#define SLP_API_FIND_APPS_H

#include "api/app_rows.h"
#include "base/fail.h"

#include <sloop.h>

typedef struct slp_apps slp_apps;
typedef struct slp_apps_calls {
  /* Called for each application, and for each table of leases that could not be read (slp_found_app.why). */
  void (*on_app)(slp_apps *f, const slp_found_app *app, void *arg);
  /* Called once, at the end. fail->class is SLP_FINE if all tables were found. May call slp_apps_free. */
  void (*on_done)(slp_apps *f, const slp_fail *fail, void *arg);
} slp_apps_calls;

/* Starts to look in `store`, which has the form of the option `store`; NULL or "dynamodb": all tables of the
 * account in its region. Uses the credentials, region and endpoints of s, which may be a consumer that never
 * starts. `s` is borrowed until slp_apps_free. Callbacks come in later turns. Returns 0, SLP_ENOMEM,
 * SLOOP_EOPTION if `store` names neither tables nor a file, or SLP_ENOENT if it names a file and this build
 * has no SQLite. */
int slp_apps_new(slp_apps **ret, sloop_t *s, const char *store, const slp_apps_calls *calls, void *arg);
/* Frees f, which may be NULL. If the search is still running, ends it; no callback is called any more. */
void slp_apps_free(slp_apps *f);

#endif

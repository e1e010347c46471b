/* admin.h - an operator's command that is under way; what closing needs of it. */
#ifndef SLP_API_ADMIN_H
#define SLP_API_ADMIN_H

#include <sloop.h>

typedef struct slp_admin_call slp_admin_call;

/* The table is not looked at any more; slp_admin_call_tell_closed is to tell what was done until now. */
void slp_admin_call_stop(slp_admin_call *a);
/* The callback is made with UV_ECANCELED, from inside this; a is gone. */
void slp_admin_call_tell_closed(slp_admin_call *a);

#endif

/* admin.h - an operator's command that is under way: what closing the consumer needs of it. */
#ifndef SLP_API_ADMIN_H
#define SLP_API_ADMIN_H

#include <sloop.h>

typedef struct slp_admin_call slp_admin_call;

/* Stops the command: it touches the table no more. slp_admin_call_tell_closed then tells what was done until
 * now. */
void slp_admin_call_stop(slp_admin_call *a);
/* Calls the command's callback with UV_ECANCELED, and frees the command. */
void slp_admin_call_tell_closed(slp_admin_call *a);

#endif

/* operator.h - what closing a consumer must do about an operator's command that is under way. */
#ifndef SLP_API_OPERATOR_H
#define SLP_API_OPERATOR_H

typedef struct slp_admin_call slp_admin_call;

/* Stops the command, which then sends no more requests. Later slp_admin_call_tell_closed reports what the
 * command has done. */
void slp_admin_call_stop(slp_admin_call *a);
/* calls the command's callback with UV_ECANCELED, and frees the command */
void slp_admin_call_tell_closed(slp_admin_call *a);

#endif

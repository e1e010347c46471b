/* ask_code.h - asks the user for the code of an MFA device, on the terminal of this process. Only a command
 * does so; a library must not use the terminal of its program. */
#ifndef SLP_AWS_ASK_CODE_H
#define SLP_AWS_ASK_CODE_H

typedef struct slp_host slp_host;

/* Called by a command at its start: allows this process to ask for codes. */
void slp_codes_allow(void);
/* Returns 1 if asking is allowed and there is a terminal. */
int slp_codes_can_be_asked(void);

#define SLP_CODE_MAX 40
typedef struct slp_code_ask slp_code_ask;
/* error 0: `code` is the code; it is valid during the call only. */
typedef void (*slp_code_fn)(void *arg, int error, const char *code);
/* Asks on another thread. `done` is called once, in a turn. NULL: no memory. */
slp_code_ask *slp_code_ask_begin(slp_host *h, const char *device, slp_code_fn done, void *arg);
/* Ends the question and frees; `done` does not run any more. Called in `done` as well. NULL is fine. */
void slp_code_ask_leave(slp_code_ask *a);

#endif

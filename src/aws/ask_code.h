/* ask_code.h - asks the user for the code of an MFA device, on the terminal of this process. Only a command
 * may ask; a library must not use the terminal of its program. */
#ifndef SLP_AWS_ASK_CODE_H
#define SLP_AWS_ASK_CODE_H

typedef struct slp_host slp_host;

/* Allows this process to ask for codes. A command calls it at its start. */
void slp_codes_allow(void);
/* Returns 1 if the process may ask for codes and has a terminal. */
int slp_codes_can_be_asked(void);

#define SLP_CODE_MAX 40
typedef struct slp_code_ask slp_code_ask;
/* Called with the code if `error` is 0; the text `code` is valid during this call only. */
typedef void (*slp_code_fn)(void *arg, int error, const char *code);
/* Asks the user, on another thread. `device` is the MFA device, for the question. `done` is called once, in a
 * turn of the event queue. Returns NULL if there is no memory. */
slp_code_ask *slp_code_ask_begin(slp_host *h, const char *device, slp_code_fn done, void *arg);
/* Stops asking and frees a; `done` will not be called. Must also be called after `done`, and may be called in
 * `done`. a may be NULL. */
void slp_code_ask_leave(slp_code_ask *a);

#endif

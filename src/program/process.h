/* process.h - what a whole program needs and a library must not touch: its own loop, signals,
 * a standard output that never blocks, and the end of standard input. For cli/, tests and benches;
 * so libuv stays in host/. */
#ifndef SLP_PROGRAM_PROCESS_H
#define SLP_PROGRAM_PROCESS_H

#include "base/buf.h"
#include "base/mem.h"

struct uv_loop_s;

struct uv_loop_s *slp_loop_new(slp_mem *mem); /* NULL: no memory or no descriptors */
/* Runs the loop until nothing keeps it alive. */
void slp_loop_run(struct uv_loop_s *loop);
/* Frees the loop and returns 0, or returns UV_EBUSY: a handle is still open, which is a bug. */
int slp_loop_free(slp_mem *mem, struct uv_loop_s *loop);

/* Signals: on_signal from the loop. Does not keep the loop alive. */
typedef struct slp_signals slp_signals;
slp_signals *slp_signals_new(slp_mem *mem, struct uv_loop_s *loop, const int *numbers, size_t n,
                             void (*on_signal)(void *arg, int number), void *arg);
void slp_signals_close(slp_signals *s); /* freed on a later turn of the loop */

/* A repeating timer for programs (progress lines, --timeout). Does not keep the loop alive. */
typedef struct slp_ticker slp_ticker;
slp_ticker *slp_ticker_new(slp_mem *mem, struct uv_loop_s *loop, uint64_t every_ms,
                           void (*on_tick)(void *arg), void *arg);
void slp_ticker_close(slp_ticker *t);

/* Standard output (or any descriptor: pipe, terminal, file, /dev/null), never blocking the loop
 * for pipes, sockets and terminals. Files are written as they are. */
typedef struct slp_out slp_out;
slp_out *slp_out_new(slp_mem *mem, struct uv_loop_s *loop, int fd, void (*on_event)(void *arg), void *arg);
/* Takes the content of b. Returns 0, or UV_E* once writing has failed (UV_EPIPE: the reader left). on_event
 * comes from the loop each time everything given was written, and when writing fails. */
int slp_out_write(slp_out *o, slp_buf *b);
/* Writes what fits now of p[0, n) and keeps nothing. Nothing given to slp_out_write may be waiting. Returns
 * how many bytes were written; 0: there is no room, and on_event comes when there is; UV_E* as
 * slp_out_write. */
int64_t slp_out_some(slp_out *o, const char *p, size_t n);
void slp_out_wake(slp_out *o);                  /* on_event comes on a later turn of the loop */
size_t slp_out_waiting_bytes(const slp_out *o); /* bytes given and not yet written */
int slp_out_error(const slp_out *o);            /* 0 or UV_E* */
/* Looks whether the reader has left, although nothing is being written. If so, on_event comes, and
 * slp_out_error is UV_EPIPE. */
void slp_out_look(slp_out *o);
void slp_out_close(slp_out *o); /* drops what was not written; restores the descriptor's flags */

/* Tells when fd (standard input) reaches its end. Keeps the loop alive until then. */
typedef struct slp_in_end slp_in_end;
slp_in_end *slp_in_end_new(slp_mem *mem, struct uv_loop_s *loop, int fd, void (*on_end)(void *arg),
                           void *arg);
void slp_in_end_close(slp_in_end *e);

int slp_is_terminal(int fd);

#endif

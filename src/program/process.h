/* process.h - what a whole program needs and a library must not touch: its own loop, signals, a standard
 * output that never blocks, and the end of standard input. For cli/, tests and benches. Because of these
 * functions, cli/ itself need not use libuv. */
#ifndef SLP_PROGRAM_PROCESS_H
#define SLP_PROGRAM_PROCESS_H

#include "base/buf.h"
#include "base/mem.h"

struct uv_loop_s;

struct uv_loop_s *slp_loop_new(slp_mem *mem); /* returns NULL without memory or descriptors */
/* Runs the loop until nothing keeps it alive. */
void slp_loop_run(struct uv_loop_s *loop);
/* Frees the loop. Returns 0, or UV_EBUSY: a handle is still open, which is a bug. */
int slp_loop_free(slp_mem *mem, struct uv_loop_s *loop);

/* Calls on_signal from the loop when the process gets one of the signals `numbers`. Does not keep the loop
 * alive. */
typedef struct slp_signals slp_signals;
/* Returns NULL without memory, or if a signal can't be watched. */
slp_signals *slp_signals_new(slp_mem *mem, struct uv_loop_s *loop, const int *numbers, size_t n,
                             void (*on_signal)(void *arg, int number), void *arg);
void slp_signals_close(slp_signals *s); /* frees s on a later turn of the loop */

/* Calls on_tick again and again (progress lines, --timeout). Does not keep the loop alive. */
typedef struct slp_ticker slp_ticker;
/* Returns NULL without memory. */
slp_ticker *slp_ticker_new(slp_mem *mem, struct uv_loop_s *loop, uint64_t every_ms,
                           void (*on_tick)(void *arg), void *arg);
void slp_ticker_close(slp_ticker *t);

/* Writes to standard output, or to any descriptor (pipe, terminal, file, /dev/null). Never blocks the loop
 * for pipes, sockets and terminals; a write to a file may block. */
typedef struct slp_out slp_out;
/* Returns NULL without memory. fd stays the caller's, and must stay open until slp_out_close. */
slp_out *slp_out_new(slp_mem *mem, struct uv_loop_s *loop, int fd, void (*on_event)(void *arg), void *arg);
/* Takes the content of b, to write it. Returns 0, or UV_E* if writing has failed before (UV_EPIPE: the reader
 * left). on_event is called from the loop each time all bytes are written, and when writing fails. */
int slp_out_write(slp_out *o, slp_buf *b);
/* Writes as much of p[0, n) as fits now, and does not keep the rest. No bytes given to slp_out_write may be
 * waiting. Returns how many bytes were written; 0: there is no room, and on_event will be called when there
 * is room; UV_E*: writing has failed, as for slp_out_write. */
int64_t slp_out_some(slp_out *o, const char *p, size_t n);
void slp_out_wake(slp_out *o); /* makes the loop call on_event on a later turn */
/* returns how many bytes given to slp_out_write are not written yet */
size_t slp_out_waiting_bytes(const slp_out *o);
int slp_out_error(const slp_out *o); /* returns 0, or UV_E* if writing has failed */
/* Checks whether the reader has left, although nothing is being written. If so, on_event is called, and
 * slp_out_error is UV_EPIPE. */
void slp_out_look(slp_out *o);
void slp_out_close(slp_out *o); /* drops bytes that were not written; restores the descriptor's flags */

/* Calls on_end when fd (standard input) reaches its end. Keeps the loop alive until then. */
typedef struct slp_in_end slp_in_end;
/* Returns NULL without memory. fd stays the caller's. */
slp_in_end *slp_in_end_new(slp_mem *mem, struct uv_loop_s *loop, int fd, void (*on_end)(void *arg),
                           void *arg);
void slp_in_end_close(slp_in_end *e);

int slp_is_terminal(int fd);

#endif

/* push_cursor.h - the cursors of pushed shards: positions as text. The head of push.c describes their
 * forms. */
#ifndef SLP_SOURCE_PUSH_CURSOR_H
#define SLP_SOURCE_PUSH_CURSOR_H

#include "aws/ops.h"
#include "core/position.h"

#define SLP_PUSH_CURSOR_MAX 160u

/* Writes a cursor for the position. Returns its length. */
int slp_push_cursor_put(const slp_position *from, char out[SLP_PUSH_CURSOR_MAX]);
/* Makes a subscription begin at the cursor. The operation keeps a pointer into `at`. */
void slp_push_cursor_take(slp_op_subscribe *op, const char *at);
/* Returns 1 if slp_push_cursor_put or an event has made the cursor; 0 if it is an iterator of GetRecords,
 * which is base64 and never consists of digits alone. */
int slp_push_cursor_is_own(slp_str at);

#endif

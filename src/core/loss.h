/* loss.h - records that can't be read any more: whether there are any, and where the gap begins and ends.
 *
 * A record that reading goes on from may be kept no more though nothing behind it is missing. So a mark knows
 * until when what came behind it is accounted for (mark.h: clear_ms): nothing came, as the tip of the shard
 * has shown, or its loss was told. */
#ifndef SLP_CORE_LOSS_H
#define SLP_CORE_LOSS_H

#include "core/mark.h"

typedef struct slp_shard slp_shard;

typedef enum slp_gap { /* found where the service keeps nothing at our position; told with the next answer */
                       SLP_GAP_NONE,
                       SLP_GAP_MAYBE,
                       SLP_GAP_CERTAIN
} slp_gap;

/* Tells that records behind the shard's last one are missing, or may be. next: the page with which reading
 * goes on; NULL: it is not known where that is. */
void slp_loss_tell(slp_shard *s, const slp_page *next, int certain, const char *message);
/* The service keeps nothing at our position. Returns 1 if reading is to stop, and the loss was told; 0: it
 * goes on at the oldest record, and the loss is told with it. */
int slp_loss_trimmed(slp_shard *s, const char *message);
/* Tells of a loss in front of the page, which is about to be taken; `known`: its first record was taken
 * before. Returns 1 if there is one; *ret_behind is the mark behind which it is accounted for then, or has no
 * number. */
int slp_loss_before(slp_shard *s, const slp_page *page, int known, slp_mark *ret_behind);
/* What was at the mark, or came behind it, should still be kept. */
int slp_loss_is_young(const slp_shard *s, const slp_mark *m);
/* The shard has nothing more that could show where a gap ends. Returns 1 if one was told. */
int slp_loss_end(slp_shard *s);
/* A page without records, whose answer was asked for at asked_us, left the shard behind_ms behind its tip.
 * Returns 1 if the shard's last mark is clear until later than it was, so much that this is worth a write. */
int slp_loss_note_quiet(slp_shard *s, int64_t behind_ms, uint64_t asked_us, int at_tip);

#endif

/* loss.h - finds records that can't be read any more, and tells where the gap begins and ends.
 *
 * The record that reading goes on from may be gone although nothing behind it is missing. So a mark knows
 * until when what came behind it is accounted for (mark.h: clear_ms): nothing came, as the shard's tip
 * showed, or its loss was told. */
#ifndef SLP_CORE_LOSS_H
#define SLP_CORE_LOSS_H

#include "core/mark.h"

typedef struct slp_shard slp_shard;

/* whether records are missing at a position that the service no longer keeps; told with the next answer */
typedef enum slp_gap { SLP_GAP_NONE, SLP_GAP_MAYBE, SLP_GAP_CERTAIN } slp_gap;

/* Tells that records behind the shard's last one are missing (certain), or may be. next: the page with which
 * reading goes on; NULL: not known yet. */
void slp_loss_tell(slp_shard *s, const slp_page *next, int certain, const char *message);
/* Handles that the service keeps nothing at our position. Returns 1 if reading stops and the loss was told; 0
 * if reading goes on at the oldest record, with which the loss will be told. */
int slp_loss_trimmed(slp_shard *s, const char *message);
/* Tells of a loss in front of a page that is about to be taken. `known`: its first record was taken before.
 * Returns 1 if there is a loss; *ret_behind is then a mark with which the loss counts as told, or has no
 * number. */
int slp_loss_before(slp_shard *s, const slp_page *page, int known, slp_mark *ret_behind);
/* Returns 1 if the service should still keep the mark's record and what came behind it. */
int slp_loss_is_young(const slp_shard *s, const slp_mark *m);
/* To be called when the shard has nothing more that could show where a gap ends. Returns 1 if a gap was
 * told. */
int slp_loss_end(slp_shard *s);
/* Notes a page without records, asked for at asked_us, that left the shard behind_ms behind its tip. Returns
 * 1 if the clear_ms of the shard's last mark has moved far enough to be worth a write. */
int slp_loss_note_quiet(slp_shard *s, int64_t behind_ms, uint64_t asked_us, int at_tip);

#endif

/* loss.h - finds records that can't be read any more, and reports where the gap begins and ends.
 *
 * The service may no longer keep the record after which reading continues. That alone is no loss: perhaps no
 * record came after it. To decide, a mark has the time clear_ms (mark.h). Until that time every record after
 * the mark's record is accounted for: either none came, as answers at the shard's tip showed, or the loss was
 * reported. */
#ifndef SLP_CORE_LOSS_H
#define SLP_CORE_LOSS_H

#include "core/mark.h"

typedef struct slp_shard slp_shard;

/* Whether records are missing at a position that the service no longer keeps. The loss is reported with the
 * next answer. */
typedef enum slp_gap { SLP_GAP_NONE, SLP_GAP_MAYBE, SLP_GAP_CERTAIN } slp_gap;

/* Reports that records after the shard's last one are missing (certain: 1), or may be missing (0). next: the
 * page with which reading continues; NULL: not known yet. */
void slp_loss_tell(slp_shard *s, const slp_page *next, int certain, const char *message);
/* Handles the answer that the service keeps nothing at the position where reading continues. Returns 1 if
 * reading stops there; the loss was then reported. Returns 0 if reading continues at the oldest record; the
 * loss is then reported with that record. */
int slp_loss_trimmed(slp_shard *s, const char *message);
/* Reports a loss in front of a page that is about to be taken into the queue. known: 1 if the page's first
 * record was taken before. Returns 1 if there is a loss. *ret_behind is then the mark from which another run
 * does not report this loss again; it may have no number. */
int slp_loss_before(slp_shard *s, const slp_page *page, int known, slp_mark *ret_behind);
/* Returns 1 if the service should still keep the mark's record and all records after it, by the stream's
 * retention. */
int slp_loss_is_young(const slp_shard *s, const slp_mark *m);
/* To be called when the shard's end or tip is reached, so that no record can show where a gap ends. Returns 1
 * if a gap was reported. */
int slp_loss_end(slp_shard *s);
/* Learns from a page without records. It was asked for at asked_us and left the shard behind_ms behind its
 * tip. Returns 1 if the clear_ms of the shard's last mark has moved far enough that the mark should be
 * written again. */
int slp_loss_note_quiet(slp_shard *s, int64_t behind_ms, uint64_t asked_us, int at_tip);

#endif

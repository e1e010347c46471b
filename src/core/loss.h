/* loss.h - finds records that can't be read any more, and reports where the gap begins and ends.
 *
 * The service may no longer keep the record after which reading is to continue. That alone is no loss:
 * perhaps no record came after it. To decide, each mark has a time clear_ms (mark.h). Until that time every
 * record after the mark's record is accounted for: either answers at the shard's tip showed that none came,
 * or the loss was reported. */
#ifndef SLP_CORE_LOSS_H
#define SLP_CORE_LOSS_H

#include "codec/page.h"
#include "core/core.h"
#include "core/mark.h"

/* Whether records are missing after a position that the service no longer keeps: no; perhaps; certainly. Such
 * a loss is reported when the next answer comes. */
typedef enum slp_gap { SLP_GAP_NONE, SLP_GAP_MAYBE, SLP_GAP_CERTAIN } slp_gap;

/* Reports to the user that records after the last one taken from the shard are missing (certain: 1), or may
 * be missing (0). next: the page with which reading continues; NULL: not known yet. */
void slp_loss_tell(slp_shard *s, const slp_page *next, int certain, const char *message);
/* To be called when the service answers that it no longer keeps the position where reading is to continue.
 * Returns 1 if reading must stop there; the loss was then reported. Returns 0 if reading continues at the
 * oldest record; the loss will be reported when that record comes. */
int slp_loss_trimmed(slp_shard *s, const char *message);
/* Looks for a loss before a page that is about to be taken into the queue, and reports it. known: 1 if the
 * page's first record was taken before. Returns 1 if there is a loss. *ret_behind is then the mark after
 * which records are missing. A later run of the program that starts from this mark does not report the loss
 * again. The mark may be empty (seq_n 0). */
int slp_loss_before(slp_shard *s, const slp_page *page, int known, slp_mark *ret_behind);
/* Returns 1 if the mark's record is younger than the stream's retention, so that the service should still
 * keep it and all records after it. */
int slp_loss_is_young(const slp_shard *s, const slp_mark *m);
/* To be called when the shard's end or tip is reached: no later record can show where a gap ends, so a gap
 * that may exist is reported now. Returns 1 if one was reported. */
int slp_loss_end(slp_shard *s);
/* Learns from a page without records, which was asked for at asked_us and left the shard behind_ms behind its
 * tip. Returns 1 if this moved the clear_ms of the last mark, or if a loss was reported; the mark should then
 * be written to the lease table again. */
int slp_loss_note_quiet(slp_shard *s, int64_t behind_ms, uint64_t asked_us, int at_tip);

#endif

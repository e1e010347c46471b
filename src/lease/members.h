/* members.h - the workers of the fleet, called members, as their rows show them: alive, silent, or evicted.
 * This worker's own row is among them. */
#ifndef SLP_LEASE_MEMBERS_H
#define SLP_LEASE_MEMBERS_H

#include "lease/instance.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "lease/write.h"

typedef enum slp_verdict { SLP_MEMBER_UNKNOWN, SLP_MEMBER_ALIVE, SLP_MEMBER_EVICTED } slp_verdict;

void slp_members_init(slp_fleet *f);
void slp_members_stop(slp_fleet *f);
void slp_members_free(slp_fleet *f);

/* returns NULL if this worker does not know the member */
slp_member *slp_member_get(slp_fleet *f, slp_str id);
/* Returns the member, and creates it if needed. NULL: no memory, or `id` is not a valid id. */
slp_member *slp_member_make(slp_fleet *f, slp_str id);
slp_member *slp_member_each(slp_fleet *f, size_t *at);
slp_str slp_member_id(const slp_member *p);
/* returns 1 if the last consistent read found no row of the member */
int slp_member_is_missing(const slp_member *p);
int slp_member_is_me(const slp_fleet *f, const slp_member *p);
/* sets *ret to "id.incarnation"; empty if no row was read yet */
void slp_member_instance(const slp_member *p, slp_instance *ret);
/* Forgets members for which slp_member_make was not called for 10 minutes. Keeps this worker itself, and the
 * member with the id `keep`. */
void slp_members_forget(slp_fleet *f, slp_str keep);

/* To be called when the member's row was read. w NULL: there is no such row. exact, 1: the read was
 * consistent. */
void slp_member_saw(slp_member *p, const slp_worker_row *w, int exact, const slp_store_req *rq);
/* to be called when a write on the member's row was answered, with the row in the answer */
void slp_member_saw_write(slp_member *p, const slp_write *op);
/* To be called when the member's row is damaged or of a newer version: tells the user once. Such a member is
 * neither missing nor ever evicted. */
void slp_member_saw_bad(slp_member *p, const slp_parsed_row *row);
void slp_member_unread(slp_member *p); /* to be called when a read of the member's row failed */

/* Returns whether an instance ("id.incarnation") may still renew its leases. named_us: when this worker got
 * the answer that first showed the instance as an owner or claimant of a lease. */
slp_verdict slp_member_verdict(slp_fleet *f, slp_str instance, uint64_t named_us);
/* Returns 1 if p was silent for a whole lease time plus more_us, while this worker's own requests to the
 * table succeeded. See PROTOCOL.md, "Eviction". */
int slp_member_may_evict(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* Returns when slp_member_may_evict becomes 1 if p stays silent; SLP_NEVER: not by waiting alone. */
uint64_t slp_member_quiet_us(slp_fleet *f, const slp_member *p, uint64_t more_us);
/* sends the write that evicts p */
void slp_member_evict(slp_fleet *f, slp_member *p);

/* Reads the rows of all workers, then calls `done`, even if the read failed; `done` may be NULL. exact, 1: by
 * a consistent read. Returns 1; or 0 if such a read is under way already, or there is no memory. */
int slp_members_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f));
/* If a read of the rows of all workers is under way, it will call this `done` at its end, and not the earlier
 * one. Returns 1, or 0 if no such read is under way. */
int slp_members_list_joined(slp_fleet *f, void (*done)(slp_fleet *f));
size_t slp_members_n(const slp_fleet *f); /* how many members this worker knows */
/* returns 1 if the last read of the rows of all workers succeeded, 0 if it failed */
int slp_members_list_came(const slp_fleet *f);

#endif

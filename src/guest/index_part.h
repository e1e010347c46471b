/* index_part.h - the rounds of a worker that shares by index; index.c owns them, and index.h draws the
 * phases. */
#ifndef SLP_GUEST_INDEX_PART_H
#define SLP_GUEST_INDEX_PART_H

#include "host/host.h"
#include "lease/instance.h"
#include "lease/read.h"
#include "lease/write.h"

typedef enum slp_index_phase {
  SLP_INDEX_REST,
  SLP_INDEX_TELLING,
  SLP_INDEX_WORKERS,
  SLP_INDEX_LIST,
  SLP_INDEX_LEADING,
  SLP_INDEX_SHARDS,
  SLP_INDEX_LEASES,
  SLP_INDEX_WRITING,
  SLP_INDEX_PARTING
} slp_index_phase;

typedef struct slp_index_names {
  slp_str *all; /* owned; the texts of the names follow the array in the same block */
  size_t n;
} slp_index_names;

typedef struct slp_indexing {
  slp_index_phase phase;
  slp_index_names workers; /* the names of the living workers, sorted */
  size_t place;            /* this worker's index in `workers`; workers.n: this worker is not among them */
  slp_index_names list;    /* the list of shards, as the table has it */
  uint64_t list_ns;        /* when the list was written, by the time in its row; 0: there is no list */
  slp_instance leader;     /* the worker whose name is in the leader's row; empty: there is no name */
  uint64_t leader_ns;      /* when the leader's row was written, by the time in it */
  uint64_t changed_us;     /* when `workers` or `list` last changed */
  /* when this worker's last successful write of its own row was sent; 0: none has succeeded yet */
  uint64_t round_us;
  /* goes up with each change of `workers` or `list`; used as the version of the assignment */
  uint64_t version;
  uint8_t leads;        /* 1: in its last round this worker wrote its name into the leader's row */
  uint8_t look;         /* 1: the next round must list the stream's shards */
  uint8_t listed;       /* 1: this round has listed the stream's shards */
  uint8_t told;         /* 1: this worker's row has been written at least once */
  uint32_t unpublished; /* how many successive writes of this worker's own row have failed */
  uint32_t unled;       /* how many successive writes of the leader's row by this worker have failed */
  slp_timer timer;
  slp_read read;
  slp_write write; /* writes this worker's own row, or the leader's row */
} slp_indexing;

#endif

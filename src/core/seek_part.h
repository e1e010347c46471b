/* seek_part.h - the seeks of a consumer; seek.c owns it. */
#ifndef SLP_CORE_SEEK_PART_H
#define SLP_CORE_SEEK_PART_H

#include "base/list.h"
#include "host/host.h"

typedef struct slp_seek { /* one per consumer */
  slp_list moves;         /* seeks whose callback is still to be made, oldest first */
  slp_event ev;           /* makes the callback of the oldest seek */
} slp_seek;

#endif

/* oom_table.h - a table in the sandbox whose changes are numbered. */
#ifndef SLP_TEST_OOM_TABLE_H
#define SLP_TEST_OOM_TABLE_H

#include <stdio.h>

#include "fault/oom_reader.h"

#define OOM_TABLE "orders"

/* No limits: what throttles do is told by faults. */
static inline slp_world *oom_table_world(oom_run *r) {
  sloop_sandbox_opts_t o;
  slp_world_box_opts(&o);
  o.roll_ms = 0;
  o.change_readers_max = o.change_reads_per_second = o.describes_per_second = o.lists_per_second = 0;
  slp_world *w = oom_world(r, &o);
  SLP_CHECK(slp_box_table(w->box, slp_world_ms(w), OOM_TABLE, 2, "NEW_AND_OLD_IMAGES") == 0);
  return w;
}

static inline void oom_table_write(slp_world *w, oom_marks *marks, int n) {
  for (int i = 0; i < n; i++) {
    char keys[80], image[160];
    uint64_t number = ++marks->n;
    SLP_CHECK(number < OOM_NUMBERS_MAX);
    snprintf(keys, sizeof keys, "{\"id\":{\"S\":\"k%llu\"}}", (unsigned long long)number);
    snprintf(image, sizeof image,
             "{\"id\":{\"S\":\"k%llu\"},\"v\":{\"L\":[{\"N\":\"1.5\"},{\"BOOL\":true}]}}",
             (unsigned long long)number);
    SLP_CHECK(slp_box_add_change(w->box, slp_world_ms(w), OOM_TABLE, slp_str_of(keys), (slp_str){NULL, 0},
                                 slp_str_of(image), 0) == 0);
  }
}

#endif

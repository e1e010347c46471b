/* peer_rows.h - the simulated table as a program that is not ours reads and writes it: attribute by
 * attribute, without the product's schemas. A call is done at once in virtual time; a model lets time
 * pass between two. */
#ifndef SLP_TEST_GUEST_PEER_ROWS_H
#define SLP_TEST_GUEST_PEER_ROWS_H

#include "story/fleet_world.h"

#define PR_TEXT 120

typedef struct pr_write { /* one write; its texts live in it, so it stays where it was begun */
  slp_store_write w;
  slp_atom when[8];
  slp_change changes[12];
  char texts[24][PR_TEXT];
  int texts_n;
} pr_write;

typedef enum pr_result { PR_DONE, PR_REFUSED, PR_NO_ANSWER } pr_result;

/* table: 0 is the leases', others stand beside it. */
void pr_begin(pr_write *u, slp_write_kind kind, uint8_t table, const char *key);
void pr_when_text(pr_write *u, const char *name, const char *z); /* z empty: the attribute is not there */
void pr_when_number(pr_write *u, const char *name, uint64_t n);
void pr_when(pr_write *u, const char *name, slp_test test, slp_val_kind kind, const char *z);
void pr_set_text(pr_write *u, const char *name, const char *z);
void pr_set_number(pr_write *u, const char *name, uint64_t n);
void pr_set(pr_write *u, const char *name, slp_val_kind kind, const char *z);
void pr_set_texts(pr_write *u, const char *name, const slp_str *items, size_t n);
void pr_add(pr_write *u, const char *name, uint64_t n);
void pr_drop(pr_write *u, const char *name);
/* 1: done; 0: the condition was not met. The judge of the world looks at the rows. */
int pr_do(fw_world *w, pr_write *u);
/* The same through the world's network: calls are lost, refused as too fast and not answered, and the AWS
 * SDK tries three times. NO_ANSWER: it may be done. */
pr_result pr_send(fw_world *w, pr_write *u);
int pr_unreadable(fw_world *w); /* 1: a read fails now */

/* What is read is freed with slp_store_rows_free. */
slp_store_rows pr_get(fw_world *w, uint8_t table, const char *key);
slp_store_rows pr_scan(fw_world *w, uint8_t table);
/* "" when absent. */
void pr_text(const slp_row *row, const char *name, char *to, size_t size);
uint64_t pr_number(const slp_row *row, const char *name);
int pr_has(const slp_row *row, const char *name);
int pr_shard_of(const fw_world *w, const char *id); /* -1: none */

#endif

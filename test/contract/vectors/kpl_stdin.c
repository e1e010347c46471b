/* kpl_stdin.c - expands records for kpl_agg.py. A line in is: first and last hash of the shard as decimal
 * text
 * ("-": not known), the bytes and records of a slice, then the data of each record of a page. A line out for
 * it is: the aggregates expanded, then for each row SEQ SUB FLAGS KEY DATA, and a last word "end". */
#include "base/num.h"
#include "hex_lines.h"
#include "kpl_page.h"

static void expand(slp_mem *mem, const hex_line *l) {
  slp_hash_range range;
  slp_page *page = kpl_page_new(mem);
  slp_kpl *k = slp_kpl_new(mem);
  uint64_t bytes_max, records_max;
  kpl_page_must(k && l->n >= 4);
  int known =
      l->field[0].n && !slp_parse_u128(l->field[0], range.first) && !slp_parse_u128(l->field[1], range.last);
  kpl_page_must(!slp_parse_u64(l->field[2], &bytes_max) && !slp_parse_u64(l->field[3], &records_max));
  for (size_t i = 4; i < l->n; i++) kpl_page_add(page, l->field[i]);
  int r = kpl_page_expand(k, page, known ? &range : NULL, bytes_max, records_max, NULL);
  kpl_page_must(r == 0);
  printf("%u", page->aggregates_n);
  for (size_t i = 0; i < page->recs_n; i++) {
    const slp_rec *rec = &page->recs[i];
    slp_str seq = slp_rec_seq(page, rec), key = slp_rec_key(page, rec), data = slp_rec_data(page, rec);
    kpl_page_must(rec->arrived_ms == kpl_page_ms(seq));
    printf(" %.*s %u %u ", (int)seq.n, seq.p, rec->sub, rec->flags);
    hex_put(key.p, key.n);
    putchar(' ');
    hex_put(data.p, data.n);
  }
  puts(" end");
  slp_kpl_free(k);
  slp_page_free(page);
}

int main(void) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  kpl_page_must(mem != NULL);
  for (hex_line l = {0}; hex_line_read(&l, stdin);) expand(mem, &l);
  kpl_page_must(mem->live_blocks == 0);
  slp_mem_drop(mem);
  return 0;
}

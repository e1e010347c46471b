/* change_stdin.c - makes records for a child of the MultiLangDaemon. Each line of input is one change of a
 * table in hex, as the service writes it. The answer is the change's record in hex, as the JSON that stands
 * in the child's list of records, or "error". */
#include "cli/multilang_protocol.h"

#include "hex_lines.h"

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  while (hex_line_read(&l, stdin)) {
    slp_buf b;
    slp_str whole = l.field[0];
    sloop_record_t r = {.whole = {whole.p, whole.n}, .seq = {"7", 1}, .arrived_at_ms = -1, .sub = 0};
    slp_buf_init(&b, mem, 1 << 20);
    if (slp_ml_put_record(&b, &r, 1))
      printf("error");
    else
      hex_put(b.p, b.n);
    putchar('\n');
    slp_buf_free(&b);
  }
  slp_mem_drop(mem);
  return 0;
}

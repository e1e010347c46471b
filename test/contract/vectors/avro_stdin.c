/* avro_stdin.c - a line is a decoder, what its --schema-file would be given (empty: none) and a text, in hex; the answer is
 * what -s makes of it, in hex, or '!' and the reason in hex. The text lies in a block of its own size, so that sanitizers find a read beyond it. */
#include "cli/decode.h"
#include "cli/schemas.h"

#include "hex_lines.h"

static int decode(slp_decoding *d, const char *chain, slp_str in, char why[200]) {
  slp_decode_chain c;
  int r = slp_decode_parse(chain, &c, why);
  if (r) return r;
  slp_decoding_begin(d, &c, in, 1u << 26);
  do r = slp_decoding_step(d, why);
  while (r == 1);
  return r;
}

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  while (hex_line_read(&l, stdin)) {
    slp_mem *mem = slp_mem_new(NULL, NULL);
    slp_schemas schemas;
    slp_decoding d;
    char why[400] = "";
    char *copy = malloc(l.field[2].n ? l.field[2].n : 1);
    if (!mem || !copy) return 2;
    if (l.field[2].n) memcpy(copy, l.field[2].p, l.field[2].n);
    slp_schemas_init(&schemas, mem);
    slp_decoding_init(&d, mem);
    d.schemas = &schemas;
    int r = l.field[1].n ? slp_schemas_add_file(&schemas, l.field[1].p, why) : 0;
    if (!r) r = decode(&d, l.field[0].p, (slp_str){copy, l.field[2].n}, why);
    if (r) {
      putchar('!');
      hex_put(why, strlen(why));
    } else {
      hex_put(d.in.p, d.in.n);
    }
    putchar('\n');
    slp_decoding_free(&d);
    slp_schemas_free(&schemas);
    if (mem->live_blocks) return 3;
    slp_mem_drop(mem);
    free(copy);
  }
  return 0;
}

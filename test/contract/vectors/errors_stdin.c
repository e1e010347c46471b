/* errors_stdin.c - a line is an error's name and a status in hex; the answer is its class, and "row" if the table
 * of aws/classify.c has the name, else "status". */
#include "aws/classify.h"

#include "hex_lines.h"

int main(void) {
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  while (hex_line_read(&l, stdin)) {
    slp_remedy remedy;
    slp_class class = slp_classify_name(l.field[0], atoi(l.field[1].p), &remedy);
    printf("%s %s\n", slp_class_name(class), slp_classify_knows(l.field[0]) ? "row" : "status");
  }
  return 0;
}

/* cloudwatch_stdin.c - prints the requests that PutMetricData would send, for a comparison with botocore's. A
 * line: namespace time-ms (name unit value decimals dimensions (name value)*)*. Answer: the body in hex. */
#include "aws/cloudwatch.h"
#include "base/num.h"

#include "hex_lines.h"

/* Only the clock-free part of a host is needed: nothing is sent. */
static uint64_t no_clock(slp_host *h) { return h ? 0 : 1; }
static int64_t no_wall(slp_host *h) { return h ? 0 : 1; }
static void no_wake(slp_host *h, uint64_t at_us) { (void)h, (void)at_us; }
static const slp_host_ops ops = {
    .mono_us = no_clock, .cpu_us = no_clock, .random = no_clock, .wall_ms = no_wall, .wake = no_wake};

static uint64_t number(slp_str s) {
  uint64_t n = 0;
  if (slp_parse_u64(s, &n)) exit(2);
  return n;
}

/* Returns the field behind the datum. */
static size_t read_datum(const hex_line *l, size_t i, slp_cw_datum *d) {
  *d = (slp_cw_datum){.name = l->field[i].p, .unit = l->field[i + 1].p};
  d->value = number(l->field[i + 2]);
  d->decimals = (unsigned)number(l->field[i + 3]);
  d->dimensions_n = number(l->field[i + 4]);
  i += 5;
  for (size_t k = 0; k < d->dimensions_n; k++, i += 2)
    d->dimensions[k] = (slp_cw_dimension){l->field[i].p, l->field[i + 1]};
  return i;
}

int main(void) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_host h;
  slp_aws *aws;
  slp_cw_put put;
  char why[160];
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  slp_host_init(&h, &ops, mem);
  if (slp_aws_new(&aws, &h, &(slp_aws_options){.region = "us-east-1"}, why)) return 2;
  slp_cw_put_init(&put, aws);
  while (hex_line_read(&l, stdin)) {
    slp_cw_datum d;
    int r = slp_cw_put_begin(&put, l.field[0], (int64_t)number(l.field[1]));
    for (size_t i = 2; i < l.n && !r;) {
      i = read_datum(&l, i, &d);
      r = slp_cw_put_add(&put, &d);
    }
    if (r)
      printf("error %d", r);
    else
      hex_put(put.op.request.p, put.op.request.n);
    putchar('\n');
  }
  slp_cw_put_free(&put);
  slp_aws_drop(aws);
  slp_mem_drop(mem); /* the host's hold */
  int leaked = mem->live_blocks != 0;
  slp_mem_drop(mem);
  return leaked;
}

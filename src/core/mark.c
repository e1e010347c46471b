/* mark.c - brings a sequence number into the one form that the service accepts. Kinesis writes sequence
 * numbers without leading zeros (0|([1-9]\d{0,128}) in its service model). DynamoDB Streams writes at least
 * 21 digits, and DynamoDB Local pads its numbers with zeros. A number that a person or another program wrote
 * may have neither form. Without a change, the service would refuse it every time. */
#include "core/mark.h"

/* Makes the number n digits long by adding or removing leading zeros. If n is less than the number's length,
 * the number must have enough leading zeros. */
static void set_digits(slp_mark *m, size_t n) {
  if (n < m->seq_n) {
    memmove(m->seq, m->seq + (m->seq_n - n), n);
  } else if (n > m->seq_n) {
    memmove(m->seq + (n - m->seq_n), m->seq, m->seq_n);
    memset(m->seq, '0', n - m->seq_n);
  }
  m->seq_n = (uint8_t)n;
}

void slp_mark_canonical(slp_mark *m, unsigned digits_min) {
  size_t least = slp_min_u64(slp_max_u64(digits_min, 1), SLP_SEQ_MAX), zeros = 0;
  if (!m->seq_n) return;
  while (zeros + 1u < m->seq_n && m->seq[zeros] == '0') zeros++;
  set_digits(m, slp_max_u64(m->seq_n - zeros, least));
}

void slp_mark_read_canonical(slp_mark *m, unsigned digits_min) {
  uint8_t was = m->seq_n;
  slp_mark_canonical(m, digits_min);
  if (m->seq_n != was) m->row_n = was;
}

slp_mark slp_mark_of_row(const slp_mark *m) {
  slp_mark as_read = *m;
  if (m->row_n) set_digits(&as_read, m->row_n);
  as_read.row_n = 0;
  return as_read;
}

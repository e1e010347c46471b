/* format.h - -f: the text that is printed for each record. A format is compiled once and run for each
 * record. */
#ifndef SLP_CLI_FORMAT_H
#define SLP_CLI_FORMAT_H

#include "base/buf.h"
#include "base/mem.h"

#include <sloop.h>

/* A compiled format. The tokens in its text:
 *   %s payload          %S its length       %R its length as 4 bytes, the highest byte first
 *   %k partition key    %K its length       %T arrival time in ms (-1: not given)
 *   %t stream           %p shard            %o sequence number     %u sub-sequence number
 *   %n event of DynamoDB ("": Kinesis)      %l ms behind the tip (-1: not known)    %% percent sign
 *   %e epoch of the shard's lease (0: none) %w this worker ("": no leases)
 *   %{time} arrival time as 2026-01-31T13:10:05.123+01:00; %{time:FORM} in a form of program/shown_time.h
 *   \n \r \t \0 \\ \xXX one byte */
typedef struct slp_format slp_format;
/* Compiles a format. Returns 0; SLP_ENOMEM; or SLP_EINVAL and a sentence in `why` with the wrong token and
 * its place. */
int slp_format_new(slp_mem *mem, slp_str text, slp_format **ret, char why[200]);
/* Sets whether %{time} is in UTC (1) or in local time (0, as at first). */
void slp_format_set_utc(slp_format *f, int utc);
int slp_format_has_payload(const slp_format *f); /* returns 1 if the format has %s */
/* f may be NULL. */
void slp_format_free(slp_format *f);
/* Appends the text with the escapes above resolved; '%' is an ordinary character here. Returns 0; SLP_ENOMEM;
 * or SLP_EINVAL and a sentence in `why`. */
int slp_unescape(slp_buf *ret, const char *text, const char *option, char why[200]);
/* Appends the text of a record in this format. for_terminal: bytes that could control a terminal are escaped.
 * Returns 0, or the buffer's error. */
int slp_format_run(const slp_format *f, slp_buf *b, const sloop_record_t *r, int64_t behind_ms,
                   const char *worker_or_null, int for_terminal);

#endif

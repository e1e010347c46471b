/* format.h - the text around each record (-f): compiled once, run per record. */
#ifndef SLP_CLI_FORMAT_H
#define SLP_CLI_FORMAT_H

#include "base/buf.h"
#include "sloop.h"

/* %s payload          %S its length       %R its length as 4 bytes, big end first
 * %k partition key    %K its length       %T arrival time in ms (-1: not given)
 * %t stream           %p shard            %o sequence number     %u sub-sequence
 * %n event of DynamoDB ("": Kinesis)      %l ms behind the tip (-1: not known)    %% percent sign
 * %e epoch of the shard's lease (0: none) %w this worker ("": no leases)
 * \n \r \t \0 \\ \xXX one byte */
typedef struct slp_format slp_format;
/* SLP_ENOMEM; or SLP_EINVAL and `why` names the token and its place. */
int slp_format_new(slp_mem *mem, slp_str text, slp_format **ret, char why[200]);
void slp_format_free(slp_format *f);
/* Text with the escapes above and without tokens. SLP_EINVAL and `why`, SLP_ENOMEM. */
int slp_unescape(slp_buf *ret, const char *text, const char *option, char why[200]);
int slp_format_run(const slp_format *f, slp_buf *b, const sloop_record_t *r, int64_t behind_ms,
                   const char *worker_or_null, int for_terminal);

#endif

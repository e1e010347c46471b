/* sign_stdin.c - signs the requests it reads, so that another signer can be compared with ours. A line:
 * method url query region service key-id secret token time-ms body (name value)*. Answer: the date and the
 * Authorization. */
#include "aws/endpoint.h"
#include "aws/sigv4.h"
#include "base/num.h"

#include "hex_lines.h"

enum { METHOD, URL, QUERY, REGION, SERVICE, KEY_ID, SECRET, TOKEN, TIME_MS, BODY, HEADERS };

int main(void) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_signer *signer = slp_signer_new(mem);
  slp_buf out;
  hex_line l = {NULL, 0, {{NULL, 0}}, 0};
  slp_buf_init(&out, mem, 1 << 20);
  while (hex_line_read(&l, stdin)) {
    slp_http_header headers[FIELDS_MAX];
    slp_endpoint e;
    char why[160], date[17];
    int64_t now_ms = 0;
    size_t n = 0;
    for (size_t i = HEADERS; i + 1 < l.n; i += 2)
      headers[n++] = (slp_http_header){l.field[i], l.field[i + 1]};
    if (slp_parse_i64(l.field[TIME_MS], &now_ms) || slp_endpoint_parse_url(&e, l.field[URL], why)) {
      printf("error %s\n", why);
      continue;
    }
    slp_sign_request rq = {.method = l.field[METHOD],
                           .host = slp_str_of(e.host),
                           .path = slp_str_of(e.path),
                           .query = l.field[QUERY],
                           .headers = headers,
                           .headers_n = n,
                           .body = l.field[BODY],
                           .region = l.field[REGION],
                           .service = l.field[SERVICE]};
    slp_sign_keys keys = {l.field[KEY_ID], l.field[SECRET], l.field[TOKEN]};
    slp_buf_clear(&out);
    int r = slp_sign(signer, &rq, &keys, now_ms, date, &out);
    if (r)
      printf("error %d\n", r);
    else
      printf("%s %s\n", date, slp_buf_z(&out));
  }
  slp_buf_free(&out);
  slp_signer_free(signer);
  int leaked = mem->live_blocks != 0;
  slp_mem_drop(mem);
  return leaked;
}

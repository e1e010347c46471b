/* json_nodes.c - builds an array of nodes from the tokens of a JSON document. */
#include "cli/json_nodes.h"

#include "base/mem.h"
#include "codec/json.h"

void slp_json_nodes_init(slp_json_nodes *d, slp_mem *mem) { *d = (slp_json_nodes){.mem = mem}; }

void slp_json_nodes_free(slp_json_nodes *d) {
  slp_free(d->mem, d->all);
  slp_json_nodes_init(d, d->mem);
}

static int is_end_token(int token) {
  return token == SLP_JSON_OBJECT_END || token == SLP_JSON_ARRAY_END || token == SLP_JSON_END;
}

/* Appends a node as the next sibling of `before`. If `before` is SLP_JSON_NO_NODE, the node becomes the first
 * child of `parent`. Returns the number of the node, or SLP_JSON_NO_NODE if there is no memory. */
static uint32_t add_node(slp_json_nodes *d, uint32_t parent, uint32_t before) {
  if (d->n == d->cap) {
    slp_json_node *more = slp_doubled(d->mem, d->all, &d->cap, 64, sizeof *more);
    if (!more) return SLP_JSON_NO_NODE;
    d->all = more;
  }
  uint32_t number = (uint32_t)d->n++;
  d->all[number] = (slp_json_node){.first = SLP_JSON_NO_NODE, .next = SLP_JSON_NO_NODE};
  if (before != SLP_JSON_NO_NODE)
    d->all[before].next = number;
  else if (parent != SLP_JSON_NO_NODE)
    d->all[parent].first = number;
  return number;
}

int slp_json_nodes_read(slp_json_nodes *d, char *body, size_t n, size_t max) {
  slp_json j;
  uint32_t open[SLP_JSON_DEPTH_MAX] = {0}, last[SLP_JSON_DEPTH_MAX + 1] = {SLP_JSON_NO_NODE};
  uint32_t depth = 0;
  slp_str key = {NULL, 0};
  slp_json_begin(&j, body, n);
  for (;;) {
    int token = slp_json_next(&j);
    if (token < 0) return token;
    if (token == SLP_JSON_END) return 0;
    if (token == SLP_JSON_KEY) {
      key = j.text;
      continue;
    }
    if (is_end_token(token)) {
      depth--;
      continue;
    }
    if (d->n == max) return SLP_ELIMIT;
    uint32_t number = add_node(d, depth ? open[depth - 1] : SLP_JSON_NO_NODE, last[depth]);
    if (number == SLP_JSON_NO_NODE) return SLP_ENOMEM;
    d->all[number].key = key;
    d->all[number].kind = (uint32_t)token;
    if (token == SLP_JSON_STRING || token == SLP_JSON_NUMBER) d->all[number].text = j.text;
    key = (slp_str){NULL, 0};
    last[depth] = number;
    if (token != SLP_JSON_OBJECT && token != SLP_JSON_ARRAY) continue;
    open[depth++] = number;
    last[depth] = SLP_JSON_NO_NODE;
  }
}

uint32_t slp_json_member(const slp_json_nodes *d, uint32_t object, const char *name) {
  uint32_t found = SLP_JSON_NO_NODE;
  if (d->all[object].kind != SLP_JSON_OBJECT) return found;
  for (uint32_t at = d->all[object].first; at != SLP_JSON_NO_NODE; at = d->all[at].next)
    if (slp_str_is(d->all[at].key, name)) found = at;
  return found;
}

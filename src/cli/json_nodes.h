/* json_nodes.h - a small JSON document as an array of nodes, for readers that need its members in another
 * order than they come. The number of nodes is bounded, and the depth by the JSON reader. */
#ifndef SLP_CLI_JSON_NODES_H
#define SLP_CLI_JSON_NODES_H

#include "codec/json.h"

#define SLP_JSON_NO_NODE UINT32_MAX

typedef struct slp_json_node {
  slp_str key;          /* name of a member of an object; empty in an array */
  slp_str text;         /* of a string or a number; points into the body */
  uint32_t kind;        /* slp_json_token; for an object or an array the token that begins it */
  uint32_t first, next; /* the first child, and the next sibling; SLP_JSON_NO_NODE: there is none */
} slp_json_node;

typedef struct slp_json_nodes {
  slp_mem *mem;
  slp_json_node *all; /* owned; all[0] is the root */
  size_t n, cap;
} slp_json_nodes;

void slp_json_nodes_init(slp_json_nodes *d, slp_mem *mem);
void slp_json_nodes_free(slp_json_nodes *d);
/* Reads the whole body, in place, so it must live as long as the nodes. Returns 0; SLP_EBADDATA; SLP_ELIMIT
 * if it is too deep or has more than `max` nodes; SLP_ENOMEM. */
int slp_json_nodes_read(slp_json_nodes *d, char *body, size_t n, size_t max);
/* Returns the last member of that name, or SLP_JSON_NO_NODE. */
uint32_t slp_json_member(const slp_json_nodes *d, uint32_t object, const char *name);

#endif

/* json_nodes.h - a small JSON document as an array of nodes, for readers that need the members of an object
 * in another order than the document has. The caller bounds the number of nodes, and the JSON reader bounds
 * the depth. */
#ifndef SLP_CLI_JSON_NODES_H
#define SLP_CLI_JSON_NODES_H

#include "base/mem.h"

#define SLP_JSON_NO_NODE UINT32_MAX

typedef struct slp_json_node {
  slp_str key;          /* name of the member, if the parent is an object; empty in an array */
  slp_str text;         /* text of a string or a number; points into the body */
  uint32_t kind;        /* an slp_json_token; for an object or an array, the token that begins it */
  uint32_t first, next; /* the first child and the next sibling; SLP_JSON_NO_NODE: there is none */
} slp_json_node;

typedef struct slp_json_nodes {
  slp_mem *mem;
  slp_json_node *all; /* owned; all[0] is the root */
  size_t n, cap;
} slp_json_nodes;

void slp_json_nodes_init(slp_json_nodes *d, slp_mem *mem);
void slp_json_nodes_free(slp_json_nodes *d);
/* Reads the whole body in place, so the body must live as long as the nodes. Returns 0; SLP_EBADDATA;
 * SLP_ELIMIT if the document is nested too deep or has more than `max` nodes; SLP_ENOMEM. */
int slp_json_nodes_read(slp_json_nodes *d, char *body, size_t n, size_t max);
/* Returns the object's last member with this name, or SLP_JSON_NO_NODE. */
uint32_t slp_json_member(const slp_json_nodes *d, uint32_t object, const char *name);

#endif

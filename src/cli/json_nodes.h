/* json_nodes.h - a small JSON document as an array of nodes, for readers that need its members in another
 * order than they come. Bounded in nodes and, by the reader below it, in depth. */
#ifndef SLP_CLI_JSON_NODES_H
#define SLP_CLI_JSON_NODES_H

#include "codec/json.h"

#define SLP_JSON_NO_NODE UINT32_MAX

typedef struct slp_json_node {
  slp_str key;          /* of a member; absent in an array */
  slp_str text;         /* of a string or number: a slice of the body */
  uint32_t kind;        /* slp_json_token: of an object or array its first token */
  uint32_t first, next; /* its first child, the one behind it; SLP_JSON_NO_NODE: none */
} slp_json_node;

typedef struct slp_json_nodes {
  slp_mem *mem;
  slp_json_node *all; /* owned; the first is the root */
  size_t n, cap;
} slp_json_nodes;

void slp_json_nodes_init(slp_json_nodes *d, slp_mem *mem);
void slp_json_nodes_free(slp_json_nodes *d);
/* Reads the whole body, in place: it must live as long as the nodes. SLP_EBADDATA; SLP_ELIMIT: too deep, or
 * more than `max` nodes; SLP_ENOMEM. */
int slp_json_nodes_read(slp_json_nodes *d, char *body, size_t n, size_t max);
/* Returns the last member of that name, or SLP_JSON_NO_NODE. */
uint32_t slp_json_member(const slp_json_nodes *d, uint32_t object, const char *name);

#endif

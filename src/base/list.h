/* list.h - an intrusive doubly linked list. A node that is in no list has next == NULL. */
#ifndef SLP_BASE_LIST_H
#define SLP_BASE_LIST_H

#include "base/base.h"

typedef struct slp_list {
  struct slp_list *next, *prev;
} slp_list;

static inline void slp_list_init(slp_list *head) { head->next = head->prev = head; }
static inline int slp_list_empty(const slp_list *head) { return head->next == head; }
static inline int slp_list_linked(const slp_list *node) { return node->next != NULL; }

static inline void slp_list_insert_before(slp_list *at, slp_list *node) {
  SLP_CHECK(!slp_list_linked(node));
  node->prev = at->prev;
  node->next = at;
  at->prev->next = node;
  at->prev = node;
}
static inline void slp_list_add_last(slp_list *head, slp_list *node) { slp_list_insert_before(head, node); }
static inline void slp_list_add_first(slp_list *head, slp_list *node) {
  slp_list_insert_before(head->next, node);
}
/* Removes the node from its list. Does nothing if the node is in no list. */
static inline void slp_list_remove(slp_list *node) {
  if (!slp_list_linked(node)) return;
  node->prev->next = node->next;
  node->next->prev = node->prev;
  node->next = node->prev = NULL;
}
/* Returns the first node; NULL: the list is empty. */
static inline slp_list *slp_list_first(const slp_list *head) {
  return slp_list_empty(head) ? NULL : head->next;
}
/* Removes the first node and returns it; NULL: the list is empty. */
static inline slp_list *slp_list_pop(slp_list *head) {
  slp_list *node = slp_list_first(head);
  if (node) slp_list_remove(node);
  return node;
}
/* Loops over all nodes. A body that removes `it` must leave the loop. */
#define SLP_LIST_EACH(head, it) for (slp_list *it = (head)->next; it != (head); it = it->next)

#endif

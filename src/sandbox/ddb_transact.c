/* ddb_transact.c - TransactWriteItems and TransactGetItems: either all actions are carried out, or none. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "codec/digest.h"
#include "codec/json_write.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

#define ACTIONS_MAX 100
#define TRANSACTION_BYTES (4u << 20)
#define TOKEN_MS INT64_C(600000)
#define TIMES 2 /* a transaction costs twice the units of its actions */

typedef struct reason {
  /* why this action cancels the transaction; NULL: it does not, and its reason in the answer is "None" */
  const char *code;
  char message[300];
  const slp_av *item;
} reason;

typedef struct transaction {
  slp_action a[ACTIONS_MAX];
  reason why[ACTIONS_MAX];
  uint32_t n, refused;
} transaction;

/* ---- tokens ------------------------------------------------------------------------------------- */
static void token_free(slp_box *box, slp_token *k) {
  slp_list_remove(&k->link);
  slp_free(box->mem, k);
}

void slp_tokens_free(slp_box *box) {
  for (slp_list *it; (it = slp_list_first(&box->ddb->tokens)) != NULL;) {
    token_free(box, SLP_OWNER(it, slp_token, link));
  }
}

/* Finds out whether the token was used. Returns 0 if it was not used. Returns 1 if it was used for the same
 * request, which was carried out. Returns -1 if it was used for another request, or if there is no memory;
 * the call has failed. */
static int seen_before(slp_box_call *c, slp_str token, uint8_t digest[32]) {
  slp_list *next, *head = &c->box->ddb->tokens;
  if (slp_sha256(c->box->digest, slp_buf_str(&c->in->body), digest)) return slp_box_no_memory(c);
  for (slp_list *it = head->next; it != head; it = next) {
    slp_token *k = SLP_OWNER(it, slp_token, link);
    next = it->next;
    if (c->now_ms - k->at_ms >= TOKEN_MS) {
      token_free(c->box, k);
      continue;
    }
    if (!slp_str_is(token, k->text)) continue;
    if (memcmp(k->digest, digest, sizeof k->digest) == 0) return 1;
    return slp_box_fail(c, "IdempotentParameterMismatchException",
                        "The request uses the same client token as a previous, but non-identical request.");
  }
  return 0;
}

/* ---- cancelling --------------------------------------------------------------------------------- */
static void put_reason(slp_jw *w, const reason *why) {
  slp_jw_object(w, NULL);
  slp_jw_z(w, "Code", why->code ? why->code : "None");
  if (why->code) slp_jw_z(w, "Message", why->message);
  if (why->item) slp_item_put_json(slp_jw_value(w, "Item"), why->item);
  slp_jw_object_end(w);
}

static int fail_as_cancelled(slp_box_call *c, const transaction *x) {
  slp_buf list, codes;
  slp_buf_init(&list, c->box->mem, 64u << 20);
  slp_buf_init(&codes, c->box->mem, 1u << 16);
  slp_jw w = {.b = &list};
  slp_jw_array(&w, "CancellationReasons");
  for (uint32_t i = 0; i < x->n; i++) {
    put_reason(&w, &x->why[i]);
    slp_buf_addf(&codes, "%s%s", i ? ", " : "", x->why[i].code ? x->why[i].code : "None");
  }
  slp_jw_array_end(&w);
  c->error_more = (slp_str){NULL, 0};
  if (!slp_buf_failed(&list) && !slp_buf_failed(&codes)) {
    slp_box_fail(c, "TransactionCanceledException",
                 "Transaction cancelled, please refer cancellation reasons for specific reasons [%s]",
                 slp_buf_z(&codes));
    c->error_more = slp_arena_copy(slp_call_arena(c), slp_buf_str(&list));
  }
  if (!c->error_more.p) {
    c->error_more.n = 0;
    slp_box_no_memory(c);
  }
  slp_buf_free(&list);
  slp_buf_free(&codes);
  return -1;
}

static void refuse_action(transaction *x, uint32_t i, const char *code, const char *message) {
  if (x->why[i].code) return;
  x->why[i].code = code;
  snprintf(x->why[i].message, sizeof x->why[i].message, "%.299s", message);
  x->refused++;
}

/* ---- writes ------------------------------------------------------------------------------------- */
static int read_action(slp_box_call *c, uint32_t node, transaction *x) {
  static const struct {
    const char *name;
    slp_act_kind kind;
  } kinds[] = {{"Put", SLP_ACT_PUT},
               {"Update", SLP_ACT_UPDATE},
               {"Delete", SLP_ACT_DELETE},
               {"ConditionCheck", SLP_ACT_CHECK}};
  uint32_t of, chosen = 0;
  slp_act_kind kind = SLP_ACT_PUT;
  for (size_t i = 0; i < SLP_COUNT(kinds); i++) {
    if (slp_in_map(c, node, kinds[i].name, &of)) return -1;
    if (!of) continue;
    if (chosen) {
      return slp_refuse(c, "TransactItems can only contain one of Check, Put, Update or Delete");
    }
    chosen = of;
    kind = kinds[i].kind;
  }
  if (!chosen) {
    return slp_refuse(c,
                      "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request");
  }
  if (kind == SLP_ACT_UPDATE && !slp_in_get(c, chosen, "UpdateExpression")) {
    return slp_refuse(
        c,
        "1 validation error detected: Value null at 'transactItems.%u.member.update.updateExpression' "
        "failed to satisfy constraint: Member must not be null",
        (unsigned)x->n + 1);
  }
  slp_action *a = &x->a[x->n++];
  if (slp_action_read(c, chosen, kind, a)) return -1;
  for (const slp_action *before = x->a; before < a; before++) {
    if (before->t == a->t && slp_row_key_cmp(&before->key, &a->key) == 0) {
      return slp_refuse(c, "Transaction request cannot include multiple operations on one item");
    }
  }
  return 0;
}

static int read_actions(slp_box_call *c, transaction *x) {
  uint32_t list;
  if (slp_in_list(c, 0, "TransactItems", &list)) return -1;
  for (uint32_t i = c->in->v[list].child; i; i = c->in->v[i].next) {
    if (c->in->v[i].kind != SLP_VALUE_MAP) {
      return slp_box_fail(c, "SerializationException", "An action must be a map.");
    }
    if (read_action(c, i, x)) return -1;
  }
  return 0;
}

static int judge_actions(slp_box_call *c, transaction *x, slp_cost **costs) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    slp_action *a = &x->a[i];
    slp_cost *cost = slp_cost_of(c, costs, a->t);
    if (!cost) return -1;
    int r = slp_action_judge(c, a);
    if (r < 0) {
      if (strcmp(c->error, "ValidationException") != 0) return -1;
      c->error = NULL;
      refuse_action(x, i, "ValidationError", c->error_message);
      a->now = a->was;
    } else if (r == 1) {
      refuse_action(x, i, "ConditionalCheckFailed", "The conditional request failed");
      if (a->show_on_fail) x->why[i].item = a->was;
    }
    if (slp_cost_change(c, cost, a->was, a->now, TIMES)) return -1;
    bytes += a->now ? slp_item_size(a->now) : 0;
  }
  if (bytes <= TRANSACTION_BYTES) return 0;
  return slp_refuse(c, "Collection size exceeded: the items of a transaction may have 4 MB together");
}

static int pay_for_actions(slp_box_call *c, transaction *x, slp_cost *costs) {
  for (slp_cost *cost = costs; cost; cost = cost->next) {
    if (!slp_cost_take_writes(c, cost)) continue;
    for (uint32_t i = 0; i < x->n; i++) {
      if (x->a[i].t == cost->t) refuse_action(x, i, "ProvisionedThroughputExceeded", c->error_message);
    }
    c->error = NULL;
    c->error_more = (slp_str){NULL, 0};
  }
  return 0;
}

static int remember_token(slp_box_call *c, slp_str token, const uint8_t digest[32]) {
  slp_token *k = SLP_NEW(c->box->mem, slp_token);
  if (!k) return slp_box_no_memory(c);
  k->at_ms = c->now_ms;
  memcpy(k->digest, digest, sizeof k->digest);
  memcpy(k->text, token.p, token.n); /* at most 36 characters: the rules for the input check it */
  slp_list_add_last(&c->box->ddb->tokens, &k->link);
  return 0;
}

static int carry_out(slp_box_call *c, transaction *x) {
  for (uint32_t i = 0; i < x->n; i++) {
    if (slp_action_apply(c, &x->a[i])) return -1;
  }
  return 0;
}

static int write_transaction_answer(slp_box_call *c, const slp_cost *costs) {
  slp_out_map(&c->out);
  slp_cost_put(c, costs, 1, 1);
  slp_out_end(&c->out);
  return slp_out_failed(&c->out) ? slp_box_no_memory(c) : 0;
}

/* Answers a request that was already carried out under the same token. The cost is that of reading the
 * items. */
static int answer_repeated_request(slp_box_call *c, transaction *x) {
  slp_cost *costs = NULL;
  for (uint32_t i = 0; i < x->n; i++) {
    slp_cost *cost = slp_cost_of(c, &costs, x->a[i].t);
    if (!cost) return -1;
    const slp_row *row = slp_row_find(x->a[i].t, &x->a[i].key);
    const slp_item *item = row ? slp_row_at(row, INT64_MAX) : NULL;
    cost->reads[0] += TIMES * slp_cost_read(item ? item->size : 0, 1);
  }
  return write_transaction_answer(c, costs);
}

int slp_transact_op_write(slp_box_call *c) {
  uint8_t digest[32];
  slp_str token = slp_box_text(c, "ClientRequestToken");
  slp_cost *costs = NULL;
  int seen = token.p ? seen_before(c, token, digest) : 0;
  if (seen < 0) return -1;
  transaction *x = SLP_ARENA_NEW(slp_call_arena(c), transaction);
  if (!x) return slp_box_no_memory(c);
  if (read_actions(c, x)) return -1;
  if (seen) return answer_repeated_request(c, x);
  if (judge_actions(c, x, &costs) || pay_for_actions(c, x, costs)) return -1;
  if (x->refused) return fail_as_cancelled(c, x);
  if (write_transaction_answer(c, costs) || (token.p && remember_token(c, token, digest))) return -1;
  return carry_out(c, x);
}

/* ---- reads -------------------------------------------------------------------------------------- */
static int one_get(slp_box_call *c, uint32_t node, slp_cost **costs, const slp_av **ret) {
  slp_words w;
  slp_paths *paths;
  slp_key key;
  uint32_t of, map;
  int bad = 0;
  *ret = NULL;
  if (c->in->v[node].kind != SLP_VALUE_MAP)
    return slp_box_fail(c, "SerializationException", "A Get must be a map.");
  if (slp_in_map(c, node, "Get", &of)) return -1;
  if (!of) return slp_refuse(c, "Invalid Request: TransactGetRequest should contain a Get");
  slp_str name = slp_in_text(c, of, "TableName", &bad);
  if (bad || slp_words_read(&w, c, of) || slp_read_projection(c, of, &w, &paths) || slp_words_end(&w))
    return -1;
  if (slp_in_map(c, of, "Key", &map)) return -1;
  slp_av *key_map = map ? slp_ddb_item_read(c, map) : NULL;
  if (!map)
    return slp_refuse(c,
                      "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member "
                      "must not be null");
  slp_table *t = key_map ? slp_table_named(c, name) : NULL;
  if (!t || slp_key_read(c, t, key_map, &key) || slp_cost_may_read(c, t, 0)) return -1;
  slp_cost *cost = slp_cost_of(c, costs, t);
  if (!cost) return -1;
  const slp_row *row = slp_row_find(t, &key);
  const slp_item *item = row ? slp_row_at(row, INT64_MAX) : NULL;
  cost->reads[0] += TIMES * slp_cost_read(item ? item->size : 0, 1);
  if (!item) return 0;
  *ret = paths ? slp_project(slp_call_arena(c), paths, item->value) : item->value;
  return *ret ? 0 : slp_box_no_memory(c);
}

int slp_transact_op_get(slp_box_call *c) {
  slp_cost *costs = NULL;
  uint32_t list;
  const slp_av *item;
  if (slp_in_list(c, 0, "TransactItems", &list)) return -1;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Responses");
  slp_out_list(&c->out);
  for (uint32_t i = c->in->v[list].child; i; i = c->in->v[i].next) {
    if (one_get(c, i, &costs, &item)) return -1;
    slp_out_map(&c->out);
    if (item) {
      slp_out_key(&c->out, "Item");
      slp_out_item(c, item);
    }
    slp_out_end(&c->out);
  }
  slp_out_end(&c->out);
  for (slp_cost *cost = costs; cost; cost = cost->next) slp_cost_take_reads(c, cost);
  slp_cost_put(c, costs, 1, 1);
  slp_out_end(&c->out);
  return 0;
}

/* herd_world.c - the services of a herd: the sandbox's streams and tables behind the simulated network. Tells
 * the oracle what was put, split and trimmed, and every version of a lease's row, which it decodes itself. */
#include "swarm/herd.h"

#include <stdio.h>
#include <time.h>

#include "base/num.h"
#include "sandbox/ddb.h"
#include "swarm/inside.h"
#include "swarm/typed_msg.h"

#define STREAM "orders"
#define SECOND "audit"
#define TABLE "things"

uint64_t hd_now(const hd_world *hw) { return slp_sim_now_us(hw->w->sim); }

const char *hd_stream_name(const hd_world *hw) {
  return hw->plan->changes ? "dynamodb:" TABLE : hw->main ? SECOND : STREAM;
}

hd_world *hd_world_of_row(hd_world *hw, slp_str name) {
  static const char mark[] = SECOND "@";
  return hw->twin && name.n > sizeof mark && memcmp(name.p, mark, sizeof mark - 1) == 0 ? hw->twin : hw;
}

hd_rule hd_world_broken(const hd_world *hw, const char **text) {
  hd_rule rule = hd_broken(hw->o, text);
  return rule || !hw->twin ? rule : hd_broken(hw->twin->o, text);
}

/* ---- what a record holds ------------------------------------------------------------------------------- */
static uint64_t hash_of(uint64_t h, slp_str s) {
  for (size_t i = 0; i < s.n; i++) h = (h ^ (uint8_t)s.p[i]) * UINT64_C(0x100000001b3);
  return (h ^ s.n) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The text of the first value {"S":"..."} behind `mark`. */
static slp_str text_behind(slp_str json, const char *mark) {
  const char *p = json.n ? memmem(json.p, json.n, mark, strlen(mark)) : NULL;
  if (!p) return (slp_str){NULL, 0};
  const char *end = json.p + json.n, *text = memmem(p, (size_t)(end - p), "\"S\":\"", 5);
  const char *quote = text ? memchr(text + 5, '"', (size_t)(end - text - 5)) : NULL;
  return quote ? (slp_str){text + 5, (size_t)(quote - text - 5)} : (slp_str){NULL, 0};
}

uint64_t hd_content(const hd_world *hw, slp_str key, slp_str data) {
  if (hw->plan->changes) {
    key = text_behind(key, "\"id\"");
    data = text_behind(data, "\"v\"");
  }
  return hash_of(hash_of(UINT64_C(0xcbf29ce484222325), key), data);
}

/* ---- shards ------------------------------------------------------------------------------------------- */
size_t hd_shard_of(const hd_world *hw, const char *id) {
  for (size_t i = 0; i < hw->shards_n; i++)
    if (strcmp(hw->shards[i].id, id) == 0) return i;
  return SIZE_MAX;
}

static void add_place(hd_world *hw, const char *id, int parent, int other) {
  if (hw->shards_n == hw->shards_cap) {
    hw->shards = slp_doubled(hw->mem, hw->shards, &hw->shards_cap, 32, sizeof *hw->shards);
    SLP_CHECK(hw->shards);
  }
  hd_place *s = &hw->shards[hw->shards_n++];
  memset(s, 0, sizeof *s);
  snprintf(s->id, sizeof s->id, "%s", id);
  s->read_us = hd_now(hw);
  SLP_CHECK(hd_shard(hw->o, id, parent, other) == hw->shards_n - 1);
}

static void close_place(hd_world *hw, size_t i) {
  if (hw->shards[i].closed) return;
  hw->shards[i].closed = 1;
  hd_closed(hw->o, i);
}

/* The changes that the service has made since. */
static void look_at_shards(hd_world *hw) {
  if (hw->stream) {
    for (size_t i = hw->shards_n; i < hw->stream->shards_n; i++) {
      const slp_known_shard *k = &hw->stream->shards[i];
      add_place(hw, k->id, k->parents[0], k->parents[1]);
    }
    for (size_t i = 0; i < hw->shards_n; i++)
      if (hw->stream->shards[i].closed) close_place(hw, i);
    return;
  }
  for (size_t i = hw->shards_n; i < hw->changes->shards_n; i++) {
    const slp_change_shard *k = hw->changes->shards[i];
    size_t parent = k->parent[0] ? hd_shard_of(hw, k->parent) : SIZE_MAX;
    add_place(hw, k->id, parent == SIZE_MAX ? -1 : (int)parent, -1);
  }
  for (size_t i = 0; i < hw->shards_n; i++) {
    const slp_change_shard *k = hw->changes->shards[i];
    if (!k || !slp_change_open(k)) close_place(hw, i);
  }
}

/* ---- records ------------------------------------------------------------------------------------------- */
static void tell_notes(hd_world *hw) {
  for (size_t i = 0; i < hw->stream->shards_n; i++) {
    const slp_known_shard *k = &hw->stream->shards[i];
    for (hd_place *s = &hw->shards[i]; s->put < k->notes_n; s->put++) {
      const slp_note *note = &k->notes[s->put];
      char room[2048];
      SLP_CHECK(note->bytes <= sizeof room);
      slp_note_fill(note->id, room, note->bytes);
      hd_put(hw->o, i, note->seq, note->sub, note->arrived_ms,
             hd_content(hw, slp_str_of(note->key), (slp_str){room, note->bytes}));
    }
  }
}

static void put_change(hd_world *hw, uint64_t *r) {
  char keys[80], image[2400], value[2048];
  uint64_t id = hd_between(r, 0, UINT64_MAX);
  size_t n = (size_t)hd_between(r, 0, hw->plan->record_bytes);
  for (size_t i = 0; i < n; i++) value[i] = (char)('a' + (int)(((id >> (i % 13)) + i) % 26));
  value[n] = 0;
  snprintf(keys, sizeof keys, "{\"id\":{\"S\":\"k%016llx\"}}", (unsigned long long)id);
  snprintf(image, sizeof image, "{\"id\":{\"S\":\"k%016llx\"},\"v\":{\"S\":\"%s\"}}", (unsigned long long)id,
           value);
  SLP_CHECK(slp_box_add_change(hw->w->box, slp_world_ms(hw->w), TABLE, slp_str_of(keys), (slp_str){NULL, 0},
                               slp_str_of(image), 0) == 0);
  look_at_shards(hw);
  for (size_t i = 0; i < hw->shards_n; i++) {
    const slp_change_shard *k = hw->changes->shards[i];
    for (hd_place *s = &hw->shards[i]; k && s->next < k->next; s->next++) {
      char seq[SLP_CHANGE_NUMBER_TEXT];
      slp_change_text(k, s->next, seq);
      s->put++;
      /* The service tells whole seconds: a record of the second a reading begins in belongs to it. */
      hd_put(hw->o, i, seq, 0, slp_change_at(k, s->next)->at_ms / 1000 * 1000 + 999,
             hd_content(hw, slp_str_of(keys), slp_str_of(image)));
    }
  }
}

void hd_put_some(hd_world *hw) {
  uint64_t *r = &hw->puts_random;
  if (hw->changes) {
    put_change(hw, r);
    return;
  }
  uint32_t bytes = (uint32_t)hd_between(r, 0, hw->plan->record_bytes);
  if (hw->plan->aggregates && hd_heads(r))
    slp_world_put_aggregate(hw->w, hw->stream, (size_t)hd_log_between(r, 1, 40), bytes);
  else
    slp_world_put(hw->w, hw->stream, bytes);
  tell_notes(hw);
}

/* ---- orders -------------------------------------------------------------------------------------------- */
static size_t open_place(hd_world *hw, uint64_t *r) {
  size_t open = 0;
  for (size_t i = 0; i < hw->shards_n; i++) open += !hw->shards[i].closed;
  if (!open) return SIZE_MAX;
  size_t pick = (size_t)hd_between(r, 0, open - 1);
  for (size_t i = 0; i < hw->shards_n; i++)
    if (!hw->shards[i].closed && pick-- == 0) return i;
  return SIZE_MAX;
}

int hd_split(hd_world *hw, uint64_t *r) {
  size_t a = open_place(hw, r);
  if (a == SIZE_MAX || hw->shards_n + 2 > SLP_SHARDS_MAX / 4) return 0;
  if (hw->stream) {
    if (slp_world_split(hw->w, hw->stream, a)) return 0;
  } else {
    uint32_t children = (uint32_t)hd_between(r, 1, 2);
    int64_t now_ms = slp_world_ms(hw->w);
    slp_changes_tick(hw->w->box, hw->changes, now_ms);
    if (slp_change_roll(hw->w->box, hw->changes, hw->changes->shards[a], now_ms, children)) return 0;
  }
  look_at_shards(hw);
  return 1;
}

int hd_merge(hd_world *hw, uint64_t *r) {
  size_t a = open_place(hw, r);
  if (a == SIZE_MAX || !hw->stream || hw->shards_n + 1 > SLP_SHARDS_MAX / 4) return 0;
  const slp_known_stream *s = hw->stream;
  for (size_t b = 0; b < s->shards_n; b++) {
    if (s->shards[b].closed || s->shards[b].hash_low != s->shards[a].hash_high + 1) continue;
    if (slp_world_merge(hw->w, hw->stream, a, b)) return 0;
    look_at_shards(hw);
    return 1;
  }
  return 0;
}

void hd_trim(hd_world *hw, int64_t before_ms) {
  if (hw->stream) {
    slp_world_trim(hw->w, hw->stream, before_ms);
  } else {
    SLP_CHECK(slp_box_trim_table(hw->w->box, slp_world_ms(hw->w), TABLE, before_ms) == 0);
  }
  for (size_t i = 0; i < hw->shards_n; i++) {
    hd_place *s = &hw->shards[i];
    size_t gone = 0;
    if (hw->stream) {
      const slp_known_shard *k = &hw->stream->shards[i];
      while (gone < k->notes_n && k->notes[gone].trimmed) gone++;
    } else {
      const slp_change_shard *k = hw->changes->shards[i];
      gone = k ? (size_t)(k->first - (k->next - s->put)) : s->put;
    }
    if (gone > s->trimmed) hd_trimmed(hw->o, i, gone);
    s->trimmed = gone;
  }
  look_at_shards(hw);
}

/* ---- rows of leases ------------------------------------------------------------------------------------ */
/* 1:LLLDIGITS:SUB, or 1:LLLDIGITS:idle:MS, behind a number that no record has. */
static int read_place(slp_str pos, char seq[130], hd_row *row) {
  uint64_t digits, sub;
  if (pos.n < 17 || memcmp(pos.p, "1:", 2) != 0) return -1;
  if (slp_parse_u64((slp_str){pos.p + 2, 3}, &digits) || digits > 129) return -1;
  if (pos.n == 24 + digits && memcmp(pos.p + 5 + digits, ":idle:", 6) == 0) {
    memcpy(seq, pos.p + 5, (size_t)digits);
    seq[digits] = 0;
    row->at = HD_AT_SEQ;
    row->seq = seq;
    row->whole = 1;
    return 0;
  }
  if (pos.n != 16 + digits) return -1;
  if (slp_parse_u64((slp_str){pos.p + pos.n - 10, 10}, &sub)) return -1;
  memcpy(seq, pos.p + 5, (size_t)digits);
  seq[digits] = 0;
  if (sub == 0) return -1; /* "at" it: nobody here sets a lease so */
  row->at = HD_AT_SEQ;
  row->seq = seq;
  row->whole = sub == UINT64_C(9999999999);
  row->sub = row->whole ? 0 : (uint32_t)(sub - 1);
  return 0;
}

static int read_native(hd_attr get, const void *raw, char seq[130], hd_row *row) {
  slp_str pos = get(raw, "pos"), epoch = get(raw, "epoch");
  if (slp_parse_u64(epoch, &row->epoch)) return -1;
  row->parked = get(raw, "park").n > 0;
  if (slp_str_is(pos, "0:oldest")) {
    row->at = HD_AT_START;
  } else if (slp_str_is(pos, "9:end")) {
    row->at = HD_AT_END;
  } else if (pos.n > 7 && memcmp(pos.p, "0:time:", 7) == 0) {
    uint64_t ms;
    row->at = HD_AT_TIME;
    if (slp_parse_u64((slp_str){pos.p + 7, pos.n - 7}, &ms)) return -1;
    row->ms = (int64_t)ms;
  } else {
    return read_place(pos, seq, row);
  }
  return 0;
}

static int read_kcl(hd_world *hw, hd_attr get, const void *raw, char seq[130], hd_row *row) {
  slp_str at = get(raw, "checkpoint"), sub_text = get(raw, "checkpointSubSequenceNumber");
  uint64_t sub = 0;
  if (slp_parse_u64(get(raw, "leaseCounter"), &row->epoch)) return -1;
  if (sub_text.n && slp_parse_u64(sub_text, &sub)) return -1;
  if (slp_str_is(at, "TRIM_HORIZON") || slp_str_is(at, "LATEST")) {
    row->at = HD_AT_START;
    row->latest = slp_str_is(at, "LATEST");
  } else if (slp_str_is(at, "AT_TIMESTAMP")) {
    row->at = HD_AT_TIME;
    row->ms = hw->start_ms;
  } else if (slp_str_is(at, "SHARD_END")) {
    row->at = HD_AT_END;
  } else {
    if (!at.n || at.n > 129) return -1;
    memcpy(seq, at.p, at.n);
    seq[at.n] = 0;
    row->at = HD_AT_SEQ;
    row->seq = seq;
    row->whole = sub >= UINT32_MAX;
    row->sub = row->whole ? 0 : (uint32_t)sub;
  }
  return 0;
}

/* Go's RFC3339Nano, in nanoseconds. */
static int read_go_time(slp_str at, uint64_t *ret) {
  struct tm tm = {.tm_isdst = 0};
  char text[40];
  if (!at.n) return 0;
  if (at.n >= sizeof text || at.p[at.n - 1] != 'Z') return -1;
  memcpy(text, at.p, at.n);
  text[at.n] = 0;
  const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
  uint64_t digit = 100000000, ns = 0;
  for (rest += rest && *rest == '.'; rest && *rest != 'Z'; rest++, digit /= 10) {
    if (*rest < '0' || *rest > '9' || !digit) return -1;
    ns += (uint64_t)(*rest - '0') * digit;
  }
  *ret = (uint64_t)timegm(&tm) * 1000000000 + ns;
  return rest ? 0 : -1;
}

/* Records are saved as wholes. */
static int read_whole(slp_str at, char seq[130], hd_row *row) {
  if (!at.n || at.n > 129) return -1;
  memcpy(seq, at.p, at.n);
  seq[at.n] = 0;
  row->at = HD_AT_SEQ;
  row->seq = seq;
  row->whole = 1;
  return 0;
}

static void read_start(hd_world *hw, hd_row *row) {
  row->at = hw->plan->o.start.kind == SLOOP_AT_TIME ? HD_AT_TIME : HD_AT_START;
  row->ms = row->at == HD_AT_TIME ? hw->start_ms : 0;
  row->latest = hw->plan->o.start.kind == SLOOP_LATEST;
}

static int read_vmware(hd_world *hw, hd_attr get, const void *raw, char seq[130], hd_row *row) {
  slp_str at = get(raw, "Checkpoint");
  if (read_go_time(get(raw, "LeaseTimeout"), &row->epoch)) return -1;
  if (!at.n) {
    read_start(hw, row);
    if (get(raw, "ParentShardId").n) row->latest = 0; /* of a child, which begins at its oldest record */
  } else if (slp_str_is(at, "SHARD_END")) {
    row->at = HD_AT_END;
  } else {
    return read_whole(at, seq, row);
  }
  return 0;
}

static int is_same(slp_str a, slp_str b) { return a.n == b.n && a.n && memcmp(a.p, b.p, a.n) == 0; }

/* Nobody of motorway's is in the herd, so a checkpoint is a place that is done, or the beginning. */
static int read_motorway(hd_world *hw, hd_attr get, const void *raw, char seq[130], hd_row *row) {
  slp_str at = get(raw, "checkpoint"), done = get(raw, "sloop_done");
  if (slp_parse_u64(get(raw, "heartbeat"), &row->epoch)) return -1;
  if (slp_str_is(done, "SHARD_END")) {
    row->at = HD_AT_END;
  } else if (slp_str_is(at, "0")) {
    read_start(hw, row);
  } else if (is_same(at, get(raw, "sloop_oldest"))) {
    row->at = HD_AT_START;
  } else {
    return is_same(at, done) ? read_whole(at, seq, row) : -1;
  }
  return 0;
}

/* A lease that has an owner is parked, and its place is beside the checkpoint. */
static int read_kcl_rb(hd_world *hw, hd_attr get, const void *raw, char seq[130], hd_row *row) {
  slp_str at = get(raw, "checkpoint"), place = get(raw, "sloop_checkpoint");
  slp_str counter = get(raw, "sloop_counter");
  int parked = get(raw, "sloop_owner").n > 0;
  if (counter.n && slp_parse_u64(counter, &row->epoch)) return -1;
  if (parked && !slp_str_is(at, "SHARD_END")) return -1;
  if (!parked && slp_str_is(at, "SHARD_END")) {
    row->at = HD_AT_END;
    return place.n ? -1 : 0;
  }
  if (parked) at = place;
  if (!at.n) at = place;
  if (!at.n || slp_str_is(at, "LATEST")) {
    row->at = HD_AT_START;
    row->latest = at.n > 0;
  } else if (at.n > 13 && memcmp(at.p, "AT_TIMESTAMP:", 13) == 0) {
    row->at = HD_AT_TIME;
    row->ms = hw->start_ms;
  } else {
    return read_whole(at, seq, row);
  }
  return 0;
}

/* A worker's own row is marked, replaced or gone: what still names that life is free. It may be so before the
 * life is told to stop, and not have heard of it. */
static void who_left(hd_world *hw, const char *boot) {
  for (size_t k = 0; k < hw->lives_n; k++) {
    hd_life *l = hw->lives[k];
    const char *dot = l->stopping && l->s ? strrchr(sloop_worker(l->s), '.') : NULL;
    if (dot && strcmp(boot, dot + 1) == 0) hd_left(hw->o, l->number);
  }
}

void hd_look_who_left(hd_world *hw) {
  for (size_t i = 0; i < hw->worker_rows_n; i++)
    if (hw->worker_rows[i].gone) who_left(hw, hw->worker_rows[i].boot);
}

int hd_runs_by_its_row(const hd_world *hw, const char *boot) {
  for (size_t i = 0; i < hw->worker_rows_n; i++)
    if (!hw->worker_rows[i].gone && strcmp(hw->worker_rows[i].boot, boot) == 0) return 1;
  return 0;
}

static void worker_row(hd_world *hw, slp_str name, hd_attr get, const void *now) {
  size_t i = 0;
  char boot[24] = "";
  int gone = !now || get(now, "gone").n > 0;
  while (i < hw->worker_rows_n && !slp_str_is(name, hw->worker_rows[i].name)) i++;
  if (i == SLP_COUNT(hw->worker_rows)) return;
  if (i == hw->worker_rows_n)
    snprintf(hw->worker_rows[hw->worker_rows_n++].name, 120, "%.*s", (int)name.n, name.p);
  if (now)
    snprintf(boot, sizeof boot, "%.*s", (int)get(now, "boot").n, get(now, "boot").p);
  else
    strcpy(boot, hw->worker_rows[i].boot);
  if (strcmp(boot, hw->worker_rows[i].boot) != 0) who_left(hw, hw->worker_rows[i].boot);
  if (gone) who_left(hw, boot);
  slp_str by = now ? get(now, "gone") : (slp_str){NULL, 0};
  int by_itself = by.n >= strlen(boot) && memcmp(by.p + by.n - strlen(boot), boot, strlen(boot)) == 0;
  if (gone && !hw->worker_rows[i].gone && by.n && !by_itself && hw->writer != SIZE_MAX)
    hd_evicts(hw->o, hw->writer, hw->writer_sent_us, hw->worker_rows[i].name);
  if (gone && !hw->worker_rows[i].gone && !by_itself && hw->writer == SIZE_MAX)
    hd_command_evicts(hw->o, boot, hw->commanded);
  strcpy(hw->worker_rows[i].boot, boot);
  hw->worker_rows[i].gone = (uint8_t)gone;
}

/* Two rows of one shard would be two leases. */
static void is_under_one_key(hd_world *hw, hd_place *s, slp_str key) {
  if (s->key[0] && !slp_str_is(key, s->key))
    hd_break(hw->o, HD_S5_EXCLUSIVE, s->id, "its lease is under key %.*s and under %s", (int)key.n, key.p,
             s->key);
  snprintf(s->key, sizeof s->key, "%.*s", (int)key.n, key.p ? key.p : "");
}

const char *hd_lease_mark(slp_str row) {
  const char *mark = row.n ? memmem(row.p, row.n, "/l/", 3) : NULL;
  return mark || !row.n ? mark : memmem(row.p, row.n, "/s/", 3);
}

void hd_row_written(hd_world *hw, slp_str shard, hd_attr get, const void *now) {
  slp_str owner;
  char id[140], owner_text[160], seq[130] = "";
  hd_row row = {.owner = owner_text};
  hw = hd_world_of_row(hw, shard);
  if (hw->plan->schema == HD_SLOOP) {
    const char *mark = hd_lease_mark(shard);
    if (!mark && shard.n && memmem(shard.p, shard.n, "/w/", 3)) worker_row(hw, shard, get, now);
    if (!mark) return;
    shard = (slp_str){mark + 3, (size_t)(shard.p + shard.n - mark - 3)};
  }
  snprintf(id, sizeof id, "%.*s", (int)shard.n, shard.p ? shard.p : "");
  if (hd_shard_of(hw, id) == SIZE_MAX) {
    hd_break(hw->o, HD_S12_CONTRACT, "", "a row of a shard that there is not: %s", id);
    return;
  }
  if (!now) {
    hw->shards[hd_shard_of(hw, id)].owned_us = 0;
    hd_row_is(hw->o, hw->writer, id, hw->writer_sent_us, NULL);
    if (hw->commanded) hd_command_wrote(hw->o, id);
    return;
  }
  if (hw->plan->schema == HD_SLOOP) is_under_one_key(hw, &hw->shards[hd_shard_of(hw, id)], get(now, "app"));
  owner = get(now, hd_names_of[hw->plan->schema].owner);
  if (hw->plan->schema == HD_MOTORWAY && slp_str_is(owner, "nobody")) owner = (slp_str){NULL, 0};
  snprintf(owner_text, sizeof owner_text, "%.*s", (int)owner.n, owner.p ? owner.p : "");
  int r = -1;
  switch ((hd_schema)hw->plan->schema) {
    case HD_SLOOP: r = read_native(get, now, seq, &row); break;
    case HD_KCL: r = read_kcl(hw, get, now, seq, &row); break;
    case HD_VMWARE: r = read_vmware(hw, get, now, seq, &row); break;
    case HD_MOTORWAY: r = read_motorway(hw, get, now, seq, &row); break;
    case HD_KCL_RB: r = read_kcl_rb(hw, get, now, seq, &row); break;
    case HD_SCHEMAS: break;
  }
  if (r) {
    hd_break(hw->o, HD_S12_CONTRACT, id, "a row that makes no sense was written");
    return;
  }
  hd_place *s = &hw->shards[hd_shard_of(hw, id)];
  if (!owner.n || row.at == HD_AT_END)
    s->owned_us = 0;
  else if (!s->owned_us)
    s->owned_us = hd_now(hw);
  s->parked = row.parked;
  if (strcmp(s->owner, owner_text) != 0) s->kept = 0;
  strcpy(s->owner, owner_text);
  int avoids = hw->plan->schema == HD_SLOOP && get(now, "avoid").n > 0; /* its owner got nowhere */
  hw->faults[HF_stall] += hw->plan->o.stall_ms && avoids && !s->avoids;
  s->avoids = (uint8_t)avoids;
  slp_sim_trace(hw->w->sim, "row %s: \"%s\" epoch %llu at %d %s sub %u%s", id, owner_text,
                (unsigned long long)row.epoch, (int)row.at, seq, row.sub, row.whole ? " whole" : "");
  hd_row_is(hw->o, hw->writer, id, hw->writer_sent_us, &row);
  if (hw->commanded) hd_command_wrote(hw->o, id);
}

static slp_str av_text(const void *row, const char *name) {
  const slp_av *v = slp_av_member(row, slp_str_of(name));
  return v && (v->kind == SLP_AV_S || v->kind == SLP_AV_N) ? v->text : (slp_str){NULL, 0};
}

int hd_cut_name(const hd_world *hw, slp_str *key) {
  size_t n = strlen(hw->named);
  if (!n) return 1;
  if (key->n <= n || memcmp(key->p, hw->named, n) != 0) return 0;
  *key = (slp_str){key->p + n, key->n - n};
  return 1;
}

static void on_write(void *arg, const slp_table *t, const slp_av *was, const slp_av *now) {
  hd_world *hw = arg;
  const hd_names *names = &hd_names_of[hw->plan->schema];
  if (strcmp(t->name, names->table) != 0) return;
  slp_str key = av_text(now ? now : was, names->key);
  if (hd_cut_name(hw, &key))
    hd_row_written(hw, key, av_text, now);
  else if (hw->writer != SIZE_MAX)
    hd_break(hw->o, HD_S12_CONTRACT, "", "a row that does not name the stream was written: %.*s", (int)key.n,
             key.p);
}

slp_table *hd_lease_table(hd_world *hw) {
  return slp_table_find(hw->w->box, slp_str_of(hd_names_of[hw->plan->schema].table));
}

void hd_operator(hd_world *hw, const char *op, const char *body) {
  char target[80];
  slp_box_answer answer = {.cut_after = SIZE_MAX};
  snprintf(target, sizeof target, "DynamoDB_20120810.%s", op);
  slp_box_request rq = {.method = SLP_STR("POST"),
                        .path = SLP_STR("/"),
                        .host = SLP_STR("operator"),
                        .target = slp_str_of(target),
                        .content_type = SLP_STR("application/x-amz-json-1.0"),
                        .body = slp_str_of(body)};
  slp_buf_init(&answer.body, hw->mem, SIZE_MAX / 2);
  hw->writer = SIZE_MAX;
  hw->writer_sent_us = hd_now(hw);
  slp_box_handle(hw->w->box, slp_world_ms(hw->w), &rq, &answer);
  slp_sim_trace(hw->w->sim, "operator %s %s: %d %.*s", op, body, answer.status, (int)answer.body.n,
                answer.body.p ? answer.body.p : "");
  slp_buf_free(&answer.body);
}

/* ---- calls --------------------------------------------------------------------------------------------- */
static hd_life *life_of(hd_world *hw, const slp_sim_ask *ask) {
  for (size_t i = hw->lives_n; i-- > 0;)
    if (hw->lives[i]->host_number == ask->from_number) return hw->lives[i];
  return NULL;
}

static void note_asked_change(hd_world *hw, uint32_t shard, size_t reader) {
  if (shard >= hw->shards_n) return;
  hw->shards[shard].read_us = hd_now(hw);
  if (reader != SIZE_MAX) hd_paged(hw->o, reader, shard);
}

/* Tells the judge which shard a GetRecords asks for. reader: the life that gets a page; refused: the life that gets a
 * refusal; SIZE_MAX: no life does. */
static void note_read(hd_world *hw, const slp_sim_ask *ask, size_t reader, size_t refused) {
  if (hw->stream) {
    for (size_t i = 0; i < hw->shards_n; i++) {
      slp_known_shard *k = &hw->stream->shards[i];
      hw->shards[i].read_us = slp_max_u64(hw->shards[i].read_us, k->last_poll_us);
      if (k->paged_us && reader != SIZE_MAX) hd_paged(hw->o, reader, i);
      if (k->refused_last_us && refused != SIZE_MAX) hd_throttled(hw->o, refused, i);
      k->paged_us = k->refused_last_us = 0;
    }
    return;
  }
  uint32_t shard;
  if (hd_typed_ask(ask)) {
    if (slp_typed_change_asked(hw->w, ask->body, &shard) == 0) note_asked_change(hw, shard, reader);
    return;
  }
  const char *mark = "\"ShardIterator\":\"";
  const char *p = memmem(ask->body.p, ask->body.n, mark, strlen(mark)), *end = ask->body.p + ask->body.n;
  if (!p) return;
  p += strlen(mark);
  const char *quote = memchr(p, '"', (size_t)(end - p));
  slp_box_mark m;
  if (!quote || slp_changes_mark_read(hw->w->box, (slp_str){p, (size_t)(quote - p)}, &m)) return;
  note_asked_change(hw, m.shard, reader);
}

static void note_located(hd_world *hw, size_t reader) {
  for (size_t i = 0; hw->stream && i < hw->shards_n; i++) {
    uint64_t *seen = &hw->shards[i].locates, now = hw->stream->shards[i].locates;
    if (now != *seen && reader != SIZE_MAX) hd_located(hw->o, reader, i);
    *seen = now;
  }
}

/* Which shards this call asked for their latest. */
static void note_latest(hd_world *hw, const slp_sim_ask *ask) {
  const hd_life *l = life_of(hw, ask);
  size_t life = l ? l->number : SIZE_MAX;
  for (size_t i = 0; hw->stream && i < hw->shards_n; i++) {
    const slp_known_shard *k = &hw->stream->shards[i];
    if (k->latest_locates != hw->shards[i].latest) hd_latest(hw->o, life, i);
    if (k->pushed_by_time != hw->shards[i].pushed_by_time) hd_latest_was(hw->o, life, i, k->pushed_from_ms);
    hw->shards[i].latest = k->latest_locates;
    hw->shards[i].pushed_by_time = k->pushed_by_time;
  }
}

/* Where rows of leases are read one after the other the first page is the moment that counts. */
static void note_table(hd_world *hw, const slp_sim_ask *ask, const char *op) {
  if (hw->plan->schema == HD_SLOOP) return;
  int typed = strncmp(op, "typed ", 6) == 0 && op[6] == SLP_TYPED_SCAN;
  int first = strcmp(op, "Scan") == 0 && !memmem(ask->body.p, ask->body.n, "ExclusiveStartKey", 17);
  if ((typed || first) && hw->writer != SIZE_MAX) hd_reads_table(hw->o, hw->writer, ask->sent_us);
}

/* A process calls DescribeStream no more often than the account may. By the times of sending: what comes twice or
 * late was sent once, in time. A worker's clock may run ahead by a tenth, but in wild worlds by any. */
static void judge_describes(hd_world *hw, hd_life *l, const slp_sim_ask *ask, const char *op) {
  int typed = strcmp(op, "typed D") == 0 || strcmp(op, "typed L") == 0;
  if (!l || !hw->changes || hw->plan->rate[HF_wild] || (!typed && strcmp(op, "DescribeStream") != 0)) return;
  size_t n = SLP_COUNT(l->describes_us), within = 0;
  for (size_t i = 0; i < n; i++) {
    if (l->describes_us[i] == ask->sent_us) return;
    within += l->describes_us[i] && l->describes_us[i] <= ask->sent_us &&
              ask->sent_us - l->describes_us[i] < HD_S - HD_S / 10;
  }
  l->describes_us[l->describes_n++ % n] = ask->sent_us;
  if (within >= 10)
    hd_break(hw->o, HD_S10_RATE, "", "w%d#%zu sent %zu DescribeStream in a second", l->slot, l->number,
             within + 1);
}

/* What a call has shown and changed. */
static void look_at(hd_world *hw, const slp_sim_ask *ask, const char *op, size_t reader, size_t refused) {
  if (strcmp(op, "GetRecords") == 0 || strcmp(op, "typed R") == 0 || strcmp(op, "typed E") == 0)
    note_read(hw, ask, reader, refused);
  note_latest(hw, ask);
  note_located(hw, reader);
  look_at_shards(hw);
}

static void written_by(hd_world *hw, size_t writer, uint64_t sent_us) {
  hw->writer = writer;
  hw->writer_sent_us = sent_us;
}

static void serve(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply) {
  hd_world *hw = arg;
  hd_life *l = life_of(hw, ask);
  slp_str target = slp_sim_ask_header(ask, "x-amz-target");
  const char *dot = target.n ? memchr(target.p, '.', target.n) : NULL;
  int typed = hd_typed_ask(ask), table = target.n > 18 && memcmp(target.p, "DynamoDB_20120810.", 18) == 0;
  if (typed) table = slp_str_is(ask->path, "/tables");
  hd_service service = table ? HD_TABLE : HD_STREAM;
  char op[64], line[120];
  snprintf(op, sizeof op, "%.*s", dot ? (int)(target.p + target.n - dot - 1) : 0, dot ? dot + 1 : "");
  if (typed) snprintf(op, sizeof op, "typed %c", ask->body.n ? ask->body.p[0] : '?');
  if (!hd_reaches(hw, l, service, 0) || (table && hd_is_locked_out(hw, l, op))) {
    reply->silent = 1;
    slp_sim_trace(hw->w->sim, "%s of w%d never arrives", op, l ? l->slot : -1);
    return;
  }
  if (!typed && (hd_keys_spoil(hw, l, ask, op, line) || hd_spoil(hw, service, op, line)))
    slp_world_faults(hw->w, line);
  written_by(hw, l ? l->number : SIZE_MAX, ask->sent_us);
  if (hw->twin) written_by(hw->twin, hw->writer, ask->sent_us); /* a process has one number in both */
  note_table(hw, ask, op);
  judge_describes(hw, l, ask, op);
  hw->commanded = (uint8_t)hd_command_sent(hw, ask);
  hw->inner(hw->inner_arg, ask, reply);
  hw->commanded = 0;
  written_by(hw, SIZE_MAX, ask->sent_us);
  if (hw->twin) written_by(hw->twin, SIZE_MAX, ask->sent_us);
  slp_world_faults(hw->w, NULL); /* what did not fit this call is for no other one */
  if (!hd_reaches(hw, l, service, 1)) reply->silent = 1;
  int answered = l && reply->status == 200 && !reply->silent && !reply->drop;
  size_t reader = answered ? l->number : SIZE_MAX;
  size_t refused = l && !answered && !reply->silent && !reply->drop ? l->number : SIZE_MAX;
  look_at(hw, ask, op, reader, refused);
  if (hw->twin) look_at(hw->twin, ask, op, reader, refused);
  hw->faults[HF_push] += strcmp(op, "typed S") == 0 && reply->status == 200;
  hw->faults[HF_dead_push] += strcmp(op, "typed S") == 0 && hw->plan->dead_push;
}

/* ---- birth and death ----------------------------------------------------------------------------------- */
static uint64_t true_now(void *arg) { return hd_now(arg); }

static void make_stream(hd_world *hw) {
  const hd_plan *p = hw->plan;
  slp_box *box = hw->w->box;
  int64_t now_ms = slp_world_ms(hw->w);
  if (!p->changes) {
    hw->stream = slp_world_stream(hw->w, STREAM, p->shards);
  } else {
    SLP_CHECK(slp_box_table(box, now_ms, TABLE, p->shards, "NEW_IMAGE") == 0);
    slp_world_pass(hw->w, 1000); /* until its stream is there */
    hw->changes = slp_changes_latest(box, SLP_STR(TABLE));
    SLP_CHECK(hw->changes);
  }
  look_at_shards(hw);
}

static void make_judge(hd_world *hw) {
  const hd_plan *p = hw->plan;
  const sloop_opts_t *o = &p->o;
  hd_terms terms = {.now_us = true_now,
                    .arg = hw,
                    .lease_us = (uint64_t)o->lease_ms * 1000,
                    .order = o->order,
                    .start = o->start.kind,
                    .batch_records_max = o->batch_records_max,
                    .batches_out_max = o->batches_out_max,
                    .batch_bytes_max = o->batch_bytes_max,
                    .buffered_bytes_max = o->buffered_bytes_max,
                    .page_bytes_max = 10u << 20,
                    .poll_ms = o->poll_ms,
                    .unready_ms = o->unready_ms,
                    .late_ms = p->rate[HF_slow] ? p->net.slow_us_max / 1000 : 0,
                    .pushed = p->rate[HF_push] > 0,
                    .untold_lags = p->changes,
                    .pages_lie = (p->rate[HF_page] && !p->typed) ||
                                 (p->changes && (p->rate[HF_page] || p->rate[HF_listing])),
                    .by_counter = p->schema != HD_SLOOP,
                    .exclusive = p->schema == HD_VMWARE,
                    .whole = p->schema == HD_VMWARE || p->schema == HD_MOTORWAY || p->schema == HD_KCL_RB,
                    .clocks_beyond = p->rate[HF_wild] > 0,
                    .order_loose = p->rate[HF_wild] || p->rate[HF_drift],
                    .losses_expected = p->rate[HF_trim] > 0,
                    .gives_up = p->o.on_retry == SLOOP_RETRY_STOP || p->o.on_retry == SLOOP_RETRY_PARK};
  /* A new application begins where half of what is there has been put. */
  hw->start_ms = terms.start_ms =
      (slp_world_ms(hw->w) + (int64_t)p->backlog * (int64_t)p->put_gap_us / 4000) / 1000 * 1000;
  hw->o = hd_oracle_new(hw->mem, &terms);
  hw->seen = slp_zalloc_n(hw->mem, o->batch_records_max, sizeof *hw->seen);
  hw->flags = slp_zalloc_n(hw->mem, o->batch_records_max, 1);
  SLP_CHECK(hw->seen && hw->flags);
}

/* What a MultiStreamTracker of the KCL has left, the attributes as its DynamoDBMultiStreamLeaseSerializer
 * writes them (amazon-kinesis-client 3.5.1): a lease for each shard, none of which was begun, and one of
 * another stream. */
static void make_named(hd_world *hw) {
  static const char row[] =
      "{\"TableName\":\"%s\",\"Item\":{\"leaseKey\":{\"S\":\"%s:%s\"},\"leaseCounter\":{\"N\":\"7\"},"
      "\"ownerSwitchesSinceCheckpoint\":{\"N\":\"0\"},\"checkpoint\":{\"S\":\"%s\"},"
      "\"checkpointSubSequenceNumber\":{\"N\":\"0\"},\"streamName\":{\"S\":\"%s\"},\"shardId\":{\"S\":\"%s\"}"
      "}}";
  const hd_names *names = &hd_names_of[HD_KCL];
  const slp_stream *s = slp_box_find(hw->w->box, slp_str_of(STREAM));
  char body[1200], name[190];
  snprintf(name, sizeof name, "000000000000:%s:%lld", STREAM, (long long)(s->created_ms / 1000));
  snprintf(hw->named, sizeof hw->named, "%s:", name);
  snprintf(
      body, sizeof body,
      "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{"
      "\"AttributeName\":"
      "\"leaseKey\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"leaseKey\",\"KeyType\":"
      "\"HASH\"}]}",
      names->table);
  hd_operator(hw, "CreateTable", body);
  slp_world_pass(hw->w, 1000); /* until it can be used */
  for (size_t i = 0; i < hw->shards_n; i++) {
    const char *shard = hw->shards[i].id;
    snprintf(body, sizeof body, row, names->table, name, shard, names->start, name, shard);
    hd_operator(hw, "PutItem", body);
  }
  static const char other[] = "000000000000:payments:1600000000", first[] = "shardId-000000000000";
  snprintf(body, sizeof body, row, names->table, other, first, names->end, other, first);
  hd_operator(hw, "PutItem", body);
}

/* The second stream: its own truth and judge, and the consumers that are joined to the first one's. */
static hd_world *twin_new(hd_world *first) {
  hd_world *hw = SLP_NEW(first->mem, hd_world);
  SLP_CHECK(hw);
  hw->main = first;
  hw->mem = first->mem;
  hw->plan = first->plan;
  hw->w = first->w;
  hw->typed = first->typed;
  hw->writer = SIZE_MAX;
  hw->puts_random = first->plan->seed ^ UINT64_C(0x9b05688c2b3e6c1f);
  make_judge(hw);
  hw->stream = slp_world_stream(hw->w, SECOND, 1 + first->plan->shards / 2);
  look_at_shards(hw);
  return hw;
}

hd_world *hd_world_new(const hd_plan *p, void (*print)(void *arg, const char *line), void *arg) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  hd_world *hw = SLP_NEW(mem, hd_world);
  SLP_CHECK(hw);
  hw->mem = mem;
  hw->plan = p;
  hw->w = slp_world_new(mem, p->seed, &p->box);
  if (print) slp_sim_on_trace(hw->w->sim, print, arg);
  if (p->unhashed) slp_sim_leave_unhashed(hw->w->sim);
  if (p->typed) hd_typed_begin(hw);
  hw->inner = hw->w->sim->serve;
  hw->inner_arg = hw->w->sim->serve_arg;
  slp_sim_serve(hw->w->sim, serve, hw);
  hw->w->sim->paused_look_us = 100000;
  hw->writer = SIZE_MAX;
  hw->puts_random = p->seed ^ UINT64_C(0x1f83d9abfb41bd6b);
  for (size_t i = 0; i < HF_N; i++) hw->random[i] = p->seed * UINT64_C(0x2545f4914f6cdd1d) + i * 977;
  make_judge(hw);
  for (int i = 0; i < HD_WORKERS_MAX; i++) snprintf(hw->ids[i], sizeof hw->ids[i], "w%d", i);
  make_stream(hw);
  hw->w->box->ddb->on_write = on_write;
  hw->w->box->ddb->on_write_arg = hw;
  if (p->rate[HF_named]) make_named(hw);
  if (p->joined) hw->twin = twin_new(hw);
  return hw;
}

static void drop(hd_world *hw) {
  slp_mem *mem = hw->mem;
  hd_oracle_free(hw->o);
  for (size_t i = 0; i < hw->lives_n; i++) slp_free(mem, hw->lives[i]);
  slp_free(mem, hw->lives);
  slp_free(mem, hw->shards);
  slp_free(mem, hw->seen);
  slp_free(mem, hw->flags);
  slp_free(mem, hw);
}

void hd_world_free(hd_world *hw) {
  slp_mem *mem = hw->mem;
  if (hw->typed) hd_typed_end(hw);
  slp_world_free(hw->w);
  if (hw->twin) drop(hw->twin);
  drop(hw);
  if (mem->live_blocks) fprintf(stderr, "the simulator leaks %zu blocks\n", mem->live_blocks);
  slp_mem_drop(mem);
}

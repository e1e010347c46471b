/* Leases that run out by the clock on the wall: what a write makes of their time, when they are over for a
 * reader, and for whom a claim keeps them. */
#include "guest/counted_writes.h"
#include "guest/expiry.h"
#include "guest/guest_operations.h"
#include "lease/silence.h"

#include "check.h"

#define WALL INT64_C(1700000000000)
#define MS UINT64_C(1000000) /* nanoseconds */
#define S UINT64_C(1000000)  /* microseconds */
#define L 10000u

static uint64_t after(slp_operation_kind kind, uint64_t epoch, int64_t wall_ms, uint64_t serial) {
  slp_operation i = {.kind = kind, .epoch = epoch};
  return slp_expiry_after(&i, wall_ms, L, serial);
}

TEST(what_proves_life_is_good_for_a_lease_and_no_two_writes_make_the_same) {
  uint64_t now = (uint64_t)(WALL + L) * MS;
  CHECK(after(SLP_OPERATION_TAKE, 0, WALL, 7) == now + 7);
  CHECK(after(SLP_GUEST_RENEW, now - 3000 * MS, WALL, 8) == now + 8);
  CHECK(after(SLP_OPERATION_RETAKE, now - 3000 * MS, WALL, MS + 9) == now + 9);
  CHECK(after(SLP_OPERATION_CHECKPOINT, now + 7, WALL, 8) == now + 8);
  CHECK(after(SLP_OPERATION_TAKE, 0, -5, 1) == L * MS + 1);
}

TEST(a_time_goes_on_when_the_clock_goes_back) {
  uint64_t now = (uint64_t)(WALL + L) * MS;
  CHECK(after(SLP_GUEST_RENEW, now + 500 * MS, WALL, 1) == now + 500 * MS + 1);
  CHECK(after(SLP_OPERATION_TAKE, now + 3599000 * MS, WALL, 1) == now + 3599000 * MS + 1);
  /* A clock that was hours ahead is not followed. */
  CHECK(after(SLP_OPERATION_TAKE, now + 3601000 * MS, WALL, 1) == now + 1);
}

TEST(what_lets_go_leaves_the_time) {
  static const slp_operation_kind kinds[] = {SLP_OPERATION_RELEASE, SLP_OPERATION_TRANSFER, SLP_OPERATION_END,
                                             SLP_OPERATION_CLAIM, SLP_OPERATION_RESET};
  for (size_t i = 0; i < SLP_COUNT(kinds); i++) CHECK(after(kinds[i], 77, WALL, 1) == 77);
}

TEST(it_is_over_when_its_time_and_a_skew_of_a_fifth_are) {
  uint64_t epoch = (uint64_t)(WALL + 3000) * MS;
  CHECK(slp_expiry_past_us(epoch, WALL, 50 * S, L) == 55 * S + 1000);
  CHECK(slp_expiry_past_us(epoch, WALL + 5000, 50 * S, L) == 50 * S + 1000);
  CHECK(slp_expiry_past_us(epoch, WALL + 5001, 50 * S, L) == 50 * S);
  CHECK(slp_expiry_past_us(0, WALL, 50 * S, L) == 50 * S);
  CHECK(slp_expiry_past_us(UINT64_MAX, WALL, 50 * S, L) > UINT64_C(1) << 50);
}

static void saw(slp_silence *s, uint64_t epoch, int64_t wall_ms, uint64_t now_us) {
  slp_lease_row row = {.epoch = epoch};
  slp_sign sign = slp_counted_sign_of_time(&row, wall_ms, now_us, L);
  slp_silence_saw(s, &sign, now_us, 0);
}

TEST(dead_is_what_has_run_out_and_stood_still_for_a_lease) {
  slp_silence s = {.reads = 0};
  uint64_t epoch = (uint64_t)(WALL + 3000) * MS;
  saw(&s, epoch, WALL, 100 * S); /* it has 3 s left, and 2 s of skew */
  CHECK(slp_silence_dead_us(&s, 1, L * 1000, 0) == 110 * S);
  /* A reader whose clock is an hour ahead waits as long; one whose is behind, longer. */
  slp_silence ahead = {.reads = 0}, behind = {.reads = 0};
  saw(&ahead, epoch, WALL + 3600000, 100 * S);
  CHECK(slp_silence_dead_us(&ahead, 1, L * 1000, 0) == 110 * S);
  saw(&behind, epoch, WALL - 60000, 100 * S);
  CHECK(slp_silence_dead_us(&behind, 1, L * 1000, 0) == 165 * S + 1000);
  /* It is renewed: the watch begins anew. */
  saw(&s, epoch + 2500 * MS, WALL + 2500, 102500000);
  CHECK(slp_silence_dead_us(&s, 1, L * 1000, 0) == 112500000);
}

/* Until when the lease of an epoch WALL is kept, by a reader whose own clock is at 50 s. */
static uint64_t kept(const char *claim, const char *me, int64_t wall_ms) {
  slp_lease_row row = {.epoch = (uint64_t)WALL * MS, .claim = slp_str_of(claim)};
  return slp_expiry_reserved_us(&row, slp_str_of(me), wall_ms, 50 * S, L);
}

TEST(a_claim_keeps_the_lease_for_the_claimant_for_some_time) {
  static const char ours[] = "host-1.0123456789abcdef";
  CHECK(kept("", "me", WALL) == 0);
  CHECK(kept("me", "me", WALL) == 0);
  CHECK(kept("go", "me", WALL - 5000) == 175 * S + 1000);
  CHECK(kept("go", "me", WALL + 120000) == 50 * S + 1000);
  CHECK(kept("go", "me", WALL + 120001) == 50 * S);
  /* One of ours has come before the lease would have run out, or is dead. */
  CHECK(kept(ours, "me", WALL - 10000) == 62 * S + 1000);
  CHECK(kept(ours, "me", WALL + 2000) == 50 * S + 1000);
  CHECK(kept(ours, "me", WALL + 2001) == 50 * S);
}

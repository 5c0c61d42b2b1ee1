// One warp on the CPU: each lane is a fibre that hands over at every operation of the whole warp. Slow, but it runs
// the kernel's own source, so that its logic, its indices and a forgotten __syncwarp are tested without a card.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define EMULATE
#define __global__
#define __device__
#define __constant__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n)

struct Index { unsigned x; };
static Index threadIdx, blockIdx, blockDim;
alignas(16) unsigned char memory[1 << 20];

static ucontext_t lanes[32], outside;
static char* stacks[32];
static int lane_now, finished;
static bool done[32];
static uint64_t said[2][32];
static int turn[32];

static void next_lane() {
  const int here = lane_now;
  do lane_now = (lane_now + 1) % 32; while (done[lane_now] && lane_now != here);
  threadIdx.x = lane_now;
  if (lane_now != here) swapcontext(&lanes[here], &lanes[lane_now]);
}

// What every lane says, once all have said it.
static uint64_t* all_say(uint64_t mine) {
  const int here = lane_now, which = turn[here];
  turn[here] ^= 1;
  said[which][here] = mine;
  next_lane();
  if (here != lane_now) { fprintf(stderr, "lanes mixed up\n"); abort(); }
  return said[which];
}

static void (*body)();
static void one_lane() {
  body();
  done[lane_now] = true;
  if (++finished == 32) setcontext(&outside);
  next_lane();
}

static void run_warp(void (*kernel)()) {
  body = kernel;
  finished = 0;
  for (int i = 0; i < 32; i++) {
    if (!stacks[i]) stacks[i] = (char*)malloc(1 << 18);
    getcontext(&lanes[i]);
    lanes[i].uc_stack.ss_sp = stacks[i];
    lanes[i].uc_stack.ss_size = 1 << 18;
    lanes[i].uc_link = nullptr;
    makecontext(&lanes[i], one_lane, 0);
    done[i] = false;
    turn[i] = 0;
  }
  lane_now = 0;
  threadIdx.x = 0;
  swapcontext(&outside, &lanes[0]);
}

static inline void __syncwarp() { all_say(0); }
static inline unsigned __ballot_sync(unsigned, bool mine) {
  const uint64_t* others = all_say(mine);
  unsigned mask = 0;
  for (int i = 0; i < 32; i++) mask |= (unsigned)(others[i] != 0) << i;
  return mask;
}
static inline bool __any_sync(unsigned all, bool mine) { return __ballot_sync(all, mine) != 0; }
template <class T> static inline T __shfl_sync(unsigned, T mine, int from) {
  uint64_t raw = 0;
  memcpy(&raw, &mine, sizeof mine);
  T theirs;
  memcpy(&theirs, &all_say(raw)[from & 31], sizeof theirs);
  return theirs;
}
template <class T> static inline T __shfl_xor_sync(unsigned all, T mine, int mask) {
  return __shfl_sync(all, mine, lane_now ^ mask);
}
template <class T, class U> static inline T atomicAdd(T* at, U more) { T old = *at; *at += more; return old; }
template <class T, class U> static inline T atomicSub(T* at, U less) { T old = *at; *at -= less; return old; }
template <class T> static inline T atomicMax(T* at, T other) { T old = *at; *at = std::max(old, other); return old; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline unsigned long long emulated_clock() {
  using namespace std::chrono;
  return (unsigned long long)duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}
using std::fabs;
using std::fmax;

// The kernel on the CPU, one warp after the other.
#include "warp.h"
#include SOURCE

extern "C" void emulate(const void* parameters, int warps) {
  memcpy(&q, parameters, sizeof q);
  blockDim.x = 32;
  for (int i = 0; i < warps; i++) {
    blockIdx.x = (unsigned)i;
    run_warp(search);
  }
}
extern "C" long long sizes(int which) { return which == 0 ? sizeof(Params) : which == 1 ? sizeof(Box) : which == 2 ? sizeof(Pending) : sizeof(Warp); }

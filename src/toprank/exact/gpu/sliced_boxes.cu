// Boxes of directions searched on a graphics card, cut into slices: what exact/slices does, one warp a subtree.
//
// A node is a box low <= u <= high on a face of the cube, the pairs undecided in it and, in bytes, how many
// pairs each positive has lost. The lead of a pair over the box lies in c -+ s; it is lost for good when c + s,
// rounding added, is below what is needed. The widest coordinate is cut into 32 slices, one for each lane: a pair
// can be won only in the slices on one side of some point, so it adds to a table of differences at two places, and
// sums along the slices give the lost pairs of every positive in every slice. The box shrinks to the slices that
// may reach the target; none left: it is closed; else it is halved.
//
// All numbers are float64 and `error` covers their rounding, as on the CPU. Boxes too small to split, or too many
// for the room there is, are handed back: the CPU goes on with them. A log of a subtree has the codes of
// exact/slices/replay.py.

#ifndef DIM
#define DIM 8
#endif
#ifndef WORDS
#define WORDS 64  // four positives in each
#endif
#ifndef WARPS
#define WARPS 20  // in a block, one block on each multiprocessor
#endif

typedef unsigned char byte;
typedef unsigned long long wide;
constexpr int D = DIM, SLICES = 32, STRIDE = SLICES + 1;
constexpr unsigned ALL = 0xffffffffu;
constexpr double UPWARD = 1.000004;  // more than the rounding of a quotient
constexpr int SHRUNK = 64, SWEPT = 128, HANDED = 254, LEAF = 255, LONGEST_STEP = 64;
constexpr int LOOK_EVERY = 16;       // nodes between two looks at the clock
constexpr int STEPS = 48;            // towards a point where all undecided pairs are won, before that is given up
constexpr double OVERSTEP = 1.2;     // of each: a little beyond the pair's own border
constexpr double SAFE = 1e-11;       // of a sum of leads: far more than its rounding

struct Box { double low[D], high[D]; long long bound; };
struct Pending { double low[D], high[D]; long long bound; float change[D]; unsigned lost[WORDS]; int first, length; };
enum { NEXT, OUT, ASIDE, FOUND, IDLE, STOP, CONTROLS };
enum { NODES, SWEEPS, PAIRS, PROBES, SETTLED, CLOSED, COUNTERS };
enum { TIME_UP = 1, FULL, HAVE_POINT };

struct Params {  // eight bytes each; exact/gpu/device.py has the same list
  long long pairs, positives, rivals, words, norms, stride, most, target, n_in, out_room, aside_room, found_room,
      list_room, levels, hunger, rounds, few, log_room, probe_up_to, nanoseconds;
  double margin, smallest;
  const double *E, *error;
  const byte* owner;
  const long long* loss;
  const double *norm, *norm_error;
  const unsigned* base;
  const float* change;
  const Box* in;
  Box *out, *aside;
  double* found;
  long long* worth;  // of what was found, at first sight
  int* lists;
  Pending* stack;
  byte* log;
  int *log_length, *control;
  long long* highest;  // bound of what was handed back
  wide* counters;
};
__constant__ Params q;  // set before each launch

struct Warp {  // in shared memory, one for each warp
  double low[D], high[D], mid[D], half[D];
  float change[D];
  unsigned lost[WORDS];
  wide counts[COUNTERS];
  unsigned* table;
  byte* number;
};

__device__ __forceinline__ wide now() {
#ifdef EMULATE
  return emulated_clock();
#else
  wide t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
#endif
}

__device__ __forceinline__ double largest(double x) {
  for (int d = 16; d > 0; d >>= 1) x = fmax(x, __shfl_xor_sync(ALL, x, d));
  return x;
}

__device__ __forceinline__ long long largest(long long x) {
  for (int d = 16; d > 0; d >>= 1) {
    const long long other = __shfl_xor_sync(ALL, x, d);
    x = other > x ? other : x;
  }
  return x;
}

__device__ __forceinline__ void middle(Warp& w, int lane) {
  if (lane < D) {
    const double mid = 0.5 * (w.low[lane] + w.high[lane]);
    w.mid[lane] = mid;
    w.half[lane] = fmax(w.high[lane] - mid, mid - w.low[lane]);
  }
  __syncwarp();
}

// What a pair's lead must reach to be won somewhere in the box, and from where on it surely is.
__device__ __forceinline__ void needed(const Warp& w, int lane, double& least, double& most) {
  least = most = 0.0;
  if (q.margin == 0.0) return;
  for (int i = lane; i < q.norms; i += 32) {
    double c = 0.0, s = 0.0;
    for (int j = 0; j < D; j++) {
      c += q.norm[i * D + j] * w.mid[j];
      s += fabs(q.norm[i * D + j]) * w.half[j];
    }
    least = fmax(least, fabs(c) - s - q.norm_error[i]);
    most = fmax(most, fabs(c) + s);
  }
  least = q.margin * largest(least) * (1.0 - 1e-15);
  most = q.margin * largest(most);
}

// The axis along which the undecided pairs change most; -1 if all are too short. One axis may count less.
__device__ __forceinline__ int widest(const Warp& w, int lane, int less, double smallest) {
  double size = lane < D && w.half[lane] > smallest ? (double)w.change[lane] * w.half[lane] : 0.0;
  if (lane == less) size /= SLICES;
  const double most = largest(size);
  return most > 0.0 ? __ffs(__ballot_sync(ALL, size == most)) - 1 : -1;
}

__device__ __forceinline__ void clear(Warp& w, int lane) {
  const int words = (int)q.words, rivals = (int)q.rivals;
  for (int i = lane; i < words * STRIDE; i += 32) w.table[i] = 0;
  for (int i = lane; i < (rivals + 1) * 8; i += 32) ((unsigned*)w.number)[i] = 0;
  __syncwarp();
}

// By how much the slice of this lane passes the target; below zero: no direction in it reaches it.
__device__ __forceinline__ long long beyond(Warp& w, int lane) {
  const int words = (int)q.words, rivals = (int)q.rivals, stride = (int)q.stride;
  for (int g = lane; g < words; g += 32) {
    unsigned count = w.lost[g], *row = w.table + g * STRIDE;
    for (int s = 0; s < SLICES; s++) { count += row[s]; row[s] = count; }
  }
  __syncwarp();
  for (int g = 0; g < words; g++) {
    const unsigned counts = w.table[g * STRIDE + lane];
    for (int b = 0; b < 4; b++) w.number[((counts >> (8 * b)) & 255) * 32 + lane]++;
  }
  long long value = q.most - q.target;
  int before = 0;
  for (int c = 0; c < rivals; c++) {
    before += w.number[c * 32 + lane];
    value -= q.loss[before + stride * c];
  }
  return value;
}

// One pass over the pairs in question and a sweep along axis k: the undecided go to `to` (it may be `from`), those
// that can be won nowhere are counted. Returns the slices that may reach the target, and the best of their values.
__device__ __forceinline__ unsigned sweep(Warp& w, int lane, int k, double need, double limit,
                                          const int* from, int length, int* to, int& kept, long long& best) {
  const int pairs = (int)q.pairs;
  float change[D];
  for (int j = 0; j < D; j++) change[j] = 0.0f;
  const double step = 2.0 * w.half[k] / SLICES;
  clear(w, lane);
  kept = 0;
  for (int first = 0; first < length; first += 32) {
    const bool there = first + lane < length;
    const int p = !there ? 0 : from ? from[first + lane] : first + lane;
    double e[D], c = 0.0, s = 0.0;
    for (int j = 0; j < D; j++) {
      e[j] = q.E[j * pairs + p];
      c += e[j] * w.mid[j];
      s += fabs(e[j]) * w.half[j];
    }
    const double top = c + s + q.error[p] - need;
    const bool gone = there && top < 0.0, open = there && !gone && c - s < limit;
    const unsigned mask = __ballot_sync(ALL, open);
    if (gone || open) {
      const int i = q.owner[p];
      const unsigned one = 1u << (8 * (i & 3));
      if (gone) {
        atomicAdd(&w.lost[i >> 2], one);
      } else {
        to[kept + __popc(mask & ((1u << lane) - 1))] = p;
        double along = 0.0;
        for (int j = 0; j < D; j++) {
          change[j] += (float)fabs(e[j]);
          if (j == k) along = e[j];
        }
        const double y = top / (fabs(along) * step) * UPWARD;  // slices in which it can be won; infinite is fine
        const int can = y < SLICES ? (int)y + 1 : SLICES;
        if (can < SLICES) {
          unsigned* row = w.table + (i >> 2) * STRIDE;
          if (along < 0.0) {
            atomicAdd(&row[can], one);
          } else {
            atomicAdd(&row[0], one);
            atomicSub(&row[SLICES - can], one);
          }
        }
      }
    }
    kept += __popc(mask);
    __syncwarp();
  }
  for (int j = 0; j < D; j++) {
    float sum = change[j];
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(ALL, sum, d);
    if (lane == 0) w.change[j] = sum;
  }
  __syncwarp();
  const long long value = beyond(w, lane);
  best = q.target + largest(value);
  return __ballot_sync(ALL, value >= 0);
}

// By how much the middle of the box seems to pass the target.
__device__ __forceinline__ long long probe(Warp& w, int lane, const int* list, int length) {
  double need = 0.0;
  if (q.margin > 0.0) {
    for (int i = lane; i < q.norms; i += 32) {
      double c = 0.0;
      for (int j = 0; j < D; j++) c += q.norm[i * D + j] * w.mid[j];
      need = fmax(need, fabs(c));
    }
    need = q.margin * largest(need);
  }
  clear(w, lane);
  for (int at = lane; at < length; at += 32) {
    const int p = list[at];
    double c = 0.0;
    for (int j = 0; j < D; j++) c += q.E[j * q.pairs + p] * w.mid[j];
    if (c < need || (need == 0.0 && c <= q.error[p])) {
      const int i = q.owner[p];
      atomicAdd(&w.table[(i >> 2) * STRIDE], 1u << (8 * (i & 3)));
    }
  }
  __syncwarp();
  return largest(beyond(w, lane));
}

enum { UNKNOWN, ALL_WON, CLASH };

// At most 32 undecided pairs, one a lane: a point of the box where all are won (left in w.mid), or a combination of
// their leads, none taken less than zero times, that is below zero all over the box, so that one of them is lost
// everywhere. Steps go to the border of the pair that is worst off; how long they were makes the combination.
__device__ __forceinline__ int settle(Warp& w, int lane, const int* list, int length, double need, bool& member) {
  const bool there = lane < length;
  const int p = there ? list[lane] : 0, pairs = (int)q.pairs;
  double e[D], c = 0.0, size = 0.0, reach = 0.0;
  for (int j = 0; j < D; j++) {
    e[j] = there ? q.E[j * pairs + p] : 0.0;
    c += e[j] * w.mid[j];
    reach += fabs(e[j]) * w.half[j];
    if (w.half[j] > 0.0) size += e[j] * e[j];
  }
  const double error = there ? q.error[p] : 0.0;
  double taken = 0.0;
  double x = lane < D ? w.mid[lane] : 0.0;
  for (int step = 0; step < STEPS; step++) {
    double lead = -2.0 * error - need;
    for (int j = 0; j < D; j++) lead += e[j] * __shfl_sync(ALL, x, j);
    const double worst = -largest(there ? -lead : -1e300);
    if (worst > 0.0) {
      if (lane < D) w.mid[lane] = x;
      __syncwarp();
      return ALL_WON;
    }
    const int who = __ffs(__ballot_sync(ALL, there && lead == worst)) - 1;
    double length_of_step = 0.0;
    if (lane == who && size > 0.0) {
      length_of_step = OVERSTEP * (1e-3 * reach - lead) / size;
      taken += length_of_step;
    }
    length_of_step = __shfl_sync(ALL, length_of_step, who);
    for (int j = 0; j < D; j++) {
      const double along = __shfl_sync(ALL, e[j], who);
      if (lane == j && w.half[j] > 0.0) x = fmin(fmax(x + length_of_step * along, w.low[j]), w.high[j]);
    }
  }
  const double most = largest(taken);
  member = taken > 1e-9 * most;
  if (!member) taken = 0.0;
  double sum = taken * (c + 2.0 * error - need), magnitude = taken * (fabs(c) + reach + error + need);
  for (int j = 0; j < D; j++) {
    double along = taken * e[j];
    for (int d = 16; d > 0; d >>= 1) along += __shfl_xor_sync(ALL, along, d);
    if (lane == 0) sum += fabs(along) * w.half[j];
  }
  for (int d = 16; d > 0; d >>= 1) {
    sum += __shfl_xor_sync(ALL, sum, d);
    magnitude += __shfl_xor_sync(ALL, magnitude, d);
  }
  return most > 0.0 && sum + SAFE * magnitude < 0.0 ? CLASH : UNKNOWN;
}

// By how much the box may pass the target when one of these pairs, whichever, is lost.
__device__ __forceinline__ long long without_one(Warp& w, int lane, const int* list, bool member) {
  clear(w, lane);
  if (member) {
    const int i = q.owner[list[lane]];
    const unsigned one = 1u << (8 * (i & 3));
    atomicAdd(&w.table[(i >> 2) * STRIDE + lane], one);
    atomicSub(&w.table[(i >> 2) * STRIDE + lane + 1], one);
  }
  __syncwarp();
  const long long value = beyond(w, lane);
  return largest(member ? value : -1ll);
}

// A box into a buffer; whether there was room.
__device__ __forceinline__ bool put(Box* boxes, int* number, long long room, const double* low, const double* high,
                                    long long bound, int lane) {
  int at = 0;
  if (lane == 0) at = atomicAdd(number, 1);
  at = __shfl_sync(ALL, at, 0);
  if (at >= room) return false;
  if (lane < D) { boxes[at].low[lane] = low[lane]; boxes[at].high[lane] = high[lane]; }
  if (lane == 0) {
    boxes[at].bound = bound;
    if (boxes == q.out) atomicMax(q.highest, bound);
  }
  __syncwarp();
  return true;
}

struct Log {  // of one subtree, written by the first lane
  byte* codes;
  int length;
  __device__ __forceinline__ void write(int lane, int code) {
    if (codes) { if (lane == 0) codes[length] = (byte)code; length++; }
  }
};

// Search the subtree below the box in w.low, w.high.
__device__ void subtree(Warp& w, int lane, int slot, long long bound, wide deadline, Log& log) {
  int* const lists = q.lists + (size_t)slot * q.list_room;
  Pending* const stack = q.stack + (size_t)slot * q.levels;
  volatile int* control = q.control;
  int depth = 0, first = 0, length = (int)q.pairs;
  const int* from = nullptr;  // all pairs
  for (int g = lane; g < q.words; g += 32) w.lost[g] = q.base[g];
  if (lane < D) w.change[lane] = q.change[lane];
  __syncwarp();
  for (int node = 0;; node++) {
    bool stop = control[STOP] != 0;
    // Not before some nodes were looked at, or boxes would only be dealt out and handed back.
    if (node > 0 && node % LOOK_EVERY == 0 && (now() > deadline || control[IDLE] > q.hunger)) {
      stop = true;
      control[STOP] = TIME_UP;  // nobody begins with another box
    }
    // There must be room for what is left of this subtree: reserved ahead for every warp by the host.
    if (__any_sync(ALL, stop) || (log.codes && log.length + q.levels + LONGEST_STEP > q.log_room)) {
      log.write(lane, HANDED);
      put(q.out, q.control + OUT, q.out_room, w.low, w.high, bound, lane);
      while (depth > 0) {
        const Pending& kept = stack[--depth];
        log.write(lane, HANDED);
        put(q.out, q.control + OUT, q.out_room, kept.low, kept.high, kept.bound, lane);
      }
      return;
    }
    if (lane == 0) w.counts[NODES]++;
    middle(w, lane);
    int kept = length, k = -1, code = LEAF;
    int* to = lists + first + (from ? length : 0);
    bool alive = bound >= q.target;
    for (int turn = 0; alive && turn <= q.rounds; turn++) {
      double need, limit;
      needed(w, lane, need, limit);
      k = widest(w, lane, -1, 0.0);
      if (k < 0) { k = 0; }  // nothing changes any more: the sweep below decides all the same
      long long best;
      if (lane == 0) { w.counts[SWEEPS]++; w.counts[PAIRS] += length; }
      const unsigned mask = sweep(w, lane, k, need, limit, from, length, to, kept, best);
      from = to;
      length = kept;
      bound = best < bound ? best : bound;
      if (mask == 0) { alive = false; code = SWEPT + k; break; }
      const int left = __ffs(mask) - 1, right = 31 - __clz(mask);
      if (left == 0 && right == SLICES - 1) break;
      if (lane == 0) {
        const double step = (w.high[k] - w.low[k]) / SLICES, low = w.low[k];
        if (right < SLICES - 1) w.high[k] = low + (right + 1) * step;
        if (left > 0) w.low[k] = low + left * step;
      }
      __syncwarp();
      log.write(lane, SHRUNK + k);
      log.write(lane, left);
      log.write(lane, right);
      middle(w, lane);
      if (right - left + 1 > q.few) break;
    }
    first = (int)(to - lists);
    if (alive && length <= q.probe_up_to) {
      if (lane == 0) w.counts[PROBES]++;
      long long seems = probe(w, lane, to, length);
      if (seems < 0 && length <= 32) {
        bool member = false;
        double need, limit;
        needed(w, lane, need, limit);
        if (lane == 0) w.counts[SETTLED]++;
        const int answer = settle(w, lane, to, length, need, member);
        if (answer == ALL_WON) {
          seems = probe(w, lane, to, length);
        } else if (answer == CLASH) {
          const long long rest = without_one(w, lane, to, member);
          if (q.target + rest < bound) bound = q.target + rest;
          alive = rest >= 0;
          if (lane == 0 && !alive) w.counts[CLOSED]++;
        }
      }
      if (seems >= 0) {
        int at = 0;
        if (lane == 0) at = atomicAdd(q.control + FOUND, 1);
        at = __shfl_sync(ALL, at, 0);
        if (at < q.found_room && lane < D) q.found[at * D + lane] = w.mid[lane];
        if (at < q.found_room && lane == 0) q.worth[at] = q.target + seems;
        if (lane == 0) control[STOP] = HAVE_POINT;
      }
      __syncwarp();
    }
    int axis = -1;
    if (alive) {
      axis = widest(w, lane, k, q.smallest);
      if (axis < 0 || depth + 1 >= q.levels || first + 2 * length + 64 > q.list_room) {
        code = HANDED;
        // Where nothing is undecided the middle was found: it will not be worth a look any more.
        const bool over = length == 0 && q.probe_up_to >= 0;
        if (over) put(q.out, q.control + OUT, q.out_room, w.low, w.high, bound, lane);
        else if (!put(q.aside, q.control + ASIDE, q.aside_room, w.low, w.high, bound, lane)) {
          put(q.out, q.control + OUT, q.out_room, w.low, w.high, bound, lane);  // later then
          if (lane == 0) control[STOP] = FULL;
        }
        alive = false;
      } else {
        code = axis;
      }
    }
    log.write(lane, code);
    if (alive) {  // the upper half waits, the lower one is next
      Pending& other = stack[depth++];
      const double cut = 0.5 * (w.low[axis] + w.high[axis]);
      if (lane < D) {
        other.low[lane] = lane == axis ? cut : w.low[lane];
        other.high[lane] = w.high[lane];
        other.change[lane] = w.change[lane];
        if (lane == axis) w.high[lane] = cut;
      }
      for (int g = lane; g < q.words; g += 32) other.lost[g] = w.lost[g];
      if (lane == 0) { other.bound = bound; other.first = first; other.length = length; }
      __syncwarp();
      continue;
    }
    if (depth == 0) return;
    const Pending& next = stack[--depth];
    if (lane < D) { w.low[lane] = next.low[lane]; w.high[lane] = next.high[lane]; w.change[lane] = next.change[lane]; }
    for (int g = lane; g < q.words; g += 32) w.lost[g] = next.lost[g];
    bound = next.bound;
    first = next.first;
    length = next.length;
    from = lists + first;
    __syncwarp();
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) search() {
  extern __shared__ __align__(16) byte memory[];
  const int lane = threadIdx.x % 32, mine = threadIdx.x / 32, warps = blockDim.x / 32;
  const int slot = blockIdx.x * warps + mine;
  const int table = (int)((q.words * STRIDE * 4 + 15) / 16 * 16), number = (int)((q.rivals + 1) * 32);
  byte* own = memory + (size_t)mine * ((sizeof(Warp) + 15) / 16 * 16 + table + number);
  Warp& w = *(Warp*)own;
  unsigned* cells = (unsigned*)(own + (sizeof(Warp) + 15) / 16 * 16);
  if (lane == 0) { w.table = cells; w.number = (byte*)cells + table; for (wide& count : w.counts) count = 0; }
  __syncwarp();
  const wide deadline = now() + (wide)q.nanoseconds;
  volatile int* control = q.control;
  while (true) {
    int at = 0;
    if (lane == 0) at = control[STOP] != 0 ? (int)q.n_in : atomicAdd(q.control + NEXT, 1);
    at = __shfl_sync(ALL, at, 0);
    if (at >= q.n_in) break;
    if (lane < D) { w.low[lane] = q.in[at].low[lane]; w.high[lane] = q.in[at].high[lane]; }
    __syncwarp();
    Log log = {q.log_room > 0 ? q.log + (size_t)at * q.log_room : nullptr, 0};
    subtree(w, lane, slot, q.in[at].bound, deadline, log);
    if (q.log_room > 0 && lane == 0) q.log_length[at] = log.length;
    __syncwarp();
  }
  if (lane == 0) {
    atomicAdd(q.control + IDLE, 1);
    for (int i = 0; i < COUNTERS; i++) atomicAdd(q.counters + i, w.counts[i]);
  }
}

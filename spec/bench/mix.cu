/* What the chip does of attention's instructions when none of them waits for another: a bound for
*every
** order in which a kernel can issue them (docs/performance.md, "attention_form_capped_d128"). The
** products are those of a turn of attention with d = 128 and 128 keys, two warpgroups of 64 rows,
*on
** tiles that stay in shared memory; exponentials, `tanh`, maxima, sums and conversions are of 64
*scores
** a thread and work on other registers, spread evenly between the products. The results mean
*nothing.
**
**   nvcc -O3 -gencode arch=compute_90a,code=sm_90a mix.cu -o mix && ./mix
**
** prints for each mix the cycles and the time of a turn, the clock, and the products' rate,
*sustained.
** ptxas says C7519 of the first product of a turn, which finds its accumulators in use; it may not
*say
** C7510, which would put products one after the other. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <random>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            printf("%s: %s\n", #call, cudaGetErrorString(e));                                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int BLOCKS = 132, THREADS = 256, TILES = 131072, TURNS = 12000, REPEATS = 10;

// One wgmma of 64 x 128 x 16; `transposed` says that B's rows are the depth.
#define F4(i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)
template <int transposed>
__device__ __forceinline__ void product(float (&d)[64], const uint32_t (&a)[4], uint64_t b,
                                        int add) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
                 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63},"
                 " {%64,%65,%66,%67}, %68, p, 1, 1, %70;}"
                 : F16(0), F16(16), F16(32), F16(48)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(transposed));
}

__device__ __forceinline__ float tanh_approx(float x) {
    float r;
    asm volatile("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

__device__ __forceinline__ float exp2_approx(float x) {
    float r;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

__device__ __forceinline__ uint32_t pack(float x, float y) {
    uint32_t r;
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    return r;
}

enum { PRODUCTS = 1, TANH = 2, EXP = 4, MAX = 8 };

struct Scores {
    float seed[8], step, sum, greatest;
    uint32_t packed;
};

// The work of 32 scores, eight at a time.
template <int mix> __device__ __forceinline__ void scores(Scores &s) {
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
        float t[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            t[i] = fmaf(s.seed[i], 0.011f * (float)(j + i + 1), s.step);
            if (mix & TANH)
                t[i] = tanh_approx(t[i]);
            if (mix & MAX)
                s.greatest = fmaxf(s.greatest, t[i]);
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            if (mix & EXP)
                s.sum += t[i] = exp2_approx(fmaf(t[i], 0.37f, s.step));
#pragma unroll
        for (int i = 0; i < 8; i += 2)
            s.packed ^= pack(t[i], t[i + 1]);
    }
    s.step += 1e-6f;
}

template <int mix>
__global__ void __launch_bounds__(THREADS, 1)
    turns(const uint4 *random, float *out, long long *cycles) {
    extern __shared__ __align__(1024) char tiles[];
    const uint32_t *word = (const uint32_t *)random;
    uint32_t base = (uint32_t)__cvta_generic_to_shared(tiles), a[2][4];
    float sums[2][64] = {};
    Scores s = {};
    for (int i = threadIdx.x; i < TILES / 16; i += THREADS)
        ((uint4 *)tiles)[i] = random[i];
    for (int i = 0; i < 8; i++) {
        a[i / 4][i % 4] = word[threadIdx.x * 8 + i];
        s.seed[i] = 0.3f * __uint_as_float(word[16384 + threadIdx.x * 8 + i] << 16);
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    // Swizzle of 128 bytes, 1024 from one group of eight rows to the next.
    const uint64_t keys = 1ull << 62 | 64ull << 32 | 1ull << 16;
    const uint64_t values = 1ull << 62 | 64ull << 32 | 1024ull << 16;
    long long start = clock64();
#pragma unroll 1
    for (int half = 0; half < 2 * TURNS; half++) {
        if (mix & PRODUCTS) {
            uint32_t stage = base + (uint32_t)(half >> 1 & 1) * 65536;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t c = (uint32_t)(half & 1) * 4 + (uint32_t)i;
                uint32_t key = stage + c / 4 * 16384 + c % 4 * 32, value = stage + 32768 + c * 2048;
                product<0>(sums[0], a[0], keys | (key & 0x3ffff) >> 4, (int)c);
                product<1>(sums[1], a[1], values | (value & 0x3ffff) >> 4, 1);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        }
        if (mix & (TANH | EXP))
            scores<mix>(s);
    }
    if (mix & PRODUCTS)
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    long long end = clock64();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *cycles = end - start;
    float all = s.sum + s.greatest + __uint_as_float(s.packed);
    for (int i = 0; i < 128; i++)
        all += sums[i / 64][i % 64];
    out[blockIdx.x * THREADS + threadIdx.x] = all;
}

static uint4 *random_words;
static float *out;
static long long *cycles;

template <int mix> static void launch() {
    CHECK(cudaFuncSetAttribute(turns<mix>, cudaFuncAttributeMaxDynamicSharedMemorySize, TILES));
    turns<mix><<<BLOCKS, THREADS, TILES>>>(random_words, out, cycles);
    CHECK(cudaGetLastError());
}

int main() {
    struct {
        const char *name;
        void (*launch)();
        std::vector<double> seconds, cycles;
    } arms[] = {
        {"products", launch<PRODUCTS>},
        {"products, exp", launch<PRODUCTS | EXP>},
        {"products, tanh", launch<PRODUCTS | TANH>},
        {"products, exp, max", launch<PRODUCTS | EXP | MAX>},
        {"products, tanh, exp", launch<PRODUCTS | TANH | EXP>},
        {"products, tanh, exp, max", launch<PRODUCTS | TANH | EXP | MAX>},
        {"tanh, exp, max", launch<TANH | EXP | MAX>},
    };
    std::vector<__nv_bfloat16> words(TILES / 2);
    std::mt19937 generator(5);
    std::normal_distribution<float> normal;
    for (auto &w : words)
        w = __float2bfloat16(normal(generator));
    CHECK(cudaMalloc(&random_words, TILES));
    CHECK(cudaMalloc(&out, BLOCKS * THREADS * sizeof *out));
    CHECK(cudaMallocManaged(&cycles, sizeof *cycles));
    CHECK(cudaMemcpy(random_words, words.data(), TILES, cudaMemcpyHostToDevice));
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int round = 0; round < 6; round++)
        for (auto &arm : arms) {
            for (int i = 0; i < REPEATS / 2; i++)
                arm.launch(); // until clock and power have settled
            CHECK(cudaEventRecord(start));
            for (int i = 0; i < REPEATS; i++)
                arm.launch();
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, start, end));
            if (round == 0)
                continue;
            arm.seconds.push_back(ms * 1e-3 / REPEATS / TURNS);
            arm.cycles.push_back((double)*cycles / TURNS);
        }
    for (auto &arm : arms) {
        std::sort(arm.seconds.begin(), arm.seconds.end());
        std::sort(arm.cycles.begin(), arm.cycles.end());
        double s = arm.seconds[2], c = arm.cycles[2], flop = BLOCKS * 2.0 * 2 * 2 * 64 * 128 * 128;
        printf("%-26s %6.0f cycles %6.0f ns %5.2f GHz %5.0f TFLOP/s\n", arm.name, c, s * 1e9,
               c / s * 1e-9, flop / s * 1e-12);
    }
}

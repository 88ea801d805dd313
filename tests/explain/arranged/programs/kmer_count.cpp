// SPDX-License-Identifier: MIT
// Count the k-mers of simulated reads: kmer_count READS LENGTH K
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unordered_map>

static std::string read_of(std::mt19937_64 &rng, int length) {
    static const char bases[] = "ACGT";
    std::string read(length, 'A');
    for (char &base : read) base = bases[rng() & 3];
    return read;
}

static const char *canonical(const std::string &read, size_t at, int k, std::string &out) {
    out.assign(read, at, k);
    std::string reverse(k, 'A');
    for (int i = 0; i < k; i++) {
        char base = out[k - 1 - i];
        reverse[i] = base == 'A' ? 'T' : base == 'T' ? 'A' : base == 'C' ? 'G' : 'C';
    }
    if (reverse < out) out.swap(reverse);
    return out.c_str();
}

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s READS LENGTH K\n", argv[0]);
        return 2;
    }
    const long reads = std::atol(argv[1]);
    const int length = std::atoi(argv[2]), k = std::atoi(argv[3]);
    std::mt19937_64 rng(99);
    std::unordered_map<std::string, uint32_t> counts;
    std::string kmer;
    const auto start = std::chrono::steady_clock::now();
    for (long number = 1; number <= reads; number++) {
        const std::string read = read_of(rng, length);
        for (size_t at = 0; at + k <= read.size(); at++) {
            canonical(read, at, k, kmer);
            counts[kmer]++;
        }
        if (number % 10000 == 0) {
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
            std::fprintf(stderr, "[%7.2fs] %ld reads, %zu distinct %d-mers, load %.2f\n", passed.count(), number, counts.size(), k,
                         counts.load_factor());
        }
    }
    size_t single = 0;
    for (const auto &entry : counts) single += entry.second == 1;
    std::printf("distinct\t%zu\nsingle\t%zu\n", counts.size(), single);
}

package sim

// Stream is a source of random numbers. Streams with different keys are independent, and a stream's
// n-th number depends on its key and n alone, so that a draw added in one place moves no other. It
// implements the Source of math/rand/v2. The zero value is a valid, fixed stream. A Stream is not
// safe for concurrent use; it is a small value, to be copied and kept by its owner.
//
// The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014) with a key in place of its seed.
type Stream struct {
	key uint64
	n   uint64
}

// NewStream returns the stream of (seed, entity, purpose).
func NewStream(seed uint64, entity, purpose string) Stream {
	h := fnv(fnvOffset, entity)
	h = (h ^ 0xff) * fnvPrime // so that ("ab", "c") and ("a", "bc") differ
	h = fnv(h, purpose)
	return Stream{key: mix(mix(seed+golden) ^ h)}
}

// Uint64 returns the next number, uniform over all of uint64.
func (s *Stream) Uint64() uint64 {
	s.n++
	return mix(s.key + s.n*golden)
}

// Float64 returns the next number in [0, 1).
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// IntN returns the next number in [0, n). It panics if n ≤ 0. The bias is below n/2^64.
func (s *Stream) IntN(n int) int {
	if n <= 0 {
		panic("sim: Stream.IntN: n must be positive")
	}
	return int(s.Uint64() % uint64(n))
}

// At returns the independent sub-stream number n, such as the stream of an agent's n-th call. It
// does not advance s.
func (s Stream) At(n int) Stream { return Stream{key: mix(s.key ^ mix(uint64(n)+golden))} }

const (
	golden    = 0x9e3779b97f4a7c15
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func fnv(h uint64, s string) uint64 {
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

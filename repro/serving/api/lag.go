package api

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Overhead is how late a server has been: between the instant that a piece of an answer was to be
// written at and the end of the write. The instants are those of the simulated servers; for pieces
// that the flush interval holds back, the end of the interval. So it is what a client sees of wedge
// itself in a latency, and not of what is simulated. All is on the machine's clock.
type Overhead struct {
	Writes int64         `json:"writes"`
	Mean   time.Duration `json:"mean_ns"`
	P50    time.Duration `json:"p50_ns"` // at most twice as much as the truth, as P99
	P99    time.Duration `json:"p99_ns"`
	Max    time.Duration `json:"max_ns"`
}

// Overhead returns how late the server has been so far.
func (s *Server) Overhead() Overhead {
	return s.metrics.lag.overhead()
}

// lag counts how late writes were, in buckets that double: bucket i has those under 2^i µs.
type lag struct {
	counts [lagBuckets]atomic.Int64
	sumNS  atomic.Int64
	maxNS  atomic.Int64
}

// lagBuckets is enough for half a minute. What is later counts in the last one.
const lagBuckets = 26

func (l *lag) add(late time.Duration) {
	late = max(0, late)
	l.counts[min(bits.Len64(uint64(late/time.Microsecond)), lagBuckets-1)].Add(1)
	l.sumNS.Add(int64(late))
	for {
		most := l.maxNS.Load()
		if int64(late) <= most || l.maxNS.CompareAndSwap(most, int64(late)) {
			return
		}
	}
}

// lagBound returns what all in a bucket are under.
func lagBound(i int) time.Duration { return time.Microsecond << i }

var _ prometheus.Collector = (*lag)(nil)

const lagHelp = "How late pieces of streams were written, on the machine's clock: wedge itself, not what is simulated"

func lagDesc() *prometheus.Desc {
	return prometheus.NewDesc("wedge_write_lag_seconds", lagHelp, nil, nil)
}

// Describe implements prometheus.Collector.
func (l *lag) Describe(out chan<- *prometheus.Desc) { out <- lagDesc() }

// Collect implements prometheus.Collector.
func (l *lag) Collect(out chan<- prometheus.Metric) {
	buckets, total := map[float64]uint64{}, uint64(0)
	for i := range l.counts {
		total += uint64(l.counts[i].Load())
		if i < lagBuckets-1 { // the last one has no bound
			buckets[lagBound(i).Seconds()] = total
		}
	}
	out <- prometheus.MustNewConstHistogram(lagDesc(), total, time.Duration(l.sumNS.Load()).Seconds(), buckets)
}

func (l *lag) overhead() Overhead {
	var counts [lagBuckets]int64
	o := Overhead{Max: time.Duration(l.maxNS.Load())}
	for i := range counts {
		counts[i] = l.counts[i].Load()
		o.Writes += counts[i]
	}
	if o.Writes == 0 {
		return o
	}
	o.Mean = time.Duration(l.sumNS.Load() / o.Writes)
	o.P50, o.P99 = quantile(counts[:], o.Writes*50/100), quantile(counts[:], o.Writes*99/100)
	o.P50, o.P99 = min(o.P50, o.Max), min(o.P99, o.Max)
	return o
}

// quantile returns the bound of the bucket with the element of a rank, counted from 0.
func quantile(counts []int64, rank int64) time.Duration {
	for i, n := range counts {
		if rank < n {
			return lagBound(i)
		}
		rank -= n
	}
	return lagBound(len(counts) - 1)
}

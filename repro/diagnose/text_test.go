package diagnose

import (
	"testing"
	"time"
)

func TestSecs(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-s, "0 s"}, {0, "0 s"}, {time.Microsecond, "under 1 ms"}, {time.Millisecond, "1 ms"}, {45 * time.Millisecond, "45 ms"},
		{99900 * time.Microsecond, "99 ms"}, {100 * time.Millisecond, "0.1 s"}, {1250 * time.Millisecond, "1.2 s"}, {90 * m, "5400.0 s"},
	} {
		if got := secs(c.d); got != c.want {
			t.Errorf("%v is written %q, want %q", c.d, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		least, most time.Duration
		want        string
	}{
		{s, s, "1.0 s"}, {70 * s, 250 * s, "70.0 to 250.0 s"}, {45 * time.Millisecond, 3 * s, "45 ms to 3.0 s"}, {0, 3 * s, "0 to 3.0 s"},
	} {
		if got := span(c.least, c.most); got != c.want {
			t.Errorf("%v to %v is written %q, want %q", c.least, c.most, got, c.want)
		}
	}
}

func TestHowManyOf(t *testing.T) {
	for _, c := range []struct {
		n, total int
		want     string
	}{
		{0, 30, "none of 30 slots is"}, {1, 30, "1 of 30 slots is"}, {16, 30, "16 of 30 slots are"}, {30, 30, "all 30 slots are"},
		{1, 1, "the only slot is"}, {2, 2, "both slots are"}, {1, 2, "1 of 2 slots is"},
	} {
		if got := areOfAll(c.n, c.total, "slot"); got != c.want {
			t.Errorf("%d of %d is written %q, want %q", c.n, c.total, got, c.want)
		}
	}
}

func TestSlotsInWords(t *testing.T) {
	for _, c := range []struct {
		p    pool
		want string
	}{
		{pool{capacity: 1, inUse: 1}, "The only slot is held."},
		{pool{capacity: 1}, "The only slot is free."},
		{pool{capacity: 30}, "None of 30 slots is held."},
		{pool{capacity: 16, inUse: 16, waiting: 14}, "All 16 slots are held, and 14 wait for one."},
		{pool{capacity: 16, inUse: 1, waiting: 1}, "1 of 16 slots is held, and 1 waits for one."},
	} {
		if got := c.p.text(); got != c.want {
			t.Errorf("%+v is written %q, want %q", c.p, got, c.want)
		}
	}
}

package requestlog

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// parseLatency reads a number, with or without a unit: 62690782, 0.123, 1.254651s,
// 812.3ms, 15.2µs, 1m2.5s.
func parseLatency(text []byte) Latency {
	if n, err := strconv.ParseFloat(string(text), 64); err == nil {
		return known(n, NoUnit)
	}
	s := strings.ReplaceAll(string(text), " ", "")
	if d, err := time.ParseDuration(s); err == nil {
		return known(d.Seconds(), Seconds)
	}
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµμ")
	n, err := strconv.ParseFloat(digits, 64)
	unit := unitOfName(s[len(digits):])
	if err != nil || unit == NoUnit {
		return Latency{}
	}
	return known(n, unit)
}

// known refuses what is no length of time.
func known(n float64, unit Unit) Latency {
	if math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return Latency{}
	}
	return Latency{Known: true, Number: n, Unit: unit}
}

// unitOfName knows what units are called in fields and texts.
func unitOfName(name string) Unit {
	switch strings.ToLower(name) {
	case "ns", "nano", "nanos", "nsec", "nanosecond", "nanoseconds":
		return Nanoseconds
	case "us", "µs", "μs", "micro", "micros", "usec", "microsecond", "microseconds":
		return Microseconds
	case "ms", "milli", "millis", "msec", "millisecond", "milliseconds":
		return Milliseconds
	case "s", "sec", "secs", "second", "seconds":
		return Seconds
	}
	return NoUnit
}

// parseTime reads a time stamp in the forms of JSON loggers, or seconds,
// milliseconds, microseconds or nanoseconds since 1970.
func parseTime(text []byte) time.Time {
	text = bytes.TrimSpace(text)
	if at := leadingTime(text); !at.IsZero() {
		return at.Add(-zoneOf(text))
	}
	n, err := strconv.ParseFloat(string(text), 64)
	const years = 1e8 // seconds: 1973, so that a small number is no time
	if err != nil || !(n >= years && n < 1e20) {
		return time.Time{}
	}
	if whole, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		switch {
		case n >= 1e17:
			return time.Unix(0, whole).UTC()
		case n >= 1e14:
			return time.UnixMicro(whole).UTC()
		case n >= 1e11:
			return time.UnixMilli(whole).UTC()
		}
		return time.Unix(whole, 0).UTC()
	}
	for n >= 1e11 {
		n /= 1000
	}
	whole, part := math.Modf(n)
	return time.Unix(int64(whole), int64(math.Round(part*1e6))*1000).UTC()
}

// zoneOf returns how far east of UTC a time stamp's zone is: +01:00 or +0100 at its
// end.
func zoneOf(text []byte) time.Duration {
	i := bytes.LastIndexAny(text, "+-")
	const shape = "0000-00-00T00:00:00"
	if i < len(shape) {
		return 0
	}
	digits := strings.ReplaceAll(string(text[i+1:]), ":", "")
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 4 {
		return 0
	}
	east := time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute
	if text[i] == '-' {
		return -east
	}
	return east
}

package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"example.com/wedge/repro/series"
)

// points puts metrics into the SDK's form.
type points struct {
	start, now time.Time
	all        []metricdata.Metrics
}

// buckets is a histogram with its attributes.
type buckets struct {
	series.Buckets
	attributes []attribute.KeyValue
}

func bucket(b series.Buckets, attributes ...attribute.KeyValue) buckets {
	return buckets{b, attributes}
}

// count is a count with its attributes.
type count struct {
	n          int
	attributes []attribute.KeyValue
}

// level is a value with its attributes.
type level struct {
	v          float64
	attributes []attribute.KeyValue
}

// length is a time in seconds with its attributes.
type length struct {
	s          float64
	attributes []attribute.KeyValue
}

func (p *points) add(name, unit, about string, data metricdata.Aggregation) {
	p.all = append(p.all, metricdata.Metrics{Name: name, Unit: unit, Description: about, Data: data})
}

// histogram adds those of the histograms that have values.
func (p *points) histogram(name, unit, about string, list ...buckets) {
	data := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
	for _, b := range list {
		if b.N == 0 {
			continue
		}
		data.DataPoints = append(data.DataPoints, metricdata.HistogramDataPoint[float64]{
			Attributes: attribute.NewSet(b.attributes...), StartTime: p.start, Time: p.now, Count: b.N, Bounds: b.Bounds, BucketCounts: b.Counts, Sum: b.Sum,
		})
	}
	if len(data.DataPoints) > 0 {
		p.add(name, unit, about, data)
	}
}

// sum adds a count that only rises.
func (p *points) sum(name, unit, about string, list ...count) {
	data := metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
	for _, c := range list {
		data.DataPoints = append(data.DataPoints, metricdata.DataPoint[int64]{
			Attributes: attribute.NewSet(c.attributes...), StartTime: p.start, Time: p.now, Value: int64(c.n),
		})
	}
	if len(list) > 0 {
		p.add(name, unit, about, data)
	}
}

// seconds adds times that only grow.
func (p *points) seconds(name, about string, list ...length) {
	data := metricdata.Sum[float64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
	for _, l := range list {
		data.DataPoints = append(data.DataPoints, metricdata.DataPoint[float64]{
			Attributes: attribute.NewSet(l.attributes...), StartTime: p.start, Time: p.now, Value: l.s,
		})
	}
	if len(list) > 0 {
		p.add(name, "s", about, data)
	}
}

// gauge adds values as they stand now.
func (p *points) gauge(name, unit, about string, list []level) {
	var data metricdata.Gauge[float64]
	for _, l := range list {
		data.DataPoints = append(data.DataPoints, metricdata.DataPoint[float64]{Attributes: attribute.NewSet(l.attributes...), Time: p.now, Value: l.v})
	}
	if len(list) > 0 {
		p.add(name, unit, about, data)
	}
}

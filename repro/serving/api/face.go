package api

import "example.com/wedge/repro/serving/engine"

// face is who answers at a port: the router, its metrics alone, or a worker.
type face struct {
	kind   faceKind
	worker *engine.Worker // of faceWorker
}

type faceKind uint8

const (
	faceRouter faceKind = iota
	faceMetrics
	faceWorker
)

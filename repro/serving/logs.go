package serving

import "io"

// Logs is where the servers write their logs, a line a Write, with the monitor held: they must not
// block. The zero value is no logs.
type Logs struct {
	Router io.Writer                     // nil: no log
	Engine func(worker string) io.Writer // by the worker's name, such as "decode-0"; nil, or a nil writer: no log
}

package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// sendEvery is how often who follows the events gets a snapshot, on the machine's clock.
const sendEvery = time.Second

// events sends server-sent events: first "history", then a "snapshot" each second, and "end" when the run is over. Who
// is slow misses snapshots; who takes none for a while is dropped, and may come back.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d others watch already", clientsMax), http.StatusServiceUnavailable)
		return
	}
	news, forget := s.o.View.Watch()
	defer forget()
	w.Header().Set("Content-Type", "text/event-stream")
	to := &eventWriter{w: w, control: http.NewResponseController(w)}
	if to.send("history", s.o.View.History()) != nil || to.send("snapshot", s.o.View.Latest()) != nil {
		return
	}
	for sent := time.Now(); ; {
		select {
		case <-r.Context().Done():
			return
		case <-s.over:
			_ = to.send("end", s.o.View.Latest()) // it is the last that can be said
			return
		case <-news:
		}
		latest := s.o.View.Latest()
		// Looks come twice as often, by another ticker: half an interval is as good as a whole one.
		if now := time.Now(); now.Sub(sent) >= sendEvery-lookEvery/2 || latest.State == Ended {
			if to.send("snapshot", latest) != nil {
				return
			}
			sent = now
		}
	}
}

// eventWriter writes events, each within a time.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (e *eventWriter) send(name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := e.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, text); err != nil { // JSON has no line breaks
		return err
	}
	return e.control.Flush()
}

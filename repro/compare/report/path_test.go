package report

import "testing"

func TestShortPath(t *testing.T) {
	for _, row := range []struct{ long, short string }{
		{"M0,0L1126,0L1126,362L0,362Z", "M0,0h1126v362h-1126z"},
		{"M10.04,-3.26L10.06,-3.26L12,0", "M10-3.3h.1l1.9,3.3"},
		{"M1,1L1.01,1.02L1.02,1L5,1", "M1,1h4"},       // what cannot be told apart goes
		{"M1,1L1.01,1", "M1,1h0"},                     // but a dot stays
		{"M0,0L1,1ZM4,4L5,5Z", "M0,0l1,1zM4,4l1,1z"},  // several parts
		{"M1,1L2,2ZL3,1", "M1,1l1,1zh2"},              // after the end the pen is at the start
		{"M23.5,341.2A3.5,3.5 0 1 1 16.5,341.2Z", ""}, // curves stay
		{"M1,xL2,2", ""},
		{"L1e300,2", ""},
		{"", ""},
	} {
		short, ok := shortPath(row.long)
		if short != row.short && ok || ok != (row.short != "" || row.long == "") {
			t.Errorf("%q: got %q, %v, want %q", row.long, short, ok, row.short)
		}
	}
	got := string(shortPaths([]byte(`<g><path d="M0,0L2.04,0" class="k1" /><text x="1.234">M1,1L2,2</text><path d="M1,1A2,2 0 1 1 3,3Z" /></g>`)))
	if want := `<g><path d="M0,0h2" class="k1" /><text x="1.234">M1,1L2,2</text><path d="M1,1A2,2 0 1 1 3,3Z" /></g>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

package waitgraph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite golden files")

// pictures are the graphs of the golden files.
func pictures() map[string]*Graph {
	abba := draw("1>A", "A=2", "2>B", "B=1", "3>A", "4>A", "5>A")
	for i := range abba.Nodes {
		n := &abba.Nodes[i]
		n.Stuck = true
		if n.Kind == Object {
			n.ID = "mutex 0xc0000120" + map[string]string{"A": "80", "B": "90"}[n.ID]
			continue
		}
		n.ID = "goroutine " + n.ID
		n.Detail = "sync.Mutex.Lock in example.com/app/store.(*Store).Transfer"
	}
	for i := range abba.Edges {
		e := &abba.Edges[i]
		e.For = 11 * time.Minute
		if e.Kind == HeldBy {
			e.For, e.Confidence, e.Why = 0, 0.8, "the caller of the lock frame works on the same receiver"
		}
	}

	leak := slots(38, 5)
	for i := range 2 {
		leak.Edges = append(leak.Edges, Edge{From: 0, To: len(leak.Nodes), Kind: HeldBy, For: 20 * time.Minute, Confidence: 1})
		leak.Nodes = append(leak.Nodes, Node{ID: fmt.Sprintf("permit of slots kept by agent-%02d (call-%d)", 50+i, 7*i), Kind: Permit, Count: 1, Detail: "its call has ended"})
	}

	convoy := draw("B=h", "h>A", "A=head", "head>network", "z>Z", "Z=y", "y>timer", "x>nothing", "s>M", "M=s")
	for i := range 2636 {
		convoy.Edges = append(convoy.Edges, Edge{From: len(convoy.Nodes), To: 0, Kind: WaitsFor, For: time.Duration(i) * time.Second, Confidence: 1})
		convoy.Nodes = append(convoy.Nodes, Node{ID: fmt.Sprintf("goroutine %d", i), Kind: Goroutine, Count: 1, Detail: "sync.Mutex.Lock in docker/daemon.(*Daemon).Containers"})
	}

	wide := &Graph{}
	for i := range 90 {
		wide.Nodes = append(wide.Nodes, Node{ID: fmt.Sprintf("worker %c%c", 'a'+i%26, 'a'+i/26), Kind: Goroutine, Count: 1})
		if i > 0 {
			wide.Edges = append(wide.Edges, Edge{From: i, To: i / 3, Kind: WaitsFor, Confidence: 1}, Edge{From: i, To: i * 7 % 11, Kind: HeldBy, Confidence: 0.5})
		}
	}

	hostile := &Graph{Nodes: []Node{
		{ID: "<script>alert(1)</script>\"'&]]>", Kind: Goroutine, Detail: "\x1b[31mred\x1b[0m \u202eturned\u202c \xff\xfe 日本語の長い説明がここに入ります、折り返します"},
		{ID: strings.Repeat("x", 300), Kind: Object, Count: 12345, Detail: `back\slash "quoted" ` + strings.Repeat("word ", 80)},
	}, Edges: []Edge{{From: 0, To: 1, Kind: WaitsFor, What: "</title><style>", Confidence: 0.3, Why: "--><"}}}

	return map[string]*Graph{"abba": abba, "leak": leak, "convoy": convoy, "wide": wide, "hostile": hostile, "empty": {}}
}

// TestPictures draws each graph in each form and compares with testdata.
func TestPictures(t *testing.T) {
	for name, g := range pictures() {
		t.Run(name, func(t *testing.T) {
			for ext, write := range map[string]func(io.Writer) error{
				"svg":  func(w io.Writer) error { return g.WriteSVG(w, "Who waits for whom: "+name) },
				"dot":  func(w io.Writer) error { return g.WriteDOT(w, "Who waits for whom: "+name) },
				"json": g.WriteJSON,
			} {
				if ext == "json" && len(g.Nodes) > 100 {
					continue
				}
				var got, again bytes.Buffer
				if err := errors.Join(write(&got), write(&again)); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), again.Bytes()) {
					t.Errorf("%s differs when drawn again", ext)
				}
				file := filepath.Join("testdata", name+"."+ext)
				if *update {
					if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%s differs; run with -update and look at it", file)
				}
			}
		})
	}
}

// TestPicturesAreXML: whatever the texts hold.
func TestPicturesAreXML(t *testing.T) {
	for name, g := range pictures() {
		var b bytes.Buffer
		if err := g.WriteSVG(&b, name+" <&> \x00"); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&b)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if s, ok := token.(xml.StartElement); ok && s.Name.Local == "script" {
				t.Errorf("%s: a script", name)
			}
		}
	}
}

// TestCardsApart: no two cards stand on each other, and none outside the picture.
func TestCardsApart(t *testing.T) {
	for name, g := range pictures() {
		small := g.Collapse(drawnMax)
		heights := make([]int, len(small.Nodes))
		for i := range heights {
			heights[i] = cardHeight(&small.Nodes[i])
		}
		l := lay(small, heights)
		for i, a := range l.boxes {
			if a.x < 0 || a.y < 0 || a.x+a.w > l.width || a.y+a.h > l.height {
				t.Errorf("%s: card %d at %v is outside of %d × %d", name, i, a, l.width, l.height)
			}
			for k, b := range l.boxes[:i] {
				if a.meets(b) {
					t.Errorf("%s: cards %d at %v and %d at %v", name, i, a, k, b)
				}
			}
		}
	}
}

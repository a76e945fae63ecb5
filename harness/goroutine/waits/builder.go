package waits

import (
	"slices"
	"strings"

	"example.com/wedge/harness/goroutine"
)

// A Builder makes an Analysis of goroutines as they come, so that a dump larger
// than memory can be read: it keeps one stack a group and 48 bytes a goroutine. The zero
// value is empty. It is not safe for concurrent use.
type Builder struct {
	groups []*group
	byKey  map[string]*group
	key    []byte
	facts  []fact
	words  []uint64
	total  int
	// Messages are those of goroutine.Dump, if the caller has them.
	Messages []string
	// Partial says that the text is a part of a dump, such as one that was cut
	// off: a goroutine that is missing may be the one that others wait for.
	Partial bool
}

// A fact is what is kept of one goroutine.
type fact struct {
	id, parent int64
	object     uint64 // address of what it waits for, 0 where not shown
	group      int32  // index into Builder.groups
	count      int32  // goroutines it stands for
	words      uint32 // its receivers: words[words : words+wordCount]
	wordCount  uint8
	flags      flags
	minutes    uint16 // of waiting as the header says
	call       uint32 // hash of what the call to the outside was made with, 0 for none
}

type flags uint8

const (
	leaked    flags = 1 << iota // the runtime marked it
	inherited                   // its labels are another one's
	stuck                       // nobody is seen who could end its wait
	resting                     // it waits for work as its job is, which the rest of the dump shows
)

// A group is the goroutines with one stack.
type group struct {
	tally goroutine.Grouper
	shape shape
	// receivers are the frames with a word worth keeping of each goroutine.
	receivers []int
	size      int
	frames    []goroutine.Frame
	state     string
	index     int32
	stages    []StageCount // by label
	// unlabelled counts the goroutines whose stage the stack decides.
	unlabelled int
	creator    string // function with the go statement of the first goroutine
}

// Of each group the receivers of so many goroutines are kept. A lock has one
// holder, so its holder is hardly ever one of more alike.
const receiversMax = 4096

// wordsMax is how many receivers of one goroutine are kept.
const wordsMax = 6

// Analyze analyses one dump. Threads and headless blocks do not count.
func Analyze(d *goroutine.Dump) *Analysis {
	b := Builder{Messages: d.Messages, Partial: d.Truncated}
	for i := range d.Goroutines {
		b.Add(&d.Goroutines[i])
	}
	return b.Analysis()
}

// Add counts a goroutine in. It keeps nothing of g that Reader.Next would reuse.
func (b *Builder) Add(g *goroutine.Goroutine) {
	if g.Kind != goroutine.KindGoroutine {
		return
	}
	b.total += g.N()
	grp := b.group(g)
	grp.tally.Add(g)
	grp.size += g.N()
	f := fact{id: g.ID, parent: g.ParentID, group: grp.index, count: int32(min(g.N(), 1<<30))}
	f.minutes = uint16(min(g.Wait.Minutes(), 1<<15))
	if a := grp.shape.address; a >= 0 && a < len(g.Frames) {
		if w, ok := firstWord(g.Frames[a].Args); ok && w > grp.shape.back {
			f.object = w - grp.shape.back
		}
	}
	if grp.shape.class == PeerEnding {
		f.call = callHash(g)
	}
	if g.Leaked {
		f.flags |= leaked
	}
	if goroutine.Inherited(g) {
		f.flags |= inherited
	}
	f.words = uint32(len(b.words))
	if grp.size <= receiversMax {
		b.addWords(g, grp)
	}
	f.wordCount = uint8(uint32(len(b.words)) - f.words)
	b.facts = append(b.facts, f)
	grp.addStage(g)
}

// callHash sums up the arguments of the library's frames, in which a call has its
// connection and request: other ones are another call, although the stack is the
// same. Frames of the program are left out: they hold pointers into the stack, which the collector
// moves.
func callHash(g *goroutine.Goroutine) uint32 {
	h := uint32(0)
	for i := range g.Frames {
		if f := &g.Frames[i]; isPool(f.Func) || strings.HasPrefix(f.Func, "google.golang.org/grpc") {
			if w, ok := firstWord(f.Args); ok {
				h = h*16777619 ^ uint32(w) ^ uint32(w>>32)
			}
			if _, rest, ok := strings.Cut(f.Args, ", "); ok {
				if w, ok := firstWord(rest); ok {
					h = h*16777619 ^ uint32(w) ^ uint32(w>>32)
				}
			}
		}
	}
	return h
}

// addWords keeps the receivers of g, 0 for one that is not exact.
func (b *Builder) addWords(g *goroutine.Goroutine, grp *group) {
	for _, i := range grp.receivers {
		w, _ := firstWord(g.Frames[i].Args)
		b.words = append(b.words, w)
	}
}

// addStage counts the stage of g: its label's, else, later, its stack's.
func (grp *group) addStage(g *goroutine.Goroutine) {
	if goroutine.Inherited(g) {
		return
	}
	if label := g.Label(goroutine.StageLabel); label != "" {
		grp.stages = addStage(grp.stages, label, g.N())
	} else {
		grp.unlabelled += g.N()
	}
}

func addStage(stages []StageCount, stage string, n int) []StageCount {
	i := slices.IndexFunc(stages, func(s StageCount) bool { return s.Stage == stage })
	if i < 0 {
		return append(stages, StageCount{stage, n})
	}
	stages[i].Count += n
	return stages
}

// group finds the group of g, or makes one.
func (b *Builder) group(g *goroutine.Goroutine) *group {
	b.key = goroutine.AppendStackKey(b.key[:0], g)
	if grp := b.byKey[string(b.key)]; grp != nil {
		return grp
	}
	grp := &group{shape: shapeOf(g), frames: slices.Clone(g.Frames), state: stateOf(g), creator: g.CreatedBy.Func, index: int32(len(b.groups))}
	for i := range grp.frames {
		grp.frames[i].Args = ""
		if !isPlumbing(grp.frames[i].Func) && len(grp.receivers) < wordsMax {
			grp.receivers = append(grp.receivers, i)
		}
	}
	if b.byKey == nil {
		b.byKey = map[string]*group{}
	}
	b.byKey[string(b.key)] = grp
	b.groups = append(b.groups, grp)
	return grp
}

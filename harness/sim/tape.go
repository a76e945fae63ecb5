package sim

// Choice is one free choice of the scheduler.
type Choice struct {
	Label string `json:"label"` // what was chosen, such as "runnable"
	N     int    `json:"n"`     // how many alternatives there were
	Value int    `json:"value"` // the one taken, 0 ≤ Value < N
}

// Tape is the record of a run's choices in the order they were made. The zero value is empty. A tape
// given to a world is read label by label, so that it survives when choices of different labels
// change their order; a label that runs out goes on with 0, the dullest choice.
type Tape []Choice

// chooser makes choices: from a tape if there is one, else from the seed. It is not safe for
// concurrent use.
type chooser struct {
	seed     uint64
	streams  map[string]*Stream
	replay   map[string][]int
	replayed bool
	record   bool
	tape     Tape
}

func newChooser(seed uint64, replay Tape, record bool) *chooser {
	c := &chooser{seed: seed, streams: map[string]*Stream{}, record: record}
	if replay != nil {
		c.replayed = true
		c.replay = map[string][]int{}
		for _, ch := range replay {
			c.replay[ch.Label] = append(c.replay[ch.Label], ch.Value)
		}
	}
	return c
}

func (c *chooser) choose(label string, n int) int {
	if n <= 1 {
		return 0
	}
	v := c.draw(label, n)
	if c.record {
		c.tape = append(c.tape, Choice{Label: label, N: n, Value: v})
	}
	return v
}

func (c *chooser) draw(label string, n int) int {
	if c.replayed {
		left := c.replay[label]
		if len(left) == 0 {
			return 0
		}
		c.replay[label] = left[1:]
		return max(0, min(left[0], n-1))
	}
	s := c.streams[label]
	if s == nil {
		s = new(NewStream(c.seed, "choice", label))
		c.streams[label] = s
	}
	return s.IntN(n)
}

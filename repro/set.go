package repro

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/wedge/harness/strict"
)

// listed is a list of the scenario whose elements a path names by id or number.
type listed struct {
	keys []string // that lead to it
	what string   // an element is called
	with string   // a field of one, as an example
	ids  []string
	at   func(i int) any // a pointer to the element
}

// lists returns the lists of the scenario that have elements with ids.
func (s *Scenario) lists() []listed {
	faults := listed{keys: []string{"faults"}, what: "fault", with: "probability", at: func(i int) any { return &s.Faults[i] }}
	for i := range s.Faults {
		faults.ids = append(faults.ids, s.Faults[i].ID)
	}
	triggers := listed{keys: []string{"triggers"}, what: "trigger", with: "load", at: func(i int) any { return &s.Triggers[i] }}
	for i := range s.Triggers {
		triggers.ids = append(triggers.ids, s.Triggers[i].ID)
	}
	random := listed{keys: []string{"soak", "random_faults"}, what: "random fault", with: "every", at: func(i int) any { return &s.Soak.RandomFaults[i] }}
	for i := range s.Soak.RandomFaults {
		random.ids = append(random.ids, s.Soak.RandomFaults[i].id(i))
	}
	return []listed{faults, triggers, random}
}

// element is the fault, trigger or random fault that a path names by its id or number, such as
// "faults.silence.probability", with the keys that lead on from there, and how errors write the field. With a path to
// anything else, target is the scenario.
func (s *Scenario) element(keys []string) (target any, rest []string, field string, err error) {
	for _, l := range s.lists() {
		n := len(l.keys)
		if len(keys) <= n || strings.Join(keys[:n], ".") != strings.Join(l.keys, ".") {
			continue
		}
		path := strings.Join(l.keys, ".")
		i, err := indexOf(l.what, keys[n], l.ids)
		switch {
		case err != nil:
			return nil, nil, "", err
		case len(keys) == n+1:
			return nil, nil, "", errors.New("want the field of the " + l.what + ", such as " + path + ".ID." + l.with)
		}
		return l.at(i), keys[n+1:], fmt.Sprintf("%s[%d]", path, i), nil
	}
	return s, keys, "", nil
}

// indexOf finds an id, or a number that is one's place.
func indexOf(what, key string, ids []string) (int, error) {
	for i, id := range ids {
		if id == key {
			return i, nil
		}
	}
	if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(ids) {
		return i, nil
	}
	if len(ids) == 0 {
		return 0, fmt.Errorf("found %s %q, but the scenario has no %ss", what, key, what)
	}
	return 0, fmt.Errorf("found %s %q%s", what, key, strict.Suggest(key, ids))
}

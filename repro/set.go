package repro

import (
	"errors"
	"fmt"
	"strconv"

	"example.com/wedge/harness/strict"
)

// element is the fault or trigger that a path names by its id or number, such as "faults.silence.probability", with
// the keys that lead on from there, and how errors write the field. With a path to anything else, target is the scenario.
func (s *Scenario) element(keys []string) (target any, rest []string, field string, err error) {
	if len(keys) < 2 || keys[0] != "faults" && keys[0] != "triggers" {
		return s, keys, "", nil
	}
	what, ids := "fault", make([]string, len(s.Faults))
	for i := range s.Faults {
		ids[i] = s.Faults[i].ID
	}
	if keys[0] == "triggers" {
		what, ids = "trigger", make([]string, len(s.Triggers))
		for i := range s.Triggers {
			ids[i] = s.Triggers[i].ID
		}
	}
	i, err := indexOf(what, keys[1], ids)
	switch {
	case err != nil:
		return nil, nil, "", err
	case len(keys) == 2 && what == "fault":
		return nil, nil, "", errors.New("want the field of the fault, such as faults.ID.probability")
	case len(keys) == 2:
		return nil, nil, "", errors.New("want the field of the trigger, such as triggers.ID.load")
	case what == "fault":
		target = &s.Faults[i]
	default:
		target = &s.Triggers[i]
	}
	return target, keys[2:], fmt.Sprintf("%s[%d]", keys[0], i), nil
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

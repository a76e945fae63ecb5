package strict_test

import (
	"fmt"
	"time"

	"example.com/wedge/harness/strict"
)

// Example reads a file onto defaults, and shows what becomes of a slip of the pen.
func Example() {
	type policy struct {
		Idle     time.Duration `yaml:"idle"`
		Attempts int           `yaml:"attempts"`
	}
	p := policy{Attempts: 3}
	for _, text := range []string{"idle: 60s", "idel: 60s", "idle: 60"} {
		d, err := strict.Parse("policy.yaml", []byte(text))
		if err == nil {
			err = d.Decode(&p, strict.Plain)
		}
		fmt.Println(p.Idle, p.Attempts, err)
	}
	// Output:
	// 1m0s 3 <nil>
	// 1m0s 3 policy.yaml:1:1: idel: unknown field, did you mean "idle"?
	// 1m0s 3 policy.yaml:1:7: idle: found "60", want a duration with its unit, such as 60s or 1m30s, of at most 2562047h
}

package compare

import "example.com/wedge/pacer"

// Oracle is the name of the bracket that knows which attempts are dead: see [Variant].
const Oracle = "oracle"

// oracleAttempts is how often the oracle asks again: as often as it takes, as it never asks without need.
const oracleAttempts = 20

// oracle has no limits, and asks again what ended at once.
func oracle() Variant {
	p := pacer.DefaultPolicy()
	p.MaxAttempts = oracleAttempts
	return Variant{
		Name: Oracle, Oracle: true, Policy: p,
		About: "A bracket, not a policy: the servers tell which attempts are dead, and these end within a second, as if their connections had broken; all others have all the time they take.",
	}
}

// brackets says of each policy whether it is one that nobody can have.
func (p *Plan) brackets() []bool {
	brackets := make([]bool, len(p.Policies))
	for i := range p.Policies {
		brackets[i] = p.Policies[i].Oracle
	}
	return brackets
}

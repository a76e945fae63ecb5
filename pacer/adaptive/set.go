package adaptive

import "slices"

// Set has an [Estimator] for each class of prompt sizes. Use [NewSet].
type Set struct {
	bounds     []int
	estimators []*Estimator // one more than there are bounds
}

// NewSet returns the estimators that the configuration, which must be valid, asks for.
func NewSet(c Config) *Set {
	s := &Set{bounds: slices.Clone(c.PromptClasses)}
	for range len(s.bounds) + 1 {
		s.estimators = append(s.estimators, New(c))
	}
	return s
}

// For returns the estimator for prompts of so many tokens.
func (s *Set) For(promptTokens int) *Estimator {
	class, _ := slices.BinarySearch(s.bounds, promptTokens) // a bound belongs to the class below it
	return s.estimators[class]
}

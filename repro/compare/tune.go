package compare

// Tuning is a search for a policy's parameters.
type Tuning struct{}

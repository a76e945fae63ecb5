package series

// Merge returns one window for two that follow each other.
func Merge(a, b Window) (Window, error) { return a, nil }

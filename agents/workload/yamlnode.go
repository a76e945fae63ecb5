package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// pair is a key of a mapping and its value.
type pair struct {
	key      string
	keyToken *token.Token
	value    ast.Node
}

func find(pairs []pair, key string) *pair {
	for i := range pairs {
		if pairs[i].key == key {
			return &pairs[i]
		}
	}
	return nil
}

// readPairs returns the pairs of a mapping, in order, and refuses keys that are
// unknown or there twice.
func readPairs(node ast.Node, want string, allowed ...string) ([]pair, error) {
	node = plain(node)
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return nil, refuse(node, start(node), describe(node), want)
	}
	var pairs []pair
	for it := mapping.MapRange(); it.Next(); {
		at := it.Key().GetToken()
		p := pair{key: at.Value, keyToken: at, value: it.Value()}
		if _, isMerge := it.Key().(*ast.MergeKeyNode); isMerge || !slices.Contains(allowed, p.key) {
			message := fmt.Sprintf("%s: found key %s, want %s", path(node), shown(p.key), strings.Join(allowed, ", "))
			return nil, &yaml.UnknownFieldError{Message: message, Token: at}
		}
		if find(pairs, p.key) != nil {
			return nil, &yaml.DuplicateKeyError{Message: fmt.Sprintf("%s: found key %s twice, want it once", path(node), p.key), Token: at}
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// plain strips an anchor: naming a value changes nothing about it.
func plain(node ast.Node) ast.Node {
	for {
		anchor, ok := node.(*ast.AnchorNode)
		if !ok {
			return node
		}
		node = anchor.Value
	}
}

// place turns an error of a constructor into one with the position of the
// refused argument: that of the pair named like it, else that of node.
func place(err error, node ast.Node, pairs ...pair) error {
	var arg *argError
	if !errors.As(err, &arg) {
		return err
	}
	if p := find(pairs, arg.arg); p != nil {
		return refuse(p.value, start(p.value), arg.found, arg.want)
	}
	return refuse(node, start(node), arg.found, arg.want)
}

// refuse makes the error for a value that is not allowed.
func refuse(node ast.Node, at *token.Token, found, want string) error {
	return &yaml.SyntaxError{Message: fmt.Sprintf("%s: found %s, want %s", path(node), found, want), Token: at}
}

// path returns where the node is in the file, as fleet.think.uniform[0].
func path(node ast.Node) string {
	p := strings.TrimPrefix(node.GetPath(), "$.")
	switch {
	case p == "" || p == "$":
		return "distribution"
	case !printable(p):
		return strconv.Quote(p)
	}
	return p
}

// start returns the token at which the node begins for a reader. (The token of a
// mapping in block style is the colon after its first key.)
func start(node ast.Node) *token.Token {
	if mapping, ok := node.(*ast.MappingNode); ok && !mapping.IsFlowStyle && len(mapping.Values) > 0 {
		return mapping.Values[0].Key.GetToken()
	}
	return node.GetToken()
}

// describe says what a node is: its text if it is a scalar, else its kind.
func describe(node ast.Node) string {
	switch n := plain(node).(type) {
	case *ast.StringNode:
		return strconv.Quote(shorten(n.Value))
	case *ast.SequenceNode:
		return fmt.Sprintf("a sequence of %d", len(n.Values))
	case ast.MapNode:
		return "a mapping"
	case *ast.AliasNode:
		return "an alias (only a whole distribution can be one)"
	case *ast.NullNode:
		return "nothing"
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return shown(n.GetToken().Value)
	default:
		return "YAML of type " + n.Type().YAMLName()
	}
}

package waitgraph

// style is the picture's style sheet. Red is never alone in saying something: what is stuck also says so
// in words.
const style = `
.wg { --page: #ffffff; --ink: #1d2430; --soft: #5b6675; --card: #f5f7fa; --line: #8a95a5; --held: #1f6feb; --warn: #c62828; --warncard: #fdecea; --permit: #9a6700; --permitcard: #fff8e1; --object: #e8f0fe; color-scheme: light dark; font-family: system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
.wg { --page: #12161c; --ink: #e6eaf0; --soft: #9aa6b5; --card: #1d242e; --line: #7b8797; --held: #6ea8fe; --warn: #ff7b72; --warncard: #3a1d1f; --permit: #e3b341; --permitcard: #322a14; --object: #1b2a41; }
}
.wg-page { fill: var(--page); }
.wg text { fill: var(--ink); font-size: 12px; }
.wg .wg-head { font-size: 16px; font-weight: 600; }
.wg .wg-sub, .wg .wg-detail { fill: var(--soft); }
.wg .wg-title { font-size: 13px; font-weight: 600; }
.wg .wg-words { font-size: 11px; fill: var(--soft); stroke: var(--page); stroke-width: 4px; paint-order: stroke; }
.wg-card rect { fill: var(--card); stroke: var(--line); stroke-width: 1.2; }
.wg-object rect { fill: var(--object); }
.wg-outside rect { fill: var(--page); stroke-dasharray: 2 3; }
.wg-permit rect { fill: var(--permitcard); stroke: var(--permit); stroke-dasharray: 6 3; }
.wg-stuck rect { stroke: var(--warn); }
.wg-cycle rect { fill: var(--warncard); stroke: var(--warn); stroke-width: 2.4; }
.wg-maybe rect { fill: var(--permitcard); stroke: var(--permit); }
.wg .wg-tag { fill: var(--warn); font-weight: 600; }
.wg-edge path { fill: none; stroke: var(--ink); stroke-width: 1.4; }
.wg-edge polygon { fill: var(--ink); }
.wg-held_by path { stroke: var(--held); }
.wg-held_by polygon { fill: var(--held); }
.wg-inferred path { stroke-dasharray: 6 4; }
.wg-edge.wg-cycle path { stroke: var(--warn); stroke-width: 2.4; }
.wg-edge.wg-cycle polygon { fill: var(--warn); }
.wg-edge.wg-maybe path { stroke: var(--permit); }
.wg-edge.wg-maybe polygon { fill: var(--permit); }
`

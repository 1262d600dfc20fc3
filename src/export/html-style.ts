/** Style sheet of exported pages: light or dark like the reader's system. Contains no data of the session. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --dim: #656d76; --line: #d0d7de; --back: #ffffff; --box: #f6f8fa;
	--user: #ddf4ff; --good: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) {
	:root { --text: #e6edf3; --dim: #8d96a0; --line: #30363d; --back: #0d1117; --box: #161b22; --user: #121d2f;
		--good: #3fb950; --bad: #f85149; }
}
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
section { position: relative; margin: 0.75rem 0; padding-left: 2.5rem; }
.index { position: absolute; left: 0; color: var(--dim); font-size: 0.8rem; text-decoration: none; }
.hidden { opacity: 0.55; }
.user { background: var(--user); border-radius: 6px; padding: 0.5rem 0.75rem; }
.typed { white-space: pre-wrap; overflow-wrap: anywhere; }
.assistant { overflow-wrap: anywhere; }
.note { color: var(--dim); font-size: 0.85rem; margin: 0.25rem 0; overflow-wrap: anywhere; }
.error { color: var(--bad); }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.4rem 0; padding: 0.25rem 0.75rem; }
summary { cursor: pointer; font-family: ui-monospace, monospace; font-size: 0.85rem; overflow-wrap: anywhere; }
.failed > summary { color: var(--bad); }
.thinking { color: var(--dim); }
pre { background: var(--box); border-radius: 6px; padding: 0.5rem 0.75rem; overflow-x: auto; font-size: 0.85rem; }
code { font-family: ui-monospace, monospace; font-size: 0.9em; }
dl { margin: 0.5rem 0; }
dt { color: var(--dim); font-size: 0.85rem; }
dd { margin: 0; }
img { max-width: 100%; border-radius: 6px; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: 0.2rem 0.5rem; }
.added { color: var(--good); }
.removed { color: var(--bad); }
@media print { section { break-inside: avoid; } }
`;

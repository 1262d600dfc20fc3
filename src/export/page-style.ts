/** Style sheet of exported pages: light or dark like the reader's system. Contains no data of the session. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1d2025; --dim: #5f6772; --line: #e0e2e6; --back: #fff; --box: #f6f7f9;
	--accent: #0b6bcb; --user: #eef5fd; --good: #1a7f37; --bad: #c8232c; --warm: #8a5a00; --add: #e6f6ea; --del: #fdeceb;
	--addword: #abe5bb; --delword: #f9c5c2; --mark: #ffe08a; --keyword: #a0268f; --string: #1b7340; --number: #9a5200;
	--comment: #6b7380; --title: #0b5cad; --type: #7a4b00; --head: 3.4rem; }
@media (prefers-color-scheme: dark) {
	:root { --text: #dfe3e8; --dim: #949dab; --line: #2c323b; --back: #121519; --box: #1a1e24; --accent: #6cb2ff;
		--user: #17253a; --good: #56c271; --bad: #ff7b74; --warm: #e0ae5b; --add: #14301f; --del: #3b1a1c;
		--addword: #23633a; --delword: #7c2b2d; --mark: #7a6100; --keyword: #e18be0; --string: #7fd39a; --number: #f0ab6b;
		--comment: #8a94a3; --title: #7ab8ff; --type: #e2c07b; }
}
* { box-sizing: border-box; }
html { scroll-padding: calc(var(--head) + 1rem) 0 8rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; }
a { color: var(--accent); text-underline-offset: 0.15em; }
button, input { font: inherit; color: inherit; }
button { border: 1px solid var(--line); border-radius: 6px; background: var(--back); padding: 0.15rem 0.6rem; cursor: pointer;
	font-size: 0.85rem; white-space: nowrap; }
button[aria-pressed="true"] { border-color: var(--accent); color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
header { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 0.3rem 0.75rem;
	min-height: var(--head); padding: 0.4rem 1.25rem; background: var(--back); border-bottom: 1px solid var(--line); }
h1 { flex: 0 1 auto; min-width: 0; max-width: 50%; margin: 0; font-size: 1.05rem; font-weight: 650; line-height: 1.3; overflow: hidden;
	text-overflow: ellipsis; white-space: nowrap; }
.facts { flex: 1 1 4rem; min-width: 0; color: var(--dim); font-size: 0.85rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tools { display: none; flex: 0 1 auto; min-width: 0; gap: 0.4rem; align-items: center; }
.js .tools { display: flex; }
#search { width: 13rem; min-width: 0; flex: 1 1 6rem; padding: 0.2rem 0.6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--box); }
#found { min-width: 3.2rem; color: var(--dim); font-size: 0.8rem; white-space: nowrap; }
#prompts { display: none; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
nav { position: sticky; top: var(--head); align-self: start; max-height: calc(100vh - var(--head) - 5rem); overflow-y: auto;
	padding: 1.25rem 0.5rem 2rem 1.25rem; font-size: 0.85rem; line-height: 1.4; }
nav h2 { margin: 0 0 0.4rem; color: var(--dim); font-size: 0.8rem; font-weight: 600; }
nav ol { margin: 0; padding: 0; list-style: none; }
nav a { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; padding: 0.25rem 0.6rem 0; margin-bottom: 0.25rem;
	border-left: 2px solid var(--line); color: var(--dim); text-decoration: none; overflow-wrap: anywhere; }
nav a:hover, nav a.here { border-color: var(--accent); color: var(--text); }
main { width: 100%; max-width: 56rem; padding: 1.25rem 1.5rem 8rem 4rem; }
.about { margin: 0 0 0.5rem; color: var(--dim); font-size: 0.85rem; overflow-wrap: anywhere; }
section { display: flow-root; position: relative; margin: 0.5rem 0; content-visibility: auto; contain-intrinsic-size: auto 3rem; overflow-wrap: anywhere; }
section:has(> .user) { padding-top: 1.25rem; }
/* The number hangs outside the section, which clips what is outside while it has content-visibility. */
section { margin-left: -3.25rem; padding-left: 3.25rem; }
.index { position: absolute; left: 0; width: 2.5rem; text-align: right; color: var(--dim); opacity: 0.7; font-size: 0.75rem;
	line-height: 1.6rem; text-decoration: none; font-variant-numeric: tabular-nums; }
section:has(> .user) > .index { margin-top: 0.65rem; }
section > details, section > .assistant > details:first-child { margin-top: 0; }
.js .outside { display: none; }
.index:hover, section:target > .index { color: var(--accent); opacity: 1; }
.user { padding: 0.65rem 1rem; border-left: 3px solid var(--accent); border-radius: 0 8px 8px 0; background: var(--user); }
.typed { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.assistant > p, .assistant li { unicode-bidi: plaintext; }
.assistant > :first-child { margin-top: 0; }
.assistant > :last-child { margin-bottom: 0; }
h3, h4, h5, h6 { margin: 1.4em 0 0.5em; line-height: 1.3; }
h3 { font-size: 1.2rem; } h4 { font-size: 1.08rem; } h5, h6 { font-size: 1rem; }
p, ul, ol, blockquote, table, pre { margin: 0.6em 0; }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--dim); }
.note { margin: 0.2rem 0; color: var(--dim); font-size: 0.85rem; }
.error { color: var(--bad); }
details { margin: 0.35rem 0; border-left: 2px solid var(--line); padding-left: 0.75rem; }
details[open] { border-color: var(--accent); }
summary { cursor: pointer; color: var(--dim); font: 0.83rem/1.7 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; display: inline-block; width: 1.1em; color: var(--dim); }
details[open] > summary::before { content: "▾"; }
summary:hover { color: var(--text); }
summary b { color: var(--text); font-weight: 600; }
.status { margin-left: 0.5em; opacity: 0.85; white-space: nowrap; }
.failed > summary .status { color: var(--bad); }
.thinking, .preview { color: var(--dim); font-style: italic; }
.thinking > .typed { font-size: 0.92rem; }
.compaction { border-color: var(--warm); }
.compaction > summary { color: var(--warm); }
pre { padding: 0.7rem 0.9rem; border-radius: 8px; background: var(--box); overflow-x: auto; font-size: 0.83rem; line-height: 1.5; tab-size: 4; overflow-wrap: normal; }
details pre { max-height: 36rem; overflow: auto; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { font-size: 0.9em; }
pre code { font-size: inherit; }
:not(pre) > code { padding: 0.1em 0.35em; border-radius: 4px; background: var(--box); }
dl { display: grid; grid-template-columns: fit-content(30%) minmax(0, 1fr); gap: 0.25rem 0.75rem; margin: 0.5rem 0; }
dt { color: var(--dim); font-size: 0.8rem; overflow-wrap: anywhere; }
dd { margin: 0; }
dd pre { margin: 0; padding: 0.15rem 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
img { display: block; max-width: 100%; max-height: 34rem; margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 8px; }
table { display: block; width: max-content; max-width: 100%; overflow-x: auto; overflow-wrap: normal; border-collapse: collapse; font-size: 0.92rem; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.65rem; }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.5rem 0; }
.k { color: var(--keyword); } .s { color: var(--string); } .n { color: var(--number); }
.c { color: var(--comment); font-style: italic; } .f { color: var(--title); } .t { color: var(--type); }
code .added { color: var(--good); } code .removed { color: var(--bad); }
.diff { padding: 0.4rem 0; }
.diff span { display: block; min-width: max-content; padding: 0 0.9rem; }
.diff i { color: var(--dim); font-style: normal; user-select: none; }
.diff b { border-radius: 3px; font-weight: inherit; }
.diff .added { background: var(--add); } .diff .removed { background: var(--del); }
.diff .added b { background: var(--addword); } .diff .removed b { background: var(--delword); }
.diff .context, .diff .gap { color: var(--dim); }
::highlight(search) { background: var(--mark); }
section.current { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
section[hidden] { display: none; }
footer { display: none; position: fixed; inset: auto 0 0; z-index: 2; padding: 0.35rem 1.25rem 0.5rem; background: var(--back);
	border-top: 1px solid var(--line); font-size: 0.83rem; line-height: 1.4; }
.js footer { display: block; }
footer > div { max-width: 79rem; margin: 0 auto; }
.row { display: flex; align-items: center; gap: 0.5rem; }
.track { flex: 1; min-width: 0; position: relative; padding-top: 0.4rem; }
.track svg { position: absolute; inset: 0 8px 0.9rem; width: calc(100% - 16px); height: 1.4rem; fill: var(--accent); opacity: 0.22; pointer-events: none; }
#request { display: block; width: 100%; margin: 0.7rem 0 0; accent-color: var(--accent); cursor: pointer; }
#ledger-text { min-height: 2.4em; color: var(--dim); font-variant-numeric: tabular-nums; }
#ledger-text b { color: var(--text); font-weight: 600; }
.ledger section.out > :not(.index), .ledger section:not(.out) details.out > *, .ledger section.later:not(.reply) > :not(.index) { opacity: 0.32; }
.ledger section.out::after, .ledger section.later::after, .ledger section.changed::after, .ledger summary[data-why]::after { content: attr(data-why); display: block; color: var(--dim);
	font-size: 0.78rem; line-height: 1.5; }
.ledger section.out::after, .ledger section.changed::after, .ledger summary[data-why]::after { color: var(--warm); }
.ledger section.in > .index { color: var(--accent); opacity: 1; font-weight: 600; }
.ledger section.reply { box-shadow: -0.25rem 0 0 var(--back), -0.4rem 0 0 var(--accent); }
@media (max-width: 64rem) {
	.page { display: block; }
	nav { position: static; max-height: 40vh; padding: 0.75rem 1rem; border-bottom: 1px solid var(--line); }
	.js nav { display: none; position: fixed; inset: var(--head) 0 auto; z-index: 1; max-height: 65vh; background: var(--back); box-shadow: 0 8px 20px #0004; }
	.js nav.open { display: block; }
	#prompts { display: inline-block; }
	main { margin: 0 auto; }
}
@media (max-width: 40rem) {
	:root { --head: 5.6rem; }
	header { flex-wrap: wrap; padding: 0.4rem 0.8rem; }
	h1 { max-width: 60%; }
	.tools { flex: 1 0 100%; }
	#found:empty { display: none; }
	main { padding: 0.75rem 0.8rem 9rem; }
	section { margin-left: 0; padding-left: 0; padding-top: 0.1rem; }
	.index { position: static; float: right; width: auto; margin-left: 0.5rem; line-height: 1.8; }
	section:has(> .user) > .index { margin: 0.1rem 0.5rem 0; }
	details { padding-left: 0.6rem; }
	pre { padding: 0.6rem 0.7rem; font-size: 0.78rem; }
	footer { padding: 0.3rem 0.8rem 0.4rem; font-size: 0.78rem; }
}
@media print {
	:root { color-scheme: light; --text: #000; --dim: #444; --line: #ccc; --back: #fff; --box: #f6f6f6; --user: #f0f4f9; }
	body { font-size: 10.5pt; }
	header { position: static; padding: 0 0 0.5rem; }
	h1, .facts { max-width: none; white-space: normal; overflow: visible; }
	.js .tools, .js footer, .js nav, nav { display: none; }
	.page { display: block; }
	main { max-width: none; padding: 0.5rem 0 0 3.25rem; }
	section { content-visibility: visible; padding-right: 1px; }
	.user, img, summary { break-inside: avoid; }
	pre, details pre { max-height: none; white-space: pre-wrap; overflow: visible; overflow-wrap: anywhere; }
	.diff span { min-width: 0; }
	section.current { outline: none; }
}
`;

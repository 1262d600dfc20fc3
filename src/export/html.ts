import { createHash } from "node:crypto";
import { isMessageEntry, type SessionEntry } from "../log/entry.js";
import { formatCost, plural } from "../util/format-amounts.js";
import { EntryRenderer, type ResultSource } from "./html-entries.js";
import { escapeHtml } from "./html-text.js";
import type { DrawTool } from "./html-tool.js";
import { SCRIPT } from "./page-script.js";
import { STYLE } from "./page-style.js";
import type { LedgerRequest, RequestStates } from "./request-states.js";
import { type ExportSource, readEntry, type Survey, surveyEntries } from "./survey.js";

/** Contents of an exported page. */
export interface ExportHtmlOptions {
	/** All entries of a session; index 0 is the header. Entries that are added meanwhile are ignored. */
	entries: ExportSource;
	/** The current context, to name the hooks that hide entries. Default: the context without hooks. */
	context?: { readonly hidden: readonly { entryIndex: number; by: { kind: string; hook?: string } }[] };
	title: string;
	/** How a hook draws a call of its tool; null for other tools. */
	drawTool?: DrawTool;
}

const POLICY = [
	"default-src 'none'",
	`style-src '${hashOf(STYLE)}'`,
	`script-src '${hashOf(SCRIPT)}'`,
	"img-src data:",
	"base-uri 'none'",
	"form-action 'none'",
].join("; ");

/** Bytes of a file that `isPage` needs. */
export const MAX_PAGE_HEAD = 600;

/** Whether a file that begins with this text is a page of this format, of any version of pi. */
export function isPage(head: string): boolean {
	return /^<!doctype html>\n<html lang="en">\n<head>\n[^\n]*\n<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/.test(
		head,
	);
}

/**
 * A session as one self-contained HTML page, in parts: no requests, images included. All content of the session is escaped; as a
 * second defense, a content security policy allows only the page's own style and script. Reads the entries twice and keeps none
 * of them. `loadHighlighter` and `loadWordDiff` come first. A part may be empty.
 */
export function* htmlText({ entries, context, title, drawTool = () => null }: ExportHtmlOptions): Generator<string> {
	const survey = yield* surveyEntries(entries);
	const ledger = survey.states.finish(context?.hidden ?? []);
	yield headHtml(title, survey);
	const renderer = new EntryRenderer(resultsOf(entries, survey.results), drawTool, survey.undone);
	for (let index = 0; index < ledger.entries; index++) {
		const entry = readEntry(entries, index);
		if (!entry) continue;
		yield survey.states.preambles.html(index, entry);
		yield* hookMessages(entry, index, renderer, survey.states);
		yield sectionHtml(index, renderer.entryHtml(entry, index), survey.states.reasonNow(index));
	}
	yield `</main>
</div>
<footer><div>
<div class="row">
<button type="button" id="back" aria-label="Previous request">◂</button>
<div class="track">${chartSvg(ledger.requests)}<input type="range" id="request" min="0" value="0" aria-label="Request"></div>
<button type="button" id="forth" aria-label="Next request">▸</button>
<button type="button" id="context" aria-pressed="false">Context</button>
</div>
<div id="ledger-text"></div>
</div></footer>
<script type="application/json" id="ledger">`;
	// The text of a script element ends at the first "</script", in whatever string it is.
	yield JSON.stringify(ledger).replaceAll("<", "\\u003c");
	yield `</script>\n<script>${SCRIPT}</script>\n</body>\n</html>\n`;
}

function headHtml(title: string, { origin, messages, models, cost, prompts }: Survey): string {
	const [started, ...place] = origin;
	const time = started?.replace("T", " ").replace(/:\d\d(?:\.\d+)?Z$/, " UTC");
	const about = [...(time ? [`Started ${time}`, ...place] : []), plural(messages, "message"), ...models];
	const facts = [models.at(-1), cost === null ? "" : formatCost(cost), plural(messages, "message")].filter(Boolean);
	const outline = prompts.map(({ index, text }) => `<li><a href="#entry-${index}">${escapeHtml(text)}</a></li>`);
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
<div class="facts">${escapeHtml(facts.join(" · "))}</div>
<div class="tools">
<button type="button" id="prompts" aria-expanded="false">Prompts</button>
<input type="search" id="search" placeholder="Search" aria-label="Search" autocomplete="off">
<span id="found" role="status"></span>
<button type="button" id="folds" aria-pressed="false">Unfold</button>
</div>
</header>
<div class="page">
<nav aria-label="Prompts">
<h2>Prompts</h2>
<ol>${outline.join("\n")}</ol>
</nav>
<main>
<p class="about">${escapeHtml(about.join(" · "))}</p>
`;
}

/** The messages that hooks made for the request of a reply, before the reply. */
function* hookMessages(
	entry: SessionEntry,
	index: number,
	renderer: EntryRenderer,
	states: RequestStates,
): Generator<string> {
	const shape = isMessageEntry(entry) ? (entry.context?.shape ?? []) : [];
	for (const [part, segment] of shape.entries()) {
		const number = states.hookMessage(index, part);
		if (number === undefined || !("message" in segment)) continue;
		const html = renderer.hookMessageHtml(segment.message, segment.entryIndex);
		yield `<section id="hook-${number}"><span class="index">hook</span>${html}</section>\n`;
	}
}

function sectionHtml(index: number, html: string, hiddenBy: string | undefined): string {
	if (html === "") return "";
	const note = hiddenBy ? `<p class="note outside">not in the context: ${escapeHtml(hiddenBy)}</p>` : "";
	return `<section id="entry-${index}"${hiddenBy ? ' class="hidden"' : ""}><a class="index" href="#entry-${index}">${index}</a>${html}${note}</section>\n`;
}

/** Finds results by the index of their entry, which is read again. */
function resultsOf(entries: ExportSource, indices: ReadonlyMap<string, number[]>): ResultSource {
	const taken = new Set<number>();
	return {
		take: (callId, index) => {
			const found = indices.get(callId)?.find((at) => at > index && !taken.has(at));
			if (found === undefined) return undefined;
			taken.add(found);
			const entry = readEntry(entries, found);
			return isMessageEntry(entry) && entry.message.role === "toolResult"
				? { message: entry.message, index: found }
				: undefined;
		},
		isTaken: (index) => taken.has(index),
	};
}

function hashOf(text: string): string {
	return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Maximum points of the chart: more would not be visible. */
const MAX_POINTS = 400;

/** Draws the tokens of all requests as an area; empty for fewer than two requests. */
function chartSvg(requests: readonly LedgerRequest[]): string {
	const sent = requests.slice(0, -1).map((request) => request.sent);
	const most = sent.reduce((max, tokens) => Math.max(max, tokens), 0);
	if (sent.length < 2 || most === 0) return "";
	const step = Math.ceil(sent.length / MAX_POINTS);
	const points: string[] = [];
	for (let at = 0; at < sent.length; at += step) {
		const peak = sent.slice(at, at + step).reduce((max, tokens) => Math.max(max, tokens), 0);
		points.push(`${at},${100 - Math.round((peak / most) * 100)}`);
	}
	// The slider has one more position than there are requests: the context after all entries.
	const last = points.at(-1)?.split(",")[1] ?? "100";
	return `<svg viewBox="0 0 ${sent.length} 100" preserveAspectRatio="none" aria-hidden="true"><path d="M0,100L${points.join("L")}L${sent.length},${last}L${sent.length},100Z"/></svg>`;
}

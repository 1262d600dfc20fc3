/**
 * Script of exported pages: outline, search, folds and the slider over the requests. It reads the session only as the text
 * of the page and as the numbers and sentences of the ledger, and writes only text, classes and attributes.
 */
export const SCRIPT = String.raw`
"use strict";
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const sections = [...document.querySelectorAll("section")];
root.classList.add("js");

/* Outline */
const nav = document.querySelector("nav");
byId("prompts").addEventListener("click", () => {
	const open = nav.classList.toggle("open");
	byId("prompts").setAttribute("aria-expanded", String(open));
});
nav.addEventListener("click", (event) => {
	if (event.target.closest("a")) {
		nav.classList.remove("open");
		byId("prompts").setAttribute("aria-expanded", "false");
	}
});
const links = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const visible = new Set();
let here = null;
const watcher = new IntersectionObserver((changes) => {
	for (const { target, isIntersecting } of changes) isIntersecting ? visible.add(target) : visible.delete(target);
	const first = [...visible].sort((a, b) => position.get(a) - position.get(b))[0];
	if (!first) return;
	let at = position.get(first);
	while (at > 0 && !links.has(sections[at].id)) at--;
	const link = links.get(sections[at].id);
	if (link === here || !link) return;
	here?.classList.remove("here");
	here = link;
	link.classList.add("here");
}, { rootMargin: "-80px 0px -50% 0px" });
const position = new Map(sections.map((section, at) => [section, at]));
if (sections.length < 20000) for (const section of sections) watcher.observe(section);

/* Folds */
byId("folds").addEventListener("click", () => {
	const open = byId("folds").getAttribute("aria-pressed") !== "true";
	for (const fold of document.querySelectorAll("details")) fold.open = open;
	byId("folds").setAttribute("aria-pressed", String(open));
});

/* Search */
const search = byId("search");
const found = byId("found");
const texts = [];
const MAX_MARKS = 3000;
let opened = [];
let matches = [];
let current = -1;
let timer = 0;

function runSearch() {
	clearTimeout(timer);
	timer = 0;
	const wanted = search.value.trim().toLowerCase();
	for (const fold of opened) fold.open = false;
	opened = [];
	matches = [];
	select(-1);
	const ranges = [];
	for (const [at, section] of sections.entries()) {
		const isMatch = wanted === "" || (texts[at] ??= section.textContent.toLowerCase()).includes(wanted);
		section.hidden = !isMatch;
		if (wanted === "" || !isMatch) continue;
		matches.push(section);
		if (ranges.length < MAX_MARKS) mark(section, wanted, ranges);
	}
	if (globalThis.CSS?.highlights && globalThis.Highlight) CSS.highlights.set("search", new Highlight(...ranges));
	found.textContent = wanted === "" ? "" : matches.length === 1 ? "1 entry" : matches.length + " entries";
}

/* A match may cross the nodes of several tokens. */
function mark(section, wanted, ranges) {
	const nodes = [];
	const starts = [];
	let whole = "";
	const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		nodes.push(node);
		starts.push(whole.length);
		whole += node.data;
	}
	const lower = whole.toLowerCase();
	/* A few characters change their length in lower case: positions would be wrong. */
	if (lower.length !== whole.length) return;
	let first = 0;
	for (let at = lower.indexOf(wanted); at >= 0 && ranges.length < MAX_MARKS; at = lower.indexOf(wanted, at + wanted.length)) {
		const end = at + wanted.length;
		while (starts[first + 1] <= at) first++;
		let last = first;
		while (starts[last + 1] < end) last++;
		const range = new Range();
		range.setStart(nodes[first], at - starts[first]);
		range.setEnd(nodes[last], end - starts[last]);
		ranges.push(range);
		unfold(nodes[last].parentElement);
	}
}

function unfold(element) {
	for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) {
		if (fold.open || element.closest("summary")?.parentElement === fold) continue;
		fold.open = true;
		opened.push(fold);
	}
}

function select(index) {
	matches[current]?.classList.remove("current");
	for (const section of document.querySelectorAll("section.current")) section.classList.remove("current");
	current = index;
	const section = matches[index];
	if (!section) return;
	section.classList.add("current");
	section.scrollIntoView({ block: "center" });
	found.textContent = index + 1 + " of " + matches.length;
}

function clearSearch() {
	search.value = "";
	runSearch();
}

search.addEventListener("input", () => {
	clearTimeout(timer);
	timer = setTimeout(runSearch, 120);
});
search.addEventListener("keydown", (event) => {
	if (event.key === "Enter" && timer !== 0) runSearch();
	if (event.key === "Enter" && matches.length > 0) {
		select((current + (event.shiftKey ? matches.length - 1 : 1) + (current < 0 && event.shiftKey ? 1 : 0)) % matches.length);
	}
	if (event.key === "Escape") clearSearch();
});
document.addEventListener("keydown", (event) => {
	if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input")) return;
	event.preventDefault();
	search.focus();
});
addEventListener("hashchange", () => {
	const target = byId(location.hash.slice(1));
	if (!target?.hidden) return;
	clearSearch();
	target.scrollIntoView();
});

/* Ledger */
const data = JSON.parse(byId("ledger").textContent);
const slider = byId("request");
const toggle = byId("context");
const text = byId("ledger-text");
const states = new Uint32Array(data.tokens.length);
/* Results are shown with their call, in a fold of its section. */
const folds = [...document.querySelectorAll("details[data-entry]")].map((fold) => ({
	fold,
	title: fold.querySelector("summary"),
	number: Number(fold.dataset.entry),
	own: Number(fold.closest("section").id.split("-")[1]),
}));
const preambles = data.preambles ?? [];
/* Numbers of system prompts and tools are negative: -1 for the first. */
const numbers = sections.map(({ id }) => {
	const number = Number(id.split("-")[1]);
	return id.startsWith("preamble-") ? -1 - number : (id.startsWith("hook-") ? data.entries : 0) + number;
});
const sectionOf = new Map(numbers.map((number, at) => [number, sections[at]]));
let applied = -1;

/* Moves to a request: changes are relative to the one before it. */
function moveTo(index) {
	if (index < applied) {
		states.fill(0);
		applied = -1;
	}
	while (applied < index) {
		const { changes = [] } = data.requests[++applied];
		for (let at = 0; at < changes.length; at += 3) states.fill(changes[at + 2], changes[at], changes[at + 1]);
	}
}

function isLater(number, end) {
	return number < data.entries ? number >= end : data.hookReplies[number - data.entries] > end;
}

function showRequest() {
	const index = Number(slider.value);
	const request = data.requests[index];
	moveTo(index);
	const sums = new Map();
	let count = 0;
	let tokens = 0;
	for (const [number, own] of data.tokens.entries()) {
		if (own === 0 || isLater(number, request.end)) continue;
		const reason = data.reasons[states[number]];
		if (states[number] === 0 || reason.changed) {
			count++;
			tokens += own;
		} else if (number < data.entries) {
			const sum = sums.get(reason.text) ?? { count: 0, tokens: 0 };
			sums.set(reason.text, { count: sum.count + 1, tokens: sum.tokens + own });
		}
	}
	const sizes = new Map();
	for (const { fold, title, number, own } of folds) {
		const isOther = states[number] !== states[own] && !isLater(number, request.end);
		const reason = data.reasons[states[number]];
		setClasses(fold, !isOther ? "" : states[number] === 0 ? "in" : reason.changed ? "changed" : "out");
		setReason(title, isOther ? reason.text + sizeText(data.tokens[number]) : "");
		if (!isOther) sizes.set(own, (sizes.get(own) ?? 0) + data.tokens[number]);
	}
	for (const [at, section] of sections.entries()) {
		const number = numbers[at];
		if (number < 0) {
			showPreamble(section, -1 - number, request);
			continue;
		}
		const later = isLater(number, request.end);
		const reason = data.reasons[states[number]];
		const isMessage = data.tokens[number] > 0;
		const kind = later ? "later" : !isMessage ? "" : states[number] === 0 ? "in" : reason.changed ? "changed in" : "out";
		const name = (kind + (number === request.reply ? " reply" : "")).trim();
		setClasses(section, name);
		const why =
			number === request.reply
				? "the reply to this request"
				: later
					? "not yet: written after this request"
					: kind === "out" || kind === "changed in"
						? reason.text + sizeText(data.tokens[number] + (sizes.get(number) ?? 0))
						: "";
		setReason(section, why);
	}
	const preamble = preambles[request.preamble];
	const last = data.requests.length - 1;
	const facts = [count + (count === 1 ? " message" : " messages")];
	if (request.sent > 0) {
		const share = request.cached ? ", " + Math.round((request.cached / request.sent) * 100) + "\u00a0% from the cache" : "";
		facts.push(short(request.sent) + " tokens sent" + share);
	} else facts.push("about " + short(tokens + (preamble?.tokens ?? 0)) + " tokens");
	if (request.cost) facts.push("$" + request.cost.toFixed(request.cost < 0.01 ? 4 : 2));
	for (const [why, sum] of sums) facts.push(sum.count + " " + why + " (" + short(sum.tokens) + " tokens)");
	const title = document.createElement("b");
	title.textContent = index === last ? "Now" : "Request " + (index + 1) + " of " + last;
	const parts = [title, ": " + facts.join(" · ")];
	if (preamble) {
		const link = document.createElement("a");
		link.href = "#preamble-" + request.preamble;
		link.textContent = "system prompt and " + preamble.tools + (preamble.tools === 1 ? " tool" : " tools");
		parts.push(" · ", link);
	}
	if (request.reply !== undefined) {
		const link = document.createElement("a");
		link.href = "#entry-" + request.reply;
		link.textContent = "entry " + request.reply;
		parts.push(" · answered in ", link);
	}
	text.replaceChildren(...parts);
	slider.setAttribute("aria-valuetext", title.textContent);
}

function showPreamble(section, number, request) {
	const isLater = preambles[number].reply > (request.reply ?? data.entries);
	const isSent = number === request.preamble;
	setClasses(section, isSent ? "in" : isLater ? "later" : "out");
	setReason(section, isSent ? "" : isLater ? "not yet: sent later" : "not part of this request");
}

/* Pages may have many thousands of sections: only what differs is written. */
function setClasses(element, names) {
	if ((element.dataset.kind ?? "") === names) return;
	element.classList.remove("in", "out", "later", "changed", "reply");
	for (const name of names.split(" ")) if (name) element.classList.add(name);
	element.dataset.kind = names;
}

function setReason(element, why) {
	if ((element.dataset.why ?? "") !== why) element.dataset.why = why;
}

function sizeText(tokens) {
	return ", about " + short(tokens) + " tokens";
}

function short(tokens) {
	if (tokens < 1000) return String(tokens);
	return tokens < 999500 ? (tokens / 1000).toFixed(tokens < 99950 ? 1 : 0).replace(/\.0$/, "") + "k" : (tokens / 1e6).toFixed(1) + "M";
}

function showLedger(on) {
	root.classList.toggle("ledger", on);
	toggle.setAttribute("aria-pressed", String(on));
}

let pending = false;
slider.addEventListener("input", () => {
	showLedger(true);
	if (pending) return;
	pending = true;
	requestAnimationFrame(() => {
		pending = false;
		showRequest();
		const reply = sectionOf.get(data.requests[Number(slider.value)].reply);
		if (reply && !reply.hidden) reply.scrollIntoView({ block: "center" });
	});
});
slider.max = String(data.requests.length - 1);
slider.value = slider.max;
toggle.addEventListener("click", () => showLedger(!root.classList.contains("ledger")));
for (const [id, step] of [["back", -1], ["forth", 1]]) {
	byId(id).addEventListener("click", () => {
		slider.value = String(Number(slider.value) + step);
		slider.dispatchEvent(new Event("input"));
	});
}
showRequest();
`;

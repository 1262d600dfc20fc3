import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom/worker";
import TurndownService from "turndown/lib/turndown.browser.cjs.js";

/** An HTML page, and the address that its links are relative to. */
export interface PageRequest {
	html: string;
	url: string;
}

/** What a page says, without its looks. */
export interface PageText {
	/** Empty if the page has none. One line. */
	title: string;
	/** Who wrote it; empty if the page does not say. One line. */
	byline: string;
	/** The main text, or all of a page that has none, as Markdown. Links are absolute. */
	markdown: string;
}

/** The libraries are recursive, or quadratic in the depth: what lies deeper keeps its text only. */
const MAX_DEPTH = 200;
/** The reader compares elements with each other. Longer pages are converted completely. */
const MAX_READER_ELEMENTS = 30_000;
/** A page whose main text is a smaller part of it, such as a list of links, is converted completely. */
const MIN_MAIN_PART = 0.3;
/** Characters of a title or an author. */
const MAX_LINE = 300;
const MAX_LINK = 2000;

/** Elements that are no text for readers. */
const DROPPED = new Set(
	"script style noscript template iframe frame object embed applet svg math canvas audio video map head title input select textarea button dialog datalist".split(
		" ",
	),
);
/** Styles of an element that show nothing of it. */
const INVISIBLE =
	/(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?%?|font-size\s*:\s*0(?:\.0*)?[a-z%]*)\s*(?:!important\s*)?(?:;|$)/i;

/**
 * Converts a page. It blocks: pages can be made so that this takes long.
 * @throws what the libraries throw for pages that they cannot handle
 */
export function convertPage({ html, url }: PageRequest): PageText {
	const document = parse(html);
	const root = document.documentElement;
	const base = baseOf(document, url);
	const title = titleOf(document);
	const author = document.querySelector('meta[name="author"]')?.getAttribute("content") ?? "";
	if (root === null) return { title, byline: "", markdown: "" };
	prune(root);
	resolveLinks(root, base);
	const body = document.body ?? root;
	const length = textLength(body);
	const article = read(document);
	const main = article?.content ?? null;
	const isMain = main !== null && textLength(main) >= length * MIN_MAIN_PART;
	return {
		title: oneLine(title || article?.title || ""),
		byline: oneLine(author || article?.byline || ""),
		markdown: toMarkdown(isMain ? main : body),
	};
}

/** Parses a page; one without `<html>` and `<body>` gets them, since the parser adds nothing. */
function parse(html: string): PageDocument {
	const { document } = parseHTML(html);
	if (document.documentElement?.localName === "html" && document.querySelector("body") !== null) return document;
	return parseHTML(`<!doctype html><html><head></head><body>${html}</body></html>`).document;
}

function titleOf(document: PageDocument): string {
	return oneLine(document.querySelector("title")?.textContent ?? "");
}

function baseOf(document: PageDocument, url: string): string {
	const href = document.querySelector("base[href]")?.getAttribute("href") ?? "";
	return URL.canParse(href, url) ? new URL(href, url).href : url;
}

/** Removes comments and what readers do not see, and flattens what lies too deep. Not recursive. */
function prune(root: PageElement): void {
	let depth = 0;
	let node: PageNode | null = root.firstChild;
	while (node !== null) {
		const next = isDropped(node) ? null : childOf(node, depth);
		if (next !== null) {
			depth++;
			node = next;
			continue;
		}
		let after: PageNode = node;
		while (after.nextSibling === null && after.parentNode !== null && after.parentNode !== root) {
			after = after.parentNode;
			depth--;
		}
		const following: PageNode | null = after.nextSibling;
		if (isDropped(node)) node.remove();
		node = following;
	}
}

/** The first child of a node to go on with; null if the node has none, or lies too deep to go on. */
function childOf(node: PageNode, depth: number): PageNode | null {
	if (node.nodeType !== 1 || node.firstChild === null) return null;
	if (depth < MAX_DEPTH) return node.firstChild;
	node.textContent = visibleText(node);
	return null;
}

/** The text in a node, without what readers do not see. Not recursive. */
function visibleText(root: PageNode): string {
	const parts: string[] = [];
	let node: PageNode | null = root.firstChild;
	while (node !== null) {
		if (node.nodeType === 3) parts.push(node.textContent ?? "");
		if (node.nodeType === 1 && !isDropped(node) && node.firstChild !== null) {
			node = node.firstChild;
			continue;
		}
		while (node !== null && node !== root && node.nextSibling === null) node = node.parentNode;
		node = node === null || node === root ? null : node.nextSibling;
	}
	return parts.join(" ");
}

function isDropped(node: PageNode): boolean {
	if (node.nodeType === 3) return false;
	if (!isElement(node)) return true;
	return (
		DROPPED.has(node.localName) ||
		node.hasAttribute("hidden") ||
		node.getAttribute("aria-hidden") === "true" ||
		INVISIBLE.test(node.getAttribute("style")?.slice(0, MAX_LINK) ?? "")
	);
}

function isElement(node: PageNode): node is PageElement {
	return node.nodeType === 1;
}

/** Makes addresses absolute; those of other schemes, and pictures that the page contains, are removed. */
function resolveLinks(root: PageElement, base: string): void {
	const names = { a: "href", img: "src" };
	for (const [tag, name] of Object.entries(names)) {
		for (const element of [...root.querySelectorAll(tag)]) {
			const value = element.getAttribute(name);
			const url = value !== null && value.length <= MAX_LINK && URL.canParse(value, base) ? new URL(value, base) : null;
			if (url !== null && /^(?:https?|mailto):$/.test(url.protocol)) element.setAttribute(name, url.href);
			else element.removeAttribute(name);
			for (const other of ["title", "srcset"]) element.removeAttribute(other);
		}
	}
}

function read(document: PageDocument): ReturnType<Readability["parse"]> {
	try {
		// The reader changes the document.
		const copy = document.cloneNode(true);
		return new Readability(copy, {
			maxElemsToParse: MAX_READER_ELEMENTS,
			keepClasses: true,
			serializer: (node) => node,
		}).parse();
	} catch {
		return null; // Too long, or not what the reader expects: the page is converted completely.
	}
}

function textLength(element: PageElement): number {
	return (element.textContent ?? "").replace(/\s+/g, " ").length;
}

function toMarkdown(element: PageElement): string {
	const service = new TurndownService({
		headingStyle: "atx",
		hr: "---",
		bulletListMarker: "-",
		codeBlockStyle: "fenced",
		emDelimiter: "*",
	});
	addTables(service);
	return service.turndown(element).trim();
}

/** Turndown has no rule for tables. A table with tables in it only arranges the parts of a page. */
function addTables(service: TurndownService): void {
	const known = new Map<PageElement, boolean>();
	const isInTable = (node: PageElement) => {
		const table = node.closest("table");
		if (table === null) return false;
		const isData = known.get(table) ?? table.querySelector("table") === null;
		known.set(table, isData);
		return isData;
	};
	service
		.addRule("cell", {
			filter: (node) => /^T[DH]$/.test(node.nodeName) && isInTable(node),
			replacement: (content) => `| ${content.trim().replace(/\s+/g, " ").replaceAll("|", "\\|")} `,
		})
		.addRule("row", {
			filter: (node) => node.nodeName === "TR" && isInTable(node),
			replacement: (content, row) => `\n${content}|${isFirst(row) ? rule(row) : ""}`,
		})
		.addRule("rows", {
			filter: (node) => /^T(?:HEAD|BODY|FOOT)$/.test(node.nodeName) && isInTable(node),
			replacement: (content) => `\n${content.trim()}\n`,
		});
}

/** True for the first row of a table. */
function isFirst(row: PageNode): boolean {
	const parts = row.nodeName === "TR" && row.parentNode?.nodeName !== "TABLE" ? [row, row.parentNode] : [row];
	return parts.every((part) => part !== null && !hasElementBefore(part));
}

function hasElementBefore(node: PageNode): boolean {
	let sibling = node.parentNode?.firstChild ?? null;
	while (sibling !== null && sibling !== node && !/^T(?:R|HEAD|BODY)$/.test(sibling.nodeName))
		sibling = sibling.nextSibling;
	return sibling !== null && sibling !== node;
}

/** The line between the head and the other rows, without which a table is none. */
function rule(row: PageElement): string {
	return `\n|${" --- |".repeat([...row.querySelectorAll("td, th")].length)}`;
}

function oneLine(text: string): string {
	const line = text
		.slice(0, 10 * MAX_LINE)
		.replace(/\s+/g, " ")
		.trim();
	return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()}…` : line;
}

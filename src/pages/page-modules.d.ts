/**
 * What is used of the libraries that read pages. Their own declarations need those of a browser, or do not exist.
 * `linkedom/worker` is its build without a dependency on a library of images, and Turndown's build for browsers
 * the one without a parser of its own.
 */
interface PageNode {
	readonly nodeType: number;
	readonly nodeName: string;
	readonly parentNode: PageNode | null;
	readonly firstChild: PageNode | null;
	readonly nextSibling: PageNode | null;
	textContent: string | null;
	remove(): void;
}

interface PageElement extends PageNode {
	readonly localName: string;
	readonly attributes: Iterable<{ readonly name: string }>;
	getAttribute(name: string): string | null;
	hasAttribute(name: string): boolean;
	setAttribute(name: string, value: string): void;
	removeAttribute(name: string): void;
	closest(selectors: string): PageElement | null;
	querySelector(selectors: string): PageElement | null;
	querySelectorAll(selectors: string): Iterable<PageElement>;
}

interface PageDocument {
	readonly documentElement: PageElement | null;
	readonly body: PageElement | null;
	querySelector(selectors: string): PageElement | null;
	cloneNode(deep: boolean): PageDocument;
}

declare module "linkedom/worker" {
	export function parseHTML(html: string): { document: PageDocument };
}

declare module "@mozilla/readability" {
	export class Readability {
		constructor(
			document: PageDocument,
			options?: { maxElemsToParse?: number; keepClasses?: boolean; serializer?: (node: PageElement) => PageElement },
		);
		parse(): { title?: string | null; byline?: string | null; content?: PageElement | null } | null;
	}
}

declare module "turndown/lib/turndown.browser.cjs.js" {
	interface Rule {
		filter(node: PageElement): boolean;
		replacement(content: string, node: PageElement): string;
	}
	class TurndownService {
		constructor(options?: Readonly<Record<string, string>>);
		addRule(name: string, rule: Rule): this;
		turndown(node: PageElement): string;
	}

	export = TurndownService;
}

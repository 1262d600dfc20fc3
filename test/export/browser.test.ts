import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { exportToFile } from "../../src/export/formats.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { findChromium } from "../helpers/chromium.js";
import { assistant, header, user } from "../helpers/entries.js";
import { startSession } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";
import { everywhere, HOSTILE } from "./hostile.js";
import { pageOf, sampleSession } from "./sample-session.js";

const executablePath = findChromium();
if (executablePath === null) {
	console.warn(
		"Skipped: exported pages in a browser. Install chromium to run these tests; html.test.ts checks the tags.",
	);
}

/** A page that was opened from a file, and everything that it did on its own. */
interface OpenedPage {
	page: Page;
	/** Requests, console messages, errors, dialogs. */
	incidents: string[];
}

describe.skipIf(executablePath === null)("an exported page in Chromium", () => {
	let browser: Browser;

	beforeAll(async () => {
		// In containers, Chromium has no sandbox of its own.
		browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
	}, 60_000);

	afterAll(() => browser?.close());

	async function open(html: string, width = 1280, colorScheme: "light" | "dark" = "light"): Promise<OpenedPage> {
		const file = join(tempDir(), "page.html");
		writeFileSync(file, html);
		const url = pathToFileURL(file).href;
		const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
		onTestFinished(() => page.close());
		const incidents: string[] = [];
		page.on("request", (request) => {
			const isOwn = request.url() === url || request.url().startsWith("data:image/");
			if (!isOwn) incidents.push(`request ${request.url()}`);
		});
		page.on("console", (message) => incidents.push(`console ${message.text()}`));
		page.on("pageerror", (error) => incidents.push(`error ${error.message}`));
		page.on("dialog", (dialog) => {
			incidents.push(`dialog ${dialog.message()}`);
			void dialog.dismiss();
		});
		await page.goto(url);
		return { page, incidents };
	}

	async function openSample(width?: number): Promise<OpenedPage> {
		const file = join(tempDir(), "sample.html");
		await exportToFile(file, "html", { entries: sampleSession(), name: "Fix the price test" });
		return open(readFileSync(file, "utf8"), width);
	}

	/** Moves the slider like a user: to the first request, then right. */
	async function slideTo(page: Page, request: number): Promise<void> {
		await page.focus("#request");
		await page.keyboard.press("Home");
		for (let step = 1; step < request; step++) await page.keyboard.press("ArrowRight");
		await expect.poll(() => page.textContent("#ledger-text")).toContain(`Request ${request} of`);
	}

	/** What the ledger says at each section and shown result: `in`, or why not. */
	function marks(page: Page): Promise<string[]> {
		return page.$$eval("section, details[data-entry]", (elements) =>
			elements.flatMap((element) => {
				const { id, dataset } = element as HTMLElement;
				const why = dataset.why ?? element.querySelector<HTMLElement>("summary[data-why]")?.dataset.why;
				const name = id || `result ${dataset.entry}`;
				return dataset.kind ? [`${name}: ${[dataset.kind, why].filter(Boolean).join(" | ")}`] : [];
			}),
		);
	}

	test("hostile text in every field runs nothing and requests nothing", async () => {
		const { page, incidents } = await open(
			pageOf({ entries: HOSTILE.flatMap(everywhere), title: HOSTILE.join(" ").slice(0, 2000) }),
			360,
		);
		await page.click("#folds");
		expect(await page.$$eval("details:not([open])", (folds) => folds.length)).toBe(0);
		const targets = await page.$$eval("main a", (links) =>
			links.map((link) => new URL((link as HTMLAnchorElement).href).protocol),
		);
		expect([...new Set(targets)].sort()).toEqual(["file:", "https:"]);
		const active =
			"script, style, iframe, object, embed, form, link, base, svg, [style], [onclick], [onerror], [onload]";
		expect(await page.$$eval(active, (found) => found.map(({ tagName }) => tagName))).toEqual([
			"STYLE",
			"svg",
			"SCRIPT",
			"SCRIPT",
		]);
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
		expect(incidents).toEqual([]);
	});

	test("the policy stops a script and an event handler even if they reached the page", async () => {
		const html = pageOf({ entries: [header(), user("hi")], title: "t" }).replace(
			"<main>",
			'<main><script>alert(1)</script><img src="x:" onerror="alert(2)"><p style="color: red" id="styled">x</p>',
		);
		const { page, incidents } = await open(html);
		expect(incidents.filter((line) => line.startsWith("dialog"))).toEqual([]);
		expect(
			incidents.filter((line) => /violates the following Content Security Policy/.test(line)).length,
		).toBeGreaterThan(2);
		expect(await page.$eval("#styled", (element) => getComputedStyle(element).color)).not.toBe("rgb(255, 0, 0)");
	});

	test("the slider shows what each request contained, and why the rest was missing", async () => {
		const { page, incidents } = await openSample();
		expect(await page.textContent("#ledger-text")).toMatch(/^Now: /);
		await slideTo(page, 2);
		expect(await page.textContent("#ledger-text")).toBe(
			"Request 2 of 6: 3 messages · 2.6k tokens sent, 80\u00a0% from the cache · $0.0065 · answered in entry 4",
		);
		expect((await marks(page)).slice(0, 4)).toEqual([
			"entry-1: in",
			"entry-2: in",
			"entry-4: later reply | the reply to this request",
			"entry-6: later | not yet: written after this request",
		]);
		await slideTo(page, 6);
		const why = "summarized by the compaction in entry 10";
		expect(await marks(page)).toEqual([
			`entry-1: out | ${why}, about 1.2k tokens`,
			`entry-2: out | ${why}, about 65 tokens`,
			`entry-4: out | ${why}, about 57 tokens`,
			`entry-6: out | ${why}, about 21 tokens`,
			"entry-7: in",
			"result 8: changed | shortened by the compaction in entry 10, about 9 tokens",
			"entry-9: in",
			"entry-10: in",
			"entry-11: in",
			"entry-13: out | hidden by a hook, about 90 tokens",
			"entry-14: out | hidden by a hook, about 8 tokens",
			"entry-15: in",
			"result 16: out | hidden by a hook, about 8 tokens",
			"entry-17: in",
			"hook-0: in",
			"hook-1: in",
			"entry-18: later reply | the reply to this request",
			"entry-19: later | not yet: written after this request",
		]);
		const opacity = (id: string) => page.$eval(`#${id} > :not(.index)`, (element) => getComputedStyle(element).opacity);
		expect(await opacity("entry-13")).toBe("0.32");
		expect(await opacity("entry-9")).toBe("1");
		await page.click("#back");
		await expect.poll(() => page.textContent("#ledger-text")).toContain("Request 5 of 6");
		expect(await opacity("entry-13")).toBe("1");
		await page.click("#context");
		expect(await opacity("entry-1")).toBe("1");
		expect(incidents).toEqual([]);
	});

	test("the slider shows which system prompt and tools each request had", async () => {
		const hook = `export default (pi) => pi.on("context", ({ tools, entries }) =>
			entries.length > 3 ? { tools: tools.map(({ name }) => name).filter((name) => name !== "bash") } : undefined);`;
		const { session, provider } = await startSession({ hooks: { "fewer.ts": hook } });
		provider.reply("one", "two");
		for (const prompt of ["a", "b"]) await session.prompt(prompt);
		const { page, incidents } = await open(pageOf({ entries: session.entries, title: "Two prompts" }));
		expect(await page.textContent("#ledger-text")).toContain("system prompt and 7 tools");
		await slideTo(page, 1);
		expect(await page.textContent("#ledger-text")).toContain("system prompt and 8 tools");
		const ofPreambles = async () => (await marks(page)).filter((mark) => mark.startsWith("preamble"));
		expect(await ofPreambles()).toEqual(["preamble-0: in", "preamble-1: later | not yet: sent later"]);
		await slideTo(page, 2);
		expect(await ofPreambles()).toEqual(["preamble-0: out | not part of this request", "preamble-1: in"]);
		await page.click("#ledger-text a[href='#preamble-1']");
		await page.click("#preamble-1 > details:nth-of-type(2) > summary");
		const tool = page.locator("#preamble-1 > details:nth-of-type(2) details summary b").first();
		expect([await tool.isVisible(), await tool.textContent()]).toEqual([true, "read"]);
		await page.fill("#search", "tool bash removed");
		await expect.poll(() => page.textContent("#found")).toBe("1 entry");
		expect(incidents).toEqual([]);
	});

	test("the search filters entries, opens folds with matches, and marks and visits them", async () => {
		const { page, incidents } = await openSample();
		const shown = () => page.$$eval("section:not([hidden])", (sections) => sections.map(({ id }) => id));
		const all = await shown();
		await page.keyboard.press("/");
		await page.keyboard.type("CENTS / 100");
		await expect.poll(shown).toEqual(["entry-4", "entry-7", "entry-13", "entry-15"]);
		expect(await page.textContent("#found")).toBe("4 entries");
		const openFolds = () =>
			page.$$eval("details[open] > summary b", (titles) => titles.map(({ textContent }) => textContent));
		await expect.poll(openFolds).toEqual(["read", "edit", "write"]);
		await page.keyboard.press("Enter");
		await page.keyboard.press("Enter");
		await expect.poll(() => page.textContent("#found")).toBe("2 of 4");
		expect(await page.$$eval("section.current", (sections) => sections.map(({ id }) => id))).toEqual(["entry-7"]);
		await page.keyboard.press("Shift+Enter");
		await expect.poll(() => page.textContent("#found")).toBe("1 of 4");
		await page.keyboard.press("Escape");
		await expect.poll(shown).toEqual(all);
		expect(await page.$$("details[open]")).toEqual([]);
		await page.fill("#search", "nowhere in this page");
		await expect.poll(() => page.textContent("#found")).toBe("0 entries");
		expect(incidents).toEqual([]);
	});

	test("folds open one by one and all at once", async () => {
		const { page, incidents } = await openSample();
		const openFolds = () => page.$$eval("details[open]", (folds) => folds.length);
		expect(await openFolds()).toBe(0);
		await page.click("#entry-7 summary");
		expect(await openFolds()).toBe(1);
		expect(await page.isVisible("#entry-7 .diff .added b")).toBe(true);
		await page.click("#folds");
		expect(await openFolds()).toBe(await page.$$eval("details", (folds) => folds.length));
		await page.click("#folds");
		expect(await openFolds()).toBe(0);
		expect(incidents).toEqual([]);
	});

	test("at 360 pixels nothing overflows, and the outline opens over the page", async () => {
		const wide: SessionEntry[] = [
			assistant(
				`\`\`\`ts\n${"x".repeat(500)}\n\`\`\`\n\n| ${"a | ".repeat(30)}\n|${"---|".repeat(30)}\n\n${"word".repeat(200)}`,
				[{ id: "w", name: "w".repeat(200), arguments: { ["n".repeat(200)]: "v".repeat(500), path: "p".repeat(300) } }],
			),
			user("w".repeat(1000)),
		];
		for (const entries of [sampleSession(), [...sampleSession(), ...wide]]) {
			const { page, incidents } = await open(pageOf({ entries, title: "A long title ".repeat(20) }), 360, "dark");
			await page.click("#folds");
			await slideTo(page, 3);
			expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
			expect(await page.isVisible("nav")).toBe(false);
			await page.click("#prompts");
			expect(await page.isVisible("nav")).toBe(true);
			await page.click('nav a[href="#entry-9"]');
			expect(await page.isVisible("nav")).toBe(false);
			expect(await page.$eval("#entry-9", (element) => element.getBoundingClientRect().top)).toBeLessThan(400);
			expect(incidents).toEqual([]);
		}
	});

	test.each([700, 800, 1024, 1280])(
		"at %i pixels the header has one row and an entry that was linked to is below it",
		async (width) => {
			const { page } = await open(pageOf({ entries: sampleSession(), title: "A long title ".repeat(20) }), width);
			await page.evaluate(() => {
				location.hash = "#entry-13";
			});
			const bottom = await page.$eval("header", (element) => element.getBoundingClientRect().bottom);
			expect(bottom).toBeLessThan(60);
			const top = () => page.$eval("#entry-13", (element) => element.getBoundingClientRect().top);
			await expect.poll(top).toBeLessThan(800);
			expect(await top()).toBeGreaterThanOrEqual(bottom);
			expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
		},
	);

	test("a printed page has no controls and cuts nothing", async () => {
		const { page } = await openSample(794);
		await page.click("#folds");
		await page.emulateMedia({ media: "print" });
		for (const control of ["footer", "nav", ".tools"]) expect(await page.isVisible(control)).toBe(false);
		expect(await page.isVisible("h1")).toBe(true);
		expect(
			await page.$$eval("pre", (blocks) => blocks.filter((block) => block.scrollWidth > block.clientWidth + 1).length),
		).toBe(0);
		expect((await page.pdf()).length).toBeGreaterThan(10_000);
	});

	test("colors follow the system", async () => {
		const html = pageOf({ entries: sampleSession(), title: "t" });
		const background = async (scheme: "light" | "dark") => {
			const { page } = await open(html, 800, scheme);
			return page.$eval("body", (body) => getComputedStyle(body).backgroundColor);
		};
		expect(await background("light")).toBe("rgb(255, 255, 255)");
		expect(await background("dark")).toBe("rgb(18, 21, 25)");
	});
});

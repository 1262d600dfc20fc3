import { expect, test } from "vitest";
import type { AgentSession } from "../../src/sdk/agent-session.js";
import { startSession } from "../helpers/session.js";
import { pageOf } from "./sample-session.js";

/** Adds a section and a tool, and from the second prompt on turns tools off. */
const HOOK = `export default (pi) => {
	pi.tool({ name: "shout", description: "Shouts <loud>", parameters: { type: "object", properties: {} }, run: async () => ({ content: [] }) });
	pi.on("context", ({ systemPrompt, tools, entries }) => {
		const prompts = entries.filter(({ message }) => message?.role === "user").length;
		return {
			systemPrompt: [...systemPrompt, { id: "rules:tone", text: "Be <b>kind</b>." }],
			...(prompts > 1 && { tools: tools.map(({ name }) => name).filter((name) => name !== "bash") }),
		};
	});
};`;

function page(session: AgentSession): string {
	return pageOf({ entries: session.entries, title: "A session", context: session.context });
}

/** Text without tags, on one line. */
function textOf(html: string): string {
	return html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

function sections(html: string): string[] {
	return [...html.matchAll(/<section id="preamble-\d+">.*?<\/section>/gs)].map(([section]) => section);
}

function ledger(html: string) {
	const [, json = ""] = /<script type="application\/json" id="ledger">([^<]*)<\/script>/.exec(html) ?? [];
	return JSON.parse(json);
}

test("the page has the system prompt and the tools of the requests, each before the first reply to it", async () => {
	const { session, provider } = await startSession({ hooks: { "rules.ts": HOOK } });
	provider.reply("one", "two", "three");
	for (const prompt of ["a", "b", "c"]) await session.prompt(prompt);
	const html = page(session);
	const [first = "", second = "", ...others] = sections(html);
	expect(others).toEqual([]);
	expect(textOf(first)).toMatch(/^ system +System prompt \d sections · about \d+ tokens base about/);
	expect(first).toContain("<b>rules:tone</b>");
	expect(first).toContain("<pre>Be &lt;b&gt;kind&lt;/b&gt;.</pre>");
	expect(textOf(first)).toMatch(/Tools 9 tools · about \d+ tokens read about/);
	expect(first).toMatch(/<b>shout<\/b> <span class="status">hook rules\.ts · about \d+ tokens<\/span>/);
	expect(first).toContain("Shouts &lt;loud&gt;");
	expect(first).not.toContain("Changed since");
	expect(second).toContain("Changed since the request before: section tools changed, tool bash removed</p>");
	const at = (text: string) => html.indexOf(text);
	expect(at(first)).toBeLessThan(at('id="entry-2"'));
	expect(at(second)).toBeLessThan(at('id="entry-4"'));
	expect(at(second)).toBeGreaterThan(at('id="entry-3"'));
	const { preambles, requests } = ledger(html);
	expect(preambles).toEqual([
		{ reply: 2, tokens: expect.any(Number), tools: 9 },
		{ reply: 4, tokens: expect.any(Number), tools: 8 },
	]);
	expect(requests.map(({ preamble }: { preamble?: number }) => preamble)).toEqual([0, 1, 1, 1]);
});

test("requests without a record of system prompt and tools have no such section", async () => {
	const { session, provider } = await startSession();
	provider.reply("one");
	await session.prompt("a");
	const entries = session.entries.map((entry) => {
		if (entry.type !== "message" || !("context" in entry)) return entry;
		const { digest, messages, tokens } = Object(entry.context);
		return { ...entry, context: { digest, messages, tokens } };
	});
	const html = pageOf({ entries, title: "An old session" });
	expect(sections(html)).toEqual([]);
	expect(ledger(html).preambles).toBeUndefined();
});

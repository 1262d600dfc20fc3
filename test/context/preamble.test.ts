import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import { findCacheLoss } from "../../src/context/cache-loss.js";
import { ContextMemo } from "../../src/context/context-memo.js";
import type { BuiltContext } from "../../src/context/context-message.js";
import { diffPreambles } from "../../src/context/diff-requests.js";
import { cacheState, createLedger, fullText, groupTools, hookShares, sharedPrefix } from "../../src/context/ledger.js";
import { sectionTokens, toolTokens } from "../../src/context/preamble.js";
import { StabilityWatch } from "../../src/context/stability.js";
import { assistant, session, user } from "../helpers/entries.js";
import { core, stage } from "./preamble-support.js";

const ENTRIES = session(user("u1"), assistant("a1"), user("u2"));
const CORE = core();
const ALL = ["base", "tools", "context-files", "skills", "environment"];

const build = (stages: readonly ContextStage[], preamble = CORE, memo?: ContextMemo) =>
	buildContext(ENTRIES, stages, { preamble, ...(memo && { memo }) });
const idsOf = ({ preamble }: { preamble: { promptSections: readonly { id: string }[] } }) =>
	preamble.promptSections.map(({ id }) => id);
const textOf = (context: Awaited<ReturnType<typeof build>>, id: string) =>
	context.preamble.promptSections.find((section) => section.id === id)?.text;

const readOnly = stage("ro", () => ({ tools: ["read"] }));
const addRule = stage("rules", (sections) => ({ systemPrompt: [...sections, { id: "rules:one", text: "Be kind." }] }));
const dropFiles = stage("drop", (sections) => ({ systemPrompt: sections.filter(({ id }) => id !== "context-files") }));
const louder = stage("loud", (sections) => ({
	systemPrompt: sections.map((section) => (section.id === "base" ? { ...section, text: "LOUD" } : section)),
}));

describe("system prompt and tools of a request", () => {
	test("are those of pi without hooks", async () => {
		const { preamble } = await build([]);
		expect(preamble.systemPrompt).toBe(CORE.sections.map(({ text }) => text).join("\n\n"));
		expect(preamble.tools).toBe(CORE.tools);
		expect(preamble.isChanged).toBe(false);
	});

	test("pass through the hooks in order, each with the result of the previous ones", async () => {
		const seen: unknown[] = [];
		const watch = stage("watch", (sections, tools) => {
			seen.push(
				sections.map(({ id }) => id),
				tools.map(({ name }) => name),
			);
			expect([sections, sections[0], tools].every(Object.isFrozen)).toBe(true);
			return undefined;
		});
		const context = await build([addRule, readOnly, dropFiles, watch]);
		expect(seen).toEqual([["base", "tools", "skills", "environment", "rules:one"], ["read"]]);
		expect(context.problems).toEqual([]);
	});

	test("know which hook added, changed or removed each section and tool", async () => {
		const { preamble } = await build([addRule, readOnly, dropFiles, louder]);
		expect(
			preamble.sections.map(({ section, origin }) => [section.id, "hook" in origin ? origin.hook : origin.kind]),
		).toEqual([
			["base", "/hooks/loud.ts"],
			["tools", "core"],
			["skills", "core"],
			["environment", "core"],
			["rules:one", "/hooks/rules.ts"],
		]);
		expect(preamble.hiddenSections.map(({ section, hook }) => [section.id, hook])).toEqual([
			["context-files", "/hooks/drop.ts"],
		]);
		expect(preamble.hiddenTools.map(({ tool, hook }) => [tool.name, hook])).toEqual([
			["bash", "/hooks/ro.ts"],
			["edit", "/hooks/ro.ts"],
		]);
	});

	test("have the sections of the offered tools, unless a hook wrote their text", async () => {
		expect(textOf(await build([readOnly]), "tools")).toBe(core(["read"]).sections[1]?.text);
		const none = await build([stage("none", () => ({ tools: [] }))]);
		expect(textOf(none, "tools")).toBe("You have no tools: answer from the conversation.");
		expect(idsOf(none)).toEqual(ALL.filter((id) => id !== "skills"));
		expect(none.preamble.hiddenSections).toMatchObject([{ section: { id: "skills" }, hook: "/hooks/none.ts" }]);
		const own = stage("own", (sections) => ({
			systemPrompt: sections.map(({ id, text }) => ({ id, text: id === "tools" ? "Guess." : text })),
		}));
		expect(textOf(await build([own, readOnly]), "tools")).toBe("Guess.");
		expect(textOf(await build([readOnly, own]), "tools")).toBe("Guess.");
	});

	test("can be restored and reordered by a later hook", async () => {
		const restore = stage("restore", () => ({ systemPrompt: CORE.sections, tools: ["edit", "read", "bash"] }));
		const { preamble } = await build([readOnly, dropFiles, restore]);
		expect(preamble.hiddenSections).toEqual([]);
		expect(preamble.hiddenTools).toEqual([]);
		expect(preamble.tools.map(({ name }) => name)).toEqual(["edit", "read", "bash"]);
		expect(preamble.sections.every(({ origin }) => origin.kind === "core")).toBe(true);
	});

	test("are unchanged, as the same object, when equal entries give equal answers", async () => {
		const memo = new ContextMemo();
		const first = await build([addRule, readOnly, louder], CORE, memo);
		expect((await build([addRule, readOnly, louder], CORE, memo)).preamble).toBe(first.preamble);
		const same = stage("same", (sections) => ({ systemPrompt: sections.map((section) => ({ ...section })) }));
		expect((await build([same])).preamble).toBe((await build([])).preamble);
	});
});

const section = (id: unknown, text: unknown = "x") => ({ id, text });

test.each<[string, unknown, string, number]>([
	["no list of sections", { systemPrompt: "Be kind." }, "system_prompt_is_list", 0],
	["a section without a text", { systemPrompt: [section("base"), { id: "skills" }] }, "section_has_id_and_text", 1],
	["null as a section", { systemPrompt: [null] }, "section_has_id_and_text", 0],
	["two sections of one id", { systemPrompt: [section("base"), section("base", "y")] }, "one_section_per_id", 1],
	["a section of another hook", { systemPrompt: [section("base"), section("other:one")] }, "section_id_is_own", 1],
	["an unknown section", { systemPrompt: [section("odd")] }, "section_id_is_own", 0],
	["an id without a name", { systemPrompt: [section("h:")] }, "section_id_is_own", 0],
	["no sections", { systemPrompt: [] }, "system_prompt_not_empty", 0],
	["only blank sections", { systemPrompt: [section("base", " \n")] }, "system_prompt_not_empty", 0],
	[
		"only skills without a tool to read them",
		{ systemPrompt: [CORE.sections[3]], tools: [] },
		"system_prompt_not_empty",
		0,
	],
	["no list of tools", { tools: "read" }, "tools_is_list", 0],
	["an unknown tool", { tools: ["read", "fly"] }, "known_tool", 1],
	["a tool that is no name", { tools: [{ name: "read" }] }, "known_tool", 0],
	["a tool twice", { tools: ["read", "bash", "read"] }, "one_offer_per_tool", 2],
	["nothing", {}, "answer_has_messages", 0],
	["a value", 7, "answer_has_messages", 0],
	["messages that are no list", { messages: {}, tools: ["read"] }, "answer_has_messages", 0],
	["messages without a user", { messages: [], systemPrompt: [section("h:x")], tools: [] }, "user_message_remains", 0],
])("an answer with %s is dropped completely", async (_, answer, rule, position) => {
	const context = await build([stage("h", () => answer)]);
	expect(context.problems).toEqual([{ hook: "/hooks/h.ts", rule, position }]);
	expect(context.preamble).toBe((await build([])).preamble);
	expect(context.messages).toHaveLength(3);
});

test("an answer whose accessors throw is dropped", async () => {
	const throws = {
		get id() {
			throw new Error("no");
		},
	};
	const context = await build([stage("h", () => ({ systemPrompt: [throws] })), readOnly]);
	expect(context.problems).toEqual([{ hook: "/hooks/h.ts", rule: "answer_can_be_read", position: 0 }]);
	expect(context.preamble.tools).toHaveLength(1);
});

test("a section of another hook may be kept and changed", async () => {
	const change = stage("other", (sections) => ({
		systemPrompt: sections.map(({ id, text }) => ({ id, text: id === "rules:one" ? "Be brief." : text })),
	}));
	const context = await build([addRule, change]);
	expect(context.problems).toEqual([]);
	expect(textOf(context, "rules:one")).toBe("Be brief.");
});

describe("the ledger", () => {
	test("has tokens and origin of sections and tools, and what hooks removed; shares count both", async () => {
		const context = await build([addRule, readOnly, louder, dropFiles]);
		const ledger = createLedger({ context, entries: ENTRIES, previous: "none" });
		const [base, , files] = CORE.sections;
		expect(ledger.systemPrompt[0]).toEqual({
			id: "base",
			tokens: 1,
			cached: false,
			origin: { kind: "hook", hook: "/hooks/loud.ts" },
			replacedTokens: base && sectionTokens(base),
			text: "LOUD",
		});
		expect(ledger.removed.map((part) => ["id" in part ? part.id : part.name, part.by.hook])).toEqual([
			["context-files", "/hooks/drop.ts"],
			["bash", "/hooks/ro.ts"],
			["edit", "/hooks/ro.ts"],
		]);
		expect(ledger.tokens).toBe(context.preamble.tokens + ledger.messages.reduce((sum, { tokens }) => sum + tokens, 0));
		const tools = CORE.tools.slice(1).reduce((sum, tool) => sum + toolTokens(tool), 0);
		expect(Object.fromEntries(hookShares(ledger))).toEqual({
			"/hooks/rules.ts": { added: 2, removed: 0 },
			"/hooks/ro.ts": { added: 0, removed: tools },
			"/hooks/loud.ts": { added: 1, removed: base && sectionTokens(base) },
			"/hooks/drop.ts": { added: 0, removed: files && sectionTokens(files) },
		});
		expect(groupTools(ledger.tools).map(({ name }) => name)).toEqual(["read"]);
	});

	test("counts as cached what follows the order of providers: tools, system prompt, messages", async () => {
		const [plain, less, ruled] = [await build([]), await build([readOnly]), await build([addRule])];
		expect(sharedPrefix(plain, plain)).toEqual({ tools: 3, systemPrompt: 5, messages: 3 });
		expect(sharedPrefix(plain, less)).toEqual({ tools: 1, systemPrompt: 0, messages: 0 });
		expect(sharedPrefix(plain, ruled)).toEqual({ tools: 3, systemPrompt: 5, messages: 0 });
		const ledger = createLedger({ context: ruled, entries: ENTRIES, previous: plain });
		expect(ledger.prefix).toEqual({ tools: 3, systemPrompt: 5, messages: 0, tokens: plain.preamble.tokens });
	});
});

/** The texts of a request, each with its id or name. */
function partsOf({ preamble, messages }: BuiltContext): string[] {
	return [
		...preamble.tools.map(({ name, description }) => `${name}: ${description}`),
		...preamble.promptSections.map(({ id, text }) => `${id}: ${text}`),
		...messages.map(({ message }) => `message: ${fullText(message)}`),
	];
}

describe("the cache that a change of the request loses", () => {
	const first: ContextStage = {
		hook: "/hooks/first.ts",
		transform: async (messages) => ({ messages: [{ role: "user", content: "new" }, ...messages.slice(1)] }),
	};
	const reorder = stage("order", () => ({ tools: ["edit", "bash", "read"] }));
	const by = (name: string) => ({ kind: "hook", hook: `/hooks/${name}.ts` });
	const other = { kind: "other" };

	test.each<[string, ContextStage[], ContextStage[], object | null]>([
		["none: nothing changed", [addRule, readOnly], [addRule, readOnly], null],
		["tools that a hook drops", [], [readOnly, addRule], { by: by("ro"), changed: { kind: "tools" }, position: 1 }],
		["tools that a hook offers again", [readOnly], [], { by: by("ro"), changed: { kind: "tools" }, position: 1 }],
		["tools in another order", [], [reorder], { by: by("order"), changed: { kind: "tools" }, position: 0 }],
		[
			"a section that a hook adds",
			[],
			[addRule],
			{ by: by("rules"), changed: { kind: "section", id: "rules:one" }, position: 5 },
		],
		[
			"a section that a hook changes",
			[],
			[louder],
			{ by: by("loud"), changed: { kind: "section", id: "base" }, position: 0 },
		],
		[
			"a section that it no longer changes",
			[louder],
			[],
			{ by: by("loud"), changed: { kind: "section", id: "base" }, position: 0 },
		],
		[
			"a section that a hook removes",
			[],
			[dropFiles],
			{ by: by("drop"), changed: { kind: "section", id: "context-files" }, position: 2 },
		],
		[
			"a section that comes back",
			[dropFiles],
			[],
			{ by: by("drop"), changed: { kind: "section", id: "context-files" }, position: 2 },
		],
		["a message", [addRule], [addRule, first], { by: by("first"), changed: { kind: "message" }, position: 0 }],
	])("%s", async (_, before, after, loss) => {
		const [previous, current] = [await build(before), await build(after)];
		const found = findCacheLoss(previous, current);
		const ledger = createLedger({ context: current, entries: ENTRIES, previous });
		expect(found).toEqual(loss && { ...loss, resent: ledger.resent });
		expect(ledger.resent === 0).toBe(found === null);
		// What follows the shared start is either new or was in the previous request.
		const had = new Set(partsOf(previous));
		const parts = [...ledger.tools, ...ledger.systemPrompt, ...ledger.messages];
		expect(parts.map((part) => cacheState(part) !== "new")).toEqual(partsOf(current).map((part) => had.has(part)));
	});

	test("by a changed AGENTS.md belongs to no hook", async () => {
		const [previous, current] = [await build([addRule]), await build([addRule], core(undefined, "Use spaces."))];
		expect(findCacheLoss(previous, current)).toMatchObject({
			by: other,
			changed: { kind: "section", id: "context-files" },
		});
	});
});

test("requests are compared section by section and tool by tool", async () => {
	const [previous, current] = [await build([]), await build([readOnly, louder, addRule])];
	const kinds = ({ kind }: { kind: string }) => kind;
	const { tools, sections } = diffPreambles(previous.preamble, current.preamble);
	expect(tools.map(kinds)).toEqual(["kept", "removed", "removed"]);
	expect(sections.map(kinds)).toEqual(["replaced", "replaced", "kept", "kept", "kept", "added"]);
});

test("a hook whose sections or tools differ for equal input is unstable", async () => {
	let count = 0;
	const unstable: string[] = [];
	const watch = new StabilityWatch((hook) => unstable.push(hook));
	const clock = stage("clock", (sections) => ({
		systemPrompt: [...sections, { id: "clock:now", text: `${count++}` }],
	}));
	const flip = stage("flip", () => ({ tools: count++ % 2 ? ["read"] : ["bash"] }));
	for (const one of [flip, clock]) {
		for (let run = 0; run < 2; run++) await build(watch.watch([addRule, readOnly, one], ENTRIES.length));
	}
	expect(unstable).toEqual(["/hooks/flip.ts", "/hooks/clock.ts"]);
});

import { describe, expect, test } from "vitest";
import {
	type CorePreamble,
	NO_PREAMBLE,
	Preamble,
	type PreambleParts,
	plainPreamble,
} from "../../src/context/preamble.js";
import { applyPreambleAnswer, generateSections, reusePreamble } from "../../src/context/preamble-answer.js";
import type { PromptSection } from "../../src/log/entry.js";
import { core as projectCore, tool } from "./preamble-support.js";

const CORE = projectCore(["read", "bash", "edit"]);
const PLAIN = plainPreamble(CORE);
const by = (name: string) => ({ hook: `/hooks/${name}.ts`, name });

/** Applies answers of the hooks `a`, `b`, `c`…; each must be valid. */
function apply(...answers: { systemPrompt?: unknown; tools?: unknown }[]): Preamble {
	return answers.reduce((before: Preamble, { systemPrompt, tools }, at) => {
		const after = applyPreambleAnswer({ systemPrompt, tools }, before, by("abcdef"[at] ?? ""));
		if ("rule" in after) throw new Error(after.rule);
		return after;
	}, PLAIN);
}
const without = (...ids: string[]) => CORE.sections.filter(({ id }) => !ids.includes(id));
const withText = (id: string, text: string) =>
	CORE.sections.map((section) => (section.id === id ? { id, text } : section));
const ids = ({ sections }: Preamble) => sections.map(({ section }) => section.id);

describe("an answer that changes nothing", () => {
	test("returns the same object", () => {
		const names = CORE.tools.map(({ name }) => name);
		const copies = CORE.sections.map((section) => ({ ...section }));
		expect(apply({})).toBe(PLAIN);
		expect(apply({ systemPrompt: copies, tools: names })).toBe(PLAIN);
		expect(apply({ systemPrompt: [...copies, { id: "a:x", text: " \n" }] })).toBe(PLAIN);
	});

	test("may be empty if there was nothing", () => {
		const none = plainPreamble(NO_PREAMBLE);
		expect(applyPreambleAnswer({ systemPrompt: [], tools: [] }, none, by("a"))).toBe(none);
		const added = applyPreambleAnswer({ systemPrompt: [{ id: "a:x", text: "x" }], tools: undefined }, none, by("a"));
		expect("rule" in added ? added.rule : added.systemPrompt).toBe("x");
	});
});

describe("the sections of an answer", () => {
	test("have the hook as origin if their text is new, with the section of pi that they replace", () => {
		const { sections } = apply({ systemPrompt: [...withText("base", "LOUD"), { id: "a:x", text: "Be kind." }] });
		const origin = { kind: "hook", hook: "/hooks/a.ts" };
		expect(sections[0]).toEqual({ section: { id: "base", text: "LOUD" }, origin, replaced: CORE.sections[0] });
		expect(sections.at(-1)).toStrictEqual({ section: { id: "a:x", text: "Be kind." }, origin });
		expect(sections.slice(1, -1)).toEqual(PLAIN.sections.slice(1));
		expect([sections, ...sections, ...sections.map(({ section }) => section)].every(Object.isFrozen)).toBe(true);
	});

	test("belong to pi again if a later hook restores the text", () => {
		const { sections } = apply({ systemPrompt: withText("base", "LOUD") }, { systemPrompt: CORE.sections });
		expect(sections.map(({ origin }) => origin.kind)).toEqual(PLAIN.sections.map(() => "core"));
		expect(sections[0]).toBe(PLAIN.sections[0]);
	});

	test("keep the hook that wrote them if a later hook keeps them", () => {
		const loud = withText("base", "LOUD");
		const { sections } = apply({ systemPrompt: loud }, { systemPrompt: [...loud].reverse() });
		expect(sections.at(-1)).toMatchObject({ section: { id: "base" }, origin: { hook: "/hooks/a.ts" } });
	});

	test("may be in another order", () => {
		const reversed = [...CORE.sections].reverse();
		const answer = apply({ systemPrompt: reversed });
		expect(answer.promptSections).toEqual(reversed);
		expect(answer.hiddenSections).toEqual([]);
	});

	test("that are missing or blank are hidden, each by the hook that removed it", () => {
		const later = without("skills", "base").map(({ id, text }) => ({ id, text: id === "tools" ? "" : text }));
		const hidden = apply({ systemPrompt: without("skills") }, { systemPrompt: later });
		expect(ids(hidden)).toEqual(["context-files", "environment"]);
		expect(hidden.hiddenSections).toEqual([
			{ section: CORE.sections[3], hook: "/hooks/a.ts" },
			{ section: CORE.sections[0], hook: "/hooks/b.ts" },
			{ section: CORE.sections[1], hook: "/hooks/b.ts" },
		]);
		expect(hidden.hiddenSections.every(Object.isFrozen)).toBe(true);
	});

	test("that come back are no longer hidden", () => {
		const hidden = apply({ systemPrompt: without("skills", "base") }, { systemPrompt: without("base") });
		expect(hidden.hiddenSections.map(({ section }) => section.id)).toEqual(["base"]);
	});

	test.each([
		["base", true],
		["tools", true],
		["context-files", true],
		["skills", true],
		["environment", true],
		["a:x", true],
		["a:", false],
		["b:x", false],
		["ab:x", false],
		["x", false],
	])("may have the id %s although nobody had it: %s", (id, allowed) => {
		const before = plainPreamble({ ...NO_PREAMBLE, sections: [{ id: "other", text: "x" }] });
		const answer = applyPreambleAnswer({ systemPrompt: [{ id, text: "x" }], tools: undefined }, before, by("a"));
		expect("rule" in answer ? answer : "valid").toEqual(allowed ? "valid" : { rule: "section_id_is_own", position: 0 });
	});

	test("are read once each", () => {
		const reads: string[] = [];
		const section: PromptSection = {
			get id() {
				reads.push("id");
				return "base";
			},
			get text() {
				reads.push("text");
				return `${reads.length}`;
			},
		};
		expect(apply({ systemPrompt: [section] }).systemPrompt).toBe("2");
		expect(reads).toEqual(["id", "text"]);
	});
});

describe("the tools of an answer", () => {
	test("are those of pi, in the order of the hook", () => {
		const answer = apply({ tools: ["edit", "read"] });
		expect(answer.tools).toEqual([CORE.tools[2], CORE.tools[0]]);
		expect([answer.toolsBy, Object.isFrozen(answer.tools)]).toEqual(["/hooks/a.ts", true]);
	});

	test("that are missing are hidden by the first hook that dropped them", () => {
		const answer = apply({ tools: ["edit", "read"] }, { tools: ["read"] });
		expect(answer.hiddenTools).toEqual([
			{ tool: CORE.tools[1], hook: "/hooks/a.ts" },
			{ tool: CORE.tools[2], hook: "/hooks/b.ts" },
		]);
		expect([answer.toolsBy, answer.hiddenTools.every(Object.isFrozen)]).toEqual(["/hooks/b.ts", true]);
		expect(
			apply({ tools: ["read"] }, { tools: ["bash", "read"] }).hiddenTools.map(({ tool: { name } }) => name),
		).toEqual(["edit"]);
	});

	test("are changed together with the sections", () => {
		const answer = apply({ systemPrompt: without("skills"), tools: ["read"] });
		expect([ids(answer).includes("skills"), answer.tools.length]).toEqual([false, 1]);
	});
});

describe("the sections that depend on the tools", () => {
	const generatingCore = (texts: Record<string, string>): CorePreamble => ({ ...CORE, generate: () => texts });
	const generate = (
		texts: Record<string, string>,
		answer: { systemPrompt?: unknown; tools?: unknown } = { tools: ["read"] },
	) => {
		const before = plainPreamble(generatingCore(texts));
		const { systemPrompt, tools } = answer;
		const after = applyPreambleAnswer({ systemPrompt, tools }, before, by("a"));
		if ("rule" in after) throw new Error(after.rule);
		return { after, generated: generateSections(after) };
	};

	test("are generated for the offered tools, and those without text are hidden by the hook that chose the tools", () => {
		const { generated } = generate({ tools: "Only read.", skills: "", odd: "x" });
		expect(ids(generated)).toEqual(["base", "tools", "context-files", "environment"]);
		expect(generated.sections[1]).toEqual({ section: { id: "tools", text: "Only read." }, origin: { kind: "core" } });
		expect(generated.hiddenSections).toEqual([{ section: CORE.sections[3], hook: "/hooks/a.ts" }]);
		expect(generated.generated).toEqual({ tools: "Only read.", skills: "" });
		expect(generated.tools).toEqual([CORE.tools[0]]);
		expect([generated.sections, ...generated.sections, ...generated.hiddenSections].every(Object.isFrozen)).toBe(true);
	});

	test("are unchanged, as the same object, without new texts or other tools", () => {
		const texts = { tools: "Only read." };
		const names = CORE.tools.map(({ name }) => name);
		const cases = [
			generate(texts, {}),
			generate(texts, { systemPrompt: without("skills"), tools: names }),
			generate({ tools: CORE.sections[1]?.text ?? "" }),
			generate({}),
			generate(texts, { systemPrompt: withText("tools", "Guess."), tools: ["read"] }),
			generate(texts, { systemPrompt: without("tools"), tools: ["read"] }),
		];
		expect(cases.map(({ after, generated }) => after === generated)).toEqual(cases.map(() => true));
	});

	test("are those of pi again if a later hook offers all tools", () => {
		const restored = apply({ tools: ["read"] }, { tools: ["read", "bash", "edit"] });
		expect(generateSections(restored)).toBe(restored);
	});

	test("are not generated for a frozen request", () => {
		const frozen = plainPreamble({ ...generatingCore({ tools: "Only read." }), isFrozen: true });
		const answer = applyPreambleAnswer({ systemPrompt: undefined, tools: ["read"] }, frozen, by("a"));
		expect("rule" in answer || generateSections(answer) === answer).toBe(true);
	});
});

describe("the preamble of the previous request", () => {
	const origin = { kind: "hook", hook: "/a.ts" } as const;
	const section = { id: "base", text: "t" };
	const traced = { section, origin };
	const HIDDEN_TOOL = { tool: tool("x"), hook: "/a.ts" };
	const parts: PreambleParts = {
		sections: [traced, { section: { id: "tools", text: "T" }, origin: { kind: "core" } }],
		tools: CORE.tools,
		hiddenSections: [{ section, hook: "/a.ts" }],
		hiddenTools: [HIDDEN_TOOL, { tool: tool("y"), hook: "/a.ts" }],
		toolsBy: "/a.ts",
		generated: null,
	};
	const previous = new Preamble(CORE, parts);

	test("is used again if the next one is equal", () => {
		expect(reusePreamble(previous, new Preamble(CORE, copyOf(parts)))).toBe(previous);
		expect(reusePreamble(previous, previous)).toBe(previous);
		expect(reusePreamble(null, previous)).toBe(previous);
	});

	/** Copies lists and records, but not the tools, which are compared by identity. */
	function copyOf(given: PreambleParts): PreambleParts {
		return {
			...structuredClone({ ...given, tools: [], hiddenTools: [] }),
			tools: [...given.tools],
			hiddenTools: [...given.hiddenTools],
		};
	}

	const other = parts.sections[1] ?? traced;
	test.each<[string, Partial<PreambleParts>]>([
		["other tools", { tools: CORE.tools.slice(1) }],
		["tools of another hook", { toolsBy: "/b.ts" }],
		["fewer sections", { sections: [traced] }],
		["more sections", { sections: [...parts.sections, other] }],
		["another text", { sections: [{ section: { ...section, text: "u" }, origin }, other] }],
		["another id", { sections: [{ section: { ...section, id: "skills" }, origin }, other] }],
		["another hook", { sections: [{ section, origin: { kind: "hook", hook: "/b.ts" } }, other] }],
		["a section of pi instead of a hook", { sections: [{ section, origin: { kind: "core" } }, other] }],
		["a section of a hook instead of pi", { sections: [traced, { ...other, origin }] }],
		["a frozen section", { sections: [traced, { ...other, origin: { kind: "freeze" } }] }],
		["no hidden section", { hiddenSections: [] }],
		["another hidden section", { hiddenSections: [{ section: { ...section, id: "x" }, hook: "/a.ts" }] }],
		["another hidden text", { hiddenSections: [{ section: { ...section, text: "u" }, hook: "/a.ts" }] }],
		["a section that another hook hides", { hiddenSections: [{ section, hook: "/b.ts" }] }],
		["more hidden sections", { hiddenSections: [...parts.hiddenSections, { section: other.section, hook: "/a.ts" }] }],
		["a tool that another hook hides", { hiddenTools: [HIDDEN_TOOL, { tool: tool("y"), hook: "/b.ts" }] }],
	])("is not used for one with %s", (_, changed) => {
		const next = new Preamble(CORE, { ...parts, ...changed });
		expect(reusePreamble(previous, next)).toBe(next);
	});

	test("is not used for other input of pi", () => {
		const next = new Preamble({ ...CORE }, parts);
		expect(reusePreamble(previous, next)).toBe(next);
	});
});

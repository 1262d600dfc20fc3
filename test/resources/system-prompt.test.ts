import { describe, expect, test } from "vitest";
import { buildSystemPrompt, type SystemPromptOptions } from "../../src/resources/system-prompt.js";

const TOOLS = [
	{ name: "read", description: "", promptLine: "read files", guidelines: ["read: in parts."] },
	{ name: "bash", description: "", promptLine: "run commands", guidelines: ["bash: briefly."] },
	{ name: "deploy", description: "Deploys the shop. Takes a while." },
];
const PARTS: SystemPromptOptions = {
	cwd: "/work/shop",
	date: "2026-11-20",
	tools: TOOLS,
	contextFiles: [],
	skills: [],
};

test("equal parts give equal bytes", () => {
	expect(buildSystemPrompt(PARTS)).toBe(buildSystemPrompt({ ...PARTS, tools: [...TOOLS] }));
});

test("is short, and ends in date and directory", () => {
	const prompt = buildSystemPrompt(PARTS);
	expect(prompt.length).toBeLessThan(4000);
	expect(prompt).toMatch(/Date: 2026-11-20\nWorking directory: \/work\/shop$/);
});

test("lists tools by their line, else by the first sentence of their description, with their guidelines", () => {
	const prompt = buildSystemPrompt(PARTS);
	expect(prompt).toContain("# Tools\n- read: read files\n- bash: run commands\n- deploy: Deploys the shop.\n");
	expect(prompt).toContain("\n- read: in parts.\n- bash: briefly.\n");
});

describe("guidelines fit the tools that are on", () => {
	const lines = (names: string[]) =>
		buildSystemPrompt({ ...PARTS, tools: names.map((name) => ({ name, description: "x" })) });

	test.each<[string, string[], string[], string[]]>([
		[
			"all",
			["read", "edit", "bash"],
			["smallest change", "Check your work", "Do not commit", "one message"],
			["only look"],
		],
		["no shell", ["read", "edit"], ["smallest change"], ["Check your work", "only look"]],
		["only reading", ["read", "grep"], ["only look"], ["smallest change", "Check your work", "Do not commit"]],
		["none", [], ["You have no tools"], ["# Tools", "Look before", "only look", "one message"]],
	])("%s", (_name, tools, present, absent) => {
		const prompt = lines(tools);
		expect(present.filter((text) => !prompt.includes(text))).toEqual([]);
		expect(absent.filter((text) => prompt.includes(text))).toEqual([]);
	});
});

test("holds context files in order and skills with their paths", () => {
	const prompt = buildSystemPrompt({
		...PARTS,
		contextFiles: [
			{ path: "/a/AGENTS.md", content: "Use tabs.\n" },
			{ path: "/b/AGENTS.md", content: "Use pnpm." },
		],
		skills: [{ name: "pdf", description: "Read PDFs", path: "/s/pdf/SKILL.md" }],
	});
	expect(prompt).toContain(
		'<file path="/a/AGENTS.md">\nUse tabs.\n</file>\n\n<file path="/b/AGENTS.md">\nUse pnpm.\n</file>',
	);
	expect(prompt).toContain("\n- pdf: Read PDFs (/s/pdf/SKILL.md)\n");
});

test("does not offer skills that no tool can read", () => {
	const skills = [{ name: "pdf", description: "Read PDFs", path: "/s" }];
	expect(buildSystemPrompt({ ...PARTS, tools: [], skills })).not.toContain("pdf");
});

test("takes another text in place of its own, and one behind it", () => {
	expect(buildSystemPrompt({ ...PARTS, custom: "Be a poet.\n", append: "In French." })).toBe(
		"Be a poet.\n\nIn French.\n\nDate: 2026-11-20\nWorking directory: /work/shop",
	);
	expect(buildSystemPrompt({ ...PARTS, append: "In French." })).toContain("\n\nIn French.\n\nDate:");
});

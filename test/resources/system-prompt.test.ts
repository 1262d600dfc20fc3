import { describe, expect, test } from "vitest";
import { buildPromptSections, type SystemPromptOptions } from "../../src/resources/system-prompt.js";

const buildSystemPrompt = (options: SystemPromptOptions) =>
	buildPromptSections(options)
		.map(({ text }) => text)
		.join("\n\n");

const TOOLS = [
	{ name: "read", description: "", promptLine: "read files", guidelines: ["read: in parts."] },
	{ name: "bash", description: "", promptLine: "run commands", guidelines: ["bash: briefly."] },
	{ name: "deploy", description: "Deploys the shop. Takes a while." },
];
const PARTS: SystemPromptOptions = {
	host: { name: "", cwd: "/work/shop", platform: "linux" },
	date: "2026-11-20",
	tools: TOOLS,
	contextFiles: [],
	skills: [],
};

test("equal options produce equal bytes", () => {
	expect(buildSystemPrompt(PARTS)).toBe(buildSystemPrompt({ ...PARTS, tools: [...TOOLS] }));
});

test("the prompt is short and ends with date and directory", () => {
	const prompt = buildSystemPrompt(PARTS);
	expect(prompt.length).toBeLessThan(4000);
	expect(prompt).toMatch(/Date: 2026-11-20\nCurrent working directory: \/work\/shop$/);
});

test("tools are listed with their prompt line, or the first sentence of their description, and their guidelines", () => {
	const prompt = buildSystemPrompt(PARTS);
	expect(prompt).toContain("# Tools\n- read: read files\n- bash: run commands\n- deploy: Deploys the shop.\n");
	expect(prompt).toContain("\n- read: in parts.\n- bash: briefly.\n");
});

describe("guidelines match the active tools", () => {
	const lines = (names: string[]) =>
		buildSystemPrompt({ ...PARTS, tools: names.map((name) => ({ name, description: "x" })) });

	test.each<[string, string[], string[], string[]]>([
		[
			"all",
			["read", "edit", "bash"],
			["smallest change", "Verify your work", "Do not commit", "one message"],
			["only read"],
		],
		["no shell", ["read", "edit"], ["smallest change"], ["Verify your work", "only read"]],
		["only reading", ["read", "grep"], ["only read"], ["smallest change", "Verify your work", "Do not commit"]],
		["none", [], ["You have no tools"], ["# Tools", "Read before", "only read", "one message"]],
	])("%s", (_name, tools, present, absent) => {
		const prompt = lines(tools);
		expect(present.filter((text) => !prompt.includes(text))).toEqual([]);
		expect(absent.filter((text) => prompt.includes(text))).toEqual([]);
	});
});

test("the prompt contains context files in order and skills with their paths", () => {
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

test("skills are omitted if no tool can read them", () => {
	const skills = [{ name: "pdf", description: "Read PDFs", path: "/s" }];
	expect(buildSystemPrompt({ ...PARTS, tools: [], skills })).not.toContain("pdf");
});

test("a custom prompt replaces pi's own text, and an appended one follows it", () => {
	expect(buildSystemPrompt({ ...PARTS, custom: "Be a poet.\n", append: "In French." })).toBe(
		"Be a poet.\n\nIn French.\n\nDate: 2026-11-20\nCurrent working directory: /work/shop",
	);
	expect(buildSystemPrompt({ ...PARTS, append: "In French." })).toContain("\n\nIn French.\n\n# Tools\n");
});

test("a skill that only the user calls is not offered", () => {
	const hidden = { name: "secret", description: "Hidden", path: "/s/secret/SKILL.md", isUserOnly: true as const };
	expect(buildSystemPrompt({ ...PARTS, skills: [hidden] })).not.toContain("# Skills");
	const pdf = { name: "pdf", description: "Read PDFs", path: "/s/pdf/SKILL.md" };
	const both = buildSystemPrompt({ ...PARTS, skills: [hidden, pdf] });
	expect([both.includes("Read PDFs"), both.includes("secret")]).toEqual([true, false]);
});

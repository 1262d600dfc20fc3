import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runPrint } from "../../src/modes/print.js";
import { checkSkill } from "../../src/resources/check-skill.js";
import { expandTemplate, loadPromptTemplates } from "../../src/resources/prompt-templates.js";
import { loadSkills, readSkill } from "../../src/resources/skills.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const page = readFileSync(new URL("../../docs/usage.md", import.meta.url), "utf8");

/** The code blocks of a section. */
function blocksOf(section: string): string[] {
	const [, text = ""] = page.split(`\n## ${section}\n`);
	return [...(text.split("\n## ")[0] ?? "").matchAll(/```\w*\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
}

test("the example of nested context files prints what the page shows", async () => {
	const [tree = "", output = ""] = blocksOf("Context files");
	const files = Object.fromEntries(
		tree
			.trim()
			.split("\n")
			.map((line) => line.split(/ {2,}/)),
	);
	const { session, provider } = await startSession({ files });
	provider.reply([toolCall("read", { path: "api/v1/orders.ts" })], "Done.");
	const io = recordIO();
	await runPrint(session, { rest: ["look"] }, io);
	expect(io.stderr()).toBe(output);
	expect(provider.requests[0]?.messages[0]?.text).toContain("Run npm test before you finish.");
});

test("the examples of a prompt and a skill have no problems, and the prompt sends what the page shows", async () => {
	const [review = "", sent = "", notes = ""] = blocksOf("Prompts and skills");
	const [, command = ""] = /`\/review (.*?)` sends/.exec(page) ?? [];
	const dir = tempDir();
	writeFiles(dir, { "prompts/review.md": review, "skills/release-notes/SKILL.md": notes });
	const { templates, warnings } = await loadPromptTemplates([{ path: `${dir}/prompts`, scope: "user" }]);
	const skills = await loadSkills([{ path: `${dir}/skills`, scope: "user" }]);
	expect([...warnings, ...skills.warnings]).toEqual([]);
	expect(expandTemplate(templates[0] ?? { body: "" }, command)).toBe(sent.trim());
	const [skill] = skills.skills;
	expect(skill && (await readSkill(skill, ""))).toContain("list-commits.sh");
});

test("the examples with problems print what the page shows", async () => {
	const [tea = "", tell = "", output = ""] = blocksOf("Prompts and skills").slice(3);
	const dir = tempDir();
	writeFiles(dir, { "prompts/tell.md": tell, "skills/tea/SKILL.md": tea });
	const skills = await loadSkills([{ path: `${dir}/skills`, scope: "user" }]);
	const prompts = await loadPromptTemplates([{ path: `${dir}/prompts`, scope: "user" }]);
	const lines = [...skills.warnings, ...prompts.warnings].map((line) => line.replace(`${dir}/`, ""));
	expect(lines).toEqual(output.trim().split("\n"));
});

test("the table lists the fields of skills that pi knows", () => {
	const [, section = ""] = page.split("| field | required | rules |");
	const names = [...(section.split("\n\n")[0] ?? "").matchAll(/^\| `([\w-]+)` \| (?:yes )?\| .*\|$/gm)].map(
		([, name = ""]) => name,
	);
	const fields = Object.fromEntries(names.map((name) => [name, name === "disable-model-invocation" ? true : "x"]));
	const lines = new Map(names.map((name, at) => [name, at + 2]));
	const problems = checkSkill({ fields: { ...fields, metadata: { x: "x" } }, lines, body: "" }, "x");
	expect(names).toEqual([
		...["name", "description", "license", "compatibility", "metadata", "allowed-tools"],
		"disable-model-invocation",
	]);
	expect(problems).toEqual([]);
});

import { expect, test } from "vitest";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";
import { startApp } from "./app.js";

const TEA = "---\nname: tea\ndescription: Tea\nauthor: ada\n---\nBoil water.\n";
const PROJECT = {
	".pi/skills/tea/SKILL.md": TEA,
	".pi/prompts/tell.md": "---\ndescription: Tell\nargument-hint: [who]\n---\nTell $1.",
};

test.each([
	[
		40,
		[
			"! ~/src/shop/.pi/skills/tea/SKILL.md:4:",
			'unknown field "author" · put it under',
			"metadata",
			"! ~/src/shop/.pi/prompts/tell.md:3:",
			"argument-hint must be text · put it in",
			"quotes",
		],
	],
	[
		80,
		[
			'! ~/src/shop/.pi/skills/tea/SKILL.md:4: unknown field "author" · put it under',
			"metadata",
			"! ~/src/shop/.pi/prompts/tell.md:3: argument-hint must be text · put it in",
			"quotes",
		],
	],
	[
		120,
		[
			'! ~/src/shop/.pi/skills/tea/SKILL.md:4: unknown field "author" · put it under metadata',
			"! ~/src/shop/.pi/prompts/tell.md:3: argument-hint must be text · put it in quotes",
		],
	],
])("problems of skills and prompts are shown with file and line at %i columns", async (columns, lines) => {
	const app = await startApp({ columns, files: PROJECT });
	await app.terminal.waitFor("argument-hint");
	const screen = await app.terminal.screen();
	const first = screen.findIndex((line) => line.startsWith("! "));
	expect(screen.slice(first, first + lines.length)).toEqual(lines);
});

test.each([40, 120])(
	"/reload names them at %i columns, and a skill that broke keeps its last version",
	async (columns) => {
		const agentDir = tempAgentDir({ files: { "skills/pot/SKILL.md": "---\nname: pot\ndescription: Pot\n---\n" } });
		const app = await startApp({ agentDir, columns, rows: 40 });
		await app.terminal.waitFor("1 skill");
		writeFiles(app.cwd, PROJECT);
		await app.submit("/reload");
		await app.terminal.waitFor("hooks loaded");
		const text = (await app.terminal.text()).replace(/\s*\n\s*/g, " ");
		expect(text).toContain(" · problems: tea/SKILL.md:4, tell.md:3");
		writeFiles(agentDir, { "skills/pot/SKILL.md": "---\nname: pot\ndescription: [\n---\n" });
		await app.submit("/reload");
		await app.terminal.waitFor(/failed:\s+pot\/SKILL\.md:3/);
		expect(app.session().loaded.skills).toEqual(["pot", "tea"]);
		const warning = app.session().loaded.warnings.find((line) => line.includes("pot"));
		expect(warning).toMatch(/pot\/SKILL\.md:3: .* · the version read before is kept$/);
	},
);

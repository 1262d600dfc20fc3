import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { packageVersion } from "../../../src/util/package-root.js";
import { tempAgentDir } from "../../helpers/temp.js";
import { type RunPlace, run } from "./run.js";

async function examine(place: RunPlace = {}) {
	const { code, stdout } = await run({ name: "doctor" }, { ...place, json: true });
	const findings: { name: string; state: string; text: string; fix?: string }[] = JSON.parse(stdout).findings;
	return { code, stdout, of: (name: string) => findings.filter((finding) => finding.name === name) };
}

describe("pi doctor", () => {
	test("checks what pi needs, and names the sources of keys without printing keys", async () => {
		const { code, stdout, of } = await examine({ env: { ANTHROPIC_API_KEY: "sk-very-secret" } });
		expect(code).toBe(0);
		expect(of("pi")[0]?.text).toContain(packageVersion());
		expect(of("node")).toMatchObject([{ state: "ok" }]);
		expect(of("shell")).toMatchObject([{ state: "ok" }]);
		expect(of("ripgrep")[0]?.text).toMatch(/^ripgrep \d/);
		expect(of("keys")).toEqual([{ name: "keys", state: "ok", text: "anthropic (ANTHROPIC_API_KEY)" }]);
		expect(of("model")[0]?.text).toMatch(/^anthropic\//);
		expect(of("servers")[0]?.text).toBe("none on this machine");
		expect(stdout).not.toContain("sk-very-secret");
	});

	test("finds servers on this machine, also offline", async () => {
		const server = createServer((_, response) => response.end(JSON.stringify({ data: [{ id: "qwen" }] })));
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void server.close());
		const { port } = server.address() as AddressInfo;
		const { of } = await examine({ ports: { ollama: port }, offline: true });
		expect(of("servers")[0]?.text).toBe("ollama with 1 model");
		expect(of("model")[0]?.text).toBe("ollama/qwen");
	});

	test("explains on a new machine how to connect a model, without counting it as a problem", async () => {
		const { code, of } = await examine();
		expect(code).toBe(0);
		expect(of("model")).toMatchObject([{ state: "note", fix: expect.stringContaining("set ANTHROPIC_API_KEY") }]);
		expect((await run({ name: "doctor" })).stdout).toMatch(/\nNo problems\n$/);
	});

	test("prints that others can write to the user's files, whose settings do then no more than a project's", async () => {
		const agentDir = tempAgentDir({ settings: { shellPath: "/no/such/shell" } });
		chmodSync(agentDir, 0o777);
		const { code, of } = await examine({ agentDir });
		expect(code).toBe(1);
		const problem = `other users can write to ${agentDir}`;
		expect(of("files")).toEqual([{ name: "files", state: "problem", text: problem, fix: `chmod go-w ${agentDir}` }]);
		expect(of("settings").map(({ text }) => text)).toEqual([
			expect.stringContaining(problem),
			expect.stringContaining(`"shellPath" ignored, because ${problem}`),
		]);
	});

	test("prints each problem and how to fix it", async () => {
		const agentDir = tempAgentDir({
			settings: { shellPath: "/no/such/shell", queueMode: "sometimes" },
			hooks: { "bad.ts": "throw new Error('no luck')" },
			files: { "trust.json": "{", "tools/odd/index.ts": "export default 7;" },
		});
		const { code, of } = await examine({ agentDir });
		expect(code).toBe(1);
		expect(of("settings")[0]?.text).toContain("queueMode must be one of");
		expect(of("shell")).toMatchObject([{ state: "problem", fix: "correct shellPath in settings.json" }]);
		expect(of("trust")[0]).toMatchObject({ state: "problem" });
		expect(of("tools")).toMatchObject([{ state: "problem", text: expect.stringContaining("not number") }]);
		expect(of("hooks")).toMatchObject([
			{ state: "ok", text: "fold, pin, stacking" },
			{ state: "problem", text: `Hook ${join(agentDir, "hooks/bad.ts")}:1:7 did not load: no luck` },
		]);
		const text = await run({ name: "doctor" }, { agentDir });
		expect(text.stdout).toMatch(/^!! +shell +.*\/no\/such\/shell.* · correct shellPath in settings\.json$/m);
		expect(text.stdout.trimEnd().split("\n").at(-1)).toBe("5 problems");
	});

	test("lists context files, skills and prompts, and their problems with file and line", async () => {
		const agentDir = tempAgentDir({
			files: {
				"AGENTS.md": "rules",
				"skills/tea/SKILL.md": "---\nname: tea\ndescription: Tea\nauthor: ada\n---\n",
				"skills/pot/SKILL.md": "---\nname: pot\n---\n",
				"prompts/ask.md": "Ask.",
				"prompts/tell.md": "---\ndescription: Tell\nargument-hint: [who]\n---\nTell $1.",
				"commands/ask.md": "Ask again.",
			},
		});
		const { code, of } = await examine({ agentDir });
		expect(code).toBe(1);
		expect(of("context")).toEqual([{ name: "context", state: "ok", text: `${agentDir}/AGENTS.md` }]);
		const pot = `${agentDir}/skills/pot/SKILL.md:1: the description is missing · say what the skill does and when to use it`;
		expect(of("skills")).toEqual([
			{ name: "skills", state: "ok", text: "tea" },
			{ name: "skills", state: "problem", text: `${pot}; skill ignored` },
			{
				name: "skills",
				state: "problem",
				text: `${agentDir}/skills/tea/SKILL.md:4: unknown field "author" · put it under metadata`,
			},
		]);
		expect(of("prompts")).toEqual([
			{ name: "prompts", state: "ok", text: "/ask, /tell" },
			{
				name: "prompts",
				state: "problem",
				text: `${agentDir}/prompts/tell.md:3: argument-hint must be text · put it in quotes`,
			},
			{
				name: "prompts",
				state: "note",
				text: `${agentDir}/commands/ask.md: replaces the prompt "/ask" of ${agentDir}/prompts/ask.md`,
			},
		]);
	});

	test.each([
		[{ COLORTERM: "truecolor" }, "true color (COLORTERM=truecolor)", "auto"],
		[{}, "256 colors (TERM=xterm-256color)", "auto"],
		[{ NO_COLOR: "1", COLORFGBG: "0;15" }, "no colors (NO_COLOR=1)", "auto, light according to COLORFGBG"],
	])("prints the number of colors for %j, and the theme", async (env, colors, theme) => {
		const { of } = await examine({ env: { TERM: "xterm-256color", LANG: "C.UTF-8", ...env }, outIsTerminal: true });
		expect(of("terminal")[0]?.text).toMatch(new RegExp(`, ${colors.replace(/[()]/g, "\\$&")}$`));
		expect(of("theme")).toEqual([{ name: "theme", state: "ok", text: theme }]);
	});

	test("reports a missing theme and the problems of an invalid one", async () => {
		const files = { "themes/dusk.json": { colors: { acent: "red" } } };
		const missing = tempAgentDir({ settings: { theme: "dsuk" }, files });
		expect((await examine({ agentDir: missing })).of("theme")).toEqual([
			{ name: "theme", state: "problem", text: 'theme "dsuk" does not exist', fix: "did you mean dusk?" },
		]);
		const wrong = tempAgentDir({ settings: { theme: "dusk" }, files });
		const file = join(wrong, "themes", "dusk.json");
		expect((await examine({ agentDir: wrong })).of("theme")).toEqual([
			{ name: "theme", state: "problem", text: `${file}: unknown "colors.acent"; ignored` },
		]);
	});

	test("reports plain mode for a dumb terminal, without counting it as a problem", async () => {
		const { of } = await examine({ env: { TERM: "dumb" }, outIsTerminal: true });
		expect(of("terminal")).toMatchObject([{ state: "note", text: expect.stringMatching(/, uses plain mode$/) }]);
	});
});

import { expect, test } from "vitest";
import { type LoopbackProvider, startProvider } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

const skill = (version: string) => `---\nname: tea\ndescription: ${version} skill\n---\nBoil water.\n`;
const THEME = (color: string) => ({ colors: { accent: color } });

/** Version `version` of every file that pi reads again. */
function write(version: string, agentDir: string, cwd: string, provider: LoopbackProvider): void {
	writeFiles(agentDir, {
		"skills/tea/SKILL.md": skill(version),
		"prompts/ask.md": `${version} template`,
		"hooks/who.ts": `export default (pi) => pi.command("who", { handler: () => ({ status: "${version} hook" }) });`,
		"keybindings.json": { "app.model": version === "old" ? "alt+5" : "alt+6" },
		"themes/mine.json": THEME(version === "old" ? "#ff0000" : "#00ff00"),
		"models.json": provider.modelsJson({ contextWindow: version === "old" ? 100_000 : 200_000 }),
	});
	writeFiles(cwd, { "AGENTS.md": `${version} rules` });
}

async function expectVersion(version: string, pi: PiTerminal, provider: LoopbackProvider): Promise<void> {
	const reply = `Reply ${provider.requests.length}.`;
	provider.reply(reply);
	await submit(pi, "/ask");
	await pi.waitForText(reply);
	const { messages } = provider.requests.at(-1) ?? { messages: [] };
	expect(messages[0]?.text).toContain(`${version} skill`);
	expect(messages[0]?.text).toContain(`${version} rules`);
	expect(messages.at(-1)?.text).toBe(`${version} template`);
	expect(await pi.screen()).toContain(version === "old" ? "100k" : "200k");
	await submit(pi, "/who");
	await pi.waitForText(`${version} hook`);
	await pi.press(version === "old" ? "alt+5" : "alt+6");
	await pi.waitForText("Which model?");
	await pi.press("escape");
	await pi.waitForGone("Which model?");
}

test.each(["/reload", "/new"])("%s reads every file again that changed while pi runs", async (command) => {
	const provider = await startProvider();
	const cwd = tempDir();
	const agentDir = agentDirFor(provider, { settings: { theme: "mine" } });
	write("old", agentDir, cwd, provider);
	const pi = await openPi({ agentDir, cwd, columns: 100, rows: 40 });
	await expectVersion("old", pi, provider);
	expect(pi.output()).not.toContain("38;5;46m");
	write("new", agentDir, cwd, provider);
	await submit(pi, command);
	await pi.waitForText(command === "/new" ? "New session" : "1 hook loaded");
	await expectVersion("new", pi, provider);
	await expect.poll(() => pi.output()).toContain("38;5;46m");
});

test("a file that is broken at /reload keeps its last good state and is named with its line", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	const agentDir = agentDirFor(provider, { settings: { theme: "mine" } });
	write("old", agentDir, cwd, provider);
	const pi = await openPi({ agentDir, cwd, columns: 120, rows: 60 });
	await pi.waitForText("1 skill");
	writeFiles(agentDir, {
		"skills/tea/SKILL.md": "---\nname: tea\ndescription: [\n---\n",
		"prompts/ask.md": "---\ndescription: [\n---\nbroken\n",
		"hooks/who.ts": "export default (pi) => {\n\toops oops\n}",
		"keybindings.json": '{\n"app.model": }',
		"themes/mine.json": '{\n"colors": }',
		"models.json": '{\n"providers": }',
	});
	await submit(pi, "/reload");
	await pi.waitForText("failed:");
	const text = (await pi.scrollback()).replace(/\s+/g, " ");
	for (const place of [
		"SKILL.md:",
		"ask.md:",
		"who.ts:2",
		"keybindings.json:2:14",
		"mine.json:2:11",
		"models.json:2:14",
	]) {
		expect(text.split(" failed:")[1]).toContain(place);
		expect(text.split(" failed:")[0]).toContain(place);
	}
	await expectVersion("old", pi, provider);
});

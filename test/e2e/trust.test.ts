import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit } from "./support.js";

/** A hook that writes a file with this text when it runs. */
const MARK = (text: string) => `import { writeFileSync } from "node:fs";
writeFileSync("ran", ${JSON.stringify(text)});
export default function () {}
`;
const TOOL = `export default { name: "greet", description: "Greets", parameters: { type: "object", properties: {} },
	async run() { return { content: [{ type: "text", text: "hello" }] }; } };
`;

async function place(files: Record<string, unknown> = { ".pi/hooks/mark.ts": MARK("first") }) {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const cwd = tempDir();
	writeFiles(cwd, files);
	const ran = () => (existsSync(join(cwd, "ran")) ? readFileSync(join(cwd, "ran"), "utf8") : null);
	return { provider, agentDir, cwd, ran };
}

async function quit(pi: PiTerminal): Promise<void> {
	await pi.press("ctrl+d");
	await pi.exited;
}

test("y trusts the contents: they run now and at the next start until they change, then pi shows the change", async () => {
	const { agentDir, cwd, ran } = await place();
	const first = await openPi({ agentDir, cwd });
	const question = await first.waitForText("Run it?");
	expect(question).toMatch(/\.pi\/hooks\/mark\.ts +0\.1 KB +[0-9a-f]{12} +new/);
	expect(ran()).toBeNull();
	await answer(first, "y");
	await first.waitForText("1 hook");
	expect(ran()).toBe("first");
	await quit(first);
	expect(statSync(join(agentDir, "trust.json")).mode & 0o777).toBe(0o600);

	const known = await openPi({ agentDir, cwd });
	await known.waitForText("1 hook");
	expect(known.output()).not.toContain("Run it?");
	await quit(known);

	writeFiles(cwd, { ".pi/hooks/mark.ts": MARK("second") });
	const changed = await openPi({ agentDir, cwd });
	expect(await changed.waitForText("Run it?")).toMatch(/changed since \d+ \w{3} +\+1 −1/);
	await answer(changed, "v");
	// The diff is loaded on first use.
	const code = await changed.waitForText('+2 writeFileSync("ran", "second");');
	expect(code).toContain("Project code that would run");
	expect(code).toContain(`- writeFileSync("ran", "first");`);
	await changed.press("escape");
	await changed.waitForText("Run it?");
	await answer(changed, "y");
	await changed.waitForText("1 hook");
	expect(ran()).toBe("second");
	await quit(changed);
});

test("n skips hooks and tools, and /reload asks again", async () => {
	const { agentDir, cwd, ran, provider } = await place({
		".pi/hooks/mark.ts": MARK("first"),
		".pi/tools/greet/index.ts": TOOL,
	});
	const pi = await openPi({ agentDir, cwd, columns: 40 });
	await pi.waitForText(/Run\s+it\?/);
	await answer(pi, "n");
	await pi.waitForText("was not run");
	provider.reply("Hello.");
	await submit(pi, "hi");
	await pi.waitForText("Hello.");
	expect(ran()).toBeNull();
	expect(JSON.stringify(provider.requests[0])).not.toContain("greet");
	await submit(pi, "/reload");
	await pi.waitForText(/Run\s+it\?/);
	await afterPause();
	await answer(pi, "o");
	await pi.waitForText("1 hook loaded");
	expect(ran()).toBe("first");
	provider.reply("Again.");
	await submit(pi, "hi");
	await pi.waitForText("Again.");
	expect(JSON.stringify(provider.requests.at(-1))).toContain("greet");
	expect(existsSync(join(agentDir, "trust.json"))).toBe(false);
	await quit(pi);
});

test("keys typed on after a prompt was sent do not answer the question", async () => {
	const { agentDir, cwd, ran, provider } = await place();
	provider.reply("Hello.");
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "hi");
	await pi.waitForText("Run it?");
	pi.type("y");
	pi.type("o");
	await afterPause();
	expect(await pi.screen()).toContain("Run it?");
	expect(ran()).toBeNull();
	await answer(pi, "n");
	await pi.waitForText("was not run");
	await pi.waitForText("Hello.");
	await quit(pi);
});

/** Keys that directly follow typed ones do not answer a question: `TypingGuard` waits for a pause of 700 ms. */
const afterPause = () => new Promise((resolve) => setTimeout(resolve, 900));

test("the shown contents run, even if the file changes while the question is open", async () => {
	const { agentDir, cwd, ran } = await place();
	const pi = await openPi({ agentDir, cwd });
	await pi.waitForText("Run it?");
	writeFiles(cwd, { ".pi/hooks/mark.ts": MARK("swapped") });
	await answer(pi, "y");
	await pi.waitForText("1 hook");
	expect(ran()).toBe("first");
	await quit(pi);
});

test("RPC skips untrusted code with an event; PI_TRUST=1 runs it once and saves nothing", async () => {
	const { agentDir, cwd, ran, provider } = await place();
	const rpc = spawnPi(["--mode", "rpc"], { agentDir, cwd });
	rpc.write('{"id": 1, "type": "get_state"}\n');
	await rpc.waitFor(({ stdout }) => stdout.includes('"response"'));
	rpc.end();
	const { stdout, stderr } = await rpc.exited;
	const events = stdout
		.split("\n")
		.filter(Boolean)
		.map((line): unknown => JSON.parse(line));
	const message: unknown = expect.stringMatching(/mark\.ts.*--trust/);
	expect(events).toContainEqual({ type: "notice", level: "warning", message });
	expect(stderr).toMatch(/mark\.ts.*--trust/);
	expect(ran()).toBeNull();
	provider.reply("Fine.", "Fine.");
	expect(await runPi(["-p", "hi"], { agentDir, cwd, env: { PI_TRUST: "1" } })).toMatchObject({ code: 0, stderr: "" });
	expect(ran()).toBe("first");
	expect(existsSync(join(agentDir, "trust.json"))).toBe(false);
	expect((await runPi(["-p", "hi"], { agentDir, cwd })).stderr.match(/--trust/g)).toEqual(["--trust"]);
});

test("pi hooks trust lets project code run without a terminal, and untrust revokes it", async () => {
	const { agentDir, cwd, ran, provider } = await place();
	provider.reply("Fine.", "Fine.");
	expect((await runPi(["hooks", "trust"], { agentDir, cwd })).stdout).toContain("mark.ts");
	expect(ran()).toBeNull();
	expect((await runPi(["-p", "hi"], { agentDir, cwd })).stderr).toBe("");
	expect(ran()).toBe("first");
	expect((await runPi(["hooks", "untrust"], { agentDir, cwd })).code).toBe(0);
	expect((await runPi(["-p", "hi"], { agentDir, cwd })).stderr).toMatch(/mark\.ts.*--trust/);
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ProviderRequest, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, untilGone } from "./support.js";

const SCOUT = "---\nname: scout\ndescription: finds files\ntools: bash\n---\nYou are a scout.\n";
const TASKS = ["one", "two"].map((prompt) => ({ agent: "scout", prompt }));
const GO = [toolCall("agent", { agent: "scout", prompt: "Look." })];

function agentDir(provider: Parameters<typeof agentDirFor>[0], files: Record<string, string> = {}): string {
	return agentDirFor(provider, { settings: { hooks: ["pi:agents"] }, files: { "agents/scout.md": SCOUT, ...files } });
}

test("pi -p runs a sub-agent, saves its session next to its own, and names a malformed definition on stderr", async () => {
	const provider = await startProvider();
	provider.reply(GO, "Nothing there.", "That is all.");
	const dir = agentDir(provider, { "agents/bad.md": "---\nname: bad\n---\nx" });
	const { stdout, stderr, code } = await runPi(["-p", "go"], { agentDir: dir });
	expect({ stdout, code }).toEqual({ stdout: "That is all.\n", code: 0 });
	expect(stderr).toContain(`${join(dir, "agents", "bad.md")}:1: description must be a text`);
	const [project = ""] = readdirSync(join(dir, "sessions"));
	const names = readdirSync(join(dir, "sessions", project));
	const [session = ""] = names.filter((name) => name.endsWith(".jsonl"));
	expect(readdirSync(join(dir, "sessions", project, session.replace(/jsonl$/, "agents")))).toHaveLength(1);
	expect(provider.requests[1]?.messages[0]?.text).toMatch(/^You are a scout\./);
});

test("Escape stops a sub-agent and the commands that it runs", async () => {
	const provider = await startProvider();
	const work = tempDir();
	provider.reply(GO, [toolCall("bash", { command: `echo $$ > '${work}/pid'; while :; do sleep 0.1; done` })]);
	const pi = await openPi({ agentDir: agentDir(provider) });
	await submit(pi, "go");
	await expect.poll(() => numberIn(join(work, "pid")), { timeout: 15_000 }).toBeGreaterThan(0);
	await pi.waitForText(/● scout/);
	await pi.press("escape");
	await pi.waitForText(/– scout .*canceled/);
	await untilGone(numberIn(join(work, "pid")));
	expect(provider.requests).toHaveLength(2);
});

test("kill -9 of pi ends its sub-agents and the commands that they run", async () => {
	const provider = await startProvider();
	const work = tempDir();
	const command = (name: string) => `trap '' TERM HUP INT; echo $$ > '${work}/${name}'; while :; do sleep 0.1; done`;
	const isScout = ({ messages }: ProviderRequest) => messages[0]?.text.startsWith("You are a scout.") ?? false;
	provider.on((request) => {
		if (!isScout(request)) return [toolCall("agent", { tasks: TASKS })];
		return [toolCall("bash", { command: command(request.messages.at(-1)?.text ?? "") })];
	});
	const pi = await openPi({ agentDir: agentDir(provider) });
	await submit(pi, "go");
	const pids = () => TASKS.map(({ prompt }) => numberIn(join(work, prompt)));
	await expect.poll(() => pids().every((pid) => pid > 0), { timeout: 15_000 }).toBe(true);
	const requests = provider.requests.length;
	pi.kill("SIGKILL");
	await pi.exited;
	for (const pid of pids()) await untilGone(pid);
	expect(provider.requests).toHaveLength(requests);
});

function numberIn(path: string): number {
	return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
}

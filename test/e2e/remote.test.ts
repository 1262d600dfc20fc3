import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { startContainer } from "../helpers/podman.js";
import { processesWith } from "../helpers/programs.js";
import { spawnPi } from "../helpers/run-pi.js";
import { NO_SSH, startSshServer } from "../helpers/ssh-server.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

/** Everything ends this long after the end of pi. */
const LIMIT_MS = 2000;

test.skipIf(NO_SSH !== undefined)("pi -p --on ssh: works there, and names what is wrong in one line", async () => {
	const { provider, env, dir } = await remote();
	provider.reply([toolCall("write", { path: "a/b.txt", content: "there" })], "done");
	const run = async (spec: string) => {
		const pi = spawnPi(["--on", spec, "-p", "go"], { agentDir: agentDirFor(provider), env });
		pi.end();
		return pi.exited;
	};
	expect(await run(`ssh://box${dir}`)).toMatchObject({ code: 0, stdout: "done\n", stderr: "write a/b.txt\n" });
	expect(readFileSync(join(dir, "a/b.txt"), "utf8")).toBe("there");
	expect(processesWith("pi-ssh-")).toEqual([]);
	const failures = [await run("ssh://box:1/"), await run("ssh:-x"), await run("ssh://box/no/such")];
	expect(failures.map(({ code, stdout, stderr }) => [code, stdout, stderr.trimEnd().split("\n").length])).toEqual([
		[1, "", 1],
		[2, "", 1],
		[1, "", 1],
	]);
	expect(failures.map(({ stderr }) => stderr).join("")).toMatch(
		/Connection refused\. Check the port.*\n.*"ssh:-x" names no machine: use ssh:.*\n.*the directory \/no\/such does not exist there/,
	);
});

test.skipIf(NO_SSH !== undefined).each(["kill -9", "SIGTERM", "Escape", "/quit"])(
	"after %s no process is left on the other machine",
	async (how) => {
		const { provider, env, dir, bin } = await remote();
		const mark = `66${process.pid}${Math.floor(Math.random() * 1e6)}`;
		provider.reply(
			[toolCall("bash", { command: `sleep ${mark} & (trap '' TERM; sleep ${mark}; sleep ${mark})` })],
			"ok",
		);
		const pi = await openPi({ args: ["--on", `ssh://box${dir}`], agentDir: agentDirFor(provider), env });
		await submit(pi, "go");
		const sleeps = () => processesWith(`sleep ${mark}`).filter((line) => / sleep \d+ $/.test(line)).length;
		await vi.waitUntil(() => sleeps() === 2, { timeout: 20_000 });
		const startedAt = performance.now();
		if (how === "Escape") await pi.press("escape");
		else if (how === "/quit") await submit(pi, "/quit");
		else pi.kill(how === "SIGTERM" ? "SIGTERM" : "SIGKILL");
		await vi.waitUntil(() => processesWith(mark).length === 0, { timeout: 5000, interval: 20 });
		expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);
		// The shared connection too, except in the session that goes on.
		if (how !== "Escape") await vi.waitUntil(() => processesWith(bin).length === 0, { timeout: 3000 });
	},
);

const container = startContainer();
test.skipIf(typeof container === "string")("pi -p --on podman: works in the container", async () => {
	if (typeof container === "string") return;
	onTestFinished(container.remove);
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "pwd; echo there > made" })], "done");
	const env = { PATH: `${container.bin}:${process.env.PATH}` };
	const pi = spawnPi(["--on", `podman:${container.name}`, "-p", "go"], { agentDir: agentDirFor(provider), env });
	pi.end();
	expect(await pi.exited).toMatchObject({ code: 0, stdout: "done\n", stderr: "bash pwd; echo there > made\n" });
	expect(container.podman("exec", container.name, "cat", "/work/made")).toBe("there\n");
	expect(JSON.stringify(provider.requests[1]?.body)).toContain("/work");
});

/** A model, a machine and a directory there. */
async function remote() {
	const [provider, server] = await Promise.all([startProvider(), startSshServer()]);
	const dir = tempDir();
	mkdirSync(join(dir, "sub"));
	writeFileSync(join(dir, "sub/file.txt"), "text\n");
	return { provider, dir, bin: server.config, env: { PATH: `${server.bin}:${process.env.PATH}` } };
}

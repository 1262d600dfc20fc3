import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { NO_SANDBOX } from "../helpers/bubblewrap.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { startContainer } from "../helpers/podman.js";
import { processesWith } from "../helpers/programs.js";
import type { PiTerminal } from "../helpers/pty.js";
import { spawnPi } from "../helpers/run-pi.js";
import { NO_SSH, startSshServer } from "../helpers/ssh-server.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit } from "./support.js";

/** Everything ends this long after the end of pi. */
const LIMIT_MS = 2000;
/** Stands for kubectl: runs what follows `--` here. */
const KUBECTL = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
`;

test.skipIf(NO_SSH !== undefined)("pi -p --on ssh: works there, and names what is wrong in one line", async () => {
	const { provider, env, dir } = await remote();
	provider.reply([toolCall("write", { path: "a/b.txt", content: "there" })], "done");
	const run = async (spec: string) => {
		const pi = spawnPi(["--on", spec, "-p", "go"], { agentDir: agentDirFor(provider), env });
		pi.end();
		const exited = await pi.exited;
		// On a busy machine, pi says after 2 s what it waits for.
		return { ...exited, stderr: exited.stderr.replace(/^Waiting for .*\n/, "") };
	};
	const done = await run(`ssh://box${dir}`);
	expect(done).toMatchObject({ code: 0, stdout: "done\n", stderr: "write a/b.txt\n" });
	expect(readFileSync(join(dir, "a/b.txt"), "utf8")).toBe("there");
	await expect.poll(() => processesWith("pi-ssh-")).toEqual([]);
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

test.skipIf(NO_SSH !== undefined)(
	"a machine that hangs is named after 2 s, and ends the start after the time limit",
	async () => {
		const { provider, env, dir, server } = await remote();
		writeFileSync(join(server.home, ".bashrc"), "exec sleep 66666\n");
		for (const mode of [[], ["--mode", "json"]]) {
			const agentDir = agentDirFor(provider, { settings: { onTimeout: 3000 } });
			const pi = spawnPi(["--on", `ssh://box${dir}`, "-p", ...mode, "go"], { agentDir, env });
			pi.end();
			const { code, stderr } = await pi.exited;
			expect(code).toBe(1);
			expect(stderr.trimEnd().split("\n")).toEqual([
				`Waiting for ssh://box${dir} to start a shell there, which reads its start files first, such as ~/.bashrc`,
				expect.stringMatching(
					/^pi: Cannot reach ssh:\/\/box.*: it took longer than 3 s to start a shell there.* · set onTimeout in settings\.json to wait longer$/,
				),
			]);
		}
		expect(provider.requests).toEqual([]);
		await expect.poll(() => processesWith("pi-ssh-")).toEqual([]);
	},
);

const container = startContainer();
afterAll(() => {
	if (typeof container !== "string") container.remove();
});
test.skipIf(typeof container === "string")("pi -p --on podman: works in the container", async () => {
	if (typeof container === "string") return;
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "pwd; echo there > made" })], "done");
	const env = { PATH: `${container.bin}:${process.env.PATH}` };
	const pi = spawnPi(["--on", `podman:${container.name}`, "-p", "go"], { agentDir: agentDirFor(provider), env });
	pi.end();
	expect(await pi.exited).toMatchObject({ code: 0, stdout: "done\n", stderr: "bash pwd; echo there > made\n" });
	expect(container.podman("exec", container.name, "cat", "/work/made")).toBe("there\n");
	expect(JSON.stringify(provider.requests[1]?.body)).toContain("/work");
});

const HOSTS = {
	ssh: { isMissing: NO_SSH !== undefined },
	sandbox: { isMissing: NO_SANDBOX !== undefined },
	podman: { isMissing: typeof container === "string" },
	kubectl: { isMissing: false },
} as const;
type HostKind = keyof typeof HOSTS;

/** What `--on` and the environment of pi are for a host, and how its name and the working directory of tools are shown. */
async function hostOf(kind: HostKind) {
	if (kind === "ssh") {
		const { env, dir, provider, bin } = await remote();
		return { spec: `ssh://box${dir}`, env, provider, cwd: tempDir(), name: "ssh box", dir, bin };
	}
	const provider = await startProvider();
	const cwd = tempDir();
	if (kind === "sandbox") return { spec: "sandbox:", env: {}, provider, cwd, name: "sandbox", dir: cwd };
	if (kind === "kubectl") {
		const [bin, dir] = [tempDir(), tempDir()];
		writeFileSync(join(bin, "kubectl"), KUBECTL);
		chmodSync(join(bin, "kubectl"), 0o755);
		const env = { PATH: `${bin}:${process.env.PATH}` };
		return { spec: `kubectl:prod/web:main${dir}`, env, provider, cwd, name: "kubectl prod/web:main", dir };
	}
	if (typeof container === "string") throw new Error(container);
	const env = { PATH: `${container.bin}:${process.env.PATH}` };
	return { spec: `podman:${container.name}`, env, provider, cwd, name: `podman ${container.name}`, dir: "/work" };
}

/** Ways to end pi, or the running command. */
const ENDS: Readonly<Record<string, (pi: PiTerminal) => unknown>> = {
	"kill -9": (pi) => pi.kill("SIGKILL"),
	SIGTERM: (pi) => pi.kill("SIGTERM"),
	SIGHUP: (pi) => pi.kill("SIGHUP"),
	"/quit": async (pi) => {
		await submit(pi, "/quit");
		await pi.waitForText("Quit pi?");
		await answer(pi, "y");
	},
	"Ctrl+D": async (pi) => {
		await pi.press("ctrl+d");
		await pi.waitForText("Quit pi?");
		await answer(pi, "y");
	},
	Escape: (pi) => pi.press("escape"),
};
const kinds = Object.keys(HOSTS).filter((kind): kind is HostKind => !HOSTS[kind as HostKind].isMissing);
test.each(kinds.flatMap((kind) => Object.keys(ENDS).map((how) => [kind, how] as const)))(
	"with %s, %s ends the processes of a command within 2 s",
	async (kind, how) => {
		const { spec, env, provider, cwd, bin } = await hostOf(kind);
		const mark = `67${process.pid}${Math.floor(Math.random() * 1e6)}`;
		provider.reply(
			[toolCall("bash", { command: `sleep ${mark} & (trap '' TERM; sleep ${mark}; sleep ${mark})` })],
			"ok",
		);
		const pi = await openPi({ args: ["--on", spec], agentDir: agentDirFor(provider), env, cwd });
		await submit(pi, "go");
		const sleeps = () => processesWith(`sleep ${mark}`).filter((line) => / sleep \d+ $/.test(line)).length;
		await vi.waitUntil(() => sleeps() === 2, { timeout: 20_000 });
		await ENDS[how]?.(pi);
		const startedAt = performance.now();
		await vi.waitUntil(() => sleeps() === 0, { timeout: 5000, interval: 20 });
		expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);
		await expect.poll(() => processesWith(mark)).toEqual([]);
		// On a busy machine the run may stop waiting for the program that ran the command in the container.
		if (how === "Escape") await pi.waitForText(/│ (?:stopped · \d|aborted: the user stopped the run)/);
		// The shared connection too, except in the session that goes on.
		else if (bin !== undefined) await expect.poll(() => processesWith(bin)).toEqual([]);
	},
);

const shownAt = kinds.flatMap((kind) =>
	kind === "podman" ? [] : [40, 80, 120].map((columns) => [kind, columns] as const),
);
test.each(shownAt)("header and footer name the host: %s at %i columns", async (kind, columns) => {
	const { spec, env, provider, cwd, name, dir } = await hostOf(kind);
	const pi = await openPi({ args: ["--on", spec], agentDir: agentDirFor(provider), env, cwd, columns });
	const start = `${name}:`;
	// A footer of 40 columns shows the model first, and a long name of a host only in the header.
	const times = columns === 40 && start.length > 20 ? 1 : 2;
	const screen = await pi.waitForScreen((text) => text.split(start).length > times, `${start} ${times} times`);
	const lines = screen.trimEnd().split("\n");
	const header = lines.find((line) => line.startsWith("pi ")) ?? "";
	const footer = times === 1 ? header : (lines.findLast((line) => line.startsWith(start)) ?? "");
	// The host is complete; its path is cut at the start if there is no room.
	const placeIn = (line: string) => line.slice(line.indexOf(start) + start.length).split(" ")[0] ?? "";
	for (const line of [header, footer]) {
		expect(line).toContain(start);
		expect(dir.endsWith(placeIn(line).replace(/^.*…/, ""))).toBe(true);
		expect(line.length).toBeLessThanOrEqual(columns);
	}
	if (columns === 120) expect(footer).toContain(start + dir);
});

test.skipIf(NO_SSH !== undefined)(
	"a lost connection is an error result, and the next call connects again",
	async () => {
		const { provider, env, dir, cut } = await remote();
		const mark = `68${process.pid}${Math.floor(Math.random() * 1e6)}`;
		provider.reply([toolCall("bash", { command: `sleep ${mark}` })], [toolCall("bash", { command: "pwd" })], "Done.");
		const pi = await openPi({ args: ["--on", `ssh://box${dir}`], agentDir: agentDirFor(provider), env });
		await submit(pi, "go");
		await vi.waitUntil(() => processesWith(`sleep ${mark}`).some((line) => / sleep \d+ $/.test(line)), {
			timeout: 20_000,
		});
		cut();
		await pi.waitForText("Done.", { timeoutMs: 20_000 });
		const [lost, again] = (provider.requests.at(-1)?.messages ?? []).filter(({ role }) => role === "tool");
		expect(lost?.text).toMatch(/^The connection to ssh box was lost/);
		expect(again?.text.trim()).toBe(dir);
		// What runs there ends when it notices, which the next command does not wait for.
		await expect.poll(() => processesWith(`sleep ${mark}`), { timeout: 10_000 }).toEqual([]);
	},
);

/** A model, a machine and a directory there. */
async function remote() {
	const [provider, server] = await Promise.all([startProvider(), startSshServer()]);
	const dir = tempDir();
	mkdirSync(join(dir, "sub"));
	writeFileSync(join(dir, "sub/file.txt"), "text\n");
	return {
		provider,
		server,
		dir,
		cut: server.cut,
		bin: server.config,
		env: { PATH: `${server.bin}:${process.env.PATH}` },
	};
}

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import containers, { parseContainer, parsePod } from "../../hooks-examples/containers.js";
import type { ToolHost } from "../../src/tools/machine/machine.js";
import { openHost, usePath } from "../helpers/open-machine.js";
import { startContainer } from "../helpers/podman.js";
import { processesWith } from "../helpers/programs.js";
import { tempDir } from "../helpers/temp.js";

describe("what follows docker: and podman:", () => {
	test.each([
		["web", "web", undefined],
		["//web/srv/app", "web", "/srv/app"],
		["web/srv/a b:c", "web", "/srv/a b:c"],
		["web:/srv", "web", "/srv"],
		["web_1.x-2/", "web_1.x-2", "/"],
		["web/~/src", "web", "~/src"],
	])("%s", (rest, container, cwd) => {
		expect(parseContainer("docker", rest)).toEqual({
			name: `docker ${container}`,
			program: "docker",
			args: ["exec", "-i", container],
			cwd,
		});
	});

	test.each(["", "/srv", "-it", "--privileged", "a b", "web:srv", "$(x)"])("%j is rejected", (rest) => {
		expect(() => parseContainer("podman", rest)).toThrow(
			`"podman:${rest}" names no container: use podman:container[/path]; see podman ps -a`,
		);
	});
});

describe("what follows kubectl:", () => {
	const pod = (name: string, args: string[], cwd?: string) => ({
		name: `kubectl ${name}`,
		program: "kubectl",
		args: ["exec", "-i", ...args, "--"],
		cwd,
	});

	test.each([
		["web", [pod("web", ["web"])]],
		["//web/", [pod("web", ["web"], "/")]],
		["web/srv", [pod("web", ["web"], "/srv"), pod("web/srv", ["-n", "web", "srv"])]],
		["web/srv/a b", [pod("web/srv", ["-n", "web", "srv"], "/a b"), pod("web", ["web"], "/srv/a b")]],
		["prod/web/", [pod("prod/web", ["-n", "prod", "web"], "/"), pod("prod", ["prod"], "/web/")]],
		["web/~/src", [pod("web", ["web"], "~/src")]],
		["web:main/srv", [pod("web:main", ["web", "-c", "main"], "/srv")]],
		["web:main", [pod("web:main", ["web", "-c", "main"])]],
		["prod/web:main/srv/a:b", [pod("prod/web:main", ["-n", "prod", "web", "-c", "main"], "/srv/a:b")]],
		["web:/srv/app", [pod("web", ["web"], "/srv/app")]],
		["prod/web:", [pod("prod/web", ["-n", "prod", "web"])]],
	])("%s", (rest, expected) => {
		expect(parsePod(rest)).toEqual(expected);
	});

	test.each(["", "/srv", "-n", "web:-c", "a b", "$(x)/y", "web:a b/c"])("%j is rejected", (rest) => {
		expect(() => parsePod(rest)).toThrow(
			`"kubectl:${rest}" names no pod: use kubectl:[namespace/]pod[:container]/path; see kubectl get pods -A`,
		);
	});
});

const container = startContainer();
afterAll(() => {
	if (typeof container !== "string") container.remove();
});

describe.skipIf(typeof container === "string")("a container", () => {
	if (typeof container === "string") return;
	const { bin, name, podman } = container;

	test.each(["podman", "docker"])("tools work in it with %s", async (program) => {
		usePath(bin);
		const host = await openHost(containers, `${program}:${name}`);
		expect(host).toMatchObject({ name: `${program} ${name}`, cwd: "/work", home: "/root", platform: "linux" });
		const path = `/work/${program} ä'"\n`;
		await host.writeFile(path, "content\0\xff");
		expect(podman("exec", name, "cat", path)).toBe("content\0\xff");
		expect(await host.stat(path)).toEqual({ kind: "file", size: 10 });
		const text = "a\\b 'q' $HOME `id`\n\ttab é";
		expect(await run(host, ["printf", "%s", text])).toMatchObject({ exitCode: 0, output: text });
		expect(await run(host, "cat; echo err >&2; exit 3", "in ")).toMatchObject({ exitCode: 3, output: "in err\n" });
		expect(existsSync(path)).toBe(false);
	});

	test("an error of a call is never taken for a lost connection, however early the call ends", async () => {
		usePath(bin);
		const host = await openHost(containers, `podman:${name}`);
		podman("exec", name, "mkdir", "-p", "/root/directory");
		const input = "x".repeat(300_000);
		const tries = await Promise.allSettled([
			...Array.from({ length: 50 }, (_, at) => host.writeFile("/root/directory", at % 2 === 0 ? "x" : input)),
			...Array.from({ length: 5 }, () => host.writeFile("/etc/passwd/x", input)),
		]);
		const errors = tries.map((each) => (each.status === "rejected" ? (each.reason as { code: string }).code : ""));
		expect(errors).toEqual([...Array(50).fill("EISDIR"), ...Array(5).fill("ENOTDIR")]);
		const runs = await Promise.all([
			...Array.from({ length: 4 }, () => host.exec("cat", { cwd: "/no/such", stdin: input })),
			...Array.from({ length: 4 }, () => host.exec(["no-such-program"], { stdin: input })),
			...Array.from({ length: 4 }, () => host.exec("exit 3", { stdin: input })),
		]);
		expect(runs.map(({ exitCode }) => exitCode)).toEqual([126, 127, 3].flatMap((code) => Array(4).fill(code)));
		// Each call starts several processes.
	}, 60_000);

	test("a path chooses the directory", async () => {
		usePath(bin);
		podman("exec", name, "mkdir", "-p", "/root/src");
		expect(await openHost(containers, `podman:${name}/etc`)).toMatchObject({ cwd: "/etc" });
		expect(await openHost(containers, `podman:${name}/~/src`)).toMatchObject({ cwd: "/root/src" });
	});

	test.each(["abort", "timeout", "disposal", "kill -9 of the client"])("%s ends the processes in it", async (how) => {
		usePath(bin);
		const host = await openHost(containers, `podman:${name}`);
		const stop = new AbortController();
		const mark = `88${process.pid}${Math.floor(Math.random() * 1e6)}`;
		const command = `sleep ${mark} & (trap '' TERM; sleep ${mark}; sleep ${mark}); wait`;
		const ended = host.exec(command, { signal: stop.signal, ...(how === "timeout" ? { timeoutMs: 2000 } : {}) });
		const sleeps = () => processesWith(`sleep ${mark}`).filter((line) => / sleep \d+ $/.test(line)).length;
		await vi.waitUntil(() => sleeps() === 2, { timeout: 10_000 });
		if (how === "abort") stop.abort();
		else if (how === "disposal") await host.dispose();
		else if (how === "timeout") await ended;
		else {
			for (const line of processesWith(mark).filter((each) => each.includes("podman exec"))) {
				if (!line.includes("conmon")) process.kill(Number.parseInt(line, 10), "SIGKILL");
			}
		}
		await expect.poll(() => processesWith(mark)).toEqual([]);
		const result = await ended;
		if (how.startsWith("kill")) expect(result.failure).toMatch(/^The connection to podman .* was lost/);
	});

	test.each([
		["no-such", /^Cannot reach podman no-such: .*no such container: see podman ps -a$/],
		[`${name}/no/such`, /^Cannot use podman .*: the directory \/no\/such does not exist there$/],
	])("podman:%s fails with a line that says what to do", async (rest, expected) => {
		usePath(bin);
		await expect(openHost(containers, `podman:${rest}`)).rejects.toThrow(expected);
	});

	test("a stopped container is named, with how to start it", async () => {
		usePath(bin);
		podman("create", "--name", `${name}-stopped`, "pi-test", "true");
		await expect(openHost(containers, `podman:${name}-stopped`)).rejects.toThrow(
			new RegExp(`^Cannot reach podman ${name}-stopped: .*: start it: podman start ${name}-stopped$`),
		);
		podman("rm", `${name}-stopped`);
	});
});

describe("an engine", () => {
	test("kubectl runs each command with exec -i, and receives what the spec names", async () => {
		const { dir, calls } = standIn("kubectl", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
		const host = await openHost(containers, `kubectl:prod/web:main${dir}`);
		expect(host).toMatchObject({ name: "kubectl prod/web:main", cwd: dir });
		expect(await run(host, "cat; pwd", "in ")).toMatchObject({ exitCode: 0, output: `in ${dir}\n` });
		for (const call of calls()) {
			expect(call.slice(0, 10)).toEqual(["exec", "-i", "-n", "prod", "web", "-c", "main", "--", "sh", "-c"]);
		}
		expect(calls()).toHaveLength(2);
	});

	test("may print something before it starts a program", async () => {
		const { dir } = standIn("docker", `echo NOISE; printf 'no line \\033[1m'; echo noise >&2; shift 3; exec "$@"`);
		const host = await openHost(containers, `docker:web${dir}`);
		expect(host.cwd).toBe(dir);
		expect(await run(host, "cat; pwd", "in ")).toMatchObject({ exitCode: 0, output: `in ${dir}\n` });
		await host.writeFile(join(dir, "a"), "content");
		expect(readFileSync(join(dir, "a"), "utf8")).toBe("content");
		expect(await host.stat(join(dir, "a"))).toEqual({ kind: "file", size: 7 });
	});

	test("kubectl asks for the pod when there is no such namespace", async () => {
		const missing = 'echo "Error from server (NotFound): namespaces \\"$4\\" not found" >&2; exit 1';
		const { dir, calls } = standIn("kubectl", `[ "$3" = -n ] && { ${missing}; }; shift 4; exec "$@"`);
		expect(await openHost(containers, `kubectl:web${dir}`)).toMatchObject({ name: "kubectl web", cwd: dir });
		expect(calls().map((call) => call.slice(0, 5))).toEqual([
			["exec", "-i", "-n", "web", "tmp"],
			["exec", "-i", "web", "--", "sh"],
		]);
	});

	test("a lost connection to a pod ends its processes, and is an error result", async () => {
		const { dir } = standIn("kubectl", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
		const host = await openHost(containers, `kubectl:web:${dir}`);
		const mark = `99${process.pid}`;
		const ended = host.exec(`sleep ${mark} & sleep ${mark}`);
		await vi.waitUntil(() => processesWith(`sleep ${mark}`).length >= 2, { timeout: 10_000 });
		await host.dispose();
		await expect.poll(() => processesWith(mark)).toEqual([]);
		expect((await ended).failure).toBe("The connection to kubectl web was lost");
	});

	test.each([
		["docker", "web", "Error response from daemon: No such container: web", "see docker ps -a"],
		["docker", "web", "Error response from daemon: container 4c2f is not running", "start it: docker start web"],
		["docker", "web", "Cannot connect to the Docker daemon at unix:///x. Is it running?", "see docker version"],
		[
			"docker",
			"web",
			'OCI runtime exec failed: exec failed: exec: "sh": executable file not found in $PATH: unknown',
			"the image must contain sh",
		],
		["kubectl", "web", 'Error from server (NotFound): pods "web" not found', "see kubectl get pods -A"],
		[
			"kubectl",
			"web:x",
			"Error from server (BadRequest): container x is not valid for pod web",
			"see kubectl get pods -A",
		],
		["kubectl", "web", "The connection to the server localhost:8080 was refused", "see kubectl version"],
		[
			"kubectl",
			"web",
			'Error from server (Forbidden): pods "web" is forbidden: User "u" cannot create resource "pods/exec"',
			"your account may not use kubectl exec there",
		],
	])("%s:%s, which says %j", async (program, rest, message, advice) => {
		standIn(program, `echo '${message}' >&2; exit 1`);
		await expect(openHost(containers, `${program}:${rest}`)).rejects.toThrow(
			`Cannot reach ${program} ${rest}: ${message}: ${advice}`,
		);
	});

	test.each([
		["docker", "Docker"],
		["podman", "Podman"],
		["kubectl", "kubectl"],
	])("%s is missing", async (program, product) => {
		usePath(tempDir(), { isOnly: true });
		await expect(openHost(containers, `${program}:web`)).rejects.toThrow(
			`Cannot reach ${program} web: spawn ${program} ENOENT: install ${product}`,
		);
	});
});

/** Replaces a program by a script that records its arguments first. */
function standIn(program: string, script: string) {
	const dir = tempDir();
	const log = join(dir, "calls");
	const record = `for word; do printf '%s\\000' "$word"; done >>'${log}'; printf '\\001' >>'${log}'`;
	writeFileSync(join(dir, program), `#!/bin/sh\n${record}\n${script}\n`);
	chmodSync(join(dir, program), 0o755);
	usePath(dir);
	const calls = () =>
		readFileSync(log, "utf8")
			.split("\x01")
			.slice(0, -1)
			.map((call) => call.split("\0").slice(0, -1));
	return { dir, calls };
}

async function run(host: ToolHost, command: string | readonly string[], stdin?: string) {
	let output = "";
	const result = await host.exec(command, {
		...(stdin === undefined ? {} : { stdin }),
		onOutput(chunk) {
			output += chunk.toString();
			return undefined;
		},
	});
	return { ...result, output };
}

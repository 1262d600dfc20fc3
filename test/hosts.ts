/**
 * Runs the tests of tools on other hosts: in a sandbox, over ssh, in a container, and in one that has nothing but busybox.
 * An engine that does not work here is skipped with a line that says why.
 * Usage: npm run test:hosts -- [host…] [arguments of vitest…]
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { NO_SANDBOX } from "./helpers/bubblewrap.js";
import { startContainer } from "./helpers/podman.js";
import { missingPrograms, SSH_PROGRAMS } from "./helpers/programs.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Why the tests cannot run on a host, after printing it; undefined if they can. */
const PROBLEMS: Readonly<Record<string, () => string | undefined>> = {
	sandbox: () => NO_SANDBOX,
	ssh: () => missingPrograms("ssh", SSH_PROGRAMS),
	podman: () => findContainerProblem(false),
	busybox: () => findContainerProblem(true),
};

function findContainerProblem(busybox: boolean): string | undefined {
	const container = startContainer({ busybox });
	if (typeof container === "string") return container;
	container.remove();
	return undefined;
}

const args = process.argv.slice(2);
const named = args.filter((arg) => arg in PROBLEMS);
const hosts = (named.length > 0 ? named : Object.keys(PROBLEMS)).filter((host) => PROBLEMS[host]?.() === undefined);
if (hosts.length > 0) {
	const vitest = [`${ROOT}node_modules/vitest/vitest.mjs`, "run", "--config", `${ROOT}test/vitest.config.ts`];
	const project = ["--project", "hosts-*", ...args.filter((arg) => !named.includes(arg))];
	const env = { ...process.env, PI_TEST_HOST: hosts.join(",") };
	const { status } = spawnSync(process.execPath, [...vitest, ...project], { cwd: ROOT, env, stdio: "inherit" });
	process.exitCode = status ?? 1;
}

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkEngines } from "../../../src/cli/subcommands/check-engines.js";
import { tempDir } from "../../helpers/temp.js";

/** A directory with scripts as programs. */
function programs(scripts: Record<string, string>): string {
	const dir = tempDir();
	for (const [name, script] of Object.entries(scripts)) {
		writeFileSync(join(dir, name), `#!/bin/sh\n${script}\n`);
		chmodSync(join(dir, name), 0o755);
	}
	return dir;
}

test("doctor shows which programs for --on work", async () => {
	const path = programs({
		bwrap: '[ "$1" = --unshare-all ] && echo "bubblewrap 0.8.0"',
		ssh: '[ "$1" = -V ] && echo "OpenSSH_9.2p1, OpenSSL 3" >&2',
		docker: '[ "$1" = version ] && echo 27.1.0',
		podman: '[ "$1" = info ] && echo 4.3.1',
		kubectl: "exit 1",
	});
	expect(await checkEngines(path, "docker:web", "linux")).toEqual([
		{ name: "bwrap", state: "ok", text: "bubblewrap 0.8.0" },
		{ name: "ssh", state: "ok", text: "OpenSSH_9.2p1, OpenSSL 3" },
		{ name: "docker", state: "ok", text: "server 27.1.0" },
		{ name: "podman", state: "ok", text: "version 4.3.1" },
		{ name: "kubectl", state: "ok", text: join(path, "kubectl") },
	]);
});

test("doctor says what to do about missing and failing programs, and which of them the setting on needs", async () => {
	const path = programs({
		docker: 'echo "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?" >&2; exit 1',
		podman: "exit 125",
	});
	expect(await checkEngines(path, "kubectl:prod/web/srv", "win32")).toEqual([
		{
			name: "ssh",
			state: "note",
			text: "not installed",
			fix: "install the OpenSSH client to use --on ssh:",
		},
		{
			name: "docker",
			state: "note",
			text: "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
			fix: "start the Docker server, or choose another with docker context use",
		},
		{ name: "podman", state: "note", text: "exited with code 125", fix: "see podman info" },
		{
			name: "kubectl",
			state: "problem",
			text: "not installed",
			fix: "install kubectl to use --on kubectl:",
		},
	]);
});

test("doctor says why the sandbox does not work", async () => {
	const refused = "bwrap: No permissions to create a new namespace";
	const path = programs({ bwrap: `echo "${refused}" >&2; exit 1` });
	const [finding] = await checkEngines(path, "sandbox:", "linux");
	const fix = "see docs/hosts.md about namespaces";
	expect(finding).toEqual({ name: "bwrap", state: "problem", text: refused, fix });
	const [missing] = await checkEngines(programs({}), undefined, "linux");
	expect(missing).toMatchObject({ state: "note", fix: "install the package bubblewrap to use --on sandbox:" });
});

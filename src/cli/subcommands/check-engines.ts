import { exec } from "../../util/process.js";
import { nonBlankLines } from "../../util/trim.js";
import type { Finding } from "./finding.js";

const TIMEOUT_MS = 5000;

/** A program that `--on` needs. */
interface Engine {
	/** Of its hosts. Default: the name of the program. */
	scheme?: string;
	program: string;
	/** The program that checks it. Default: itself. */
	run?: string;
	/** Its arguments: it prints one line if the program can be used. */
	check: readonly string[];
	/** What that line is. */
	label: string;
	/** What to do if it is missing. */
	install: string;
	/** What to do if it fails. */
	fix: string;
}

const SANDBOX: Partial<Record<NodeJS.Platform, Engine>> = {
	linux: {
		scheme: "sandbox",
		program: "bwrap",
		// Runs in namespaces of its own, which some systems do not allow.
		check: ["--unshare-all", "--ro-bind", "/", "/", "bwrap", "--version"],
		label: "",
		install: "install the package bubblewrap to use --on sandbox:",
		fix: "see docs/hosts.md about namespaces",
	},
	darwin: {
		scheme: "sandbox",
		program: "sandbox-exec",
		check: ["-p", "(version 1)(allow default)", "/bin/echo", "works"],
		label: "",
		install: "macOS contains it: correct PATH",
		fix: "see docs/hosts.md",
	},
};

const REMOTE: readonly Engine[] = [
	{
		program: "ssh",
		check: ["-V"],
		label: "",
		install: "install the OpenSSH client to use --on ssh:",
		fix: "reinstall the OpenSSH client",
	},
	{
		program: "docker",
		check: ["version", "--format", "{{.Server.Version}}"],
		label: "server ",
		install: "install Docker to use --on docker:",
		fix: "start the Docker server, or choose another with docker context use",
	},
	{
		program: "podman",
		check: ["info", "--format", "{{.Version.Version}}"],
		label: "version ",
		install: "install Podman to use --on podman:",
		fix: "see podman info",
	},
	{
		program: "kubectl",
		// Some distributions contact the cluster for any question, which may ask the user to log in.
		run: "/bin/sh",
		check: ["-c", "command -v kubectl || exit 127"],
		label: "",
		install: "install kubectl to use --on kubectl:",
		fix: "reinstall kubectl",
	},
];

/**
 * Checks the programs that `--on` needs.
 * @param path the variable PATH; without one, nothing is checked
 * @param on the setting `on`: what it needs and does not work is a problem
 */
export async function checkEngines(
	path: string | undefined,
	on: string | undefined,
	platform: NodeJS.Platform = process.platform,
): Promise<Finding[]> {
	if (path === undefined) return [];
	const sandbox = SANDBOX[platform];
	return Promise.all(
		[...(sandbox ? [sandbox] : []), ...REMOTE].map(async (engine): Promise<Finding> => {
			const { program, scheme = program, run = program, check, label, install, fix } = engine;
			const { code, stdout, stderr, killed } = await exec(run, check, {
				timeout: TIMEOUT_MS,
				env: { PATH: path },
			});
			const [line = ""] = nonBlankLines(`${stdout}\n${stderr}`);
			if (code === 0) return { name: program, state: "ok", text: label + line };
			const state = on?.startsWith(`${scheme}:`) ? "problem" : "note";
			if (code === 127) return { name: program, state, text: "not installed", fix: install };
			const text = killed ? `did not answer within ${TIMEOUT_MS / 1000} s` : line || `exited with code ${code}`;
			return { name: program, state, text, fix };
		}),
	);
}

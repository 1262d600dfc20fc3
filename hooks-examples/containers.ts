/**
 * Runs the tools in a container that already runs: `pi --on docker:web/srv/app`, `podman:web`,
 * `kubectl:namespace/pod:container/path`. The installed `docker`, `podman` or `kubectl` starts each command with `exec -i`,
 * with your contexts and rights; pi adds nothing to the container. It needs `sh` there.
 *
 * Without a container, `kubectl:a/b/c` means the pod `b` in the namespace `a` if it exists, else the pod `a`; `kubectl:a:/b/c`
 * is always the pod `a`.
 */
import { spawn } from "node:child_process";
import type { HookAPI, ToolHostContext } from "@mariozechner/pi-coding-agent/hooks";

/** How to start a program in a container. */
export interface Container {
	/** As in `docker web`. */
	name: string;
	program: Engine;
	/** Arguments before the command. */
	args: readonly string[];
	/** Absolute, or below `~`; undefined: where the container's programs start. */
	cwd: string | undefined;
}

type Engine = "docker" | "podman" | "kubectl";

const PACKAGES = { docker: "Docker", podman: "Podman", kubectl: "kubectl" } as const;
const LIST = { docker: "docker ps -a", podman: "podman ps -a", kubectl: "kubectl get pods -A" } as const;
const NAME = "[A-Za-z0-9][\\w.-]*";
const CONTAINER = new RegExp(`^(${NAME}):?(/.*)?$`, "s");
/** Namespace, pod, container, path. */
const POD_AND_CONTAINER = new RegExp(`^(?:(${NAME})/)?(${NAME}):(${NAME})?(/.*)?$`, "s");
const NAMESPACE_AND_POD = new RegExp(`^(${NAME})/(${NAME})(/.*)?$`, "s");

/** What to do about what an engine says. The first match counts. */
const ADVICE: readonly (readonly [RegExp, (container: Container) => string])[] = [
	[/ENOENT|command not found/, ({ program }) => `install ${PACKAGES[program]}`],
	[/executable file.*not found|exec: "sh"|no such file or directory.*\bsh\b/, () => "the image must contain sh"],
	[
		/not running|container state improper|is paused/,
		({ program, args }) => `start it: ${program} start ${args.at(-1)}`,
	],
	[
		/no such container|no container with|NotFound|not valid for pod|not found/i,
		({ program }) => `see ${LIST[program]}`,
	],
	[/forbidden|unauthorized|permission denied/i, ({ program }) => `your account may not use ${program} exec there`],
	[/daemon|connection to the server|connect to the server|dial |refused/i, ({ program }) => `see ${program} version`],
];

export default function containers(pi: HookAPI): void {
	pi.toolHost("docker", ({ rest }, ctx) => connect([parseContainer("docker", rest)], ctx));
	pi.toolHost("podman", ({ rest }, ctx) => connect([parseContainer("podman", rest)], ctx));
	pi.toolHost("kubectl", ({ rest }, ctx) => connect(parsePod(rest), ctx));
}

/** Reads what follows `docker:` or `podman:`. @throws Error that says what is valid */
export function parseContainer(program: "docker" | "podman", rest: string): Container {
	const [, container, path] = CONTAINER.exec(rest.replace(/^\/\//, "")) ?? [];
	if (container === undefined) {
		throw badSpec(`"${program}:${rest}" names no container: use ${program}:container[/path]; see ${LIST[program]}`);
	}
	return { name: `${program} ${container}`, program, args: ["exec", "-i", container], cwd: directory(path) };
}

/**
 * Reads what follows `kubectl:`. Without a container, the first name may be a namespace or a pod.
 * @returns what it may mean, the likelier first
 * @throws Error that says what is valid
 */
export function parsePod(rest: string): Container[] {
	const text = rest.replace(/^\/\//, "");
	const named = POD_AND_CONTAINER.exec(text);
	if (named) return [describePod(named[2] ?? "", { namespace: named[1], container: named[3], path: named[4] })];
	const alone = CONTAINER.exec(text);
	if (!alone) {
		throw badSpec(`"kubectl:${rest}" names no pod: use kubectl:[namespace/]pod[:container]/path; see ${LIST.kubectl}`);
	}
	const pod = describePod(alone[1] ?? "", { path: alone[2] });
	const within = NAMESPACE_AND_POD.exec(text);
	if (!within) return [pod];
	const [, namespace, name = "", path] = within;
	const inNamespace = describePod(name, { namespace, path });
	return path === undefined ? [pod, inNamespace] : [inNamespace, pod];
}

function describePod(
	pod: string,
	{ namespace, container, path }: { namespace?: string; container?: string; path?: string },
): Container {
	const args = [
		...["exec", "-i", ...(namespace === undefined ? [] : ["-n", namespace])],
		...[pod, ...(container === undefined ? [] : ["-c", container]), "--"],
	];
	const name = `${namespace === undefined ? "" : `${namespace}/`}${pod}${container === undefined ? "" : `:${container}`}`;
	return { name: `kubectl ${name}`, program: "kubectl", args, cwd: directory(path) };
}

function badSpec(message: string): Error {
	return Object.assign(new Error(message), { code: "bad_arguments" });
}

function directory(path: string | undefined): string | undefined {
	return path?.replace(/^\/~(?=\/|$)/, "~");
}

/** Connects to the first of these containers that works. @throws Error of the first */
async function connect(candidates: readonly Container[], { shellHost, signal }: ToolHostContext) {
	const failures: unknown[] = [];
	for (const container of candidates) {
		const { name, program, args, cwd } = container;
		const engine = {
			name,
			// Not in the terminal's process group: Ctrl+C is for pi.
			spawn: (command: readonly string[]) => spawn(program, [...args, ...command], { stdio: "pipe", detached: true }),
		};
		try {
			return await shellHost(engine, { cwd, signal });
		} catch (error) {
			signal.throwIfAborted();
			failures.push(withAdvice(error, container));
		}
	}
	throw failures[0];
}

function withAdvice(error: unknown, container: Container): unknown {
	const advice = ADVICE.find(([pattern]) => pattern.test(String(error)))?.[1](container);
	if (advice === undefined) return error;
	const message = `${error instanceof Error ? error.message : error}: ${advice}`;
	return Object.assign(new Error(message, { cause: error }), { code: "host_unreachable" });
}

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { BUILTIN_COMMANDS } from "../../commands/builtin/index.js";
import { PiError } from "../../errors.js";
import { errnoCode } from "../../util/fs.js";
import { printJson, printLines } from "../standard-io.js";
import { compilerConfig } from "./compiler-config.js";
import type { SubcommandContext } from "./location.js";

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

/**
 * `pi hooks new NAME`: writes a working hook and, if missing, a tsconfig.json so that editors and tsc find its types.
 * @param inProject writes to the hooks of the project instead of those of the user
 * @throws PiError `bad_arguments` for an invalid name and for a hook that already exists; `config_write_failed`
 */
export async function newHook(
	{ target, inProject }: { target: string; inProject: boolean },
	{ location: { paths }, options, io }: SubcommandContext,
): Promise<number> {
	const name = target.replace(/\.ts$/, "");
	if (!NAME.test(name)) {
		throw new PiError("bad_arguments", `Invalid hook name ${JSON.stringify(target)}`, {
			hint: "use up to 64 letters, digits, _ and -",
		});
	}
	if (BUILTIN_COMMANDS.some(({ name: builtin, aliases = [] }) => [builtin, ...aliases].includes(name))) {
		throw new PiError("bad_arguments", `/${name} is a built-in command`, { hint: "choose another name" });
	}
	const dir = inProject ? paths.project.hooks : paths.hooks;
	const file = join(dir, `${name}.ts`);
	const other = join(dir, name, "index.ts");
	if (existsSync(other)) throw alreadyExists(other);
	const tsconfig = join(dir, "tsconfig.json");
	write(file, hookSource(name));
	const wroteConfig = !existsSync(tsconfig);
	if (wroteConfig) write(tsconfig, `${JSON.stringify(compilerConfig(), null, "\t")}\n`);
	if (options.json) {
		await printJson(io, { path: file, tsconfig: wroteConfig ? tsconfig : null });
		return 0;
	}
	const shown = inProject ? relative(paths.cwd, file) : file;
	await printLines(io, [
		`Wrote ${file}`,
		...(wroteConfig ? [`Wrote ${tsconfig}`] : []),
		"",
		`Next: pi hooks check ${shown}   load the hook and list what it registers`,
		`      pi hooks test ${shown}    run it on a sample session`,
		`      /reload in a running pi, then /${name}${inProject ? "; project hooks must be trusted first: pi hooks trust" : ""}`,
	]);
	return 0;
}

function write(path: string, text: string): void {
	try {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		// Never writable by others, whatever the umask: pi would refuse to load it.
		writeFileSync(path, text, { flag: "wx", mode: 0o644 });
	} catch (cause) {
		if (errnoCode(cause) === "EEXIST") throw alreadyExists(path);
		throw new PiError("config_write_failed", `Cannot write ${path}`, { cause });
	}
}

function alreadyExists(path: string): PiError {
	return new PiError("bad_arguments", `${path} already exists`, { hint: "choose another name" });
}

function hookSource(name: string): string {
	return `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Counts the tool calls of a run and blocks git push. */
export default function (pi: HookAPI) {
	let calls = 0;

	pi.on("agent_start", () => {
		calls = 0;
	});

	// Runs before each tool call. Return nothing to allow the call.
	pi.on("tool_call", (event) => {
		calls++;
		if (event.toolName === "bash" && String(event.input.command).includes("git push")) {
			return { block: true, reason: "Only the user may push. Describe what you would push instead." };
		}
	});

	pi.command(${JSON.stringify(name)}, {
		description: "Show how many tools the last run called",
		handler: (ctx) => ({ status: \`\${calls} tool calls, \${ctx.entries.length} entries in the session\` }),
	});
}
`;
}

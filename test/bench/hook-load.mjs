// Measures how much one hook adds to the start of a session of the built program: when it is loaded for the first time ever,
// without jiti or with it, and when it is in the cache. Runs with the Node that runs it.
// Usage: node test/bench/hook-load.mjs [rounds] [name of an extension of test/fixtures/extensions]…
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleave, summarize } from "./lib/stats.mjs";

const SCRIPT = fileURLToPath(import.meta.url);
/** Names of extensions to measure; none: all. */
const only = process.argv.length > 3 ? process.argv.slice(3) : null;

const EXTENSIONS = fileURLToPath(new URL("../fixtures/extensions/", import.meta.url));
const isExtension = (path) => path.endsWith(".extension.ts");

/** A hook that registers and imports the same as an extension, to compare their times. */
function equalHook(extension) {
	const types = /^import type .*;\n/gm;
	const values = [...extension.replace(types, "").matchAll(/^import (?!type)\{([^}]*)\} from "([^"]*)";/gm)].map(
		([, names, specifier]) => {
			const wanted = names.split(",").filter((name) => !name.trim().startsWith("type "));
			const local = specifier.replace("@earendil-works/", "@mariozechner/");
			return { names: wanted.map((name) => name.trim()), specifier: local };
		},
	);
	// The package of hooks has other values: those of extensions are the adapter's own cost.
	const shared = values.filter(({ specifier }) => !specifier.endsWith("pi-coding-agent"));
	const imports = shared.map(({ names, specifier }) => `import { ${names.join(", ")} } from "${specifier}";`);
	const uses = shared.flatMap(({ names }) => names);
	const parameters = uses.includes("Type") ? "Type.Object({})" : '{ type: "object", properties: {} }';
	/** What extensions register, and the same of hooks. */
	const registers = {
		registerTool: `pi.tool({ name: "equal", description: "Equal.", parameters: ${parameters}, run: () => ({ content: [] }) });`,
		registerFlag: 'pi.flag("equal", { description: "Equal", type: "string" });',
		registerShortcut: 'pi.shortcut("ctrl+alt+e", { description: "Equal", handler: () => {} });',
		setStatus: 'pi.on("session", (event, ctx) => ctx.ui.setStatus("equal", "ready"));',
	};
	const registered = Object.entries(registers).flatMap(([name, line]) => (extension.includes(name) ? [line] : []));
	return `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
${imports.join("\n")}
export const used = [${uses.join(", ")}];
export default function (pi: HookAPI): void {
	pi.on("session", () => {});
	pi.on("context", () => {});
	pi.command("equal", { handler: () => {} });
	pi.entry("equal", { render: () => "" });
	${registered.join("\n\t")}
}
`;
}

/** A typical hook of 30 lines. @param extra imports, and code that decides who loads it */
const source = (extra) => `import type { HookAPI, SessionEntry } from "@mariozechner/pi-coding-agent/hooks";

interface Note { type: "note"; text: string }
${extra}

const isNote = (entry: SessionEntry): entry is SessionEntry & Note => entry.type === "note" && "text" in entry;

export default function (pi: HookAPI): void {
	let turns: number = 0;
	pi.entry("note", { render: (entry, theme) => theme.accent(isNote(entry) ? entry.text : "") });
	pi.on("turn_end", () => { turns++; });
	pi.on("context", ({ entries, messages }) => {
		const notes = entries.filter(isNote).map(({ text }) => text);
		if (notes.length === 0) return;
		return { messages: [{ role: "user", content: notes.join("\\n"), timestamp: 0 }, ...messages] };
	});
	pi.command("note", {
		description: "Remember something",
		async handler(ctx) {
			await ctx.saveEntry({ type: "note", text: ctx.argsRaw } satisfies Note);
			return { status: \`Noted after \${turns} turns, \${messageText.length}\` };
		},
	});
	pi.on("tool_call", (event): { block: true; reason: string } | undefined => {
		if (event.toolName === "bash" && String(event.input.command).includes("push")) return { block: true, reason: "no" };
	});
}
`;

if (process.argv[2] === "start") await start(process.argv[3], process.argv.slice(4));
else await measure(Number(process.argv[2] ?? 15));

/** Starts a session with these hooks and prints the wall and CPU time that the start took, in ms. */
async function start(agentDir, hooks) {
	module.enableCompileCache?.(join(agentDir, "cache", "node"));
	const { createAgentSession } = await import("../../dist/index.cjs");
	const session = await createAgentSession({
		...{ cwd: agentDir, home: agentDir, env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH } },
		...{ session: { kind: "memory" }, hooks: hooks.filter((path) => !isExtension(path)) },
		...{ extensions: hooks.filter(isExtension), discoverHooks: false, localServers: { ports: {} } },
	});
	const problems = [];
	session.subscribe((event) => event.type === "notice" && event.level === "error" && problems.push(event.message));
	const startedAt = performance.now();
	const usedBefore = process.cpuUsage();
	await session.start();
	const { user, system } = process.cpuUsage(usedBefore);
	console.log(JSON.stringify({ wall: performance.now() - startedAt, cpu: (user + system) / 1000 }));
	await session.dispose();
	if (problems.length > 0) throw new Error(problems.join("\n"));
}

/** The fixtures that users would write; the probe uses everything. */
function extensionNames() {
	const files = readdirSync(EXTENSIONS).filter((name) => name.endsWith(".ts") && name !== "probe.ts");
	return files.map((name) => name.slice(0, -3)).filter((name) => !only || only.includes(name));
}

async function measure(rounds) {
	const agentDir = mkdtempSync(join(tmpdir(), "pi-hook-load-"));
	try {
		mkdirSync(join(agentDir, "files"));
		const write = (name, extra) => {
			const path = join(agentDir, "files", `${name}.ts`);
			writeFileSync(path, source(extra));
			return path;
		};
		const simple = write("simple", "export enum Color { red }");
		const others = write("others", 'import data from "./data.json";\nexport { data };');
		writeFileSync(join(agentDir, "files", "data.json"), "{}");
		const typebox = write("typebox", 'import { Type } from "typebox";\nexport const schema = Type.String();');
		const decorated = write("decorated", "function mark(target: unknown): void {}\n@mark\nexport class Marked {}");
		const pairs = extensionNames().map((name) => {
			const code = readFileSync(join(EXTENSIONS, `${name}.ts`), "utf8");
			const path = join(agentDir, "files", `${name}.extension.ts`);
			const hook = join(agentDir, "files", `${name}.hook.ts`);
			writeFileSync(path, code);
			writeFileSync(hook, equalHook(code));
			return { name, path, hook };
		});
		const time = (isFirst, ...hooks) => () => {
			if (isFirst) rmSync(join(agentDir, "cache", "jiti"), { recursive: true, force: true });
			return JSON.parse(execFileSync(process.execPath, [SCRIPT, "start", agentDir, ...hooks], { encoding: "utf8" }));
		};
		const runs = {
			none: time(false),
			"first load, without jiti": time(true, simple),
			"cached, without jiti": time(false, simple),
			"first load, with typebox": time(true, typebox),
			"first load, with jiti": time(true, others),
			"cached, with jiti": time(false, others),
			"first load, with a decorator": time(true, decorated),
			"cached, with a decorator": time(false, decorated),
			...Object.fromEntries(
				pairs.flatMap(({ name, path, hook }) => [
					[`first, ${name}`, time(true, path)],
					[`cached, ${name}`, time(false, path)],
					[`first, a hook equal to ${name}`, time(true, hook)],
					[`cached, a hook equal to ${name}`, time(false, hook)],
				]),
			),
		};
		// Fills the cache of compiled code of pi itself.
		for (const run of Object.values(runs)) run();
		const { none, ...measured } = await interleave(rounds, runs);
		console.log(`Node ${process.version}, ${rounds} rounds; added to the start of a session: min / median / max ms`);
		for (const [name, values] of Object.entries(measured)) {
			for (const kind of ["wall", "cpu"]) {
				const { min, median, max } = summarize(values[kind].map((value, round) => value - none[kind][round]));
				const shown = [min, median, max].map((value) => value.toFixed(1)).join(" / ");
				console.log(`${name.padEnd(44)}${kind.padEnd(6)}${shown}`);
			}
		}
	} finally {
		rmSync(agentDir, { recursive: true, force: true });
	}
}

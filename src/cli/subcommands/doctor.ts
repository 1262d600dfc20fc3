import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Environment } from "../../config/paths.js";
import { projectRoot } from "../../config/project-files.js";
import { terminalColors } from "../../config/terminal-colors.js";
import { listThemeFiles, loadThemeFile } from "../../config/theme-files.js";
import { describeError, PiError } from "../../errors.js";
import { discoverTools, loadTools, mergeTools } from "../../hooks/load-tools.js";
import { environmentProviders } from "../../models/env-keys.js";
import { findLocalModels } from "../../models/local-servers.js";
import { loadModelSources } from "../../models/model-sources.js";
import { plural } from "../../modes/format.js";
import type { ModeIO } from "../../modes/mode.js";
import { loadContextFiles } from "../../resources/context-files.js";
import { loadPromptTemplates } from "../../resources/prompt-templates.js";
import { loadSkills } from "../../resources/skills.js";
import { skillLocations, templateLocations } from "../../services/resources/resource-files.js";
import { BUILT_IN_THEMES, isBuiltIn } from "../../themes/built-in.js";
import { BUILTIN_TOOLS } from "../../tools/index.js";
import { createLocalMachine, startRipgrep } from "../../tools/machine/local-machine.js";
import { runShell } from "../../tools/shell.js";
import { findProjectSet, isTrusted, loadTrust } from "../../trust/store.js";
import { ensurePrivateDir } from "../../util/fs.js";
import { didYouMean } from "../../util/nearest.js";
import { packageRoot, packageVersion } from "../../util/package-root.js";
import type { SubcommandOptions } from "../options.js";
import { printJson, printLines, tableLines } from "../standard-io.js";
import { checkEngines } from "./check-engines.js";
import { findHooks } from "./find-hooks.js";
import type { Finding } from "./finding.js";
import type { Location, SubcommandContext } from "./location.js";

const OLDEST_NODE = 20;
const SHELL_TIMEOUT_MS = 5000;

/** `pi doctor`: checks the setup and prints how to fix problems. @returns 1 when there is a problem */
export async function runDoctor({ location, options, io }: SubcommandContext): Promise<number> {
	const findings = [
		...checkProgram(),
		checkTerminal(location, io),
		...checkTheme(location),
		...checkFiles(location),
		...(await checkShell(location)),
		await checkRipgrep(location),
		...(await checkEngines(location.env.PATH, location.settings.on)),
		...(await checkModels(location)),
		...(await checkPackages(location)),
		...(await checkHooks(location, options)),
		...(await checkTools(location)),
		...(await checkServers(location)),
		...(await checkResources(location)),
	];
	const problems = findings.filter(({ state }) => state === "problem");
	if (options.json) await printJson(io, { problems: problems.length, findings });
	else {
		const rows = findings.map(({ name, state, text, fix }) => [
			MARKS[state],
			name,
			fix === undefined ? text : `${text} · ${fix}`,
		]);
		const summary = problems.length === 0 ? "No problems" : plural(problems.length, "problem");
		await printLines(io, [...tableLines(rows), "", summary]);
	}
	return problems.length === 0 ? 0 : 1;
}

const MARKS = { ok: "ok", note: "-", problem: "!!" } as const;

function checkProgram(): Finding[] {
	const version = process.versions.node;
	const isOld = Number.parseInt(version, 10) < OLDEST_NODE;
	return [
		{ name: "pi", state: "ok", text: `${packageVersion()} in ${packageRoot()}` },
		isOld
			? { name: "node", state: "problem", text: version, fix: `install Node ${OLDEST_NODE} or newer` }
			: { name: "node", state: "ok", text: `${version} on ${process.platform} ${process.arch}` },
	];
}

function checkTerminal({ env }: Location, io: ModeIO): Finding {
	const name = "terminal";
	if (!io.outIsTerminal) return { name, state: "note", text: "none: stdout is a file or a pipe" };
	const { columns, rows } = process.stdout;
	const term = env.TERM ?? "";
	const { level, reason } = terminalColors(env);
	const colors = `${COLORS[level]} (${reason})`;
	const program = env.TERM_PROGRAM ? `${env.TERM_PROGRAM}, ` : "";
	const text = `${program}${term || "TERM is not set"}, ${columns}×${rows}, ${colors}`;
	if (term === "") return { name, state: "problem", text, fix: "set TERM, or use pi -p" };
	if (term === "dumb") return { name, state: "note", text: `${text}, uses plain mode` };
	const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
	if (!/utf-?8/i.test(locale) && process.platform === "linux") {
		const fix = "set LANG to a UTF-8 locale";
		return { name, state: "problem", text: `${text}, locale ${locale || "not set"}`, fix };
	}
	return { name, state: "ok", text };
}

const COLORS = ["no colors", "16 colors", "256 colors", "true color"] as const;

/** Checks the theme of the settings; one finding for each problem in its file. */
function checkTheme({ env, paths, settings }: Location): Finding[] {
	const name = "theme";
	const chosen = settings.theme ?? "auto";
	const files = listThemeFiles({ user: paths.themes, project: paths.project.themes, root: projectRoot(paths) });
	const file = files.find((theme) => theme.name === chosen);
	if (chosen === "auto" || isBuiltIn(chosen)) {
		const { background } = terminalColors(env);
		const known = chosen === "auto" && background !== null ? `, ${background} according to COLORFGBG` : "";
		return [{ name, state: "ok", text: `${chosen}${known}` }];
	}
	if (!file) {
		const names = [...Object.keys(BUILT_IN_THEMES), ...files.map((theme) => theme.name)];
		const fix = didYouMean(chosen, names) ?? `use ${names.join(", ")}`;
		return [{ name, state: "problem", text: `theme ${JSON.stringify(chosen)} does not exist`, fix }];
	}
	const { problems } = loadThemeFile(file);
	if (problems.length === 0) return [{ name, state: "ok", text: `${chosen} in ${file.path}` }];
	return problems.map((text) => ({ name, state: "problem", text }));
}

function checkFiles({ paths, warnings }: Location): Finding[] {
	const findings: Finding[] = [checkAgentDir(paths.agentDir)];
	for (const warning of warnings) findings.push({ name: "settings", state: "problem", text: warning });
	const { warning, projects } = loadTrust(paths.agentDir);
	findings.push(
		warning === undefined
			? { name: "trust", state: "ok", text: plural(projects.size, "trusted project") }
			: { name: "trust", state: "problem", text: warning },
	);
	return findings;
}

function checkAgentDir(dir: string): Finding {
	const name = "files";
	const existing = nearestExisting(dir);
	try {
		accessSync(existing, constants.W_OK);
	} catch {
		return { name, state: "problem", text: `${dir} is not writable`, fix: `chown or chmod ${existing}` };
	}
	if (existing !== dir) return { name, state: "note", text: `${dir} does not exist yet; pi creates it when needed` };
	const isOpen = process.platform !== "win32" && (statSync(dir).mode & 0o022) !== 0;
	return isOpen
		? { name, state: "problem", text: `other users can write to ${dir}`, fix: `chmod go-w ${dir}` }
		: { name, state: "ok", text: dir };
}

function nearestExisting(path: string): string {
	let at = path;
	while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
	return at;
}

async function checkShell({ paths, settings }: Location): Promise<Finding[]> {
	const { shellPath } = settings;
	const name = "shell";
	try {
		ensurePrivateDir(paths.tmp);
		const result = await runShell(createLocalMachine(paths.cwd), "printf %s ok", {
			tmpDir: paths.tmp,
			timeoutMs: SHELL_TIMEOUT_MS,
			...(shellPath === undefined ? {} : { shellPath }),
		});
		if (result.exitCode === 0) return [{ name, state: "ok", text: shellPath ?? "bash or sh" }];
		const text = result.failure ?? `the shell exited with ${result.exitCode ?? result.exitSignal}`;
		return [{ name, state: "problem", text, fix: shellPath ? "correct shellPath in settings.json" : "install bash" }];
	} catch (error) {
		return [{ name, state: "problem", text: describeError(error) }];
	}
}

async function checkRipgrep({ paths }: Location): Promise<Finding> {
	let version = "";
	const { failure } = await startRipgrep(["--version"], {
		cwd: paths.cwd,
		signal: new AbortController().signal,
		onOutput(chunk) {
			version += chunk.toString();
			return undefined;
		},
	});
	return failure === undefined
		? { name: "ripgrep", state: "ok", text: version.split("\n")[0] ?? "" }
		: { name: "ripgrep", state: "problem", text: failure, fix: "reinstall pi, or install ripgrep" };
}

async function checkModels({ env, paths, settings, localServers }: Location): Promise<Finding[]> {
	const warnings: string[] = [];
	const [{ registry, credentials }, local] = await Promise.all([
		loadModelSources({ paths, env, settings, onWarning: (line) => warnings.push(line) }),
		findLocalModels({ env, ...localServers }),
	]);
	const findings = warnings.map((text): Finding => ({ name: "models", state: "problem", text }));
	const providers = new Set([...registry.providers, ...environmentProviders()]);
	const keys = [...providers].flatMap((provider) => {
		const source = credentials.keySource(provider);
		return source === undefined || source === "no key needed" ? [] : [`${provider} (${source})`];
	});
	findings.push({ name: "keys", state: keys.length > 0 ? "ok" : "note", text: keys.join(", ") || "none" });
	const servers = new Map<string, number>();
	for (const { provider } of local) servers.set(provider, (servers.get(provider) ?? 0) + 1);
	const found = [...servers].map(([server, count]) => `${server} with ${plural(count, "model")}`).join(", ");
	findings.push({
		name: "servers",
		state: "note",
		text: found || "none on this machine",
	});
	registry.registerModels(local);
	try {
		const { model, warning } = registry.defaultModel({ settings });
		const text = `${model.provider}/${model.id}`;
		findings.push(
			warning ? { name: "model", state: "problem", text: `${text}: ${warning}` } : { name: "model", state: "ok", text },
		);
	} catch (error) {
		// Not a problem: pi offers /setup at its next start.
		const { message, hint } = error instanceof PiError ? error : { message: describeError(error), hint: undefined };
		findings.push({ name: "model", state: "note", text: message, ...(hint === undefined ? {} : { fix: hint }) });
	}
	return findings;
}

async function checkHooks(location: Location, options: SubcommandOptions): Promise<Finding[]> {
	const { attempts, untrusted, problems } = await findHooks(location, options);
	const name = "hooks";
	const loaded = attempts.filter(({ hook }) => hook !== null).map(({ file }) => file.name);
	const skipped = untrusted.join(", ");
	return [
		{ name, state: loaded.length > 0 ? "ok" : "note", text: loaded.join(", ") || "none loaded" },
		...problems.map((text): Finding => ({ name, state: "problem", text })),
		...attempts.flatMap(({ error }): Finding[] => (error === null ? [] : [{ name, state: "problem", text: error }])),
		...(skipped
			? [{ name, state: "note" as const, text: `not run, not trusted: ${skipped}`, fix: "pi hooks trust" }]
			: []),
	];
}

/** Checks the packages of the settings: whether they are installed, unchanged and trusted. */
async function checkPackages(location: Location): Promise<Finding[]> {
	if (location.settings.packages.length === 0) return [];
	const name = "packages";
	const { findPackageStates } = await import("./list-packages.js");
	return (await findPackageStates(location)).map(({ configured, loaded, set, problem }): Finding => {
		if (!loaded || !set) {
			const [text = "", fix] = (problem ?? "").split(" · ");
			return { name, state: "problem", text, ...(fix === undefined ? {} : { fix }) };
		}
		const text = [configured.name, loaded.version].filter(Boolean).join(" ");
		if (isTrusted(set)) return { name, state: "ok", text };
		return {
			name,
			state: "note",
			text: `${text} is not trusted`,
			fix: "start pi in a terminal and answer the question",
		};
	});
}

/** Checks the files that define MCP servers. Starts no server. */
async function checkServers({ env, paths }: Location): Promise<Finding[]> {
	const name = "mcp";
	const { cwd, home, project } = paths;
	const sources = [
		{ path: paths.mcp, scope: "user" as const },
		{ path: project.sharedMcp, scope: "shared" as const },
		{ path: project.mcp, scope: "project" as const },
	].filter(({ path }) => existsSync(path));
	if (sources.length === 0) return [];
	const { loadMcpConfig } = await import("../../mcp/config.js");
	const { servers, problems } = loadMcpConfig(sources, { env, cwd, home });
	const list = servers.map(({ name: server, isDisabled }) => (isDisabled ? `${server} (off)` : server)).join(", ");
	const missing = servers.flatMap(({ name: server, address, isDisabled, source }) =>
		address.kind === "stdio" && !isDisabled && !findCommand(address.command, address.cwd, env)
			? [`${source.path}: the command ${address.command} of the server ${server} does not exist`]
			: [],
	);
	const ofProject = sources.filter(({ scope }) => scope !== "user");
	const set =
		ofProject.length > 0 ? await findProjectSet(cwd, loadTrust(paths.agentDir), { env, home: paths.home }) : null;
	return [
		{ name, state: servers.length > 0 ? "ok" : "note", text: list || "no servers" },
		...problems.map((text): Finding => ({ name, state: / the latter is used$/.test(text) ? "note" : "problem", text })),
		...missing.map((text): Finding => ({ name, state: "problem", text, fix: "install it, or correct the command" })),
		...(set && !isTrusted(set)
			? [
					{
						name,
						state: "note" as const,
						text: `not used, not trusted: ${ofProject.map(({ path }) => path).join(", ")}`,
						fix: "pi hooks trust",
					},
				]
			: []),
	];
}

/** Whether a command exists, as the start of a process looks for it. */
function findCommand(command: string, cwd: string, env: Environment): boolean {
	if (command.includes("/") || process.platform === "win32") {
		return process.platform === "win32" || existsSync(resolve(cwd, command));
	}
	return (env.PATH ?? "").split(delimiter).some((dir) => existsSync(join(dir, command)));
}

/** Checks the context files, skills and prompt templates of the user and the project. */
async function checkResources({ paths, settings }: Location): Promise<Finding[]> {
	const [context, skills, prompts] = await Promise.all([
		loadContextFiles(paths),
		loadSkills(settings.skills.enabled ? skillLocations(paths) : []),
		loadPromptTemplates(templateLocations(paths)),
	]);
	const found = [
		{ name: "context", items: context.files.map(({ path }) => path), warnings: context.warnings },
		{ name: "skills", items: skills.skills.map(({ name }) => name), warnings: skills.warnings },
		{ name: "prompts", items: prompts.templates.map(({ name }) => `/${name}`), warnings: prompts.warnings },
	];
	return found.flatMap(({ name, items, warnings }): Finding[] => [
		...(items.length > 0 ? [{ name, state: "ok" as const, text: items.join(", ") }] : []),
		...warnings.map((text) => ({
			name,
			state: / replaces the /.test(text) ? ("note" as const) : ("problem" as const),
			text,
		})),
	]);
}

/** Checks the user's custom tools. Project tools are excluded, because loading them requires trust. */
async function checkTools({ paths, settings }: Location): Promise<Finding[]> {
	const found = discoverTools({
		globalDir: paths.tools,
		projectDir: paths.project.tools,
		cwd: paths.cwd,
		homeDir: paths.home,
		configured: settings.customTools,
		settingsDir: paths.agentDir,
		explicit: [],
		discovery: true,
	});
	const files = found.files.filter(({ scope }) => scope !== "project");
	const { tools, errors } = await loadTools(files, {
		cacheDir: paths.hookCache,
		timeoutMs: settings.hookTimeout,
		cwd: paths.cwd,
	});
	const problems = [...[...found.errors, ...errors].map(describeError), ...mergeTools(BUILTIN_TOOLS, tools).warnings];
	const name = "tools";
	return [
		...(tools.length > 0 ? [{ name, state: "ok" as const, text: tools.map(({ tool }) => tool.name).join(", ") }] : []),
		...problems.map((text): Finding => ({ name, state: "problem", text })),
	];
}

import { join } from "node:path";
import { settingText } from "../commands/builtin/settings.js";
import type { ScreenFacts } from "../commands/pickers.js";
import type { SettingState } from "../config/settings-store.js";
import type { Models, SessionServices } from "../services/service-types.js";
import { describeHooks } from "../session/describe-context.js";
import { plural } from "../util/format-amounts.js";
import { atomicWriteFile, ensurePrivateDir } from "../util/fs.js";
import { packageRoot, packageVersion } from "../util/package-root.js";
import { stripAll } from "../util/sanitize.js";
import type { AgentSession } from "./agent-session.js";

/** Longer strings without white space are binary data such as images and are shortened. UTF-16 units. */
const MAX_DATA = 2000;

type ReportServices = Pick<SessionServices, "store" | "models" | "code">;

/**
 * Writes a debug report to a new file that only this user can read: versions, terminal, screen, session, hooks,
 * settings, and the last request as it was sent. Known keys are redacted.
 * @returns the absolute path
 */
export async function writeDebugReport(
	session: AgentSession,
	services: ReportServices,
	screen: ScreenFacts | null,
): Promise<string> {
	const { store, models } = services;
	const now = new Date();
	const dir = join(store.agentDir, "debug");
	ensurePrivateDir(dir);
	const path = join(dir, `${now.toISOString().replace(/[:.]/g, "-")}.txt`);
	const lines = [
		...programLines(session, services, now),
		...heading("Settings"),
		...store.settings.list().flatMap(settingLine),
		...heading("Hooks"),
		...describeHooks(session.inspector.hookStatuses()),
		...heading("Terminal and screen"),
		...screenLines(screen),
		...heading("Last request"),
		...requestLines(session),
	];
	await atomicWriteFile(path, `${models.redact(lines.join("\n"))}\n`, { mode: 0o600 });
	return path;
}

function programLines(session: AgentSession, { store, models, code }: ReportServices, now: Date): string[] {
	const { model, thinkingLevel, sessionFile, log } = session;
	return [
		`pi ${packageVersion()} in ${packageRoot()}`,
		`node ${process.version} on ${process.platform} ${process.arch}`,
		`written ${now.toISOString()}`,
		`directory ${store.cwd}`,
		`session ${sessionFile ?? "in memory"}, ${plural(log.length, "entry", "entries")}`,
		`model ${model ? `${model.provider}/${model.id} (${model.api})` : "none"}, thinking ${thinkingLevel}`,
		modelListLine(models),
		`tools ${code.tools.map(({ name }) => name).join(", ") || "none"}`,
	];
}

function modelListLine({ offers: { updates } }: Models): string {
	const weekly = updates?.weekly ?? null;
	return `model list: ${updates?.age() ?? "fixed"}${weekly === null ? "" : `, weekly update: ${weekly}`}`;
}

/** One line for a setting that the user or the project has changed. */
function settingLine({ path, value, source }: SettingState): string[] {
	return source === "default" ? [] : [`${path}: ${settingText(value)} (${source})`];
}

function heading(title: string): string[] {
	return ["", `== ${title} ==`];
}

function screenLines(screen: ScreenFacts | null): string[] {
	if (screen === null) return ["none"];
	const terminal = Object.entries(screen.terminal).map(([name, value]) => `${name}=${value}`);
	return [`${screen.columns}×${screen.rows}`, ...terminal, "", ...screen.lines.map((line) => `| ${stripAll(line)}`)];
}

function requestLines({ inspector, context }: AgentSession): string[] {
	const { messages: traced, preamble } = inspector.lastRequest ?? context;
	const sent =
		inspector.lastRequest === null
			? "no request was sent yet; the next one would be:"
			: plural(traced.length, "message");
	const tools = `tools: ${preamble.tools.map(({ name }) => name).join(", ") || "none"}`;
	const messages = traced.map(({ entryIndex, message }) => JSON.stringify({ entryIndex, ...message }, shorten));
	return [sent, "", stripAll(preamble.systemPrompt), "", stripAll(tools), "", ...messages];
}

function shorten(_key: string, value: unknown): unknown {
	const isData = typeof value === "string" && value.length > MAX_DATA && !/\s/.test(value);
	return isData ? `${value.slice(0, 40)}… (${value.length} characters)` : value;
}

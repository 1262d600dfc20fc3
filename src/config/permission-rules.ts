import { existsSync, realpathSync, renameSync } from "node:fs";
import { join } from "node:path";
import { PiError } from "../errors.js";
import { readJsonObject } from "./json-file.js";
import { expected, readBySchema } from "./json-schema.js";
import { type RuleLists, SETTINGS_SCHEMA } from "./settings-schema.js";
import type { SettingSource, SettingsStore } from "./settings-store.js";

/** What a rule says about the tool calls that it covers. */
export type PermissionAction = "allow" | "ask" | "deny";

/**
 * Where a rule is from: of the user for all projects (`everywhere`) or for this one (`here`), of the project's settings.json
 * (`project`), or of the program that started the session (`program`).
 */
export type PermissionScope = "everywhere" | "here" | "project" | "program";

/** A rule for tool calls, as the settings have it. */
export interface PermissionRule {
	readonly action: PermissionAction;
	/** A tool, or a tool and a pattern: `write`, `bash(git push *)`. */
	readonly rule: string;
	readonly scope: PermissionScope;
}

/** The rules for tool calls in the settings. */
export interface PermissionSettings {
	/**
	 * The rules that hold in this project, read again from the files. A project cannot allow anything.
	 * @throws PiError `config_invalid` if a file or a rule is malformed: a rule may be missing
	 */
	list(): Promise<PermissionRule[]>;
	/** Saves a rule `everywhere` or `here`, once. @throws PiError `bad_arguments`, `config_invalid`, `config_write_failed` */
	add(rule: PermissionRule): Promise<void>;
	/** Removes a rule of the user. @throws as `add` */
	remove(rule: PermissionRule): Promise<void>;
}

const ACTIONS = ["deny", "ask", "allow"] as const;
const RULE = SETTINGS_SCHEMA.properties.permissions.properties.allow.items;
const PROJECTS = SETTINGS_SCHEMA.properties.permissions.properties.projects;

/** The rules for tool calls in the settings of a project. */
export function createPermissionSettings(
	settings: SettingsStore,
	{ agentDir, cwd }: { agentDir: string; cwd: string },
	onMoved: (line: string) => void,
): PermissionSettings {
	const project = () => realpathSync(cwd);
	const check = () => {
		const damage = settings.findDamagedRules();
		if (damage === null) return;
		throw new PiError("config_invalid", `The permission rules are incomplete: ${damage}`, { hint: "fix the file" });
	};
	const change = async ({ action, rule, scope }: PermissionRule, edit: (rules: readonly string[]) => string[]) => {
		if (scope !== "everywhere" && scope !== "here") {
			const file = scope === "project" ? join(cwd, ".pi", "settings.json") : "the program that started pi";
			throw new PiError("bad_arguments", `pi cannot change the rule ${rule}`, { hint: `it is a rule of ${file}` });
		}
		readBySchema(RULE, rule, () => {
			const hint = `write ${expected(RULE)}`;
			throw new PiError("bad_arguments", `${JSON.stringify(rule)} is not a rule`, { hint });
		});
		check();
		const where = scope === "here" ? project() : null;
		await settings.changeRules(where, (lists) => ({ ...lists, [action]: edit(lists[action]) }));
	};
	return {
		async list() {
			if (await takeOver(settings, agentDir)) onMoved("Moved the rules of permissions.json to settings.json");
			check();
			const of = (lists: Partial<RuleLists> | undefined, scope: PermissionScope) =>
				ACTIONS.flatMap((action) => (lists?.[action] ?? []).map((rule) => ({ action, rule, scope })));
			const at = (source: Exclude<SettingSource, "default">) => ({
				allow: source === "project" ? [] : settings.layer("permissions.allow", source),
				ask: settings.layer("permissions.ask", source),
				deny: settings.layer("permissions.deny", source),
			});
			return [
				...of(settings.layer("permissions.projects", "user")?.[project()], "here"),
				...of(at("user"), "everywhere"),
				...of(at("project"), "project"),
				...of(at("run"), "program"),
			];
		},
		add: (rule) => change(rule, (rules) => [...new Set([...rules, rule.rule])]),
		remove: (rule) => change(rule, (rules) => rules.filter((other) => other !== rule.rule)),
	};
}

/**
 * Moves the rules of permissions.json, in which pi kept them before, to settings.json. The file is kept as permissions.json.bak.
 * @returns whether there was such a file
 * @throws PiError `config_invalid` if it is malformed: a lost deny rule must not let a call run
 */
async function takeOver(settings: SettingsStore, agentDir: string): Promise<boolean> {
	const file = join(agentDir, "permissions.json");
	if (!existsSync(file)) return false;
	const { withFileLock } = await import("../util/file-lock.js");
	return withFileLock(file, async () => {
		const old = readJsonObject(file);
		if (old === null) return false;
		const read = readBySchema(PROJECTS, old, ({ message }) => {
			throw new PiError("config_invalid", `${file}: ${message.replace("; ignored", "")}`, { hint: "fix the file" });
		});
		for (const [project, lists] of Object.entries(read as Record<string, Partial<RuleLists>>))
			await settings.changeRules(project, (rules) => {
				const joined = (action: PermissionAction) => [...new Set([...rules[action], ...(lists[action] ?? [])])];
				return { allow: joined("allow"), ask: joined("ask"), deny: joined("deny") };
			});
		renameSync(file, `${file}.bak`);
		return true;
	});
}

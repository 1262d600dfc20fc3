import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describeError, PiError } from "../errors.js";
import { findForeignWriter } from "../util/foreign-writers.js";
import { isRecord } from "../util/is-record.js";
import { nearest } from "../util/nearest.js";
import { watchFile } from "../util/watch-file.js";
import { describeReread, type JsonObject, readJsonFile, updateJsonFile } from "./json-file.js";
import { expected, fillDefaults, readBySchema, type Schema, type SchemaProblem } from "./json-schema.js";
import {
	PROJECT_SCHEMA,
	type RuleLists,
	SETTING_ROWS,
	SETTINGS_SCHEMA,
	type SettingPath,
	type SettingRow,
	type Settings,
	type SettingsFile,
	type SettingValue,
} from "./settings-schema.js";

/** Where a setting's value comes from; `run`: set for this process only. */
export type SettingSource = "run" | "project" | "user" | "default";

/** A setting with its current value. */
export interface SettingState extends SettingRow {
	value: unknown;
	source: SettingSource;
}

/** The event that subscribers receive. */
export interface SettingsChange {
	/** Settings with a new value. */
	paths: readonly SettingPath[];
	/** New problems in the files, one line each. */
	problems: readonly string[];
}

/** The directories of the user's and the project's settings. */
export interface SettingsLocation {
	agentDir: string;
	cwd: string;
}

/** The content of a settings file. */
interface Layer {
	/** The last content that could be parsed, unknown keys included. */
	raw: JsonObject;
	/** The last valid value of each setting in it. */
	values: ReadonlyMap<SettingPath, unknown>;
	problems: readonly string[];
	/** Of each problem with a value or a name: the setting, or the group of settings. */
	damaged: ReadonlySet<string>;
	/** False if the file is not a JSON object. */
	isValid: boolean;
}

const SETTING_PATHS = SETTING_ROWS.map(({ path }) => path);
/** A project could otherwise remove what the user has. */
const JOINED = new Set(SETTING_ROWS.filter(({ schema }) => schema["x-joined"]).map(({ path }) => path));
const EMPTY: Layer = { raw: {}, values: new Map(), problems: [], damaged: new Set(), isValid: true };

/**
 * The settings: defaults < the user's file < the project's file < values for this run. The only writer of the user's
 * settings.json. Reading never throws: an invalid file or value is reported in `problems`, and the last valid value, that
 * of the layer below or the default is used.
 */
export class SettingsStore {
	readonly #userFile: string;
	/** null if the project's file is the user's, because pi was started there. */
	readonly #projectFile: string | null;
	readonly #listeners = new Set<(change: SettingsChange) => void>();
	readonly #run = new Map<SettingPath, unknown>();
	#user: Layer;
	#project: Layer;
	#current: Settings;
	#writes: Promise<unknown> = Promise.resolve();

	/**
	 * @param run settings for this run
	 * @throws PiError `bad_arguments` for settings for this run that the schema does not allow
	 */
	constructor({ agentDir, cwd }: SettingsLocation, run: SettingsFile = {}) {
		checkRun(run);
		for (const { path } of SETTING_ROWS) {
			const value = valueAt(run, path);
			if (value !== undefined) this.#run.set(path, value);
		}
		const projectFile = join(cwd, ".pi", "settings.json");
		this.#userFile = join(agentDir, "settings.json");
		this.#projectFile = projectFile === this.#userFile ? null : projectFile;
		this.#user = readUserLayer(this.#userFile, EMPTY);
		this.#project = readProjectLayer(this.#projectFile, EMPTY);
		this.#current = this.#merge();
	}

	/** The current settings. Frozen: a change replaces the object. */
	get current(): Settings {
		return this.#current;
	}

	/** All problems in the files, one line each with file, line and column. */
	get problems(): readonly string[] {
		return [...this.#user.problems, ...this.#project.problems];
	}

	/** False if the user's file cannot be parsed: saving a setting would replace it. */
	get isFileValid(): boolean {
		return this.#user.isValid;
	}

	/** Every setting with its value and source, in the order of the schema. */
	list(): SettingState[] {
		return SETTING_ROWS.map((row) => ({ ...row, ...this.state(row.path) }));
	}

	/** The state of one setting. */
	state(path: SettingPath): Pick<SettingState, "value" | "source"> {
		return { value: valueAt(this.#current, path), source: this.#sourceOf(path) };
	}

	/** The value of a setting in one place alone; undefined if it has none there. */
	layer<P extends SettingPath>(path: P, source: Exclude<SettingSource, "default">): SettingValue<P> | undefined {
		const values = { run: this.#run, project: this.#project.values, user: this.#user.values }[source];
		const { schema } = SETTING_ROWS.find((row) => row.path === path) ?? {};
		const value = values.get(path);
		// The schema has checked it.
		return (value === undefined || !schema ? undefined : fillDefaults(schema, value)) as SettingValue<P> | undefined;
	}

	/**
	 * Changes a setting in the user's settings.json and ends its override for this run. Other keys in the file, including
	 * edits by other programs, are preserved. Subscribers are notified before the promise resolves.
	 * @param value undefined removes the setting from the file
	 * @throws PiError `bad_arguments` for a value that the schema does not allow; `config_write_failed`, with the setting
	 * changed for this run
	 */
	async set(path: SettingPath, value: unknown): Promise<void> {
		const schema = SETTING_ROWS.find((row) => row.path === path)?.schema ?? {};
		check(path, schema, value);
		try {
			await this.#write(path.split("."), () => value);
		} catch (cause) {
			if (!(cause instanceof PiError)) throw cause;
			this.#run.set(path, value);
			this.#update([]);
			throw new PiError(cause.code, cause.message, { cause: cause.cause, hint: "the change applies to this run only" });
		}
		this.override(path, undefined);
	}

	/** Changes one member of a setting that is a map, as `set` does. */
	async setMember<P extends "hookGrants" | "apiKeys">(
		path: P,
		name: string,
		value: SettingValue<P>[string] | undefined,
	): Promise<void> {
		check(`${path}.${name}`, SETTINGS_SCHEMA.properties[path].additionalProperties, value);
		await this.#write([path, name], () => value);
	}

	/**
	 * Changes the rules for all projects, or for one, in the user's file: from those that it has at that time, so that no other
	 * process loses its changes.
	 * @param project its directory; null: all projects
	 * @param change returns rules that the schema allows
	 * @throws PiError `config_write_failed`
	 */
	async changeRules(project: string | null, change: (rules: RuleLists) => RuleLists): Promise<void> {
		const keys = project === null ? ["permissions"] : ["permissions", "projects", project];
		const schema = SETTINGS_SCHEMA.properties.permissions.properties.projects.additionalProperties;
		await this.#write(keys, (value) => {
			const before = isRecord(value) ? value : {};
			const { allow, ask, deny } = before;
			const after = change(
				fillDefaults(
					schema,
					readBySchema(schema, { allow, ask, deny }, () => {}),
				),
			);
			const others = Object.fromEntries(Object.entries(before).filter(([name]) => !Object.hasOwn(after, name)));
			const filled = Object.fromEntries(Object.entries(after).filter(([, list]) => list.length > 0));
			const all = { ...others, ...filled };
			return Object.keys(all).length > 0 ? all : undefined;
		});
	}

	/**
	 * Reads the files again.
	 * @returns why the rules in them are incomplete, so that nothing may rely on them; null if they are complete
	 */
	findDamagedRules(): string | null {
		this.reload();
		const damaged = [this.#user, this.#project].find((layer) => !layer.isValid || layer.damaged.has("permissions"));
		if (!damaged) return null;
		return damaged.problems.find((problem) => problem.includes("permissions")) ?? damaged.problems[0] ?? "unknown";
	}

	/** Changes a setting for this run, without saving it. @param value undefined ends the override */
	override<P extends SettingPath>(path: P, value: SettingValue<P> | undefined): void {
		if (value === undefined) this.#run.delete(path);
		else this.#run.set(path, value);
		this.#update([]);
	}

	/** Calls the listener once after each change. @returns a function that ends the subscription */
	subscribe(listener: (change: SettingsChange) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Reads the files again. @returns all problems in them */
	reload(): readonly string[] {
		this.#read();
		this.#update([]);
		return this.problems;
	}

	/** Watches the files for edits by other programs until the returned function is called. */
	watch(): () => void {
		const onChange = () => {
			const known = this.problems.map(withoutPosition);
			this.#read();
			this.#update(this.problems.filter((problem) => !known.includes(withoutPosition(problem))));
		};
		const files = [this.#userFile, ...(this.#projectFile === null ? [] : [this.#projectFile])];
		const stops = files.map((file) => watchFile(file, onChange));
		return () => {
			for (const stop of stops) stop();
		};
	}

	#read(): void {
		this.#user = readUserLayer(this.#userFile, this.#user);
		this.#project = readProjectLayer(this.#projectFile, this.#project);
	}

	/** Writes run one after the other; each changes the file's content at that time. */
	#write(keys: readonly string[], valueFor: (current: unknown) => unknown): Promise<void> {
		const written = this.#writes.then(async () => {
			const change = (current: JsonObject) => withMember(current, keys, valueFor(memberAt(current, keys)));
			const { keptAside } = await updateJsonFile(this.#userFile, change, { lastGood: this.#user.raw });
			this.#user = readUserLayer(this.#userFile, this.#user);
			this.#update(keptAside === undefined ? [] : [`${this.#userFile} was invalid and is kept as ${keptAside}`]);
		});
		this.#writes = written.catch(() => {}); // the caller receives the error
		return written;
	}

	#update(problems: readonly string[]): void {
		const before = this.#current;
		const now = this.#merge();
		const paths = SETTING_ROWS.flatMap(({ path }) =>
			isDeepStrictEqual(valueAt(before, path), valueAt(now, path)) ? [] : [path],
		);
		if (paths.length > 0) this.#current = now;
		if (paths.length + problems.length === 0) return;
		for (const listener of [...this.#listeners]) listener({ paths, problems });
	}

	#sourceOf(path: SettingPath): SettingSource {
		if (this.#run.has(path)) return "run";
		if (this.#project.values.has(path)) return "project";
		return this.#user.values.has(path) ? "user" : "default";
	}

	#merge(): Settings {
		let merged: JsonObject = {};
		for (const values of [this.#user.values, this.#project.values, this.#run]) {
			for (const [path, value] of values) {
				const before = JOINED.has(path) ? valueAt(merged, path) : undefined;
				const joined = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
				merged = withMember(merged, path.split("."), joined);
			}
		}
		return fillDefaults(SETTINGS_SCHEMA, merged);
	}
}

function check(path: string, schema: Schema, value: unknown): void {
	const problems: SchemaProblem[] = [];
	if (value !== undefined) readBySchema(schema, value, (problem) => problems.push(problem));
	if (problems.length > 0) throw new PiError("bad_arguments", `${path} must be ${expected(schema)}`);
}

function checkRun(run: SettingsFile): void {
	readBySchema(SETTINGS_SCHEMA, run, ({ message }) => {
		throw new PiError("bad_arguments", `settings: ${message.replace("; ignored", "")}`);
	});
}

/** Whoever can write to the file could add code, so that it sets no more than a project. */
function readUserLayer(file: string, previous: Layer): Layer {
	const writer = findForeignWriter(file, dirname(file), { allowsOwnGroup: true });
	if (writer) {
		const layer = readLayer(
			file,
			PROJECT_SCHEMA,
			previous,
			(paths) => `${quote(paths)} ignored, because ${writer.problem} · ${writer.hint}`,
		);
		// Some of its rules may be among what is ignored.
		const damaged = Object.hasOwn(layer.raw, "permissions") ? new Set(["permissions"]) : layer.damaged;
		return { ...layer, damaged, problems: [`${file}: ${writer.problem} · ${writer.hint}`, ...layer.problems] };
	}
	return readLayer(file, SETTINGS_SCHEMA, previous, (paths) => {
		const near = paths.flatMap((path) => nearest(path, SETTING_PATHS, 1));
		return `unknown ${quote(paths)}; kept but ignored${near.length > 0 ? ` · did you mean ${near.join(", ")}?` : ""}`;
	});
}

function readProjectLayer(file: string | null, previous: Layer): Layer {
	if (file === null) return EMPTY;
	return readLayer(
		file,
		PROJECT_SCHEMA,
		previous,
		(paths) => `a project cannot set ${quote(paths)}; ignored · set it in the user's settings.json`,
	);
}

function readLayer(
	file: string,
	schema: Schema,
	previous: Layer,
	describeUnknown: (paths: readonly string[]) => string,
): Layer {
	try {
		const found = readJsonFile(file);
		if (found === null) return EMPTY;
		const problems: string[] = [];
		const unknown: SchemaProblem[] = [];
		const damaged = new Set<string>();
		const read = readBySchema(schema, found.value, (problem) => {
			// What a project may not set is not damage: it has no effect on purpose.
			if (problem.kind === "value" || schema === SETTINGS_SCHEMA) damaged.add(String(problem.keys[0]));
			if (problem.kind === "unknown") unknown.push(problem);
			else problems.push(`${found.locate(problem.keys)}: ${problem.message}`);
		});
		const values = new Map<SettingPath, unknown>();
		for (const { path } of SETTING_ROWS) {
			const isGiven = valueAt(found.value, path) !== undefined;
			const value = valueAt(read, path) ?? (isGiven ? previous.values.get(path) : undefined);
			if (value !== undefined) values.set(path, value);
		}
		const [first] = unknown;
		if (first) {
			const paths = unknown.map(({ keys }) => keys.join("."));
			problems.push(`${found.locate(first.keys, "key")}: ${describeUnknown(paths)}`);
		}
		return { raw: found.value, values, problems, damaged, isValid: true };
	} catch (error) {
		const problem = previous.values.size > 0 ? describeReread(error, "settings") : describeError(error);
		return { ...previous, problems: [problem], isValid: false };
	}
}

function quote(names: readonly string[]): string {
	return names.map((name) => JSON.stringify(name)).join(", ");
}

/** A problem without its position, so that a problem whose line moved is not reported again. */
function withoutPosition(problem: string): string {
	return problem.replace(/:\d+:\d+: /, ": ");
}

function valueAt(settings: unknown, path: SettingPath): unknown {
	return memberAt(settings, path.split("."));
}

function memberAt(object: unknown, keys: readonly string[]): unknown {
	let value = object;
	for (const key of keys) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
	return value;
}

/** Copies an object with one member changed, or removed if the value is undefined. */
function withMember(object: JsonObject, [key = "", ...inner]: readonly string[], value: unknown): JsonObject {
	const before = Object.hasOwn(object, key) ? object[key] : undefined;
	const member = inner.length === 0 ? value : withMember(isRecord(before) ? before : {}, inner, value);
	const changed = { ...object, [key]: member };
	if (member === undefined) delete changed[key];
	return changed;
}

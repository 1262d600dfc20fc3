import { createHash } from "node:crypto";
import {
	type ContextRecord,
	isMessageEntry,
	type OwnPreamble,
	type PartReference,
	type PromptSection,
	type RecordedPreamble,
	type SessionEntry,
	type ToolInfo,
} from "../log/entry.js";
import type { EntrySource } from "./entry-message.js";
import { type CorePreamble, isSameSection, isSameTool, type Preamble, plainPreamble } from "./preamble.js";
import { findRecentRecord } from "./recent-record.js";
import type { ActiveCompaction, ActiveFreeze } from "./replacement.js";

type Part = PromptSection | ToolInfo;
type PartPosition = readonly [reply: number, part: number];

/** Sections and tools, as a record has them. */
export interface RecordedParts {
	sections: readonly PromptSection[];
	tools: readonly ToolInfo[];
}

/** The system prompt and tools of a past request. */
export interface PastPreamble {
	/** Before hooks. */
	core: RecordedParts;
	/** As sent. */
	sent: RecordedParts;
	/** Sections that pi generated again for the offered tools, by id; empty: omitted. */
	generated: Readonly<Record<string, string>>;
}

/** Maximum number of characters of new sections that the record of one request may add, and the average for all. */
const MAX_NEW_CHARACTERS = 2_000_000;
const NEW_CHARACTERS_EACH = 200_000;

/** Describes system prompts and tools for the log; each section and tool is written only once. One recorder per log. */
export class PreambleRecorder {
	/** Where a section or tool was written, by its digest; null until the log has been read. */
	#written: Map<string, PartPosition> | null = null;
	/** The reply with each description, by its digest. */
	readonly #replies = new Map<string, number>();
	/** The last preamble and the reply that describes it, the common case. */
	#last: { preamble: Preamble; reply: number } | null = null;
	/** The last description, until the index of its entry is known. */
	#latest: { preamble: Preamble; key: string; parts: readonly string[] } | null = null;
	/** Characters of sections of hooks that the next description may add. */
	#room = MAX_NEW_CHARACTERS;

	/** Describes a preamble. The description lacks `sent` if that would exceed the limits above. */
	describe(preamble: Preamble, entries: EntrySource): RecordedPreamble {
		if (this.#last?.preamble === preamble) {
			this.#latest = null;
			return { reply: this.#last.reply };
		}
		const written = this.#read(entries);
		const listed = new PartList(written);
		const { core } = preamble;
		const start = listed.refer([...core.sections, ...core.tools]);
		this.#room = Math.min(this.#room + NEW_CHARACTERS_EACH, MAX_NEW_CHARACTERS);
		const sent = preamble.isChanged ? this.#describeSent(preamble, listed) : {};
		const record: OwnPreamble = { parts: listed.parts, core: start, ...sent };
		const generated = Object.entries(preamble.generated ?? {});
		const key = digest([listed.keysOf(start), listed.keysOf(sent.sent ?? []), generated]);
		const reply = this.#replies.get(key);
		this.#latest = { preamble, key, parts: listed.keys };
		return reply === undefined ? record : { reply };
	}

	/** Notes that the last description is stored with the reply at an entry index. */
	recorded(reply: number): void {
		if (!this.#latest) return;
		const { preamble, key, parts } = this.#latest;
		this.#latest = null;
		const known = this.#replies.get(key);
		if (known === undefined) {
			for (const [part, name] of parts.entries()) this.#written?.set(name, [reply, part]);
			this.#replies.set(key, reply);
		}
		this.#last = { preamble, reply: known ?? reply };
	}

	/** Forgets what it knows: the log is another one now. */
	reset(): void {
		this.#written = null;
		this.#replies.clear();
		this.#last = null;
		this.#latest = null;
		this.#room = MAX_NEW_CHARACTERS;
	}

	#describeSent(preamble: Preamble, listed: PartList): Pick<OwnPreamble, "sent" | "generated"> {
		const before = listed.parts.length;
		const sent = listed.refer([...preamble.promptSections, ...preamble.tools]);
		const generated = Object.entries(preamble.generated ?? {}).map(
			([id, text]) => [id, text === "" ? null : (listed.refer([{ id, text }])[0] ?? null)] as const,
		);
		const brought = JSON.stringify(listed.parts.slice(before)).length;
		if (brought > this.#room) {
			listed.drop(before);
			return {};
		}
		this.#room -= brought;
		return { sent, ...(generated.length > 0 && { generated: Object.fromEntries(generated) }) };
	}

	/** The sections and tools that the last record in the log refers to or contains. */
	#read(entries: EntrySource): Map<string, PartPosition> {
		if (this.#written) return this.#written;
		const written = new Map<string, PartPosition>();
		this.#written = written;
		const reply = findRecentRecord(entries, (entry) => recordIn(entry) !== undefined);
		const record = reply === null ? undefined : recordIn(entries.at(reply));
		if (reply === null || !record) return written;
		const at = "reply" in record ? record.reply : reply;
		const own = "reply" in record ? ownRecord(entries, at) : record;
		for (const [part, item] of (own?.parts ?? []).entries()) written.set(keyOf(item), [at, part]);
		const references = [...(own?.core ?? []), ...(own?.sent ?? []), ...Object.values(own?.generated ?? {})];
		for (const reference of references) {
			if (reference === null || typeof reference === "number") continue;
			const found = partAt(entries, reference);
			if (found) written.set(keyOf(found), reference);
		}
		return written;
	}
}

/** Collects new parts and refers to the ones written before. */
class PartList {
	readonly parts: Part[] = [];
	/** The digests of `parts`. */
	readonly keys: string[] = [];

	constructor(private readonly written: ReadonlyMap<string, PartPosition>) {}

	refer(items: readonly Part[]): PartReference[] {
		return items.map((item) => {
			const key = keyOf(item);
			const position = this.written.get(key);
			if (position) return position;
			const known = this.keys.indexOf(key);
			if (known >= 0) return known;
			this.keys.push(key);
			return this.parts.push(item) - 1;
		});
	}

	/** Digests of the items that references refer to. */
	keysOf(references: readonly PartReference[]): string[] {
		const names = new Map([...this.written].map(([key, [reply, part]]) => [`${reply} ${part}`, key]));
		return references.map((at) => (typeof at === "number" ? this.keys[at] : names.get(`${at[0]} ${at[1]}`)) ?? "");
	}

	/** Drops the parts from a position. */
	drop(from: number): void {
		this.parts.length = from;
		this.keys.length = from;
	}
}

/**
 * Reads the system prompt and tools of the request that a reply answered. @returns null if there is no record, or if it
 * refers to something that is missing
 */
export function readRecordedPreamble(entries: EntrySource, reply: number): PastPreamble | null {
	const record = recordIn(entries.at(reply));
	if (!record) return null;
	const own = "reply" in record ? ownRecord(entries, record.reply) : record;
	if (!own || ("reply" in record && record.reply >= reply)) return null;
	const known = read.get(own);
	if (known !== undefined) return known;
	const past = resolve(entries, own);
	if (past) read.set(own, past);
	return past;
}

const read = new WeakMap<OwnPreamble, PastPreamble>();

/** True if sections and tools are those that a record has the digests of. */
export function isSentPreamble(parts: RecordedParts | null, { system, tools }: ContextRecord): boolean {
	if (parts === null) return false;
	const sent = plainPreamble({ ...parts, generate: () => ({}) });
	return sent.systemDigest === system && sent.toolsDigest === tools;
}

/** Writes the sections that depend on the tools, for tools that a past request did not offer: the log does not have them. */
type GenerateSections = (
	sections: readonly PromptSection[],
	tools: readonly ToolInfo[],
) => Readonly<Record<string, string>>;

/**
 * The system prompt and tools before hooks at a point of a session: as the record of the reply at index `end` has them, or
 * the last record before. @returns null if the session does not record them
 */
export function coreAt(entries: EntrySource, end: number, generate: GenerateSections): CorePreamble | null {
	const reply = recordIn(entries.at(end)) ? end : lastRecord(entries, end);
	return reply === null ? null : coreOfReply(entries, reply, generate);
}

/** The system prompt and tools before hooks of the request that a reply answered; null if they are not recorded. */
export function coreOfReply(entries: EntrySource, reply: number, generate: GenerateSections): CorePreamble | null {
	const past = readRecordedPreamble(entries, reply);
	if (!past) return null;
	const known = cores.get(past);
	if (known) return known;
	const { core, sent, generated } = past;
	const { sections, tools } = core;
	const names = sent.tools.map(({ name }) => name).join("\n");
	const created: CorePreamble = {
		sections,
		tools,
		generate: (offered) =>
			offered.map(({ name }) => name).join("\n") === names ? generated : generate(sections, offered),
	};
	cores.set(past, created);
	return created;
}

const cores = new WeakMap<PastPreamble, CorePreamble>();

/**
 * Applies an active freeze: the sections of the frozen request, and those of its tools that still exist. Other requests,
 * and those whose preamble hooks did not change, are unchanged. Idempotent: a record of a frozen request is unchanged.
 */
export function frozenPreamble(
	core: CorePreamble,
	replacement: ActiveCompaction | ActiveFreeze | null,
	entries: EntrySource,
): CorePreamble {
	if (replacement?.kind !== "freeze") return core;
	const past = readRecordedPreamble(entries, replacement.firstKeptEntryIndex);
	if (!past || isSameParts(past.core, past.sent)) return core;
	const known = frozen.get(core);
	if (known?.past === past) return known.core;
	const created: CorePreamble = {
		sections: past.sent.sections,
		tools: Object.freeze(past.sent.tools.flatMap(({ name }) => core.tools.find((tool) => tool.name === name) ?? [])),
		generate: () => ({}),
		isFrozen: true,
	};
	frozen.set(core, { past, core: created });
	return created;
}

const frozen = new WeakMap<CorePreamble, { past: PastPreamble; core: CorePreamble }>();

function isSameParts(a: RecordedParts, b: RecordedParts): boolean {
	return (
		a.sections.length === b.sections.length &&
		a.tools.length === b.tools.length &&
		a.sections.every((section, at) => isSameSection(section, b.sections[at])) &&
		a.tools.every((tool, at) => isSameTool(tool, b.tools[at]))
	);
}

function resolve(entries: EntrySource, own: OwnPreamble): PastPreamble | null {
	const find = (at: PartReference) => (typeof at === "number" ? own.parts[at] : partAt(entries, at));
	const core = partsOf(own.core.map(find));
	const sent = own.sent ? partsOf(own.sent.map(find)) : core;
	if (!core || !sent) return null;
	const generated: Record<string, string> = {};
	for (const [id, at] of Object.entries(own.generated ?? {})) {
		const part = at === null ? null : find(at);
		if (part === undefined || (part && !("text" in part))) return null;
		generated[id] = part?.text ?? "";
	}
	return { core, sent, generated };
}

function partsOf(parts: readonly (Part | undefined)[]): RecordedParts | null {
	const sections: PromptSection[] = [];
	const tools: ToolInfo[] = [];
	for (const part of parts) {
		if (!part) return null;
		if ("text" in part) sections.push(part);
		else tools.push(part);
	}
	return { sections: Object.freeze(sections), tools: Object.freeze(tools) };
}

function partAt(entries: EntrySource, [reply, part]: PartPosition): Part | undefined {
	return ownRecord(entries, reply)?.parts[part];
}

function ownRecord(entries: EntrySource, reply: number): OwnPreamble | undefined {
	const record = recordIn(entries.at(reply));
	return record && "parts" in record ? record : undefined;
}

function recordIn(entry: SessionEntry | undefined): RecordedPreamble | undefined {
	return isMessageEntry(entry) ? entry.context?.preamble : undefined;
}

function lastRecord(entries: EntrySource, before: number): number | null {
	for (let index = before - 1; index > 0; index--) if (recordIn(entries.at(index))) return index;
	return null;
}

const keys = new WeakMap<Part, string>();

function keyOf(part: Part): string {
	const known = keys.get(part);
	if (known !== undefined) return known;
	const key = digest("text" in part ? [part.id, part.text] : part);
	if (Object.isFrozen(part)) keys.set(part, key);
	return key;
}

function digest(value: unknown): string {
	return createHash("sha256").update(JSON.stringify(value)).digest("base64");
}

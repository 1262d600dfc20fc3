import type { BuiltContext, TracedMessage } from "../context/context-message.js";
import { digestContext } from "../context/digest.js";
import { countPrefix, fullText } from "../context/ledger.js";
import { isSameSection, isSameTool } from "../context/preamble.js";
import { asksTheSame } from "../context/provider-fields.js";
import type { RecordedParts } from "../context/recorded-preamble.js";
import type { AppMessage, ContextRecord, RecordedHook } from "../log/entry.js";

/** A message that may differ. */
export interface SuspectMessage {
	/** Position in the computed request, from 0. */
	position: number;
	entryIndex: number | null;
	role: string;
	origin: { kind: string; hook?: string };
	text: string;
}

/** Why a computed request differs from the recorded one. */
export interface MismatchReason {
	/** A sentence. */
	reason: string;
	/** The first message that differs or may differ; null if the computed request does not contain it. */
	message: SuspectMessage | null;
	/** The message at its position in the recorded request; null if none exists, or if the session does not record it. */
	sent: SuspectMessage | null;
	/** Path of the hook that explains the difference; null if none does. */
	hook: string | null;
}

export interface MismatchEvidence {
	recorded: ContextRecord;
	/** The recorded request, message by message; null if the session has only its digest. */
	sent: readonly TracedMessage[] | null;
	/** The recorded system prompt and tools; null if the session does not have them. */
	sentPreamble: RecordedParts | null;
	computed: BuiltContext;
	/** Index of the compaction that the computed request has in its provider's own form; undefined for none. */
	native: number | undefined;
	/** How the loaded hooks differ from those of the request, in sentences; null if the session does not record these. */
	changes: readonly string[] | null;
	/** True for a request that was sent like the recorded one. */
	matches(candidate: BuiltContext): boolean;
	/** The last request that matched its record. */
	verified: readonly TracedMessage[];
	/** The last entry before the reply that belongs to no loaded hook; null if none exists. */
	foreign: ForeignEntry | null;
	/** Paths of the hooks that change the context. */
	hooks: readonly string[];
	/** The same request without some hooks. */
	buildWithout(hooks: ReadonlySet<string>): Promise<BuiltContext>;
}

/** An entry that belongs to no loaded hook. */
export interface ForeignEntry {
	entryIndex: number;
	type: string;
	/** The name of the extension that wrote it; absent for entries of other hooks. */
	extension?: string;
}

/** A reason and the position of the first difference, null if it is unknown. */
interface Finding {
	reason: string;
	position: number | null;
	hook: string | null;
}

/** Longer requests are not searched for extra messages, because the search takes quadratic time. */
const MAX_SEARCHED = 2000;

/** Finds the smallest change that restores the recorded request; if none exists, narrows down the difference. */
export async function explainMismatch(evidence: MismatchEvidence): Promise<MismatchReason> {
	const isPreamble = digestContext(plainOf(evidence.computed.messages)) === evidence.recorded.digest;
	const found =
		(await blameHooks(evidence)) ??
		(isPreamble
			? (findOtherForm(evidence) ?? findPreambleChange(evidence))
			: (findExtra(evidence) ?? findMissingHook(evidence) ?? narrowDown(evidence)));
	const { reason, position, hook } = found;
	const at = (messages: readonly TracedMessage[]) => (position === null ? null : suspect(messages, position));
	return { reason, message: at(evidence.computed.messages), sent: at(evidence.sent ?? []), hook };
}

/**
 * How the loaded hooks differ from those that could change a past request, one sentence each.
 * @param then null if the session does not record them
 */
export function hookChanges(
	then: readonly RecordedHook[] | null,
	now: readonly RecordedHook[],
): readonly string[] | null {
	if (then === null) return null;
	const isSame = (a: RecordedHook, b: RecordedHook) => a.path === b.path || a.name === b.name;
	const changed = then.flatMap((hook) => {
		const other = now.find((candidate) => candidate.path === hook.path) ?? now.find((one) => isSame(one, hook));
		if (!other) return [`${hook.name} was loaded then: load it with --hook ${hook.path}`];
		return other.digest === hook.digest ? [] : [`${hook.name} has changed since`];
	});
	const added = now.filter((hook) => !then.some((one) => isSame(one, hook)));
	return [...changed, ...added.map(({ name }) => `${name} was not loaded then`)];
}

/**
 * What made the difference: how the hooks have changed, if the session records that.
 * @param guess if it does not
 * @param unchanged if no hook has changed
 */
function causeOf(changes: MismatchEvidence["changes"], guess: string, unchanged = UNCHANGED): string {
	if (changes === null) return guess;
	return changes.length > 0 ? changes.join(". ") : unchanged;
}

const UNCHANGED =
	"No hook has changed since, so the session file was edited, or a hook answers from more than its event";

/** Tests whether the request matches without one hook, or without all hooks. */
async function blameHooks({
	hooks,
	computed,
	matches,
	buildWithout,
	changes,
}: MismatchEvidence): Promise<Finding | null> {
	const trials = hooks.map((hook) => [hook]);
	if (hooks.length > 1) trials.push([...hooks]);
	for (const trial of trials) {
		const candidate = await buildWithout(new Set(trial));
		if (!matches(candidate)) continue;
		const plain = plainOf(candidate.messages);
		const position = countPrefix(plain, computed.messages);
		const [hook = null] = trial.length === 1 ? trial : [];
		return {
			reason: `Without ${trial.join(", ")} it matches: ${causeOf(changes, "the hook was not loaded then, or has changed", "the hook answers from more than its event")}`,
			position: position === plain.length && position === computed.messages.length ? null : position,
			hook,
		};
	}
	return null;
}

/** Tests whether the request matches without one range of consecutive messages. */
function findExtra({ computed: { messages: computed }, recorded }: MismatchEvidence): Finding | null {
	const extra = computed.length - recorded.messages;
	if (extra <= 0 || computed.length > MAX_SEARCHED) return null;
	const plain = plainOf(computed);
	for (let position = 0; position <= recorded.messages; position++) {
		const rest = [...plain.slice(0, position), ...plain.slice(position + extra)];
		if (digestContext(rest) !== recorded.digest) continue;
		const reason = extra === 1 ? "One message was added since" : `${extra} consecutive messages were added since`;
		return { reason, position, hook: hookAt(computed, position) };
	}
	return null;
}

/** Reports entries of a hook that is not loaded. */
function findMissingHook({ foreign, sent, computed }: MismatchEvidence): Finding | null {
	if (foreign === null) return null;
	return { reason: missingHook(foreign), position: sent && countPrefix(plainOf(sent), computed.messages), hook: null };
}

function missingHook({ entryIndex, type, extension }: ForeignEntry): string {
	if (extension !== undefined)
		return `Entry ${entryIndex} (${type}) belongs to the extension ${extension}, which is not loaded; load its file with -e`;
	return `Entry ${entryIndex} (${type}) belongs to a hook that is not loaded; load its file with --hook`;
}

/**
 * Reports a compaction that is sent in another form, with the same system prompt and tools. It depends on the messages, which are
 * equal, on the compaction and on the model: only an edit changes it.
 */
function findOtherForm({ recorded, computed: { preamble, provider }, native: now }: MismatchEvidence): Finding | null {
	const { native: then, system = preamble.systemDigest, tools = preamble.toolsDigest } = recorded;
	const isSame = system === preamble.systemDigest && tools === preamble.toolsDigest;
	if (then === now || !isSame || !asksTheSame(provider, recorded.provider)) return null;
	const [form, edited] = ["in the provider's own form", "The session file was edited"];
	const what =
		then === undefined
			? `The compaction in entry ${now} is sent ${form}, but its summary was recorded`
			: `The compaction in entry ${then} was recorded ${form}, but ${now === undefined ? "its summary" : `that in entry ${now}`} is sent`;
	return { reason: `${what}. ${edited}`, position: null, hook: null };
}

/** Names the first tool or section that differs. The messages are equal. */
function findPreambleChange({ sentPreamble, recorded, computed, foreign, changes }: MismatchEvidence): Finding {
	const { preamble } = computed;
	const asks = !asksTheSame(computed.provider, recorded.provider);
	const part = sentPreamble && firstDifference(sentPreamble, preamble);
	const origin = part?.isTool ? undefined : preamble.sections.find(({ section }) => section.id === part?.name)?.origin;
	const what = part
		? `${part.isTool ? "Tool" : "Section"} ${part.name} is ${part.how}`
		: asks
			? "Hooks ask something else of the provider"
			: "Sections or tools differ";
	const why = foreign ? missingHook(foreign) : causeOf(changes, GUESS);
	return { reason: `${what}. ${why}`, position: null, hook: origin?.kind === "hook" ? origin.hook : null };
}

function firstDifference(
	sent: RecordedParts,
	{ promptSections, tools }: BuiltContext["preamble"],
): { isTool: boolean; name: string; how: string } | null {
	const find = <T>(
		before: readonly T[],
		now: readonly T[],
		nameOf: (part: T) => string,
		isSame: (a: T, b: T) => boolean,
	) => {
		for (const part of before) {
			const other = now.find((candidate) => nameOf(candidate) === nameOf(part));
			if (other === undefined) return { name: nameOf(part), how: "missing now" };
			if (!isSame(part, other)) return { name: nameOf(part), how: "different now" };
		}
		const added = now.find((part) => before.every((other) => nameOf(other) !== nameOf(part)));
		return added === undefined ? null : { name: nameOf(added), how: "new" };
	};
	const tool = find(sent.tools, tools, ({ name }) => name, isSameTool);
	if (tool) return { isTool: true, ...tool };
	const section = find(sent.sections, promptSections, ({ id }) => id, isSameSection);
	return section && { isTool: false, ...section };
}

/** Messages of the last matching request are correct, so the difference comes after them. */
function narrowDown({
	computed: { messages: computed },
	verified,
	sent,
	recorded,
	changes,
}: MismatchEvidence): Finding {
	const position = countPrefix(plainOf(sent ?? verified), computed);
	const isMissing = recorded.messages > computed.length;
	const reason = isMissing
		? "A hook hides or replaces more than before, a hook that added messages is missing, or entries were removed"
		: GUESS;
	return { reason: causeOf(changes, reason), position, hook: hookAt(computed, position) };
}

const GUESS = "A hook has changed or is missing, or the session file was edited";

function plainOf(messages: readonly TracedMessage[]): AppMessage[] {
	return messages.map(({ message }) => message);
}

function hookAt(messages: readonly TracedMessage[], position: number): string | null {
	const origin = messages[position]?.origin;
	return origin?.kind === "hook" ? origin.hook : null;
}

function suspect(messages: readonly TracedMessage[], position: number): SuspectMessage | null {
	const traced = messages[position];
	if (!traced) return null;
	const { message, entryIndex, origin } = traced;
	return {
		position,
		entryIndex,
		role: message.role,
		origin: origin.kind === "hook" ? { kind: origin.kind, hook: origin.hook } : { kind: origin.kind },
		text: fullText(message),
	};
}
